"""Activation functions that PyTorch has beside those of nn.functional."""

from __future__ import annotations

import zero
from zero import Generator, Tensor, _activation
from zero._composed.arguments import attach
from zero.errors import ValueError

__all__ = [
    "celu",
    "celu_",
    "hardshrink",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "threshold",
    "threshold_",
]

_SELU = (1.6732632423543772, 1.0507009873554805, 1.0)  # alpha and scale of the fixed point


def _celu(input: Tensor, alpha: float, over: bool) -> Tensor:
    if alpha == 0:
        raise ValueError("celu: alpha is 0; got a division by it, expected another number")
    return _activation("celu", input, over, alpha, 1.0, 1 / alpha)


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """A smooth :func:`relu`: ``max(x, 0) + min(alpha (e^(x / alpha) - 1), 0)``.

    Args:
        input: of floats, any shape.
        alpha: minus the limit to the left.

    Raises:
        DTypeError: the input is not floating point.
        ValueError: alpha is 0.

    Example:
        >>> import zero
        >>> zero.celu(zero.tensor([-1.0, 2.0]), alpha=2.0)
        tensor([-0.7869,  2.0000])

    Source: Barron, Continuously differentiable exponential linear units, 2017.
    """
    return _celu(input, alpha, False)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """:func:`celu` in place: overwrites the tensor and returns it."""
    return _celu(input, alpha, True)


def selu(input: Tensor) -> Tensor:
    """An exponential unit that keeps mean 0 and variance 1 through the layers of a network.

    ``scale (max(x, 0) + min(alpha (e^x - 1), 0))`` with scale 1.0507 and alpha 1.6733.

    Args:
        input: of floats, any shape.

    Raises:
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.selu(zero.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])

    Source: Klambauer et al., Self-normalizing neural networks, 2017.
    """
    return _activation("selu", input, False, *_SELU)


def selu_(input: Tensor) -> Tensor:
    """:func:`selu` in place: overwrites the tensor and returns it."""
    return _activation("selu", input, True, *_SELU)


def threshold(
    input: Tensor, threshold: float, value: float, *, out: Tensor | None = None
) -> Tensor:
    """Another value where an element is not above a threshold: ``x if x > threshold else value``.

    Args:
        input: of numbers, any shape.
        threshold: the largest number that is replaced.
        value: what takes its place; its gradient is 0.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.threshold(zero.tensor([0.5, 2.0]), 1.0, -1.0)
        tensor([-1.,  2.])
    """
    if input.is_floating_point():
        return _activation("threshold", input, False, threshold, value, 0.0, out)
    return zero._deliver(input.masked_fill(input <= threshold, int(value)), out, "threshold")


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """:func:`threshold` in place: overwrites the tensor and returns it."""
    if input.is_floating_point():
        return _activation("threshold", input, True, threshold, value)
    return input.masked_fill_(input <= threshold, int(value))


def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """0 between -lambd and lambd, x elsewhere.

    Args:
        input: of floats, any shape.
        lambd: the largest magnitude that becomes 0.
        out: where to write the result.

    Raises:
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.hardshrink(zero.tensor([-0.75, 0.25]))
        tensor([-0.7500,  0.0000])
    """
    return _activation("hardshrink", input, False, lambd, 0.0, 0.0, out)


def _rrelu(
    input: Tensor,
    lower: float,
    upper: float,
    training: bool,
    generator: Generator | None,
    over: bool,
) -> Tensor:
    if not 0 <= upper - lower < float("inf"):
        raise ValueError(
            f"rrelu: the slopes are no interval; got lower {lower} and upper {upper}, expected "
            "lower <= upper"
        )
    if not training:
        return _activation("leaky_relu", input, over, (lower + upper) / 2)
    with zero.no_grad():
        slopes = zero.empty_like(input).uniform_(lower, upper, generator=generator)
        slopes.masked_fill_(input > 0, 1)
    return input.mul_(slopes) if over else input * slopes


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """:func:`relu` with a slope for negative numbers that is drawn anew for each of them.

    Args:
        input: of floats, any shape.
        lower: the smallest slope.
        upper: the largest one.
        training: False takes the mean of both for all.
        generator: the source of random numbers; the default generator if None.

    Raises:
        DTypeError: the input is not floating point.
        ValueError: lower is above upper.

    Example:
        >>> import zero
        >>> zero.rrelu(zero.tensor([-4.0, 1.0]), 0.25, 0.75)
        tensor([-2.,  1.])

    Source: Xu et al., Empirical evaluation of rectified activations in convolutional network, 2015.
    """
    return _rrelu(input, lower, upper, training, generator, False)


def rrelu_(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """:func:`rrelu` in place: overwrites the tensor and returns it."""
    return _rrelu(input, lower, upper, training, generator, True)


attach(hardshrink)
