"""optim.Optimizer and optim.SGD, against a reference written with NumPy."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest

import zero
from zero.nn import Parameter
from zero.optim import SGD, Optimizer


def reference(p, gradients, lr, momentum, dampening, weight_decay, nesterov, maximize):
    """The values of p after each step."""
    p, buffer, values = p.copy(), None, []
    for g in gradients:
        g = -g if maximize else g
        g = g + weight_decay * p
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p = p - lr * g
        values.append(p)
    return values


SETTINGS = [
    {"lr": 0.1, "momentum": m, "dampening": d, "weight_decay": w, "nesterov": n, "maximize": x}
    for m, d, w, n, x in itertools.product(
        (0, 0.9), (0, 0.25), (0, 0.1), (False, True), (False, True)
    )
    if not (n and (m == 0 or d != 0))
]


def tensor(a, dtype=zero.float64):
    return zero.from_numpy(a).to(dtype=dtype, copy=True)


@pytest.mark.parametrize("dtype, rtol", [(zero.float64, 1e-13), (zero.float32, 1e-5)])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_steps(setting, dtype, rtol):
    rng = np.random.default_rng(0)
    for shape in [(), (5,), (3, 7), (4, 1025)]:
        start = rng.standard_normal(shape)
        gradients = [np.asarray(rng.standard_normal(shape)) for _ in range(5)]
        p = Parameter(tensor(np.asarray(start), dtype))
        optimizer = SGD([p], **setting)
        for g, expected in zip(gradients, reference(start, gradients, **setting), strict=True):
            p.grad = tensor(g, dtype)
            optimizer.step()
            # A few roundings a step, of numbers around 1.
            np.testing.assert_allclose(p.detach().numpy(), expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("momentum", [0, 0.9])
def test_layouts(momentum):
    """Parameters and gradients that are not contiguous, in one step with others."""
    rng = np.random.default_rng(0)
    a = [rng.standard_normal((4, 6)) for _ in range(3)]
    wide = tensor(a[1].repeat(2, axis=1))
    p = [Parameter(tensor(a[0]).T), Parameter(tensor(a[0])), Parameter(wide[:, ::2])]
    gradients = [a[2].T, a[2], a[2]]
    p[0].grad = tensor(a[2].T.copy())
    p[1].grad = tensor(a[2].T.copy()).T
    p[2].grad = tensor(a[2])
    starts = [q.detach().numpy().copy() for q in p]
    optimizer = SGD(p, lr=0.5, momentum=momentum)
    for _ in range(2):
        optimizer.step()
    options = {"dampening": 0, "weight_decay": 0, "nesterov": False, "maximize": False}
    for q, start, g in zip(p, starts, gradients, strict=True):
        expected = reference(start, [g, g], lr=0.5, momentum=momentum, **options)[-1]
        np.testing.assert_allclose(q.detach().numpy(), expected, rtol=1e-13)
    np.testing.assert_array_equal(wide[:, 1::2].numpy(), a[1])  # what lies between is untouched


@pytest.mark.parametrize("dtype", [zero.float16, zero.bfloat16])
def test_half_precision(dtype):
    p = Parameter(zero.tensor([1.0, 2.0], dtype=dtype))
    p.grad = zero.tensor([1.0, -1.0], dtype=dtype)
    SGD([p], lr=0.5).step()
    assert p.tolist() == [0.5, 2.5] and p.dtype == dtype


def test_memory_and_views_stay():
    p = Parameter(zero.ones(4))
    view, pointer = p.detach()[1:], p.data_ptr()
    optimizer = SGD([p], lr=0.5, momentum=0.9)
    for _ in range(3):
        p.grad = zero.ones(4)
        optimizer.step()
    assert p.data_ptr() == pointer and view.tolist() == p.tolist()[1:]
    assert p.is_leaf and p.requires_grad and p.grad_fn is None


def test_a_step_counts_as_a_change():
    p = Parameter(zero.ones(2))
    y = (p * p).sum()
    p.grad = zero.ones(2)
    SGD([p], lr=0.1).step()
    with pytest.raises(RuntimeError, match="version"):
        y.backward()


def test_parameters_without_gradient_are_left_alone():
    p, q = Parameter(zero.ones(1)), Parameter(zero.ones(1))
    optimizer = SGD([p, q], lr=0.5, momentum=0.9, weight_decay=0.1)
    q.grad = zero.ones(1)
    optimizer.step()
    assert p.item() == 1 and q.item() < 1
    assert list(optimizer.state) == [q]
    p.grad = zero.ones(1)
    optimizer.step()
    assert p.item() < 1 and set(map(id, optimizer.state)) == {id(p), id(q)}


def test_zero_grad():
    p = Parameter(zero.ones(1))
    optimizer = SGD([p])
    p.grad = grad = zero.ones(1)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is grad and grad.item() == 0
    optimizer.zero_grad()
    assert p.grad is None


def test_closure_runs_with_gradients():
    p = Parameter(zero.tensor([3.0]))
    optimizer = SGD([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with zero.no_grad():
        assert optimizer.step(closure).item() == 9
    assert p.item() == 0
    assert optimizer.step() is None


def test_groups():
    p, q, r = (Parameter(zero.ones(1)) for _ in range(3))
    optimizer = SGD([{"params": p, "lr": 1.0}, {"params": (x for x in [q])}], lr=0.5, momentum=0)
    optimizer.add_param_group({"params": [r], "lr": 0.25})
    assert [len(group["params"]) for group in optimizer.param_groups] == [1, 1, 1]
    assert [group["momentum"] for group in optimizer.param_groups] == [0, 0, 0]
    for x in (p, q, r):
        x.grad = zero.ones(1)
    optimizer.step()
    assert [x.item() for x in (p, q, r)] == [0, 0.5, 0.75]
    optimizer.param_groups[0]["lr"] = 2.0  # as schedulers do
    optimizer.step()
    assert [x.item() for x in (p, q, r)] == [-2, 0, 0.5]
    optimizer.param_groups[1]["params"].clear()
    optimizer.step()
    assert [x.item() for x in (p, q, r)] == [-4, 0, 0.25]


def test_generator_and_names():
    model = zero.nn.Linear(2, 1)
    assert len(SGD(model.parameters()).param_groups[0]["params"]) == 2
    optimizer = SGD(model.named_parameters())
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    with pytest.raises(ValueError, match="names"):
        optimizer.add_param_group({"params": [Parameter(zero.ones(1))]})


def test_lr_may_be_a_tensor():
    p = Parameter(zero.ones(1))
    p.grad = zero.ones(1)
    lr = zero.tensor(0.25)
    optimizer = SGD([p], lr=lr)
    optimizer.step()
    lr.fill_(0.5)
    optimizer.step()
    assert p.item() == 0.25
    with pytest.raises(ValueError, match="one element"):
        SGD([p], lr=zero.tensor([0.1, 0.2]))


# ---- bad input ---------------------------------------------------------------------------------


def test_bad_parameters():
    p = Parameter(zero.ones(1))
    for params, error, text in [
        (p, TypeError, "iterable"),
        ([], ValueError, "no parameters"),
        (iter(()), ValueError, "generator"),
        ([1.0], TypeError, "float"),
        ([p, p], ValueError, "already"),
        ([{"params": p}, {"params": [p]}], ValueError, "another group"),
        ([p * 2], ValueError, "MulBackward0"),
        ([{"params": {p}}], TypeError, "set"),
        ([{"lr": 1}], ValueError, "'params'"),
        ([{"params": p}, 3], TypeError, "dict"),
        ([("name", p), p], ValueError, "pairs"),
    ]:
        with pytest.raises(error, match=text):
            SGD(params)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"lr": -1}, ValueError),
        ({"lr": math.nan}, ValueError),
        ({"lr": "0.1"}, TypeError),
        ({"lr": None}, TypeError),
        ({"momentum": -0.5}, ValueError),
        ({"weight_decay": -0.5}, ValueError),
        ({"nesterov": True}, ValueError),
        ({"nesterov": True, "momentum": 0.9, "dampening": 0.1}, ValueError),
        ({"differentiable": True, "fused": True}, ValueError),
        ({"foreach": True, "fused": True}, ValueError),
        ({"beta": 1}, TypeError),
    ],
    ids=str,
)
def test_bad_options(options, error):
    p = Parameter(zero.ones(1))
    with pytest.raises(error):
        SGD([p], **options)
    if "beta" not in options:
        with pytest.raises(error):  # a group may give them, too
            SGD([{"params": [p], **options}])


def test_failed_group_is_not_added():
    p, q = Parameter(zero.ones(1)), Parameter(zero.ones(1))
    optimizer = SGD([p])
    for group in ({"params": [q], "lr": -1}, {"params": [q, p]}):
        with pytest.raises(ValueError):
            optimizer.add_param_group(group)
    assert len(optimizer.param_groups) == 1
    optimizer.add_param_group({"params": [q]})


def test_bad_gradient_changes_nothing():
    p, q = Parameter(zero.ones(1)), Parameter(zero.ones(2))
    optimizer = SGD([p, q], lr=0.5, momentum=0.9)
    p.grad, q.grad = zero.ones(1), zero.ones(2)
    optimizer.step()
    before = p.tolist(), q.tolist()
    optimizer.state[q]["momentum_buffer"] = zero.ones(3)
    with pytest.raises(zero.errors.ShapeError, match="momentum_buffer"):
        optimizer.step()
    assert (p.tolist(), q.tolist()) == before


@pytest.mark.parametrize("foreach", [None, True, False])
@pytest.mark.parametrize("fused", [None, False])
def test_implementation_choices_change_nothing(foreach, fused):
    p = Parameter(zero.ones(1))
    p.grad = zero.ones(1)
    SGD([p], lr=0.5, foreach=foreach, fused=fused).step()
    assert p.item() == 0.5


# ---- saving and loading ------------------------------------------------------------------------


def trained(steps, dtype=zero.float64, **options):
    p = [Parameter(zero.tensor([1.0, 2.0], dtype=dtype)), Parameter(zero.ones(1, dtype=dtype))]
    optimizer = SGD(p, **{"lr": 0.1, "momentum": 0.9, **options})
    train(optimizer, p, steps)
    return optimizer, p


def train(optimizer, p, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        ((p[0] * p[0]).sum() + (p[1] * p[1] * p[1]).sum()).backward()
        optimizer.step()


def test_state_dict_has_pytorchs_layout():
    state = trained(1)[0].state_dict()
    assert list(state) == ["state", "param_groups"]
    assert state["param_groups"] == [
        {
            "lr": 0.1,
            "momentum": 0.9,
            "dampening": 0,
            "weight_decay": 0,
            "nesterov": False,
            "maximize": False,
            "foreach": None,
            "differentiable": False,
            "fused": None,
            "params": [0, 1],
        }
    ]
    assert list(state["state"]) == [0, 1]
    assert state["state"][0]["momentum_buffer"].tolist() == [2, 4]
    assert trained(1, momentum=0)[0].state_dict()["state"] == {}


def test_resume_is_exact():
    optimizer, p = trained(3)
    state = copy.deepcopy(optimizer.state_dict())
    values = [x.tolist() for x in p]
    train(optimizer, p, 4)
    expected = [x.tolist() for x in p]

    q = [Parameter(zero.tensor(v, dtype=zero.float64)) for v in values]
    other = SGD(q, lr=99)
    other.load_state_dict(state)
    assert other.param_groups[0]["lr"] == 0.1
    train(other, q, 4)
    assert [x.tolist() for x in q] == expected


def test_loaded_state_is_a_copy_in_the_parameters_dtype():
    optimizer, _ = trained(2)
    state = optimizer.state_dict()
    other, q = trained(1, dtype=zero.float32)
    other.load_state_dict(state)
    buffer = other.state[q[0]]["momentum_buffer"]
    assert buffer.dtype == zero.float32
    saved = state["state"][0]["momentum_buffer"].tolist()
    train(other, q, 1)
    assert state["state"][0]["momentum_buffer"].tolist() == saved

    third, r = trained(1)
    third.load_state_dict(state)
    train(third, r, 1)  # same dtype, and yet nothing shared
    assert state["state"][0]["momentum_buffer"].tolist() == saved


def test_state_that_does_not_fit():
    optimizer, p = trained(2)
    before = optimizer.state_dict()["state"][0]["momentum_buffer"].tolist()
    one = SGD([Parameter(zero.ones(1))], lr=5).state_dict()
    with pytest.raises(ValueError, match="size"):
        optimizer.load_state_dict(one)
    two = SGD([{"params": [Parameter(zero.ones(1))]} for _ in range(2)]).state_dict()
    with pytest.raises(ValueError, match="groups"):
        optimizer.load_state_dict(two)
    assert optimizer.param_groups[0]["lr"] == 0.1
    assert optimizer.state[p[0]]["momentum_buffer"].tolist() == before


def test_old_state_gets_new_options():
    optimizer, _ = trained(1)
    state = optimizer.state_dict()
    del state["param_groups"][0]["maximize"]
    other, q = trained(0)
    other.load_state_dict(state)
    assert other.param_groups[0]["maximize"] is False
    train(other, q, 1)


def test_pickle_and_deepcopy():
    optimizer, p = trained(2)
    for copied in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        q = copied.param_groups[0]["params"]
        assert q[0] is not p[0] and q[0].tolist() == p[0].tolist()
        buffer = copied.state[q[0]]["momentum_buffer"]
        assert buffer.tolist() == optimizer.state[p[0]]["momentum_buffer"].tolist()


# ---- the base class ----------------------------------------------------------------------------


def test_repr():
    text = repr(SGD([Parameter(zero.ones(1))], lr=0.5))
    assert text == (
        "SGD (\n"
        "Parameter Group 0\n"
        "    dampening: 0\n"
        "    differentiable: False\n"
        "    foreach: None\n"
        "    fused: None\n"
        "    lr: 0.5\n"
        "    maximize: False\n"
        "    momentum: 0\n"
        "    nesterov: False\n"
        "    weight_decay: 0\n"
        ")"
    )


def test_own_optimizer():
    class Step(Optimizer):
        def __init__(self, params, size):
            super().__init__(params, {"size": size})

        @zero.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    state["count"] = state.get("count", 0) + 1
                    p.sub_(p.grad.sign() * group["size"])

    p = Parameter(zero.tensor([1.0, -1.0]))
    optimizer = Step([p], 0.25)
    for _ in range(2):
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()
    assert p.tolist() == [0.5, -0.5]
    assert optimizer.state_dict()["state"] == {0: {"count": 2}}
    with pytest.raises(NotImplementedError, match="step"):
        Optimizer([p], {}).step()


def test_plain_tensors_can_be_trained():
    x = zero.tensor([3.0], requires_grad=True)
    optimizer = SGD([x], lr=0.25)
    (x * x).sum().backward()
    optimizer.step()
    assert x.item() == 1.5
