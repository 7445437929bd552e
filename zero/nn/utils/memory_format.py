"""Weights of convolutions in another order in memory."""

from __future__ import annotations

import zero

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from zero.nn.module import Module

    AnyModule = TypeVar("AnyModule", bound=Module)

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: AnyModule, kinds: tuple[type, ...], memory_format: object) -> AnyModule:
    for layer in module.modules():
        if isinstance(layer, kinds):
            weight = layer.weight
            weight.data = weight.detach().clone().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(
    module: AnyModule, memory_format: zero.memory_format
) -> AnyModule:
    """Gives the weights of all Conv2d and ConvTranspose2d of a module an order in memory.

    Args:
        module: which is changed and returned.
        memory_format: such as ``zero.channels_last``.

    Example:
        >>> import zero
        >>> layer = zero.nn.Conv2d(2, 4, 3)
        >>> convert = zero.nn.utils.convert_conv2d_weight_memory_format
        >>> convert(layer, zero.channels_last).weight.stride()
        (18, 1, 6, 2)
    """
    from zero.nn.convolution import Conv2d, ConvTranspose2d

    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(
    module: AnyModule, memory_format: zero.memory_format
) -> AnyModule:
    """Gives the weights of all Conv3d and ConvTranspose3d of a module an order in memory.

    Args:
        module: which is changed and returned.
        memory_format: such as ``zero.channels_last_3d``.

    Example:
        >>> import zero
        >>> layer = zero.nn.Conv3d(2, 4, 3)
        >>> convert = zero.nn.utils.convert_conv3d_weight_memory_format
        >>> convert(layer, zero.channels_last_3d).weight.stride()
        (54, 1, 18, 6, 2)
    """
    from zero.nn.convolution import Conv3d, ConvTranspose3d

    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)
