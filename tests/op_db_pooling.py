"""The entries of op_db for padding and pooling."""

import itertools
import math

import numpy as np

from zero.errors import ShapeError
from zero.nn import functional as F


# ---- windows -----------------------------------------------------------------------------------
def spans(size, kernel, stride=None, padding=0, dilation=1, ceil=False):
    """For each window the places in it, and how many of its places are in the padded input."""
    stride = stride or kernel
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    out = (-(-room // stride) if ceil else room // stride) + 1
    if ceil and (out - 1) * stride >= size + padding:
        out -= 1
    places = [[i * stride - padding + j * dilation for j in range(kernel)] for i in range(out)]
    return [([j for j in p if 0 <= j < size], sum(j < size + padding for j in p)) for p in places]


def adaptive_spans(size, out):
    ends = [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]
    return [(list(range(a, b)), b - a) for a, b in ends]


def pooled(x, dims, f):
    """f(elements [..., n], their places, whole number) of each window of the last dimensions."""
    n = len(dims)
    sizes = x.shape[-n:]
    flat = x.reshape(*x.shape[:-n], math.prod(sizes))
    results = []
    for window in itertools.product(*dims):
        grid = np.meshgrid(*(np.array(places, int) for places, _ in window), indexing="ij")
        where = np.ravel_multi_index([g.ravel() for g in grid], sizes)
        results.append(f(flat[..., where], where, np.prod([whole for _, whole in window])))
    shape = (*x.shape[:-n], *(len(d) for d in dims))
    return np.stack(results, -1).reshape(shape)


def each(value, n):
    return value if isinstance(value, tuple) else (value,) * n


def fixed(x, n, kernel, stride=None, padding=0, dilation=1, ceil=False):
    sizes = x.shape[-n:]
    options = zip(*(each(v, n) for v in (kernel, stride, padding, dilation, ceil)), strict=True)
    return [spans(size, *o) for size, o in zip(sizes, options, strict=True)]


def largest(x, dims):
    values = pooled(x, dims, lambda v, where, whole: v.max(-1))
    indices = pooled(x, dims, lambda v, where, whole: where[v.argmax(-1)])
    return values, indices


def average(x, dims, include=True, divisor=None):
    def f(v, where, whole):
        number = divisor or (whole if include else len(where))
        total = v.sum(-1)
        return total / number if total.dtype.kind == "f" else np.trunc(total / number).astype(int)

    return pooled(x, dims, f)


# ---- padding -----------------------------------------------------------------------------------
def cropped(x, pad):
    for i in range(len(pad) // 2):
        a, b = (max(-p, 0) for p in pad[2 * i : 2 * i + 2])
        x = np.moveaxis(
            np.moveaxis(x, -1 - i, 0)[a : len(np.moveaxis(x, -1 - i, 0)) - b], 0, -1 - i
        )
    return x


def padded(x, pad, mode="constant", value=None):
    widths = [(0, 0)] * x.ndim
    for i in range(len(pad) // 2):
        widths[x.ndim - 1 - i] = tuple(max(p, 0) for p in pad[2 * i : 2 * i + 2])
    if mode == "constant":
        return np.pad(cropped(x, pad), widths, constant_values=value or 0)
    return np.pad(
        cropped(x, pad), widths, {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    )


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A = db.Sample, db.Arg
    numbers = {"dtypes": db.NUMBERS}
    exact = {"tol": 0, "zero_sign": False}

    # ---- padding
    db.op(
        "pad",
        F.pad,
        padded,
        [
            S(A((2, 3)), (1, 2)),
            S(A((2, 3)), (1, 0, 0, 2), value=2),
            S(A((2, 4)), (-1, 2, 1, -1)),
            S(A((2, 4)), (-1, -1)),
            S(A((2, 3)), (0, 0)),
            S(A((2, 0)), (1, 1)),
            S(A((3,)), (2, 1), "constant", 1),
        ],
        dtypes=db.ALL,
        big=S(A((5, 100, 201)), (1, 2, 3, 0)),
        errors=(
            (S(A((2, 3)), (1,)), ValueError, "length"),
            (S(A((2, 3)), (1, 1, 1, 1, 1, 1)), ValueError, "length"),
            (S(A((2, 3)), (-2, -2)), ShapeError, "nothing is left"),
            (S(A((2, 3)), (-4, 3)), ShapeError, "nothing is left"),
            (S(A((1, 2, 3)), (1, 1), "mirror"), NotImplementedError, "mode"),
            (S(A((1, 2, 3)), (1, 1), "reflect", 1.0), ValueError, "value"),
            (S(A((2, 3)), (1.5, 1)), TypeError, "pad"),
        ),
        **exact,
    )
    for mode, most in (("reflect", 2), ("replicate", 5), ("circular", 3)):
        db.op(
            f"pad_{mode}",
            lambda x, pad, mode=mode: F.pad(x, pad, mode),
            lambda x, pad, mode=mode: padded(x, pad, mode),
            [
                S(A((2, 3)), (1, 2)),
                S(A((1, 2, 3)), (most, most)),
                S(A((1, 2, 3)), (2, 1, 1, 0)),
                S(A((1, 1, 2, 3)), (0, 2, 1, 1)),
                S(A((1, 1, 2, 2, 3)), (1, 2, 1, 1, 0, 1)),
                S(A((0, 2, 3)), (1, 1)),
            ],
            dtypes=db.ALL,
            big=S(A((5, 4, 50, 101)), (1, 2, 3, 0)),
            sized=lambda n: [S(A((2, 2, n + 3)), (1, 2))],
            errors=(
                (S(A((1, 2, 3)), (most + 1, 0)), ShapeError, "enough"),
                (S(A((3,)), (1, 1)), NotImplementedError, "last one"),
                (S(A((2, 3)), (1, 1, 1, 1, 1, 1)), NotImplementedError, "last one"),
                (S(A((1, 2, 0)), (0, 0)), ShapeError, ""),
            )
            if mode != "replicate"
            else (),
            **exact,
        )

    # ---- pooling
    too_small = (S(A((1, 2, 2)), 3), ShapeError, "larger than the input")
    db.op(
        "max_pool1d",
        lambda x, *args: F.max_pool1d(x, *args, return_indices=True),
        lambda x, *args: largest(x, fixed(x, 1, *args)),
        [
            S(A((2, 2, 5)), 2),
            S(A((2, 5)), 3, 1, 1),
            S(A((1, 2, 7)), 2, 3, 0, 2),
            S(A((2, 7)), 3, 2, 1, 1, True),
            S(A((0, 2, 5)), 2),
            S(A((1, 1, 1)), 1),
        ],
        indices=True,
        big=S(A((30, 30, 120)), 3, 2, 1),
        sized=lambda n: [S(A((2, 2, n + 2)), 3, 2, 1), S(A((2, n + 2)), 2, 1)],
        errors=(
            too_small,
            (S(A((3,)), 1), ShapeError, "dimensions"),
            (S(A((1, 2, 0)), 1), ShapeError, "empty"),
            (S(A((1, 2, 5)), 2, 1, 2), ValueError, "half"),
            (S(A((1, 2, 5)), 0), ValueError, "kernel_size"),
            (S(A((1, 2, 5)), 2, -1), ValueError, "stride"),
            (S(A((1, 2, 5)), (2, 2)), ValueError, "length"),
            (S(A((1, 2, 5)), 2.0), TypeError, "kernel_size"),
            (S(A((1, 2, 5)), 2, 1, 0, 1, "yes"), TypeError, "ceil_mode"),
        ),
        **exact,
        **numbers,
    )
    db.op(
        "max_pool2d",
        lambda x, *args: F.max_pool2d(x, *args, return_indices=True),
        lambda x, *args: largest(x, fixed(x, 2, *args)),
        [
            S(A((1, 1, 4, 6)), 2),
            S(A((2, 3, 4)), (2, 3), (1, 2), (1, 0)),
            S(A((1, 4, 5)), 2, 3, 1, 2, True),
            S(A((2, 2, 5, 5)), 3, 2, 1),
            S(A((2, 1, 5, 4)), (2, 1), (3, 2), 0, 1, True),
            S(A((0, 1, 4, 4)), 2),
        ],
        indices=True,
        big=S(A((8, 8, 40, 41)), 2),
        sized=lambda n: [S(A((1, 2, 4, n + 1)), 2), S(A((2, 4, n + 1)), 3, 1, 1)],
        **exact,
        **numbers,
    )
    db.op(
        "max_pool3d",
        lambda x, *args: F.max_pool3d(x, *args, return_indices=True),
        lambda x, *args: largest(x, fixed(x, 3, *args)),
        [
            S(A((1, 1, 2, 3, 4)), 2),
            S(A((1, 2, 3, 4)), (1, 2, 3), 1, (0, 1, 1)),
            S(A((2, 4, 5, 3)), 2, 2, 1, 1, True),
            S(A((0, 2, 4, 4, 4)), 2),
        ],
        indices=True,
        big=S(A((2, 8, 12, 20, 31)), 3, 2, 1),
        **exact,
        **numbers,
    )
    average_errors = (
        too_small,
        (S(A((1, 2, 5)), 2, 1, 2), ValueError, "half"),
        (S(A((1, 2, 5)), 2, 0), ValueError, "stride"),
    )
    mean = {"tol": 8, "scale": lambda x, *args, **kwargs: np.abs(x).max(initial=0)}
    db.op(
        "avg_pool1d",
        F.avg_pool1d,
        lambda x, k, s=None, p=0, ceil=False, include=True: average(
            x, fixed(x, 1, k, s, p, 1, ceil), include
        ),
        [
            S(A((2, 2, 5)), 2),
            S(A((2, 5)), 3, 1, 1),
            S(A((2, 5)), 3, 2, 1, True),
            S(A((1, 2, 5)), 3, 2, 1, True, False),
            S(A((1, 2, 5)), 2, 4, 0, True),
            S(A((0, 2, 5)), 2),
        ],
        big=S(A((30, 30, 120)), 3, 1, 1),
        sized=lambda n: [S(A((2, 2, n + 2)), 3, 2, 1), S(A((2, n + 2)), 2, 1)],
        errors=average_errors,
        **mean,
        **numbers,
    )
    db.op(
        "avg_pool2d",
        F.avg_pool2d,
        lambda x, k, s=None, p=0, ceil=False, include=True, divisor=None: average(
            x, fixed(x, 2, k, s, p, 1, ceil), include, divisor
        ),
        [
            S(A((1, 1, 4, 6)), 2),
            S(A((2, 3, 4)), (2, 3), (1, 2), (1, 0)),
            S(A((1, 4, 5)), 3, 2, 1, True, False),
            S(A((1, 4, 5)), 3, 2, 1, True, True),
            S(A((1, 4, 5)), 2, 2, 1, False, False, 3),
            S(A((2, 1, 6, 7)), 1, 2, 0, True),
            S(A((0, 1, 4, 4)), 2),
        ],
        big=S(A((8, 8, 40, 41)), 2),
        sized=lambda n: [S(A((1, 2, 4, n + 1)), 2), S(A((2, 4, n + 1)), 3, 1, 1)],
        errors=((S(A((1, 4, 5)), 2, 2, 1, False, False, 0), ValueError, "divisor"),),
        **mean,
        **numbers,
    )
    db.op(
        "avg_pool3d",
        F.avg_pool3d,
        lambda x, k, s=None, p=0, ceil=False, include=True, divisor=None: average(
            x, fixed(x, 3, k, s, p, 1, ceil), include, divisor
        ),
        [
            S(A((1, 1, 2, 3, 4)), 2),
            S(A((1, 2, 3, 4)), (1, 2, 3), 1, (0, 1, 1)),
            S(A((2, 4, 5, 3)), 3, 2, 1, True, False),
            S(A((0, 2, 4, 4, 4)), 2),
        ],
        big=S(A((2, 8, 12, 20, 31)), 3, 2, 1),
        **mean,
        **numbers,
    )
    for n, shapes in (
        (1, ((2, 2, 5), (3, 7))),
        (2, ((1, 1, 4, 5), (2, 3, 3))),
        (3, ((2, 2, 3, 2),)),
    ):
        sizes = [S(A(s), out) for s in shapes for out in (3, 2)]
        sizes.append(S(A(shapes[0]), tuple(range(1, n + 1))))
        sizes.append(S(A((0, *shapes[0][-n - 1 :])), 2))
        errors = (
            (S(A((2,)), 1), ShapeError, "dimensions"),
            (S(A((1, *(0 for _ in range(n)))), 1), ShapeError, "empty"),
            (S(A(shapes[0]), -2), ValueError, "small"),
            (S(A(shapes[0]), (1, 1, 1, 1)), ValueError, "length"),
            (S(A(shapes[0]), 1.5), TypeError, "output_size"),
        )

        def windows(x, out, n=n):
            return [adaptive_spans(s, o) for s, o in zip(x.shape[-n:], each(out, n), strict=True)]

        db.op(
            f"adaptive_max_pool{n}d",
            lambda x, out, n=n: getattr(F, f"adaptive_max_pool{n}d")(x, out, True),
            lambda x, out, windows=windows: largest(x, windows(x, out)),
            sizes,
            indices=True,
            big=S(A((200, 20, *(7 for _ in range(n)))), 3),
            errors=errors,
            **exact,
        )
        db.op(
            f"adaptive_avg_pool{n}d",
            getattr(F, f"adaptive_avg_pool{n}d"),
            lambda x, out, windows=windows: average(x, windows(x, out)),
            [*sizes, S(A(shapes[0]), 1)],
            big=S(A((200, 20, *(7 for _ in range(n)))), 3),
            errors=errors,
            **mean,
        )
        db.op(
            f"lp_pool{n}d",
            getattr(F, f"lp_pool{n}d"),
            lambda x, p, k, s=None, n=n: average(x**p, fixed(x, n, k, s), True, 1) ** (1 / p),
            [S(A(s, 0.5), p, 2, 1) for s in shapes for p in (1.5, 2)],
            tol=16,
        )
