"""Draws from distributions: against their distribution functions, on fixed seeds."""

import math

import numpy as np
import pytest

import zero
from zero.errors import DTypeError, ShapeError

N = 100_000
FLOATS = [zero.float16, zero.bfloat16, zero.float32, zero.float64]


@pytest.fixture(autouse=True)
def seeded():
    state, threads = zero.get_rng_state(), zero.get_num_threads()
    zero.manual_seed(4321)
    yield
    zero.set_rng_state(state)
    zero.set_num_threads(threads)


def values(t):
    return t.to(zero.float64).numpy().ravel()


def assert_follows(x, cdf):
    """Kolmogorov and Smirnov: sqrt(n) D > 2.2 has the probability 1e-4."""
    x = np.sort(x)
    p, n = cdf(x), len(x)
    d = max(np.max(np.arange(1, n + 1) / n - p), np.max(p - np.arange(n) / n))
    assert math.sqrt(n) * d < 2.2, d


def assert_frequencies(x, pmf):
    """Chi-square over the numbers k with 5 or more expected; six standard deviations."""
    k = np.arange(int(x.max()) + 1)
    expected = len(x) * np.array([pmf(i) for i in k])
    counts = np.bincount(x.astype(int), minlength=len(k))
    often = expected >= 5
    chi = ((counts[often] - expected[often]) ** 2 / expected[often]).sum()
    degrees = often.sum()
    assert chi < degrees + 6 * math.sqrt(2 * degrees), (chi, degrees)
    assert abs(counts[~often].sum() - expected[~often].sum()) < 30


def poisson_pmf(rate):
    return lambda k: math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) if rate else k == 0


def binomial_pmf(n, p):
    def pmf(k):
        if k > n:
            return 0.0
        choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return math.exp(choose + k * math.log(p) + (n - k) * math.log1p(-p))

    return pmf


