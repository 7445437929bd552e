"""The largest element of windows, and unpooling, of :mod:`zero.nn.functional`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import zero
from zero import (
    Tensor,
    _adaptive_max_pool,
    _autocast_float32,
    _fractional_max_pool,
    _max_pool,
)
from zero.autograd import Function
from zero.errors import DTypeError, ShapeError, ValueError
from zero.nn import _options

__all__ = [
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
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
        "max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
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
        "max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
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
        "max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
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


# ---- windows at random places --------------------------------------------------------------------
def _at_random(
    n: int,
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None,
    output_ratio: float | Sequence[float] | None,
    samples: Tensor | None,
    indices: bool,
) -> Any:
    op = f"fractional_max_pool{n}d"
    if output_size is None:
        if output_ratio is None:
            raise ValueError(
                f"{op}: neither output_size nor output_ratio is given; expected one of them"
            )
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * n
        if len(ratios) != n:
            raise ValueError(
                f"{op}: output_ratio has the wrong length; got {output_ratio}, expected a number "
                f"or {n} numbers"
            )
        # (The operator refuses an input of fewer dimensions.)
        output_size = [int(size * r) for size, r in zip(input.shape[-n:], ratios, strict=False)]
    return _fractional_max_pool(op, n, input, kernel_size, output_size, samples, indices)


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """:func:`fractional_max_pool2d` with the places of the elements, whatever return_indices is."""
    return fractional_max_pool2d(  # type: ignore[no-any-return]
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """:func:`fractional_max_pool3d` with the places of the elements, whatever return_indices is."""
    return fractional_max_pool3d(  # type: ignore[no-any-return]
        input, kernel_size, output_size, output_ratio, True, _random_samples
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
        _random_samples: numbers from 0 to 1 in place of those that are drawn, [N, C, 2].

    Raises:
        ShapeError: windows don't fit into the input, or the samples to it.
        ValueError: neither output_size nor output_ratio is given; a sample is NaN or beyond 1e9.
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> x = zero.rand(1, 1, 9, 9)
        >>> zero.nn.functional.fractional_max_pool2d(x, 2, output_ratio=0.7).shape
        zero.Size([1, 1, 6, 6])

    Source: Graham, Fractional max-pooling, 2014.
    """
    return _at_random(
        2, input, kernel_size, output_size, output_ratio, _random_samples, return_indices
    )


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """:func:`fractional_max_pool2d` for three dimensions: [N, C, D, H, W] or [C, D, H, W]."""
    return _at_random(
        3, input, kernel_size, output_size, output_ratio, _random_samples, return_indices
    )


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
    n: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None,
    padding: Ints,
    output_size: Sequence[int] | None,
) -> Tensor:
    op = f"max_unpool{n}d"
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
    kernel = _options.numbers(op, "kernel_size", kernel_size, n)
    steps = kernel if stride is None else _options.numbers(op, "stride", stride, n)
    pads = _options.numbers(op, "padding", padding, n)
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
        every = zero._all_values(indices)
        low, high = int(every.min()), int(every.max())
        if low < 0 or high >= total:
            raise zero.errors.IndexError(
                f"{op}: an index is out of range; got {low if low < 0 else high}, expected 0 to "
                f"{total - 1}"
            )
    (input,) = _autocast_float32(input)
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
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """:func:`max_unpool1d` for rows and columns: input [N, C, H, W] or [C, H, W]."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """:func:`max_unpool1d` for three dimensions: input [N, C, D, H, W] or [C, D, H, W]."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)
