"""Equations, inverses and determinants."""

from __future__ import annotations

import zero
from zero import Tensor, _deliver, _linalg, return_types
from zero.errors import ShapeError
from zero.linalg._results import check_info, check_matrices, deliver_all
from zero.linalg.factors import permutation, unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Out = Sequence[Tensor] | None

__all__ = [
    "det",
    "inv",
    "inv_ex",
    "ldl_solve",
    "lu_solve",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "tensorinv",
    "tensorsolve",
]

_SINGULAR = (
    "the matrix is singular; got a zero as element {} of the diagonal of its U, expected an "
    "invertible matrix"
)


def is_vector_side(A: Tensor, B: Tensor) -> bool:
    """Whether B has a vector, not a matrix, for each matrix of A."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])


def _solved(op: str, A: Tensor, B: Tensor, left: bool) -> tuple[Tensor, Tensor]:
    if vector := is_vector_side(A, B):
        if not left:
            raise ShapeError(
                f"{op}: vectors stand to the right of a matrix; got left=False and B "
                f"{tuple(B.shape)}, expected matrices"
            )
        B = B.unsqueeze(-1)
    if left:
        X, info = _linalg("solve", (A, B))
    else:
        check_matrices(op, A)
        check_matrices(op, B)
        X, info = _linalg("solve", (A.mT, B.mT))
        X = X.mT
    return (X.squeeze(-1) if vector else X), info


def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """The solution X of ``A X = B``.

    By LU factors: as fast as half an inverse, and more exact.

    Args:
        A: of shape [..., n, n].
        B: of shape [..., n, m], or a vector for each matrix: [n] or [..., n]. Leading dimensions
            broadcast.
        left: False for the solution of ``X A = B``.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: a matrix is singular.
        ShapeError: A is not square, or B doesn't fit.
        DTypeError: the dtypes differ, or are not float32 or float64.

    Example:
        >>> import zero
        >>> A = zero.tensor([[4.0, 2.0], [2.0, 3.0]])
        >>> zero.linalg.solve(A, zero.tensor([8.0, 8.0]))
        tensor([1., 2.])
    """
    X, info = _solved("solve", A, B, left)
    check_info("solve", info, _SINGULAR)
    return _deliver(X, out, "solve")


def solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Out = None
) -> Any:
    """:func:`solve`, with `info` in the place of an error.

    Args:
        A: of shape [..., n, n].
        B: of shape [..., n, m], or vectors.
        left: False for the solution of ``X A = B``.
        check_errors: raises the error after all.
        out: two tensors to write the results to.

    Returns:
        The pair (result, info). `info` is 0, or the number of the first zero on U's diagonal.

    Example:
        >>> import zero
        >>> zero.linalg.solve_ex(zero.zeros(2, 2), zero.ones(2)).info
        tensor(1, dtype=zero.int32)
    """
    results = _solved("solve_ex", A, B, left)
    if check_errors:
        check_info("solve_ex", results[1], _SINGULAR)
    return return_types.linalg_solve_ex(deliver_all(results, out, "solve_ex"))


def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The solution X of ``A X = B`` for triangular matrices.

    A zero on the diagonal gives infinities and NaN, and no error.

    Args:
        A: of shape [..., n, n]; the other triangle is not read.
        B: of shape [..., n, m]; leading dimensions broadcast.
        upper: whether A is upper triangular, or lower.
        left: False for the solution of ``X A = B``, with B [..., m, n].
        unitriangular: the diagonal counts as ones and is not read.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: A is not square, or B doesn't fit.
        DTypeError: the dtypes differ, or are not float32 or float64.

    Example:
        >>> import zero
        >>> A = zero.tensor([[2.0, 0.0], [1.0, 3.0]])
        >>> zero.linalg.solve_triangular(A, zero.tensor([[2.0], [7.0]]), upper=False).tolist()
        [[1.0], [2.0]]
    """
    if left:
        X = _linalg("solve_triangular", (A, B), int(upper) + 2 * unitriangular)[0]
    else:
        check_matrices("solve_triangular", A)
        check_matrices("solve_triangular", B)
        option = int(not upper) + 2 * unitriangular
        X = _linalg("solve_triangular", (A.mT, B.mT), option)[0].mT
    return _deliver(X, out, "solve_triangular")


def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The solution X of ``A X = B`` by the factors of A.

    Args:
        LU: of shape [..., n, n], from :func:`lu_factor`.
        pivots: of shape [..., n], from there, too.
        B: of shape [..., n, m]; leading dimensions broadcast.
        left: False for the solution of ``X A = B``.
        adjoint: solves with the transpose of A.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes don't fit.
        DTypeError: dtypes differ, or the pivots are not int32.
        ValueError: a pivot is no row.

    Example:
        >>> import zero
        >>> A = zero.tensor([[4.0, 2.0], [2.0, 3.0]])
        >>> LU, pivots = zero.linalg.lu_factor(A)
        >>> zero.linalg.lu_solve(LU, pivots, zero.tensor([[8.0], [8.0]])).tolist()
        [[1.0], [2.0]]
    """
    if not left:
        check_matrices("lu_solve", B)
        X = lu_solve(LU, pivots, B.mT, adjoint=not adjoint).mT
    elif LU.requires_grad and zero.is_grad_enabled():
        check_matrices("lu_solve", LU)
        L, U = unpacked(LU)
        P = permutation(pivots, LU.shape[-1], LU)
        if adjoint:
            Y = solve_triangular(U.mT, B, upper=False)
            X = P @ solve_triangular(L.mT, Y, upper=True, unitriangular=True)
        else:
            Y = solve_triangular(L, P.mT @ B, upper=False, unitriangular=True)
            X = solve_triangular(U, Y, upper=True)
    else:
        X = _linalg("lu_solve", (LU, pivots, B), int(adjoint))[0]
    return _deliver(X, out, "lu_solve")


def ldl_solve(
    LD: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The solution X of ``A X = B`` by the factors of a symmetric A.

    There is no gradient, as in PyTorch.

    Args:
        LD: of shape [..., n, n], from :func:`ldl_factor`.
        pivots: of shape [..., n], from there, too.
        B: of shape [..., n, m]; leading dimensions broadcast.
        hermitian: no difference for real numbers.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes don't fit.
        DTypeError: dtypes differ, or the pivots are not int32.
        NotImplementedError: a tensor requires a gradient.

    Example:
        >>> import zero
        >>> LD, pivots = zero.linalg.ldl_factor(zero.tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> zero.linalg.ldl_solve(LD, pivots, zero.tensor([[2.0], [3.0]])).tolist()
        [[3.0], [2.0]]
    """
    if zero.is_grad_enabled() and (LD.requires_grad or B.requires_grad):
        raise NotImplementedError(
            "ldl_solve: no gradient; got a tensor that requires one, expected detach() (PyTorch "
            "has none, either)"
        )
    return _deliver(_linalg("ldl_solve", (LD, pivots, B))[0], out, "ldl_solve")


