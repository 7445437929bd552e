"""Special functions: how exact they are, their edges, what they refuse."""

import math

import numpy as np
import pytest
import special_reference as ref
from op_db_special import UNARY, function

import zero
from zero.errors import DTypeError

inf, nan = math.inf, math.nan

# The part of each line where its reference is good to 1e-12, wider than the samples of op_db.
WIDE = {
    "erfinv": (-0.9999, 0.9999),
    "lgamma": (1e-3, 200),
    "digamma": (-20, 200),
    "special.erfcx": (-20, 1000),
    "special.ndtr": (-30, 8),
    "special.ndtri": (1e-9, 0.999),
    "special.log_ndtr": (-900, 8),
    "special.airy_ai": (-6, 5),
    "special.modified_bessel_k0": (1e-3, 80),
    "special.modified_bessel_k1": (1e-3, 80),
    "special.scaled_modified_bessel_k0": (1e-3, 300),
    "special.scaled_modified_bessel_k1": (1e-3, 300),
    "special.bessel_j0": (-60, 60),
    "special.bessel_j1": (-60, 60),
    "special.bessel_y0": (1e-3, 60),
    "special.bessel_y1": (1e-3, 60),
}


def samples(name, low, high, rng):
    low, high = WIDE.get(name, (low, high))
    x = rng.uniform(low, high, 300)
    if low > 0:
        x = np.concatenate([x, np.exp(rng.uniform(math.log(low), math.log(high), 100))])
    return x


@pytest.mark.parametrize("name, reference, low, high, grad", UNARY, ids=[u[0] for u in UNARY])
def test_float64(name, reference, low, high, grad):
    x = samples(name, low, high, np.random.default_rng(1))
    found = function(name)(zero.tensor(x)).numpy()
    np.testing.assert_allclose(found, reference(x), rtol=2e-12, atol=2e-13)


@pytest.mark.parametrize("name, reference, low, high, grad", UNARY, ids=[u[0] for u in UNARY])
def test_float32_is_rounded_once(name, reference, low, high, grad):
    x = zero.tensor(samples(name, low, high, np.random.default_rng(2)), dtype=zero.float32)
    found, exact = function(name)(x), function(name)(x.double())
    y, size = exact.numpy(), np.abs(exact.numpy())
    normal = (size >= 2.0**-126) & (size < 3e38)  # below, numbers are flushed to zero
    assert normal.sum() > 100
    ulp = np.spacing(size[normal].astype(np.float32))
    bound = 2.3 if name == "erfinv" else 0.51  # that one computes in float32
    assert np.all(np.abs(found.double().numpy() - y)[normal] <= bound * ulp)


# Arguments and results, of float32: ends of domains, poles, the far away.
EDGES = {
    "erfinv": ([0, 1, -1, 1.5, nan], [0, inf, -inf, nan, nan]),
    "lgamma": ([1, 2, 0, -1, -inf, inf, nan], [0, 0, inf, inf, inf, inf, nan]),
    "digamma": ([0.0, -0.0, -1, inf, -inf, nan], [-inf, inf, nan, inf, nan, nan]),
    "i0": ([0, inf, -inf, nan], [1, inf, inf, nan]),
    "sinc": ([0, 1, -2, 1e30, inf, nan], [1, 0, 0, 0, 0, nan]),
    "logit": ([0, 1, -0.5, 1.5, nan], [-inf, inf, nan, nan, nan]),
    "special.entr": ([0, 1, -1, inf, nan], [0, 0, -inf, -inf, nan]),
    "special.erfcx": ([0, inf, -inf, -100, nan], [1, 0, inf, inf, nan]),
    "special.ndtr": ([0, inf, -inf, 100, -100, nan], [0.5, 1, 0, 1, 0, nan]),
    "special.ndtri": ([0, 0.5, 1, -1, 2, nan], [-inf, 0, inf, nan, nan, nan]),
    "special.log_ndtr": ([inf, -inf, 100, -1e10, nan], [0, -inf, 0, -5e19, nan]),
    "special.i0e": ([0, inf, -inf, nan], [1, 0, 0, nan]),
    "special.i1": ([0, inf, -inf, nan], [0, inf, -inf, nan]),
    "special.i1e": ([0, inf, -inf, nan], [0, 0, 0, nan]),
    "special.modified_bessel_k0": ([0, -1, inf, nan], [inf, nan, 0, nan]),
    "special.modified_bessel_k1": ([0, -1, inf, nan], [inf, nan, 0, nan]),
    "special.scaled_modified_bessel_k0": ([0, -1, inf, nan], [inf, nan, 0, nan]),
    "special.scaled_modified_bessel_k1": ([0, -1, inf, nan], [inf, nan, 0, nan]),
    "special.bessel_j0": ([0, inf, -inf, nan], [1, 0, 0, nan]),
    "special.bessel_j1": ([0, inf, -inf, nan], [0, 0, 0, nan]),
    "special.bessel_y0": ([0, -1, inf, nan], [-inf, nan, 0, nan]),
    "special.bessel_y1": ([0, -1, inf, nan], [-inf, nan, 0, nan]),
    "special.spherical_bessel_j0": ([0, inf, -inf, nan], [1, 0, 0, nan]),
    "special.airy_ai": ([inf, -inf, 200, nan], [0, 0, 0, nan]),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name):
    x, expected = EDGES[name]
    for dtype, tolerance in ((zero.float32, 1e-6), (zero.float64, 1e-14)):
        found = function(name)(zero.tensor(x, dtype=dtype)).numpy()
        np.testing.assert_allclose(found, expected, rtol=tolerance, err_msg=name)


