"""Order statistics, sets and counts composed of sorting and search."""

from __future__ import annotations

import math
from collections.abc import Sequence

import zero
from zero import Tensor, _autocast_float32, _bin_counts, _deliver, _overwrite
from zero._composed.arguments import attach, numpy_names, wrap_dim
from zero.errors import DTypeError, ShapeError, ValueError
from zero.return_types import histogram as _histogram, histogramdd as _histogramdd

__all__ = [
    "diff",
    "histogram",
    "histogramdd",
    "isin",
    "nanquantile",
    "nonzero_static",
    "quantile",
    "renorm",
]

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(
    op: str,
    input: Tensor,
    q: float | Tensor,
    dim: int | None,
    keepdim: bool,
    interpolation: str,
    out: Tensor | None,
) -> Tensor:
    input, q = _autocast_float32(input, q)
    skip_nan = op == "nanquantile"
    if input.dtype not in (zero.float32, zero.float64):
        raise DTypeError(f"{op}: not of float32 or float64; got {input.dtype}")
    if interpolation not in _INTERPOLATIONS:
        raise ValueError(
            f"{op}: unknown interpolation; got {interpolation!r}, expected one of "
            f"{', '.join(_INTERPOLATIONS)}"
        )
    if isinstance(q, Tensor):
        if q.dtype is not input.dtype:
            raise DTypeError(f"{op}: q is of another dtype; got {q.dtype}, expected {input.dtype}")
        if q.ndim > 1:
            raise ShapeError(
                f"{op}: q is not one number or a list; got shape {tuple(q.shape)}, expected at "
                "most 1 dimension"
            )
        every = zero._all_values(q)
        if q.device.type != "meta" and not bool(((every >= 0) & (every <= 1)).all()):
            raise ValueError(f"{op}: q is out of range; got {every.tolist()}, expected 0 to 1")
        many = q.ndim == 1
    else:
        if not 0 <= q <= 1:
            raise ValueError(f"{op}: q is out of range; got {q}, expected 0 to 1")
        many = False
        q = zero.tensor(q, dtype=input.dtype)
    q = q.to(input.device)
    d = 0 if dim is None else wrap_dim(op, dim, input.ndim)
    x = input.reshape(-1) if dim is None or input.ndim == 0 else zero.movedim(input, d, -1)
    n = x.shape[-1]
    if n == 0:
        raise ShapeError(f"{op}: no elements; got shape {tuple(input.shape)}, expected at least 1")

    ordered = zero.sort(x, -1).values
    # Ranks [..., len(q)]; from 2^24 elements on float32 does not hold them.
    if skip_nan:
        last = zero.clamp((n - 1) - zero.isnan(x).sum(-1, True), min=0)
    else:
        last = zero.full((1,) * x.ndim, n - 1, device=x.device)
    wide = zero.float64 if n > 2**24 else input.dtype
    ranks = q.reshape(-1).to(wide) * last.to(wide)
    if interpolation == "lower":
        ranks = zero.floor(ranks)
    elif interpolation == "higher":
        ranks = zero.ceil(ranks)
    elif interpolation == "nearest":
        ranks = zero.round(ranks)
    if not skip_nan:  # a row with nan, which then stands last, has no other quantile
        ranks = zero.where(zero.isnan(ordered[..., -1:]), float(n - 1), ranks)
    ranks = ranks.expand(*x.shape[:-1], ranks.shape[-1])
    below = zero.floor(ranks.detach())
    y = zero.gather(ordered, -1, below.to(zero.int64))
    if interpolation in ("linear", "midpoint"):
        above = zero.gather(ordered, -1, zero.ceil(ranks.detach()).to(zero.int64))
        weight = (ranks - below).to(input.dtype) if interpolation == "linear" else 0.5
        y = zero.lerp(y, above, weight)

    if keepdim:
        shape = list(input.shape)
        if dim is None:
            shape = [1] * input.ndim
        elif shape:
            shape[d] = 1
        y = zero.movedim(y, -1, 0).reshape(-1, *shape)
    else:
        y = zero.movedim(y, -1, 0)
    return _deliver(y if many else y[0], out, op)


