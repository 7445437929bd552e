"""The Kumaraswamy distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Tensor
from zero.distributions import constraints
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import AffineTransform, PowerTransform
from zero.distributions.uniform import Uniform
from zero.distributions.utils import broadcast_all, euler_constant, times_log

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy distributions on [0, 1], of ``cdf(x) = 1 - (1 - x^a)^b``.

    Args:
        concentration1: a, above 0.
        concentration0: b, above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is not positive.

    Example:
        >>> import zero
        >>> d = zero.distributions.Kumaraswamy(zero.tensor(1.0), zero.tensor(3.0))
        >>> round(d.mean.item(), 4), round(d.cdf(zero.tensor(0.5)).item(), 4)
        (0.25, 0.875)

    Source: Kumaraswamy, A generalized probability density function for double-bounded random
    processes, 1980.
    """

    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            zero.zeros_like(self.concentration0),
            zero.ones_like(self.concentration0),
            validate_args=validate_args,
        )
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _steps(self) -> list[Any]:
        return [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Kumaraswamy:
        new = self._get_checked_instance(Kumaraswamy, _instance)
        for name in ("concentration1", "concentration0"):
            setattr(new, name, getattr(self, name).expand(batch_shape))
        super().expand(batch_shape, _instance=new)
        new.transforms = new._steps()
        return new

    def _moment(self, k: int) -> Tensor:
        """E x^k = b B(1 + k / a, b)."""
        a, b = 1 + k / self.concentration1, self.concentration0
        return b * (zero.lgamma(a) + zero.lgamma(b) - zero.lgamma(a + b)).exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """nan where a or b is below 1."""
        a, b = self.concentration1, self.concentration0
        inside = (a >= 1) & (b >= 1) & (a * b > 1)
        mode = ((a - 1) / (a * b - 1)).pow(1 / a)
        return zero.where(inside, mode, zero.nan)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean.square()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        return a.log() + b.log() + times_log(a - 1, value) + times_log(b - 1, 1 - value.pow(a))

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        tail = zero.log1p(-value.pow(self.concentration1))
        return -zero.expm1(self.concentration0 * tail)

    def icdf(self, value: Tensor) -> Tensor:
        tail = zero.log1p(-value) / self.concentration0
        return (-zero.expm1(tail)).pow(1 / self.concentration1)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = zero.digamma(b + 1) + euler_constant
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - a.log() - b.log()
