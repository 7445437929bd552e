"""Layers that slide a kernel over their input, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import zero
from zero import Parameter, Tensor
from zero.errors import DTypeError, ShapeError, ValueError
from zero.nn import _options, functional as F, init
from zero.nn.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]

MODES = ("zeros", "reflect", "replicate", "circular")


def _numbers(layer: str, name: str, given: int | Sequence[int], n: int) -> tuple[int, ...]:
    """One number for each of n dimensions."""
    if not isinstance(given, (tuple, list)):
        return (_options.size(layer, name, given),) * n
    if len(given) != n and len(given) != 1:
        raise ShapeError(
            f"{layer}: {name} has a wrong length; got {tuple(given)}, expected an int or {n} of "
            "them"
        )
    numbers = tuple(_options.size(layer, name, number) for number in given)
    return numbers if len(numbers) == n else numbers * n


class _ConvNd(Module):
    """What all have: a weight, a bias or None, and how the kernel moves."""

    _spatial: ClassVar[int]
    _convolve: ClassVar[Callable[..., Tensor]]
    weight: Parameter
    bias: Parameter | None
    padding: str | tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int],
        padding: str | int | Sequence[int],
        dilation: int | Sequence[int],
        transposed: bool,
        output_padding: int | Sequence[int],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        layer, n = type(self).__name__, self._spatial
        self.in_channels = _options.size(layer, "in_channels", in_channels)
        self.out_channels = _options.size(layer, "out_channels", out_channels)
        self.groups = _options.size(layer, "groups", groups)
        for name in ("in_channels", "out_channels"):
            channels = getattr(self, name)
            if self.groups == 0 or channels % self.groups != 0:
                raise ValueError(
                    f"{layer}: groups does not divide {name}; got {name}={channels} and "
                    f"groups={groups}, expected a divisor of {channels}, 1 or more"
                )
        self.kernel_size = _numbers(layer, "kernel_size", kernel_size, n)
        self.stride = _numbers(layer, "stride", stride, n)
        self.dilation = _numbers(layer, "dilation", dilation, n)
        self.output_padding = _numbers(layer, "output_padding", output_padding, n)
        self.transposed = transposed
        if padding_mode not in MODES:
            raise ValueError(
                f"{layer}: padding_mode is unknown; got {padding_mode!r}, expected one of {MODES}"
            )
        self.padding_mode = padding_mode
        around: list[tuple[int, int]]  # zeros before and after, in each dimension
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(
                    f"{layer}: padding is unknown; got {padding!r}, expected 'same', 'valid' or "
                    "ints"
                )
            around = [(0, 0)] * n
            if padding == "same":
                if any(s != 1 for s in self.stride):
                    raise ValueError(
                        f"{layer}: padding='same' with a stride; got stride={self.stride}, "
                        "expected 1"
                    )
                spans = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
                around = [(span // 2, span - span // 2) for span in spans]
            self.padding = padding
        else:
            self.padding = _numbers(layer, "padding", padding, n)
            around = [(p, p) for p in self.padding]
        # As F.pad takes it: the last dimension first.
        self._reversed_padding_repeated_twice = [p for pair in reversed(around) for p in pair]
        channels = (self.out_channels, self.in_channels // self.groups)
        if transposed:
            channels = (self.in_channels, self.out_channels // self.groups)
        self.weight = Parameter(
            zero.empty((*channels, *self.kernel_size), device=device, dtype=dtype)
        )
        if _options.flag(layer, "bias", bias):
            self.bias = Parameter(zero.empty((self.out_channels,), device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias from U(-b, b), ``b = 1 / sqrt(products in an output)``."""
        if self.weight.numel() == 0:
            if self.bias is not None:
                init.zeros_(self.bias)
            return
        init.kaiming_uniform_(self.weight, a=sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / sqrt(fan_in)
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"]
        parts.append(f"stride={self.stride}")
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if value != (usual,) * len(value):
                parts.append(f"{name}={value}")
        parts += [f"groups={self.groups}"] * (self.groups != 1)
        parts += ["bias=False"] * (self.bias is None)
        parts += [f"padding_mode={self.padding_mode}"] * (self.padding_mode != "zeros")
        return ", ".join(parts)


class _Convolution(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: str | int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups,
            bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The convolution with another weight and bias."""
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = 0
        return self._convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class _ConvTransposeNd(_ConvNd):
    padding: tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | Sequence[int] = 1,
        padding_mode: str = "zeros",
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        layer = type(self).__name__
        if padding_mode != "zeros":
            raise ValueError(
                f"{layer}: padding_mode is not 'zeros'; got {padding_mode!r}, expected 'zeros', "
                "the only one of a transposed convolution"
            )
        if isinstance(padding, str):
            raise DTypeError(f"{layer}: padding is a str; got {padding!r}, expected ints")
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding,
            groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding_for(self, input: Tensor, output_size: Sequence[int]) -> tuple[int, ...]:
        """What to add for the output to have a size, which leaves the batch and channels out."""
        layer, n = type(self).__name__, self._spatial
        leading = input.dim() - n
        sizes = tuple(output_size)
        if len(sizes) == leading + n:
            sizes = sizes[leading:]
        if len(sizes) != n:
            raise ValueError(
                f"{layer}: output_size has a wrong length; got {tuple(output_size)}, expected {n} "
                f"or {leading + n} ints"
            )
        least = []
        for d, size in enumerate(input.shape[leading:]):
            reach = self.dilation[d] * (self.kernel_size[d] - 1)
            least.append((size - 1) * self.stride[d] - 2 * self.padding[d] + reach + 1)
        most = [low + step - 1 for low, step in zip(least, self.stride, strict=True)]
        if any(not low <= size <= high for low, size, high in zip(least, sizes, most, strict=True)):
            raise ValueError(
                f"{layer}: output_size is out of reach; got {sizes} for an input of "
                f"{tuple(input.shape)}, expected {tuple(least)} to {tuple(most)}"
            )
        return tuple(size - low for size, low in zip(sizes, least, strict=True))

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        added = self.output_padding
        if output_size is not None:
            added = self._output_padding_for(input, output_size)
        return self._convolve(
            input, self.weight, self.bias, self.stride, self.padding, added, self.groups,
            self.dilation,
        )  # fmt: skip


class Conv1d(_Convolution):
    """Slides kernels over sequences, and adds a bias to each channel.

    ``y[n, k] = bias[k] + sum over c of weight[k, c] * x[n, c]``, where * is the cross-correlation
    with steps of `stride`. Weight and bias start as draws from U(-b, b) with
    ``b = 1 / sqrt(products in an output)``.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: an int or 1 of them, as are the next three.
        stride: steps of the kernel.
        padding: elements added on both sides; "valid" for none, "same" for as many as keep the
            size.
        dilation: steps between elements of the kernel.
        groups: parts of the channels that are convolved apart; divides both numbers of channels.
        bias: False leaves the bias out.
        padding_mode: what is added: "zeros", "reflect", "replicate" or "circular".
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [N, C, L] or [C, L]; weight [K, C / groups, kL], bias [K]

    Raises:
        ValueError: groups does not divide the channels; padding or padding_mode is unknown.
        DTypeError, ShapeError: a number is no int, or negative.

    Example:
        >>> import zero
        >>> layer = zero.nn.Conv1d(16, 33, 3, stride=2)
        >>> layer(zero.randn(20, 16, 50)).shape
        zero.Size([20, 33, 24])
    """

    _spatial = 1
    _convolve = staticmethod(zero.conv1d)


class Conv2d(_Convolution):
    """Slides kernels over images, and adds a bias to each channel.

    ``y[n, k] = bias[k] + sum over c of weight[k, c] * x[n, c]``, where * is the cross-correlation
    with steps of `stride`. Weight and bias start as draws from U(-b, b) with
    ``b = 1 / sqrt(products in an output)``.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: an int or 2 of them, as are the next three.
        stride: steps of the kernel.
        padding: elements added on both sides; "valid" for none, "same" for as many as keep the
            size.
        dilation: steps between elements of the kernel.
        groups: parts of the channels that are convolved apart; divides both numbers of channels.
        bias: False leaves the bias out.
        padding_mode: what is added: "zeros", "reflect", "replicate" or "circular".
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [N, C, H, W] or [C, H, W]; weight [K, C / groups, kH, kW], bias [K]

    Raises:
        ValueError: groups does not divide the channels; padding or padding_mode is unknown.
        DTypeError, ShapeError: a number is no int, or negative.

    Example:
        >>> import zero
        >>> layer = zero.nn.Conv2d(16, 33, (3, 5), padding="same")
        >>> layer(zero.randn(2, 16, 10, 12)).shape
        zero.Size([2, 33, 10, 12])
    """

    _spatial = 2
    _convolve = staticmethod(zero.conv2d)


class Conv3d(_Convolution):
    """Slides kernels over volumes, and adds a bias to each channel.

    ``y[n, k] = bias[k] + sum over c of weight[k, c] * x[n, c]``, where * is the cross-correlation
    with steps of `stride`. Weight and bias start as draws from U(-b, b) with
    ``b = 1 / sqrt(products in an output)``.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: an int or 3 of them, as are the next three.
        stride: steps of the kernel.
        padding: elements added on both sides; "valid" for none, "same" for as many as keep the
            size.
        dilation: steps between elements of the kernel.
        groups: parts of the channels that are convolved apart; divides both numbers of channels.
        bias: False leaves the bias out.
        padding_mode: what is added: "zeros", "reflect", "replicate" or "circular".
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [N, C, D, H, W] or [C, D, H, W]; weight [K, C / groups, kD, kH, kW], bias [K]

    Raises:
        ValueError: groups does not divide the channels; padding or padding_mode is unknown.
        DTypeError, ShapeError: a number is no int, or negative.

    Example:
        >>> import zero
        >>> layer = zero.nn.Conv3d(2, 3, 3, padding=1)
        >>> layer(zero.randn(1, 2, 4, 5, 6)).shape
        zero.Size([1, 3, 4, 5, 6])
    """

    _spatial = 3
    _convolve = staticmethod(zero.conv3d)


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of :class:`Conv1d`: each element adds its multiple of the kernel.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: an int or 1 of them, as are stride, padding, output_padding and dilation.
        stride: the distance between places that neighbours add to.
        padding: elements taken off on both sides.
        output_padding: elements added at the end, less than the stride or the dilation.
        groups: parts of the channels that are convolved apart; divides both numbers of channels.
        bias: False leaves the bias out.
        dilation: steps between elements of the kernel.
        padding_mode: "zeros".
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [N, C, L] or [C, L]; weight [C, K / groups, kL], bias [K]. A call
        takes `output_size` too, which chooses the output_padding.

    Raises:
        ValueError: groups does not divide the channels; another padding_mode.
        DTypeError, ShapeError: a number is no int, or negative.

    Example:
        >>> import zero
        >>> layer = zero.nn.ConvTranspose1d(16, 33, 3, stride=2)
        >>> layer(zero.randn(20, 16, 50)).shape
        zero.Size([20, 33, 101])

    Source: Zeiler et al., Deconvolutional networks, 2010.
    """

    _spatial = 1
    _convolve = staticmethod(zero.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of :class:`Conv2d`: each element adds its multiple of the kernel.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: an int or 2 of them, as are stride, padding, output_padding and dilation.
        stride: the distance between places that neighbours add to.
        padding: elements taken off on both sides.
        output_padding: elements added at the end, less than the stride or the dilation.
        groups: parts of the channels that are convolved apart; divides both numbers of channels.
        bias: False leaves the bias out.
        dilation: steps between elements of the kernel.
        padding_mode: "zeros".
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [N, C, H, W] or [C, H, W]; weight [C, K / groups, kH, kW], bias [K]. A call
        takes `output_size` too, which chooses the output_padding.

    Raises:
        ValueError: groups does not divide the channels; another padding_mode.
        DTypeError, ShapeError: a number is no int, or negative.

    Example:
        >>> import zero
        >>> down = zero.nn.Conv2d(16, 16, 3, stride=2, padding=1)
        >>> up = zero.nn.ConvTranspose2d(16, 16, 3, stride=2, padding=1)
        >>> x = zero.randn(1, 16, 12, 12)
        >>> up(down(x), output_size=x.shape).shape
        zero.Size([1, 16, 12, 12])

    Source: Zeiler et al., Deconvolutional networks, 2010.
    """

    _spatial = 2
    _convolve = staticmethod(zero.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of :class:`Conv3d`: each element adds its multiple of the kernel.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: an int or 3 of them, as are stride, padding, output_padding and dilation.
        stride: the distance between places that neighbours add to.
        padding: elements taken off on both sides.
        output_padding: elements added at the end, less than the stride or the dilation.
        groups: parts of the channels that are convolved apart; divides both numbers of channels.
        bias: False leaves the bias out.
        dilation: steps between elements of the kernel.
        padding_mode: "zeros".
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [N, C, D, H, W] or [C, D, H, W]; weight [C, K / groups, kD, kH, kW], bias [K]. A call
        takes `output_size` too, which chooses the output_padding.

    Raises:
        ValueError: groups does not divide the channels; another padding_mode.
        DTypeError, ShapeError: a number is no int, or negative.

    Example:
        >>> import zero
        >>> layer = zero.nn.ConvTranspose3d(2, 3, 2, stride=2)
        >>> layer(zero.randn(1, 2, 4, 5, 6)).shape
        zero.Size([1, 3, 8, 10, 12])

    Source: Zeiler et al., Deconvolutional networks, 2010.
    """

    _spatial = 3
    _convolve = staticmethod(zero.conv_transpose3d)
