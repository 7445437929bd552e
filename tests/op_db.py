"""The registry of operators: what each computes, on which samples, in which dtypes, how exactly.

An entry is an `Op`; tests/test_ops.py derives its tests from the entries, so that an op that is
added here is tested against NumPy in every dtype, layout and size, for its gradients, in place, on
the meta device, on several threads and per instruction set.

Run as a program, it writes the results of one small sample of every op to a file:
``python tests/op_db.py results.npz``; tests compare such files across environments.
"""

import dataclasses
import sys
import warnings
import zlib
from collections.abc import Callable

import numpy as np
from op_db_activation import add_entries as add_activation_entries
from op_db_attention import add_entries as add_attention_entries
from op_db_channels import add_entries as add_channel_entries
from op_db_contract import add_entries as add_contract_entries
from op_db_convolution import add_entries as add_convolution_entries
from op_db_functions import add_entries as add_function_entries
from op_db_index import add_entries as add_index_entries
from op_db_linalg import add_entries as add_linalg_entries
from op_db_math import add_entries as add_math_entries
from op_db_normalize import add_entries as add_normalize_entries
from op_db_order import add_entries as add_order_entries
from op_db_pooling import add_entries as add_pooling_entries
from op_db_recurrent import add_entries as add_recurrent_entries
from op_db_reduce import add_entries as add_reduce_entries
from op_db_resample import add_entries as add_resample_entries
from op_db_scatter import add_entries as add_scatter_entries
from op_db_shape import add_entries as add_shape_entries
from op_db_special import add_entries as add_special_entries
from op_db_tables import add_entries as add_table_entries
from op_db_views import add_entries as add_view_entries

import zero

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTS = ("uint8", "int8", "int16", "int32", "int64")
NUMBERS = INTS + FLOATS
ALL = ("bool",) + NUMBERS
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
# Below this, results are rounded to a grid (float16) or flushed to zero (the others).
TINY = {"float16": 2.0**-24, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}


@dataclasses.dataclass(frozen=True)
class Arg:
    """A tensor argument: values are uniform in [low, high], or in [ilow, ihigh] for integers."""

    shape: tuple = (2, 3)
    low: float = -3.0
    high: float = 3.0
    ilow: int | None = None
    ihigh: int | None = None
    dtype: str | None = None  # None: the one under test
    grad: bool = True

    def values(self, rng: np.random.Generator, dtype: str) -> np.ndarray:
        if dtype == "bool":
            return rng.integers(0, 2, self.shape).astype(bool)
        if dtype in INTS:
            low = round(self.low) if self.ilow is None else self.ilow
            high = round(self.high) if self.ihigh is None else self.ihigh
            low = max(low, 0) if dtype == "uint8" else low
            return rng.integers(low, max(low, high) + 1, self.shape)
        return rng.uniform(self.low, self.high, self.shape)


class Sample:
    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs

    def __repr__(self):
        named = [f"{k}={v!r}" for k, v in self.kwargs.items()]
        return f"({', '.join([*map(repr, self.args), *named])})"

    def tensors(self) -> list[Arg]:
        found = []
        map_args(self.args, lambda a: found.append(a))
        map_args(self.kwargs, lambda a: found.append(a))
        return found

    def numel(self) -> int:
        return sum(int(np.prod(a.shape)) for a in self.tensors())


def map_args(x, f):
    """x with f applied to every Arg in it."""
    if isinstance(x, Arg):
        return f(x)
    if isinstance(x, list | tuple):
        return type(x)(map_args(v, f) for v in x)
    if isinstance(x, dict):
        return {k: map_args(v, f) for k, v in x.items()}
    return x


@dataclasses.dataclass
class Op:
    """An operator.

    `tol` and `scale`: the error is at most ``tol * eps * (|expected| + scale(*arrays))`` with the
    eps of the result's dtype; results that are not floats are exact.
    """

    name: str
    fn: Callable
    ref: Callable
    samples: list
    dtypes: tuple = FLOATS
    out: str = "same"  # dtype of the result: same, float, bool, int64, sum, promote or a name
    tol: float = 4.0
    scale: Callable | None = None
    grad: bool = True
    inplace: str | None = None
    kind: str = "other"  # unary, binary: special values can be derived; index: in place, with args
    special: bool = True  # compare nan, ±inf and ±0 with NumPy
    zero_sign: bool = True  # the sign of a zero is defined
    big: Sample | None = None  # splits over threads
    sized: Callable | None = None  # n -> samples around block edges
    view: bool = False
    meta: bool = True  # the shape of the result depends on shapes only
    loose: tuple = ()  # dtypes that are taken too, where NumPy has no comparable result
    indices: bool = False  # results after the first one are int64
    errors: tuple = ()  # (sample, exception, words of the message)

    def expected_dtype(self, dtype: str, args) -> str:
        if self.out == "same":
            return dtype
        if self.out == "float":
            return dtype if dtype in FLOATS else "float32"
        if self.out == "sum":
            return dtype if dtype in FLOATS else "int64"
        if self.out == "number":  # the op has an int of its own
            return name_of(zero.result_type(args[0], 2))
        if self.out in ("promote", "quotient", "branches"):
            promoted = name_of(
                zero.result_type(*(args[1:3] if self.out == "branches" else args[:2]))
            )
            integral = self.out == "quotient" and promoted not in FLOATS
            return "float32" if integral else promoted
        return self.out

    def expected(self, args, kwargs):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of NumPy, about nan and empty means
            if self.out == "float":
                args = [a.astype(float) if isinstance(a, np.ndarray) else a for a in args]
            return self.ref(*args, **kwargs), self.scale(*args, **kwargs) if self.scale else 0


def name_of(dtype) -> str:
    return str(dtype).removeprefix("zero.")


def dtype_of(name: str):
    return getattr(zero, name)


def exact(t) -> np.ndarray:
    """The values of a tensor in NumPy's widest dtype of the kind."""
    t = t.detach()
    if t.dtype == zero.bool:
        return np.array(t.numpy())
    return np.array(t.to(zero.float64 if t.is_floating_point() else zero.int64).numpy())


