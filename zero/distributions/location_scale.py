"""The base of distributions with a place and a width."""

from __future__ import annotations

from typing import Any, ClassVar

from zero import Tensor
from zero.distributions import constraints
from zero.distributions.distribution import Distribution
from zero.distributions.utils import broadcast_all

__all__ = ["LocationScale"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self


class LocationScale(Distribution):
    """Distributions of ``loc + scale z``, where z has one whose mode is 0.

    Args:
        loc: modes.
        scale: above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set.
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mode(self) -> Tensor:
        return self.loc

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        return self._expanded(LocationScale, batch_shape, _instance, ("loc", "scale"))
