"""Least squares, pseudo-inverses and ranks."""

from __future__ import annotations

import zero
from zero import Tensor, _deliver, _linalg, return_types
from zero.errors import DTypeError, ShapeError, ValueError
from zero.linalg._results import check_info, check_matrices, check_square, deliver_all
from zero.linalg.factors import eigh, eigvalsh, svd, svdvals
from zero.linalg.solving import is_vector_side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    Bound: TypeAlias = float | Tensor | None

__all__ = ["lstsq", "matrix_rank", "pinv"]


def _bounds(op: str, A: Tensor, atol: Bound, rtol: Bound) -> tuple[float | Tensor, float | Tensor]:
    """The absolute and the relative bound below which a singular value counts as 0."""
    for name, x in (("atol", atol), ("rtol", rtol)):
        if isinstance(x, Tensor) and x.dtype.is_complex:
            raise DTypeError(f"{op}: {name} is complex; got {x.dtype}, expected real numbers")
    if rtol is None:
        eps = max(A.shape[-2:]) * zero.finfo(A.dtype).eps
        if isinstance(atol, Tensor):
            rtol = zero.where(atol > 0, 0.0, eps).to(A.dtype)
        else:
            rtol = 0.0 if atol is not None and atol > 0 else eps
    return (0.0 if atol is None else atol), rtol


def _limit(largest: Tensor, atol: float | Tensor, rtol: float | Tensor) -> Tensor:
    """max(atol, rtol * largest), for values along a last dimension."""
    if isinstance(rtol, Tensor):
        rtol = rtol.to(largest.dtype)
    bound = zero.as_tensor(atol, dtype=largest.dtype, device=largest.device)
    limit: Tensor = zero.maximum(bound, largest * rtol)
    return limit.unsqueeze(-1)


def matrix_rank(
    A: Tensor,
    tol: Bound = None,
    hermitian: bool = False,
    *,
    atol: Bound = None,
    rtol: Bound = None,
    out: Tensor | None = None,
) -> Tensor:
    """Ranks of matrices: how many singular values are above ``max(atol, rtol * largest)``.

    Args:
        A: of shape [..., m, n].
        tol: the same as `atol`, with an `rtol` of 0.
        hermitian: A is symmetric; its lower triangle is read.
        atol: the absolute bound: a number or a tensor that broadcasts with the ranks; 0 for None.
        rtol: the relative bound; for None it is 0 if `atol` is above 0, else max(m, n) times the
            machine epsilon.
        out: where to write the result: a tensor of its shape, or one without elements.

    Returns:
        A tensor of int64.

    Raises:
        ShapeError: A is no matrix.
        DTypeError: A is not of float32 or float64.

    Example:
        >>> import zero
        >>> zero.linalg.matrix_rank(zero.ones(3, 3))
        tensor(1)
    """
    check_matrices("matrix_rank", A)
    if tol is not None:
        atol, rtol = tol, 0.0
    low, relative = _bounds("matrix_rank", A, atol, rtol)
    with zero.no_grad():
        values = eigvalsh(A).abs() if hermitian else svdvals(A)
        if values.shape[-1] == 0:
            y = zero.zeros(A.shape[:-2], dtype=zero.int64, device=A.device)
        else:
            y = (values > _limit(values.amax(-1), low, relative)).sum(-1)
    return _deliver(y, out, "matrix_rank")


class _Pinv(zero.autograd.Function):
    """The pseudo-inverse, with a gradient that also exists where singular values are the same.

    dP = -P dA P + P P^T dA^T (1 - A P) + (1 - P A) dA^T P^T P while the rank stays (Golub, Pereyra
    1973, "The differentiation of pseudo-inverses").
    """

    @staticmethod
    def forward(ctx: Any, A: Tensor, atol: Bound, rtol: Bound, hermitian: bool) -> Tensor:
        low, relative = _bounds("pinv", A, atol, rtol)
        if hermitian:
            L, V = eigh(A)
            values = L.abs()
            scale = zero.where(values > _limit(values.amax(-1), low, relative), 1 / L, 0.0)
            P = (V * scale.unsqueeze(-2)) @ V.mT
        else:
            U, S, Vh = svd(A, full_matrices=False)
            scale = zero.where(S > _limit(S[..., 0], low, relative), 1 / S, 0.0)
            P = (Vh.mT * scale.unsqueeze(-2)) @ U.mT
        ctx.save_for_backward(A, P)
        result: Tensor = P
        return result

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None, None]:
        A, P = ctx.saved_tensors
        Pt, gt = P.mT, g.mT
        inner = gt @ P
        y = -Pt @ (g @ Pt)
        other = P @ gt
        y = y + (inner - A @ (P @ inner)) @ Pt + Pt @ (other - (other @ P) @ A)
        return y, None, None, None


