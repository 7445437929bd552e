"""Layers that pool: the largest element or the average of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zero import Tensor
from zero.errors import ValueError
from zero.nn import _options, functional as F
from zero.nn.module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Ints = int | Sequence[int]
Sizes = int | None | Sequence[int | None]


def _ints(layer: Module, name: str, value: Any) -> Any:
    """The value itself, an int or a sequence of ints, after a check."""
    items = value if isinstance(value, (tuple, list)) else (value,)
    for item in items:
        _options.dimension(type(layer).__name__, name, item)
    return value


# ---- the largest element -------------------------------------------------------------------------
class _MaxPool(Module):
    _pool: Callable[..., Any]

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        layer = type(self).__name__
        self.kernel_size = _ints(self, "kernel_size", kernel_size)
        self.stride = _ints(self, "stride", kernel_size if stride is None else stride)
        self.padding = _ints(self, "padding", padding)
        self.dilation = _ints(self, "dilation", dilation)
        self.return_indices = _options.flag(layer, "return_indices", return_indices)
        self.ceil_mode = _options.flag(layer, "ceil_mode", ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )

    def forward(self, input: Tensor) -> Any:
        return self._pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class MaxPool1d(_MaxPool):
    """The largest element of each window; NaN is larger than all numbers.

    Args:
        kernel_size: how many elements a window has.
        stride: from one window to the next; that of None is the kernel_size.
        padding: how far windows reach over both ends; at most half of their length. What is there
            does not count.
        dilation: from one element of a window to the next.
        return_indices: gives the pair ``(values, indices)``, which :class:`MaxUnpool1d` takes.
        ceil_mode: whether a last window counts that is not whole.

    Shape:
        input [N, C, L] or [C, L]; output L is
        ``(L + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1``, rounded down, or up in
        ceil_mode (a window that would begin in the padding at the end is left out)

    Raises:
        DTypeError: a size is no int; an option is no bool.

    Example:
        >>> import zero
        >>> zero.nn.MaxPool1d(2)(zero.tensor([[1.0, 3.0, 2.0, 5.0]])).tolist()
        [[3.0, 5.0]]
    """

    _pool = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest element of each window of rows and columns; NaN is larger than all numbers.

    Args:
        kernel_size: of the windows; this and the next three are one int for both dimensions, or
            two.
        stride: from one window to the next; that of None is the kernel_size.
        padding: how far windows reach over the borders; at most half of their length. What is there
            does not count.
        dilation: from one element of a window to the next.
        return_indices: gives the pair ``(values, indices)``, which :class:`MaxUnpool2d` takes.
        ceil_mode: whether last windows count that are not whole.

    Shape:
        input [N, C, H, W] or [C, H, W]; output H and W as in :class:`MaxPool1d`

    Raises:
        DTypeError: a size is no int; an option is no bool.

    Example:
        >>> import zero
        >>> zero.nn.MaxPool2d(2)(zero.arange(16.0).view(1, 1, 4, 4)).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
    """

    _pool = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """:class:`MaxPool2d` over three dimensions.

    Shape:
        input [N, C, D, H, W] or [C, D, H, W]; output D, H and W as in :class:`MaxPool1d`

    Example:
        >>> import zero
        >>> zero.nn.MaxPool3d(2)(zero.arange(8.0).view(1, 1, 2, 2, 2)).item()
        7.0
    """

    _pool = staticmethod(F.max_pool3d)


class _MaxUnpool(Module):
    _dims: int
    _unpool: Callable[..., Tensor]

    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0) -> None:
        layer, n = type(self).__name__, self._dims
        self.kernel_size = _options.numbers(layer, "kernel_size", kernel_size, n)
        given = kernel_size if stride is None else stride
        self.stride = _options.numbers(layer, "stride", given, n)
        self.padding = _options.numbers(layer, "padding", padding, n)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        return self._unpool(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool1d(_MaxUnpool):
    """Puts the results of a :class:`MaxPool1d` where they came from, among zeros.

    Args:
        kernel_size: of the pooling, as the next two.
        stride: None is the kernel_size.
        padding: of the pooling.

    Shape:
        input and indices [N, C, L] or [C, L]; output L is
        ``(L - 1) stride - 2 padding + kernel_size``, or that of output_size, the third argument of
        a call

    Raises:
        DTypeError, ValueError: a size is not an int.

    Example:
        >>> import zero
        >>> y, indices = zero.nn.MaxPool1d(2, return_indices=True)(zero.tensor([[1.0, 3.0]]))
        >>> zero.nn.MaxUnpool1d(2)(y, indices).tolist()
        [[0.0, 3.0]]

    Source: Zeiler and Fergus, Visualizing and understanding convolutional networks, 2014.
    """

    _dims = 1
    _unpool = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Puts the results of a :class:`MaxPool2d` where they came from, among zeros.

    Args:
        kernel_size: of the pooling, as the next two: an int for both dimensions, or two.
        stride: None is the kernel_size.
        padding: of the pooling.

    Shape:
        input and indices [N, C, H, W] or [C, H, W]; output H and W as in :class:`MaxUnpool1d`

    Raises:
        DTypeError, ValueError: a size is not an int or two.

    Example:
        >>> import zero
        >>> pool = zero.nn.MaxPool2d(2, return_indices=True)
        >>> zero.nn.MaxUnpool2d(2)(*pool(zero.arange(4.0).view(1, 1, 2, 2))).tolist()
        [[[[0.0, 0.0], [0.0, 3.0]]]]
    """

    _dims = 2
    _unpool = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """:class:`MaxUnpool2d` for three dimensions, [N, C, D, H, W] or [C, D, H, W]."""

    _dims = 3
    _unpool = staticmethod(F.max_unpool3d)


class _FractionalMaxPool(Module):
    _random_samples: Tensor | None
    _dims: int
    _pool: Callable[..., Any]

    def __init__(
        self,
        kernel_size: Ints,
        output_size: Ints | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        layer, n = type(self).__name__, self._dims
        self.kernel_size = _options.numbers(layer, "kernel_size", kernel_size, n)
        if min(self.kernel_size) < 1:
            raise ValueError(f"{layer}: kernel_size is too small; got {kernel_size}, expected ≥ 1")
        self.return_indices = _options.flag(layer, "return_indices", return_indices)
        self.register_buffer("_random_samples", _random_samples)
        if (output_size is None) == (output_ratio is None):
            raise ValueError(
                f"{layer}: one of output_size and output_ratio is needed; got {output_size} and "
                f"{output_ratio}, expected one and None"
            )
        self.output_size: tuple[int, ...] | None = None
        self.output_ratio: tuple[float, ...] | None = None
        if output_size is not None:
            self.output_size = _options.numbers(layer, "output_size", output_size, n)
        elif output_ratio is not None:
            ratio: tuple[Any, ...] = (output_ratio,) * n
            if isinstance(output_ratio, (tuple, list)):
                ratio = tuple(output_ratio)
            if len(ratio) != n or not all(0 < r < 1 for r in ratio):
                raise ValueError(
                    f"{layer}: output_ratio is not between 0 and 1; got {output_ratio}, expected "
                    f"a number or {n} numbers"
                )
            self.output_ratio = ratio

    def forward(self, input: Tensor) -> Any:
        return self._pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest element of each window; the windows begin at random steps of two lengths.

    Args:
        kernel_size: of the windows, an int for both dimensions or two.
        output_size: of the result, likewise.
        output_ratio: that of the sizes of result and input, in its place.
        return_indices: gives the pair ``(values, indices)``.
        _random_samples: numbers from 0 to 1 in place of those that are drawn, [N, C, 2].

    Shape:
        input [N, C, H, W] or [C, H, W]; output H and W are output_size, or output_ratio times those
        of the input, rounded down

    Raises:
        ValueError: not one of output_size and output_ratio is given; a ratio is not in (0, 1).
        DTypeError: a size is no int.

    Example:
        >>> import zero
        >>> zero.nn.FractionalMaxPool2d(3, output_ratio=0.5)(zero.rand(1, 1, 9, 8)).shape
        zero.Size([1, 1, 4, 4])

    Source: Graham, Fractional max-pooling, 2014.
    """

    _dims = 2
    _pool = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """:class:`FractionalMaxPool2d` over three dimensions, [N, C, D, H, W] or [C, D, H, W]."""

    _dims = 3
    _pool = staticmethod(F.fractional_max_pool3d)


class _AdaptiveMaxPool(Module):
    def __init__(self, output_size: Sizes, return_indices: bool = False) -> None:
        self.output_size = output_size
        self.return_indices = _options.flag(type(self).__name__, "return_indices", return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest element of each of `output_size` windows, which cover the input evenly.

    Window i has the elements from floor(i L / output_size) to ceil((i + 1) L / output_size) - 1.

    Args:
        output_size: how many windows.
        return_indices: gives the pair ``(values, indices)``.

    Shape:
        input [N, C, L] or [C, L], output [N, C, output_size] or [C, output_size]

    Raises:
        DTypeError: return_indices is no bool.

    Example:
        >>> import zero
        >>> zero.nn.AdaptiveMaxPool1d(2)(zero.tensor([[1.0, 3.0, 2.0, 5.0]])).tolist()
        [[3.0, 5.0]]
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """:class:`AdaptiveMaxPool1d` over rows and columns.

    Args:
        output_size: one int for both, or two; None keeps a size.
        return_indices: gives the pair ``(values, indices)``.

    Shape:
        input [N, C, H, W] or [C, H, W]

    Example:
        >>> import zero
        >>> zero.nn.AdaptiveMaxPool2d((2, None))(zero.arange(12.0).view(1, 4, 3)).tolist()
        [[[3.0, 4.0, 5.0], [9.0, 10.0, 11.0]]]
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """:class:`AdaptiveMaxPool2d` over three dimensions, [N, C, D, H, W] or [C, D, H, W]."""

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


# ---- averages ------------------------------------------------------------------------------------
class _AvgPool(Module):
    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """The average of each window; places of the padding are 0.

    Args:
        kernel_size: how many elements a window has.
        stride: from one window to the next; that of None is the kernel_size.
        padding: how far windows reach over both ends; at most half of their length.
        ceil_mode: whether a last window counts that is not whole; what lies behind the padding is
            no part of it.
        count_include_pad: False divides by the number of elements that are in the input.

    Shape:
        input [N, C, L] or [C, L]; output L as in :class:`MaxPool1d`

    Raises:
        DTypeError, ValueError: a size is no int; an option is no bool.

    Example:
        >>> import zero
        >>> zero.nn.AvgPool1d(2)(zero.tensor([[1.0, 3.0, 2.0, 5.0]])).tolist()
        [[2.0, 3.5]]
    """

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        self.kernel_size = _options.numbers("AvgPool1d", "kernel_size", kernel_size, 1)
        given = kernel_size if stride is None else stride
        self.stride = _options.numbers("AvgPool1d", "stride", given, 1)
        self.padding = _options.numbers("AvgPool1d", "padding", padding, 1)
        self.ceil_mode = _options.flag("AvgPool1d", "ceil_mode", ceil_mode)
        self.count_include_pad = _options.flag("AvgPool1d", "count_include_pad", count_include_pad)

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class _AvgPoolPlanes(_AvgPool):
    _pool: Callable[..., Tensor]

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        layer = type(self).__name__
        self.kernel_size = _ints(self, "kernel_size", kernel_size)
        self.stride = _ints(self, "stride", kernel_size if stride is None else stride)
        self.padding = _ints(self, "padding", padding)
        self.ceil_mode = _options.flag(layer, "ceil_mode", ceil_mode)
        self.count_include_pad = _options.flag(layer, "count_include_pad", count_include_pad)
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPoolPlanes):
    """The average of each window of rows and columns; places of the padding are 0.

    Args:
        kernel_size: of the windows; this and the next two are one int for both dimensions, or two.
        stride: from one window to the next; that of None is the kernel_size.
        padding: how far windows reach over the borders; at most half of their length.
        ceil_mode: whether last windows count that are not whole; what lies behind the padding is no
            part of them.
        count_include_pad: False divides by the number of elements that are in the input.
        divisor_override: divides by this number instead.

    Shape:
        input [N, C, H, W] or [C, H, W]; output H and W as in :class:`MaxPool1d`

    Raises:
        DTypeError: a size is no int; an option is no bool.

    Example:
        >>> import zero
        >>> zero.nn.AvgPool2d(2)(zero.arange(16.0).view(1, 1, 4, 4)).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """

    _pool = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPoolPlanes):
    """:class:`AvgPool2d` over three dimensions, [N, C, D, H, W] or [C, D, H, W]."""

    _pool = staticmethod(F.avg_pool3d)


class _AdaptiveAvgPool(Module):
    def __init__(self, output_size: Sizes) -> None:
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The average of each of `output_size` windows, which cover the input evenly.

    Window i has the elements from floor(i L / output_size) to ceil((i + 1) L / output_size) - 1.

    Args:
        output_size: how many windows.

    Shape:
        input [N, C, L] or [C, L], output [N, C, output_size] or [C, output_size]

    Example:
        >>> import zero
        >>> zero.nn.AdaptiveAvgPool1d(2)(zero.tensor([[1.0, 3.0, 2.0, 5.0]])).tolist()
        [[2.0, 3.5]]
    """

    output_size: Any

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """:class:`AdaptiveAvgPool1d` over rows and columns.

    Args:
        output_size: one int for both, or two; None keeps a size.

    Shape:
        input [N, C, H, W] or [C, H, W]

    Example:
        >>> import zero
        >>> zero.nn.AdaptiveAvgPool2d(1)(zero.arange(16.0).view(1, 1, 4, 4)).tolist()
        [[[[7.5]]]]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """:class:`AdaptiveAvgPool2d` over three dimensions, [N, C, D, H, W] or [C, D, H, W]."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)


class _LPPool(Module):
    _pool: Callable[..., Tensor]

    def __init__(
        self,
        norm_type: float,
        kernel_size: Ints,
        stride: Ints | None = None,
        ceil_mode: bool = False,
    ) -> None:
        self.norm_type = norm_type
        self.kernel_size = _ints(self, "kernel_size", kernel_size)
        self.stride = None if stride is None else _ints(self, "stride", stride)
        self.ceil_mode = _options.flag(type(self).__name__, "ceil_mode", ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool1d(_LPPool):
    """The p-norm of each window, but without magnitudes: (sum x^p)^(1/p).

    Args:
        norm_type: p; that of 1 is the sum, of inf the largest magnitude, of -inf the smallest one.
        kernel_size: how many elements a window has.
        stride: from one window to the next; that of None is the kernel_size.
        ceil_mode: whether a last window counts that is not whole.

    Shape:
        input [N, C, L] or [C, L]; output L as in :class:`MaxPool1d`

    Raises:
        DTypeError: a size is no int; ceil_mode is no bool.

    Example:
        >>> import zero
        >>> zero.nn.LPPool1d(2, 2)(zero.tensor([[3.0, 4.0, 6.0, 8.0]])).tolist()
        [[5.0, 10.0]]
    """

    _pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """:class:`LPPool1d` over rows and columns, [N, C, H, W] or [C, H, W]."""

    _pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """:class:`LPPool1d` over three dimensions, [N, C, D, H, W] or [C, D, H, W]."""

    _pool = staticmethod(F.lp_pool3d)
