"""What the tests of distributions share."""

import itertools
import math

import numpy as np
import pytest

import zero

TOLERANCE = 1e-10  # relative, in float64


@pytest.fixture
def seeded():
    state = zero.get_rng_state()
    zero.manual_seed(5)
    yield
    zero.set_rng_state(state)


def real(*values):
    return zero.tensor(values, dtype=zero.float64)


def agree(found, expected, **options):
    expected = np.asarray(expected, dtype=float)
    found = np.broadcast_to(found.detach().numpy(), expected.shape)
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=1e-300, **options)


def distance(x, cdf):
    """Kolmogorov's, times the square root of n; above 2.2 with probability 1e-4."""
    p = cdf(np.sort(x, axis=0))
    n = len(p)
    grid = np.arange(1, n + 1).reshape(-1, *[1] * (p.ndim - 1)) / n
    return math.sqrt(n) * max((grid - p).max(), (p - grid + 1 / n).max())


def chi_square(counts, expected):
    """The probability of such a difference of counts or a larger one; rare cells are joined."""
    stats = pytest.importorskip("scipy.stats")
    order = np.argsort(-expected)
    counts, expected = counts[order], expected[order]
    kept = max(int((expected >= 10).sum()), 1)
    joined = [np.append(v[:kept], v[kept:].sum()) for v in (counts, expected)]
    counts, expected = (v[: kept + (joined[1][-1] >= 1)] for v in joined)
    return stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), len(counts) - 1)


def nodes(low, high, *breaks):
    """Places and weights of double exponential quadrature over an interval, cut at `breaks`."""
    if breaks:
        edges = [low, *breaks, high]
        parts = [nodes(a, b) for a, b in itertools.pairwise(edges)]
        return tuple(map(np.concatenate, zip(*parts, strict=True)))
    t = np.linspace(-4.2, 4.2, 1681)
    step = (t[1] - t[0]) * math.pi / 2 * np.cosh(t)
    u = math.pi / 2 * np.sinh(t)
    if math.isinf(low) and not math.isinf(high):
        x, w = nodes(-high, math.inf)
        return -x, w
    if math.isinf(low):
        return np.sinh(u), step * np.cosh(u)
    if math.isinf(high):
        return low + np.exp(u), step * np.exp(u)
    near = np.exp(-2 * abs(u)) / (1 + np.exp(-2 * abs(u)))  # to the nearer end
    width = high - low
    x = np.where(u < 0, low + width * near, high - width * near)
    inside = (low < x) & (x < high)
    return x[inside], (step * 2 * width * near * (1 - near))[inside]
