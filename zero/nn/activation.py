"""Activation functions as modules."""

from __future__ import annotations

from zero import Tensor
from zero.errors import ShapeError
from zero.nn import _options, functional as F
from zero.nn.module import Module

__all__ = [
    "GELU",
    "GLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "ReLU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
]


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


class GELU(Module):
    """x P(x), with the distribution function P of the standard normal distribution.

    Args:
        approximate: "tanh" takes (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 for P(x).

    Example:
        >>> import zero
        >>> zero.nn.GELU()(zero.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])

    Source: Hendrycks and Gimpel, Gaussian error linear units, 2016.
    """

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(Module):
    """x times its sigmoid; also called swish.

    Args:
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.SiLU()(zero.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])

    Source: Elfwing et al., Sigmoid-weighted linear units, 2017.
    """

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = _options.flag("SiLU", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Mish(Module):
    """x times the tanh of its softplus.

    Args:
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.Mish()(zero.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])

    Source: Misra, Mish: a self regularized non-monotonic activation function, 2019.
    """

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = _options.flag("Mish", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Softplus(Module):
    """A smooth relu: ln(1 + exp(beta x)) / beta.

    Args:
        beta: how sharp the bend is.
        threshold: where beta x is above it the result is x.

    Example:
        >>> import zero
        >>> zero.nn.Softplus()(zero.tensor([0.0, 100.0]))
        tensor([  0.6931, 100.0000])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class LogSigmoid(Module):
    """The logarithm of Sigmoid, without overflow.

    Example:
        >>> import zero
        >>> zero.nn.LogSigmoid()(zero.tensor([0.0, -100.0]))
        tensor([  -0.6931, -100.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + \\|x\\|), element by element.

    Example:
        >>> import zero
        >>> zero.nn.Softsign()(zero.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x), element by element.

    Example:
        >>> import zero
        >>> zero.nn.Tanhshrink()(zero.tensor([-1.0, 2.0]))
        tensor([-0.2384,  1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class GLU(Module):
    """The first half of a dimension times the sigmoid of the second.

    Args:
        dim: the dimension, which the result has half of.

    Example:
        >>> import zero
        >>> zero.nn.GLU()(zero.tensor([2.0, 4.0, 0.0, 1.0]))
        tensor([1.0000, 2.9242])

    Source: Dauphin et al., Language modeling with gated convolutional networks, 2016.
    """

    def __init__(self, dim: int = -1) -> None:
        self.dim = _options.dimension("GLU", "dim", dim)

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


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


class Softmin(Module):
    """Softmax of -x.

    Args:
        dim: along which results sum to 1. None is PyTorch's old rule and warns.

    Example:
        >>> import zero
        >>> zero.nn.Softmin(dim=0)(zero.tensor([0.0, 0.0, 1000.0]))
        tensor([0.5000, 0.5000, 0.0000])
    """

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim if dim is None else _options.dimension("Softmin", "dim", dim)

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=4)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax2d(Module):
    """Softmax over the channels of each place of an image.

    Shape:
        input [N, C, H, W] or [C, H, W], output the same

    Example:
        >>> import zero
        >>> zero.nn.Softmax2d()(zero.zeros(4, 1, 1)).flatten()
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ShapeError(
                f"Softmax2d: no image; got {tuple(input.shape)}, expected (N, C, H, W) or (C, H, W)"
            )
        return F.softmax(input, -3)


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
