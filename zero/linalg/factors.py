"""Factors of matrices: Cholesky, LU, QR, LDL, singular values and eigenvalues."""

from __future__ import annotations

import zero
from zero import Tensor, _deliver, _linalg, return_types
from zero.errors import ValueError
from zero.linalg._results import check_info, deliver_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    Out = Sequence[Tensor] | None

__all__ = [
    "cholesky",
    "cholesky_ex",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "ldl_factor",
    "ldl_factor_ex",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "qr",
    "svd",
    "svdvals",
]

_NOT_POSITIVE = (
    "the matrix is not positive-definite; got a leading minor of order {} that is not positive, "
    "expected a symmetric positive-definite matrix"
)
_SINGULAR = (
    "U has a zero on its diagonal, so that nothing can be solved with it; got it at element {}, "
    "expected an invertible matrix, or a call of lu_factor_ex or lu"
)


# ---- Cholesky ------------------------------------------------------------------------------------
def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """Cholesky's factor of symmetric positive-definite matrices: ``A = L L^T``.

    Args:
        A: of shape [..., n, n]; only the triangle of the factor is read.
        upper: the factor is upper triangular instead: ``A = U^T U``.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: a matrix is not positive-definite.
        ShapeError: A is no square matrix.
        DTypeError: A is not of float32 or float64.

    Example:
        >>> import zero
        >>> zero.linalg.cholesky(zero.tensor([[4.0, 2.0], [2.0, 10.0]]))
        tensor([[2., 0.],
                [1., 3.]])
    """
    L, info = _linalg("cholesky", (A,), int(upper))
    check_info("cholesky", info, _NOT_POSITIVE)
    return _deliver(L, out, "cholesky")


def cholesky_ex(
    A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Out = None
) -> Any:
    """:func:`cholesky`, with `info` in the place of an error.

    Args:
        A: of shape [..., n, n].
        upper: the factor is upper triangular.
        check_errors: raises the error after all.
        out: two tensors to write the results to.

    Returns:
        The pair (L, info). `info` is 0, or the order of the first leading minor that is not
        positive; the factor of such a matrix has no meaning.

    Example:
        >>> import zero
        >>> zero.linalg.cholesky_ex(zero.tensor([[1.0, 2.0], [2.0, 1.0]])).info
        tensor(2, dtype=zero.int32)
    """
    results = _linalg("cholesky", (A,), int(upper))
    if check_errors:
        check_info("cholesky_ex", results[1], _NOT_POSITIVE)
    return return_types.linalg_cholesky_ex(deliver_all(results, out, "cholesky_ex"))


# ---- LU ------------------------------------------------------------------------------------------
def _check_pivot(op: str, pivot: bool) -> None:
    if not pivot:
        raise NotImplementedError(
            f"{op}: no factors without pivoting; got pivot=False, expected True (as PyTorch on "
            "the CPU)"
        )


def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Out = None
) -> Any:
    """:func:`lu_factor`, with `info` in the place of an error.

    Args:
        A: of shape [..., m, n].
        pivot: True.
        check_errors: raises the error after all.
        out: three tensors to write the results to.

    Returns:
        The triple (LU, pivots, info). `info` is 0, or the number, from 1 on, of the first zero on
        the diagonal of U.

    Example:
        >>> import zero
        >>> zero.linalg.lu_factor_ex(zero.zeros(2, 2)).info
        tensor(1, dtype=zero.int32)
    """
    _check_pivot("lu_factor_ex", pivot)
    results = _linalg("lu_factor", (A,))
    if check_errors:
        check_info("lu_factor_ex", results[2], _SINGULAR)
    return return_types.linalg_lu_factor_ex(deliver_all(results, out, "lu_factor_ex"))


def lu_factor(A: Tensor, *, pivot: bool = True, out: Out = None) -> Any:
    """Factors of matrices, ``A = P L U``, in the form that :func:`lu_solve` takes.

    Rows change places so that the largest element of a column stands on the diagonal.

    Args:
        A: of shape [..., m, n].
        pivot: True.
        out: two tensors to write the results to.

    Returns:
        The pair (LU, pivots): a matrix with U on and above its diagonal and L, whose diagonal is 1,
        below; and the row, from 1 on, that each row changed places with.

    Raises:
        LinAlgError: the diagonal of U has a zero.

    Example:
        >>> import zero
        >>> LU, pivots = zero.linalg.lu_factor(zero.tensor([[1.0, 2.0], [4.0, 2.0]]))
        >>> LU.tolist(), pivots.tolist()
        ([[4.0, 2.0], [0.25, 1.5]], [2, 2])
    """
    _check_pivot("lu_factor", pivot)
    LU, pivots, info = _linalg("lu_factor", (A,))
    check_info("lu_factor", info, _SINGULAR)
    return return_types.linalg_lu_factor(deliver_all((LU, pivots), out, "lu_factor"))


def permutation(pivots: Tensor, n: int, like: Tensor) -> Tensor:
    """The matrix P of ``A = P L U``, with n rows."""
    k = pivots.shape[-1]
    if k < n:  # the other rows stay
        rest = zero.arange(k + 1, n + 1, dtype=zero.int32, device=pivots.device)
        pivots = zero.cat([pivots, rest.expand(*pivots.shape[:-1], n - k)], -1)
    identity = zero.eye(n, dtype=like.dtype, device=like.device).expand(*pivots.shape, n)
    P: Tensor = _linalg("lu_solve", (identity, pivots, identity), 1)[0]
    return P


def unpacked(LU: Tensor) -> tuple[Tensor, Tensor]:
    m, n = LU.shape[-2:]
    k = min(m, n)
    L = LU[..., :k].tril(-1) + zero.eye(m, k, dtype=LU.dtype, device=LU.device)
    return L, LU[..., :k, :].triu()


def lu(A: Tensor, *, pivot: bool = True, out: Out = None) -> Any:
    """Factors of matrices: ``A = P L U``.

    Args:
        A: of shape [..., m, n].
        pivot: True.
        out: three tensors to write the results to.

    Returns:
        The triple (P, L, U): a permutation [..., m, m], a lower triangular [..., m, k] whose
        diagonal is 1 and an upper triangular [..., k, n], with k = min(m, n).

    Example:
        >>> import zero
        >>> A = zero.tensor([[1.0, 2.0], [4.0, 2.0]])
        >>> P, L, U = zero.linalg.lu(A)
        >>> zero.equal(P @ L @ U, A)
        True
    """
    _check_pivot("lu", pivot)
    LU, pivots, _ = _linalg("lu_factor", (A,))
    results = (permutation(pivots, A.shape[-2], A), *unpacked(LU))
    return return_types.linalg_lu(deliver_all(results, out, "lu"))


# ---- QR ------------------------------------------------------------------------------------------
def qr(A: Tensor, mode: str = "reduced", *, out: Out = None) -> Any:
    """Factors of matrices, ``A = Q R``: orthonormal columns and an upper triangle.

    By Householder's reflections, so that the diagonal of R may have negative elements.

    Args:
        A: of shape [..., m, n].
        mode: 'reduced' for a Q [..., m, k] with k = min(m, n), 'complete' for [..., m, m], 'r' for
            R alone.
        out: two tensors to write the results to.

    Returns:
        The pair (Q, R); Q has no elements for the mode 'r'.

    Raises:
        ValueError: the mode is unknown.
        ShapeError: A is no matrix.
        DTypeError: A is not of float32 or float64.

    Example:
        >>> import zero
        >>> A = zero.tensor([[3.0, 1.0], [4.0, 2.0]])
        >>> Q, R = zero.linalg.qr(A)
        >>> zero.allclose(Q @ R, A), zero.allclose(Q.mT @ Q, zero.eye(2), atol=1e-6)
        (True, True)
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: unknown mode; got {mode!r}, expected 'reduced', 'complete' or 'r'")
    if mode == "r" and not A.requires_grad:
        R = _linalg("geqrf", (A,))[0][..., : min(A.shape[-2:]), :].triu()
    else:
        Q, R = _linalg("qr", (A,), int(mode == "complete"))
    if mode == "r":
        Q = A.new_empty(0)
    return return_types.linalg_qr(deliver_all((Q, R), out, "qr"))


def householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of a product of reflections, ``H_i = 1 - tau_i v_i v_i^T``.

    A vector v_i is 0 above the diagonal, 1 on it and the i-th column of A below it, as
    :func:`zero.geqrf` gives them.

    Args:
        A: of shape [..., m, n] with m >= n.
        tau: of shape [..., k] with k <= n.
        out: where to write the result: a tensor of its shape, or one without elements.

    Returns:
        A tensor of the shape of A.

    Raises:
        ShapeError: the shapes don't fit.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> A = zero.tensor([[3.0, 1.0], [4.0, 2.0]])
        >>> Q = zero.linalg.householder_product(*zero.geqrf(A))
        >>> zero.allclose(Q, zero.linalg.qr(A).Q)
        True
    """
    Q: Tensor = _linalg("householder_product", (A, tau))[0]
    if zero.is_grad_enabled() and (A.requires_grad or tau.requires_grad):
        m, n = A.shape[-2:]
        unit = zero.eye(m, n, dtype=A.dtype, device=A.device)
        Q, below = unit + A[..., :0].sum(-1, keepdim=True), A.tril(-1)  # recorded without any tau
        for i in reversed(range(tau.shape[-1])):
            v = (below[..., i] + unit[:, i]).unsqueeze(-1)
            Q = Q - tau[..., i, None, None] * (v @ (v.mT @ Q))
    return _deliver(Q, out, "householder_product")


