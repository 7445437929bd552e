"""Layers that bring the channels of a batch to a mean and a variance."""

from __future__ import annotations

import zero
from zero import Parameter, Tensor
from zero.errors import ShapeError
from zero.nn import _options, functional as F, init
from zero.nn.lazy import (
    LazyModuleMixin,
    UninitializedBuffer,
    UninitializedParameter,
    UninitializedTensorMixin,
)
from zero.nn.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
]


class _NormBase(Module):
    """Weight and bias of each channel, and its running mean and variance; each may be absent."""

    _version = 2  # 1 had no num_batches_tracked
    _dimensions: tuple[int, ...] = ()  # that inputs may have

    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        layer = type(self).__name__
        self.num_features = _options.size(layer, "num_features", num_features)
        self.eps = eps
        self.momentum = momentum
        self.affine = _options.flag(layer, "affine", affine)
        self.track_running_stats = _options.flag(layer, "track_running_stats", track_running_stats)
        has_bias = _options.flag(layer, "bias", bias)
        for name, present in (("weight", self.affine), ("bias", self.affine and has_bias)):
            value = self._parameter(device, dtype) if present else None
            self.register_parameter(name, value)
        tracked = self.track_running_stats
        for name in ("running_mean", "running_var"):
            self.register_buffer(name, self._buffer(device, dtype) if tracked else None)
        count = zero.tensor(0, dtype=zero.int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def _parameter(self, device: zero.device | str | None, dtype: zero.dtype | None) -> Parameter:
        return Parameter(zero.empty(self.num_features, device=device, dtype=dtype))

    def _buffer(self, device: zero.device | str | None, dtype: zero.dtype | None) -> Tensor:
        return zero.empty(self.num_features, device=device, dtype=dtype)

    def reset_running_stats(self) -> None:
        """Sets the running mean to 0, the running variance to 1 and the count of batches to 0."""
        if self.track_running_stats:
            assert self.running_mean is not None and self.running_var is not None
            assert self.num_batches_tracked is not None
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Sets weights to 1, biases to 0, and the running statistics to what they start as."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self._dimensions:
            expected = " or ".join(map(str, self._dimensions))
            raise ShapeError(
                f"{type(self).__name__}: got an input of shape {tuple(input.shape)}, expected "
                f"{expected} dimensions"
            )

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *lists: Any
    ) -> None:
        key = prefix + "num_batches_tracked"
        if local_metadata.get("version", 1) < 2 and key not in state_dict:
            count = self.num_batches_tracked
            if self.track_running_stats and count is not None:
                meta = count.device.type == "meta"
                state_dict[key] = zero.tensor(0) if meta else count
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *lists)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        mean, var, count = self.running_mean, self.running_var, self.num_batches_tracked
        training = self.training or (mean is None and var is None)
        momentum = 0.0 if self.momentum is None else self.momentum
        if not self.training:
            count = None
        elif not self.track_running_stats:
            mean = var = count = None
        elif count is not None and self.momentum is None and not count.is_meta:
            # The average of all batches.
            momentum = 1 / (int(count) + 1)
        y = F.batch_norm(input, mean, var, self.weight, self.bias, training, momentum, self.eps)
        if count is not None:
            count.add_(1)
        return y


