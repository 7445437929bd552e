"""The normal distribution of vectors whose covariance is a product of thin matrices."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.covariance import half_log_det, squared_distance
from zero.distributions.multivariate_normal import Gaussian
from zero.distributions.utils import lazy_property

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Gaussian):
    """Normal distributions of vectors, of covariance ``W W^T + diag(D)``, where W is thin.

    With n numbers and rank m a density takes O(n m^2) operations instead of O(n^3), by the matrix
    ``K = 1 + W^T D^-1 W``: ``det C = det K det D`` and ``C^-1 = D^-1 - D^-1 W K^-1 W^T D^-1``.

    Args:
        loc: means, of shape [..., n].
        cov_factor: W, of shape [..., n, m].
        cov_diag: D, above 0, of shape [..., n].
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set, or shapes differ.

    Example:
        >>> import zero
        >>> W, D = zero.tensor([[1.0], [2.0]]), zero.ones(2)
        >>> d = zero.distributions.LowRankMultivariateNormal(zero.zeros(2), W, D)
        >>> d.covariance_matrix.tolist()
        [[2.0, 2.0], [2.0, 5.0]]

    Source: Woodbury, Inverting modified matrices, 1950.
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }

    def __init__(
        self,
        loc: Tensor,
        cov_factor: Tensor,
        cov_diag: Tensor,
        validate_args: bool | None = None,
    ) -> None:
        n = loc.shape[-1:]
        if loc.ndim < 1 or cov_factor.ndim < 2 or cov_diag.ndim < 1:
            raise zero.errors.ValueError(
                "LowRankMultivariateNormal: no vector, matrix and vector; got shapes "
                f"{tuple(loc.shape)}, {tuple(cov_factor.shape)} and {tuple(cov_diag.shape)}"
            )
        if cov_factor.shape[-2:-1] != n or cov_diag.shape[-1:] != n:
            raise zero.errors.ValueError(
                f"LowRankMultivariateNormal: sizes differ; got {tuple(loc.shape)} of loc, "
                f"{tuple(cov_factor.shape)} of cov_factor and {tuple(cov_diag.shape)} of cov_diag, "
                "expected [..., n], [..., n, m] and [..., n]"
            )
        try:
            shape = zero.broadcast_shapes(
                loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
            )
        except RuntimeError as error:
            raise zero.errors.ValueError(f"LowRankMultivariateNormal: {error}") from None
        self.loc = loc.expand(shape + n)
        self.cov_factor = cov_factor.expand(shape + cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(shape + n)
        super().__init__(shape, n, validate_args=validate_args)
        self._w, self._d = cov_factor, cov_diag
        self._k = self._one_plus(cov_factor.mT @ (cov_factor / cov_diag.unsqueeze(-1)))

    @staticmethod
    def _one_plus(square: Tensor) -> Tensor:
        """The Cholesky factor of 1 + a square."""
        one = zero.eye(square.shape[-1], dtype=square.dtype, device=square.device)
        return zero.linalg.cholesky(square + one)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LowRankMultivariateNormal:
        names = ("loc", "cov_factor", "cov_diag")
        new = self._expanded(LowRankMultivariateNormal, batch_shape, _instance, names)
        new._w, new._d, new._k = self._w, self._d, self._k
        return new

    def _of_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(*self._batch_shape, *self._event_shape, *self._event_shape)

    @lazy_property
    def variance(self) -> Tensor:
        values = self._w.square().sum(-1) + self._d
        return values.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The covariance's Cholesky factor."""
        root = self._d.sqrt().unsqueeze(-1)
        thin = self._w / root
        return self._of_batch(root * self._one_plus(thin @ thin.mT))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        return self._of_batch(self._w @ self._w.mT + zero.diag_embed(self._d))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The covariance's inverse."""
        thin = (self._w / self._d.unsqueeze(-1)).mT
        a = zero.linalg.solve_triangular(self._k, thin, upper=False)
        return self._of_batch(zero.diag_embed(self._d.reciprocal()) - a.mT @ a)

    def _half_log_det(self) -> Tensor:
        return half_log_det(self._k) + 0.5 * self._d.log().sum(-1)

    def _squared_distance(self, x: Tensor) -> Tensor:
        scaled = x / self._d
        inner = (self._w.mT @ scaled.unsqueeze(-1)).squeeze(-1)
        return (x * scaled).sum(-1) - squared_distance(self._k, inner)

    def _factor(self) -> Tensor:
        d = zero.diag_embed(self._d.sqrt())
        shape = zero.broadcast_shapes(self._w.shape[:-2], d.shape[:-2])
        parts = [part.expand(*shape, *part.shape[-2:]) for part in (self._w, d)]
        return zero.cat(parts, -1)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        z = zero.randn((*shape[:-1], self._w.shape[-1], 1), dtype=self.loc.dtype)
        own = zero.randn(shape, dtype=self.loc.dtype)
        return self.loc + (self._w @ z).squeeze(-1) + self._d.sqrt() * own
