"""Losses of :mod:`zero.nn.functional` that compare scores or distances with a margin."""

from __future__ import annotations

from collections.abc import Callable

import zero
from zero import Tensor, _activation, _autocast_float32, _pair_loss, pairwise_distance
from zero.errors import DTypeError, IndexError, ShapeError, ValueError
from zero.nn._pointwise import check_broadcast, reduced, reduction_of

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


# ---- pairs and triples ---------------------------------------------------------------------------


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far a pair is from its right order: max(0, -target (input1 - input2) + margin).

    Args:
        input1: scores, any shape.
        input2: the scores that they are compared with.
        target: 1 where the first score should be larger, -1 where the second.
        margin: by how much.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Raises:
        ShapeError: the numbers of dimensions differ.

    Example:
        >>> import zero
        >>> a, b, target = zero.tensor([1.0, 1.0]), zero.tensor([3.0, 0.0]), zero.ones(2)
        >>> zero.nn.functional.margin_ranking_loss(a, b, target)
        tensor(1.)
    """
    mode = reduction_of("margin_ranking_loss", size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise ShapeError(
            f"margin_ranking_loss: the numbers of dimensions differ; got {tuple(input1.shape)}, "
            f"{tuple(input2.shape)} and target {tuple(target.shape)}, expected one number"
        )
    input1, input2, target = _autocast_float32(input1, input2, target)
    return reduced(zero.clamp_min(-target * (input1 - input2) + margin, 0), mode)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """x for pairs that belong together (target 1), max(0, margin - x) for others (-1).

    Args:
        input: distances, any shape.
        target: 1 and -1.
        margin: from which distance on others don't count.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import zero
        >>> x, target = zero.tensor([0.5, 0.25]), zero.tensor([1.0, -1.0])
        >>> zero.nn.functional.hinge_embedding_loss(x, target)
        tensor(0.6250)
    """
    mode = reduction_of("hinge_embedding_loss", size_average, reduce, reduction)
    check_broadcast("hinge_embedding_loss", "input", input, "target", target)
    input, target = _autocast_float32(input, target)
    apart = zero.where(target != 1, zero.clamp_min(margin - input, 0), 0)
    return reduced(apart + zero.where(target != -1, input, 0), mode)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos for pairs of vectors that belong together, max(0, cos - margin) for others.

    Args:
        input1: vectors, [N, D] or [D].
        input2: the vectors that they are compared with.
        target: 1 and -1, [N] or [].
        margin: the cosine up to which others don't count, from -1 to 1.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Raises:
        ShapeError: the shapes do not fit.

    Example:
        >>> import zero
        >>> a, b = zero.tensor([[1.0, 0.0], [1.0, 0.0]]), zero.tensor([[0.0, 1.0], [2.0, 0.0]])
        >>> zero.nn.functional.cosine_embedding_loss(a, b, zero.tensor([1, -1]))
        tensor(1.)
    """
    op = "cosine_embedding_loss"
    mode = reduction_of(op, size_average, reduce, reduction)
    if target.ndim > 1 or not input1.ndim == input2.ndim == target.ndim + 1:
        raise ShapeError(
            f"{op}: the shapes don't fit; got {tuple(input1.shape)}, {tuple(input2.shape)} and "
            f"target {tuple(target.shape)}, expected (N, D), (N, D) and (N,), or (D,), (D,) and ()"
        )
    check_broadcast(op, "input1", input1, "input2", input2)
    input1, input2 = _autocast_float32(input1, input2)
    squares = [(x * x).sum(-1) + 1e-12 for x in (input1, input2)]
    cosine = (input1 * input2).sum(-1) / zero.sqrt(squares[0] * squares[1])
    near = zero.where(target == 1, 1 - cosine, 0)
    return reduced(near + zero.where(target == -1, zero.clamp_min(cosine - margin, 0), 0), mode)


