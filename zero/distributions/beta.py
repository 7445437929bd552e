"""The beta distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.dirichlet import Dirichlet
from zero.distributions.exp_family import ExponentialFamily
from zero.distributions.utils import broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Beta distributions on [0, 1], of density ``~ x^(a - 1) (1 - x)^(b - 1)``.

    Args:
        concentration1: a, above 0.
        concentration0: b, above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is not positive.

    Example:
        >>> import zero
        >>> d = zero.distributions.Beta(zero.tensor(1.0), zero.tensor(3.0))
        >>> d.mean.item(), round(d.log_prob(zero.tensor(0.5)).exp().item(), 4)
        (0.25, 0.75)
    """

    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _dirichlet: Dirichlet

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        both = zero.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(both.shape[:-1], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Beta:
        new = self._get_checked_instance(Beta, _instance)
        shape = Size(batch_shape)
        new._dirichlet = self._dirichlet.expand(shape)
        new._batch_shape, new._event_shape = shape, self._event_shape
        new._validate_args = self._validate_args
        return new

    @property
    def concentration1(self) -> Tensor:
        """a, the power of x plus 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """b, the power of 1 - x plus 1."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.square() * (total + 1))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(zero.stack([value, 1 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()
