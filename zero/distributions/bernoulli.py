"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.distribution import Distribution
from zero.distributions.exp_family import ExponentialFamily
from zero.distributions.utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
    softplus,
)

__all__ = ["Bernoulli"]


def either(op: str, probs: Any, logits: Any) -> bool:
    """Whether probabilities were given; one of both must be."""
    if (probs is None) == (logits is None):
        raise zero.errors.ValueError(
            f"{op}: probs and logits are {'both' if probs is not None else 'not'} given; expected "
            "one of them"
        )
    return probs is not None


class BinaryParameters(Distribution):
    """Probabilities, and logits log(p / (1 - p)): one of them is given, the other computed."""

    def _set_parameters(self, probs: Any, logits: Any, *others: Any) -> tuple[Tensor, ...]:
        """Takes the one that is given, and returns it and the others with all of one shape."""
        if either(type(self).__name__, probs, logits):
            self.probs, *rest = broadcast_all(probs, *others)
            return self.probs, *rest
        self.logits, *rest = broadcast_all(logits, *others)
        return self.logits, *rest

    @lazy_property
    def logits(self) -> Tensor:
        """log(p / (1 - p))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities of 1, or of success."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.shape

    @property
    def _param(self) -> Tensor:
        given: Tensor = vars(self)["probs" if "probs" in vars(self) else "logits"]
        return given


class Bernoulli(BinaryParameters, ExponentialFamily):
    """Bernoulli distributions: 1 with probability p, else 0.

    Args:
        probs: probabilities, numbers or tensors.
        logits: log(p / (1 - p)), in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a probability is outside [0, 1], or both or neither are given.

    Example:
        >>> import zero
        >>> d = zero.distributions.Bernoulli(zero.tensor([0.25, 1.0]))
        >>> d.sample()[1].item(), d.log_prob(zero.ones(2)).exp()[0].item()
        (1.0, 0.25)
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (given,) = self._set_parameters(probs, logits)
        super().__init__(given.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        """1 or 0; nan where both are as likely."""
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        return zero.where(self.probs == 0.5, zero.nan, mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Bernoulli:
        return self._expanded(Bernoulli, batch_shape, _instance, ("probs", "logits"))

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        with zero.no_grad():
            return zero.bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        # log p = -softplus(-z), log(1 - p) = -z - softplus(-z)
        return (value - 1) * self.logits - softplus(-self.logits)

    def entropy(self) -> Tensor:
        # p softplus(-z) + (1 - p) softplus(z), where softplus(z) = softplus(-z) + z
        return softplus(-self.logits) + (1 - self.probs) * self.logits

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = zero.arange(2, dtype=self._param.dtype)
        values = values.reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values
