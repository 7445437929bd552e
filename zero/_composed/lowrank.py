"""Approximations of matrices by a few singular values, found with random vectors.

Halko, Martinsson, Tropp, "Finding structure with randomness" (2009), algorithms 4.4 and 5.1.
"""

from __future__ import annotations

import zero
from zero import Tensor
from zero.errors import ShapeError, ValueError
from zero.linalg._results import check_matrices
from zero.linalg.factors import qr, svd

__all__ = ["pca_lowrank", "svd_lowrank"]


def _range(A: Tensor, q: int, niter: int, M: Tensor | None) -> Tensor:
    """Orthonormal columns [..., m, q] that A - M nearly maps to."""

    def times(A: Tensor, x: Tensor) -> Tensor:
        return A @ x if M is None else A @ x - M @ x

    def back(A: Tensor, x: Tensor) -> Tensor:
        return A.mT @ x if M is None else A.mT @ x - M.mT @ x

    x = zero.randn(A.shape[-1], q, dtype=A.dtype, device=A.device)
    y: Tensor = qr(times(A, x)).Q
    for _ in range(niter):
        y = qr(times(A, qr(back(A, y)).Q)).Q
    return y


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The largest singular values and their vectors, approximately: ``A - M = U diag(S) V^T``.

    For matrices whose other values are small; :func:`zero.linalg.svd` is exact, and faster unless
    matrices are large. Draws are those of the global generator.

    Args:
        A: of shape [..., m, n].
        q: how many values; a little more than are wanted.
        niter: how often the subspace is improved.
        M: subtracted from A; its shape broadcasts with that of A.

    Returns:
        The triple (U, S, V): [..., m, q], [..., q] and [..., n, q].

    Raises:
        ShapeError: A is no matrix.
        DTypeError: A is not of float32 or float64.

    Example:
        >>> import zero
        >>> A = zero.tensor([[3.0], [4.0]]) @ zero.tensor([[2.0, 1.0, 2.0]])
        >>> zero.svd_lowrank(A, q=1)[1].round()
        tensor([15.])
    """
    check_matrices("svd_lowrank", A)
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    if M is not None:
        M = M.broadcast_to(A.shape)
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        A, M = A.mT, None if M is None else M.mT
    Q = _range(A, q, niter, M)
    B = Q.mT @ A if M is None else Q.mT @ A - Q.mT @ M
    U, S, Vh = svd(B, full_matrices=False)
    U, V = Q @ U, Vh.mT
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components, approximately: the singular values of a matrix less its column means.

    Args:
        A: of shape [..., m, n]: observations in rows.
        q: how many values; min(6, m, n) for None.
        center: whether means are subtracted.
        niter: how often the subspace is improved.

    Returns:
        The triple (U, S, V). The columns of V are the components; ``A @ V[:, :k]`` projects to the
        first k.

    Raises:
        ShapeError: A is no matrix.
        ValueError: q or niter is out of range.

    Example:
        >>> import zero
        >>> zero.pca_lowrank(zero.tensor([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]), q=1)[1]
        tensor([7.0711])
    """
    if A.ndim < 2:
        raise ShapeError(
            f"pca_lowrank: not a matrix; got {tuple(A.shape)}, expected at least 2 dimensions"
        )
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"pca_lowrank: q is out of range; got {q}, expected 0 to {min(m, n)}")
    if niter < 0:
        raise ValueError(f"pca_lowrank: niter is negative; got {niter}, expected at least 0")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
