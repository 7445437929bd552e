"""Kullback-Leibler divergences, by the types of both distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import zero
from zero import Tensor
from zero.distributions.bernoulli import Bernoulli
from zero.distributions.beta import Beta
from zero.distributions.binomial import Binomial
from zero.distributions.categorical import Categorical
from zero.distributions.cauchy import Cauchy
from zero.distributions.continuous_bernoulli import ContinuousBernoulli
from zero.distributions.dirichlet import Dirichlet
from zero.distributions.distribution import Distribution
from zero.distributions.exp_family import ExponentialFamily
from zero.distributions.exponential import Exponential
from zero.distributions.gamma import Gamma
from zero.distributions.geometric import Geometric
from zero.distributions.gumbel import Gumbel
from zero.distributions.half_normal import HalfNormal
from zero.distributions.independent import Independent
from zero.distributions.laplace import Laplace
from zero.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from zero.distributions.multivariate_normal import Gaussian, MultivariateNormal
from zero.distributions.normal import Normal
from zero.distributions.one_hot_categorical import OneHotCategorical
from zero.distributions.pareto import Pareto
from zero.distributions.poisson import Poisson
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.uniform import Uniform
from zero.distributions.utils import euler_constant, softplus, sum_rightmost, times_log

__all__ = ["kl_divergence", "register_kl"]

Formula = TypeVar("Formula", bound=Callable[..., Tensor])

_formulas: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}
_found: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}  # also for derived types


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Decorator: makes a function the divergence of two types, and of types derived from them.

    Args:
        type_p: the type of the first argument.
        type_q: the type of the second.

    Raises:
        TypeError: a type is no Distribution.

    Example:
        >>> import zero
        >>> from zero.distributions import Distribution, kl_divergence, register_kl
        >>> class Mine(Distribution):
        ...     pass
        >>> @register_kl(Mine, Mine)
        ... def divergence(p, q):
        ...     return zero.tensor(0.0)
        >>> kl_divergence(Mine(), Mine())
        tensor(0.)
    """
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"register_kl: no type of distributions; got {kind!r}")

    def register(formula: Formula) -> Formula:
        _formulas[type_p, type_q] = formula
        _found.clear()
        return formula

    return register


