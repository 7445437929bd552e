"""Layers that change shapes."""

from __future__ import annotations

from zero import Tensor
from zero.nn import _options
from zero.nn.module import Module

__all__ = ["Flatten"]


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
