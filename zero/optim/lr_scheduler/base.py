"""LRScheduler, the base class of all schedules, and what they share."""

from __future__ import annotations

import warnings
from types import MethodType

from zero import Tensor
from zero.optim.optimizer import Optimizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    Rate: TypeAlias = Any  # a float, or a tensor of one element
    State: TypeAlias = dict[str, Any]

__all__ = ["EPOCH_DEPRECATION_WARNING", "LRScheduler", "_LRScheduler"]

EPOCH_DEPRECATION_WARNING = (
    "step(epoch) sets the epoch and computes the learning rate from its closed form, where there "
    "is one; schedulers count epochs themselves, so step() is enough"
)


class LRScheduler:
    """Base class of schedules: sets the learning rate of an optimizer's groups, epoch by epoch.

    An epoch is what passes between two calls of :meth:`step`, be it a batch. A subclass defines
    ``get_lr``, which returns the rates of epoch ``self.last_epoch`` as a list; it may read
    ``self.base_lrs`` or, to multiply what other schedules made, the groups' ``"lr"``.

    A learning rate that is a tensor is written in place. A group that was added later joins in;
    its rate at that time is its base.

    Args:
        optimizer: its ``param_groups`` are written to, now already.
        last_epoch: -1 to begin; else the last epoch of a training that goes on, whose optimizer has
            its state back.

    Attributes:
        base_lrs: the rates to begin with, ``group["initial_lr"]``.
        last_epoch: the number of the present epoch, from 0 on.

    Raises:
        TypeError: optimizer is none.
        KeyError: last_epoch is given, and the groups have no ``"initial_lr"``.

    Example:
        >>> import zero
        >>> class Halved(zero.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr * 0.5**self.last_epoch for lr in self.base_lrs]
        >>> p = zero.nn.Parameter(zero.ones(1))
        >>> optimizer = zero.optim.SGD([p], lr=1.0)
        >>> scheduler = Halved(optimizer)
        >>> for epoch in range(2):
        ...     optimizer.step()
        ...     scheduler.step()
        >>> optimizer.param_groups[0]["lr"]
        0.25
    """

    base_lrs: list[Rate]
    last_epoch: int
    _last_lr: list[Rate]
    _step_count = 0
    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self._attach(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"{type(self).__name__}: group {i} has no 'initial_lr', which last_epoch="
                    f"{last_epoch} needs; expected an optimizer that has its saved state, or "
                    "last_epoch=-1"
                )
        self.base_lrs = values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _FirstStep.watch(optimizer)
        self._initial_step()

    def _attach(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"{type(self).__name__}: optimizer is not an Optimizer; got "
                f"{type(optimizer).__name__}"
            )
        self.optimizer = optimizer

    def _initial_step(self) -> None:
        """Goes to the first epoch, from the rates that the groups have."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def _restart(self) -> None:
        """Goes to the first epoch, whatever rates the groups have."""
        self._update_lr(0)

    def _parts(self) -> list[LRScheduler]:
        """The schedules that this one is made of, in the end."""
        return [self]

    def state_dict(self) -> State:
        """All there is to save beside the optimizer: a dict in PyTorch's layout."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: State) -> None:
        """Goes on from a saved state.

        The optimizer's own state may be loaded before or after, also before the scheduler is made:
        groups whose rate is still what this scheduler set get the saved one.

        Args:
            state_dict: what :meth:`state_dict` returned, here or in PyTorch.

        Raises:
            TypeError, ValueError: it is something else. Nothing is changed then.
        """
        self._check_state(state_dict)
        groups, before = self.optimizer.param_groups, self._last_lr
        untouched = [
            float(group["lr"]) == float(lr) for group, lr in zip(groups, before, strict=False)
        ]
        self._load(state_dict)
        if any(untouched):
            self._rewrite(untouched)

    def _check_state(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise TypeError(
                f"{type(self).__name__}.load_state_dict: not the state of a scheduler; got "
                f"{type(state).__name__}, expected a dict"
            )

    def _load(self, state: State) -> None:
        """Takes a state over; leaves the optimizer alone."""
        self.__dict__.update(state)

    def _rewrite(self, which: list[bool]) -> None:
        """Writes what the state says to some groups of the optimizer."""
        for group, lr, chosen in zip(
            self.optimizer.param_groups, self._last_lr, which, strict=False
        ):
            if chosen:
                assign(group, "lr", lr)

    def get_last_lr(self) -> list[Rate]:
        """The present rates, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Rate]:
        """The rates of epoch ``last_epoch``, for :meth:`step`; see :meth:`get_last_lr`."""
        raise NotImplementedError(f"{type(self).__name__}: has no get_lr()")

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                f"{type(self).__name__}.get_lr: computes the rates of a step; what the last one "
                "set is get_last_lr()",
                UserWarning,
                stacklevel=3,
            )

    def step(self, epoch: int | None = None) -> None:
        """Goes to the next epoch; to be called after ``optimizer.step()``.

        Args:
            epoch: an epoch to go to instead; an old way, which warns.
        """
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            replaced = not isinstance(self.optimizer.__dict__.get("step"), _FirstStep)
            warnings.warn(
                "lr_scheduler.step() before optimizer.step(): "
                + (
                    "optimizer.step was replaced after the scheduler was made, so it is not known "
                    "whether it was called"
                    if replaced
                    else "the first value of the schedule is skipped; expected `optimizer.step()` "
                    "before `lr_scheduler.step()`"
                ),
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        groups, before = self.optimizer.param_groups, self.last_epoch
        self._meet_groups()
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = before + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            rates = closed() if closed else self.get_lr()
            if len(rates) != len(groups):
                raise ValueError(
                    f"{type(self).__name__}: not one learning rate per group; got {len(rates)}, "
                    f"expected {len(groups)}"
                )
        except BaseException:
            self.last_epoch = before
            raise
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(groups, rates, strict=True):
            assign(group, "lr", rate)
        self._last_lr = values(self.optimizer, "lr")

    def _meet_groups(self) -> None:
        """Groups that were added since get their rate as base."""
        for group in self.optimizer.param_groups[len(self.base_lrs) :]:
            group.setdefault("initial_lr", copied(group["lr"]))
            self.base_lrs = [*self.base_lrs, copied(group["initial_lr"])]

    def _share(self, names: list[str]) -> None:
        """Groups that were added since get options that all others have alike."""
        groups, known = self.optimizer.param_groups, len(self.base_lrs)
        for name in names if len(groups) > known else []:
            given = [group[name] for group in groups[:known]]
            shared = stretched(type(self).__name__, name, given, self.optimizer)[-1]
            for group in groups[known:]:
                group.setdefault(name, copied(shared))


class _LRScheduler(LRScheduler):
    """The old name of :class:`LRScheduler`."""


class _FirstStep:
    """Stands in the place of an optimizer's ``step`` until it is called, and remembers that."""

    @staticmethod
    def watch(optimizer: Optimizer) -> None:
        step = optimizer.__dict__.get("step")
        if not getattr(optimizer, "_opt_called", False) and not isinstance(step, _FirstStep):
            optimizer.step = _FirstStep(optimizer)  # type: ignore[method-assign]

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer, self.replaced = optimizer, optimizer.__dict__.get("step")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        optimizer, step = self.optimizer, self.replaced
        optimizer._opt_called = True  # type: ignore[attr-defined]
        if optimizer.__dict__.get("step") is self:  # nobody has replaced this one
            del optimizer.step
            if step is not None:
                optimizer.step = step  # type: ignore[method-assign]
        if step is None:
            step = MethodType(type(optimizer).step, optimizer)
        return step(*args, **kwargs)


def copied(value: Rate) -> Rate:
    """A number, or a clone of a tensor, which others may write to."""
    return value.clone() if isinstance(value, Tensor) else value


def values(optimizer: Optimizer, name: str) -> list[Rate]:
    """An option of all groups."""
    return [copied(group[name]) for group in optimizer.param_groups]


def assign(group: State, name: str, value: Rate) -> None:
    """Sets an option of a group, in place if it is a tensor."""
    if isinstance(group[name], Tensor):
        group[name].fill_(float(value))
    else:
        group[name] = value


def per_group(op: str, name: str, value: Any, optimizer: Optimizer) -> list[Any]:
    """An argument that is one value for all groups or a list with one for each, as the latter."""
    n = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * n
    if len(value) != n:
        raise ValueError(
            f"{op}: {name} must have one value per group; got {len(value)} for {n} groups"
        )
    return [copied(item) for item in value]


def stretched(op: str, name: str, given: Sequence[Any], optimizer: Optimizer) -> Sequence[Any]:
    """Values per group, also for groups that were added, if all had the same."""
    n = len(optimizer.param_groups)
    if len(given) == n:
        return given
    if len(given) > n or any(item is not given[0] and item != given[0] for item in given):
        raise ValueError(
            f"{op}: {name} differs between groups, and has no value for a group that was added; "
            f"got {len(given)} for {n} groups"
        )
    return [*given, *[given[0]] * (n - len(given))]


def check_choice(op: str, name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{op}: {name} must be one of {', '.join(choices)}; got {value!r}")


def check_positive(op: str, name: str, value: object) -> None:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"{op}: {name} must be a whole number from 1 on; got {value!r}")
