"""Schedules that are made of others."""

from __future__ import annotations

import warnings
from bisect import bisect_right

from zero.optim.lr_scheduler.base import LRScheduler, assign, values
from zero.optim.lr_scheduler.plateau import ReduceLROnPlateau

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zero.optim.lr_scheduler.base import State
    from zero.optim.optimizer import Optimizer

__all__ = ["ChainedScheduler", "SequentialLR"]


class _CombinedLR(LRScheduler):
    _schedulers: list[LRScheduler]

    def _take(self, optimizer: Optimizer | None, schedulers: Sequence[LRScheduler]) -> None:
        op = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{op}: there are no schedulers; expected one or more")
        if optimizer is None:
            optimizer = getattr(schedulers[0], "optimizer", None)
        for i, scheduler in enumerate(schedulers):
            if not isinstance(scheduler, LRScheduler):
                raise TypeError(
                    f"{op}: schedulers[{i}] is no scheduler; got {type(scheduler).__name__}"
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{op}: schedulers[{i}] is a ReduceLROnPlateau, whose step() needs a metric; "
                    "expected schedules by epoch, and that one stepped on its own"
                )
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{op}: schedulers[{i}], a {type(scheduler).__name__}, belongs to another "
                    "optimizer; expected one optimizer for all"
                )
        self._schedulers = list(schedulers)
        self._attach(optimizer)  # type: ignore[arg-type]

    def _begin_anew(self) -> None:
        """Sets the first rates, and all schedules before their first epoch."""
        for group in self.optimizer.param_groups:
            if "initial_lr" in group:
                assign(group, "lr", group["initial_lr"])
        for part in self._parts():
            part.last_epoch = -1

    def _restart(self) -> None:
        self._begin_anew()
        self._initial_step()

    def _active(self) -> list[LRScheduler]:
        """Those that have set options of the groups; of the last one are the present rates."""
        return self._schedulers

    def _rewrite(self, which: list[bool]) -> None:
        for scheduler in self._active():
            scheduler._rewrite(which)
        super()._rewrite(which)

    def _parts(self) -> list[LRScheduler]:
        return [part for scheduler in self._schedulers for part in scheduler._parts()]

    def state_dict(self) -> State:
        states = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": states}

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        states = state.get("_schedulers")
        got = len(states) if isinstance(states, (list, tuple)) else "none"
        if got != len(self._schedulers):
            raise ValueError(
                f"{type(self).__name__}.load_state_dict: another number of schedulers; got {got}, "
                f"expected {len(self._schedulers)}"
            )
        for scheduler, saved in zip(self._schedulers, states, strict=True):
            scheduler._check_state(saved)

    def _load(self, state: State) -> None:
        for scheduler, saved in zip(self._schedulers, state["_schedulers"], strict=True):
            if type(scheduler).load_state_dict is LRScheduler.load_state_dict:
                scheduler._load(saved)  # which leaves the optimizer alone
            else:
                scheduler.load_state_dict(saved)
        super()._load({name: value for name, value in state.items() if name != "_schedulers"})


class SequentialLR(_CombinedLR):
    """One schedule after the other, each from its own epoch 0 on.

    Args:
        optimizer: whose rates are set.
        schedulers: the schedules, all for this optimizer; they may be combined ones.
        milestones: the epochs at which the second begins, the third and so on, in rising order.
        last_epoch: as in :class:`LRScheduler`.

    Raises:
        TypeError, ValueError: no schedulers; one that is none, belongs to another optimizer or is a
            ReduceLROnPlateau; not one milestone fewer than schedulers.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> warmup = zero.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
        >>> decay = zero.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> scheduler = zero.optim.lr_scheduler.SequentialLR(optimizer, [warmup, decay], [2])
        >>> for epoch in range(4):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [0.5]
        [0.75]
        [1.0]
        [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "SequentialLR: milestones must have one entry fewer than schedulers; got "
                f"{len(milestones)} for {len(schedulers)} schedulers"
            )
        self._milestones = list(milestones)
        self._begin_anew()
        self._initial_step()
        if last_epoch >= 0:
            with warnings.catch_warnings():  # that the optimizer was not stepped here
                warnings.simplefilter("ignore")
                for _ in range(last_epoch + 1):
                    self.step()

    def _initial_step(self) -> None:
        self.last_epoch = 0
        scheduler = self._active()[-1]
        scheduler._initial_step()
        self._last_lr = scheduler.get_last_lr()

    def _active(self) -> list[LRScheduler]:
        return self._schedulers[: bisect_right(self._milestones, self.last_epoch) + 1]

    def step(self) -> None:  # type: ignore[override]  # as in PyTorch
        """Goes to the next epoch; to be called after ``optimizer.step()``."""
        i = bisect_right(self._milestones, self.last_epoch + 1)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch + 1:
            scheduler._restart()
        else:
            scheduler.step()
        self.last_epoch += 1
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_CombinedLR):
    """Several schedules at once: each goes on from the rates that the one before it has set.

    Args:
        schedulers: the schedules, all for one optimizer.
        optimizer: which one; None for that of the first.

    Raises:
        TypeError, ValueError: no schedulers; one that is none, belongs to another optimizer or is a
            ReduceLROnPlateau.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> first = zero.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> second = zero.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> scheduler = zero.optim.lr_scheduler.ChainedScheduler([first, second])
        >>> for epoch in range(3):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [0.5]
        [0.25]
        [0.25]
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self._take(optimizer, schedulers)
        self._last_lr = values(self.optimizer, "lr")

    def _initial_step(self) -> None:
        for scheduler in self._schedulers:
            scheduler._initial_step()
        self._last_lr = values(self.optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]  # as in PyTorch
        """Goes to the next epoch; to be called after ``optimizer.step()``."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values(self.optimizer, "lr")
