"""Composed functions and losses of nn.functional: values, gradients, hard places, errors."""

import math

import numpy as np
import pytest

import zero
from zero.autograd import gradcheck, gradgradcheck
from zero.nn import functional as F


def draw(*shape, low=-3.0, high=3.0, seed=0):
    values = np.random.default_rng(seed).uniform(low, high, shape)
    return zero.tensor(values, requires_grad=True), values


def reduced(each, reduction):
    return {"none": lambda: each, "mean": lambda: each.mean(), "sum": lambda: each.sum()}[
        reduction
    ]()


def huber(d, delta):
    return np.where(np.abs(d) <= delta, d * d / 2, delta * (np.abs(d) - delta / 2))


LOSSES = {
    "l1_loss": (F.l1_loss, lambda x, t: np.abs(x - t), {}),
    "smooth_l1_loss": (F.smooth_l1_loss, lambda x, t: huber(x - t, 1), {}),
    "smooth_l1_beta": (F.smooth_l1_loss, lambda x, t: huber(x - t, 0.5) / 0.5, {"beta": 0.5}),
    "smooth_l1_zero": (F.smooth_l1_loss, lambda x, t: np.abs(x - t), {"beta": 0}),
    "huber_loss": (F.huber_loss, lambda x, t: huber(x - t, 2), {"delta": 2.0}),
    "kl_div": (F.kl_div, lambda x, t: t * (np.log(t) - x), {}),
    "kl_div_log": (F.kl_div, lambda x, t: np.exp(t) * (t - x), {"log_target": True}),
    "binary_cross_entropy": (
        F.binary_cross_entropy,
        lambda x, t: -(t * np.log(x) + (1 - t) * np.log(1 - x)),
        {},
    ),
    "binary_cross_entropy_with_logits": (
        F.binary_cross_entropy_with_logits,
        lambda x, t: np.log1p(np.exp(x)) - t * x,
        {},
    ),
    "bce_pos_weight": (
        F.binary_cross_entropy_with_logits,
        lambda x, t: (1 - t) * np.log1p(np.exp(x)) + 2 * t * np.log1p(np.exp(-x)),
        {"pos_weight": zero.full((3,), 2.0, dtype=zero.float64)},
    ),
}


@pytest.mark.filterwarnings("ignore:kl_div")
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses(name, reduction):
    f, ref, options = LOSSES[name]
    low, high = (0.1, 0.9) if name == "binary_cross_entropy" else (-3, 3)
    x, nx = draw(4, 3, low=low, high=high)
    t, nt = draw(4, 3, low=0.1, high=0.9, seed=1)
    y = f(x, t, reduction=reduction, **options)
    np.testing.assert_allclose(y.detach().numpy(), reduced(ref(nx, nt), reduction), rtol=1e-12)
    assert gradcheck(lambda a, b: f(a, b, reduction=reduction, **options), (x, t))
    assert gradgradcheck(lambda a: f(a, t.detach(), reduction=reduction, **options), (x,))
    with pytest.raises(ValueError, match="'median'"):
        f(x, t, reduction="median", **options)


def test_weights():
    x, nx = draw(4, 3)
    t, nt = draw(4, 3, seed=1)
    w = np.array([1.0, 2.0, 3.0])
    each, full = np.abs(nx - nt), np.broadcast_to(w, nx.shape)
    y = F.l1_loss(x, t, weight=zero.tensor(full.copy()))
    assert y.item() == pytest.approx((each * w).sum() / full.sum())
    y = F.huber_loss(x, t, weight=zero.tensor(full.copy()))  # the mean is over the elements
    assert y.item() == pytest.approx((huber(nx - nt, 1) * w).mean())
    y = F.binary_cross_entropy_with_logits(x, zero.ones_like(x), weight=zero.tensor(w))
    assert y.item() == pytest.approx((np.log1p(np.exp(-nx)) * w).mean())


def test_old_forms_of_reduction():
    x, t = zero.tensor([1.0, 3.0]), zero.zeros(2)
    for f in (F.l1_loss, F.smooth_l1_loss):
        with pytest.warns(FutureWarning, match="size_average"):
            assert f(x, t, size_average=False).item() == f(x, t, reduction="sum").item()
        with pytest.warns(FutureWarning, match="size_average"):
            assert f(x, t, reduce=False).shape == (2,)


