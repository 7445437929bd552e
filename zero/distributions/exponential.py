"""The exponential distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.exp_family import ExponentialFamily
from zero.distributions.utils import broadcast_all

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Exponential distributions, of density ``rate exp(-rate x)`` for x >= 0.

    Args:
        rate: 1 / mean, above 0; a number or tensor.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a rate is not positive.

    Example:
        >>> import zero
        >>> d = zero.distributions.Exponential(zero.tensor([0.5, 2.0]))
        >>> d.mean.tolist(), d.log_prob(zero.zeros(2)).exp().tolist()
        ([2.0, 0.5], [0.5, 2.0])
    """

    arg_constraints: ClassVar = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return zero.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Exponential:
        return self._expanded(Exponential, batch_shape, _instance, ("rate",))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        return zero.empty(shape, dtype=self.rate.dtype).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -zero.expm1(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        return -zero.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1 - self.rate.log()
