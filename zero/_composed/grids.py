"""Combinations of elements, block matrices, differences and integrals on grids."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Tensor, _attach
from zero._composed.arguments import Ints, as_ints, numpy_names, part, wrap_dim
from zero.errors import DTypeError, ShapeError, ValueError

__all__ = [
    "argwhere",
    "block_diag",
    "cartesian_prod",
    "column_stack",
    "combinations",
    "cumulative_trapezoid",
    "gradient",
    "trapezoid",
    "trapz",
    "vander",
]


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one element from each tensor, the last of which changes fastest.

    Args:
        *tensors: 1-d tensors of one dtype.

    Returns:
        A row per combination; of a single tensor, the tensor.

    Raises:
        ShapeError: a tensor has not one dimension.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> zero.cartesian_prod(zero.tensor([1, 2]), zero.tensor([3, 4])).tolist()
        [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    if not tensors:
        raise TypeError("cartesian_prod: no tensors; got none, expected at least one")
    for t in tensors:
        if t.ndim != 1:
            raise ShapeError(
                f"cartesian_prod: not one dimension; got {tuple(t.shape)}, expected 1-d tensors"
            )
        if t.dtype is not tensors[0].dtype:
            raise DTypeError(
                f"cartesian_prod: dtypes differ; got {tensors[0].dtype} and {t.dtype}, expected one"
            )
    if len(tensors) == 1:
        return tensors[0]
    return zero.stack(zero.meshgrid(*tensors, indexing="ij"), -1).view(-1, len(tensors))


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements in their order, as itertools has them.

    Args:
        input: a 1-d tensor.
        r: how many elements.
        with_replacement: whether an element may be chosen several times.

    Returns:
        A row of r elements per choice; for ``r=0`` a tensor without elements.

    Raises:
        ShapeError: the tensor has not one dimension.
        ValueError: r is negative.

    Example:
        >>> import zero
        >>> zero.combinations(zero.tensor([1, 2, 3])).tolist()
        [[1, 2], [1, 3], [2, 3]]
    """
    if input.ndim != 1:
        raise ShapeError(
            f"combinations: not one dimension; got {tuple(input.shape)}, expected a 1-d tensor"
        )
    if r < 0:
        raise zero.errors.ValueError(f"combinations: r is negative; got {r}, expected r >= 0")
    if r == 0:
        return zero.empty(0, dtype=input.dtype, device=input.device)
    n, apart = input.shape[0], 0 if with_replacement else 1
    # Column by column: after an element at i come those from i + apart on.
    columns = [zero.arange(n)]
    for _ in range(r - 1):
        last = columns[-1]
        counts = (n - apart - last).clamp(min=0)
        row = zero.repeat_interleave(counts)
        first = zero.cumsum(counts, 0) - counts
        columns = [c[row] for c in columns]
        columns.append(zero.arange(len(row)) - first[row] + columns[-1] + apart)
    return zero.stack([input[c] for c in columns], 1)


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given ones along its diagonal, and zeros elsewhere.

    Args:
        *tensors: matrices; vectors are rows, numbers are matrices of one element.

    Raises:
        ShapeError: a tensor has more than two dimensions.

    Example:
        >>> import zero
        >>> zero.block_diag(zero.tensor([[1, 2]]), zero.tensor(3)).tolist()
        [[1, 2, 0], [0, 0, 3]]
    """
    if not tensors:
        return zero.empty(1, 0)
    blocks = []
    for t in tensors:
        if t.ndim > 2:
            raise ShapeError(
                f"block_diag: more than two dimensions; got {tuple(t.shape)}, expected matrices"
            )
        blocks.append(zero.atleast_2d(t))
    width, left, bands = sum(b.shape[1] for b in blocks), 0, []
    for b in blocks:
        rows, columns = b.shape
        right = width - left - columns
        bands.append(
            zero.cat([b.new_zeros(rows, left), b, b.new_zeros(rows, right)], 1)
            if left or right
            else b
        )
        left += columns
    return zero.cat(bands, 0)


def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors side by side as columns: 1-d tensors are columns, others are joined along dim 1.

    Args:
        tensors: a list of tensors.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.column_stack((zero.tensor([1, 2]), zero.tensor([3, 4]))).tolist()
        [[1, 3], [2, 4]]
    """
    columns = [t.reshape(t.numel(), 1) if t.ndim < 2 else t for t in tensors]
    return zero.cat(columns, 1, out=out)


def argwhere(input: Tensor) -> Tensor:
    """The indices of the elements that are not zero, a row per element: :func:`nonzero`.

    Args:
        input: any shape.

    Example:
        >>> import zero
        >>> zero.argwhere(zero.tensor([[1, 0], [0, 2]])).tolist()
        [[0, 0], [1, 1]]
    """
    return zero.nonzero(input)


