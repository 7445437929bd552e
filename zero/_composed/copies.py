"""Views as copies: what PyTorch calls `<view>_copy`. Each is contiguous and shares no memory."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Tensor, _attach, _deliver
from zero._composed.arguments import Ints, numpy_names, part, wrap_dim
from zero.errors import ShapeError

Parts = tuple[Tensor, ...]

__all__ = [
    "alias_copy",
    "as_strided_copy",
    "detach_copy",
    "diagonal_copy",
    "expand_copy",
    "narrow_copy",
    "permute_copy",
    "select_copy",
    "slice_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_copy",
]


def _copy(view: Tensor, out: Tensor | None, op: str) -> Tensor:
    if out is not None:
        return _deliver(view, out, op)
    return view.clone(memory_format=zero.contiguous_format)


def _copies(views: Parts, out: Sequence[Tensor] | None, op: str) -> Parts:
    if out is None:
        return tuple(_copy(v, None, op) for v in views)
    if not isinstance(out, (tuple, list)) or len(out) != len(views):
        got = f"{len(out)} of them" if isinstance(out, (tuple, list)) else type(out).__name__
        raise TypeError(
            f"{op}: out is not as many tensors as there are parts; got {got}, "
            f"expected a list of {len(views)}"
        )
    for view, place in zip(views, out, strict=True):
        _deliver(view, place, op)
    return tuple(out)


def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A contiguous copy.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.alias_copy(zero.tensor([1, 2])).tolist()
        [1, 2]
    """
    return _copy(input, out, "alias_copy")