@numpy_names
def quantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """Quantiles: the elements at ``q (n - 1)`` of n elements in order.

    Between two elements, ``linear`` interpolates, ``midpoint`` takes their mean, ``lower``,
    ``higher`` and ``nearest`` one of them. Where there is a nan, the quantile is nan.

    Args:
        input: any shape, of float32 or float64.
        q: a number from 0 to 1, or a tensor of them without or with one dimension, which then
            comes first in the result.
        dim: the dimension to reduce; all for None.
        keepdim: whether the reduced dimension stays, with size 1.
        interpolation: what lies between two elements.
        out: where to write the result.

    Raises:
        ValueError: `q` is out of range, or the interpolation unknown.
        DTypeError: another dtype.

    Example:
        >>> import zero
        >>> zero.quantile(zero.tensor([0.0, 1.0, 2.0, 3.0]), 0.5).item()
        1.5

    Source: definition 7 of Hyndman and Fan, Sample quantiles in statistical packages, 1996.
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, out)


@numpy_names
def nanquantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """Quantiles, as :func:`zero.quantile`, of the elements that are not nan.

    Args:
        input: any shape, of float32 or float64.
        q: a number from 0 to 1, or a tensor of them without or with one dimension.
        dim: the dimension to reduce; all for None.
        keepdim: whether the reduced dimension stays, with size 1.
        interpolation: "linear", "lower", "higher", "midpoint" or "nearest".
        out: where to write the result.

    Raises:
        ValueError: `q` is out of range, or the interpolation unknown.
        DTypeError: another dtype.

    Example:
        >>> import zero
        >>> zero.nanquantile(zero.tensor([0.0, float("nan"), 1.0]), 0.5).item()
        0.5
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, out)


