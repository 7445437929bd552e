"""The distribution of Lewandowski, Kurowicka and Joe."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.beta import Beta
from zero.distributions.distribution import Distribution
from zero.distributions.utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Distributions of Cholesky factors of correlation matrices R, of density ``~ det(R)^(c - 1)``.

    The density is that of R; `log_prob` is that of its factor. For c = 1 all R are as likely.

    Args:
        dim: the rows of a matrix, at least 2.
        concentration: c, above 0: the larger, the nearer draws are to the identity; a number or
            tensor.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set.

    Example:
        >>> import zero
        >>> d = zero.distributions.LKJCholesky(3, 0.5)
        >>> factor = d.sample()
        >>> zero.allclose((factor @ factor.mT).diagonal(), zero.ones(3))
        True

    Source: Lewandowski, Kurowicka and Joe, Generating random correlation matrices based on vines
    and extended onion method, 2009.
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise zero.errors.ValueError(
                f"LKJCholesky: a matrix is too small; got dim={dim}, expected 2 or more"
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LKJCholesky:
        new = self._expanded(LKJCholesky, batch_shape, _instance, ("concentration",))
        new.dim = self.dim
        return new

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        """Draws by the onion method: row i is a direction whose squared length is a beta's."""
        with zero.no_grad():
            c = self.concentration.unsqueeze(-1)
            i = zero.arange(1, self.dim, dtype=c.dtype)
            lengths = Beta(i / 2, c + (self.dim - 1 - i) / 2, validate_args=False)
            squares = zero.nn.functional.pad(lengths.sample(sample_shape), (1, 0))
            directions = zero.randn(self._extended_shape(sample_shape), dtype=c.dtype).tril(-1)
            norms = directions.square().sum(-1, keepdim=True)
            norms[..., 0, :] = 1
            lower = directions * (squares.unsqueeze(-1) / norms).sqrt()
            least = zero.finfo(c.dtype).tiny
            rest = (1 - lower.square().sum(-1)).clamp(min=least)
            return lower + zero.diag_embed(rest.sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        # det(R)^(c - 1), times the determinant of R by its factor: prod_i L_ii^(2 c - 2 + D - i)
        n = self.dim
        c = self.concentration
        i = zero.arange(2, n + 1, dtype=c.dtype)
        powers = 2 * (c - 1).unsqueeze(-1) + n - i
        density = (powers * value.diagonal(0, -2, -1)[..., 1:].log()).sum(-1)
        a = c + 0.5 * (n - 1)
        gammas = zero.special.multigammaln(a - 0.5, n - 1) - (n - 1) * zero.lgamma(a)
        return density - 0.5 * (n - 1) * math.log(math.pi) - gammas
