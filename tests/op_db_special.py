"""The entries of op_db for special functions, those of zero.special under ``special_<name>``."""

import math

import numpy as np
import special_reference as ref

import zero
from zero.errors import DTypeError

UNARY = (  # name, reference, least and largest sample, has a gradient
    ("erfinv", ref.erfinv, -0.9, 0.9, True),
    ("lgamma", ref.lgamma, 0.3, 6, True),
    ("digamma", ref.digamma, 0.3, 6, True),
    ("i0", ref.bessel_i(0), -6, 6, True),
    ("sinc", ref.sinc, -3, 3, True),
    ("logit", ref.logit, 0.05, 0.95, True),
    ("special.entr", ref.entr, 0.1, 3, True),
    ("special.erfcx", ref.erfcx, -2, 6, True),
    ("special.ndtr", ref.ndtr, -4, 4, True),
    ("special.ndtri", ref.ndtri, 0.05, 0.95, True),
    ("special.log_ndtr", ref.log_ndtr, -9, 4, True),
    ("special.i0e", lambda x: ref.bessel_i(0)(x) * np.exp(-np.abs(x)), 0.3, 12, True),
    ("special.i1", ref.bessel_i(1), -6, 6, True),
    ("special.i1e", lambda x: ref.bessel_i(1)(x) * np.exp(-np.abs(x)), 0.3, 12, True),
    ("special.modified_bessel_i0", ref.bessel_i(0), -6, 6, False),
    ("special.modified_bessel_i1", ref.bessel_i(1), -6, 6, False),
    ("special.modified_bessel_k0", ref.bessel_k(0), 0.1, 12, False),
    ("special.modified_bessel_k1", ref.bessel_k(1), 0.1, 12, False),
    ("special.scaled_modified_bessel_k0", ref.bessel_k(0, True), 0.1, 12, False),
    ("special.scaled_modified_bessel_k1", ref.bessel_k(1, True), 0.1, 12, False),
    ("special.bessel_j0", ref.bessel_j(0), -20, 20, False),
    ("special.bessel_j1", ref.bessel_j(1), -20, 20, False),
    ("special.bessel_y0", ref.bessel_y(0), 0.1, 20, False),
    ("special.bessel_y1", ref.bessel_y(1), 0.1, 20, False),
    ("special.spherical_bessel_j0", lambda x: ref.sinc(x / math.pi), -9, 9, False),
    ("special.airy_ai", ref.airy_ai, -6, 5, False),
)
POLYNOMIALS = (
    *(f"{s}chebyshev_polynomial_{k}" for s in ("", "shifted_") for k in "tuvw"),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
)


def function(name):
    return (
        getattr(zero.special, name.removeprefix("special.")) if "." in name else getattr(zero, name)
    )


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A, FLOATS, ALL = db.Sample, db.Arg, db.FLOATS, db.ALL
    no_int = (S(A(dtype="int32"), A(dtype="int32")), DTypeError, "expected floats")
    # The references are good to 1e-13: float64 is compared in test_special.py, and loose here.
    narrow = {"dtypes": FLOATS[:3], "loose": ALL, "tol": 2}
    for name, reference, low, high, grad in UNARY:
        db.unary(
            name.replace(".", "_"),
            reference,
            fn=function(name),
            low=low,
            high=high,
            out="float",
            grad=grad,
            inplace=None if "." in name else name + "_",
            special=False,
            **narrow,
        )
    db.op(
        "logit_eps",
        lambda x: zero.logit(x, 0.25),
        lambda x: ref.logit(np.clip(x, 0.25, 0.75)),
        [S(A(low=0.05, high=0.95))],
        out="float",
        **narrow,
    )
    positive = {"low": 0.3, "high": 4, "ilow": 1, "ihigh": 4}
    for n in (1, 2, 4):
        db.op(
            f"polygamma_{n}",
            lambda x, n=n: zero.polygamma(n, x),
            lambda x, n=n: ref.polygamma(n, x),
            [S(A(**positive)), S(A((), **positive)), S(A((0,)))],
            out="float",
            **narrow,
        )
    db.op(
        "mvlgamma",
        zero.mvlgamma,
        lambda x, p: sum(ref.lgamma(x - i / 2) for i in range(p)) + p * (p - 1) / 4 * np.log(np.pi),
        [S(A(low=2, high=6, ilow=3), 3), S(A(**positive), 1)],
        out="float",
        inplace="mvlgamma_",
        kind="index",
        **(narrow | {"tol": 8}),
        scale=lambda x, p: p * np.abs(x),
    )
    broadcast = ((2, 3), (2, 3)), ((2, 1), (1, 4)), ((3,), ()), ((0, 3), (1, 3))
    for name, reference in (
        ("igamma", ref.igamma),
        ("igammac", lambda a, x: 1 - ref.igamma(a, x)),
    ):
        db.op(
            name,
            getattr(zero, name),
            reference,
            [S(A(a, grad=False, **positive), A(b, **positive)) for a, b in broadcast],
            inplace=name + "_",
            kind="index",
            errors=(no_int,),
            **(narrow | {"loose": ("float64",)}),
        )
    db.op(
        "special_zeta",
        zero.special.zeta,
        ref.zeta,
        [
            S(A((2, 3), low=1.2, high=6, grad=False), A((3,), **positive)),
            S(A((2,), 1.2, 6, grad=False), 2),
            S(3, A((2,), **positive)),
        ],
        out="quotient",
        **narrow,
    )
    db.binary(
        "special_xlog1py",
        lambda a, b: np.where(a == 0, 0.0, np.asarray(a, float) * np.log1p(b)),
        fn=zero.special.xlog1py,
        b={"low": -0.8, "ilow": 0},
        dtypes=FLOATS,
        loose=ALL,
        out="quotient",
        inplace=None,
        special=False,
    )
    for name in POLYNOMIALS:
        db.op(
            "special_" + name,
            function("special." + name),
            ref.polynomial(name),
            [
                S(A((2, 3), -1, 2), A((3,), 0, 6)),
                S(A((5,), -1, 1), 3),
                S(0.25, A((4,), -2, 9)),
                S(A((7,), -1, 1), 40),
            ],
            out="quotient",
            grad=False,
            scale=lambda x, n: 1e-4,
            **(narrow | {"dtypes": ("bfloat16", "float32")}),  # float16 overflows
        )
