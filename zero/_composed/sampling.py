"""Sampling at places that a grid names, and grids of affine maps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import zero
from zero import Tensor, _autocast_float32, _grid_sample, _grid_sample_gradients
from zero.autograd import Function
from zero.errors import DTypeError, ShapeError, ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["affine_grid_generator", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"]


def _reflected(x: Tensor, low: float, high: float) -> Tensor:
    """x mirrored at both bounds until it lies between them."""
    span = high - low
    if span == 0:
        return zero.zeros_like(x)
    x = (x - low).abs()
    extra = x.fmod(2 * span)
    return zero.where(extra > span, 2 * span - extra, extra) + low


class _Axis:
    """One dimension of the input: from places in [-1, 1] to elements."""

    def __init__(self, x: Tensor, size: int, padding: int, align: bool, cubic: bool) -> None:
        self.size, self.padding, self.align = size, padding, align
        self.x = (x + 1) / 2 * (size - 1) if align else ((x + 1) * size - 1) / 2
        if not cubic:  # which pads its neighbours instead
            self.x = self.padded(self.x)

    def padded(self, x: Tensor) -> Tensor:
        if self.padding == 2:
            x = _reflected(x, *((0, self.size - 1) if self.align else (-0.5, self.size - 0.5)))
        return x if self.padding == 0 else x.clamp(0, self.size - 1)

    def element(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Whole numbers as indices, and whether they are inside; NaN is not."""
        inside = (x >= 0) & (x <= self.size - 1)
        return zero.where(inside, x, 0).to(zero.int64), inside

    def neighbours(self, mode: int) -> list[tuple[Tensor, Tensor, Tensor]]:
        """(index, whether it is inside, weight) of each element that counts."""
        if mode == 1:
            # The weight is 1 and its derivative 0, but it is a function of the grid.
            finite = zero.where(self.x.isfinite(), self.x, 0)
            return [(*self.element(self.x.detach().round()), (finite - finite.detach()) * 0 + 1)]
        left = self.x.detach().floor()
        t = self.x - left
        if mode == 0:
            return [(*self.element(left), 1 - t), (*self.element(left + 1), t)]
        return [
            (*self.element(self.padded(left + k)), _cubic(t - k if k < 1 else k - t, k in (0, 1)))
            for k in (-1, 0, 1, 2)
        ]


def _cubic(x: Tensor, inner: bool) -> Tensor:
    a = -0.75
    if inner:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((x - 5) * x + 8) * x * a - 4 * a


def _check(op: str, input: Tensor, grid: Tensor, dims: Sequence[int]) -> None:
    for name, x in (("input", input), ("grid", grid)):
        if not isinstance(x, Tensor):
            raise TypeError(f"{op}: {name} is not a Tensor; got {type(x).__name__}")
    if not input.is_floating_point() or input.dtype != grid.dtype:
        raise DTypeError(
            f"{op}: the dtypes don't fit; got input {input.dtype} and grid {grid.dtype}, expected "
            "one floating point dtype"
        )
    n = input.dim() - 2
    if n not in dims or grid.dim() != n + 2 or grid.shape[-1] != n or grid.shape[0] != len(input):
        raise ShapeError(
            f"{op}: the grid doesn't fit; got input {tuple(input.shape)} and grid "
            f"{tuple(grid.shape)}, expected (N, C, H, W) and (N, h, w, 2), or (N, C, D, H, W) and "
            "(N, d, h, w, 3)"
        )
    if 0 in input.shape[2:]:
        raise ShapeError(
            f"{op}: a dimension is empty; got input {tuple(input.shape)}, expected sizes above 0 "
            "behind the channels"
        )


