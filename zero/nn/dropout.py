"""Dropout as layers."""

from __future__ import annotations

from zero import Tensor
from zero.nn import _options, functional as F
from zero.nn.module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self.p = _options.probability(type(self).__name__, "p", p)
        self.inplace = _options.flag(type(self).__name__, "inplace", inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Sets elements to 0 with probability p in training and divides the others by 1 - p.

    In evaluation mode it returns its input.

    Args:
        p: the probability of an element to be dropped.
        inplace: overwrite the input.

    Shape:
        input […], output the same

    Raises:
        ValueError: p is not in [0, 1].

    Example:
        >>> import zero
        >>> layer = zero.nn.Dropout(0.75)
        >>> sorted(set(layer(zero.ones(1000)).tolist()))
        [0.0, 4.0]
        >>> layer.eval()(zero.ones(2))
        tensor([1., 1.])

    Source: Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting,
    2014.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Dropout of whole channels of a sequence: all of ``input[n, c]`` is kept, or nothing.

    Args:
        p: the probability of a channel to be dropped.
        inplace: overwrite the input.

    Shape:
        input [N, C, L] or [C, L], output the same

    Raises:
        ValueError: p is not in [0, 1].

    Example:
        >>> import zero
        >>> x = zero.nn.Dropout1d(0.5)(zero.ones(4, 8, 3))
        >>> all(len(set(channel)) == 1 for sample in x.tolist() for channel in sample)
        True

    Source: Tompson et al., Efficient object localization using convolutional networks, 2015.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Dropout of whole channels of an image: all of ``input[n, c]`` is kept, or nothing.

    Args:
        p: the probability of a channel to be dropped.
        inplace: overwrite the input.

    Shape:
        input [N, C, H, W], output the same

    Raises:
        ValueError: p is not in [0, 1].

    Example:
        >>> import zero
        >>> zero.nn.Dropout2d(0.2)(zero.ones(4, 8, 3, 3)).shape
        zero.Size([4, 8, 3, 3])

    Source: as :class:`Dropout1d`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """Dropout of whole channels of a volume: all of ``input[n, c]`` is kept, or nothing.

    Args:
        p: the probability of a channel to be dropped.
        inplace: overwrite the input.

    Shape:
        input [N, C, D, H, W] or [C, D, H, W], output the same

    Raises:
        ValueError: p is not in [0, 1].

    Example:
        >>> import zero
        >>> zero.nn.Dropout3d(0.2)(zero.ones(4, 8, 3, 3, 3)).shape
        zero.Size([4, 8, 3, 3, 3])

    Source: as :class:`Dropout1d`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean 0 and variance 1, for networks of SELU units.

    In training elements are set, with probability p, to -1.7581, the limit of selu to the left;
    then all are scaled and moved. In evaluation mode it returns its input.

    Args:
        p: the probability of an element to be dropped.
        inplace: overwrite the input.

    Shape:
        input […], output the same

    Raises:
        ValueError: p is not in [0, 1].

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> y = zero.nn.AlphaDropout(0.3)(zero.randn(100_000))
        >>> abs(y.mean().item()) < 0.02, abs(y.var().item() - 1) < 0.03
        (True, True)

    Source: Klambauer et al., Self-normalizing neural networks, 2017.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_Dropout):
    """:class:`AlphaDropout` of whole channels: all of ``input[n, c]`` is kept, or nothing.

    Args:
        p: the probability of a channel to be dropped.
        inplace: overwrite the input.

    Shape:
        input [N, C, ...], output the same

    Raises:
        ValueError: p is not in [0, 1].
        ShapeError: fewer than two dimensions.

    Example:
        >>> import zero
        >>> zero.nn.FeatureAlphaDropout(0.5)(zero.zeros(4, 8, 3, 3)).shape
        zero.Size([4, 8, 3, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)
