"""Losses as modules."""

from __future__ import annotations

import math
import warnings

import zero
from zero import Tensor
from zero.errors import ShapeError
from zero.nn import _options, functional as F
from zero.nn._pointwise import reduction_of
from zero.nn.linear import Linear
from zero.nn.module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class _Loss(Module):
    """The base class of losses, for those that programs define."""

    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        self.reduction = reduction_of(type(self).__name__, size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    """The base class of losses with a weight for each class, or for each element."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """Squared error, (input - target)².

    Args:
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input and target […]; output [], or […] if reduction is "none"

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


class L1Loss(_Loss):
    """Absolute error, \\|input - target\\|.

    Args:
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input and target […]; output [], or […] if reduction is "none"

    Example:
        >>> import zero
        >>> zero.nn.L1Loss()(zero.tensor([1.0, 2.0]), zero.tensor([1.0, 4.0]))
        tensor(1.)
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        self.reduction = reduction_of("L1Loss", size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Squared error up to beta, absolute error beyond: d²/(2 beta) if d < beta, else d - beta/2.

    Args:
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".
        beta: where one becomes the other; 0 gives L1Loss.

    Example:
        >>> import zero
        >>> zero.nn.SmoothL1Loss()(zero.tensor([0.5, 3.0]), zero.zeros(2))
        tensor(1.3125)

    Source: Girshick, Fast R-CNN, 2015.
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        self.reduction = reduction_of("SmoothL1Loss", size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Squared error up to delta, absolute beyond: d²/2 if d <= delta, else delta (d - delta/2).

    Args:
        reduction: "mean", "sum" or "none".
        delta: where one becomes the other, above 0.

    Example:
        >>> import zero
        >>> zero.nn.HuberLoss()(zero.tensor([0.5, 3.0]), zero.zeros(2))
        tensor(1.3125)

    Source: Huber, Robust estimation of a location parameter, 1964.
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, float | int):
            raise TypeError(
                f"HuberLoss: delta is not a number; got {type(delta).__name__}, expected a float"
            )
        self.reduction = reduction_of("HuberLoss", None, None, reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class BCELoss(_WeightedLoss):
    """Cross entropy of probabilities: -(target ln input + (1 - target) ln(1 - input)).

    Logarithms are not below -100. Prefer BCEWithLogitsLoss, which is exact.

    Args:
        weight: scales each element; a buffer.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input and target […], between 0 and 1; output [], or […] if reduction is "none"

    Raises:
        ShapeError: the shapes differ.
        ValueError: an input or a target is outside [0, 1].

    Example:
        >>> import zero
        >>> zero.nn.BCELoss()(zero.tensor([0.5, 1.0]), zero.tensor([1.0, 1.0]))
        tensor(0.3466)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        self.reduction = reduction_of("BCELoss", size_average, reduce, reduction)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of the sigmoid of the input, without overflow.

    -(pos_weight target ln s + (1 - target) ln(1 - s)) with s = sigmoid(input).

    Args:
        weight: scales each element; a buffer.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".
        pos_weight: scales the part of the positive class; a buffer.

    Shape:
        input and target […]; output [], or […] if reduction is "none"

    Raises:
        ShapeError: the shapes differ.

    Example:
        >>> import zero
        >>> zero.nn.BCEWithLogitsLoss()(zero.tensor([0.0, 1000.0]), zero.tensor([1.0, 1.0]))
        tensor(0.3466)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        self.reduction = reduction_of("BCEWithLogitsLoss", size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence, target (ln target - input), element by element.

    Args:
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum", "none", or "batchmean": the sum over the first size, which is
            the divergence itself.
        log_target: whether the target holds logarithms.

    Shape:
        input […]: logarithms of probabilities; target the same

    Example:
        >>> import zero
        >>> p = zero.tensor([[0.5, 0.5]])
        >>> zero.nn.KLDivLoss(reduction="batchmean")(p.log(), p)
        tensor(0.)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        old = size_average is not None or reduce is not None
        batch = reduction == "batchmean" and not old
        self.reduction = (
            reduction if batch else reduction_of("KLDivLoss", size_average, reduce, reduction)
        )
        self.log_target = _options.flag("KLDivLoss", "log_target", log_target)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """Negative log likelihood of counts, without their factorials: rate - target ln(rate).

    Args:
        log_input: whether the input holds logarithms of rates, or rates.
        full: whether to add Stirling's approximation of ln(target!) for targets above 1.
        size_average: old form of reduction.
        eps: is added to rates, so that ln 0 is not met.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import zero
        >>> zero.nn.PoissonNLLLoss()(zero.tensor([0.0]), zero.tensor([2.0]))
        tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        self.reduction = reduction_of("PoissonNLLLoss", size_average, reduce, reduction)
        self.log_input = _options.flag("PoissonNLLLoss", "log_input", log_input)
        self.full = _options.flag("PoissonNLLLoss", "full", full)
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """Negative log likelihood of normal distributions, (ln var + (input - target)² / var) / 2.

    Args:
        full: whether to add ln(2 pi) / 2.
        eps: the least variance.
        reduction: "mean", "sum" or "none".

    Shape:
        input and target […]: means and what was seen; var […], with a 1 in the place of one size,
        or without the last one

    Example:
        >>> import zero
        >>> mean, var = zero.tensor([0.0, 0.0]), zero.tensor([1.0, 4.0])
        >>> zero.nn.GaussianNLLLoss()(mean, zero.tensor([1.0, 2.0]), var)
        tensor(0.8466)

    Source: Nix and Weigend, Estimating the mean and variance of the target probability
    distribution, 1994.
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        self.reduction = reduction_of("GaussianNLLLoss", None, None, reduction)
        self.full = _options.flag("GaussianNLLLoss", "full", full)
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class NLLLoss(_WeightedLoss):
    """Negative log likelihood of the right classes, ``-weight[target] * input[target]``.

    Args:
        weight: of each class, [C]; a buffer.
        size_average: old form of reduction.
        reduce: old form of reduction.
        ignore_index: targets of this value don't count.
        reduction: "mean" (divided by the sum of the weights used), "sum" or "none".

    Shape:
        input [N, C], [C] or [N, C, …]: log-probabilities; target [N], [] or [N, …]: integers;
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


class NLLLoss2d(NLLLoss):
    """The old name of NLLLoss for images; warns."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        warnings.warn("NLLLoss2d: the old name of NLLLoss", FutureWarning, stacklevel=2)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(_WeightedLoss):
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
        input [N, C], [C] or [N, C, …]: scores before the softmax; target [N], [] or [N, …]:
        integers, or probabilities of the input's shape; output [], or [N, …] if reduction is "none"

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


class LinearCrossEntropyLoss(_WeightedLoss):
    """A linear layer and the cross entropy of its scores.

    Args:
        in_features: the features of a sample, D.
        num_classes: C.
        out_features: more sizes of the scores, behind the classes.
        bias: whether the layer has a bias.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.
        reduction: "mean", "sum" or "none".
        weight: a factor for each class, [C]; a buffer.
        ignore_index: a class that counts as absent; -100 if None.
        label_smoothing: the share of the target that is spread over all classes; 0 to 1.
        options: has no meaning here: PyTorch's choice of parts in which the same is computed.

    Shape:
        input [N, D] or [D]; target [N, …] or []: classes, or probabilities [N, C, …] or [C];
        output [], or that of the classes if reduction is "none"; linear.weight [C * ..., D]

    Example:
        >>> import zero
        >>> loss = zero.nn.LinearCrossEntropyLoss(3, 2)
        >>> loss(zero.zeros(4, 3), zero.tensor([0, 1, 0, 1]))
        tensor(0.6931, grad_fn=<NllLossBackward0>)
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: object = None,
    ) -> None:
        layer = "LinearCrossEntropyLoss"
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise ShapeError(
                f"{layer}: got weight {tuple(weight.shape)}, expected ({num_classes},)"
            )
        self.reduction = reduction_of(layer, None, None, reduction)
        self.register_buffer("weight", weight)
        self.num_classes = _options.size(layer, "num_classes", num_classes)
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = _options.probability(layer, "label_smoothing", label_smoothing)
        scores = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, scores, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        outputs, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*outputs, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(outputs),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )


class CTCLoss(_Loss):
    """Connectionist temporal classification: -ln of the probability of a sequence of labels.

    Args:
        blank: the class that stands for no label.
        reduction: "mean" (each loss is first divided by the length of its target), "sum" or "none".
        zero_infinity: whether losses of targets that no path spells count as 0.

    Shape:
        log_probs [T, N, C] or [T, C]; targets [N, S], or those of all samples in one row; the
        lengths of both [N] or []

    Example:
        >>> import zero
        >>> log_probs = zero.full((2, 1, 2), 0.5).log()
        >>> zero.nn.CTCLoss()(log_probs, zero.tensor([[1]]), (2,), (1,))
        tensor(0.2877)

    Source: Graves et al., Connectionist temporal classification, 2006.
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        self.reduction = reduction_of("CTCLoss", None, None, reduction)
        self.blank = _options.dimension("CTCLoss", "blank", blank)
        self.zero_infinity = _options.flag("CTCLoss", "zero_infinity", zero_infinity)

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
