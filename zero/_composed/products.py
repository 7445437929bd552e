"""Products with a sum, composed of other operators."""

from __future__ import annotations

import zero
from zero import Tensor, _attach, _deliver, _overwrite
from zero._composed.arguments import attach
from zero.errors import ShapeError

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "ger",
    "inner",
    "outer",
]

Number = bool | int | float


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


def _sum(input: Tensor, product: Tensor, beta: Number, alpha: Number, op: str) -> Tensor:
    """beta * input + alpha * product; with beta 0 the input counts as 0 even where it is nan."""
    if not product.is_floating_point():  # as PyTorch: the factors become integers
        beta, alpha = int(beta), int(alpha)
    if alpha != 1:
        product = zero.mul(product, alpha)
    shape = tuple(product.shape)
    sizes = (1,) * (product.ndim - input.ndim) + tuple(input.shape)
    if len(sizes) != len(shape) or any(m not in (1, n) for m, n in zip(sizes, shape, strict=True)):
        raise ShapeError(
            f"{op}: input does not broadcast to the product; got {tuple(input.shape)}, expected "
            f"{shape}"
        )
    if beta == 0:
        if not (input.requires_grad and zero.is_grad_enabled()):
            return product
        input, beta = zero.masked_fill(input, zero.tensor(True), 0), 1  # its gradient is 0
    return zero.add(product, input, alpha=beta)


def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """A matrix product added: ``y = beta * input + alpha * mat1 @ mat2``.

    Args:
        input: broadcasts to [I, J].
        mat1: shape [I, K].
        mat2: shape [K, J].
        beta: scales the input; with 0 it is left out, nan or not.
        alpha: scales the product.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.addmm(zero.ones(1), zero.ones(2, 3), zero.ones(3, 2)).tolist()
        [[4.0, 4.0], [4.0, 4.0]]
    """
    return _deliver(_sum(input, zero.mm(mat1, mat2), beta, alpha, "addmm"), out, "addmm")


def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """A matrix-vector product added: ``y = beta * input + alpha * mat @ vec``.

    Args:
        input: broadcasts to [I].
        mat: shape [I, K].
        vec: shape [K].
        beta: scales the input; with 0 it is left out, nan or not.
        alpha: scales the product.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.addmv(zero.ones(2), zero.ones(2, 3), zero.ones(3)).tolist()
        [4.0, 4.0]
    """
    return _deliver(_sum(input, zero.mv(mat, vec), beta, alpha, "addmv"), out, "addmv")


def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """An outer product added: ``y = beta * input + alpha * outer(vec1, vec2)``.

    Args:
        input: broadcasts to [I, J].
        vec1: shape [I].
        vec2: shape [J].
        beta: scales the input; with 0 it is left out, nan or not.
        alpha: scales the product.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.addr(zero.zeros(1, 1), zero.ones(1), zero.ones(2)).tolist()
        [[1.0, 1.0]]
    """
    return _deliver(_sum(input, outer(vec1, vec2), beta, alpha, "addr"), out, "addr")


def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Products of matrices added: ``y[b] = beta * input[b] + alpha * batch1[b] @ batch2[b]``.

    Args:
        input: broadcasts to [B, I, J].
        batch1: shape [B, I, K].
        batch2: shape [B, K, J].
        beta: scales the input; with 0 it is left out, nan or not.
        alpha: scales the products.
        out: where to write the result.

    Example:
        >>> import zero
        >>> a, b = zero.ones(2, 1, 3), zero.ones(2, 3, 1)
        >>> zero.baddbmm(zero.ones(1, 1, 1), a, b).flatten().tolist()
        [4.0, 4.0]
    """
    return _deliver(_sum(input, zero.bmm(batch1, batch2), beta, alpha, "baddbmm"), out, "baddbmm")


def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Products summed and added: ``y = beta * input + alpha * sum_b batch1[b] @ batch2[b]``.

    Args:
        input: broadcasts to [I, J].
        batch1: shape [B, I, K].
        batch2: shape [B, K, J].
        beta: scales the input; with 0 it is left out, nan or not.
        alpha: scales the products.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.addbmm(zero.ones(1, 1), zero.ones(2, 1, 3), zero.ones(2, 3, 1)).item()
        7.0
    """
    product = zero.sum(zero.bmm(batch1, batch2), 0)
    return _deliver(_sum(input, product.to(batch1.dtype), beta, alpha, "addbmm"), out, "addbmm")


def _in_place(name: str):  # type: ignore[no-untyped-def]
    f = globals()[name]

    def overwrite(self: Tensor, *args: Tensor, beta: Number = 1, alpha: Number = 1) -> Tensor:
        result = f(self, *args, beta=beta, alpha=alpha)
        return _overwrite(self, result, name + "_")

    overwrite.__name__, overwrite.__qualname__ = name + "_", f"Tensor.{name}_"
    overwrite.__doc__ = f":func:`zero.{name}` in place: overwrites the tensor and returns it."
    return overwrite


attach(
    outer,
    inner,
    addmm,
    addmv,
    addr,
    baddbmm,
    addbmm,
)
_attach("ger", outer)
for _name in ("addmm", "addmv", "addr", "baddbmm", "addbmm"):
    _attach(_name + "_", _in_place(_name))