def test_lgamma_and_digamma_of_negative_numbers():
    x = np.random.default_rng(3).uniform(-12, 0, 300)
    found = zero.lgamma(zero.tensor(x)).numpy()
    np.testing.assert_allclose(found, ref.lgamma(x), rtol=1e-12, atol=1e-13)
    tiny = np.array([1e-300, -1e-300, 1e-20, -1e-20])
    np.testing.assert_allclose(zero.lgamma(zero.tensor(tiny)).numpy(), ref.lgamma(tiny), rtol=1e-14)


def test_tails_keep_their_digits():
    x = np.logspace(-300, -3, 100)
    np.testing.assert_allclose(zero.special.ndtri(zero.tensor(x)).numpy(), ref.ndtri(x), rtol=1e-12)
    near = zero.erfinv(zero.tensor(1 - np.logspace(-15, -2, 50)))
    np.testing.assert_allclose(zero.erf(near).numpy(), 1 - np.logspace(-15, -2, 50), rtol=1e-15)


def test_polygamma_of_negative_numbers():
    """By the reflection of DLMF 5.15.6: psi'(x) + psi'(1 - x) = (pi / sin(pi x))^2."""
    x = np.random.default_rng(4).uniform(-2000, 0, 200)
    sum_ = zero.polygamma(1, zero.tensor(x)) + zero.polygamma(1, zero.tensor(1 - x))
    np.testing.assert_allclose(sum_.numpy(), (np.pi / np.sin(np.pi * x)) ** 2, rtol=1e-9)
    assert zero.polygamma(1, zero.tensor([0.0, -3.0])).tolist() == [inf, inf]
    with pytest.raises(ValueError, match=r"^polygamma: n is negative; got -1"):
        zero.polygamma(-1, zero.ones(2))


def test_incomplete_gamma():
    """Integer orders have a finite sum: Q(n, x) = e^-x sum over k < n of x^k / k!."""
    rng = np.random.default_rng(5)
    orders = rng.integers(1, 160, 300)
    x = orders * rng.uniform(0.3, 2.5, 300)
    expected = [
        math.fsum(math.exp(k * math.log(v) - v - math.lgamma(k + 1)) for k in range(n))
        for n, v in zip(orders.tolist(), x.tolist(), strict=True)
    ]
    upper = zero.igammac(zero.tensor(orders, dtype=zero.float64), zero.tensor(x)).numpy()
    np.testing.assert_allclose(upper, expected, rtol=1e-10)
    a = zero.tensor(rng.uniform(0, 3, 300))
    small = zero.tensor(rng.uniform(0, 3, 300))
    np.testing.assert_allclose(
        zero.igamma(a, small).numpy(), ref.igamma(a.numpy(), small.numpy()), rtol=1e-11
    )
    cases = [
        (0, 1, 1),
        (0, 0, nan),
        (1, 0, 0),
        (inf, 1, 0),
        (1, inf, 1),
        (-1, 1, nan),
        (1, -1, nan),
    ]
    for order, bound, lower in cases:
        one = zero.igamma(zero.tensor(float(order)), zero.tensor(float(bound))).item()
        assert one == lower or (math.isnan(one) and math.isnan(lower)), (order, bound)
    huge = zero.tensor([1e4, 1e8, 1e12], dtype=zero.float64)
    np.testing.assert_allclose(  # P(a, a) is 1/2 + 1 / (3 sqrt(2 pi a))
        zero.igamma(huge, huge).numpy(),
        0.5 + 1 / (3 * np.sqrt(2 * np.pi * huge.numpy())),
        rtol=1e-6,
    )
    with pytest.raises(RuntimeError, match="igamma: input is not implemented"):
        zero.igamma(zero.ones(2, requires_grad=True), zero.ones(2)).sum().backward()


