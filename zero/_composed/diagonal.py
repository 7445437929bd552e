"""Triangles and diagonals of matrices."""

from __future__ import annotations

import zero
from zero import Tensor, _deliver
from zero._composed.arguments import attach
from zero.errors import ShapeError

__all__ = [
    "diag",
    "diagflat",
]


def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """A matrix with a vector as its diagonal; or, of a matrix, a copy of its diagonal.

    Args:
        input: shape [I] or [I, J].
        diagonal: 0 is the main one, positive ones are above it.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.diag(zero.tensor([1, 2])).tolist(), zero.diag(zero.ones(2, 2)).tolist()
        ([[1, 0], [0, 2]], [1.0, 1.0])
    """
    if input.ndim not in (1, 2):
        raise ShapeError(
            f"diag: neither a vector nor a matrix; got {tuple(input.shape)}, expected one or two "
            "dimensions"
        )
    y = (
        zero.diag_embed(input, diagonal)
        if input.ndim == 1
        else zero.diagonal(input, diagonal).clone()
    )
    return _deliver(y, out, "diag")


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on its diagonal.

    Example:
        >>> import zero
        >>> zero.diagflat(zero.tensor([[1, 2]])).tolist()
        [[1, 0], [0, 2]]
    """
    return zero.diag_embed(zero.flatten(input), offset)


def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Overwrites the diagonal with a number; returns the tensor.

    Args:
        fill_value: the number.
        wrap: whether the diagonal of a tall matrix goes on below, after a row without one.

    Example:
        >>> import zero
        >>> zero.zeros(2, 2).fill_diagonal_(3).tolist()
        [[3.0, 0.0], [0.0, 3.0]]
    """
    if self.ndim < 2 or (self.ndim > 2 and len(set(self.shape)) != 1):
        raise ShapeError(
            f"fill_diagonal_: no diagonal; got {tuple(self.shape)}, expected a matrix or equal "
            "sizes"
        )
    strides, n = self.stride(), min(self.shape)
    if self.ndim == 2 and wrap:
        rows, columns = self.shape
        start = 0
        while start < rows:
            zero.diagonal(self[start : start + columns]).fill_(fill_value)
            start += columns + 1
        return self
    view = self
    if self.ndim == 2:
        zero.diagonal(view).fill_(fill_value)
        return self
    for _ in range(self.ndim - 1):
        view = zero.diagonal(view, 0, 0, view.ndim - 1)
    assert view.shape[0] == n or not strides
    view.fill_(fill_value)
    return self


attach(
    diag,
    diagflat,
    fill_diagonal_,
)
