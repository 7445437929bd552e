"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

import zero
from zero import Size, Tensor
from zero.distributions.location_scale import LocationScale
from zero.distributions.utils import euler_constant

__all__ = ["Gumbel"]


class Gumbel(LocationScale):
    """Gumbel distributions, of ``cdf(x) = exp(-exp(-(x - loc) / scale))``: of the largest of many.

    Args:
        loc: modes.
        scale: above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set.

    Example:
        >>> import zero
        >>> d = zero.distributions.Gumbel(1.0, 2.0)
        >>> round(d.mean.item(), 4), round(d.cdf(zero.tensor(1.0)).item(), 4)
        (2.1544, 0.3679)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.square()

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        waiting = zero.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc - self.scale * waiting.exponential_().log()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = (self.loc - value) / self.scale
        return z - z.exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return zero.exp(-zero.exp((self.loc - value) / self.scale))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * zero.log(-value.log())

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
