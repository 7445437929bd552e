"""The entries of op_db for indexing: masks, indices along a dimension, indices per dimension."""

import numpy as np

import zero


def index_of(x, i):
    return np.array(x[i])


def put(x, i, v, accumulate=False):
    y, i = x.copy(), tuple(slice(None) if k is None else k for k in i)
    if accumulate:
        np.add.at(y, i, v)
    else:
        y[i] = v
    return y


def scattered(x, dim, index, src, add=False):
    """One element after the other."""
    y = np.array(x)
    for place in np.ndindex(index.shape):
        value = src if np.ndim(src) == 0 else src[place]
        to = list(place)
        if to:
            to[dim] = index[place]
        y[tuple(to)] = y[tuple(to)] + value if add else value
    return y


def gathered(x, dim, index):
    y = np.empty(index.shape, x.dtype)
    for place in np.ndindex(index.shape):
        source = list(place)
        if source:
            source[dim] = index[place]
        y[place] = x[tuple(source)]
    return y


def index_added(x, dim, index, source, alpha=1):
    y = np.moveaxis(x.copy(), dim, 0)
    np.add.at(y, np.atleast_1d(index), np.moveaxis(source, dim, 0) * np.asarray(alpha, x.dtype))
    return np.moveaxis(y, 0, dim)


def rows_put(x, dim, index, values):
    y = np.moveaxis(np.atleast_1d(x).copy(), dim, 0)
    rows = values if np.ndim(values) < 2 else np.moveaxis(values, dim, 0)
    y[np.atleast_1d(index)] = rows
    return np.moveaxis(y, 0, dim).reshape(np.shape(x))


def along(x, indices, dim=None):
    if dim is None:
        x, indices, dim = x.ravel(), indices.ravel(), 0
    return np.take_along_axis(x, indices, dim)


def filled(x, mask, value):
    return np.where(mask, np.asarray(value).astype(x.dtype), x)


