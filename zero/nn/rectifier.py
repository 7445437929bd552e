"""Rectifiers and other activation functions made of lines and exponentials, as modules."""

from __future__ import annotations

import warnings

import zero
from zero import Parameter, Tensor
from zero.errors import ValueError
from zero.nn import _options, functional as F
from zero.nn.init import constant_
from zero.nn.module import Module

__all__ = [
    "CELU",
    "ELU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "PReLU",
    "RReLU",
    "ReLU6",
    "Softshrink",
    "Threshold",
]


def _inplace(inplace: bool) -> str:
    return ", inplace=True" if inplace else ""


def _renamed(old: str, name: str, value: float) -> float:
    warnings.warn(
        f"Hardtanh: {old} is the old name of {name}; say {name}={value}",
        FutureWarning,
        stacklevel=3,
    )
    return value


class LeakyReLU(Module):
    """x where it is positive, negative_slope x elsewhere.

    Args:
        negative_slope: the factor of negative numbers.
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.LeakyReLU(0.25)(zero.tensor([-1.0, 2.0]))
        tensor([-0.2500,  2.0000])

    Source: Maas et al., Rectifier nonlinearities improve neural network acoustic models, 2013.
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self.negative_slope = negative_slope
        self.inplace = _options.flag("LeakyReLU", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}{_inplace(self.inplace)}"


class PReLU(Module):
    """x where it is positive, weight x elsewhere; the weight is learned.

    Args:
        num_parameters: one weight for all, or one for each channel (dimension 1).
        init: their first value.
        device: where they are.
        dtype: of them; the default dtype if None.

    Shape:
        input […] or [N, C, …], output the same; weight [num_parameters]

    Example:
        >>> import zero
        >>> zero.nn.PReLU()(zero.tensor([-2.0, 3.0])).tolist()
        [-0.5, 3.0]

    Source: He et al., Delving deep into rectifiers, 2015.
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        self.num_parameters = _options.size("PReLU", "num_parameters", num_parameters)
        self.init = init
        self.weight = Parameter(zero.empty(self.num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets all weights to `init`."""
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """relu with a random slope for each negative number; its mean in evaluation.

    Args:
        lower: the smallest slope.
        upper: the largest one.
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.RReLU(0.25, 0.75).eval()(zero.tensor([-4.0, 1.0]))
        tensor([-2.,  1.])

    Source: Xu et al., Empirical evaluation of rectified activations in convolutional network, 2015.
    """

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        self.lower = lower
        self.upper = upper
        self.inplace = _options.flag("RReLU", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}{_inplace(self.inplace)}"


class ELU(Module):
    """x where it is positive, alpha (e^x - 1) elsewhere.

    Args:
        alpha: minus the limit to the left.
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.ELU()(zero.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])

    Source: Clevert et al., Fast and accurate deep network learning by exponential linear units,
    2015.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha = alpha
        self.inplace = _options.flag("ELU", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{_inplace(self.inplace)}"


class CELU(Module):
    """max(x, 0) + min(alpha (e^(x / alpha) - 1), 0), whose slope has no jump.

    Args:
        alpha: minus the limit to the left.
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.CELU(alpha=2.0)(zero.tensor([-1.0, 2.0]))
        tensor([-0.7869,  2.0000])

    Source: Barron, Continuously differentiable exponential linear units, 2017.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha = alpha
        self.inplace = _options.flag("CELU", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{_inplace(self.inplace)}"


class SELU(Module):
    """An exponential unit that keeps mean 0 and variance 1 through the layers of a network.

    Args:
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.SELU()(zero.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])

    Source: Klambauer et al., Self-normalizing neural networks, 2017.
    """

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = _options.flag("SELU", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """x where it is above a threshold, another value elsewhere.

    Args:
        threshold: the largest number that is replaced.
        value: what takes its place.
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.Threshold(1.0, -1.0)(zero.tensor([0.5, 2.0]))
        tensor([-1.,  2.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        self.threshold = threshold
        self.value = value
        self.inplace = _options.flag("Threshold", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}{_inplace(self.inplace)}"


class Hardtanh(Module):
    """x limited to [min_val, max_val].

    Args:
        min_val: the smallest result.
        max_val: the largest one.
        inplace: overwrite the input.
        min_value: old name of min_val.
        max_value: old name of max_val.

    Raises:
        ValueError: max_val is not above min_val.

    Example:
        >>> import zero
        >>> zero.nn.Hardtanh()(zero.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        if min_value is not None:
            min_val = _renamed("min_value", "min_val", min_value)
        if max_value is not None:
            max_val = _renamed("max_value", "max_val", max_value)
        if max_val <= min_val:
            raise ValueError(
                f"Hardtanh: max_val is not above min_val; got {max_val} and {min_val}, expected "
                "max_val > min_val"
            )
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = _options.flag("Hardtanh", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}{_inplace(self.inplace)}"


class ReLU6(Hardtanh):
    """min(max(x, 0), 6), element by element.

    Args:
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.ReLU6()(zero.tensor([-1.0, 2.0, 7.0]))
        tensor([0., 2., 6.])

    Source: Howard et al., MobileNets, 2017.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Hardsigmoid(Module):
    """A sigmoid of three lines: min(max(x + 3, 0), 6) / 6.

    Args:
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.Hardsigmoid()(zero.tensor([-4.0, 0.0, 1.5]))
        tensor([0.0000, 0.5000, 0.7500])

    Source: Howard et al., Searching for MobileNetV3, 2019.
    """

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = _options.flag("Hardsigmoid", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    """x times its Hardsigmoid.

    Args:
        inplace: overwrite the input.

    Example:
        >>> import zero
        >>> zero.nn.Hardswish()(zero.tensor([-4.0, 1.5, 4.0]))
        tensor([-0.0000,  1.1250,  4.0000])

    Source: Howard et al., Searching for MobileNetV3, 2019.
    """

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = _options.flag("Hardswish", "inplace", inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class Hardshrink(Module):
    """0 between -lambd and lambd, x elsewhere.

    Args:
        lambd: the largest magnitude that becomes 0.

    Example:
        >>> import zero
        >>> zero.nn.Hardshrink()(zero.tensor([-0.75, 0.25]))
        tensor([-0.7500,  0.0000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(Module):
    """x moved towards 0 by lambd, and 0 between -lambd and lambd.

    Args:
        lambd: by how much, 0 or more.

    Example:
        >>> import zero
        >>> zero.nn.Softshrink()(zero.tensor([-2.0, 0.25]))
        tensor([-1.5000,  0.0000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"
