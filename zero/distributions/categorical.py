"""The categorical distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.bernoulli import either
from zero.distributions.constraints import Constraint
from zero.distributions.distribution import Distribution
from zero.distributions.utils import lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Categorical"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self


class Categorical(Distribution):
    """Distributions over the indices 0 to K - 1.

    Args:
        probs: weights >= 0 of shape [..., K], which need not sum to 1.
        logits: logarithms of such weights, in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Attributes:
        probs: probabilities.
        logits: their logarithms.

    Raises:
        ValueError: a weight is negative or nan, or both or neither are given.

    Example:
        >>> import zero
        >>> d = zero.distributions.Categorical(zero.tensor([1.0, 0.0, 3.0]))
        >>> d.probs.tolist(), d.log_prob(zero.tensor(2)).exp().item()
        ([0.25, 0.0, 0.75], 0.75)
        >>> set(d.sample((100,)).tolist()) <= {0, 2}
        True
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name = type(self).__name__
        given = probs if either(name, probs, logits) else logits
        if not isinstance(given, Tensor) or given.ndim < 1:
            raise zero.errors.ValueError(
                f"{name}: the parameter has no dimension of categories; got "
                f"{tuple(given.shape) if isinstance(given, Tensor) else given!r}"
            )
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = given - given.logsumexp(-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @lazy_property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def _param(self) -> Tensor:
        given: Tensor = vars(self)["probs" if "probs" in vars(self) else "logits"]
        return given

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.shape

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """nan: indices are names."""
        return zero.full(self._batch_shape, zero.nan, dtype=self._param.dtype)

    @property
    def mode(self) -> Tensor:
        return self._param.argmax(-1)

    @property
    def variance(self) -> Tensor:
        """nan, as the mean."""
        return zero.full(self._batch_shape, zero.nan, dtype=self._param.dtype)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Categorical:
        new = self._expanded(Categorical, batch_shape, _instance, ("probs", "logits"))
        new._num_events = self._num_events
        return new

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = Size(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        drawn = zero.multinomial(rows, shape.numel(), replacement=True)
        return drawn.t().reshape(self._extended_shape(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        index = value.long().unsqueeze(-1)
        shape = zero.broadcast_shapes(index.shape[:-1], self._batch_shape)
        logits = self.logits.expand(*shape, self._num_events)
        return logits.gather(-1, index.expand(*shape, 1)).squeeze(-1)

    def entropy(self) -> Tensor:
        least = zero.finfo(self.logits.dtype).min  # 0 log 0 = 0
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = zero.arange(self._num_events).reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class OverCategories(Distribution):
    """Distributions whose draws have a number for each category of a `Categorical`."""

    def __init__(
        self, probs: Tensor | None, logits: Tensor | None, validate_args: bool | None
    ) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=False)
        self._validate_args = self._categorical._validate_args

    def _expanded_categories(self, cls: type, batch_shape: Any, _instance: Any) -> Self:
        new = self._expanded(cls, batch_shape, _instance, ())
        new._categorical = self._categorical.expand(new._batch_shape)
        return new

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def probs(self) -> Tensor:
        """The probabilities of the categories."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits
