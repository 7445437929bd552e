"""The entries of op_db for normalisation."""

import math

import numpy as np

import zero
from zero.errors import ShapeError


def normalized(x, sizes, weight, bias, eps, centered=True):
    over = tuple(range(x.ndim - len(sizes), x.ndim))
    d = x - x.mean(over, keepdims=True) if centered else x
    y = d / np.sqrt((d * d).mean(over, keepdims=True) + eps)
    return (y if weight is None else y * weight) + (0 if bias is None else bias)


def grouped(x, groups, weight, bias, eps):
    rows = x.reshape(len(x), groups, math.prod(x.shape[1:]) // groups)
    y = normalized(rows, (1,), None, None, eps).reshape(x.shape)
    per_channel = (-1,) + (1,) * (x.ndim - 2)
    y = y if weight is None else y * weight.reshape(per_channel)
    return y if bias is None else y + bias.reshape(per_channel)


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A = db.Sample, db.Arg
    # A difference of two numbers as large as x, over a spread that eps keeps above 0.3.
    common = {
        "dtypes": db.FLOATS,
        "tol": 8,
        "scale": lambda x, *args: 4 + 4 * np.abs(x).max(initial=0),
    }
    db.op(
        "layer_norm",
        zero.layer_norm,
        normalized,
        [
            S(A((4, 3)), (3,), None, None, 0.1),
            S(A((4, 3)), (3,), A((3,)), None, 0.1),
            S(A((2, 4, 3)), (4, 3), A((4, 3)), A((4, 3)), 0.1),
            S(A((5,)), (5,), None, A((5,)), 0.1),
            S(A((0, 3)), (3,), A((3,)), A((3,)), 0.1),
            S(A((3, 1)), (1,), A((1,)), A((1,)), 0.1),
        ],
        big=S(A((601, 200)), (200,), A((200,)), A((200,)), 0.1),
        sized=lambda n: [S(A((3, n)), (n,), A((n,)), A((n,)), 0.1)],
        errors=(
            (S(A((2, 3)), (2,), None, None, 0.1), ShapeError, "normalized_shape"),
            (S(A((2, 3)), (), None, None, 0.1), ShapeError, "empty"),
            (S(A((2, 3)), (3,), A((2,)), None, 0.1), ShapeError, "weight"),
            (S(A((2, 3)), (3,), A((3,)), A((1, 3)), 0.1), ShapeError, "bias"),
        ),
        **common,
    )
    db.op(
        "rms_norm",
        zero.rms_norm,
        lambda x, sizes, weight, eps: normalized(x, sizes, weight, None, eps, centered=False),
        [
            S(A((4, 3)), (3,), None, 0.1),
            S(A((2, 4, 3)), (4, 3), A((4, 3)), 0.1),
            S(A((0, 3)), (3,), A((3,)), 0.1),
        ],
        big=S(A((601, 200)), (200,), A((200,)), 0.1),
        errors=((S(A((2, 3)), (2,), None, 0.1), ShapeError, "normalized_shape"),),
        **common,
    )
    db.op(
        "group_norm",
        zero.group_norm,
        grouped,
        [
            S(A((2, 4, 3)), 2, None, None, 0.1),
            S(A((2, 4, 3)), 2, A((4,)), A((4,)), 0.1),
            S(A((3, 6)), 3, A((6,)), A((6,)), 0.1),
            S(A((2, 3, 2, 2)), 3, A((3,)), None, 0.1),
            S(A((2, 4, 2, 2)), 1, None, A((4,)), 0.1),
            S(A((0, 4, 3)), 2, A((4,)), A((4,)), 0.1),
        ],
        big=S(A((7, 6, 40, 70)), 3, A((6,)), A((6,)), 0.1),
        errors=(
            (S(A((2, 4)), 3, None, None, 0.1), ShapeError, "divide"),
            (S(A((4,)), 2, None, None, 0.1), ShapeError, "channels"),
            (S(A((2, 4)), 2, A((2,)), None, 0.1), ShapeError, "weight"),
        ),
        **common,
    )
