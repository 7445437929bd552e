"""What distributions share whose parameter is a covariance matrix."""

from __future__ import annotations

from typing import Any

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.distribution import Distribution
from zero.distributions.utils import lazy_property

__all__ = ["MatrixParameters", "squared_distance"]


def squared_distance(tril: Tensor, x: Tensor) -> Tensor:
    """``|L^-1 x|^2`` of vectors, Mahalanobis's distance where L L^T is the covariance.

    The vectors of one matrix are solved for together.

    Args:
        tril: L, of shape [b…, n, n].
        x: shape [s…, b…, n]; sizes 1 of b are repeated.
    """
    outer = x.ndim - tril.ndim + 1
    columns = x.reshape(-1, *x.shape[outer:]).movedim(0, -1)  # [b…, n, s]
    solved = zero.linalg.solve_triangular(tril, columns, upper=False)
    return solved.square().sum(-2).movedim(-1, 0).reshape(x.shape[:-1])


def half_log_det(tril: Tensor) -> Tensor:
    """Half the logarithm of the determinant of L L^T."""
    return tril.diagonal(0, -2, -1).log().sum(-1)


def inverse_of_tril(tril: Tensor) -> Tensor:
    one = zero.eye(tril.shape[-1], dtype=tril.dtype, device=tril.device)
    return zero.linalg.solve_triangular(tril, one, upper=False)


class MatrixParameters(Distribution):
    """A covariance matrix, its inverse or its Cholesky factor: one is given, the others computed.

    A class has to keep as `_tril` the factor of what was given, before its batch was extended.
    """

    _tril: Tensor
    _checked_elsewhere = ("covariance_matrix", "precision_matrix")  # as they are factorized

    def _given_matrix(self, covariance_matrix: Any, precision_matrix: Any, scale_tril: Any) -> str:
        """The name of the one that is given; it is a matrix."""
        name = type(self).__name__
        every = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [key for key, value in every.items() if value is not None]
        if len(given) != 1:
            raise zero.errors.ValueError(
                f"{name}: one of covariance_matrix, precision_matrix and scale_tril is needed; got "
                f"{' and '.join(given) if given else 'none'}"
            )
        matrix = every[given[0]]
        if not isinstance(matrix, Tensor) or matrix.ndim < 2:
            shape = tuple(matrix.shape) if isinstance(matrix, Tensor) else repr(matrix)
            raise zero.errors.ValueError(f"{name}: {given[0]} is not a matrix; got {shape}")
        if matrix.shape[-1] != matrix.shape[-2]:
            raise zero.errors.ValueError(
                f"{name}: {given[0]} is not square; got shape {tuple(matrix.shape)}"
            )
        return given[0]

    def _keep_matrix(self, name: str, matrix: Tensor, batch_shape: Any) -> None:
        setattr(self, name, matrix.expand(*batch_shape, *matrix.shape[-2:]))

    def _factorize(self, name: str, matrix: Tensor) -> None:
        if name == "scale_tril":
            self._tril = matrix
            return
        if name == "precision_matrix":
            matrix = matrix.flip(-2, -1)
        if self._validate_args:
            symmetric = constraints.symmetric.check(matrix)
            factor, info = zero.linalg.cholesky_ex(matrix)
            if not symmetric.all() or info.any():
                self._outside(name)
        else:
            factor = zero.linalg.cholesky(matrix)  # whose error names the matrix of a batch
        if name == "precision_matrix":
            # The factor from below of the matrix turned round is one from above of the matrix.
            factor = inverse_of_tril(factor.flip(-2, -1).mT)
        self._tril = factor

    def _expand_matrix(self, new: Any, shape: Size) -> None:
        new._tril = self._tril
        for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
            if name in vars(self):
                new._keep_matrix(name, getattr(self, name), shape)

    def _of_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(*self._batch_shape, *matrix.shape[-2:])

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The covariance's Cholesky factor."""
        return self._of_batch(self._tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        return self._of_batch(self._tril @ self._tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The covariance's inverse."""
        inverse = inverse_of_tril(self._tril)
        return self._of_batch(inverse.mT @ inverse)
