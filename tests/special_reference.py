"""Special functions by other ways than zero's, for its tests: integrals, series, Python's math.

Each takes and returns float64 arrays and is good to about 1e-13.
"""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)


def each(f):
    return np.vectorize(f, otypes=[float])


def integral(f, low, high):
    """Gauss and Legendre's rule; f takes an array."""
    half = (high - low) / 2
    return half * float(np.sum(_WEIGHTS * f(low + half * (_NODES + 1))))


def _rule(edges):
    """Nodes and weights of that rule between each edge and the next."""
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (_NODES + 1)).ravel(), (half * _WEIGHTS).ravel()


def _finite(f, nan=()):
    """f with nan for nan, and the given values at infinities."""

    def g(x):
        return math.nan if math.isnan(x) else f(x)

    return each(g)


erfc = each(math.erfc)
lgamma = _finite(
    lambda x: math.inf if x <= 0 and (x == round(x) or math.isinf(x)) else math.lgamma(x)
)


@_finite
def erfcx(x):
    if x == math.inf:
        return 0.0
    if x < -26.7:
        return math.inf
    if x < 10:
        return math.exp(x * x) * math.erfc(x) if x < 5 else _erfcx_integral(x)
    return _erfcx_integral(x)


def _erfcx_integral(x):
    """2 / sqrt(pi) integral of exp(-t^2 - 2 x t)"""
    return (
        2 / math.sqrt(math.pi) * integral(lambda t: np.exp(-t * t - 2 * x * t), 0, min(6, 20 / x))
    )


@_finite
def erfinv(x):
    if abs(x) >= 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    return NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2) if x else x


@_finite
def ndtr(x):
    return math.erfc(-x / math.sqrt(2)) / 2


@_finite
def ndtri(p):
    if not 0 < p < 1:
        return {0: -math.inf, 1: math.inf}.get(p, math.nan)
    return NormalDist().inv_cdf(p)


@_finite
def log_ndtr(x):
    if x > 0:
        return math.log1p(-math.erfc(x / math.sqrt(2)) / 2)
    if math.isinf(x):
        return x
    return math.log(erfcx(-x / math.sqrt(2)) / 2) - x * x / 2


@_finite
def entr(x):
    if x <= 0 or x == math.inf:
        return 0.0 if x == 0 else -math.inf
    return -x * math.log(x)


@_finite
def logit(x):
    if not 0 <= x <= 1:
        return math.nan
    return math.inf * (x - 0.5) if x in (0, 1) else math.log(x / (1 - x))


@_finite
def sinc(x):
    if x == 0 or math.isinf(x):
        return float(x == 0)
    rest = x - round(x)  # exact, so that integers give 0
    return math.sin(math.pi * rest) * (-1) ** (round(x) % 2) / (math.pi * x)


@_finite
def digamma(x):
    """By the reflection and the recurrence, up to where the asymptotic series is good."""
    if x == 0 or math.isinf(x):
        return -math.copysign(math.inf, x) if x == 0 else (x if x > 0 else math.nan)
    if x < 0:
        if x == round(x):
            return math.nan
        return float(digamma(1 - x)) - math.pi / math.tan(math.pi * (x - round(x)))
    steps = max(0, math.ceil(30 - x))
    y = x + steps
    series = math.log(y) - 1 / (2 * y) - 1 / (12 * y**2) + 1 / (120 * y**4) - 1 / (252 * y**6)
    return math.fsum([series, *(-1 / (x + i) for i in range(steps))])


@each
def zeta(s, q):
    """The first terms, an integral and the corrections of Euler and Maclaurin."""
    n = max(0, math.ceil(60 - q))
    end = q + n
    tail = end ** (1 - s) / (s - 1) + end**-s / 2 + s * end ** (-s - 1) / 12
    tail -= s * (s + 1) * (s + 2) * end ** (-s - 3) / 720
    return math.fsum([tail, *((q + i) ** -s for i in range(n))])


def polygamma(n, x):
    return (-1) ** (n + 1) * math.factorial(n) * zeta(n + 1.0, x)