def _formula(type_p: type, type_q: type) -> Callable[[Any, Any], Tensor]:
    """The formula of the nearest base types: the first ones in the order of inheritance."""
    known = _found.get((type_p, type_q))
    if known is None:
        pairs = [
            (type_p.__mro__.index(p) + type_q.__mro__.index(q), p, q)
            for p, q in _formulas
            if issubclass(type_p, p) and issubclass(type_q, q)
        ]
        if not pairs:
            raise NotImplementedError(
                f"kl_divergence: no formula is registered for {type_p.__name__} and "
                f"{type_q.__name__}; register_kl adds one"
            )
        _, p, q = min(pairs, key=lambda pair: pair[0])
        known = _found[type_p, type_q] = _formulas[p, q]
    return known


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence: the mean over p of ``log p(x) - log q(x)``.

    Args:
        p: distributions.
        q: others; the batches broadcast.

    Raises:
        NotImplementedError: no formula is known for the two types.

    Example:
        >>> import zero
        >>> from zero.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0)).item()
        0.5

    Source: Kullback and Leibler, On information and sufficiency, 1951.
    """
    return _formula(type(p), type(q))(p, q)


def _infinite(p: Distribution, q: Distribution) -> Tensor:
    """Of values that q cannot have."""
    shape = zero.broadcast_shapes(p.batch_shape, q.batch_shape)
    return zero.full(shape, zero.inf, dtype=p.mean.dtype)


def _from_normal(entropy: Tensor, mean: Tensor, variance: Tensor, q: Normal) -> Tensor:
    """Against a normal distribution, of which only the first two moments of p matter."""
    spread = variance + (mean - q.loc).square()
    scale = q.scale.log() + 0.5 * math.log(2 * math.pi)
    return -entropy + scale + 0.5 * spread / q.scale.square()


# ---- of one type ---------------------------------------------------------------------------------
@register_kl(Normal, Normal)
def _normal_normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).square()
    distance = ((p.loc - q.loc) / q.scale).square()
    return 0.5 * (ratio + distance - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def _uniform_uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return zero.where((q.low > p.low) | (q.high < p.high), zero.inf, result)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli_bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    # In logits: log p = -softplus(-z). A probability of 0 adds nothing, whatever q's is.
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    other = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    one = zero.where(p.probs == 0, 0.0, zero.where(q.probs == 0, zero.inf, one))
    other = zero.where(p.probs == 1, 0.0, zero.where(q.probs == 1, zero.inf, other))
    return one + other


@register_kl(Categorical, Categorical)
def _categorical_categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = zero.where(q.probs == 0, zero.inf, terms)
    return zero.where(p.probs == 0, 0.0, terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical_categorical(p._categorical, q._categorical)


@register_kl(Exponential, Exponential)
def _exponential_exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Laplace, Laplace)
def _laplace_laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy_cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    total = (p.scale + q.scale).square() + (p.loc - q.loc).square()
    return total.log() - (4 * p.scale * q.scale).log()


@register_kl(HalfNormal, HalfNormal)
def _half_normal_half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal_normal(p.base_dist, q.base_dist)


@register_kl(Geometric, Geometric)
def _geometric_geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - zero.log1p(-q.probs) / p.probs - q.logits


@register_kl(Independent, Independent)
def _independent_independent(p: Independent, q: Independent) -> Tensor:
    n = p.reinterpreted_batch_ndims
    if n != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "kl_divergence: two Independent with different numbers of dimensions; got "
            f"{n} and {q.reinterpreted_batch_ndims}"
        )
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), n)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed_transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError(
            "kl_divergence: two TransformedDistribution with different transforms or event shapes"
        )
    more = len(p.event_shape) - len(p.base_dist.event_shape)
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), more)


@register_kl(Gumbel, Gumbel)
def _gumbel_gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc) / q.scale
    tail = (zero.lgamma(1 + ratio) - distance).exp()
    return -ratio.log() + distance + ratio * euler_constant + tail - (1 + euler_constant)


@register_kl(Gamma, Gamma)
def _gamma_gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    rates = b * (p.rate / q.rate).log() + a * (q.rate - p.rate) / p.rate
    return rates + zero.lgamma(b) - zero.lgamma(a) + (a - b) * zero.digamma(a)


@register_kl(ExponentialFamily, ExponentialFamily)
def _family_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """Bregman's divergence of the logarithm of the normalizer."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "kl_divergence: no formula is registered for two families; got "
            f"{type(p).__name__} and {type(q).__name__}; register_kl adds one"
        )
    normalizer, theta, slopes = p._normalizer_and_slopes()
    other = q._natural_params
    result = q._log_normalizer(*other) - normalizer
    for a, b, slope in zip(theta, other, slopes, strict=True):
        result = result - sum_rightmost((b - a) * slope, a.ndim - len(p.batch_shape))
    given = any(x.requires_grad for x in (*p._natural_params, *other))
    return result if given else result.detach()


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _gaussian_gaussian(p: Gaussian, q: Gaussian) -> Tensor:
    if p.event_shape != q.event_shape:
        raise zero.errors.ValueError(
            "kl_divergence: normal distributions of vectors of different sizes; got "
            f"{p.event_shape[0]} and {q.event_shape[0]}"
        )
    shape = zero.broadcast_shapes(p.batch_shape, q.batch_shape)
    factor = p._factor()  # tr(C_q^-1 C_p) is a sum over its columns
    columns = factor.expand(*shape, *factor.shape[-2:]).movedim(-1, 0)
    trace = q._squared_distance(columns).sum(0)
    distance = q._squared_distance((p.loc - q.loc).expand(*shape, -1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (trace + distance - p.event_shape[0])


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoullis(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    constants = q._log_normalizer(q.logits) - p._log_normalizer(p.logits)
    return (p.logits - q.logits) * p.mean + constants


@register_kl(Dirichlet, Dirichlet)
def _dirichlet_dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1, keepdim=True)
    constants = zero.lgamma(total.squeeze(-1)) - zero.lgamma(b.sum(-1))
    parts = zero.lgamma(b) - zero.lgamma(a)
    slopes = (a - b) * (zero.digamma(a) - zero.digamma(total))
    return constants + (parts + slopes).sum(-1)


@register_kl(Beta, Beta)
def _beta_beta(p: Beta, q: Beta) -> Tensor:
    return _dirichlet_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Poisson, Poisson)
def _poisson_poisson(p: Poisson, q: Poisson) -> Tensor:
    return times_log(p.rate, p.rate / q.rate) - p.rate + q.rate


@register_kl(Binomial, Binomial)
def _binomial_binomial(p: Binomial, q: Binomial) -> Tensor:
    # With fewer trials q has not all of p's values; for more there is no formula.
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "kl_divergence: a Binomial with fewer trials than the other; got total_count "
            f"{p.total_count} and {q.total_count}"
        )
    kept = p.probs * (p.logits - q.logits) - softplus(p.logits) + softplus(q.logits)
    return zero.where(p.total_count > q.total_count, zero.inf, p.total_count * kept)


