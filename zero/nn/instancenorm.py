"""Layers that bring the channels of each sample to a mean and a variance."""

from __future__ import annotations

import warnings

import zero
from zero import Tensor
from zero.errors import ShapeError
from zero.nn import functional as F
from zero.nn.batchnorm import _LazyNorm, _NormBase

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _channels(self, input: Tensor) -> int:
        """The dimension of the channels: the first one of an input without N."""
        return input.dim() - self._dimensions[0]

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        channels = input.shape[self._channels(input)]
        if channels != self.num_features:
            name = type(self).__name__
            text = (
                f"{name}: another number of channels; got input {tuple(input.shape)}, expected "
                f"{self.num_features}"
            )
            if self.affine:
                raise ShapeError(text)
            warnings.warn(text + ", but num_features is not used without affine", stacklevel=2)
        single = input.dim() == self._dimensions[0]
        y = F.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return y.squeeze(0) if single else y


class InstanceNorm1d(_InstanceNorm):
    """Brings each channel of each sample to mean 0 and variance 1: BatchNorm for batches of one.

    ``y = (x - m) / sqrt(v + eps) * weight + bias``, m and v the mean and variance of the channel in
    the sample. With `track_running_stats` evaluation uses the running averages of m and v instead.

    Args:
        num_features: the number of channels.
        eps: is added to the variance.
        momentum: the share of the new values in the running ones.
        affine: True adds a weight and a bias for each channel.
        track_running_stats: True adds a running mean and variance, for evaluation.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.
        bias: False leaves the bias out.

    Shape:
        input [N, C, L] or [C, L], output the same; weight, bias, running_mean, running_var [C]

    Raises:
        ValueError: channels of one value.
        ShapeError: the input has other dimensions, or channels.
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> zero.nn.InstanceNorm1d(2, eps=0)(zero.tensor([[[1.0, 3.0], [10.0, 30.0]]])).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]

    Source: Ulyanov, Vedaldi and Lempitsky, Instance normalization: the missing ingredient for fast
    stylization, 2016.
    """

    _dimensions = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """:class:`InstanceNorm1d` for images, [N, C, H, W] or [C, H, W]; the arguments are the same.

    Example:
        >>> import zero
        >>> y = zero.nn.InstanceNorm2d(3)(zero.randn(2, 3, 8, 8))
        >>> bool(y.mean((2, 3)).abs().max() < 1e-5)
        True
    """

    _dimensions = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """:class:`InstanceNorm1d` for volumes, [N, C, D, H, W] or [C, D, H, W]; the arguments are the
    same.

    Example:
        >>> import zero
        >>> zero.nn.InstanceNorm3d(3)(zero.randn(3, 2, 4, 4)).shape
        zero.Size([3, 2, 4, 4])
    """

    _dimensions = (4, 5)


class _LazyInstanceNorm(_LazyNorm, _InstanceNorm):
    def _channels(self, input: Tensor) -> int:
        return _InstanceNorm._channels(self, input)


class LazyInstanceNorm1d(_LazyInstanceNorm):
    """An :class:`InstanceNorm1d` that takes the number of its channels from the first input.

    Unlike there, `affine` and `track_running_stats` are True unless said otherwise.

    Example:
        >>> import zero
        >>> layer = zero.nn.LazyInstanceNorm1d()
        >>> y = layer(zero.randn(8, 3, 5))
        >>> layer.num_features
        3
    """

    cls_to_become = InstanceNorm1d
    _dimensions = InstanceNorm1d._dimensions


class LazyInstanceNorm2d(_LazyInstanceNorm):
    """An :class:`InstanceNorm2d` that takes the number of its channels from the first input.

    `affine` and `track_running_stats` are True unless said otherwise.
    """

    cls_to_become = InstanceNorm2d
    _dimensions = InstanceNorm2d._dimensions


class LazyInstanceNorm3d(_LazyInstanceNorm):
    """An :class:`InstanceNorm3d` that takes the number of its channels from the first input.

    `affine` and `track_running_stats` are True unless said otherwise.
    """

    cls_to_become = InstanceNorm3d
    _dimensions = InstanceNorm3d._dimensions
