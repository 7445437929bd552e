"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import zero
from zero import Tensor
from zero.distributions import constraints
from zero.distributions.cauchy import Cauchy
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
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

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    base_dist: Cauchy

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> HalfCauchy:
        new = self._get_checked_instance(HalfCauchy, _instance)
        return super().expand(batch_shape, _instance=new)  # type: ignore[return-value]

    @property
    def scale(self) -> Tensor:
        """That of x."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return zero.full(self._extended_shape(), zero.inf, dtype=self.scale.dtype)

    @property
    def mode(self) -> Tensor:
        return zero.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        result = self.base_dist.log_prob(value) + math.log(2)
        return zero.where(value >= 0, result, -zero.inf)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 2 / math.pi * zero.atan(value / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
