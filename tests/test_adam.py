"""optim.Adam and AdamW, against a reference written with NumPy."""

import copy

import numpy as np
import pytest

import zero
from zero.nn import Parameter
from zero.optim import SGD, Adam, AdamW

SETTINGS = [
    {},
    {"lr": 0.1, "weight_decay": 0.1},
    {"lr": 0.05, "amsgrad": True},
    {"lr": 0.1, "betas": (0.5, 0.7), "eps": 1e-3, "maximize": True},
    {"lr": 0.1, "betas": (0.0, 0.0)},
]
DEFAULTS = {
    "lr": 1e-3,
    "betas": (0.9, 0.999),
    "eps": 1e-8,
    "amsgrad": False,
    "maximize": False,
}


def reference(start, grads, decoupled, weight_decay, **options):
    """The parameters after the steps, in float64."""
    o = {**DEFAULTS, **options}
    p, m, v, largest = start.astype(np.float64), 0.0, 0.0, 0.0
    (b1, b2), lr = o["betas"], o["lr"]
    for t, grad in enumerate(grads, 1):
        g = -grad if o["maximize"] else grad
        if decoupled:
            p = p * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * p
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        largest = np.maximum(largest, v)
        square = largest if o["amsgrad"] else v
        p = p - lr / (1 - b1**t) * m / (np.sqrt(square) / np.sqrt(1 - b2**t) + o["eps"])
    return p


def steps(optimizer, p, grads):
    for g in grads:
        p.grad = zero.tensor(g.tolist(), dtype=p.dtype).reshape(p.shape)
        optimizer.step()


# The steps are at most lr in size, and their rounding adds up: an ulp of p for each of a few.
@pytest.mark.parametrize("dtype, tolerance", [(zero.float64, 1e-13), (zero.float32, 2e-6)])
@pytest.mark.parametrize("options", SETTINGS)
@pytest.mark.parametrize("cls", [Adam, AdamW])
def test_against_reference(cls, options, dtype, tolerance):
    rng = np.random.default_rng(0)
    start, grads = rng.standard_normal((5, 7)), rng.standard_normal((9, 5, 7))
    p = Parameter(zero.tensor(start.tolist(), dtype=dtype))
    steps(cls([p], **options), p, grads)
    rest = {"weight_decay": 0.01 if cls is AdamW else 0, **options}
    want = reference(start, grads, cls is AdamW, **rest)
    np.testing.assert_allclose(np.array(p.tolist()), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [zero.float16, zero.bfloat16])
def test_half_precision_computes_in_float32(dtype):
    """A step of 1e-8 / 1e-8 would be lost in float16, whose smallest number is 6e-8."""
    p = Parameter(zero.ones(4, dtype=dtype))
    p.grad = zero.full((4,), 1e-3, dtype=dtype)
    Adam([p], lr=0.25).step()
    assert p.tolist() == [0.75] * 4


def test_state_is_pytorchs():
    p, q = Parameter(zero.ones(2, 3)), Parameter(zero.ones(1))
    optimizer = Adam([p, q], amsgrad=True)
    p.grad = zero.ones(2, 3)
    optimizer.step()
    assert list(optimizer.state) == [p]  # q had no gradient
    state = optimizer.state[p]
    assert list(state) == ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    assert state["step"].dtype == zero.float32 and state["step"].item() == 1
    assert all(state[name].shape == (2, 3) for name in list(state)[1:])
    step = state["step"]
    optimizer.step()
    assert optimizer.state[p]["step"] is step and step.item() == 2


def test_parameters_count_their_own_steps():
    """A parameter that joins later gets the full first step."""
    p, q = Parameter(zero.zeros(1)), Parameter(zero.zeros(1))
    optimizer = Adam([p, q], lr=0.5)
    p.grad = zero.ones(1)
    optimizer.step()
    q.grad = zero.ones(1)
    optimizer.step()
    assert q.item() == pytest.approx(-0.5, rel=1e-6)
    assert optimizer.state[p]["step"].item() == 2 and optimizer.state[q]["step"].item() == 1


@pytest.mark.parametrize("cls", [Adam, AdamW])
def test_resuming_gives_the_same_bits(cls):
    rng = np.random.default_rng(1)
    grads = rng.standard_normal((8, 33))
    p = Parameter(zero.ones(33))
    optimizer = cls([p], lr=0.1, amsgrad=True)
    steps(optimizer, p, grads[:4])
    q = Parameter(p.detach().clone())
    other = cls([q], lr=9.0)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    steps(optimizer, p, grads[4:])
    steps(other, q, grads[4:])
    assert p.tolist() == q.tolist()
    assert other.state_dict()["param_groups"][0]["lr"] == 0.1


