"""Layers that multiply by a matrix."""

from __future__ import annotations

from math import sqrt

import zero
from zero import Parameter, Tensor
from zero.nn import _options
from zero.nn.functional import linear
from zero.nn.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Identity", "Linear"]


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
        input [*, in], output [*, out]; weight [out, in], bias [out]

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
