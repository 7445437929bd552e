"""Pooling of :mod:`zero.nn.functional`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import zero
from zero import (
    Tensor,
    _adaptive_avg_pool,
    _adaptive_max_pool,
    _avg_pool,
    _deliver,
    _max_pool,
    adaptive_avg_pool1d,
    avg_pool1d,
)
from zero.autograd import Function
from zero.errors import DTypeError, ShapeError, ValueError

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Ints = int | Sequence[int]
Sizes = int | None | Sequence[int | None]


# ---- the largest element -------------------------------------------------------------------------
def max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """:func:`zero.max_pool1d`, if asked for with the places of the elements.

    Args:
        input: shape [N, C, L] or [C, L], of numbers.
        kernel_size: how many elements a window has.
        stride: from one window to the next; that of None is the kernel_size.
        padding: how far windows reach over both ends; at most half of their length. What is there
            does not count.
        dilation: from one element of a window to the next.
        ceil_mode: whether a last window counts that is not whole.
        return_indices: gives the pair ``(values, indices)``.

    Raises:
        ShapeError: the input has another number of dimensions, or is smaller than the kernel.
        ValueError: the padding is more than half of the kernel; a number is too small.

    Example:
        >>> import zero
        >>> zero.nn.functional.max_pool1d(zero.tensor([[1.0, 3.0, 2.0, 5.0]]), 3, stride=1).tolist()
        [[3.0, 5.0]]
    """
    return _max_pool(
        "max_pool1d",
        1,
        input,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        return_indices,
    )


def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of rows and columns; NaN is larger than all numbers.

    Args:
        input: shape [N, C, H, W] or [C, H, W], of numbers.
        kernel_size: of the windows; this and what follows are one int for both dimensions, or two.
        stride: from one window to the next; that of None is the kernel_size.
        padding: how far windows reach over the borders; at most half of their length. What is there
            does not count.
        dilation: from one element of a window to the next.
        ceil_mode: whether last windows count that are not whole.
        return_indices: gives the pair ``(values, indices)``, with places in the flattened plane.

    Raises:
        ShapeError: the input has another number of dimensions, or is smaller than the kernel.
        ValueError: the padding is more than half of the kernel; a number is too small.

    Example:
        >>> import zero
        >>> x = zero.arange(16.0).view(1, 1, 4, 4)
        >>> zero.nn.functional.max_pool2d(x, 2).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    return _max_pool(
        "max_pool2d",
        2,
        input,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        return_indices,
    )


def max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """:func:`max_pool2d` over three dimensions: input [N, C, D, H, W] or [C, D, H, W]."""
    return _max_pool(
        "max_pool3d",
        3,
        input,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        return_indices,
    )


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """:func:`max_pool1d` with the places of the elements, whatever return_indices is."""
    return max_pool1d(  # type: ignore[no-any-return]  # a pair with indices
        input, kernel_size, stride, padding, dilation, ceil_mode, True
    )


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """:func:`max_pool2d` with the places of the elements, whatever return_indices is."""
    return max_pool2d(  # type: ignore[no-any-return]
        input, kernel_size, stride, padding, dilation, ceil_mode, True
    )


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """:func:`max_pool3d` with the places of the elements, whatever return_indices is."""
    return max_pool3d(  # type: ignore[no-any-return]
        input, kernel_size, stride, padding, dilation, ceil_mode, True
    )


def adaptive_max_pool1d(input: Tensor, output_size: Sizes, return_indices: bool = False) -> Any:
    """The largest element of each of `output_size` windows, which cover the input evenly.

    Window i has the elements from floor(i L / output_size) to ceil((i + 1) L / output_size) - 1.

    Args:
        input: shape [N, C, L] or [C, L], of floats.
        output_size: how many windows; None as many as there are elements.
        return_indices: gives the pair ``(values, indices)``.

    Raises:
        ShapeError: the input has another number of dimensions, or is empty.
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 3.0, 2.0, 5.0]])
        >>> zero.nn.functional.adaptive_max_pool1d(x, 2).tolist()
        [[3.0, 5.0]]
    """
    return _adaptive_max_pool("adaptive_max_pool1d", 1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Tensor, output_size: Sizes, return_indices: bool = False) -> Any:
    """:func:`adaptive_max_pool1d` over rows and columns: input [N, C, H, W] or [C, H, W].

    output_size is one int for both, or two; None keeps a size.
    """
    return _adaptive_max_pool("adaptive_max_pool2d", 2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Tensor, output_size: Sizes, return_indices: bool = False) -> Any:
    """:func:`adaptive_max_pool1d` over three dimensions: input [N, C, D, H, W] or [C, D, H, W].

    output_size is one int for all, or three; None keeps a size.
    """
    return _adaptive_max_pool("adaptive_max_pool3d", 3, input, output_size, return_indices)


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Sizes, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool1d` with the places of the elements."""
    return adaptive_max_pool1d(input, output_size, True)  # type: ignore[no-any-return]


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Sizes, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool2d` with the places of the elements."""
    return adaptive_max_pool2d(input, output_size, True)  # type: ignore[no-any-return]


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Sizes, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool3d` with the places of the elements."""
    return adaptive_max_pool3d(input, output_size, True)  # type: ignore[no-any-return]


# ---- averages ------------------------------------------------------------------------------------
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
    y = _avg_pool(
        "avg_pool2d",
        2,
        input,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    )
    return _deliver(y, out, "avg_pool2d")


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
    y = _avg_pool(
        "avg_pool3d",
        3,
        input,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    )
    return _deliver(y, out, "avg_pool3d")


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
    op: str,
    dims: int,
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None,
    ceil_mode: bool,
) -> Tensor:
    """(sum x^p)^(1/p); of a sum below 0 the root of its magnitude, with its sign taken away."""
    if input.dim() not in (dims + 1, dims + 2):
        raise ShapeError(
            f"{op}: wrong number of dimensions; got {tuple(input.shape)}, expected {dims + 1} or "
            f"{dims + 2}"
        )
    if not input.is_floating_point():
        raise DTypeError(
            f"{op}: not defined for {input.dtype}; got {input.dtype}, expected floating point"
        )
    mean = _avg_pool(op, dims, input.pow(norm_type), kernel_size, stride, 0, ceil_mode, True, None)
    number = kernel_size**dims if isinstance(kernel_size, int) else math.prod(kernel_size)
    return (mean.sign() * mean.abs().relu()).mul(number).pow(1 / norm_type)


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
        norm_type: p; the result of 1 is the sum, and of large ones the largest element.
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
    return _lp_pool("lp_pool1d", 1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """:func:`lp_pool1d` over rows and columns: input [N, C, H, W] or [C, H, W]."""
    return _lp_pool("lp_pool2d", 2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """:func:`lp_pool1d` over three dimensions: input [N, C, D, H, W] or [C, D, H, W]."""
    return _lp_pool("lp_pool3d", 3, input, norm_type, kernel_size, stride, ceil_mode)


# ---- windows at random places --------------------------------------------------------------------
def _several(op: str, name: str, value: Any, n: int) -> tuple[Any, ...]:
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,) * n
    if len(values) != n:
        raise ValueError(
            f"{op}: {name} has the wrong length; got {value!r}, expected a number or {n} numbers"
        )
    return values


def _starts(samples: Tensor, size: int, out: int, kernel: int) -> Tensor:
    """Where the windows of a dimension begin: [..., out], for a number in [0, 1) per plane."""
    if out == 1:
        return samples.new_full((*samples.shape, 1), size - kernel, dtype=zero.int64)
    alpha = (size - kernel) / (out - 1)
    i = zero.arange(out - 1, dtype=samples.dtype, device=samples.device)
    u = samples.unsqueeze(-1)
    starts = ((i + u) * alpha).to(zero.int64) - (u * alpha).to(zero.int64)
    last = starts.new_full((*samples.shape, 1), size - kernel)
    return zero.cat([starts, last], -1)


def _fractional_max_pool(
    op: str,
    n: int,
    input: Tensor,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    samples: Tensor | None,
) -> tuple[Tensor, Tensor]:
    if input.dim() not in (n + 1, n + 2) or 0 in input.shape[-n - 1 :]:
        raise ShapeError(
            f"{op}: wrong shape; got {tuple(input.shape)}, expected {n + 1} or {n + 2} dimensions, "
            "not empty but for the batch"
        )
    if not input.is_floating_point():
        raise DTypeError(
            f"{op}: not defined for {input.dtype}; got {input.dtype}, expected floating point"
        )
    sizes = tuple(input.shape[-n:])
    if output_size is None and output_ratio is None:
        raise ValueError(
            f"{op}: neither output_size nor output_ratio is given; expected one of them"
        )
    if output_size is None:
        ratio = _several(op, "output_ratio", output_ratio, n)
        output_size = [int(size * r) for size, r in zip(sizes, ratio, strict=True)]
    out = _several(op, "output_size", output_size, n)
    kernel = _several(op, "kernel_size", kernel_size, n)
    for size, o, k in zip(sizes, out, kernel, strict=True):
        if k < 1 or o < 1 or o + k - 1 > size:
            raise ShapeError(
                f"{op}: the windows don't fit; got sizes {sizes}, output_size {out} and "
                f"kernel_size {kernel}, expected output_size + kernel_size - 1 <= size"
            )
    x = input if input.dim() == n + 2 else input.unsqueeze(0)
    if samples is None:
        samples = zero.rand(*x.shape[:2], n, dtype=input.dtype, device=input.device)
    samples = samples[: len(x)]
    if samples.dtype != input.dtype or tuple(samples.shape) != (*x.shape[:2], n):
        raise ShapeError(
            f"{op}: the random samples don't fit; got {samples.dtype} {tuple(samples.shape)}, "
            f"expected {input.dtype} {(*x.shape[:2], n)}"
        )
    # The place in the plane of each element of each window: [N, C, *out, *kernel].
    place = zero.zeros((), dtype=zero.int64, device=input.device)
    for d in range(n):
        column = n - 1 - d if n == 2 else d  # PyTorch's: two dimensions take theirs in reverse
        starts = _starts(samples[..., column], sizes[d], out[d], kernel[d])
        inner = zero.arange(kernel[d], device=input.device)
        along = [1] * n
        along[d] = out[d]
        within = [1] * n
        within[d] = kernel[d]
        place = place * sizes[d] + (
            starts.view(*x.shape[:2], *along, *([1] * n)) + inner.view(*within)
        )
    place = place.flatten(2 + n)
    planes = x.flatten(2)
    windows = planes.gather(2, place.flatten(2)).view(place.shape)
    best, choice = windows.max(-1)
    indices = place.gather(-1, choice.unsqueeze(-1)).squeeze(-1)
    return (best, indices) if input.dim() == n + 2 else (best.squeeze(0), indices.squeeze(0))


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """:func:`fractional_max_pool2d` with the places of the elements."""
    return _fractional_max_pool(
        "fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, _random_samples
    )


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """:func:`fractional_max_pool3d` with the places of the elements."""
    return _fractional_max_pool(
        "fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, _random_samples
    )


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest element of each window; the windows begin at random steps of two lengths.

    So sizes shrink by a factor that need not be whole, as alpha = (size - kernel) / (out - 1).

    Args:
        input: shape [N, C, H, W] or [C, H, W], of floats.
        kernel_size: of the windows, one int for both dimensions or two.
        output_size: of the result, likewise.
        output_ratio: that of the sizes of result and input, in its place.
        return_indices: gives the pair ``(values, indices)``, with places in the flattened plane.
        _random_samples: numbers in [0, 1) in place of those that are drawn, [N, C, 2].

    Raises:
        ShapeError: windows don't fit into the input.
        ValueError: neither output_size nor output_ratio is given.

    Example:
        >>> import zero
        >>> x = zero.rand(1, 1, 9, 9)
        >>> zero.nn.functional.fractional_max_pool2d(x, 2, output_ratio=0.7).shape
        zero.Size([1, 1, 6, 6])

    Source: Graham, Fractional max-pooling, 2014.
    """
    both = fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )
    return both if return_indices else both[0]


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """:func:`fractional_max_pool2d` for three dimensions: [N, C, D, H, W] or [C, D, H, W]."""
    both = fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )
    return both if return_indices else both[0]


