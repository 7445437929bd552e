"""Every distribution against SciPy's, its draws against its law, every divergence against its
integral, gradients of draws against those of moments."""

import math
import warnings

import numpy as np
import pytest
from distribution_checks import (
    TOLERANCE,
    agree,
    chi_square,
    distance,
    nodes,
    real,
    seeded,  # noqa: F401 - a fixture
)

import zero
from zero import distributions as zd
from zero.distributions import kl_divergence
from zero.distributions.kl import _formulas

N = 20_000
pytestmark = pytest.mark.usefixtures("seeded")


A, B = [0.7, 2.5, 9.0, 30.0], [0.3, 1.0, 4.0, 2.0]
LOC, SCALE = [-3.0, 0.0, 0.4, 20.0], [0.2, 1.3, 4.0, 30.0]
P = [1e-3, 0.3, 0.5, 0.97]
COUNT = [3.0, 5.0, 9.0, 40.0]
ROWS = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]

# name: distribution, name in scipy.stats, its arguments.
CONTINUOUS = {
    "Normal": (lambda: zd.Normal(real(*LOC), real(*SCALE)), "norm", (LOC, SCALE)),
    "Laplace": (lambda: zd.Laplace(real(*LOC), real(*SCALE)), "laplace", (LOC, SCALE)),
    "Cauchy": (lambda: zd.Cauchy(real(*LOC), real(*SCALE)), "cauchy", (LOC, SCALE)),
    "Gumbel": (lambda: zd.Gumbel(real(*LOC), real(*SCALE)), "gumbel_r", (LOC, SCALE)),
    "LogNormal": (
        lambda: zd.LogNormal(real(-1.0, 0.0, 2.0), real(0.3, 1.0, 0.5)),
        "lognorm",
        ([0.3, 1.0, 0.5], 0, np.exp([-1.0, 0.0, 2.0])),
    ),
    "HalfNormal": (lambda: zd.HalfNormal(real(*SCALE)), "halfnorm", (0, SCALE)),
    "HalfCauchy": (lambda: zd.HalfCauchy(real(*SCALE)), "halfcauchy", (0, SCALE)),
    "Exponential": (lambda: zd.Exponential(real(*A)), "expon", (0, 1 / np.array(A))),
    "Gamma": (lambda: zd.Gamma(real(*A), real(*B)), "gamma", (A, 0, 1 / np.array(B))),
    "Chi2": (lambda: zd.Chi2(real(*A)), "chi2", (A,)),
    "InverseGamma": (
        lambda: zd.InverseGamma(real(*A), real(*B)),
        "invgamma",
        (A, 0, np.array(B)),
    ),
    "Beta": (lambda: zd.Beta(real(*A), real(*B)), "beta", (A, B)),
    "StudentT": (
        lambda: zd.StudentT(real(*COUNT), real(*LOC), real(*SCALE)),
        "t",
        (COUNT, LOC, SCALE),
    ),
    "FisherSnedecor": (
        lambda: zd.FisherSnedecor(real(*A), real(5.0, 7.0, 20.0, 9.0)),
        "f",
        (A, [5.0, 7.0, 20.0, 9.0]),
    ),
    "Pareto": (
        lambda: zd.Pareto(real(*SCALE), real(2.5, 3.0, 9.0, 30.0)),
        "pareto",
        ([2.5, 3.0, 9.0, 30.0], 0, SCALE),
    ),
    "GeneralizedPareto": (
        lambda: zd.GeneralizedPareto(real(*LOC), real(*SCALE), real(-0.4, 0.0, 0.3, 0.45)),
        "genpareto",
        ([-0.4, 0.0, 0.3, 0.45], LOC, SCALE),
    ),
    "Weibull": (
        lambda: zd.Weibull(real(*SCALE), real(*A)),
        "weibull_min",
        (A, 0, SCALE),
    ),
    "Uniform": (
        lambda: zd.Uniform(real(-1.0, 2.0), real(0.5, 9.0)),
        "uniform",
        ([-1.0, 2.0], [1.5, 7.0]),
    ),
    "VonMises": (
        lambda: zd.VonMises(real(-1.0, 0.0, 0.4, 2.0), real(*SCALE)),
        "vonmises",
        (SCALE, [-1.0, 0.0, 0.4, 2.0]),
    ),
}
DISCRETE = {
    "Bernoulli": (lambda: zd.Bernoulli(real(*P)), "bernoulli", (P,)),
    "Binomial": (lambda: zd.Binomial(real(*COUNT), real(*P)), "binom", ([3, 5, 9, 40], P)),
    "Geometric": (lambda: zd.Geometric(real(0.05, 0.3, 0.97)), "geom", ([0.05, 0.3, 0.97], -1)),
    "NegativeBinomial": (
        lambda: zd.NegativeBinomial(real(0.5, 2.0, 9.0), real(0.1, 0.3, 0.8)),
        "nbinom",
        ([0.5, 2.0, 9.0], [0.9, 0.7, 0.2]),
    ),
    "Poisson": (lambda: zd.Poisson(real(*A)), "poisson", (A,)),
}
CIRCULAR = {"mean", "var", "std", "ppf", "cdf"}  # of VonMises: SciPy's are those of numbers
NAMES = {"logpdf": "log_prob", "logpmf": "log_prob", "cdf": "cdf", "ppf": "icdf",
         "entropy": "entropy", "mean": "mean", "var": "variance", "std": "stddev"}  # fmt: skip


