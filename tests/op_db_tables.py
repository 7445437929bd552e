"""The entries of op_db for rows of tables: embedding and embedding_bag."""

import numpy as np

import zero
from zero.errors import DTypeError, ShapeError

MODES = ("sum", "mean", "max")


def bags(weight, indices, offsets, mode, scales=None, padding=None):
    """The rows of each bag, one after the other."""
    ends = [*offsets[1:], len(indices)]
    y = np.zeros((len(offsets), weight.shape[1]))
    for b, (begin, end) in enumerate(zip(offsets, ends, strict=True)):
        places = [i for i in range(begin, end) if indices[i] != padding]
        rows = np.array([weight[indices[i]] for i in places])
        if scales is not None and len(rows):
            rows = rows * np.array([scales[i] for i in places])[:, None]
        if len(rows):
            y[b] = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode](rows, 0)
    return y


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A = db.Sample, db.Arg

    def index(rows, *shape, dtype="int64"):
        return A(shape, ilow=0, ihigh=rows - 1, dtype=dtype, grad=False)

    table = A((4, 3))
    db.op(
        "embedding",
        zero.embedding,
        lambda weight, indices: weight[indices],
        [
            S(table, index(4, 5)),
            S(table, index(4, 2, 3, dtype="int32")),
            S(table, index(4)),
            S(table, index(4, 0)),
            S(A((3, 0)), index(3, 2)),
        ],
        dtypes=db.ALL,
        tol=0,
        big=S(A((301, 400)), index(301, 500)),
        sized=lambda n: [S(A((5, n)), index(5, 7)), S(A((n, 3)), index(n, 7))],
        errors=(
            (S(A((4,)), index(4, 2)), ShapeError, "no table"),
            (S(table, A((2,), dtype="float32")), DTypeError, "float32"),
            (S(table, A((2,), ilow=4, ihigh=9, dtype="int64")), IndexError, "of size 4"),
            (S(table, A((2,), ilow=-9, ihigh=-1, dtype="int64")), IndexError, "of size 4"),
        ),
    )
    for mode in MODES:

        def bag(weight, indices, *rest, mode=mode, **options):
            offsets = zero.tensor([0, 2, 2, 5])
            number = MODES.index(mode)
            scales = rest[0] if rest else None
            return zero.embedding_bag(
                weight, indices, offsets, mode=number, per_sample_weights=scales, **options
            )[0]

        def reference(weight, indices, *rest, mode=mode, padding_idx=None):
            scales = rest[0] if rest else None
            return bags(weight, indices, [0, 2, 2, 5], mode, scales, padding_idx)

        samples = [S(table, index(4, 7)), S(table, index(4, 7, dtype="int32"), padding_idx=1)]
        if mode == "sum":
            samples += [
                S(table, index(4, 7), A((7,))),
                S(table, index(4, 7), A((7,)), padding_idx=0),
            ]
        db.op(
            f"embedding_bag_{mode}",
            bag,
            reference,
            samples,
            scale=lambda weight, *args, **options: 8 * np.abs(weight).max(initial=0),
            big=S(A((301, 400)), index(301, 500)),
            sized=lambda n: [S(A((5, n)), index(5, 7))],
            dtypes=db.FLOATS,
            errors=(
                (S(A((4,)), index(4, 7)), ShapeError, "no table"),
                (S(table, index(4, 2, 7)), ShapeError, "list of indices"),
                (S(table, index(4, 3)), ValueError, "offsets"),
            ),
        )
