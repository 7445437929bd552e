"""Layers that bring parts of their input to a mean and a variance."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Parameter, Tensor
from zero.errors import ShapeError, ValueError
from zero.nn import _options, functional as F, init
from zero.nn.module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LocalResponseNorm(Module):
    """Divides each channel by a power of the squares of the channels around it.

    ``y = x / (k + alpha * mean)^beta``, mean the sum of the squares of `size` channels, as far as
    they exist, divided by `size`.

    Args:
        size: how many channels; of an even number one more lies in front than behind.
        alpha: the factor of the mean.
        beta: the exponent.
        k: is added to the mean.

    Shape:
        input [N, C, L, ...], output the same

    Raises:
        DTypeError: size is no int.
        ShapeError: the input has fewer than 3 dimensions.

    Example:
        >>> import zero
        >>> zero.nn.LocalResponseNorm(2)(zero.randn(4, 3, 5, 5)).shape
        zero.Size([4, 3, 5, 5])

    Source: Krizhevsky, Sutskever and Hinton, ImageNet classification with deep convolutional neural
    networks, 2012.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        self.size = _options.size(type(self).__name__, "size", size)
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """:class:`LocalResponseNorm` of images, with the same number of channels in front and behind.

    The window has ``(size - 1) // 2`` channels on both sides; the sum is divided by `size`.

    Args:
        size: how many channels.
        alpha: the factor of the mean.
        beta: the exponent.
        k: is added to the mean.

    Shape:
        input [N, C, H, W], output the same

    Raises:
        DTypeError: size is no int.
        ShapeError: the input does not have 4 dimensions.

    Example:
        >>> import zero
        >>> zero.nn.CrossMapLRN2d(3)(zero.randn(4, 3, 5, 5)).shape
        zero.Size([4, 3, 5, 5])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ShapeError(
                f"CrossMapLRN2d: got an input of shape {tuple(input.shape)}, expected 4 dimensions"
            )
        if self.size % 2 == 1:
            return super().forward(input)
        # One channel less in the sum, but divided by the same number.
        alpha = self.alpha * (self.size - 1) / self.size
        return F.local_response_norm(input, self.size - 1, alpha, self.beta, self.k)


class _Norm(Module):
    """The weight, which starts as ones, and the bias, as zeros; either may be absent."""

    weight: Parameter | None
    bias: Parameter | None

    def _add_parameters(
        self,
        shape: tuple[int, ...],
        names: dict[str, bool],
        device: zero.device | str | None,
        dtype: zero.dtype | None,
    ) -> None:
        for name, present in names.items():
            value = Parameter(zero.empty(shape, device=device, dtype=dtype)) if present else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        bias = self._parameters.get("bias")
        if bias is not None:
            init.zeros_(bias)


def _sizes(layer: str, given: int | Sequence[int]) -> tuple[int, ...]:
    sizes = given if isinstance(given, (tuple, list)) else (given,)
    return tuple(_options.size(layer, "normalized_shape", n) for n in sizes)


class LayerNorm(_Norm):
    """Brings the last dimensions to mean 0 and variance 1: ``y = (x - E[x]) / sqrt(Var[x] + eps)``.

    Then y is multiplied by the weight and the bias is added, one for each element of a row.

    Args:
        normalized_shape: the sizes of the last dimensions, an int or a tuple of ints.
        eps: is added to the variance.
        elementwise_affine: False leaves weight and bias out.
        bias: False leaves the bias out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input […, normalized_shape], output the same; weight and bias normalized_shape

    Raises:
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> layer = zero.nn.LayerNorm(2, eps=0)
        >>> layer(zero.tensor([[1.0, 3.0], [10.0, 30.0]])).tolist()
        [[-1.0, 1.0], [-1.0, 1.0]]

    Source: Ba, Kiros and Hinton, Layer normalization, 2016.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        self.normalized_shape = _sizes("LayerNorm", normalized_shape)
        self.eps = eps
        affine = _options.flag("LayerNorm", "elementwise_affine", elementwise_affine)
        self.elementwise_affine = affine
        names = {"weight": affine, "bias": affine and _options.flag("LayerNorm", "bias", bias)}
        self._add_parameters(self.normalized_shape, names, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(_Norm):
    """Divides the last dimensions by their root mean square: ``y = x / sqrt(E[x^2] + eps)``.

    Then y is multiplied by the weight, one for each element of a row.

    Args:
        normalized_shape: the sizes of the last dimensions, an int or a tuple of ints.
        eps: is added to the mean square; None is the machine epsilon of the input's dtype.
        elementwise_affine: False leaves the weight out.
        device: where the parameter is.
        dtype: of the parameter; the default dtype if None.

    Shape:
        input […, normalized_shape], output the same; weight normalized_shape

    Raises:
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> zero.nn.RMSNorm(2, eps=0)(zero.tensor([[3.0, 3.0], [-5.0, 5.0]])).tolist()
        [[1.0, 1.0], [-1.0, 1.0]]

    Source: Zhang and Sennrich, Root mean square layer normalization, 2019.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        self.normalized_shape = _sizes("RMSNorm", normalized_shape)
        self.eps = eps
        affine = _options.flag("RMSNorm", "elementwise_affine", elementwise_affine)
        self.elementwise_affine = affine
        self._add_parameters(self.normalized_shape, {"weight": affine}, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(_Norm):
    """Brings each group of channels of a sample to mean 0 and variance 1, as LayerNorm does rows.

    Then each channel is multiplied by its weight and its bias is added.

    Args:
        num_groups: how many groups the channels make.
        num_channels: of the input, a multiple of `num_groups`.
        eps: is added to the variance.
        affine: False leaves weight and bias out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.
        bias: False leaves the bias out.

    Shape:
        input [N, C, …], output the same; weight and bias [C]

    Raises:
        ValueError: the channels do not divide into groups.
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> zero.nn.GroupNorm(2, 4, eps=0)(zero.tensor([[1.0, 3.0, 10.0, 30.0]])).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]

    Source: Wu and He, Group normalization, 2018.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        self.num_groups = _options.size("GroupNorm", "num_groups", num_groups)
        self.num_channels = _options.size("GroupNorm", "num_channels", num_channels)
        if self.num_groups == 0 or self.num_channels % self.num_groups != 0:
            raise ValueError(
                f"GroupNorm: the channels do not divide into groups; got {num_channels} channels "
                f"and num_groups {num_groups}, expected a divisor of {num_channels}"
            )
        self.eps = eps
        self.affine = _options.flag("GroupNorm", "affine", affine)
        names = {"weight": affine, "bias": affine and _options.flag("GroupNorm", "bias", bias)}
        self._add_parameters((self.num_channels,), names, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )
