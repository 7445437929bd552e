"""The multinomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.binomial import Binomial
from zero.distributions.categorical import OverCategories
from zero.distributions.constraints import Constraint

__all__ = ["Multinomial"]


class Multinomial(OverCategories):
    """How often each of K categories is drawn in `total_count` draws.

    Args:
        total_count: the number of draws.
        probs: weights >= 0 of shape [..., K], which need not sum to 1.
        logits: logarithms of such weights, in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a weight is negative or nan, or both or neither are given.
        NotImplementedError: `total_count` is no int.

    Example:
        >>> import zero
        >>> d = zero.distributions.Multinomial(5, zero.tensor([1.0, 0.0, 3.0]))
        >>> d.sample().sum().item(), d.mean.tolist()
        (5.0, [1.25, 0.0, 3.75])
    """

    arg_constraints: ClassVar = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    total_count: int

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("Multinomial: total_count is no int; one number for all")
        super().__init__(probs, logits, validate_args)
        self.total_count = total_count
        self._binomial = Binomial(total_count, self.probs, validate_args=False)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Multinomial:
        new = self._expanded_categories(Multinomial, batch_shape, _instance)
        new._binomial = self._binomial.expand(new._batch_shape + new._event_shape)
        new.total_count = self.total_count
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        drawn = self._categorical.sample((self.total_count, *Size(sample_shape)))
        index = drawn.movedim(0, -1)  # [..., total_count]
        counts = zero.zeros(shape, dtype=self.probs.dtype)
        return counts.scatter_add(-1, index, zero.ones(index.shape, dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = zero.broadcast_tensors(self.logits, value)
        impossible = (value == 0) & (logits == -zero.inf)
        powers = (zero.where(impossible, 0.0, logits) * value).sum(-1)
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + powers

    def entropy(self) -> Tensor:
        n = zero.tensor(float(self.total_count), dtype=self.probs.dtype)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        probability = self._binomial.log_prob(counts).exp()
        arranged = (probability * (counts + 1).lgamma()).sum((0, -1))
        return n * self._categorical.entropy() - (n + 1).lgamma() + arranged
