"""Convolutions and a Linear that find the number of their inputs in the first one."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Tensor
from zero.errors import ShapeError, ValueError
from zero.nn import convolution
from zero.nn.lazy import LazyModuleMixin, UninitializedParameter
from zero.nn.linear import Linear

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyLinear",
]


class LazyLinear(LazyModuleMixin, Linear):
    """A :class:`Linear` whose in_features is the size of the first input's last dimension.

    Args:
        out_features: size of the output's last dimension.
        bias: False leaves the bias out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Raises:
        DTypeError, ShapeError: a size is no int, or negative; bias is no bool.

    Example:
        >>> import zero
        >>> layer = zero.nn.LazyLinear(30)
        >>> layer(zero.randn(128, 20)).shape
        zero.Size([128, 30])
        >>> layer
        Linear(in_features=20, out_features=30, bias=True)
    """

    cls_to_become = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        super().__init__(0, out_features, bias, device, dtype)
        _forget_shapes(self, device, dtype)

    def reset_parameters(self) -> None:
        if self.in_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Makes the parameters for an input, if there are none yet."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            _materialize(self, (self.out_features, self.in_features), self.out_features)
        elif self.in_features == 0:  # they came from a state_dict
            self.in_features = self.weight.shape[1]


def _forget_shapes(layer: Any, device: zero.device | str | None, dtype: zero.dtype | None) -> None:
    for name in ("weight", "bias"):
        if getattr(layer, name) is not None:
            setattr(layer, name, UninitializedParameter(device=device, dtype=dtype))


def _materialize(layer: Any, shape: tuple[int, ...], outputs: int) -> None:
    with zero.no_grad():
        layer.weight.materialize(shape)
        if layer.bias is not None:
            layer.bias.materialize((outputs,))
        layer.reset_parameters()


class _LazyConv(LazyModuleMixin):
    """The part of a convolution that finds in_channels in the first input."""

    if TYPE_CHECKING:
        in_channels: int
        out_channels: int
        groups: int
        transposed: bool
        kernel_size: tuple[int, ...]
        weight: Any
        _spatial: int

    def reset_parameters(self) -> None:
        if self.in_channels != 0 and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]  # of the layer beside

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Makes the parameters for an input, if there are none yet.

        Raises:
            ShapeError: the input has a wrong number of dimensions.
            ValueError: groups does not divide its channels.
        """
        layer, n = type(self).__name__, self._spatial
        if input.dim() not in (n + 1, n + 2):
            raise ShapeError(
                f"{layer}: the input has a wrong number of dimensions; got {tuple(input.shape)}, "
                f"expected {n + 2}, or {n + 1} without the batch"
            )
        if not self.has_uninitialized_params():
            if self.in_channels == 0:  # they came from a state_dict
                inputs = self.weight.shape[0] if self.transposed else self.weight.shape[1]
                self.in_channels = inputs if self.transposed else inputs * self.groups
            return
        channels = input.shape[-n - 1]
        if channels % self.groups != 0:
            raise ValueError(
                f"{layer}: groups does not divide the input's channels; got {channels} channels "
                f"and groups={self.groups}, expected a multiple of {self.groups}"
            )
        self.in_channels = channels
        shape = (self.out_channels, channels // self.groups)
        if self.transposed:
            shape = (channels, self.out_channels // self.groups)
        _materialize(self, (*shape, *self.kernel_size), self.out_channels)


class _LazyConvolution(_LazyConv):
    def __init__(
        self,
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
            0, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip
        _forget_shapes(self, device, dtype)


class _LazyConvTranspose(_LazyConv):
    def __init__(
        self,
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
        super().__init__(
            0, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation,
            padding_mode, device, dtype,
        )  # fmt: skip
        _forget_shapes(self, device, dtype)


class LazyConv1d(_LazyConvolution, convolution.Conv1d):
    """A :class:`Conv1d` whose in_channels are those of the first input.

    The arguments are those of :class:`Conv1d` without the first.

    Example:
        >>> import zero
        >>> layer = zero.nn.LazyConv1d(4, 3)
        >>> y = layer(zero.randn(2, 3, 8))
        >>> layer
        Conv1d(3, 4, kernel_size=(3,), stride=(1,))
    """

    cls_to_become = convolution.Conv1d


class LazyConv2d(_LazyConvolution, convolution.Conv2d):
    """A :class:`Conv2d` whose in_channels are those of the first input.

    The arguments are those of :class:`Conv2d` without the first.

    Example:
        >>> import zero
        >>> layer = zero.nn.LazyConv2d(4, 3)
        >>> y = layer(zero.randn(2, 3, 8, 8))
        >>> layer
        Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1))
    """

    cls_to_become = convolution.Conv2d


class LazyConv3d(_LazyConvolution, convolution.Conv3d):
    """A :class:`Conv3d` whose in_channels are those of the first input.

    The arguments are those of :class:`Conv3d` without the first.

    Example:
        >>> import zero
        >>> layer = zero.nn.LazyConv3d(4, 3)
        >>> y = layer(zero.randn(2, 3, 8, 8, 8))
        >>> layer
        Conv3d(3, 4, kernel_size=(3, 3, 3), stride=(1, 1, 1))
    """

    cls_to_become = convolution.Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, convolution.ConvTranspose1d):
    """A :class:`ConvTranspose1d` whose in_channels are those of the first input.

    The arguments are those of :class:`ConvTranspose1d` without the first.

    Example:
        >>> import zero
        >>> layer = zero.nn.LazyConvTranspose1d(4, 3)
        >>> y = layer(zero.randn(2, 3, 8))
        >>> layer
        ConvTranspose1d(3, 4, kernel_size=(3,), stride=(1,))
    """

    cls_to_become = convolution.ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, convolution.ConvTranspose2d):
    """A :class:`ConvTranspose2d` whose in_channels are those of the first input.

    The arguments are those of :class:`ConvTranspose2d` without the first.

    Example:
        >>> import zero
        >>> layer = zero.nn.LazyConvTranspose2d(4, 3)
        >>> y = layer(zero.randn(2, 3, 8, 8))
        >>> layer
        ConvTranspose2d(3, 4, kernel_size=(3, 3), stride=(1, 1))
    """

    cls_to_become = convolution.ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, convolution.ConvTranspose3d):
    """A :class:`ConvTranspose3d` whose in_channels are those of the first input.

    The arguments are those of :class:`ConvTranspose3d` without the first.

    Example:
        >>> import zero
        >>> layer = zero.nn.LazyConvTranspose3d(4, 3)
        >>> y = layer(zero.randn(2, 3, 8, 8, 8))
        >>> layer
        ConvTranspose3d(3, 4, kernel_size=(3, 3, 3), stride=(1, 1, 1))
    """

    cls_to_become = convolution.ConvTranspose3d
