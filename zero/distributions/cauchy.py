"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import zero
from zero import Size, Tensor
from zero.distributions.location_scale import LocationScale

__all__ = ["Cauchy"]


class Cauchy(LocationScale):
    """Cauchy distributions, of density ``scale / (pi (scale^2 + (x - loc)^2))``; without a mean.

    Args:
        loc: medians.
        scale: half of the width at half of the height; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set.

    Example:
        >>> import zero
        >>> d = zero.distributions.Cauchy(0.0, 1.0)
        >>> round(d.cdf(zero.tensor(1.0)).item(), 4), d.mean.item()
        (0.75, nan)
    """

    @property
    def mean(self) -> Tensor:
        return zero.full_like(self.loc, zero.nan)

    @property
    def variance(self) -> Tensor:
        return zero.full_like(self.loc, zero.inf)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        drawn = zero.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - zero.log1p(z.square())

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return zero.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * zero.tan(math.pi * (value - 0.5))

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
