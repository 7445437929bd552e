"""Windows of signal processing: weights that fall towards both ends.

A symmetric window, for filters, is ``w_0 … w_{M-1}`` of length M; a periodic one, for spectra, is
the symmetric window of length M + 1 without its last number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import zero
from zero import Tensor
from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]

Device = zero.device | str | None


def _window(
    op: str,
    M: int,
    shape: Callable[[Tensor, int], Tensor],
    sym: bool,
    dtype: zero.dtype | None,
    layout: zero.layout,
    device: Device,
    requires_grad: bool,
) -> Tensor:
    """`shape` of the places 0 to M - 1 and of N, how many steps the window has; in float64."""
    dtype = zero.get_default_dtype() if dtype is None else dtype
    if not isinstance(M, int):
        raise TypeError(f"{op}: M is not an int; got {type(M).__name__}, expected an int")
    if M < 0:
        raise ValueError(f"{op}: the length is negative; got M={M}, expected 0 or more")
    if layout is not zero.strided:
        raise ValueError(f"{op}: no dense window; got layout {layout}, expected zero.strided")
    if dtype not in (zero.float32, zero.float64):
        raise ValueError(f"{op}: no such window; got {dtype}, expected zero.float32 or float64")
    w = zero.empty(M, dtype=dtype, device=device, requires_grad=requires_grad)
    if M and w.device.type != "meta":
        places = zero.arange(M, dtype=zero.float64, device="cpu")
        with zero.no_grad():
            w.copy_(shape(places, M - 1 if sym or M == 1 else M))
    return w


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Bartlett's window, a triangle: ``w_n = 1 - |2 n / N - 1|``.

    Here as below N is M - 1 for a symmetric window of M numbers, and M for a periodic one.

    Args:
        M: how many numbers.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one.

    Example:
        >>> import zero
        >>> zero.signal.windows.bartlett(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])

    Source: Bartlett, Periodogram analysis and continuous spectra, 1950.
    """
    return _window("bartlett", M, lambda n, N: 1 - ((2 * n - N) / max(N, 1)).abs(),
                   sym, dtype, layout, device, requires_grad)  # fmt: skip


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Blackman's window: ``w_n = 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``.

    Args:
        M: how many numbers.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one.

    Example:
        >>> import zero
        >>> zero.signal.windows.blackman(5)[1:4]
        tensor([0.3400, 1.0000, 0.3400])

    Source: Blackman and Tukey, The measurement of power spectra, 1958.
    """
    return _cosines("blackman", M, (0.42, 0.5, 0.08), sym, dtype, layout, device, requires_grad)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """A half wave: ``w_n = sin(pi (n + 1/2) / L)``, where L is M, or M + 1 if periodic.

    Args:
        M: how many numbers.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one.

    Example:
        >>> import zero
        >>> zero.signal.windows.cosine(3)
        tensor([0.5000, 1.0000, 0.5000])

    Source: Harris, On the use of windows for harmonic analysis with the discrete Fourier
    transform, 1978.
    """
    return _window("cosine", M, lambda n, N: ((n + 0.5) * (math.pi / (N + 1))).sin(),
                   sym, dtype, layout, device, requires_grad)  # fmt: skip


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """An exponential, or Poisson, window: ``w_n = exp(-|n - center| / tau)``.

    Args:
        M: how many numbers.
        center: where it is highest; None for the middle, which a symmetric window needs.
        tau: after how many steps it falls to 1 / e, above 0.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one,
            tau is not positive, or a symmetric window has a center.

    Example:
        >>> import zero
        >>> zero.signal.windows.exponential(3)
        tensor([0.3679, 1.0000, 0.3679])

    Source: Harris, On the use of windows for harmonic analysis with the discrete Fourier
    transform, 1978.
    """
    if tau <= 0:
        raise ValueError(f"exponential: tau is not positive; got {tau}, expected more than 0")
    if sym and center is not None:
        raise ValueError(
            f"exponential: a symmetric window has its center in the middle; got {center}, "
            "expected None"
        )

    def shape(n: Tensor, N: int) -> Tensor:
        return (-(n - (N / 2 if center is None else center)).abs() / tau).exp()

    return _window("exponential", M, shape, sym, dtype, layout, device, requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """A Gaussian window: ``w_n = exp(-(n - N / 2)^2 / (2 std^2))``.

    Args:
        M: how many numbers.
        std: the width in steps, above 0.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one,
            or std is not positive.

    Example:
        >>> import zero
        >>> zero.signal.windows.gaussian(3)
        tensor([0.6065, 1.0000, 0.6065])

    Source: Harris, On the use of windows for harmonic analysis with the discrete Fourier
    transform, 1978.
    """
    if std <= 0:
        raise ValueError(f"gaussian: std is not positive; got {std}, expected more than 0")
    return _window("gaussian", M, lambda n, N: (-0.5 * ((n - N / 2) / std) ** 2).exp(),
                   sym, dtype, layout, device, requires_grad)  # fmt: skip


def _cosines(
    op: str,
    M: int,
    a: Iterable[float],
    sym: bool,
    dtype: zero.dtype | None,
    layout: zero.layout,
    device: Device,
    requires_grad: bool,
) -> Tensor:
    def shape(n: Tensor, N: int) -> Tensor:
        if N == 0:
            return zero.ones_like(n)
        turn = n * (2 * math.pi / N)
        waves = [(-1) ** k * weight * (k * turn).cos() for k, weight in enumerate(a)]
        return zero.stack(waves).sum(0)

    return _window(op, M, shape, sym, dtype, layout, device, requires_grad)


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """A sum of cosines: ``w_n = sum_k (-1)^k a_k cos(2 pi k n / N)``.

    Args:
        M: how many numbers.
        a: the weights.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one,
            or there are no weights.

    Example:
        >>> import zero
        >>> zero.signal.windows.general_cosine(5, a=[0.5, 0.5])
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])

    Source: Harris, On the use of windows for harmonic analysis with the discrete Fourier
    transform, 1978.
    """
    if not isinstance(a, Iterable):
        raise TypeError(
            f"general_cosine: a is no list of weights; got {type(a).__name__}, expected a list"
        )
    weights = [float(weight) for weight in a]
    if not weights:
        raise ValueError("general_cosine: there are no weights; got an empty list, expected some")
    return _cosines("general_cosine", M, weights, sym, dtype, layout, device, requires_grad)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Hamming's window with a choice: ``w_n = alpha - (1 - alpha) cos(2 pi n / N)``.

    Args:
        M: how many numbers.
        alpha: the mean.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one.

    Example:
        >>> import zero
        >>> zero.signal.windows.general_hamming(5, alpha=0.5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])

    Source: Blackman and Tukey, The measurement of power spectra, 1958.
    """
    return _cosines("general_hamming", M, (alpha, 1 - alpha), sym, dtype, layout, device,
                    requires_grad)  # fmt: skip


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Hamming's window: ``w_n = 0.54 - 0.46 cos(2 pi n / N)``.

    Args:
        M: how many numbers.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one.

    Example:
        >>> import zero
        >>> zero.signal.windows.hamming(5)
        tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])

    Source: Blackman and Tukey, The measurement of power spectra, 1958.
    """
    return _cosines("hamming", M, (0.54, 0.46), sym, dtype, layout, device, requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Hann's window: ``w_n = 0.5 - 0.5 cos(2 pi n / N) = sin(pi n / N)^2``.

    Args:
        M: how many numbers.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one.

    Example:
        >>> import zero
        >>> zero.signal.windows.hann(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])

    Source: Blackman and Tukey, The measurement of power spectra, 1958.
    """
    return _cosines("hann", M, (0.5, 0.5), sym, dtype, layout, device, requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser's window: ``w_n = I_0(beta sqrt(1 - (2 n / N - 1)^2)) / I_0(beta)``.

    Args:
        M: how many numbers.
        beta: how fast it falls, 0 or more.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one,
            or beta is negative.

    Example:
        >>> import zero
        >>> zero.signal.windows.kaiser(3, beta=2.0)
        tensor([0.4387, 1.0000, 0.4387])

    Source: Kaiser, Nonrecursive digital filter design using the I_0-sinh window function, 1974.
    """
    if beta < 0:
        raise ValueError(f"kaiser: beta is negative; got {beta}, expected 0 or more")

    def shape(n: Tensor, N: int) -> Tensor:
        height = (1 - ((2 * n - N) / max(N, 1)) ** 2).clamp(min=0).sqrt()
        # Scaled Bessel functions: I_0 itself overflows for large beta.
        top = zero.special.i0e(zero.tensor(float(beta), dtype=n.dtype))
        return zero.special.i0e(beta * height) / top * (beta * (height - 1)).exp()

    return _window("kaiser", M, shape, sym, dtype, layout, device, requires_grad)


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: zero.dtype | None = None,
    layout: zero.layout = zero.strided,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Nuttall's window, of four cosines, whose side lobes are at most -98 dB.

    Args:
        M: how many numbers.
        sym: whether the window is symmetric; else it is periodic.
        dtype: zero.float32 or zero.float64; the default dtype for None.
        layout: zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: the length is negative, or the dtype or layout another one.

    Example:
        >>> import zero
        >>> zero.signal.windows.nuttall(5)
        tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])

    Source: Nuttall, Some windows with very good sidelobe behavior, 1981.
    """
    return _cosines("nuttall", M, (0.3635819, 0.4891775, 0.1365995, 0.0106411), sym, dtype, layout,
                    device, requires_grad)  # fmt: skip
