"""The nuclear norm: `norm` with p="nuc"."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Tensor
from zero._composed.arguments import as_ints, wrap_dim
from zero.errors import DTypeError, ShapeError, ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["nuclear_norm"]

Parts = tuple[Tensor, Tensor, Tensor]


def _svd(x: Tensor) -> Parts:
    """U, S and V^T in float64, of the matrices in the last two dimensions."""
    import numpy as np

    try:
        parts = np.linalg.svd(x.detach().double().numpy(), full_matrices=False)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"norm: the singular values do not converge; got {error}, expected finite elements"
        ) from None
    u, s, vt = (zero.tensor(part) for part in parts)
    return u, s, vt


class _Polar(zero.autograd.Function):
    """U V^T of x = U S V^T, the gradient of the nuclear norm.

    With P = U^T dx V, U V^T changes by U K V^T, where K_ij = (P_ij - P_ji) / (s_i + s_j), and by
    what of dx lies beside U and V: (1 - U U^T) dx V / S V^T and U / S U^T dx (1 - V V^T). This
    map is its own transpose.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, parts: Parts) -> Tensor:
        ctx.parts = parts
        u, _, vt = parts
        return (u @ vt).to(x.dtype)

    @staticmethod
    @zero.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        u, s, vt = ctx.parts
        g, ut, v = grad.double(), u.mT, vt.mT
        p = ut @ g @ v
        total = s.unsqueeze(-1) + s.unsqueeze(-2)
        inside = u @ ((p - p.mT) / zero.where(total == 0, 1.0, total)) @ vt
        inverse = zero.where(s == 0, 0.0, 1 / s).unsqueeze(-1)
        left = (g @ v - u @ p) @ (inverse * vt)
        right = u @ (inverse * (ut @ g - p @ vt))
        return (inside + left + right).to(grad.dtype), None


class _Nuclear(zero.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.parts = parts = _svd(x)
        ctx.save_for_backward(x)
        return parts[1].sum(-1).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        polar: Tensor = _Polar.apply(x, ctx.parts)
        return grad.unsqueeze(-1).unsqueeze(-1) * polar


def nuclear_norm(input: Tensor, dim: Sequence[int] | None, keepdim: bool) -> Tensor:
    """The sum of the singular values of the matrices in two dimensions."""
    dims = range(input.ndim) if dim is None else as_ints("norm", "dim", dim)
    rows, *rest = [wrap_dim("norm", d, input.ndim) for d in dims] or [0]
    if len(rest) != 1 or rest[0] == rows:
        raise ShapeError(
            f"norm: a nuclear norm is one of matrices; got shape {tuple(input.shape)} and dim "
            f"{dim}, expected two dimensions"
        )
    if not input.is_floating_point():
        raise DTypeError(f"norm: not of floats; got {input.dtype}, expected a floating point dtype")
    x = input.movedim((rows, rest[0]), (-2, -1))
    y: Tensor = x.sum((-2, -1)) if x.device.type == "meta" else _Nuclear.apply(x)
    if keepdim:
        for d in sorted((rows, *rest)):
            y = y.unsqueeze(d)
    return y
