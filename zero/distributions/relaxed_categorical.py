"""The relaxed categorical distribution (Gumbel-softmax)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.categorical import Categorical
from zero.distributions.distribution import Distribution
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import ExpTransform

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """The logarithms of `RelaxedOneHotCategorical`.

    Args:
        temperature: above 0.
        probs: weights >= 0 of shape [..., K], which need not sum to 1.
        logits: logarithms of such weights, in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Source: Maddison, Mnih and Teh, The concrete distribution, 2017.
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # more exactly, those whose exp sums to 1
    has_rsample = True
    temperature: Tensor

    def __init__(
        self,
        temperature: Any,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        self.temperature = temperature
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=False)
        self._validate_args = self._categorical._validate_args

    def expand(self, batch_shape: Any, _instance: Any = None) -> ExpRelaxedCategorical:
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        shape = Size(batch_shape)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(shape)
        new._batch_shape, new._event_shape = shape, self._event_shape
        new._validate_args = self._validate_args
        return new

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        waiting = zero.empty(self._extended_shape(sample_shape), dtype=self.logits.dtype)
        gumbel = -waiting.exponential_().log()
        return zero.log_softmax((self.logits + gumbel) / self.temperature, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        k, t = self._event_shape[0], self.temperature
        logits, value = zero.broadcast_tensors(self.logits, value)
        log_t = t.log() if isinstance(t, Tensor) else math.log(t)
        score = logits - value * t
        score = (score - score.logsumexp(-1, keepdim=True)).sum(-1)
        return score + math.lgamma(k) + (k - 1) * log_t


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex that tend to unit vectors as the temperature falls (Gumbel-softmax).

    Args:
        temperature: above 0, a number or a tensor.
        probs: weights >= 0 of shape [..., K], which need not sum to 1.
        logits: logarithms of such weights, in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a weight is negative or nan, or both or neither are given.

    Example:
        >>> import zero
        >>> logits = zero.zeros(3, requires_grad=True)
        >>> d = zero.distributions.RelaxedOneHotCategorical(zero.tensor(0.5), logits=logits)
        >>> x = d.rsample()
        >>> abs(x.sum().item() - 1) < 1e-5, x.requires_grad
        (True, True)

    Source: Jang, Gu and Poole, Categorical reparameterization with Gumbel-softmax, 2017.
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical

    def __init__(
        self,
        temperature: Any,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> RelaxedOneHotCategorical:
        new = self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        return super().expand(batch_shape, _instance=new)  # type: ignore[return-value]

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self.base_dist.probs
