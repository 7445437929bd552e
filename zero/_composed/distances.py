"""Distances and similarities of vectors, pair by pair."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.errors import DTypeError, ShapeError
from zero.nn._pointwise import check_broadcast

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors: ``x1 . x2 / (max(|x1|, eps) max(|x2|, eps))``.

    Args:
        x1: any shape that broadcasts with that of `x2`.
        x2: the other vectors.
        dim: the dimension of the vectors, which the result does not have.
        eps: the least divisor, so that the result of a vector of zeros is 0.

    Raises:
        DTypeError: neither is floating point.

    Example:
        >>> import zero
        >>> a, b = zero.tensor([[1.0, 0.0]]), zero.tensor([[1.0, 1.0]])
        >>> zero.cosine_similarity(a, b)
        tensor([0.7071])
    """
    dtype = zero.result_type(x1, x2)
    if not dtype.is_floating_point:
        raise DTypeError(
            f"cosine_similarity: not floating point; got {x1.dtype} and {x2.dtype}, expected floats"
        )
    check_broadcast("cosine_similarity", "x1", x1, "x2", x2)
    x1, x2 = zero.broadcast_tensors(x1.to(dtype), x2.to(dtype))
    a, b = (x / zero.norm(x, 2, dim, True).clamp_min(eps) for x in (x1, x2))
    return zero.sum(a * b, dim)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension.

    Args:
        x1: vectors, [N, D] or [D].
        x2: vectors; the shapes broadcast.
        p: the order of the norm.
        eps: is added to each difference, which keeps the gradient finite.
        keepdim: whether the last dimension stays, with size 1.

    Example:
        >>> import zero
        >>> zero.pairwise_distance(zero.tensor([[3.0, 4.0]]), zero.zeros(1, 2))
        tensor([5.0000])
    """
    check_broadcast("pairwise_distance", "x1", x1, "x2", x2)
    return zero.norm(x1 - x2 + eps, p, -1, keepdim)


def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The distances between all pairs of rows: those above the diagonal of ``cdist(x, x)``.

    Args:
        input: [N, D], of floats.
        p: the order of the norm, 0 or more.

    Returns:
        N (N - 1) / 2 distances: of row 0 from the others, then of row 1, and so on.

    Raises:
        ShapeError: the input has not two dimensions.
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.pdist(zero.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
        tensor([5.0000, 1.0000, 4.2426])
    """
    if input.ndim != 2:
        raise ShapeError(f"pdist: no matrix; got {tuple(input.shape)}, expected (N, D)")
    if not input.is_floating_point():
        raise DTypeError(f"pdist: the input is no floats; got {input.dtype}, expected floats")
    rows, columns = zero.triu_indices(input.shape[0], input.shape[0], 1, device=input.device)
    return zero.cdist(input, input, p)[rows, columns]
