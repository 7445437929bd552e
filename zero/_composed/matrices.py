"""The functions of linear algebra that PyTorch has beside those of its linalg, and as methods."""

from __future__ import annotations

import zero
from zero import Tensor, _deliver, _linalg, return_types
from zero._composed import nuclear
from zero._composed.arguments import attach
from zero.errors import ShapeError
from zero.linalg._results import check_square, deliver_all
from zero.linalg.factors import (
    cholesky as _cholesky,
    householder_product,
    lu_factor,
    lu_factor_ex,
    permutation,
    qr as _qr,
    svd as _svd,
    unpacked,
)
from zero.linalg.functions import matrix_exp, matrix_power
from zero.linalg.least_squares import pinv
from zero.linalg.solving import (
    det,
    inv,
    lu_solve as _lu_solve,
    slogdet as _slogdet,
    solve_triangular,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Out = Sequence[Tensor] | None

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "geqrf",
    "inverse",
    "logdet",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matrix_exp",
    "matrix_power",
    "nuclear_norm",
    "orgqr",
    "ormqr",
    "pinverse",
    "qr",
    "slogdet",
    "svd",
    "triangular_solve",
]


def cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Cholesky's factor: :func:`zero.linalg.cholesky`, whose `upper` is an argument with a name.

    Args:
        input: of shape [..., n, n], symmetric and positive-definite.
        upper: the factor is upper triangular.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: a matrix is not positive-definite.

    Example:
        >>> import zero
        >>> zero.cholesky(zero.tensor([[4.0, 2.0], [2.0, 10.0]]), upper=True).tolist()
        [[2.0, 1.0], [0.0, 3.0]]
    """
    return _cholesky(input, upper=upper, out=out)


class _CholeskySolve(zero.autograd.Function):
    """(L L^T)^-1 B, whose gradient goes to all elements of L, as in PyTorch."""

    @staticmethod
    def forward(ctx: Any, B: Tensor, L: Tensor, upper: bool) -> Tensor:
        first, second = (L.mT, L) if upper else (L, L.mT)
        X = solve_triangular(second, solve_triangular(first, B, upper=False), upper=True)
        ctx.upper = upper
        ctx.save_for_backward(L, X)
        return X

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor | None, None]:
        L, X = ctx.saved_tensors
        sides = cholesky_solve(g, L, ctx.upper)
        if not ctx.needs_input_grad[1]:
            return sides, None, None
        both = sides @ X.mT
        both = both + both.mT
        with zero.no_grad():
            rest = L.tril(-1) if ctx.upper else L.triu(1)
        L = L - rest  # the triangle, whose own gradient goes to all elements, too
        return sides, -(L @ both if ctx.upper else both @ L), None


def cholesky_solve(
    B: Tensor, L: Tensor, upper: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The solution X of ``A X = B`` by Cholesky's factor of A.

    Args:
        B: of shape [..., n, m]; leading dimensions broadcast.
        L: of shape [..., n, n]; the other triangle is not read.
        upper: L is the upper triangular factor.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: L is not square, or B doesn't fit.
        DTypeError: the dtypes differ, or are not float32 or float64.

    Example:
        >>> import zero
        >>> L = zero.tensor([[2.0, 0.0], [1.0, 3.0]])
        >>> zero.cholesky_solve(zero.tensor([[4.0], [11.0]]), L).tolist()
        [[0.5], [1.0]]
    """
    for name, x in (("B", B), ("L", L)):
        if x.ndim < 2:
            raise ShapeError(f"cholesky_solve: {name} is no matrix; got {tuple(x.shape)}")
    batch = zero.broadcast_shapes(B.shape[:-2], L.shape[:-2])
    B, L = B.expand(*batch, *B.shape[-2:]), L.expand(*batch, *L.shape[-2:])
    X: Tensor = _CholeskySolve.apply(B, L, upper)
    return _deliver(X, out, "cholesky_solve")


