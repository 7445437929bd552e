"""The entries of op_db for functions of one, two and three inputs, element by element."""

import math

import numpy as np

import zero
from zero.errors import DTypeError, ShapeError


def vectorized(f):
    return np.vectorize(f, otypes=[float])


erf, erfc = vectorized(math.erf), vectorized(math.erfc)
REAL = (  # name, reference, least and largest sample
    ("exp2", np.exp2, -3, 3),
    ("expm1", np.expm1, -3, 3),
    ("log2", np.log2, 0.1, 3),
    ("log10", np.log10, 0.1, 3),
    ("log1p", np.log1p, -0.7, 3),
    ("sin", np.sin, -3, 3),
    ("cos", np.cos, -3, 3),
    ("tan", np.tan, -1.2, 1.2),
    ("asin", np.arcsin, -0.9, 0.9),
    ("acos", np.arccos, -0.9, 0.9),
    ("atan", np.arctan, -3, 3),
    ("sinh", np.sinh, -3, 3),
    ("cosh", np.cosh, -3, 3),
    ("asinh", np.arcsinh, -3, 3),
    ("acosh", np.arccosh, 1.3, 3),
    ("atanh", np.arctanh, -0.8, 0.8),
    ("erf", erf, -2, 2),
    ("erfc", erfc, -2, 2),
)


def atan2_reference(a, b):
    return np.arctan2(a.astype(float), b)


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A, NUMBERS, FLOATS, ALL = db.Sample, db.Arg, db.NUMBERS, db.FLOATS, db.ALL
    no_bool = ((S(A(dtype="bool")), DTypeError, "not defined for bool"),)
    for name, ref, low, high in REAL:
        db.unary(name, ref, low=low, high=high, dtypes=ALL, out="float")
    for name in ("floor", "ceil", "trunc"):
        db.unary(name, getattr(np, name), dtypes=NUMBERS, tol=0, errors=no_bool)
    db.unary("round", np.round, dtypes=NUMBERS, tol=0, errors=no_bool)
    db.unary(
        "round_decimals",
        lambda x: np.round(x, 1),
        fn=lambda x: zero.round(x, decimals=1),
        dtypes=("float32", "float64"),
        loose=ALL,
        tol=2,
        inplace=None,
        special=False,
    )
    db.unary("frac", lambda x: x - np.trunc(x), tol=0, zero_sign=False)

    zero_divisor = (S(A(dtype="int32"), 0), RuntimeError, "ZeroDivisionError")
    db.binary(
        "fmod",
        np.fmod,
        b=db.NONZERO,
        dtypes=NUMBERS,
        tol=0.5,
        special=False,
        errors=(zero_divisor, *db.bools("fmod: not defined for bool")),
    )
    db.binary("atan2", atan2_reference, dtypes=ALL, out="quotient", scalars=())

    wide, other = {"low": 0.5, "high": 2, "ilow": 1}, (S(A((2, 3)), A((4,)), A((1,))),)
    misfit = ((*other, ShapeError, "(4,)"),)
    three = [
        S(A(), A(), A(**wide)),
        S(A((2, 3)), A((3,)), A((2, 1), **wide)),
        S(A(()), A(()), A((), **wide)),
        S(A((0, 3)), A((3,)), A((1, 3), **wide)),
    ]
    big = S(A((db.BIG,)), A((db.BIG,)), A((db.BIG,), **wide))

    def sized(n):
        return [S(A((n,)), A((n,)), A((n,), **wide))]

    common = {"kind": "index", "big": big, "sized": sized, "errors": misfit}
    db.op(
        "addcmul",
        zero.addcmul,
        lambda x, a, b: x + a * b,
        three,
        dtypes=NUMBERS,
        loose=("bool",),
        tol=2,
        scale=lambda x, a, b: np.abs(a * b),
        inplace="addcmul_",
        **common,
    )
    db.op(
        "addcdiv",
        zero.addcdiv,
        lambda x, a, b: x + a / b,
        three,
        loose=ALL,
        tol=2,
        scale=lambda x, a, b: np.abs(a / b),
        inplace="addcdiv_",
        **common,
    )
    for name, value in (("addcmul", lambda x, a, b: x - 2 * (a * b)),):
        db.op(
            name + "_value",
            lambda x, a, b: zero.addcmul(x, a, b, value=-2),
            value,
            three[:1],
            tol=4,
            scale=lambda x, a, b: np.abs(a * b),
            loose=ALL,
        )
    db.op(
        "lerp",
        zero.lerp,
        lambda a, b, w: a + w * (b - a),
        [
            *three,
            S(A(), A(), A((3,), 0, 1)),
            S(A(), A((3,)), 0.25),
            S(A(), A(), 1.0),
            S(A(), A(), -0.5),
        ],
        dtypes=FLOATS,
        loose=ALL,
        tol=4,
        scale=lambda a, b, w: np.abs(a) + np.abs(w * (b - a)) + np.abs(b - a),
        inplace="lerp_",
        **common,
    )
