"""The entries of op_db for attention."""

import numpy as np

from zero.errors import DTypeError, ShapeError
from zero.nn import functional as F


def attention(
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    scale=None,
    enable_gqa=False,
):
    """By the definition, in float64; a query that sees no key gives 0."""
    if enable_gqa:
        key = np.repeat(key, query.shape[-3] // key.shape[-3], -3)
        value = np.repeat(value, query.shape[-3] // value.shape[-3], -3)
    features = query.shape[-1]
    factor = scale if scale is not None else 1 / np.sqrt(features) if features else 1.0
    x = query @ np.swapaxes(key, -1, -2) * factor
    if is_causal:
        x = np.where(np.tril(np.ones(x.shape[-2:], bool)), x, -np.inf)
    if attn_mask is not None:
        x = np.where(attn_mask, x, -np.inf) if attn_mask.dtype == bool else x + attn_mask
    top = x.max(-1, keepdims=True, initial=-np.inf)
    p = np.exp(x - np.where(top == -np.inf, 0, top))
    total = p.sum(-1, keepdims=True)
    p = np.divide(p, total, out=np.zeros_like(p), where=total != 0)
    assert dropout_p in (0, 1)
    return p @ value * (1 - dropout_p)


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A = db.Sample, db.Arg
    mask = {"dtype": "bool", "grad": False}

    def triple(length, keys, features, values=None, batch=(), **kwargs):
        values = features if values is None else values
        q, k = A((*batch, length, features)), A((*batch, keys, features))
        return S(q, k, A((*batch, keys, values)), **kwargs)

    db.op(
        "scaled_dot_product_attention",
        F.scaled_dot_product_attention,
        attention,
        [
            triple(3, 5, 4),
            triple(3, 5, 4, 6, batch=(2, 3)),
            triple(1, 7, 8, batch=(2,)),
            triple(4, 2, 3, is_causal=True),
            triple(2, 4, 3, is_causal=True, scale=0.3),
            triple(3, 5, 2, batch=(2, 2), attn_mask=A((3, 5), **mask)),
            triple(3, 5, 2, batch=(2, 2), attn_mask=A((2, 1, 1, 5), **mask)),
            triple(3, 4, 2, batch=(2,), attn_mask=A((3, 4), dtype="float32", grad=False)),
            triple(2, 3, 2, dropout_p=1.0),
            S(A((2, 4, 3, 2)), A((2, 2, 5, 2)), A((2, 2, 5, 3)), enable_gqa=True),
            S(A((2, 4, 3, 2)), A((2, 2, 5, 2)), A((2, 1, 5, 3)), enable_gqa=True),
            S(A((2, 3, 4)), A((5, 4)), A((1, 5, 2))),
            triple(0, 3, 2, batch=(2,)),
            triple(3, 0, 2, batch=(2,)),
            triple(3, 2, 0, 2),
            triple(3, 2, 2, 0),
            triple(3, 2, 4, batch=(0, 2)),
        ],
        # Errors of scores are relative to their size: exp makes them those of the weights.
        tol=16,
        scale=lambda q, k, v, **_: (
            np.abs(v).max(initial=0) * (1 + np.abs(q).max(initial=0) * np.abs(k).max(initial=0))
        ),
        big=triple(150, 200, 16, batch=(2, 3)),
        sized=lambda n: [
            triple(min(n, 70), 3, 4),
            triple(3, min(n, 300), 4),
            triple(3, 5, min(n, 70), 2),
            triple(3, 5, 2, min(n, 70)),
        ],
        errors=(
            (S(A((4,)), A((5, 4)), A((5, 4))), ShapeError, "no matrix"),
            (triple(3, 5, 4, dropout_p=1.5), ValueError, "no probability"),
            (S(A((3, 4)), A((5, 3)), A((5, 4))), ShapeError, "last dimension"),
            (S(A((3, 4)), A((5, 4)), A((4, 4))), ShapeError, "length"),
            (S(A((2, 3, 4)), A((3, 5, 4)), A((2, 5, 4))), ShapeError, "(2,)"),
            (S(A((3, 4)), A((5, 4), dtype="float64"), A((5, 4))), DTypeError, "dtypes differ"),
            (triple(3, 5, 4, attn_mask=A((4, 5), **mask)), ShapeError, "the mask doesn't fit"),
            (triple(3, 5, 4, attn_mask=A((2, 3, 5), **mask)), ShapeError, "the mask doesn't fit"),
            (triple(3, 5, 4, attn_mask=A((3, 5), dtype="int64")), DTypeError, "of the mask"),
            (
                triple(3, 5, 4, attn_mask=A((3, 5), **mask), is_causal=True),
                ValueError,
                "exclude each other",
            ),
            (triple(3, 5, 4, enable_gqa=True), ShapeError, "no dimension of heads"),
            (
                S(A((1, 4, 3, 2)), A((1, 3, 5, 2)), A((1, 3, 5, 2)), enable_gqa=True),
                ShapeError,
                "grouped",
            ),
            (triple(3, 5, 4, is_causal=1), TypeError, "is_causal"),
            (triple(3, 5, 4, scale="x"), TypeError, "scale"),
        ),
    )
