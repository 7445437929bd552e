"""Losses that compare scores or distances with a margin, as modules."""

from __future__ import annotations

from zero import Tensor
from zero.errors import ShapeError, ValueError
from zero.nn import _options, functional as F
from zero.nn._pointwise import reduction_of
from zero.nn.distance import PairwiseDistance
from zero.nn.loss import _Loss, _WeightedLoss

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


def _check_margin(layer: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{layer}: margin is not positive; got {margin}, expected > 0")


class MarginRankingLoss(_Loss):
    """How far a pair is from its right order: max(0, -target (input1 - input2) + margin).

    Args:
        margin: by how much.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        inputs […]: scores; target […]: 1 where the first should be larger, -1 where the second

    Example:
        >>> import zero
        >>> a, b = zero.tensor([1.0, 1.0]), zero.tensor([3.0, 0.0])
        >>> zero.nn.MarginRankingLoss()(a, b, zero.ones(2))
        tensor(1.)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        self.reduction = reduction_of("MarginRankingLoss", size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class HingeEmbeddingLoss(_Loss):
    """x for pairs that belong together (target 1), max(0, margin - x) for others (-1).

    Args:
        margin: from which distance on others don't count.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import zero
        >>> x, target = zero.tensor([0.5, 0.25]), zero.tensor([1.0, -1.0])
        >>> zero.nn.HingeEmbeddingLoss()(x, target)
        tensor(0.6250)
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        self.reduction = reduction_of("HingeEmbeddingLoss", size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - cos for pairs that belong together (target 1), max(0, cos - margin) for others (-1).

    Args:
        margin: the cosine up to which others don't count, from -1 to 1.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        inputs [N, D] or [D]; target [N] or []

    Example:
        >>> import zero
        >>> a, b = zero.tensor([[1.0, 0.0], [1.0, 0.0]]), zero.tensor([[0.0, 1.0], [2.0, 0.0]])
        >>> zero.nn.CosineEmbeddingLoss()(a, b, zero.tensor([1, -1]))
        tensor(1.)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        self.reduction = reduction_of("CosineEmbeddingLoss", size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    """How much nearer than a positive a negative is: max(0, d(a, p) - d(a, n) + margin).

    Args:
        margin: by how much the negative should be farther away, above 0.
        p: the order of the norm.
        eps: is added to each difference.
        swap: whether the distance of positive and negative takes the place of that of anchor and
            negative where it is smaller.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        all three [N, D] or [D]

    Raises:
        ValueError: margin is not positive.

    Example:
        >>> import zero
        >>> a, p, n = zero.zeros(1, 2), zero.tensor([[3.0, 4.0]]), zero.tensor([[0.0, 2.0]])
        >>> round(zero.nn.TripletMarginLoss()(a, p, n).item(), 4)
        4.0

    Source: Balntas et al., Learning local feature descriptors with triplets, 2016.
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        _check_margin("TripletMarginLoss", margin)
        self.reduction = reduction_of("TripletMarginLoss", size_average, reduce, reduction)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = _options.flag("TripletMarginLoss", "swap", swap)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with any distance.

    Args:
        distance_function: of two tensors; PairwiseDistance if None.
        margin: by how much the negative should be farther away, above 0.
        swap: as in TripletMarginLoss.
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: margin is not positive.

    Example:
        >>> import zero
        >>> a, p, n = zero.zeros(1, 2), zero.tensor([[3.0, 4.0]]), zero.tensor([[0.0, 2.0]])
        >>> largest = zero.nn.PairwiseDistance(p=float("inf"), eps=0)
        >>> zero.nn.TripletMarginWithDistanceLoss(distance_function=largest)(a, p, n)
        tensor(3.)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        _check_margin("TripletMarginWithDistanceLoss", margin)
        self.reduction = reduction_of("TripletMarginWithDistanceLoss", None, None, reduction)
        self.distance_function = (
            PairwiseDistance() if distance_function is None else distance_function
        )
        self.margin = margin
        self.swap = _options.flag("TripletMarginWithDistanceLoss", "swap", swap)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class MultiMarginLoss(_WeightedLoss):
    """How far other classes are above a class: sum of max(0, margin - x_t + x_j)^p / C over j != t.

    Args:
        p: 1 or 2.
        margin: by how much the class should be above the others.
        weight: a factor for each class, [C]; a buffer.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input [N, C] or [C]; target [N] or []: classes

    Example:
        >>> import zero
        >>> x = zero.tensor([[0.25, 1.0, 0.5, 0.25]])
        >>> zero.nn.MultiMarginLoss()(x, zero.tensor([1]))
        tensor(0.2500)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        if p != 1 and p != 2:
            raise ValueError(f"MultiMarginLoss: got p={p}, expected 1 or 2")
        if weight is not None and weight.dim() != 1:
            raise ShapeError(
                f"MultiMarginLoss: got weight {tuple(weight.shape)}, expected one for each class"
            )
        self.reduction = reduction_of("MultiMarginLoss", size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


class MultiLabelMarginLoss(_Loss):
    """How far other classes are above those of a sample: sum of max(0, 1 - (x_t - x_j)) / C.

    Args:
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input [N, C] or [C]; target the same: classes up to the first -1

    Example:
        >>> import zero
        >>> x, target = zero.tensor([[0.25, 0.5, 1.0, 0.75]]), zero.tensor([[3, 0, -1, 1]])
        >>> zero.nn.MultiLabelMarginLoss()(x, target)
        tensor(1.2500)
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        self.reduction = reduction_of("MultiLabelMarginLoss", size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """The logistic loss of two classes, 1 and -1: ln(1 + exp(-target input)).

    Args:
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import zero
        >>> zero.nn.SoftMarginLoss()(zero.tensor([0.0]), zero.tensor([1.0]))
        tensor(0.6931)
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        self.reduction = reduction_of("SoftMarginLoss", size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of the cross entropy of the sigmoid of each score.

    Args:
        weight: a factor for each class, [C]; a buffer.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input […, C]; target the same: 1 for the classes of a sample, 0 for others

    Example:
        >>> import zero
        >>> x, target = zero.tensor([[0.0, 0.0]]), zero.tensor([[1.0, 0.0]])
        >>> zero.nn.MultiLabelSoftMarginLoss()(x, target)
        tensor(0.6931)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        self.reduction = reduction_of("MultiLabelSoftMarginLoss", size_average, reduce, reduction)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )
