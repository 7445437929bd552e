"""The logistic-normal distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from zero import Tensor
from zero.distributions import constraints
from zero.distributions.normal import Normal
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Distributions over the simplex of K elements: K - 1 normal ones, by breaking a stick.

    Args:
        loc: means, of shape [..., K - 1].
        scale: standard deviations, above 0; both broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set, or has no dimension.

    Example:
        >>> import zero
        >>> d = zero.distributions.LogisticNormal(zero.zeros(3), zero.ones(3))
        >>> d.sample().shape, abs(d.sample().sum().item() - 1) < 1e-6
        (zero.Size([4]), True)
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LogisticNormal:
        new = self._get_checked_instance(LogisticNormal, _instance)
        return super().expand(batch_shape, _instance=new)  # type: ignore[return-value]

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc  # type: ignore[attr-defined,no-any-return]

    @property
    def scale(self) -> Tensor:
        """Their standard deviations."""
        return self.base_dist.base_dist.scale  # type: ignore[attr-defined,no-any-return]
