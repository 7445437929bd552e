"""Layers and losses as functions, with PyTorch's names and arguments."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import zero
from zero import (
    Tensor,
    _later,
    bilinear,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    cosine_similarity,
    cross_entropy,
    layer_norm,
    linear,
    nll_loss,
    pairwise_distance,
    pdist,
    rms_norm,
    sigmoid,
    tanh,
)
from zero.errors import ShapeError
from zero.nn._activations import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    glu,
    gumbel_softmax,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanhshrink,
    threshold,
    threshold_,
)
from zero.nn._attention import scaled_dot_product_attention
from zero.nn._avg_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
)
from zero.nn._classes import (
    ctc_loss,
    linear_cross_entropy,
)
from zero.nn._margins import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from zero.nn._max_pooling import (
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from zero.nn._multihead import (
    _canonical_mask as _canonical_mask,
    _in_projection_packed as _in_projection_packed,
    _none_or_dtype as _none_or_dtype,
    multi_head_attention_forward,
)
from zero.nn._norms import batch_norm, instance_norm, local_response_norm
from zero.nn._padding import pad
from zero.nn._pointwise import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    normalize,
    one_hot,
    poisson_nll_loss,
    smooth_l1_loss,
)
from zero.nn._resampling import (
    affine_grid,
    channel_shuffle,
    grid_sample,
    interpolate,
    native_channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from zero.nn._tables import embedding, embedding_bag
from zero.nn._windows import fold, unfold

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "native_channel_shuffle",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

TYPE_CHECKING = False
if not TYPE_CHECKING:  # else any name would do
    __getattr__ = _later.missing(__name__)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """:func:`zero.group_norm`, which refuses a single element in each group: it would become 0.

    Args:
        input: shape [N, C, ...], of floats.
        num_groups: how many groups the channels make; a divisor of C.
        weight: of shape [C], or None.
        bias: likewise.
        eps: is added to the variance.

    Raises:
        ValueError: there is one sample, with one element in each group.
        ShapeError: the shapes do not fit, or the channels do not divide into groups.
        DTypeError: the input is not floating point, or the dtypes differ.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 3.0, 10.0, 30.0]])
        >>> zero.nn.functional.group_norm(x, 2, eps=0).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """
    if input.dim() > 1 and input.numel() == num_groups > 0:
        raise ValueError(
            f"group_norm: one element in each group; got input {tuple(input.shape)} and "
            f"num_groups {num_groups}, expected two or more"
        )
    return zero.group_norm(input, num_groups, weight, bias, eps)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets elements to 0 with probability p and divides the others by 1 - p.

    Args:
        input: tensor of floats, any shape.
        p: the probability.
        training: False returns the input itself.
        inplace: overwrite the input and return it.

    Raises:
        ValueError: p is not in [0, 1].

    Example:
        >>> import zero
        >>> x = zero.nn.functional.dropout(zero.ones(1000), p=0.75)
        >>> sorted(set(x.tolist()))
        [0.0, 4.0]
    """
    return zero.dropout_(input, p, training) if inplace else zero.dropout(input, p, training)


def _drop_channels(
    op: str, input: Tensor, p: float, training: bool, inplace: bool, spatial: int
) -> Tensor:
    batched = input.dim() == spatial + 2
    if not batched and input.dim() != spatial + 1:
        raise ShapeError(
            f"{op}: got an input of shape {tuple(input.shape)}, expected {spatial + 2} dimensions "
            f"[N, C, …], or {spatial + 1} without N"
        )
    dropped = zero.feature_dropout_ if inplace else zero.feature_dropout
    y = dropped(input if batched else input.unsqueeze(0), p, training)
    if batched:
        return y
    return input if inplace else y.squeeze(0)


def _drop_to_alpha(
    op: str, input: Tensor, p: float, training: bool, inplace: bool, shape: Sequence[int]
) -> Tensor:
    """Dropout to the value that selu has at minus infinity, then scaled and moved so that
    mean 0 and variance 1 stay: y = a (x d + alpha (d - 1)) + b with d = 1 where x is kept."""
    if not 0 <= p <= 1:
        raise ValueError(f"{op}: p is no probability; got {p}, expected 0 <= p <= 1")
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    low = 1.7580993408473766  # minus the limit: scale times alpha of selu
    a = 1 / math.sqrt((low * low * p + 1) * (1 - p))
    with zero.no_grad():
        kept = zero.empty(shape, dtype=input.dtype, device=input.device).bernoulli_(1 - p)
        moved = (kept - 1) * (a * low) + a * low * p
        kept *= a
    if inplace:
        return input.mul_(kept).add_(moved)
    return input * kept + moved


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for networks of SELU units.

    Elements are set, with probability p, to -1.7581, the limit of selu to the left; then all are
    scaled and moved.

    Args:
        input: tensor of floats, any shape.
        p: the probability.
        training: False returns the input itself.
        inplace: overwrite the input and return it.

    Raises:
        ValueError: p is not in [0, 1].

    Example:
        >>> import zero
        >>> x = zero.nn.functional.alpha_dropout(zero.zeros(1000), p=0.5, training=True)
        >>> len(set(x.tolist()))
        2

    Source: Klambauer et al., Self-normalizing neural networks, 2017.
    """
    return _drop_to_alpha("alpha_dropout", input, p, training, inplace, input.shape)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """:func:`alpha_dropout` of whole channels: all of ``input[n, c]`` is kept, or nothing.

    Args:
        input: tensor of floats, [N, C, ...].
        p: the probability of a channel to be dropped.
        training: False returns the input itself.
        inplace: overwrite the input and return it.

    Raises:
        ShapeError: fewer than two dimensions.
        ValueError: p is not in [0, 1].

    Example:
        >>> import zero
        >>> x = zero.zeros(1, 8, 3)
        >>> y = zero.nn.functional.feature_alpha_dropout(x, p=0.5, training=True)
        >>> all(len(set(channel)) == 1 for channel in y[0].tolist())
        True
    """
    op = "feature_alpha_dropout"
    if input.dim() < 2:
        raise ShapeError(
            f"{op}: input has no channels; got {tuple(input.shape)}, expected at least 2 "
            "dimensions [N, C, ...]"
        )
    shape = (*input.shape[:2], *(1 for _ in input.shape[2:]))
    return _drop_to_alpha(op, input, p, training, inplace, shape)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """:func:`dropout` of whole channels, [N, C, L] or [C, L]."""
    return _drop_channels("dropout1d", input, p, training, inplace, 1)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """:func:`dropout` of whole channels, [N, C, H, W].

    As in PyTorch three dimensions are taken for [N, C, L], with a warning.
    """
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: got 3 dimensions, which are taken for [N, C, L]; say dropout1d for that, "
            "or input.unsqueeze(0) for an image without N",
            stacklevel=2,
        )
        return _drop_channels("dropout2d", input, p, training, inplace, 1)
    return _drop_channels("dropout2d", input, p, training, inplace, 2)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """:func:`dropout` of whole channels, [N, C, D, H, W] or [C, D, H, W]."""
    return _drop_channels("dropout3d", input, p, training, inplace, 3)
