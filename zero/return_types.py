"""The named tuples that some operators return, such as ``zero.max(x, dim)``.

Each is a tuple whose entries also have names:

    >>> import zero
    >>> result = zero.max(zero.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
    >>> values, indices = result
    >>> result.values.tolist(), indices.tolist()
    ([3.0, 4.0], [1, 0])
"""

from __future__ import annotations

from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from typing_extensions import Self

    from zero._zero import Tensor

__all__ = [
    "aminmax",
    "cummax",
    "cummin",
    "frexp",
    "histogram",
    "histogramdd",
    "kthvalue",
    "max",
    "median",
    "min",
    "mode",
    "nanmedian",
    "sort",
    "topk",
]


class _NamedResult(tuple["Tensor", ...]):
    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, entries: Iterable[Any]) -> Self:
        self = tuple.__new__(cls, entries)
        if len(self) != len(cls._fields):
            raise TypeError(
                f"{cls.__name__}: wrong number of entries; got {len(self)}, expected "
                f"{len(cls._fields)}: {', '.join(cls._fields)}"
            )
        return self

    def __repr__(self) -> str:
        named = zip(self._fields, self, strict=True)
        entries = ",\n".join(f"{name}={value!r}" for name, value in named)
        return f"zero.return_types.{type(self).__name__}(\n{entries})"

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Tensor, ...]]]:
        return type(self), (tuple(self),)


class _ValuesAndIndices(_NamedResult):
    __slots__ = ()
    _fields = ("values", "indices")
    values = property(itemgetter(0), doc="The elements.")
    indices = property(itemgetter(1), doc="Where each stands along the dimension.")


class max(_ValuesAndIndices):
    """The largest elements along a dimension, and where they stand."""

    __slots__ = ()


class min(_ValuesAndIndices):
    """The smallest elements along a dimension, and where they stand."""

    __slots__ = ()


class sort(_ValuesAndIndices):
    """The elements along a dimension in order, and where they stood."""

    __slots__ = ()


class topk(_ValuesAndIndices):
    """The largest or smallest elements along a dimension, and where they stand."""

    __slots__ = ()


class kthvalue(_ValuesAndIndices):
    """The k-th smallest elements along a dimension, and where they stand."""

    __slots__ = ()


class median(_ValuesAndIndices):
    """The middle elements along a dimension, and where they stand."""

    __slots__ = ()


class nanmedian(_ValuesAndIndices):
    """The middle elements along a dimension but for nan, and where they stand."""

    __slots__ = ()


class mode(_ValuesAndIndices):
    """The most frequent elements along a dimension, and where they stand."""

    __slots__ = ()


class cummax(_ValuesAndIndices):
    """The largest elements so far, and where they stand."""

    __slots__ = ()


class cummin(_ValuesAndIndices):
    """The smallest elements so far, and where they stand."""

    __slots__ = ()


class aminmax(_NamedResult):
    """The smallest and the largest elements."""

    __slots__ = ()
    _fields = ("min", "max")
    min = property(itemgetter(0), doc="The smallest elements.")
    max = property(itemgetter(1), doc="The largest elements.")


class histogram(_NamedResult):
    """Counts, and the edges of the bins they are of."""

    __slots__ = ()
    _fields = ("hist", "bin_edges")
    hist = property(itemgetter(0), doc="How many elements, or what weight, each bin has.")
    bin_edges = property(itemgetter(1), doc="The edges, one more than there are bins.")


class histogramdd(_NamedResult):
    """Counts, and the edges of the bins along each dimension."""

    __slots__ = ()
    _fields = ("hist", "bin_edges")
    hist = property(itemgetter(0), doc="How many points, or what weight, each bin has.")
    bin_edges = property(itemgetter(1), doc="The edges along each dimension.")


class frexp(_NamedResult):
    """Mantissas and exponents: ``x = mantissa * 2^exponent``."""

    __slots__ = ()
    _fields = ("mantissa", "exponent")
    mantissa = property(itemgetter(0), doc="From 1/2 on, below 1, with the sign of x.")
    exponent = property(itemgetter(1), doc="The powers of 2, as int32.")
