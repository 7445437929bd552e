"""Schedules of learning rate and momentum, which go against each other."""

from __future__ import annotations

from math import cos, floor, pi

from zero.optim.lr_scheduler.base import (
    LRScheduler,
    assign,
    check_choice,
    check_positive,
    per_group,
    stretched,
)
from zero.optim.lr_scheduler.function import function_state, restore_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zero.optim.lr_scheduler.base import Rate, State
    from zero.optim.optimizer import Optimizer

__all__ = ["CyclicLR", "OneCycleLR"]


class _MomentumLR(LRScheduler):
    """A schedule that sets the groups' momentum, or the first of their betas, as well."""

    cycle_momentum: bool
    use_beta1: bool

    def _check_momentum(self, optimizer: Optimizer) -> None:
        if not {"momentum", "betas"} & optimizer.defaults.keys():
            raise ValueError(
                f"{type(self).__name__}: cycle_momentum needs an optimizer with momentum or betas; "
                f"got {type(optimizer).__name__}, expected cycle_momentum=False for it"
            )
        self.use_beta1 = "betas" in optimizer.defaults

    def _begin_momentum(self, highest: Sequence[Rate], lowest: Sequence[Rate]) -> None:
        for group, high, low in zip(self.optimizer.param_groups, highest, lowest, strict=True):
            group["max_momentum"], group["base_momentum"] = high, low
        self._write_momentum(highest)

    def _write_momentum(self, momenta: Sequence[Rate]) -> None:
        for group, momentum in zip(self.optimizer.param_groups, momenta, strict=True):
            if self.use_beta1:
                group["betas"] = (momentum, *group["betas"][1:])
            else:
                group["momentum"] = momentum

    def _momenta(self) -> list[Rate]:
        """Those of epoch ``last_epoch``."""
        raise NotImplementedError

    def _rates(self) -> list[Rate]:
        raise NotImplementedError

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        rates = self._rates()
        if self.cycle_momentum:
            self._write_momentum(self._momenta())
        return rates

    def _rewrite(self, which: list[bool]) -> None:
        super()._rewrite(which)
        if self.cycle_momentum and self.last_epoch >= 0:
            self._write_momentum(self._momenta())


class CyclicLR(_MomentumLR):
    """Raises and lowers the learning rate linearly, again and again, and the momentum against it.

    A cycle goes from base_lr to max_lr in step_size_up steps and back in step_size_down. What the
    peak is above base_lr is multiplied by a scale: 1 for "triangular", ``0.5 ** (cycle - 1)`` for
    "triangular2", ``gamma ** step`` for "exp_range", or ``scale_fn`` of the cycle, from 1 on, or
    of the step.

    Args:
        optimizer: whose rates are set.
        base_lr, max_lr: the lowest and highest rate, for all groups or a list with one for each.
        step_size_up: steps of the rise.
        step_size_down: steps of the fall; None for as many.
        mode: "triangular", "triangular2" or "exp_range"; without effect if there is a scale_fn.
        gamma: see above.
        scale_fn: a function to a factor. Of an object that is called, ``state_dict`` saves the
            attributes.
        scale_mode: whether scale_fn gets the "cycle" or the step ("iterations").
        cycle_momentum: whether the momentum (of Adam, beta1) goes from max_momentum down to
            base_momentum and back.
        base_momentum, max_momentum: as base_lr and max_lr.
        last_epoch: as in :class:`LRScheduler`; here a step is a batch.

    Raises:
        ValueError: an unknown mode; another number of values than of groups; cycle_momentum for an
            optimizer without momentum.

    Source: Smith, "Cyclical learning rates for training neural networks", 2017.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.ones(1))
        >>> optimizer = zero.optim.SGD([p], lr=1.0, momentum=0.9)
        >>> scheduler = zero.optim.lr_scheduler.CyclicLR(optimizer, 1.0, 2.0, step_size_up=2)
        >>> for batch in range(5):
        ...     print(scheduler.get_last_lr(), round(optimizer.param_groups[0]["momentum"], 2))
        ...     optimizer.step()
        ...     scheduler.step()
        [1.0] 0.9
        [1.5] 0.85
        [2.0] 0.8
        [1.5] 0.85
        [1.0] 0.9
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self._attach(optimizer)
        op = "CyclicLR"
        if scale_fn is None:
            check_choice(op, "mode", mode, ("triangular", "triangular2", "exp_range"))
            scale_mode = "iterations" if mode == "exp_range" else "cycle"
        check_choice(op, "scale_mode", scale_mode, ("cycle", "iterations"))
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        if up < 0 or down < 0 or up + down == 0:
            raise ValueError(f"{op}: step sizes must be above 0; got {up} up and {down} down")
        base_lrs = per_group(op, "base_lr", base_lr, optimizer)
        self.max_lrs = per_group(op, "max_lr", max_lr, optimizer)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            self.base_momentums = per_group(op, "base_momentum", base_momentum, optimizer)
            self.max_momentums = per_group(op, "max_momentum", max_momentum, optimizer)
        if last_epoch == -1:
            for group, base in zip(optimizer.param_groups, base_lrs, strict=True):
                assign(group, "lr", base)
            if cycle_momentum:
                self._begin_momentum(self.max_momentums, self.base_momentums)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs  # the groups' "initial_lr" may be that of a schedule made before
        self._update_lr(self.last_epoch)

    def scale_fn(self, x: float) -> float:
        """The factor of the cycle, or step, x."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return float(self.gamma**x)
        return 1.0 if self.mode == "triangular" else 0.5 ** (x - 1)

    def _height(self) -> float:
        """Where between the lowest, 0, and the highest rate, 1, this step is."""
        cycle = floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        rises = x <= self.step_ratio != 0
        height = x / self.step_ratio if rises else (x - 1) / (self.step_ratio - 1)
        return height * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)

    def _rates(self) -> list[Rate]:
        height = self._height()
        highest = stretched("CyclicLR", "max_lr", self.max_lrs, self.optimizer)
        return [
            low + (high - low) * height for low, high in zip(self.base_lrs, highest, strict=True)
        ]

    def _momenta(self) -> list[Rate]:
        height = self._height()
        lowest = stretched("CyclicLR", "base_momentum", self.base_momentums, self.optimizer)
        highest = stretched("CyclicLR", "max_momentum", self.max_momentums, self.optimizer)
        return [high - (high - low) * height for low, high in zip(lowest, highest, strict=True)]

    def state_dict(self) -> State:
        return {
            **super().state_dict(),
            "_scale_fn_custom": function_state(self._scale_fn_custom),
        }

    def _load(self, state: State) -> None:
        function = self._scale_fn_custom
        super()._load(state)
        self._scale_fn_custom = function
        restore_function(function, state.get("_scale_fn_custom"))