def frozen(name):
    stats = pytest.importorskip("scipy.stats")
    make, there, arguments = (CONTINUOUS | DISCRETE)[name]
    return make(), getattr(stats, there)(*map(np.asarray, arguments))


@pytest.mark.parametrize("name", CONTINUOUS | DISCRETE)
def test_as_scipy(name):
    d, expected = frozen(name)
    x = expected.rvs(size=(200, *d.batch_shape), random_state=np.random.default_rng(3))
    if name == "Pareto":
        x = x[(x > 1.001 * expected.ppf(0)).all(1)]
    p = np.linspace(0.001, 0.999, 41)[:, None]
    inputs = {"logpdf": (x,), "logpmf": (x,), "cdf": (x,), "ppf": (p,)}
    compared = set()
    for theirs, ours in NAMES.items():
        if not hasattr(expected.dist, theirs) or (name == "VonMises" and theirs in CIRCULAR):
            continue
        try:
            arguments = (zero.tensor(np.asarray(v, float)) for v in inputs.get(theirs, ()))
            found = getattr(d, ours)
            found = found(*arguments) if callable(found) else found
        except NotImplementedError:
            continue
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(expected, theirs)(*inputs.get(theirs, ()))
        if theirs in ("logpdf", "logpmf", "entropy"):  # absolute where they cross 0
            np.testing.assert_allclose(
                np.broadcast_to(found.numpy(), np.shape(value)), value, rtol=TOLERANCE, atol=1e-12
            )
        elif name in ("Cauchy", "HalfCauchy") and theirs in ("mean", "var", "std"):
            assert not np.isfinite(found.numpy()).any()  # they have none: nan or inf
        else:
            agree(found, value, err_msg=theirs)
        compared.add(ours)
    assert "log_prob" in compared and len(compared) >= (1 if name == "VonMises" else 4)


def test_what_scipy_does_not_have():
    k = zd.Kumaraswamy(real(*A), real(*B))
    a, b = np.array(A), np.array(B)
    p = np.linspace(0.01, 0.9, 41)[:, None]  # beyond, x is too near 1 for its digits
    x = (1 - (1 - p) ** (1 / b)) ** (1 / a)
    agree(k.icdf(zero.tensor(p)), x)
    agree(k.cdf(zero.tensor(x)), p + 0 * x)
    np.testing.assert_allclose(
        k.log_prob(zero.tensor(x)).numpy(),
        np.log(a * b) + (a - 1) * np.log(x) + (b - 1) / b * np.log1p(-p),
        rtol=TOLERANCE,
        atol=1e-12,
    )
    d = zd.VonMises(real(0.5, 1.0), real(0.7, 50.0))
    special = pytest.importorskip("scipy.special")
    agree(d.variance, 1 - special.ive(1, [0.7, 50.0]) / special.ive(0, [0.7, 50.0]))
    x = real(1.0, 1.0)
    agree(d.log_prob(x + 2 * math.pi), d.log_prob(x).numpy())


