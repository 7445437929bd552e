"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

import zero
from zero import Size, Tensor
from zero.distributions.exp_family import ExponentialFamily
from zero.distributions.location_scale import LocationScale

__all__ = ["Normal"]


class Normal(LocationScale, ExponentialFamily):
    """Normal distributions, of density ``exp(-(x - loc)^2 / (2 scale^2)) / (scale sqrt(2 pi))``.

    Args:
        loc: means.
        scale: standard deviations, above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set.

    Example:
        >>> import zero
        >>> d = zero.distributions.Normal(zero.zeros(3), 1.0)
        >>> d.sample((2,)).shape, round(d.log_prob(zero.zeros(3))[0].item(), 4)
        (zero.Size([2, 3]), -0.9189)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale.square()

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        with zero.no_grad():
            return zero.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        shape = self._extended_shape(sample_shape)
        return self.loc + self.scale * zero.randn(shape, dtype=self.loc.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -0.5 * z.square() - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        # erfc keeps the digits of small probabilities, which 1 + erf loses
        return 0.5 * zero.erfc((self.loc - value) / (self.scale * math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * math.sqrt(2) * zero.erfinv(2 * value - 1)

    def entropy(self) -> Tensor:
        return self.scale.log() + 0.5 * math.log(2 * math.pi * math.e)
