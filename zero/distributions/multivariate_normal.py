"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.covariance import MatrixParameters, half_log_det, squared_distance
from zero.distributions.distribution import Distribution

__all__ = ["MultivariateNormal"]


class Gaussian(Distribution):
    """Normal distributions of vectors, by the determinant and the distance of their covariance."""

    support = constraints.real_vector
    has_rsample = True
    loc: Tensor

    def _half_log_det(self) -> Tensor:
        raise NotImplementedError

    def _squared_distance(self, x: Tensor) -> Tensor:
        """``x^T C^-1 x``."""
        raise NotImplementedError

    def _factor(self) -> Tensor:
        """F with ``C = F F^T``."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        constant = 0.5 * self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * self._squared_distance(value - self.loc) - self._half_log_det() - constant

    def entropy(self) -> Tensor:
        constant = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        return (self._half_log_det() + constant).expand(self._batch_shape)


class MultivariateNormal(MatrixParameters, Gaussian):
    """Normal distributions of vectors, of density ``~ exp(-(x - loc)^T C^-1 (x - loc) / 2)``.

    Args:
        loc: means, of shape [..., n].
        covariance_matrix: C, positive definite, of shape [..., n, n].
        precision_matrix: the inverse of C, in its place.
        scale_tril: L, lower triangular with a positive diagonal, where C = L L^T, in its place; the
            cheapest.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set, or not one matrix is given.

    Example:
        >>> import zero
        >>> C = zero.tensor([[2.0, 1.0], [1.0, 2.0]])
        >>> d = zero.distributions.MultivariateNormal(zero.zeros(2), C)
        >>> d.sample((3,)).shape, round(d.log_prob(zero.zeros(2)).item(), 4)
        (zero.Size([3, 2]), -2.3872)
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise zero.errors.ValueError(
                f"{type(self).__name__}: loc is not a vector; got {loc.item()}"
            )
        name = self._given_matrix(covariance_matrix, precision_matrix, scale_tril)
        matrix: Tensor = locals()[name]
        if matrix.shape[-1] != loc.shape[-1]:
            raise zero.errors.ValueError(
                f"{type(self).__name__}: loc and {name} differ in size; got shapes "
                f"{tuple(loc.shape)} and {tuple(matrix.shape)}"
            )
        batch_shape = zero.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(*batch_shape, loc.shape[-1])
        self._keep_matrix(name, matrix, batch_shape)
        super().__init__(batch_shape, loc.shape[-1:], validate_args=validate_args)
        self._factorize(name, matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> MultivariateNormal:
        new = self._expanded(MultivariateNormal, batch_shape, _instance, ("loc",))
        self._expand_matrix(new, new._batch_shape)
        return new

    @property
    def variance(self) -> Tensor:
        return self._tril.square().sum(-1).expand(self._batch_shape + self._event_shape)

    def _half_log_det(self) -> Tensor:
        return half_log_det(self._tril)

    def _squared_distance(self, x: Tensor) -> Tensor:
        return squared_distance(self._tril, x)

    def _factor(self) -> Tensor:
        return self._tril

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        z = zero.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        if self._tril.ndim == 2:
            return self.loc + z @ self._tril.mT
        return self.loc + (self._tril @ z.unsqueeze(-1)).squeeze(-1)
