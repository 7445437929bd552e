"""The entries of op_db for signs, extrema, roots and logarithms of sums, bits and divisors."""

import math

import numpy as np

import zero
from zero.errors import DTypeError

LN2 = math.log(2)


def xlogy(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return np.where(np.isnan(b), b, np.where(a == 0, 0.0, a * np.log(b)))


def nan_to_num(x):
    return np.where(np.isnan(x), 5.0, np.where(x == np.inf, 7.0, np.where(x == -np.inf, -7.0, x)))


def left_shift(a, b):
    a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    return np.where((b < 0) | (b > 63), 0, a << np.clip(b, 0, 63))


def right_shift(a, b):
    a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    return a >> np.where((b < 0) | (b > 63), 63, b)


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A, NUMBERS, INTS, ALL = db.Sample, db.Arg, db.NUMBERS, db.INTS, db.ALL
    no_bool = (S(A(dtype="bool"), A(dtype="bool")), DTypeError, "bool")
    no_int = (S(A(dtype="int32"), A(dtype="int32")), DTypeError, "expected floats")

    # ---- one input -------------------------------------------------------------------------------
    flag = {"dtypes": ALL, "out": "bool", "grad": False, "inplace": None}
    db.exact_unary("signbit", lambda x: x < 0 if x.dtype.kind in "ib" else np.signbit(x), **flag)
    db.exact_unary("isposinf", lambda x: x == np.inf, **flag)
    db.exact_unary("isneginf", lambda x: x == -np.inf, **flag)
    db.exact_unary("isreal", lambda x: np.ones_like(x, bool), **flag)
    db.unary(
        "angle",
        lambda x: np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0)),
        dtypes=ALL,
        out="float",
        inplace=None,
        zero_sign=False,
    )
    db.unary("deg2rad", np.deg2rad, dtypes=ALL, out="float", tol=1)
    db.unary("rad2deg", np.rad2deg, dtypes=ALL, out="float", tol=1)
    db.exact_unary(
        "nan_to_num",
        nan_to_num,
        fn=lambda x: zero.nan_to_num(x, 5, 7, -7),
        dtypes=ALL,
        inplace=None,
    )
    db.exact_unary(
        "frexp", lambda x: np.frexp(x)[0], fn=lambda x: zero.frexp(x).mantissa, inplace=None
    )
    db.exact_unary(
        "frexp_exponent",
        lambda x: np.frexp(x)[1],
        fn=lambda x: zero.frexp(x).exponent,
        out="int32",
        grad=False,
        inplace=None,
    )
    db.op("fill", zero.fill, lambda x, v: np.full_like(x, v), [S(A(), 2), S(A(), A(()))], tol=0,
          dtypes=ALL, inplace="fill_", kind="index")  # fmt: skip

    # ---- two inputs ------------------------------------------------------------------------------
    tensors = {"scalars": (), "dtypes": ALL}
    db.binary("copysign", lambda a, b: np.copysign(np.asarray(a, float), b), a=db.NONZERO,
              dtypes=ALL, out="quotient", tol=0, scalars=(-2,))  # fmt: skip
    db.binary("fmax", np.fmax, inplace=None, tol=0, zero_sign=False, **tensors)
    db.binary("fmin", np.fmin, inplace=None, tol=0, zero_sign=False, **tensors)
    db.op(
        "heaviside",
        zero.heaviside,
        lambda a, b: np.where(a == 0, b, a > 0),
        [S(A(), A()), S(A((2, 1)), A((3,))), S(A(()), A((0,)))],
        dtypes=ALL,
        tol=0,
        grad=False,
        inplace="heaviside_",
        kind="index",
    )
    away = {"low": 0.2, "high": 3.0}
    db.binary("hypot", np.hypot, a=away, scalars=(), tol=1.5, errors=(no_int,))
    for name in ("logaddexp", "logaddexp2"):
        db.binary(
            name,
            getattr(np, name),
            scalars=(),
            tol=2,  # one for ours, one for the reference's own rounding in float64
            scale=lambda a, b: np.maximum(np.abs(a), np.abs(b)),  # the two may cancel
            inplace=None,
            errors=(no_int,),
            special=False,
        )
    db.binary("xlogy", xlogy, b=db.NONZERO, dtypes=ALL, out="quotient", tol=3, zero_sign=False)
    shift = {"a": {"ilow": -5, "ihigh": 5}, "b": {"ilow": 0, "ihigh": 4}, "special": False}
    integers = {"dtypes": INTS, "tol": 0, "grad": False, "errors": (no_bool,)}
    db.binary("bitwise_left_shift", left_shift, **shift, **integers)
    db.binary("bitwise_right_shift", right_shift, **shift, **integers)
    db.binary("gcd", np.gcd, scalars=(), special=False, **integers)
    db.binary("lcm", np.lcm, scalars=(), special=False, **integers)
    db.op(
        "nextafter",
        zero.nextafter,
        lambda a, b: np.where(a == b, b, a),
        [S(A(), A()), S(A(()), A((3,)))],
        tol=1,
        inplace="nextafter_",
        kind="index",
    )
    db.op(
        "rsub_function",
        zero.rsub,
        lambda a, b: b - a,
        [S(A(), A()), S(A(), 2), S(A((2, 1)), A((3,)))],
        dtypes=NUMBERS,
        tol=0.5,
    )
    db.op(
        "float_power",
        zero.float_power,
        lambda a, b: np.float_power(a, b),
        [S(A(low=0.2, ilow=1), A()), S(A(low=0.2, ilow=1), 2), S(2, A((3,)))],
        dtypes=ALL,
        out="float64",
        tol=2,
    )
    db.op(
        "ldexp",
        zero.ldexp,
        lambda a, b: np.asarray(a, float) * np.exp2(b),
        [S(A(), A(dtype="int32", low=-4, high=4)), S(A((2, 1)), A((3,), dtype="int32"))],
        dtypes=db.FLOATS,
        loose=ALL,
        out="quotient",
        tol=0.5,
        inplace="ldexp_",
        kind="index",
    )
    for name in ("real", "conj", "conj_physical", "resolve_conj", "resolve_neg"):
        same = {"dtypes": NUMBERS, "loose": ALL, "tol": 0}
        db.op(name, getattr(zero, name), lambda x: x, [S(A())], **same)
    db.op("positive", zero.positive, lambda x: x, [S(A())], dtypes=NUMBERS, tol=0)
