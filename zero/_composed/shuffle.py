"""Elements that move between channels and places."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.errors import ShapeError, ValueError

__all__ = ["channel_shuffle", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


def _factor(op: str, name: str, input: Tensor, factor: int) -> int:
    if input.dim() < 3:
        raise ShapeError(
            f"{op}: no rows and columns; got {tuple(input.shape)}, expected (*, C, H, W)"
        )
    if not isinstance(factor, int):
        raise TypeError(f"{op}: {name} is not an int; got {type(factor).__name__}, expected an int")
    if factor <= 0:
        raise ValueError(f"{op}: {name} is too small; got {factor}, expected 1 or more")
    return factor


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Makes r x r pixels of r^2 channels each: (*, C r^2, H, W) becomes (*, C, H r, W r).

    Args:
        input: at least three dimensions, any dtype.
        upscale_factor: r.

    Raises:
        ShapeError: fewer dimensions, or the channels do not divide by r^2.
        ValueError: r is not positive.

    Example:
        >>> import zero
        >>> zero.pixel_shuffle(zero.arange(4).view(4, 1, 1), 2).tolist()
        [[[0, 1], [2, 3]]]

    Source: Shi et al., Real-time single image and video super-resolution using an efficient
    sub-pixel convolutional neural network, 2016.
    """
    r = _factor("pixel_shuffle", "upscale_factor", input, upscale_factor)
    *front, c, h, w = input.shape
    if c % (r * r) != 0:
        raise ShapeError(
            f"pixel_shuffle: the channels don't divide by the square of the factor; got "
            f"{tuple(input.shape)} and {r}, expected a multiple of {r * r}"
        )
    columns = input.reshape(*front, c // (r * r), r, r, h, w).unbind(-3)
    rows = zero.stack([x.transpose(-3, -2) for x in columns], -1)  # […, C, H, r, W, r]
    return rows.view(*front, c // (r * r), h * r, w * r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Undoes :func:`pixel_shuffle`: (*, C, H r, W r) becomes (*, C r^2, H, W).

    Args:
        input: at least three dimensions, any dtype.
        downscale_factor: r.

    Raises:
        ShapeError: fewer dimensions, or rows or columns do not divide by r.
        ValueError: r is not positive.

    Example:
        >>> import zero
        >>> zero.pixel_unshuffle(zero.arange(4).view(1, 2, 2), 2).flatten().tolist()
        [0, 1, 2, 3]

    Source: see pixel_shuffle.
    """
    r = _factor("pixel_unshuffle", "downscale_factor", input, downscale_factor)
    *front, c, h, w = input.shape
    if h % r != 0 or w % r != 0:
        raise ShapeError(
            f"pixel_unshuffle: rows or columns don't divide by the factor; got "
            f"{tuple(input.shape)}, expected multiples of {r}"
        )
    columns = input.reshape(*front, c, h // r, r, w // r, r).unbind(-1)
    parts = zero.stack([x.transpose(-3, -2) for x in columns], -3)  # […, C, r, r, H, W]
    return parts.view(*front, c * r * r, h // r, w // r)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Takes the channels from the groups in turn: the first of each, then the second, and so on.

    Args:
        input: shape [N, C, …] with at least three dimensions, any dtype.
        groups: how many groups the channels make; a divisor of C.

    Raises:
        ShapeError: fewer dimensions, or the channels do not divide into groups.
        ValueError: groups is not positive.

    Example:
        >>> import zero
        >>> zero.channel_shuffle(zero.arange(4).view(1, 4, 1, 1), 2).flatten().tolist()
        [0, 2, 1, 3]

    Source: Zhang et al., ShuffleNet: An extremely efficient convolutional neural network for mobile
    devices, 2018.
    """
    g = _factor("channel_shuffle", "groups", input, groups)
    n, c, *rest = input.shape
    if c % g != 0:
        raise ShapeError(
            f"channel_shuffle: the channels don't divide into groups; got {tuple(input.shape)} "
            f"and {g} groups, expected a divisor of {c}"
        )
    parts = input.reshape(n, g, c // g, *rest).transpose(1, 2)
    return parts.clone(memory_format=zero.contiguous_format).view(input.shape)


def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """:func:`channel_shuffle`, under the name that PyTorch's own code calls it by."""
    return channel_shuffle(input, groups)
