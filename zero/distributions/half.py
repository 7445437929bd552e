"""The base of distributions of absolute values."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import zero
from zero import Tensor
from zero.distributions import constraints
from zero.distributions.location_scale import LocationScale
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import AbsTransform

__all__ = ["Half"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self


class Half(TransformedDistribution):
    """Distributions of ``|x|``, where x has one that is symmetric about 0.

    Args:
        scale: that of x, above 0; a number or tensor.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a scale is not positive.
    """

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    base_dist: LocationScale
    _whole: ClassVar[type[LocationScale]]  # the distribution of x

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = self._whole(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        new = self._get_checked_instance(Half, _instance)
        return super().expand(batch_shape, _instance=new)  # type: ignore[return-value]

    @property
    def scale(self) -> Tensor:
        """That of x."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return zero.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        result = self.base_dist.log_prob(value) + math.log(2)
        return zero.where(value >= 0, result, -zero.inf)

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
