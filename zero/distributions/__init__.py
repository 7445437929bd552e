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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.distributions import constraints as constraints, transforms as transforms
    from zero.distributions.bernoulli import Bernoulli as Bernoulli
    from zero.distributions.beta import Beta as Beta
    from zero.distributions.binomial import Binomial as Binomial
    from zero.distributions.categorical import Categorical as Categorical
    from zero.distributions.cauchy import Cauchy as Cauchy
    from zero.distributions.chi2 import Chi2 as Chi2
    from zero.distributions.constraint_registry import (
        biject_to as biject_to,
        transform_to as transform_to,
    )
    from zero.distributions.continuous_bernoulli import ContinuousBernoulli as ContinuousBernoulli
    from zero.distributions.dirichlet import Dirichlet as Dirichlet
    from zero.distributions.distribution import Distribution as Distribution
    from zero.distributions.exp_family import ExponentialFamily as ExponentialFamily
    from zero.distributions.exponential import Exponential as Exponential
    from zero.distributions.fishersnedecor import FisherSnedecor as FisherSnedecor
    from zero.distributions.gamma import Gamma as Gamma
    from zero.distributions.generalized_pareto import GeneralizedPareto as GeneralizedPareto
    from zero.distributions.geometric import Geometric as Geometric
    from zero.distributions.gumbel import Gumbel as Gumbel
    from zero.distributions.half_cauchy import HalfCauchy as HalfCauchy
    from zero.distributions.half_normal import HalfNormal as HalfNormal
    from zero.distributions.independent import Independent as Independent
    from zero.distributions.inverse_gamma import InverseGamma as InverseGamma
    from zero.distributions.kl import (
        kl_divergence as kl_divergence,
        register_kl as register_kl,
    )
    from zero.distributions.kumaraswamy import Kumaraswamy as Kumaraswamy
    from zero.distributions.laplace import Laplace as Laplace
    from zero.distributions.lkj_cholesky import LKJCholesky as LKJCholesky
    from zero.distributions.log_normal import LogNormal as LogNormal
    from zero.distributions.logistic_normal import LogisticNormal as LogisticNormal
    from zero.distributions.lowrank_multivariate_normal import (
        LowRankMultivariateNormal as LowRankMultivariateNormal,
    )
    from zero.distributions.mixture_same_family import MixtureSameFamily as MixtureSameFamily
    from zero.distributions.multinomial import Multinomial as Multinomial
    from zero.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal
    from zero.distributions.negative_binomial import NegativeBinomial as NegativeBinomial
    from zero.distributions.normal import Normal as Normal
    from zero.distributions.one_hot_categorical import (
        OneHotCategorical as OneHotCategorical,
        OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough,
    )
    from zero.distributions.pareto import Pareto as Pareto
    from zero.distributions.poisson import Poisson as Poisson
    from zero.distributions.relaxed_bernoulli import RelaxedBernoulli as RelaxedBernoulli
    from zero.distributions.relaxed_categorical import (
        RelaxedOneHotCategorical as RelaxedOneHotCategorical,
    )
    from zero.distributions.studentT import StudentT as StudentT
    from zero.distributions.transformed_distribution import (
        TransformedDistribution as TransformedDistribution,
    )
    from zero.distributions.transforms import (
        AbsTransform as AbsTransform,
        AffineTransform as AffineTransform,
        CatTransform as CatTransform,
        ComposeTransform as ComposeTransform,
        CorrCholeskyTransform as CorrCholeskyTransform,
        CumulativeDistributionTransform as CumulativeDistributionTransform,
        ExpTransform as ExpTransform,
        IndependentTransform as IndependentTransform,
        LowerCholeskyTransform as LowerCholeskyTransform,
        PositiveDefiniteTransform as PositiveDefiniteTransform,
        PowerTransform as PowerTransform,
        ReshapeTransform as ReshapeTransform,
        SigmoidTransform as SigmoidTransform,
        SoftmaxTransform as SoftmaxTransform,
        SoftplusTransform as SoftplusTransform,
        StackTransform as StackTransform,
        StickBreakingTransform as StickBreakingTransform,
        TanhTransform as TanhTransform,
        Transform as Transform,
        identity_transform as identity_transform,
    )
    from zero.distributions.uniform import Uniform as Uniform
    from zero.distributions.von_mises import VonMises as VonMises
    from zero.distributions.weibull import Weibull as Weibull
    from zero.distributions.wishart import Wishart as Wishart
else:
    __getattr__, __dir__, __all__ = _later.attributes(
        "zero.distributions",
        [],
        modules="constraints transforms",
        names={
            "bernoulli": "Bernoulli",
            "beta": "Beta",
            "binomial": "Binomial",
            "categorical": "Categorical",
            "cauchy": "Cauchy",
            "chi2": "Chi2",
            "constraint_registry": "biject_to transform_to",
            "continuous_bernoulli": "ContinuousBernoulli",
            "dirichlet": "Dirichlet",
            "distribution": "Distribution",
            "exp_family": "ExponentialFamily",
            "exponential": "Exponential",
            "fishersnedecor": "FisherSnedecor",
            "gamma": "Gamma",
            "generalized_pareto": "GeneralizedPareto",
            "geometric": "Geometric",
            "gumbel": "Gumbel",
            "half_cauchy": "HalfCauchy",
            "half_normal": "HalfNormal",
            "independent": "Independent",
            "inverse_gamma": "InverseGamma",
            "kl": "kl_divergence register_kl",
            "kumaraswamy": "Kumaraswamy",
            "laplace": "Laplace",
            "lkj_cholesky": "LKJCholesky",
            "log_normal": "LogNormal",
            "logistic_normal": "LogisticNormal",
            "lowrank_multivariate_normal": "LowRankMultivariateNormal",
            "mixture_same_family": "MixtureSameFamily",
            "multinomial": "Multinomial",
            "multivariate_normal": "MultivariateNormal",
            "negative_binomial": "NegativeBinomial",
            "normal": "Normal",
            "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
            "pareto": "Pareto",
            "poisson": "Poisson",
            "relaxed_bernoulli": "RelaxedBernoulli",
            "relaxed_categorical": "RelaxedOneHotCategorical",
            "studentT": "StudentT",
            "transformed_distribution": "TransformedDistribution",
            "transforms": "AbsTransform AffineTransform CatTransform ComposeTransform "
            "CorrCholeskyTransform CumulativeDistributionTransform ExpTransform "
            "IndependentTransform LowerCholeskyTransform PositiveDefiniteTransform "
            "PowerTransform ReshapeTransform SigmoidTransform SoftmaxTransform "
            "SoftplusTransform StackTransform StickBreakingTransform TanhTransform "
            "Transform identity_transform",
            "uniform": "Uniform",
            "von_mises": "VonMises",
            "weibull": "Weibull",
            "wishart": "Wishart",
            "covariance": "",
            "utils": "",
        },
    )
