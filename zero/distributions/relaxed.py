"""The base of distributions that tend to discrete ones as a temperature falls."""

from __future__ import annotations

from typing import Any, ClassVar

from zero import Tensor
from zero.distributions.distribution import Distribution
from zero.distributions.transformed_distribution import TransformedDistribution
from zero.distributions.transforms import Transform

__all__ = ["Relaxed"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self


class Relaxed(TransformedDistribution):
    """Distributions of a function of relaxed logits.

    Args:
        temperature: above 0, a number or a tensor.
        probs: the discrete distribution's.
        logits: the discrete distribution's, in their place.
        validate_args: whether parameters and values are checked; None for the default.
    """

    has_rsample = True
    base_dist: Any
    _of_logits: ClassVar[type[Distribution]]
    _function: ClassVar[type[Transform]]

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = self._of_logits(temperature, probs, logits, validate_args)  # type: ignore[call-arg]
        super().__init__(base, self._function(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        new = self._get_checked_instance(Relaxed, _instance)
        return super().expand(batch_shape, _instance=new)  # type: ignore[return-value]

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Those of the discrete distribution."""
        return self.base_dist.logits  # type: ignore[no-any-return]

    @property
    def probs(self) -> Tensor:
        """Those of the discrete distribution."""
        return self.base_dist.probs  # type: ignore[no-any-return]
