"""Averages and norms of windows, of :mod:`zero.nn.functional`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from zero import (
    Tensor,
    _adaptive_avg_pool,
    _avg_pool,
    _deliver,
    _max_pool,
    adaptive_avg_pool1d,
    avg_pool1d,
)
from zero.errors import DTypeError, ShapeError
from zero.nn import _options

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
]


Ints = int | Sequence[int]
Sizes = int | None | Sequence[int | None]


def avg_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The average of each window of rows and columns; places of the padding are 0.

    Args:
        input: shape [N, C, H, W] or [C, H, W], of numbers.
        kernel_size: of the windows; this and what follows are one int for both dimensions, or two.
        stride: from one window to the next; that of None is the kernel_size.
        padding: how far windows reach over the borders; at most half of their length.
        ceil_mode: whether last windows count that are not whole; what lies behind the padding is no
            part of them.
        count_include_pad: False divides by the number of elements that are in the input.
        divisor_override: divides by this number instead.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the input has another number of dimensions, or is smaller than the kernel.
        ValueError: the padding is more than half of the kernel; a number is too small; the divisor
            is 0.

    Example:
        >>> import zero
        >>> x = zero.arange(16.0).view(1, 1, 4, 4)
        >>> zero.nn.functional.avg_pool2d(x, 2).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    op = "avg_pool2d"
    y = _avg_pool(
        op, 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    return _deliver(y, out, op)


def avg_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """:func:`avg_pool2d` over three dimensions: input [N, C, D, H, W] or [C, D, H, W]."""
    op = "avg_pool3d"
    y = _avg_pool(
        op, 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    return _deliver(y, out, op)


def adaptive_avg_pool2d(input: Tensor, output_size: Sizes) -> Tensor:
    """The average of each of so many windows, which cover the rows and columns evenly.

    Along a dimension of size L window i has the elements from floor(i L / output_size) to
    ceil((i + 1) L / output_size) - 1.

    Args:
        input: shape [N, C, H, W] or [C, H, W], of floats.
        output_size: how many windows, one int for both dimensions or two; None keeps a size.

    Raises:
        ShapeError: the input has another number of dimensions, or is empty.
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> x = zero.arange(16.0).view(1, 1, 4, 4)
        >>> zero.nn.functional.adaptive_avg_pool2d(x, 1).tolist()
        [[[[7.5]]]]
    """
    return _adaptive_avg_pool("adaptive_avg_pool2d", 2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Sizes) -> Tensor:
    """:func:`adaptive_avg_pool2d` over three dimensions: input [N, C, D, H, W] or [C, D, H, W]."""
    return _adaptive_avg_pool("adaptive_avg_pool3d", 3, input, output_size)


def _lp_pool(
    dims: int,
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None,
    ceil_mode: bool,
) -> Tensor:
    op = f"lp_pool{dims}d"
    kernel = _options.numbers(op, "kernel_size", kernel_size, dims)
    if input.dim() not in (dims + 1, dims + 2):
        raise ShapeError(
            f"{op}: wrong number of dimensions; got {tuple(input.shape)}, expected {dims + 1} or "
            f"{dims + 2}"
        )
    if not input.is_floating_point():
        raise DTypeError(
            f"{op}: not defined for {input.dtype}; got {input.dtype}, expected floating point"
        )
    if math.isinf(norm_type):
        sign = math.copysign(1, norm_type)
        sizes = sign * input.abs()
        return sign * _max_pool(op, dims, sizes, kernel, stride, 0, 1, ceil_mode, False)  # type: ignore[no-any-return]
    mean = _avg_pool(op, dims, input.pow(norm_type), kernel, stride, 0, ceil_mode, True, None)
    # The mean itself, in a form whose gradient at 0 is 0 although the root's is infinite.
    return (mean.sign() * mean.abs().relu()).mul(math.prod(kernel)).pow(1 / norm_type)


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The p-norm of each window, but without magnitudes: (sum x^p)^(1/p).

    Args:
        input: shape [N, C, L] or [C, L], of floats.
        norm_type: p; that of 1 is the sum, of inf the largest magnitude, of -inf the smallest one.
        kernel_size: how many elements a window has.
        stride: from one window to the next; that of None is the kernel_size.
        ceil_mode: whether a last window counts that is not whole. Its mean stands for what is not
            there, as in PyTorch.

    Raises:
        ShapeError: the input has another number of dimensions, or is smaller than the kernel.

    Example:
        >>> import zero
        >>> zero.nn.functional.lp_pool1d(zero.tensor([[3.0, 4.0, 6.0, 8.0]]), 2, 2).tolist()
        [[5.0, 10.0]]
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """:func:`lp_pool1d` over rows and columns: input [N, C, H, W] or [C, H, W]."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """:func:`lp_pool1d` over three dimensions: input [N, C, D, H, W] or [C, D, H, W]."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)
