"""Batches whose distributions count as one."""

from __future__ import annotations

from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.constraints import Constraint
from zero.distributions.distribution import Distribution
from zero.distributions.utils import sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """Makes the last dimensions of a batch dimensions of one draw, whose parts are independent.

    `log_prob` and `entropy` are then sums over them.

    Args:
        base_distribution: the batch.
        reinterpreted_batch_ndims: how many of its dimensions.
        validate_args: whether values are checked; None for the default.

    Raises:
        ValueError: the batch has fewer dimensions.

    Example:
        >>> import zero
        >>> from zero.distributions import Independent, Normal
        >>> d = Independent(Normal(zero.zeros(2, 3), 1.0), 1)
        >>> d.batch_shape, d.event_shape, d.log_prob(zero.zeros(2, 3)).shape
        (zero.Size([2]), zero.Size([3]), zero.Size([2]))
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        if not 0 <= reinterpreted_batch_ndims <= len(batch):
            raise zero.errors.ValueError(
                "Independent: reinterpreted_batch_ndims is out of range; got "
                f"{reinterpreted_batch_ndims} for batch shape {tuple(batch)}"
            )
        cut = len(batch) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(
            batch[:cut], batch[cut:] + base_distribution.event_shape, validate_args=validate_args
        )

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Constraint | None:
        support = self.base_dist.support
        if self.reinterpreted_batch_ndims == 0 or support is None:
            return support
        return constraints.independent(support, self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def expand(self, batch_shape: Any, _instance: Any = None) -> Independent:
        new = self._get_checked_instance(Independent, _instance)
        shape, n = Size(batch_shape), self.reinterpreted_batch_ndims
        new.base_dist = self.base_dist.expand(shape + self.event_shape[:n])
        new.reinterpreted_batch_ndims = n
        new._batch_shape, new._event_shape = shape, self._event_shape
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Independent: values of several parts are not enumerated")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