def isin(
    elements: Tensor | float,
    test_elements: Tensor | float,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Whether each element is one of others.

    Args:
        elements: any shape, or a number.
        test_elements: any shape, or a number; not both are numbers.
        assume_unique: makes no difference: nothing is gained by it.
        invert: whether to ask for what is not among the others.
        out: where to write the result.

    Returns:
        A bool tensor of the shape of `elements`.

    Example:
        >>> import zero
        >>> zero.isin(zero.tensor([1, 2, 3]), zero.tensor([2, 4])).tolist()
        [False, True, False]
    """
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError(
            f"isin: neither is a tensor; got {elements!r} and {test_elements!r}, expected one"
        )
    dtype = zero.result_type(elements, test_elements)
    x = zero.as_tensor(elements, dtype=dtype)
    among = zero.as_tensor(test_elements, dtype=dtype).reshape(-1)
    n = among.numel()
    if n < 10 * x.numel() ** 0.145:  # few: comparisons cost less than searches
        found = zero.zeros_like(x, dtype=zero.bool)
        for other in among.unbind():
            found = found | (x == other)
    else:
        ordered = zero.sort(among).values
        place = zero.searchsorted(ordered, x)
        found = ordered[zero.clamp(place, max=n - 1)] == x
    return _deliver(~found if invert else found, out, "isin")


def _check_values(op: str, x: Tensor) -> None:
    if x.device.type == "meta":
        raise NotImplementedError(
            f"{op}: the result depends on values; got a tensor on meta, expected cpu"
        )


def _edges(op: str, bins: int | Tensor, low: float, high: float, like: Tensor) -> Tensor:
    """The edges of bins along one dimension."""
    if not isinstance(bins, Tensor):
        if bins <= 0:
            raise ValueError(f"{op}: bins is not positive; got {bins}, expected at least 1")
        return zero.linspace(low, high, bins + 1, dtype=like.dtype)
    if bins.ndim != 1 or bins.numel() < 2 or bins.dtype is not like.dtype:
        raise ShapeError(
            f"{op}: the edges are no list of at least two; got {bins.dtype} of shape "
            f"{tuple(bins.shape)}, expected 1 dimension of {like.dtype}"
        )
    return bins.detach().clone()


def _outer_edges(op: str, x: Tensor, given: Sequence[float] | None) -> tuple[float, float]:
    """The range of bins of equal width: given, or that of the elements."""
    if given is not None:
        low, high = float(given[0]), float(given[1])
    elif x.numel() == 0:
        low, high = 0.0, 1.0
    else:
        low, high = float(x.min()), float(x.max())
    if not (math.isfinite(low) and math.isfinite(high)) or low > high:
        raise ValueError(
            f"{op}: the range is not finite, or turned round; got {low} to {high}, expected finite "
            "numbers that rise"
        )
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _count(
    points: Tensor,
    edges: list[Tensor],
    uniform: bool,
    weight: Tensor | None,
    density: bool,
) -> Tensor:
    """Counts of points [n, len(edges)] in the bins between edges."""
    hist = _bin_counts(points, edges, uniform, weight)
    if density:
        volume = zero.ones(())
        for e in edges:
            volume = volume.unsqueeze(-1) * zero.diff(e)
        hist = hist / (hist.sum() * volume.to(hist.dtype))
    return hist


def _checked_weight(op: str, input: Tensor, shape: zero.Size, weight: Tensor | None) -> None:
    if input.dtype not in (zero.float32, zero.float64):
        raise DTypeError(f"{op}: not of float32 or float64; got {input.dtype}")
    if weight is None:
        return
    if weight.shape != shape:
        raise ShapeError(
            f"{op}: not one weight per point; got weights {tuple(weight.shape)}, expected "
            f"{tuple(shape)}"
        )
    if weight.dtype is not input.dtype:
        raise DTypeError(f"{op}: dtypes differ; got {weight.dtype} weights, expected {input.dtype}")


def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> _histogram:
    """How many elements, or what weight, lie in each of several bins; and the edges of the bins.

    A bin holds its left edge, the last one its right edge, too. Elements outside are not counted.

    Args:
        input: any shape, of float32 or float64.
        bins: how many bins of equal width, or the edges, which rise.
        range: the outer edges; the smallest and the largest element for None.
        weight: a weight per element.
        density: whether counts become densities, whose integral over the bins is 1.
        out: a pair of tensors to write to.

    Returns:
        The pair ``(hist, bin_edges)``.

    Example:
        >>> import zero
        >>> hist, edges = zero.histogram(zero.tensor([1.0, 2.0, 1.0]), bins=2)
        >>> hist.tolist(), edges.tolist()
        ([2.0, 1.0], [1.0, 1.5, 2.0])
    """
    op = "histogram"
    _check_values(op, input)
    _checked_weight(op, input, input.shape, weight)
    if isinstance(bins, Tensor) and range is not None:
        raise TypeError("histogram: range is given with edges; expected one of them")
    x = input.detach().reshape(-1)
    low, high = (0.0, 1.0) if isinstance(bins, Tensor) else _outer_edges(op, x, range)
    edges = _edges(op, bins, low, high, x)
    hist = _count(x.unsqueeze(1), [edges], not isinstance(bins, Tensor), weight, density)
    if out is not None:
        return _histogram((_deliver(hist, out[0], op), _deliver(edges, out[1], op)))
    return _histogram((hist, edges))


def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> _histogramdd:
    """How many points, or what weight, lie in each bin of a grid; and the edges of the grid.

    Args:
        input: shape [..., D]: points with D coordinates, of float32 or float64.
        bins: how many bins along each dimension, one number or D; or D tensors of edges.
        range: two outer edges for each dimension, one after the other; the smallest and the
            largest coordinates for None.
        weight: shape [...], a weight per point.
        density: whether counts become densities, whose integral over the grid is 1.

    Returns:
        The pair ``(hist, bin_edges)`` of a tensor with D dimensions and a tuple of D lists.

    Example:
        >>> import zero
        >>> points = zero.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> zero.histogramdd(points, bins=[2, 2]).hist.tolist()
        [[0.0, 1.0], [1.0, 1.0]]
    """
    op = "histogramdd"
    _check_values(op, input)
    if input.ndim < 2:
        raise ShapeError(
            f"{op}: not points; got shape {tuple(input.shape)}, expected at least 2 dimensions"
        )
    _checked_weight(op, input, input.shape[:-1], weight)
    size = input.shape[-1]
    along: list[int | Tensor] = [bins] * size if isinstance(bins, int) else list(bins)
    if len(along) != size:
        raise ShapeError(
            f"{op}: not one entry of bins per dimension; got {len(along)}, expected {size}"
        )
    if range is not None and len(range) != 2 * size:
        raise ShapeError(
            f"{op}: not two edges per dimension; got {len(range)} numbers, expected {2 * size}"
        )
    points = input.detach().reshape(-1, size)
    edges = []
    for d, b in enumerate(along):
        if isinstance(b, Tensor):
            edges.append(_edges(op, b, 0, 1, points))
        else:
            given = None if range is None else range[2 * d : 2 * d + 2]
            edges.append(_edges(op, b, *_outer_edges(op, points[:, d], given), points))
    uniform = not any(isinstance(b, Tensor) for b in along)
    return _histogramdd((_count(points, edges, uniform, weight, density), tuple(edges)))


@numpy_names
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along a dimension: ``y[i] = x[i + 1] - x[i]``, n times in a row.

    Args:
        input: any shape with at least one dimension.
        n: how often; 0 gives a copy.
        dim: the dimension.
        prepend: what to put before the elements first.
        append: what to put behind them.
        out: where to write the result.

    Raises:
        ShapeError: a tensor without dimensions, or a part that does not fit.

    Example:
        >>> import zero
        >>> zero.diff(zero.tensor([1, 3, 2])).tolist()
        [2, -1]
    """
    if input.ndim == 0:
        raise ShapeError("diff: a number has no neighbours; got shape (), expected 1 dimension")
    if n < 0:
        raise ValueError(f"diff: n is negative; got {n}, expected at least 0")
    d = wrap_dim("diff", dim, input.ndim)
    parts = [t for t in (prepend, input, append) if t is not None]
    if any(t.ndim != input.ndim for t in parts):
        raise ShapeError(
            f"diff: another number of dimensions; got {[tuple(t.shape) for t in parts]}, expected "
            f"{input.ndim} for each"
        )
    x = zero.cat(parts, d) if len(parts) > 1 and n > 0 else input
    for _ in range(min(n, x.shape[d])):
        m = max(x.shape[d] - 1, 0)
        late, early = zero.narrow(x, d, min(1, x.shape[d]), m), zero.narrow(x, d, 0, m)
        x = late ^ early if x.dtype is zero.bool else late - early
    return _deliver(x.clone() if x is input else x, out, "diff")


@numpy_names
def renorm(
    input: Tensor, p: float, dim: int, maxnorm: float, *, out: Tensor | None = None
) -> Tensor:
    """Slices along a dimension, scaled down where their p-norm is above a limit.

    Args:
        input: any shape with at least two dimensions, of floats.
        p: the order of the norm.
        dim: the dimension that the slices are along.
        maxnorm: the limit.
        out: where to write the result.

    Raises:
        ShapeError: less than two dimensions.
        ValueError: `p` is not positive, or `maxnorm` negative.

    Example:
        >>> import zero
        >>> zero.renorm(zero.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
    """
    if p <= 0 or maxnorm < 0:
        raise ValueError(
            f"renorm: the norm or the limit is out of range; got p {p} and maxnorm {maxnorm}, "
            "expected p > 0 and maxnorm >= 0"
        )
    if input.ndim < 2:
        raise ShapeError(
            f"renorm: no slices; got shape {tuple(input.shape)}, expected at least 2 dimensions"
        )
    d = wrap_dim("renorm", dim, input.ndim)
    wide = input.to(zero.float32) if input.dtype in (zero.float16, zero.bfloat16) else input
    norms = zero.norm(wide, p, tuple(k for k in range(input.ndim) if k != d), True)
    scale = zero.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)
    return _deliver((wide * scale).to(input.dtype), out, "renorm")