def seed_of(*parts) -> int:
    return zlib.crc32(repr(parts).encode())


def laid_out(t, layout: str):
    """The same shape with other strides; 'expanded' repeats the first row."""
    if layout == "transposed":
        order = tuple(reversed(range(t.ndim)))
        return t.permute(order).clone().contiguous().permute(order)
    if layout == "step":
        wide = zero.zeros([2 * n + 1 for n in t.shape], dtype=t.dtype)
        part = wide[tuple(slice(1, 2 * n + 1, 2) for n in t.shape)]
        return part.copy_(t)
    if layout == "offset":
        flat = zero.zeros(t.numel() + 1, dtype=t.dtype)
        return flat[1:].copy_(t.reshape(-1)).view(t.shape)
    if layout == "expanded":
        if t.ndim == 0 or t.shape[0] == 0:
            return t
        return t[:1].clone().expand(t.shape)
    return t


def make(sample, dtype, layout="contiguous", requires_grad=False, device="cpu", seed=None):
    """Arguments for zero and, with the same values, for NumPy: (args, kwargs), (args, kwargs)."""
    rng = np.random.default_rng(seed_of(repr(sample), dtype) if seed is None else seed)
    arrays = []

    def tensor(a: Arg):
        name = a.dtype or dtype
        t = zero.tensor(a.values(rng, name)).to(dtype_of(name))
        t = laid_out(t, layout)
        arrays.append(exact(t))
        if device != "cpu":
            t = t.to(device)
        if requires_grad and a.grad and name in FLOATS:
            t = t.detach().requires_grad_()
        return t

    mine = map_args(sample.args, tensor), map_args(sample.kwargs, tensor)
    left = iter(arrays)
    theirs = (
        map_args(sample.args, lambda _: next(left)),
        map_args(sample.kwargs, lambda _: next(left)),
    )
    return mine, theirs


def tensors_in(x) -> list:
    if isinstance(x, zero.Tensor):
        return [x]
    if isinstance(x, dict):
        x = x.values()
    if isinstance(x, list | tuple) or hasattr(x, "__iter__"):
        return [t for v in x for t in tensors_in(v)] if not isinstance(x, str) else []
    return []


def outputs(result) -> list:
    return list(result) if isinstance(result, tuple | list) else [result]


# ---- the entries -------------------------------------------------------------------------------
OPS: dict[str, Op] = {}
S, A = Sample, Arg
EDGES = (1, 7, 8, 9, 15, 16, 17, 31, 33, 511, 512, 513, 1025)
BIG = 3 * 32768 + 5  # more than three ranges of an elementwise loop


def op(name, fn, ref, samples, **kwargs):
    assert name not in OPS, name
    OPS[name] = Op(name, fn, ref, samples, **kwargs)


def unary(name, ref, low=-3.0, high=3.0, fn=None, **kwargs):
    fn = fn or getattr(zero, name)
    shapes = ((2, 3), (), (1,), (0,), (2, 0, 3), (2, 3, 4))
    kwargs.setdefault("inplace", name + "_")
    op(
        name,
        fn,
        ref,
        [S(A(s, low, high)) for s in shapes],
        kind="unary",
        big=S(A((BIG,), low, high)),
        sized=lambda n: [S(A((n,), low, high)), S(A((3, n), low, high))],
        **kwargs,
    )


def exact_unary(name, ref, **kwargs):
    unary(name, ref, tol=0, **kwargs)  # no rounding


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


# fmt: off
NOT_BOOL = {"errors": ((S(A(dtype="bool")), zero.errors.DTypeError, "not defined for bool"),)}
exact_unary("neg", np.negative, dtypes=NUMBERS, **NOT_BOOL)
exact_unary("abs", np.abs, dtypes=NUMBERS, **NOT_BOOL)
exact_unary("sign", lambda x: x if x.dtype == bool else np.nan_to_num(np.sign(x)), dtypes=ALL,
            zero_sign=False)  # nan has none: 0, as in PyTorch
exact_unary("relu", lambda x: np.where(x <= 0, 0, x), dtypes=NUMBERS, zero_sign=False, **NOT_BOOL)
# 4 eps: the polynomials are within 2 ulp, and one is twice eps just below a power of two.
for _name, _ref, _low in (("exp", np.exp, -3.0), ("log", np.log, 0.1), ("tanh", np.tanh, -3.0)):
    unary(_name, _ref, low=_low, dtypes=ALL, out="float")
unary("sigmoid", sigmoid, dtypes=ALL, out="float")
unary("sqrt", np.sqrt, low=0.1, dtypes=ALL, out="float", tol=0.5)  # rounded correctly
unary("reciprocal", lambda x: 1 / x, low=0.2, dtypes=ALL, out="float", tol=0.5)
unary("rsqrt", lambda x: 1 / np.sqrt(x), low=0.2, dtypes=ALL, out="float", tol=2)
unary("square", lambda x: x * x, dtypes=ALL, out="number", tol=0.5)
exact_unary("bitwise_not", np.invert, dtypes=("bool", *INTS), grad=False, special=False)
exact_unary("logical_not", np.logical_not, dtypes=ALL, out="bool", grad=False)
for _name in ("isnan", "isinf", "isfinite"):
    exact_unary(_name, getattr(np, _name), dtypes=ALL, out="bool", grad=False, inplace=None)
exact_unary("clamp", lambda x: np.clip(x * 1, -1, 2), fn=lambda x: zero.clamp(x, -1, 2), dtypes=ALL,
            out="number", inplace=None, zero_sign=False)
exact_unary("clamp_min", lambda x: np.maximum(x, 1), fn=lambda x: zero.clamp_min(x, 1), dtypes=ALL,
   out="number",
            inplace=None)
exact_unary("clamp_max", lambda x: np.minimum(x, 1), fn=lambda x: x.clamp_max(1), dtypes=ALL,
   out="number",
            inplace=None)
exact_unary("clone", np.array, dtypes=ALL, inplace=None)
exact_unary("contiguous", np.array, fn=lambda x: x.contiguous(), dtypes=ALL, inplace=None)
exact_unary("detach", np.array, dtypes=ALL, grad=False, inplace=None)
exact_unary("zero_", np.zeros_like, fn=lambda x: x.clone().zero_(), dtypes=ALL, inplace="zero_")
exact_unary("fill_", lambda x: np.full_like(x, 1), fn=lambda x: x.clone().fill_(1), dtypes=ALL,
            inplace=None)
