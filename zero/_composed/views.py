"""Parts of tensors and other views, composed of slices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import zero
from zero import Tensor, _attach
from zero._composed.arguments import Ints, as_ints, attach, given_ints, numpy_names, part, wrap_dim
from zero.errors import DTypeError, ShapeError

__all__ = [
    "adjoint",
    "detach_",
    "dsplit",
    "hsplit",
    "is_same_size",
    "split_with_sizes",
    "tensor_split",
    "unravel_index",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "vsplit",
]


def _where(op: str, either: object, indices: object, sections: object) -> object:
    """The one of the three that is given."""
    found = [v for v in (either, indices, sections) if v is not None]
    if len(found) != 1:
        raise TypeError(
            f"{op}: indices_or_sections, indices or sections is needed; got {len(found)} of them, "
            "expected one"
        )
    return found[0]


def _cuts(op: str, sections: object, size: int) -> list[int]:
    """Where the parts begin and end."""
    if isinstance(sections, Tensor):
        if sections.is_floating_point() or sections.dtype is zero.bool or sections.ndim > 1:
            raise ShapeError(
                f"{op}: neither a number nor a list of places; got {sections.dtype} of shape "
                f"{tuple(sections.shape)}, expected int64 of at most one dimension"
            )
        sections = sections.tolist()
    if isinstance(sections, (tuple, list)):
        return [0, *(int(i) for i in sections), size]
    if not isinstance(sections, int):
        raise TypeError(
            f"{op}: neither a number of parts nor a list of places; got {type(sections).__name__}, "
            "expected an int or a tuple of ints"
        )
    if sections <= 0:
        raise ShapeError(
            f"{op}: the number of parts is not positive; got {sections}, expected at least 1"
        )
    step, more = divmod(size, sections)
    return [i * step + min(i, more) for i in range(sections + 1)]


def _parts(x: Tensor, dim: int, cuts: list[int]) -> tuple[Tensor, ...]:
    return tuple(part(x, dim, a, b) for a, b in itertools.pairwise(cuts))


@numpy_names
def tensor_split(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | Tensor | None = None,
    dim: int = 0,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[Tensor, ...]:
    """Cuts a dimension into parts of nearly equal size, or at given places; views.

    Args:
        input: tensor of at least one dimension.
        indices_or_sections: a number n of parts, of which the first ``size % n`` are larger by one;
            or the places where parts begin after the first, as in NumPy.
        dim: the dimension.
        indices: the places, by name.
        sections: the number, by name.

    Raises:
        ShapeError: the tensor has no dimensions, or the number is not positive.
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.tensor_split(zero.arange(5), 2)]
        [[0, 1, 2], [3, 4]]
        >>> [part.tolist() for part in zero.tensor_split(zero.arange(5), (1, 3))]
        [[0], [1, 2], [3, 4]]
    """
    where = _where("tensor_split", indices_or_sections, indices, sections)
    return _tensor_split("tensor_split", input, where, dim)


def _tensor_split(op: str, input: Tensor, where: object, dim: int) -> tuple[Tensor, ...]:
    if input.ndim == 0:
        raise ShapeError(f"{op}: a 0-d tensor has no dimension to split; expected at least one")
    d = wrap_dim(op, dim, input.ndim)
    return _parts(input, d, _cuts(op, where, input.shape[d]))


def _even_split(op: str, input: Tensor, where: object, dim: int, least: int) -> tuple[Tensor, ...]:
    """A split whose parts must be equal if their number is given."""
    if input.ndim < least:
        raise ShapeError(
            f"{op}: too few dimensions; got {tuple(input.shape)}, expected at least {least}"
        )
    if isinstance(where, int) and (where <= 0 or input.shape[dim] % where):
        raise ShapeError(
            f"{op}: the parts are not equal; got {where} parts of dimension {dim} of size "
            f"{input.shape[dim]}, expected a number that divides it"
        )
    return _tensor_split(op, input, where, dim)


def hsplit(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[Tensor, ...]:
    """Cuts the columns (of a 1-d tensor, the elements) into equal parts or at given places; views.

    Args:
        input: tensor of at least one dimension.
        indices_or_sections: the number of parts, or the places where they begin after the first.
        indices: the places, by name.
        sections: the number, by name.

    Raises:
        ShapeError: the number of parts does not divide the size.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.hsplit(zero.tensor([[1, 2], [3, 4]]), 2)]
        [[[1], [3]], [[2], [4]]]
    """
    where = _where("hsplit", indices_or_sections, indices, sections)
    return _even_split("hsplit", input, where, 0 if input.ndim == 1 else 1, 1)


def vsplit(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[Tensor, ...]:
    """Cuts the rows into equal parts or at given places; views.

    Args:
        input: tensor of at least two dimensions.
        indices_or_sections: the number of parts, or the places where they begin after the first.
        indices: the places, by name.
        sections: the number, by name.

    Raises:
        ShapeError: there are fewer dimensions, or the number of parts does not divide the size.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.vsplit(zero.tensor([[1, 2], [3, 4]]), 2)]
        [[[1, 2]], [[3, 4]]]
    """
    where = _where("vsplit", indices_or_sections, indices, sections)
    return _even_split("vsplit", input, where, 0, 2)


def dsplit(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[Tensor, ...]:
    """Cuts the third dimension into equal parts or at given places; views.

    Args:
        input: tensor of at least three dimensions.
        indices_or_sections: the number of parts, or the places where they begin after the first.
        indices: the places, by name.
        sections: the number, by name.

    Raises:
        ShapeError: there are fewer dimensions, or the number of parts does not divide the size.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.dsplit(zero.tensor([[[1, 2]]]), 2)]
        [[[[1]]], [[[2]]]]
    """
    where = _where("dsplit", indices_or_sections, indices, sections)
    return _even_split("dsplit", input, where, 2, 3)


def _sizes(op: str, sizes: Sequence[int]) -> list[int]:
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(
            f"{op}: sizes are not a list; got {type(sizes).__name__}, expected a tuple of ints"
        )
    return list(sizes)


@numpy_names
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Cuts a dimension into parts of given sizes: :func:`split` with a list.

    Args:
        input: tensor of at least one dimension.
        split_sizes: the sizes, whose sum is that of the dimension.
        dim: the dimension.

    Raises:
        ShapeError: the sizes don't add up.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.split_with_sizes(zero.arange(3), [1, 2])]
        [[0], [1, 2]]
    """
    return zero.split(input, _sizes("split_with_sizes", split_sizes), dim)


