"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import zero
from zero import Tensor, _deliver
from zero._composed.arguments import Ints, as_ints, wrap_dim
from zero._composed.nuclear import nuclear_norm
from zero.errors import DTypeError, ShapeError, ValueError
from zero.linalg._results import check_matrices, check_square
from zero.linalg.factors import svdvals
from zero.linalg.solving import inv_ex

__all__ = ["cond", "matrix_norm", "norm", "vector_norm"]


def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: zero.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of vectors: ``(sum |x|^ord)^(1/ord)``, of all elements or along dimensions.

    Infinity and minus infinity give the largest and the smallest magnitude, 0 counts what is not 0.

    Args:
        x: any shape, of floats.
        ord: a number.
        dim: the dimension or dimensions to reduce; all for None or none.
        keepdim: whether reduced dimensions stay, with size 1.
        dtype: what the elements become first: a dtype that is no narrower.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: x is not of floats, or `dtype` is narrower.
        ValueError: there are no elements, of which the order has no norm.

    Example:
        >>> import zero
        >>> zero.linalg.vector_norm(zero.tensor([[3.0, 4.0], [0.0, 2.0]]), dim=1)
        tensor([5., 2.])
    """
    if not x.is_floating_point():
        raise DTypeError(f"vector_norm: not of floats; got {x.dtype}, expected floats")
    if dtype is not None and zero.promote_types(x.dtype, dtype) is not dtype:
        raise DTypeError(
            f"vector_norm: dtype is narrower; got {dtype}, expected at least {x.dtype}, that of x"
        )
    if isinstance(ord, str):
        raise TypeError(f"vector_norm: ord is not a number; got {ord!r}, expected a number")
    dims = () if dim is None else as_ints("vector_norm", "dim", dim)
    sizes = [x.shape[wrap_dim("vector_norm", d, x.ndim)] for d in dims] if x.ndim else []
    if (ord < 0 or ord == zero.inf) and 0 in (sizes or x.shape):
        raise ValueError(
            f"vector_norm: no elements to reduce; got shape {tuple(x.shape)} and ord={ord}, "
            "expected some"
        )
    return zero.norm(x, ord, dims or None, keepdim, dtype=dtype, out=out)


def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: tuple[int, int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: zero.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of matrices.

    ========= ======================================================
    ``ord``   norm
    ========= ======================================================
    'fro'     the root of the sum of all squares
    'nuc'     the sum of the singular values
    inf, -inf the largest, the smallest sum of a row's magnitudes
    1, -1     the largest, the smallest sum of a column's magnitudes
    2, -2     the largest, the smallest singular value
    ========= ======================================================

    Args:
        A: of floats, at least two dimensions.
        ord: one of the table.
        dim: the dimensions of the rows and of the columns.
        keepdim: whether reduced dimensions stay, with size 1.
        dtype: what the elements become first: a dtype that is no narrower.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: A is no matrix, or the dimensions are not two different ones.
        DTypeError: A is not of floats, or `dtype` is narrower.
        ValueError: the order is another, or there are no elements, of which it has no norm.

    Example:
        >>> import zero
        >>> A = zero.tensor([[3.0, -4.0], [0.0, 5.0]])
        >>> zero.linalg.matrix_norm(A, 1), zero.linalg.matrix_norm(A, zero.inf)
        (tensor(9.), tensor(7.))
    """
    if not A.is_floating_point():
        raise DTypeError(f"matrix_norm: not of floats; got {A.dtype}, expected floats")
    if A.ndim < 2:
        raise ShapeError(
            f"matrix_norm: not a matrix; got {tuple(A.shape)}, expected at least 2 dimensions"
        )
    dims = as_ints("matrix_norm", "dim", dim)
    rows, columns = wrapped = (
        [wrap_dim("matrix_norm", d, A.ndim) for d in dims] if len(dims) == 2 else [0, 0]
    )
    if rows == columns:
        raise ShapeError(f"matrix_norm: not two dimensions; got dim={dim}, expected two of them")
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype, out=out)
    if ord not in ("nuc", 1, -1, 2, -2, zero.inf, -zero.inf):
        raise ValueError(
            f"matrix_norm: no such order; got {ord!r}, expected 'fro', 'nuc', 1, 2, inf or one of "
            "these numbers below 0"
        )
    if dtype is not None:
        if zero.promote_types(A.dtype, dtype) is not dtype:
            raise DTypeError(
                f"matrix_norm: dtype is narrower; got {dtype}, expected at least {A.dtype}"
            )
        A = A.to(dtype)
    if ord == "nuc":
        return _deliver(nuclear_norm(A, (rows, columns), keepdim), out, "matrix_norm")
    A = A.movedim((rows, columns), (-2, -1))
    if abs(ord) == 2:  # type: ignore[arg-type]
        values = svdvals(A)
    else:
        values = A.abs().sum(-2 if abs(ord) == 1 else -1)  # type: ignore[arg-type]
    if values.shape[-1] == 0:
        if ord < 0 or ord == 2:  # type: ignore[operator]
            raise ValueError(
                f"matrix_norm: no elements to reduce; got {tuple(A.shape)} and ord={ord}, "
                "expected some"
            )
        y = values.sum(-1)
    else:
        y = values.amax(-1) if ord > 0 else values.amin(-1)  # type: ignore[operator]
    if keepdim:
        for d in sorted(wrapped):
            y = y.unsqueeze(d)
    return _deliver(y, out, "matrix_norm")


def norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: zero.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of vectors or of matrices.

    Of one dimension it is :func:`vector_norm`, of two, with an order, :func:`matrix_norm`; without
    an order it is the root of the sum of all squares.

    Args:
        A: any shape, of floats.
        ord: a number, 'fro' or 'nuc'; None for 2 and for 'fro'.
        dim: one dimension or two; all for None, of which there may be at most two if an order is
            given.
        keepdim: whether reduced dimensions stay, with size 1.
        dtype: what the elements become first: a dtype that is no narrower.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: there are more than two dimensions.
        ValueError: there is no such order.
        DTypeError: A is not of floats, or `dtype` is narrower.

    Example:
        >>> import zero
        >>> A = zero.tensor([[3.0, -4.0], [0.0, 5.0]])
        >>> zero.linalg.norm(A), zero.linalg.norm(A, 1), zero.linalg.norm(A, 1, dim=1)
        (tensor(7.0711), tensor(9.), tensor([7., 5.]))
    """
    dims = None if dim is None else as_ints("norm", "dim", dim)
    if ord is None:
        return vector_norm(A, 2, dims, keepdim, dtype=dtype, out=out)
    count = A.ndim if dims is None else len(dims)
    if count not in (1, 2):
        raise ShapeError(
            f"norm: neither vectors nor matrices; got {tuple(A.shape)}, dim={dim} and ord={ord!r}, "
            "expected one dimension or two"
        )
    if count == 2:
        pair = (0, 1) if dims is None else (dims[0], dims[1])
        return matrix_norm(A, ord, pair, keepdim, dtype=dtype, out=out)
    if isinstance(ord, str):
        raise ValueError(f"norm: not an order of vectors; got {ord!r}, expected a number")
    return vector_norm(A, ord, dims, keepdim, dtype=dtype, out=out)


def cond(A: Tensor, p: float | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Condition numbers of matrices: ``|A| |A^-1|`` for a norm of :func:`matrix_norm`.

    For 2 it is the largest singular value over the smallest, for any matrix. It is inf where a
    matrix is singular.

    Args:
        A: of shape [..., m, n]; square for orders other than 2 and -2.
        p: an order of :func:`matrix_norm`; 2 for None.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: A is no matrix, or not square.
        ValueError: there is no such order.

    Example:
        >>> import zero
        >>> zero.linalg.cond(zero.tensor([[4.0, 0.0], [0.0, 0.5]]))
        tensor(8.)
    """
    check_matrices("cond", A)
    if p is None or p in (2, -2):
        values = svdvals(A)
        if values.shape[-1] == 0:
            raise ValueError(f"cond: no elements; got {tuple(A.shape)}, expected some")
        large, small = values[..., 0], values[..., -1]
        return _deliver(small / large if p == -2 else large / small, out, "cond")
    check_square("cond", A)
    if A.numel() == 0:
        return _deliver(A.new_zeros(A.shape[:-2]), out, "cond")
    inverse, info = inv_ex(A)
    y = matrix_norm(A, p)
    singular = info != 0
    whole = zero.where(singular.unsqueeze(-1).unsqueeze(-1), A, inverse)
    return _deliver(zero.where(singular, zero.inf, y * matrix_norm(whole, p)), out, "cond")
