"""Some eigenvalues of large symmetric matrices: LOBPCG.

Knyazev, "Toward the optimal preconditioned eigensolver: locally optimal block preconditioned
conjugate gradient method" (2001); bases are made orthonormal as in Stathopoulos, Wu, "A block
orthogonalization procedure with constant synchronization requirements" (2002).
"""

from __future__ import annotations

import zero
from zero import Tensor
from zero.errors import DTypeError, ShapeError, ValueError
from zero.linalg._results import check_square
from zero.linalg.factors import eigh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["lobpcg"]


def _times(B: Tensor | None, x: Tensor) -> Tensor:
    return x if B is None else B @ x


def _orthonormal(S: Tensor, B: Tensor | None, eps: float) -> Tensor:
    """A basis of what S spans with ``y^T B y = 1``, without what is nothing but rounding."""
    for _ in range(2):
        gram = S.mT @ _times(B, S)
        scale = gram.diagonal().clamp(min=1e-300 if S.dtype is zero.float64 else 1e-30).rsqrt()
        values, vectors = eigh(gram * scale.unsqueeze(0) * scale.unsqueeze(1))
        kept = values > eps * S.shape[-1] * values[-1]
        S = S @ (scale.unsqueeze(1) * vectors[:, kept] * values[kept].rsqrt())
    return S


def _beside(S: Tensor, X: Tensor, B: Tensor | None, eps: float) -> Tensor:
    """An orthonormal basis of what of S is orthogonal to the columns of X."""
    for _ in range(2):
        S = S - X @ (_times(B, X).mT @ S)
        S = _orthonormal(S, B, eps)
    return S


def _eigenpairs(
    A: Tensor,
    B: Tensor | None,
    X: Tensor,
    k: int,
    iK: Tensor | None,
    niter: int,
    tol: float,
    largest: bool,
) -> tuple[Tensor, Tensor]:
    """k pairs of one matrix; X is where to start."""
    eps = zero.finfo(A.dtype).eps
    n = X.shape[-1]
    size_a = zero.linalg.matrix_norm(A)
    size_b = 1.0 if B is None else zero.linalg.matrix_norm(B)

    def ritz(S: Tensor) -> tuple[Tensor, Tensor]:
        values, vectors = eigh(S.mT @ (A @ S))
        if largest:
            values, vectors = values.flip(0), vectors.flip(1)
        return values[:n], vectors[:, :n]

    X = _orthonormal(X, B, eps)
    E, Z = ritz(X)
    X = X @ Z
    P: Tensor | None = None
    step = 0
    while niter < 0 or step < niter:
        BX = _times(B, X)
        R = A @ X - BX * E
        size = (size_a + E.abs() * size_b) * zero.linalg.vector_norm(X, dim=0)
        error = zero.linalg.vector_norm(R, dim=0) / size
        if bool((error[:k] < tol).all()):
            break
        W = R if iK is None else iK @ R
        S = W if P is None else zero.cat([P, W], 1)
        S = _beside(S, X, B, eps)
        if S.shape[-1] == 0:
            break
        basis = zero.cat([X, S], 1)
        E, Z = ritz(basis)
        P = S @ Z[X.shape[-1] :]
        X = basis @ Z
        step += 1
    return E[:k], X[:, :k]


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:
    """The k largest or smallest eigenvalues of symmetric matrices, and their vectors.

    Iterates in the space of the vectors, their residuals and their last steps, with nothing but
    products by A. :func:`zero.linalg.eigh` finds all, and is faster unless matrices are large.
    There is no gradient: take that of `eigh`.

    Args:
        A: of shape [..., m, m], symmetric.
        k: how many; the columns of X, or 1, for None.
        B: symmetric and positive-definite, for ``A x = lambda B x``; the identity for None.
        X: where to start, [..., m, n]; random numbers for None.
        n: how many vectors are iterated; k for None.
        iK: a preconditioner, [..., m, m], near the inverse of A.
        niter: the most iterations; 1000 for None, no limit for -1.
        tol: the bound of relative residuals; the root of the machine epsilon for None.
        largest: whether the largest ones are wanted; True for None.
        method: 'ortho' or 'basic': both are the one that keeps bases orthonormal.
        tracker: None: there are no calls in between.
        ortho_iparams: None: nothing is to be set.
        ortho_fparams: None.
        ortho_bparams: None.

    Returns:
        The pair (E, X): [..., k] and [..., m, k], with ``X^T B X = 1``.

    Raises:
        ShapeError: the shapes don't fit.
        ValueError: 3 n is larger than m, or the method is unknown.
        NotImplementedError: a tensor requires a gradient, or there is a tracker or a parameter of
            orthogonalization.

    Example:
        >>> import zero
        >>> A = zero.diag(zero.arange(1.0, 21.0))
        >>> zero.lobpcg(A, k=2, tol=1e-6)[0].round(decimals=3)
        tensor([20., 19.])
    """
    check_square("lobpcg", A)
    if A.dtype not in (zero.float32, zero.float64):
        raise DTypeError(f"lobpcg: not for this dtype; got {A.dtype}, expected float32 or float64")
    if not all(x is None for x in (tracker, ortho_iparams, ortho_fparams, ortho_bparams)):
        raise NotImplementedError(
            "lobpcg: neither a tracker nor parameters of orthogonalization; got one, expected None"
        )
    if method not in (None, "ortho", "basic"):
        raise ValueError(f"lobpcg: unknown method; got {method!r}, expected 'ortho' or 'basic'")
    if zero.is_grad_enabled() and any(x is not None and x.requires_grad for x in (A, B, X, iK)):
        raise NotImplementedError(
            "lobpcg: no gradient; got a tensor that requires one, expected detach(), or linalg.eigh"
        )
    m, batch = A.shape[-1], A.shape[:-2]
    k = k if k is not None else 1 if X is None else X.shape[-1]
    n = n if n is not None else k if X is None else X.shape[-1]
    if not 0 < k <= n or 3 * n > m:
        raise ValueError(
            f"lobpcg: too many eigenpairs; got k={k}, n={n} and {m} rows, expected k <= n and at "
            "least 3 n rows"
        )
    if X is None:
        X = zero.randn(*batch, m, n, dtype=A.dtype, device=A.device)
    elif X.shape != (*batch, m, n):
        raise ShapeError(f"lobpcg: X doesn't fit; got {tuple(X.shape)}, expected {(*batch, m, n)}")
    for name, x in (("B", B), ("iK", iK)):
        if x is not None and x.shape[-2:] != (m, m):
            raise ShapeError(
                f"lobpcg: {name} doesn't fit; got {tuple(x.shape)}, expected {(*batch, m, m)}"
            )
    tol = zero.finfo(A.dtype).eps ** 0.5 if tol is None else tol
    limit = 1000 if niter is None else niter

    def matrices(x: Tensor | None, columns: int) -> list[Tensor | None]:
        if x is None:
            return [None] * batch.numel()
        return list(x.expand(*batch, m, columns).reshape(-1, m, columns))

    found = [
        _eigenpairs(a, b, x, k, i, limit, tol, largest is not False)
        for a, b, x, i in zip(
            matrices(A, m), matrices(B, m), matrices(X, n), matrices(iK, m), strict=True
        )
        if a is not None and x is not None
    ]
    values = zero.stack([e for e, _ in found]).reshape(*batch, k)
    return values, zero.stack([v for _, v in found]).reshape(*batch, m, k)
