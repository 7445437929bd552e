"""The named tuples that some operators return, such as ``zero.max(x, dim)``.

Each is a tuple whose entries also have names:

    >>> import zero
    >>> result = zero.max(zero.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
    >>> values, indices = result
    >>> result.values.tolist(), indices.tolist()
    ([3.0, 4.0], [1, 0])
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

    from zero._zero import Tensor

__all__ = ["aminmax", "max", "min"]


class _NamedResult(tuple["Tensor", ...]):
    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, entries: Iterable[Tensor]) -> Self:
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


class max(_NamedResult):
    """The largest elements along a dimension, and where they stand."""

    __slots__ = ()
    _fields = ("values", "indices")
    values = property(itemgetter(0), doc="The largest elements.")
    indices = property(itemgetter(1), doc="The index of each; of the first if there are several.")


class min(_NamedResult):
    """The smallest elements along a dimension, and where they stand."""

    __slots__ = ()
    _fields = ("values", "indices")
    values = property(itemgetter(0), doc="The smallest elements.")
    indices = property(itemgetter(1), doc="The index of each; of the first if there are several.")


class aminmax(_NamedResult):
    """The smallest and the largest elements."""

    __slots__ = ()
    _fields = ("min", "max")
    min = property(itemgetter(0), doc="The smallest elements.")
    max = property(itemgetter(1), doc="The largest elements.")
