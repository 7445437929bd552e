"""The entries of op_db for sums of products over named dimensions, and for distances."""

import numpy as np

import zero
from zero.errors import DTypeError, ShapeError


def magnitudes(reference, factor=4):
    """The same sum of magnitudes: what roundings are relative to."""
    return lambda *args, **kwargs: (
        factor
        * reference(
            *(np.abs(a) if isinstance(a, np.ndarray) and a.dtype != object else a for a in args),
            **kwargs,
        )
    )


def einsum(*args):
    return np.asarray(np.einsum(*args))


def einsum_sum(equation, x):
    return einsum(equation, x.astype("int64") if x.dtype.kind in "biu" else x)


def tensordot(a, b, dims=2):
    return np.asarray(np.tensordot(a, b, dims))


def cross(a, b, dim=-1):
    a, b = np.broadcast_arrays(a, b)
    a, b = np.moveaxis(a, dim, 0), np.moveaxis(b, dim, 0)
    y = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return np.moveaxis(np.stack(y), 0, dim)


def cdist(a, b, p=2.0):
    d = np.abs(a[..., :, None, :] - b[..., None, :, :])
    if p == 0:
        return (d != 0).sum(-1).astype(a.dtype)
    if p == np.inf:
        return d.max(-1, initial=0)
    return (d**p).sum(-1) ** (1 / p)


def dist(a, b, p=2.0):
    d = np.abs(a - b)
    return np.asarray(d.max() if p == np.inf else (d**p).sum() ** (1 / p))


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A, FLOATS, NUMBERS = db.Sample, db.Arg, db.FLOATS, db.NUMBERS
    a, b, square = A((2, 3)), A((3, 4)), A((3, 3))
    db.op(
        "einsum",
        zero.einsum,
        einsum,
        [
            S("ij,jk->ik", a, b),
            S("ij,jk", a, b),
            S("ba", a),
            S("ii->i", square),
            S("i,j->ij", A((2,)), A((3,))),
            S("bij,bjk->bik", A((2, 2, 3)), A((2, 3, 2))),
            S("bqhd,bkhd->bhqk", A((1, 2, 3, 2)), A((1, 4, 3, 2))),
            S("...ij,...jk->...ik", A((2, 1, 2, 3)), A((3, 3, 2))),
            S("i...,i...->...", A((2, 3)), A((2, 3))),
            S("ij,jk,kl->il", a, b, A((4, 2))),
            S("ij,ij,ij->i", a, a, a),
            S(",->", A(()), A(())),
            S("ij,jk->ik", A((2, 0)), A((0, 3))),
            S("aij,ajb,i->b", A((2, 2, 3)), A((2, 3, 4)), A((2,))),
        ],
        dtypes=NUMBERS,
        tol=4,
        scale=magnitudes(einsum),
        big=S("ij,kj->ki", A((257, 300)), A((130, 300))),
        errors=(
            (S("ij,jk", a), ValueError, "number of operands"),
            (S("ij,jk", a, A((2, 4))), ShapeError, "'j' differ"),
            (S("ijk", a), ShapeError, "do not fit"),
            (S("i1", a), ValueError, "no subscript"),
            (S("ij->ik", a), ValueError, "of no operand"),
            (S("ij->ii", a), ValueError, "is repeated"),
            (S("ii", a), ShapeError, "'i' differ"),
            (S("......", a), ValueError, "ellipsis"),
        ),
    )
    db.op(
        "einsum_sum",  # of a single operand; of integers it is int64, as that of `sum`
        zero.einsum,
        einsum_sum,
        [
            S("ii", square),
            S("iji->j", A((2, 3, 2))),
            S("ij->", a),
            S("...i->...", A((2, 3))),
        ],
        dtypes=db.ALL,
        out="sum",
        tol=4,
        scale=magnitudes(einsum_sum),
    )
    db.op(
        "tensordot",
        zero.tensordot,
        tensordot,
        [
            S(A((2, 3, 4)), A((3, 4, 2))),
            S(a, b, 1),
            S(a, b, 0),
            S(A((2, 3, 4)), A((4, 3, 2)), ([1, 2], [1, 0])),
            S(A((2, 0)), A((0, 2)), 1),
            S(A(()), a, 0),
        ],
        dtypes=NUMBERS,
        tol=4,
        scale=magnitudes(tensordot),
        errors=(
            (S(a, b, 2), ShapeError, "sizes differ"),
            (S(a, b, 3), ValueError, "out of range"),
            (S(a, b, ([0, 1], [0])), ValueError, "belong together"),
            (S(a, A((3, 4), dtype="float64"), 1), DTypeError, "dtypes differ"),
        ),
    )
    db.op(
        "kron",
        zero.kron,
        np.kron,
        [S(a, A((2, 2))), S(A((2,)), a), S(a, A(())), S(A((0, 2)), a)],
        dtypes=db.ALL,
        tol=1,
    )
    db.op(
        "cross",
        zero.cross,
        cross,
        [S(A((2, 3)), A((2, 3)), -1), S(A((3, 2)), A((3, 1)), 0), S(A((3,)), A((3,)), -1)],
        dtypes=NUMBERS,
        tol=2,
        scale=lambda a, b, dim: 2 * np.abs(a).max() * np.abs(b).max(),
        errors=(
            (S(A((2, 2)), A((2, 2))), ShapeError, "no dimension"),
            (S(A((2, 3)), A((2, 3)), 0), ShapeError, "not of size 3"),
        ),
    )
    db.op(
        "vdot",
        zero.vdot,
        np.vdot,
        [S(A((3,)), A((3,)))],
        dtypes=NUMBERS,
        tol=4,
        scale=magnitudes(np.vdot),
        errors=((S(a, a), ShapeError, "dot"),),
    )
    db.op(
        "chain_matmul",
        zero.chain_matmul,
        lambda *m: np.linalg.multi_dot(m),
        [S(a, b), S(a, b, A((4, 2))), S(A((4, 2)), a, b, A((4, 1)))],
        dtypes=NUMBERS,
        tol=4,
        scale=magnitudes(lambda *m: np.linalg.multi_dot(m)),
        errors=((S(a, A((3,))), ShapeError, "not a matrix"), (S(), ValueError, "no matrix")),
    )
    db.op(
        "dist",
        zero.dist,
        dist,
        [S(a, a), S(a, A((3,)), 1), S(a, A((2, 1)), 3.0), S(a, a, float("inf"))],
        tol=8,
    )
    points, others = A((2, 4, 3)), A((5, 3))
    db.op(
        "cdist",
        zero.cdist,
        cdist,
        [
            S(points, others),
            S(A((4, 3)), others, 1.0),
            S(A((4, 3)), others, 0.0),
            S(A((4, 3)), others, 3.0),
            S(A((4, 3)), others, 1.5),
            S(A((4, 3)), others, float("inf")),
            S(A((0, 3)), others),
            S(A((2, 0)), A((3, 0))),
        ],
        dtypes=FLOATS,
        tol=4,
        big=S(A((300, 40)), A((130, 40))),
        sized=lambda n: [S(A((n, 3)), A((2, 3))), S(A((2, 3)), A((n, 3))), S(A((2, n)), A((3, n)))],
        errors=(
            (S(a, b), ShapeError, "different sizes"),
            (S(A((3,)), a), ShapeError, "not matrices"),
            (S(a, a, -1.0), ValueError, "p is negative"),
            (S(A(dtype="int64"), A(dtype="int64")), DTypeError, "integers"),
        ),
    )
