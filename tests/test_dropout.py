"""Dropout as operator, function and layer."""

import math

import numpy as np
import pytest

import zero
from zero import nn
from zero.nn import functional as F

NAMES = ["dropout", "dropout1d", "dropout2d", "dropout3d"]


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [zero.float32, zero.float64, zero.float16, zero.bfloat16])
def test_share_and_scale(p, dtype):
    zero.manual_seed(3)
    n = 40_000
    y = F.dropout(zero.ones(n, dtype=dtype), p).double()
    kept = (y != 0).sum().item()
    # Six standard deviations of a binomial distribution.
    assert abs(kept - (1 - p) * n) < 6 * math.sqrt(n * p * (1 - p))
    scale = zero.tensor(1 / (1 - p), dtype=dtype).item()
    assert sorted(set(y.tolist())) == [0, scale]


def test_elements_are_independent():
    zero.manual_seed(0)
    y = F.dropout(zero.ones(100, 400), 0.5).numpy() - 1
    # The mean of n products of independent signs: six standard deviations.
    for other in (np.roll(y, 1, 1), np.roll(y, 1, 0), np.roll(y, 4, 1)):
        assert abs((y * other).mean()) < 6 / math.sqrt(y.size)


@pytest.mark.parametrize("n", [1, 3, 513, 100_003])
def test_the_same_on_any_number_of_threads(n):
    threads = zero.get_num_threads()
    results = []
    for count in (1, 2, 3, 7):
        zero.set_num_threads(count)
        zero.manual_seed(1)
        results.append([F.dropout(zero.ones(n), 0.3).tolist() for _ in range(2)])
    zero.set_num_threads(threads)
    assert results[0] == results[1] == results[2] == results[3]
    assert n < 100 or results[0][0] != results[0][1]


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_has_the_same_pattern(name):
    shape = {"dropout": (40, 5), "dropout1d": (8, 6, 3), "dropout2d": (8, 6, 3, 2)}.get(
        name, (8, 6, 2, 2, 2)
    )
    x = zero.randn(shape).abs().add(1).requires_grad_()
    y = getattr(F, name)(x, 0.25)
    y.sum().backward()
    # y = x * noise, rounded once.
    np.testing.assert_allclose(y.detach().numpy(), (x * x.grad).detach().numpy(), rtol=1e-6)
    assert set(x.grad.flatten().tolist()) == {0.0, zero.tensor(4 / 3).item()}
    if name != "dropout":
        assert all(len(set(c)) == 1 for n in x.grad.flatten(2).tolist() for c in n)


def test_without_the_first_dimension():
    x = zero.ones(50, 3)
    rows = F.dropout1d(x, 0.5).tolist()
    assert all(len(set(row)) == 1 for row in rows) and {row[0] for row in rows} == {0, 2}
    assert F.dropout3d(zero.ones(4, 2, 2, 2)).shape == (4, 2, 2, 2)
    assert F.dropout1d(x, 0.5, inplace=True) is x and len(set(x.flatten().tolist())) == 2
    with pytest.warns(UserWarning, match="dropout1d") as caught:
        assert F.dropout2d(zero.ones(4, 2, 2)).shape == (4, 2, 2)
    assert caught[0].filename == __file__
    for name, shape in [("dropout1d", (2,)), ("dropout2d", (2, 2)), ("dropout3d", (2, 2, 2))]:
        with pytest.raises(zero.errors.ShapeError, match=name):
            getattr(F, name)(zero.ones(shape))


def test_the_ends_of_p():
    x = zero.tensor([1.0, -2.0], requires_grad=True)
    for same in (F.dropout(x, 0.0), F.dropout(x, 0.5, training=False), nn.Dropout().eval()(x)):
        assert same is x
    y = F.dropout(x, 1.0)
    assert y.tolist() == [0, 0]
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]
    assert F.dropout(zero.zeros(0)).shape == (0,)
    assert F.dropout(zero.tensor(1.0)).item() in (0, 2)
    assert F.dropout(zero.ones(2, 3, device="meta")).device.type == "meta"
    for p in (-0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match="0 <= p <= 1"):
            nn.Dropout(p)
        for train in (True, False):
            with pytest.raises(ValueError, match="0 <= p <= 1"):
                F.dropout(x, p, train)
    with pytest.raises(TypeError, match="dropout"):
        F.dropout(zero.tensor([1, 2]))
    with pytest.raises(TypeError, match="train"):
        F.dropout(x, 0.5, "yes")


def test_in_place():
    x = zero.ones(100)
    assert F.dropout(x, 0.5, inplace=True) is x and set(x.tolist()) == {0, 2}
    leaf = zero.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        F.dropout(leaf, 0.5, inplace=True)
    assert leaf.tolist() == [1, 1, 1]
    y = leaf * 1
    assert nn.Dropout(0.5, inplace=True)(y) is y
    y.sum().backward()
    assert leaf.grad.tolist() == y.tolist()


