"""Repetitions, reflections and joins, composed of views and other operators."""

from __future__ import annotations

import math
from collections.abc import Sequence

import zero
from zero import Tensor, _attach, _unsafe_view
from zero._composed.arguments import Ints, as_ints, attach, given_ints, numpy_names, wrap_dim
from zero.errors import ShapeError

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_shapes",
    "broadcast_tensors",
    "dstack",
    "fliplr",
    "flipud",
    "hstack",
    "meshgrid",
    "moveaxis",
    "movedim",
    "rot90",
    "row_stack",
    "tile",
    "unflatten",
    "vstack",
]


def broadcast_shapes(*shapes: Ints) -> zero.Size:
    """The shape that operators give for tensors of these shapes.

    Args:
        *shapes: sizes, or an int for a single one; those of 1 fit any other.

    Raises:
        ShapeError: two sizes differ and neither is 1, or one is negative.

    Example:
        >>> import zero
        >>> zero.broadcast_shapes((2, 1), (3,), 1)
        zero.Size([2, 3])
    """
    result: list[int] = []
    for shape in shapes:
        sizes = as_ints("broadcast_shapes", "a shape", shape)
        result = [1] * (len(sizes) - len(result)) + result
        for i, size in enumerate(reversed(sizes), 1):
            if size < 0 or (size != 1 and result[-i] not in (1, size)):
                given = [str(tuple(as_ints("broadcast_shapes", "a shape", s))) for s in shapes]
                raise ShapeError(
                    f"broadcast_shapes: shapes do not broadcast; got {' and '.join(given)}, "
                    "expected equal sizes or 1 in each trailing dimension"
                )
            if size != 1:
                result[-i] = size
    return zero.Size(result)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of tensors in the one shape that operators would give them.

    Raises:
        ShapeError: two sizes differ and neither is 1.

    Example:
        >>> import zero
        >>> a, b = zero.broadcast_tensors(zero.tensor([[1], [2]]), zero.tensor([3, 4]))
        >>> a.tolist(), b.tolist()
        ([[1, 1], [2, 2]], [[3, 4], [3, 4]])
    """
    given = _each(tensors, "broadcast_tensors")
    shape = broadcast_shapes(*(t.shape for t in given))
    return tuple(t.expand(shape) for t in given)


def _copied(x: Tensor, shape: Sequence[int]) -> Tensor:
    """A copy in another shape, also where a view would do: sizes of 1 repeat without one."""
    return _unsafe_view(x.clone(memory_format=zero.contiguous_format), tuple(shape))


def repeat(self: Tensor, *args: Ints, repeats: Ints | None = None) -> Tensor:
    """Copies laid side by side: as many along each dimension as asked for.

    Args:
        *args: how often, for each dimension; there may be more than the tensor has, those in
            front are new.
        repeats: the same by name.

    Raises:
        ShapeError: fewer numbers than dimensions, or a negative one.

    Example:
        >>> import zero
        >>> zero.tensor([1, 2]).repeat(2, 2).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    times = given_ints("repeat", args, repeats) if args or repeats is not None else ()
    if len(times) < self.ndim or any(n < 0 for n in times):
        raise ShapeError(
            f"repeat: not one count >= 0 per dimension; got {times} for shape {tuple(self.shape)}"
        )
    sizes = (1,) * (len(times) - self.ndim) + tuple(self.shape)
    # [n, size] per dimension, the n repeated without a copy, then both as one.
    pairs = [m for size in sizes for m in (1, size)]
    wide = [m for n, size in zip(times, sizes, strict=True) for m in (n, size)]
    result = [n * size for n, size in zip(times, sizes, strict=True)]
    return _copied(self.reshape(pairs).expand(wide), result)


def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """:meth:`Tensor.repeat` that takes fewer numbers than dimensions: those in front count as 1.

    Args:
        input: any shape.
        dims: how often, for the last dimensions or for more than there are.

    Example:
        >>> import zero
        >>> zero.tile(zero.tensor([[1], [2]]), (2,)).tolist()
        [[1, 1], [2, 2]]
    """
    times = as_ints("tile", "dims", dims)
    return repeat(input, (1,) * (input.ndim - len(times)) + times)


def _tile(self: Tensor, *args: Ints, dims: Ints | None = None) -> Tensor:
    """:func:`zero.tile`, with the numbers as one tuple or as arguments."""
    return tile(self, given_ints("tile", args, dims))


