"""Every distribution, and every registered divergence, against PyTorch's, where it is installed."""

import numpy as np
import pytest
from distribution_checks import TOLERANCE, seeded  # noqa: F401 - a fixture

import zero
from zero import distributions as zd

torch = pytest.importorskip("torch")
td = torch.distributions
pytestmark = pytest.mark.usefixtures("seeded")

PLACE = {"loc": [-3.0, 0.0, 0.4, 20.0], "scale": [0.2, 1.3, 4.0, 9.0]}
PAIR = {"concentration1": [0.7, 1.5, 6.0, 9.0], "concentration0": [1.0, 2.5, 9.0, 2.0]}
GAMMA = {"concentration": [0.7, 1.0, 6.0, 9.0], "rate": [1.0, 2.5, 9.0, 2.0]}
SOME = [0.2, 1.3, 4.0, 9.0]
P, Z = {"probs": [1e-3, 0.3, 0.5, 0.97]}, {"logits": [-4.0, 0.0, 0.3, 3.0]}
ROWS = {"probs": [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]}
LOGITS = {"logits": [[1.0, 2.0, -4.0], [0.0, 0.0, 9.0]]}
C = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 3.0]])
MATRICES = [
    {"covariance_matrix": C},
    {"precision_matrix": C},
    {"scale_tril": np.linalg.cholesky(C)},
]
ARGUMENTS = {
    "Bernoulli": [P, Z],
    "Beta": [PAIR],
    "Binomial": [{"total_count": 12, **P}, {"total_count": [5.0, 5.0, 9.0, 12.0], **Z}],
    "Categorical": [ROWS, LOGITS],
    "Cauchy": [PLACE],
    "Chi2": [{"df": SOME}],
    "ContinuousBernoulli": [P, Z],
    "Dirichlet": [{"concentration": [[0.5, 2.0, 9.0], [1.5, 1.2, 1.1]]}],
    "Exponential": [{"rate": SOME}],
    "FisherSnedecor": [{"df1": SOME, "df2": [1.5, 3.0, 5.0, 30.0]}],
    "Gamma": [GAMMA],
    "Geometric": [{"probs": [0.01, 0.3, 0.5, 0.97]}, Z],
    "Gumbel": [PLACE],
    "HalfCauchy": [{"scale": SOME}],
    "HalfNormal": [{"scale": SOME}],
    "InverseGamma": [GAMMA],
    "Kumaraswamy": [PAIR],
    "LKJCholesky": [{"dim": 3, "concentration": SOME}],
    "Laplace": [PLACE],
    "LogNormal": [{"loc": [-1.0, 0.0, 0.5], "scale": [0.2, 1.0, 0.5]}],
    "LogisticNormal": [{"loc": [[0.1, 0.4], [1.0, 2.0]], "scale": [[1.0, 0.5], [0.3, 1.0]]}],
    "LowRankMultivariateNormal": [
        {"loc": [0.1, 0.2, 0.3], "cov_factor": [[1.0, 0.2], [0.3, 0.4], [0.1, 2.0]],
         "cov_diag": [0.5, 0.1, 2.0]},
    ],
    "Multinomial": [{"total_count": 4, **ROWS}, {"total_count": 3, **LOGITS}],
    "MultivariateNormal": [{"loc": [[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]], **m} for m in MATRICES],
    "NegativeBinomial": [{"total_count": [0.5, 1.0, 2.0, 9.0], **Z}],
    "Normal": [PLACE],
    "OneHotCategorical": [ROWS, LOGITS],
    "OneHotCategoricalStraightThrough": [ROWS, LOGITS],
    "Pareto": [{"scale": SOME, "alpha": [0.7, 1.5, 2.5, 9.0]}],
    "Poisson": [{"rate": SOME}],
    "RelaxedBernoulli": [{"temperature": 0.7, **P}],
    "RelaxedOneHotCategorical": [{"temperature": 0.7, **ROWS}],
    "StudentT": [{"df": [0.5, 1.5, 3.0, 40.0], **PLACE}],
    "Uniform": [{"low": [-1.0, 0.0, 2.0, 0.1], "high": [1.0, 0.5, 9.0, 0.2]}],
    "Weibull": [{"scale": SOME, "concentration": [0.7, 1.5, 6.0, 9.0]}],
    "Wishart": [{"df": [3.5, 20.0], **m} for m in MATRICES],
}  # fmt: skip
# Rough, wrong or absent there; they are tested against SciPy and formulas.
OTHERWISE = {
    "GeneralizedPareto", "VonMises",
    ("Beta", "mode"), ("Weibull", "mode"), ("Kumaraswamy", "mode"),
    ("Multinomial", "entropy"), ("Gamma", "cdf"), ("InverseGamma", "cdf"),
    ("ContinuousBernoulli", "Uniform"), ("Uniform", "ContinuousBernoulli"),
}  # fmt: skip
OF_OTHERS = {
    "Distribution", "ExponentialFamily", "Independent", "MixtureSameFamily",
    "TransformedDistribution",
}  # fmt: skip


