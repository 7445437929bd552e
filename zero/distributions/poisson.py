"""The Poisson distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.exp_family import ExponentialFamily
from zero.distributions.utils import broadcast_all, times_log

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Poisson distributions: ``P(k) = rate^k exp(-rate) / k!`` for k = 0, 1, ...

    Args:
        rate: means, at least 0; a number or tensor.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a rate is negative.

    Example:
        >>> import zero
        >>> d = zero.distributions.Poisson(zero.tensor(2.0))
        >>> round(d.log_prob(zero.tensor(1.0)).exp().item(), 4)
        0.2707
    """

    arg_constraints: ClassVar = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def expand(self, batch_shape: Any, _instance: Any = None) -> Poisson:
        return self._expanded(Poisson, batch_shape, _instance, ("rate",))

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        with zero.no_grad():
            return zero.poisson(self.rate.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return times_log(value, rate) - rate - (value + 1).lgamma()