def test_old_checkpoints_count_steps_by_numbers():
    p = Parameter(zero.ones(1))
    optimizer = Adam([p])
    p.grad = zero.ones(1)
    optimizer.step()
    saved = optimizer.state_dict()
    saved["state"][0]["step"] = 1
    optimizer.load_state_dict(saved)
    optimizer.step()
    assert optimizer.state[p]["step"].item() == 2


def test_memory_stays_where_it_is():
    p = Parameter(zero.arange(12.0).reshape(3, 4))
    view, address = p.detach()[1:], p.data_ptr()
    optimizer = Adam([p], lr=0.5)
    p.grad = zero.ones(3, 4)
    optimizer.step()
    assert p.data_ptr() == address
    assert view.tolist() == p.tolist()[1:]


def test_strided_parameters_and_gradients():
    base = zero.arange(12.0).reshape(3, 4)
    p, q = Parameter(base.t()), Parameter(base.t().contiguous())
    grad = zero.arange(12.0).reshape(4, 3) - 5
    p.grad, q.grad = grad, grad.t().contiguous().t()
    for x in (p, q):
        Adam([x], lr=0.1).step()
    assert p.tolist() == q.tolist()


def test_any_thread_count_gives_the_same_bits():
    grads = np.random.default_rng(2).standard_normal((3, 100_003))
    results = []
    for threads in (1, 2, 3, 7):
        zero.set_num_threads(threads)
        p = Parameter(zero.ones(100_003))
        steps(AdamW([p], lr=0.1), p, grads)
        results.append(bytes(p.detach().numpy()))
    assert len(set(results)) == 1


def test_amsgrad_keeps_nan():
    p = Parameter(zero.ones(2))
    optimizer = Adam([p], amsgrad=True)
    p.grad = zero.tensor([float("nan"), 1.0])
    optimizer.step()
    assert zero.isnan(optimizer.state[p]["max_exp_avg_sq"]).tolist() == [True, False]


def test_closure_and_tensor_options():
    p = Parameter(zero.tensor([3.0]))
    optimizer = Adam([p], lr=zero.tensor(0.5), betas=(zero.tensor(0.9), zero.tensor(0.999)))

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 9
    assert p.item() == pytest.approx(2.5, rel=1e-6)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"lr": -1}, "lr must be 0 or more; got -1.0"),
        ({"lr": float("nan")}, "lr must be 0 or more"),
        ({"eps": -1}, "eps"),
        ({"weight_decay": -1}, "weight_decay"),
        ({"betas": (1.0, 0.9)}, r"betas\[0\] must be 0 or more and below 1; got 1.0"),
        ({"betas": (0.9, -0.1)}, r"betas\[1\]"),
        ({"betas": 0.9}, "betas must be two numbers"),
        ({"lr": zero.tensor([1.0, 2.0])}, "one element"),
        ({"foreach": True, "fused": True}, "exclude"),
    ],
)
@pytest.mark.parametrize("cls", [Adam, AdamW])
def test_options_out_of_range(cls, options, text):
    with pytest.raises(ValueError, match=f"{cls.__name__}: .*{text}"):
        cls([Parameter(zero.ones(1))], **options)


def test_failed_step_changes_nothing():
    p, q = Parameter(zero.ones(2)), Parameter(zero.ones(3))
    optimizer = Adam([p, q], lr=0.5)
    p.grad, q.grad = zero.ones(2), zero.ones(3)
    optimizer.step()
    optimizer.state[q]["exp_avg"] = zero.zeros(2)
    before = p.tolist(), optimizer.state[p]["step"].item()
    with pytest.raises(zero.errors.ShapeError, match="Adam: the exp_avg of parameter 1"):
        optimizer.step()
    assert (p.tolist(), optimizer.state[p]["step"].item()) == before


def test_state_whose_elements_share_memory_is_refused():
    p = Parameter(zero.ones(3))
    optimizer = Adam([p], lr=0.5)
    p.grad = zero.ones(3)
    optimizer.step()
    optimizer.state[p]["exp_avg"] = zero.zeros(1).expand(3)
    before = p.tolist()
    with pytest.raises(RuntimeError, match=r"Adam: several elements .* share one place"):
        optimizer.step()
    assert p.tolist() == before


def test_trains_where_sgd_needs_a_smaller_step():
    def loss_after(make):
        zero.manual_seed(0)
        x = zero.randn(64, 3) * zero.tensor([1.0, 10.0, 100.0])
        target = x @ zero.tensor([[3.0], [0.2], [-0.01]])
        w = Parameter(zero.zeros(3, 1))
        optimizer = make([w])
        for _ in range(400):
            optimizer.zero_grad()
            loss = ((x @ w - target) ** 2).mean()
            loss.backward()
            optimizer.step()
        return loss.item()

    assert loss_after(lambda p: Adam(p, lr=0.05)) < 1e-3 < loss_after(lambda p: SGD(p, lr=1e-4))
