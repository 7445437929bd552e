"""Losses as modules."""

from __future__ import annotations

from zero import Tensor
from zero.nn import _options, functional as F
from zero.nn._pointwise import reduction_of
from zero.nn.module import Module

__all__ = ["CrossEntropyLoss", "MSELoss", "NLLLoss"]


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
        self.reduction = reduction_of("MSELoss", size_average, reduce, reduction)

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
        self.reduction = reduction_of("NLLLoss", size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = _options.dimension("NLLLoss", "ignore_index", ignore_index)

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
        self.reduction = reduction_of("CrossEntropyLoss", size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = _options.dimension("CrossEntropyLoss", "ignore_index", ignore_index)
        self.label_smoothing = _options.probability(
            "CrossEntropyLoss", "label_smoothing", label_smoothing
        )

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
