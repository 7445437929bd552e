"""Elementwise operators composed of others, and what complex numbers would make of real ones."""

from __future__ import annotations

import math

import zero
from zero import Tensor, _attach, _overwrite
from zero._composed.arguments import attach
from zero.errors import DTypeError

__all__ = [
    "conj",
    "conj_physical",
    "conj_physical_",
    "deg2rad",
    "deg2rad_",
    "fill",
    "fill_",
    "float_power",
    "imag",
    "is_conj",
    "is_neg",
    "is_nonzero",
    "is_signed",
    "isreal",
    "ldexp",
    "ldexp_",
    "positive",
    "rad2deg",
    "rad2deg_",
    "real",
    "resolve_conj",
    "resolve_neg",
    "rsub",
]

_RADIANS = math.pi / 180
_DEGREES = 180 / math.pi


def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees as radians: ``y = x pi / 180``.

    Args:
        input: any shape; integers and bools give the default float dtype.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.deg2rad(zero.tensor([180.0, 90.0]))
        tensor([3.1416, 1.5708])
    """
    return zero.mul(input, _RADIANS, out=out)


def deg2rad_(input: Tensor) -> Tensor:
    """:func:`zero.deg2rad` in place: overwrites the tensor and returns it."""
    return input.mul_(_RADIANS)


def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians as degrees: ``y = 180 x / pi``.

    Args:
        input: any shape; integers and bools give the default float dtype.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.rad2deg(zero.tensor([zero.pi, zero.pi / 2])).tolist()
        [180.0, 90.0]
    """
    return zero.mul(input, _DEGREES, out=out)


def rad2deg_(input: Tensor) -> Tensor:
    """:func:`zero.rad2deg` in place: overwrites the tensor and returns it."""
    return input.mul_(_DEGREES)


def _need_tensors(op: str, *tensors: Tensor) -> None:
    for x in tensors:
        if not isinstance(x, Tensor):
            raise TypeError(f"{op}: not a tensor; got {type(x).__name__}, expected a Tensor")


def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A number times a power of 2: ``y = input * 2^other``, also where the power alone overflows.

    Args:
        input: any shape; integers and bools give the default float dtype.
        other: the exponents: a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.ldexp(zero.tensor([1.0, 3.0]), zero.tensor([4, -1])).tolist()
        [16.0, 1.5]
    """
    _need_tensors("ldexp", input, other)
    dtype = zero.result_type(input, other)
    exponent = other.to(dtype if dtype.is_floating_point else zero.get_default_dtype())
    half = zero.trunc(exponent * 0.5)
    rest = zero.where(half == exponent, exponent, exponent - half)  # infinity less itself is nan
    return zero.mul(input * zero.exp2(half), zero.exp2(rest), out=out)


def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """:func:`zero.ldexp` in place: overwrites the tensor, whose shape stays, and returns it."""
    return _overwrite(input, ldexp(input, other), "ldexp_")


def _as_double(op: str, x: Tensor | float) -> Tensor | float:
    if isinstance(x, Tensor):
        return x.to(zero.float64)
    if isinstance(x, (int, float)):
        return float(x)
    raise TypeError(f"{op}: neither a tensor nor a number; got {type(x).__name__}")


def float_power(
    input: Tensor | float, exponent: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Powers in float64: ``y = input^exponent``.

    Args:
        input: the base: a tensor of any shape and dtype, or a number.
        exponent: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result, of float64.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: `out` is not of float64.

    Example:
        >>> import zero
        >>> zero.float_power(zero.tensor([2, 3]), -1)
        tensor([0.5000, 0.3333], dtype=zero.float64)
    """
    op = "float_power"
    if isinstance(out, Tensor) and out.dtype is not zero.float64:
        raise DTypeError(
            f"{op}: the result cannot be cast to out; got {out.dtype}, expected zero.float64"
        )
    return zero.pow(_as_double(op, input), _as_double(op, exponent), out=out)


def _float_power_(self: Tensor, exponent: Tensor | float) -> Tensor:
    """:func:`zero.float_power` in place, of a tensor of float64."""
    if self.dtype is not zero.float64:
        raise DTypeError(
            f"float_power_: the result does not fit in place; got {self.dtype}, expected "
            "zero.float64"
        )
    return self.pow_(_as_double("float_power_", exponent))


