"""The base class of distributions."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, NoReturn

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.constraints import Constraint
from zero.distributions.utils import lazy_property

__all__ = ["Distribution"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

Shape = Any  # a Size, or a sequence of ints


class Distribution:
    """A batch of distributions of one kind.

    Args:
        batch_shape: the shape of the parameters: so many distributions, side by side.
        event_shape: the shape of one draw.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter lies outside its set.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: ClassVar[dict[str, Constraint]]
    _checked_elsewhere: ClassVar[tuple[str, ...]] = ()
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether parameters and values are checked by default; not if Python runs with -O.

        Args:
            value: True or False.
        """
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: no bool; got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Shape = Size(),  # noqa: B008 - a constant
        event_shape: Shape = Size(),  # noqa: B008
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        for name, constraint in getattr(self, "arg_constraints", {}).items():
            if constraints.is_dependent(constraint):
                continue
            if name not in vars(self) and isinstance(getattr(type(self), name), lazy_property):
                continue  # computed from one that is checked
            if (
                name not in self._checked_elsewhere
                and not zero._all_values(constraint.check(getattr(self, name))).all()
            ):
                self._outside(name)

    def _outside(self, name: str) -> NoReturn:
        raise zero.errors.ValueError(
            f"{type(self).__name__}: parameter {name} is outside its set; got "
            f"{getattr(self, name)}, expected {self.arg_constraints[name]}"
        )

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw, without the batch's."""
        return self._event_shape

    @property
    def support(self) -> Constraint | None:
        """The set that draws lie in."""
        self._absent("support")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        self._absent("mean")

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        self._absent("mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        self._absent("variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Distribution:
        """The same distributions in a larger batch, as `Tensor.expand`; no memory is copied.

        Args:
            batch_shape: the new shape.
        """
        self._absent("expand")

    def sample(self, sample_shape: Shape = Size()) -> Tensor:  # noqa: B008
        """Draws without a gradient.

        Args:
            sample_shape: how many, before the batch's shape.
        """
        with zero.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Shape = Size()) -> Tensor:  # noqa: B008
        """Draws as a function of the parameters, through which gradients flow.

        Args:
            sample_shape: how many, before the batch's shape.
        """
        self._absent("rsample")

    def sample_n(self, n: int) -> Tensor:
        """n draws; use ``sample((n,))``.

        Args:
            n: how many.
        """
        warnings.warn("sample_n(n) will go: use sample((n,))", UserWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or probability, of values.

        Args:
            value: broadcasts with the batch's and event's shape.
        """
        self._absent("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a draw up to a value.

        Args:
            value: broadcasts with the batch's shape.
        """
        self._absent("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The value up to which a draw lies with a probability: the inverse of `cdf`.

        Args:
            value: probabilities, which broadcast with the batch's shape.
        """
        self._absent("icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that a draw can have, along the first dimension.

        Args:
            expand: whether the result has the batch's shape behind; else sizes 1.
        """
        self._absent("enumerate_support")

    def entropy(self) -> Tensor:
        """The entropy, in nats, of each distribution of the batch."""
        self._absent("entropy")

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return zero.exp(self.entropy())

    def _absent(self, name: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} has no {name}")

    def _extended_shape(self, sample_shape: Shape = Size()) -> Size:  # noqa: B008
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise zero.errors.ValueError(
                f"{type(self).__name__}.log_prob: the value is no tensor; got "
                f"{type(value).__name__}"
            )
        shape, own = tuple(value.shape), tuple(self._batch_shape + self._event_shape)
        n = len(self._event_shape)
        if n > value.ndim or shape[len(shape) - n :] != tuple(self._event_shape):
            raise zero.errors.ValueError(
                f"{type(self).__name__}: the last sizes of a value are not the event's; got "
                f"{shape}, expected {tuple(self._event_shape)} at the end"
            )
        for i, j in zip(reversed(shape), reversed(own), strict=False):
            if i != j and 1 not in (i, j):
                raise zero.errors.ValueError(
                    f"{type(self).__name__}: a value does not broadcast with the batch; got "
                    f"{shape} and {own}"
                )
        support = self.support
        assert support is not None
        if not zero._all_values(support.check(value)).all():
            raise zero.errors.ValueError(
                f"{type(self).__name__}: a value is outside the support; got {value}, expected "
                f"{support}"
            )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Self:
        """An empty object for `expand` to fill."""
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"{type(self).__name__} has an __init__ of its own, so it needs its own expand"
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(
        self, cls: type, batch_shape: Shape, _instance: Any, names: tuple[str, ...]
    ) -> Self:
        """What `expand` does where each parameter has the batch's shape (or, for `probs` and
        `logits` of several categories, one dimension more).

        Names of parameters that were not computed yet are left out.
        """
        new = self._get_checked_instance(cls, _instance)
        shape = Size(batch_shape)
        for name in names:
            if name in vars(self):
                value = getattr(self, name)
                own = value.shape[len(self._batch_shape) :]
                setattr(new, name, value.expand(shape + own))
        new._batch_shape, new._event_shape = shape, self._event_shape
        new._validate_args = self._validate_args
        return new

    def __repr__(self) -> str:
        names = [n for n in getattr(self, "arg_constraints", {}) if n in vars(self)]
        shown = []
        for name in names:
            value = getattr(self, name)
            text = value if not isinstance(value, Tensor) or value.numel() == 1 else value.size()
            shown.append(f"{name}: {text}")
        return f"{type(self).__name__}({', '.join(shown)})"