for _name, _kind in (("float32", np.float32), ("float64", np.float64)):
    unary(f"to_{_name}", lambda x: x.astype(float), fn=lambda x, t=_name: x.to(dtype_of(t)),
       out=_name,
          dtypes=ALL, tol=0.5, inplace=None, special=False, grad=False)
op("clamp_tensors", zero.clamp, np.clip, [S(A(), A(high=0), A(low=0)),
   S(A(), min=A((3,), high=0), max=A((), low=0)), S(A(), A(high=0), True)],
   dtypes=ALL, tol=0, errors=((S(A()), ValueError, "no bound"),
   (S(A(), A((7,)), 1), ValueError, "broadcast")))

# ---- two inputs --------------------------------------------------------------------------------
PAIRS = (((2, 3), (2, 3)), ((2, 1), (1, 4)), ((2, 3, 4), (4,)), ((), (3,)), ((3,), ()), ((), ()),
         ((0, 3), (1, 3)), ((1,), (0,)), ((3, 1, 2), (4, 2)))


def binary(name, ref, a=None, b=None, fn=None, scalars=(2,), **kwargs):
    a, b = a or {}, b or {}
    fn = fn or getattr(zero, name)
    samples = [S(A(s, **a), A(t, **b)) for s, t in PAIRS] + [S(A(**a), x) for x in scalars]
    kwargs.setdefault("inplace", name + "_")
    kwargs.setdefault("out", "promote")
    no_fit = (S(A((2, 3), **a), A((4,), **b)), zero.errors.ShapeError, "(2, 3)")
    two_devices = (S(A((2,), **a), zero.ones(2, dtype=zero.int8, device="meta")), RuntimeError,
       "meta")
    errors = (no_fit, two_devices, (S(A(), "2"), TypeError, "str")) + kwargs.pop("errors", ())
    op(name, fn, ref, samples, kind="binary", errors=errors,
       big=S(A((5, BIG // 4), **a), A((BIG // 4,), **b)),
       sized=lambda n: [S(A((n,), **a), A((n,), **b)), S(A((n, 3), **a), A((n, 1), **b)),
                        S(A((3, 1), **a), A((n,), **b))],
       **kwargs)


def bools(name):
    return ((S(A(dtype="bool"), A(dtype="bool")), zero.errors.DTypeError, name),)


NONZERO = {"low": 0.2, "ilow": 1}
binary("add", np.add, dtypes=ALL, tol=0.5)
binary("sub", np.subtract, dtypes=NUMBERS, tol=0.5, errors=bools("sub: not defined for bool"))
binary("mul", np.multiply, dtypes=ALL, tol=0.5)
binary("div", np.true_divide, b=NONZERO, dtypes=ALL, out="quotient", tol=0.5)
binary("true_divide", np.true_divide, b=NONZERO, dtypes=ALL, out="quotient", tol=0.5)
# Quotients are floored exactly, then rounded.
binary("floor_divide", np.floor_divide, b=NONZERO, dtypes=NUMBERS, tol=0.5, grad=False,
   special=False)
binary("div_floor", np.floor_divide, fn=lambda a, b: zero.div(a, b, rounding_mode="floor"),
   b=NONZERO,
       dtypes=NUMBERS, tol=0.5, special=False, inplace=None)
binary("div_trunc", lambda a, b: np.trunc(a / b), fn=lambda a,
   b: zero.div(a, b, rounding_mode="trunc"),
       b=NONZERO, dtypes=(*INTS, "float32", "float64"), tol=0.5, special=False,
       inplace=None,
       loose=("float16", "bfloat16"))  # the quotient is rounded first, often to the next integer
binary("remainder", np.remainder, b=NONZERO, dtypes=NUMBERS, tol=0.5, special=False)
# x^y = 2^(y log2 x) with log2 x in two parts; the error is that of exp.
binary("pow", np.power, a={"low": 0.2}, b={"low": -2, "high": 2, "ilow": 0}, dtypes=NUMBERS,
       scalars=(2, 3), errors=bools("pow: not defined for bool"))
for _name in ("maximum", "minimum"):
    binary(_name, getattr(np, _name), dtypes=ALL, tol=0, scalars=(), zero_sign=False, inplace=None)
for _name, _ref in (("eq", "equal"), ("ne", "not_equal"), ("lt", "less"), ("le", "less_equal"),
                    ("gt", "greater"), ("ge", "greater_equal")):
    binary(_name, getattr(np, _ref), dtypes=ALL, out="bool", grad=False)
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    binary(_name, getattr(np, _name), dtypes=("bool", *INTS), grad=False, special=False,
           errors=((S(A(dtype="float32"), A(dtype="float32")), zero.errors.DTypeError,
           "not defined for floats"),))
for _name in ("logical_and", "logical_or", "logical_xor"):
    binary(_name, getattr(np, _name), dtypes=ALL, out="bool", grad=False, scalars=())
op("add_alpha", lambda a, b: zero.add(a, b, alpha=3), lambda a, b: a + 3 * b,
   [S(A(), A()), S(A((2, 1)), A((3,)))],
   dtypes=NUMBERS, loose=("bool",), tol=1.5, scale=lambda a, b: np.abs(3 * b),
   big=S(A((BIG,)), A((BIG,))))
op("sub_alpha", lambda a, b: zero.sub(a, b, alpha=2), lambda a, b: a - 2 * b,
   [S(A(), A()), S(A(), 2)],
   dtypes=NUMBERS, tol=0.5)
op("rsub", lambda a: 2 - a, lambda a: 2 - a, [S(A()), S(A(()))], dtypes=NUMBERS, tol=0.5)
op("rdiv", lambda a: 2 / a, lambda a: 2 / a, [S(A(**NONZERO)), S(A((), **NONZERO))], dtypes=ALL,
   out="float",
   tol=0.5)
op("rpow", lambda a: 2**a, lambda a: np.power(2, a * 1), [S(A(ilow=0)), S(A((), ilow=0))],
   dtypes=ALL, out="number")
MASK = {"dtype": "bool", "grad": False}
op("where", zero.where, np.where,
   [S(A(s, **MASK), A(t), A(u)) for s, t, u in (((2, 3),) * 3, ((3,), (2, 1), ()),
   ((), (3,), (3,)), ((0, 3), (1, 3), (3,)))]
   + [S(A(**MASK), A(), 1), S(A(**MASK), 1, A())],
   dtypes=ALL, out="branches", tol=0, kind="ternary",
   big=S(A((BIG,), **MASK), A((BIG,)), A((BIG,))),
   sized=lambda n: [S(A((n,), **MASK), A((n,)), A((n,)))],
   errors=((S(A(dtype="float32"), A(), A()), zero.errors.DTypeError, "not a mask"),
           (S(A((2,), **MASK), A((3,)), A((3,))), zero.errors.ShapeError, "(2,)"),
           (S(A(**MASK), 1), TypeError, "other")))
op("copy_", lambda x, y: x.clone().copy_(y), lambda x, y: np.array(np.broadcast_to(y, x.shape)),
   [S(A(), A()), S(A(), A((3,))), S(A(), A((2, 1))), S(A(), A(())), S(A((2, 0)), A((0,)))],
   dtypes=ALL, tol=0,
   inplace="copy_", big=S(A((7, BIG // 4)), A((BIG // 4,))),
   sized=lambda n: [S(A((n, 3)), A((n, 1)))],
   errors=((S(A((2, 3)), A((2, 3, 1))), zero.errors.ShapeError, "copy_"),))
op("isclose", zero.isclose, lambda a, b: np.isclose(a, b, 1e-5, 1e-8),
   [S(A(), A()), S(A(ilow=1, ihigh=1), A(ilow=1, ihigh=1))],
   dtypes=("int64", "float32", "float64"), loose=ALL, out="bool", grad=False,
   errors=((S(A(dtype="int64"), A(dtype="float32")), zero.errors.DTypeError, "dtypes differ"),))
def equalities(a, b):
    return zero.tensor([zero.equal(a, b), zero.equal(a, a.clone()), zero.equal(a, a[:1])])


op("equal", equalities,
   lambda a, b: np.array([np.array_equal(a, b), True, False]), [S(A((2, 3)), A((2, 3)))],
   dtypes=ALL, out="bool",
   grad=False)

# ---- reductions --------------------------------------------------------------------------------
DIMS = [S(A((2, 3, 4))), S(A((2, 3, 4)), 0), S(A((2, 3, 4)), -1, True), S(A((2, 3, 4)), (0, 2)),
   S(A(())), S(A((1,)), 0),
        S(A((2, 3, 4)), (2, 0, 1), keepdim=True), S(A((3, 1)), 1)]
EMPTY = [S(A((0,))), S(A((0, 3)), 0), S(A((0, 3)), 1), S(A((2, 0)), 1, True)]
BAD_DIM = ((S(A((2, 3)), 2), IndexError, "2"), (S(A((2, 3)), -3), IndexError, "-3"),
   (S(A((2, 3)), "0"), TypeError, "str"))
TWICE = ((S(A((2, 3)), (0, 0)), RuntimeError, "0"),)


def axes(f, **more):
    """NumPy's names for dim, keepdim and correction."""

    def reduced(x, dim=None, keepdim=False, correction=None, dtype=None):
        extra = {} if correction is None else {"ddof": correction}
        dim = None if dim == () else dim
        return np.asarray(f(x, axis=dim, keepdims=keepdim, **extra, **more))

    return reduced


def reduction(name, ref, samples, **kwargs):
    kwargs.setdefault("errors", BAD_DIM + TWICE)
    op(name, getattr(zero, name), ref, samples, inplace=None, big=S(A((301, 1031))),
       sized=lambda n: [S(A((n,))), S(A((n, 3)), 0), S(A((3, n)), 1), S(A((2, n, 3)), 1)], **kwargs)


# Sums run in blocks of float32 lanes or in float64: a few roundings of partial sums, which are at
# most sum |x|.
reduction("sum", axes(np.sum), DIMS + EMPTY, dtypes=ALL, out="sum", tol=2,
   scale=axes(lambda x, **k: np.sum(abs(x), **k)))
reduction("mean", axes(np.mean), DIMS + EMPTY, tol=2,
   scale=axes(lambda x, **k: np.mean(abs(x), **k)),
          errors=BAD_DIM + ((S(A(dtype="int64")), zero.errors.DTypeError, "dtype"),))
op("sum_dtype", lambda x: zero.sum(x, dtype=zero.float64),
   lambda x: np.asarray(np.sum(x, dtype=float)), [S(A()), S(A(()))],
   dtypes=ALL, out="float64", tol=2, scale=lambda x: np.sum(np.abs(x)))
def unbiased(f):
    return lambda x, *args, **kwargs: axes(f)(x, *args, **({"correction": 1} | kwargs))


SPREAD = [S(A((2, 3, 4))), S(A((2, 3, 4)), 0), S(A((2, 3, 4)), -1, keepdim=True),
   S(A((5,)), 0, correction=0),
          S(A((2, 3, 4)), (0, 2), correction=2)]
_float_only = ((S(A(dtype="int64")), zero.errors.DTypeError, "float"),)
for _name in ("var", "std"):
    # Two passes: differences are rounded once, squares and sums a few times more.
    reduction(_name, unbiased(getattr(np, _name)),
              SPREAD, tol=8, errors=BAD_DIM + _float_only)
EXTREMA = [S(A((2, 3, 4))), S(A((2, 3, 4)), 0), S(A((2, 3, 4)), -1, True), S(A((2, 3, 4)), (0, 2)),
   S(A(())), S(A((0, 3)), 1),
           S(A((2, 3, 4)), ())]
NO_ELEMENTS = ((S(A((0,))), IndexError, "no"), (S(A((0, 3)), 0), IndexError, "0"))
for _name, _all in (("amax", "max"), ("amin", "min")):
    reduction(_name, axes(getattr(np, _all)), EXTREMA, dtypes=ALL, tol=0,
       errors=BAD_DIM + TWICE + NO_ELEMENTS)
ALONG = [S(A((2, 3, 4)), 0), S(A((2, 3, 4)), -1), S(A((2, 3, 4)), 1, True), S(A(()), 0),
   S(A((0, 3)), 1)]


def pair(values, indices):
    def both(x, dim=None, keepdim=False):
        if dim is None:
            return np.asarray(values(x))
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        return values(x, axis=dim, keepdims=keepdim), indices(x, axis=dim, keepdims=keepdim)

    return both


def places(f):
    def found(x, dim=None, keepdim=False):
        return np.asarray(f(x, axis=dim, keepdims=keepdim) if x.ndim else 0)

    return found


for _name, _arg in (("max", "argmax"), ("min", "argmin")):
    reduction(_name, pair(getattr(np, _name), getattr(np, _arg)),
       [S(A((2, 3, 4))), S(A(())), *ALONG], dtypes=ALL, tol=0, indices=True,
              errors=BAD_DIM + NO_ELEMENTS)
    reduction(_arg, places(getattr(np, _arg)), [S(A((2, 3, 4))), S(A(())), *ALONG], dtypes=ALL,
        out="int64", grad=False, errors=BAD_DIM + NO_ELEMENTS)
for _name in ("all", "any"):
    reduction(_name, axes(getattr(np, _name)), DIMS + EMPTY, dtypes=ALL, out="bool", grad=False)

# ---- softmax and losses ------------------------------------------------------------------------


def log_softmax(x, dim):
    if x.ndim == 0:
        return np.zeros(())
    shifted = x - x.max(axis=dim, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))


_dims = [S(A((2, 3)), 1), S(A((2, 3)), 0), S(A((2, 3, 4)), 1), S(A((5,)), -1), S(A(()), 0),
   S(A((2, 1)), 1), S(A((0, 3)), 1)]
_sized = lambda n: [S(A((n,)), 0), S(A((3, n)), 1), S(A((2, n, 3)), 1), S(A((n, 3)), 1)]
# Errors of exp and of its sum; the logarithm adds those of x and of log sum exp, up to 6 + ln n.
op("softmax", zero.softmax, lambda x, dim: np.exp(log_softmax(x, dim)), _dims, tol=8,
   big=S(A((401, 313)), 1), sized=_sized,
   errors=BAD_DIM + ((S(A(dtype="int64"), 1), zero.errors.DTypeError, "float"),))
op("log_softmax", zero.log_softmax, log_softmax, _dims, tol=4, scale=lambda x, dim: 6,
   big=S(A((401, 313)), 1), sized=_sized,
   errors=BAD_DIM + ((S(A(dtype="int64"), 1), zero.errors.DTypeError, "float"),))


def reduced_loss(each, weights, reduction):
    if reduction == "none":
        return each
    return np.asarray(each.sum() if reduction == "sum" else each.sum() / weights.sum())


def nll(x, target, weight=None, ignore_index=-100, reduction="mean"):
    x2 = x[None] if x.ndim == 1 else x
    t = target.reshape(1) if x.ndim == 1 else target
    w = np.ones(x2.shape[1]) if weight is None else weight
    kept = t != ignore_index
    safe = np.where(kept, t, 0)
    each = -np.take_along_axis(x2, np.expand_dims(safe, 1), 1).squeeze(1)
    factor = np.where(kept, w[safe], 0.0)
    out = reduced_loss(factor * each, factor, reduction)
    return out.reshape(target.shape) if reduction == "none" else out


def cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    d = 0 if x.ndim == 1 else 1
    logp, s = log_softmax(x, d), label_smoothing
    shape = [-1 if i == d else 1 for i in range(x.ndim)]
    w = np.ones(x.shape[d]) if weight is None else weight
    if target.dtype == float:  # probabilities
        soft = (1 - s) * target + s / x.shape[d]
        each = -(soft * logp * w.reshape(shape)).sum(d)
        n = np.full(each.shape, 1 / max(each.size, 1)) * (x.size // x.shape[d])
        return reduced_loss(each, n, reduction)
    hard = nll(logp, target, weight, ignore_index, "none")
    kept = target != ignore_index
    smooth = np.where(kept, -(logp * w.reshape(shape)).sum(d).reshape(target.shape), 0.0)
    weights = np.where(kept, w[np.where(kept, target, 0)], 0.0)
    return reduced_loss((1 - s) * hard + s / x.shape[d] * smooth, weights, reduction)


def classes(shape, n):
    return A(shape, ilow=0, ihigh=n - 1, dtype="int64", grad=False)


WEIGHT = {"low": 0.5, "high": 2, "grad": False}
_losses = [S(A((4, 3)), classes((4,), 3)), S(A((4, 3)), classes((4,), 3), reduction="sum"),
   S(A((3,)), classes((), 3)),
           S(A((4, 3)), classes((4,), 3), reduction="none"), S(A((2, 3, 4)), classes((2, 4), 3)),
           S(A((4, 3)), classes((4,), 3), weight=A((3,), **WEIGHT)),
           S(A((6, 3)), classes((6,), 3), ignore_index=1),
           S(A((5, 3)), classes((5,), 3), ignore_index=0, reduction="none"),
           S(A((2, 3, 2)), classes((2, 2), 3), weight=A((3,), **WEIGHT), ignore_index=1,
           reduction="none")]
_wrong = ((S(A((4, 3)), classes((5,), 3)), zero.errors.ShapeError, "(4, 3)"),
          (S(A((4, 3)), A((4,), ilow=3, ihigh=3, dtype="int64")), IndexError,
          "out of range; got 3"),
          (S(A((4, 3)), A((4,), ilow=-1, ihigh=-1, dtype="int64")), IndexError, "got -1"),
          (S(A((4, 3)), A((4,), dtype="int32")), zero.errors.DTypeError, "int32"),
          (S(A((4, 3)), classes((4,), 3), reduction="max"), ValueError, "'max'"),
          (S(A((4, 3)), classes((4,), 3), weight=A((4,))), zero.errors.ShapeError, "weight"))
_many = [S(A((301, 113)), classes((301,), 113))]
op("nll_loss", zero.nll_loss, nll, _losses, tol=2, scale=lambda *a, **k: 3, errors=_wrong,
   big=S(A((40000, 5)), classes((40000,), 5)),
   sized=lambda n: [S(A((n, 3)), classes((n,), 3)), S(A((3, n)), classes((3,), n))])
_soft = [S(A((4, 3)), classes((4,), 3), label_smoothing=0.1), S(A((4, 3)), A((4, 3), 0, 1)),
         S(A((4, 3)), A((4, 3), 0, 1), reduction="none"), S(A((3,)), A((3,), 0, 1)),
         S(A((4, 3)), A((4, 3), 0, 1), weight=A((3,), **WEIGHT), label_smoothing=0.2),
         S(A((2, 3, 4)), A((2, 3, 4), 0, 1), reduction="sum"),
         S(A((6, 3)), classes((6,), 3), weight=A((3,), **WEIGHT), ignore_index=2,
         label_smoothing=0.3)]
op("cross_entropy", zero.cross_entropy, cross_entropy, _losses + _soft, tol=8, scale=lambda *a,
   **k: 6 * (a[0].shape[0] if k.get("reduction") == "sum" else 1),
   errors=(*_wrong, (S(A((4, 3)), classes((4,), 3), label_smoothing=2.0), ValueError,
   "label_smoothing")),
   big=S(A((4001, 50)), classes((4001,), 50)),
   sized=lambda n: [S(A((n, 3)), classes((n,), 3)), S(A((3, n)), classes((3,), n)),
   S(A((2, n, 3)), classes((2, 3), n))])
op("mse_loss", zero.mse_loss, lambda a, b, reduction="mean": reduced_loss((a - b) ** 2,
   np.ones_like(a), reduction),
   [S(A(), A()), S(A(), A(), reduction="sum"), S(A(), A(), reduction="none"), S(A(()), A(())),
   S(A((0,)), A((0,)), reduction="sum")],
   tol=4, big=S(A((BIG,)), A((BIG,))), sized=lambda n: [S(A((n,)), A((n,)))],
   errors=((S(A(), A(), reduction="median"), ValueError, "'median'"),))

# ---- products: a rounding per step, at most K of them; float16 and bfloat16 sum in float32 -----
PRODUCTS = (((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 2, 3), (3, 2)),
   ((2, 2, 3), (2, 3, 2)), ((2, 3), (2, 3, 2)),
            ((2, 1, 2, 3), (2, 3, 2)), ((3,), (2, 3, 2)), ((2, 2, 3), (3,)), ((0, 3), (3, 2)),
            ((2, 0), (0, 3)), ((0, 2, 3), (3, 2)),
            ((1, 1), (1, 1)))


def product_scale(a, b):
    return a.shape[-1] ** 0.5 * (np.abs(a) @ np.abs(b))


def product(name, pairs, errors, **kwargs):
    a, b = pairs[0]
    mismatch = (S(A(a), A((b[0] + 2, *b[1:]))), zero.errors.ShapeError, str(a))
    mixed = (S(A(a, dtype="float32"), A(b, dtype="float64")), zero.errors.DTypeError, "float64")
    kwargs.setdefault("big", S(A((257, 300)), A((300, 259))))
    op(name, getattr(zero, name), lambda a, b: np.asarray(a @ b),
       [S(A(a), A(b)) for a, b in pairs], tol=2, dtypes=NUMBERS,
       scale=product_scale, errors=(mismatch, mixed, *errors), **kwargs)


product("matmul", PRODUCTS, ((S(A(()), A((3,))), zero.errors.ShapeError, "0-d"),
                             (S(A((2, 2, 3)), A((3, 3, 2))), zero.errors.ShapeError, "batch")),
        sized=lambda n: [S(A((n, 3)), A((3, 5))), S(A((3, n)), A((n, 5))), S(A((2, 3)), A((3, n)))])
product("mm", PRODUCTS[:1], ((S(A((2, 2, 2)), A((2, 2))), zero.errors.ShapeError,
   "mm: wrong number"),))
product("bmm", (((2, 2, 3), (2, 3, 2)),), ((S(A((2, 2, 2)), A((3, 2, 2))), zero.errors.ShapeError,
   "batch"),),
        big=S(A((9, 70, 80)), A((9, 80, 90))))
product("mv", (((2, 3), (3,)),), ((S(A((2, 3)), A((2, 3))), zero.errors.ShapeError, "mv"),),
   big=S(A((501, 300)), A((300,))))
product("dot", (((3,), (3,)), ((0,), (0,))), ((S(A((2, 3)), A((3,))), zero.errors.ShapeError,
   "dot"),), big=S(A((BIG,)), A((BIG,))))


def linear(x, w, b=None):
    y = x @ w.T
    return np.asarray(y if b is None else y + b)


op("linear", zero.linear, linear,
   [S(A((4, 3)), A((2, 3))), S(A((4, 3)), A((2, 3)), A((2,))), S(A((3,)), A((2, 3)), A((2,))),
   S(A((2, 2, 3)), A((2, 3)), A((2,))),
    S(A((2, 3)), A((3,)), A(())), S(A((0, 3)), A((2, 3)), A((2,))),
    S(A((2, 0)), A((3, 0)), A((3,)))],
   dtypes=NUMBERS, tol=2, scale=lambda x, w, b=0: product_scale(x, w.T) + np.abs(b),
   big=S(A((257, 300)), A((259, 300)), A((259,))), sized=lambda n: [S(A((n, 3)), A((5, 3)),
   A((5,))), S(A((3, n)), A((2, n)), A((2,)))],
   errors=((S(A((4, 3)), A((2, 4))), zero.errors.ShapeError, "(4, 3)"),
   (S(A((4, 3)), A((2, 3)), A((3,))), zero.errors.ShapeError, "bias"),
           (S(A((4, 3), dtype="float32"), A((2, 3), dtype="float64")), zero.errors.DTypeError,
           "float64")))

# ---- shapes: no arithmetic ---------------------------------------------------------------------


def shape_op(name, fn, ref, samples, view=True, **kwargs):
    op(name, fn, ref, samples, dtypes=ALL, tol=0, view=view, **kwargs)


X = A((2, 3, 4))
BIG2 = A((601, 200))
_sizes = ((S(X, (5, 5)), zero.errors.ShapeError, "24"), (S(X, (-1, -1)), RuntimeError, "-1"),
   (S(X, (-1, 5)), RuntimeError, "5"),
          (S(X, (-2, 12)), RuntimeError, "-2"))
_moved = [S(X, (6, 4)), S(X, (-1,)), S(X, (2, -1, 2)), S(A(()), (1, 1)), S(A((1,)), ()),
   S(A((0, 3)), (3, 0)), S(A((0, 3)), (0, 5))]
shape_op("view", lambda x, s: x.view(s), np.reshape, _moved, errors=_sizes)
shape_op("reshape", zero.reshape, np.reshape, _moved, errors=_sizes, big=S(BIG2, (-1, 5)))
shape_op("reshape_transposed", lambda x, s: x.transpose(0, 1).reshape(s), lambda x,
   s: x.swapaxes(0, 1).reshape(s), [S(X, (6, 4)), S(X, (4, 6))],
         view=False, big=S(BIG2, (-1,)))
shape_op("flatten", zero.flatten,
   lambda x, a=0, b=-1: x.reshape(x.shape[:a] + (-1,) + (x.shape[b:][1:] if b != -1 else ())),
         [S(X), S(X, 1), S(X, 0, 1), S(A(())), S(A((0, 3)))],
         errors=((S(X, 2, 1), RuntimeError, "start_dim"), (S(X, 0, 3), IndexError, "3")))
shape_op("ravel", zero.ravel, np.ravel, [S(X), S(A(()))])
shape_op("expand", lambda x, s: x.expand(s), lambda x,
   s: np.broadcast_to(x, [n if m == -1 else m for n,
   m in zip((1,) * (len(s) - x.ndim) + x.shape, s, strict=True)]),
         [S(A((3, 1)), (3, 4)), S(A((3, 1)), (2, -1, 4)), S(A(()), (2, 2)), S(A((1,)), (0,)),
         S(A((2, 3)), (2, 3))], big=S(A((500, 1)), (500, 300)),
         errors=((S(A((2, 3)), (2, 4)), zero.errors.ShapeError, "(2, 3)"),
         (S(A((2, 3)), (3,)), RuntimeError, "expand")))
shape_op("broadcast_to", zero.broadcast_to, np.broadcast_to,
   [S(A((3, 1)), (2, 3, 4)), S(A(()), (2,))])
shape_op("transpose", zero.transpose, np.swapaxes, [S(X, 0, 1), S(X, -1, 0), S(X, 1, 1)],
   big=S(BIG2, 0, 1),
         errors=((S(X, 0, 3), IndexError, "3"), (S(X, -4, 0), IndexError, "-4")))
shape_op("swapaxes", zero.swapaxes, np.swapaxes, [S(X, 0, 2)])
shape_op("T", lambda x: x.T, np.transpose, [S(A((2, 3))), S(A((3,))), S(A(()))])
shape_op("mT", lambda x: x.mT, lambda x: np.swapaxes(x, -1, -2), [S(X), S(A((2, 3)))],
   errors=((S(A((3,))), zero.errors.ShapeError, "mT"),))
shape_op("t", zero.t, np.transpose, [S(A((2, 3))), S(A((3,))), S(A(()))],
   errors=((S(X), zero.errors.ShapeError, "t: too many"),))
shape_op("permute", zero.permute, np.transpose, [S(X, (2, 0, 1)), S(X, (-1, 0, 1)),
   S(A((2, 3)), (0, 1))], big=S(BIG2, (1, 0)),
         errors=((S(X, (0, 1)), RuntimeError, "permute"),
         (S(X, (0, 0, 1)), RuntimeError, "permute"), (S(X, (0, 1, 3)), IndexError, "3")))
shape_op("squeeze", zero.squeeze, lambda x, d=None: np.squeeze(x,
   None if d is None else tuple(i for i in (d if isinstance(d,
   tuple) else (d,)) if x.shape[i] == 1)),
         [S(A((1, 2, 1))), S(A((1, 2, 1)), 0), S(A((1, 2, 1)), 1), S(A((1, 2, 1)), (0, -1)),
         S(A(()))], errors=((S(X, 3), IndexError, "3"),))
shape_op("unsqueeze", zero.unsqueeze, np.expand_dims, [S(X, 0), S(X, -1), S(X, 3), S(A(()), 0)],
         errors=((S(X, 4), IndexError, "4"), (S(X, -5), IndexError, "-5")))
shape_op("select", zero.select, lambda x, d, i: np.asarray(np.take(x, i, d)),
   [S(X, 0, 1), S(X, -1, -1), S(A((3,)), 0, 2)],
         errors=((S(X, 0, 2), IndexError, "2"), (S(X, 0, -3), IndexError, "-3"),
         (S(A(()), 0, 0), IndexError, "select")))
shape_op("narrow", zero.narrow, lambda x, d, s, n: np.take(x, range(s, s + n), d),
   [S(X, 2, 1, 2), S(X, 0, 0, 2), S(X, 1, 3, 0)],
         errors=((S(X, 2, 1, 4), IndexError, "length"), (S(X, 2, 5, 0), IndexError, "start"),
         (S(A(()), 0, 0, 0), zero.errors.ShapeError, "narrow")))
shape_op("slice", lambda x: x[1:, ::2, None, -1], lambda x: x[1:, ::2, None, -1], [S(X)], big=None)
shape_op("unbind", zero.unbind, lambda x, d=0: tuple(np.moveaxis(x, d, 0)),
   [S(X), S(X, -1), S(A((3,)))],
         errors=((S(X, 3), IndexError, "3"), (S(A(())), IndexError, "unbind")))
_cat_errors = ((S([A((2, 3)), A((2, 4))], 0), zero.errors.ShapeError, "(2, 4)"),
   (S([]), RuntimeError, "tensors"),
               (S([A((2, 3))], 2), IndexError, "2"), (S(3), TypeError, "int"),
               (S([A((2,)), 3]), TypeError, "[1]"))
shape_op("cat", zero.cat, np.concatenate, [S([A((2, 3)), A((1, 3))]),
   S([A((2, 3)), A((2, 1)), A((2, 0))], 1), S([A((2,))]), S((A((2, 3)), A((2, 3))), -1)],
         view=False, errors=_cat_errors, big=S([A((301, 200)), A((301, 150))], 1),
         sized=lambda n: [S([A((n,)), A((3,)), A((n,))]), S([A((2, n)), A((2, 1))], 1)])
shape_op("stack", zero.stack, np.stack, [S([A((2, 3)), A((2, 3))]), S([A((2, 3)), A((2, 3))], 1),
   S([A((2, 3))], -1), S([A(()), A(())])],
         view=False, errors=((S([A((2, 3)), A((2, 4))]), zero.errors.ShapeError, "(2, 4)"),
         (S([]), RuntimeError, "tensors")),
         big=S([A((301, 200)), A((301, 200))], 2), sized=lambda n: [S([A((n,)), A((n,))], 1)])

add_index_entries(op, S, A, ALL, FLOATS)
for _add in (
    add_channel_entries,
    add_contract_entries,
    add_function_entries,
    add_order_entries,
    add_reduce_entries,
    add_scatter_entries,
    add_shape_entries,
    add_math_entries,
    add_convolution_entries,
    add_normalize_entries,
    add_pooling_entries,
    add_recurrent_entries,
    add_resample_entries,
    add_activation_entries,
    add_special_entries,
    add_table_entries,
    add_attention_entries,
    add_view_entries,
    add_linalg_entries,
):
    _add(sys.modules[__name__])

# ---- tensors from nothing: (name, call on zero, NumPy's result); on meta with device= ----------
CREATION = [
    ("zeros", lambda **k: zero.zeros(2, 3, **k), np.zeros((2, 3), np.float32)),
    ("zeros_0d", lambda **k: zero.zeros((), **k), np.zeros((), np.float32)),
    ("zeros_size", lambda **k: zero.zeros(size=(0, 2), dtype=zero.int8, **k),
    np.zeros((0, 2), np.int8)),
    ("ones", lambda **k: zero.ones([2, 3], dtype=zero.int64, **k), np.ones((2, 3), np.int64)),
    ("full", lambda **k: zero.full((2,), 7, **k), np.full(2, 7)),
    ("full_float", lambda **k: zero.full((2,), 0.5, **k), np.full(2, 0.5, np.float32)),
    ("full_bool", lambda **k: zero.full((2,), True, **k), np.full(2, True)),
    ("scalar_tensor", lambda **k: zero.scalar_tensor(3, **k), np.array(3, np.float32)),
    ("eye", lambda **k: zero.eye(3, **k), np.eye(3, dtype=np.float32)),
    ("eye_wide", lambda **k: zero.eye(2, 4, dtype=zero.int32, **k), np.eye(2, 4, dtype=np.int32)),
    ("arange", lambda **k: zero.arange(5, **k), np.arange(5)),
    ("arange_step", lambda **k: zero.arange(1, 10, 3, **k), np.arange(1, 10, 3)),
    ("arange_down", lambda **k: zero.arange(5, 0, -2, **k), np.arange(5, 0, -2)),
    ("arange_float", lambda **k: zero.arange(0, 1, 0.25, **k), np.arange(0, 1, 0.25, np.float32)),
    ("arange_many", lambda **k: zero.arange(1025, dtype=zero.float32, **k),
    np.arange(1025, dtype=np.float32)),
    ("linspace", lambda **k: zero.linspace(-1, 2, 7, **k), np.linspace(-1, 2, 7, dtype=np.float32)),
    ("linspace_ends", lambda **k: zero.linspace(0.1, 0.7, 1001, dtype=zero.float64, **k)[[0, -1]],
     np.array([0.1, 0.7])),
    ("linspace_one", lambda **k: zero.linspace(3, 5, 1, **k), np.array([3], np.float32)),
    ("linspace_none", lambda **k: zero.linspace(3, 5, 0, **k), np.zeros(0, np.float32)),
    ("linspace_int", lambda **k: zero.linspace(0, 9, 4, dtype=zero.int64, **k),
     np.array([0, 3, 6, 9])),
    ("linspace_cut", lambda **k: zero.linspace(1.9, 9.2, 3, dtype=zero.int32, **k),
     np.array([1, 5, 9], np.int32)),
    ("logspace", lambda **k: zero.logspace(0, 3, 4, base=2, **k),
     np.array([1, 2, 4, 8], np.float32)),
    ("arange_none", lambda **k: zero.arange(0, **k), np.arange(0)),
]
# fmt: on


def small_samples():
    """(key, op, sample, dtype): what the runs in child processes cover."""
    for entry in OPS.values():
        dtype = "float32" if "float32" in entry.dtypes else "int32"
        for i, sample in enumerate(entry.samples[:1] + (entry.sized(37) if entry.sized else [])):
            yield f"{entry.name}.{i}", entry, sample, dtype


def run_small() -> dict:
    """Forward results and gradients of one small sample per op, as arrays by name."""
    results = {}
    for key, entry, sample, dtype in small_samples():
        (args, kwargs), _ = make(sample, dtype, requires_grad=entry.grad)
        found = outputs(entry.fn(*args, **kwargs))
        for i, y in enumerate(found):
            results[f"{key}.y{i}"] = np.array(y.detach().numpy())
        if not entry.grad:
            continue
        recorded = [y for y in found if y.requires_grad]
        if not recorded:
            continue
        wanted = [t for t in tensors_in([args, kwargs]) if t.requires_grad]
        seeds = [
            zero.tensor(np.linspace(-1, 1, y.numel(), dtype=np.float32)).view(y.shape)
            for y in recorded
        ]
        for i, g in enumerate(zero.autograd.grad(recorded, wanted, seeds, allow_unused=True)):
            if g is not None:
                results[f"{key}.g{i}"] = np.array(g.numpy())
    return results


if __name__ == "__main__":
    np.savez(sys.argv[1], **run_small())