def add_entries(op, S, A, ALL, FLOATS):
    """Registers the entries by way of op_db's own functions and classes."""
    ShapeError, DTypeError = zero.errors.ShapeError, zero.errors.DTypeError

    def index(n, *shape, dtype="int64", low=0):
        return A(shape, ilow=low, ihigh=n - 1, dtype=dtype, grad=False)

    def mask(*shape):
        return A(shape, dtype="bool", grad=False)

    meta_index = zero.zeros(1, dtype=zero.int64, device="meta")
    x, exact = A((3, 4)), {"dtypes": ALL, "tol": 0}
    sums = {"dtypes": ALL, "tol": 4}

    def magnitude(reference):
        """What the rounding errors of sums are measured by: the sum of the absolute values."""
        return lambda x, *rest: reference(
            np.abs(x), *[np.abs(a) if isinstance(a, np.ndarray) else a for a in rest]
        )

    op(
        "index",
        lambda x, i: x[tuple(i)],
        lambda x, i: index_of(x, tuple(i)),
        [
            S(x, (index(3, 5),)),
            S(x, (index(3, 2, 2, low=-3),)),
            S(x, (slice(1, None), index(4, 3))),
            S(x, (index(3, 2, 1), index(4, 3, dtype="int32"))),
            S(A((2, 3, 2)), (index(2, 3), slice(None), index(2, 3))),
            S(A((2, 3, 2)), (None, slice(None), index(3, 2), index(2, 1))),
            S(A((2, 0)), (index(2, 3),)),
            S(x, (index(3, 0),)),
        ],
        big=S(A((301, 400)), (index(301, 500),)),
        sized=lambda n: [S(A((5, n)), (index(5, 7),)), S(A((3, n)), (slice(None), index(n, n)))],
        errors=(
            (S(x, (index(9, 2, low=7),)), IndexError, "for dimension 0 of size 3"),
            (S(x, (slice(None), index(-4, 2, low=-9))), IndexError, "dimension 1 of size 4"),
            (S(x, (index(3, 2), index(4, 3))), IndexError, "do not broadcast"),
            (S(x, (index(3, 2),) * 3), IndexError, "too many indices"),
            (S(x, (mask(4),)), IndexError, "the mask does not fit"),
            (S(x, (A((2,)),)), IndexError, "not an index"),
            (S(x, (meta_index,)), RuntimeError, "meta"),
        ),
        **exact,
    )
    op(
        "index_mask",
        lambda x, i: x[i],
        index_of,
        [S(x, mask(3)), S(x, mask(3, 4)), S(x, (slice(None), mask(4))), S(x, (mask(3), 1))],
        big=S(A((301, 400)), mask(301, 400)),
        sized=lambda n: [S(A((n,)), mask(n))],
        meta=False,
        **exact,
    )
    op(
        "index_put",
        zero.index_put,
        put,
        [
            S(A((3, 2)), (index(3, 5),), A((5, 2))),
            S(x, (index(3, 2),), A(())),
            S(x, (index(3, 2, 1), index(4, 3, low=-4)), A((3,))),
            S(A((2, 3, 2)), (index(2, 3), None, index(2, 3)), A((3, 3))),
            S(x, (index(3, 0),), A((1,))),
        ],
        inplace="index_put_",
        kind="index",
        big=S(A((301, 400)), (index(301, 500),), A((500, 400))),
        sized=lambda n: [S(A((5, n)), (index(5, 7),), A((7, n)))],
        errors=(
            (S(x, (index(3, 2),), A((3,))), ShapeError, "(3,)"),
            (S(x, (index(9, 2, low=7),), A(())), IndexError, "of size 3"),
            (S(x, (index(3, 2),), A((), dtype="int8")), DTypeError, "int8"),
            (S(x, index(3, 2), A(())), TypeError, "sequence"),
            (S(x, (3,), A(())), TypeError, "indices[0]"),
        ),
        **exact,
    )
    op(
        "index_put_accumulate",
        lambda x, i, v: zero.index_put(x, i, v, accumulate=True),
        lambda x, i, v: put(x, i, v, True),
        [
            S(A((3, 2)), (index(3, 5),), A((5, 2))),
            S(x, (index(3, 6),), A(())),
            S(x, (index(2, 4), index(2, 4)), A((4,))),
        ],
        scale=magnitude(lambda x, i, v: put(x, i, np.abs(v), True)),
        big=S(A((301, 400)), (index(301, 900),), A((900, 400))),
        **sums,
    )
    op(
        "masked_fill",
        zero.masked_fill,
        filled,
        [
            S(x, mask(3, 4), 2),
            S(x, mask(4), A(())),
            S(x, mask(3, 1), True),
            S(A((4,)), mask(3, 4), 1),
            S(A(()), mask(), 1),
            S(A((0, 2)), mask(2), 1),
        ],
        inplace="masked_fill_",
        kind="index",
        big=S(A((301, 400)), mask(301, 400), 1),
        sized=lambda n: [S(A((3, n)), mask(n), 1)],
        errors=(
            (S(x, mask(3), 1), ShapeError, "(3,)"),
            (S(x, index(2, 4), 1), DTypeError, "bool"),
            (S(x, mask(4), A((1,))), ShapeError, "0-d"),
            (S(x, mask(4), "1"), TypeError, "value"),
        ),
        **exact,
    )
    op(
        "masked_select",
        zero.masked_select,
        lambda x, m: np.broadcast_arrays(x, m)[0][np.broadcast_arrays(x, m)[1]],
        [S(x, mask(3, 4)), S(x, mask(4)), S(A((4,)), mask(3, 4)), S(A(()), mask(2))],
        big=S(A((301, 400)), mask(301, 400)),
        meta=False,
        errors=((S(x, mask(3)), ShapeError, "(3,)"), (S(x, index(2, 4)), DTypeError, "bool")),
        **exact,
    )
    op(
        "nonzero",
        zero.nonzero,
        lambda x: np.argwhere(x) if x.ndim else np.zeros((int(x != 0), 0), int),
        [S(A((3, 4), ilow=0, ihigh=1)), S(A((5,), ilow=0, ihigh=1)), S(A(())), S(A((0, 2)))],
        dtypes=ALL,
        out="int64",
        grad=False,
        meta=False,
        big=S(A((301, 400), ilow=0, ihigh=1)),
        sized=lambda n: [S(A((n,), ilow=0, ihigh=1))],
    )
    op(
        "index_select",
        zero.index_select,
        lambda x, d, i: np.take(x, np.atleast_1d(i), d),
        [
            S(x, 0, index(3, 5)),
            S(x, -1, index(4, 2, dtype="int32")),
            S(x, 1, index(4)),
            S(A((2, 3, 2)), 1, index(3, 4)),
            S(x, 0, index(3, 0)),
        ],
        big=S(A((301, 400)), 0, index(301, 500)),
        sized=lambda n: [S(A((3, n)), 0, index(3, 5)), S(A((3, n)), 1, index(n, n))],
        errors=(
            (S(x, 0, index(9, 2, low=7)), IndexError, "dimension 0 of size 3"),
            (S(x, 0, index(0, 2, low=-3)), IndexError, "expected 0 to 2"),
            (S(x, 2, index(3, 2)), IndexError, "2"),
            (S(x, 0, index(3, 2, 2)), IndexError, "list"),
            (S(x, 0, A((2,))), DTypeError, "integers"),
        ),
        **exact,
    )
    op(
        "index_add",
        zero.index_add,
        index_added,
        [
            S(A((3, 2)), 0, index(3, 5), A((5, 2))),
            S(x, 1, index(4, 2), A((3, 2))),
            S(A((2, 3, 2)), -2, index(3, 4), A((2, 4, 2))),
            S(x, 0, index(3, 0), A((0, 4))),
        ],
        scale=magnitude(lambda x, d, i, s: index_added(x, d, i, np.abs(s))),
        inplace="index_add_",
        kind="index",
        big=S(A((301, 400)), 0, index(301, 900), A((900, 400))),
        errors=(
            (S(x, 0, index(3, 2), A((3, 4))), ShapeError, "(2, 4)"),
            (S(x, 0, index(3, 2), A((2, 4), dtype="int8")), DTypeError, "int8"),
            (S(x, 0, index(9, 2, low=7), A((2, 4))), IndexError, "of size 3"),
        ),
        **sums,
    )
    op(
        "index_add_alpha",
        lambda x, d, i, s: zero.index_add(x, d, i, s, alpha=2),
        lambda x, d, i, s: index_added(x, d, i, s, 2),
        [S(A((3, 2)), 0, index(3, 5), A((5, 2)))],
        scale=lambda x, d, i, s: index_added(np.abs(x), d, i, np.abs(s), 2),
        dtypes=ALL[1:],
        loose=("bool",),
    )
    smaller = (index(3, 2, 3), index(4, 3, 2))
    bad_index = (
        (S(x, 0, index(9, 2, 2, low=7), A((2, 2))), IndexError, "dimension 0 of size 3"),
        (S(x, 1, index(0, 2, 2, low=-3), A((2, 2))), IndexError, "expected 0 to 3"),
        (S(x, 0, index(3, 2), A((2,))), ShapeError, "dimensions"),
        (S(x, 0, index(3, 2, 5), A((2, 5))), ShapeError, "(2, 5)"),
        (S(x, 2, index(3, 2, 2), A((2, 2))), IndexError, "2"),
        (S(x, 0, A((2, 2)), A((2, 2))), DTypeError, "integers"),
    )
    op(
        "gather",
        zero.gather,
        gathered,
        [
            S(x, 0, index(3, 5, 4)),
            S(x, 1, index(4, 3, 2, dtype="int32")),
            S(x, 0, smaller[0]),
            S(A((2, 3, 2)), 1, index(3, 2, 4, 1)),
            S(A(()), 0, index(1)),
            S(A((5,)), 0, index(5, 0)),
        ],
        big=S(A((301, 400)), 0, index(301, 500, 400)),
        sized=lambda n: [S(A((3, n)), 1, index(n, 3, n))],
        errors=tuple((S(*s.args[:3]), error, words) for s, error, words in bad_index),
        **exact,
    )
    op(
        "scatter",
        zero.scatter,
        scattered,
        [
            S(A((3, 2)), 0, index(3, 4, 2), A((4, 2))),
            S(A((3, 2)), 1, index(2, 2, 3), A((3, 3))),
            S(x, 1, smaller[1], 2),
            S(A((2, 3, 2)), 1, index(3, 2, 4, 1), A((2, 4, 1))),
            S(A(()), 0, index(1), A(())),
        ],
        inplace="scatter_",
        kind="index",
        big=S(A((301, 400)), 1, index(400, 300, 500), A((300, 500))),
        errors=(
            *bad_index,
            (S(x, 0, index(3, 2, 4), A((1, 4))), ShapeError, "(1, 4)"),
            (S(x, 0, index(3, 2, 4), A((2, 4), dtype="int8")), DTypeError, "int8"),
            (S(x, 0, index(3, 2, 4)), TypeError, "src"),
        ),
        **exact,
    )
    op(
        "scatter_add",
        zero.scatter_add,
        lambda x, d, i, s: scattered(x, d, i, s, True),
        [
            S(A((3, 2)), 0, index(3, 4, 2), A((4, 2))),
            S(A((3, 2)), 0, index(3, 2, 1), A((3, 2))),
            S(x, 1, smaller[1], A((3, 4))),
            S(A(()), 0, index(1), A(())),
            S(A((3,)), 0, index(3, 2), A((4,))),
        ],
        scale=magnitude(lambda x, d, i, s: scattered(x, d, i, np.abs(s), True)),
        inplace="scatter_add_",
        kind="index",
        big=S(A((301, 400)), 1, index(400, 300, 500), A((300, 500))),
        errors=bad_index,
        **sums,
    )
    op(
        "take_along_dim",
        zero.take_along_dim,
        along,
        [
            S(x, index(4, 3, 2), 1),
            S(x, index(3, 1, 4), 0),
            S(x, index(12, 5)),
            S(x, index(3, 2, 1), 0),
        ],
        errors=(
            (S(x, index(3, 2), 0), ShapeError, "(2,)"),
            (S(x, index(9, 2, 4, low=7), 0), IndexError, "of size 3"),
        ),
        **exact,
    )
    op(
        "take",
        zero.take,
        lambda x, i: np.asarray(np.take(x, i)),
        [S(x, index(12, 5, low=-12)), S(A((2, 3, 2)), index(12, 2, 2)), S(A(()), index(1))],
        errors=(
            (S(x, index(30, 2, low=20)), IndexError, "of size 12"),
            (S(x, mask(3, 4)), DTypeError, "take"),
        ),
        **exact,
    )
    op(
        "index_fill",
        zero.index_fill,
        lambda x, d, i, v: rows_put(x, d, i, v),
        [
            S(x, 0, index(3, 2), 2),
            S(A((2, 3, 2)), -2, index(3, 2), A(())),
            S(x, 1, index(4), True),
            S(A(()), 0, index(1, 1), 1),
            S(x, 1, index(4, 0), 1),
        ],
        inplace="index_fill_",
        kind="index",
        errors=(
            (S(x, 0, index(9, 2, low=7), 1), IndexError, "of size 3"),
            (S(x, 2, index(3, 2), 1), IndexError, "out of range"),
            (S(x, 0, index(3, 2, 1), 1), IndexError, "(2, 1)"),
            (S(x, 0, index(3, 2), A((2,))), ShapeError, "(2,)"),
        ),
        **exact,
    )
    op(
        "index_copy",
        zero.index_copy,
        lambda x, d, i, v: rows_put(x, d, i, v),
        [
            S(A((3, 2)), 0, index(3, 5), A((5, 2))),
            S(A((2, 3, 2)), -2, index(3, 2), A((2, 2, 2))),
            S(A((3,)), 0, index(3), A((1,))),
            S(A(()), 0, index(1), A(())),
            S(x, 1, index(4, 0), A((3, 0))),
        ],
        inplace="index_copy_",
        kind="index",
        errors=(
            (S(x, 0, index(9, 2, low=7), A((2, 4))), IndexError, "of size 3"),
            (S(x, 0, index(3, 2), A((3, 4))), ShapeError, "(2, 4)"),
            (S(x, 0, index(3, 2), A((2, 4), dtype="int8")), DTypeError, "int8"),
        ),
        **exact,
    )
