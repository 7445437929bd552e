"""Probability distributions: draws, densities, entropies, divergences.

A distribution is made from tensors of parameters; their common shape is its ``batch_shape``, that
of one draw its ``event_shape``. ``sample(shape)`` gives draws of shape ``shape + batch_shape +
event_shape``; ``rsample`` gives them as a function of the parameters, so that gradients flow;
``log_prob(x)`` has the shape of the batch.

Two ways to a gradient of an expected value, by the score function (REINFORCE) and by the path:

    >>> import zero
    >>> from zero.distributions import Categorical, Normal
    >>> logits = zero.zeros(3, requires_grad=True)
    >>> policy = Categorical(logits=logits)
    >>> action = policy.sample()
    >>> reward = 1.0
    >>> (-policy.log_prob(action) * reward).backward()
    >>> abs(logits.grad.sum().item()) < 1e-6
    True
    >>> mean = zero.tensor(1.0, requires_grad=True)
    >>> Normal(mean, 1.0).rsample((10,)).mean().backward()
    >>> round(mean.grad.item(), 4)
    1.0
"""

from zero import _later
from zero.distributions import constraints, transforms, utils
from zero.distributions.bernoulli import Bernoulli
from zero.distributions.beta import Beta
from zero.distributions.binomial import Binomial
from zero.distributions.categorical import Categorical
from zero.distributions.cauchy import Cauchy
from zero.distributions.chi2 import Chi2
from zero.distributions.constraint_registry import biject_to, transform_to
from zero.distributions.continuous_bernoulli import ContinuousBernoulli
from zero.distributions.dirichlet import Dirichlet
from zero.distributions.distribution import Distribution
from zero.distributions.exp_family import ExponentialFamily
from zero.distributions.exponential import Exponential
from zero.distributions.fishersnedecor import FisherSnedecor
from zero.distributions.gamma import Gamma
from zero.distributions.generalized_pareto import GeneralizedPareto
from zero.distributions.geometric import Geometric
from zero.distributions.gumbel import Gumbel
from zero.distributions.half_cauchy import HalfCauchy
from zero.distributions.half_normal import HalfNormal
from zero.distributions.independent import Independent
from zero.distributions.inverse_gamma import InverseGamma
from zero.distributions.kl import kl_divergence, register_kl
from zero.distributions.kumaraswamy import Kumaraswamy
from zero.distributions.laplace import Laplace
from zero.distributions.lkj_cholesky import LKJCholesky
from zero.distributions.log_normal import LogNormal
from zero.distributions.logistic_normal import LogisticNormal
from zero.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from zero.distributions.mixture_same_family import MixtureSameFamily
from zero.distributions.multinomial import Multinomial
from zero.distributions.multivariate_normal import MultivariateNormal
from zero.distributions.negative_binomial import NegativeBinomial
from zero.distributions.normal import Normal
from zero.distributions.one_hot_categorical import (
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from zero.distributions.pareto import Pareto
from zero.distributions.poisson import Poisson
from zero.distributions.relaxed_bernoulli import RelaxedBernoulli
from zero.distributions.relaxed_categorical import RelaxedOneHotCategorical
from zero.distributions.studentT import StudentT
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from zero.distributions.uniform import Uniform
from zero.distributions.von_mises import VonMises
from zero.distributions.weibull import Weibull
from zero.distributions.wishart import Wishart

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraints",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
    "utils",
]

TYPE_CHECKING = False
if not TYPE_CHECKING:  # else any name would do
    __getattr__ = _later.missing(__name__)
