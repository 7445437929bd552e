"""A schedule by what is measured."""

from __future__ import annotations

import warnings
from math import inf

from zero.optim.lr_scheduler.base import (
    EPOCH_DEPRECATION_WARNING,
    LRScheduler,
    assign,
    check_choice,
    per_group,
    values,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import SupportsFloat

    from zero.optim.lr_scheduler.base import State
    from zero.optim.optimizer import Optimizer

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the learning rate by a factor when a metric has stopped to improve.

    A metric is better than the best so far, b, if it is below ``b * (1 - threshold)``, or, for
    threshold_mode "abs", ``b - threshold``; with mode "max", if it is above ``b * (1 + threshold)``
    or ``b + threshold``. NaN is never better.

    Args:
        optimizer: whose rates are set.
        mode: "min" if less is better, "max" if more is.
        factor: below 1.
        patience: how many epochs in a row without improvement are borne.
        threshold, threshold_mode: see above.
        cooldown: epochs after a reduction in which nothing is counted.
        min_lr: the lowest rate, for all groups or a list with one for each.
        eps: the smallest change of a rate; below it the rate stays.

    Attributes:
        best: the best metric so far.
        num_bad_epochs: epochs in a row without improvement.

    Raises:
        ValueError: factor is not below 1, an unknown mode, another number of min_lr than of groups.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
        >>> for loss in (3.0, 2.0, 2.0, 2.0):
        ...     scheduler.step(loss)
        ...     print(scheduler.get_last_lr())
        [1.0]
        [1.0]
        [1.0]
        [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        op = "ReduceLROnPlateau"
        if factor >= 1.0:
            raise ValueError(f"{op}: factor must be below 1; got {factor}")
        self._attach(optimizer)
        check_choice(op, "mode", mode, ("min", "max"))
        check_choice(op, "threshold_mode", threshold_mode, ("rel", "abs"))
        self.min_lrs = per_group(op, "min_lr", min_lr, optimizer)
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = inf if mode == "min" else -inf
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = values(optimizer, "lr")
        self._reset()

    def _reset(self) -> None:
        """Forgets all metrics."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs are not counted, after a reduction."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        if self.threshold_mode == "rel":
            sign = -1 if self.mode == "min" else 1
            limit = best * (1.0 + sign * self.threshold)
        else:
            limit = best - self.threshold if self.mode == "min" else best + self.threshold
        return a < limit if self.mode == "min" else a > limit

    def step(  # type: ignore[override]  # as in PyTorch
        self, metrics: SupportsFloat, epoch: int | None = None
    ) -> None:
        """Notes the metric of an epoch, and lowers the rates if it has stopped to improve.

        Args:
            metrics: a number, or a tensor of one.
            epoch: the number of the epoch; an old way, which warns.
        """
        current = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        lowest = self._lowest()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, low in zip(self.optimizer.param_groups, lowest, strict=True):
                rate = float(group["lr"])
                reduced = max(rate * self.factor, float(low))
                if rate - reduced > self.eps:
                    assign(group, "lr", reduced)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = values(self.optimizer, "lr")

    def _lowest(self) -> list[float]:
        n = len(self.optimizer.param_groups)
        if len(self.min_lrs) != n:
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"ReduceLROnPlateau: min_lrs has not one value per group; got "
                    f"{len(self.min_lrs)} for {n} groups, expected an entry for each that was added"
                )
            self.min_lrs = [self.default_min_lr] * n
        return self.min_lrs

    def _load(self, state: State) -> None:
        super()._load(state)
        self.mode_worse = inf if self.mode == "min" else -inf
