"""Signs, neighbours, bits and divisors: what the derived tests of op_db don't see."""

import math
from fractions import Fraction

import numpy as np
import pytest

import zero
from zero.errors import DTypeError, ShapeError

inf, nan = math.inf, math.nan
DTYPES = {"float32": np.float32, "float64": np.float64}


@pytest.mark.parametrize("name", DTYPES)
def test_nextafter(name):
    """Against numpy, over all that is special."""
    kind = DTYPES[name]
    tiny, big = np.finfo(kind).smallest_subnormal, np.finfo(kind).max
    least = np.finfo(kind).tiny
    values = np.array(
        [
            0.0,
            -0.0,
            1,
            -1,
            2,
            0.5,
            tiny,
            -tiny,
            least,
            -least,
            least - tiny,
            big,
            -big,
            inf,
            -inf,
            nan,
        ],
        kind,
    )
    a, b = (v.ravel() for v in np.meshgrid(values, values))
    found = zero.nextafter(zero.tensor(a), zero.tensor(b)).numpy()
    with np.errstate(all="ignore"):
        expected = np.nextafter(a, b)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found)[found == 0], np.signbit(expected)[found == 0])


def test_nextafter_of_16_bits():
    values = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 65504.0, -65504.0, inf, -inf, 6e-8, -6e-8, 6.104e-05]
    a, b = (v.ravel() for v in np.meshgrid(values, values))
    half = zero.tensor(a).half(), zero.tensor(b).half()
    with np.errstate(all="ignore"):
        expected = np.nextafter(half[0].numpy(), half[1].numpy())
    np.testing.assert_array_equal(zero.nextafter(*half).numpy(), expected)
    one = zero.tensor([1.0, -1.0, 0.0, 1e-39], dtype=zero.bfloat16)
    step = zero.nextafter(one, zero.tensor(inf, dtype=zero.bfloat16)).float().tolist()
    assert step[:2] == [1 + 2**-7, -1 + 2**-8] and step[2] == 2.0**-133
    assert step[3] == one.float()[3].item() + 2.0**-133


def test_frexp_takes_subnormal_numbers_apart():
    x = np.array([0.0, -0.0, 1.0, -3.0, 1e-310, 5e-324, inf, -inf, 1e300], np.float64)
    for array in (x, np.array([0.0, -0.0, 1e-45, 1e-39, 2e-38, inf, nan], np.float32)):
        mantissa, exponent = zero.frexp(zero.tensor(array))
        expected = np.frexp(array)
        np.testing.assert_array_equal(mantissa.numpy(), expected[0])
        np.testing.assert_array_equal(exponent.numpy(), expected[1])
    assert exponent.dtype is zero.int32 and zero.frexp(zero.tensor(nan)).exponent.item() == 0
    with pytest.raises(DTypeError, match=r"^frexp: not defined for integers"):
        zero.frexp(zero.arange(3))
    out = zero.empty(3), zero.empty(3, dtype=zero.int32)
    result = zero.frexp(zero.tensor([1.0, 2.0, 3.0]), out=out)
    assert result.mantissa is out[0] and out[1].tolist() == [1, 2, 2]


def test_shifts_of_every_width():
    for name in ("uint8", "int8", "int16", "int32", "int64"):
        dtype = getattr(zero, name)
        info = zero.iinfo(dtype)
        x = zero.tensor([1, 3, info.max, info.min], dtype=dtype)
        assert (x << info.bits).tolist() == [0] * 4 and (x << 0).tolist() == x.tolist()
        assert (x >> info.bits).tolist() == [0, 0, 0, -1 if info.min else 0]
        assert (x >> 1).tolist() == [v >> 1 for v in x.tolist()]
        top = 1 << (info.bits - 1)
        expected = -top if info.min else top
        assert (zero.tensor([1], dtype=dtype) << (info.bits - 1)).item() == expected
    x = zero.tensor([1, 2])
    assert (1 << x).tolist() == [2, 4] and (8 >> x).tolist() == [4, 2]
    x <<= 2
    assert x.tolist() == [4, 8]
    x >>= 1
    assert x.tolist() == [2, 4]
    assert (x << -1).tolist() == [0, 0] and (-x >> -1).tolist() == [-1, -1]
    with pytest.raises(DTypeError, match=r"^bitwise_left_shift: not defined for floats"):
        x << 1.5