def test_gradients_of_gradients():
    x = zero.randn(20, dtype=zero.float64, requires_grad=True)

    def f(x):
        zero.manual_seed(5)
        return F.dropout(x, 0.4)

    assert zero.autograd.gradcheck(f, (x,)) and zero.autograd.gradgradcheck(f, (x,))


def test_layers_and_repr():
    assert repr(nn.Dropout()) == "Dropout(p=0.5, inplace=False)"
    for name in NAMES[1:]:
        cls = getattr(nn, name.replace("d", "D", 1))
        assert repr(cls(0.2, inplace=True)) == f"{cls.__name__}(p=0.2, inplace=True)"
    net = nn.Sequential(nn.Dropout(0.5))
    x = zero.ones(64)
    assert net.eval()(x) is x
    assert 0 in net.train()(x).tolist()
    assert nn.Dropout2d()(zero.ones(2, 2, 2, 2)).shape == (2, 2, 2, 2)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_alpha_dropout_keeps_mean_and_variance(p):
    zero.manual_seed(5)
    x = zero.randn(200_000, dtype=zero.float64)
    y = F.alpha_dropout(x, p, training=True)
    # The fourth moment is below 10: six standard deviations of the mean and of the mean square.
    assert abs(y.mean().item()) < 6 / math.sqrt(y.numel())
    assert abs(y.square().mean().item() - 1) < 6 * math.sqrt(9 / y.numel())
    # Kept elements are a x + b, the others the same for the limit of selu.
    low = 1.0507009873554805 * 1.6732632423543772
    a = 1 / math.sqrt((low**2 * p + 1) * (1 - p))
    b = a * low * p
    kept = (y - (a * x + b)).abs() < 1e-9
    assert abs(kept.double().mean().item() - (1 - p)) < 6 * math.sqrt(p * (1 - p) / y.numel())
    assert (y[~kept] - (b - a * low)).abs().max() < 1e-9


def test_alpha_dropout_of_channels():
    y = F.feature_alpha_dropout(zero.ones(40, 50, 2, 3), 0.5, training=True)
    values = y.flatten(2)
    assert (values == values[..., :1]).all()
    assert 0.3 < (values[..., 0] > 0).float().mean() < 0.7
    with pytest.raises(zero.errors.ShapeError, match="channels"):
        F.feature_alpha_dropout(zero.ones(3), 0.5, True)


@pytest.mark.parametrize("layer", [nn.AlphaDropout, nn.FeatureAlphaDropout])
def test_alpha_dropout_layers(layer):
    x = zero.randn(4, 5, 2, dtype=zero.float64, requires_grad=True)
    assert layer(0.5).eval()(x) is x and layer(0.0)(x) is x
    assert not layer(1.0)(x).any()
    y = layer(0.5)(x)
    y.sum().backward()
    # The slope is a where x was kept and 0 elsewhere.
    assert len(set(x.grad.flatten().tolist())) == 2 and 0.0 in x.grad
    z = x.detach().clone()
    assert layer(0.5, inplace=True)(z) is z and not zero.equal(z, x)
    with pytest.raises(ValueError, match="probability"):
        layer(1.5)
    assert repr(layer(0.25)) == f"{layer.__name__}(p=0.25, inplace=False)"


@pytest.mark.parametrize("dtype", [zero.float32, zero.float64])
def test_one_pass_draws_and_multiplies_as_a_product_does(dtype):
    x = zero.randn(37, 129, dtype=dtype)
    x[0, 0], x[0, 1] = float("inf"), float("nan")
    weights = zero.randn(37, 129, dtype=dtype)
    results = []
    for input in (x, x.t().contiguous().t()):  # the second has strides: a product with the noise
        leaf = input.requires_grad_()
        zero.manual_seed(3)
        y = F.dropout(leaf, 0.3)
        (gradient,) = zero.autograd.grad((y * weights).sum(), leaf, create_graph=True)
        (kept,) = zero.autograd.grad((y * weights).sum(), leaf)
        results.append([y.detach(), gradient.detach(), kept])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert 0.25 < (results[0][0] == 0).double().mean().item() < 0.35


def test_the_gradient_of_one_pass_leaves_what_others_hold():
    x = zero.ones(4, 5, requires_grad=True)
    y = F.dropout(x, 0.5)
    g = zero.ones(4, 5)
    y.backward(g)
    assert g.tolist() == [[1] * 5] * 4
    np.testing.assert_array_equal(x.grad.numpy(), y.detach().numpy())
