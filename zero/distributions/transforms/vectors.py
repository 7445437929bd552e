"""Transforms to probabilities and to Cholesky factors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.transforms.base import Parameterless, Transform
from zero.distributions.utils import softplus, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "CorrCholeskyTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "SoftmaxTransform",
    "StickBreakingTransform",
]


class SoftmaxTransform(Parameterless):
    """Softmax of a vector: to a point of the simplex. The inverse is one of many: the logarithm."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return zero.softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()


class StickBreakingTransform(Parameterless):
    """From K - 1 numbers to a point of the simplex of K, by breaking a stick K - 1 times.

    ``z = sigmoid(x_i - log(K - i))`` of what is left is broken off as part i.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _offset(n: int, like: Tensor) -> Tensor:
        return zero.arange(n, 0, -1, dtype=like.dtype, device=like.device).log()

    def _call(self, x: Tensor) -> Tensor:
        z = (x - self._offset(x.shape[-1], x)).sigmoid()
        one = zero.ones_like(z[..., :1])
        left = (1 - z).cumprod(-1)
        return zero.cat([z, one], -1) * zero.cat([one, left], -1)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = y[..., :-1]
        left = (1 - parts.cumsum(-1)).clamp(min=zero.finfo(y.dtype).tiny)
        return parts.log() - left.log() + self._offset(parts.shape[-1], y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        z = x - self._offset(x.shape[-1], x)
        return (-softplus(z) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return Size((*shape[:-1], shape[-1] - 1))


class CorrCholeskyTransform(Transform):
    """From D (D - 1) / 2 numbers to the Cholesky factor of a D x D correlation matrix.

    ``z = tanh(x)`` are partial correlations; row i of the factor is z times what is left of its
    norm 1.

    Source: Lewandowski, Kurowicka and Joe, Generating random correlation matrices based on vines
    and extended onion method, 2009.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        z = x.tanh()
        eps = zero.finfo(z.dtype).eps
        r = vec_to_tril_matrix(z.clamp(-1 + eps, 1 - eps), diag=-1)
        left = (1 - r.square()).sqrt().cumprod(-1)  # of the norm, after each column
        n = r.shape[-1]
        r = r + zero.eye(n, dtype=r.dtype, device=r.device)
        before = zero.cat([zero.ones_like(left[..., :1]), left[..., :-1]], -1)
        return r * before

    def _inverse(self, y: Tensor) -> Tensor:
        used = y.square().cumsum(-1)
        before = zero.cat([zero.zeros_like(used[..., :1]), used[..., :-1]], -1)
        lower = tril_matrix_to_vec(y, diag=-1)
        left = tril_matrix_to_vec(1 - before, diag=-1)
        return (lower / left.sqrt()).atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        used = y.square().cumsum(-1)
        before = zero.cat([zero.zeros_like(used[..., :1]), used[..., :-1]], -1)
        left = tril_matrix_to_vec(1 - before, diag=-1)
        tanh_part = -2 * (x + softplus(-2 * x) - math.log(2))
        return 0.5 * left.log().sum(-1) + tanh_part.sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise zero.errors.ValueError(
                f"CorrCholeskyTransform: {shape[-1]} numbers make no matrix; expected D (D - 1) / 2"
            )
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        n = shape[-1]
        return Size((*shape[:-2], n * (n - 1) // 2))


class LowerCholeskyTransform(Parameterless):
    """From any square matrix to a lower triangular one with a positive diagonal, by exp of it."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + zero.diag_embed(x.diagonal(0, -2, -1).exp())

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + zero.diag_embed(y.diagonal(0, -2, -1).log())


class PositiveDefiniteTransform(Parameterless):
    """From any square matrix to a positive definite one, by way of its Cholesky factor."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(zero.linalg.cholesky(y))