def _composed(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """The samples by operators that have gradients of any order."""
    n = input.dim() - 2
    dtype, wide = input.dtype, zero.promote_types(input.dtype, zero.float32)
    values, places = input.to(wide).flatten(2), grid.to(wide).flatten(1, -2)  # [N, C, in], [N, out]
    sizes = input.shape[2:]
    axes = [
        _Axis(
            places[..., n - 1 - d], sizes[d], padding_mode, align_corners, interpolation_mode == 2
        )
        for d in range(n)
    ]
    y = None
    for taps in product(*(axis.neighbours(interpolation_mode) for axis in axes)):
        index, inside, weight = taps[0]
        for d in range(1, n):
            i, good, w = taps[d]
            index, inside, weight = index * sizes[d] + i, inside & good, weight * w
        index = index.unsqueeze(1).expand(-1, values.shape[1], -1)
        part = zero.where(inside.unsqueeze(1), values.gather(2, index), 0) * weight.unsqueeze(1)
        y = part if y is None else y + part
    assert y is not None
    return y.view(*input.shape[:2], *grid.shape[1:-1]).to(dtype)


class _GridSampler(Function):
    @staticmethod
    def forward(ctx: Any, input: Tensor, grid: Tensor, *options: Any) -> Tensor:
        ctx.save_for_backward(input, grid)
        ctx.options = options
        return _grid_sample(input, grid, *options)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        tensors, needed = ctx.saved_tensors, ctx.needs_input_grad[:2]
        found: tuple[Tensor | None, ...]
        if zero.is_grad_enabled():
            y = _composed(*tensors, *ctx.options)
            wanted = [x for x, need in zip(tensors, needed, strict=True) if need]
            results = iter(zero.autograd.grad(y, wanted, gradient, create_graph=True))
            found = tuple(next(results) if need else None for need in needed)
        else:
            found = _grid_sample_gradients(gradient, *tensors, *ctx.options, *needed)
        return (*found, None, None, None)


def _grid_sampler(
    op: str,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    dims: Sequence[int],
) -> Tensor:
    input, grid = _autocast_float32(input, grid)
    _check(op, input, grid, dims)
    n = input.dim() - 2
    if interpolation_mode not in ((0, 1, 2) if n == 2 else (0, 1)):
        raise ValueError(
            f"{op}: no such interpolation for {n} dimensions; got mode {interpolation_mode}, "
            "expected 0 (bilinear), 1 (nearest) or, for two dimensions, 2 (bicubic)"
        )
    if padding_mode not in (0, 1, 2):
        raise ValueError(
            f"{op}: unknown padding; got {padding_mode}, expected 0 (zeros), 1 (border) or "
            "2 (reflection)"
        )
    return _GridSampler.apply(  # type: ignore[no-any-return]
        input, grid, interpolation_mode, padding_mode, bool(align_corners)
    )


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """:func:`zero.nn.functional.grid_sample` with numbers for the modes.

    Args:
        input: shape [N, C, H, W] or [N, C, D, H, W], of floats.
        grid: shape [N, h, w, 2] or [N, d, h, w, 3], of the same dtype.
        interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic.
        padding_mode: 0 zeros, 1 border, 2 reflection.
        align_corners: whether -1 and 1 are the centres of the first and last elements, or their
            outer borders.

    Raises:
        ShapeError, DTypeError: the tensors don't fit.
        ValueError: there is no such mode.

    Example:
        >>> import zero
        >>> x = zero.arange(4.0).view(1, 1, 2, 2)
        >>> zero.grid_sampler(x, zero.zeros(1, 1, 1, 2), 0, 0, False).item()
        1.5
    """
    return _grid_sampler(
        "grid_sampler", input, grid, interpolation_mode, padding_mode, align_corners, (2, 3)
    )


def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """:func:`grid_sampler` of two dimensions only."""
    return _grid_sampler(
        "grid_sampler_2d", input, grid, interpolation_mode, padding_mode, align_corners, (2,)
    )


def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """:func:`grid_sampler` of three dimensions only."""
    return _grid_sampler(
        "grid_sampler_3d", input, grid, interpolation_mode, padding_mode, align_corners, (3,)
    )


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """:func:`zero.nn.functional.affine_grid`, which checks its arguments.

    Args:
        theta: shape [N, 2, 3] or [N, 3, 4]: matrices of affine maps.
        size: of the images: (N, C, H, W) or (N, C, D, H, W).
        align_corners: whether -1 and 1 are the centres of the first and last elements, or their
            outer borders.

    Raises:
        ShapeError: the shapes don't fit.

    Example:
        >>> import zero
        >>> theta = zero.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> zero.affine_grid_generator(theta, (1, 1, 1, 2), False).tolist()
        [[[[-0.5, 0.0], [0.5, 0.0]]]]
    """
    n = len(size) - 2
    if n not in (2, 3) or tuple(theta.shape) != (size[0], n, n + 1):
        raise ShapeError(
            f"affine_grid: the matrices don't fit; got theta {tuple(theta.shape)} and size "
            f"{tuple(size)}, expected (N, 2, 3) and (N, C, H, W), or (N, 3, 4) and (N, C, D, H, W)"
        )
    base = zero.ones(*size[2:], n + 1, dtype=theta.dtype, device=theta.device)
    for d, length in enumerate(size[2:]):
        edge = 1.0 if align_corners and length > 1 else (length - 1) / max(length, 1)
        line = zero.linspace(-edge, edge, length, dtype=theta.dtype, device=theta.device)
        base[..., n - 1 - d] = line.view(-1, *(1 for _ in size[d + 3 :]))
    grid = base.view(1, -1, n + 1) @ theta.transpose(1, 2)
    return grid.view(size[0], *size[2:], n)
