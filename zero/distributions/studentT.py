"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.chi2 import Chi2
from zero.distributions.distribution import Distribution
from zero.distributions.utils import broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distributions, of density ``~ (1 + z^2 / df)^(-(df + 1) / 2)``.

    Here ``z = (x - loc) / scale``.

    Args:
        df: degrees of freedom, above 0.
        loc: the middle.
        scale: above 0; all are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set.

    Example:
        >>> import zero
        >>> d = zero.distributions.StudentT(zero.tensor(1.0))  # a Cauchy distribution
        >>> round(d.log_prob(zero.tensor(0.0)).exp().item(), 4)
        0.3183
    """

    arg_constraints: ClassVar = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _chi2: Chi2

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df, validate_args=False)
        super().__init__(self.df.shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> StudentT:
        new = self._expanded(StudentT, batch_shape, _instance, ("df", "loc", "scale"))
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    @property
    def mean(self) -> Tensor:
        """nan for df <= 1."""
        return zero.where(self.df > 1, self.loc, zero.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """inf for df <= 2, nan for df <= 1."""
        df = zero.where(self.df > 2, self.df, 3.0)
        finite = zero.where(self.df > 2, self.scale.square() * df / (df - 2), zero.inf)
        return zero.where(self.df > 1, finite, zero.nan)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        normal = zero.randn(shape, dtype=self.df.dtype)
        squares = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * zero.rsqrt(squares / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        size = (
            self.scale.log()
            + 0.5 * (self.df.log() + math.log(math.pi))
            + zero.lgamma(0.5 * self.df)
            - zero.lgamma(0.5 * (self.df + 1))
        )
        return -0.5 * (self.df + 1) * zero.log1p(z.square() / self.df) - size

    def entropy(self) -> Tensor:
        df = self.df
        beta = math.lgamma(0.5) + zero.lgamma(0.5 * df) - zero.lgamma(0.5 * (df + 1))
        half = 0.5 * (df + 1)
        slope = half * (zero.digamma(half) - zero.digamma(0.5 * df))
        return self.scale.log() + slope + 0.5 * df.log() + beta
