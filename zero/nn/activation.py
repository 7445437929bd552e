"""Activation functions as modules."""

from __future__ import annotations

from zero import Tensor
from zero.nn import _options, functional as F
from zero.nn.module import Module

__all__ = ["LogSoftmax", "ReLU", "Sigmoid", "Softmax", "Tanh"]


class ReLU(Module):
    """max(x, 0), element by element.

    Args:
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.ReLU()(zero.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = _options.flag("ReLU", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Tanh(Module):
    """tanh(x), element by element; results lie in [-1, 1].

    Example:
        >>> import zero
        >>> zero.nn.Tanh()(zero.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class Sigmoid(Module):
    """1 / (1 + exp(-x)), element by element; results lie in [0, 1].

    Example:
        >>> import zero
        >>> zero.nn.Sigmoid()(zero.tensor([0.0, 1.0]))
        tensor([0.5000, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Softmax(Module):
    """exp(x) divided by its sum along a dimension.

    Args:
        dim: along which results sum to 1. None is PyTorch's old rule and warns.

    Example:
        >>> import zero
        >>> zero.nn.Softmax(dim=-1)(zero.zeros(2, 2))
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim if dim is None else _options.dimension("Softmax", "dim", dim)

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=4)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """The logarithm of Softmax, computed without overflow and without log(0).

    Args:
        dim: along which exp of the results sums to 1. None is PyTorch's old rule and warns.

    Example:
        >>> import zero
        >>> zero.nn.LogSoftmax(dim=0)(zero.tensor([0.0, 1000.0]))
        tensor([-1000.,     0.])
    """

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim if dim is None else _options.dimension("LogSoftmax", "dim", dim)

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=4)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"