@pytest.mark.parametrize("logit", [-40.0, -3.0, -0.49, -1e-4, 0.0, 1e-7, 0.3, 0.51, 2.0, 60.0])
def test_continuous_bernoulli(logit):
    z = np.float64(logit)
    d = zd.ContinuousBernoulli(logits=real(logit))
    x, w = nodes(0.0, 1.0)
    weights = np.exp(z * (x - (z > 0)))  # times exp(z) for z > 0
    norm = (w * weights).sum()
    np.testing.assert_allclose(
        d.log_prob(zero.tensor(x)).numpy(), np.log(weights / norm), rtol=TOLERANCE, atol=1e-12
    )
    mean = (w * weights * x).sum() / norm
    variance = (w * weights * (x - mean) ** 2).sum() / norm
    agree(d.mean, [mean])
    agree(d.variance, [variance])
    entropy = -(w * weights * np.log(weights / norm)).sum() / norm
    np.testing.assert_allclose(d.entropy().numpy(), entropy, rtol=TOLERANCE, atol=1e-12)
    u = zero.linspace(0.01, 0.99, 23, dtype=zero.float64)
    agree(d.cdf(d.icdf(u)), u.numpy())
    parameter = real(logit).requires_grad_()
    for of in (lambda v: zd.ContinuousBernoulli(logits=v).cdf(u),
               lambda v: zd.ContinuousBernoulli(logits=v).icdf(u),
               lambda v: zd.ContinuousBernoulli(logits=v).log_prob(u),
               lambda v: zd.ContinuousBernoulli(logits=v).mean):  # fmt: skip
        if abs(logit) < 50:
            zero.autograd.gradcheck(of, parameter, eps=1e-6, atol=1e-7)


# ---- draws ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CONTINUOUS)
def test_draws_follow_scipys_law(name):
    d, expected = frozen(name)
    for x in (d.sample((N,)), d.rsample((N,)) if d.has_rsample else d.sample((N,))):
        assert x.shape == (N, *d.batch_shape) and x.dtype == zero.float64
        assert bool(d.support.check(x).all())
        x = x.numpy()
        if name == "VonMises":  # about the mean, where SciPy's numbers do not wrap
            loc = d.loc.numpy()
            assert (abs(x) <= math.pi).all()
            x = (x - loc + math.pi) % (2 * math.pi) - math.pi + loc
        assert distance(x, expected.cdf) < 2.2


@pytest.mark.parametrize("name", ["Kumaraswamy", "ContinuousBernoulli"])
def test_draws_follow_the_own_law(name):
    d = {
        "Kumaraswamy": lambda: zd.Kumaraswamy(real(*A), real(*B)),
        "ContinuousBernoulli": lambda: zd.ContinuousBernoulli(real(*P)),
    }[name]()
    assert distance(d.rsample((N,)).numpy(), lambda x: d.cdf(zero.tensor(x)).numpy()) < 2.2


@pytest.mark.parametrize("name", DISCRETE)
def test_counts_follow_scipys_law(name):
    d, expected = frozen(name)
    x = d.sample((N,)).numpy()
    top = int(x.max()) + 1
    p = expected.pmf(np.arange(top)[:, None])
    for i in range(x.shape[1]):
        found = np.bincount(x[:, i].astype(int), minlength=top)
        assert found[p[:, i] == 0].sum() == 0
        if p[:, i].max() < 1 - 1e-9:
            assert chi_square(found, N * p[:, i]) > 1e-4


