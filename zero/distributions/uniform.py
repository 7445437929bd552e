"""The uniform distribution."""

from __future__ import annotations

from typing import Any

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.constraints import Constraint
from zero.distributions.distribution import Distribution
from zero.distributions.utils import broadcast_all

__all__ = ["Uniform"]


class Uniform(Distribution):
    """Uniform distributions, of density 1 / (high - low) on [low, high).

    Args:
        low: lower bounds.
        high: upper bounds, above `low`; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a lower bound is not below its upper bound.

    Example:
        >>> import zero
        >>> d = zero.distributions.Uniform(zero.tensor([0.0, 2.0]), zero.tensor([1.0, 6.0]))
        >>> d.mean.tolist(), d.log_prob(zero.tensor([0.5, 3.0])).exp().tolist()
        ([0.5, 4.0], [1.0, 0.25])
    """

    has_rsample = True

    @property
    def arg_constraints(self) -> dict[str, Constraint]:  # type: ignore[override]
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return zero.full_like(self.high, zero.nan)  # all values are as likely

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).square() / 12

    def expand(self, batch_shape: Any, _instance: Any = None) -> Uniform:
        return self._expanded(Uniform, batch_shape, _instance, ("low", "high"))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        u = zero.rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        inside = (value >= self.low) & (value < self.high)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()