def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A contiguous copy without history: ``input.detach().clone()``.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.detach_copy(zero.ones(1, requires_grad=True)).requires_grad
        False
    """
    return _copy(input.detach(), out, "detach_copy")


def as_strided_copy(
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """:func:`as_strided` as a copy.

    Args:
        input: any shape.
        size: the sizes.
        stride: how many elements apart neighbours are, for each dimension.
        storage_offset: where it begins in the memory; by default where `input` does.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.as_strided_copy(zero.arange(3), (2, 2), (1, 1)).tolist()
        [[0, 1], [1, 2]]
    """
    return _copy(zero.as_strided(input, size, stride, storage_offset), out, "as_strided_copy")


def diagonal_copy(
    input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Tensor | None = None
) -> Tensor:
    """:func:`diagonal` as a copy.

    Args:
        input: at least two dimensions.
        offset: which diagonal: 0 the main one, above it if positive.
        dim1: the dimension of the rows.
        dim2: the dimension of the columns.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.diagonal_copy(zero.tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    return _copy(zero.diagonal(input, offset, dim1, dim2), out, "diagonal_copy")


def expand_copy(
    input: Tensor, size: Ints, *, implicit: bool = False, out: Tensor | None = None
) -> Tensor:
    """:meth:`Tensor.expand` as a copy.

    Args:
        input: any shape.
        size: the sizes; -1 keeps one.
        implicit: has no meaning outside PyTorch's compilers.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.expand_copy(zero.tensor([1]), (2, 2)).tolist()
        [[1, 1], [1, 1]]
    """
    return _copy(zero.broadcast_to(input, size), out, "expand_copy")


@numpy_names
def narrow_copy(
    input: Tensor, dim: int, start: int, length: int, *, out: Tensor | None = None
) -> Tensor:
    """:func:`narrow` as a copy.

    Args:
        input: at least one dimension.
        dim: the dimension.
        start: the first place; negative ones count from the end.
        length: how many places.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.narrow_copy(zero.arange(5), 0, 1, 2).tolist()
        [1, 2]
    """
    return _copy(zero.narrow(input, dim, start, length), out, "narrow_copy")


def permute_copy(input: Tensor, dims: Sequence[int], *, out: Tensor | None = None) -> Tensor:
    """:func:`permute` as a copy.

    Args:
        input: any shape.
        dims: each dimension once, in the wanted order.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.permute_copy(zero.ones(2, 3), (1, 0)).shape
        zero.Size([3, 2])
    """
    return _copy(zero.permute(input, dims), out, "permute_copy")


@numpy_names
def select_copy(input: Tensor, dim: int, index: int, *, out: Tensor | None = None) -> Tensor:
    """:func:`select` as a copy.

    Args:
        input: at least one dimension.
        dim: the dimension, which disappears.
        index: the place; negative ones count from the end.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.select_copy(zero.tensor([[1, 2], [3, 4]]), 1, 0).tolist()
        [1, 3]
    """
    return _copy(zero.select(input, dim, index), out, "select_copy")


@numpy_names
def slice_copy(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``input[start:end:step]`` along a dimension, as a copy.

    Args:
        input: at least one dimension.
        dim: the dimension.
        start: the first place.
        end: the place after the last.
        step: how far it is from one place to the next.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.slice_copy(zero.arange(5), 0, 1, None, 2).tolist()
        [1, 3]
    """
    return _copy(sliced("slice_copy", input, dim, start, end, step), out, "slice_copy")


def sliced(op: str, x: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    """x[..., start:end:step] along a dimension."""
    if x.ndim == 0:
        raise ShapeError(f"{op}: a 0-d tensor has no dimension to slice; expected at least one")
    d = wrap_dim(op, dim, x.ndim)
    return part(x, d, start, end, step)


@numpy_names
def squeeze_copy(input: Tensor, dim: Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """:func:`squeeze` as a copy.

    Args:
        input: any shape.
        dim: the dimension or dimensions to leave out if their size is 1; all such for None.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.squeeze_copy(zero.ones(1, 2)).shape
        zero.Size([2])
    """
    return _copy(zero.squeeze(input, dim), out, "squeeze_copy")


def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """:func:`t` as a copy.

    Args:
        input: at most two dimensions.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.t_copy(zero.tensor([[1, 2], [3, 4]])).tolist()
        [[1, 3], [2, 4]]
    """
    return _copy(zero.t(input), out, "t_copy")


def transpose_copy(input: Tensor, dim0: int, dim1: int, *, out: Tensor | None = None) -> Tensor:
    """:func:`transpose` as a copy.

    Args:
        input: any shape.
        dim0: one dimension.
        dim1: the other.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.transpose_copy(zero.tensor([[1, 2], [3, 4]]), 0, 1).tolist()
        [[1, 3], [2, 4]]
    """
    return _copy(zero.transpose(input, dim0, dim1), out, "transpose_copy")


def unfold_copy(
    input: Tensor, dimension: int, size: int, step: int, *, out: Tensor | None = None
) -> Tensor:
    """:meth:`Tensor.unfold` as a copy.

    Args:
        input: any shape.
        dimension: the dimension that the windows move along.
        size: the size of each window.
        step: how far it is from one window to the next.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.unfold_copy(zero.arange(4), 0, 2, 1).tolist()
        [[0, 1], [1, 2], [2, 3]]
    """
    return _copy(input.unfold(dimension, size, step), out, "unfold_copy")


@numpy_names
def unsqueeze_copy(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """:func:`unsqueeze` as a copy.

    Args:
        input: any shape.
        dim: where the new dimension shall stand.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.unsqueeze_copy(zero.ones(2), 0).shape
        zero.Size([1, 2])
    """
    return _copy(zero.unsqueeze(input, dim), out, "unsqueeze_copy")


def view_copy(input: Tensor, size: Ints | zero.dtype, *, out: Tensor | None = None) -> Tensor:
    """:meth:`Tensor.view` as a copy.

    Args:
        input: any shape.
        size: the sizes, of which one may be -1; or a dtype that the same bytes are read as.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.view_copy(zero.arange(4), (2, 2)).tolist()
        [[0, 1], [2, 3]]
    """
    return _copy(input.view(size), out, "view_copy")


@numpy_names
def split_copy(
    tensor: Tensor,
    split_size: int | Sequence[int],
    dim: int = 0,
    *,
    out: Sequence[Tensor] | None = None,
) -> Parts:
    """:func:`split` as copies.

    Args:
        tensor: at least one dimension.
        split_size: the size of each part (the last may be smaller), or a list of sizes.
        dim: the dimension.
        out: where to write the results, as a list of tensors.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.split_copy(zero.arange(3), 2)]
        [[0, 1], [2]]
    """
    return _copies(zero.split(tensor, split_size, dim), out, "split_copy")


@numpy_names
def split_with_sizes_copy(
    input: Tensor,
    split_sizes: Sequence[int],
    dim: int = 0,
    *,
    out: Sequence[Tensor] | None = None,
) -> Parts:
    """:func:`split_with_sizes` as copies.

    Args:
        input: at least one dimension.
        split_sizes: the sizes, whose sum is that of the dimension.
        dim: the dimension.
        out: where to write the results, as a list of tensors.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.split_with_sizes_copy(zero.arange(3), [1, 2])]
        [[0], [1, 2]]
    """
    return _copies(zero.split_with_sizes(input, split_sizes, dim), out, "split_with_sizes_copy")


@numpy_names
def unbind_copy(input: Tensor, dim: int = 0, *, out: Sequence[Tensor] | None = None) -> Parts:
    """:func:`unbind` as copies.

    Args:
        input: at least one dimension.
        dim: the dimension, which disappears.
        out: where to write the results, as a list of tensors.

    Example:
        >>> import zero
        >>> [row.tolist() for row in zero.unbind_copy(zero.tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    return _copies(zero.unbind(input, dim), out, "unbind_copy")


_attach("narrow_copy", narrow_copy)
