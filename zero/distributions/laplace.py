"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

import zero
from zero import Size, Tensor
from zero.distributions.location_scale import LocationScale

__all__ = ["Laplace"]


class Laplace(LocationScale):
    """Laplace distributions, of density ``exp(-|x - loc| / scale) / (2 scale)``.

    Args:
        loc: means.
        scale: above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set.

    Example:
        >>> import zero
        >>> d = zero.distributions.Laplace(1.0, 2.0)
        >>> d.log_prob(zero.tensor(1.0)).exp().item(), d.cdf(zero.tensor(1.0)).item()
        (0.25, 0.5)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        size = zero.empty(shape, dtype=self.loc.dtype).exponential_()
        way = zero.empty(shape, dtype=self.loc.dtype).bernoulli_() * 2 - 1
        return self.loc + self.scale * (size * way)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        tail = 0.5 * zero.exp(-z.abs())
        return zero.where(z < 0, tail, 1 - tail)

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * zero.log1p(-2 * term.abs())

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()
