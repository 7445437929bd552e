"""The Fisher-Snedecor distribution (F)."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.distribution import Distribution
from zero.distributions.gamma import Gamma
from zero.distributions.utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """F distributions: of the ratio of two chi-squared numbers, each divided by its freedom.

    Args:
        df1: degrees of freedom of the numerator, above 0.
        df2: those of the denominator; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is not positive.

    Example:
        >>> import zero
        >>> d = zero.distributions.FisherSnedecor(zero.tensor(2.0), zero.tensor(4.0))
        >>> d.mean.item()
        2.0
    """

    arg_constraints: ClassVar = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _gamma1: Gamma
    _gamma2: Gamma

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1, validate_args=False)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2, validate_args=False)
        super().__init__(self.df1.shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> FisherSnedecor:
        new = self._expanded(FisherSnedecor, batch_shape, _instance, ("df1", "df2"))
        new._gamma1 = self._gamma1.expand(batch_shape)
        new._gamma2 = self._gamma2.expand(batch_shape)
        return new

    @property
    def mean(self) -> Tensor:
        """nan for df2 <= 2."""
        df2 = zero.where(self.df2 > 2, self.df2, zero.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        """nan for df1 <= 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return zero.where(self.df1 > 2, mode, zero.nan)

    @property
    def variance(self) -> Tensor:
        """nan for df2 <= 4."""
        df2 = zero.where(self.df2 > 4, self.df2, zero.nan)
        below = self.df1 * (df2 - 2).square() * (df2 - 4)
        return 2 * df2.square() * (self.df1 + df2 - 2) / below

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        above, below = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        tiny = zero.finfo(below.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a, b = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        constant = zero.lgamma(a + b) - zero.lgamma(a) - zero.lgamma(b)
        powers = a * ratio.log() + (a - 1) * value.log()
        return constant + powers - (a + b) * zero.log1p(ratio * value)
