"""The Wishart distribution."""

from __future__ import annotations

import math
import warnings
from typing import Any

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.chi2 import Chi2
from zero.distributions.covariance import MatrixParameters, half_log_det
from zero.distributions.exp_family import ExponentialFamily

__all__ = ["Wishart"]


class Wishart(MatrixParameters, ExponentialFamily):
    """Wishart distributions: of ``sum_i x_i x_i^T``, where df vectors x follow Normal(0, C).

    Their density is ``~ det(X)^((df - n - 1) / 2) exp(-tr(C^-1 X) / 2)``.

    Args:
        df: degrees of freedom, above n - 1; a number or tensor.
        covariance_matrix: C, positive definite, of shape [..., n, n].
        precision_matrix: the inverse of C, in its place.
        scale_tril: L, lower triangular with a positive diagonal, where C = L L^T, in its place; the
            cheapest.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set, or not one matrix is given.

    Example:
        >>> import zero
        >>> d = zero.distributions.Wishart(3.0, covariance_matrix=zero.eye(2))
        >>> d.mean.tolist(), d.sample((4,)).shape
        ([[3.0, 0.0], [0.0, 3.0]], zero.Size([4, 2, 2]))

    Source: Bartlett, On the theory of statistical regression, 1934 (draws).
    """

    support = constraints.positive_definite
    has_rsample = True
    df: Tensor
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> Any:  # type: ignore[override]
        """The sets of the parameters; that of df depends on the size of the matrices."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name = self._given_matrix(covariance_matrix, precision_matrix, scale_tril)
        matrix: Tensor = locals()[name]
        n = matrix.shape[-1]
        if not isinstance(df, Tensor):
            df = zero.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape = zero.broadcast_shapes(matrix.shape[:-2], df.shape)
        self.df = df.expand(batch_shape)
        if (self.df <= n - 1).any():
            raise zero.errors.ValueError(
                f"Wishart: parameter df is outside its set; got {df}, expected more than {n - 1}"
            )
        if (self.df < n).any():
            warnings.warn(
                f"Wishart: with less than {n} degrees of freedom draws are nearly singular; got "
                f"{df}",
                UserWarning,
                stacklevel=2,
            )
        self._keep_matrix(name, matrix, batch_shape)
        super().__init__(batch_shape, (n, n), validate_args=validate_args)
        self._factorize(name, matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Wishart:
        new = self._expanded(Wishart, batch_shape, _instance, ("df",))
        self._expand_matrix(new, new._batch_shape)
        return new

    def _over_matrices(self, x: Tensor) -> Tensor:
        return x[..., None, None]

    @property
    def mean(self) -> Tensor:
        return self._over_matrices(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """nan for df up to n + 1."""
        factor = self.df - self._event_shape[-1] - 1
        factor = zero.where(factor > 0, factor, zero.nan)
        return self._over_matrices(factor) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(0, -2, -1)
        squares = v.square() + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._over_matrices(self.df) * squares

    def _draw(self, shape: Size) -> Tensor:
        """``L A A^T L^T``, where A has roots of chi-squares in its diagonal and normals below."""
        n = self._event_shape[-1]
        degrees = self.df.unsqueeze(-1) - zero.arange(n, dtype=self.df.dtype)
        roots = Chi2(degrees, validate_args=False).rsample(shape).sqrt()
        roots = roots.clamp(min=zero.finfo(roots.dtype).eps)
        below = zero.randn(self._extended_shape(shape), dtype=roots.dtype).tril(-1)
        factor = self._tril @ (below + zero.diag_embed(roots))
        return factor @ factor.mT

    def rsample(
        self,
        sample_shape: Any = Size(),  # noqa: B008 - a constant
        max_try_correction: int | None = None,
    ) -> Tensor:
        """Draws; those that rounding made singular are drawn again.

        Args:
            sample_shape: how many, before the batch's shape.
            max_try_correction: how often at most; 10 for None.
        """
        shape = Size(sample_shape)
        drawn = self._draw(shape)
        for _ in range(10 if max_try_correction is None else max_try_correction):
            regular = constraints.positive_definite.check(drawn.detach())
            if regular.all():
                return drawn
            drawn = zero.where(self._over_matrices(regular), drawn, self._draw(shape))
        if not constraints.positive_definite.check(drawn.detach()).all():
            warnings.warn("Wishart: a draw is singular", UserWarning, stacklevel=2)
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, df = self._event_shape[-1], self.df
        root = zero.linalg.cholesky(value)
        whitened = zero.linalg.solve_triangular(self._tril, root, upper=False)
        trace = whitened.square().flatten(-2).sum(-1)  # tr(C^-1 X)
        constant = df * (0.5 * n * math.log(2) + half_log_det(self._tril))
        density = (df - n - 1) * half_log_det(root) - 0.5 * trace
        return density - constant - zero.special.multigammaln(df / 2, n)

    def entropy(self) -> Tensor:
        n, df = self._event_shape[-1], self.df
        halves = (df / 2).unsqueeze(-1) - zero.arange(n, dtype=df.dtype) / 2
        mean_log_det = zero.digamma(halves).sum(-1)  # without constants
        scale = (n + 1) * (0.5 * n * math.log(2) + half_log_det(self._tril))
        gammas = zero.special.multigammaln(df / 2, n)
        return scale + gammas - 0.5 * (df - n - 1) * mean_log_det + 0.5 * n * df

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        n = self._event_shape[-1]
        return -0.5 * self.precision_matrix, 0.5 * (self.df - n - 1)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        n = self._event_shape[-1]
        half_df = y + 0.5 * (n + 1)
        log_det = 2 * half_log_det(zero.linalg.cholesky(-2 * x))
        return half_df * (n * math.log(2) - log_det) + zero.special.multigammaln(half_df, n)
