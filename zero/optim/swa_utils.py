"""Averages of a model's parameters over training, and what goes with them."""

from __future__ import annotations

from copy import deepcopy
from math import cos, pi

import zero
from zero import Tensor, _foreach_lerp_
from zero.nn import Module
from zero.nn.batchnorm import _BatchNorm
from zero.optim.lr_scheduler.base import LRScheduler, check_choice, per_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from zero.optim.lr_scheduler.base import Rate
    from zero.optim.optimizer import Optimizer

    Average: TypeAlias = Callable[[Tensor, Tensor, Tensor | int], Tensor]
    MultiAverage: TypeAlias = Callable[[list[Tensor], list[Tensor], Tensor | int], None]

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _check_decay(op: str, decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(f"{op}: decay must be in [0, 1]; got {decay}")


def _approach(
    averages: list[Tensor], models: list[Tensor], weight: float, average: Callable[..., Tensor]
) -> None:
    """Moves averages by a part of the way to a model; integers by `average`, cut off."""
    pairs = list(zip(averages, models, strict=True))
    floats = [pair for pair in pairs if pair[0].is_floating_point()]
    _foreach_lerp_([a for a, _ in floats], [m for _, m in floats], weight)
    for a, m in pairs:
        if not a.is_floating_point():
            a.copy_(average(a, m))


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """The exponential moving average of lists of tensors, in one pass over memory, for
    :class:`AveragedModel`: ``average = decay * average + (1 - decay) * model``.

    Args:
        decay: how much of the average stays, in [0, 1].

    Raises:
        ValueError: it is not in [0, 1].

    Example:
        >>> import zero
        >>> average = [zero.tensor([1.0])]
        >>> ema = zero.optim.swa_utils.get_ema_multi_avg_fn(0.75)
        >>> ema(average, [zero.tensor([5.0])], 1)
        >>> average
        [tensor([2.])]
    """
    _check_decay("get_ema_multi_avg_fn", decay)

    @zero.no_grad()
    def ema_update(averages: list[Tensor], models: list[Tensor], _: Tensor | int) -> None:
        _approach(averages, models, 1 - decay, lambda a, m: a * decay + m * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> MultiAverage:
    """The mean of lists of tensors, in one pass over memory, for :class:`AveragedModel`:
    ``average = average + (model - average) / (number + 1)``.

    Example:
        >>> import zero
        >>> average = [zero.tensor([1.0])]
        >>> zero.optim.swa_utils.get_swa_multi_avg_fn()(average, [zero.tensor([5.0])], 1)
        >>> average
        [tensor([3.])]
    """

    @zero.no_grad()
    def swa_update(averages: list[Tensor], models: list[Tensor], number: Tensor | int) -> None:
        n = int(number) + 1
        _approach(averages, models, 1 / n, lambda a, m: a + (m - a) / n)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """The exponential moving average of one tensor; see :func:`get_ema_multi_avg_fn`.

    Args:
        decay: how much of the average stays, in [0, 1].

    Raises:
        ValueError: it is not in [0, 1].

    Example:
        >>> import zero
        >>> zero.optim.swa_utils.get_ema_avg_fn(0.75)(zero.tensor([1.0]), zero.tensor([5.0]), 1)
        tensor([2.])
    """
    _check_decay("get_ema_avg_fn", decay)

    @zero.no_grad()
    def ema_update(average: Tensor, model: Tensor, _: Tensor | int) -> Tensor:
        return decay * average + (1 - decay) * model

    return ema_update


def get_swa_avg_fn() -> Average:
    """The mean of one tensor; see :func:`get_swa_multi_avg_fn`.

    Example:
        >>> import zero
        >>> zero.optim.swa_utils.get_swa_avg_fn()(zero.tensor([1.0]), zero.tensor([5.0]), 1)
        tensor([3.])
    """

    @zero.no_grad()
    def swa_update(average: Tensor, model: Tensor, number: Tensor | int) -> Tensor:
        return average + (model - average) / (number + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are an average over training.

    The first call of :meth:`update_parameters` copies the model's parameters, later ones average
    with them. Without a function it is their mean. The functions are not part of ``state_dict``.

    Args:
        model: what is averaged; it stays what it is.
        device: where the average lies; None for that of the model.
        avg_fn: the new average of one parameter, from (average, model's value, how many were
            averaged).
        multi_avg_fn: the same in place, from lists of parameters of one dtype.
        use_buffers: average buffers as well; else they are copied each time.

    Attributes:
        module: the averaged copy.
        n_averaged: how many times it was updated, a buffer.

    Raises:
        ValueError: both functions are given; on update, another number of parameters or buffers.

    Source: Izmailov et al., "Averaging weights leads to wider optima and better generalization",
    2018.

    Example:
        >>> import zero
        >>> model = zero.nn.Linear(1, 1, bias=False)
        >>> ema = zero.optim.swa_utils.AveragedModel(
        ...     model, multi_avg_fn=zero.optim.swa_utils.get_ema_multi_avg_fn(0.5)
        ... )
        >>> for value in (1.0, 2.0, 3.0):
        ...     _ = zero.nn.init.constant_(model.weight, value)
        ...     ema.update_parameters(model)
        >>> ema.module.weight.item()
        2.25
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError(
                "AveragedModel: got both avg_fn and multi_avg_fn, expected one of them"
            )
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", zero.tensor(0, dtype=zero.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged copy returns."""
        return self.module(*args, **kwargs)

    @zero.no_grad()
    def update_parameters(self, model: Module) -> None:
        """Averages with the present parameters of a model, and copies its buffers.

        Args:
            model: a module with the same parameters and buffers as that of the constructor.
        """
        averages, models = (
            [[t.detach() for t in tensors] for tensors in (module.parameters(), module.buffers())]
            for module in (self.module, model)
        )
        for ours, theirs, kind in zip(averages, models, ("parameters", "buffers"), strict=True):
            if len(ours) != len(theirs):
                raise ValueError(
                    f"AveragedModel.update_parameters: the model has other {kind}; got "
                    f"{len(theirs)}, expected {len(ours)}"
                )
        n = int(self.n_averaged)
        if self.use_buffers:
            self._average([*averages[0], *averages[1]], [*models[0], *models[1]], n)
        else:
            self._average(averages[0], models[0], n)
            self._copy(averages[1], models[1])
        self.n_averaged += 1

    @staticmethod
    def _copy(averages: list[Tensor], models: list[Tensor]) -> None:
        for average, model in zip(averages, models, strict=True):
            average.copy_(model)

    def _average(self, averages: list[Tensor], models: list[Tensor], n: int) -> None:
        models = [m.to(a.device) for a, m in zip(averages, models, strict=True)]
        if n == 0:
            self._copy(averages, models)
        elif self.avg_fn is not None:
            for average, model in zip(averages, models, strict=True):
                average.copy_(self.avg_fn(average, model, self.n_averaged))
        else:
            groups: dict[Any, tuple[list[Tensor], list[Tensor]]] = {}
            for average, model in zip(averages, models, strict=True):
                group = groups.setdefault((average.device, average.dtype), ([], []))
                group[0].append(average)
                group[1].append(model)
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            for ours, theirs in groups.values():
                update(ours, theirs, self.n_averaged)


@zero.no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Measures the running means and variances of a model's batch normalisation anew.

    One pass over data, whose batches count alike. It is for averaged models, whose layers see other
    activations than those that the model's statistics are of.

    Args:
        loader: gives batches: tensors, or tuples or lists that begin with one.
        model: called on them, in training mode; then every module gets its mode back.
        device: where batches are moved to before.

    Example:
        >>> import zero
        >>> norm = zero.nn.BatchNorm1d(1)
        >>> zero.optim.swa_utils.update_bn([zero.tensor([[1.0], [3.0]])], norm)
        >>> norm.running_mean, norm.running_var
        (tensor([2.]), tensor([2.]))
    """
    momenta = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not momenta:
        return
    modes = {module: module.training for module in model.modules()}
    try:
        model.train()
        for module in momenta:
            module.reset_running_stats()
            module.momentum = None
        for batch in loader:
            x = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(x if device is None else x.to(device))
    finally:
        for module, momentum in momenta.items():
            module.momentum = momentum
        for any_module, mode in modes.items():
            any_module.training = mode


class SWALR(LRScheduler):
    """Leads the learning rate from what it is to swa_lr, and keeps it there.

    It may begin after another schedule; in each step it goes on from the present rate.

    Args:
        optimizer: whose rates are set.
        swa_lr: the last rate, for all groups or a list with one for each.
        anneal_epochs: the way there; 0 to be there after one step.
        anneal_strategy: "cos" or "linear".
        last_epoch: as in :class:`~zero.optim.lr_scheduler.LRScheduler`.

    Raises:
        ValueError: an option out of its range; another number of rates than of groups.

    Source: Izmailov et al., "Averaging weights leads to wider optima and better generalization",
    2018.

    Example:
        >>> import zero
        >>> optimizer = zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1.0)
        >>> scheduler = zero.optim.swa_utils.SWALR(
        ...     optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear"
        ... )
        >>> for epoch in range(4):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [1.0]
        [0.75]
        [0.5]
        [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        self._attach(optimizer)
        check_choice("SWALR", "anneal_strategy", anneal_strategy, ("cos", "linear"))
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(
                f"SWALR: anneal_epochs must be a whole number from 0 on; got {anneal_epochs!r}"
            )
        rates = per_group("SWALR", "swa_lr", swa_lr, optimizer)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """Which part of the way is behind after a part t of the time."""
        return (1 - cos(pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def _meet_groups(self) -> None:
        self._share(["swa_lr"])
        super()._meet_groups()

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        length = max(1, self.anneal_epochs)
        before = self.anneal_func(max(0, min(1, (step - 1) / length)))
        now = self.anneal_func(max(0, min(1, step / length)))
        rates = []
        for group in self.optimizer.param_groups:
            last, rate = group["swa_lr"], group["lr"]
            start = last if before == 1 else (rate - before * last) / (1 - before)
            rates.append(last * now + start * (1 - now))
        return rates