def test_zeta():
    s = zero.tensor([2.0, 4.0], dtype=zero.float64)
    expected = [math.pi**2 / 6, math.pi**4 / 90]
    np.testing.assert_allclose(zero.special.zeta(s, 1).numpy(), expected, rtol=1e-14)
    found = zero.special.zeta(
        zero.tensor([1.0, 0.5, 2.0, 2.5]), zero.tensor([1.0, 1.0, -1.0, -0.5])
    )
    np.testing.assert_array_equal(found.numpy(), [inf, nan, inf, nan])
    with pytest.raises(RuntimeError, match="zeta: input is not implemented"):
        zero.special.zeta(s.requires_grad_(), 1.0).sum().backward()


def test_polynomials_of_high_degree():
    x = zero.tensor(np.linspace(-0.999, 0.999, 41))
    theta = np.arccos(x.numpy())
    for n in (33, 1000, 12345):
        found = zero.special.chebyshev_polynomial_t(x, n).numpy()
        np.testing.assert_allclose(found, np.cos(n * theta), atol=1e-11 * n)
    t = zero.special.chebyshev_polynomial_t
    outside = zero.tensor([1.5, -1.5, inf, nan], dtype=zero.float64)
    np.testing.assert_allclose(
        t(outside, 41).numpy()[:2], np.cosh(41 * np.arccosh([1.5, 1.5])) * [1, -1], rtol=1e-12
    )
    assert t(outside, 10**9).tolist()[:3] == [inf, inf, inf]
    assert zero.special.chebyshev_polynomial_v(-1 + 0 * x[:1], 50).item() == 101
    # A degree that no loop could reach ends at once.
    for name in ("legendre_polynomial_p", "laguerre_polynomial_l", "hermite_polynomial_h"):
        f = getattr(zero.special, name)
        for degree in (1e15, inf):
            assert f(zero.tensor([0.3, 1.0, 2.0]), degree).shape == (3,)
        assert f(zero.tensor([0.3]), zero.tensor([-1.0, nan, -0.5])).tolist() == [0, 0, 1]
    near = (
        zero.special.legendre_polynomial_p(x, 999_999),
        zero.special.legendre_polynomial_p(x, 1_000_001),
    )
    assert np.abs(near[0].numpy()).max() < 0.05 and np.abs(near[1].numpy()).max() < 0.05


def test_no_gradient_where_pytorch_has_none():
    x = zero.rand(3, requires_grad=True)
    assert not zero.special.bessel_j0(x).requires_grad
    assert not zero.special.legendre_polynomial_p(x, 3).requires_grad


def test_names_of_the_namespace():
    same = {
        "digamma": "digamma",
        "erf": "erf",
        "erfc": "erfc",
        "erfinv": "erfinv",
        "exp2": "exp2",
        "expit": "sigmoid",
        "expm1": "expm1",
        "gammainc": "igamma",
        "gammaincc": "igammac",
        "gammaln": "lgamma",
        "i0": "i0",
        "log1p": "log1p",
        "log_softmax": "log_softmax",
        "logit": "logit",
        "logsumexp": "logsumexp",
        "multigammaln": "mvlgamma",
        "polygamma": "polygamma",
        "psi": "digamma",
        "round": "round",
        "sinc": "sinc",
        "softmax": "softmax",
        "xlogy": "xlogy",
    }
    for name, own in same.items():
        assert getattr(zero.special, name) is getattr(zero, own)
    assert all(hasattr(zero.special, name) for name in zero.special.__all__)


def test_arguments():
    out = zero.empty(2)
    assert zero.special.ndtr(zero.zeros(2), out=out) is out and out.tolist() == [0.5, 0.5]
    with pytest.raises(TypeError, match=r"^special\.zeta: neither argument is a tensor"):
        zero.special.zeta(2, 3)
    with pytest.raises(DTypeError):
        zero.special.i1(zero.ones(2), out=zero.empty(2, dtype=zero.int64))
    with pytest.raises(ValueError, match=r"^mvlgamma: p is less than 1; got 0"):
        zero.mvlgamma(zero.ones(2), 0)
    assert zero.special.i1(zero.tensor([1, 2])).dtype is zero.float32
    x = zero.tensor([0.5, 0.25])
    assert x.logit_() is x and x.erfinv_() is x
    y = zero.tensor([2.0])
    np.testing.assert_allclose(y.polygamma(1).item(), math.pi**2 / 6 - 1, rtol=1e-6)
    assert y.polygamma_(1) is y
