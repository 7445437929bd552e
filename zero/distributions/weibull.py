"""The Weibull distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Tensor
from zero.distributions import constraints
from zero.distributions.exponential import Exponential
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import AffineTransform, PowerTransform
from zero.distributions.utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Weibull distributions, of ``cdf(x) = 1 - exp(-(x / scale)^concentration)`` for x > 0.

    Args:
        scale: above 0.
        concentration: the shape, above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is not positive.

    Example:
        >>> import zero
        >>> d = zero.distributions.Weibull(2.0, 1.0)  # an exponential distribution of mean 2
        >>> round(d.mean.item(), 4), round(d.cdf(zero.tensor(2.0)).item(), 4)
        (2.0, 0.6321)
    """

    arg_constraints: ClassVar = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(zero.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(self.concentration_reciprocal),
            AffineTransform(0, self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Weibull:
        new = self._get_checked_instance(Weibull, _instance)
        for name in ("scale", "concentration", "concentration_reciprocal"):
            setattr(new, name, getattr(self, name).expand(batch_shape))
        super().expand(batch_shape, _instance=new)
        new.transforms = [
            PowerTransform(new.concentration_reciprocal),
            AffineTransform(0, new.scale),
        ]
        return new

    def _moment(self, k: int) -> Tensor:
        """E (x / scale)^k."""
        return (1 + k * self.concentration_reciprocal).lgamma().exp()

    @property
    def mean(self) -> Tensor:
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Tensor:
        r = self.concentration_reciprocal
        return self.scale * (1 - r).clamp(min=0).pow(r)

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (self._moment(2) - self._moment(1).square())

    def entropy(self) -> Tensor:
        r = self.concentration_reciprocal
        return euler_constant * (1 - r) + (self.scale * r).log() + 1
