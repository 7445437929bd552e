"""Schedules by functions of the user's."""

from __future__ import annotations

from types import FunctionType

from zero.optim.lr_scheduler.base import LRScheduler, stretched, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zero.optim.lr_scheduler.base import Rate, State
    from zero.optim.optimizer import Optimizer

__all__ = ["LambdaLR", "MultiplicativeLR"]


def function_state(function: object) -> State | None:
    """What to save of a function: the attributes of an object that is called, else nothing."""
    if function is None or isinstance(function, FunctionType):
        return None
    return dict(getattr(function, "__dict__", {}))


def restore_function(function: object, state: State | None) -> None:
    if state:
        function.__dict__.update(state)


class _FunctionLR(LRScheduler):
    """One function for each group. What is saved of them is the attributes of objects."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self._attach(optimizer)
        n = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * n
        if len(lr_lambda) != n:
            raise ValueError(
                f"{type(self).__name__}: lr_lambda must have one function per group; got "
                f"{len(lr_lambda)} for {n} groups"
            )
        for function in lr_lambda:
            if not callable(function):
                raise TypeError(
                    f"{type(self).__name__}: lr_lambda must be a function; got "
                    f"{type(function).__name__}"
                )
        self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def _factors(self) -> list[float]:
        functions = stretched(type(self).__name__, "lr_lambda", self.lr_lambdas, self.optimizer)
        return [function(self.last_epoch) for function in functions]

    def state_dict(self) -> State:
        states = [function_state(function) for function in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": states}

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        n = len(state.get("lr_lambdas", self.lr_lambdas))
        if n != len(self.lr_lambdas):
            raise ValueError(
                f"{type(self).__name__}.load_state_dict: another number of functions; got {n}, "
                f"expected {len(self.lr_lambdas)}"
            )

    def _load(self, state: State) -> None:
        functions = self.lr_lambdas
        super()._load(state)
        self.lr_lambdas = functions
        for function, saved in zip(functions, state.get("lr_lambdas", []), strict=False):
            restore_function(function, saved)


class LambdaLR(_FunctionLR):
    """Multiplies the base rates by a function of the epoch: ``lr = base * lr_lambda(epoch)``.

    Args:
        optimizer: whose rates are set.
        lr_lambda: a function from the epoch to a factor, or a list with one for each group. Of an
            object that is called, ``state_dict`` saves the attributes.
        last_epoch: as in :class:`LRScheduler`.

    Raises:
        TypeError: something is no function.
        ValueError: another number of functions than of groups.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> warmup = lambda epoch: min(1, (epoch + 1) / 4)
        >>> scheduler = zero.optim.lr_scheduler.LambdaLR(optimizer, warmup)
        >>> for epoch in range(3):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [0.25]
        [0.5]
        [0.75]
    """

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        return [base * factor for base, factor in zip(self.base_lrs, self._factors(), strict=True)]


class MultiplicativeLR(_FunctionLR):
    """Multiplies the rates of the epoch before by a function of the epoch, from epoch 1 on.

    Args:
        optimizer: whose rates are set.
        lr_lambda, last_epoch: as in :class:`LambdaLR`.

    Raises: as :class:`LambdaLR`.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
        >>> for epoch in range(3):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [1.0]
        [0.5]
        [0.25]
    """

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        rates = values(self.optimizer, "lr")
        if self._is_initial:
            return rates
        return [rate * factor for rate, factor in zip(rates, self._factors(), strict=True)]
