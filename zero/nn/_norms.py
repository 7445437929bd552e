"""Functions of zero.nn.functional that bring channels to a mean and a variance, or divide by the
numbers of channels nearby."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.errors import ShapeError, ValueError

__all__ = ["batch_norm", "instance_norm", "local_response_norm"]


def _check_values(op: str, input: Tensor, first: int, what: str) -> None:
    """Raises if the sizes but the first `first`, and but that of the channels, are all 1."""
    count = 1
    for d, size in enumerate(input.shape):
        if d >= first and d != 1:
            count *= size
    if count == 1:
        raise ValueError(
            f"{op}: one value {what}, which would become 0; got input {tuple(input.shape)}, "
            "expected two or more in training"
        )


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """:func:`zero.batch_norm`, which refuses a single value per channel in training.

    Args:
        input: shape [N, C, ...], of floats.
        running_mean: of shape [C]; None only in training.
        running_var: likewise.
        weight: of shape [C], or None.
        bias: likewise.
        training: whether mean and variance are those of the input; the running ones then move
            towards them, in place.
        momentum: the share of the new values in the running ones.
        eps: is added to the variance.

    Raises:
        ValueError: one value per channel, or an eps of 0, in training; eps is negative; or there
            is no running mean or variance, and it is not training.
        ShapeError: the shapes do not fit.
        DTypeError: the input is not floating point, or the dtypes differ.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 10.0], [3.0, 30.0]])
        >>> mean, var = zero.zeros(2), zero.ones(2)
        >>> zero.nn.functional.batch_norm(x, mean, var, training=True, eps=1e-12).tolist()
        [[-1.0, -1.0], [1.0, 1.0]]
        >>> mean
        tensor([0.2000, 2.0000])
    """
    if training:
        _check_values("batch_norm", input, 0, "per channel")
    if eps < 0 or (training and eps == 0):
        raise ValueError(
            f"batch_norm: eps is too small; got {eps}, expected 0 or more, in training more than 0"
        )
    return zero.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """:func:`zero.instance_norm`, which refuses channels of a single value.

    Args:
        input: shape [N, C, ...], of floats.
        running_mean: of shape [C]; None if there is none, with `use_input_stats`.
        running_var: likewise.
        weight: of shape [C], or None.
        bias: likewise.
        use_input_stats: whether mean and variance are those of each channel of each sample; else
            the running ones.
        momentum: the share of the new values in the running ones.
        eps: is added to the variance.

    Raises:
        ValueError: one value in each channel of a sample; or there is no running mean or variance,
            and `use_input_stats` is False.
        ShapeError: the shapes do not fit.
        DTypeError: the input is not floating point, or the dtypes differ.

    Example:
        >>> import zero
        >>> x = zero.tensor([[[1.0, 3.0], [10.0, 30.0]]])
        >>> zero.nn.functional.instance_norm(x, eps=0).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    if use_input_stats:
        _check_values("instance_norm", input, 2, "in each channel of a sample")
    return zero.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False
    )


def _sum_of_neighbours(x: Tensor, before: int, after: int) -> Tensor:
    """For each channel, the sum of those from `before` in front of it to `after` behind it."""
    channels = x.shape[1]
    total = x
    for offset in range(-min(before, channels - 1), min(after, channels - 1) + 1):
        if offset != 0:
            gap = x.new_zeros((x.shape[0], abs(offset), *x.shape[2:]))
            part = x.narrow(1, max(offset, 0), channels - abs(offset))
            total = total + zero.cat((part, gap) if offset > 0 else (gap, part), 1)
    return total


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divides each channel by a power of the squares of `size` channels around it.

    ``y = x / (k + alpha * mean)^beta``, mean the sum of the squares of those that exist, divided
    by `size`.

    Args:
        input: shape [N, C, L, ...], of floats.
        size: how many channels; of an even number one more lies in front than behind.
        alpha: the factor of the mean.
        beta: the exponent.
        k: is added to the mean.

    Raises:
        ShapeError: fewer than 3 dimensions.
        ValueError: size is not positive.

    Example:
        >>> import zero
        >>> x = zero.tensor([[[1.0], [2.0], [3.0]]])
        >>> zero.nn.functional.local_response_norm(x, 2, alpha=2.0, beta=1.0).flatten().tolist()
        [0.5, 0.3333333432674408, 0.2142857164144516]

    Source: Krizhevsky, Sutskever and Hinton, ImageNet classification with deep convolutional neural
    networks, 2012.
    """
    if input.dim() < 3:
        raise ShapeError(
            f"local_response_norm: too few dimensions; got input {tuple(input.shape)}, expected "
            "(N, C, L, ...)"
        )
    if size < 1:
        raise ValueError(
            f"local_response_norm: size is not positive; got {size}, expected 1 or more"
        )
    if input.numel() == 0:
        return input
    squares = _sum_of_neighbours(input * input, size // 2, (size - 1) // 2)
    if input.is_floating_point():
        mean = squares * (alpha / size)
    else:  # of integers, as PyTorch's avg_pool
        mean = squares.div(size, rounding_mode="trunc") * alpha
    return input / (mean + k) ** beta
