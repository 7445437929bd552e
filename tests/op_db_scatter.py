"""The entries of op_db for scatter_reduce, index_reduce, masked_scatter and put."""

import numpy as np

import zero
from zero.errors import DTypeError, ShapeError


def combined(values, how, integers):
    if how == "mean":
        total = np.sum(values, dtype=np.int64 if integers else np.float64)
        return total // len(values) if integers else total / len(values)
    f = {"sum": np.sum, "prod": np.prod, "amax": np.max, "amin": np.min}[how]
    return f(values)


def reduced(x, dim, index, src, how, include_self=True):
    """Place by place: what it gets, then all at once."""
    integers = x.dtype.kind in "iub"
    found = {}
    for place in np.ndindex(index.shape):
        to = list(place)
        if to:
            to[dim] = index[place]
        found.setdefault(tuple(to), []).append(src[place])
    y = np.array(x)
    for to, values in found.items():
        y[to] = combined([x[to]] * include_self + values, how, integers)
    return y


def rows_reduced(x, dim, index, src, how, include_self=True):
    wide = [1] * max(x.ndim, 1)
    wide[dim] = -1
    return reduced(x, dim, np.broadcast_to(index.reshape(wide), src.shape), src, how, include_self)


def sizes_of(reference, how):
    """What rounding errors are measured by: the result of the absolute values."""
    return lambda x, d, i, s, *rest: reference(
        np.abs(x), d, i, np.abs(s), "sum" if how == "mean" else how, *rest[1:]
    )


def mask_filled(x, mask, src):
    x, mask = (np.array(a) for a in np.broadcast_arrays(x, mask))
    x[mask] = src.ravel()[: mask.sum()]
    return x


def placed(x, index, src, accumulate=False):
    y = x.copy().ravel()
    if accumulate:
        np.add.at(y, index.ravel(), src.ravel())
    else:
        y[index.ravel()] = src.ravel()
    return y.reshape(x.shape)


def add_entries(db):
    S, A, op = db.Sample, db.Arg, db.op

    def index(n, *shape, low=0, dtype="int64"):
        return A(shape, ilow=low, ihigh=n - 1, dtype=dtype, grad=False)

    for how in ("sum", "prod", "mean", "amax", "amin"):
        numbers = {"low": 0.3, "high": 2.0, "ilow": 1, "ihigh": 2}
        x, src = A((3, 4), **numbers), A((3, 5), **numbers)
        samples = [
            S(x, 1, index(4, 3, 5), src, how),
            S(x, 0, index(3, 5, 3), A((5, 4), **numbers), how),
            S(A((2, 3, 2), **numbers), 1, index(3, 2, 4, 1), A((2, 4, 1), **numbers), how),
            S(A((), **numbers), 0, index(1), A((), **numbers), how),
            S(A((3,), **numbers), 0, index(3, 4), A((4,), **numbers), how),
            S(x, 1, index(4, 3, 0), A((3, 0)), how),
        ]
        alone = [
            S(A((3,), **numbers), 0, index(3, 4), A((4,), **numbers), how),
            S(x, 1, index(4, 3, 5), src, how),
            S(A((5,), **numbers), 0, index(3, 9), A((9,), **numbers), how),
        ]
        kinds = {"dtypes": db.ALL[1:], "special": False, "tol": 8}
        if how != "mean":
            kinds["loose"] = ("bool",)
        op(
            f"scatter_reduce_{how}",
            zero.scatter_reduce,
            reduced,
            samples,
            scale=sizes_of(reduced, how),
            inplace="scatter_reduce_",
            kind="index",
            big=S(A((301, 400), **numbers), 1, index(400, 300, 500), A((300, 500), **numbers), how)
            if how != "prod"
            else None,
            errors=(
                (S(x, 1, index(9, 3, 5, low=7), src, how), IndexError, "of size 4"),
                (S(x, 1, index(4, 3, 6), src, how), ShapeError, "(3, 5)"),
                (S(x, 1, index(4, 3, 5), A((3, 5), dtype="int8"), how), DTypeError, "int8"),
                (S(x, 1, index(4, 3, 5), src, "median"), ValueError, "median"),
            ),
            **kinds,
        )
        op(
            f"scatter_reduce_{how}_alone",
            lambda *a: zero.scatter_reduce(*a, include_self=False),
            lambda *a: reduced(*a, include_self=False),
            alone,
            scale=sizes_of(reduced, how),
            **kinds,
        )
        if how == "sum":
            continue
        rows = A((5, 4), **numbers)
        op(
            f"index_reduce_{how}",
            zero.index_reduce,
            rows_reduced,
            [
                S(A((3,), **numbers), 0, index(3, 4), A((4,), **numbers), how),
                S(x, 0, index(3, 5), rows, how),
                S(x, 1, index(4, 5), src, how),
                S(A((2, 3, 2), **numbers), -2, index(3, 4), A((2, 4, 2), **numbers), how),
            ],
            scale=sizes_of(rows_reduced, how),
            inplace="index_reduce_",
            kind="index",
            errors=(
                (S(x, 0, index(9, 5, low=7), rows, how), IndexError, "of size 3"),
                (S(x, 0, index(3, 5), src, how), ShapeError, "(5, 4)"),
                (S(x, 0, index(3, 5), rows, "sum"), ValueError, "sum"),
            ),
            **kinds,
        )
    exact = {"dtypes": db.ALL, "tol": 0}
    x, mask = A((3, 4)), A((3, 4), dtype="bool", grad=False)
    op(
        "masked_scatter",
        zero.masked_scatter,
        mask_filled,
        [
            S(x, mask, A((12,))),
            S(x, A((4,), dtype="bool", grad=False), A((5, 4))),
            S(A((4,)), mask, A((12,))),
            S(A(()), A((), dtype="bool", grad=False), A((1,))),
        ],
        meta=False,
        inplace=None,
        big=S(A((301, 400)), A((301, 400), dtype="bool", grad=False), A((301, 400))),
        errors=(
            (S(A((3,)), zero.ones(3, dtype=zero.bool), A((2,))), ShapeError, "at least 3"),
            (S(x, A((3,), dtype="bool"), A((12,))), ShapeError, "(3,)"),
            (S(x, mask, A((12,), dtype="int8")), DTypeError, "int8"),
            (S(x, index(2, 3, 4), A((12,))), DTypeError, "bool"),
        ),
        **exact,
    )
    op(
        "put",
        zero.put,
        placed,
        [
            S(x, index(12, 2, 3, low=-12), A((6,))),
            S(A(()), index(1), A(())),
            S(A((0,)), index(1, 0), A((0,))),
            S(x, index(12, 5), A((5,))),
        ],
        inplace="put_",
        kind="index",
        errors=(
            (S(x, index(30, 2, low=20), A((2,))), IndexError, "of size 12"),
            (S(x, index(12, 2), A((3,))), ShapeError, "(3,)"),
            (S(x, index(12, 2), A((2,), dtype="int8")), DTypeError, "int8"),
        ),
        **exact,
    )
    op(
        "put_accumulate",
        lambda *a: zero.put(*a, accumulate=True),
        lambda *a: placed(*a, True),
        [S(A((2, 3)), index(6, 4), A((4,))), S(x, index(12, 9), A((9,)))],
        scale=lambda x, i, s: placed(np.abs(x), i, np.abs(s), True),
        dtypes=db.ALL,
        tol=4,
    )
