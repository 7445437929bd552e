"""dtypes: PyTorch's promotion, its rules for Python numbers and 0-d tensors, casts."""

import copy
import math
import pickle

import numpy as np
import pytest

import zero

CODES = {
    "?": "bool",
    "u1": "uint8",
    "i1": "int8",
    "i2": "int16",
    "i4": "int32",
    "i8": "int64",
    "f2": "float16",
    "b2": "bfloat16",
    "f4": "float32",
    "f8": "float64",
}
DTYPES = {code: getattr(zero, name) for code, name in CODES.items()}

# Recorded from torch 2.13: torch.promote_types(row, column).
PROMOTED = """
?   ?  u1 i1 i2 i4 i8 f2 b2 f4 f8
u1  u1 u1 i2 i2 i4 i8 f2 b2 f4 f8
i1  i1 i2 i1 i2 i4 i8 f2 b2 f4 f8
i2  i2 i2 i2 i2 i4 i8 f2 b2 f4 f8
i4  i4 i4 i4 i4 i4 i8 f2 b2 f4 f8
i8  i8 i8 i8 i8 i8 i8 f2 b2 f4 f8
f2  f2 f2 f2 f2 f2 f2 f2 f4 f4 f8
b2  b2 b2 b2 b2 b2 b2 f4 b2 f4 f8
f4  f4 f4 f4 f4 f4 f4 f4 f4 f4 f8
f8  f8 f8 f8 f8 f8 f8 f8 f8 f8 f8
"""
# torch.result_type(tensor of the row, True), (…, 2), (…, 2.5).
WITH_NUMBER = """
?   ?  i8 f4
u1  u1 u1 f4
i1  i1 i1 f4
i2  i2 i2 f4
i4  i4 i4 f4
i8  i8 i8 f4
f2  f2 f2 f2
b2  b2 b2 b2
f4  f4 f4 f4
f8  f8 f8 f8
"""
# torch.result_type(tensor of the row, 0-d tensor of the column).
WITH_0D = """
?   ?  u1 i1 i2 i4 i8 f2 b2 f4 f8
u1  u1 u1 u1 u1 u1 u1 f2 b2 f4 f8
i1  i1 i1 i1 i1 i1 i1 f2 b2 f4 f8
i2  i2 i2 i2 i2 i2 i2 f2 b2 f4 f8
i4  i4 i4 i4 i4 i4 i4 f2 b2 f4 f8
i8  i8 i8 i8 i8 i8 i8 f2 b2 f4 f8
f2  f2 f2 f2 f2 f2 f2 f2 f2 f2 f2
b2  b2 b2 b2 b2 b2 b2 b2 b2 b2 b2
f4  f4 f4 f4 f4 f4 f4 f4 f4 f4 f4
f8  f8 f8 f8 f8 f8 f8 f8 f8 f8 f8
"""


def table(text, columns):
    rows = [line.split() for line in text.strip().splitlines()]
    return [
        (row[0], column, code)
        for row in rows
        for column, code in zip(columns, row[1:], strict=True)
    ]


@pytest.mark.parametrize("a, b, expected", table(PROMOTED, CODES))
def test_promotion(a, b, expected):
    a, b, expected = DTYPES[a], DTYPES[b], DTYPES[expected]
    x, y = zero.ones(2).to(a), zero.ones(2).to(b)
    assert zero.promote_types(a, b) is expected and zero.result_type(x, y) is expected
    assert zero.result_type(x[0], y[0]) is expected
    for op in (zero.add, zero.mul, zero.maximum, lambda p, q: zero.where(p > 0, p, q)):
        assert op(x, y).dtype is expected
    quotient = expected if expected.is_floating_point else zero.float32
    assert (x / y).dtype is quotient and (x == y).dtype is zero.bool and (x < y).dtype is zero.bool
    if expected is not zero.bool:
        assert [(x // y).dtype, (x % y).dtype, (x**y).dtype] == [expected] * 3
    if zero.bool in (a, b):
        with pytest.raises(zero.errors.DTypeError, match="sub: not defined for bool"):
            x - y
    else:
        assert (x - y).dtype is expected


@pytest.mark.parametrize("a, kind, expected", table(WITH_NUMBER, ("bool", "int", "float")))
def test_python_numbers(a, kind, expected):
    number = {"bool": True, "int": 2, "float": 2.5}[kind]
    x, expected = zero.ones(2).to(DTYPES[a]), DTYPES[expected]
    for t in (x, x[0], x[:0]):
        assert zero.result_type(t, number) is expected and zero.result_type(number, t) is expected
        assert (
            (t * number).dtype is expected
            and (number * t).dtype is expected
            and (t + number).dtype is expected
        )
        assert (t >= number).dtype is zero.bool


@pytest.mark.parametrize("a, b, expected", table(WITH_0D, CODES))
def test_tensors_without_dimensions(a, b, expected):
    x, y, expected = zero.ones(2).to(DTYPES[a]), zero.ones(()).to(DTYPES[b]), DTYPES[expected]
    assert zero.result_type(x, y) is expected and zero.result_type(y, x) is expected
    assert (x * y).dtype is expected and (y + x).dtype is expected


def test_numbers_that_do_not_fit_wrap_or_overflow_as_casts_do():
    assert (zero.tensor([1], dtype=zero.uint8) + 255).tolist() == [0]
    assert (zero.tensor([250], dtype=zero.uint8) * 2).tolist() == [244]
    assert (zero.tensor([100], dtype=zero.int8) + 100).tolist() == [-56]
    assert (zero.tensor([2**63 - 1]) + 1).tolist() == [-(2**63)]
    assert (-zero.tensor([0, 1], dtype=zero.uint8)).tolist() == [0, 255]
    assert (zero.tensor([1.0], dtype=zero.float16) * 70000.0).tolist() == [math.inf]
    assert zero.tensor([-(2**63)]).abs().tolist() == [-(2**63)]
    assert (zero.tensor([-(2**63)]) // -1).tolist() == [-(2**63)] and (
        zero.tensor([-(2**63)]) % -1
    ).tolist() == [0]
    assert (zero.tensor([-128], dtype=zero.int8) // -1).tolist() == [-128]


def test_default_dtype_of_numbers_and_integers():
    zero.set_default_dtype(zero.float64)
    try:
        assert (zero.arange(2) * 2.5).dtype is zero.float64 and (
            zero.arange(2) / 2
        ).dtype is zero.float64
        assert (
            zero.arange(2).exp().dtype is zero.float64
            and (zero.ones(2, dtype=zero.float32) * 2.5).dtype is zero.float32
        )
        assert (
            zero.get_default_dtype() is zero.float64
            and zero.arange(0, 1, 0.5).dtype is zero.float64
        )
    finally:
        zero.set_default_dtype(zero.float32)
    with pytest.raises(TypeError, match="floating"):
        zero.set_default_dtype(zero.int32)


# ---- casts -------------------------------------------------------------------------------------
VALUES = [0.0, 0.5, 1.5, -1.5, 127.9, 128.0, 255.0, 256.0, -1.0, -129.0, 300.0, 32768.0, 65536.0]
# Recorded from torch 2.13; numbers in the range of the type and what wraps to it.
CASTS = {
    "uint8": [0, 0, 1, 255, 127, 128, 255, 0, 255, 127, 44, 0, 0],
    "int8": [0, 0, 1, -1, 127, -128, -1, 0, -1, 127, 44, 0, 0],
    "int16": [0, 0, 1, -1, 127, 128, 255, 256, -1, -129, 300, -32768, 0],
    "int32": [0, 0, 1, -1, 127, 128, 255, 256, -1, -129, 300, 32768, 65536],
    "int64": [0, 0, 1, -1, 127, 128, 255, 256, -1, -129, 300, 32768, 65536],
    "bool": [False] + [True] * 12,
}


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", CASTS)
def test_float_to_integer_cuts_toward_zero_and_wraps(source, target):
    x = zero.tensor(VALUES * 9, dtype=getattr(zero, source))  # full vectors and a rest
    assert x.to(getattr(zero, target)).tolist() == CASTS[target] * 9
    assert [v.to(getattr(zero, target)).item() for v in x[:13]] == CASTS[target]


@pytest.mark.parametrize("target", ["uint8", "int8", "int16", "int32", "int64"])
def test_what_no_integer_holds_gives_the_same_everywhere(target):
    """What nan and huge values become is not defined, but place and strides don't matter."""
    odd = [math.nan, math.inf, -math.inf, 1e20, -1e20, 2.0**63, -(2.0**63), 2.0**31, -(2.0**31) - 1]
    for source in (zero.float32, zero.float64):
        x = zero.tensor(odd, dtype=source)
        expected = x.to(getattr(zero, target)).tolist()
        for i in range(len(odd)):
            assert (
                x[i].expand(37).contiguous().to(getattr(zero, target)).tolist()
                == [expected[i]] * 37
            )
            assert x[i].expand(37).to(getattr(zero, target)).tolist() == [expected[i]] * 37


@pytest.mark.parametrize("target", CASTS)
def test_nan_to_bool_and_casts_of_half_types(target):
    for source in (zero.float16, zero.bfloat16):
        x = zero.tensor(VALUES[:4] + [-1.0], dtype=source)
        assert x.to(getattr(zero, target)).tolist() == CASTS[target][:4] + [CASTS[target][8]]
    assert zero.tensor([math.nan, math.inf]).to(zero.bool).tolist() == [True, True]


def test_rounding_to_half_types():
    x = zero.tensor(
        [1 + 2**-11, 1 + 3 * 2**-11, 65519.0, 65520.0, 1e-8, 2.0**-24, 2.0**-25, 3 * 2.0**-25, -0.0]
        * 5
    )
    y = x.to(zero.float16).tolist()
    assert y == [1.0, 1 + 2**-9, 65504.0, math.inf, 0.0, 2.0**-24, 0.0, 2.0**-23, 0.0] * 5
    assert math.copysign(1, y[8]) == -1
    x = zero.tensor([1 + 2**-8, 1 + 3 * 2**-8, 3.4e38, math.nan, math.inf, -0.0] * 5)
    y = x.to(zero.bfloat16).tolist()
    assert y[:3] == [1.0, 1 + 2**-6, math.inf] and math.isnan(y[3]) and y[4] == math.inf
    nan = zero.tensor(
        np.array([0x7F800001, 0xFFC00000], np.uint32).view(np.float32)
    )  # a nan's bits must not round to inf
    assert zero.isnan(nan.to(zero.bfloat16)).all() and zero.isnan(nan.to(zero.float16)).all()


def test_every_half_value_survives_the_way_through_wider_types():
    bits = np.arange(2**16, dtype=np.uint16)
    half = zero.from_numpy(bits.view(np.float16))
    for wide in (zero.float32, zero.float64):
        back = half.to(wide).to(zero.float16).numpy()
        np.testing.assert_array_equal(
            half.to(wide).numpy(), bits.view(np.float16).astype(half.to(wide).numpy().dtype)
        )
        number = ~np.isnan(bits.view(np.float16))
        np.testing.assert_array_equal(back.view(np.uint16)[number], bits[number])
    single = zero.tensor((bits.astype(np.uint32) << 16).view(np.float32))
    back = single.to(zero.bfloat16).to(zero.float32).numpy()
    ok = ~np.isnan(back)
    np.testing.assert_array_equal(back[ok], single.numpy()[ok])


@pytest.mark.parametrize("a", CODES.values())
@pytest.mark.parametrize("b", CODES.values())
def test_casts_of_small_numbers_keep_them(a, b):
    x = (zero.arange(101) % 2).to(getattr(zero, a))
    y = x.to(getattr(zero, b))
    assert y.dtype is getattr(zero, b) and y.to(zero.int64).tolist() == [i % 2 for i in range(101)]
    assert (y is x) == (a == b) and x.to(x.dtype, copy=True) is not x
    assert zero.equal(x[::3].to(y.dtype), y[::3])


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("float", "float32"),
        ("double", "float64"),
        ("half", "float16"),
        ("bfloat16", "bfloat16"),
        ("int", "int32"),
        ("long", "int64"),
        ("short", "int16"),
        ("char", "int8"),
        ("byte", "uint8"),
        ("bool", "bool"),
    ],
)
def test_cast_methods(name, dtype):
    x = zero.tensor([0.0, 1.0])
    assert getattr(x, name)().dtype is getattr(zero, dtype)
    y = getattr(x, name)()
    assert getattr(y, name)() is y


def test_to_forms():
    x = zero.ones(2)
    assert (
        x.to(zero.float64).dtype is zero.float64
        and x.to("cpu") is x
        and x.to(dtype=zero.int8).dtype is zero.int8
    )
    assert x.to("meta").device.type == "meta" and x.to("cpu", zero.float64).dtype is zero.float64
    assert (
        x.to(zero.ones(1, dtype=zero.int16)).dtype is zero.int16
        and x.to(float).dtype is zero.float64
    )
    assert x.type_as(zero.ones(1, dtype=zero.int16)).dtype is zero.int16 and x.cpu() is x
    with pytest.raises((RuntimeError, NotImplementedError)):
        zero.ones(2, device="meta").to("cpu")
    assert x.to() is x
    with pytest.raises(TypeError):
        x.to(zero.int8, dtype=zero.int16)


def test_dtype_objects():
    assert zero.float is zero.float32 and zero.double is zero.float64 and zero.half is zero.float16
    assert zero.int is zero.int32 and zero.long is zero.int64 and zero.short is zero.int16
    for name in CODES.values():
        dtype = getattr(zero, name)
        assert (
            repr(dtype) == f"zero.{name}"
            and pickle.loads(pickle.dumps(dtype)) is dtype
            and copy.deepcopy(dtype) is dtype
        )
        assert (
            dtype.itemsize == zero.ones(1).to(dtype).element_size()
            and isinstance(dtype, zero.dtype)
            and {dtype: 1}[dtype]
        )
        assert dtype.is_floating_point == ("float" in name) and dtype.is_signed == (
            name not in ("bool", "uint8")
        )
        assert zero.ones(1).to(dtype).is_floating_point() == dtype.is_floating_point
    assert not zero.float32.is_complex
    with pytest.raises(TypeError, match="cannot be made"):
        zero.dtype()


@pytest.mark.parametrize(
    "a, b, expected",
    [
        ("int64", "float32", True),
        ("float32", "int64", False),
        ("bool", "uint8", True),
        ("int8", "bool", False),
        ("float64", "float16", True),
        ("int64", "uint8", True),
    ],
)
def test_can_cast(a, b, expected):
    assert zero.can_cast(getattr(zero, a), getattr(zero, b)) is expected


def test_allclose_and_equal():
    a, b = zero.tensor([1.0, 2.0]), zero.tensor([1.0, 2.0 + 1e-6])
    assert zero.allclose(a, b) and not zero.equal(a, b) and not zero.allclose(a, b, rtol=0, atol=0)
    nan = zero.tensor([math.nan, math.inf])
    assert (
        not zero.allclose(nan, nan)
        and zero.allclose(nan, nan, equal_nan=True)
        and not zero.equal(nan, nan)
    )
    assert not zero.allclose(zero.tensor(math.inf), zero.tensor(-math.inf)) and zero.allclose(
        zero.tensor(math.inf), zero.tensor(math.inf)
    )
    assert zero.equal(zero.ones(0, 3), zero.ones(0, 3)) and not zero.equal(
        zero.ones(0, 3), zero.ones(3, 0)
    )


def test_denormals_are_flushed_in_arithmetic_and_kept_in_copies():
    x = zero.tensor([1e-39, -1e-39, 1e-45] * 11)
    assert (
        x.tolist() == np.array([1e-39, -1e-39, 1e-45] * 11, np.float32).tolist()
    )  # lists, copies, casts, comparisons
    assert x.clone().tolist() == x.tolist() and x.double().tolist() == x.tolist()
    assert (x == 0).any().item() is False and x.T.contiguous().tolist() == x.tolist()
    if zero.set_flush_denormal(True):
        try:
            assert (x * 1).abs().max().item() == 0 and (x + 0).abs().max().item() == 0
            zero.set_flush_denormal(False)
            assert (x * 1).tolist() == x.tolist()
        finally:
            zero.set_flush_denormal(True)
    assert 1e-39 * 0.5 == 5e-40  # Python's own arithmetic keeps them