# ---- LDL -----------------------------------------------------------------------------------------
_SINGULAR_D = (
    "D is singular; got a zero as its element {}, expected an invertible matrix, or a call of "
    "ldl_factor_ex"
)


def ldl_factor_ex(
    A: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Out = None
) -> Any:
    """:func:`ldl_factor`, with `info` in the place of an error.

    Args:
        A: of shape [..., n, n].
        hermitian: no difference for real numbers.
        check_errors: raises the error after all.
        out: three tensors to write the results to.

    Returns:
        The triple (LD, pivots, info). `info` is 0, or the number of the first zero of D.

    Example:
        >>> import zero
        >>> zero.linalg.ldl_factor_ex(zero.eye(2)).info
        tensor(0, dtype=zero.int32)
    """
    results = _linalg("ldl_factor", (_symmetric_leaf("ldl_factor_ex", A),))
    if check_errors:
        check_info("ldl_factor_ex", results[2], _SINGULAR_D)
    return return_types.linalg_ldl_factor_ex(deliver_all(results, out, "ldl_factor_ex"))


def _symmetric_leaf(op: str, A: Tensor) -> Tensor:
    if zero.is_grad_enabled() and A.requires_grad:
        raise NotImplementedError(
            f"{op}: no gradient; got a tensor that requires one, expected detach() (PyTorch has "
            "none, either)"
        )
    return A


def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Out = None) -> Any:
    """Factors of symmetric matrices: ``A = L D L^T``, where D has blocks of size 1 and 2.

    Only the lower triangle is read. There is no gradient, as in PyTorch.

    Args:
        A: of shape [..., n, n].
        hermitian: no difference for real numbers.
        out: two tensors to write the results to.

    Returns:
        The pair (LD, pivots), in LAPACK's form, for :func:`ldl_solve`.

    Raises:
        LinAlgError: D has a zero.

    Example:
        >>> import zero
        >>> A = zero.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> LD, pivots = zero.linalg.ldl_factor(A)
        >>> zero.linalg.ldl_solve(LD, pivots, zero.tensor([[2.0], [3.0]])).tolist()
        [[3.0], [2.0]]
    """
    LD, pivots, info = _linalg("ldl_factor", (_symmetric_leaf("ldl_factor", A),))
    check_info("ldl_factor", info, _SINGULAR_D)
    return return_types.linalg_ldl_factor(deliver_all((LD, pivots), out, "ldl_factor"))


# ---- singular values -----------------------------------------------------------------------------
_NO_VALUES = (
    "the singular values were not found; got error {} of LAPACK (-1: elements that are not "
    "finite), expected finite elements"
)


def _check_driver(op: str, driver: str | None) -> None:
    if driver is not None:
        raise ValueError(f"{op}: a driver is chosen on CUDA only; got {driver!r}, expected None")


def svd(
    A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Out = None
) -> Any:
    """Singular values and vectors: ``A = U diag(S) Vh``.

    Vectors are unique up to their signs, where values differ. So are gradients through them, which
    are infinite where two values are the same; gradients of the values alone have no such poles.

    Args:
        A: of shape [..., m, n].
        full_matrices: U is [..., m, m] and Vh is [..., n, n]; else they have k = min(m, n) columns
            or rows.
        driver: None, as PyTorch's are those of CUDA.
        out: three tensors to write the results to.

    Returns:
        The triple (U, S, Vh); S is [..., k] and falls.

    Raises:
        LinAlgError: there are infinities or NaN, or it did not converge.
        ShapeError: A is no matrix.
        DTypeError: A is not of float32 or float64.

    Example:
        >>> import zero
        >>> A = zero.tensor([[0.0, 2.0], [3.0, 0.0]])
        >>> U, S, Vh = zero.linalg.svd(A)
        >>> S, zero.allclose(U @ zero.diag(S) @ Vh, A, atol=1e-6)
        (tensor([3., 2.]), True)
    """
    _check_driver("svd", driver)
    U, S, Vh, info = _linalg("svd", (A,), int(full_matrices) + 2)
    check_info("svd", info, _NO_VALUES)
    return return_types.linalg_svd(deliver_all((U, S, Vh), out, "svd"))


