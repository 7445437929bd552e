"""The relaxed categorical distribution (Gumbel-softmax)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.categorical import OverCategories
from zero.distributions.relaxed import Relaxed
from zero.distributions.transforms import ExpTransform

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(OverCategories):
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
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> ExpRelaxedCategorical:
        new = self._expanded_categories(ExpRelaxedCategorical, batch_shape, _instance)
        new.temperature = self.temperature
        return new

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


class RelaxedOneHotCategorical(Relaxed):
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
    _of_logits = ExpRelaxedCategorical
    _function = ExpTransform