def fliplr(input: Tensor) -> Tensor:
    """The columns in reverse order: ``zero.flip(input, 1)``.

    Raises:
        ShapeError: there are fewer than two dimensions.

    Example:
        >>> import zero
        >>> zero.fliplr(zero.tensor([[1, 2]])).tolist()
        [[2, 1]]
    """
    if input.ndim < 2:
        raise ShapeError(f"fliplr: no columns; got {tuple(input.shape)}, expected two dimensions")
    return zero.flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """The rows in reverse order: ``zero.flip(input, 0)``.

    Raises:
        ShapeError: there are no dimensions.

    Example:
        >>> import zero
        >>> zero.flipud(zero.tensor([1, 2])).tolist()
        [2, 1]
    """
    if input.ndim < 1:
        raise ShapeError("flipud: no rows; got a 0-d tensor, expected at least one dimension")
    return zero.flip(input, 0)


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turned by 90 degrees, k times, from the first of two dimensions toward the second.

    Example:
        >>> import zero
        >>> zero.rot90(zero.tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    a, b = (wrap_dim("rot90", d, input.ndim) for d in dims)
    if a == b or input.ndim < 2:
        raise ShapeError(f"rot90: not two dimensions; got {tuple(dims)} of {tuple(input.shape)}")
    k %= 4
    if k == 2:
        return zero.flip(input, (a, b))
    if k == 0:
        return input.clone()
    turned = zero.transpose(input, a, b)
    return zero.flip(turned, a if k == 1 else b)


def meshgrid(
    *tensors: Tensor | Sequence[Tensor], indexing: str | None = None
) -> tuple[Tensor, ...]:
    """Coordinates of a grid: each 1-d tensor repeated along the dimensions of the others, as views.

    Args:
        *tensors: the coordinates along each dimension, 1-d or 0-d.
        indexing: "ij" (the default): dimension i belongs to tensor i; "xy": the first two are
            swapped, as in NumPy and in pictures.

    Example:
        >>> import zero
        >>> rows, columns = zero.meshgrid(zero.tensor([1, 2]), zero.tensor([3, 4]), indexing="ij")
        >>> rows.tolist(), columns.tolist()
        ([[1, 1], [2, 2]], [[3, 4], [3, 4]])
    """
    given = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    axes: list[Tensor] = list(given)  # type: ignore[arg-type]
    if indexing not in (None, "ij", "xy"):
        raise zero.errors.ValueError(
            f"meshgrid: unknown indexing; got {indexing!r}, expected 'ij' or 'xy'"
        )
    if not axes:
        raise zero.errors.ValueError("meshgrid: no tensors; got none, expected at least one")
    if any(a.ndim > 1 for a in axes):
        raise ShapeError(f"meshgrid: more than one dimension; got {[tuple(a.shape) for a in axes]}")
    swap = indexing == "xy" and len(axes) > 1
    if swap:
        axes[:2] = axes[1::-1]
    sizes = [a.numel() for a in axes]
    grids = []
    for i, a in enumerate(axes):
        shape = [1] * len(axes)
        shape[i] = sizes[i]
        grids.append(zero.reshape(a, shape).expand(sizes))
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Dimensions put at other places, the others keeping their order; a view.

    Args:
        input: any shape.
        source: the dimensions to move.
        destination: where they go.

    Example:
        >>> import zero
        >>> zero.movedim(zero.ones(2, 3, 4), 0, -1).shape
        zero.Size([3, 4, 2])
    """
    a = [wrap_dim("movedim", d, input.ndim) for d in as_ints("movedim", "source", source)]
    b = [wrap_dim("movedim", d, input.ndim) for d in as_ints("movedim", "destination", destination)]
    if len(a) != len(b) or len(set(a)) != len(a) or len(set(b)) != len(b):
        raise ShapeError(f"movedim: dimensions don't match; got {source} to {destination}")
    if input.ndim == 0:
        return input.view(())
    order: list[int] = [-1] * input.ndim
    for i, j in zip(a, b, strict=True):
        order[j] = i
    rest = iter(d for d in range(input.ndim) if d not in a)
    return zero.permute(input, tuple(next(rest) if d < 0 else d for d in order))


moveaxis = movedim


@numpy_names
def unflatten(input: Tensor, dim: int, sizes: Ints) -> Tensor:
    """One dimension as several; a view.

    Args:
        input: any shape with at least one dimension.
        dim: the dimension.
        sizes: what it becomes; one may be -1.

    Example:
        >>> import zero
        >>> zero.unflatten(zero.ones(2, 6), 1, (3, -1)).shape
        zero.Size([2, 3, 2])
    """
    d = wrap_dim("unflatten", dim, input.ndim)
    new = list(as_ints("unflatten", "sizes", sizes))
    known = math.prod(n for n in new if n != -1)
    if new.count(-1) == 1 and known:
        new[new.index(-1)] = input.shape[d] // known
    if math.prod(new) != input.shape[d] or min(new, default=-1) < 0:
        raise ShapeError(
            f"unflatten: the sizes don't multiply to that of the dimension; got {tuple(sizes)}, "  # type: ignore[arg-type]
            f"expected {input.shape[d]}"
        )
    return input.view(*input.shape[:d], *new, *input.shape[d + 1 :])


def _each(tensors: tuple[Tensor | Sequence[Tensor], ...], op: str) -> list[Tensor]:
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    for t in given:
        if not isinstance(t, Tensor):
            raise TypeError(f"{op}: not a tensor; got {type(t).__name__}, expected a Tensor")
    return list(given)


def _at_least(op: str, n: int, tensors: tuple[Tensor | Sequence[Tensor], ...]):  # type: ignore[no-untyped-def]
    results = []
    for t in _each(tensors, op):
        if t.ndim >= n:
            results.append(t)
            continue
        if n >= 1 and t.ndim == 0:
            t = t.reshape(1)
        if n >= 2 and t.ndim == 1:
            t = t.unsqueeze(0)
        if n >= 3 and t.ndim == 2:
            t = t.unsqueeze(-1)
        results.append(t)
    single = len(tensors) == 1 and isinstance(tensors[0], Tensor)
    return results[0] if single else tuple(results)


def atleast_1d(*tensors: Tensor | Sequence[Tensor]):  # type: ignore[no-untyped-def]
    """Tensors without dimensions as tensors of one; others as they are.

    Example:
        >>> import zero
        >>> zero.atleast_1d(zero.tensor(1.0))
        tensor([1.])
    """
    return _at_least("atleast_1d", 1, tensors)


def atleast_2d(*tensors: Tensor | Sequence[Tensor]):  # type: ignore[no-untyped-def]
    """Tensors with at least two dimensions: new ones stand in front.

    Example:
        >>> import zero
        >>> zero.atleast_2d(zero.tensor([1.0, 2.0]))
        tensor([[1., 2.]])
    """
    return _at_least("atleast_2d", 2, tensors)


def atleast_3d(*tensors: Tensor | Sequence[Tensor]):  # type: ignore[no-untyped-def]
    """Tensors with at least three dimensions: those of a matrix stand in front of the new one.

    Example:
        >>> import zero
        >>> zero.atleast_3d(zero.tensor([1.0, 2.0])).shape
        zero.Size([1, 2, 1])
    """
    return _at_least("atleast_3d", 3, tensors)


def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors side by side: along the columns, or the only dimension.

    Example:
        >>> import zero
        >>> zero.hstack((zero.tensor([1]), zero.tensor([2, 3]))).tolist()
        [1, 2, 3]
    """
    parts = list(_at_least("hstack", 1, (tensors,)))
    return zero.cat(parts, 0 if parts and parts[0].ndim == 1 else 1, out=out)


def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors one below the other: along the rows; vectors are rows.

    Example:
        >>> import zero
        >>> zero.vstack((zero.tensor([1, 2]), zero.tensor([3, 4]))).tolist()
        [[1, 2], [3, 4]]
    """
    return zero.cat(list(_at_least("vstack", 2, (tensors,))), 0, out=out)


def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors one behind the other: along the third dimension.

    Example:
        >>> import zero
        >>> zero.dstack((zero.tensor([1, 2]), zero.tensor([3, 4]))).tolist()
        [[[1, 3], [2, 4]]]
    """
    return zero.cat(list(_at_least("dstack", 3, (tensors,))), 2, out=out)


row_stack = vstack


attach(
    repeat,
    fliplr,
    flipud,
    rot90,
    movedim,
    unflatten,
    tile=_tile,
)
_attach("moveaxis", movedim)
