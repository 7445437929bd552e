"""Instance normalisation: group_norm with a group for each channel, and running statistics."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.errors import ShapeError, ValueError

__all__ = ["instance_norm"]


def _move_towards(running: Tensor | None, per_sample: Tensor, momentum: float) -> None:
    if running is not None:
        new = per_sample.to(zero.float64).mean(0)
        running.copy_(running.to(zero.float64) * (1 - momentum) + new * momentum)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Brings each channel of each sample to mean 0 and variance 1.

    Then each channel is multiplied by its weight and its bias is added. The running mean and
    variance, where they are given, move towards the averages over the samples, in place.

    Args:
        input: shape [N, C, ...], of floats.
        weight: of shape [C], or None.
        bias: likewise.
        running_mean: likewise; both or none.
        running_var: likewise.
        use_input_stats: whether mean and variance are those of the input; else the running ones.
        momentum: the share of the new values in the running ones.
        eps: is added to the variance.
        cudnn_enabled: has no meaning here; PyTorch's argument.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the input is not floating point, or the dtypes differ.
        ValueError: there is only one of the running statistics, or none, without `use_input_stats`.

    Example:
        >>> import zero
        >>> x = zero.tensor([[[1.0, 3.0], [10.0, 30.0]]])
        >>> zero.instance_norm(x, None, None, None, None, True, 0.1, 0.0).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]

    Source: Ulyanov, Vedaldi and Lempitsky, Instance normalization, 2016.
    """
    if (running_mean is None) != (running_var is None):
        raise ValueError(
            "instance_norm: one of the running statistics is absent; expected both or neither"
        )
    if input.dim() < 2:
        raise ShapeError(
            f"instance_norm: no channels; got input {tuple(input.shape)}, expected (N, C, ...)"
        )
    if not use_input_stats:
        if running_mean is None:
            raise ValueError(
                "instance_norm: no statistics; got None and use_input_stats=False, expected "
                "running_mean and running_var"
            )
        return zero.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)
    if running_mean is not None:
        with zero.no_grad():  # the checks of both, before one is written; of no samples: no write
            zero.batch_norm(input[:0], None, None, running_mean, running_var, True, momentum, eps)
    channels = input.shape[1]
    y = zero.group_norm(input, channels, weight, bias, eps) if channels else input.clone()
    if running_mean is not None and input.numel() > 0:
        with zero.no_grad():
            x = input.float() if input.dtype in (zero.float16, zero.bfloat16) else input
            var, mean = zero.var_mean(x.flatten(2) if x.dim() > 2 else x[..., None], 2)
            _move_towards(running_mean, mean, momentum)
            _move_towards(running_var, var, momentum)
    return y
