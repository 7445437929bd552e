"""Layers that change sizes, or move elements between channels and places."""

from __future__ import annotations

from collections.abc import Sequence

from zero import Tensor
from zero.nn import _options, functional as F
from zero.nn.module import Module

__all__ = [
    "ChannelShuffle",
    "PixelShuffle",
    "PixelUnshuffle",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class Upsample(Module):
    """Another size for the dimensions behind the channels, with values in between interpolated.

    Args:
        size: of the result: an int for all of these dimensions, or one for each.
        scale_factor: how many times larger, in its place.
        mode: "nearest", "nearest-exact", "linear" for [N, C, L], "bilinear" and "bicubic" for
            [N, C, H, W], "trilinear" for [N, C, D, H, W], "area"; see
            :func:`zero.nn.functional.interpolate`.
        align_corners: whether the centres of the first and last elements stay where they are,
            rather than the outer borders. None is False; only for the linear modes and bicubic.
        recompute_scale_factor: True takes places by the ratio of the sizes where scale_factor was
            given, False and None by scale_factor itself.

    Shape:
        input [N, C, L], [N, C, H, W] or [N, C, D, H, W]

    Example:
        >>> import zero
        >>> zero.nn.Upsample(scale_factor=2)(zero.tensor([[[1.0, 2.0]]])).tolist()
        [[[1.0, 1.0, 2.0, 2.0]]]
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: float | tuple[float, ...] | None
        if isinstance(scale_factor, (tuple, list)):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None  # type: ignore[arg-type]
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """:class:`Upsample` with the mode "nearest", for [N, C, H, W]; an old name.

    Args:
        size: of the result, an int for both dimensions or two.
        scale_factor: how many times larger, in its place.

    Example:
        >>> import zero
        >>> zero.nn.UpsamplingNearest2d(scale_factor=2)(zero.ones(1, 1, 2, 3)).shape
        zero.Size([1, 1, 4, 6])
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """:class:`Upsample` with the mode "bilinear" and align_corners, for [N, C, H, W]; an old name.

    Args:
        size: of the result, an int for both dimensions or two.
        scale_factor: how many times larger, in its place.

    Example:
        >>> import zero
        >>> layer = zero.nn.UpsamplingBilinear2d(scale_factor=2)
        >>> layer(zero.tensor([[[[0.0, 3.0]]]])).tolist()
        [[[[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0]]]]
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """Makes r x r pixels of r^2 channels each: (*, C r^2, H, W) becomes (*, C, H r, W r).

    Args:
        upscale_factor: r.

    Raises:
        DTypeError, ShapeError: r is no int, or negative.

    Example:
        >>> import zero
        >>> zero.nn.PixelShuffle(2)(zero.arange(4).view(4, 1, 1)).tolist()
        [[[0, 1], [2, 3]]]

    Source: Shi et al., Real-time single image and video super-resolution using an efficient
    sub-pixel convolutional neural network, 2016.
    """

    def __init__(self, upscale_factor: int) -> None:
        self.upscale_factor = _options.size("PixelShuffle", "upscale_factor", upscale_factor)

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Undoes :class:`PixelShuffle`: (*, C, H r, W r) becomes (*, C r^2, H, W).

    Args:
        downscale_factor: r.

    Raises:
        DTypeError, ShapeError: r is no int, or negative.

    Example:
        >>> import zero
        >>> zero.nn.PixelUnshuffle(2)(zero.arange(4).view(1, 2, 2)).shape
        zero.Size([4, 1, 1])

    Source: see :class:`PixelShuffle`.
    """

    def __init__(self, downscale_factor: int) -> None:
        self.downscale_factor = _options.size(
            "PixelUnshuffle", "downscale_factor", downscale_factor
        )

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Takes the channels from the groups in turn: the first of each, then the second, and so on.

    Args:
        groups: how many groups the channels make.

    Raises:
        DTypeError, ShapeError: groups is no int, or negative.

    Example:
        >>> import zero
        >>> zero.nn.ChannelShuffle(2)(zero.arange(4).view(1, 4, 1, 1)).flatten().tolist()
        [0, 2, 1, 3]

    Source: Zhang et al., ShuffleNet: An extremely efficient convolutional neural network for mobile
    devices, 2018.
    """

    def __init__(self, groups: int) -> None:
        self.groups = _options.size("ChannelShuffle", "groups", groups)

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