def pinv(
    A: Tensor,
    rcond: Bound = None,
    hermitian: bool = False,
    *,
    atol: Bound = None,
    rtol: Bound = None,
    out: Tensor | None = None,
) -> Tensor:
    """Pseudo-inverses (Moore, Penrose): the inverse where a matrix has one, else the nearest.

    Singular values up to ``max(atol, rtol * largest)`` count as 0.

    Args:
        A: of shape [..., m, n].
        rcond: another name of `rtol`.
        hermitian: A is symmetric; its lower triangle is read.
        atol: the absolute bound: a number or a tensor; 0 for None.
        rtol: the relative bound; for None it is 0 if `atol` is above 0, else max(m, n) times the
            machine epsilon.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: there are infinities or NaN.
        ShapeError: A is no matrix.
        DTypeError: A is not of float32 or float64.

    Example:
        >>> import zero
        >>> zero.linalg.pinv(zero.tensor([[2.0, 0.0], [0.0, 0.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.0]]
    """
    check_matrices("pinv", A)
    if hermitian:
        check_square("pinv", A)
    if A.numel() == 0:
        return _deliver(A.mT.clone(), out, "pinv")
    P: Tensor = _Pinv.apply(A, atol, rcond if rtol is None else rtol, hermitian)
    return _deliver(P, out, "pinv")


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


class _Solution(zero.autograd.Function):
    """X of least squares, with the gradient of pinv(A) B, by which it is differentiated again."""

    @staticmethod
    def forward(ctx: Any, A: Tensor, B: Tensor, X: Tensor) -> Tensor:
        ctx.save_for_backward(A, B)
        return X.clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        A, B = ctx.saved_tensors
        for_a, for_b, _ = ctx.needs_input_grad
        again = zero.is_grad_enabled()
        wanted = [x for x, needed in ((A, for_a), (B, for_b)) if needed]
        with zero.enable_grad():
            found = list(zero.autograd.grad(pinv(A) @ B, wanted, g, create_graph=again))
        return found.pop(0) if for_a else None, found.pop(0) if for_b else None, None


def lstsq(
    A: Tensor,
    B: Tensor,
    rcond: float | None = None,
    *,
    driver: str | None = None,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """The X with the smallest ``||A X - B||``, and of several such the one with the smallest norm.

    ======= ===========================================================
    driver  way
    ======= ===========================================================
    'gels'  QR, for matrices of full rank
    'gelsy' QR with columns that change places; the default
    'gelsd' singular values, by divide and conquer
    'gelss' singular values
    ======= ===========================================================

    Args:
        A: of shape [..., m, n].
        B: of shape [..., m, k], or a vector for each matrix.
        rcond: singular values up to `rcond` times the largest count as 0; max(m, n) times the
            machine epsilon for None.
        driver: one of the table.
        out: four tensors to write the results to.

    Returns:
        The tuple (solution, residuals, rank, singular_values): X [..., n, k]; where m > n and ranks
        are full, the sums of squares of what is left, [..., k], else no elements, nor with 'gelsy';
        ranks, not with 'gels'; singular values with 'gelsd' and 'gelss'.

    Raises:
        LinAlgError: it did not converge, or, with 'gels', a rank is not full.
        ValueError: the driver is unknown.
        ShapeError: the shapes don't fit.
        DTypeError: the dtypes differ, or are not float32 or float64.

    Example:
        >>> import zero
        >>> A = zero.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])  # a line through three points
        >>> zero.linalg.lstsq(A, zero.tensor([[1.0], [3.0], [5.0]])).solution.round(decimals=4)
        tensor([[1.],
                [2.]])
    """
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise ValueError(f"lstsq: unknown driver; got {driver!r}, expected one of {_DRIVERS}")
    check_matrices("lstsq", A)
    if vector := is_vector_side(A, B):
        B = B.unsqueeze(-1)
    if B.ndim < 2 or B.shape[-2] != A.shape[-2]:
        raise ShapeError(
            f"lstsq: the equations don't fit; got A {tuple(A.shape)} and B {tuple(B.shape)}, "
            "expected as many rows of B as A has"
        )
    m, n = A.shape[-2:]
    if rcond is None:
        rcond = zero.finfo(A.dtype).eps * max(m, n)
    with zero.no_grad():
        both, rank, values, info = _linalg("lstsq", (A, B), _DRIVERS.index(driver), rcond)
    check_info("lstsq", info, "it did not work out; got error {} of LAPACK, expected full ranks")
    X = both[..., :n, :]
    recorded = zero.is_grad_enabled() and (A.requires_grad or B.requires_grad)
    if recorded:
        X = _Solution.apply(A, B, X)
    residuals = A.reshape(-1)[:0] + B.reshape(-1)[:0]  # recorded, as the solution is
    ranks = zero._all_values(rank)
    full = driver == "gels" or A.device.type == "meta" or bool((ranks == n).all())
    if m > n and driver != "gelsy" and full:
        rest = A @ X - B if recorded else both[..., n:, :]
        residuals = (rest * rest).sum(-2)
        if vector:
            residuals = residuals.squeeze(-1)
    results = (
        X.squeeze(-1) if vector else X,
        residuals,
        rank.new_empty(0) if driver == "gels" else rank,
        values if driver in ("gelsd", "gelss") else values.new_empty(0),
    )
    return return_types.linalg_lstsq(deliver_all(results, out, "lstsq"))