def test_vectors_follow_their_law():
    rows = zero.tensor(ROWS, dtype=zero.float64)
    for d, code in (
        (zd.Categorical(rows), lambda x: x),
        (zd.OneHotCategorical(rows), lambda x: x.argmax(-1)),
        (zd.OneHotCategoricalStraightThrough(rows), lambda x: x.argmax(-1)),
    ):
        x = code(d.sample((N,))).numpy()
        for i, row in enumerate(ROWS):
            assert chi_square(np.bincount(x[:, i], minlength=3), N * np.array(row)) > 1e-4
    stats = pytest.importorskip("scipy.stats")
    d = zd.Multinomial(4, rows)
    expected = stats.multinomial(4, ROWS)
    x = d.sample((N,))
    np.testing.assert_allclose(
        d.log_prob(x[:50]).numpy(), expected.logpmf(x[:50].numpy()), rtol=TOLERANCE
    )
    agree(d.entropy(), [stats.multinomial(4, row).entropy() for row in ROWS])
    agree(d.mean, 4 * np.array(ROWS))
    keys = np.array([(i, j, 4 - i - j) for i in range(5) for j in range(5 - i)])
    for i, row in enumerate(ROWS):
        found = np.array([(x[:, i].numpy() == key).all(1).sum() for key in keys])
        assert chi_square(found, N * stats.multinomial(4, row).pmf(keys)) > 1e-4
    alpha = [0.6, 2.0, 5.0]
    d, expected = zd.Dirichlet(real(*alpha)), stats.dirichlet(alpha)
    x = d.sample((N,)).numpy()
    np.testing.assert_allclose(
        d.log_prob(zero.tensor(x[:50])).numpy(), [expected.logpdf(v) for v in x[:50]], rtol=1e-9
    )
    agree(d.mean, expected.mean())
    agree(d.variance, expected.var())
    agree(d.entropy(), expected.entropy())
    for i, a in enumerate(alpha):
        assert distance(x[:, i], stats.beta(a, sum(alpha) - a).cdf) < 2.2


@pytest.mark.parametrize("dtype", [zero.float32, zero.float64])
def test_draws_of_small_concentrations(dtype):
    """Whose gammas are too small for a number of the dtype, and whose parts are nearly 0 and 1."""
    a = zero.tensor([1e-3, 0.02, 0.3], dtype=dtype)
    x = zd.Beta(a, 2 * a).sample((N,))
    assert bool(((x > 0) & (x < 1)).all())
    assert bool(((x.mean(0) - 1 / 3).abs() < 5 / math.sqrt(N)).all())
    assert bool(zd.Beta(a, 2 * a).log_prob(x).isfinite().all())
    y = zd.Dirichlet(a).sample((N,))
    agreement = (y.mean(0) - a / a.sum()).abs() < 5 / math.sqrt(N)
    assert bool(agreement.all()) and bool(((y.sum(-1) - 1).abs() < 1e-6).all())
    stats = pytest.importorskip("scipy.stats")
    if dtype is zero.float64:
        assert distance(x[:, 2].numpy(), stats.beta(0.3, 0.6).cdf) < 2.2


# ---- divergences ---------------------------------------------------------------------------------
REAL, HALF, UNIT = (-math.inf, math.inf), (0.0, math.inf), (0.0, 1.0)
EXAMPLES = {  # of each class two distributions, and where they live; None for numbers 0, 1, 2 ...
    "Normal": ([zd.Normal(real(0.5), real(1.5)), zd.Normal(real(-1.0), real(0.7))], REAL),
    "Laplace": ([zd.Laplace(real(0.5), real(1.5)), zd.Laplace(real(-1.0), real(0.7))], REAL),
    "Cauchy": ([zd.Cauchy(real(0.5), real(1.5)), zd.Cauchy(real(-1.0), real(0.7))], REAL),
    "Gumbel": ([zd.Gumbel(real(0.5), real(1.5)), zd.Gumbel(real(-1.0), real(1.7))], REAL),
    "HalfNormal": ([zd.HalfNormal(real(1.5)), zd.HalfNormal(real(0.7))], HALF),
    "Exponential": ([zd.Exponential(real(1.5)), zd.Exponential(real(0.7))], HALF),
    "Gamma": ([zd.Gamma(real(1.5), real(0.7)), zd.Gamma(real(4.0), real(2.0))], HALF),
    "Beta": ([zd.Beta(real(1.5), real(2.0)), zd.Beta(real(4.0), real(1.2))], UNIT),
    "ContinuousBernoulli": (
        [zd.ContinuousBernoulli(real(0.2)), zd.ContinuousBernoulli(real(0.9))],
        UNIT,
    ),
    "Uniform": ([zd.Uniform(real(0.0), real(1.0)), zd.Uniform(real(-1.0), real(1.5))], None),
    "Pareto": ([zd.Pareto(real(0.3), real(3.5)), zd.Pareto(real(0.2), real(2.5))], None),
    "Bernoulli": ([zd.Bernoulli(real(0.3)), zd.Bernoulli(real(0.8))], None),
    "Geometric": ([zd.Geometric(real(0.3)), zd.Geometric(real(0.8))], None),
    "Poisson": ([zd.Poisson(real(3.0)), zd.Poisson(real(0.7))], None),
    "Binomial": ([zd.Binomial(5, real(0.3)), zd.Binomial(5, real(0.8))], None),
    "Categorical": ([zd.Categorical(real(0.3, 0.7)), zd.Categorical(real(0.9, 0.1))], None),
    "OneHotCategorical": (
        [zd.OneHotCategorical(real(0.3, 0.7)), zd.OneHotCategorical(real(0.9, 0.1))],
        None,
    ),
    "Dirichlet": ([zd.Dirichlet(real(1.5, 2.0)), zd.Dirichlet(real(4.0, 1.2))], UNIT),
    "Independent": (
        [zd.Independent(zd.Gamma(real(a), real(2.0)), 1) for a in (1.5, 3.0)],
        HALF,
    ),
    "TransformedDistribution": (
        [zd.LogNormal(real(0.3), real(0.4)), zd.LogNormal(real(0.1), real(0.7))],
        HALF,
    ),
}  # fmt: skip
BY_FORMULA = {"ExponentialFamily", "MultivariateNormal", "LowRankMultivariateNormal"}


