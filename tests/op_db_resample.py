"""The entries of op_db for interpolation, sampling, and elements that move between channels."""

import itertools

import numpy as np
from op_db_pooling import each

import zero
from zero.errors import DTypeError, ShapeError
from zero.nn import functional as F


# ---- interpolation -----------------------------------------------------------------------------
def cubic(x, a=-0.75):
    x = np.abs(x)
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def triangle(x):
    return np.maximum(1 - np.abs(x), 0)


def lanczos(x):
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


FILTERS = {
    "bilinear": (1, triangle),
    "bicubic": (2, lambda x: cubic(x, -0.5)),
    "lanczos": (3, lanczos),
}


def weights(size, out, mode, align, scale, antialias):
    """The matrix [out, size] of one dimension."""
    i = np.arange(out)
    if align:
        step = (size - 1) / (out - 1) if out > 1 else 0.0
        place = i * step
    else:
        step = 1 / scale if scale else size / out
        place = (i + 0.5) * step - 0.5
    matrix = np.zeros((out, size))
    if mode in ("nearest", "nearest-exact"):
        shift = 0.5 if mode == "nearest-exact" else 0
        chosen = np.floor((i + shift) * step + 1e-9).astype(int)
        matrix[i, np.minimum(chosen, size - 1)] = 1
    elif antialias:
        radius, f = FILTERS[mode]
        stretch = max(step, 1)
        center = (i + 0.5) * step
        j = np.arange(size)
        inside = (j >= np.floor(center - radius * stretch + 0.5)[:, None]) & (
            j < np.floor(center + radius * stretch + 0.5)[:, None]
        )
        matrix = np.where(inside, f((j - center[:, None] + 0.5) / stretch), 0)
        matrix /= matrix.sum(1, keepdims=True)
    elif mode == "bicubic":
        for k in range(-1, 3):
            j = np.floor(place).astype(int) + k
            np.add.at(matrix, (i, np.clip(j, 0, size - 1)), cubic(place - j))
    else:
        matrix = triangle(np.clip(place, 0, size - 1)[:, None] - np.arange(size))
    return matrix


def interpolated(
    x, size=None, scale_factor=None, mode="nearest", align_corners=False, antialias=False
):
    n = x.ndim - 2
    scales = each(scale_factor, n)
    if size is None:
        size = tuple(int(s * f) for s, f in zip(x.shape[2:], scales, strict=True))
    for d, out in enumerate(each(size, n)):
        m = weights(x.shape[d + 2], out, mode, align_corners, scales[d], antialias)
        x = np.moveaxis(np.tensordot(m, x, (1, d + 2)), 0, d + 2)
    return x


# ---- sampling ----------------------------------------------------------------------------------
def reflected(x, low, high):
    if low == high:
        return 0 * x
    span = high - low
    x = np.abs(x - low) % (2 * span)
    return low + np.minimum(x, 2 * span - x)


def sampled(x, grid, mode, padding_mode, align_corners):
    sizes = x.shape[2:]
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))

    def inside(p, size):
        if padding_mode == "reflection":
            p = reflected(p, *((0, size - 1) if align_corners else (-0.5, size - 0.5)))
        return p if padding_mode == "zeros" else np.clip(p, 0, size - 1)

    def taps(p, size):
        p = (p + 1) / 2 * (size - 1) if align_corners else ((p + 1) * size - 1) / 2
        if mode == "bicubic":
            left = int(np.floor(p))
            return [(int(inside(left + k, size)), cubic(p - left - k)) for k in range(-1, 3)]
        p = inside(p, size)
        if mode == "nearest":
            return [(int(np.rint(p)), 1)]
        left = int(np.floor(p))
        return [(left, 1 - (p - left)), (left + 1, p - left)]

    for place in np.ndindex(len(x), *grid.shape[1:-1]):
        axes = [taps(p, s) for p, s in zip(grid[place][::-1], sizes, strict=True)]
        for chosen in itertools.product(*axes):
            index = tuple(i for i, _ in chosen)
            if all(0 <= i < s for i, s in zip(index, sizes, strict=True)):
                y[(place[0], slice(None), *place[1:])] += (
                    np.prod([w for _, w in chosen]) * x[(place[0], slice(None), *index)]
                )
    return y


