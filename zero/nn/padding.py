"""Layers that pad."""

from __future__ import annotations

from collections.abc import Sequence

from zero import Tensor
from zero.errors import ShapeError
from zero.nn import _options, functional as F
from zero.nn.module import Module

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    """The amounts for a number of dimensions, and the mode of F.pad."""

    padding: tuple[int, ...]
    _dims: int
    _mode: str

    def __init__(self, padding: int | Sequence[int]) -> None:
        self.padding = _options.numbers(type(self).__name__, "padding", padding, 2 * self._dims)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    value: float

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _CircularPad(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise ShapeError(
                f"{type(self).__name__}: wrong number of dimensions; got {tuple(input.shape)}, "
                f"expected {self._dims + 1} or {self._dims + 2}"
            )
        return super().forward(input)


class ConstantPad1d(_ConstantPad):
    """Adds elements of one value around the last dimension.

    Args:
        padding: how many: an int for both sides, or (left, right); negative numbers cut elements
            off.
        value: the value.

    Shape:
        input any with that many dimensions

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ConstantPad1d((1, 2), 9.0)(zero.tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[9.0, 1.0, 2.0, 3.0, 9.0, 9.0]]]
    """

    _dims = 1


class ConstantPad2d(_ConstantPad):
    """Adds elements of one value around the last two dimensions.

    Args:
        padding: how many: an int for all sides, or (left, right, top, bottom); negative
            numbers cut elements off.
        value: the value.

    Shape:
        input any with that many dimensions

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ConstantPad2d(1, 0.0)(zero.ones(1, 1, 3, 3)).shape
        zero.Size([1, 1, 5, 5])
    """

    _dims = 2


class ConstantPad3d(_ConstantPad):
    """Adds elements of one value around the last three dimensions.

    Args:
        padding: how many: an int for all sides, or
            (left, right, top, bottom, front, back); negative numbers cut elements off.
        value: the value.

    Shape:
        input any with that many dimensions

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ConstantPad3d(1, 0.0)(zero.ones(1, 1, 3, 3, 3)).shape
        zero.Size([1, 1, 5, 5, 5])
    """

    _dims = 3


class ZeroPad1d(ConstantPad1d):
    """Adds zeros around the last dimension.

    Args:
        padding: how many: an int for both sides, or (left, right); negative numbers cut elements
            off.

    Shape:
        input any with that many dimensions

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ZeroPad1d((1, 2))(zero.tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[0.0, 1.0, 2.0, 3.0, 0.0, 0.0]]]
    """

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Adds zeros around the last two dimensions.

    Args:
        padding: how many: an int for all sides, or (left, right, top, bottom); negative
            numbers cut elements off.

    Shape:
        input any with that many dimensions

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ZeroPad2d(1)(zero.ones(1, 1, 3, 3)).shape
        zero.Size([1, 1, 5, 5])
    """

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Adds zeros around the last three dimensions.

    Args:
        padding: how many: an int for all sides, or
            (left, right, top, bottom, front, back); negative numbers cut elements off.

    Shape:
        input any with that many dimensions

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ZeroPad3d(1)(zero.ones(1, 1, 3, 3, 3)).shape
        zero.Size([1, 1, 5, 5, 5])
    """

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReflectionPad1d(_Pad):
    """Adds elements around the last dimension: those beyond the border in reverse order.

    Args:
        padding: how many: an int for both sides, or (left, right); negative numbers cut elements
            off.
            At most one less than the size.

    Shape:
        input [N, C, L] or [C, L]

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ReflectionPad1d((1, 2))(zero.tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[2.0, 1.0, 2.0, 3.0, 2.0, 1.0]]]
    """

    _dims = 1
    _mode = "reflect"


class ReflectionPad2d(_Pad):
    """Adds elements around the last two dimensions: those beyond the border in reverse order.

    Args:
        padding: how many: an int for all sides, or (left, right, top, bottom); negative
            numbers cut elements off.
            At most one less than the size.

    Shape:
        input [N, C, H, W] or [C, H, W]

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ReflectionPad2d(1)(zero.ones(1, 1, 3, 3)).shape
        zero.Size([1, 1, 5, 5])
    """

    _dims = 2
    _mode = "reflect"


class ReflectionPad3d(_Pad):
    """Adds elements around the last three dimensions: those beyond the border in reverse order.

    Args:
        padding: how many: an int for all sides, or
            (left, right, top, bottom, front, back); negative numbers cut elements off.
            At most one less than the size.

    Shape:
        input [N, C, D, H, W] or [C, D, H, W]

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ReflectionPad3d(1)(zero.ones(1, 1, 3, 3, 3)).shape
        zero.Size([1, 1, 5, 5, 5])
    """

    _dims = 3
    _mode = "reflect"


class ReplicationPad1d(_Pad):
    """Adds elements around the last dimension: those on the border, repeated.

    Args:
        padding: how many: an int for both sides, or (left, right); negative numbers cut elements
            off.

    Shape:
        input [N, C, L] or [C, L]

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ReplicationPad1d((1, 2))(zero.tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[1.0, 1.0, 2.0, 3.0, 3.0, 3.0]]]
    """

    _dims = 1
    _mode = "replicate"


class ReplicationPad2d(_Pad):
    """Adds elements around the last two dimensions: those on the border, repeated.

    Args:
        padding: how many: an int for all sides, or (left, right, top, bottom); negative
            numbers cut elements off.

    Shape:
        input [N, C, H, W] or [C, H, W]

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ReplicationPad2d(1)(zero.ones(1, 1, 3, 3)).shape
        zero.Size([1, 1, 5, 5])
    """

    _dims = 2
    _mode = "replicate"


class ReplicationPad3d(_Pad):
    """Adds elements around the last three dimensions: those on the border, repeated.

    Args:
        padding: how many: an int for all sides, or
            (left, right, top, bottom, front, back); negative numbers cut elements off.

    Shape:
        input [N, C, D, H, W] or [C, D, H, W]

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.ReplicationPad3d(1)(zero.ones(1, 1, 3, 3, 3)).shape
        zero.Size([1, 1, 5, 5, 5])
    """

    _dims = 3
    _mode = "replicate"


class CircularPad1d(_CircularPad):
    """Adds elements around the last dimension: those at the other end.

    Args:
        padding: how many: an int for both sides, or (left, right); negative numbers cut elements
            off.
            At most the size.

    Shape:
        input [N, C, L] or [C, L]

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.CircularPad1d((1, 2))(zero.tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[3.0, 1.0, 2.0, 3.0, 1.0, 2.0]]]
    """

    _dims = 1


class CircularPad2d(_CircularPad):
    """Adds elements around the last two dimensions: those at the other end.

    Args:
        padding: how many: an int for all sides, or (left, right, top, bottom); negative
            numbers cut elements off.
            At most the size.

    Shape:
        input [N, C, H, W] or [C, H, W]

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.CircularPad2d(1)(zero.ones(1, 1, 3, 3)).shape
        zero.Size([1, 1, 5, 5])
    """

    _dims = 2


class CircularPad3d(_CircularPad):
    """Adds elements around the last three dimensions: those at the other end.

    Args:
        padding: how many: an int for all sides, or
            (left, right, top, bottom, front, back); negative numbers cut elements off.
            At most the size.

    Shape:
        input [N, C, D, H, W] or [C, D, H, W]

    Raises:
        DTypeError, ValueError: padding is not an int or so many ints.

    Example:
        >>> import zero
        >>> zero.nn.CircularPad3d(1)(zero.ones(1, 1, 3, 3, 3)).shape
        zero.Size([1, 1, 5, 5, 5])
    """

    _dims = 3
