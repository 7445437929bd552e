"""Windows of signal processing."""

from __future__ import annotations

import math

import zero
from zero import Tensor
from zero.errors import DTypeError, ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def _window(
    op: str,
    length: int,
    periodic: bool,
    shape: Callable[[Tensor], Tensor],
    dtype: zero.dtype | None,
    layout: zero.layout | None,
    device: zero.device | str | None,
    requires_grad: bool,
    pin_memory: bool,
) -> Tensor:
    """`shape` of the places from 0 to 1, in float64; a periodic window leaves out the last one."""
    dtype = zero.get_default_dtype() if dtype is None else dtype
    if length < 0:
        raise ValueError(f"{op}: the length is negative; got {length}, expected 0 or more")
    if not dtype.is_floating_point:
        raise DTypeError(f"{op}: not of floats; got {dtype}, expected a floating point dtype")
    y = zero.empty(
        length,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
        pin_memory=pin_memory,
    )
    if length and y.device.type != "meta":
        places = zero.arange(length, dtype=zero.float64, device="cpu")
        with zero.no_grad():
            width = length if periodic else length - 1
            y.copy_(shape(places / width) if length > 1 else places + 1)
    return y


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: zero.dtype | None = None,
    layout: zero.layout | None = None,
    device: zero.device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Bartlett's window, a triangle: ``w_n = 1 - |2 n / N - 1|``.

    N is the length of a periodic window, and that minus 1 of a symmetric one.

    Args:
        window_length: how many numbers.
        periodic: whether the window continues at its start; else it is symmetric.
        dtype: of floats; the default dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: the length is negative.
        DTypeError: the dtype is not of floats.

    Example:
        >>> import zero
        >>> zero.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])

    Source: Bartlett, Periodogram analysis and continuous spectra, 1950.
    """
    return _window("bartlett_window", window_length, periodic, lambda t: 1 - (2 * t - 1).abs(),
                   dtype, layout, device, requires_grad, pin_memory)  # fmt: skip


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: zero.dtype | None = None,
    layout: zero.layout | None = None,
    device: zero.device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Blackman's window: ``w_n = 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``.

    N is the length of a periodic window, and that minus 1 of a symmetric one.

    Args:
        window_length: how many numbers.
        periodic: whether the window continues at its start; else it is symmetric.
        dtype: of floats; the default dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: the length is negative.
        DTypeError: the dtype is not of floats.

    Example:
        >>> import zero
        >>> zero.blackman_window(4)[1:]
        tensor([0.3400, 1.0000, 0.3400])

    Source: Blackman, Tukey, The measurement of power spectra, 1958.
    """

    def shape(t: Tensor) -> Tensor:
        turn = 2 * math.pi * t
        return 0.42 - 0.5 * turn.cos() + 0.08 * (2 * turn).cos()

    return _window("blackman_window", window_length, periodic, shape, dtype, layout, device,
                   requires_grad, pin_memory)  # fmt: skip


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: zero.dtype | None = None,
    layout: zero.layout | None = None,
    device: zero.device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Hamming's window: ``w_n = alpha - beta cos(2 pi n / N)``.

    N is the length of a periodic window, and that minus 1 of a symmetric one.

    Args:
        window_length: how many numbers.
        periodic: whether the window continues at its start; else it is symmetric.
        alpha: the mean.
        beta: the height of the cosine.
        dtype: of floats; the default dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: the length is negative.
        DTypeError: the dtype is not of floats.

    Example:
        >>> import zero
        >>> zero.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])

    Source: Blackman, Tukey, The measurement of power spectra, 1958.
    """
    return _window("hamming_window", window_length, periodic,
                   lambda t: alpha - beta * (2 * math.pi * t).cos(), dtype, layout, device,
                   requires_grad, pin_memory)  # fmt: skip


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: zero.dtype | None = None,
    layout: zero.layout | None = None,
    device: zero.device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Hann's window: ``w_n = sin(pi n / N)^2``.

    N is the length of a periodic window, and that minus 1 of a symmetric one.

    Args:
        window_length: how many numbers.
        periodic: whether the window continues at its start; else it is symmetric.
        dtype: of floats; the default dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: the length is negative.
        DTypeError: the dtype is not of floats.

    Example:
        >>> import zero
        >>> zero.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])

    Source: Blackman, Tukey, The measurement of power spectra, 1958.
    """
    return _window("hann_window", window_length, periodic,
                   lambda t: 0.5 - 0.5 * (2 * math.pi * t).cos(), dtype, layout, device,
                   requires_grad, pin_memory)  # fmt: skip


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: zero.dtype | None = None,
    layout: zero.layout | None = None,
    device: zero.device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Kaiser's window: ``w_n = I_0(beta sqrt(1 - (2 n / N - 1)^2)) / I_0(beta)``.

    N is the length of a periodic window, and that minus 1 of a symmetric one.

    Args:
        window_length: how many numbers.
        periodic: whether the window continues at its start; else it is symmetric.
        beta: how fast it falls.
        dtype: of floats; the default dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: the length is negative.
        DTypeError: the dtype is not of floats.

    Example:
        >>> import zero
        >>> zero.kaiser_window(4, beta=0.0)
        tensor([1., 1., 1., 1.])

    Source: Kaiser, Nonrecursive digital filter design using the I_0-sinh window function, 1974.
    """

    def shape(t: Tensor) -> Tensor:
        height = (1 - (2 * t - 1) ** 2).clamp(min=0).sqrt()
        # Scaled Bessel functions: I_0 itself overflows for large beta.
        return (
            zero.special.i0e(beta * height)
            / zero.special.i0e(zero.tensor(beta, dtype=t.dtype))
            * (beta * (height - 1)).exp()
        )

    return _window("kaiser_window", window_length, periodic, shape, dtype, layout, device,
                   requires_grad, pin_memory)  # fmt: skip
