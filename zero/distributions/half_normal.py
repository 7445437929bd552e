"""The half-normal distribution."""

from __future__ import annotations

import math

import zero
from zero import Tensor
from zero.distributions.half import Half
from zero.distributions.normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Half):
    """Distributions of ``|x|``, where x is normal with mean 0.

    Args:
        scale: standard deviations of x, above 0; a number or tensor.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a scale is not positive.

    Example:
        >>> import zero
        >>> d = zero.distributions.HalfNormal(2.0)
        >>> round(d.mean.item(), 4), bool((d.sample((100,)) >= 0).all())
        (1.5958, True)
    """

    base_dist: Normal
    _whole = Normal

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (1 - 2 / math.pi)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return zero.erf(value / (self.scale * math.sqrt(2)))
