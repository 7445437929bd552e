"""The Pareto distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from zero import Tensor
from zero.distributions import constraints
from zero.distributions.constraints import Constraint
from zero.distributions.exponential import Exponential
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import AffineTransform, ExpTransform
from zero.distributions.utils import broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """Pareto distributions, of density ``alpha scale^alpha / x^(alpha + 1)`` for x >= scale.

    Args:
        scale: the least values, above 0.
        alpha: how fast the tail falls, above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is not positive.

    Example:
        >>> import zero
        >>> d = zero.distributions.Pareto(1.0, 3.0)
        >>> d.mean.item(), bool((d.sample((100,)) >= 1).all())
        (1.5, True)
    """

    arg_constraints: ClassVar = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Pareto:
        new = self._get_checked_instance(Pareto, _instance)
        new.scale, new.alpha = self.scale.expand(batch_shape), self.alpha.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)  # type: ignore[return-value]

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        """inf for alpha <= 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        """inf for alpha <= 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.square() * a / ((a - 1).square() * (a - 2))

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + 1 + self.alpha.reciprocal()