def test_shapes_of_losses():
    x = zero.ones(2, 3)
    with pytest.warns(UserWarning, match="broadcasts"):
        F.l1_loss(x, zero.ones(3))
    for f in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
        with pytest.raises(zero.errors.ShapeError, match="shapes differ"):
            f(x, zero.ones(3))
    with pytest.raises(ValueError, match="no probability"):
        F.binary_cross_entropy(x * 2, x)
    assert F.kl_div(x.log(), x, reduction="batchmean").item() == 0


def test_losses_at_hard_places():
    x = zero.tensor([0.0, 1000.0, -1000.0], requires_grad=True)
    y = F.binary_cross_entropy_with_logits(x, zero.tensor([1.0, 0.0, 1.0]), reduction="none")
    np.testing.assert_allclose(y.detach().numpy(), [math.log(2), 1000, 1000], rtol=1e-6)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [-0.5, 1, -1], rtol=1e-6)
    p = zero.tensor([0.0, 1.0], requires_grad=True)
    y = F.binary_cross_entropy(p, zero.tensor([1.0, 0.0]), reduction="none")
    assert y.tolist() == [100.0, 100.0]
    y.sum().backward()
    assert zero.isfinite(p.grad).all()
    target = zero.tensor([0.0, 1.0], requires_grad=True)
    y = F.kl_div(zero.zeros(2), target, reduction="sum")
    assert y.item() == 0


def test_softplus():
    x, nx = draw(5)
    np.testing.assert_allclose(F.softplus(x).detach().numpy(), np.log1p(np.exp(nx)), rtol=1e-12)
    assert gradcheck(lambda a: F.softplus(a, 2.0, 3.0), (x,))
    assert gradgradcheck(F.softplus, (x,))
    big = zero.tensor([1000.0, -1000.0], requires_grad=True)
    y = F.softplus(big)
    assert y.tolist() == [1000.0, 0.0]
    y.sum().backward()
    assert big.grad.tolist() == [1.0, 0.0]


def test_normalize():
    x, nx = draw(4, 3)
    expected = nx / np.linalg.norm(nx, axis=1, keepdims=True)
    np.testing.assert_allclose(F.normalize(x).detach().numpy(), expected, rtol=1e-12)
    assert F.normalize(zero.zeros(2, 3)).tolist() == [[0.0] * 3] * 2
    assert F.normalize(x, p=1, dim=0).detach().abs().sum(0).tolist() == pytest.approx([1, 1, 1])
    assert gradcheck(F.normalize, (x,)) and gradgradcheck(F.normalize, (x,))
    out = zero.empty(0, dtype=zero.float64)
    assert F.normalize(x.detach(), out=out) is out and out.shape == (4, 3)


def test_one_hot():
    x = zero.tensor([[0, 2], [1, 0]])
    assert F.one_hot(x).tolist() == np.eye(3, dtype=int)[x.numpy()].tolist()
    assert F.one_hot(x, 5).shape == (2, 2, 5) and F.one_hot(zero.tensor(1)).tolist() == [0, 1]
    assert F.one_hot(zero.empty(0, dtype=zero.int64), 4).shape == (0, 4)
    for bad, n in ((zero.tensor([-1]), -1), (x, 2), (zero.empty(0, dtype=zero.int64), -1)):
        with pytest.raises(ValueError, match="one_hot"):
            F.one_hot(bad, n)
    with pytest.raises(zero.errors.DTypeError, match="int64"):
        F.one_hot(zero.ones(2))


def test_cosine_similarity():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(4, 3)), rng.normal(size=(3,))
    x, y = zero.tensor(a, requires_grad=True), zero.tensor(b, requires_grad=True)
    expected = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b)
    np.testing.assert_allclose(F.cosine_similarity(x, y).detach().numpy(), expected, rtol=1e-12)
    assert F.cosine_similarity(x, x, dim=0).tolist() == pytest.approx([1.0] * 3)
    assert gradcheck(F.cosine_similarity, (x, y)) and gradgradcheck(F.cosine_similarity, (x, y))
    nothing = zero.zeros(2, 3, requires_grad=True)
    F.cosine_similarity(nothing, nothing).sum().backward()
    assert nothing.grad.tolist() == [[0.0] * 3] * 2
    small = zero.full((1, 2), 1e-9)
    assert F.cosine_similarity(small, small, eps=1.0).item() == pytest.approx(2e-18)
    with pytest.raises(RuntimeError, match="cosine_similarity: not floating"):
        F.cosine_similarity(zero.ones(2, 2, dtype=zero.int64), zero.ones(2, 2, dtype=zero.int64))
