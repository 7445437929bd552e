"""Losses of :mod:`zero.nn.functional` over classes and sequences of them."""

from __future__ import annotations

import math

import zero
from zero import Tensor, _ctc_loss
from zero.errors import ShapeError, ValueError
from zero.nn._pointwise import reduction_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ctc_loss", "linear_cross_entropy"]


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification: -ln of the probability of a sequence of labels.

    A path gives each step a class; it spells the labels that are left when repetitions, then
    blanks are removed. The probabilities of all paths that spell the target are added up.

    Args:
        log_probs: the logarithms of probabilities, [T, N, C] or [T, C], such as from
            :func:`log_softmax`; the gradient holds for its scores.
        targets: labels, int64 or int32: [N, S], or those of all samples in one row.
        input_lengths: how many steps of each sample count, [N] or [].
        target_lengths: how many labels each sample has, [N] or [].
        blank: the class that stands for no label.
        reduction: "mean" (each loss is first divided by the length of its target), "sum" or "none".
        zero_infinity: whether losses of targets that no path spells count as 0.

    Raises:
        ShapeError: the shapes do not fit.
        ValueError: a length or the blank is out of range.
        IndexError: a label is out of range.

    Example:
        >>> import zero
        >>> log_probs = zero.full((2, 1, 2), 0.5).log()
        >>> zero.nn.functional.ctc_loss(log_probs, zero.tensor([[1]]), (2,), (1,))
        tensor(0.2877)

    Source: Graves et al., Connectionist temporal classification, 2006.
    """
    return _ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity
    )


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: object = None,
) -> Tensor:
    """:func:`cross_entropy` of the scores that a linear layer gives.

    Args:
        input: [N, D] or [D], of floats.
        linear_weight: [C, D], or [C, …, D] for scores of the shape [N, C, …].
        target: classes or probabilities, as in cross_entropy.
        linear_bias: [C] or [C, …], or None.
        weight: a factor for each class, [C].
        reduction: "mean", "sum" or "none".
        ignore_index: a class that counts as absent; -100 if None.
        label_smoothing: the share spread over all classes, from 0 to 1.
        options: has no meaning here: PyTorch's choice of parts in which the same is computed.

    Raises:
        ShapeError: the shapes do not fit.
        ValueError: `ignore_index` is given with probabilities.

    Example:
        >>> import zero
        >>> x, w = zero.tensor([[1.0]]), zero.tensor([[0.0], [0.0]])
        >>> zero.nn.functional.linear_cross_entropy(x, w, zero.tensor([1]))
        tensor(0.6931)
    """
    op = "linear_cross_entropy"
    reduction_of(op, None, None, reduction)
    if input.ndim not in (1, 2) or linear_weight.ndim < 2:
        raise ShapeError(
            f"{op}: got input {tuple(input.shape)} and linear_weight "
            f"{tuple(linear_weight.shape)}, expected (N, D) or (D,), and (C, *, D)"
        )
    features, outputs = linear_weight.shape[-1], linear_weight.shape[:-1]
    if input.shape[-1] != features:
        raise ShapeError(
            f"{op}: the numbers of features differ; got input {tuple(input.shape)} and "
            f"linear_weight {tuple(linear_weight.shape)}, expected one last size"
        )
    if linear_bias is not None and linear_bias.shape != outputs:
        raise ShapeError(
            f"{op}: got linear_bias {tuple(linear_bias.shape)}, expected {tuple(outputs)}"
        )
    if len(outputs) > 1 and input.ndim == 1:
        raise ShapeError(
            f"{op}: got input {tuple(input.shape)} and linear_weight "
            f"{tuple(linear_weight.shape)}, expected a batch (N, {features})"
        )
    shape = (*input.shape[:-1], *outputs)
    if tuple(target.shape) == shape and ignore_index is not None:
        raise ValueError(
            f"{op}: ignore_index has no meaning for probabilities; got {ignore_index}, expected "
            "None"
        )
    scores = zero.linear(
        input,
        linear_weight.reshape(math.prod(outputs), features),
        None if linear_bias is None else linear_bias.reshape(-1),
    )
    return zero.cross_entropy(
        scores.reshape(shape),
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )
