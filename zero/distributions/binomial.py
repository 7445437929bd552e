"""The binomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.bernoulli import BinaryParameters
from zero.distributions.constraints import Constraint
from zero.distributions.utils import softplus

__all__ = ["Binomial"]


class Binomial(BinaryParameters):
    """The number of successes in `total_count` trials, each with probability p.

    Args:
        total_count: numbers of trials, an int or a tensor.
        probs: probabilities of success, numbers or tensors.
        logits: log(p / (1 - p)), in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set, or both or neither of `probs` and `logits` are
            given.

    Example:
        >>> import zero
        >>> d = zero.distributions.Binomial(2, zero.tensor(0.5))
        >>> d.log_prob(zero.tensor([0.0, 1.0, 2.0])).exp().tolist()
        [0.25, 0.5, 0.25]
    """

    arg_constraints: ClassVar = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        given, count = self._set_parameters(probs, logits, total_count)
        self.total_count = count.to(given.dtype)
        super().__init__(given.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return zero.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Binomial:
        names = ("total_count", "probs", "logits")
        return self._expanded(Binomial, batch_shape, _instance, names)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        with zero.no_grad():
            return zero.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        choose = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        # k log p + (n - k) log(1 - p) = k z - n softplus(z)
        return choose + value * self.logits - n * softplus(self.logits)

    def entropy(self) -> Tensor:
        """Of one number of trials for all: the sum over its values."""
        values = self._values("entropy").expand(-1, *self._batch_shape)
        log_prob = self.log_prob(values)
        return -(log_prob.exp() * log_prob).sum(0)

    def _values(self, name: str) -> Tensor:
        most = int(self.total_count.max())
        if int(self.total_count.min()) != most:
            raise NotImplementedError(f"Binomial.{name}: total_count differs across the batch")
        values = zero.arange(most + 1, dtype=self._param.dtype)
        return values.reshape(-1, *[1] * len(self._batch_shape))

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = self._values("enumerate_support")
        return values.expand(-1, *self._batch_shape) if expand else values