def test_divisors_of_the_least_integer():
    x = zero.tensor([-128, -128, 0], dtype=zero.int8)
    assert zero.gcd(x, zero.tensor([0, 3, 0], dtype=zero.int8)).tolist() == [-128, 1, 0]
    least = zero.tensor([-(2**63), -(2**63)])
    assert zero.gcd(least, zero.tensor([12, -1])).tolist() == [4, 1]
    assert zero.lcm(zero.tensor([-4, 7, 0]), zero.tensor([6, 0, 0])).tolist() == [12, 0, 0]


def test_integer_quotients_at_the_edge():
    for dtype, least in ((zero.int32, -(2**31)), (zero.int64, -(2**63))):
        x, minus = zero.tensor([least], dtype=dtype), zero.tensor([-1], dtype=dtype)
        assert (x // minus).item() == least and zero.div(
            x, minus, rounding_mode="trunc"
        ).item() == least
        assert (x % minus).item() == 0 and zero.fmod(x, minus).item() == 0
    for call in (
        lambda x: x // 0,
        lambda x: zero.div(x, 0, rounding_mode="trunc"),
        lambda x: zero.div(x, zero.tensor([1, 0]), rounding_mode="floor"),
    ):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            call(zero.tensor([1, 2]))
    x = zero.tensor([7.0, -7.0], requires_grad=True)
    zero.div(x, 2, rounding_mode="floor").sum().backward()
    assert x.grad.tolist() == [0, 0]


def test_extrema_that_skip_nan():
    a, b = zero.tensor([nan, 1.0, nan, 2.0]), zero.tensor([1.0, nan, nan, 2.0])
    for f in (zero.fmax, zero.fmin):
        x, y = a.clone().requires_grad_(), b.clone().requires_grad_()
        result = f(x, y)
        np.testing.assert_array_equal(result.detach().numpy(), [1, 1, nan, 2])
        result.sum().backward()
        assert x.grad.tolist() == [0, 1, 1, 1] and y.grad.tolist() == [1, 0, 0, 0]


def test_logaddexp_where_it_cancels():
    """ln(e^a + e^b) near 0: the float32 result is the rounded one of float64."""
    a = zero.tensor(np.linspace(-0.71, -0.68, 301), dtype=zero.float32)
    b = zero.tensor(np.linspace(-0.70, -0.69, 301), dtype=zero.float32)
    exact = np.log(np.exp(a.double().numpy()) + np.exp(b.double().numpy()))
    np.testing.assert_allclose(zero.logaddexp(a, b).numpy(), exact, rtol=1.2e-7, atol=1e-16)
    special = zero.logaddexp(
        zero.tensor([inf, -inf, inf, nan]), zero.tensor([inf, -inf, -inf, 0.0])
    )
    np.testing.assert_array_equal(special.numpy(), [inf, -inf, inf, nan])


def test_logaddexp_of_nothing_has_no_gradient():
    for f in (zero.logaddexp, zero.logaddexp2):
        a = zero.tensor([-inf, -inf, 0.0], requires_grad=True)
        b = zero.tensor([-inf, 0.0, 0.0], requires_grad=True)
        f(a, b).sum().backward()
        assert a.grad.tolist() == [0, 0, 0.5] and b.grad.tolist() == [0, 1, 0.5]


def test_hypot_neither_overflows_nor_underflows():
    for dtype, large, small in ((zero.float32, 3e38, 1e-30), (zero.float64, 1.5e308, 1e-200)):
        x = zero.tensor([3 * small, large / 2, 0.0, inf, nan, inf], dtype=dtype)
        y = zero.tensor([4 * small, large / 4, 0.0, nan, 1.0, -inf], dtype=dtype)
        found = zero.hypot(x, y).numpy()
        expected = [5 * small, large * math.hypot(0.5, 0.25), 0, inf, nan, inf]
        np.testing.assert_allclose(found, expected, rtol=3e-7 if dtype is zero.float32 else 4e-16)


