"""Copies of a tensor with new values in a part of it that a view names."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Tensor, _deliver
from zero._composed.arguments import attach, copy_for, numpy_names
from zero._composed.copies import sliced
from zero.errors import ShapeError

__all__ = ["as_strided_scatter", "diagonal_scatter", "select_scatter", "slice_scatter"]


def _filled(op: str, y: Tensor, place: Tensor, src: Tensor) -> Tensor:
    """y after its part `place` was overwritten."""
    if src.shape != place.shape:
        raise ShapeError(
            f"{op}: the values don't fit; got {tuple(src.shape)}, expected {tuple(place.shape)}"
        )
    place.copy_(src)
    return y


@numpy_names
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy with other values at one place along a dimension.

    Args:
        input: at least one dimension.
        src: the values: the shape of ``input.select(dim, index)``.
        dim: the dimension.
        index: the place; negative ones count from the end.

    Raises:
        ShapeError: the values have another shape.

    Example:
        >>> import zero
        >>> zero.select_scatter(zero.zeros(2, 2), zero.ones(2), 0, 1).tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """
    y = copy_for(input, src)
    return _filled("select_scatter", y, zero.select(y, dim, index), src)


@numpy_names
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy with other values in a slice of a dimension.

    Args:
        input: at least one dimension.
        src: the values: the shape of the slice.
        dim: the dimension.
        start: the first place.
        end: the place after the last.
        step: how far it is from one place to the next.
        out: where to write the result.

    Raises:
        ShapeError: the values have another shape.

    Example:
        >>> import zero
        >>> zero.slice_scatter(zero.zeros(4), zero.ones(2), start=2).tolist()
        [0.0, 0.0, 1.0, 1.0]
    """
    y = copy_for(input, src)
    place = sliced("slice_scatter", y, dim, start, end, step)
    return _deliver(_filled("slice_scatter", y, place, src), out, "slice_scatter")


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A copy with other values on a diagonal.

    Args:
        input: at least two dimensions.
        src: the values: the shape of ``input.diagonal(offset, dim1, dim2)``.
        offset: which diagonal: 0 the main one, above it if positive.
        dim1: the dimension of the rows.
        dim2: the dimension of the columns.

    Raises:
        ShapeError: the values have another shape.

    Example:
        >>> import zero
        >>> zero.diagonal_scatter(zero.zeros(2, 2), zero.ones(2)).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    y = copy_for(input, src)
    return _filled("diagonal_scatter", y, zero.diagonal(y, offset, dim1, dim2), src)


def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """A copy with other values in a strided view of it.

    Args:
        input: any shape; sizes, strides and offset count in its memory, as for as_strided.
        src: the values: of shape `size`.
        size: the sizes of the view.
        stride: how many elements apart its neighbours are.
        storage_offset: where it begins; by default where `input` does.

    Raises:
        ShapeError: the values have another shape, or the view reaches outside.
        RuntimeError: the view shows an element several times.

    Example:
        >>> import zero
        >>> zero.as_strided_scatter(zero.zeros(4), zero.ones(2), (2,), (2,), 1).tolist()
        [0.0, 1.0, 0.0, 1.0]
    """
    first = input.storage_offset()
    start = 0 if storage_offset is None else storage_offset - first
    y = memory = copy_for(input, src)
    if y.stride() != input.stride():  # gaps, or elements that share a place: all of the memory
        reach = 1 + sum((n - 1) * s for n, s in zip(input.shape, input.stride(), strict=True))
        memory = copy_for(zero.as_strided(input, (max(reach, 0),), (1,), first), src)
    place = zero.as_strided(memory, size, stride, start)
    filled = _filled("as_strided_scatter", memory, place, src)
    return filled if memory is y else zero.as_strided(filled, input.shape, input.stride(), 0)


attach(select_scatter, slice_scatter, diagonal_scatter, as_strided_scatter)