def inv_ex(A: Tensor, *, check_errors: bool = False, out: Out = None) -> Any:
    """:func:`inv`, with `info` in the place of an error.

    Args:
        A: of shape [..., n, n].
        check_errors: raises the error after all.
        out: two tensors to write the results to.

    Returns:
        The pair (inverse, info). `info` is 0, or the number of the first zero on U's diagonal; the
        inverse of such a matrix has no meaning.

    Example:
        >>> import zero
        >>> zero.linalg.inv_ex(zero.zeros(2, 2)).info
        tensor(1, dtype=zero.int32)
    """
    results = _linalg("inv", (A,))
    if check_errors:
        check_info("inv_ex", results[1], _SINGULAR)
    return return_types.linalg_inv_ex(deliver_all(results, out, "inv_ex"))


def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverses of matrices: ``A^-1 A = 1``.

    :func:`solve` is faster and more exact where ``A^-1 B`` is wanted.

    Args:
        A: of shape [..., n, n].
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: a matrix is singular.
        ShapeError: A is no square matrix.
        DTypeError: A is not of float32 or float64.

    Example:
        >>> import zero
        >>> zero.linalg.inv(zero.tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    inverse, info = _linalg("inv", (A,))
    check_info("inv", info, _SINGULAR)
    return _deliver(inverse, out, "inv")


def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Determinants of square matrices.

    Args:
        A: of shape [..., n, n].
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: A is no square matrix.
        DTypeError: A is not of float32 or float64.

    Example:
        >>> import zero
        >>> zero.linalg.det(zero.tensor([[2.0, 0.0], [1.0, 4.0]]))
        tensor(8.)
    """
    return _deliver(_linalg("det", (A,))[0], out, "det")


def slogdet(A: Tensor, *, out: Out = None) -> Any:
    """Determinants by their sign and the logarithm of their magnitude.

    Args:
        A: of shape [..., n, n].
        out: two tensors to write the results to.

    Returns:
        The pair (sign, logabsdet); 0 and -inf for singular matrices.

    Raises:
        ShapeError: A is no square matrix.
        DTypeError: A is not of float32 or float64.

    Example:
        >>> import zero
        >>> zero.linalg.slogdet(-zero.eye(3)).sign
        tensor(-1.)
    """
    return return_types.linalg_slogdet(deliver_all(_linalg("slogdet", (A,)), out, "slogdet"))


def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of a tensor as a map: ``tensordot(tensorinv(A), A, ind)`` is the identity.

    Args:
        A: its first `ind` sizes have the same product as the others.
        ind: at least 1.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: the map is singular.
        ShapeError: the products of the sizes differ.
        ValueError: `ind` is below 1.

    Example:
        >>> import zero
        >>> zero.linalg.tensorinv(zero.eye(6).reshape(2, 3, 6), ind=2).shape
        zero.Size([6, 2, 3])
    """
    if not isinstance(ind, int) or ind < 1:
        raise zero.errors.ValueError(f"tensorinv: ind is too small; got {ind}, expected at least 1")
    before, after = A.shape[:ind], A.shape[ind:]
    n = before.numel()
    if n != after.numel():
        raise ShapeError(
            f"tensorinv: no square map; got {tuple(A.shape)} and ind={ind}, expected the same "
            f"product of the first {ind} sizes and of the others"
        )
    return _deliver(inv(A.reshape(n, n)).reshape(*after, *before), out, "tensorinv")


def tensorsolve(
    A: Tensor, B: Tensor, dims: Sequence[int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The solution X of ``tensordot(A, X, X.ndim) = B``.

    Args:
        A: its sizes are those of B and then those of X.
        B: of as many elements as X has.
        dims: dimensions of A that are moved to the end first.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: the map is singular.
        ShapeError: the sizes don't fit.

    Example:
        >>> import zero
        >>> zero.linalg.tensorsolve(zero.eye(6).reshape(2, 3, 6), zero.ones(2, 3)).shape
        zero.Size([6])
    """
    if dims is not None:
        ends = tuple(range(A.ndim - len(dims), A.ndim))
        A = A.movedim(tuple(dims), ends)
    shape = A.shape[B.ndim :]
    n = shape.numel()
    if n != B.numel() or A.numel() != n * n:
        raise ShapeError(
            f"tensorsolve: no square map; got A {tuple(A.shape)} and B {tuple(B.shape)}, expected "
            "the sizes of B and then others with the same product"
        )
    return _deliver(solve(A.reshape(n, n), B.reshape(n)).reshape(shape), out, "tensorsolve")
