"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.bernoulli import BinaryParameters
from zero.distributions.exp_family import ExponentialFamily

__all__ = ["ContinuousBernoulli"]

# B_2k / (2 k)!, where B are Bernoulli's numbers: of z / (exp(z) - 1).
_BERNOULLI = [
    b / math.factorial(2 * k)
    for k, b in enumerate([1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6], 1)
]


class ContinuousBernoulli(BinaryParameters, ExponentialFamily):
    """Continuous Bernoulli distributions on [0, 1], of density ``~ p^x (1 - p)^(1 - x)``.

    With ``z = log(p / (1 - p))`` that is ``exp(z x) z / (exp(z) - 1)``.

    Args:
        probs: p, numbers or tensors; it is not the mean.
        logits: z, in its place.
        lims: between these probabilities moments are computed by series; they are anyway where
            formulas would lose digits, so that results do not depend on the bounds.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a probability is outside [0, 1], or both or neither are given.

    Example:
        >>> import zero
        >>> d = zero.distributions.ContinuousBernoulli(zero.tensor([0.25, 0.5]))
        >>> d.mean, d.log_prob(zero.tensor(0.5))
        (tensor([0.4102, 0.5000]), tensor([-0.0498, 0.0000]))

    Source: Loaiza-Ganem and Cunningham, The continuous Bernoulli: fixing a pervasive error in
    variational autoencoders, 2019.
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        (given,) = self._set_parameters(probs, logits)
        self._lims = lims
        super().__init__(given.shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> ContinuousBernoulli:
        new = self._expanded(ContinuousBernoulli, batch_shape, _instance, ("probs", "logits"))
        new._lims = self._lims
        return new

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """log((exp(z) - 1) / z), the logarithm of the mean of exp(z u) over [0, 1]."""
        (z,) = natural_params
        flat = z.abs() < 1e-5
        a = zero.where(flat, 1.0, z.abs())
        result = zero.relu(z) + (-zero.expm1(-a) / a).log()
        return zero.where(flat, z / 2 + z.square() / 24, result)

    _mean_carrier_measure = 0

    def _middle(self) -> Tensor:
        """Where p is near 1 / 2."""
        low, high = self._lims
        return (self.logits.abs() < 0.5) | ((self.probs > low) & (self.probs <= high))

    @property
    def mean(self) -> Tensor:
        middle, z = self._middle(), self.logits
        far = zero.where(middle, 1.0, z)
        x = zero.where(middle, z, 0.0)
        series = zero.full_like(x, 0.5)
        for k, b in enumerate(_BERNOULLI, 1):
            series = series + b * x.pow(2 * k - 1)
        return zero.where(middle, series, -1 / zero.expm1(-far) - 1 / far)

    @property
    def variance(self) -> Tensor:
        middle, z = self._middle(), self.logits
        far = zero.where(middle, 1.0, z)
        x = zero.where(middle, z, 0.0)
        series = zero.zeros_like(x)
        for k, b in enumerate(_BERNOULLI, 1):
            series = series + (2 * k - 1) * b * x.pow(2 * k - 2)
        formula = 1 / far.square() - 1 / (4 * zero.sinh(far / 2).square())
        return zero.where(middle, series, formula)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        with zero.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        shape = self._extended_shape(sample_shape)
        return self.icdf(zero.rand(shape, dtype=self._param.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self.logits * value - self._log_normalizer(self.logits)

    def cdf(self, value: Tensor) -> Tensor:
        """``(exp(z x) - 1) / (exp(z) - 1)``; for z > 0 by way of -z, which can't overflow."""
        if self._validate_args:
            self._validate_sample(value)
        value = value.clamp(0, 1)
        flat = self.logits.abs() < 1e-5
        z = zero.where(flat, 1.0, self.logits)
        rising = z > 0
        a = -z.abs()
        ratio = zero.expm1(a * value) / zero.expm1(a)
        ratio = zero.where(rising, (a * (1 - value)).exp() * ratio, ratio)
        z, x = self.logits, value
        slope = z * (x - 1) * (0.5 + z * (2 * x - 1) / 12)
        return zero.where(flat, x * (1 + slope), ratio)

    def icdf(self, value: Tensor) -> Tensor:
        flat = self.logits.abs() < 1e-5
        z = zero.where(flat, 1.0, self.logits)
        rising = z > 0
        a = -z.abs()
        u = zero.where(rising, 1 - value, value)
        x = zero.log1p(u * zero.expm1(a)) / a
        x = zero.where(rising, 1 - x, x)
        z, u = self.logits, value
        slope = z * (u - 1) * (-0.5 + z * (2 * u - 1) / 6)
        return zero.where(flat, u * (1 + slope), x)

    def entropy(self) -> Tensor:
        return self._log_normalizer(self.logits) - self.logits * self.mean
