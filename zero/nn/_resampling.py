"""Resampling of :mod:`zero.nn.functional`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from operator import index

from zero import (
    Tensor,
    _adaptive_avg_pool,
    _resample,
    affine_grid_generator,
    channel_shuffle,
    grid_sampler,
    native_channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
)
from zero.errors import DTypeError, ShapeError, ValueError

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "grid_sample",
    "interpolate",
    "native_channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

# Mode -> the dimensions behind (N, C) that it is for, and its name in the core.
_MODES = {
    "nearest": ((1, 2, 3), "nearest"),
    "nearest-exact": ((1, 2, 3), "nearest-exact"),
    "area": ((1, 2, 3), ""),
    "linear": ((1,), "linear"),
    "bilinear": ((2,), "linear"),
    "trilinear": ((3,), "linear"),
    "bicubic": ((2,), "cubic"),
    "lanczos": ((2,), "lanczos"),
}


def _each(name: str, given: float | Sequence[float], input: Tensor) -> list[float]:
    """One number for each dimension behind (N, C)."""
    n = input.dim() - 2
    if not isinstance(given, (tuple, list)):
        return [given] * n  # type: ignore[list-item]  # so it is a number
    if len(given) != n:
        raise ShapeError(
            f"interpolate: {name} has the wrong length; got {tuple(given)} for an input of shape "
            f"{tuple(input.shape)}, expected {n} numbers, for (N, C, ...)"
        )
    return list(given)


def _whole(size: float) -> int:
    try:
        return index(size)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        raise DTypeError(
            f"interpolate: size is not an int or a tuple of ints; got {size!r}, expected ints"
        ) from None


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Another size for the dimensions behind the channels, with values in between interpolated.

    Element i of a result of size m lies at place ``(i + 1/2) n / m - 1/2`` of an input of size n,
    or at ``i (n - 1) / (m - 1)`` with align_corners.

    Args:
        input: shape [N, C, L], [N, C, H, W] or [N, C, D, H, W], of floats, or of uint8.
        size: of the result: an int for all of these dimensions, or one for each.
        scale_factor: how many times larger, in its place; the size is rounded down.
        mode: "nearest" takes element ``floor(i n / m)``, "nearest-exact" the one that the place
            lies in; "linear" (for [N, C, L]), "bilinear" ([N, C, H, W]) and "trilinear" are
            straight lines between neighbours; "bicubic" ([N, C, H, W]) are cubics through four;
            "area" is the average of what a result covers, :func:`adaptive_avg_pool2d`; "lanczos" a
            windowed sinc, only with antialias.
        align_corners: whether the centres of the first and last elements stay where they are,
            rather than the outer borders. Only for the linear modes and bicubic; None is False.
        recompute_scale_factor: True takes places by the ratio of the sizes where scale_factor was
            given, False and None by scale_factor itself.
        antialias: whether all elements count when sizes get smaller: the filter of bilinear,
            bicubic or lanczos gets that much wider.

    Raises:
        ValueError: not one of size and scale_factor is given; an option is not for the mode.
        ShapeError: the sizes don't fit the input, or are 0.
        NotImplementedError: the mode is not for so many dimensions, or there is none such.
        DTypeError: the mode does not take the dtype.

    Example:
        >>> import zero
        >>> x = zero.tensor([[[1.0, 2.0, 4.0]]])
        >>> zero.nn.functional.interpolate(x, scale_factor=2).tolist()
        [[[1.0, 1.0, 2.0, 2.0, 4.0, 4.0]]]
        >>> zero.nn.functional.interpolate(x, 5, mode="linear", align_corners=True).tolist()
        [[[1.0, 1.5, 2.0, 3.0, 4.0]]]

    Source: Keys, Cubic convolution interpolation for digital image processing, 1981 (bicubic).
    """
    if mode not in _MODES:
        raise NotImplementedError(
            f"interpolate: unknown mode; got {mode!r}, expected one of {', '.join(_MODES)}"
        )
    dims, name = _MODES[mode]
    n = input.dim() - 2
    if n not in dims:
        raise NotImplementedError(
            f"interpolate: mode {mode!r} is not for so many dimensions; got an input of shape "
            f"{tuple(input.shape)}, expected {' or '.join(str(d + 2) for d in dims)} dimensions"
        )
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ValueError(
            f"interpolate: align_corners is not for mode {mode!r}; got {align_corners}, expected "
            "None: it is for linear, bilinear, trilinear and bicubic"
        )
    if antialias:
        if mode not in ("bilinear", "bicubic", "lanczos"):
            raise ValueError(
                f"interpolate: antialias is not for mode {mode!r}; expected bilinear, bicubic or "
                "lanczos"
            )
        name += "-antialias"
    if mode == "lanczos" and (align_corners or not antialias):
        raise ValueError(
            "interpolate: mode 'lanczos' goes with antialias=True and without align_corners; got "
            f"antialias={antialias} and align_corners={align_corners}"
        )
    if (size is None) == (scale_factor is None):
        raise ValueError(
            f"interpolate: one of size and scale_factor is needed; got size={size} and "
            f"scale_factor={scale_factor}, expected one and None"
        )
    scales = None
    if size is not None:
        if recompute_scale_factor:
            raise ValueError(
                "interpolate: recompute_scale_factor says nothing beside a size; got "
                f"{recompute_scale_factor}, expected None"
            )
        sizes = [_whole(s) for s in _each("size", size, input)]
    else:
        assert scale_factor is not None
        scales = [float(s) for s in _each("scale_factor", scale_factor, input)]
        for s in scales:
            if not 0 < s < math.inf:
                raise ValueError(
                    f"interpolate: a scale_factor is not positive; got {scale_factor}, expected "
                    "numbers above 0"
                )
        sizes = [math.floor(old * s) for old, s in zip(input.shape[2:], scales, strict=True)]
        if recompute_scale_factor or mode == "area":
            scales = None
    if mode == "area":
        return _adaptive_avg_pool("interpolate", n, input, sizes)
    return _resample(name, input, sizes, scales, bool(align_corners))


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """:func:`interpolate`, under its old name."""
    warnings.warn("upsample: an old name; use interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """:func:`interpolate` with the mode "nearest", under an old name."""
    warnings.warn("upsample_nearest: an old name; use interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """:func:`interpolate` with the mode "bilinear" and align_corners, under an old name."""
    warnings.warn("upsample_bilinear: an old name; use interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


_ALIGN = (
    "%s: align_corners is not given, and taken as False; the default was True before PyTorch 1.3. "
    "Say which"
)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The input at the places that a grid names, interpolated.

    A place is (x, y), or (x, y, z): x counts along rows (the last dimension), from -1 on the left
    to 1 on the right, y from -1 above to 1 below.

    Args:
        input: shape [N, C, H, W] or [N, C, D, H, W], of floats.
        grid: shape [N, h, w, 2] or [N, d, h, w, 3], of the same dtype.
        mode: "bilinear" (trilinear in three dimensions), "nearest", or "bicubic" (two dimensions).
        padding_mode: what is outside: "zeros"; "border", the element at the border; "reflection",
            the mirror image.
        align_corners: whether -1 and 1 are the centres of the first and last elements, or their
            outer borders. None is False, with a warning.

    Shape:
        output [N, C, h, w] or [N, C, d, h, w]

    Raises:
        ShapeError, DTypeError: the tensors don't fit.
        ValueError: there is no such mode.

    Example:
        >>> import zero
        >>> x = zero.arange(4.0).view(1, 1, 2, 2)
        >>> grid = zero.tensor([[[[-1.0, -1.0], [0.0, 0.0]]]])
        >>> zero.nn.functional.grid_sample(x, grid, align_corners=True).tolist()
        [[[[0.0, 1.5]]]]

    Source: Jaderberg et al., Spatial transformer networks, 2015.
    """
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    for what, value, known in (("mode", mode, modes), ("padding_mode", padding_mode, paddings)):
        if value not in known:
            raise ValueError(
                f"grid_sample: unknown {what}; got {value!r}, expected one of {', '.join(known)}"
            )
    if align_corners is None:
        warnings.warn(_ALIGN % "grid_sample", stacklevel=2)
        align_corners = False
    return grid_sampler(input, grid, modes.index(mode), paddings.index(padding_mode), align_corners)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid of an affine map, for :func:`grid_sample`: theta times (x, y, 1) at each place.

    Args:
        theta: shape [N, 2, 3] or [N, 3, 4]: the matrices, of floats.
        size: of the images: (N, C, H, W) or (N, C, D, H, W).
        align_corners: whether -1 and 1 are the centres of the first and last elements, or their
            outer borders. None is False, with a warning.

    Shape:
        output [N, H, W, 2] or [N, D, H, W, 3]

    Raises:
        ValueError: theta is not floating point, or a size is not positive.
        ShapeError: the shapes don't fit.
        NotImplementedError: size has not four or five numbers.

    Example:
        >>> import zero
        >>> theta = zero.tensor([[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]])  # a quarter turn
        >>> grid = zero.nn.functional.affine_grid(theta, (1, 1, 2, 2), align_corners=True)
        >>> grid[0, 0].tolist()
        [[1.0, -1.0], [1.0, 1.0]]

    Source: Jaderberg et al., Spatial transformer networks, 2015.
    """
    if align_corners is None:
        warnings.warn(_ALIGN % "affine_grid", stacklevel=2)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(
            f"affine_grid: theta is not floating point; got {theta.dtype}, expected floats"
        )
    if len(size) not in (4, 5):
        raise NotImplementedError(
            f"affine_grid: only for two and three dimensions; got size {tuple(size)}, expected "
            "(N, C, H, W) or (N, C, D, H, W)"
        )
    if min(size) <= 0:
        raise ValueError(
            f"affine_grid: a size is not positive; got {tuple(size)}, expected 1 or more"
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "affine_grid: with align_corners a dimension of size 1 lies at 0, where it was at -1 "
            "before PyTorch 1.3",
            stacklevel=2,
        )
    return affine_grid_generator(theta, size, align_corners)
