"""The entries of op_db for factorizations of matrices, what is solved with them, and covariances.

Matrices are well-conditioned: errors are multiples of eps times the largest element. Factors that
are unique up to signs are compared without them.
"""

import numpy as np

import zero
from zero.errors import DTypeError, ShapeError
from zero.linalg import norms

L = zero.linalg


def has_lapack():
    try:
        return L.svdvals(zero.eye(1)).item() == 1
    except RuntimeError:  # ZERO_BLAS=none
        return False


def eye_like(a):
    m, n = a.shape[-2:]
    if isinstance(a, zero.Tensor):
        return zero.eye(m, n, dtype=a.dtype, device=a.device)
    return np.eye(m, n)


def of_floats(make):
    """What is no matrix of floats stays what it is, so that it is refused."""
    return lambda a, *args: (
        a
        if a.ndim < 2 or (isinstance(a, zero.Tensor) and not a.is_floating_point())
        else make(a, *args)
    )


@of_floats
def invertible(a):
    """Near 1, so that its inverse is no larger; for arrays and for tensors."""
    return a * (0.3 / max(a.shape[-1], 1)) + eye_like(a)


@of_floats
def positive(a):
    turned = a.mT if isinstance(a, zero.Tensor) else a.swapaxes(-1, -2)
    return a @ turned * (1 / max(a.shape[-1], 1)) + eye_like(a)


@of_floats
def ramp(a):
    """Of full rank, whatever rows are the same."""
    steps = np.arange(2.0, 2.0 + a.shape[-1] * 2, 2)
    if isinstance(a, zero.Tensor):
        return a + eye_like(a) * zero.tensor(steps, device=a.device).to(a.dtype)
    return a + eye_like(a) * steps


@of_floats
def symmetric(a):
    a = ramp(a)
    return a + (a.mT if isinstance(a, zero.Tensor) else a.swapaxes(-1, -2))


@of_floats
def triangle(a, upper=False):
    """A triangular matrix with a diagonal of 1."""
    if isinstance(a, zero.Tensor):
        part = a.triu(1) if upper else a.tril(-1)
    else:
        part = np.triu(a, 1) if upper else np.tril(a, -1)
    return part * (1 / max(a.shape[-1], 1)) + eye_like(a)


def turned(a):
    return np.swapaxes(a, -1, -2)


def largest(*args, **kwargs):
    """The scale of errors: the largest element of the inputs, and 1."""
    arrays = [a for a in args if isinstance(a, np.ndarray) and a.size]
    return 8 * max([1.0, *(float(np.abs(a).max()) for a in arrays)])


def np_solve(a, b):
    vector = b.ndim == 1 or b.shape == a.shape[:-1]
    x = np.linalg.solve(a, b[..., None] if vector else b)
    return x[..., 0] if vector else x