def cholesky_inverse(L: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of A by its Cholesky factor.

    Args:
        L: of shape [..., n, n]; the other triangle is not read.
        upper: L is the upper triangular factor.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: L is not square.
        DTypeError: L is not of float32 or float64.

    Example:
        >>> import zero
        >>> zero.cholesky_inverse(zero.tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
        [[0.25, 0.0], [0.0, 0.0625]]
    """
    check_square("cholesky_inverse", L)
    n = L.shape[-1]
    identity = zero.eye(n, dtype=L.dtype, device=L.device).expand(L.shape)
    T = solve_triangular(L.mT if upper else L, identity, upper=False)
    return _deliver(T.mT @ T, out, "cholesky_inverse")


def triangular_solve(
    b: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: Out = None,
) -> Any:
    """The solution X of ``A X = b`` for triangular matrices: :func:`zero.linalg.solve_triangular`.

    Args:
        b: of shape [..., n, m]; leading dimensions broadcast.
        A: of shape [..., n, n].
        upper: whether A is upper triangular.
        transpose: solves with the transpose of A.
        unitriangular: the diagonal counts as ones.
        out: two tensors to write the results to.

    Returns:
        The pair (solution, cloned_coefficient).

    Raises:
        ShapeError: A is not square, or b doesn't fit.

    Example:
        >>> import zero
        >>> zero.triangular_solve(zero.tensor([[4.0]]), zero.tensor([[2.0]])).solution
        tensor([[2.]])
    """
    matrix = A.mT if transpose else A
    X = solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    copy = A.expand(*X.shape[:-2], *A.shape[-2:]).clone()
    results = deliver_all((X, copy), out, "triangular_solve")
    return return_types.triangular_solve(results)


def logdet(input: Tensor) -> Tensor:
    """The logarithm of determinants: -inf for singular matrices, NaN where they are negative.

    Args:
        input: of shape [..., n, n].

    Raises:
        ShapeError: the input is no square matrix.

    Example:
        >>> import zero
        >>> zero.logdet(zero.eye(3))
        tensor(0.)
    """
    sign, log = _slogdet(input)
    return zero.where(sign == -1, zero.nan, log)


def slogdet(input: Tensor, *, out: Out = None) -> Any:
    """Determinants by sign and logarithm: :func:`zero.linalg.slogdet`.

    Args:
        input: of shape [..., n, n].
        out: two tensors to write the results to.

    Example:
        >>> import zero
        >>> zero.slogdet(-zero.eye(3)).logabsdet
        tensor(0.)
    """
    return return_types.slogdet(_slogdet(input, out=out))


def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverses of matrices: :func:`zero.linalg.inv`.

    Args:
        input: of shape [..., n, n].
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: a matrix is singular.

    Example:
        >>> import zero
        >>> zero.inverse(zero.tensor([[2.0]]))
        tensor([[0.5000]])
    """
    return inv(input, out=out)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Pseudo-inverses: :func:`zero.linalg.pinv`.

    Args:
        input: of shape [..., m, n].
        rcond: singular values up to `rcond` times the largest count as 0.

    Example:
        >>> import zero
        >>> zero.pinverse(zero.tensor([[2.0], [0.0]])).tolist()
        [[0.5, 0.0]]
    """
    return pinv(input, rcond)


def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Out = None) -> Any:
    """Singular values and vectors: ``A = U diag(S) V^T``; see :func:`zero.linalg.svd`.

    Args:
        input: of shape [..., m, n].
        some: U and V have only k = min(m, n) columns.
        compute_uv: False for zeros in the place of U and V.
        out: three tensors to write the results to.

    Returns:
        The triple (U, S, V).

    Example:
        >>> import zero
        >>> zero.svd(zero.tensor([[0.0, 2.0], [3.0, 0.0]])).S
        tensor([3., 2.])
    """
    if compute_uv:
        U, S, Vh = _svd(input, full_matrices=not some)
        V = Vh.mT
    else:
        S = zero.linalg.svdvals(input)
        m, n = input.shape[-2:]
        U, V = (S.new_zeros((*S.shape[:-1], k, k)) for k in (m, n))
    return return_types.svd(deliver_all((U, S, V), out, "svd"))


def qr(input: Tensor, some: bool = True, *, out: Out = None) -> Any:
    """``A = Q R``: :func:`zero.linalg.qr`, whose mode is a string.

    Args:
        input: of shape [..., m, n].
        some: True for the mode 'reduced', False for 'complete'.
        out: two tensors to write the results to.

    Example:
        >>> import zero
        >>> zero.qr(zero.ones(3, 2), some=False).Q.shape
        zero.Size([3, 3])
    """
    return return_types.qr(_qr(input, "reduced" if some else "complete", out=out))


def geqrf(input: Tensor, *, out: Out = None) -> Any:
    """``A = Q R`` in the form of reflections; see :func:`zero.linalg.householder_product`.

    There is no gradient, as in PyTorch: take :func:`zero.linalg.qr`.

    Args:
        input: of shape [..., m, n].
        out: two tensors to write the results to.

    Returns:
        The pair (a, tau): R on and above the diagonal of a, vectors below, and their factors
        [..., min(m, n)].

    Raises:
        NotImplementedError: the input requires a gradient.

    Example:
        >>> import zero
        >>> zero.geqrf(zero.tensor([[3.0], [4.0]])).a[0, 0]
        tensor(-5.)
    """
    if input.requires_grad and zero.is_grad_enabled():
        raise NotImplementedError(
            "geqrf: no gradient; got a tensor that requires one, expected detach(), or linalg.qr"
        )
    return return_types.geqrf(deliver_all(_linalg("geqrf", (input,)), out, "geqrf"))


def orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of reflections: :func:`zero.linalg.householder_product`.

    Args:
        input: of shape [..., m, n].
        tau: of shape [..., k].
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.orgqr(zero.tensor([[1.0], [0.0]]), zero.tensor([0.0])).tolist()
        [[1.0], [0.0]]
    """
    return householder_product(input, tau, out=out)


def ormqr(
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The product of a matrix with the whole orthogonal matrix of reflections: ``Q C``.

    Args:
        input: the vectors, as :func:`geqrf` gives them: [..., p, k].
        tau: their factors, [..., k].
        other: C, [..., m, n]; p = m, or n if it stands to the left.
        left: False for ``C Q``.
        transpose: the transpose of Q.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes don't fit.

    Example:
        >>> import zero
        >>> A = zero.tensor([[3.0], [4.0]])
        >>> zero.ormqr(*zero.geqrf(A), A, transpose=True).round(decimals=3).tolist()
        [[-5.0], [0.0]]
    """
    for name, x in (("input", input), ("other", other)):
        if x.ndim < 2:
            raise ShapeError(f"ormqr: {name} is no matrix; got {tuple(x.shape)}")
    p, k = input.shape[-2], tau.shape[-1]
    if other.shape[-2 if left else -1] != p or k > p:
        raise ShapeError(
            f"ormqr: the shapes don't fit; got input {tuple(input.shape)}, tau {tuple(tau.shape)} "
            f"and other {tuple(other.shape)}, expected as many {'rows' if left else 'columns'} of "
            "other as input has rows"
        )
    used = input[..., :k]
    square = zero.cat([used, used.new_zeros((*used.shape[:-1], p - k))], -1)
    Q = householder_product(square, tau)
    Q = Q.mT if transpose else Q
    return _deliver(Q @ other if left else other @ Q, out, "ormqr")


def lu(
    A: Tensor, pivot: bool = True, get_infos: bool = False, out: Out = None
) -> tuple[Tensor, ...]:
    """LU factors: :func:`zero.linalg.lu_factor`, or :func:`zero.linalg.lu_factor_ex`.

    Args:
        A: of shape [..., m, n].
        pivot: True.
        get_infos: a third result says for each matrix whether U has a zero on its diagonal, where
            it is an error else.
        out: two or three tensors to write the results to.

    Returns:
        The pair (LU, pivots) or the triple (LU, pivots, info).

    Example:
        >>> import zero
        >>> zero.lu(zero.eye(2), get_infos=True)[2]
        tensor(0, dtype=zero.int32)
    """
    return tuple((lu_factor_ex if get_infos else lu_factor)(A, pivot=pivot, out=out))


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The solution X of ``A X = b`` by the factors of A: :func:`zero.linalg.lu_solve`.

    Args:
        b: of shape [..., n, m].
        LU_data: the factors, [..., n, n].
        LU_pivots: [..., n].
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.lu_solve(zero.ones(2, 1), *zero.lu(2 * zero.eye(2))).tolist()
        [[0.5], [0.5]]
    """
    return _lu_solve(LU_data, LU_pivots, b, out=out)


def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Out = None,
) -> Any:
    """P, L and U of ``A = P L U`` from what :func:`zero.linalg.lu_factor` gives.

    Args:
        LU_data: of shape [..., m, n].
        LU_pivots: of shape [..., min(m, n)], int32.
        unpack_data: False for an L and a U without elements.
        unpack_pivots: False for a P without elements.
        out: three tensors to write the results to.

    Returns:
        The triple (P, L, U).

    Raises:
        ShapeError: the data is no matrix, or the pivots don't fit.
        DTypeError: the pivots are not int32.

    Example:
        >>> import zero
        >>> A = zero.tensor([[1.0, 2.0], [4.0, 2.0]])
        >>> P, L, U = zero.lu_unpack(*zero.linalg.lu_factor(A))
        >>> zero.equal(P @ L @ U, A)
        True
    """
    if LU_data.ndim < 2:
        raise ShapeError(
            f"lu_unpack: not a matrix; got {tuple(LU_data.shape)}, expected at least 2 dimensions"
        )
    nothing = LU_data.new_empty(0)
    P = L = U = nothing
    if unpack_pivots:
        if LU_pivots.dtype is not zero.int32:
            raise zero.errors.DTypeError(
                f"lu_unpack: pivots are not int32; got {LU_pivots.dtype}, expected the pivots of "
                "lu_factor"
            )
        if LU_pivots.shape != (*LU_data.shape[:-2], min(LU_data.shape[-2:])):
            raise ShapeError(
                f"lu_unpack: the pivots don't fit; got {tuple(LU_pivots.shape)} and LU_data "
                f"{tuple(LU_data.shape)}, expected a pivot for each row or column"
            )
        P = permutation(LU_pivots, LU_data.shape[-2], LU_data)
    if unpack_data:
        L, U = unpacked(LU_data)
    return return_types.lu_unpack(deliver_all((P, L, U), out, "lu_unpack"))


def nuclear_norm(
    input: Tensor,
    dim: Sequence[int] | bool | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The sum of the singular values: :func:`zero.linalg.matrix_norm` with 'nuc'.

    Args:
        input: a matrix, or more dimensions with two in `dim`.
        dim: the dimensions of rows and columns.
        keepdim: whether reduced dimensions stay, with size 1.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: there are not two dimensions.

    Example:
        >>> import zero
        >>> zero.nuclear_norm(zero.tensor([[0.0, 2.0], [3.0, 0.0]]))
        tensor(5.)
    """
    if isinstance(dim, bool):  # PyTorch's other form: nuclear_norm(input, keepdim)
        return nuclear_norm(input, None, dim, out=out)
    return _deliver(nuclear.nuclear_norm(input, dim, keepdim), out, "nuclear_norm")


attach(cholesky, cholesky_inverse, cholesky_solve, det, geqrf, inverse, logdet, lu, lu_solve)
attach(matrix_exp, matrix_power, orgqr, ormqr, pinverse, qr, slogdet, svd, triangular_solve)