class OneCycleLR(_MomentumLR):
    """Raises the learning rate from a low one to max_lr, then lowers it far below where it began;
    the momentum goes against it. The whole training is one cycle.

    It begins with ``max_lr / div_factor`` and ends with that over final_div_factor.

    Args:
        optimizer: whose rates are set.
        max_lr: the highest rate, for all groups or a list with one for each.
        total_steps: steps (batches) of the whole training; or else:
        epochs, steps_per_epoch: whose product that is.
        pct_start: the share of the rise, in [0, 1].
        anneal_strategy: "cos" or "linear".
        cycle_momentum: whether the momentum (of Adam, beta1) goes from max_momentum down to
            base_momentum and back.
        base_momentum, max_momentum: as max_lr.
        div_factor, final_div_factor: see above.
        three_phase: go back to the first rate as slowly as up, then down to the last.
        last_epoch: as in :class:`LRScheduler`; here a step is a batch.

    Raises:
        ValueError: no number of steps; an option out of its range; another number of values than of
            groups; cycle_momentum for an optimizer without momentum; a step after the last.

    Source: Smith and Topin, "Super-convergence", 2018.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.ones(1))
        >>> optimizer = zero.optim.SGD([p], lr=1.0, momentum=0.9)
        >>> scheduler = zero.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
        >>> for batch in range(4):
        ...     print(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        0.04
        0.52
        1.0
        0.9505
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self._attach(optimizer)
        op = "OneCycleLR"
        if total_steps is not None:
            check_positive(op, "total_steps", total_steps)
        elif epochs is not None and steps_per_epoch is not None:
            check_positive(op, "epochs", epochs)
            check_positive(op, "steps_per_epoch", steps_per_epoch)
            total_steps = epochs * steps_per_epoch
        else:
            raise ValueError(
                f"{op}: the number of steps is missing; expected total_steps, or epochs and "
                "steps_per_epoch"
            )
        if not isinstance(pct_start, (float, int)) or not 0 <= pct_start <= 1:
            raise ValueError(f"{op}: pct_start must be in [0, 1]; got {pct_start!r}")
        check_choice(op, "anneal_strategy", anneal_strategy, ("cos", "linear"))
        max_lrs = per_group(op, "max_lr", max_lr, optimizer)
        self.total_steps = total_steps
        up = float(pct_start * total_steps)
        names = ["initial_lr", "max_lr", *(["initial_lr"] if three_phase else []), "min_lr"]
        momenta = ["max_momentum", "base_momentum", "max_momentum", "max_momentum"]
        ends = [up - 1, *([2 * up - 2] if three_phase else []), total_steps - 1]
        self._schedule_phases: list[State] = [
            {
                "end_step": end,
                "start_lr": names[i],
                "end_lr": names[i + 1],
                "start_momentum": momenta[i],
                "end_momentum": momenta[i + 1],
            }
            for i, end in enumerate(ends)
        ]
        self._anneal_func_type = anneal_strategy
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            highest = per_group(op, "max_momentum", max_momentum, optimizer)
            lowest = per_group(op, "base_momentum", base_momentum, optimizer)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, max_lrs, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
            if cycle_momentum:
                self._begin_momentum(highest, lowest)
        super().__init__(optimizer, last_epoch)

    def _meet_groups(self) -> None:
        names = ["initial_lr", "max_lr", "min_lr"]
        if self.cycle_momentum:
            names += ["max_momentum", "base_momentum"]
        self._share(names)
        super()._meet_groups()

    def _annealed(self, kind: str) -> list[Rate]:
        """Where between start and end of its phase each group is."""
        step, start = self.last_epoch, 0.0
        if step > self.total_steps:
            raise ValueError(
                f"OneCycleLR: the schedule has {self.total_steps} steps, and is at its end; got "
                f"step {step}"
            )
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        share = (step - start) / (end - start) if end != start else 1.0
        if self._anneal_func_type == "cos":
            share = (1 - cos(pi * share)) / 2
        first, last = phase["start_" + kind], phase["end_" + kind]
        return [
            group[first] + (group[last] - group[first]) * share
            for group in self.optimizer.param_groups
        ]

    def _rates(self) -> list[Rate]:
        return self._annealed("lr")

    def _momenta(self) -> list[Rate]:
        return self._annealed("momentum")