def lu_reference(a):
    """P, L, U by elimination with the largest pivots."""
    if a.ndim > 2:
        parts = [lu_reference(x) for x in a.reshape(-1, *a.shape[-2:])]
        return tuple(
            np.stack(p).reshape(*a.shape[:-2], *p[0].shape) for p in zip(*parts, strict=True)
        )
    m, n = a.shape
    k = min(m, n)
    u, rows = a.astype(float).copy(), np.arange(m)
    low = np.zeros((m, k))
    for j in range(k):
        p = j + int(np.abs(u[j:, j]).argmax())
        for x in (u, low, rows):
            x[[j, p]] = x[[p, j]]
        low[j + 1 :, j] = u[j + 1 :, j] / u[j, j]
        u[j + 1 :] -= low[j + 1 :, j : j + 1] * u[j]
    return np.eye(m)[:, rows], low + np.eye(m, k), np.triu(u[:k])


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A, FLOATS = db.Sample, db.Arg, ("float32", "float64")
    square, batch, empty = A((3, 3)), A((2, 1, 4, 4)), A((2, 0, 0))
    sizes = [square, batch, A((1, 1)), A((5, 9, 9)), empty]
    big = A((40, 20, 20))

    def op(name, fn, ref, samples, **kwargs):
        kwargs.setdefault("dtypes", FLOATS)
        kwargs.setdefault("tol", 16)
        kwargs.setdefault("scale", largest)
        kwargs.setdefault("special", False)
        db.op(name, fn, ref, samples, **kwargs)

    def of_square(name, fn, ref, make=invertible, samples=None, **kwargs):
        no_square = (S(A((2, 3))), ShapeError, "square")
        op(
            name,
            lambda a: fn(make(a) if a.ndim > 1 and a.shape[-1] == a.shape[-2] else a),
            lambda a: ref(make(a)),
            [S(a) for a in (samples or sizes)],
            errors=(no_square, (S(A((3,))), ShapeError, "got"), *kwargs.pop("errors", ())),
            big=S(big),
            sized=lambda n: [S(A((n % 37 + 1, n % 37 + 1)))],
            **kwargs,
        )

    # ---- Cholesky ----
    of_square("linalg_cholesky", L.cholesky, np.linalg.cholesky, positive)
    of_square(
        "linalg_cholesky_upper",
        lambda a: L.cholesky(a, upper=True),
        lambda a: turned(np.linalg.cholesky(a)),
        positive,
    )
    of_square(
        "cholesky_ex",
        lambda a: L.cholesky_ex(a).L,
        np.linalg.cholesky,
        positive,
        samples=[square],
    )
    b = A((3, 2))
    op(
        "cholesky_solve",
        lambda b, a: zero.cholesky_solve(b, triangle(a)),
        lambda b, a: np.linalg.solve(triangle(a) @ turned(triangle(a)), b),
        [S(b, square), S(A((2, 3, 2)), A((1, 3, 3)))],
        errors=((S(A((2, 2)), square), ShapeError, "don't fit"),),
    )
    of_square(
        "cholesky_inverse",
        lambda a: zero.cholesky_inverse(a.tril()),
        lambda a: np.linalg.inv(np.tril(a) @ turned(np.tril(a))),
    )

    # ---- equations ----
    fits = (
        (S(square, A((2, 2))), ShapeError, "don't fit"),
        (S(square, A((3, 2), dtype="float64")), DTypeError, "dtypes differ"),
        (S(A((2, 3)), b), ShapeError, "square"),
    )
    op(
        "linalg_solve",
        lambda a, b: L.solve(invertible(a) if a.shape[-1] == a.shape[-2] else a, b),
        lambda a, b: np_solve(invertible(a), b),
        [
            S(square, b),
            S(square, A((3,))),
            S(A((2, 1, 4, 4)), A((3, 4, 2))),
            S(A((2, 4, 4)), A((2, 4))),
            S(A((2, 0, 0)), A((2, 0, 3))),
            S(A((9, 9)), A((9, 35))),
        ],
        big=S(A((40, 20, 20)), A((40, 20, 2))),
        sized=lambda n: [S(A((n % 37 + 1, n % 37 + 1)), A((n % 37 + 1, 3)))],
        errors=(fits[0], fits[2]),
    )
    op(
        "linalg_solve_right",
        lambda a, b: L.solve(invertible(a), b, left=False),
        lambda a, b: turned(np.linalg.solve(turned(invertible(a)), turned(b))),
        [S(square, A((2, 3)))],
        errors=((S(square, A((3,))), ShapeError, "left=False"),),
    )
    for upper in (False, True):
        for unit in (False, True):
            kind = ("upper" if upper else "lower") + ("_unit" if unit else "")
            op(
                f"linalg_solve_triangular_{kind}",
                lambda a, b, upper=upper, unit=unit: L.solve_triangular(
                    triangle(a, upper) if a.shape[-1] == a.shape[-2] else a,
                    b,
                    upper=upper,
                    unitriangular=unit,
                ),
                lambda a, b, upper=upper: np.linalg.solve(triangle(a, upper), b),
                [S(square, b), S(A((2, 1, 4, 4)), A((3, 4, 2))), S(A((0, 0)), A((0, 3)))],
                big=S(A((40, 20, 20)), A((40, 20, 2))),
                errors=(fits[0], fits[2]),
            )
    op(
        "linalg_solve_triangular_right",
        lambda a, b: L.solve_triangular(triangle(a), b, upper=False, left=False),
        lambda a, b: turned(np.linalg.solve(turned(triangle(a)), turned(b))),
        [S(square, A((2, 3)))],
    )
    op(
        "triangular_solve",
        lambda b, a: zero.triangular_solve(b, triangle(a), upper=False, transpose=True).solution,
        lambda b, a: np.linalg.solve(turned(triangle(a)), b),
        [S(b, square)],
    )
    of_square("linalg_inv", L.inv, np.linalg.inv)
    of_square("linalg_det", L.det, np.linalg.det)
    of_square(
        "linalg_slogdet",
        lambda a: tuple(L.slogdet(a)),
        lambda a: tuple(np.linalg.slogdet(a)),
    )
    of_square("logdet", zero.logdet, lambda a: np.linalg.slogdet(a)[1])
    for adjoint in (False, True):
        op(
            "linalg_lu_solve" + "_adjoint" * adjoint,
            lambda a, b, adjoint=adjoint: L.lu_solve(
                *L.lu_factor(invertible(a)), b, adjoint=adjoint
            ),
            lambda a, b, adjoint=adjoint: np.linalg.solve(
                turned(invertible(a)) if adjoint else invertible(a), b
            ),
            [S(square, b), S(A((2, 4, 4)), A((2, 4, 3)))],
        )
    op(
        "linalg_tensorsolve",
        lambda a, b: L.tensorsolve(invertible(a.reshape(4, 4)).reshape(a.shape), b),
        lambda a, b: np.linalg.tensorsolve(invertible(a.reshape(4, 4)).reshape(a.shape), b),
        [S(A((2, 2, 4)), A((2, 2)))],
    )
    op(
        "linalg_tensorinv",
        lambda a: L.tensorinv(invertible(a.reshape(4, 4)).reshape(a.shape)),
        lambda a: np.linalg.tensorinv(invertible(a.reshape(4, 4)).reshape(a.shape)),
        [S(A((2, 2, 4)))],
    )

    # ---- LU and QR ----
    shapes = [square, A((2, 3, 5)), A((5, 3)), A((2, 2, 4, 4)), A((40, 6)), A((6, 40))]
    op(
        "linalg_lu",
        lambda a: tuple(L.lu(ramp(a))),
        lambda a: lu_reference(ramp(a)),
        [S(a) for a in shapes],
        scale=lambda a: 200.0,  # columns in the order of random pivots
        big=S(big),
        errors=((S(A((3,))), ShapeError, "not a matrix"),),
    )
    op(
        "lu_unpack",
        lambda a: tuple(zero.lu_unpack(*L.lu_factor_ex(ramp(a))[:2])),
        lambda a: lu_reference(ramp(a)),
        [S(square), S(A((2, 3, 5)))],
        scale=lambda a: 200.0,
    )

    def qr(a, mode="reduced"):
        q, r = np.linalg.qr(a, mode)
        return np.abs(q), np.abs(r)

    op(
        "linalg_qr",
        lambda a: tuple(x.abs() for x in L.qr(ramp(a))),
        lambda a: qr(ramp(a)),
        [S(a) for a in shapes],
        scale=lambda a: 200.0,
        big=S(big),
        errors=((S(A((3,))), ShapeError, "not a matrix"),),
    )
    op(
        "linalg_qr_complete",
        lambda a: tuple(x.abs() for x in L.qr(ramp(a), "complete")),
        lambda a: qr(ramp(a), "complete"),
        [S(square), S(A((2, 3, 5)))],
        scale=lambda a: 200.0,
    )
    op(
        "linalg_qr_r",
        lambda a: L.qr(ramp(a), "r").R.abs(),
        lambda a: np.abs(np.linalg.qr(ramp(a), "r")),
        [S(square), S(A((2, 3, 5))), S(A((5, 3)))],
        scale=lambda a: 200.0,
    )

    def reflections(v, tau):
        m = v.shape[-2]
        q = np.eye(m)
        for i in range(tau.shape[-1]):
            w = np.concatenate([np.zeros(i), [1.0], v[i + 1 :, i]])
            q = q @ (np.eye(m) - tau[i] * np.outer(w, w))
        return q

    op(
        "linalg_householder_product",
        L.householder_product,
        lambda v, tau: reflections(v, tau)[:, : v.shape[-1]],
        [S(A((4, 3)), A((3,))), S(square, A((2,))), S(A((40, 2)), A((2,)))],
        scale=lambda v, tau: 500.0,
        errors=(
            (S(A((2, 3)), A((2,))), ShapeError, "wider"),
            (S(square, A((4,))), ShapeError, "don't fit"),
        ),
    )
    op(
        "ormqr",
        zero.ormqr,
        lambda v, tau, c: reflections(v, tau) @ c,
        [S(A((4, 3)), A((3,)), A((4, 2)))],
        scale=lambda v, tau, c: 5000.0,
    )

    # ---- powers ----
    power = np.linalg.matrix_power
    for n in (5, -3):
        of_square(
            f"linalg_matrix_power_{n}",
            lambda a, n=n: L.matrix_power(a, n),
            lambda a, n=n: power(a, n),
            loose=("float16", "bfloat16") if n > 0 else (),
        )

    def expm(a):
        a = a.astype(float)
        y = total = np.broadcast_to(np.eye(a.shape[-1]), a.shape) + 0 * a
        x = a / 2.0**10
        for k in range(1, 20):
            y = y @ x / k
            total = total + y
        for _ in range(10):
            total = total @ total
        return total

    op(
        "linalg_matrix_exp",
        L.matrix_exp,
        expm,
        [S(A((3, 3), -0.5, 0.5)), S(A((2, 4, 4), -2, 2)), S(A((1, 1))), S(A((2, 0, 0)))],
        scale=lambda a: 8 * max(1, np.exp(np.abs(a).sum(-2).max(initial=0))),
        tol=32,
        loose=("float16", "bfloat16"),
        errors=((S(A((2, 3))), ShapeError, "square"),),
    )

    # ---- norms ----
    for order in ("fro", 1, -1, np.inf, -np.inf):
        op(
            f"linalg_matrix_norm_{order}",
            lambda a, order=order: norms.matrix_norm(a, order),
            lambda a, order=order: np.asarray(np.linalg.norm(a, order, axis=(-2, -1))),
            [S(A((2, 3))), S(A((2, 3, 3)))],
            loose=("float16", "bfloat16"),
            errors=((S(A((3,))), ShapeError, "not a matrix"),),
        )

    # ---- covariances ----
    op(
        "cov",
        zero.cov,
        lambda a, correction=1: np.asarray(np.cov(a, ddof=correction)),
        [S(A((3, 5))), S(A((5,))), S(A((2, 4)), correction=0)],
        dtypes=FLOATS,
        loose=(*db.INTS, "float16", "bfloat16"),
        errors=((S(A((2, 2, 2))), ShapeError, "at most two"),),
    )
    op(
        "corrcoef",
        zero.corrcoef,
        lambda a: np.asarray(np.corrcoef(a)),
        [S(A((3, 5)))],
        loose=(*db.INTS, "float16", "bfloat16"),
        errors=((S(A((2, 2, 2))), ShapeError, "at most two"),),
    )

    if not has_lapack():
        return

    # ---- singular values and eigenvalues ----
    def svd(a, full_matrices=True):
        u, s, vh = np.linalg.svd(a, full_matrices=full_matrices)
        return np.abs(u), s, np.abs(vh)

    def svd_abs(a, full_matrices=True):
        u, s, vh = L.svd(a, full_matrices)
        return u.abs(), s, vh.abs()

    rectangular = [square, A((2, 3, 4)), A((4, 2))]
    op(
        "linalg_svd",
        lambda a: svd_abs(ramp(a), False),
        lambda a: svd(ramp(a), False),
        [S(a) for a in rectangular],
        scale=lambda a: 100.0,
        big=S(big),
        errors=((S(A((3,))), ShapeError, "not a matrix"),),
    )
    op(
        "linalg_svdvals",
        L.svdvals,
        lambda a: np.linalg.svd(a, compute_uv=False),
        [S(a) for a in (*rectangular, A((2, 0, 3)))],
        scale=lambda a: 30.0,
        big=S(big),
    )
    op(
        "linalg_eigh",
        lambda a: (lambda r: (r[0], r[1].abs()))(L.eigh(symmetric(a))),
        lambda a: (lambda r: (r[0], np.abs(r[1])))(np.linalg.eigh(symmetric(a))),
        [S(square), S(A((2, 4, 4)))],
        scale=lambda a: 100.0,
        big=S(big),
    )
    op(
        "linalg_eigvalsh",
        lambda a: L.eigvalsh(symmetric(a), "U"),
        lambda a: np.linalg.eigvalsh(symmetric(a)),
        [S(square), S(A((2, 4, 4))), S(empty)],
        scale=lambda a: 30.0,
        big=S(big),
    )
    for order in ("nuc", 2, -2):
        op(
            f"linalg_matrix_norm_{order}",
            lambda a, order=order: norms.matrix_norm(a, order),
            lambda a, order=order: np.asarray(np.linalg.norm(a, order, axis=(-2, -1))),
            [S(A((2, 3))), S(A((2, 3, 3)))],
            loose=("float16", "bfloat16") if order == "nuc" else (),
            scale=lambda a: 30.0,
        )
    for order in (None, "fro", 1, -2, np.inf):
        op(
            f"linalg_cond_{order}",
            lambda a, order=order: L.cond(invertible(a), order),
            lambda a, order=order: np.asarray(np.linalg.cond(invertible(a), order)),
            [S(square), S(A((2, 4, 4)))],
            scale=lambda a: 100.0,
        )
    op(
        "linalg_pinv",
        L.pinv,
        np.linalg.pinv,
        [S(A((4, 2))), S(A((2, 2, 5)))],
        scale=lambda a: 30 * np.linalg.cond(a).max() * np.abs(np.linalg.pinv(a)).max(),
        big=S(A((40, 6, 4))),
    )
    op(
        "linalg_pinv_hermitian",
        lambda a: L.pinv(positive(a), hermitian=True),
        lambda a: np.linalg.pinv(positive(a)),
        [S(square)],
        scale=lambda a: 100.0,
    )
    op(
        "linalg_matrix_rank",
        L.matrix_rank,
        lambda a: np.asarray(np.linalg.matrix_rank(a)),
        [S(square), S(A((2, 3, 4)))],
        out="int64",
        grad=False,
    )
    op(
        "linalg_lstsq",
        lambda a, b: L.lstsq(a, b).solution,
        lambda a, b: np.linalg.pinv(a) @ b,
        [S(A((5, 2)), A((5, 3))), S(A((2, 4)), A((2, 1)))],
        scale=lambda a, b: 100 * np.linalg.cond(a).max() ** 2 * np.abs(np.linalg.pinv(a)).max(),
        errors=((S(A((3, 2)), A((2, 2))), ShapeError, "don't fit"),),
    )
    op(
        "linalg_ldl",
        lambda a: L.ldl_solve(*L.ldl_factor(symmetric(invertible(a.detach()))), a.detach()),
        lambda a: np.linalg.solve(symmetric(invertible(a)), a),
        [S(square), S(A((2, 4, 4)))],
        grad=False,
    )