def _at(x: Tensor, d: int, i: int) -> Tensor:
    """One place, whose dimension stays."""
    return part(x, d, i, i + 1 or None)


def _even_gradient(x: Tensor, d: int, step: float, order: int) -> Tensor:
    if order == 1:
        first, last = _at(x, d, 1) - _at(x, d, 0), _at(x, d, -1) - _at(x, d, -2)
    else:
        first = -1.5 * _at(x, d, 0) + 2 * _at(x, d, 1) - 0.5 * _at(x, d, 2)
        last = 0.5 * _at(x, d, -3) - 2 * _at(x, d, -2) + 1.5 * _at(x, d, -1)
    inner = (part(x, d, 2, None) - part(x, d, None, -2)) / step / 2
    return zero.cat([first / step, inner, last / step], d)


def _uneven_gradient(x: Tensor, d: int, at: Tensor, order: int) -> Tensor:
    """Second order inside: the slope of the parabola through three neighbours."""
    shape = [1] * x.ndim
    shape[d] = -1
    step = (at[1:] - at[:-1]).reshape(shape)
    a, b = part(step, d, None, -1), part(step, d, 1, None)
    inner = (
        part(x, d, None, -2) * (-b / (a * (a + b)))
        + part(x, d, 1, -1) * ((b - a) / (a * b))
        + part(x, d, 2, None) * (a / (b * (a + b)))
    )
    if order == 1:
        first = (_at(x, d, 1) - _at(x, d, 0)) / _at(step, d, 0)
        last = (_at(x, d, -1) - _at(x, d, -2)) / _at(step, d, -1)
    else:
        a, b = _at(step, d, 0), _at(step, d, 1)
        first = (
            _at(x, d, 0) * (-(2 * a + b) / (a * (a + b)))
            + _at(x, d, 1) * ((a + b) / (a * b))
            - _at(x, d, 2) * (a / (b * (a + b)))
        )
        a, b = _at(step, d, -2), _at(step, d, -1)
        last = (
            _at(x, d, -3) * (b / (a * (a + b)))
            - _at(x, d, -2) * ((a + b) / (a * b))
            + _at(x, d, -1) * ((2 * b + a) / (b * (a + b)))
        )
    return zero.cat([first, inner, last], d)


