"""The gamma distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.exp_family import ExponentialFamily
from zero.distributions.utils import broadcast_all, times_log

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Gamma distributions, of density ``rate^a x^(a - 1) exp(-rate x) / Gamma(a)`` for x > 0.

    Args:
        concentration: a, above 0.
        rate: above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is not positive.

    Example:
        >>> import zero
        >>> d = zero.distributions.Gamma(zero.tensor(3.0), zero.tensor(2.0))
        >>> d.mean.item(), d.variance.item(), d.mode.item()
        (1.5, 0.75, 1.0)

    Source: Marsaglia and Tsang, A simple method for generating gamma variables, 2000 (draws);
    Figurnov, Mohamed and Mnih, Implicit reparameterization gradients, 2018 (their gradient).
    """

    arg_constraints: ClassVar = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.square()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Gamma:
        return self._expanded(Gamma, batch_shape, _instance, ("concentration", "rate"))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        drawn = zero._standard_gamma(self.concentration.expand(shape)) / self.rate
        return drawn.clamp(min=zero.finfo(drawn.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        powers = times_log(a, self.rate) + times_log(a - 1, value)
        return powers - self.rate * value - zero.lgamma(a)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return zero.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + zero.lgamma(a) + (1 - a) * zero.digamma(a)
