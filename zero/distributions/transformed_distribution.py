"""Distributions of a function of a random variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.constraints import Constraint
from zero.distributions.distribution import Distribution
from zero.distributions.independent import Independent
from zero.distributions.transforms import ComposeTransform, Transform
from zero.distributions.utils import sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of ``y = f(x)``, where x follows another one.

    ``log p(y) = log p(x) - log |dy / dx|``

    Args:
        base_distribution: of x.
        transforms: one, or a list of them that are applied one after the other.
        validate_args: whether values are checked; None for the default.

    Raises:
        ValueError: the base has fewer dimensions than the transforms need.

    Example:
        >>> import zero
        >>> from zero.distributions import AffineTransform, Normal, TransformedDistribution
        >>> d = TransformedDistribution(Normal(0.0, 1.0), [AffineTransform(1.0, 2.0)])
        >>> round(d.log_prob(zero.tensor(1.0)).item(), 4)  # that of Normal(1, 2)
        -1.6121
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        for t in self.transforms:
            if not isinstance(t, Transform):
                raise zero.errors.ValueError(
                    f"{type(self).__name__}: not a transform; got {type(t).__name__}"
                )
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim = len(base_distribution.event_shape)
        transform = ComposeTransform(self.transforms)
        if len(base_shape) < transform.domain.event_dim:
            raise zero.errors.ValueError(
                f"{type(self).__name__}: the base has too few dimensions; got shape "
                f"{tuple(base_shape)}, expected at least {transform.domain.event_dim}"
            )
        forward = transform.forward_shape(base_shape)
        expanded = transform.inverse_shape(forward)
        if base_shape != expanded:
            batch = expanded[: len(expanded) - base_event_dim]
            base_distribution = base_distribution.expand(batch)
        more = transform.domain.event_dim - base_event_dim
        if more > 0:
            base_distribution = Independent(base_distribution, more)
        self.base_dist = base_distribution
        gained = transform.codomain.event_dim - transform.domain.event_dim
        event_dim = max(transform.codomain.event_dim, base_event_dim + gained)
        cut = len(forward) - event_dim
        super().__init__(forward[:cut], forward[cut:], validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self) -> Constraint | None:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self._event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    def expand(self, batch_shape: Any, _instance: Any = None) -> TransformedDistribution:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        shape = Size(batch_shape)
        base = ComposeTransform(self.transforms).inverse_shape(shape + self.event_shape)
        cut = len(base) - len(self.base_dist.event_shape)
        new.base_dist, new.transforms = self.base_dist.expand(base[:cut]), self.transforms
        new._batch_shape, new._event_shape = shape, self._event_shape
        new._validate_args = self._validate_args
        return new

    def _forward(self, x: Tensor) -> Tensor:
        for t in self.transforms:
            x = t(x)
        return x

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        with zero.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        event_dim, y = len(self.event_shape), value
        total: Tensor | None = None
        for t in reversed(self.transforms):
            x = t.inv(y)
            event_dim += t.domain.event_dim - t.codomain.event_dim
            term = sum_rightmost(t.log_abs_det_jacobian(x, y), event_dim - t.domain.event_dim)
            total = term if total is None else total + term
            y = x
        base = sum_rightmost(
            self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape)
        )
        return base if total is None else base - total

    def _sign(self) -> Any:
        sign = 1
        for t in self.transforms:
            sign = sign * t.sign
        return sign

    def _monotone(self, value: Tensor) -> Tensor:
        """A probability of x as one of y: where y falls, the other tail's."""
        sign = self._sign()
        if not isinstance(sign, Tensor):
            return value if sign == 1 else 1 - value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        for t in reversed(self.transforms):
            value = t.inv(value)
        return self._monotone(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._monotone(value)))
