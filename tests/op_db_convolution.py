"""The entries of op_db for convolutions."""

import itertools

import numpy as np

import zero
from zero.errors import ShapeError, ValueError


def numbers(given, n):
    return given if isinstance(given, tuple) else (given,) * n


def spread(x, w, groups):
    """The weight of all channels, zero between groups: [K, C, ...]."""
    outputs, inputs = w.shape[0] // groups, w.shape[1]
    full = np.zeros((w.shape[0], inputs * groups, *w.shape[2:]), w.dtype)
    for g in range(groups):
        mine = slice(g * outputs, (g + 1) * outputs)
        full[mine, g * inputs : (g + 1) * inputs] = w[mine]
    return full


def convolved(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Tap by tap, by the definition."""
    n = w.ndim - 2
    if x.ndim == n + 1:
        return convolved(x[None], w, bias, stride, padding, dilation, groups)[0]
    stride, dilation = numbers(stride, n), numbers(dilation, n)
    reach = [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]
    if padding == "same":
        around = [(r // 2, r - r // 2) for r in reach]
    else:
        around = [(p, p) for p in numbers(0 if padding == "valid" else padding, n)]
    x = np.pad(x, [(0, 0), (0, 0), *around])
    w = spread(x, w, groups)
    count = [(s - r - 1) // t + 1 for s, r, t in zip(x.shape[2:], reach, stride, strict=True)]
    y = np.zeros((x.shape[0], w.shape[0], *count), x.dtype)
    for taps in itertools.product(*(range(k) for k in w.shape[2:])):
        seen = tuple(
            slice(t * d, t * d + (c - 1) * s + 1, s)
            for t, d, c, s in zip(taps, dilation, count, stride, strict=True)
        )
        y += np.einsum("nc...,kc->nk...", x[(..., *seen)], w[(..., *taps)])
    return y if bias is None else y + bias.reshape(-1, *(1,) * n)


def transposed(x, w, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    n = w.ndim - 2
    if x.ndim == n + 1:
        return transposed(x[None], w, bias, stride, padding, output_padding, groups, dilation)[0]
    stride, padding, dilation = (numbers(v, n) for v in (stride, padding, dilation))
    reach = [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]
    added = numbers(output_padding, n)
    w = spread(x, w, groups)
    parts = zip(x.shape[2:], stride, reach, added, strict=True)
    size = [(s - 1) * t + r + 1 + a for s, t, r, a in parts]
    outputs = w.shape[1]
    y = np.zeros((x.shape[0], outputs, *size), x.dtype)
    for taps in itertools.product(*(range(k) for k in w.shape[2:])):
        hit = tuple(
            slice(t * d, t * d + (c - 1) * s + 1, s)
            for t, d, c, s in zip(taps, dilation, x.shape[2:], stride, strict=True)
        )
        y[(..., *hit)] += np.einsum("nc...,ck->nk...", x, w[(..., *taps)])
    y = y[(..., *(slice(p, s - p) for p, s in zip(padding, size, strict=True)))]
    return y if bias is None else y + bias.reshape(-1, *(1,) * n)


def sizes_of(reference):
    """The sum of the products' sizes: what their rounding errors are measured by."""

    def scale(x, w, bias=None, *options, **named):
        return reference(np.abs(x), np.abs(w), None if bias is None else np.abs(bias), *options,
                         **named)  # fmt: skip

    return scale


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A = db.Sample, db.Arg
    common = {"dtypes": db.NUMBERS, "tol": 16, "special": False}
    plain = {
        1: [
            S(A((2, 3, 7)), A((4, 3, 3)), A((4,))),
            S(A((3, 7)), A((4, 3, 3)), None, 2, 1),
            S(A((2, 4, 9)), A((6, 2, 2)), A((6,)), (2,), (1,), 3, 2),
            S(A((0, 3, 7)), A((4, 3, 3)), A((4,))),
            S(A((1, 2, 5)), A((1, 2, 4)), None, padding="same"),
        ],
        2: [
            S(A((2, 3, 5, 6)), A((4, 3, 3, 2)), A((4,))),
            S(A((3, 5, 6)), A((4, 3, 1, 1)), A((4,))),
            S(A((1, 4, 6, 5)), A((4, 1, 3, 3)), A((4,)), 1, 1, 1, 4),
            S(A((2, 2, 7, 6)), A((6, 1, 3, 2)), None, (2, 3), (2, 1), (1, 2), 2),
            S(A((1, 3, 5, 5)), A((2, 3, 4, 3)), None, padding="same", dilation=2),
            S(A((2, 17, 4, 4)), A((18, 17, 2, 2)), None, 1, 1),
            S(A((1, 2, 3, 3)), A((2, 1, 2, 1)), A((2,)), 2, 1, 1, 2),
        ],
        3: [
            S(A((1, 2, 3, 4, 3)), A((3, 2, 2, 3, 2)), A((3,))),
            S(A((1, 2, 4, 3, 5)), A((2, 1, 2, 2, 2)), None, (2, 1, 2), (1, 0, 1), 1, 2),
            S(A((1, 1, 2, 3, 2)), A((1, 1, 2, 2, 2)), None, (1, 2, 1), 1),
        ],
    }
    back = {
        1: [
            S(A((2, 3, 5)), A((3, 4, 3)), A((4,))),
            S(A((4, 5)), A((4, 2, 3)), A((4,)), 3, 1, 2, 2),
            S(A((1, 2, 3)), A((2, 1, 3)), None, 1, 2, 0, 1, 2),
        ],
        2: [
            S(A((2, 3, 3, 4)), A((3, 2, 3, 2)), A((2,)), 2, 1, 1),
            S(A((3, 3, 4)), A((3, 2, 1, 1)), None, 2),
            S(A((1, 1, 2, 3)), A((1, 2, 2, 3)), A((2,)), (2, 1), (0, 1), (1, 0)),
            S(A((1, 4, 3, 3)), A((4, 1, 3, 3)), A((4,)), (2, 1), 1, (1, 0), 4, (1, 2)),
        ],
        3: [
            S(A((1, 2, 2, 3, 2)), A((2, 3, 2, 2, 2)), A((3,)), (2, 1, 2)),
            S(A((1, 1, 2, 2, 2)), A((1, 1, 2, 2, 3)), A((1,)), (2, 1, 1)),
        ],
    }
    for n in (1, 2, 3):
        x, w = (1, 2, *(4,) * n), (3, 2, *(2,) * n)
        wrong = (
            (S(A(x[1:-1]), A(w)), ShapeError, "dimensions"),
            (S(A((1, 3, *x[2:])), A(w)), ShapeError, "channels"),
            (S(A(x), A(w), A((2,))), ShapeError, "bias"),
            (S(A(x), A(w), None, 0), ValueError, "stride"),
            (S(A(x), A(w), None, (1,) * (n + 1)), ShapeError, "length"),
            (S(A(x), A(w), A((3,), dtype="float16")), TypeError, "dtypes"),
        )
        db.op(
            f"conv{n}d",
            getattr(zero, f"conv{n}d"),
            convolved,
            plain[n],
            scale=sizes_of(convolved),
            big=S(A((5, 20, *(6, 5, 33)[-n:])), A((70, 20, *(3, 3, 3)[-n:])), A((70,)), 1, 1)
            if n > 1
            else S(A((5, 20, 700)), A((70, 20, 5)), A((70,)), 1, 2),
            errors=(
                *wrong,
                (S(A(x), A((3, 2, *(5,) * n))), ShapeError, "larger"),
                (S(A(x), A(w), None, 1, -1), ValueError, "negative"),
                (S(A(x), A(w), None, 2, "same"), ValueError, "stride"),
                (S(A(x), A(w), None, 1, "full"), ValueError, "unknown"),
                (S(A(x), A(w), groups=2), ShapeError, "groups"),
            ),
            **common,
        )
        flipped = (2, 3, *(2,) * n)
        db.op(
            f"conv_transpose{n}d",
            getattr(zero, f"conv_transpose{n}d"),
            transposed,
            back[n],
            scale=sizes_of(transposed),
            errors=(
                (S(A((1, 3, *x[2:])), A(flipped)), ShapeError, "channels"),
                (S(A(x), A(flipped), None, 1, 0, 1), ValueError, "output_padding"),
                (S(A(x), A(flipped), None, 1, 3), ShapeError, "no elements"),
            ),
            **common,
        )
    db.op(
        "convolution",
        lambda x, w, bias: zero.convolution(x, w, bias, [2], [1], [1], False, [0], 1),
        lambda x, w, bias: convolved(x, w, bias, 2, 1),
        [S(A((2, 3, 7)), A((4, 3, 3)), A((4,))), S(A((1, 2, 5)), A((2, 2, 3)), A((2,)))],
        scale=lambda x, w, bias: convolved(np.abs(x), np.abs(w), np.abs(bias), 2, 1),
        **common,
    )
    db.op(
        "conv_tbc",
        zero.conv_tbc,
        lambda x, w, bias, pad=0: convolved(
            x.transpose(1, 2, 0), w.transpose(2, 1, 0), bias, 1, pad
        ).transpose(2, 0, 1),
        [S(A((7, 2, 3)), A((3, 3, 4)), A((4,))), S(A((5, 1, 2)), A((2, 2, 3)), A((3,)), 1)],
        scale=lambda *args: 9 * 20,
        errors=((S(A((7, 2)), A((3, 3, 4)), A((4,))), ShapeError, "dimensions"),),
        **common,
    )
