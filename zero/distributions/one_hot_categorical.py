"""The categorical distribution over unit vectors."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.categorical import OverCategories

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OverCategories):
    """Distributions over vectors of K elements, of which one is 1 and the others 0.

    Args:
        probs: weights >= 0 of shape [..., K], which need not sum to 1.
        logits: logarithms of such weights, in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a weight is negative or nan, or both or neither are given.

    Example:
        >>> import zero
        >>> d = zero.distributions.OneHotCategorical(zero.tensor([0.0, 1.0, 0.0]))
        >>> d.sample().tolist(), d.event_shape
        ([0.0, 1.0, 0.0], zero.Size([3]))
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(probs, logits, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> OneHotCategorical:
        return self._expanded_categories(OneHotCategorical, batch_shape, _instance)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._vectors(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def _vectors(self, index: Tensor) -> Tensor:
        places = zero.arange(self._event_shape[0], device=index.device)
        return (index.unsqueeze(-1) == places).to(self._param.dtype)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        return self._vectors(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._event_shape[0]
        values = zero.eye(n, dtype=self._param.dtype)
        values = values.reshape(n, *[1] * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` with draws through which the gradient of the probabilities flows.

    The draw is ``sample + probs - probs.detach()``: its value is the sample's, its gradient that of
    the probabilities.

    Source: Bengio, Leonard and Courville, Estimating or propagating gradients through stochastic
    neurons for conditional computation, 2013.
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
