"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.bernoulli import BinaryParameters
from zero.distributions.gamma import Gamma
from zero.distributions.utils import softplus

__all__ = ["NegativeBinomial"]


class NegativeBinomial(BinaryParameters):
    """The number of successes before `total_count` failures, each trial with probability p.

    Args:
        total_count: numbers of failures, at least 0, integers or not.
        probs: probabilities of success, in [0, 1).
        logits: log(p / (1 - p)), in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set, or both or neither of `probs` and `logits` are
            given.

    Example:
        >>> import zero
        >>> d = zero.distributions.NegativeBinomial(2, zero.tensor(0.5))
        >>> d.mean.item(), round(d.log_prob(zero.tensor(1.0)).exp().item(), 4)
        (2.0, 0.25)
    """

    arg_constraints: ClassVar = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        given, count = self._set_parameters(probs, logits, total_count)
        self.total_count = count.to(given.dtype)
        super().__init__(given.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean * (1 + self.logits.exp())

    def expand(self, batch_shape: Any, _instance: Any = None) -> NegativeBinomial:
        names = ("total_count", "probs", "logits")
        return self._expanded(NegativeBinomial, batch_shape, _instance, names)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        with zero.no_grad():  # a Poisson number whose mean is gamma distributed
            rates = Gamma(self.total_count, (-self.logits).exp(), validate_args=False)
            return zero.poisson(rates.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, z = self.total_count, self.logits
        likely = -n * softplus(z) - value * softplus(-z)  # n log(1 - p) + k log p
        choose = zero.lgamma(n + value) - zero.lgamma(1 + value) - zero.lgamma(n)
        return likely + zero.where(n + value == 0, 0.0, choose)