@numpy_names
def gradient(
    input: Tensor,
    *,
    spacing: float | Sequence[float] | Sequence[Tensor] | Tensor | None = 1,
    dim: Ints | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """The derivative of a sampled function along dimensions, by central differences.

    Inside, ``(x[i + 1] - x[i - 1]) / 2h``, or the slope of the parabola through three points at
    uneven distances; at the borders, one-sided differences.

    Args:
        input: the samples; integers give float results.
        spacing: the distance h of the samples: one number, one per dimension, or the coordinates
            along each dimension as 1-d tensors.
        dim: the dimension or dimensions; all by default.
        edge_order: 1 or 2: the order of the error at the borders.

    Returns:
        A tensor of the shape of `input` per dimension.

    Raises:
        ShapeError: a dimension is smaller than ``edge_order + 1``, or coordinates don't fit.
        ValueError: another edge_order.

    Example:
        >>> import zero
        >>> zero.gradient(zero.tensor([1.0, 4.0, 9.0, 16.0]))
        (tensor([3., 4., 6., 7.]),)
    """
    op = "gradient"
    if edge_order not in (1, 2):
        raise zero.errors.ValueError(f"{op}: no such edge_order; got {edge_order}, expected 1 or 2")
    if spacing is None:
        spacing = 1
    if isinstance(spacing, Tensor):
        spacing = [spacing]
    each = list(spacing) if isinstance(spacing, (tuple, list)) else None
    wanted = range(input.ndim) if dim is None else as_ints(op, "dim", dim)
    dims = [wrap_dim(op, d, input.ndim) for d in wanted]
    if len(set(dims)) != len(dims):
        raise ShapeError(f"{op}: a dimension is repeated; got {dim}, expected each once")
    if each is not None and len(each) != len(dims):
        raise ShapeError(
            f"{op}: not one spacing per dimension; got {len(each)}, expected {len(dims)}"
        )
    found: list[Tensor] = []
    for i, d in enumerate(dims):
        n = input.shape[d] if input.ndim else 0
        if n < edge_order + 1:
            raise ShapeError(
                f"{op}: a dimension is too small; got size {n}, expected at least {edge_order + 1}"
            )
        step = spacing if each is None else each[i]
        if isinstance(step, Tensor) and step.ndim:
            if step.ndim != 1 or step.shape[0] != n:
                raise ShapeError(
                    f"{op}: coordinates don't fit; got {tuple(step.shape)}, expected ({n},)"
                )
            found.append(_uneven_gradient(input, d, step, edge_order))
        else:
            found.append(_even_gradient(input, d, step, edge_order))  # type: ignore[arg-type]
    return tuple(found)


def _steps(op: str, y: Tensor, x: Tensor | None, dx: float | None, d: int) -> Tensor | float:
    """The distances of neighbours along d, which broadcast with y."""
    for t in (y, x):
        if t is not None and t.dtype is zero.bool:
            raise DTypeError(f"{op}: not defined for bool; got a bool tensor, expected numbers")
    if x is None:
        return 1 if dx is None else dx
    if dx is not None:
        raise TypeError(f"{op}: both x and dx are given; expected one of them")
    if x.ndim == 1:
        if x.shape[0] != y.shape[d]:
            raise ShapeError(
                f"{op}: x does not fit; got {x.shape[0]} coordinates, expected {y.shape[d]}"
            )
        return (x[1:] - x[:-1]).reshape([-1] + [1] * (y.ndim - 1 - d))
    if x.ndim < y.ndim:
        x = x.reshape([1] * (y.ndim - x.ndim) + list(x.shape))
    return part(x, d, 1, None) - part(x, d, None, -1)


@numpy_names
def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """The integral of samples along a dimension by the trapezoidal rule: the sum of
    ``(x[i + 1] - x[i]) (y[i] + y[i + 1]) / 2``.

    Args:
        y: the samples.
        x: their coordinates: 1-d, or a shape that broadcasts with that of `y`.
        dx: the distance of the samples, instead of x; 1 by default.
        dim: the dimension.

    Raises:
        ShapeError: x does not fit.

    Example:
        >>> import zero
        >>> zero.trapezoid(zero.tensor([1.0, 5.0, 10.0]))
        tensor(10.5000)
    """
    d = wrap_dim("trapezoid", dim, y.ndim)
    step = _steps("trapezoid", y, x, dx, d)
    if y.shape[d] == 0:
        return zero.sum(y / 2, d)
    if isinstance(step, Tensor):
        return zero.sum((part(y, d, None, -1) + part(y, d, 1, None)) * step, d) / 2
    ends = zero.select(y, d, 0) + zero.select(y, d, -1)
    return (zero.sum(y, d) - ends * 0.5) * step


@numpy_names
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """The running integral of samples along a dimension by the trapezoidal rule.

    Args:
        y: the samples.
        x: their coordinates: 1-d, or a shape that broadcasts with that of `y`.
        dx: the distance of the samples, instead of x; 1 by default.
        dim: the dimension, which becomes smaller by one.

    Raises:
        ShapeError: x does not fit.

    Example:
        >>> import zero
        >>> zero.cumulative_trapezoid(zero.tensor([1.0, 5.0, 10.0]))
        tensor([ 3.0000, 10.5000])
    """
    d = wrap_dim("cumulative_trapezoid", dim, y.ndim)
    step = _steps("cumulative_trapezoid", y, x, dx, d)
    pairs = part(y, d, None, -1) + part(y, d, 1, None)
    if isinstance(step, Tensor):
        return zero.cumsum(pairs * step, d) / 2
    return zero.cumsum(pairs, d) * (step / 2)


trapz = trapezoid

_attach("argwhere", argwhere)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Vandermonde's matrix: the powers of each number, ``y[i, j] = x_i^(N - 1 - j)``.

    Args:
        x: 1-d.
        N: the number of columns; as many as rows for None.
        increasing: whether the powers rise from column to column.

    Raises:
        ShapeError: x has not one dimension.
        ValueError: N is negative.

    Example:
        >>> import zero
        >>> zero.vander(zero.tensor([1, 2, 3])).tolist()
        [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    """
    if x.ndim != 1:
        raise ShapeError(f"vander: not one dimension; got {tuple(x.shape)}, expected a 1-d tensor")
    n = len(x) if N is None else N
    if n < 0:
        raise ValueError(f"vander: N is negative; got {n}, expected 0 or more")
    if x.dtype is zero.bool:
        x = x.long()
    ones = x.new_ones((len(x), min(n, 1)))
    factors = zero.cat([ones, x.unsqueeze(1).expand(-1, max(n - 1, 0))], 1)
    y = zero.cumprod(factors, 1, dtype=None if x.is_floating_point() else zero.int64)
    return y if increasing else y.flip(1)
