"""The half-normal distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import zero
from zero import Tensor
from zero.distributions import constraints
from zero.distributions.normal import Normal
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(TransformedDistribution):
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

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    base_dist: Normal

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> HalfNormal:
        new = self._get_checked_instance(HalfNormal, _instance)
        return super().expand(batch_shape, _instance=new)  # type: ignore[return-value]

    @property
    def scale(self) -> Tensor:
        """The standard deviation of x."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return zero.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (1 - 2 / math.pi)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        result = self.base_dist.log_prob(value) + math.log(2)
        return zero.where(value >= 0, result, -zero.inf)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return zero.erf(value / (self.scale * math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
