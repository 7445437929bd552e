"""Mixtures of distributions of one kind."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.categorical import Categorical
from zero.distributions.constraints import Constraint, MixtureSameFamilyConstraint
from zero.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A draw is one of K components, chosen by weight: ``p(x) = sum_k w_k p_k(x)``.

    Args:
        mixture_distribution: the weights, a `Categorical` over K.
        component_distribution: the components, along the last dimension of its batch, of size K.
        validate_args: whether values are checked; None for the default.

    Raises:
        ValueError: the numbers of components differ, or the batches.

    Example:
        >>> import zero
        >>> from zero.distributions import Categorical, MixtureSameFamily, Normal
        >>> parts = Normal(zero.tensor([-1.0, 1.0]), 0.1)
        >>> d = MixtureSameFamily(Categorical(zero.tensor([1.0, 3.0])), parts)
        >>> d.mean.item(), d.sample((5,)).shape
        (0.5, zero.Size([5]))
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise zero.errors.ValueError(
                "MixtureSameFamily: the weights are no Categorical; got "
                f"{type(mixture_distribution).__name__}"
            )
        if not isinstance(component_distribution, Distribution):
            raise zero.errors.ValueError(
                "MixtureSameFamily: the components are no Distribution; got "
                f"{type(component_distribution).__name__}"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        own, batch = mixture_distribution.batch_shape, component_distribution.batch_shape
        count = mixture_distribution.logits.shape[-1]
        if not batch or batch[-1] != count:
            raise zero.errors.ValueError(
                f"MixtureSameFamily: the numbers of components differ; got {count} weights and "
                f"components of batch shape {tuple(batch)}"
            )
        fits = len(own) <= len(batch) - 1 and all(
            i == j or 1 in (i, j) for i, j in zip(reversed(own), reversed(batch[:-1]), strict=False)
        )
        if not fits:
            raise zero.errors.ValueError(
                f"MixtureSameFamily: the batches do not fit; got {tuple(own)} for the weights and "
                f"{tuple(batch[:-1])} for the components"
            )
        self._num_component = count
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(batch[:-1], event, validate_args=validate_args)

    @property
    def mixture_distribution(self) -> Categorical:
        """The weights."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    @constraints.dependent_property
    def support(self) -> Constraint | None:
        base = self._component_distribution.support
        assert base is not None
        return MixtureSameFamilyConstraint(base)

    def expand(self, batch_shape: Any, _instance: Any = None) -> MixtureSameFamily:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        shape = Size(batch_shape)
        parts = self._component_distribution.expand((*shape, self._num_component))
        new._component_distribution = parts
        new._mixture_distribution = self._mixture_distribution.expand(shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        new._batch_shape, new._event_shape = shape, self._event_shape
        new._validate_args = self._validate_args
        return new

    def _weights(self) -> Tensor:
        """With the components' dimension before those of the event."""
        probs = self._mixture_distribution.probs
        return probs.reshape(*probs.shape, *[1] * self._event_ndims)

    @property
    def mean(self) -> Tensor:
        dim = -1 - self._event_ndims
        return (self._weights() * self._component_distribution.mean).sum(dim)

    @property
    def variance(self) -> Tensor:
        dim, weights = -1 - self._event_ndims, self._weights()
        within = (weights * self._component_distribution.variance).sum(dim)
        away = self._component_distribution.mean - self.mean.unsqueeze(dim)
        return within + (weights * away.square()).sum(dim)

    def cdf(self, value: Tensor) -> Tensor:
        parts = self._component_distribution.cdf(self._padded(value))
        return (parts * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        parts = self._component_distribution.log_prob(self._padded(value))
        logits = self._mixture_distribution.logits
        return (parts + zero.log_softmax(logits, -1)).logsumexp(-1)

    def _padded(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1 - self._event_ndims)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        with zero.no_grad():
            shape = Size(sample_shape) + self._batch_shape
            chosen = self._mixture_distribution.expand(self._batch_shape).sample(sample_shape)
            parts = self._component_distribution.sample(sample_shape)
            index = chosen.reshape(*shape, 1, *[1] * self._event_ndims)
            index = index.expand(*shape, 1, *self._event_shape)
            return parts.gather(len(shape), index).squeeze(len(shape))

    def __repr__(self) -> str:
        return f"MixtureSameFamily({self._mixture_distribution}, {self._component_distribution})"
