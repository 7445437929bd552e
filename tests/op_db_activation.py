"""The entries of op_db for activation functions and losses of pairs of numbers."""

import math

import numpy as np

import zero
from zero.errors import DTypeError, ShapeError, ValueError

F = zero.nn.functional
erf = np.vectorize(math.erf, otypes=[float])
SELU = (1.6732632423543772, 1.0507009873554805)


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def softplus(x, beta=1.0):
    z = x * beta
    return np.where(z > 20, x, (np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))) / beta)


def elu(x, alpha=1.0, scale=1.0, rate=1.0):
    return np.where(x > 0, scale * x, scale * alpha * np.expm1(np.minimum(x, 0) * rate))


def gelu_tanh(x):
    return x * sigmoid(math.sqrt(8 / math.pi) * (x + 0.044715 * x**3))


SMOOTH = (  # name, function, reference; sums of exponentials: a few roundings
    ("elu", lambda x: F.elu(x, 1.5), lambda x: elu(x, 1.5)),
    ("celu", lambda x: zero.celu(x, 2.0), lambda x: elu(x, 2.0, 1, 0.5)),
    ("selu", zero.selu, lambda x: elu(x, *SELU)),
    ("gelu", F.gelu, lambda x: x * (1 + erf(x / math.sqrt(2))) / 2),
    ("gelu_tanh", lambda x: F.gelu(x, "tanh"), gelu_tanh),
    ("silu", F.silu, lambda x: x * sigmoid(x)),
    ("mish", F.mish, lambda x: x * np.tanh(softplus(x))),
    ("softplus", F.softplus, softplus),
    ("softplus_beta", lambda x: F.softplus(x, 2.5), lambda x: softplus(x, 2.5)),
    ("logsigmoid", F.logsigmoid, lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))),
)
LINES = (  # exact, but for a product or a quotient
    ("leaky_relu", F.leaky_relu, lambda x: np.where(x > 0, x, 0.01 * x)),
    ("rrelu", zero.rrelu, lambda x: np.where(x > 0, x, 11 / 48 * x)),
    ("hardsigmoid", F.hardsigmoid, lambda x: np.clip(x + 3, 0, 6) / 6),
    ("hardswish", F.hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    ("hardshrink", zero.hardshrink, lambda x: np.where(np.abs(x) <= 0.5, 0, x)),
    (
        "softshrink",
        F.softshrink,
        lambda x: np.where(np.abs(x) <= 0.5, x * 0, x - np.clip(x, -0.5, 0.5)),
    ),
)


def entropy(x, t):
    with np.errstate(divide="ignore"):
        return -(t * np.maximum(np.log(x), -100) + (1 - t) * np.maximum(np.log1p(-x), -100))


def divergence(x, t):
    return np.where(t > 0, t * np.log(np.where(t > 0, t, 1)), 0) - t * x


def huber(d, bound):
    d = np.abs(d)
    return np.where(d <= bound, d * d / 2, bound * (d - bound / 2))


LOSSES = (  # name, function, reference, range of inputs, of targets
    ("l1_loss", F.l1_loss, lambda x, t: np.abs(x - t), (-3, 3), (-3, 3)),
    ("smooth_l1_loss", lambda x, t, **k: F.smooth_l1_loss(x, t, beta=2.0, **k),
     lambda x, t: huber(x - t, 2) / 2, (-3, 3), (-3, 3)),
    ("huber_loss", lambda x, t, **k: F.huber_loss(x, t, delta=2.0, **k),
     lambda x, t: huber(x - t, 2), (-3, 3), (-3, 3)),
    ("binary_cross_entropy", F.binary_cross_entropy, entropy, (0.1, 0.9), (0, 1)),
    ("binary_cross_entropy_with_logits", F.binary_cross_entropy_with_logits,
     lambda x, t: softplus(x) - t * x, (-3, 3), (0, 1)),
    ("kl_div", zero.kl_div, divergence, (-3, -0.1), (0.1, 1)),
    ("kl_div_log", lambda x, t, **k: zero.kl_div(x, t, log_target=True, **k),
     lambda x, t: np.exp(t) * (t - x), (-3, -0.1), (-3, -0.1)),
)  # fmt: skip
REDUCED = {"none": lambda y: y, "mean": np.mean, "sum": np.sum}


def prelu(x, w):
    shape = (-1,) + (1,) * (x.ndim - 2) if x.ndim > 1 else (-1,)
    return np.where(x > 0, x, x * (w.reshape(shape) if w.size > 1 else w.reshape(())))


def glu(x, dim=-1):
    a, b = np.split(x, 2, dim)
    return a * sigmoid(b)


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S, A = db.Sample, db.Arg
    ints = (S(A(dtype="int64")), DTypeError, "not defined for integers")
    for name, fn, ref in SMOOTH:
        db.unary(name, ref, fn=fn, inplace=None, tol=8, scale=np.abs, special=False, errors=(ints,))
    for name, fn, ref in LINES:
        db.unary(name, ref, fn=fn, inplace=None, tol=2, scale=np.abs, zero_sign=False)
    for name, ref in (
        ("softsign", lambda x: x / (1 + np.abs(x))),
        ("tanhshrink", lambda x: x - np.tanh(x)),
    ):
        db.unary(
            name,
            ref,
            fn=getattr(F, name),
            inplace=None,
            tol=4,
            dtypes=db.NUMBERS,
            loose=("bool",),
            out="float",
            scale=lambda x: np.minimum(np.abs(x), 1),
            zero_sign=False,
        )
    db.exact_unary(
        "hardtanh",
        lambda x: np.clip(x, -1, 2),
        fn=lambda x: F.hardtanh(x, -1, 2),
        inplace=None,
        dtypes=("int8", "int16", "int32", "int64", *db.FLOATS),
        zero_sign=False,
    )
    db.exact_unary(
        "relu6",
        lambda x: np.clip(x, 0, 6),
        fn=F.relu6,
        inplace=None,
        dtypes=db.NUMBERS,
        zero_sign=False,
    )
    db.exact_unary(
        "threshold",
        lambda x: np.where(x <= 1, 2, x),
        fn=lambda x: zero.threshold(x, 1, 2),
        inplace=None,
        dtypes=db.NUMBERS,
        loose=("bool",),
    )
    db.op(
        "prelu",
        zero.prelu,
        prelu,
        [
            S(A(), A(())),
            S(A(), A((1,))),
            S(A((2, 3)), A((3,))),
            S(A((2, 3, 2, 2)), A((3,))),
            S(A((5,)), A((1,))),
            S(A(()), A(())),
            S(A((0, 3)), A((3,))),
        ],
        tol=1,
        big=S(A((7, 5, db.BIG // 35)), A((5,))),
        sized=lambda n: [S(A((n,)), A(())), S(A((3, n)), A((n,)))],
        errors=(
            (S(A(), A((2,))), ShapeError, "channels"),
            (S(A(), A((1, 3))), ShapeError, "dimension"),
            (S(A(()), A((3,))), ShapeError, "channels"),
            (S(A(dtype="float32"), A((1,), dtype="float64")), DTypeError, "float64"),
        ),
    )
    db.op(
        "glu",
        F.glu,
        glu,
        [S(A((2, 4))), S(A((4, 3)), 0), S(A((2, 6, 2)), 1), S(A((2,))), S(A((0, 4))), S(A((2, 0)))],
        tol=8,
        big=S(A((301, 700))),
        sized=lambda n: [S(A((2 * n,))), S(A((3, 2 * n))), S(A((2 * n, 3)), 0)],
        errors=(
            (S(A((2, 3))), ShapeError, "even"),
            (S(A(())), ShapeError, "0-d"),
            (S(A((2, 4)), 2), IndexError, "2"),
        ),
    )
    for name, fn, ref, inside, target in LOSSES:
        shapes = ((2, 3), (), (5,))
        samples = [
            S(A(shape, *inside), A(shape, *target), reduction=reduction)
            for shape in shapes
            for reduction in REDUCED
        ]
        samples.append(S(A((0, 3), *inside), A((0, 3), *target), reduction="sum"))

        def expected(x, t, reduction="mean", ref=ref):
            return REDUCED[reduction](ref(x, t))

        def scale(x, t, reduction="mean", ref=ref):
            return REDUCED[reduction](np.abs(ref(x, t)) + np.abs(x) + np.abs(t) + 1)

        db.op(
            name,
            fn,
            expected,
            samples,
            tol=8,
            scale=scale,
            big=S(A((db.BIG,), *inside), A((db.BIG,), *target)),
            sized=lambda n, inside=inside, target=target: [
                S(A((n,), *inside), A((n,), *target)),
                S(A((n, 3), *inside), A((n, 3), *target), reduction="none"),
            ],
            errors=(
                (S(A(), A(), reduction="median"), ValueError, "'median'"),
                (S(A((2, 3)), A((2, 4))), ShapeError, "2, 4"),
            ),
        )
