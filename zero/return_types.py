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
    "geqrf",
    "histogram",
    "histogramdd",
    "kthvalue",
    "linalg_cholesky_ex",
    "linalg_eigh",
    "linalg_inv_ex",
    "linalg_ldl_factor",
    "linalg_ldl_factor_ex",
    "linalg_lstsq",
    "linalg_lu",
    "linalg_lu_factor",
    "linalg_lu_factor_ex",
    "linalg_qr",
    "linalg_slogdet",
    "linalg_solve_ex",
    "linalg_svd",
    "lu_unpack",
    "max",
    "median",
    "min",
    "mode",
    "nanmedian",
    "qr",
    "slogdet",
    "sort",
    "svd",
    "topk",
    "triangular_solve",
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

    if TYPE_CHECKING:  # entries of the classes that _results makes

        def __getattr__(self, name: str) -> Tensor: ...

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


def _results(name: str, doc: str, **entries: str) -> type[_NamedResult]:
    """A class of results by the names of its entries and what they are."""
    members: dict[str, Any] = {
        entry: property(itemgetter(i), doc=text) for i, (entry, text) in enumerate(entries.items())
    }
    members |= {"__slots__": (), "__doc__": doc, "_fields": tuple(entries), "__module__": __name__}
    return type(name, (_NamedResult,), members)


_INFO = "int32, for each matrix 0 where all is well."
_PIVOTS = "int32, the row that changed places with each row, from 1 on."
_X = "X, whose product with A is B."

linalg_cholesky_ex = _results(
    "linalg_cholesky_ex", "Cholesky's factors.", L="The triangular factor.", info=_INFO
)
linalg_eigh = _results(
    "linalg_eigh",
    "Eigenvalues and eigenvectors of symmetric matrices.",
    eigenvalues="In ascending order.",
    eigenvectors="The columns of a matrix.",
)
linalg_inv_ex = _results("linalg_inv_ex", "Inverses.", inverse="Of each matrix.", info=_INFO)
linalg_ldl_factor = _results(
    "linalg_ldl_factor", "Factors of symmetric matrices.", LD="L and D in one.", pivots="int32."
)
linalg_ldl_factor_ex = _results(
    "linalg_ldl_factor_ex",
    "Factors of symmetric matrices.",
    LD="L and D in one.",
    pivots="int32.",
    info=_INFO,
)
linalg_lstsq = _results(
    "linalg_lstsq",
    "Solutions by least squares.",
    solution="The X with the smallest ||A X - B||.",
    residuals="The squares of what is left, for each side.",
    rank="int64, for each matrix.",
    singular_values="Of each matrix, in descending order.",
)
_LU = {
    "P": "The permutation, a matrix.",
    "L": "Lower triangular, with a diagonal of ones.",
    "U": "Upper triangular.",
}
linalg_lu = _results("linalg_lu", "A = P L U.", **_LU)
lu_unpack = _results("lu_unpack", "A = P L U.", **_LU)
linalg_lu_factor = _results(
    "linalg_lu_factor", "L and U in one matrix.", LU="L below U.", pivots=_PIVOTS
)
linalg_lu_factor_ex = _results(
    "linalg_lu_factor_ex", "L and U in one matrix.", LU="L below U.", pivots=_PIVOTS, info=_INFO
)
_QR = {"Q": "With orthonormal columns.", "R": "Upper triangular."}
linalg_qr = _results("linalg_qr", "A = Q R.", **_QR)
qr = _results("qr", "A = Q R.", **_QR)
geqrf = _results(
    "geqrf", "A = Q R by reflections.", a="R above the reflectors.", tau="A factor for each."
)
_SIGN = {"sign": "1, -1 or 0.", "logabsdet": "The logarithm of the magnitude."}
linalg_slogdet = _results("linalg_slogdet", "Determinants by sign and logarithm.", **_SIGN)
slogdet = _results("slogdet", "Determinants by sign and logarithm.", **_SIGN)
linalg_solve_ex = _results("linalg_solve_ex", "Solutions of A X = B.", result=_X, info=_INFO)
linalg_svd = _results(
    "linalg_svd",
    "A = U diag(S) Vh.",
    U="With orthonormal columns.",
    S="The singular values, in descending order.",
    Vh="With orthonormal rows.",
)
svd = _results(
    "svd",
    "A = U diag(S) V^T.",
    U="With orthonormal columns.",
    S="The singular values, in descending order.",
    V="With orthonormal columns.",
)
triangular_solve = _results(
    "triangular_solve", "Solutions of A X = B.", solution=_X, cloned_coefficient="A copy of A."
)