@numpy_names
def _renorm_(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """:func:`zero.renorm` in place: overwrites the tensor and returns it."""
    x = self.clone() if self.requires_grad else self  # the gradient needs what is overwritten
    return _overwrite(self, renorm(x, p, dim, maxnorm), "renorm_")


def nonzero_static(
    input: Tensor, *, size: int, fill_value: int = -1, out: Tensor | None = None
) -> Tensor:
    """The indices of elements that are not zero, in a result of a size that is known before.

    Args:
        input: any shape.
        size: the number of rows of the result: further elements are left out.
        fill_value: what rows hold that no element is left for.
        out: where to write the result.

    Returns:
        int64, shape [size, input.ndim].

    Example:
        >>> import zero
        >>> zero.nonzero_static(zero.tensor([0, 5, 6]), size=3).tolist()
        [[1], [2], [-1]]
    """
    if size < 0:
        raise ValueError(f"nonzero_static: size is negative; got {size}, expected at least 0")
    if input.device.type == "meta":
        found = zero.empty((size, input.ndim), dtype=zero.int64, device="meta")
    else:
        found = zero.nonzero(input)[:size]
        if len(found) < size:
            rest = zero.full((size - len(found), input.ndim), fill_value, dtype=zero.int64)
            found = zero.cat([found, rest])
    return _deliver(found, out, "nonzero_static")


attach(
    quantile,
    nanquantile,
    histogram,
    diff,
    renorm,
    nonzero_static,
    renorm_=_renorm_,
)
