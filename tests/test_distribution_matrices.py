"""Distributions whose parameters or draws are matrices, against SciPy's and formulas of NumPy's."""

import math

import numpy as np
import pytest
from distribution_checks import agree, distance, nodes, real, seeded  # noqa: F401 - a fixture

import zero
from zero import distributions as zd
from zero.distributions import constraints, kl_divergence

N = 20_000
pytestmark = pytest.mark.usefixtures("seeded")
C = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 3.0]])
C2 = np.array([C, [[1.0, 0.3, 0.0], [0.3, 2.0, 0.1], [0.0, 0.1, 0.5]]])
LOC = np.array([[0.1, 0.2, 0.3], [1.0, -2.0, 3.0]])
W, D = np.array([[1.0, 0.2], [0.3, 0.4], [0.1, 2.0]]), np.array([0.5, 0.1, 2.0])


def t(x):
    return zero.tensor(np.asarray(x, float))


NORMALS = {  # how it is made; its means and covariances
    "covariance": (lambda: zd.MultivariateNormal(t(LOC[0]), t(C)), LOC[0], C),
    "precision": (
        lambda: zd.MultivariateNormal(t(LOC), precision_matrix=t(np.linalg.inv(C))),
        LOC,
        C,
    ),
    "tril": (
        lambda: zd.MultivariateNormal(t(LOC), scale_tril=t(np.linalg.cholesky(C2))),
        LOC,
        C2,
    ),
    "one loc": (lambda: zd.MultivariateNormal(t(LOC[0]), t(C2)), LOC[0], C2),
    "expanded": (lambda: zd.MultivariateNormal(t(LOC[:, None]), t(C2)).expand((4, 2, 2)),
                 LOC[:, None], C2),
    "low rank": (
        lambda: zd.LowRankMultivariateNormal(t(LOC), t(W), t(D)),
        LOC,
        W @ W.T + np.diag(D),
    ),
    "low rank batch": (
        lambda: zd.LowRankMultivariateNormal(t(LOC[0]), t([W, -2 * W]), t([D, D + 1])),
        LOC[0],
        np.stack([W @ W.T + np.diag(D), 4 * W @ W.T + np.diag(D + 1)]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NORMALS)
def test_normal_vectors(name):
    make, loc, covariance = NORMALS[name]
    d = make()
    x = d.sample((5,))
    assert x.shape == (5, *d.batch_shape, 3) and x.dtype == zero.float64
    inverse = np.linalg.inv(covariance)
    log_det = np.linalg.slogdet(covariance)[1]
    off = x.numpy() - loc
    expected = -0.5 * (
        np.einsum("...i,...ij,...j", off, inverse, off) + log_det + 3 * math.log(2 * math.pi)
    )
    agree(d.log_prob(x), expected)
    agree(d.log_prob(x[:, None]), expected[:, None])
    entropy = 0.5 * (log_det + 3 * math.log(2 * math.pi * math.e))
    agree(d.entropy(), np.broadcast_to(entropy, d.batch_shape))
    shape = (*d.batch_shape, 3, 3)
    agree(d.covariance_matrix, np.broadcast_to(covariance, shape))
    np.testing.assert_allclose(
        d.precision_matrix.numpy(), np.broadcast_to(inverse, shape), rtol=1e-10, atol=1e-13
    )
    np.testing.assert_allclose(
        d.scale_tril.numpy(),
        np.broadcast_to(np.linalg.cholesky(covariance), shape),
        rtol=1e-10,
        atol=1e-14,
    )
    diagonal = np.diagonal(covariance, axis1=-2, axis2=-1)
    agree(d.variance, np.broadcast_to(diagonal, (*d.batch_shape, 3)))
    agree(d.mean, np.broadcast_to(loc, (*d.batch_shape, 3)))
    assert d.has_rsample and zero.equal(d.mode, d.mean)
    stats = pytest.importorskip("scipy.stats")
    off = (d.rsample((N // 4,)).numpy() - loc)[..., None]
    white = (np.linalg.inv(np.linalg.cholesky(covariance)) @ off)[..., 0]
    assert distance(white, stats.norm.cdf) < 2.2
    products = white[..., 0] * white[..., 1]  # uncorrelated
    assert (abs(products.mean(0)) < 5 / math.sqrt(N // 4)).all()


PAIRS = [(a, b) for a in NORMALS for b in NORMALS if "expanded" not in (a, b)]


@pytest.mark.parametrize("a, b", PAIRS)
def test_divergence_of_normal_vectors(a, b):
    (p, m, s), (q, n, r) = NORMALS[a], NORMALS[b]
    inverse = np.linalg.inv(r)
    off = n - m
    expected = 0.5 * (
        np.trace(inverse @ s, axis1=-2, axis2=-1)
        + np.einsum("...i,...ij,...j", off, inverse, off)
        - 3
        + np.linalg.slogdet(r)[1]
        - np.linalg.slogdet(s)[1]
    )
    found = kl_divergence(p(), q()).numpy()
    np.testing.assert_allclose(
        found, np.broadcast_to(expected, found.shape), rtol=1e-10, atol=1e-13
    )
    assert found.shape == np.broadcast_shapes(p().batch_shape, q().batch_shape)


def test_gradients_of_normal_vectors():
    x = t(LOC)
    loc, matrix = t(LOC[0]).requires_grad_(), t(C).requires_grad_()
    for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
        value = t(np.linalg.cholesky(C)) if name == "scale_tril" else t(C)

        def density(loc, m, name=name):
            m = m.tril() if name == "scale_tril" else (m + m.mT) / 2
            d = zd.MultivariateNormal(loc, **{name: m})
            return d.log_prob(x), d.entropy()

        zero.autograd.gradcheck(density, (loc, value.requires_grad_()))

        def draw(loc, m, name=name):
            zero.manual_seed(3)
            m = m.tril() if name == "scale_tril" else (m + m.mT) / 2
            return zd.MultivariateNormal(loc, **{name: m}).rsample((2,))

        zero.autograd.gradcheck(draw, (loc, value))

    def thin(loc, w, d):
        zero.manual_seed(3)
        d = zd.LowRankMultivariateNormal(loc, w, d)
        return d.log_prob(x), d.entropy(), d.rsample((2,))

    zero.autograd.gradcheck(thin, (loc, t(W).requires_grad_(), t(D).requires_grad_()))
    p = zd.MultivariateNormal(loc, (matrix + matrix.mT) / 2)
    (slope,) = zero.autograd.grad(p.entropy(), matrix)
    np.testing.assert_allclose(slope.numpy(), 0.5 * np.linalg.inv(C), rtol=1e-10)


def test_what_normal_vectors_refuse():
    eye, loc = zero.eye(3), zero.zeros(3)
    MVN, LR = zd.MultivariateNormal, zd.LowRankMultivariateNormal
    for make, words in (
        (lambda: MVN(zero.tensor(1.0), eye), "not a vector"),
        (lambda: MVN(loc), "one of covariance_matrix"),
        (lambda: MVN(loc, eye, eye), "one of covariance_matrix"),
        (lambda: MVN(loc, zero.ones(3)), "not a matrix"),
        (lambda: MVN(loc, zero.ones(3, 2)), "not square"),
        (lambda: MVN(loc, zero.eye(2)), "differ in size"),
        (lambda: MVN(loc, -eye), "covariance_matrix is outside"),
        (lambda: MVN(loc, precision_matrix=zero.ones(3, 3).tril()), "precision_matrix is outside"),
        (lambda: MVN(loc, scale_tril=zero.ones(3, 3)), "scale_tril is outside"),
        (lambda: MVN(loc * math.nan, eye), "loc is outside"),
        (lambda: LR(loc, zero.ones(2, 1), zero.ones(3)), "sizes differ"),
        (lambda: LR(loc, zero.ones(3), zero.ones(3)), "no vector, matrix"),
        (lambda: LR(loc, zero.ones(3, 1), zero.zeros(3)), "cov_diag is outside"),
        (lambda: LR(zero.zeros(2, 3), zero.ones(4, 3, 1), zero.ones(3)), "LowRank"),
        (lambda: kl_divergence(MVN(loc, eye), MVN(zero.zeros(2), zero.eye(2))), "different sizes"),
        (lambda: MVN(loc, eye).log_prob(zero.ones(2)), "last sizes"),
    ):
        with pytest.raises(ValueError, match=words):
            make()
    with pytest.raises(RuntimeError):  # of the factorization, which names the matrix
        MVN(loc, -eye, validate_args=False)


# ---- matrices ------------------------------------------------------------------------------------
WISHARTS = {
    "covariance": lambda: zd.Wishart(real(3.5, 20.0), t(C)),
    "precision": lambda: zd.Wishart(real(3.5, 20.0), precision_matrix=t(np.linalg.inv(C))),
    "tril": lambda: zd.Wishart(real(3.5, 20.0), scale_tril=t(np.linalg.cholesky(C))),
    "expanded": lambda: zd.Wishart(20.0, t(C)).expand((2,)),
}


@pytest.mark.parametrize("name", WISHARTS)
def test_wishart(name):
    stats = pytest.importorskip("scipy.stats")
    d = WISHARTS[name]()
    x = d.sample((6,))
    assert x.shape == (6, 2, 3, 3) and bool(constraints.positive_definite.check(x).all())
    for i, df in enumerate(d.df.tolist()):
        expected = stats.wishart(df, C)
        np.testing.assert_allclose(
            d.log_prob(x).numpy()[:, i],
            [expected.logpdf(v) for v in x.numpy()[:, i]],
            rtol=1e-9,  # SciPy's sum of logarithms
        )
        agree(d.mean[i], expected.mean())
        agree(d.variance[i], expected.var())
        np.testing.assert_allclose(d.entropy()[i].item(), expected.entropy(), rtol=1e-10)
        if df > 4:
            agree(d.mode[i], expected.mode())
        else:
            assert bool(d.mode[i].isnan().all())
        y = d.rsample((N,)).numpy()[:, i]
        assert distance(np.diagonal(y, axis1=1, axis2=2) / np.diag(C), stats.chi2(df).cdf) < 2.2
        error = 5 * np.sqrt(expected.var() / N)
        assert (abs(y.mean(0) - expected.mean()) < error).all()
    family = super(zd.Wishart, d).entropy()
    np.testing.assert_allclose(family.numpy(), d.entropy().numpy(), rtol=1e-9)


def test_divergence_of_wisharts():
    special = pytest.importorskip("scipy.special")
    n, m = 7.5, 12.0
    p, q = zd.Wishart(real(n), t(C)), zd.Wishart(real(m), t(C2[1]))
    ratio = np.linalg.solve(C2[1], C)
    digamma = sum(special.digamma((n - i) / 2) for i in range(3))
    expected = (
        -0.5 * m * np.linalg.slogdet(ratio)[1]
        + 0.5 * n * (np.trace(ratio) - 3)
        + special.multigammaln(m / 2, 3)
        - special.multigammaln(n / 2, 3)
        + 0.5 * (n - m) * digamma
    )
    np.testing.assert_allclose(kl_divergence(p, q).item(), expected, rtol=1e-10)
    assert abs(kl_divergence(p, p).item()) < 1e-12


def test_gradients_of_wishart():
    x = zd.Wishart(5.0, t(C)).sample()

    def values(df, m):
        zero.manual_seed(2)
        d = zd.Wishart(df, (m + m.mT) / 2)
        return d.log_prob(x), d.entropy(), d.mean

    zero.autograd.gradcheck(values, (real(6.0).requires_grad_(), t(C).requires_grad_()))
    m = t(C).requires_grad_()
    zd.Wishart(real(6.0), (m + m.mT) / 2).rsample((N,)).mean(0)[0].trace().backward()
    np.testing.assert_allclose(m.grad.numpy(), 6 * np.eye(3), atol=0.5)


def test_what_wishart_refuses():
    for make, words in (
        (lambda: zd.Wishart(1.5, zero.eye(3)), "df is outside"),
        (lambda: zd.Wishart(5.0), "one of covariance_matrix"),
        (lambda: zd.Wishart(5.0, -zero.eye(3)), "covariance_matrix is outside"),
        (lambda: zd.Wishart(5.0, zero.eye(3)).log_prob(zero.zeros(3, 3)), "support"),
    ):
        with pytest.raises(ValueError, match=words):
            make()
    with pytest.warns(UserWarning, match="nearly singular"):
        zd.Wishart(2.5, zero.eye(3))


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


def test_positive_definite_sets():
    values = t([C, -C, C + [[0, 1, 0], [0, 0, 0], [0, 0, 0]], np.diag([1.0, 0.0, 2.0])])
    for constraint, expected in (
        (constraints.positive_definite, [True, False, False, False]),
        (constraints.positive_semidefinite, [True, False, False, True]),
    ):
        assert [constraint.check(v).item() for v in values] == expected
        x = zero.randn(4, 3, 3, dtype=zero.float64)
        transform = zd.transform_to(constraint)
        assert isinstance(transform, zd.PositiveDefiniteTransform)
        y = transform(x)
        assert bool(constraint.check(y).all())
        np.testing.assert_allclose(transform(transform.inv(y)).numpy(), y.numpy(), rtol=1e-9)
    assert not constraints.positive_definite.check(zero.ones(2, 3)).item()
