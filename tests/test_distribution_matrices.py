"""Distributions whose parameters or draws are matrices, against SciPy's and formulas of NumPy's."""

import math

import numpy as np
import pytest
from distribution_checks import distance, nodes, real, seeded  # noqa: F401 - a fixture

import zero
from zero import distributions as zd

N = 20_000
pytestmark = pytest.mark.usefixtures("seeded")


def t(x):
    return zero.tensor(np.asarray(x, float))


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_lkj(dim):
    stats = pytest.importorskip("scipy.stats")
    c = real(0.5, 1.0, 4.0)
    d = zd.LKJCholesky(dim, c)
    x = d.sample((N,))
    assert x.shape == (N, 3, dim, dim) and bool(d.support.check(x).all())
    r = (x @ x.mT).numpy()
    for i, a in enumerate(c.tolist()):
        a += (dim - 2) / 2
        law = stats.beta(a, a, loc=-1, scale=2)  # of every correlation
        for j in range(dim):
            for k in range(j):
                assert distance(r[:, i, j, k], law.cdf) < 2.2
    assert d.expand((4, 3)).log_prob(x[:1]).shape == (4, 3)
    with pytest.raises(ValueError, match="too small"):
        zd.LKJCholesky(1)


def test_lkj_density():
    u, w = nodes(-1.0, 1.0)
    for c in (0.7, 1.0, 3.0):
        rest = np.sqrt(1 - u * u)
        rows = np.stack([np.ones_like(u), 0 * u, u, rest], -1).reshape(-1, 2, 2)
        p = zd.LKJCholesky(2, real(c), validate_args=False).log_prob(t(rows)[:, None]).exp()
        # L_21 is the correlation, so the density is that of a beta over [-1, 1]
        np.testing.assert_allclose((w * p.numpy().ravel())[rest > 0].sum(), 1, rtol=1e-7)
    one = np.linalg.cholesky([[1.0, 0.3, 0.2], [0.3, 1.0, -0.4], [0.2, -0.4, 1.0]])
    for c in (0.7, 3.0):  # against the constant of three dimensions, by beta functions
        d = zd.LKJCholesky(3, real(c))
        diagonal = np.log(np.diag(one))
        powers = 2 * (c - 1) * diagonal.sum() + diagonal[1]
        betas = (
            sum(
                (math.lgamma(b) * 2 - math.lgamma(2 * b)) + (2 * b - 1) * math.log(2)
                for b in (c + 0.5, c + 0.5)
            )
            + (math.lgamma(c) * 2 - math.lgamma(2 * c))
            + (2 * c - 1) * math.log(2)
        )
        np.testing.assert_allclose(d.log_prob(t(one)).item(), powers - betas, rtol=1e-10)
