"""Schedules that follow half a wave of the cosine."""

from __future__ import annotations

from math import cos, floor, pi

from zero.optim.lr_scheduler.base import LRScheduler, check_positive, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim.lr_scheduler.base import Rate
    from zero.optim.optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts"]


class CosineAnnealingLR(LRScheduler):
    """Lowers the learning rate to eta_min within T_max epochs, and raises it again::

        lr = eta_min + (base - eta_min) * (1 + cos(pi * epoch / T_max)) / 2

    The rate is computed from that of the epoch before, so the schedule may be chained with others.

    Args:
        optimizer: whose rates are set.
        T_max: the epoch in which eta_min is reached.
        eta_min: the lowest rate.
        last_epoch: as in :class:`LRScheduler`.

    Raises:
        ValueError: T_max is not above 0.

    Source: Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2017.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> for epoch in range(3):
        ...     print(round(scheduler.get_last_lr()[0], 6))
        ...     optimizer.step()
        ...     scheduler.step()
        1.0
        0.5
        0.0
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_max <= 0:
            raise ValueError(f"CosineAnnealingLR: T_max must be above 0; got {T_max}")
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return 1 + cos(pi * epoch / self.T_max)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        rates, low = values(self.optimizer, "lr"), self.eta_min
        if self._is_initial:
            return rates
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # no factor leads up again
            rise = (1 - cos(pi / self.T_max)) / 2
            pairs = zip(rates, self.base_lrs, strict=True)
            return [rate + (base - low) * rise for rate, base in pairs]
        factor = self._height(self.last_epoch) / self._height(self.last_epoch - 1)
        return [factor * (rate - low) + low for rate in rates]

    def _get_closed_form_lr(self) -> list[Rate]:
        low, height = self.eta_min, self._height(self.last_epoch)
        return [low + (base - low) * height / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lowers the learning rate to eta_min, starts again from its base, and so on::

        lr = eta_min + (base - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2

    T_cur counts the epochs since the last start; T_i is how many there are till the next, T_0 at
    first, T_mult times as many each time.

    Args:
        optimizer: whose rates are set.
        T_0: epochs till the first restart.
        T_mult: how much longer each time takes than the one before.
        eta_min: the lowest rate.
        last_epoch: as in :class:`LRScheduler`.

    Raises:
        ValueError: T_0 or T_mult is not a whole number from 1 on, or eta_min is no number.

    Source: Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2017.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> for epoch in range(3):
        ...     print(round(scheduler.get_last_lr()[0], 6))
        ...     optimizer.step()
        ...     scheduler.step()
        1.0
        0.5
        1.0
    """

    T_cur: float

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        op = "CosineAnnealingWarmRestarts"
        check_positive(op, "T_0", T_0)
        check_positive(op, "T_mult", T_mult)
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"{op}: eta_min must be a number; got {type(eta_min).__name__}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        low, height = self.eta_min, 1 + cos(pi * self.T_cur / self.T_i)
        return [low + (base - low) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Goes to the next epoch, or to any other.

        Args:
            epoch: a number from 0 on, whole or, between two epochs, ``epoch + batch / batches``.

        Raises:
            ValueError: it is below 0.
        """
        self._update_lr(epoch)

    def _update_lr(self, epoch: float | None = None) -> None:
        if epoch is not None and epoch < 0:
            raise ValueError(f"{type(self).__name__}: epoch must be 0 or more; got {epoch}")
        if epoch is None and self._is_initial:
            epoch = self.last_epoch + 1
        if epoch is None:
            self.T_cur += 1
        else:
            self.T_cur, self.T_i = epoch, self.T_0
            if self.T_mult == 1:
                self.T_cur %= self.T_i
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
        super()._update_lr(None if epoch is None else floor(epoch))
