"""The entries of op_db for normalisation of channels, and for bilinear."""

import numpy as np
from op_db_normalize import grouped

import zero
from zero.errors import DTypeError, ShapeError
from zero.nn import functional as F


def by_channel(values, ndim):
    return values.reshape((1, -1) + (1,) * (ndim - 2))


def batch_normalized(x, mean, var, weight, bias, training, eps):
    over = (0, *range(2, x.ndim))
    if training:
        mean = x.mean(over)
        var = ((x - by_channel(mean, x.ndim)) ** 2).mean(over)
    y = (x - by_channel(mean, x.ndim)) / np.sqrt(by_channel(var, x.ndim) + eps)
    y = y if weight is None else y * by_channel(weight, x.ndim)
    return y if bias is None else y + by_channel(bias, x.ndim)


def batch_norm(x, mean, var, weight, bias, training, eps):
    """zero's, whose running statistics would change from call to call."""
    if mean is not None:
        mean, var = mean.detach().clone(), var.detach().clone()
    return zero.batch_norm(x, weight, bias, mean, var, training, 0.1, eps)


def responses(x, size, alpha, beta, k):
    total = np.zeros_like(x)
    for c in range(x.shape[1]):
        low, high = max(c - size // 2, 0), c + (size - 1) // 2 + 1
        total[:, c] = (x[:, low:high] ** 2).sum(1)
    return x / (k + alpha / size * total) ** beta


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A = db.Sample, db.Arg
    common = {"dtypes": db.FLOATS, "tol": 8}

    def stats(channels):
        return A((channels,), grad=False), A((channels,), 0.5, 2.0, grad=False)

    db.op(
        "batch_norm",
        batch_norm,
        batch_normalized,
        [
            S(A((4, 3)), None, None, None, None, True, 0.1),
            S(A((4, 3)), *stats(3), A((3,)), A((3,)), True, 0.1),
            S(A((4, 3)), *stats(3), A((3,)), A((3,)), False, 0.1),
            S(A((2, 3, 4)), None, None, A((3,)), None, True, 0.1),
            S(A((2, 3, 2, 5)), None, None, A((3,)), A((3,)), True, 0.1),
            S(A((2, 3, 2, 5)), *stats(3), None, A((3,)), False, 0.1),
            S(A((2, 1, 3)), *stats(1), A((1,)), None, True, 0.1),
            S(A((8, 2, 2)), None, None, A((2,)), A((2,)), True, 0.1),
            S(A((0, 3, 2)), None, None, A((3,)), A((3,)), True, 0.1),
        ],
        scale=lambda x, *args: 4 + 12 * np.abs(x).max(initial=0),
        big=S(A((7, 5, 40, 70)), None, None, A((5,)), A((5,)), True, 0.1),
        sized=lambda n: [
            S(A((3, 2, n)), None, None, A((2,)), A((2,)), True, 0.1),
            S(A((3, n)), None, None, A((n,)), A((n,)), True, 0.1),
            S(A((n, 3)), None, None, A((3,)), A((3,)), True, 0.1),
        ],
        errors=(
            (S(A((3,)), None, None, None, None, True, 0.1), ShapeError, "no channels"),
            (S(A((2, 3)), None, None, A((2,)), None, True, 0.1), ShapeError, "weight"),
            (S(A((2, 3)), *stats(2), None, None, True, 0.1), ShapeError, "running_mean"),
            (S(A((2, 3), dtype="int64"), None, None, None, None, True, 0.1), DTypeError, "int64"),
        ),
        **common,
    )
    db.op(
        "instance_norm",
        lambda x, weight, bias, eps: zero.instance_norm(
            x, weight, bias, None, None, True, 0.1, eps
        ),
        lambda x, weight, bias, eps: grouped(x, x.shape[1], weight, bias, eps),
        [
            S(A((2, 3, 4)), None, None, 0.1),
            S(A((2, 3, 2, 4)), A((3,)), A((3,)), 0.1),
            S(A((0, 3, 2)), A((3,)), None, 0.1),
        ],
        scale=lambda x, *args: 4 + 4 * np.abs(x).max(initial=0),
        errors=((S(A((3,)), None, None, 0.1), ShapeError, "no channels"),),
        **common,
    )
    db.op(
        "local_response_norm",
        F.local_response_norm,
        responses,
        [
            S(A((2, 5, 3)), 3, 0.5, 0.75, 2.0),
            S(A((2, 5, 2, 2)), 4, 0.5, 0.75, 1.0),
            S(A((2, 3, 2)), 9, 0.5, 0.5, 1.0),
            S(A((2, 3, 2)), 1, 0.5, 0.5, 1.0),
            S(A((0, 3, 2)), 3, 0.5, 0.5, 1.0),
        ],
        big=S(A((7, 6, 60, 60)), 5, 0.5, 0.75, 1.0),
        errors=((S(A((2, 3)), 3, 0.5, 0.5, 1.0), ShapeError, "too few dimensions"),),
        loose=("bool", *db.INTS),
        **common,
    )
    db.op(
        "bilinear",
        zero.bilinear,
        lambda x, y, weight, bias=None: (
            np.einsum("...i,kij,...j->...k", x, weight, y) + (0 if bias is None else bias)
        ),
        [
            S(A((2, 3)), A((2, 2)), A((2, 3, 2)), A((2,))),
            S(A((2, 4, 3)), A((2, 4, 2)), A((1, 3, 2))),
            S(A((3,)), A((2,)), A((5, 3, 2)), A((5,))),
            S(A((0, 3)), A((0, 2)), A((5, 3, 2))),
        ],
        scale=lambda x, y, weight, bias=None: (
            np.einsum("...i,kij,...j->...k", np.abs(x), np.abs(weight), np.abs(y))
            + (0 if bias is None else np.abs(bias))
        ),
        errors=(
            (S(A((4, 3)), A((3, 2)), A((5, 3, 2))), ShapeError, "do not fit"),
            (S(A((4, 3)), A((4, 2)), A((5, 2, 3))), ShapeError, "last sizes"),
            (S(A((4, 3)), A((4, 2)), A((5, 3, 2)), A((4,))), ShapeError, "bias"),
        ),
        dtypes=db.INTS + db.FLOATS,
        tol=8,
    )
