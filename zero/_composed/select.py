"""Writes and reads along one dimension, composed of indexing."""

from __future__ import annotations

import zero
from zero import Tensor, _deliver, _unsafe_view
from zero._composed.arguments import attach, wrap_dim
from zero.errors import DTypeError, ShapeError

__all__ = ["index_copy", "index_fill", "take"]


def _check_index(op: str, index: Tensor, list_only: bool) -> None:
    if index.dtype in (zero.bool, zero.uint8) or index.is_floating_point():
        raise DTypeError(f"{op}: the index is not of integers; got {index.dtype}, expected int64")
    if list_only and index.ndim > 1:
        raise ShapeError(
            f"{op}: the index is not a list; got shape {tuple(index.shape)}, expected at most one "
            "dimension"
        )


def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements that an index names as if the tensor had one dimension.

    Args:
        input: any shape.
        index: integers of any shape, which the result has; negative ones count from the end.
        out: where to write the result.

    Raises:
        DTypeError: the index is not of integers.
        IndexError: an index is out of range.

    Example:
        >>> import zero
        >>> zero.take(zero.tensor([[1, 2], [3, 4]]), zero.tensor([0, 3])).tolist()
        [1, 4]
    """
    _check_index("take", index, False)
    found = input.reshape(-1)[index.reshape(-1)]
    return _deliver(_unsafe_view(found, index.shape), out, "take")


def _places(op: str, input: Tensor, dim: int, index: Tensor) -> tuple[Tensor | None, ...]:
    d = wrap_dim(op, dim, input.ndim)
    _check_index(op, index, True)
    return (*(None for _ in range(d)), index.reshape(-1))


def _one(op: str, input: Tensor, value: Tensor | float) -> Tensor:
    if not isinstance(value, Tensor):
        return zero.full((), value, dtype=input.dtype, device=input.device)
    if value.ndim:
        raise ShapeError(
            f"{op}: the value is not one number; got shape {tuple(value.shape)}, expected a number "
            "or a 0-d tensor"
        )
    return value.to(input.dtype)


def _rows(op: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """The source of index_copy, checked."""
    expected = list(input.shape) or [1]
    expected[wrap_dim(op, dim, input.ndim)] = index.numel()
    if source.dtype is not input.dtype:
        raise DTypeError(f"{op}: dtypes differ; got {input.dtype} and {source.dtype}, expected one")
    if list(source.shape) != expected and (input.ndim or source.numel() != index.numel()):
        raise ShapeError(
            f"{op}: the source does not fit; got {tuple(source.shape)}, expected "
            f"{tuple(expected)}: a row per index"
        )
    return source.reshape(expected)


def index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor | float) -> Tensor:
    """One number in all places that an index names along a dimension: ``y[index] = value`` for
    dim 0.

    Args:
        input: any shape.
        dim: the dimension.
        index: list of integers.
        value: a number, or a tensor without dimensions, which gets a gradient.

    Raises:
        IndexError: an index or the dimension is out of range.
        ShapeError: the index is no list or the value no number.

    Example:
        >>> import zero
        >>> zero.index_fill(zero.zeros(2, 2), 1, zero.tensor([0]), 3).tolist()
        [[3.0, 0.0], [3.0, 0.0]]
    """
    op = "index_fill"
    places, one = _places(op, input, dim, index), _one(op, input, value)
    x = input if input.ndim else input.reshape(1)
    return _unsafe_view(zero.index_put(x, places, one), input.shape)


def _index_fill_(self: Tensor, dim: int, index: Tensor, value: Tensor | float) -> Tensor:
    """:func:`zero.index_fill` in place: overwrites the tensor and returns it."""
    op = "index_fill_"
    places, one = _places(op, self, dim, index), _one(op, self, value)
    (self if self.ndim else self.view(1)).index_put_(places, one)
    return self


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Rows in the places that an index names along a dimension: ``y[index[i]] = source[i]`` for
    dim 0.

    Of several rows for one place the last stays, and gets the gradient.

    Args:
        input: any shape.
        dim: the dimension.
        index: list of integers.
        source: same dtype; the shape of `input` but for as many entries along `dim` as `index` has.

    Raises:
        IndexError: an index or the dimension is out of range.
        ShapeError: the index is no list, or the source does not fit.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> rows = zero.tensor([[1.0, 2.0]])
        >>> zero.index_copy(zero.zeros(2, 2), 0, zero.tensor([1]), rows).tolist()
        [[0.0, 0.0], [1.0, 2.0]]
    """
    op = "index_copy"
    places, rows = _places(op, input, dim, index), _rows(op, input, dim, index, source)
    x = input if input.ndim else input.reshape(1)
    return _unsafe_view(zero.index_put(x, places, rows), input.shape)


def _index_copy_(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """:func:`zero.index_copy` in place: overwrites the tensor and returns it."""
    op = "index_copy_"
    places, rows = _places(op, self, dim, index), _rows(op, self, dim, index, source)
    (self if self.ndim else self.view(1)).index_put_(places, rows)
    return self


attach(take, index_fill, index_copy, index_fill_=_index_fill_, index_copy_=_index_copy_)