class BatchNorm1d(_BatchNorm):
    """Brings each channel of a batch to mean 0 and variance 1, then multiplies and moves it.

    ``y = (x - m) / sqrt(v + eps) * weight + bias``. In training m and v are the mean and variance
    of the batch, and the running ones, buffers of the layer, move towards them:
    ``running = (1 - momentum) * running + momentum * new``, the variance divided by n - 1. In
    evaluation m and v are the running ones.

    Args:
        num_features: the number of channels.
        eps: is added to the variance.
        momentum: the share of the new values; None for the plain average of all batches.
        affine: False leaves weight and bias out.
        track_running_stats: False leaves the running mean and variance out; those of the batch are
            then used in evaluation, too.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.
        bias: False leaves the bias out.

    Shape:
        input [N, C] or [N, C, L], output the same; weight, bias, running_mean, running_var [C]

    Raises:
        ValueError: there is one value per channel, or eps is not positive, in training.
        ShapeError: the input has other dimensions.
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> layer = zero.nn.BatchNorm1d(2, eps=1e-12)
        >>> layer(zero.tensor([[1.0, 10.0], [3.0, 30.0]])).tolist()
        [[-1.0, -1.0], [1.0, 1.0]]
        >>> layer.running_mean
        tensor([0.2000, 2.0000])

    Source: Ioffe and Szegedy, Batch normalization: accelerating deep network training by reducing
    internal covariate shift, 2015.
    """

    _dimensions = (2, 3)


class BatchNorm2d(_BatchNorm):
    """:class:`BatchNorm1d` for images: mean and variance of a channel are those of all its places.

    Args:
        num_features: the number of channels.
        eps: is added to the variance.
        momentum: the share of the new values; None for the plain average of all batches.
        affine: False leaves weight and bias out.
        track_running_stats: False leaves the running mean and variance out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.
        bias: False leaves the bias out.

    Shape:
        input [N, C, H, W], output the same; weight, bias, running_mean, running_var [C]

    Raises:
        ValueError: there is one value per channel, or eps is not positive, in training.
        ShapeError: the input has other dimensions.
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> y = zero.nn.BatchNorm2d(3)(zero.randn(4, 3, 8, 8))
        >>> bool(y.mean((0, 2, 3)).abs().max() < 1e-5)
        True
    """

    _dimensions = (4,)


class BatchNorm3d(_BatchNorm):
    """:class:`BatchNorm2d` for volumes, [N, C, D, H, W]; the arguments are the same.

    Example:
        >>> import zero
        >>> zero.nn.BatchNorm3d(3)(zero.randn(2, 3, 4, 4, 4)).shape
        zero.Size([2, 3, 4, 4, 4])
    """

    _dimensions = (5,)


class _LazyNorm(LazyModuleMixin, _NormBase):
    """The number of channels is that of the first input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _parameter(self, device: zero.device | str | None, dtype: zero.dtype | None) -> Parameter:
        return UninitializedParameter(True, device, dtype)

    def _buffer(self, device: zero.device | str | None, dtype: zero.dtype | None) -> Tensor:
        return UninitializedBuffer(False, device, dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        tensors = (self.weight, self.bias, self.running_mean, self.running_var)
        members = [member for member in tensors if member is not None]
        lazy = [member for member in members if isinstance(member, UninitializedTensorMixin)]
        if lazy or not members:
            self._check_input_dim(input)
            self.num_features = input.shape[self._channels(input)]
        elif self.num_features == 0:  # they came from a state_dict
            self.num_features = members[0].shape[0]
        for member in lazy:
            member.materialize((self.num_features,))
        if lazy:
            self.reset_parameters()

    def _channels(self, input: Tensor) -> int:
        return 1


class LazyBatchNorm1d(_LazyNorm, _BatchNorm):
    """A :class:`BatchNorm1d` that takes the number of its channels from the first input.

    Example:
        >>> import zero
        >>> layer = zero.nn.LazyBatchNorm1d()
        >>> y = layer(zero.randn(8, 3))
        >>> layer
        BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    cls_to_become = BatchNorm1d
    _dimensions = BatchNorm1d._dimensions


class LazyBatchNorm2d(_LazyNorm, _BatchNorm):
    """A :class:`BatchNorm2d` that takes the number of its channels from the first input."""

    cls_to_become = BatchNorm2d
    _dimensions = BatchNorm2d._dimensions


class LazyBatchNorm3d(_LazyNorm, _BatchNorm):
    """A :class:`BatchNorm3d` that takes the number of its channels from the first input."""

    cls_to_become = BatchNorm3d
    _dimensions = BatchNorm3d._dimensions