@each
def igamma(a, x):
    """The power series of DLMF 8.7.1."""
    if x == 0:
        return 0.0
    terms = [math.exp(a * math.log(x) - x - math.lgamma(a + 1))]
    for n in range(1, 300):
        terms.append(terms[-1] * x / (a + n))
    return math.fsum(terms)


def bessel_i(order):
    """1 / pi integral of e^(x cos t) cos(n t), by a rule that is exact for periodic functions."""
    t = (np.arange(400) + 0.5) * (math.pi / 400)

    def f(x):
        return float(np.mean(np.exp(x * np.cos(t)) * np.cos(order * t)))

    return _finite(f)


def bessel_j(order):
    t = (np.arange(400) + 0.5) * (math.pi / 400)
    return _finite(lambda x: float(np.mean(np.cos(order * t - x * np.sin(t)))))


def bessel_k(order, scaled=False):
    """The integral of e^(-x cosh t) cosh(n t) over t > 0: it falls so fast that the trapezoidal
    rule is exact."""
    t = np.arange(0, 24, 0.02)
    weights = np.where(t == 0, 0.01, 0.02)

    def f(x):
        if x <= 0:
            return math.inf if x == 0 else math.nan
        rise = np.cosh(t) - scaled
        return float(np.sum(weights * np.exp(np.minimum(-x * rise, 700)) * np.cosh(order * t)))

    return _finite(f)


def bessel_y(order):
    """DLMF 10.9.7"""
    t, weights = _rule(np.arange(5) * (math.pi / 4))
    far, far_weights = _rule(np.arange(7) * 2.0)
    far_weights = far_weights * (np.exp(order * far) + (-1) ** order * np.exp(-order * far))

    def f(x):
        if x <= 0:
            return -math.inf if x == 0 else math.nan
        first = np.sum(weights * np.sin(x * np.sin(t) - order * t))
        second = np.sum(far_weights * np.exp(-x * np.sinh(far)))
        return float(first - second) / math.pi

    return _finite(f)


_ONE = 1 << 256
_AI0 = int(Fraction("0.355028053887817239260063186004183176397979") * _ONE)  # Ai(0)
_AI1 = int(Fraction("0.258819403792806798405183560189203963479091") * _ONE)  # -Ai'(0)


@_finite
def airy_ai(x):
    """The power series, with 256 bits behind the point."""
    f, g = _ONE, int(Fraction(x) * _ONE)
    cube = int(Fraction(x) ** 3 * _ONE)
    total = _AI0 * f - _AI1 * g
    for k in range(1, 120):
        f = f * cube // (_ONE * (3 * k - 1) * (3 * k))
        g = g * cube // (_ONE * (3 * k) * (3 * k + 1))
        total += _AI0 * f - _AI1 * g
    return total / _ONE**2


def polynomial(name):
    """f(x, n) by numpy's polynomials."""
    p = np.polynomial
    values = {
        "hermite_polynomial_h": p.hermite.hermval,
        "hermite_polynomial_he": p.hermite_e.hermeval,
        "laguerre_polynomial_l": p.laguerre.lagval,
        "legendre_polynomial_p": p.legendre.legval,
        "chebyshev_polynomial_t": p.chebyshev.chebval,
    }

    def chebyshev(x, n):
        """U, V and W as sums of T."""
        kind, t = name[-1], p.chebyshev.chebval
        if kind == "u":
            return sum((2 if k else 1) * t(x, [0] * k + [1]) for k in range(n % 2, n + 1, 2))
        signs = [(-1) ** (n - k) if kind == "v" else 1 for k in range(n + 1)]
        return sum((2 if k else 1) * s * t(x, [0] * k + [1]) for k, s in enumerate(signs))

    @each
    def f(x, n):
        n = math.trunc(n)
        if n < 0:
            return 0.0
        if name.startswith("shifted"):
            x = 2 * x - 1
        base = name.removeprefix("shifted_")
        if base in values:
            return values[base](x, [0] * n + [1])
        return chebyshev(x, n)

    return f