@pytest.mark.parametrize("dtype", [zero.float32, zero.float64])
def test_continuous(dtype):
    def empty():
        return zero.empty(N, dtype=dtype)

    assert_follows(values(empty().exponential_(2.5)), lambda x: -np.expm1(-2.5 * x))
    cauchy = values(empty().cauchy_(3, 0.5))
    assert_follows(cauchy, lambda x: np.arctan((x - 3) / 0.5) / math.pi + 0.5)
    erf = np.vectorize(math.erf)
    normal = np.log(values(empty().log_normal_(-1, 0.25)))
    assert_follows(normal, lambda x: 0.5 + 0.5 * erf((x + 1) / 0.25 / math.sqrt(2)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_exponential_numbers_are_positive_and_finite(dtype):
    x = zero.empty(N, dtype=dtype).exponential_()
    assert bool((x > 0).all()) and bool(x.isfinite().all())
    assert abs(x.double().mean().item() - 1) < 5 / math.sqrt(N) + 2.0**-9
    assert x.max().item() > 8


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64", "bfloat16"])
def test_geometric(dtype):
    x = values(zero.empty(N, dtype=getattr(zero, dtype)).geometric_(0.3))
    assert x.min() == 1
    if dtype != "bfloat16":
        assert_frequencies(x, lambda k: 0.7 ** (k - 1) * 0.3 if k else 0.0)


@pytest.mark.parametrize("rate", [0.0, 0.3, 4.0, 9.9, 10.0, 35.0, 1000.0])
def test_poisson(rate):
    x = values(zero.poisson(zero.full((N,), rate)))
    assert_frequencies(x, poisson_pmf(rate))
    assert abs(x.mean() - rate) <= 5 * math.sqrt(rate / N)


@pytest.mark.parametrize(
    "n, p",
    [(1, 0.3), (20, 0.1), (20, 0.5), (20, 0.9), (40, 0.25), (500, 0.4), (500, 0.97), (10000, 0.5)],
)
def test_binomial(n, p):
    x = values(zero.binomial(zero.full((N,), float(n)), zero.tensor(p, dtype=zero.float64)))
    assert x.min() >= 0 and x.max() <= n
    assert_frequencies(x, binomial_pmf(n, p))
    assert abs(x.mean() - n * p) < 5 * math.sqrt(n * p * (1 - p) / N)


def test_binomial_of_edges():
    count = zero.tensor([0.0, 5.0, 5.0, -1.0, 5.0])
    p = zero.tensor([0.5, 0.0, 1.0, 0.5, math.nan])
    x = zero.binomial(count, p)
    assert x[:4].tolist() == [0.0, 0.0, 5.0, 0.0] and math.isnan(x[4].item())
    assert zero.binomial(zero.ones(3, 1), zero.ones(4)).shape == (3, 4)
    assert zero.binomial(zero.ones(2), zero.ones(2).double()).dtype == zero.float64


@pytest.mark.parametrize("dtype", FLOATS)
def test_bernoulli_by_element(dtype):
    p = zero.tensor([0.0, 1.0, 0.25, 0.5], dtype=dtype)
    x = zero.bernoulli(p.expand(N, 4))
    assert x.dtype == dtype and set(values(x)) == {0.0, 1.0}
    means = x.double().mean(0).tolist()
    assert means[:2] == [0.0, 1.0]
    assert abs(means[2] - 0.25) < 5 * math.sqrt(0.1875 / N) and abs(means[3] - 0.5) < 0.01
    y = zero.empty(N, 4, dtype=zero.int8).bernoulli_(p)
    assert y[:, 0].max().item() == 0 and y[:, 1].min().item() == 1


def test_rare_events_are_rare():
    # 1e6 draws with probability 1e-6: from 24 random bits each they were 6 % off, or none at all
    x = zero.bernoulli(zero.full((1000, 1000), 2.0**-30))
    assert x.sum().item() <= 1
    y = zero.bernoulli(zero.full((2000, 1000), 1e-5))
    assert abs(y.sum().item() - 20) < 25


def test_multinomial_with_replacement():
    w = zero.tensor([[1.0, 0.0, 3.0, 4.0], [0.0, 0.0, 0.5, 0.0]])
    i = zero.multinomial(w, N, replacement=True)
    assert i.shape == (2, N) and i.dtype == zero.int64 and set(i[1].tolist()) == {2}
    counts = np.bincount(i[0].numpy(), minlength=4) / N
    for count, p in zip(counts, [0.125, 0, 0.375, 0.5], strict=True):
        assert abs(count - p) <= 5 * math.sqrt(p * (1 - p) / N)


def test_multinomial_without_replacement_is_one_draw_after_the_other():
    w = [1.0, 2.0, 0.0, 3.0]
    i = zero.multinomial(zero.tensor([w] * 60000), 2).numpy()
    assert (i[:, 0] != i[:, 1]).all() and 2 not in i
    for a in (0, 1, 3):
        for b in (0, 1, 3):
            if a != b:
                p = w[a] / 6 * w[b] / (6 - w[a])
                share = ((i[:, 0] == a) & (i[:, 1] == b)).mean()
                assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / 60000), (a, b)
    assert sorted(zero.multinomial(zero.ones(50), 50).tolist()) == list(range(50))


def test_multinomial_of_very_unequal_weights():
    w = zero.tensor([1e20, 1e-20, 1e-20, 0.0])
    assert sorted(zero.multinomial(w, 3).tolist()) == [0, 1, 2]
    assert zero.multinomial(w, 1000, replacement=True).max().item() == 0


def test_multinomial_errors():
    for call, error, words in (
        (lambda: zero.multinomial(zero.ones(3), 4), ValueError, "more samples"),
        (lambda: zero.multinomial(zero.tensor([0.0, 1.0]), 2), ValueError, "above 0"),
        (lambda: zero.multinomial(zero.zeros(3), 1), ValueError, "all weights are 0"),
        (lambda: zero.multinomial(zero.tensor([1.0, -1.0]), 1), ValueError, "negative"),
        (lambda: zero.multinomial(zero.tensor([1.0, math.nan]), 1), ValueError, "nan"),
        (lambda: zero.multinomial(zero.tensor([1.0, math.inf]), 1), ValueError, "infinite"),
        (lambda: zero.multinomial(zero.ones(3), 0), ValueError, "not positive"),
        (lambda: zero.multinomial(zero.ones(2, 2, 2), 1), ShapeError, "dimensions"),
        (lambda: zero.multinomial(zero.tensor([1, 2]), 1), DTypeError, "int64"),
    ):
        with pytest.raises(error, match=words):
            call()


def draws():
    rates = zero.linspace(0, 40, 50_001)
    return [
        zero.empty(100_003).exponential_(),
        zero.empty(100_003, dtype=zero.float64).exponential_(),
        zero.empty(50_001).cauchy_(),
        zero.empty(50_001).log_normal_(),
        zero.empty(50_001).geometric_(0.1),
        zero.bernoulli(zero.linspace(0, 1, 100_003)),
        zero.poisson(rates),
        zero.binomial(rates.floor(), zero.linspace(0, 1, 50_001)),
        zero.multinomial(zero.rand(3000, 20), 7),
        zero.multinomial(zero.rand(3000, 20), 7, replacement=True),
        zero.normal(rates, 2.0),
    ]


def test_the_same_numbers_on_any_number_of_threads():
    zero.set_num_threads(1)
    zero.manual_seed(3)
    expected = draws()
    for threads in (2, 3, 7):
        zero.set_num_threads(threads)
        zero.manual_seed(3)
        assert all(zero.equal(a, b) for a, b in zip(draws(), expected, strict=True))


def test_generators_and_out():
    p = zero.full((100,), 0.5)
    calls = {
        "bernoulli": lambda **k: zero.bernoulli(p, **k),
        "poisson": lambda **k: zero.poisson(p, **k),
        "binomial": lambda **k: zero.binomial(p * 20, p, **k),
        "multinomial": lambda **k: zero.multinomial(p, 30, **k),
        "normal": lambda **k: zero.normal(p, p, **k),
        "numbers": lambda **k: zero.normal(1.0, 2.0, (100,), **k),
    }
    for name, call in calls.items():
        state = zero.get_rng_state()
        a = call(generator=zero.Generator().manual_seed(3))
        assert zero.equal(zero.get_rng_state(), state), name
        out = zero.empty_like(a)
        b = call(generator=zero.Generator().manual_seed(3), out=out)
        assert b is out and zero.equal(a, out), name
        assert not zero.equal(a, call()), name
        with pytest.raises(TypeError, match="generator"):
            call(generator=3)


def test_gradients_are_zero():
    p = zero.full((2, 3), 0.5, requires_grad=True)
    for y in (
        zero.bernoulli(p),
        zero.poisson(p),
        zero.normal(p, 1.0),
        zero.normal(0.0, p),
        zero.binomial(zero.ones(4, 2, 3), p),
    ):
        (gradient,) = zero.autograd.grad(y.sum(), p)
        assert gradient.shape == p.shape and gradient.abs().sum().item() == 0
    assert not zero.multinomial(p, 1).requires_grad


def test_normal_with_tensors():
    mean, std = zero.tensor([[0.0], [100.0]]), zero.tensor([1.0, 2.0, 0.0])
    x = zero.normal(mean, std)
    assert x.shape == (2, 3) and x[1, 2].item() == 100.0
    y = zero.normal(zero.zeros(N), zero.full((N,), 3.0))
    assert abs(y.std().item() - 3) < 0.05
    assert zero.normal(zero.zeros(2).double(), 1.0).dtype == zero.float64
    for call in (
        lambda: zero.normal(mean, 1.0, (2,)),
        lambda: zero.normal(mean, 1.0, dtype=zero.float64),
        lambda: zero.normal(0.0, 1.0),
    ):
        with pytest.raises(TypeError, match="normal: "):
            call()
    with pytest.raises(ValueError, match="std is negative"):
        zero.normal(mean, zero.tensor(-1.0))


def test_errors():
    x, i = zero.empty(3), zero.empty(3, dtype=zero.int64)
    for call, error, words in (
        (lambda: x.exponential_(0), ValueError, "lambd"),
        (lambda: x.cauchy_(0, 0), ValueError, "sigma"),
        (lambda: x.log_normal_(0, 0), ValueError, "std"),
        (lambda: x.geometric_(0), ValueError, "p is out of range"),
        (lambda: x.geometric_(1), ValueError, "p is out of range"),
        (lambda: x.bernoulli_(zero.ones(4)), ShapeError, "broadcast"),
        (lambda: x.bernoulli_(zero.tensor([0.1, 2.0, 0.0])), ValueError, "no probability"),
        (lambda: zero.bernoulli(zero.tensor([math.nan])), ValueError, "outside"),
        (lambda: zero.bernoulli(i), DTypeError, "int64"),
        (lambda: zero.poisson(zero.tensor([-1.0])), ValueError, "negative"),
        (lambda: zero.poisson(zero.tensor([math.inf])), ValueError, "not finite"),
        (lambda: zero.poisson(i), DTypeError, "int64"),
        (lambda: zero.binomial(i, x), DTypeError, "int64"),
        (lambda: i.exponential_(), DTypeError, "int64"),
        (lambda: i.cauchy_(), DTypeError, "int64"),
        (lambda: i.log_normal_(), DTypeError, "int64"),
        (lambda: i.bool().geometric_(0.5), DTypeError, "bool"),
    ):
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize("name", ["cauchy_", "log_normal_", "geometric_"])
def test_draws_are_writes(name):
    args = (0.5,) if name == "geometric_" else ()
    x = zero.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        getattr(x, name)(*args)
    y = x * 2
    assert getattr(y, name)(*args) is y
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
    assert getattr(zero.empty(2, 3).t(), name)(*args).shape == (3, 2)
    assert getattr(zero.empty(3, device="meta"), name)(*args).device.type == "meta"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("low, high", [(1, 2), (-2, -1), (-1, 0), (0, 3), (-5, 1000), (2, 2)])
def test_uniform_numbers_of_short_types_stay_below_the_limit(dtype, low, high):
    x = zero.empty(N, dtype=getattr(zero, dtype)).uniform_(low, high).double()
    assert x.min().item() >= low and (x.max().item() < high or low == high)
    assert abs(x.mean().item() - (low + high) / 2) < (high - low) / 100 + 1e-9


def test_large_bounds_of_bfloat16():
    x = zero.empty(1000, dtype=zero.bfloat16).uniform_(0, 1e9)
    assert 4e8 < x.double().mean().item() < 6e8 and x.max().item() < 1e9


@pytest.mark.parametrize("name", ["uniform_", "normal_", "random_", "exponential_", "cauchy_"])
def test_the_same_numbers_for_every_layout(name):
    zero.manual_seed(5)
    a = getattr(zero.empty(30, 40), name)()
    zero.manual_seed(5)
    b = getattr(zero.empty(40, 30).t(), name)()
    assert zero.equal(a, b)
    with zero.no_grad():
        leaf = zero.empty(3, requires_grad=True)
        version = leaf._version
        assert getattr(leaf, name)() is leaf and leaf._version == version + 1


def test_empty_and_meta():
    assert zero.poisson(zero.empty(0, 3)).shape == (0, 3)
    assert zero.multinomial(zero.empty(0, 3), 2).shape == (0, 2)
    p = zero.empty(2, 3, device="meta")
    assert zero.bernoulli(p).shape == (2, 3) and zero.poisson(p).device.type == "meta"
    assert zero.multinomial(p, 5, True).shape == (2, 5)
    assert zero.binomial(p, p).shape == (2, 3)
