"""The generalized Pareto distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.constraints import Constraint
from zero.distributions.distribution import Distribution
from zero.distributions.utils import broadcast_all

__all__ = ["GeneralizedPareto"]


def _divided(f: Callable[[Tensor], Tensor], third: float, c: Tensor, x: Tensor) -> Tensor:
    """f(c x) / c, where ``f(w) = w +- w^2 / 2 + third w^3`` for small w: x for c = 0."""
    w = c * x
    small = w.abs() < 1e-5
    second = 0.5 if f is zero.expm1 else -0.5
    formula = f(zero.where(small, 0.0, w)) / zero.where(small, 1.0, c)
    return zero.where(small, x * (1 + w * (second + third * w)), formula)


class GeneralizedPareto(Distribution):
    """Generalized Pareto distributions, of tails beyond a bound.

    ``P(x > loc + scale z) = (1 + c z)^(-1 / c)``; for c = 0 that is ``exp(-z)``.

    Args:
        loc: the least values.
        scale: above 0.
        concentration: c: above 0 for a heavy tail, below 0 for one that ends at loc - scale / c;
            all are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set.

    Example:
        >>> import zero
        >>> d = zero.distributions.GeneralizedPareto(1.0, 2.0, 0.5)
        >>> d.mean.item(), round(d.cdf(zero.tensor(5.0)).item(), 4)
        (5.0, 0.75)

    Source: Pickands, Statistical inference using extreme order statistics, 1975.
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> GeneralizedPareto:
        names = ("loc", "scale", "concentration")
        return self._expanded(GeneralizedPareto, batch_shape, _instance, names)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, zero.where(self.concentration < 0, end, zero.inf))

    @property
    def mean(self) -> Tensor:
        """nan for a concentration from 1 on."""
        there = self.concentration < 1
        result = self.loc + self.scale / (1 - zero.where(there, self.concentration, 0.0))
        return zero.where(there, result, zero.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """nan for a concentration from 1 / 2 on."""
        there = self.concentration < 0.5
        c = zero.where(there, self.concentration, 0.0)
        result = (self.scale / (1 - c)).square() / (1 - 2 * c)
        return zero.where(there, result, zero.nan)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        waiting = zero.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self._at(waiting.exponential_())

    def _at(self, surprise: Tensor) -> Tensor:
        """The value that is exceeded with probability exp(-surprise)."""
        return self.loc + self.scale * _divided(zero.expm1, 1 / 6, self.concentration, surprise)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a draw above a value.

        Args:
            value: broadcasts with the batch's shape.
        """
        if self._validate_args:
            self._validate_sample(value)
        return -_divided(zero.log1p, 1 / 3, self.concentration, (value - self.loc) / self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        c = self.concentration
        tail = self.log_survival_function(value)
        return zero.where(c == -1, 0.0, (1 + c) * tail) - self.scale.log()

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of `cdf`.

        Args:
            value: broadcasts with the batch's shape.
        """
        return self.cdf(value).log()

    def cdf(self, value: Tensor) -> Tensor:
        return -zero.expm1(self.log_survival_function(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._at(-zero.log1p(-value))

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1
