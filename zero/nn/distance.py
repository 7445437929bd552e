"""Distances and similarities of vectors, as modules."""

from __future__ import annotations

from zero import Tensor
from zero.nn import _options, functional as F
from zero.nn.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class CosineSimilarity(Module):
    """The cosine of the angle between vectors: ``x1 . x2 / (max(|x1|, eps) max(|x2|, eps))``.

    Args:
        dim: the dimension of the vectors, which the result does not have.
        eps: the least divisor.

    Example:
        >>> import zero
        >>> a, b = zero.tensor([[1.0, 0.0]]), zero.tensor([[1.0, 1.0]])
        >>> zero.nn.CosineSimilarity()(a, b)
        tensor([0.7071])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim = _options.dimension("CosineSimilarity", "dim", dim)
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last dimension.

    Args:
        p: the order of the norm.
        eps: is added to each difference, which keeps the gradient finite.
        keepdim: whether the last dimension stays, with size 1.

    Shape:
        x1 and x2 [N, D] or [D]; output [N] or [], or with a 1 in the place of D

    Example:
        >>> import zero
        >>> zero.nn.PairwiseDistance()(zero.tensor([[3.0, 4.0]]), zero.zeros(1, 2))
        tensor([5.0000])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.norm = p
        self.eps = eps
        self.keepdim = _options.flag("PairwiseDistance", "keepdim", keepdim)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
