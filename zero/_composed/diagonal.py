"""Triangles and diagonals of matrices."""

from __future__ import annotations

import zero
from zero import Tensor, _deliver, _overwrite
from zero._composed.arguments import attach, wrap_dim
from zero.errors import ShapeError

__all__ = [
    "diag",
    "diag_embed",
    "diagflat",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
]


def _nothing(x: Tensor) -> bool | int:
    """A zero that does not change the dtype."""
    return False if x.dtype is zero.bool else 0


def _triangle(op: str, input: Tensor, diagonal: int, lower: bool) -> Tensor:
    if input.ndim < 2:
        raise ShapeError(
            f"{op}: fewer than two dimensions; got {tuple(input.shape)}, expected a matrix"
        )
    rows, columns = input.shape[-2:]
    steps = zero.arange(columns, device=input.device) - zero.arange(
        rows, device=input.device
    ).unsqueeze(1)
    mask = steps <= diagonal if lower else steps >= diagonal
    return zero.where(mask, input, _nothing(input))


def tril(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The lower triangle of matrices: zeros above a diagonal.

    Args:
        input: shape [..., I, J].
        diagonal: 0 is the main one, positive ones are above it.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.tril(zero.ones(2, 2)).tolist()
        [[1.0, 0.0], [1.0, 1.0]]
    """
    return _deliver(_triangle("tril", input, diagonal, True), out, "tril")


def triu(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of matrices: zeros below a diagonal.

    Args:
        input: shape [..., I, J].
        diagonal: 0 is the main one, positive ones are above it.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.triu(zero.ones(2, 2), 1).tolist()
        [[0.0, 1.0], [0.0, 0.0]]
    """
    return _deliver(_triangle("triu", input, diagonal, False), out, "triu")


def _tril_(self: Tensor, diagonal: int = 0) -> Tensor:
    """:func:`zero.tril` in place: overwrites the tensor and returns it."""
    return _overwrite(self, _triangle("tril_", self, diagonal, True), "tril_")


def _triu_(self: Tensor, diagonal: int = 0) -> Tensor:
    """:func:`zero.triu` in place: overwrites the tensor and returns it."""
    return _overwrite(self, _triangle("triu_", self, diagonal, False), "triu_")


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: zero.dtype | None = None,
    device: str | zero.device | None = None,
) -> Tensor:
    """Rows and columns of the places in a lower triangle, as a tensor of shape [2, n].

    Example:
        >>> import zero
        >>> zero.tril_indices(2, 2).tolist()
        [[0, 1, 1], [0, 0, 1]]
    """
    ones = zero.ones(row, col, dtype=zero.bool)
    places = zero.nonzero(tril(ones, offset)).t().contiguous()
    return places.to(device or "cpu", dtype or zero.int64)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: zero.dtype | None = None,
    device: str | zero.device | None = None,
) -> Tensor:
    """Rows and columns of the places in an upper triangle, as a tensor of shape [2, n].

    Example:
        >>> import zero
        >>> zero.triu_indices(2, 2).tolist()
        [[0, 0, 1], [0, 1, 1]]
    """
    ones = zero.ones(row, col, dtype=zero.bool)
    places = zero.nonzero(triu(ones, offset)).t().contiguous()
    return places.to(device or "cpu", dtype or zero.int64)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices that have the last dimension as their diagonal, and zeros elsewhere.

    Args:
        input: shape [..., I].
        offset: which diagonal: 0 is the main one, positive ones are above it.
        dim1: where the rows stand in the result.
        dim2: where the columns stand.

    Example:
        >>> import zero
        >>> zero.diag_embed(zero.tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    if input.ndim == 0:
        raise ShapeError("diag_embed: the tensor has no dimensions; expected at least one")
    a, b = (wrap_dim("diag_embed", d, input.ndim + 1) for d in (dim1, dim2))
    if a == b:
        raise ShapeError(f"diag_embed: one dimension twice; got {dim1} and {dim2}")
    n, size = input.shape[-1], input.shape[-1] + abs(offset)
    places = zero.arange(size, device=input.device)
    rows = places.unsqueeze(1)
    mask = (places - rows == offset) & (rows >= max(-offset, 0)) & (places >= max(offset, 0))
    # Along the columns, element j stands at j + offset: the row's own element, shifted.
    wide = input.unsqueeze(-2 if offset >= 0 else -1)
    if n < size:
        pad = zero.zeros_like(wide.narrow(-1 if offset >= 0 else -2, 0, 0))
        shape = list(pad.shape)
        shape[-1 if offset >= 0 else -2] = abs(offset)
        pad = zero.zeros(shape, dtype=input.dtype, device=input.device)
        wide = zero.cat([pad, wide], -1 if offset >= 0 else -2)
    y = zero.where(mask, wide, _nothing(input))
    return zero.movedim(y, (-2, -1), (a, b))


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
    y = diag_embed(input, diagonal) if input.ndim == 1 else zero.diagonal(input, diagonal).clone()
    return _deliver(y, out, "diag")


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on its diagonal.

    Example:
        >>> import zero
        >>> zero.diagflat(zero.tensor([[1, 2]])).tolist()
        [[1, 0], [0, 2]]
    """
    return diag_embed(zero.flatten(input), offset)


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
    tril,
    triu,
    diag_embed,
    diag,
    diagflat,
    fill_diagonal_,
    tril_=_tril_,
    triu_=_triu_,
)
