"""Products of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Tensor, _deliver
from zero.errors import DTypeError, ShapeError, ValueError

__all__ = ["cross", "diagonal", "matmul", "multi_dot", "vander", "vecdot"]


def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of three elements, which lie along a dimension.

    Args:
        input: a tensor with 3 elements along `dim`.
        other: another with as many dimensions; their shapes broadcast.
        dim: the dimension.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the dimension is not of size 3, or the shapes do not fit.

    Example:
        >>> import zero
        >>> x, y, z = zero.eye(3)
        >>> zero.equal(zero.linalg.cross(x, y), z)
        True
    """
    return zero.cross(input, other, dim, out=out)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of the matrices in two dimensions, as a view; they lie in its last dimension.

    Args:
        A: at least two dimensions.
        offset: which diagonal: 0 is the main one, positive ones are above it.
        dim1: the dimension of the rows.
        dim2: the dimension of the columns.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> zero.linalg.diagonal(zero.tensor([[[1, 2], [3, 4]]])).tolist()
        [[1, 4]]
    """
    return zero.diagonal(A, offset, dim1, dim2)


def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of matrices: :func:`zero.matmul`.

    Args:
        input: of shape [..., I, K], or a vector [K].
        other: of shape [..., K, J], or a vector [K].
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not fit.

    Example:
        >>> import zero
        >>> zero.linalg.matmul(zero.eye(2), zero.tensor([3.0, 4.0]))
        tensor([3., 4.])
    """
    return zero.matmul(input, other, out=out)


def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications.

    Args:
        tensors: two or more matrices whose inner sizes fit; the first and the last may be vectors,
            whose dimension the result doesn't have.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ValueError: there are fewer than two.
        ShapeError: one is not a matrix, or inner sizes differ.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> row, middle, column = zero.ones(3), zero.ones(3, 4), zero.ones(4)
        >>> zero.linalg.multi_dot([row, middle, column])
        tensor(12.)
    """
    if len(tensors) < 2:
        raise ValueError(f"multi_dot: too few tensors; got {len(tensors)}, expected at least 2")
    first, *middle, last = tensors
    for x in tensors:
        if x.dtype is not first.dtype:
            raise DTypeError(
                f"multi_dot: dtypes differ; got {first.dtype} and {x.dtype}, expected one"
            )
    for x in (first, last):
        if x.ndim not in (1, 2):
            raise ShapeError(
                f"multi_dot: neither a vector nor a matrix at an end; got {tuple(x.shape)}, "
                "expected one or two dimensions"
            )
    matrices = [
        first.unsqueeze(0) if first.ndim == 1 else first,
        *middle,
        last.unsqueeze(1) if last.ndim == 1 else last,
    ]
    y = zero.chain_matmul(*matrices)
    gone = [d for d, end in ((0, first), (1, last)) if end.ndim == 1]
    return _deliver(y.squeeze(tuple(gone)) if gone else y, out, "multi_dot")


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Vandermonde's matrices: the powers of each number, ``y[..., i, j] = x[..., i]^j``.

    Args:
        x: numbers of shape [..., n].
        N: the number of columns, at least 2; n for None.

    Raises:
        ValueError: there would be fewer than two columns.
        DTypeError: x is of bools.

    Example:
        >>> import zero
        >>> zero.linalg.vander(zero.tensor([2, 3]), N=3).tolist()
        [[1, 2, 4], [1, 3, 9]]
    """
    if x.dtype is zero.bool:
        raise DTypeError("vander: not defined for bool; got bool, expected numbers")
    x = x if x.ndim else x.unsqueeze(0)
    n = x.shape[-1] if N is None else N
    if n < 2:
        raise ValueError(f"vander: too few columns; got N={n}, expected at least 2")
    powers = zero.cumprod(x.unsqueeze(-1).expand(*x.shape, n - 1), -1)
    return zero.cat([powers.new_ones((*x.shape, 1)), powers], -1)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The dot products of vectors that lie along a dimension: ``sum_i x_i y_i``.

    Args:
        x: of floats.
        y: of the same dtype; its shape broadcasts with that of `x`.
        dim: the dimension, which disappears.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: the tensors are not of one floating point dtype.
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.linalg.vecdot(zero.tensor([[1.0, 2.0], [3.0, 4.0]]), zero.tensor([1.0, 10.0]))
        tensor([21., 43.])
    """
    if not x.is_floating_point() or x.dtype is not y.dtype:
        raise DTypeError(
            f"vecdot: not of one floating point dtype; got {x.dtype} and {y.dtype}, expected one"
        )
    x, y = zero.broadcast_tensors(x, y)
    x, y = x.movedim(dim, -1).unsqueeze(-2), y.movedim(dim, -1).unsqueeze(-1)
    return _deliver((x @ y).squeeze(-1).squeeze(-1), out, "vecdot")
