"""Lists, buffers and arrays in, lists and arrays out."""

import array
import collections
import gc
import math
import sys
import time
import weakref
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import zero

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
]
WITH_NUMPY = [d for d in DTYPES if d != "bfloat16"]


# ---- lists in ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "data, dtype, shape",
    [
        (1, "int64", ()),
        (1.5, "float32", ()),
        (True, "bool", ()),
        ([], "float32", (0,)),
        ([[], []], "float32", (2, 0)),
        ([1, 2], "int64", (2,)),
        ([1, 2.5], "float32", (2,)),
        ([True, 2], "int64", (2,)),
        ([True, 0.5], "float32", (2,)),
        ([False, True], "bool", (2,)),
        ((1, [2, 3][0]), "int64", (2,)),
        ([(1, 2), [3, 4]], "int64", (2, 2)),
        (range(3), "int64", (3,)),
        ([range(2), range(2)], "int64", (2, 2)),
        (collections.deque([1, 2]), "int64", (2,)),
        ([np.float64(1), 2], "float64", (2,)),
        ([np.int8(1), np.int8(2)], "int8", (2,)),
        ([np.float16(1), True], "float16", (2,)),
        ([np.float32(1), 2.5], "float32", (2,)),
        (np.int16(3), "int16", ()),
        (np.bool_(True), "bool", ()),
        ([np.zeros(2), [1, 2]], "float64", (2, 2)),
        ([zero.tensor([1, 2]), [3, 4]], "int64", (2, 2)),
        ([zero.tensor(1.0), 2], "float32", (2,)),
        ([[[True], zero.tensor([1.0])]], "float32", (1, 2, 1)),
        ([zero.tensor([1.0, 2.0]), [True, True]], "float32", (2, 2)),
        (array.array("d", [1, 2]), "float64", (2,)),
        (bytearray(b"\x01\x02"), "uint8", (2,)),
        (memoryview(b"\x01\x02"), "uint8", (2,)),
        ([2**53 + 1, 1], "int64", (2,)),
        ([math.inf, -math.inf, math.nan], "float32", (3,)),
    ],
)
def test_inferred(data, dtype, shape):
    t = zero.tensor(data)
    assert (str(t.dtype), tuple(t.shape)) == ("zero." + dtype, shape)
    if t.numel():
        flat = np.asarray([np.asarray(x) for x in data]) if shape else np.asarray(data)
        np.testing.assert_array_equal(
            np.array(t.numpy(), np.float64), flat.astype(np.float64).reshape(shape)
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "data",
    [
        [[1, 0], [3, 4]],
        [[1.0, 0.0], [3.0, 4.0]],
        [[True, False], [True, True]],
        [[1, 0.0], [True, 4]],
    ],
)
def test_explicit_dtype(dtype, data):
    t = zero.tensor(data, dtype=getattr(zero, dtype))
    assert t.dtype is getattr(zero, dtype)
    expected = np.array(data, dtype=bool if dtype == "bool" else np.float64)
    np.testing.assert_array_equal(np.array(t.to(zero.float64).numpy()), expected)


def test_late_float_restarts_without_losing_ints():
    values = [*range(2000), 0.5]
    assert zero.tensor(values).tolist() == values
    mixed = [[2**40, 1], [True, 2.5]]
    assert zero.tensor(mixed, dtype=zero.float64).tolist() == [[2.0**40, 1.0], [1.0, 2.5]]


def test_default_dtype_decides_for_floats():
    zero.set_default_dtype(zero.float64)
    try:
        assert zero.tensor([0.1]).item() == 0.1 and zero.ones(1).dtype == zero.float64
        assert zero.tensor([1]).dtype == zero.int64 and zero.tensor([]).dtype == zero.float64
    finally:
        zero.set_default_dtype(zero.float32)
    assert zero.tensor([0.1]).dtype == zero.float32


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_a_tensor_with_one_element_in_a_list_is_a_number(shape):
    one, two = zero.full(shape, 1.5), zero.full(shape, 2, dtype=zero.int16)
    assert zero.tensor([one]).tolist() == [1.5]
    assert zero.tensor([[one, 3], [two, one]]).tolist() == [[1.5, 3.0], [2.0, 1.5]]
    assert zero.tensor([3, two]).tolist() == [3, 2]
    assert zero.tensor([two]).dtype is zero.int16
    assert zero.tensor([two, one]).dtype is zero.float32
    assert zero.tensor([two, 300], dtype=zero.float64).tolist() == [2.0, 300.0]
    leaf = one.clone().requires_grad_()
    assert not zero.tensor([leaf * 2]).requires_grad
    # With a list before it, it is the list that tells the shape.
    if shape == (1,):
        assert zero.tensor([[1.0], one]).tolist() == [[1.0], [1.5]]
    # numpy's arrays are sequences.
    assert zero.tensor([np.full(shape, 1.5)]).shape == (1, *shape)
    x = zero.zeros(2)
    x[:] = [one, two]
    assert x.tolist() == [1.5, 2.0]


def test_larger_tensors_are_stacked():
    a, b = zero.ones(1, 2), zero.zeros(1, 2)
    assert zero.tensor([a, b]).tolist() == [[[1.0, 1.0]], [[0.0, 0.0]]]
    assert zero.tensor([zero.ones(0)]).shape == (1, 0)
    with pytest.raises(zero.errors.ShapeError, match=r"\(2,\) at \[1\], expected a number as at"):
        zero.tensor([zero.ones(1), zero.ones(2)])


RAGGED = {
    "length 1 at [1]": [[1, 2], [3]],
    "length 3 at [1]": [[1, 2], [3, 4, 5]],
    "an int at [1]": [[1, 2], 3],
    "a float at [1]": [[1, 2], 3.0],
    "a list of length 2 at [1]": [1, [2, 3]],
    "length 1 at [1][1]": [[[1, 2], [3, 4]], [[5, 6], [7]]],
    "a list of length 1 at [0][1]": [[1, [2]], [3, 4]],
    "length 0 at [1]": [[1], []],
    "length 1 at [1] ": [[], [1]],
    "a tensor of shape (3,) at [1]": [[1, 2], zero.zeros(3)],
    "a tensor of shape (2,) at [1]": [1, np.zeros(2)],
}


@pytest.mark.parametrize("text", RAGGED)
def test_ragged_lists_name_the_place(text):
    for data in (RAGGED[text], tuple(RAGGED[text])):
        with pytest.raises(zero.errors.ShapeError) as caught:
            zero.tensor(data)
        assert str(caught.value).startswith("tensor: ragged list; got ") and text.strip() in str(
            caught.value
        )
        assert "expected" in str(caught.value)


@pytest.mark.parametrize(
    "data, words",
    [
        (None, "NoneType"),
        ([None], "NoneType at [0]"),
        ("abc", "str"),
        (["a"], "str at [0]"),
        ([1.0, [1.0][:0] or "x"], "'x'"),
        ([[1, 2], [3, object]], "at [1][1]"),
        ({"a": 1}, "dict"),
        ([1j], "complex"),
        ([b"1"], "bytes at [0]"),
        (object(), "object"),
        ([[1], [{}]], "dict at [1][0]"),
        (lambda: 1, "function"),
        ({1, 2}, "set"),
    ],
)
def test_what_is_no_number(data, words):
    with pytest.raises(TypeError) as caught:
        zero.tensor(data)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "data, dtype",
    [
        ([2**63], None),
        ([-(2**63) - 1], None),
        ([10**400], None),
        ([256], "uint8"),
        ([128], "int8"),
        ([-129], "int8"),
        ([2**31], "int32"),
        ([2**15], "int16"),
        ([math.nan], "int64"),
        ([math.inf], "int32"),
        ([1e30], "int64"),
        ([300.5], "uint8"),
        ([10**400], "float64"),
    ],
)
def test_numbers_that_do_not_fit(data, dtype):
    with pytest.raises((ValueError, OverflowError), match=r"fit|large"):
        zero.tensor(data, dtype=dtype and getattr(zero, dtype))


def test_integers_at_the_limits():
    limits = [2**63 - 1, -(2**63)]
    assert zero.tensor(limits).tolist() == limits
    assert zero.tensor([255, 0], dtype=zero.uint8).tolist() == [255, 0]
    assert zero.tensor([-128, 127], dtype=zero.int8).tolist() == [-128, 127]
    assert zero.tensor([2**63, 2**64], dtype=zero.float64).tolist() == [2.0**63, 2.0**64]
    assert zero.tensor([1.9, -1.9], dtype=zero.int64).tolist() == [1, -1]


def test_other_numbers():
    assert zero.tensor([Fraction(1, 4), Decimal("0.5")]).tolist() == [0.25, 0.5]

    class Index:
        def __index__(self):
            return 7

    assert zero.tensor([Index()]).tolist() == [7]


def test_lists_that_contain_themselves():
    loop = []
    loop.append(loop)
    with pytest.raises(zero.errors.ShapeError, match="contain itself"):
        zero.tensor(loop)
    deep = 1
    for _ in range(64):
        deep = [deep]
    assert zero.tensor(deep).ndim == 64
    with pytest.raises(zero.errors.ShapeError, match="64"):
        zero.tensor([deep])


def test_lists_that_change_while_read():
    grown = [1.0, 2.0, 3.0]

    class Evil:
        def __float__(self):
            grown.clear()
            return 1.0

    grown[1] = Evil()
    with pytest.raises(RuntimeError, match="changed its length"):
        zero.tensor(grown)


def test_exceptions_of_elements_pass():
    class Bad:
        def __float__(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        zero.tensor([1.0, Bad()])


def test_arguments():
    assert zero.tensor([1.0], requires_grad=True).requires_grad
    assert zero.tensor([1.0, 2.0], device="meta").shape == (2,)
    with pytest.raises(RuntimeError, match="floating point"):
        zero.tensor([1], requires_grad=True)
    with pytest.raises(TypeError):
        zero.tensor([1.0], zero.float64)


def test_large_lists_are_faster_than_numpy():
    data = [[float(i * j % 97) for j in range(1000)] for i in range(300)]
    zero.tensor(data)
    best = [math.inf, math.inf]
    for _ in range(5):
        for i, convert in enumerate((zero.tensor, lambda d: np.array(d, dtype=np.float32))):
            start = time.perf_counter()
            convert(data)
            best[i] = min(best[i], time.perf_counter() - start)
    np.testing.assert_array_equal(zero.tensor(data).numpy(), np.array(data, np.float32))
    assert best[0] < best[1]  # it is several times; benchmarks/ measures how many


@given(
    st.recursive(
        st.floats(width=32, allow_nan=False),
        lambda inner: st.lists(inner, max_size=4),
        max_leaves=30,
    )
)
def test_nested_lists_as_numpy_reads_them(data):
    try:
        expected = np.array(data, dtype=np.float32)
    except ValueError:
        with pytest.raises(zero.errors.ShapeError):
            zero.tensor(data)
        return
    t = zero.tensor(data)
    assert tuple(t.shape) == expected.shape
    np.testing.assert_array_equal(t.numpy(), expected)
    assert t.tolist() == expected.tolist()


# ---- lists out ---------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 3), (2, 0), (0, 2), (2, 1, 3)])
def test_tolist_round_trip(dtype, shape):
    n = math.prod(shape)
    x = (zero.arange(n) % 5).to(getattr(zero, dtype)).reshape(shape)
    data = x.tolist()
    y = zero.tensor(data, dtype=x.dtype)
    if 0 not in shape:  # [] says nothing about what follows
        assert y.shape == x.shape
    assert zero.equal(x.reshape(-1), y.reshape(-1))
    kind = bool if dtype == "bool" else float if "float" in dtype else int
    flat = x.reshape(-1).tolist()
    assert all(type(v) is kind for v in flat)


def test_tolist_of_views_and_specials():
    x = zero.arange(12).view(3, 4)
    assert x.T[1:3].tolist() == [[1, 5, 9], [2, 6, 10]] and x[::2, 1::2].tolist() == [
        [1, 3],
        [9, 11],
    ]
    assert x[0].expand(2, 4).tolist() == [[0, 1, 2, 3]] * 2
    values = zero.tensor([math.inf, -math.inf, -0.0, 1e-45, 3.4028235e38]).tolist()
    assert (
        values[:2] == [math.inf, -math.inf] and math.copysign(1, values[2]) == -1 and values[3] > 0
    )
    assert math.isnan(zero.tensor(math.nan).tolist())


# ---- numpy -------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", WITH_NUMPY)
def test_numpy_both_ways_shares_memory(dtype):
    a = np.arange(6).astype(dtype).reshape(2, 3)
    t = zero.from_numpy(a)
    assert (
        t.data_ptr() == a.ctypes.data and str(t.dtype) == "zero." + dtype and t.stride() == (3, 1)
    )
    a[0, 1] = value = a.dtype.type(5)
    assert t[0, 1].item() == value
    t[1, 0] = 1
    assert a[1, 0] == 1
    b = t.numpy()
    assert b.ctypes.data == a.ctypes.data and b.dtype == a.dtype and np.shares_memory(a, b)
    c = zero.tensor(a)
    assert c.data_ptr() != a.ctypes.data and zero.as_tensor(a).data_ptr() == a.ctypes.data


def test_numpy_layouts():
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for view in (a.T, a[:, ::2], a[1], a[..., 1:3], np.broadcast_to(a[:1], (5, 3, 4))):
        t = zero.as_tensor(view) if view.flags.writeable else zero.tensor(view)
        np.testing.assert_array_equal(t.numpy(), view)
        if view.flags.writeable:
            assert t.data_ptr() == view.ctypes.data
    with pytest.raises(ValueError, match="negative"):
        zero.from_numpy(a[::-1])
    np.testing.assert_array_equal(zero.tensor(a[::-1]).numpy(), a[::-1])
    np.testing.assert_array_equal(zero.as_tensor(a[:, ::-2]).numpy(), a[:, ::-2])
    for shape in ((), (0,), (3, 0, 2)):
        e = np.zeros(shape, np.float64)
        assert zero.from_numpy(e).shape == shape and zero.zeros(shape).numpy().shape == shape


def test_numpy_refusals():
    with pytest.raises(TypeError, match="list"):
        zero.from_numpy([1.0])
    for dtype in (np.complex64, np.uint16, np.uint64, object, "U3", "datetime64[s]", [("a", "f4")]):
        with pytest.raises(TypeError, match="dtype"):
            zero.from_numpy(np.zeros(2, dtype))
    with pytest.raises(ValueError, match="byte order"):
        zero.from_numpy(np.zeros(2, ">f4"))
    odd = np.zeros(9, np.uint8)[1:].view(np.float32)
    with pytest.raises(ValueError, match="aligned"):
        zero.from_numpy(odd)
    assert zero.tensor(odd).tolist() == [0.0, 0.0]


def test_read_only_arrays_warn():
    a = np.arange(3.0)
    a.setflags(write=False)
    with pytest.warns(UserWarning, match="may not be written"):
        zero.from_numpy(a)
    zero.tensor(a)


def test_memory_lives_as_long_as_either_side():
    a = np.arange(1000.0)
    gone = weakref.ref(a)
    t = zero.from_numpy(a)[10:20]
    del a
    gc.collect()
    assert gone() is not None and t.tolist() == [float(i) for i in range(10, 20)]
    del t
    gc.collect()
    assert gone() is None
    before = zero.memory_stats()["live_bytes"]
    b = zero.ones(1000).numpy()[5:7]
    gc.collect()
    assert b.tolist() == [1.0, 1.0] and zero.memory_stats()["live_bytes"] > before
    del b
    gc.collect()
    assert zero.memory_stats()["live_bytes"] == before


def test_numpy_of_what_cannot_be_shared():
    x = zero.ones(2, requires_grad=True)
    for call in (x.numpy, lambda: np.asarray(x)):
        with pytest.raises(RuntimeError, match="detach"):
            call()
    with pytest.raises((BufferError, TypeError)):
        memoryview(x)
    assert x.numpy(force=True).tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="bfloat16"):
        zero.ones(2, dtype=zero.bfloat16).numpy()


def test_array_protocol():
    x = zero.arange(6, dtype=zero.float32).view(2, 3)
    assert np.asarray(x).ctypes.data == x.data_ptr()
    assert np.array(x).ctypes.data != x.data_ptr()
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.array_equal(x, x.numpy())
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        with pytest.raises(ValueError, match="copy"):
            np.array(x, dtype=np.float64, copy=False)


def test_arrays_as_operands():
    x, a = zero.ones(2, 3), np.full((2, 3), 2, np.float32)
    for y in (
        x * a,
        a * x,
        a + x,
        a - x,
        a / x,
        x @ a.T,
        a @ x.T,
        a < x,
        x == a,
        np.float32(2) * x,
        x * np.float64(2),
        np.int64(3) + x,
    ):
        assert isinstance(y, zero.Tensor)
    assert (a - x).tolist() == [[1.0] * 3] * 2 and (np.float64(2) * x).dtype == zero.float32
    x += a
    assert x.tolist() == [[3.0] * 3] * 2
    x[0] = np.array([7, 8, 9])
    assert x[0].tolist() == [7.0, 8.0, 9.0]


def test_buffer_protocol():
    x = zero.arange(6, dtype=zero.int32).view(2, 3)
    m = memoryview(x)
    assert (m.shape, m.strides, m.format, m.itemsize, m.readonly, m.nbytes) == (
        (2, 3),
        (12, 4),
        "i",
        4,
        False,
        24,
    )
    assert m.tolist() == x.tolist() and bytes(m) == x.numpy().tobytes()
    assert memoryview(x.T).strides == (4, 12)
    m[0, 0] = 9
    assert x[0, 0].item() == 9
    t = zero.tensor(memoryview(array.array("h", [1, -2])))
    assert t.dtype == zero.int16 and t.tolist() == [1, -2]
    assert bytearray(zero.tensor([1, 2], dtype=zero.uint8)) == b"\x01\x02"


def test_as_tensor_and_asarray():
    x = zero.ones(2)
    assert zero.as_tensor(x) is x and zero.as_tensor(x, dtype=zero.float64).dtype == zero.float64
    assert zero.tensor(x).data_ptr() != x.data_ptr()
    a = np.zeros(2, np.float32)
    assert zero.asarray(a).data_ptr() == a.ctypes.data
    assert zero.asarray(a, copy=True).data_ptr() != a.ctypes.data
    with pytest.raises(ValueError, match="copy"):
        zero.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match="copy"):
        zero.asarray(a, dtype=zero.float64, copy=False)
    y = zero.ones(2, requires_grad=True) * 2
    assert zero.as_tensor(y) is y and not zero.tensor(y).requires_grad


# ---- scalars -----------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", DTYPES)
def test_item_float_int_bool(dtype):
    x = zero.tensor([[1]], dtype=getattr(zero, dtype))
    kind = bool if dtype == "bool" else float if "float" in dtype else int
    assert type(x.item()) is kind and x.item() == 1
    assert (float(x), int(x), bool(x)) == (1.0, 1, True) and type(float(x)) is float
    assert not bool(x * 0)


def test_python_protocols():
    x = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert len(x) == 2 and [r.tolist() for r in x] == [[1.0, 2.0], [3.0, 4.0]]
    assert 3 in x and 7.0 not in x and zero.tensor(2.0) in x
    assert [10, 20, 30][zero.tensor(1)] == 20 and list(range(5))[
        zero.tensor(1) : zero.tensor(3)
    ] == [1, 2]
    assert f"{zero.tensor(3.14159):.2f}" == "3.14" and f"{zero.tensor(7):03d}" == "007"
    assert round(float(zero.tensor(2.5)), 1) == 2.5
    assert hash(x) == hash(x) and x in {x: 1} and len({zero.ones(1), zero.ones(1)}) == 2
    assert int(zero.tensor(-2.9)) == -2
    for bad in (math.nan, math.inf):
        with pytest.raises((ValueError, OverflowError)):
            int(zero.tensor(bad))
    first, *rest = zero.arange(3)
    assert first.item() == 0 and len(rest) == 2
    assert max(zero.arange(3), key=lambda t: t.item()).item() == 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_pickle_and_deepcopy(dtype):
    import copy
    import pickle

    x = (zero.arange(6) % 2).to(getattr(zero, dtype)).view(2, 3).T
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert zero.equal(x, y) and y.dtype is x.dtype
    p = zero.Parameter(zero.ones(2))
    p.grad = zero.ones(2)
    q = copy.deepcopy(p)
    assert isinstance(q, zero.Parameter) and q.requires_grad and q.data_ptr() != p.data_ptr()
    assert q.grad is not p.grad and q.grad.tolist() == [1.0, 1.0]


def test_no_references_leak():
    row = [1.5, 2.5]
    data = [row] * 100
    zero.tensor(data)
    before = sys.getrefcount(row), sys.getrefcount(row[0])
    for _ in range(50):
        zero.tensor(data)
        with pytest.raises(zero.errors.ShapeError):
            zero.tensor([*data, [1.0]])
    assert (sys.getrefcount(row), sys.getrefcount(row[0])) == before


def test_unpickled_truth_is_0_or_1():
    rebuild, (cls, dtype, sizes, _, *rest) = zero.ones(4, dtype=zero.bool).__reduce_ex__(2)
    x = rebuild(cls, dtype, sizes, b"\x02\x00\xff\x01", *rest)
    assert x.sum().item() == 3 and x.tolist() == [True, False, True, True]
