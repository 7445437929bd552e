"""Functions and losses of :mod:`zero.nn.functional` that are composed of operators."""

from __future__ import annotations

import math
import warnings

import zero
from zero import Tensor, _activation, _autocast_float32, _pair_loss
from zero.errors import DTypeError, ShapeError, ValueError
from zero.nn import _options

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "check_broadcast",
    "gaussian_nll_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "normalize",
    "one_hot",
    "poisson_nll_loss",
    "reduced",
    "reduction_of",
    "smooth_l1_loss",
]


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
    every = zero._all_values(tensor)
    least, most = int(every.min()), int(every.max())
    if num_classes == -1:
        num_classes = most + 1
    if least < 0 or most >= num_classes:
        raise ValueError(
            f"one_hot: a class is out of range; got {least} to {most}, expected 0 to "
            f"{num_classes - 1}"
        )
    y = tensor.new_zeros((*tensor.shape, num_classes))
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


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The losses, their sum or mean."""
    if reduction == "mean":
        return zero.mean(loss)
    return zero.sum(loss) if reduction == "sum" else loss


def check_broadcast(op: str, first: str, a: Tensor, second: str, b: Tensor) -> None:
    try:
        zero.broadcast_shapes(a.shape, b.shape)
    except ShapeError:
        raise ShapeError(
            f"{op}: shapes do not broadcast; got {first} {tuple(a.shape)} and {second} "
            f"{tuple(b.shape)}, expected equal sizes or 1 in each trailing dimension"
        ) from None


def _warn_of_broadcast(op: str, input: Tensor, target: Tensor) -> None:
    tensors = isinstance(input, Tensor) and isinstance(target, Tensor)  # else the loss objects
    if tensors and input.shape != target.shape:
        check_broadcast(op, "input", input, "target", target)
        warnings.warn(
            f"{op}: broadcasts; got input {tuple(input.shape)} and target "
            f"{tuple(target.shape)}, expected the same shape: pairs that don't belong together "
            "would count",
            stacklevel=3,
        )


def _weighted(op: str, loss: Tensor, weight: Tensor, input: Tensor) -> Tensor:
    if weight.shape != input.shape:
        raise ShapeError(
            f"{op}: the weights don't fit; got weight {tuple(weight.shape)} and input "
            f"{tuple(input.shape)}, expected the same shape"
        )
    return loss * weight


def _check_factor(op: str, name: str, factor: Tensor, input: Tensor) -> None:
    check_broadcast(op, "input", input, name, factor)
    if zero.broadcast_shapes(input.shape, factor.shape) != input.shape:
        raise ShapeError(
            f"{op}: {name} is larger than what it scales; got {tuple(factor.shape)}, expected a "
            f"shape that broadcasts to {tuple(input.shape)}"
        )


def _weighted_mean(loss: Tensor, weight: Tensor, mode: str) -> Tensor:
    """The mean is over the weights."""
    return zero.sum(loss) / zero.sum(weight) if mode == "mean" else reduced(loss, mode)


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
        weight: scales each error, of the input's shape; the mean is then over the weights.

    Example:
        >>> import zero
        >>> zero.nn.functional.l1_loss(zero.tensor([1.0, 2.0]), zero.tensor([1.0, 4.0]))
        tensor(1.)
    """
    mode = reduction_of("l1_loss", size_average, reduce, reduction)
    _warn_of_broadcast("l1_loss", input, target)
    if weight is None:
        return _pair_loss("l1_loss", input, target, mode)
    loss = _weighted("l1_loss", _pair_loss("l1_loss", input, target, "none"), weight, input)
    return _weighted_mean(loss, weight, mode)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared error, (input - target)².

    Args:
        input: predictions, any shape.
        target: of the same shape; another one is broadcast with a warning.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".
        weight: scales each error, of the input's shape; the mean is then over the weights.

    Example:
        >>> import zero
        >>> zero.nn.functional.mse_loss(zero.tensor([1.0, 2.0]), zero.tensor([1.0, 4.0]))
        tensor(2.)
    """
    _warn_of_broadcast("mse_loss", input, target)
    if weight is None:
        return zero.mse_loss(input, target, size_average, reduce, reduction)
    mode = reduction_of("mse_loss", size_average, reduce, reduction)
    loss = _weighted("mse_loss", zero.mse_loss(input, target, reduction="none"), weight, input)
    return _weighted_mean(loss, weight, mode)


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
        return _pair_loss("l1_loss", input, target, mode)
    return _pair_loss("smooth_l1_loss", input, target, mode, beta, 1 / beta)


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
        weight: scales each error, of the input's shape.

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
        return _pair_loss("huber_loss", input, target, mode, delta, 1.0)
    loss = _pair_loss("huber_loss", input, target, "none", delta, 1.0)
    return reduced(_weighted("huber_loss", loss, weight, input), mode)


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
    old = size_average is not None or reduce is not None
    batch = reduction == "batchmean" and not old
    mode = "sum" if batch else reduction_of("kl_div", size_average, reduce, reduction)
    check_broadcast("kl_div", "input", input, "target", target)
    if mode == "mean" and not old:
        warnings.warn(
            "kl_div: reduction='mean' also divides by the number of classes; 'batchmean' is the "
            "divergence",
            stacklevel=2,
        )
    total = _pair_loss("kl_div_log" if log_target else "kl_div", input, target, mode)
    return total / input.shape[0] if batch and input.ndim else total


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
        weight: scales each element; broadcasts.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Raises:
        ShapeError: the shapes differ, or the weight does not fit.
        ValueError: an input or a target is outside [0, 1].

    Example:
        >>> import zero
        >>> p, target = zero.tensor([0.5, 1.0]), zero.tensor([1.0, 1.0])
        >>> zero.nn.functional.binary_cross_entropy(p, target)
        tensor(0.3466)
    """
    mode = reduction_of("binary_cross_entropy", size_average, reduce, reduction)
    _same_shape("binary_cross_entropy", input, target)
    if weight is None:
        return _pair_loss("binary_cross_entropy", input, target, mode)
    _check_factor("binary_cross_entropy", "weight", weight, input)
    return reduced(_pair_loss("binary_cross_entropy", input, target, "none") * weight, mode)


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
        weight: scales each element; broadcasts.
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
    op = "binary_cross_entropy_with_logits"
    mode = reduction_of(op, size_average, reduce, reduction)
    _same_shape(op, input, target)
    if weight is not None:
        _check_factor(op, "weight", weight, input)
    if pos_weight is None:
        if weight is None:
            return _pair_loss(op, input, target, mode)
        loss = _pair_loss(op, input, target, "none")
    else:
        _check_factor(op, "pos_weight", pos_weight, input)
        input, target, pos_weight = _autocast_float32(input, target, pos_weight)
        yes, no = _activation("logsigmoid", input), _activation("logsigmoid", -input)
        loss = -(pos_weight * target * yes + (1 - target) * no)
    return reduced(loss if weight is None else loss * weight, mode)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of counts, without their factorials: rate - target ln(rate).

    Args:
        input: the logarithms of the rates, any shape.
        target: the counts; broadcasts.
        log_input: False if the input holds the rates themselves.
        full: whether to add Stirling's approximation of ln(target!) for targets above 1.
        size_average: old form of reduction.
        eps: is added to rates, so that ln 0 is not met.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import zero
        >>> zero.nn.functional.poisson_nll_loss(zero.tensor([0.0]), zero.tensor([2.0]))
        tensor(1.)
    """
    mode = reduction_of("poisson_nll_loss", size_average, reduce, reduction)
    check_broadcast("poisson_nll_loss", "input", input, "target", target)
    input, target = _autocast_float32(input, target)
    if log_input:
        loss = zero.exp(input) - target * input
    else:
        loss = input - target * zero.log(input + eps)
    if full:
        stirling = target * zero.log(target) - target + 0.5 * zero.log(2 * math.pi * target)
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, mode)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of normal distributions, (ln var + (input - target)² / var) / 2.

    Args:
        input: the means, any shape.
        target: of the same shape, or one that broadcasts.
        var: the variances: of the input's shape, with a 1 in the place of one size or without
            the last one, or one number.
        full: whether to add ln(2 pi) / 2.
        eps: the least variance.
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: a variance is negative.
        ShapeError: the shape of the variances does not fit.

    Example:
        >>> import zero
        >>> mean, var = zero.tensor([0.0, 0.0]), zero.tensor([1.0, 4.0])
        >>> zero.nn.functional.gaussian_nll_loss(mean, zero.tensor([1.0, 2.0]), var)
        tensor(0.8466)

    Source: Nix and Weigend, Estimating the mean and variance of the target probability
    distribution, 1994.
    """
    op = "gaussian_nll_loss"
    mode = reduction_of(op, None, None, reduction)
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError(f"{op}: a variance is negative; got {var}, expected 0 or more")
        var = zero.full_like(input, var)
    elif var.device.type != "meta" and (zero._all_values(var) < 0).any():
        lowest = zero._all_values(var).detach().min().item()
        raise ValueError(f"{op}: a variance is negative; got {lowest:g}, expected all 0 or more")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif (
            input.ndim != var.ndim
            or sum(v for n, v in zip(input.shape, var.shape, strict=True) if n != v) != 1
        ):
            raise ShapeError(
                f"{op}: the variances don't fit; got var {tuple(var.shape)} and input "
                f"{tuple(input.shape)}, expected the same shape, or 1 in the place of one size"
            )
    check_broadcast(op, "input", input, "target", target)
    least = var.clone()
    with zero.no_grad():  # the gradient is that of var
        least.clamp_min_(eps)
    loss = 0.5 * (zero.log(least) + (input - target).square() / least)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, mode)
