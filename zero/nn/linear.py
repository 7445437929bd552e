"""Layers that multiply by a matrix."""

from __future__ import annotations

from math import sqrt

import zero
from zero import Parameter, Tensor
from zero.errors import ValueError
from zero.nn import _options, init
from zero.nn.functional import linear
from zero.nn.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Returns its input; takes the place of a layer. Arguments of any kind are ignored.

    Example:
        >>> import zero
        >>> zero.nn.Identity(54, unused=1)(zero.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """An affine map of the last dimension: ``y = x @ weight.T + bias``.

    The weight starts as ``randn([out, in]) * sqrt(2 / in)``, which keeps the size of the signal
    from layer to layer under ReLU, and the bias as zero (He et al., "Delving Deep into Rectifiers",
    2015). This is zero's own choice: PyTorch draws both from U(-1/sqrt(in), 1/sqrt(in)). For its
    start::

        bound = layer.in_features ** -0.5
        for parameter in layer.parameters():
            parameter.data.copy_(zero.rand(parameter.shape) * (2 * bound) - bound)

    Args:
        in_features: size of the input's last dimension.
        out_features: size of the output's.
        bias: False leaves the bias out; the attribute is then None.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Raises:
        DTypeError, ShapeError: a size is no int, or negative; bias is no bool.

    Shape:
        input […, in], output […, out]; weight [out, in], bias [out]

    Example:
        >>> import zero
        >>> layer = zero.nn.Linear(20, 30)
        >>> layer(zero.randn(128, 20)).shape
        zero.Size([128, 30])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        self.in_features = _options.size("Linear", "in_features", in_features)
        self.out_features = _options.size("Linear", "out_features", out_features)
        self.weight = Parameter(
            zero.empty((self.out_features, self.in_features), device=device, dtype=dtype)
        )
        if _options.flag("Linear", "bias", bias):
            self.bias = Parameter(zero.empty((self.out_features,), device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the weight anew and sets the bias to zero."""
        scale = sqrt(2 / max(self.in_features, 1))
        with zero.no_grad():
            self.weight.copy_(zero.randn_like(self.weight).mul_(scale))
            if self.bias is not None:
                self.bias.zero_()

    def forward(self, input: Tensor) -> Tensor:
        parameters: dict[str, Any] = self._parameters
        try:  # self.weight would look in three other places first: 0.3 µs each
            return linear(input, parameters["weight"], parameters["bias"])
        except KeyError:  # deleted, and given back as something else than a Parameter
            return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={bias}"


class NonDynamicallyQuantizableLinear(Linear):
    """The last projection of :class:`MultiheadAttention`, under PyTorch's name for it.

    It is a :class:`Linear` that starts as PyTorch's, from U(-1/sqrt(in), 1/sqrt(in)) with zeros for
    the bias: no ReLU follows it.

    Args:
        in_features: size of the input's last dimension.
        out_features: size of the output's.
        bias: False leaves the bias out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Example:
        >>> import zero
        >>> attention = zero.nn.MultiheadAttention(4, 2)
        >>> attention.out_proj
        NonDynamicallyQuantizableLinear(in_features=4, out_features=4, bias=True)
    """

    def reset_parameters(self) -> None:
        """Draws the weight anew and sets the bias to zero."""
        bound = 1 / sqrt(max(self.in_features, 1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.zeros_(self.bias)


class Bilinear(Module):
    """A map of two inputs that is affine in each: ``y[k] = x1 @ weight[k] @ x2 + bias[k]``.

    Weight and bias start as draws from U(-1/sqrt(in1), 1/sqrt(in1)).

    Args:
        in1_features: size of the last dimension of the first input.
        in2_features: that of the second one.
        out_features: that of the output.
        bias: False leaves the bias out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        inputs […, in1] and […, in2], output […, out]; weight [out, in1, in2], bias [out]

    Raises:
        DTypeError, ShapeError: a size is no int, or negative; bias is no bool.
        ValueError: in1_features is 0.

    Example:
        >>> import zero
        >>> layer = zero.nn.Bilinear(20, 30, 40)
        >>> layer(zero.randn(128, 20), zero.randn(128, 30)).shape
        zero.Size([128, 40])
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        self.in1_features = _options.size("Bilinear", "in1_features", in1_features)
        self.in2_features = _options.size("Bilinear", "in2_features", in2_features)
        self.out_features = _options.size("Bilinear", "out_features", out_features)
        if self.in1_features == 0:
            raise ValueError("Bilinear: in1_features is 0, expected 1 or more")
        sizes = (self.out_features, self.in1_features, self.in2_features)
        self.weight = Parameter(zero.empty(sizes, device=device, dtype=dtype))
        value = None
        if _options.flag("Bilinear", "bias", bias):
            value = Parameter(zero.empty((self.out_features,), device=device, dtype=dtype))
        self.register_parameter("bias", value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias anew."""
        bound = 1 / sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return zero.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
