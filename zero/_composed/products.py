"""Products of vectors, composed of other operators."""

from __future__ import annotations

import zero
from zero import Tensor, _attach, _deliver
from zero._composed.arguments import attach, numpy_names
from zero.errors import ShapeError

__all__ = ["ger", "inner", "outer"]


def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """All products of two vectors: ``y[i, j] = input[i] * vec2[j]``.

    Args:
        input: shape [I].
        vec2: shape [J].
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.outer(zero.tensor([1, 2]), zero.tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """
    if input.ndim != 1 or vec2.ndim != 1:
        raise ShapeError(
            f"outer: not two vectors; got {tuple(input.shape)} and {tuple(vec2.shape)}, expected "
            "one dimension each"
        )
    return zero.mul(input.unsqueeze(1), vec2, out=out)


ger = outer


@numpy_names
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products summed over the last dimension of both: ``y[i, j] = sum_k input[i, k] other[j, k]``.

    Args:
        input: shape [..., K].
        other: shape [..., K]; a tensor without dimensions scales the other.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.inner(zero.tensor([1.0, 2.0]), zero.tensor([3.0, 4.0])).item()
        11.0
    """
    if input.ndim == 0 or other.ndim == 0:
        return zero.mul(input, other, out=out)
    if input.shape[-1] != other.shape[-1]:
        raise ShapeError(
            f"inner: the last sizes differ; got {tuple(input.shape)} and {tuple(other.shape)}"
        )
    k = input.shape[-1]
    a = input.reshape(input.numel() // k if k else _count(input), k)
    b = other.reshape(other.numel() // k if k else _count(other), k)
    y = zero.matmul(a, b.t()).reshape((*input.shape[:-1], *other.shape[:-1]))
    return _deliver(y, out, "inner")


def _count(x: Tensor) -> int:
    n = 1
    for size in x.shape[:-1]:
        n *= size
    return n


attach(outer, inner)
_attach("ger", outer)
