"""zero.distributions: densities, draws, divergences and transforms, each against the others."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import zero
from zero.distributions import (
    AbsTransform,
    AffineTransform,
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    CatTransform,
    Cauchy,
    Chi2,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    Dirichlet,
    Distribution,
    Exponential,
    ExpTransform,
    FisherSnedecor,
    Gamma,
    Geometric,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Independent,
    IndependentTransform,
    InverseGamma,
    Laplace,
    LogisticNormal,
    LogNormal,
    LowerCholeskyTransform,
    MixtureSameFamily,
    Multinomial,
    NegativeBinomial,
    Normal,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Pareto,
    Poisson,
    PowerTransform,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    StudentT,
    TanhTransform,
    TransformedDistribution,
    Uniform,
    Weibull,
    biject_to,
    constraints,
    kl_divergence,
    register_kl,
    transform_to,
)
from zero.distributions.utils import lazy_property, tril_matrix_to_vec, vec_to_tril_matrix

N = 100_000


def real(*values):
    return zero.tensor(values, dtype=zero.float64)


@pytest.fixture(autouse=True)
def seeded():
    state = zero.get_rng_state()
    zero.manual_seed(17)
    yield
    zero.set_rng_state(state)


CONTINUOUS = {
    "normal": lambda: Normal(real(-1.0, 0.5), real(0.5, 2.0)),
    "uniform": lambda: Uniform(real(-1.0, 2.0), real(1.5, 2.25)),
    "exponential": lambda: Exponential(real(0.5, 3.0)),
    "laplace": lambda: Laplace(real(-1.0, 0.5), real(0.5, 2.0)),
    "cauchy": lambda: Cauchy(real(-1.0, 0.5), real(0.5, 2.0)),
    "gumbel": lambda: Gumbel(real(-1.0, 0.5), real(0.5, 2.0)),
    "log_normal": lambda: LogNormal(real(-1.0, 0.5), real(0.5, 0.25)),
    "half_normal": lambda: HalfNormal(real(0.5, 2.0)),
    "half_cauchy": lambda: HalfCauchy(real(0.5, 2.0)),
    "pareto": lambda: Pareto(real(0.5, 2.0), real(3.0, 9.0)),
    "weibull": lambda: Weibull(real(0.5, 2.0), real(1.4, 3.0)),
    "gamma": lambda: Gamma(real(0.7, 4.0), real(0.5, 2.0)),
    "inverse_gamma": lambda: InverseGamma(real(6.0, 9.0), real(0.5, 2.0)),
    "affine": lambda: TransformedDistribution(
        Laplace(real(0.0, 1.0), real(1.0, 2.0)), AffineTransform(real(1.0, 2.0), real(-2.0, 3.0))
    ),
    "falling": lambda: TransformedDistribution(
        Exponential(real(1.0, 2.0)), [AffineTransform(0.0, -1.0), ExpTransform()]
    ),
}
DISCRETE = {
    "bernoulli": lambda: Bernoulli(real(0.0, 0.3, 1.0)),
    "bernoulli_logits": lambda: Bernoulli(logits=real(-2.0, 0.0, 4.0)),
    "categorical": lambda: Categorical(zero.tensor([[1.0, 0.0, 3.0], [2.0, 2.0, 4.0]]).double()),
    "categorical_logits": lambda: Categorical(
        logits=zero.tensor([[0.0, 1.0], [5.0, 2.0]]).double()
    ),
    "one_hot": lambda: OneHotCategorical(zero.tensor([[1.0, 0.0, 3.0], [2.0, 2.0, 4.0]]).double()),
}
HEAVY = ("cauchy", "half_cauchy")


@pytest.mark.parametrize("name", CONTINUOUS)
def test_draws_follow_the_cdf(name):
    d = CONTINUOUS[name]()
    x = d.sample((N,))
    assert x.shape == (N, 2) and x.dtype == zero.float64 and not x.requires_grad
    p = np.sort(d.cdf(x).numpy(), axis=0)
    grid = np.arange(1, N + 1)[:, None] / N
    distance = np.maximum(grid - p, p - grid + 1 / N).max(0)
    assert (math.sqrt(N) * distance < 2.2).all(), distance  # Kolmogorov: probability 1e-4
    assert bool(d.support.check(x).all())


@pytest.mark.parametrize("name", CONTINUOUS)
def test_density_is_the_slope_of_the_cdf(name):
    d = CONTINUOUS[name]()
    x = d.sample((50,)).requires_grad_()
    (slope,) = zero.autograd.grad(d.cdf(x).sum(), x)
    np.testing.assert_allclose(slope.numpy(), d.log_prob(x).exp().detach().numpy(), rtol=1e-9)


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if "gamma" not in n])
def test_icdf_is_the_inverse_of_cdf(name):
    d = CONTINUOUS[name]()
    p = zero.linspace(0.01, 0.99, 21, dtype=zero.float64).unsqueeze(1).expand(21, 2)
    np.testing.assert_allclose(d.cdf(d.icdf(p)).numpy(), p.numpy(), rtol=1e-10)


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if n not in HEAVY])
def test_moments(name):
    d = CONTINUOUS[name]()
    if name in ("affine", "falling"):
        with pytest.raises(NotImplementedError, match="mean"):
            _ = d.mean
        return
    x = d.sample((N,))
    deviation = d.stddev.numpy()
    assert (abs(x.mean(0) - d.mean).numpy() < 5 * deviation / math.sqrt(N)).all()
    np.testing.assert_allclose(x.var(0).numpy(), d.variance.numpy(), rtol=0.1)
    np.testing.assert_allclose(d.variance.numpy(), deviation**2, rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if n not in ("affine", "falling")])
def test_entropy_and_mode(name):
    d = CONTINUOUS[name]()
    log_prob = d.log_prob(d.sample((N,)))
    error = 5 * log_prob.std(0) / math.sqrt(N) + 1e-9
    assert bool((abs(-log_prob.mean(0) - d.entropy()) < error).all())
    np.testing.assert_allclose(d.perplexity().numpy(), np.exp(d.entropy().numpy()))
    if name != "uniform":
        d._validate_args = False
        assert bool((d.log_prob(d.mode) >= log_prob.max(0).values - 1e-9).all())


@pytest.mark.parametrize("name", CONTINUOUS)
def test_rsample_moves_with_the_parameters(name):
    def draw(*parameters):
        zero.manual_seed(3)
        return type(d)(**dict(zip(d.arg_constraints, parameters, strict=True))).rsample((4,))

    d = CONTINUOUS[name]()
    if name in ("affine", "falling", "gamma", "inverse_gamma"):  # the latter: see below
        return
    parameters = [getattr(d, n).clone().requires_grad_() for n in d.arg_constraints]
    assert d.has_rsample and draw(*parameters).requires_grad
    zero.autograd.gradcheck(draw, parameters)


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if n not in ("affine", "falling")])
def test_gradient_of_log_prob(name):
    d = CONTINUOUS[name]()
    x = d.sample((3,))
    parameters = [getattr(d, n).clone().requires_grad_() for n in d.arg_constraints]

    def log_prob(*values):
        return type(d)(**dict(zip(d.arg_constraints, values, strict=True))).log_prob(x)

    if name in ("pareto", "uniform"):  # their support moves with a parameter
        x = x + 0.01
    zero.autograd.gradcheck(log_prob, parameters)
    zero.autograd.gradgradcheck(log_prob, parameters)


@pytest.mark.parametrize("name", DISCRETE)
def test_enumerated_values(name):
    d = DISCRETE[name]()
    values = d.enumerate_support()
    p = d.log_prob(values).exp()
    np.testing.assert_allclose(p.sum(0).numpy(), 1, rtol=1e-12)
    narrow = d.enumerate_support(expand=False)
    assert zero.equal(narrow.expand(values.shape), values)
    x = d.sample((N,))
    assert x.shape == (N, *d.batch_shape, *d.event_shape)
    for k in range(len(values)):
        same = x == values[k]
        share = (same.all(-1) if d.event_shape else same).double().mean(0)
        error = 5 * (p[k] * (1 - p[k]) / N).sqrt() + 1e-12
        assert bool((abs(share - p[k]) <= error).all()), k
    log_p = zero.where(p == 0, 0.0, d.log_prob(values))
    np.testing.assert_allclose(d.entropy().numpy(), -(p * log_p).sum(0).numpy(), atol=1e-12)
    if name != "categorical" and name != "categorical_logits":
        weights = p.reshape(*p.shape, *[1] * len(d.event_shape))
        np.testing.assert_allclose(d.mean.numpy(), (weights * values).sum(0).numpy(), atol=1e-12)
        square = (weights * (values - d.mean) ** 2).sum(0)
        np.testing.assert_allclose(d.variance.numpy(), square.numpy(), atol=1e-12)
    assert bool((d.log_prob(zero.where(d.mode == d.mode, d.mode, 0)) >= d.log_prob(values)).all())


DENSITIES = {  # distribution, bounds that hold nearly all of it
    "beta": (lambda: Beta(real(2.0), real(0.8)), 0, 1),
    "beta_small": (lambda: Beta(real(1.5), real(3.5)), 0, 1),
    "chi2": (lambda: Chi2(real(3.0)), 0, 60),
    "student": (lambda: StudentT(real(5.0), real(1.0), real(2.0)), -300, 300),
    "fisher": (lambda: FisherSnedecor(real(4.0), real(12.0)), 0, 300),
    "relaxed": (lambda: RelaxedBernoulli(real(0.8), real(0.3)), 0, 1),
    "mixture": (
        lambda: MixtureSameFamily(
            Categorical(real(1.0, 3.0).reshape(1, 2)),
            Normal(real(-2.0, 1.0).reshape(1, 2), real(0.5, 2.0).reshape(1, 2)),
        ),
        -20,
        20,
    ),
}


@pytest.mark.parametrize("name", DENSITIES)
def test_draws_follow_the_density(name):
    make, low, high = DENSITIES[name]
    d = make()
    steps = np.sinh(np.linspace(-10, 10, 400_001)) if low < 0 else np.linspace(0, 1, 400_001) ** 4
    edges = low + (high - low) * ((steps - steps[0]) / (steps[-1] - steps[0]))
    middles = (edges[1:] + edges[:-1]) / 2
    density = d.log_prob(zero.tensor(middles).reshape(-1, 1)).exp().numpy().ravel()
    cdf = np.concatenate([[0], np.cumsum(density * np.diff(edges))])
    assert abs(cdf[-1] - 1) < 2e-3, cdf[-1]
    x = np.sort(d.sample((N,)).numpy().ravel())
    p = np.interp(x, edges, cdf)
    grid = np.arange(1, N + 1) / N
    assert math.sqrt(N) * max((grid - p).max(), (p - grid + 1 / N).max()) < 2.2
    if name not in ("relaxed",):
        mean = (middles * density * np.diff(edges)).sum()
        assert abs(d.mean.item() - mean) < 2e-3 * (1 + abs(mean))
        variance = ((middles - mean) ** 2 * density * np.diff(edges)).sum()
        assert abs(d.variance.item() - variance) < 2e-2 * variance
    if name in ("beta", "beta_small", "chi2", "student"):
        log = np.log(np.where(density > 0, density, 1))
        assert abs(d.entropy().item() + (density * log * np.diff(edges)).sum()) < 2e-3
    if name == "mixture":
        found = d.cdf(zero.tensor(edges[::100]).reshape(-1, 1)).numpy().ravel()
        np.testing.assert_allclose(found, cdf[::100], atol=1e-6)


COUNTS = {
    "poisson": lambda: Poisson(real(0.0, 2.5, 30.0)),
    "binomial": lambda: Binomial(real(4.0, 20.0, 7.0), real(0.3, 0.8, 1.0)),
    "binomial_logits": lambda: Binomial(12, logits=real(-1.0, 2.0)),
    "negative_binomial": lambda: NegativeBinomial(real(2.0, 7.5), real(0.3, 0.5)),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    d = COUNTS[name]()
    k = zero.arange(150, dtype=zero.float64).reshape(-1, 1)
    d._validate_args = False
    p = d.log_prob(k).exp()
    if name.startswith("binomial"):
        p = zero.where(k > d.total_count, 0.0, p)
    np.testing.assert_allclose(p.sum(0).numpy(), 1, rtol=1e-6)
    np.testing.assert_allclose(d.mean.numpy(), (k * p).sum(0).numpy(), rtol=1e-6, atol=1e-9)
    variance = ((k - d.mean) ** 2 * p).sum(0).numpy()
    np.testing.assert_allclose(d.variance.numpy(), variance, rtol=1e-5, atol=1e-5)
    x = d.sample((N,))
    for i in range(8):
        share = (x == i).double().mean(0)
        error = 5 * (p[i] * (1 - p[i]).clamp(min=0) / N).sqrt() + 1e-6
        assert bool((abs(share - p[i]) <= error).all()), i
    assert bool((d.log_prob(d.mode) >= p.max(0).values.log() - 1e-9).all())
    if name == "binomial_logits":
        log_p = zero.where(p > 0, p, 1.0).log()
        np.testing.assert_allclose(d.entropy().numpy(), -(p * log_p).sum(0).numpy(), rtol=1e-9)
        assert d.enumerate_support().shape == (13, 2)
    if name == "binomial":
        with pytest.raises(NotImplementedError, match="total_count"):
            d.enumerate_support()


def test_multinomial():
    d = Multinomial(3, real(1.0, 2.0, 5.0))
    counts = [(i, j, 3 - i - j) for i in range(4) for j in range(4 - i)]
    p = d.log_prob(zero.tensor(counts, dtype=zero.float64)).exp().numpy()
    assert abs(p.sum() - 1) < 1e-12
    assert abs(d.entropy().item() + (p * np.log(p)).sum()) < 1e-12
    np.testing.assert_allclose(d.mean.numpy(), p @ np.array(counts), rtol=1e-12)
    x = d.sample((N,)).numpy()
    assert x.shape == (N, 3) and (x.sum(1) == 3).all()
    for row, expected in zip(counts, p, strict=True):
        share = (x == row).all(1).mean()
        assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / N)
    wide = Multinomial(4, zero.rand(2, 5)).expand((3, 2))
    assert wide.sample((6,)).shape == (6, 3, 2, 5) and wide.log_prob(wide.sample()).shape == (3, 2)
    assert abs(Multinomial(2, real(1.0, 0.0)).log_prob(real(2.0, 0.0)).item()) < 1e-12
    with pytest.raises(NotImplementedError, match="total_count"):
        Multinomial(zero.tensor(3), real(1.0, 2.0))


def test_distributions_on_the_simplex():
    a, b = real(2.0), real(0.7)
    x = zero.linspace(0.01, 0.99, 50, dtype=zero.float64)
    both = zero.stack([x, 1 - x], -1)
    beta = Beta(a, b).log_prob(x)
    np.testing.assert_allclose(Dirichlet(zero.cat([a, b])).log_prob(both).numpy(), beta.numpy())
    p, t = real(0.3, 0.7), real(0.6)
    relaxed = RelaxedOneHotCategorical(t, p, validate_args=False).log_prob(both)
    expected = RelaxedBernoulli(t, real(0.3)).log_prob(x)
    np.testing.assert_allclose(relaxed.numpy(), expected.numpy(), rtol=1e-9, atol=1e-9)
    edges = zero.linspace(0, 1, 20_001, dtype=zero.float64)
    x = (edges[1:] + edges[:-1]) / 2
    d = LogisticNormal(real(0.3), real(1.2))
    density = d.log_prob(zero.stack([x, 1 - x], -1)).exp()
    assert abs(density.sum().item() / 20_000 - 1) < 1e-6
    for d in (
        Dirichlet(real(0.2, 3.0, 1.5)),
        RelaxedOneHotCategorical(real(0.5), logits=real(0.0, 1.0, 2.0)),
        LogisticNormal(real(0.3, 0.1), real(1.2, 0.5)),
    ):
        y = d.rsample((1000,))
        assert y.shape == (1000, 3) and bool((abs(y.sum(-1) - 1) < 1e-9).all())
        assert d.expand((4,)).sample((2,)).shape == (2, 4, 3)
    d = Dirichlet(real(0.2, 3.0, 1.5))
    y = d.sample((N,))
    np.testing.assert_allclose(y.mean(0).numpy(), d.mean.numpy(), atol=0.01)
    np.testing.assert_allclose(y.var(0).numpy(), d.variance.numpy(), atol=0.005)
    entropy = -d.log_prob(y).mean().item()
    assert abs(d.entropy().item() - entropy) < 0.1


@pytest.mark.parametrize("a", [0.05, 0.7, 3.0, 80.0, 5000.0])
def test_gamma_draws_move_along_their_quantile(a):
    alpha = zero.full((2000,), a, dtype=zero.float64, requires_grad=True)
    x = Gamma(alpha, 1.0).rsample()
    (slope,) = zero.autograd.grad(x.sum(), alpha)
    x, h = x.detach(), a * 1e-5
    before = zero.special.gammainc(alpha.detach() - h, x - h * slope)
    after = zero.special.gammainc(alpha.detach() + h, x + h * slope)
    p = zero.special.gammainc(alpha.detach(), x)
    inside = (p > 1e-3) & (p < 1 - 1e-3) & (x > h * slope * 20)
    assert int(inside.sum()) > 500
    moved = (abs(after - before) * inside).max().item()
    assert moved < 1e-6, moved
    if a >= 0.7:
        assert abs(slope.mean().item() - 1) < 5 * slope.std().item() / math.sqrt(2000)


def test_what_mixtures_refuse():
    parts = Normal(zero.zeros(2, 3), 1.0)
    for make, words in (
        (lambda: MixtureSameFamily(Categorical(zero.ones(2)), parts), "numbers of components"),
        (lambda: MixtureSameFamily(Categorical(zero.ones(4, 3)), parts), "batches"),
        (lambda: MixtureSameFamily(parts, parts), "no Categorical"),
        (lambda: MixtureSameFamily(Categorical(zero.ones(3)), 3), "no Distribution"),
    ):
        with pytest.raises(ValueError, match=words):
            make()
    d = MixtureSameFamily(Categorical(zero.ones(3)), Uniform(zero.zeros(2, 3), 1.0))
    assert d.sample((5,)).shape == (5, 2) and d.expand((4, 2)).sample().shape == (4, 2)
    assert bool(d.support.check(d.sample((50,))).all())
    vectors = MixtureSameFamily(
        Categorical(zero.ones(3)), Independent(Normal(zero.zeros(3, 2), 1.0), 1)
    )
    assert vectors.sample((6,)).shape == (6, 2) and vectors.log_prob(zero.zeros(6, 2)).shape == (6,)
    assert vectors.mean.shape == vectors.variance.shape == (2,)


def test_geometric():
    d = Geometric(real(0.3, 1.0))
    k = zero.arange(200, dtype=zero.float64).unsqueeze(1)
    p = d.log_prob(k).exp()
    np.testing.assert_allclose(p.sum(0).numpy(), 1, rtol=1e-12)
    np.testing.assert_allclose(d.mean.numpy(), (k * p).sum(0).numpy(), atol=1e-9)
    variance = ((k - d.mean) ** 2 * p).sum(0)
    np.testing.assert_allclose(d.variance.numpy(), variance.numpy(), atol=1e-9)
    x = d.sample((N,))
    for i in range(5):
        assert abs((x[:, 0] == i).double().mean().item() - p[i, 0].item()) < 0.01
    assert x[:, 1].abs().max().item() == 0
    log_p = d.log_prob(k)[:, 0]
    assert abs(d.entropy()[0].item() + (p[:, 0] * log_p).sum().item()) < 1e-9
    assert abs(Geometric(logits=real(0.0)).probs.item() - 0.5) < 1e-12
    with pytest.raises(ValueError, match="0 < probs"):
        Geometric(0.0)


PAIRS = [
    (Normal(0.5, 2.0), Normal(-1.0, 1.5)),
    (Uniform(0.0, 1.0), Uniform(-1.0, 3.0)),
    (Exponential(2.0), Exponential(0.5)),
    (Laplace(0.5, 2.0), Laplace(-1.0, 1.5)),
    (Cauchy(0.5, 2.0), Cauchy(-1.0, 1.5)),
    (HalfNormal(2.0), HalfNormal(1.5)),
    (Geometric(0.3), Geometric(0.6)),
    (Bernoulli(0.3), Bernoulli(0.6)),
    (Categorical(zero.tensor([1.0, 2.0, 3.0])), Categorical(zero.tensor([1.0, 1.0, 1.0]))),
    (OneHotCategorical(zero.tensor([1.0, 2.0])), OneHotCategorical(zero.tensor([1.0, 1.0]))),
    (LogNormal(0.5, 1.0), LogNormal(0.0, 1.5)),
    (Independent(Normal(zero.zeros(3), 1.0), 1), Independent(Normal(zero.ones(3), 2.0), 1)),
    (Uniform(0.0, 1.0), Normal(-1.0, 1.5)),
    (Exponential(2.0), Normal(-1.0, 1.5)),
    (Laplace(0.5, 2.0), Normal(-1.0, 1.5)),
    (Gumbel(0.5, 1.0), Normal(-1.0, 1.5)),
    (Normal(0.5, 2.0), Laplace(-1.0, 1.5)),
    (Normal(0.5, 1.0), Gumbel(-1.0, 1.5)),
    (Exponential(2.0), Gumbel(-1.0, 1.5)),
    (Uniform(0.0, 1.0), Gumbel(-1.0, 1.5)),
    (Uniform(0.0, 1.0), Exponential(0.5)),
    (Gumbel(0.5, 1.0), Gumbel(-1.0, 1.5)),
    (Gamma(2.0, 1.5), Gamma(3.0, 0.5)),
    (Beta(2.0, 1.5), Beta(3.0, 0.5)),
    (Dirichlet(zero.tensor([2.0, 1.5, 3.0])), Dirichlet(zero.tensor([1.0, 2.5, 3.0]))),
    (Poisson(2.0), Poisson(3.0)),
    (Binomial(5, 0.3), Binomial(5, 0.6)),
    (Pareto(2.0, 3.0), Pareto(1.0, 2.0)),
    (Bernoulli(0.3), Poisson(0.7)),
    (Beta(2.0, 1.5), Normal(-1.0, 1.5)),
    (Beta(2.0, 1.5), Exponential(0.5)),
    (Beta(2.0, 1.5), Gamma(3.0, 0.5)),
    (Beta(2.0, 1.5), Uniform(-1.0, 1.5)),
    (Gamma(2.0, 1.5), Normal(-1.0, 1.5)),
    (Gamma(2.0, 1.5), Exponential(0.5)),
    (Gamma(2.0, 1.5), Gumbel(0.5, 2.0)),
    (Exponential(2.0), Gamma(3.0, 0.5)),
    (Pareto(2.0, 5.0), Exponential(0.5)),
    (Pareto(2.0, 5.0), Normal(0.0, 2.0)),
    (Pareto(2.0, 5.0), Gamma(3.0, 0.5)),
    (Uniform(1.0, 2.0), Pareto(0.5, 2.0)),
    (Uniform(1.0, 2.0), Gamma(3.0, 0.5)),
    (Uniform(0.2, 0.9), Beta(2.0, 1.5)),
]


@pytest.mark.parametrize("p, q", PAIRS, ids=lambda d: type(d).__name__)
def test_divergence_is_a_mean_of_log_ratios(p, q):
    x = p.sample((N,))
    ratio = p.log_prob(x) - q.log_prob(x)
    error = 5 * ratio.std(0).item() / math.sqrt(N) + 1e-6
    assert abs(kl_divergence(p, q).item() - ratio.mean(0).item()) < error
    if type(p) is type(q):
        assert abs(kl_divergence(p, p).item()) < 1e-6


def test_divergences_of_impossible_values():
    for p in (Normal(0.0, 1.0), Laplace(0.0, 1.0), Gumbel(0.0, 1.0), Exponential(1.0)):
        assert kl_divergence(p, Uniform(0.0, 1.0)).item() == math.inf
    assert kl_divergence(Uniform(-1.0, 1.0), Exponential(1.0)).item() == math.inf
    assert kl_divergence(Uniform(0.0, 2.0), Uniform(0.0, 1.0)).item() == math.inf
    p, q = Bernoulli(real(0.0, 0.5)), Bernoulli(real(0.0, 0.0))
    assert kl_divergence(p, q).tolist() == [0.0, math.inf]
    a, b = Categorical(real(0.0, 1.0)), Categorical(real(1.0, 0.0))
    assert kl_divergence(a, b).item() == math.inf and kl_divergence(a, a).item() == 0


def test_register_kl():
    class Mine(Normal):
        pass

    a, b = Mine(0.0, 1.0), Mine(1.0, 1.0)
    assert kl_divergence(a, b).item() == 0.5  # the base's

    @register_kl(Mine, Normal)
    def mine(p, q):
        return zero.tensor(7.0)

    assert kl_divergence(a, b).item() == 7 and kl_divergence(b, Normal(0.0, 1.0)).item() == 7
    with pytest.raises(NotImplementedError, match="Bernoulli and Mine"):
        kl_divergence(Bernoulli(0.5), a)
    with pytest.raises(TypeError, match="register_kl"):
        register_kl(int, Normal)


def test_shapes():
    d = Normal(zero.zeros(3, 1), zero.ones(4))
    assert d.batch_shape == (3, 4) and d.event_shape == () and d.sample((2,)).shape == (2, 3, 4)
    assert d.log_prob(zero.tensor(0.0)).shape == (3, 4) and Normal(0, 1).batch_shape == ()
    assert Normal(0, 1).sample().shape == () and Normal(0, 1).sample(zero.Size([5])).shape == (5,)
    wide = d.expand((2, 3, 4))
    assert wide.batch_shape == (2, 3, 4) and type(wide) is Normal
    assert wide.loc.data_ptr() == d.loc.data_ptr()
    c = Categorical(zero.rand(2, 3, 5))
    assert c.sample((7, 6)).shape == (7, 6, 2, 3) and c.sample().dtype == zero.int64
    assert c.log_prob(zero.zeros(4, 2, 3)).shape == (4, 2, 3)
    assert c.expand((6, 2, 3)).sample((5,)).shape == (5, 6, 2, 3)
    assert c.param_shape == (2, 3, 5)
    h = OneHotCategorical(zero.rand(2, 5)).expand((3, 2))
    assert h.batch_shape == (3, 2) and h.event_shape == (5,) and h.sample().shape == (3, 2, 5)
    i = Independent(Normal(zero.zeros(2, 3, 4), 1.0), 2)
    assert i.batch_shape == (2,) and i.event_shape == (3, 4) and i.entropy().shape == (2,)
    assert i.expand((5, 2)).sample().shape == (5, 2, 3, 4) and i.has_rsample
    t = LogNormal(zero.zeros(3), 1.0).expand((2, 3))
    assert type(t) is LogNormal and t.sample().shape == (2, 3) and t.loc.shape == (2, 3)
    s = TransformedDistribution(Normal(zero.zeros(2, 3), 1.0), StickBreakingTransform())
    assert s.batch_shape == (2,) and s.event_shape == (4,)
    assert s.log_prob(s.sample((5,))).shape == (5, 2)


def test_dtypes_follow_the_parameters():
    assert Normal(0, 1).sample().dtype == zero.float32
    assert Normal(real(0.0), 1).rsample().dtype == zero.float64
    assert Bernoulli(real(0.5)).sample().dtype == zero.float64
    assert Uniform(0, real(1.0)).sample().dtype == zero.float64


def test_straight_through():
    logits = zero.tensor([0.0, 1.0, 2.0], requires_grad=True)
    d = OneHotCategoricalStraightThrough(logits=logits)
    y = d.rsample((4,))
    assert y.requires_grad and bool(((y - y.round()).abs() < 1e-6).all())
    (y * zero.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert logits.grad.abs().sum().item() > 0


def test_parameters_are_checked():
    for make, words in (
        (lambda: Normal(0.0, 0.0), "scale"),
        (lambda: Normal(math.nan, 1.0), "loc"),
        (lambda: Uniform(1.0, 1.0), "low"),
        (lambda: Bernoulli(1.5), "probs"),
        (lambda: Bernoulli(), "not given"),
        (lambda: Bernoulli(0.5, 0.5), "both given"),
        (lambda: Categorical(zero.tensor([-1.0, 2.0])), "probs"),
        (lambda: Categorical(logits=zero.tensor([math.nan, 2.0])), "logits"),
        (lambda: Categorical(zero.tensor(1.0)), "no dimension"),
        (lambda: Exponential(-1.0), "rate"),
        (lambda: HalfNormal(0.0), "scale"),
        (lambda: Normal("0", 1.0), "neither a number"),
        (lambda: Independent(Normal(0.0, 1.0), 1), "out of range"),
        (lambda: TransformedDistribution(Normal(0.0, 1.0), StickBreakingTransform()), "too few"),
        (lambda: TransformedDistribution(Normal(0.0, 1.0), [3]), "not a transform"),
    ):
        with pytest.raises(ValueError, match=words):
            make()
    assert Normal(0.0, -1.0, validate_args=False).scale.item() == -1


def test_values_are_checked():
    for d, value, words in (
        (Bernoulli(0.5), zero.tensor(0.5), "support"),
        (Categorical(zero.ones(3)), zero.tensor(3), "support"),
        (Categorical(zero.ones(3)), zero.tensor(0.5), "support"),
        (Uniform(0.0, 1.0), zero.tensor(2.0), "support"),
        (Exponential(1.0), zero.tensor(-1.0), "support"),
        (Normal(zero.zeros(3), 1.0), zero.zeros(2), "broadcast"),
        (Normal(0.0, 1.0), 0.0, "no tensor"),
        (OneHotCategorical(zero.ones(3)), zero.zeros(2), "last sizes"),
        (OneHotCategorical(zero.ones(3)), zero.ones(3), "support"),
    ):
        with pytest.raises(ValueError, match=words):
            d.log_prob(value)
    assert Uniform(0.0, 1.0, validate_args=False).log_prob(zero.tensor(2.0)).item() == -math.inf
    Distribution.set_default_validate_args(False)
    try:
        assert math.isnan(Normal(0.0, -1.0).log_prob(zero.tensor(math.nan)).item())
    finally:
        Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        Distribution.set_default_validate_args(None)


def test_what_is_absent_says_so():
    d = Distribution()
    for call in (
        lambda: d.mean,
        lambda: d.stddev,
        lambda: d.support,
        lambda: d.sample(),
        lambda: d.entropy(),
        lambda: Bernoulli(0.5).rsample(),
        lambda: Bernoulli(0.5).icdf(zero.tensor(0.5)),
        lambda: Normal(0.0, 1.0).enumerate_support(),
    ):
        with pytest.raises(NotImplementedError):
            call()

    class Other(Normal):
        def __init__(self, scale):
            super().__init__(0.0, scale)

    with pytest.raises(NotImplementedError, match="expand"):
        Other(1.0).expand((2,))
    with pytest.warns(UserWarning, match="sample_n"):
        assert Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_repr_and_pickle():
    assert repr(Normal(0.0, zero.ones(2))) == "Normal(loc: zero.Size([2]), scale: zero.Size([2]))"
    assert repr(Independent(Bernoulli(zero.ones(2)), 1)).startswith("Independent(Bernoulli(")
    d = pickle.loads(pickle.dumps(TransformedDistribution(Normal(0.0, 1.0), [TanhTransform(1)])))
    assert d.log_prob(zero.tensor(0.5)).isfinite()


TRANSFORMS = {
    "exp": (ExpTransform(), (3,)),
    "power": (PowerTransform(real(2.5)), (3,)),
    "sigmoid": (SigmoidTransform(), (3,)),
    "softplus": (SoftplusTransform(), (3,)),
    "tanh": (TanhTransform(), (3,)),
    "affine": (AffineTransform(1.0, -2.0), (3,)),
    "affine_event": (AffineTransform(real(1.0), real(1.0, 2.0, 3.0), event_dim=1), (3,)),
    "stick": (StickBreakingTransform(), (3,)),
    "corr": (CorrCholeskyTransform(), (6,)),
    "reshape": (ReshapeTransform((4,), (2, 2)), (4,)),
    "compose": (ComposeTransform([AffineTransform(0.5, 2.0), StickBreakingTransform()]), (3,)),
    "independent": (IndependentTransform(ExpTransform(), 1), (3,)),
    "cat": (CatTransform([ExpTransform(), TanhTransform()], 0, [1, 2]), (3,)),
    "stack": (StackTransform([ExpTransform(), TanhTransform()], 0), (2,)),
    "cdf": (CumulativeDistributionTransform(Laplace(real(0.5), real(2.0))), (3,)),
    "inverse": (SigmoidTransform().inv, (3,)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    t, shape = TRANSFORMS[name]
    x = zero.rand(shape, dtype=zero.float64) * 0.8 + 0.1
    y = t(x)
    assert y.shape == t.forward_shape(shape) and x.shape == t.inverse_shape(y.shape)
    np.testing.assert_allclose(t.inv(y).numpy(), x.numpy(), rtol=1e-7)
    assert bool(t.codomain.check(y).all()) and t.bijective and t.inv.bijective
    assert t.inv.inv is t and t.inv.domain.event_dim == t.codomain.event_dim
    found = t.log_abs_det_jacobian(x, y)
    assert found.shape == shape[: len(shape) - t.domain.event_dim]
    free = {"stick": slice(0, -1), "compose": slice(0, -1)}.get(name)
    if name == "corr":
        jacobian = zero.autograd.functional.jacobian(lambda v: tril_matrix_to_vec(t(v), -1), x)
    else:
        jacobian = zero.autograd.functional.jacobian(
            lambda v: t(v).flatten()[free or slice(None)], x
        )
    expected = math.log(abs(np.linalg.det(jacobian.numpy())))
    assert abs(found.sum().item() - expected) < 1e-8
    kept = t.with_cache()
    if name != "compose":
        y = kept(x)
        assert kept.inv(y) is x and kept(x) is y


def test_errors_of_transforms():
    with pytest.raises(ValueError, match="cache_size"):
        ExpTransform(cache_size=2)
    with pytest.raises(NotImplementedError, match="sign"):
        _ = StickBreakingTransform().sign
    with pytest.raises(NotImplementedError, match="log_abs_det"):
        SoftmaxTransform().log_abs_det_jacobian(zero.ones(2), zero.ones(2))
    with pytest.raises(ValueError, match="numbers of elements"):
        ReshapeTransform((3,), (2, 2))
    with pytest.raises(ValueError, match="does not end"):
        ReshapeTransform((4,), (2, 2))(zero.ones(3))
    with pytest.raises(ValueError, match="make no matrix"):
        CorrCholeskyTransform().forward_shape((5,))
    with pytest.raises(ValueError, match="too few"):
        IndependentTransform(ExpTransform(), 1)(zero.tensor(1.0))


def test_transforms_that_lose():
    x = zero.tensor([[-1.0, 2.0]])
    assert AbsTransform()(x).tolist() == [[1.0, 2.0]]
    y = SoftmaxTransform()(x)
    np.testing.assert_allclose(SoftmaxTransform()(SoftmaxTransform().inv(y)).numpy(), y.numpy())
    m = zero.randn(2, 3, 3)
    low = LowerCholeskyTransform()(m)
    assert bool(constraints.lower_cholesky.check(low).all())
    np.testing.assert_allclose(
        LowerCholeskyTransform().inv(low).numpy(), m.tril().numpy(), atol=1e-6
    )


def test_equality_of_transforms():
    assert ExpTransform() == ExpTransform() != TanhTransform()
    assert AffineTransform(1.0, 2.0) == AffineTransform(1.0, 2.0) != AffineTransform(1.0, 3.0)
    assert ExpTransform().inv == ExpTransform().inv


CHECKS = [
    (constraints.boolean, [0.0, 1.0, 0.5], [1, 1, 0]),
    (constraints.integer_interval(0, 2), [0.0, 2.0, 3.0, 1.5], [1, 1, 0, 0]),
    (constraints.nonnegative_integer, [0.0, -1.0, 0.5], [1, 0, 0]),
    (constraints.positive_integer, [0.0, 1.0], [0, 1]),
    (constraints.real, [0.0, math.nan, math.inf], [1, 0, 1]),
    (constraints.positive, [0.0, 1.0], [0, 1]),
    (constraints.nonnegative, [0.0, -1.0], [1, 0]),
    (constraints.greater_than(2.0), [2.0, 3.0], [0, 1]),
    (constraints.greater_than_eq(2.0), [2.0, 1.0], [1, 0]),
    (constraints.less_than(2.0), [2.0, 1.0], [0, 1]),
    (constraints.interval(0.0, 1.0), [0.0, 1.0, 2.0], [1, 1, 0]),
    (constraints.half_open_interval(0.0, 1.0), [0.0, 1.0], [1, 0]),
    (constraints.unit_interval, [-0.1, 0.5], [0, 1]),
    (constraints.simplex, [[0.5, 0.5], [0.5, 0.6], [-1.0, 2.0]], [1, 0, 0]),
    (constraints.one_hot, [[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]], [1, 0, 0]),
    (constraints.multinomial(3), [[1.0, 2.0], [2.0, 2.0], [-1.0, 1.0]], [1, 0, 0]),
    (constraints.lower_triangular, [[[1.0, 0.0], [2.0, -1.0]], [[1.0, 1.0], [0.0, 1.0]]], [1, 0]),
    (constraints.lower_cholesky, [[[1.0, 0.0], [2.0, 1.0]], [[1.0, 0.0], [2.0, -1.0]]], [1, 0]),
    (constraints.corr_cholesky, [[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [1.0, 1.0]]], [1, 0]),
    (constraints.square, [[[1.0, 2.0], [3.0, 4.0]]], [1]),
    (constraints.symmetric, [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]], [1, 0]),
    (constraints.real_vector, [[1.0, 2.0], [math.nan, 1.0]], [1, 0]),
    (
        constraints.cat([constraints.positive, constraints.real], 0, [1, 2]),
        [-1.0, -1.0, 1.0],
        [0, 1, 1],
    ),
    (constraints.stack([constraints.positive, constraints.real]), [-1.0, -1.0], [0, 1]),
]


@pytest.mark.parametrize("constraint, values, expected", CHECKS, ids=lambda v: repr(v)[:30])
def test_constraints(constraint, values, expected):
    found = constraint.check(zero.tensor(values))
    assert found.dtype == zero.bool and found.tolist() == [bool(e) for e in expected]


def test_dependent_constraints():
    assert constraints.is_dependent(constraints.dependent)
    assert constraints.is_dependent(Uniform.support) and not constraints.is_dependent(
        constraints.real
    )
    with pytest.raises(ValueError, match="cannot check"):
        constraints.dependent.check(zero.ones(2))
    with pytest.raises(NotImplementedError, match="event_dim"):
        _ = constraints.dependent.event_dim
    assert Uniform.support.event_dim == 0 and not Uniform.support.is_discrete


@pytest.mark.parametrize(
    "constraint",
    [
        constraints.real,
        constraints.positive,
        constraints.nonnegative,
        constraints.greater_than(2.0),
        constraints.greater_than_eq(-1.0),
        constraints.less_than(2.0),
        constraints.interval(-1.0, 3.0),
        constraints.half_open_interval(0.0, 1.0),
        constraints.unit_interval,
        constraints.simplex,
        constraints.corr_cholesky,
        constraints.real_vector,
        constraints.stack([constraints.positive, constraints.real, constraints.real], -1),
        constraints.cat([constraints.positive, constraints.real], -1, [1, 2]),
    ],
    ids=repr,
)
def test_registries(constraint):
    x = zero.randn(4, 3, dtype=zero.float64)
    for registry in (biject_to, transform_to):
        t = registry(constraint)
        y = t(x)
        assert bool(constraint.check(y).all())
        back = t(t.inv(y))
        np.testing.assert_allclose(back.numpy(), y.numpy(), rtol=1e-7, atol=1e-9)
    assert biject_to(constraint).bijective


def test_registry_errors():
    with pytest.raises(NotImplementedError, match="Boolean"):
        biject_to(constraints.boolean)
    with pytest.raises(TypeError, match="constraint"):
        biject_to.register(int, lambda c: ExpTransform())


def test_utils():
    x = zero.arange(1, 7)
    assert tril_matrix_to_vec(vec_to_tril_matrix(x)).tolist() == x.tolist()
    assert vec_to_tril_matrix(zero.tensor([5.0]), -1).tolist() == [[0.0, 0.0], [5.0, 0.0]]
    with pytest.raises(ValueError, match="triangle"):
        vec_to_tril_matrix(zero.arange(4))
    with pytest.raises(ValueError, match="diag"):
        tril_matrix_to_vec(zero.eye(2), 2)
    assert isinstance(Bernoulli.logits, lazy_property)
    d = Bernoulli(zero.tensor(0.5, requires_grad=True))
    with zero.no_grad():
        assert d.logits.requires_grad and d.logits is d.logits


def test_modules_are_loaded_when_asked_for():
    code = (
        "import sys, zero; assert 'zero.distributions' not in sys.modules; "
        "zero.distributions.Normal(0.0, 1.0).sample(); "
        "from zero.distributions.normal import Normal; "
        "from zero.distributions.categorical import Categorical; "
        "from zero.distributions.kl import kl_divergence"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