def shuffled(x, r):
    *front, c, h, w = x.shape
    y = np.zeros((*front, c // r**2, h * r, w * r), x.dtype)
    for i, j in itertools.product(range(r), range(r)):
        y[..., i::r, j::r] = x[..., i * r + j :: r * r, :, :]
    return y


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A = db.Sample, db.Arg
    exact = {"tol": 0, "zero_sign": False}

    # ---- interpolation
    near = {"tol": 16, "scale": lambda x, *args, **kwargs: 4 * np.abs(x).max(initial=0)}
    for mode, shapes in (
        ("nearest", ((2, 1, 5), (1, 1, 3, 4), (1, 2, 2, 3, 2))),
        ("nearest-exact", ((2, 1, 5), (1, 1, 3, 4), (1, 2, 2, 3, 2))),
        ("linear", ((2, 1, 5),)),
        ("bilinear", ((1, 2, 3, 4),)),
        ("trilinear", ((1, 1, 2, 3, 4),)),
        ("bicubic", ((1, 1, 4, 5),)),
    ):
        samples = []
        for shape in shapes:
            n = len(shape) - 2
            samples += [S(A(shape), size=7), S(A(shape), size=2), S(A(shape), scale_factor=1.6)]
            samples += [
                S(A(shape), scale_factor=(2.0, 0.7, 1.3)[:n]),
                S(A((0, *shape[1:])), size=3),
            ]
            if not mode.startswith("nearest"):
                samples += [S(A(shape), size=s, align_corners=True) for s in (7, 2, 1)]
        shape = shapes[0]
        db.op(
            f"interpolate_{mode}",
            lambda x, mode=mode, **kwargs: F.interpolate(x, mode=mode, **kwargs),
            lambda x, mode=mode, **kwargs: interpolated(x, mode=mode, **kwargs),
            samples,
            loose=("uint8",),
            big=S(A((20, 30, *(9 for _ in shape[2:]))), scale_factor=3),
            sized=lambda n, more=shape[3:]: [
                S(A((2, 2, *(3 for _ in more), n + 1)), size=(*(4 for _ in more), 2 * n))
            ],
            errors=(
                (S(A(shape)), ValueError, "one of"),
                (S(A(shape), size=2, scale_factor=2), ValueError, "one of"),
                (S(A(shape), size=0), ShapeError, "size is 0"),
                (S(A(shape), size=(2, 2, 2, 2)), ShapeError, "length"),
                (S(A(shape), size=2.5), DTypeError, "int"),
                (S(A(shape), scale_factor=-1), ValueError, "positive"),
                (S(A(shape), size=2, recompute_scale_factor=True), ValueError, "recompute"),
                (S(A((2, 2)), size=2), NotImplementedError, "dimensions"),
            ),
            **(exact if mode.startswith("nearest") else near),
        )
    for mode in FILTERS:
        db.op(
            f"interpolate_{mode}_antialias",
            lambda x, size, mode=mode: F.interpolate(x, size, mode=mode, antialias=True),
            lambda x, size, mode=mode: interpolated(x, size, mode=mode, antialias=True),
            [S(A((1, 1, 5, 5)), 2), S(A((1, 1, 4, 5)), (7, 3)), S(A((2, 1, 9, 3)), (2, 3))],
            loose=("uint8",),
            big=S(A((20, 30, 20, 21)), 8),
            **near,
        )

    # ---- sampling
    for mode, padding, align in itertools.chain(
        itertools.product(
            ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (True,)
        ),
        itertools.product(("bilinear", "bicubic"), ("zeros", "reflection"), (False,)),
    ):
        options = (mode, padding, align)
        samples = [
            S(A((1, 1, 2, 3)), A((1, 2, 2, 2), -1.6, 1.6)),
            S(A((2, 3, 4, 5)), A((2, 3, 1, 2), -2, 2)),
        ]
        if mode != "bicubic":
            samples.append(S(A((1, 2, 2, 2, 3)), A((1, 1, 2, 2, 3), -1.5, 1.5)))
        # Weights are differences of places, which are as exact as the dtype: 2^-7 in bfloat16.
        db.op(
            f"grid_sample_{mode}_{padding}{'_aligned' * align}",
            lambda x, grid, options=options: F.grid_sample(x, grid, *options),
            lambda x, grid, options=options: sampled(x, grid, *options),
            samples,
            dtypes=("float32", "float64"),
            loose=("float16", "bfloat16"),
            tol=32,
            scale=lambda x, grid: 4 * np.abs(x).max(initial=0),
            errors=(
                (S(A((1, 1, 2, 3)), A((1, 2, 2, 3))), ShapeError, "grid"),
                (S(A((1, 1, 2, 3)), A((2, 2, 2, 2))), ShapeError, "grid"),
                (
                    S(A((1, 1, 2, 3), dtype="float64"), A((1, 2, 2, 2), dtype="float32")),
                    DTypeError,
                    "float64",
                ),
            ),
        )

    # ---- elements that move
    moves = {"dtypes": db.ALL, "tol": 0}
    db.op(
        "pixel_shuffle",
        zero.pixel_shuffle,
        shuffled,
        [
            S(A((4, 2, 3)), 2),
            S(A((1, 9, 1, 2)), 3),
            S(A((2, 1, 2, 1, 2)), 1),
            S(A((0, 4, 2, 2)), 2),
        ],
        errors=(
            (S(A((3, 2, 2)), 2), ShapeError, "channels"),
            (S(A((4, 2)), 2), ShapeError, "rows"),
            (S(A((4, 2, 2)), 0), ValueError, "small"),
            (S(A((4, 2, 2)), 2.0), TypeError, "float"),
        ),
        **moves,
    )
    db.op(
        "pixel_unshuffle",
        zero.pixel_unshuffle,
        lambda x, r: np.stack(
            [x[..., i::r, j::r] for i in range(r) for j in range(r)], x.ndim - 2
        ).reshape(
            *x.shape[:-3], -1 if x.size else x.shape[-3] * r * r, x.shape[-2] // r, x.shape[-1] // r
        ),
        [S(A((1, 4, 6)), 2), S(A((1, 2, 3, 3)), 3), S(A((0, 4, 2, 2)), 2)],
        errors=((S(A((1, 3, 4)), 2), ShapeError, "factor"),),
        **moves,
    )
    db.op(
        "channel_shuffle",
        zero.channel_shuffle,
        lambda x, g: np.concatenate(
            [x[:, i :: x.shape[1] // g] for i in range(x.shape[1] // g)], 1
        ),
        [S(A((1, 6, 2, 2)), 3), S(A((2, 4, 3)), 2), S(A((0, 4, 2, 2)), 2)],
        errors=((S(A((1, 4, 2)), 3), ShapeError, "groups"),),
        **moves,
    )
