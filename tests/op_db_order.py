"""The entries of op_db for sorting, selection, search and counts."""

import numpy as np

import zero
from zero.errors import DTypeError, IndexError, ShapeError, ValueError


def order(x, dim=-1, descending=False):
    if x.ndim == 0:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    turned = np.argsort(np.flip(x, dim), axis=dim, kind="stable")  # ties from the end
    return x.shape[dim] - 1 - np.flip(turned, dim)


def taken(x, indices, dim):
    return x if x.ndim == 0 else np.take_along_axis(x, indices, dim)


def sort(x, dim=-1, descending=False):
    i = order(x, dim, descending)
    return taken(x, i, dim), i


def topk(x, k, dim=-1, largest=True):
    i = order(x, dim, largest)
    i = i if x.ndim == 0 else np.take(i, np.arange(k), dim)
    return taken(x, i, dim), i


def kthvalue(x, k, dim=-1, keepdim=False):
    i = order(x, dim)
    i = i if x.ndim == 0 else np.take(i, [k - 1], dim)
    v = taken(x, i, dim)
    return (v, i) if keepdim or x.ndim == 0 else (np.squeeze(v, dim), np.squeeze(i, dim))


def median(x, dim=-1, keepdim=False):
    return kthvalue(x, (x.shape[dim] + 1) // 2 if x.ndim else 1, dim, keepdim)


def mode(x, dim=-1, keepdim=False):
    def one(row):
        values, counts = np.unique(row, return_counts=True)
        value = values[np.argmax(counts)]
        return np.array([value, np.flatnonzero(row == value)[-1]], float)

    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    both = np.moveaxis(np.apply_along_axis(one, dim, x.astype(float)), dim, -1)
    v, i = both[..., 0].astype(x.dtype), both[..., 1].astype(np.int64)
    return (np.expand_dims(v, dim), np.expand_dims(i, dim)) if keepdim else (v, i)


def running(f):
    def scan(x, dim):
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        y = f.accumulate(x, dim)
        wide = np.arange(x.shape[dim]).reshape(
            [-1 if d == dim % x.ndim else 1 for d in range(x.ndim)]
        )
        return y, np.maximum.accumulate(np.where(x == y, wide, 0), dim)

    return scan


def logcumsumexp(x, dim):
    y = np.logaddexp.accumulate(x.astype(np.longdouble), dim) if x.ndim else x
    return y.astype(float)


def add_entries(db):
    S, A, ALL = db.Sample, db.Arg, db.ALL
    indexed = {"indices": True, "tol": 0, "special": False}
    bad_dim = (S(A((2, 3)), dim=2), IndexError, "2")
    big = S(A((2, 140001)))  # rows on several threads
    rows = [S(A((2, 3))), S(A((2, 5, 3)), 1), S(A(())), S(A((0, 3)), 0), S(A((2, 0)), 1)]
    ties = {"ilow": 0, "ihigh": 3}

    def sized(*more):
        return lambda n: [
            S(A((n,), -50, 50), *more),
            S(A((n, 3), **ties), *more, dim=0),
            S(A((2, n, 3)), *more, dim=1),
        ]

    for name, ref, result in (("sort", sort, True), ("argsort", order, False)):
        db.op(
            name,
            getattr(zero, name),
            ref,
            [*rows, S(A((3, 7)), 0, True), S(A((3, 7)), descending=True)],
            dtypes=ALL,
            big=big,
            sized=sized(),
            grad=result,
            out="same" if result else "int64",
            errors=(bad_dim, (S(A(), descending=1), TypeError, "descending")),
            **(indexed if result else {"tol": 0}),
        )
    db.op(
        "msort",
        zero.msort,
        lambda x: np.sort(x, 0) if x.ndim else x,
        [S(A((4, 3))), S(A((5,))), S(A(()))],
        dtypes=ALL,
        tol=0,
    )
    db.op(
        "topk",
        zero.topk,
        topk,
        [
            S(A((2, 3)), 2),
            S(A((2, 5, 3)), 3, 1),
            S(A((4, 5)), 4, 0, False),
            S(A((2, 3)), 0),
            S(A(()), 1),
        ],
        dtypes=ALL,
        big=S(A((3, 140001)), 7),
        sized=lambda n: [
            S(A((n,), -50, 50), 1),
            S(A((n, 3)), n // 2, 0),
            S(A((2, n)), n, largest=False),
            S(A((2, 3 * n), -9, 9), min(n, 5)),
        ],
        errors=((S(A((2, 3)), 4), IndexError, "4"), (S(A((2, 3)), -1), IndexError, "-1")),
        **indexed,
    )
    db.op(
        "kthvalue",
        zero.kthvalue,
        kthvalue,
        [S(A((2, 3)), 2), S(A((2, 5, 3)), 5, 1), S(A((4, 5)), 1, 0, True), S(A(()), 1)],
        dtypes=ALL,
        big=S(A((2, 70001)), 333),
        sized=lambda n: [S(A((n,), -50, 50), n), S(A((n, 3)), (n + 1) // 2, 0), S(A((2, n)), 1)],
        errors=((S(A((2, 3)), 4), IndexError, "4"), (S(A((2, 3)), 0), IndexError, "0")),
        **indexed,
    )
    kept = [S(A((2, 3)), 1), S(A((2, 5, 3)), 1), S(A((4, 5)), 0, True), S(A(()), 0)]
    for name, ref in (("median", median), ("nanmedian", median), ("mode", mode)):
        db.op(
            name,
            getattr(zero, name),
            ref,
            kept,
            dtypes=ALL,
            big=S(A((2, 70001)), 1),
            sized=lambda n: [S(A((n,), **ties), 0), S(A((n, 3), -50, 50), 0), S(A((2, n)), 1)],
            errors=((S(A((2, 3)), 2), IndexError, "2"), (S(A((2, 0)), 1), IndexError, "(2, 0)")),
            **indexed,
        )
    for name in ("median", "nanmedian"):
        db.op(
            name + "_all",
            getattr(zero, name),
            lambda x: np.asarray(np.sort(x, None)[(x.size - 1) // 2]),
            [S(A((2, 3))), S(A((4, 1))), S(A(()))],
            dtypes=ALL,
            tol=0,
        )
    scans = [S(A((2, 3)), 1), S(A((2, 4, 3)), 1), S(A((5, 2)), 0), S(A(()), 0), S(A((0, 2)), 0)]
    for name, f in (("cummax", np.maximum), ("cummin", np.minimum)):
        db.op(
            name,
            getattr(zero, name),
            running(f),
            scans,
            dtypes=ALL,
            big=S(A((301, 1031)), 0),
            sized=lambda n: [S(A((n,)), 0), S(A((n, 3)), 0), S(A((3, n)), 1)],
            errors=((S(A((2, 3)), 2), IndexError, "2"),),
            **indexed,
        )
    db.op(
        "logcumsumexp",
        zero.logcumsumexp,
        logcumsumexp,
        scans,
        tol=2,
        scale=lambda x, dim: 1,
        big=S(A((301, 1031)), 0),
        sized=lambda n: [S(A((n,), -20, 20), 0), S(A((n, 3)), 0), S(A((3, n)), 1)],
        errors=((S(A((2, 3)), 2), IndexError, "2"),),
    )

    # ---- search and counts -------------------------------------------------------------------
    def sorted_first(f):
        def call(edges, x, **k):
            return f(zero.sort(edges, -1).values, x, **k)

        return call

    def searched(edges, x, right=False, side=None, **_):
        side = side or ("right" if right else "left")
        if edges.ndim == 1:
            return np.searchsorted(np.sort(edges), x, side)
        flat = [
            np.searchsorted(np.sort(e), v, side)
            for e, v in zip(
                edges.reshape(-1, edges.shape[-1]), x.reshape(-1, x.shape[-1]), strict=True
            )
        ]
        return np.reshape(flat, x.shape)

    db.op(
        "searchsorted",
        sorted_first(zero.searchsorted),
        searched,
        [
            S(A((5,)), A((2, 3))),
            S(A((2, 3, 4)), A((2, 3, 5)), right=True),
            S(A((5,)), A(()), side="right"),
            S(A((0,)), A((3,))),
            S(A((1,)), A((0,))),
        ],
        dtypes=ALL,
        out="int64",
        grad=False,
        big=S(A((1000,)), A((70001,))),
        sized=lambda n: [S(A((n,)), A((40,))), S(A((17,)), A((n,)), right=True)],
        errors=(
            (S(A((2, 3)), A((3, 3))), ShapeError, "(3, 3)"),
            (S(A((3,)), A((3,)), side="middle"), ValueError, "middle"),
            (S(A((3,)), A((3,)), right=True, side="left"), ValueError, "left"),
        ),
    )
    db.op(
        "bucketize",
        lambda x, edges, **k: zero.bucketize(x, zero.sort(edges).values, out_int32=True, **k),
        lambda x, edges, **k: searched(edges, x, **k),
        [S(A((2, 3)), A((4,))), S(A((2, 3)), A((4,)), right=True)],
        dtypes=ALL,
        out="int32",
        grad=False,
        errors=((S(A((2,)), zero.ones(2, 2)), ShapeError, "(2, 2)"),),
    )
    db.op(
        "isin",
        zero.isin,
        lambda x, among, **k: np.isin(x, among, **k),
        [
            S(A((2, 3)), A((4,))),
            S(A((2, 3)), A((40,)), invert=True),
            S(A((3,)), 1),
            S(A((2,)), A((0,))),
        ],
        dtypes=ALL,
        out="bool",
        grad=False,
        errors=((S(1, 2), TypeError, "tensor"),),
    )
    counted = {"dtypes": db.INTS, "grad": False, "meta": False}
    small = {"ilow": 0, "ihigh": 5}
    db.op(
        "bincount",
        zero.bincount,
        lambda x, minlength=0: np.bincount(x, minlength=minlength),
        [S(A((7,), **small)), S(A((7,), **small), minlength=9), S(A((0,)))],
        out="int64",
        big=S(A((300001,), **small)),
        errors=(
            (S(A((2, 2), dtype="int64")), ValueError, "(2, 2)"),
            (S(A((2,), dtype="int64", ilow=-3, ihigh=-2)), ValueError, "negative"),
            (S(A((2,), dtype="float32")), ValueError, "float32"),
        ),
        loose=ALL,
        **counted,
    )
    for name, more in (("unique", {}), ("unique_consecutive", {"order": False})):
        db.op(
            name,
            lambda x, dim=None, name=name: getattr(zero, name)(
                x, return_inverse=True, return_counts=True, dim=dim
            ),
            lambda x, dim=None, more=more: runs(x, dim, **more),
            [S(A((7,), **ties)), S(A((2, 3), **ties)), S(A((2, 6), ilow=0, ihigh=1), 1), S(A(()))],
            dtypes=ALL,
            big=S(A((140001,), **ties)) if not more else None,
            sized=(lambda n: [S(A((n,), **ties)), S(A((n, 2), **ties), 0)]) if not more else None,
            indices=True,
            meta=False,
            grad=False,
        )
    float_pair = ("float32", "float64")
    db.op(
        "histc",
        zero.histc,
        lambda x, bins=100, min=0, max=0: np.histogram(x, bins, None if min == max else (min, max))[
            0
        ],
        [S(A((2, 3)), 4, -2, 2), S(A((5,)), 3)],
        dtypes=db.FLOATS,
        grad=False,
        big=S(A((300001,)), 7, -3, 3),
        errors=(
            (S(A(), 0), ValueError, "0"),
            (S(A(), 2, 3, 1), ValueError, "above"),
            (S(A(dtype="int64"), 2), DTypeError, "int64"),
        ),
    )
    db.op(
        "histogram",
        lambda x, *a, **k: tuple(zero.histogram(x, *a, **k)),
        lambda x, bins, range=None, weight=None, density=False: np.histogram(
            x, bins, range, density, weight
        ),
        [
            S(A((2, 3)), 4),
            S(A((5,)), 3, range=(-1, 2), density=True),
            S(A((5,)), 3, weight=A((5,), 0, 1)),
        ],
        dtypes=float_pair,
        grad=False,
        meta=False,
        scale=lambda x, *a, **k: 3,
        errors=((S(A((3,)), 2, weight=zero.ones(2)), ShapeError, "(2,)"),),
    )
    db.op(
        "histogramdd",
        lambda x, *a, **k: zero.histogramdd(x, *a, **k).hist,
        lambda x, bins, **k: np.histogramdd(x, bins, **k)[0],
        [S(A((7, 2)), [2, 3]), S(A((7, 2)), 3)],
        dtypes=float_pair,
        grad=False,
        meta=False,
    )

    # ---- composed ----------------------------------------------------------------------------
    for name, f in (("quantile", np.quantile), ("nanquantile", np.nanquantile)):
        db.op(
            name,
            lambda x, q, dim=None, keepdim=False, interpolation="linear", name=name: getattr(
                zero, name
            )(x, zero.tensor(q, dtype=x.dtype), dim, keepdim, interpolation=interpolation),
            lambda x, q, dim=None, keepdim=False, interpolation="linear", f=f: np.asarray(
                f(x, q, axis=dim, keepdims=keepdim, method=interpolation)
            ),
            [
                S(A((2, 5)), 0.25),
                S(A((2, 5)), [0.125, 0.75, 1.0], 1),
                S(A((2, 5)), 0.75, 0, True),
                S(A((7,)), [0.25], 0, False, "nearest"),
                S(A((7,)), 0.375, 0, False, "lower"),
                S(A((7,)), 0.375, 0, False, "higher"),
                S(A((7,)), 0.375, None, True, "midpoint"),
            ],
            dtypes=float_pair,
            tol=4,
            scale=lambda x, *a: 3,
            errors=(
                (S(A(), 1.5), ValueError, "1.5"),
                (S(A((0,)), 0.5), ShapeError, "(0,)"),
                (S(A(), 0.5, 0, False, "cubic"), ValueError, "cubic"),
            ),
        )
    db.op(
        "diff",
        zero.diff,
        lambda x, n=1, dim=-1, **k: np.diff(x, n, dim, **k),
        [
            S(A((2, 3))),
            S(A((2, 4)), 2),
            S(A((4, 3)), 1, 0),
            S(A((3,)), prepend=A((2,))),
            S(A((2,)), 3),
        ],
        dtypes=ALL,
        tol=2,
        scale=lambda x, *a, **k: 6,
        errors=((S(A(())), ShapeError, "()"), (S(A((2,)), -1), ValueError, "-1")),
    )
    db.op(
        "renorm",
        zero.renorm,
        lambda x, p, dim, limit: (
            x * np.minimum(1, limit / (np.linalg.norm(x, p, 1 - dim, True) + 1e-7))
        ),
        [S(A((2, 3)), 2, 0, 1.0), S(A((2, 3)), 1, 1, 2.0), S(A((2, 3)), 2, 0, 100.0)],
        tol=8,
        scale=lambda x, *a: np.abs(x),
        inplace="renorm_",
        kind="index",
        errors=((S(A((3,)), 2, 0, 1.0), ShapeError, "(3,)"), (S(A(), 0, 0, 1.0), ValueError, "0")),
    )
    db.op(
        "nonzero_static",
        zero.nonzero_static,
        lambda x, size, fill_value=-1: np.concatenate(
            [
                np.argwhere(x)[:size],
                np.full((max(0, size - np.count_nonzero(x)), x.ndim), fill_value),
            ]
        ),
        [S(A((2, 3)), size=4), S(A((2, 3)), size=9, fill_value=7), S(A((5,)), size=0)],
        dtypes=ALL,
        out="int64",
        grad=False,
        errors=((S(A(), size=-1), ValueError, "-1"),),
    )


def runs(x, dim=None, order=True):
    """(values, inverse, counts) of equal elements or slices; in their order or sorted."""
    if x.ndim == 0:
        x, dim, shape = x.reshape(1), None, ()
    else:
        shape = x.shape
    if order:
        values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, axis=dim)
        return values, np.reshape(inverse, shape if dim is None else -1), counts
    flat = x.reshape(-1) if dim is None else x
    d = 0 if dim is None else dim
    rows = np.moveaxis(flat, d, 0).reshape(flat.shape[d], -1)
    begins = np.concatenate([[True], (rows[1:] != rows[:-1]).any(1)])
    starts = np.flatnonzero(begins)
    inverse = np.cumsum(begins) - 1
    counts = np.diff(np.append(starts, len(begins)))
    return np.take(flat, starts, d), inverse.reshape(shape if dim is None else -1), counts
