"""The half-Cauchy distribution."""

from __future__ import annotations

import math

import zero
from zero import Tensor
from zero.distributions.cauchy import Cauchy
from zero.distributions.half import Half

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """Distributions of ``|x|``, where x is Cauchy distributed around 0; without a mean.

    Args:
        scale: that of x, above 0; a number or tensor.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a scale is not positive.

    Example:
        >>> import zero
        >>> round(zero.distributions.HalfCauchy(2.0).cdf(zero.tensor(2.0)).item(), 4)
        0.5
    """

    _whole = Cauchy

    @property
    def mean(self) -> Tensor:
        return zero.full(self._extended_shape(), zero.inf, dtype=self.scale.dtype)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 2 / math.pi * zero.atan(value / self.scale)
