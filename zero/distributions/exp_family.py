"""The base of distributions of an exponential family."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Distributions of density ``exp(<t(x), theta> - F(theta) + k(x))``.

    A derived class that has `_natural_params`, the tuple of theta, `_log_normalizer`, F, and
    `_mean_carrier_measure`, the mean of k, gets its entropy from the slope of F, and so the
    divergence of two distributions of the class.

    Source: Nielsen and Nock, Entropies and cross-entropies of exponential families, 2010.
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        self._absent("_natural_params")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        self._absent("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> float | Tensor:
        self._absent("_mean_carrier_measure")

    def _normalizer_and_slopes(self) -> tuple[Tensor, list[Tensor], tuple[Tensor, ...]]:
        """F, theta and dF / dtheta, which is the mean of t."""
        with zero.enable_grad():
            theta = [
                p if p.requires_grad else p.detach().requires_grad_() for p in self._natural_params
            ]
            normalizer = self._log_normalizer(*theta)
            slopes = zero.autograd.grad(normalizer.sum(), theta, create_graph=True)
        return normalizer, theta, slopes  # type: ignore[return-value]  # all are used

    def entropy(self) -> Tensor:
        result, theta, slopes = self._normalizer_and_slopes()
        result = result - self._mean_carrier_measure
        for value, slope in zip(theta, slopes, strict=True):
            result = result - (value * slope).reshape(*self._batch_shape, -1).sum(-1)
        given = any(p.requires_grad for p in self._natural_params)
        return result if given else result.detach()
