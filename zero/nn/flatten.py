"""Layers that change shapes."""

from __future__ import annotations

from collections.abc import Sequence

from zero import Tensor
from zero.errors import DTypeError
from zero.nn import _options
from zero.nn.module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Joins neighbouring dimensions into one; by default all but the first, which counts samples.

    Args:
        start_dim: first dimension to join.
        end_dim: last one.

    Shape:
        input [N, …], output [N, product of the rest]

    Example:
        >>> import zero
        >>> zero.nn.Flatten()(zero.zeros(32, 1, 5, 5)).shape
        zero.Size([32, 25])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim = _options.dimension("Flatten", "start_dim", start_dim)
        self.end_dim = _options.dimension("Flatten", "end_dim", end_dim)

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Cuts a dimension into several: the reverse of :class:`Flatten`.

    Args:
        dim: the dimension to cut.
        unflattened_size: a tuple or list of what it becomes; one size may be -1, which is then
            inferred.

    Shape:
        input […, S, …] with S at `dim`, output […, *unflattened_size, …]

    Raises:
        DTypeError: an argument has another type.
        ShapeError: when called, if the sizes' product is not S.

    Example:
        >>> import zero
        >>> zero.nn.Unflatten(1, (1, 5, 5))(zero.zeros(32, 25)).shape
        zero.Size([32, 1, 5, 5])
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        self.dim = _options.dimension("Unflatten", "dim", dim)
        if not isinstance(unflattened_size, (tuple, list)):
            raise DTypeError(
                "Unflatten: unflattened_size is no tuple of sizes; got "
                f"{unflattened_size!r}, expected such as (2, 3)"
            )
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
