"""PyTorch as a second oracle, where it is installed: results, dtypes and gradients of op_db."""

import numpy as np
import pytest
from op_db import EPS, OPS, exact, make, name_of, outputs, tensors_in

import zero

torch = pytest.importorskip("torch")


def theirs(x):
    """zero's tensors as torch's, with the same values."""
    if isinstance(x, zero.Tensor):
        t = torch.tensor(exact(x)).to(getattr(torch, name_of(x.dtype)))
        return t.requires_grad_(x.requires_grad)
    if isinstance(x, list | tuple):
        return type(x)(theirs(v) for v in x)
    return {k: theirs(v) for k, v in x.items()} if isinstance(x, dict) else x


def torch_function(op):
    for home in (torch, torch.nn.functional, torch.Tensor):
        if hasattr(home, op.name):
            return getattr(home, op.name)
    return None


# The entries whose function both libraries have under one name.
ops = [op for op in OPS.values() if torch_function(op) and getattr(zero, op.name, None) is op.fn]


@pytest.mark.parametrize("op", ops, ids=[op.name for op in ops])
def test_forward_and_gradients(op):
    function = torch_function(op)
    for dtype in op.dtypes:
        if op.name in ("all", "any") and dtype == "uint8":
            continue  # torch gives uint8 here, from the time before it had bool
        for sample in op.samples:
            (args, kwargs), _ = make(sample, dtype, requires_grad=op.grad)
            targs, tkwargs = theirs(args), theirs(kwargs)
            try:
                expected = outputs(function(*targs, **tkwargs))
            except (RuntimeError, NotImplementedError, TypeError, IndexError, ValueError):
                continue  # torch has no such kernel, or wants another form
            if not isinstance(expected[0], torch.Tensor):
                continue
            found = outputs(op.fn(*args, **kwargs))
            where = f"{op.name}{sample} {dtype}"
            for y, e in zip(found, expected, strict=True):
                assert name_of(y.dtype) == str(e.dtype).removeprefix("torch."), where
                eps = 64 * EPS.get(name_of(y.dtype), 0)
                np.testing.assert_allclose(
                    exact(y), e.detach().double().numpy(), rtol=eps, atol=16 * eps, err_msg=where
                )
            if dtype != "float64" or not op.grad:
                continue
            recorded = [(y, e) for y, e in zip(found, expected, strict=True) if y.requires_grad]
            wanted, twanted = [
                [t for t in flat if t.requires_grad]
                for flat in (tensors_in([args, kwargs]), torch_tensors([targs, tkwargs]))
            ]
            if not recorded or not wanted:
                continue
            seeds = [np.cos(np.arange(y.numel())).reshape(tuple(y.shape)) for y, _ in recorded]
            mine = zero.autograd.grad(
                [y for y, _ in recorded], wanted, [zero.tensor(s) for s in seeds], allow_unused=True
            )
            other = torch.autograd.grad(
                [e for _, e in recorded],
                twanted,
                [torch.tensor(s) for s in seeds],
                allow_unused=True,
            )
            for a, b in zip(mine, other, strict=True):
                if a is not None and b is not None:
                    np.testing.assert_allclose(
                        exact(a), b.numpy(), rtol=1e-12, atol=1e-13, err_msg=where
                    )


def torch_tensors(x):
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, dict):
        x = x.values()
    return (
        [t for v in x for t in torch_tensors(v)]
        if hasattr(x, "__iter__") and not isinstance(x, str)
        else []
    )


def test_training_agrees():
    """The same start and data give the same losses, to rounding, over twenty steps of SGD."""
    rng = np.random.default_rng(0)
    w1, w2 = (rng.normal(size=s).astype(np.float64) * 0.3 for s in ((16, 8), (4, 16)))
    x, y = rng.normal(size=(32, 8)), rng.integers(0, 4, 32)

    def losses(lib):
        model = lib.nn.Sequential(lib.nn.Linear(8, 16), lib.nn.Tanh(), lib.nn.Linear(16, 4))
        model = model.to(lib.float64)
        with lib.no_grad():
            for p, v in zip(model.parameters(), (w1, np.zeros(16), w2, np.zeros(4)), strict=True):
                p.copy_(lib.tensor(v))
        optimizer = lib.optim.SGD(
            model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3, nesterov=True
        )
        found = []
        for _ in range(20):
            loss = lib.nn.functional.cross_entropy(model(lib.tensor(x)), lib.tensor(y))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    np.testing.assert_allclose(losses(zero), losses(torch), rtol=1e-12)