def _check_triple(
    op: str, anchor: Tensor, positive: Tensor, negative: Tensor, margin: float
) -> None:
    if margin <= 0:
        raise ValueError(f"{op}: margin is not positive; got {margin}, expected > 0")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise ShapeError(
            f"{op}: the numbers of dimensions differ; got anchor {tuple(anchor.shape)}, positive "
            f"{tuple(positive.shape)} and negative {tuple(negative.shape)}, expected one number"
        )


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How much nearer than a positive a negative is: max(0, d(a, p) - d(a, n) + margin).

    Args:
        anchor: vectors, [N, D] or [D].
        positive: those that belong to the anchors.
        negative: those that don't.
        margin: by how much the negative should be farther away, above 0.
        p: the order of the norm.
        eps: is added to each difference.
        swap: whether the distance of positive and negative takes the place of that of anchor and
            negative where it is smaller.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: margin is not positive.
        ShapeError: the numbers of dimensions differ.

    Example:
        >>> import zero
        >>> a, p, n = zero.zeros(1, 2), zero.tensor([[3.0, 4.0]]), zero.tensor([[0.0, 2.0]])
        >>> round(zero.nn.functional.triplet_margin_loss(a, p, n).item(), 4)
        4.0

    Source: Balntas et al., Learning local feature descriptors with triplets, 2016.
    """
    mode = reduction_of("triplet_margin_loss", size_average, reduce, reduction)
    _check_triple("triplet_margin_loss", anchor, positive, negative, margin)
    anchor, positive, negative = _autocast_float32(anchor, positive, negative)

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return pairwise_distance(x, y, p, eps)

    return _triplet(anchor, positive, negative, distance, margin, swap, mode)


def _triplet(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance: Callable[[Tensor, Tensor], Tensor],
    margin: float,
    swap: bool,
    mode: str,
) -> Tensor:
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = zero.minimum(far, distance(positive, negative))
    return reduced(zero.clamp_min(margin + near - far, 0), mode)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """:func:`triplet_margin_loss` with any distance.

    Args:
        anchor: the first of the triples.
        positive: those that belong to the anchors.
        negative: those that don't.
        distance_function: of two tensors; :func:`pairwise_distance` if None.
        margin: by how much the negative should be farther away, above 0.
        swap: as in triplet_margin_loss.
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: margin is not positive.
        ShapeError: the numbers of dimensions differ.

    Example:
        >>> import zero
        >>> a, p, n = zero.zeros(1, 2), zero.tensor([[3.0, 4.0]]), zero.tensor([[0.0, 2.0]])
        >>> def largest(x, y):
        ...     return (x - y).abs().amax(-1)
        >>> zero.nn.functional.triplet_margin_with_distance_loss(a, p, n, distance_function=largest)
        tensor(3.)
    """
    op = "triplet_margin_with_distance_loss"
    mode = reduction_of(op, None, None, reduction)
    _check_triple(op, anchor, positive, negative, margin)
    distance = pairwise_distance if distance_function is None else distance_function
    return _triplet(anchor, positive, negative, distance, margin, swap, mode)


# ---- classes -------------------------------------------------------------------------------------


def _check_labels(op: str, target: Tensor, least: int, classes: int) -> None:
    if target.dtype is not zero.int64:
        raise DTypeError(f"{op}: classes are not int64; got {target.dtype}, expected target.long()")
    if target.numel() and target.device.type != "meta":
        every = zero._all_values(target)
        low, high = int(every.min()), int(every.max())
        if low < least or high >= classes:
            raise IndexError(
                f"{op}: target out of range; got {low} to {high}, expected {least} to {classes - 1}"
            )


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far other classes are above a class: sum of max(0, margin - x_t + x_j)^p / C over j != t.

    Args:
        input: scores, [N, C] or [C], of floats.
        target: the classes, int64, [N] or [].
        p: 1 or 2.
        margin: by how much the class should be above the others.
        weight: a factor for each class, [C].
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: p is neither 1 nor 2.
        ShapeError: the shapes do not fit.
        IndexError: a class is out of range.

    Example:
        >>> import zero
        >>> x = zero.tensor([[0.25, 1.0, 0.5, 0.25]])
        >>> zero.nn.functional.multi_margin_loss(x, zero.tensor([1]))
        tensor(0.2500)
    """
    op = "multi_margin_loss"
    mode = reduction_of(op, size_average, reduce, reduction)
    if p != 1 and p != 2:
        raise ValueError(f"{op}: got p={p}, expected 1 or 2")
    classes = input.shape[-1] if input.ndim else 1
    if input.ndim > 2 or classes == 0:
        raise ShapeError(f"{op}: got input {tuple(input.shape)}, expected (N, C) or (C,)")
    if target.ndim > 1 or target.numel() != (input.shape[0] if input.ndim == 2 else 1):
        expected = f"({input.shape[0]},)" if input.ndim == 2 else "()"
        raise ShapeError(f"{op}: got target {tuple(target.shape)}, expected {expected}")
    if weight is not None and tuple(weight.shape) != (classes,):
        raise ShapeError(f"{op}: got weight {tuple(weight.shape)}, expected ({classes},)")
    _check_labels(op, target, 0, classes)
    input, weight = _autocast_float32(input, weight)
    x, place = input.reshape(-1, classes), target.reshape(-1, 1)
    terms = zero.relu(margin - x.gather(1, place) + x)
    if p == 2:
        terms = terms.square()
    if weight is not None:
        terms = terms * weight[place]
    loss = terms.scatter(1, place, 0.0).sum(1) / classes
    if target.ndim == 0 and mode == "none":
        return loss.reshape(())
    return reduced(loss, mode)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far other classes are above those of a sample: sum of max(0, 1 - (x_t - x_j)) / C.

    The sum is over the classes t of the sample and all others, j.

    Args:
        input: scores, [N, C] or [C], of floats.
        target: the classes of each sample, int64, of the input's shape; they end at the first -1.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Raises:
        ShapeError: the shapes do not fit.
        IndexError: a class is out of range.

    Example:
        >>> import zero
        >>> x, target = zero.tensor([[0.25, 0.5, 1.0, 0.75]]), zero.tensor([[3, 0, -1, 1]])
        >>> zero.nn.functional.multilabel_margin_loss(x, target)
        tensor(1.2500)
    """
    op = "multilabel_margin_loss"
    mode = reduction_of(op, size_average, reduce, reduction)
    classes = input.shape[-1] if input.ndim else 1
    if input.ndim > 2 or classes == 0 or target.shape != input.shape:
        raise ShapeError(
            f"{op}: got input {tuple(input.shape)} and target {tuple(target.shape)}, expected "
            "(N, C) or (C,), twice"
        )
    _check_labels(op, target, -1, classes)
    (input,) = _autocast_float32(input)
    x, places = input.reshape(-1, classes), target.reshape(-1, classes)
    valid = (places < 0).cumsum(1) == 0
    if target.device.type != "meta":  # as many columns as the longest list needs
        longest = int(zero._all_values(valid).sum(-1).max()) if x.shape[0] else 0
        places, valid = places[:, :longest], valid[:, :longest]
    places = places.clamp_min(0)
    other = zero.ones_like(x).scatter_reduce(1, places, (~valid).to(x.dtype), "amin")
    terms = zero.relu(1 - x.gather(1, places).unsqueeze(2) + x.unsqueeze(1))
    loss = (terms * valid.unsqueeze(2) * other.unsqueeze(1)).sum((1, 2)) / classes
    if input.ndim < 2 and mode == "none":
        return loss.reshape(())
    return reduced(loss, mode)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The logistic loss of two classes: ln(1 + exp(-target input)).

    Args:
        input: scores, any shape.
        target: 1 and -1; broadcasts.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import zero
        >>> zero.nn.functional.soft_margin_loss(zero.tensor([0.0]), zero.tensor([1.0]))
        tensor(0.6931)
    """
    mode = reduction_of("soft_margin_loss", size_average, reduce, reduction)
    check_broadcast("soft_margin_loss", "input", input, "target", target)
    input, target = _autocast_float32(input, target)
    return reduced(-_activation("logsigmoid", target * input), mode)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of :func:`binary_cross_entropy_with_logits`.

    Args:
        input: scores, […, C].
        target: 1 for the classes of a sample and 0 for others, of the input's shape.
        weight: a factor for each class, [C].
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none", which gives the shape […].

    Example:
        >>> import zero
        >>> x, target = zero.tensor([[0.0, 0.0]]), zero.tensor([[1.0, 0.0]])
        >>> zero.nn.functional.multilabel_soft_margin_loss(x, target)
        tensor(0.6931)
    """
    op = "multilabel_soft_margin_loss"
    mode = reduction_of(op, size_average, reduce, reduction)
    check_broadcast(op, "input", input, "target", target)
    loss = _pair_loss("binary_cross_entropy_with_logits", input, target, "none")
    loss = loss.to(zero.result_type(input, target))  # PyTorch's autocast does not know this one
    return reduced((loss if weight is None else loss * weight).mean(-1), mode)