def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """Singular values: the S of :func:`svd`.

    Args:
        A: of shape [..., m, n].
        driver: None, as PyTorch's are those of CUDA.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: there are infinities or NaN, or it did not converge.

    Example:
        >>> import zero
        >>> zero.linalg.svdvals(zero.tensor([[0.0, 2.0], [3.0, 0.0]]))
        tensor([3., 2.])
    """
    _check_driver("svdvals", driver)
    recorded = A.requires_grad and zero.is_grad_enabled()
    _, S, _, info = _linalg("svd", (A,), 2 if recorded else 0)
    check_info("svdvals", info, _NO_VALUES)
    return _deliver(S, out, "svdvals")


# ---- eigenvalues ---------------------------------------------------------------------------------
_NO_EIGENVALUES = (
    "the eigenvalues were not found; got error {} of LAPACK (-1: elements that are not finite), "
    "expected finite elements"
)


def _eigh(op: str, A: Tensor, UPLO: str, vectors: bool) -> tuple[Tensor, Tensor]:
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise ValueError(f"{op}: UPLO is no triangle; got {UPLO!r}, expected 'L' or 'U'")
    L, V, info = _linalg("eigh", (A,), int(UPLO.upper() == "U") + 2 * vectors)
    check_info(op, info, _NO_EIGENVALUES)
    return L, V


def eigh(A: Tensor, UPLO: str = "L", *, out: Out = None) -> Any:
    """Eigenvalues and eigenvectors of symmetric matrices: ``A = V diag(L) V^T``.

    Vectors are unique up to their signs, where values differ. So are gradients through them, which
    are infinite where two values are the same.

    Args:
        A: of shape [..., n, n].
        UPLO: the triangle that is read: 'L' for the lower, 'U' for the upper one.
        out: two tensors to write the results to.

    Returns:
        The pair (L, V): values [..., n], which rise, and vectors, the columns of V.

    Raises:
        LinAlgError: there are infinities or NaN, or it did not converge.
        ShapeError: A is no square matrix.
        DTypeError: A is not of float32 or float64.

    Example:
        >>> import zero
        >>> zero.linalg.eigh(zero.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
        tensor([1., 3.])
    """
    return return_types.linalg_eigh(deliver_all(_eigh("eigh", A, UPLO, True), out, "eigh"))


def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of symmetric matrices: the values of :func:`eigh`.

    Args:
        A: of shape [..., n, n].
        UPLO: the triangle that is read: 'L' for the lower, 'U' for the upper one.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: there are infinities or NaN, or it did not converge.

    Example:
        >>> import zero
        >>> zero.linalg.eigvalsh(zero.tensor([[2.0, 1.0], [1.0, 2.0]]))
        tensor([1., 3.])
    """
    recorded = A.requires_grad and zero.is_grad_enabled()
    return _deliver(_eigh("eigvalsh", A, UPLO, recorded)[0], out, "eigvalsh")


def _complex_results(op: str) -> NoReturn:
    raise NotImplementedError(
        f"{op}: results are complex, which zero has no dtype for; got a matrix that need not be "
        "symmetric, expected eigh or eigvalsh for symmetric ones (numpy.linalg has the others)"
    )


def eig(A: Tensor, *, out: Out = None) -> NoReturn:
    """Eigenvalues of any matrix: not there, as they are complex.

    Args:
        A: a matrix.
        out: not used.

    Raises:
        NotImplementedError: always; :func:`eigh` is for symmetric matrices.
    """
    _complex_results("eig")


def eigvals(A: Tensor, *, out: Tensor | None = None) -> NoReturn:
    """Eigenvalues of any matrix: not there, as they are complex.

    Args:
        A: a matrix.
        out: not used.

    Raises:
        NotImplementedError: always; :func:`eigvalsh` is for symmetric matrices.
    """
    _complex_results("eigvals")