@register_kl(Pareto, Pareto)
def _pareto_pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return zero.where(p.scale < q.scale, zero.inf, result)


# ---- of two types --------------------------------------------------------------------------------
@register_kl(Uniform, Normal)
def _uniform_normal(p: Uniform, q: Normal) -> Tensor:
    return _from_normal(p.entropy(), p.mean, p.variance, q)


@register_kl(Exponential, Normal)
def _exponential_normal(p: Exponential, q: Normal) -> Tensor:
    return _from_normal(p.entropy(), p.mean, p.variance, q)


@register_kl(Laplace, Normal)
def _laplace_normal(p: Laplace, q: Normal) -> Tensor:
    return _from_normal(p.entropy(), p.mean, p.variance, q)


@register_kl(Gumbel, Normal)
def _gumbel_normal(p: Gumbel, q: Normal) -> Tensor:
    return _from_normal(p.entropy(), p.mean, p.variance, q)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    d = p.loc - q.loc
    z = d / (p.scale * math.sqrt(2))
    distance = p.scale * math.sqrt(2 / math.pi) * (-z.square()).exp() + d * zero.erf(z)  # E|x - m|
    return -p.entropy() + (2 * q.scale).log() + distance / q.scale


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Normal, q: Gumbel) -> Tensor:
    z = (p.loc - q.loc) / q.scale
    tail = (0.5 * (p.scale / q.scale).square() - z).exp()
    return -p.entropy() + q.scale.log() + z + tail


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Exponential, q: Gumbel) -> Tensor:
    z = (p.mean - q.loc) / q.scale
    tail = (q.loc / q.scale).exp() * p.rate / (p.rate + 1 / q.scale)
    return -p.entropy() + q.scale.log() + z + tail


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Uniform, q: Gumbel) -> Tensor:
    z = (p.mean - q.loc) / q.scale
    low, high = (((q.loc - bound) / q.scale).exp() for bound in (p.low, p.high))
    tail = (low - high) * q.scale / (p.high - p.low)
    return -p.entropy() + q.scale.log() + z + tail


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Uniform, q: Exponential) -> Tensor:
    result = -p.entropy() - q.rate.log() + q.rate * p.mean
    return zero.where(p.low < 0, zero.inf, result)


@register_kl(Beta, Normal)
def _beta_normal(p: Beta, q: Normal) -> Tensor:
    return _from_normal(p.entropy(), p.mean, p.variance, q)


@register_kl(Beta, Exponential)
def _beta_exponential(p: Beta, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(ContinuousBernoulli, Normal)
def _continuous_bernoulli_normal(p: ContinuousBernoulli, q: Normal) -> Tensor:
    return _from_normal(p.entropy(), p.mean, p.variance, q)


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p: ContinuousBernoulli, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Gamma, Normal)
def _gamma_normal(p: Gamma, q: Normal) -> Tensor:
    return _from_normal(p.entropy(), p.mean, p.variance, q)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p: Gamma, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Exponential, q: Gamma) -> Tensor:
    ratio = q.rate / p.rate
    b = q.concentration
    return -b * ratio.log() + ratio + zero.lgamma(b) + b * euler_constant - (1 + euler_constant)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - times_log(p.probs, q.rate) + q.rate


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Pareto, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Pareto, Normal)
def _pareto_normal(p: Pareto, q: Normal) -> Tensor:
    result = _from_normal(p.entropy(), p.mean, p.variance, q)
    return zero.where(p.alpha <= 2, zero.inf, result)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    log_x = _log_mean(p.low, p.high)
    result = -p.entropy() - q.alpha.log() - q.alpha * q.scale.log() + (q.alpha + 1) * log_x
    return zero.where(p.low < q.scale, zero.inf, result)


