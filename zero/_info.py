"""Limits of the dtypes: finfo and iinfo."""

from __future__ import annotations

from zero import _zero as z
from zero._zero import dtype as DType
from zero.errors import DTypeError

__all__ = ["finfo", "iinfo"]

# dtype -> bits, bits of the fraction, greatest exponent, decimal digits that survive
FLOATS = {
    z.float16: (16, 10, 15, 3),
    z.bfloat16: (16, 7, 127, 2),
    z.float32: (32, 23, 127, 6),
    z.float64: (64, 52, 1023, 15),
}
INTS = {z.uint8: 8, z.int8: 8, z.int16: 16, z.int32: 32, z.int64: 64}


class Info:
    """What both kinds have in common: equality by dtype."""

    bits: int
    dtype: str

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.dtype == getattr(other, "dtype", None)

    def __hash__(self) -> int:
        return hash((type(self), self.dtype))


class finfo(Info):
    """The limits of a floating point dtype.

    A number is ``±1.f * 2**e`` with a fraction f of n bits and an exponent e from E_min to E_max.

    Args:
        type: a floating point dtype; by default the default dtype.

    Attributes:
        bits: bits of a number.
        dtype: the dtype's name.
        eps: the distance from 1 to the next larger number, 2**-n.
        max: the largest number, (2 - eps) * 2**E_max.
        min: the smallest number, -max.
        smallest_normal: the smallest positive number of full precision, 2**E_min.
        tiny: the same.
        resolution: 10**-d, where d decimal digits survive a conversion to the dtype and back.

    Raises:
        TypeError: not a floating point dtype.

    Example:
        >>> import zero
        >>> zero.finfo(zero.float32).eps == 2**-23
        True
        >>> zero.finfo(zero.float16)
        finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05,
        tiny=6.10352e-05, dtype=float16)

    Source: IEEE 754-2019, section 3; bfloat16 has the exponents of float32.
    """

    def __init__(self, type: DType | None = None) -> None:
        known = z.get_default_dtype() if type is None else type
        if known not in FLOATS:
            raise DTypeError(
                f"finfo: not a floating point dtype; got {known!r}, expected one such as "
                "zero.float32; iinfo is for integers"
            )
        self.bits, fraction, exponent, digits = FLOATS[known]
        self.dtype = known.name
        self.eps = 2.0**-fraction
        self.max = (2.0 - self.eps) * 2.0**exponent
        self.min = -self.max
        self.smallest_normal = self.tiny = 2.0 ** (1 - exponent)
        self.resolution = float(f"1e-{digits}")

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"


class iinfo(Info):
    """The limits of an integer dtype.

    Args:
        type: an integer dtype.

    Attributes:
        bits: bits of a number.
        dtype: the dtype's name.
        max: the largest number.
        min: the smallest number.

    Raises:
        TypeError: not an integer dtype.

    Example:
        >>> import zero
        >>> zero.iinfo(zero.uint8)
        iinfo(min=0, max=255, dtype=uint8)
    """

    def __init__(self, type: DType) -> None:
        if type not in INTS:
            raise DTypeError(
                f"iinfo: not an integer dtype; got {type!r}, expected one such as zero.int64; "
                "finfo is for floating point dtypes"
            )
        self.bits = INTS[type]
        self.dtype = type.name
        self.max = 2 ** (self.bits - type.is_signed) - 1
        self.min = -self.max - 1 if type.is_signed else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
