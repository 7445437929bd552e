"""Elementwise operators composed of others, and what complex numbers would make of real ones."""

from __future__ import annotations

import math

import zero
from zero import Tensor, _attach, _overwrite
from zero._composed.arguments import attach, copy_for, numpy_names
from zero.errors import DTypeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

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
    "zero_",
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


@numpy_names
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


@numpy_names
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


@numpy_names
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
    return copy_for(input, value).fill_(value)


def fill_(input: Tensor, value: Tensor | float) -> Tensor:
    """:func:`zero.fill` in place: overwrites the tensor and returns it."""
    return input.fill_(value)


def zero_(input: Tensor) -> Tensor:
    """Overwrites all elements with zeros; returns the tensor."""
    return input.zero_()


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replaces each element by what a Python function makes of it; slow.

    Args:
        callable: takes and gives a number.

    Raises:
        RuntimeError: the tensor requires a gradient, which could not be followed.

    Example:
        >>> import zero
        >>> zero.tensor([1, 2]).apply_(lambda v: v + 10)
        tensor([11, 12])
    """
    return _each("apply_", self, (), callable)


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replaces each element by what a Python function makes of it and another tensor's; slow.

    Args:
        tensor: of the same dtype; its shape broadcasts to this one's.
        callable: takes two numbers and gives one.

    Raises:
        RuntimeError: a tensor requires a gradient, which could not be followed.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> zero.tensor([1, 2]).map_(zero.tensor([3, 4]), lambda a, b: a * b)
        tensor([3, 8])
    """
    return _each("map_", self, (tensor,), callable)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """:meth:`Tensor.map_` with the elements of two other tensors.

    Args:
        x: of the same dtype; its shape broadcasts to this one's.
        y: the same.
        callable: takes three numbers and gives one.

    Example:
        >>> import zero
        >>> x, y = zero.tensor(3), zero.tensor([0, 1])
        >>> zero.tensor([1, 2]).map2_(x, y, lambda a, b, c: a * b + c)
        tensor([3, 7])
    """
    return _each("map2_", self, (x, y), callable)


def _each(op: str, x: Tensor, others: Sequence[Tensor], call: Callable[..., Any]) -> Tensor:
    for t in (x, *others):
        if t.requires_grad:
            raise RuntimeError(
                f"{op}: the tensor requires a gradient; expected one without, such as x.detach()"
            )
        if t.dtype is not x.dtype:
            raise DTypeError(f"{op}: the dtypes differ; got {t.dtype}, expected {x.dtype}")
    lists = [t.expand(x.shape).flatten().tolist() for t in (x, *others)]
    values = [call(*v) for v in zip(*lists, strict=True)]
    return x.copy_(zero.tensor(values, dtype=x.dtype).view(x.shape)) if values else x


def _reversed(self: Tensor) -> Tensor:
    """The elements in reverse order along the first dimension."""
    return self.flip(0) if self.ndim else self


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
    apply_,
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
    map2_,
    map_,
    positive,
    rad2deg,
    rad2deg_,
    resolve_conj,
    resolve_neg,
    float_power_=_float_power_,
    __rdiv__=_rdiv,
    __reversed__=_reversed,
)
_attach("real", property(real))
_attach("imag", property(imag))
