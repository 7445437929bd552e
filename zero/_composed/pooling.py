"""Pooling, padding with a constant: the functions that PyTorch has in its top module."""

from __future__ import annotations

from collections.abc import Sequence

from zero import Tensor, _adaptive_avg_pool, _adaptive_max_pool, _avg_pool, _max_pool, _pad
from zero._composed.arguments import Ints

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_max_pool1d",
    "avg_pool1d",
    "constant_pad_nd",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
]


def max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window; NaN is larger than all numbers.

    ``out[i] = max(input[i * stride - padding + k * dilation] for k < kernel_size)``, where places
    of the padding don't count.

    Args:
        input: shape [N, C, L] or [C, L], of numbers.
        kernel_size: how many elements a window has.
        stride: from one window to the next; that of None or () is the kernel_size.
        padding: how far windows reach over both ends; at most half of their length.
        dilation: from one element of a window to the next.
        ceil_mode: whether a last window counts that is not whole.

    Shape:
        output [N, C, (L + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1], rounded down,
        or up in ceil_mode (a window that would begin in the padding at the end is left out)

    Raises:
        ShapeError: the input has another number of dimensions, or is smaller than the kernel.
        ValueError: the padding is more than half of the kernel; a number is too small.
        DTypeError: the input is of bools.

    Example:
        >>> import zero
        >>> zero.max_pool1d(zero.tensor([[1.0, 3.0, 2.0, 5.0]]), 2).tolist()
        [[3.0, 5.0]]
    """
    return _max_pool(  # type: ignore[no-any-return]  # a pair only with indices
        "max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, False
    )


def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """:func:`max_pool1d` over rows and columns: input [N, C, H, W] or [C, H, W].

    The other arguments are one int for both, or two.
    """
    return _max_pool(  # type: ignore[no-any-return]
        "max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, False
    )


def max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """:func:`max_pool1d` over three dimensions: input [N, C, D, H, W] or [C, D, H, W].

    The other arguments are one int for all, or three.
    """
    return _max_pool(  # type: ignore[no-any-return]
        "max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, False
    )


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """:func:`max_pool1d`, and where each of these elements stands: of equal ones the first.

    Returns:
        The pair ``(values, indices)``; the indices are int64.

    Example:
        >>> import zero
        >>> values, indices = zero.max_pool1d_with_indices(zero.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
        >>> indices.tolist()
        [[1, 3]]
    """
    return _max_pool(  # type: ignore[no-any-return]
        "max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, True
    )


def avg_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The average of each window; places of the padding are 0.

    ``out[i] = mean(input[i * stride - padding + k] for k < kernel_size)``

    Args:
        input: shape [N, C, L] or [C, L], of numbers.
        kernel_size: how many elements a window has.
        stride: from one window to the next; that of None or () is the kernel_size.
        padding: how far windows reach over both ends; at most half of their length.
        ceil_mode: whether a last window counts that is not whole; what lies behind the padding is
            no part of it.
        count_include_pad: False divides by the number of elements that are in the input.

    Shape:
        output as that of :func:`max_pool1d`

    Raises:
        ShapeError: the input has another number of dimensions, or is smaller than the kernel.
        ValueError: the padding is more than half of the kernel; a number is too small.
        DTypeError: the input is of bools.

    Example:
        >>> import zero
        >>> zero.avg_pool1d(zero.tensor([[1.0, 3.0, 2.0, 5.0]]), 2).tolist()
        [[2.0, 3.5]]
    """
    return _avg_pool(
        "avg_pool1d",
        1,
        input,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        None,
    )


def adaptive_avg_pool1d(input: Tensor, output_size: Ints) -> Tensor:
    """The average of each of `output_size` windows, which cover the input evenly.

    Window i has the elements from floor(i L / output_size) to ceil((i + 1) L / output_size) - 1.

    Args:
        input: shape [N, C, L] or [C, L], of floats.
        output_size: how many windows.

    Raises:
        ShapeError: the input has another number of dimensions, or is empty.
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.adaptive_avg_pool1d(zero.tensor([[1.0, 3.0, 2.0, 5.0, 7.0]]), 2).tolist()
        [[2.0, 4.666666507720947]]
    """
    return _adaptive_avg_pool("adaptive_avg_pool1d", 1, input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Ints) -> tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` windows, and where it stands.

    The windows are those of :func:`adaptive_avg_pool1d`; NaN is larger than all numbers.

    Args:
        input: shape [N, C, L] or [C, L], of floats.
        output_size: how many windows.

    Returns:
        The pair ``(values, indices)``; the indices are int64.

    Raises:
        ShapeError: the input has another number of dimensions, or is empty.
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> values, indices = zero.adaptive_max_pool1d(zero.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
        >>> values.tolist(), indices.tolist()
        ([[3.0, 5.0]], [[1, 3]])
    """
    return _adaptive_max_pool(  # type: ignore[no-any-return]
        "adaptive_max_pool1d", 1, input, output_size, True
    )


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    """More elements of one value around the last dimensions; negative numbers cut elements off.

    Args:
        input: any shape and dtype.
        pad: how many before and after the last dimension, then the one before it, and so on.
        value: the value.

    Raises:
        ValueError: an odd number of ints, or more than two for each dimension.
        ShapeError: more is cut off than there is.

    Example:
        >>> import zero
        >>> zero.constant_pad_nd(zero.ones(2), (1, 2)).tolist()
        [0.0, 1.0, 1.0, 0.0, 0.0]
    """
    return _pad(input, pad, "constant", value)
