"""The geometric distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.bernoulli import BinaryParameters
from zero.distributions.utils import softplus

__all__ = ["Geometric"]


class Geometric(BinaryParameters):
    """The number of failures before the first success: ``P(k) = (1 - p)^k p`` for k = 0, 1, ...

    (`Tensor.geometric_` counts the success, too.)

    Args:
        probs: probabilities of success, above 0; numbers or tensors.
        logits: log(p / (1 - p)), in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a probability is not in (0, 1], or both or neither are given.

    Example:
        >>> import zero
        >>> d = zero.distributions.Geometric(zero.tensor([0.25]))
        >>> d.mean.tolist(), d.log_prob(zero.tensor([1.0])).exp().tolist()
        ([3.0], [0.1875])
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (given,) = self._set_parameters(probs, logits)
        super().__init__(given.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise zero.errors.ValueError(
                f"Geometric: parameter probs is outside its set; got {self.probs}, expected "
                "0 < probs <= 1"
            )

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        return zero.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1 / self.probs - 1) / self.probs

    def expand(self, batch_shape: Any, _instance: Any = None) -> Geometric:
        return self._expanded(Geometric, batch_shape, _instance, ("probs", "logits"))

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        with zero.no_grad():
            waiting = zero.empty(shape, dtype=self.probs.dtype).exponential_()
            return (waiting / -zero.log1p(-self.probs)).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        # 0 failures have no factor 1 - p, which may be 0
        p = zero.where((self.probs == 1) & (value == 0), 0.0, self.probs)
        return value * zero.log1p(-p) + self.probs.log()

    def entropy(self) -> Tensor:
        # of one trial, times the mean number 1 / p of trials
        one = softplus(-self.logits) + (1 - self.probs) * self.logits
        return one / self.probs