def test_xlogy_of_nothing():
    x = zero.tensor([0.0, 0.0, 0.0, nan, 0.0])
    y = zero.tensor([0.0, inf, nan, 1.0, -1.0])
    np.testing.assert_array_equal(zero.xlogy(x, y).numpy(), [0, 0, nan, nan, 0])
    a = zero.tensor([0.0, 2.0], requires_grad=True)
    b = zero.tensor([0.0, 4.0], requires_grad=True)
    zero.xlogy(a, b).sum().backward()
    assert a.grad[0].item() == 0 and math.isclose(a.grad[1].item(), math.log(4), rel_tol=1e-6)
    assert b.grad[1].item() == 0.5
    assert zero.xlogy(2, zero.tensor([1.0])).tolist() == [0.0]


def test_nan_to_num():
    x = zero.tensor([nan, inf, -inf, 1.0], requires_grad=True)
    y = zero.nan_to_num(x)
    assert y.tolist() == [0, zero.finfo(zero.float32).max, zero.finfo(zero.float32).min, 1]
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 1]
    assert zero.nan_to_num(zero.tensor([inf]).half()).item() == 65504
    assert zero.nan_to_num(zero.tensor([True])).tolist() == [True]
    z = x.detach().clone()
    assert z.nan_to_num_(nan=2, posinf=3, neginf=4) is z and z.tolist() == [2, 3, 4, 1]


def test_clamp_by_tensors():
    x = zero.tensor([-2.0, 0.5, 3.0, nan, 1.0], requires_grad=True)
    low = zero.tensor([-1.0, 0.0, 0.0, 0.0, 5.0], requires_grad=True)
    high = zero.tensor([1.0, 1.0, 1.0, 1.0, 4.0], requires_grad=True)
    y = zero.clamp(x, low, high)
    np.testing.assert_array_equal(y.detach().numpy(), [-1, 0.5, 1, nan, 4])
    y.sum().backward()
    assert x.grad.tolist() == [0, 1, 0, 0, 0]
    assert low.grad.tolist() == [1, 0, 0, 0, 0] and high.grad.tolist() == [0, 0, 1, 0, 1]
    one_sided = zero.clamp(zero.tensor([1.0, 2.0]), max=zero.tensor([nan, 1.5]))
    np.testing.assert_array_equal(one_sided.numpy(), [nan, 1.5])


def test_ldexp_past_the_power():
    x = zero.tensor([1e-30, 1.0, 0.75])
    assert zero.ldexp(x, zero.tensor([140, -140, 128])).tolist() == pytest.approx(
        [1e-30 * 2.0**140, 2.0**-140, 0.75 * 2.0**128]
    )
    y = zero.ldexp(zero.tensor([1.0], dtype=zero.float64), zero.tensor([1000]))
    assert y.item() == 2.0**1000 and y.dtype is zero.float64


def test_float_power():
    assert zero.float_power(zero.tensor([2]), zero.tensor([-1])).tolist() == [0.5]
    x = zero.tensor([4.0], dtype=zero.float64)
    assert x.float_power_(0.5).tolist() == [2.0]
    with pytest.raises(DTypeError, match=r"^float_power_: the result does not fit"):
        zero.ones(2).float_power_(2)
    with pytest.raises(DTypeError, match=r"^float_power: the result cannot be cast"):
        zero.float_power(zero.ones(2), 2, out=zero.empty(2))


def test_real_numbers_as_complex_ones():
    x = zero.tensor([[1.0, -2.0]])
    for f in (zero.real, zero.conj, zero.conj_physical, zero.resolve_conj, zero.resolve_neg):
        assert f(x) is x
    assert x.real is x and x.conj_physical_() is x and not x.is_conj() and not x.is_neg()
    with pytest.raises(RuntimeError, match=r"^imag: not defined for real numbers"):
        zero.imag(x)
    with pytest.raises(RuntimeError, match=r"^imag: not defined for real numbers"):
        _ = x.imag
    assert zero.isreal(x).tolist() == [[True, True]]
    for y in (x.H, x.mH, x.adjoint(), zero.adjoint(x)):
        assert y.tolist() == [[1.0], [-2.0]] and y.data_ptr() == x.data_ptr()
    with pytest.raises(ShapeError, match=r"^H: not a matrix; got \(1, 1, 1\)"):
        _ = zero.ones(1, 1, 1).H
    with pytest.raises(ShapeError, match=r"^adjoint: not a matrix"):
        zero.adjoint(zero.ones(2))
    assert zero.is_nonzero(zero.tensor(1)) and not zero.is_nonzero(zero.tensor([0.0]))
    assert zero.is_signed(x) and not zero.is_signed(zero.ones(1, dtype=zero.uint8))
    with pytest.raises(DTypeError, match="bool"):
        zero.positive(zero.tensor([True]))


def test_heaviside_has_no_gradient():
    x = zero.tensor([1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="heaviside is not implemented"):
        zero.heaviside(x, zero.ones(1)).sum().backward()
    with pytest.raises(DTypeError, match=r"^heaviside: dtypes differ"):
        zero.heaviside(zero.ones(1), zero.ones(1, dtype=zero.int64))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remainders_and_floors_are_exact(dtype):
    """Also where the rounded quotient is a whole number that the quotient is just short of."""
    rng = np.random.default_rng(7)
    n, kind = 4000, np.dtype(dtype).type
    b = (rng.standard_normal(n) * np.exp2(rng.integers(-30, 30, n))).astype(kind)
    whole = rng.integers(1, 2 ** rng.integers(1, 24 if dtype == "float32" else 51, n)).astype(kind)
    a = np.nextafter(whole * b, rng.choice([-np.inf, np.inf], n).astype(kind))
    a[::5] = (rng.standard_normal(len(a[::5])) * 100).astype(kind)  # quotients of any size
    x, y = zero.tensor(a), zero.tensor(b)
    pairs = [(float(p), float(q)) for p, q in zip(a, b, strict=True)]
    np.testing.assert_array_equal(zero.fmod(x, y).numpy(), [math.fmod(p, q) for p, q in pairs])
    floors = [math.floor(Fraction(p) / Fraction(q)) for p, q in pairs]
    near = np.array([abs(f) < 2**23 for f in floors])  # the others are rounded in float32
    np.testing.assert_array_equal((x // y).numpy()[near], np.array(floors, kind)[near])
    rests = [float(Fraction(p) - f * Fraction(q)) for (p, q), f in zip(pairs, floors, strict=True)]
    np.testing.assert_array_equal((x % y).numpy(), np.array(rests, kind))


def test_int64_and_floats_of_any_size():
    """Blocks of small integers, of large ones, and of both are converted by different loops."""
    edges = [0, 1, -1, 2**24 + 1, 2**51 - 1, 2**51, 2**53 + 1, 2**62 + 2**38, 2**63 - 1]
    numbers = np.array(edges + [-e for e in edges] + [-(2**63)], np.int64)
    for values in (numbers, numbers[np.abs(numbers) < 2**51], np.tile(numbers, 200)):
        x = zero.tensor(values)
        for dtype in ("float32", "float64"):
            converted = x.to(getattr(zero, dtype))
            np.testing.assert_array_equal(converted.numpy(), values.astype(dtype))
            fits = np.abs(values.astype(np.float64)) < 2**62
            back = converted.long().numpy()
            np.testing.assert_array_equal(back[fits], values.astype(dtype)[fits].astype(np.int64))
    halves = zero.tensor([0.5, -0.5, 1.5, -1.5, 2.0**50 + 0.5, -(2.0**50) - 0.5] * 100).double()
    np.testing.assert_array_equal(halves.long().numpy(), halves.numpy().astype(np.int64))


def test_functions_of_many_truths():
    """f has two values then, which are looked up; they are those of 0 and 1."""
    truth = zero.arange(3000) % 3 == 0
    calls = (
        "exp",
        "log",
        "sigmoid",
        "sqrt",
        "tanh",
        "erf",
        "digamma",
        "logit",
        "reciprocal",
        "angle",
    )
    for name in calls:
        got, expected = getattr(truth, name)(), getattr(truth.float(), name)()
        assert got.dtype == zero.float32
        np.testing.assert_array_equal(got.numpy(), expected.numpy())
    out = zero.empty(3000, dtype=zero.float64)
    assert zero.sigmoid(truth, out=out) is out
    np.testing.assert_array_equal(out.numpy(), zero.sigmoid(truth).double().numpy())
    strided = truth.reshape(100, 30).t()
    np.testing.assert_array_equal(strided.exp().numpy(), strided.float().exp().numpy())
