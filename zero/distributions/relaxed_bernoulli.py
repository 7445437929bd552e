"""The relaxed Bernoulli distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.bernoulli import BinaryParameters
from zero.distributions.relaxed import Relaxed
from zero.distributions.transforms import SigmoidTransform
from zero.distributions.utils import clamp_probs, softplus

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(BinaryParameters):
    """The logits of `RelaxedBernoulli`: ``(logits + logistic noise) / temperature``.

    Args:
        temperature: above 0.
        probs: probabilities, numbers or tensors.
        logits: log(p / (1 - p)), in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Source: Maddison, Mnih and Teh, The concrete distribution, 2017.
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True
    temperature: Tensor

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        (given,) = self._set_parameters(probs, logits)
        super().__init__(given.shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LogitRelaxedBernoulli:
        new = self._expanded(LogitRelaxedBernoulli, batch_shape, _instance, ("probs", "logits"))
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        u = zero.rand(self._extended_shape(sample_shape), dtype=self._param.dtype)
        u, p = clamp_probs(u), clamp_probs(self.probs)
        noise = u.log() - (-u).log1p()
        return (noise + p.log() - (-p).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        t = self.temperature
        d = self.logits - value * t
        log_t = t.log() if isinstance(t, Tensor) else zero.tensor(t, dtype=d.dtype).log()
        return log_t + d - 2 * softplus(d)


class RelaxedBernoulli(Relaxed):
    """Numbers in (0, 1) that tend to those of a Bernoulli distribution as the temperature falls.

    Gradients flow through the draws, which those of `Bernoulli` do not let pass.

    Args:
        temperature: above 0, a number or a tensor.
        probs: probabilities, numbers or tensors.
        logits: log(p / (1 - p)), in their place.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a probability is outside [0, 1], or both or neither are given.

    Example:
        >>> import zero
        >>> logits = zero.zeros(3, requires_grad=True)
        >>> d = zero.distributions.RelaxedBernoulli(zero.tensor(0.5), logits=logits)
        >>> x = d.rsample()
        >>> bool(((x > 0) & (x < 1)).all()), x.requires_grad
        (True, True)

    Source: Jang, Gu and Poole, Categorical reparameterization with Gumbel-softmax, 2017.
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _of_logits = LogitRelaxedBernoulli
    _function = SigmoidTransform
