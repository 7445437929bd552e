"""nn.init: what the parameters are filled with."""

import math

import numpy as np
import pytest

import zero
from zero import nn
from zero.nn import init


def moments(w, mean, std):
    """Mean and standard deviation agree within six standard errors (of a normal distribution,
    whose fourth moment no distribution here exceeds)."""
    n = w.numel()
    assert abs(w.double().mean().item() - mean) < 6 * std / math.sqrt(n)
    assert abs(w.double().std().item() / std - 1) < 6 / math.sqrt(2 * n)


@pytest.fixture(autouse=True)
def seed():
    zero.manual_seed(7)


def test_all_return_the_tensor_unrecorded():
    for fill in (
        init.uniform_,
        init.normal_,
        init.trunc_normal_,
        init.ones_,
        init.zeros_,
        init.eye_,
        init.xavier_uniform_,
        init.xavier_normal_,
        init.kaiming_uniform_,
        init.kaiming_normal_,
        init.orthogonal_,
        lambda w: init.constant_(w, 3),
        lambda w: init.sparse_(w, 0.5),
    ):
        w = nn.Parameter(zero.full((4, 3), math.nan))
        pointer = w.data_ptr()
        assert fill(w) is w and w.is_leaf and w.requires_grad and w.data_ptr() == pointer
        assert w.isfinite().all().item()
        meta = zero.empty(4, 3, device="meta")
        assert fill(meta) is meta


def test_constants():
    assert init.ones_(zero.empty(2)).tolist() == [1, 1]
    assert init.zeros_(zero.empty(2, dtype=zero.int64)).tolist() == [0, 0]
    assert init.eye_(zero.empty(3, 2)).tolist() == [[1, 0], [0, 1], [0, 0]]


def test_distributions():
    n = 40_000
    w = init.uniform_(zero.empty(n), -1.0, 3.0)
    assert w.min().item() >= -1 and w.max().item() <= 3
    moments(w, 1, 4 / math.sqrt(12))
    moments(init.normal_(zero.empty(n), 2.0, 0.5), 2, 0.5)
    generator = zero.Generator().manual_seed(5)
    first = init.normal_(zero.empty(9), generator=generator).tolist()
    assert first == init.normal_(zero.empty(9), generator=generator.manual_seed(5)).tolist()


@pytest.mark.parametrize("dtype", [zero.float32, zero.float16])
@pytest.mark.parametrize("a, b", [(-2.0, 2.0), (-0.5, 1.0), (2.0, 3.0), (4.0, 7.0), (-9.0, -5.0)])
def test_truncated_normal(a, b, dtype):
    w = init.trunc_normal_(zero.empty(40_000, dtype=dtype), 0.0, 1.0, a, b)
    assert w.min().item() >= a and w.max().item() <= b

    def density(x):
        return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    inside = (math.erf(b / math.sqrt(2)) - math.erf(a / math.sqrt(2))) / 2
    if abs(inside) < 1e-6:  # the difference of two ones
        inside = abs(math.erfc(min(abs(a), abs(b)) / math.sqrt(2))) / 2
    mean = (density(a) - density(b)) / inside
    variance = 1 + (a * density(a) - b * density(b)) / inside - mean * mean
    # Six standard errors, and what rounding to float16 moves.
    rounding = 1e-3 * abs(mean) if dtype == zero.float16 else 1e-5
    error = 6 * math.sqrt(variance / w.numel())
    assert abs(w.double().mean().item() - mean) < error + rounding


def test_truncated_normal_with_scale():
    w = init.trunc_normal_(zero.empty(1000), 5.0, 0.02, 4.96, 5.04)
    assert ((w >= 4.96) & (w <= zero.tensor(5.04).item())).all().item()
    for arguments in ((0, 0, -1, 1), (0, 1, 1, 1), (0, 1, 2, 1)):
        with pytest.raises(ValueError, match="trunc_normal_"):
            init.trunc_normal_(w, *map(float, arguments))


def test_fans():
    n = (200, 100)
    moments(init.xavier_uniform_(zero.empty(n), gain=2.0), 0, 2 * math.sqrt(2 / 300))
    moments(init.xavier_normal_(zero.empty(n)), 0, math.sqrt(2 / 300))
    moments(init.kaiming_normal_(zero.empty(n)), 0, math.sqrt(2 / 100))
    moments(init.kaiming_normal_(zero.empty(n), mode="fan_out"), 0, math.sqrt(2 / 200))
    moments(init.kaiming_uniform_(zero.empty(n), a=math.sqrt(5)), 0, math.sqrt(1 / 300))
    moments(init.kaiming_uniform_(zero.empty(n), nonlinearity="tanh"), 0, 5 / 3 / 10)
    w = init.kaiming_normal_(zero.empty(50, 20, 5, 4), nonlinearity="linear")
    moments(w, 0, 1 / 20)  # 20 channels x 20 places
    bound = math.sqrt(6 / 300)
    assert init.xavier_uniform_(zero.empty(n)).abs().max().item() <= bound * (1 + 1e-6)


def test_gains():
    for name, gain in [
        ("linear", 1),
        ("conv2d", 1),
        ("sigmoid", 1),
        ("tanh", 5 / 3),
        ("relu", math.sqrt(2)),
        ("leaky_relu", math.sqrt(2 / 1.0001)),
        ("selu", 0.75),
    ]:
        assert init.calculate_gain(name) == pytest.approx(gain, rel=1e-15)
    assert init.calculate_gain("leaky_relu", 1) == 1
    for arguments in (("gelu",), ("leaky_relu", "a"), ("leaky_relu", True)):
        with pytest.raises(ValueError, match="calculate_gain"):
            init.calculate_gain(*arguments)


@pytest.mark.parametrize("shape", [(5, 5), (3, 8), (8, 3), (4, 2, 3), (64, 64), (1, 1)])
def test_orthogonal(shape):
    w = init.orthogonal_(zero.empty(shape, dtype=zero.float64), gain=2.0).flatten(1)
    product = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    expected = 4 * np.eye(len(product))
    np.testing.assert_allclose(product.numpy(), expected, atol=1e-13)


def test_orthogonal_is_random():
    signs = [init.orthogonal_(zero.empty(1, 1)).item() for _ in range(50)]
    assert set(signs) == {-1, 1}


def test_sparse_and_dirac():
    w = init.sparse_(zero.empty(10, 30), 0.25, std=2.0)
    assert (w == 0).sum(0).tolist() == [3] * 30
    assert 1 < w.abs().sum().item() / 210 < 2.5
    w = init.dirac_(zero.empty(4, 2, 3, 3), groups=2)
    assert w.sum().item() == 4
    for index in ((0, 0), (1, 1), (2, 0), (3, 1)):
        assert w[index].tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_refusals():
    vector, matrix = zero.ones(3), zero.ones(3, 3)
    for call in (
        lambda: init.xavier_uniform_(vector),
        lambda: init.kaiming_normal_(vector),
        lambda: init.orthogonal_(vector),
        lambda: init.eye_(vector),
        lambda: init.sparse_(vector, 0.1),
        lambda: init.dirac_(matrix),
        lambda: init.dirac_(zero.ones(3, 1, 1), groups=2),
        lambda: init.kaiming_uniform_(matrix, mode="fan"),
        lambda: init.normal_(vector, std=-1.0),
    ):
        with pytest.raises(ValueError):
            call()
    assert vector.tolist() == [1, 1, 1] and matrix.sum().item() == 9
    with pytest.warns(UserWarning, match="no elements"):
        init.kaiming_normal_(zero.empty(0, 3))
