"""Products of vectors, composed of other operators."""

from __future__ import annotations

import zero
from zero import Tensor, _attach, _autocast_state, _deliver
from zero._composed.arguments import attach, numpy_names
from zero.errors import ShapeError

__all__ = ["bilinear", "ger", "inner", "outer"]


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
    if input.ndim == other.ndim == 1:
        return zero.dot(input, other, out=out)
    k = input.shape[-1]
    a = input.reshape(input.numel() // k if k else _count(input), k)
    b = other.reshape(other.numel() // k if k else _count(other), k)
    y = zero.matmul(a, b.t()).reshape((*input.shape[:-1], *other.shape[:-1]))
    return _deliver(y, out, "inner")


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A function of two tensors that is linear in each: ``y[k] = input1 @ weight[k] @ input2``.

    Args:
        input1: shape […, I].
        input2: shape […, J].
        weight: shape [K, I, J].
        bias: shape [K], is added; or None.

    Shape:
        output […, K]

    Raises:
        ShapeError: the shapes do not fit.

    Example:
        >>> import zero
        >>> weight = zero.tensor([[[1.0, 0.0], [0.0, 10.0]]])
        >>> zero.bilinear(zero.tensor([1.0, 2.0]), zero.tensor([3.0, 4.0]), weight)
        tensor([83.])
    """
    if _autocast_state("cpu")[0]:  # PyTorch's list of products does not have it
        with zero.autocast("cpu", enabled=False):
            return bilinear(input1, input2, weight, bias)
    batch = input1.shape[:-1]
    fits = weight.ndim == 3 and input1.ndim > 0 and input1.ndim == input2.ndim
    if not fits or input2.shape[:-1] != batch:
        raise ShapeError(
            f"bilinear: the shapes do not fit; got {tuple(input1.shape)}, {tuple(input2.shape)} "
            f"and weight {tuple(weight.shape)}, expected (*, I), (*, J) and (K, I, J)"
        )
    outputs, i, j = weight.shape
    if input1.shape[-1] != i or input2.shape[-1] != j:
        raise ShapeError(
            f"bilinear: the last sizes differ from the weight's; got {input1.shape[-1]} and "
            f"{input2.shape[-1]}, expected {i} and {j}"
        )
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise ShapeError(
            f"bilinear: the bias does not fit; got {tuple(bias.shape)}, expected {(outputs,)}"
        )
    count = _count(input1)
    first = input1.reshape(count, i) @ weight.permute(1, 0, 2).reshape(i, outputs * j)
    y = first.reshape(count, outputs, j) @ input2.reshape(count, j, 1)
    y = y.reshape((*batch, outputs))
    return y if bias is None else y + bias


def _count(x: Tensor) -> int:
    n = 1
    for size in x.shape[:-1]:
        n *= size
    return n


attach(outer, inner)
_attach("ger", outer)
