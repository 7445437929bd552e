"""Batch normalisation in evaluation as a part of the layer before it."""

from __future__ import annotations

import copy

import zero
from zero import Parameter, Tensor
from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from zero.nn.module import Module

    AnyModule = TypeVar("AnyModule", bound=Module)

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def _fused(
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    bn_weight: Tensor | None,
    bn_bias: Tensor | None,
    outputs: int,
) -> tuple[Parameter, Parameter]:
    """`outputs` is the weight's dimension that the channels are."""
    with zero.no_grad():
        scale = zero.rsqrt(var + eps)
        if bn_weight is not None:
            scale = scale * bn_weight
        shape = [1] * weight.dim()
        shape[outputs] = -1
        new_weight = (weight * scale.reshape(shape)).to(weight.dtype)
        new_bias = -mean * scale if bias is None else (bias - mean) * scale
        if bn_bias is not None:
            new_bias = new_bias + bn_bias
        new_bias = new_bias.to(weight.dtype if bias is None else bias.dtype)
    return (
        Parameter(new_weight, weight.requires_grad),
        Parameter(new_bias, bias is not None and bias.requires_grad),
    )


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution that does what batch normalisation does after it.

    ``w = conv_w * s`` and ``b = (conv_b - bn_rm) * s + bn_b``, s being
    ``bn_w / sqrt(bn_rv + bn_eps)``.

    Args:
        conv_w: the convolution's weight.
        conv_b: its bias, or None.
        bn_rm: the running mean.
        bn_rv: the running variance.
        bn_eps: what is added to it.
        bn_w: the normalisation's weight, or None.
        bn_b: its bias, or None.
        transpose: whether the channels are the weight's second dimension.

    Example:
        >>> import zero
        >>> x, one = zero.ones(2, 1, 1), zero.ones(2)
        >>> w, b = zero.nn.utils.fuse_conv_bn_weights(x, None, one, one * 4, 0, one, one)
        >>> w.flatten().tolist(), b.tolist()
        ([0.5, 0.5], [0.5, 0.5])
    """
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a linear layer that does what batch normalisation does after it.

    Args:
        linear_w: the layer's weight.
        linear_b: its bias, or None.
        bn_rm: the running mean.
        bn_rv: the running variance.
        bn_eps: what is added to it.
        bn_w: the normalisation's weight, or None.
        bn_b: its bias, or None.

    Example:
        >>> import zero
        >>> x, one = zero.ones(2, 1), zero.ones(2)
        >>> w, b = zero.nn.utils.fuse_linear_bn_weights(x, None, one, one * 4, 0, one, one)
        >>> w.flatten().tolist(), b.tolist()
        ([0.5, 0.5], [0.5, 0.5])
    """
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _checked(op: str, layer: Module, bn: Any) -> None:
    if layer.training or bn.training:
        raise ValueError(f"{op}: a layer is in training; expected eval() of both")
    if bn.running_mean is None or bn.running_var is None:
        raise ValueError(f"{op}: the normalisation has no running mean and variance")


def fuse_conv_bn_eval(conv: AnyModule, bn: Module, transpose: bool = False) -> AnyModule:
    """A convolution that does what it and the batch normalisation after it do in evaluation.

    Args:
        conv: the convolution; it is copied.
        bn: the batch normalisation.
        transpose: whether the convolution is a transposed one.

    Raises:
        ValueError: one of them is in training, or there are no running statistics.

    Example:
        >>> import zero
        >>> conv, bn = zero.nn.Conv2d(2, 3, 3).eval(), zero.nn.BatchNorm2d(3).eval()
        >>> x = zero.randn(1, 2, 5, 5)
        >>> fused = zero.nn.utils.fuse_conv_bn_eval(conv, bn)
        >>> zero.allclose(fused(x), bn(conv(x)), atol=1e-5)
        True
    """
    _checked("fuse_conv_bn_eval", conv, bn)
    fused: Any = copy.deepcopy(conv)
    norm: Any = bn
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight,
        fused.bias,
        norm.running_mean,
        norm.running_var,
        norm.eps,
        norm.weight,
        norm.bias,
        transpose,
    )
    result: AnyModule = fused
    return result


def fuse_linear_bn_eval(linear: AnyModule, bn: Module) -> AnyModule:
    """A linear layer that does what it and the batch normalisation after it do in evaluation.

    Args:
        linear: the layer; it is copied.
        bn: the batch normalisation, over as many features as the layer has outputs.

    Raises:
        ValueError: one of them is in training, there are no running statistics, or their number
            differs from that of the outputs.

    Example:
        >>> import zero
        >>> linear, bn = zero.nn.Linear(4, 3).eval(), zero.nn.BatchNorm1d(3).eval()
        >>> x = zero.randn(2, 4)
        >>> fused = zero.nn.utils.fuse_linear_bn_eval(linear, bn)
        >>> zero.allclose(fused(x), bn(linear(x)), atol=1e-6)
        True
    """
    _checked("fuse_linear_bn_eval", linear, bn)
    fused: Any = copy.deepcopy(linear)
    norm: Any = bn
    if norm.num_features not in (fused.out_features, 1):
        raise ValueError(
            f"fuse_linear_bn_eval: got {fused.out_features} outputs and a normalisation of "
            f"{norm.num_features}, expected the same number"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight,
        fused.bias,
        norm.running_mean,
        norm.running_var,
        norm.eps,
        norm.weight,
        norm.bias,
    )
    result: AnyModule = fused
    return result