def both(name, arguments):
    def numbers(make, double):
        return {
            key: make(value, dtype=double) if not isinstance(value, int) else value
            for key, value in arguments.items()
        }

    theirs = getattr(td, name)(**numbers(torch.tensor, torch.float64))
    return getattr(zd, name)(**numbers(zero.tensor, zero.float64)), theirs


def ours(x):
    return zero.tensor(x.numpy())


def same(found, expected, **options):
    assert tuple(found.shape) == tuple(expected.shape)
    assert str(found.dtype).partition(".")[2] == str(expected.dtype).partition(".")[2]
    found, expected = found.detach().numpy(), expected.detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=1e-12, **options)


def test_the_table_has_all():
    names = {n for n in zd.__all__ if isinstance(getattr(zd, n), type)}
    names = {n for n in names if issubclass(getattr(zd, n), zd.Distribution)}
    assert names - ARGUMENTS.keys() - OF_OTHERS == {n for n in OTHERWISE if isinstance(n, str)}
    assert {n for n in td.__all__ if isinstance(getattr(td, n), type)} <= set(zd.__all__)


@pytest.mark.filterwarnings("ignore:Singular sample")  # PyTorch's Wishart at every draw
@pytest.mark.parametrize("name", ARGUMENTS)
def test_values(name):
    for arguments in ARGUMENTS[name]:
        d, t = both(name, arguments)
        assert (d.batch_shape, d.event_shape) == (tuple(t.batch_shape), tuple(t.event_shape))
        x = t.sample((25,))
        assert tuple(d.sample((25,)).shape) == tuple(x.shape)
        u = torch.linspace(0.01, 0.99, 25, dtype=torch.float64)
        u = u.reshape(25, *[1] * len(t.batch_shape)).expand(25, *t.batch_shape)
        for what, argument in (
            ("mean", None), ("mode", None), ("variance", None), ("stddev", None),
            ("entropy", ()), ("enumerate_support", ()),
            ("log_prob", (x,)), ("cdf", (x,)), ("icdf", (u,)),
        ):  # fmt: skip
            if (name, what) in OTHERWISE:
                continue
            try:
                expected = getattr(t, what)
                expected = expected if argument is None else expected(*argument)
            except NotImplementedError:
                continue
            found = getattr(d, what)
            found = found if argument is None else found(*map(ours, argument))
            same(found, expected, err_msg=what)
        shape = (3, *d.batch_shape)
        same(d.expand(shape).log_prob(ours(x[:3])), t.expand(shape).log_prob(x[:3]))
        assert d.has_rsample == t.has_rsample
        assert d.support.event_dim == t.support.event_dim
        assert d.support.is_discrete == t.support.is_discrete


PAIRS = [
    (p.__name__, q.__name__)
    for p, q in td.kl._KL_REGISTRY
    if p.__name__ in ARGUMENTS and q.__name__ in ARGUMENTS
]


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_divergences(names):
    if names in OTHERWISE:
        pytest.skip("wrong there")
    a, b = names
    for first in ARGUMENTS[a]:
        for second in ARGUMENTS[b]:
            (p, tp), (q, tq) = both(a, first), both(b, second)
            try:
                expected = td.kl_divergence(tp, tq)
            except (NotImplementedError, RuntimeError):  # also of shapes that do not broadcast
                continue
            same(zd.kl_divergence(p, q), expected)
