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
    cross_entropy,
    layer_norm,
    linear,
    nll_loss,
    rms_norm,
    sigmoid,
    tanh,
)
from zero.errors import ShapeError
from zero.nn._norms import batch_norm, instance_norm, local_response_norm
from zero.nn._padding import pad
from zero.nn._pointwise import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_similarity,
    huber_loss,
    kl_div,
    l1_loss,
    normalize,
    one_hot,
    smooth_l1_loss,
    softplus,
)
from zero.nn._pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
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
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "grid_sample",
    "group_norm",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "linear",
    "local_response_norm",
    "log_softmax",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mse_loss",
    "native_channel_shuffle",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pixel_shuffle",
    "pixel_unshuffle",
    "relu",
    "relu_",
    "rms_norm",
    "sigmoid",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "tanh",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

TYPE_CHECKING = False
if not TYPE_CHECKING:  # else any name would do
    __getattr__ = _later.missing(__name__)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0), element by element.

    Args:
        input: any shape.
        inplace: overwrite the input and return it.

    Example:
        >>> import zero
        >>> zero.nn.functional.relu(zero.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return zero.relu_(input) if inplace else zero.relu(input)


def relu_(input: Tensor) -> Tensor:
    """:func:`relu` that overwrites its input."""
    return zero.relu_(input)


def _implicit_dim(op: str, input: Tensor, stacklevel: int) -> int:
    if not isinstance(input, Tensor):
        raise TypeError(f"{op}: input is not a Tensor; got {type(input).__name__}")
    ndim = input.dim()
    dim = 0 if ndim in (0, 1, 3) else 1
    warnings.warn(
        f"{op}: dim is not given; dim={dim} is taken for {ndim} dimensions. Say dim=…: the rule is "
        "kept for old programs only",
        stacklevel=stacklevel,
    )
    return dim


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


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: zero.dtype | None = None
) -> Tensor:
    """exp(input) divided by its sum along a dimension; large values don't overflow.

    Args:
        input: any shape.
        dim: along which results sum to 1. None takes 0 for 0, 1 and 3 dimensions, else 1, and
            warns.
        dtype: to cast the input to first.

    Example:
        >>> import zero
        >>> zero.nn.functional.softmax(zero.tensor([0.0, 0.0, 1000.0]), dim=0)
        tensor([0., 0., 1.])
    """
    if dim is None:
        dim = _implicit_dim("softmax", input, _stacklevel)
    return zero.softmax(input, dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: zero.dtype | None = None
) -> Tensor:
    """The logarithm of :func:`softmax`, exact where the softmax itself would round to 0.

    Args:
        input: any shape.
        dim: along which exp of the results sums to 1. None: as in softmax.
        dtype: to cast the input to first.

    Example:
        >>> import zero
        >>> zero.nn.functional.log_softmax(zero.tensor([0.0, 1000.0]), dim=0)
        tensor([-1000.,     0.])
    """
    if dim is None:
        dim = _implicit_dim("log_softmax", input, _stacklevel)
    return zero.log_softmax(input, dim, dtype=dtype)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Squared error, (input - target)².

    Args:
        input: predictions, any shape.
        target: of the same shape; another one is broadcast with a warning.
        size_average: old form of reduction.
        reduce: old form of reduction.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import zero
        >>> zero.nn.functional.mse_loss(zero.tensor([1.0, 2.0]), zero.tensor([1.0, 4.0]))
        tensor(2.)
    """
    tensors = isinstance(input, Tensor) and isinstance(target, Tensor)  # else mse_loss objects
    if tensors and input.shape != target.shape:
        warnings.warn(
            f"mse_loss: broadcasts; got input {tuple(input.shape)} and target "
            f"{tuple(target.shape)}, expected the same shape: pairs that don't belong together "
            "would count",
            stacklevel=2,
        )
    return zero.mse_loss(input, target, size_average, reduce, reduction)


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
