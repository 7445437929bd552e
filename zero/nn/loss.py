"""Losses as modules."""

from __future__ import annotations

import warnings

from zero import Tensor
from zero.nn import functional as F
from zero.nn.module import Module

__all__ = ["CrossEntropyLoss", "MSELoss", "NLLLoss"]


def _reduction(name: str, size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction by name, or by the two arguments that PyTorch had before it."""
    if size_average is not None or reduce is not None:
        if reduce is not None and not reduce:
            reduction = "none"
        elif size_average is not None and not size_average:
            reduction = "sum"
        else:
            reduction = "mean"
        warnings.warn(
            f"{name}: size_average and reduce are old; use reduction={reduction!r} instead",
            FutureWarning,
            stacklevel=3,
        )
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(
            f"{name}: unknown reduction; got {reduction!r}, expected 'none', 'mean' or 'sum'"
        )
    return reduction


class MSELoss(Module):
    """Squared error, (input - target)².

    Args:
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input and target [*]; output [], or [*] if reduction is "none"

    Example:
        >>> import zero
        >>> zero.nn.MSELoss()(zero.tensor([1.0, 2.0]), zero.tensor([1.0, 4.0]))
        tensor(2.)
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        self.reduction = _reduction("MSELoss", size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class NLLLoss(Module):
    """Negative log likelihood of the right classes, ``-weight[target] * input[target]``.

    Args:
        weight: of each class, [C]; a buffer.
        size_average: old form of reduction.
        reduce: old form of reduction.
        ignore_index: targets of this value don't count.
        reduction: "mean" (divided by the sum of the weights used), "sum" or "none".

    Shape:
        input [N, C], [C] or [N, C, *]: log-probabilities; target [N], [] or [N, *]: integers;
        output [], or the target's shape if reduction is "none"

    Example:
        >>> import zero
        >>> log_probabilities = zero.tensor([[0.25, 0.75]]).log()
        >>> zero.nn.NLLLoss()(log_probabilities, zero.tensor([1]))
        tensor(0.2877)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        self.reduction = _reduction("NLLLoss", size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class CrossEntropyLoss(Module):
    """Cross entropy between scores and classes: NLLLoss of the log-softmax of the input.

    Args:
        weight: of each class, [C]; a buffer.
        size_average: old form of reduction.
        reduce: old form of reduction.
        ignore_index: class targets of this value don't count.
        reduction: "mean" (divided by the sum of the weights used), "sum" or "none".
        label_smoothing: this share of the target is spread over all classes; 0 to 1
            (Szegedy et al., "Rethinking the Inception Architecture", 2016).

    Shape:
        input [N, C], [C] or [N, C, *]: scores before the softmax; target [N], [] or [N, *]:
        integers, or probabilities of the input's shape; output [], or [N, *] if reduction is "none"

    Example:
        >>> import zero
        >>> zero.nn.CrossEntropyLoss()(zero.tensor([[0.0, 0.0]]), zero.tensor([1]))
        tensor(0.6931)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        self.reduction = _reduction("CrossEntropyLoss", size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
