"""The inverse gamma distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Tensor
from zero.distributions import constraints
from zero.distributions.gamma import Gamma
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """Distributions of ``1 / x``, where x is gamma distributed.

    Args:
        concentration: of x, above 0.
        rate: of x, above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is not positive.

    Example:
        >>> import zero
        >>> d = zero.distributions.InverseGamma(zero.tensor(3.0), zero.tensor(4.0))
        >>> d.mean.item(), d.mode.item()
        (2.0, 1.0)
    """

    arg_constraints: ClassVar = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(-zero.ones((), dtype=base.rate.dtype))
        super().__init__(base, power, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> InverseGamma:
        new = self._get_checked_instance(InverseGamma, _instance)
        return super().expand(batch_shape, _instance=new)  # type: ignore[return-value]

    @property
    def concentration(self) -> Tensor:
        """That of x."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """That of x."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        """inf for concentration <= 1."""
        a = self.concentration
        return zero.where(a > 1, self.rate / (a - 1), zero.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """inf for concentration <= 2."""
        a = self.concentration
        result = self.rate.square() / ((a - 1).square() * (a - 2))
        return zero.where(a > 2, result, zero.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + zero.lgamma(a) - (1 + a) * zero.digamma(a)
