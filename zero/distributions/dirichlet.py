"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.exp_family import ExponentialFamily
from zero.distributions.utils import times_log

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Dirichlet distributions over the simplex, of density ``~ prod_k x_k^(a_k - 1)``.

    Args:
        concentration: a, above 0, of shape [..., K].
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is not positive, or has no dimension.

    Example:
        >>> import zero
        >>> d = zero.distributions.Dirichlet(zero.tensor([1.0, 3.0]))
        >>> d.mean.tolist(), abs(d.sample().sum().item() - 1) < 1e-6
        ([0.25, 0.75], True)
    """

    arg_constraints: ClassVar = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise zero.errors.ValueError("Dirichlet: concentration has no dimension of parts")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        """Where no concentration is above 1 the largest part's corner."""
        above = (self.concentration - 1).clamp(min=0)
        total = above.sum(-1, keepdim=True)
        places = zero.arange(self._event_shape[0])
        corner = (self.concentration.argmax(-1, keepdim=True) == places).to(above.dtype)
        return zero.where(total == 0, corner, above / zero.where(total == 0, 1.0, total))

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.square() * (total + 1))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Dirichlet:
        return self._expanded(Dirichlet, batch_shape, _instance, ("concentration",))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        a = self.concentration.expand(shape)
        if (self.concentration < 0.5).any():
            # Their gammas may be too small for a number: log G(a) = log G(a + 1) + log(u) / a.
            waiting = zero.empty(shape, dtype=a.dtype).exponential_()
            drawn = zero.softmax(zero._standard_gamma(a + 1).log() - waiting / a, -1)
        else:
            gammas = zero._standard_gamma(a)
            drawn = gammas / gammas.sum(-1, keepdim=True)
        numbers = zero.finfo(a.dtype)
        return drawn.clamp(numbers.tiny, 1 - numbers.eps / 2)  # the density may be inf at 0 and 1

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        powers = times_log(a - 1, value).sum(-1)
        return powers + zero.lgamma(a.sum(-1)) - zero.lgamma(a).sum(-1)

    def entropy(self) -> Tensor:
        a, k = self.concentration, self._event_shape[0]
        total = a.sum(-1)
        constant = zero.lgamma(a).sum(-1) - zero.lgamma(total)
        return constant - (k - total) * zero.digamma(total) - ((a - 1) * zero.digamma(a)).sum(-1)
