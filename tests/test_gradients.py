"""Gradients of gradients, and of random programs, against finite differences."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import zero
from zero.autograd import grad, gradcheck, gradgradcheck


def doubles(*shape, seed=0):
    values = np.random.default_rng(seed).uniform(0.2, 1.0, shape)
    return zero.tensor(values, requires_grad=True)


COMPOSITIONS = {
    "layer": lambda x, w: (x @ w).tanh().sum(0),
    "layer norm": lambda x, w: (
        (x - x.mean(-1, True)) / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt() * w[0]
    ),
    "attention": lambda x, w: ((x @ w) @ (x @ w).mT / 2).softmax(-1) @ x,
    "logits": lambda x, w: zero.cross_entropy(x @ w, zero.tensor([0, 2, 1])),
    "logits of one row": lambda x, w: zero.cross_entropy((x @ w)[0], zero.tensor(1)),
    "log likelihood": lambda x, w: zero.nll_loss((x @ w).log_softmax(1), zero.tensor([0, 2, 1])),
    "squares": lambda x, w: zero.mse_loss(zero.linear(x, w.mT, w[0]), x),
    "distances": lambda x, w: ((x[:, None] - w) ** 2).sum(-1).sqrt(),
    "powers": lambda x, w: x ** (w * 2) / w.exp(),
    "logsumexp": lambda x, w: (x - x.amax(1, True)).exp().sum(1).log() + x.amax(1),
    "pieces": lambda x, w: (
        zero.cat([x[:1], w[1:] * 2, (x * w)[::2]]).flatten().view(3, -1).permute(1, 0).relu()
    ),
    "picks": lambda x, w: (
        zero.where(x > w, x * w, w.sigmoid()) + zero.maximum(x, w) + (x * 3).clamp(1, 2)
    ),
    "strides": lambda x, w: (x.t().reshape(-1) * w.expand(2, 3, 3)[1].t().reshape(-1)).std(),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_gradients_of_compositions(name):
    inputs = [doubles(3, 3, seed=1), doubles(3, 3, seed=2)]
    assert gradcheck(COMPOSITIONS[name], inputs)
    assert gradgradcheck(COMPOSITIONS[name], inputs)


def test_hessian_of_a_product():
    x = zero.tensor([1.0, 2.0, 3.0], dtype=zero.float64, requires_grad=True)
    y = x[0] * x[1] ** 2 * x[2]
    (g,) = grad(y, x, create_graph=True)
    rows = [grad(g[i], x, retain_graph=True)[0].tolist() for i in range(3)]
    assert rows == [[0.0, 12.0, 4.0], [12.0, 6.0, 4.0], [4.0, 4.0, 0.0]]


UNARY = ["tanh", "sigmoid", "exp", "neg", "abs", "relu", "square"]
VIEWS = [
    lambda t: t.transpose(0, 1),
    lambda t: t.reshape(t.shape[1], t.shape[0]),
    lambda t: t[::2],
    lambda t: t[:, 1:] if t.shape[1] > 1 else t,
    lambda t: t.unsqueeze(0).squeeze(0),
    lambda t: t.flatten().view(t.shape),
    lambda t: t[-1:].expand(2, -1),
]
BINARY = [
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a - b * 0.5,
    lambda a, b: a / (b * b + 1),
    zero.maximum,
]
REDUCE = ["sum", "mean", "amax", "var"]
WRITES = ["mul", "add", "copy", "slice", "row"]

step = st.one_of(
    st.tuples(st.just("unary"), st.sampled_from(UNARY), st.integers(0, 9)),
    st.tuples(st.just("view"), st.integers(0, len(VIEWS) - 1), st.integers(0, 9)),
    st.tuples(
        st.just("binary"), st.integers(0, len(BINARY) - 1), st.integers(0, 9), st.integers(0, 9)
    ),
    st.tuples(st.just("reduce"), st.sampled_from(REDUCE), st.integers(0, 9)),
    st.tuples(st.just("matmul"), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("write"), st.sampled_from(WRITES), st.integers(0, 9), st.integers(0, 9)),
)


def fits(a, b):
    return all(m == n or n == 1 for m, n in zip(a.shape, b.shape, strict=True))


def run_program(program, x, y):
    """A small stack machine on matrices; steps whose shapes do not fit do nothing."""
    stack = [x * 1, y * 1]
    for kind, *how in program:
        a = stack[how[1] % len(stack)] if kind != "matmul" else stack[how[0] % len(stack)]
        if kind == "unary":
            r = getattr(zero, how[0])(a * 0.5)
        elif kind == "view":
            r = VIEWS[how[0]](a)
        elif kind == "reduce":
            if how[0] == "var" and a.shape[1] == 1:
                continue
            r = getattr(a, how[0])(1, keepdim=True)
        elif kind == "binary":
            b = stack[how[2] % len(stack)]
            if not (fits(a, b) or fits(b, a)):
                continue
            r = BINARY[how[0]](a, b) * 0.5
        elif kind == "matmul":
            b = stack[how[1] % len(stack)]
            if a.shape[1] != b.shape[0]:
                continue
            r = (a @ b) * 0.25
        else:
            b = stack[how[2] % len(stack)]
            if 0 in a.stride() or not fits(a, b):
                continue
            b = b.clone()
            if how[0] == "mul":
                a.mul_(b * 0.5)
            elif how[0] == "add":
                a += b
            elif how[0] == "copy":
                a.copy_(b)
            elif how[0] == "slice":
                a[:, :1] = b[:, :1]
            else:
                a[0] *= 0.5
            continue
        stack.append(r)
    return sum((t * (i + 1)).sum() for i, t in enumerate(stack))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=st.lists(step, min_size=2, max_size=9), seed=st.integers(0, 2**16))
def test_random_programs_against_differences(program, seed):
    x, y = doubles(2, 3, seed=seed), doubles(3, 2, seed=seed + 1)
    value = run_program(program, x, y)
    if not math.isfinite(value.item()) or abs(value.item()) > 1e4:
        return
    try:
        found = grad(value, [x, y])
    except RuntimeError as error:  # a step overwrote what another had saved
        assert "modified by an inplace operation" in str(error)
        return
    rng = np.random.default_rng(seed)
    for t, g in zip((x, y), found, strict=True):
        direction = zero.tensor(rng.uniform(-1, 1, tuple(t.shape)))
        h = 1e-6
        with zero.no_grad():
            ends = []
            for side in (h, -h):
                moved = [(v + side * direction).detach() if v is t else v.detach() for v in (x, y)]
                ends.append(run_program(program, *moved).item())
        difference = (ends[0] - ends[1]) / (2 * h)
        slope = (g * direction).sum().item()
        # Cancellation leaves eps |value| / h; the third derivative gives h^2.
        assert abs(slope - difference) <= 1e-4 * (1 + abs(slope)) + 1e-8 * abs(value.item())


class GradientOf(zero.autograd.Function):
    """The identity, whose gradient is the memory of an array."""

    array = np.ones(4, "float32")

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return zero.from_numpy(GradientOf.array)


REUSING = {
    "relu": zero.relu,
    "tanh": zero.tanh,
    "sigmoid": zero.sigmoid,
    "leaky_relu": zero.nn.functional.leaky_relu,
    "gelu": zero.nn.functional.gelu,
}


@pytest.mark.parametrize("name", REUSING)
def test_a_gradient_that_somebody_holds_is_not_overwritten(name):
    f = REUSING[name]
    x = zero.tensor([-2.0, -0.5, 0.5, 2.0], requires_grad=True)
    expected = grad(f(x).sum(), x)[0].tolist()

    g = zero.ones(4)
    f(x).backward(g, retain_graph=True)  # of the caller
    assert g.tolist() == [1] * 4
    assert x.grad.tolist() == expected

    seen = []
    h = f(x)
    h.register_hook(seen.append)  # of a hook
    (h * 1).sum().backward()
    assert seen[0].tolist() == [1] * 4

    h = f(x)
    h.retain_grad()
    (h * 1).sum().backward()
    assert h.grad.tolist() == [1] * 4

    h = f(x)
    found = grad((h * 1).sum(), [h, x])  # asked for
    assert [t.tolist() for t in found] == [[1] * 4, expected]

    other = zero.zeros_like(x, requires_grad=True)  # one gradient of two nodes
    found = grad((f(x) + f(x + other)).sum(), [other, x])
    assert found[0].tolist() == expected

    GradientOf.array[:] = 1
    assert grad(GradientOf.apply(f(x)).sum(), x)[0].tolist() == expected  # of an array
    assert GradientOf.array.tolist() == [1] * 4


def test_batch_norm_leaves_a_gradient_that_somebody_holds():
    x = zero.randn(4, 3, 5, 5, requires_grad=True)
    g = zero.randn(4, 3, 5, 5)
    before, layer = g.clone(), zero.nn.BatchNorm2d(3)
    layer(x).backward(g)
    assert g.equal(before)
    (layer(x) * 1).backward(g)  # whose gradient nobody holds
    assert g.equal(before)
    (again,) = grad(layer(x), x, g)
    np.testing.assert_allclose(x.grad.numpy(), 2 * again.numpy(), rtol=1e-5, atol=1e-6)