def rsub(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """The difference the other way round: ``y = other - alpha * input``.

    Args:
        input: any shape, not bool.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        alpha: a number that scales `input`; a float only where the result is of floats.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.rsub(zero.tensor([1, 2]), 10).tolist()
        [9, 8]
    """
    _need_tensors("rsub", input)
    return zero.sub(other, input, alpha=alpha)


def fill(input: Tensor, value: Tensor | float) -> Tensor:
    """A tensor of the same shape and dtype with one number in all places.

    Args:
        input: any shape.
        value: a number, or a tensor without dimensions, which gets a gradient.

    Example:
        >>> import zero
        >>> zero.fill(zero.zeros(2), 3).tolist()
        [3.0, 3.0]
    """
    return input.clone().fill_(value)


def fill_(input: Tensor, value: Tensor | float) -> Tensor:
    """:func:`zero.fill` in place: overwrites the tensor and returns it."""
    return input.fill_(value)


def positive(input: Tensor) -> Tensor:
    """The tensor itself: ``+x``.

    Args:
        input: any shape, not bool.

    Raises:
        DTypeError: the tensor is bool.

    Example:
        >>> import zero
        >>> x = zero.ones(2)
        >>> zero.positive(x) is x
        True
    """
    return +input


def real(input: Tensor) -> Tensor:
    """The real part: the tensor itself, as zero has no complex numbers.

    Args:
        input: any shape.

    Example:
        >>> import zero
        >>> x = zero.ones(2)
        >>> zero.real(x) is x
        True
    """
    return input


def imag(input: Tensor) -> Tensor:
    """The imaginary part: an error, as for all real tensors.

    Args:
        input: any shape.

    Raises:
        DTypeError: always.

    Example:
        >>> import zero
        >>> zero.imag(zero.ones(2))
        Traceback (most recent call last):
        zero.errors.DTypeError: imag: not defined for real numbers; got zero.float32, ...
    """
    raise DTypeError(
        f"imag: not defined for real numbers; got {input.dtype}, expected a complex tensor, which "
        "zero does not have"
    )


def conj(input: Tensor) -> Tensor:
    """The conjugate: the tensor itself, as for all real numbers.

    Args:
        input: any shape.

    Example:
        >>> import zero
        >>> x = zero.ones(2)
        >>> zero.conj(x) is x
        True
    """
    return input


def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The conjugate: the tensor itself, as for all real numbers.

    Args:
        input: any shape.
        out: where to write a copy.

    Example:
        >>> import zero
        >>> zero.conj_physical(zero.tensor([1.0, -2.0])).tolist()
        [1.0, -2.0]
    """
    return zero._deliver(input, out, "conj_physical")


def conj_physical_(input: Tensor) -> Tensor:
    """:func:`zero.conj_physical` in place: changes nothing and returns the tensor."""
    return input


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: nothing is conjugated lazily.

    Args:
        input: any shape.

    Example:
        >>> import zero
        >>> x = zero.ones(2)
        >>> zero.resolve_conj(x) is x
        True
    """
    return input


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: nothing is negated lazily.

    Args:
        input: any shape.

    Example:
        >>> import zero
        >>> x = zero.ones(2)
        >>> zero.resolve_neg(x) is x
        True
    """
    return input


def is_conj(input: Tensor) -> bool:
    """False: nothing is conjugated lazily.

    Args:
        input: any shape.

    Example:
        >>> import zero
        >>> zero.is_conj(zero.ones(2))
        False
    """
    return False


def is_neg(input: Tensor) -> bool:
    """False: nothing is negated lazily.

    Args:
        input: any shape.

    Example:
        >>> import zero
        >>> zero.is_neg(zero.ones(2))
        False
    """
    return False


def isreal(input: Tensor) -> Tensor:
    """True everywhere: all elements are real numbers.

    Args:
        input: any shape.

    Example:
        >>> import zero
        >>> zero.isreal(zero.tensor([1.0, float("nan")])).tolist()
        [True, True]
    """
    return zero.ones_like(input, dtype=zero.bool)


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not zero.

    Args:
        input: a tensor with one element.

    Raises:
        RuntimeError: there is not exactly one element.

    Example:
        >>> import zero
        >>> zero.is_nonzero(zero.tensor([0.0]))
        False
    """
    return bool(input)


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers.

    Args:
        input: any shape.

    Example:
        >>> import zero
        >>> zero.is_signed(zero.ones(2)), zero.is_signed(zero.ones(2, dtype=zero.uint8))
        (True, False)
    """
    return input.dtype.is_signed


def _rdiv(self: Tensor, other: Tensor | float) -> Tensor:
    """``other / self``"""
    return zero.div(other, self)


attach(
    conj,
    conj_physical,
    conj_physical_,
    deg2rad,
    deg2rad_,
    float_power,
    is_conj,
    is_neg,
    is_nonzero,
    isreal,
    ldexp,
    ldexp_,
    positive,
    rad2deg,
    rad2deg_,
    resolve_conj,
    resolve_neg,
    float_power_=_float_power_,
    __rdiv__=_rdiv,
)
_attach("real", property(real))
_attach("imag", property(imag))