def _apart(parts: tuple[Tensor, ...], input: Tensor, dim: int) -> tuple[Tensor, ...]:
    """The same parts as views of their own, each of which may be written in place."""
    sizes = [piece.shape[dim] for piece in parts]
    return _parts(input, dim % input.ndim, [0, *itertools.accumulate(sizes)])


@numpy_names
def unsafe_split(
    input: Tensor, split_size: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """:func:`split` whose parts may be written in place while gradients are recorded.

    In PyTorch such writes give wrong gradients for other uses of the input; here they are right.

    Args:
        input: tensor of at least one dimension.
        split_size: the size of each part (the last may be smaller), or a list of sizes.
        dim: the dimension.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.unsafe_split(zero.arange(3), 2)]
        [[0, 1], [2]]
    """
    return _apart(zero.split(input, split_size, dim), input, dim)


@numpy_names
def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """:func:`split_with_sizes` whose parts may be written in place.

    Args:
        input: tensor of at least one dimension.
        split_sizes: the sizes, whose sum is that of the dimension.
        dim: the dimension.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.unsafe_split_with_sizes(zero.arange(3), [1, 2])]
        [[0], [1, 2]]
    """
    parts = zero.split(input, _sizes("unsafe_split_with_sizes", split_sizes), dim)
    return _apart(parts, input, dim)


@numpy_names
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """:func:`chunk` whose parts may be written in place while gradients are recorded.

    Args:
        input: tensor of at least one dimension.
        chunks: how many parts.
        dim: the dimension.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.unsafe_chunk(zero.arange(3), 2)]
        [[0, 1], [2]]
    """
    return _apart(zero.chunk(input, chunks, dim), input, dim)


def sum_to_size(self: Tensor, *sizes: Ints, size: Ints | None = None) -> Tensor:
    """Sums that undo a broadcast: over new dimensions, and over those that had size 1.

    Args:
        sizes: the sizes, as ints or one tuple; they must broadcast to the tensor's.
        size: the same by name.

    Raises:
        ShapeError: the sizes don't broadcast to those of the tensor.

    Example:
        >>> import zero
        >>> zero.ones(2, 3).sum_to_size(1, 3).tolist()
        [[2.0, 2.0, 2.0]]
    """
    wanted = given_ints("sum_to_size", sizes, size)
    extra = self.ndim - len(wanted)
    if extra < 0 or any(w not in (1, n) for w, n in zip(wanted, self.shape[extra:], strict=True)):
        raise ShapeError(
            f"sum_to_size: the shape does not broadcast to that of the tensor; got {wanted}, "
            f"expected one that broadcasts to {tuple(self.shape)}"
        )
    front = range(extra)
    ones = [extra + i for i, w in enumerate(wanted) if w == 1 and self.shape[extra + i] != 1]
    dims = (*front, *ones)
    return zero.sum(self, dims).reshape(wanted) if dims or not self.ndim else self


def unravel_index(indices: Tensor, shape: Ints) -> tuple[Tensor, ...]:
    """Positions in row-major order as an index for each dimension of a shape.

    Args:
        indices: integers of any shape.
        shape: the sizes that the positions are counted in.

    Returns:
        A tensor of the shape of `indices` per dimension.

    Raises:
        DTypeError: the indices are not integers.
        ValueError: a size is negative.

    Example:
        >>> import zero
        >>> zero.unravel_index(zero.tensor([1, 5]), (2, 3))
        (tensor([0, 1]), tensor([1, 2]))
    """
    if not isinstance(indices, Tensor):
        raise TypeError(
            f"unravel_index: indices are not a tensor; got {type(indices).__name__}, expected a "
            "Tensor"
        )
    if indices.is_floating_point() or indices.dtype is zero.bool:
        raise DTypeError(f"unravel_index: not integers; got {indices.dtype}, expected int64")
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    indices = indices.to(zero.int64)
    sizes = as_ints("unravel_index", "shape", shape)
    for n in sizes:
        if isinstance(n, bool) or not isinstance(n, int):
            raise TypeError(f"unravel_index: a size is not an int; got {n!r}, expected ints")
        if n < 0:
            raise zero.errors.ValueError(
                f"unravel_index: a size is negative; got {sizes}, expected sizes >= 0"
            )
    found = []
    for i, n in enumerate(sizes):
        below = math.prod(sizes[i + 1 :])
        steps = zero.floor_divide(indices, below) if below != 1 else indices
        found.append(zero.remainder(steps, n))
    return tuple(found)


def adjoint(input: Tensor) -> Tensor:
    """The transpose of matrices: without complex numbers, nothing is conjugated; a view.

    Args:
        input: shape [..., I, J].

    Raises:
        ShapeError: there is one dimension.

    Example:
        >>> import zero
        >>> zero.adjoint(zero.tensor([[1, 2], [3, 4]])).tolist()
        [[1, 3], [2, 4]]
    """
    if input.ndim == 1:
        raise ShapeError(
            f"adjoint: not a matrix; got {tuple(input.shape)}, expected at least 2 dimensions"
        )
    return zero.transpose(input, -2, -1) if input.ndim else input.view(())


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape.

    Args:
        input: any shape.
        other: any shape.

    Example:
        >>> import zero
        >>> zero.is_same_size(zero.ones(2), zero.ones(1, 2))
        False
    """
    return input.shape == other.shape


def detach_(input: Tensor) -> Tensor:
    """:meth:`Tensor.detach_`: takes a tensor out of its graph, in place.

    Args:
        input: no view.

    Example:
        >>> import zero
        >>> zero.detach_(zero.ones(1, requires_grad=True) * 2).requires_grad
        False
    """
    return input.detach_()


def _h(self: Tensor) -> Tensor:
    """The transpose of a matrix, as a view."""
    if self.ndim not in (0, 2):
        raise ShapeError(
            f"H: not a matrix; got {tuple(self.shape)}, expected 2 dimensions; use mH for batches"
        )
    return zero.transpose(self, 0, 1) if self.ndim else self.view(())


attach(
    tensor_split,
    hsplit,
    vsplit,
    dsplit,
    split_with_sizes,
    unsafe_split,
    unsafe_split_with_sizes,
    unsafe_chunk,
    sum_to_size,
    adjoint,
)
_attach("mH", property(adjoint, doc="The transpose of matrices, as a view."))
_attach("H", property(_h, doc=_h.__doc__))