def where_it_lives(d, name, other):
    kinks = sorted({v.loc.item() for v in (d, other) if isinstance(v, zd.Laplace)})
    if kinks:
        low, high = EXAMPLES[name][1] or (d.low.item(), d.high.item())
        return nodes(low, high, *(k for k in kinks if low < k < high))
    if name == "Uniform":
        return nodes(d.low.item(), d.high.item())
    if name == "Pareto":
        return nodes(d.scale.item(), math.inf)
    if name == "Binomial":
        return np.arange(6.0), 1.0
    if EXAMPLES[name][1] is not None:
        return nodes(*EXAMPLES[name][1])
    if d.has_enumerate_support:
        return d.enumerate_support().squeeze(-1).numpy(), 1.0
    return np.arange(200.0), 1.0


@pytest.mark.parametrize(
    "p_name, q_name",
    [names for p, q in _formulas if BY_FORMULA.isdisjoint(names := (p.__name__, q.__name__))],
)
def test_divergence_is_an_integral(p_name, q_name):
    for p in EXAMPLES[p_name][0]:
        for q in EXAMPLES[q_name][0]:
            found = kl_divergence(p, q)
            x, w = where_it_lives(p, p_name, q)
            if p_name == "Dirichlet":
                x = np.stack([x, 1 - x], -1)[..., None, :]
            elif p_name in ("OneHotCategorical",):
                x = d_values(p)
            else:
                x = x.reshape(-1, 1)
            x = zero.tensor(np.ascontiguousarray(x, float))
            log_p = p.log_prob(x).reshape(-1)
            there = log_p > -700
            x, w, log_p = x[there], (w * np.ones(len(there)))[there.numpy()], log_p[there].numpy()
            expected = np.inf
            if bool(q.support.check(x).all()):
                expected = (w * np.exp(log_p) * (log_p - q.log_prob(x).numpy().ravel())).sum()
            np.testing.assert_allclose(found.item(), expected, rtol=TOLERANCE, atol=1e-12)
            assert found.dtype == zero.float64


def d_values(d):
    return d.enumerate_support().numpy()


# ---- gradients of draws --------------------------------------------------------------------------
def parameters(d):
    given = [
        name for name in d.arg_constraints if name in vars(d) or name not in ("probs", "logits")
    ]
    return {name: getattr(d, name) for name in given}


WITHOUT_CDF = {"Beta", "FisherSnedecor", "StudentT", "VonMises"}  # see the test below