def _log_mean(low: Tensor, high: Tensor) -> Tensor:
    """The mean of log x, where x is uniform."""
    return (times_log(high, high) - times_log(low, low)) / (high - low) - 1


def _from_gamma(entropy: Tensor, mean: Tensor, log_mean: Tensor, q: Gamma) -> Tensor:
    """Against a gamma distribution, of which only the means of x and log x matter."""
    b = q.concentration
    return -entropy - b * q.rate.log() + zero.lgamma(b) - (b - 1) * log_mean + q.rate * mean


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Uniform, q: Gamma) -> Tensor:
    result = _from_gamma(p.entropy(), p.mean, _log_mean(p.low, p.high), q)
    return zero.where(p.low < 0, zero.inf, result)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Pareto, q: Gamma) -> Tensor:
    return _from_gamma(p.entropy(), p.mean, p.scale.log() + 1 / p.alpha, q)


@register_kl(Beta, Gamma)
def _beta_gamma(p: Beta, q: Gamma) -> Tensor:
    a, b = p.concentration1, p.concentration0
    return _from_gamma(p.entropy(), p.mean, zero.digamma(a) - zero.digamma(a + b), q)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    constant = zero.lgamma(a) + zero.lgamma(b) - zero.lgamma(a + b)
    powers = (a - 1) * _log_mean(p.low, p.high) + (b - 1) * _log_mean(1 - p.high, 1 - p.low)
    return zero.where((p.low < 0) | (p.high > 1), zero.inf, -p.entropy() + constant - powers)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    result = _beta_continuous_bernoulli(p, q)
    return zero.where((p.low < 0) | (p.high > 1), zero.inf, result)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p: Beta | Uniform, q: ContinuousBernoulli) -> Tensor:
    return -p.entropy() - p.mean * q.logits + q._log_normalizer(q.logits)


@register_kl(ContinuousBernoulli, Uniform)
@register_kl(Beta, Uniform)
def _beta_uniform(p: Beta | ContinuousBernoulli, q: Uniform) -> Tensor:
    result = -p.entropy() + (q.high - q.low).log()
    return zero.where((q.low > 0) | (q.high < 1), zero.inf, result)


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Gamma, q: Gumbel) -> Tensor:
    z = (p.mean - q.loc) / q.scale
    tail = (q.loc / q.scale - p.concentration * zero.log1p(1 / (q.scale * p.rate))).exp()
    return -p.entropy() + q.scale.log() + z + tail


@register_kl(Gamma, Uniform)
@register_kl(Gamma, Pareto)
@register_kl(Gamma, Beta)
@register_kl(Normal, Gamma)
@register_kl(Normal, Beta)
@register_kl(Laplace, Gamma)
@register_kl(Laplace, Beta)
@register_kl(Gumbel, Gamma)
@register_kl(Gumbel, Beta)
@register_kl(Exponential, Beta)
@register_kl(Pareto, Beta)
@register_kl(Pareto, ContinuousBernoulli)
@register_kl(ContinuousBernoulli, Pareto)
@register_kl(Exponential, ContinuousBernoulli)
@register_kl(Gamma, ContinuousBernoulli)
@register_kl(Gumbel, ContinuousBernoulli)
@register_kl(Laplace, ContinuousBernoulli)
@register_kl(Normal, ContinuousBernoulli)
@register_kl(Beta, Pareto)
@register_kl(Exponential, Pareto)
@register_kl(Gumbel, Pareto)
@register_kl(Laplace, Pareto)
@register_kl(Normal, Pareto)
@register_kl(Pareto, Uniform)
@register_kl(Exponential, Uniform)
@register_kl(Gumbel, Uniform)
@register_kl(Laplace, Uniform)
@register_kl(Normal, Uniform)
@register_kl(Gumbel, Exponential)
@register_kl(Laplace, Exponential)
@register_kl(Normal, Exponential)
@register_kl(Poisson, Bernoulli)
@register_kl(Poisson, Binomial)
def _impossible(p: Distribution, q: Distribution) -> Tensor:
    return _infinite(p, q)
