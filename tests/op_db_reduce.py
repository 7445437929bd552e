"""The entries of op_db for products, norms, running sums and reductions composed of others."""

import numpy as np

import zero
from zero.errors import DTypeError


def norm(x, p="fro", dim=None, keepdim=False):
    p = 2 if p == "fro" else p
    axis = tuple(range(x.ndim)) if dim is None else dim
    a = np.abs(x)
    if p == 0:
        y = (a != 0).sum(axis=axis, keepdims=keepdim)
    elif np.isinf(p):
        y = (a.max if p > 0 else a.min)(axis=axis, keepdims=keepdim)
    else:
        y = (a**p).sum(axis=axis, keepdims=keepdim) ** (1 / p)
    return np.asarray(y)


def logsumexp(x, dim, keepdim=False):
    top = x.max(axis=dim, keepdims=True) if x.size else 0
    y = np.log(np.exp(x - top).sum(axis=dim, keepdims=True)) + top
    return np.asarray(y if keepdim else np.squeeze(y, axis=dim) if x.ndim else y)


def scan(f):
    return lambda x, dim: f(x, axis=dim) if x.ndim else x


def nans(x):
    """Some elements become nan."""
    return zero.where(x > 2.5, float("nan"), x)


def add_entries(db):
    S, A, ALL, FLOATS = db.Sample, db.Arg, db.ALL, db.FLOATS
    half = {"low": 0.5, "high": 1.5, "ilow": -1, "ihigh": 2}
    dims = [
        S(A((2, 3, 4), **half)),
        S(A((2, 3, 4), **half), 0),
        S(A((2, 3, 4), **half), -1, True),
        S(A((2, 3, 4), **half), (0, 2)),
        S(A((), **half)),
        S(A((0, 3)), 0),
        S(A((0, 3)), 1),
        S(A((0,))),
    ]
    tame = {"low": 0.99, "high": 1.01, "ilow": -1, "ihigh": 1}
    db.op(
        "prod",
        zero.prod,
        db.axes(np.prod),
        dims,
        dtypes=ALL,
        out="sum",
        tol=32,  # a rounding in float64 per factor, up to 1025 of them
        big=S(A((301, 1031), 0.999, 1.001)),
        sized=lambda n: [S(A((n,), **tame)), S(A((n, 3), **tame), 0), S(A((3, n), **tame), 1)],
        errors=db.BAD_DIM + db.TWICE,
    )
    # Where factors are 0, the gradient is the product of the others.
    mask = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])

    def with_zeros(f, *args):
        return lambda x: f(x * zero.tensor(mask, dtype=x.dtype, device=x.device), *args)

    square = [S(A((3, 3), **half))]
    for name, f, ref in (
        ("prod_zeros", with_zeros(zero.prod), lambda x: np.prod(x * mask)),
        ("prod_zeros_dim", with_zeros(zero.prod, 1), lambda x: np.prod(x * mask, 1)),
        ("prod_zeros_first", with_zeros(zero.prod, 0), lambda x: np.prod(x * mask, 0)),
        ("cumprod_zeros", with_zeros(zero.cumprod, 1), lambda x: np.cumprod(x * mask, 1)),
        ("cumprod_zeros_first", with_zeros(zero.cumprod, 0), lambda x: np.cumprod(x * mask, 0)),
    ):
        db.op(name, f, ref, square, tol=4, loose=ALL)

    along = [
        S(A((2, 3, 4), **half), 0),
        S(A((2, 3, 4), **half), -1),
        S(A((2, 3, 4), **half), 1),
        S(A((), **half), 0),
        S(A((0, 3)), 0),
        S(A((2, 0)), 1),
    ]
    # Other than NumPy, rows add up by fours: as many roundings, elsewhere.
    for name, f, tol in (("cumsum", np.cumsum, 4), ("cumprod", np.cumprod, 32)):
        db.op(
            name,
            getattr(zero, name),
            scan(f),
            along,
            dtypes=ALL,
            out="sum",
            tol=tol,
            scale=lambda x, dim, f=f: scan(f)(np.abs(x), dim),
            inplace=name + "_",
            kind="index",
            big=S(A((301, 1031), 0.99, 1.01), 0),
            sized=lambda n: [
                S(A((n,), 0.99, 1.01, ilow=-1, ihigh=1), 0),
                S(A((n, 3), 0.99, 1.01, ilow=-1, ihigh=1), 0),
                S(A((3, n), 0.99, 1.01, ilow=-1, ihigh=1), 1),
                S(A((2, n, 3), 0.99, 1.01, ilow=-1, ihigh=1), 1),
            ],
            errors=(
                (S(A((2, 3)), 2), IndexError, "2"),
                (S(A((2, 3)), "0"), TypeError, "str"),
                (S(A((2, 3))), TypeError, "dim"),
            ),
        )

    away = {"low": 0.3, "high": 3}  # |x|^p with p < 2 has no second derivative at 0
    float_only = ((S(A(dtype="int64")), DTypeError, "float"),)
    db.reduction(
        "norm",
        norm,
        [
            S(A((2, 3, 4))),
            S(A((2, 3, 4)), "fro", 1),
            S(A((2, 3, 4)), 2, (0, 2), True),
            S(A((2, 3, 4), **away), 1, 0),
            S(A((2, 3, 4)), 3, -1),
            S(A((2, 3), **away), 0.5, 1),
            S(A((2, 3)), float("inf"), 1),
            S(A((2, 3)), -float("inf")),
            S(A(())),
            S(A((0, 3)), 2, 0),
        ],
        tol=16,
        errors=((S(A((2, 3)), 2, 2), IndexError, "2"), *float_only),
    )
    db.op(
        "norm_count",
        lambda x, dim=None: zero.norm(x, 0, dim),
        lambda x, dim=None: norm(x, 0, dim),
        [S(A((2, 3))), S(A((2, 3)), 1)],
        tol=0,
    )
    db.op(
        "logsumexp",
        zero.logsumexp,
        logsumexp,
        [
            S(A((2, 3)), 1),
            S(A((2, 3)), 0, True),
            S(A((2, 3, 4)), (0, 2)),
            S(A((5,)), 0),
            S(A(()), 0),
            S(A((2, 0)), 0),
        ],
        dtypes=ALL,
        out="float",
        tol=8,
        scale=lambda x, *a: 6,
        big=S(A((401, 313)), 1),
    )
    reduced = [S(A((2, 3, 4))), S(A((2, 3, 4)), 1), S(A((2, 3)), (0, 1), True), S(A((), -3, 2))]
    db.op(
        "nansum",
        lambda x, *a: zero.nansum(nans(x), *a),
        db.axes(lambda x, **k: np.sum(np.where(x > 2.5, 0, x), **k)),
        reduced,
        tol=4,
        scale=db.axes(lambda x, **k: np.sum(np.abs(x), **k)),
        loose=ALL,
    )
    db.op(
        "nanmean",
        lambda x, *a: zero.nanmean(nans(x), *a),
        db.axes(lambda x, **k: np.sum(np.where(x > 2.5, 0, x), **k) / np.sum(x <= 2.5, **k)),
        reduced,
        tol=4,
        scale=db.axes(lambda x, **k: np.sum(np.abs(x), **k)),
        loose=ALL,
    )
    db.op(
        "count_nonzero",
        zero.count_nonzero,
        lambda x, dim=None: np.asarray(np.count_nonzero(x, dim)),
        [S(A((2, 3))), S(A((2, 3)), 1), S(A((2, 3, 4)), (0, 1)), S(A(()))],
        dtypes=ALL,
        out="int64",
        grad=False,
    )
    db.op(
        "aminmax",
        lambda x, dim=None, keepdim=False: tuple(zero.aminmax(x, dim=dim, keepdim=keepdim)),
        lambda x, dim=None, keepdim=False: (
            np.asarray(x.min(axis=dim, keepdims=keepdim)),
            np.asarray(x.max(axis=dim, keepdims=keepdim)),
        ),
        [S(A((2, 3))), S(A((2, 3)), 1), S(A((2, 3)), 0, True)],
        dtypes=ALL,
        tol=0,
    )
    for name, f, both in (("var_mean", np.var, zero.var_mean), ("std_mean", np.std, zero.std_mean)):
        db.op(
            name,
            both,
            lambda x, dim=None, keepdim=False, correction=1, f=f: (
                np.asarray(f(x, axis=dim, keepdims=keepdim, ddof=correction)),
                np.asarray(np.mean(x, axis=dim, keepdims=keepdim)),
            ),
            [
                S(A((2, 3, 4))),
                S(A((2, 3, 4)), 1),
                S(A((2, 3, 4)), -1, keepdim=True),
                S(A((5,)), 0, correction=0),
            ],
            dtypes=FLOATS,
            tol=8,
            scale=lambda x, *a, **k: 3,
        )
    db.op(
        "trace",
        zero.trace,
        lambda x: np.asarray(np.trace(x)),
        [S(A((3, 3))), S(A((2, 4)))],
        dtypes=ALL,
        out="sum",
        tol=4,
        scale=lambda x: np.trace(np.abs(x)),
    )