# ---- back to the larger size ---------------------------------------------------------------------
class _Unpooling(Function):
    """A scatter whose gradient goes, as PyTorch's, to all elements that are for one place."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, indices: Tensor, total: int) -> Tensor:
        ctx.save_for_backward(indices)
        return input.new_zeros((*input.shape[:-1], total)).scatter_(-1, indices, input)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (indices,) = ctx.saved_tensors
        return gradient.gather(-1, indices), None, None


def _max_unpool(
    op: str,
    n: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None,
    padding: Ints,
    output_size: Sequence[int] | None,
) -> Tensor:
    if input.dim() not in (n + 1, n + 2) or 0 in input.shape[-n:]:
        raise ShapeError(
            f"{op}: wrong shape; got {tuple(input.shape)}, expected {n + 1} or {n + 2} dimensions, "
            "not empty but for batch and channels"
        )
    if indices.dtype != zero.int64:
        raise DTypeError(f"{op}: indices are not int64; got {indices.dtype}, expected int64")
    if indices.shape != input.shape:
        raise ShapeError(
            f"{op}: the indices don't fit; got {tuple(indices.shape)}, expected "
            f"{tuple(input.shape)}"
        )
    kernel = _several(op, "kernel_size", kernel_size, n)
    steps = kernel if stride is None else _several(op, "stride", stride, n)
    pads = _several(op, "padding", padding, n)
    sizes = [
        (size - 1) * s + k - 2 * p
        for size, s, k, p in zip(input.shape[-n:], steps, kernel, pads, strict=True)
    ]
    if output_size is not None:
        wanted = list(output_size)[-n:]
        fits = len(output_size) in (n, n + 2) and all(
            d - s < w < d + s for w, d, s in zip(wanted, sizes, steps, strict=True)
        )
        if not fits:
            raise ValueError(
                f"{op}: output_size doesn't fit; got {tuple(output_size)}, expected less than one "
                f"stride from {tuple(sizes)}"
            )
        sizes = wanted
    if min(sizes) < 0:
        raise ShapeError(f"{op}: a size is negative; got {tuple(sizes)}, expected 0 or more")
    total = math.prod(sizes)
    if indices.numel() > 0 and not indices.is_meta:
        low, high = int(indices.min()), int(indices.max())
        if low < 0 or high >= total:
            raise zero.errors.IndexError(
                f"{op}: an index is out of range; got {low if low < 0 else high}, expected 0 to "
                f"{total - 1}"
            )
    shape = input.shape[:-n]
    y = _Unpooling.apply(input.flatten(-n), indices.flatten(-n), total)
    return y.view(*shape, *sizes)  # type: ignore[no-any-return]


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Puts the results of :func:`max_pool1d` where they came from, among zeros.

    Of several for one place the last one stays.

    Args:
        input: shape [N, C, L] or [C, L].
        indices: the places, int64, of the same shape.
        kernel_size: of the pooling, as the next two.
        stride: None is the kernel_size.
        padding: of the pooling.
        output_size: of the result, if the pooling's input was longer than what its output tells:
            sizes of the last dimensions, or of all.

    Raises:
        ShapeError: the shapes don't fit.
        ValueError: output_size is a stride or more from ``(L - 1) stride - 2 padding + kernel``.
        IndexError: a place is not in the result.

    Example:
        >>> import zero
        >>> F = zero.nn.functional
        >>> y, indices = F.max_pool1d(zero.tensor([[1.0, 3.0, 5.0, 2.0]]), 2, return_indices=True)
        >>> F.max_unpool1d(y, indices, 2).tolist()
        [[0.0, 3.0, 5.0, 0.0]]

    Source: Zeiler and Fergus, Visualizing and understanding convolutional networks, 2014.
    """
    return _max_unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """:func:`max_unpool1d` for rows and columns: input [N, C, H, W] or [C, H, W]."""
    return _max_unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """:func:`max_unpool1d` for three dimensions: input [N, C, D, H, W] or [C, D, H, W]."""
    return _max_unpool("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)
