"""Schedules that multiply the learning rate, epoch by epoch, by a factor."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

from zero.optim.lr_scheduler.base import LRScheduler, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from zero.optim.lr_scheduler.base import Rate, State
    from zero.optim.optimizer import Optimizer

__all__ = ["ConstantLR", "ExponentialLR", "LinearLR", "MultiStepLR", "PolynomialLR", "StepLR"]


class _FactorLR(LRScheduler):
    """Rates are those of the epoch before times a factor, so several such schedules may be chained;
    or, in closed form, the base rates times the product of all factors."""

    def _factor(self, epoch: int) -> float:
        """Of this epoch by the one before; at epoch 0, by the base."""
        raise NotImplementedError

    def _scale(self, epoch: int) -> float:
        """The product of the factors up to this epoch."""
        raise NotImplementedError

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        rates = values(self.optimizer, "lr")
        if self._is_initial and self.last_epoch > 0:  # of a training that goes on, with its rates
            return rates
        factor = self._factor(self.last_epoch)
        return rates if factor == 1 else [rate * factor for rate in rates]

    def _get_closed_form_lr(self) -> list[Rate]:
        scale = self._scale(self.last_epoch)
        return [base * scale for base in self.base_lrs]

    def _check_total_iters(self, total_iters: float) -> None:
        if total_iters < 0:
            raise ValueError(
                f"{type(self).__name__}: total_iters must be 0 or more; got {total_iters}"
            )


class StepLR(_FactorLR):
    """Multiplies the learning rate by gamma every step_size epochs::

        lr = base * gamma ** (epoch // step_size)

    Args:
        optimizer: whose rates are set.
        step_size: epochs between two changes.
        gamma: the factor.
        last_epoch: as in :class:`LRScheduler`.

    Raises:
        ValueError: step_size is not above 0.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> for epoch in range(4):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [1.0]
        [1.0]
        [0.5]
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        if step_size <= 0:
            raise ValueError(f"StepLR: step_size must be above 0; got {step_size}")
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma if epoch != 0 and epoch % self.step_size == 0 else 1

    def _scale(self, epoch: int) -> float:
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(_FactorLR):
    """Multiplies the learning rate by gamma at each of some epochs.

    Args:
        optimizer: whose rates are set.
        milestones: the epochs; one that comes twice counts twice.
        gamma: the factor.
        last_epoch: as in :class:`LRScheduler`.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.lr_scheduler.MultiStepLR(optimizer, [1, 3], gamma=0.5)
        >>> for epoch in range(4):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [1.0]
        [0.5]
        [0.5]
        [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma ** self.milestones[epoch] if epoch in self.milestones else 1

    def _scale(self, epoch: int) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), epoch)

    def _load(self, state: State) -> None:
        super()._load(state)
        counts: dict[Any, int] = state.get("milestones", self.milestones)
        self.milestones = Counter({int(epoch): n for epoch, n in counts.items()})  # str, of JSON


class ConstantLR(_FactorLR):
    """Multiplies the learning rate by a factor during the first total_iters epochs.

    Args:
        optimizer: whose rates are set.
        factor: in [0, 1].
        total_iters: from which epoch on it no longer applies.
        last_epoch: as in :class:`LRScheduler`.

    Raises:
        ValueError: factor is not in [0, 1], or total_iters below 0.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> for epoch in range(3):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [0.5]
        [0.5]
        [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"ConstantLR: factor must be in [0, 1]; got {factor}")
        self._check_total_iters(total_iters)
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        if self.factor == 0 and self.last_epoch == self.total_iters and not self._is_initial:
            self._warn_outside_step()
            return self._get_closed_form_lr()  # no factor leads back from 0
        return super().get_lr()

    def _factor(self, epoch: int) -> float:
        if epoch == 0:
            return self._scale(0)
        return 1.0 / self.factor if epoch == self.total_iters else 1

    def _scale(self, epoch: int) -> float:
        return self.factor if epoch < self.total_iters else 1


class LinearLR(_FactorLR):
    """Multiplies the learning rate by a factor that changes linearly for total_iters epochs::

        lr = base * (start + (end - start) * min(epoch, total_iters) / total_iters)

    Args:
        optimizer: whose rates are set.
        start_factor: the factor to begin with, in (0, 1].
        end_factor: the last one, in [0, 1].
        total_iters: the epoch in which it is reached.
        last_epoch: as in :class:`LRScheduler`.

    Raises:
        ValueError: a factor out of its range, or total_iters below 0.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
        >>> for epoch in range(4):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [0.5]
        [0.75]
        [1.0]
        [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                f"LinearLR: start_factor must be above 0 and at most 1; got {start_factor}"
            )
        if not 0 <= end_factor <= 1:
            raise ValueError(f"LinearLR: end_factor must be in [0, 1]; got {end_factor}")
        self._check_total_iters(total_iters)
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0:
            return self._scale(0)
        if epoch > self.total_iters:
            return 1
        change = self.end_factor - self.start_factor
        return 1.0 + change / (self.total_iters * self.start_factor + (epoch - 1) * change)

    def _scale(self, epoch: int) -> float:
        if epoch >= self.total_iters:
            return self.end_factor
        change = self.end_factor - self.start_factor
        return self.start_factor + change * epoch / self.total_iters


class ExponentialLR(_FactorLR):
    """Multiplies the learning rate by gamma in each epoch: ``lr = base * gamma ** epoch``.

    Args:
        optimizer: whose rates are set.
        gamma: the factor.
        last_epoch: as in :class:`LRScheduler`.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> for epoch in range(3):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [1.0]
        [0.5]
        [0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return 1 if epoch == 0 else self.gamma

    def _scale(self, epoch: int) -> float:
        return self.gamma**epoch


class PolynomialLR(_FactorLR):
    """Lowers the learning rate to 0 within total_iters epochs::

        lr = base * (1 - min(epoch, total_iters) / total_iters) ** power

    Args:
        optimizer: whose rates are set.
        total_iters: the epoch in which 0 is reached.
        power: 1 for a straight line.
        last_epoch: as in :class:`LRScheduler`.

    Raises:
        ValueError: total_iters is below 0.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4, power=1)
        >>> for epoch in range(3):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [1.0]
        [0.75]
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self._check_total_iters(total_iters)
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0 or epoch > self.total_iters:
            return 1
        left, before = 1.0 - epoch / self.total_iters, 1.0 - (epoch - 1) / self.total_iters
        return float((left / before) ** self.power)

    def _scale(self, epoch: int) -> float:
        if epoch >= self.total_iters:
            return float(0.0**self.power)
        return float((1.0 - epoch / self.total_iters) ** self.power)
