"""Functions and losses of :mod:`zero.nn.functional` that are composed of operators."""

from __future__ import annotations

import warnings

import zero
from zero import Tensor, _huber_loss
from zero.errors import DTypeError, ShapeError, ValueError
from zero.nn import _options

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_similarity",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "normalize",
    "one_hot",
    "smooth_l1_loss",
    "softplus",
]


def softplus(
    input: Tensor, beta: float = 1.0, threshold: float = 20.0, *, out: Tensor | None = None
) -> Tensor:
    """A smooth :func:`relu`: ln(1 + exp(beta x)) / beta.

    Args:
        input: any shape.
        beta: how sharp the bend is.
        threshold: where beta x is above it the result is x.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.nn.functional.softplus(zero.tensor([0.0, 100.0]))
        tensor([  0.6931, 100.0000])
    """
    scaled = input * beta if beta != 1 else input
    bent = zero.logaddexp(scaled, scaled.new_zeros(()))
    return zero.where(scaled > threshold, input, bent / beta if beta != 1 else bent, out=out)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A new last dimension with a 1 at the place that each class says and 0 elsewhere.

    Args:
        tensor: classes, int64, any shape.
        num_classes: the size of the new dimension; -1 is one more than the largest class.

    Raises:
        ValueError: a class is negative or not below `num_classes`.

    Example:
        >>> import zero
        >>> zero.nn.functional.one_hot(zero.tensor([0, 2])).tolist()
        [[1, 0, 0], [0, 0, 1]]
    """
    if tensor.dtype is not zero.int64:
        raise DTypeError(f"one_hot: classes are not int64; got {tensor.dtype}, expected int64")
    if tensor.numel() == 0:
        if num_classes <= 0:
            raise ValueError("one_hot: no classes and no num_classes; expected one of them")
        return zero.zeros((*tensor.shape, num_classes), dtype=zero.int64, device=tensor.device)
    least, most = int(tensor.min()), int(tensor.max())
    if num_classes == -1:
        num_classes = most + 1
    if least < 0 or most >= num_classes:
        raise ValueError(
            f"one_hot: a class is out of range; got {least} to {most}, expected 0 to "
            f"{num_classes - 1}"
        )
    y = zero.zeros((*tensor.shape, num_classes), dtype=zero.int64, device=tensor.device)
    return y.scatter_(-1, tensor.unsqueeze(-1), 1)


def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int | tuple[int, ...] = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """Divided by the norm along a dimension: x / max(norm(x), eps).

    Args:
        input: any shape.
        p: the order of the norm.
        dim: along which the norm becomes 1.
        eps: the least divisor.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.nn.functional.normalize(zero.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    return zero.div(input, zero.norm(input, p, dim, True).clamp_min(eps), out=out)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors: ``x1 . x2 / (max(|x1|, eps) max(|x2|, eps))``.

    Args:
        x1: any shape that broadcasts with that of `x2`.
        x2: the other vectors.
        dim: the dimension of the vectors, which the result does not have.
        eps: the least divisor, so that the result of a vector of zeros is 0.

    Raises:
        DTypeError: neither is floating point.

    Example:
        >>> import zero
        >>> a, b = zero.tensor([[1.0, 0.0]]), zero.tensor([[1.0, 1.0]])
        >>> zero.nn.functional.cosine_similarity(a, b)
        tensor([0.7071])
    """
    dtype = zero.result_type(x1, x2)
    if not dtype.is_floating_point:
        raise DTypeError(
            f"cosine_similarity: not floating point; got {x1.dtype} and {x2.dtype}, expected floats"
        )
    _check_broadcast("cosine_similarity", "x1", x1, "x2", x2)
    x1, x2 = zero.broadcast_tensors(x1.to(dtype), x2.to(dtype))
    a, b = (x / zero.norm(x, 2, dim, True).clamp_min(eps) for x in (x1, x2))
    return zero.sum(a * b, dim)


def reduction_of(op: str, size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction by name, or by the two arguments that PyTorch had before it."""
    if size_average is not None or reduce is not None:
        each = reduce is not None and not _options.flag(op, "reduce", reduce)
        mean = size_average is None or _options.flag(op, "size_average", size_average)
        reduction = "none" if each else "mean" if mean else "sum"
        warnings.warn(
            f"{op}: size_average and reduce are old forms; say reduction={reduction!r}",
            FutureWarning,
            stacklevel=3,
        )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            f"{op}: unknown reduction; got {reduction!r}, expected 'none', 'mean' or 'sum'"
        )
    return reduction


