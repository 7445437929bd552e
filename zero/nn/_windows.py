"""Windows of images as columns, and the sum of columns over the windows they came from."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Tensor
from zero.errors import ShapeError, ValueError
from zero.nn import _options
from zero.nn._padding import pad

__all__ = ["fold", "unfold"]


def _pair(op: str, name: str, given: int | Sequence[int], least: int) -> tuple[int, int]:
    if isinstance(given, (tuple, list)) and len(given) == 1:
        given = given[0]
    first, second = _options.numbers(op, name, given, 2)
    if min(first, second) < least:
        raise ValueError(f"{op}: {name} is too small; got {given!r}, expected {least} or more")
    return first, second


class _Windows:
    """Where the windows of an image lie."""

    def __init__(
        self,
        op: str,
        size: tuple[int, int],
        kernel_size: int | Sequence[int],
        dilation: int | Sequence[int],
        padding: int | Sequence[int],
        stride: int | Sequence[int],
    ) -> None:
        self.size = size
        self.kernel = _pair(op, "kernel_size", kernel_size, 1)
        self.dilation = _pair(op, "dilation", dilation, 1)
        self.padding = _pair(op, "padding", padding, 0)
        self.stride = _pair(op, "stride", stride, 1)
        reach = [d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel, strict=True)]
        self.padded = [n + 2 * p for n, p in zip(size, self.padding, strict=True)]
        self.count = [
            (n - r) // s + 1 for n, r, s in zip(self.padded, reach, self.stride, strict=True)
        ]
        if min(self.count) < 1:
            raise ShapeError(
                f"{op}: the kernel is larger than the padded image; got {tuple(self.padded)}, "
                f"expected at least {tuple(reach)} for a kernel {self.kernel} with dilation "
                f"{self.dilation}"
            )

    def places(self, device: zero.device) -> Tensor:
        """Where in a padded image the elements of the windows lie: by element, then by window."""

        def along(d: int) -> Tensor:  # [element, window]
            elements = zero.arange(self.kernel[d], device=device) * self.dilation[d]
            return elements[:, None] + zero.arange(self.count[d], device=device) * self.stride[d]

        rows, columns = along(0) * self.padded[1], along(1)
        return (rows[:, None, :, None] + columns[:, None]).flatten()


def unfold(
    input: Tensor,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """The windows of an image as columns: what a convolution multiplies by its weight.

    ``y[n, (c kH + i) kW + j, p]`` is element (i, j) of channel c of window p; windows are counted
    row by row.

    Args:
        input: shape [N, C, H, W], or [C, H, W] without a batch.
        kernel_size: size of a window, an int or two.
        dilation: steps between elements of a window, an int or two.
        padding: zeros on both sides, an int or two.
        stride: steps between windows, an int or two.

    Returns:
        [N, C kH kW, windows]

    Raises:
        ShapeError: the input has other dimensions, or the window is larger.
        ValueError: an option is out of its range.

    Example:
        >>> import zero
        >>> x = zero.arange(9.0).reshape(1, 3, 3)
        >>> zero.nn.functional.unfold(x, 2).tolist()
        [[0.0, 1.0, 3.0, 4.0], [1.0, 2.0, 4.0, 5.0], [3.0, 4.0, 6.0, 7.0], [4.0, 5.0, 7.0, 8.0]]
    """
    if input.dim() == 3:
        return unfold(input.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    if input.dim() != 4 or 0 in input.shape[1:]:
        raise ShapeError(
            f"unfold: no images; got {tuple(input.shape)}, expected [N, C, H, W] or [C, H, W]"
        )
    n, channels, height, width = input.shape
    w = _Windows("unfold", (height, width), kernel_size, dilation, padding, stride)
    rows = channels * w.kernel[0] * w.kernel[1]
    if n == 0:
        return input.reshape(n, rows, w.count[0] * w.count[1])
    x = input
    if any(w.padding):
        above, left = w.padding
        x = pad(input, (left, left, above, above))
    windows = x.reshape(n * channels, -1).index_select(1, w.places(input.device))
    return windows.view(n, rows, w.count[0] * w.count[1])


def fold(
    input: Tensor,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Adds columns up where their windows lie in an image: the transpose of :func:`unfold`.

    Args:
        input: shape [N, C kH kW, windows], or without N.
        output_size: H and W of the image, an int or two.
        kernel_size: size of a window, an int or two.
        dilation: steps between elements of a window, an int or two.
        padding: rows and columns around the image, which are left out, an int or two.
        stride: steps between windows, an int or two.

    Returns:
        [N, C, H, W]

    Raises:
        ShapeError: the input does not have as many rows and columns as there are windows.
        ValueError: an option is out of its range.

    Example:
        >>> import zero
        >>> columns = zero.ones(4, 4)
        >>> zero.nn.functional.fold(columns, 3, 2).tolist()
        [[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]
    """
    if input.dim() == 2:
        folded = fold(input.unsqueeze(0), output_size, kernel_size, dilation, padding, stride)
        return folded.squeeze(0)
    height, width = _pair("fold", "output_size", output_size, 1)
    w = _Windows("fold", (height, width), kernel_size, dilation, padding, stride)
    elements, count = w.kernel[0] * w.kernel[1], w.count[0] * w.count[1]
    if input.dim() != 3 or input.shape[1] == 0 or input.shape[1] % elements != 0:
        raise ShapeError(
            f"fold: the input does not divide into windows; got {tuple(input.shape)}, expected "
            f"[N, C * {elements}, {count}]"
        )
    if input.shape[2] != count:
        raise ShapeError(
            f"fold: a wrong number of windows; got {input.shape[2]}, expected {count} in an image "
            f"of {(height, width)}"
        )
    n, channels = input.shape[0], input.shape[1] // elements
    images = input.new_zeros(n * channels, w.padded[0] * w.padded[1])
    columns = input.reshape(n * channels, elements * count)
    image = images.index_add(1, w.places(input.device), columns).view(n, channels, *w.padded)
    top, left = w.padding
    return image[:, :, top : top + height, left : left + width].contiguous()
