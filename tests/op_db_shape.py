"""The entries of op_db for repetitions, reflections, triangles, parts, and products with a sum."""

import numpy as np

import zero
from zero.errors import ShapeError


def pieces(x, sections, dim=0):
    if not isinstance(sections, int):
        return tuple(np.split(x, np.cumsum(sections)[:-1], dim))
    return tuple(np.split(x, range(sections, x.shape[dim], sections), dim))


def chunks(x, n, dim=0):
    return pieces(x, -(-x.shape[dim] // n), dim)


def embedded(x, offset=0):
    n = x.shape[-1] + abs(offset)
    y = np.zeros((*x.shape[:-1], n, n), x.dtype)
    i = np.arange(x.shape[-1])
    y[..., i + max(-offset, 0), i + max(offset, 0)] = x
    return y


def diagonal_filled(x, wrap=False):
    y = x.copy()
    np.fill_diagonal(y, 1, wrap)
    return y


def strided_of_contiguous(x, size, stride, start=0):
    x = x.contiguous()  # or the result would depend on the strides
    return zero.as_strided(x, size, stride, x.storage_offset() + start if start else None)


def strided(x, size, stride, storage_offset=0):
    flat = np.ascontiguousarray(x).ravel()[storage_offset:]
    return np.lib.stride_tricks.as_strided(flat, size, [n * x.itemsize for n in stride])


def added(product, reduce=False):
    def f(x, a, b, beta=1, alpha=1):
        return np.asarray(beta * x + alpha * product(a, b))

    return f


def add_entries(db):
    S, A = db.Sample, db.Arg
    shape_op, X = db.shape_op, A((2, 3, 4))
    copied = {"view": False}
    shape_op(
        "repeat",
        lambda x, *n: x.repeat(*n),
        lambda x, *n: np.tile(x, n),
        [S(A((2, 3)), 2, 3), S(A((3,)), 2, 2), S(A(()), 3), S(A((2,)), 0), S(A((2,)), 1)],
        errors=((S(A((2, 3)), 2), ShapeError, "(2, 3)"), (S(A((2,)), -1), ShapeError, "-1")),
        **copied,
    )
    shape_op("tile", zero.tile, np.tile, [S(A((2, 3)), (2,)), S(A((3,)), (2, 2))], **copied)
    counts = A((3,), ilow=0, ihigh=2, dtype="int64", grad=False)
    shape_op(
        "repeat_interleave",
        zero.repeat_interleave,
        lambda x, n, dim=None: np.repeat(x, n, dim),
        [S(X, 2), S(X, 3, 1), S(X, 0, -1)],
        errors=((S(X, -1), ValueError, "-1"),),
        **copied,
    )
    shape_op(
        "repeat_interleave_counts",
        zero.repeat_interleave,
        lambda x, n, dim=None: np.repeat(x, n, dim),
        [S(A((3,)), counts), S(X, counts, 1)],
        meta=False,
        errors=((S(X, counts, 0), ShapeError, "(2,)"),),
        **copied,
    )
    shape_op(
        "flip",
        zero.flip,
        np.flip,
        [S(X, (0,)), S(X, (0, 2)), S(X, -1), S(A((0, 2)), 0), S(A((1,)), 0)],
        big=S(A((601, 200)), (0, 1)),
        errors=((S(X, 3), IndexError, "3"), (S(X, (0, 0)), ValueError, "repeated")),
        **copied,
    )
    shape_op("fliplr", zero.fliplr, np.fliplr, [S(A((2, 3)))],
             errors=((S(A((3,))), ShapeError, "(3,)"),), **copied)  # fmt: skip
    shape_op("flipud", zero.flipud, np.flipud, [S(A((2, 3))), S(A((3,)))],
             errors=((S(A(())), ShapeError, "0-d"),), **copied)  # fmt: skip
    shape_op(
        "rot90",
        zero.rot90,
        np.rot90,
        [S(A((2, 3))), S(A((2, 3)), 2), S(A((2, 3)), -1), S(X, 5, (2, 1)), S(X, 4)],
        **copied,
    )
    shape_op(
        "roll",
        zero.roll,
        lambda x, n, d=None: np.roll(x, n, d),
        [S(X, 5), S(X, 1, 0), S(X, (1, -2), (0, 2)), S(A((0,)), 1, 0), S(X, 3, 1)],
        errors=((S(X, (1, 2), 0), ShapeError, "shift"), (S(X, 1, 3), IndexError, "3")),
        **copied,
    )
    for name in ("tril", "triu"):
        shape_op(
            name,
            getattr(zero, name),
            getattr(np, name),
            [S(A((3, 3))), S(A((2, 4)), 1), S(X, -1), S(A((0, 3)))],
            inplace=name + "_",
            kind="index",
            errors=((S(A((3,))), ShapeError, "(3,)"),),
            big=S(A((401, 300))),
            **copied,
        )
    shape_op(
        "diagonal",
        zero.diagonal,
        np.diagonal,
        [
            S(A((3, 3))),
            S(A((2, 4)), 1),
            S(A((4, 2)), -1),
            S(X, 0, 0, 2),
            S(X, 0, -1, 1),
            S(A((2, 3)), 9),
        ],
        errors=((S(A((3,))), ShapeError, "(3,)"), (S(X, 0, 1, 1), ShapeError, "twice")),
    )
    shape_op(
        "as_strided",
        strided_of_contiguous,
        strided,
        [
            S(A((3, 4)), (2, 3), (4, 1), 1),
            S(A((6,)), (4, 3), (1, 1)),  # windows, that overlap
            S(A((2, 3)), (2, 2), (0, 2)),
            S(A((2, 3)), (), (), 4),
            S(A((2, 3)), (0, 5), (1, 1)),
        ],
        errors=(
            (S(A((2, 3)), (4,), (2,)), ShapeError, "outside its storage"),
            (S(A((2, 3)), (4,), (1, 2)), ShapeError, "as many strides"),
            (S(A((2, 3)), (2,), (-1,)), ValueError, "negative"),
        ),
    )
    shape_op(
        "diag",
        zero.diag,
        np.diag,
        [S(A((3,))), S(A((3,)), 1), S(A((3,)), -2), S(A((2, 3))), S(A((2, 3)), 1), S(A((0,)))],
        errors=((S(X), ShapeError, "(2, 3, 4)"),),
        **copied,
    )
    shape_op(
        "diag_embed",
        zero.diag_embed,
        embedded,
        [S(A((3,))), S(A((2, 3)), 1), S(A((2, 3)), -1)],
        **copied,
    )
    shape_op("diagflat", zero.diagflat, np.diagflat, [S(A((2, 2))), S(A((3,)), 1)], **copied)
    shape_op(
        "fill_diagonal_",
        lambda x, wrap=False: x.clone().fill_diagonal_(1, wrap),
        diagonal_filled,
        [S(A((3, 3))), S(A((2, 3))), S(A((7, 3))), S(A((7, 3)), True), S(A((2, 2, 2)))],
        errors=((S(X), ShapeError, "(2, 3, 4)"),),
        **copied,
    )
    for indexing in ("ij", "xy"):
        shape_op(
            "meshgrid_" + indexing,
            lambda *x, i=indexing: zero.meshgrid(*x, indexing=i),
            lambda *x, i=indexing: tuple(np.meshgrid(*x, indexing=i)),
            [S(A((2,)), A((3,))), S(A((2,)), A((3,)), A((4,))), S(A((2,)))],
            errors=((S(X, A((2,))), ShapeError, "(2, 3, 4)"),),
            view=False,
        )
    shape_op(
        "movedim",
        zero.movedim,
        np.moveaxis,
        [S(X, 0, -1), S(X, (0, 1), (2, 0))],
        errors=((S(X, 3, 0), IndexError, "3"), (S(X, (0, 0), (1, 2)), ShapeError, "match")),
    )
    shape_op(
        "unflatten",
        zero.unflatten,
        lambda x, d, s: x.reshape(*x.shape[:d], *s, *x.shape[d:][1:]),
        [S(A((2, 6)), 1, (2, 3)), S(A((6, 2)), 0, (-1, 2))],
        errors=((S(A((2, 6)), 1, (4, 2)), ShapeError, "6"),),
    )
    shape_op(
        "split",
        zero.split,
        pieces,
        [S(A((5, 2)), 2), S(A((5, 2)), 9), S(A((2, 5)), [1, 0, 4], 1), S(A((6,)), 3)],
        errors=(
            (S(A((5,)), [2, 2]), ShapeError, "5"),
            (S(A((5,)), 0), ValueError, "0"),
            (S(A(()), 1), ShapeError, "0-d"),
        ),
    )
    shape_op(
        "chunk",
        zero.chunk,
        chunks,
        [S(A((5, 2)), 2), S(A((2, 5)), 3, 1), S(A((4,)), 9)],
        errors=((S(A((5,)), 0), ValueError, "0"), (S(A((5,)), 2, 1), IndexError, "1")),
    )
    parts = [S([A((2, 3)), A((2, 3))]), S([A((3,)), A((3,))]), S([A(()), A(())])]
    for name, ref in (("hstack", np.hstack), ("vstack", np.vstack), ("dstack", np.dstack)):
        shape_op(name, getattr(zero, name), ref, parts, view=False)
    for i in (1, 2, 3):
        name = f"atleast_{i}d"
        shape_op(name, getattr(zero, name), getattr(np, name), [S(A(())), S(A((2,))), S(X)])

    db.op(
        "outer",
        zero.outer,
        np.outer,
        [S(A((2,)), A((3,))), S(A((0,)), A((3,)))],
        dtypes=db.ALL,
        tol=0.5,
        errors=((S(A((2, 3)), A((3,))), ShapeError, "(2, 3)"),),
    )
    db.op(
        "inner",
        zero.inner,
        np.inner,
        [S(A((3,)), A((3,))), S(A((2, 3)), A((4, 3))), S(A(()), A((3,)))],
        dtypes=db.NUMBERS,
        tol=2,
        scale=lambda a, b: np.inner(np.abs(a), np.abs(b)) * 2,
    )
    products = {
        "addmm": (np.matmul, (2, 4), (2, 3), (3, 4)),
        "addmv": (np.matmul, (2,), (2, 3), (3,)),
        "addr": (np.outer, (2, 3), (2,), (3,)),
        "baddbmm": (np.matmul, (2, 2, 2), (2, 2, 1), (2, 1, 2)),
        "addbmm": (lambda a, b: (a @ b).sum(0), (2, 2), (2, 2, 2), (2, 2, 2)),
    }
    for name, (product, x, a, b) in products.items():
        db.op(
            name,
            getattr(zero, name),
            added(product),
            [
                S(A(x), A(a), A(b)),
                S(A((1,) * len(x)), A(a), A(b)),
                S(A(x), A(a), A(b), beta=2, alpha=3),
                S(A(x), A(a), A(b), beta=0),
            ],
            dtypes=db.NUMBERS,
            tol=4,
            scale=lambda x, a, b, beta=1, alpha=1, f=product: (
                np.abs(x) * 2 + 4 * f(np.abs(a), np.abs(b))
            ),
            errors=((S(A((7,) * len(x)), A(a), A(b)), ShapeError, "(7,"),),
            loose=("bool",) if name == "addr" else (),
        )