def _reduced(loss: Tensor, reduction: str, weight: Tensor | None = None) -> Tensor:
    """The losses, their sum or mean; weights scale them, and the mean is over the weights."""
    if weight is not None:
        loss = loss * weight
        if reduction == "mean":
            return zero.sum(loss) / zero.sum(weight.expand_as(loss))
    if reduction == "mean":
        return zero.mean(loss)
    return zero.sum(loss) if reduction == "sum" else loss


def _check_broadcast(op: str, first: str, a: Tensor, second: str, b: Tensor) -> None:
    try:
        zero.broadcast_shapes(a.shape, b.shape)
    except ShapeError:
        raise ShapeError(
            f"{op}: shapes do not broadcast; got {first} {tuple(a.shape)} and {second} "
            f"{tuple(b.shape)}, expected equal sizes or 1 in each trailing dimension"
        ) from None


def _warn_of_broadcast(op: str, input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        _check_broadcast(op, "input", input, "target", target)
        warnings.warn(
            f"{op}: broadcasts; got input {tuple(input.shape)} and target "
            f"{tuple(target.shape)}, expected the same shape: pairs that don't belong together "
            "would count",
            stacklevel=3,
        )


def _same_shape(op: str, input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        raise ShapeError(
            f"{op}: shapes differ; got input {tuple(input.shape)} and target "
            f"{tuple(target.shape)}, expected the same"
        )


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Absolute error, \\|input - target\\|.

    Args:
        input: predictions, any shape.
        target: of the same shape; another one is broadcast with a warning.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".
        weight: scales each error; the mean is then over the weights.

    Example:
        >>> import zero
        >>> zero.nn.functional.l1_loss(zero.tensor([1.0, 2.0]), zero.tensor([1.0, 4.0]))
        tensor(1.)
    """
    mode = reduction_of("l1_loss", size_average, reduce, reduction)
    _warn_of_broadcast("l1_loss", input, target)
    return _reduced(zero.abs(input - target), mode, weight)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Squared error up to beta, absolute error beyond: d²/(2 beta) if d < beta, else d - beta/2.

    Args:
        input: predictions, any shape.
        target: of the same shape; another one is broadcast with a warning.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".
        beta: where one becomes the other; 0 gives :func:`l1_loss`.

    Example:
        >>> import zero
        >>> zero.nn.functional.smooth_l1_loss(zero.tensor([0.5, 3.0]), zero.zeros(2))
        tensor(1.3125)

    Source: Girshick, Fast R-CNN, 2015.
    """
    mode = reduction_of("smooth_l1_loss", size_average, reduce, reduction)
    _warn_of_broadcast("smooth_l1_loss", input, target)
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta is negative; got {beta}, expected >= 0")
    if beta == 0:
        return _reduced(zero.abs(input - target), mode)
    return _huber_loss(input, target, mode, beta, True)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Squared error up to delta, absolute beyond: d²/2 if d <= delta, else delta (d - delta/2).

    Args:
        input: predictions, any shape.
        target: of the same shape; another one is broadcast with a warning.
        reduction: "mean", "sum" or "none".
        delta: where one becomes the other.
        weight: scales each error; the mean is then over the weights.

    Example:
        >>> import zero
        >>> zero.nn.functional.huber_loss(zero.tensor([0.5, 3.0]), zero.zeros(2))
        tensor(1.3125)

    Source: Huber, Robust estimation of a location parameter, 1964.
    """
    mode = reduction_of("huber_loss", None, None, reduction)
    _warn_of_broadcast("huber_loss", input, target)
    if delta <= 0:
        raise ValueError(f"huber_loss: delta is not positive; got {delta}, expected > 0")
    if weight is None:
        return _huber_loss(input, target, mode, delta, False)
    return _reduced(_huber_loss(input, target, "none", delta, False), mode, weight)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Kullback-Leibler divergence, target (ln target - input), element by element.

    Args:
        input: logarithms of probabilities, any shape.
        target: probabilities; their logarithms with `log_target`.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum", "none", or "batchmean": the sum over the first size, which is
            the divergence itself.
        log_target: whether the target holds logarithms.

    Example:
        >>> import zero
        >>> p = zero.tensor([[0.5, 0.5]])
        >>> zero.nn.functional.kl_div(p.log(), p, reduction="batchmean")
        tensor(0.)
    """
    batch = reduction == "batchmean" and size_average is None and reduce is None
    mode = "sum" if batch else reduction_of("kl_div", size_average, reduce, reduction)
    _check_broadcast("kl_div", "input", input, "target", target)
    if log_target:
        loss = zero.exp(target) * (target - input)
    else:  # 0 ln 0 is 0, also for the gradient
        some = target > 0
        entropy = target * zero.log(zero.where(some, target, 1))
        loss = zero.where(target < 0, float("nan"), entropy) - target * input
    total = _reduced(loss, mode)
    return total / input.shape[0] if batch and input.ndim else total


def _log_from_below(x: Tensor, least: float) -> Tensor:
    """ln x, but not below -100; its slope is 1 / max(x, least)."""
    inner = x + (zero.clamp_min(x, least) - x).detach()
    y = zero.log(inner)
    return y + (zero.clamp_min(zero.log(x.detach()), -100) - y.detach())


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of probabilities: -(target ln input + (1 - target) ln(1 - input)).

    Logarithms are not below -100. Prefer :func:`binary_cross_entropy_with_logits`, which is exact.

    Args:
        input: probabilities, any shape.
        target: of the same shape, between 0 and 1.
        weight: scales each element.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Raises:
        ShapeError: the shapes differ.
        ValueError: an input is outside [0, 1].

    Example:
        >>> import zero
        >>> p, target = zero.tensor([0.5, 1.0]), zero.tensor([1.0, 1.0])
        >>> zero.nn.functional.binary_cross_entropy(p, target)
        tensor(0.3466)
    """
    mode = reduction_of("binary_cross_entropy", size_average, reduce, reduction)
    _same_shape("binary_cross_entropy", input, target)
    if input.device.type == "cpu":
        outside = ~((input >= 0) & (input <= 1))  # nan, too
        if outside.any():
            raise ValueError(
                "binary_cross_entropy: an input is no probability; got "
                f"{input.detach()[outside][0].item():g}, expected all between 0 and 1; sigmoid "
                "gives such, and binary_cross_entropy_with_logits takes scores"
            )
    yes, no = _log_from_below(input, 1e-12), _log_from_below(1 - input, 1e-12)
    loss = -(target * yes + (1 - target) * no)
    return _reduced(loss if weight is None else loss * weight, mode)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Cross entropy of the :func:`sigmoid` of the input, without overflow.

    -(pos_weight target ln s + (1 - target) ln(1 - s)) with s = sigmoid(input).

    Args:
        input: logits, any shape.
        target: of the same shape, between 0 and 1.
        weight: scales each element.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".
        pos_weight: scales the part of the positive class; broadcasts.

    Raises:
        ShapeError: the shapes differ.

    Example:
        >>> import zero
        >>> x, target = zero.tensor([0.0, 1000.0]), zero.tensor([1.0, 1.0])
        >>> zero.nn.functional.binary_cross_entropy_with_logits(x, target)
        tensor(0.3466)
    """
    mode = reduction_of("binary_cross_entropy_with_logits", size_average, reduce, reduction)
    _same_shape("binary_cross_entropy_with_logits", input, target)
    # -ln s = ln(1 + e^-|x|) + max(-x, 0)
    negative = input < 0
    magnitude = zero.where(negative, input, -input)
    surprise = zero.log1p(zero.exp(magnitude)) - zero.where(negative, input, 0)
    if pos_weight is not None:
        surprise = surprise * ((pos_weight - 1) * target + 1)
    loss = (1 - target) * input + surprise
    return _reduced(loss if weight is None else loss * weight, mode)
