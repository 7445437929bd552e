"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from zero import Tensor
from zero.distributions import constraints
from zero.distributions.gamma import Gamma
from zero.distributions.utils import broadcast_all

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Chi-squared distributions: of the sum of squares of `df` standard normal numbers.

    Args:
        df: degrees of freedom, above 0; a number or tensor.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is not positive.

    Example:
        >>> import zero
        >>> d = zero.distributions.Chi2(zero.tensor(3.0))
        >>> d.mean.item(), d.variance.item()
        (3.0, 6.0)
    """

    arg_constraints: ClassVar = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (half,) = broadcast_all(df)
        super().__init__(half / 2, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Chi2:
        new = self._get_checked_instance(Chi2, _instance)
        return super().expand(batch_shape, new)  # type: ignore[return-value]

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2
