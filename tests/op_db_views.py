"""The entries of op_db for views, parts, copies of views, and what is composed of them on grids."""

import itertools

import numpy as np

import zero
from zero.errors import DTypeError, ShapeError


def windows(x, d, size, step):
    d %= max(x.ndim, 1)
    if x.ndim == 0:
        return np.broadcast_to(x, (size,))
    y = np.lib.stride_tricks.sliding_window_view(x, size, d) if size else x[..., None][..., :0]
    if size == 0:
        n = x.shape[d] // step + 1
        return np.zeros((*x.shape[:d], n, *x.shape[d + 1 :], 0), x.dtype)
    return np.moveaxis(np.moveaxis(y, d, 0)[::step], 0, d)


def embedded(x, src, place):
    y = np.array(x)
    y[place] = src
    return y


def on_diagonal(x, src, offset=0, dim1=0, dim2=1):
    y = np.array(x)
    moved = np.moveaxis(y, (dim1, dim2), (-2, -1))
    i = np.arange(src.shape[-1])
    moved[..., i + max(-offset, 0), i + max(offset, 0)] = src
    return y


def blocks(*parts):
    parts = [np.atleast_2d(p) for p in parts]
    y = np.zeros(np.sum([p.shape for p in parts], 0), parts[0].dtype)
    r = c = 0
    for p in parts:
        y[r : r + p.shape[0], c : c + p.shape[1]] = p
        r, c = r + p.shape[0], c + p.shape[1]
    return y


def chosen(x, r=2, repeat=False):
    choose = itertools.combinations_with_replacement if repeat else itertools.combinations
    rows = list(choose(range(len(x)), r))
    return x[np.array(rows, int).reshape(len(rows), r)]


def integral(y, x=None, dx=1, dim=-1):
    return np.trapezoid(y, x, dx, dim) if hasattr(np, "trapezoid") else np.trapz(y, x, dx, dim)


def running_integral(y, x=None, dx=1, dim=-1):
    y = np.moveaxis(y, dim, -1)
    step = dx if x is None else np.diff(x)
    return np.moveaxis(np.cumsum((y[..., 1:] + y[..., :-1]) / 2 * step, -1), -1, dim)


def slopes(x, spacing=1, dim=None, edge_order=1):
    dims = range(x.ndim) if dim is None else np.atleast_1d(dim)
    each = spacing if isinstance(spacing, list | tuple) else [spacing] * len(dims)
    return tuple(
        np.gradient(x, h, axis=int(d), edge_order=edge_order)
        for h, d in zip(each, dims, strict=True)
    )


def as_tuple(f):
    return lambda *a: tuple(f(*a))


def of_contiguous(f):
    return lambda x, *a: f(x.contiguous(), *a)


def add_entries(db):
    S, A, op, shape_op = db.Sample, db.Arg, db.op, db.shape_op
    X, M = A((2, 3, 4)), A((3, 4))
    exact = {"dtypes": db.ALL, "tol": 0}

    shape_op(
        "unfold",
        lambda x, *a: x.unfold(*a),
        windows,
        [S(X, 2, 2, 1), S(X, 1, 3, 1), S(X, -1, 1, 2), S(A((7,)), 0, 3, 2), S(A(()), 0, 1, 1),
         S(A((5,)), 0, 2, 3), S(A((3,)), 0, 0, 2)],
        errors=((S(X, 1, 4, 1), ShapeError, "size 4"), (S(X, 3, 1, 1), IndexError, "3"),
                (S(X, 1, 1, 0), ValueError, "step")),
    )  # fmt: skip
    shape_op("adjoint", zero.adjoint, lambda x: np.swapaxes(x, -2, -1), [S(X), S(M)],
             errors=((S(A((3,))), ShapeError, "(3,)"),))  # fmt: skip
    shape_op("mH", lambda x: x.mH, lambda x: np.swapaxes(x, -2, -1), [S(X), S(M)])
    shape_op("H", lambda x: x.H, np.transpose, [S(M)], errors=((S(X), ShapeError, "(2, 3, 4)"),))
    shape_op(
        "tensor_split",
        zero.tensor_split,
        lambda x, n, d=0: tuple(np.array_split(x, n, d)),
        [S(X, 2), S(X, 3, 2), S(X, (1, 3), 2), S(X, 5, 1), S(X, (1,), -1)],
        errors=((S(X, 0), ShapeError, "0"), (S(A(()), 1), ShapeError, "0-d"),
                (S(X, 1.5), TypeError, "float")),
    )  # fmt: skip
    for name, samples in {
        "hsplit": [S(X, 3), S(A((4,)), 2), S(X, (1, 2))],
        "vsplit": [S(M, 3), S(X, (1,))],
        "dsplit": [S(X, 2), S(X, (1, 3))],
    }.items():
        shape_op(
            name,
            getattr(zero, name),
            as_tuple(getattr(np, name)),
            samples,
            errors=((S(X, 5), ShapeError, "not equal"), (S(A(()), 1), ShapeError, "dimensions")),
        )
    sizes = lambda x, n, d=0: tuple(np.split(x, np.cumsum(n)[:-1], d))
    steps = lambda x, n, d=0: tuple(np.split(x, range(n, x.shape[d], n), d))
    chunks = lambda x, n, d=0: steps(x, -(-x.shape[d] // n), d)
    for name in ("split_with_sizes", "unsafe_split_with_sizes"):
        shape_op(name, getattr(zero, name), sizes, [S(X, [1, 1]), S(X, [1, 3], 2)])
    shape_op("unsafe_split", zero.unsafe_split, steps, [S(X, 2, 1), S(X, 1)])
    shape_op("unsafe_chunk", zero.unsafe_chunk, chunks, [S(X, 2, 1), S(X, 2, 2)])

    copied = {"view": False}
    for name, fn, samples in (
        ("alias_copy", np.array, [S(X), S(A(()))]),
        ("as_strided_copy", None, [S(A((3,)), (2, 2), (1, 1))]),
        ("diagonal_copy", np.diagonal, [S(M), S(X, 1, 2, 1)]),
        ("expand_copy", np.broadcast_to, [S(M, (2, 3, 4)), S(A((1, 3)), (2, 3))]),
        ("narrow_copy", lambda x, d, a, n: np.take(x, range(a, a + n), d), [S(X, 1, 1, 2)]),
        ("permute_copy", np.transpose, [S(X, (2, 0, 1))]),
        ("select_copy", lambda x, d, i: np.take(x, i, d), [S(X, 1, -1)]),
        ("slice_copy", lambda x, d, a, b, n: np.moveaxis(np.moveaxis(x, d, 0)[a:b:n], 0, d),
         [S(X, 1, 0, 3, 2), S(X, 2, 1, None, 1)]),
        ("squeeze_copy", lambda x, d=None: np.squeeze(x, d), [S(A((1, 3, 1))), S(A((1, 3)), 0)]),
        ("t_copy", np.transpose, [S(M), S(A((3,)))]),
        ("transpose_copy", np.swapaxes, [S(X, 0, 2)]),
        ("unfold_copy", windows, [S(X, 2, 2, 1)]),
        ("unsqueeze_copy", np.expand_dims, [S(X, 1), S(A(()), 0)]),
        ("view_copy", np.reshape, [S(A((6,)), (2, 3))]),
        ("split_copy", steps, [S(X, 2, 1)]),
        ("split_with_sizes_copy", sizes, [S(X, [1, 2], 1)]),
        ("unbind_copy", lambda x, d=0: tuple(np.moveaxis(x, d, 0)), [S(X), S(X, 1)]),
    ):  # fmt: skip
        if name in ("as_strided_copy", "view_copy"):  # strided inputs give other results, or none
            op(name, of_contiguous(getattr(zero, name)),
               fn or (lambda x, *a: np.stack([x[:2], x[1:]])), samples, **exact)  # fmt: skip
        else:
            shape_op(name, getattr(zero, name), fn, samples, **copied)
    shape_op("detach_copy", zero.detach_copy, np.array, [S(X)], grad=False, **copied)

    op(
        "vander",
        zero.vander,
        np.vander,
        [S(A((3,))), S(A((4,)), 2, True), S(A((3,)), 0), S(A((2,)), 4), S(A((0,)))],
        dtypes=db.ALL,
        out="sum",
        tol=8,
        errors=(
            (S(A((2, 3))), ShapeError, "(2, 3)"),
            (S(A((3,)), -1), ValueError, "-1"),
        ),
    )
    op(
        "select_scatter",
        zero.select_scatter,
        lambda x, s, d, i: embedded(x, s, (slice(None),) * d + (i,)),
        [S(A((2, 3)), A((3,)), 0, 1), S(X, A((3, 4)), 0, 1), S(X, A((2, 3)), 2, -1)],
        errors=((S(X, A((3,)), 0, 1), ShapeError, "(3, 4)"), (S(X, X, 0, 5), IndexError, "5")),
        **exact,
    )
    op(
        "slice_scatter",
        zero.slice_scatter,
        lambda x, s, d=0, *a: embedded(x, s, (slice(None),) * d + (slice(*(*a, None)[:3]),)),
        [S(A((3, 2)), A((2, 2)), 0, 1), S(X, X), S(X, A((2, 2, 4)), 1, 1),
         S(X, A((2, 3, 2)), 2, 0, 4, 2)],
        errors=((S(X, A((3,)), 0, 1), ShapeError, "(1, 3, 4)"),),
        **exact,
    )  # fmt: skip
    op(
        "diagonal_scatter",
        zero.diagonal_scatter,
        on_diagonal,
        [S(A((3, 3)), A((3,))), S(M, A((3,)), 1), S(A((4, 3)), A((3,)), -1)],
        errors=((S(M, A((4,))), ShapeError, "(3,)"),),
        **exact,
    )  # fmt: skip
    op(
        "as_strided_scatter",
        lambda x, s, *a: zero.as_strided_scatter(x.contiguous(), s, *a),
        lambda x, s, n, t: embedded(x.ravel(), s, slice(0, None, 2)).reshape(x.shape),
        [S(A((2, 3)), A((3,)), (3,), (2,))],
        errors=((S(X, A((2,)), (3,), (2,)), ShapeError, "(3,)"),
                (S(X, A((2, 2)), (2, 2), (0, 1)), RuntimeError, "share")),
        **exact,
    )  # fmt: skip

    op("cartesian_prod", zero.cartesian_prod,
       lambda *a: np.stack(np.meshgrid(*a, indexing="ij"), -1).reshape(-1, len(a)),
       [S(A((3,)), A((2,))), S(A((2,)), A((1,)), A((3,)))],
       errors=((S(M, A((2,))), ShapeError, "(3, 4)"),
               (S(A((2,)), A((2,), dtype="int8")), DTypeError, "int8")), **exact)  # fmt: skip
    op("combinations", zero.combinations, chosen,
       [S(A((4,))), S(A((5,)), 3), S(A((3,)), 2, True), S(A((3,)), 4), S(A((3,)), 1)],
       errors=((S(M), ShapeError, "(3, 4)"), (S(A((3,)), -1), ValueError, "-1")),
       **exact)  # fmt: skip
    op("block_diag", zero.block_diag, blocks, [S(M, A((2,)), A(())), S(M), S(A((0, 2)), M)],
       errors=((S(X), ShapeError, "(2, 3, 4)"),), **exact)  # fmt: skip
    op("column_stack", lambda *a, **k: zero.column_stack(a, **k), lambda *a: np.column_stack(a),
       [S(A((3,)), A((3,))), S(M, A((3,)))], **exact)  # fmt: skip
    op("argwhere", zero.argwhere, np.argwhere, [S(A((3, 4), ilow=0, ihigh=1)), S(A((0, 2)))],
       dtypes=db.ALL, out="int64", grad=False, meta=False)  # fmt: skip
    op("unravel_index", zero.unravel_index, np.unravel_index,
       [S(A((5,), ilow=0, ihigh=23, dtype="int64"), (2, 3, 4)),
        S(A((2, 2), ilow=0, ihigh=4, dtype="int32"), (5,))],
       dtypes=db.ALL, out="int64", grad=False,
       errors=((S(A((2,), dtype="int64"), (-1,)), ValueError, "negative"),
               (S(A((2,), dtype="float32"), (2,)), DTypeError, "float32")))  # fmt: skip
    op("sum_to_size", lambda x, *n: x.sum_to_size(*n),
       lambda x, *n: x.sum(0).reshape(n) if len(n) == 1 else x.sum(0, keepdims=True),
       [S(M, 4), S(M, 1, 4)], out="sum", dtypes=db.ALL, scale=lambda x, *n: np.abs(x).sum(0),
       errors=((S(M, 3), ShapeError, "(3,)"),))  # fmt: skip

    dx = A((4,), low=0.5, high=2.0, grad=False)
    size = lambda y, *a, **k: 4 * np.abs(y).max(initial=0)
    rounded = {"tol": 8, "scale": size, "special": False, "loose": db.INTS}
    op("trapezoid", zero.trapezoid, integral, [S(M), S(M, dim=0), S(M, dx=0.5), S(M, dx)],
       errors=((S(M, A((3,))), ShapeError, "3"), (S(A(dtype="bool")), DTypeError, "bool")),
       **rounded)  # fmt: skip
    op("cumulative_trapezoid", zero.cumulative_trapezoid, running_integral,
       [S(M), S(M, dim=0), S(M, dx=0.5), S(M, dx)], **rounded)  # fmt: skip
    op("gradient", zero.gradient, slopes,
       [S(M), S(M, spacing=0.5, dim=0), S(M, spacing=(2.0, 0.5)), S(M, edge_order=2),
        S(M, spacing=2.0, dim=(1, 0))],
       errors=((S(A((1,))), ShapeError, "size 1"), (S(M, edge_order=3), ValueError, "3"),
               (S(M, dim=(0, 0)), ShapeError, "repeated"),
               (S(M, spacing=(1.0, 1.0, 1.0)), ShapeError, "3")), **rounded)  # fmt: skip
