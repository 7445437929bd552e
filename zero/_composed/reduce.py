"""Reductions composed of others."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Tensor, _autocast_float32, _deliver
from zero._composed.arguments import attach, numpy_names
from zero.return_types import aminmax as _aminmax

__all__ = [
    "aminmax",
    "nanmean",
    "std_mean",
    "trace",
    "var_mean",
]

Dim = int | Sequence[int] | None


@numpy_names
def nanmean(
    input: Tensor,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: zero.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of the elements that are not nan; nan where there are none.

    Args:
        input: any shape, of floats.
        dim: the dimension or dimensions to reduce; all for None.
        keepdim: whether reduced dimensions stay, with size 1.
        dtype: what the elements become first.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.nanmean(zero.tensor([1.0, float("nan"), 2.0])).item()
        1.5
    """
    if not input.is_floating_point():
        raise zero.errors.DTypeError(
            f"nanmean: only floating point dtypes have nan; got {input.dtype}, expected floats"
        )
    known = zero.sum(~zero.isnan(input), dim, keepdim)
    return _deliver(zero.nansum(input, dim, keepdim, dtype=dtype) / known, out, "nanmean")


@numpy_names
def aminmax(
    input: Tensor,
    *,
    dim: int | None = None,
    keepdim: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> _aminmax:
    """The smallest and the largest elements, as a pair ``(min, max)``.

    Args:
        input: any shape, not empty.
        dim: the dimension to reduce; all for None.
        keepdim: whether the reduced dimension stays, with size 1.
        out: a pair of tensors to write to.

    Example:
        >>> import zero
        >>> zero.aminmax(zero.tensor([3, 1, 2])).max.item()
        3
    """
    least, most = zero.amin(input, dim, keepdim), zero.amax(input, dim, keepdim)
    if out is not None:
        first, second = out
        if first.dtype is not input.dtype or second.dtype is not input.dtype:
            raise zero.errors.DTypeError(
                f"aminmax: out has another dtype; got {first.dtype} and {second.dtype}, expected "
                f"{input.dtype}"
            )
        least, most = _deliver(least, first, "aminmax"), _deliver(most, second, "aminmax")
    return _aminmax((least, most))


@numpy_names
def var_mean(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean, as :func:`zero.var` and :func:`zero.mean` give them.

    Args:
        input: any shape, of floats.
        dim: the dimension or dimensions to reduce; all for None.
        unbiased: True is ``correction=1``, False is ``correction=0``.
        keepdim: whether reduced dimensions stay, with size 1.
        correction: what is taken from the number of elements; 1 for None.

    Example:
        >>> import zero
        >>> var, mean = zero.var_mean(zero.tensor([1.0, 1.0, 4.0]))
        >>> var.item(), mean.item()
        (3.0, 2.0)
    """
    var = zero.var(input, dim, unbiased, keepdim, correction=correction)
    return var, zero.mean(input, None if isinstance(dim, bool) else dim, keepdim)


@numpy_names
def std_mean(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean, as :func:`zero.std` and :func:`zero.mean` give them.

    Args:
        input: any shape, of floats.
        dim: the dimension or dimensions to reduce; all for None.
        unbiased: True is ``correction=1``, False is ``correction=0``.
        keepdim: whether reduced dimensions stay, with size 1.
        correction: what is taken from the number of elements; 1 for None.

    Example:
        >>> import zero
        >>> std, mean = zero.std_mean(zero.tensor([1.0, 3.0, 5.0]))
        >>> std.item(), mean.item()
        (2.0, 3.0)
    """
    std = zero.std(input, dim, unbiased, keepdim, correction=correction)
    return std, zero.mean(input, None if isinstance(dim, bool) else dim, keepdim)


def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix.

    Args:
        input: shape [I, J].

    Example:
        >>> import zero
        >>> zero.trace(zero.tensor([[1.0, 2.0], [3.0, 4.0]])).item()
        5.0
    """
    if input.ndim != 2:
        raise zero.errors.ShapeError(
            f"trace: not a matrix; got {tuple(input.shape)}, expected two dimensions"
        )
    (input,) = _autocast_float32(input)
    return zero.sum(zero.diagonal(input))


attach(nanmean, aminmax, trace)