@pytest.mark.parametrize(
    "name", sorted({*CONTINUOUS, "Kumaraswamy", "ContinuousBernoulli"} - WITHOUT_CDF)
)
def test_draws_move_with_their_quantile(name):
    """F(x; theta) stays what it is: dx / dtheta = -(dF / dtheta) / p(x)."""
    if name in CONTINUOUS:
        d = CONTINUOUS[name][0]()
    else:
        d = getattr(zd, name)(*([real(*A), real(*B)] if name == "Kumaraswamy" else [real(*P)]))
    values = {name: p.clone().requires_grad_() for name, p in parameters(d).items()}
    for parameter, value in values.items():
        # of one draw alone, as a sum of gradients would hide what differs
        wide = {
            k: (v if k != parameter else v.detach().expand(300, *v.shape).clone().requires_grad_())
            for k, v in values.items()
        }
        zero.manual_seed(9)
        moved = type(d)(**wide, validate_args=False).rsample()
        (slope,) = zero.autograd.grad(moved.sum(), wide[parameter])
        x = moved.detach()
        density = d.log_prob(x).exp()
        h = 1e-6 * value.detach().abs().clamp(min=1.0)
        before, after = (
            type(d)(**{**values, parameter: value.detach() + s}, validate_args=False)
            .cdf(x)
            .detach()
            for s in (-h, h)
        )
        expected = -(after - before).detach() / (2 * h) / density
        # The difference has 1e-16 / h of noise, divided by the density.
        noise = 1e-9 / density + 1e-5 * expected.abs() + 1e-7
        inside = density * x.abs() > 1e-3
        assert int(inside.sum()) > 100
        wrong = ((slope - expected).abs() > noise) & inside
        assert not bool(wrong.any()), (parameter, slope[wrong][:5], expected[wrong][:5])


@pytest.mark.parametrize(
    "make, values, f, expected",
    [
        (zd.Beta, (1.5, 0.7), lambda x: x, lambda a, b: a / (a + b)),
        (zd.Beta, (0.05, 0.2), lambda x: x, lambda a, b: a / (a + b)),
        (zd.Beta, (0.6, 4.0), lambda x: x * x, lambda a, b: a * (a + 1) / ((a + b) * (a + b + 1))),
        (zd.StudentT, (9.0, 0.5, 2.0), lambda x: x * x,
         lambda n, m, s: m * m + s * s * n / (n - 2)),
        (zd.FisherSnedecor, (4.0, 12.0), lambda x: x.sqrt(), None),
        (zd.FisherSnedecor, (4.0, 12.0), lambda x: x, lambda a, b: b / (b - 2) + 0 * a),
        (zd.Chi2, (3.0,), lambda x: x * x, lambda n: n * n + 2 * n),
        (
            lambda a, b, c: zd.Dirichlet(zero.stack([a, b, c], -1)),
            (0.6, 2.0, 5.0),
            lambda x: x[..., 0] * x[..., 1],
            lambda a, b, c: a * b / ((a + b + c) * (a + b + c + 1)),
        ),
        (
            lambda p: zd.RelaxedBernoulli(real(0.7), p),
            (0.3,),
            lambda x: x,
            None,
        ),
    ],
    ids=lambda v: getattr(v, "__name__", None) if isinstance(v, type) else "",
)  # fmt: skip
def test_gradient_of_a_mean(make, values, f, expected):
    n = 200_000
    given = [zero.full((n,), v, dtype=zero.float64, requires_grad=True) for v in values]
    draws = f(make(*given).rsample())
    slopes = zero.autograd.grad(draws.sum(), given)
    for i, slope in enumerate(slopes):
        if expected is not None:
            leaves = [real(v).requires_grad_() for v in values]
            truth = zero.autograd.grad(expected(*leaves).sum(), leaves[i])[0].item()
        else:  # by the score function, of other draws
            score = [zero.full((n,), v, dtype=zero.float64, requires_grad=True) for v in values]
            d = make(*score)
            y = d.sample()
            weights = f(y) - f(y).mean()
            terms = zero.autograd.grad((d.log_prob(y) * weights).sum(), score)[i]
            truth = terms.mean().item()
            slope_error = terms.std().item()
            assert abs(slope.mean().item() - truth) < 5 * math.hypot(
                slope_error, slope.std().item()
            ) / math.sqrt(n)
            continue
        assert abs(slope.mean().item() - truth) < 5 * slope.std().item() / math.sqrt(n) + 1e-9
