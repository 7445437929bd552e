"""Layers of :func:`zero.nn.functional.fold` and unfold."""

from __future__ import annotations

from collections.abc import Sequence

from zero import Tensor
from zero.nn import functional as F
from zero.nn.module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """Adds columns up where their windows lie in an image: :func:`zero.nn.functional.fold`.

    Args:
        output_size: H and W of the image, an int or two.
        kernel_size: size of a window, an int or two.
        dilation: steps between elements of a window, an int or two.
        padding: rows and columns around the image, which are left out, an int or two.
        stride: steps between windows, an int or two.

    Shape:
        input [N, C kH kW, windows] or [C kH kW, windows], output [N, C, H, W] or [C, H, W]

    Example:
        >>> import zero
        >>> zero.nn.Fold((4, 5), 2)(zero.ones(1, 3 * 2 * 2, 12)).shape
        zero.Size([1, 3, 4, 5])
    """

    def __init__(
        self,
        output_size: int | Sequence[int],
        kernel_size: int | Sequence[int],
        dilation: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        stride: int | Sequence[int] = 1,
    ) -> None:
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    """The windows of an image as columns: :func:`zero.nn.functional.unfold`.

    Args:
        kernel_size: size of a window, an int or two.
        dilation: steps between elements of a window, an int or two.
        padding: zeros on both sides, an int or two.
        stride: steps between windows, an int or two.

    Shape:
        input [N, C, H, W] or [C, H, W], output [N, C kH kW, windows] or [C kH kW, windows]

    Example:
        >>> import zero
        >>> zero.nn.Unfold((2, 3))(zero.randn(2, 5, 3, 4)).shape
        zero.Size([2, 30, 4])
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        dilation: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        stride: int | Sequence[int] = 1,
    ) -> None:
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )
