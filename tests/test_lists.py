"""Python values to tensors and back: shapes, dtypes, errors, every kind of container."""

import array
import collections
import gc
import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import zero


@pytest.mark.parametrize(
    "data, dtype",
    [
        (True, zero.bool),
        (3, zero.int64),
        (1.5, zero.float32),
        ([True, False], zero.bool),
        ([True, 2], zero.int64),
        ([1, 2.5], zero.float32),
        ([2.5, 1, True], zero.float32),
        ([[1, 2], [3, 4.5]], zero.float32),
        ([np.float64(1)], zero.float64),
        ([np.float32(1), 2], zero.float32),
        ([1, np.float16(2)], zero.float16),
        ([np.int32(1), np.int8(2)], zero.int32),
        (np.uint8(3), zero.uint8),
        ([np.bool_(True)], zero.bool),
        (np.array(1.5), zero.float64),
        ([], zero.float32),
        (range(3), zero.int64),
    ],
)
def test_dtype_is_inferred(data, dtype):
    x = zero.tensor(data)
    expected = np.array(data)
    assert x.dtype is dtype
    assert tuple(x.shape) == expected.shape
    np.testing.assert_array_equal(np.array(x.tolist()), expected)


ALL_DTYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64".split()


@pytest.mark.parametrize("name", ALL_DTYPES)
def test_dtype_can_be_given(name):
    data = [[0, 1, 1.75], [True, 3, 2]]
    x = zero.tensor(data, dtype=getattr(zero, name))
    np.testing.assert_array_equal(x.numpy(), np.array(data).astype(name))
    assert str(x.numpy().dtype) == name


def test_bfloat16_rounds_to_eight_bits():
    assert zero.tensor([1.0, 1 / 3], dtype=zero.bfloat16).tolist() == [1.0, 0.333984375]


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: [tuple(row) for row in rows],
        lambda rows: tuple(rows),
        lambda rows: [np.array(row, dtype=np.float32) for row in rows],
        lambda rows: [zero.tensor(row) for row in rows],
        lambda rows: [[zero.tensor(v) for v in row] for row in rows],
        lambda rows: [rows[0], np.array(rows[1], dtype=np.float32)],
        lambda rows: [zero.tensor(rows[0]), rows[1]],
        lambda rows: collections.deque(rows),
        lambda rows: [array.array("f", row) for row in rows],
        lambda rows: np.array(rows, dtype=np.float32),
        lambda rows: memoryview(np.array(rows, dtype=np.float32)),
        lambda rows: zero.tensor(rows),
    ],
)
def test_containers_mix(make):
    rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    x = zero.tensor(make(rows))
    assert x.dtype is zero.float32 and x.tolist() == rows


@pytest.mark.parametrize(
    "data, text",
    [
        ([[1, 2, 3], [1, 2]], r"ragged list; got length 2 at \[1\], expected 3 as at \[0\]"),
        ([[1], 2], r"ragged list; got an int at \[1\], expected length 1 as at \[0\]"),
        ([1, [2]], r"ragged list; got a list of length 1 at \[1\], expected a number as at \[0\]"),
        ([[[1, 2]], [[1, 2], [3, 4]]], r"got length 2 at \[1\], expected 1 as at \[0\]"),
        ([[[1, 2]], [[3]]], r"got length 1 at \[1\]\[0\], expected 2 as at \[0\]\[0\]"),
        ([[], [1]], r"got length 1 at \[1\], expected 0 as at \[0\]"),
        ([np.ones(2), np.ones(3)], r"got a tensor of shape \(3,\) at \[1\], expected shape \(2,\)"),
    ],
)
def test_ragged_lists_name_place_and_lengths(data, text):
    with pytest.raises(zero.errors.ShapeError, match=text):
        zero.tensor(data)


@pytest.mark.parametrize(
    "data, text",
    [
        ("abc", r"got 'abc' of type str"),
        (None, r"got None of type NoneType"),
        ([1.0, None], r"got None of type NoneType at \[1\]"),
        ([[1, 2], [3, "x"]], r"got 'x' of type str at \[1\]\[1\]"),
        ([[1, object()]], r"of type object at \[0\]\[1\]"),
        ({1: 2}, r"of type dict"),
        ([1 + 2j], r"of type complex at \[0\]"),
        (b"ab", r"of type bytes"),
        (np.array(["a"]), r"no dtype"),
        (np.array([1 + 2j]), r"no dtype"),
    ],
)
def test_what_is_no_number_names_type_and_place(data, text):
    with pytest.raises(TypeError, match=text):
        zero.tensor(data)


@pytest.mark.parametrize(
    "data, dtype, text",
    [
        ([0, 2**63], None, r"at \[1\]"),
        ([-(2**63) - 1], None, r"int64"),
        ([[300]], zero.uint8, r"got 300 at \[0\]\[0\]"),
        (128, zero.int8, "got 128"),
        (-(2**31) - 1, zero.int32, "int32"),
        (float("nan"), zero.int64, "got nan"),
        (1e19, zero.int64, "1e\\+19"),
        ([10**400], zero.float32, "bits"),
    ],
)
def test_numbers_that_do_not_fit(data, dtype, text):
    with pytest.raises(ValueError, match=text):
        zero.tensor(data, dtype=dtype)


def test_large_ints_become_floats_where_asked():
    assert zero.tensor([2**70], dtype=zero.float64).item() == 2.0**70
    assert zero.tensor([-1, -255, 255], dtype=zero.uint8).tolist() == [255, 1, 255]


def test_lists_that_contain_themselves():
    loop = []
    loop.append(loop)
    with pytest.raises(zero.errors.ShapeError, match="contain itself"):
        zero.tensor(loop)
    deep = 1.0
    for _ in range(64):
        deep = [deep]
    assert zero.tensor(deep).dim() == 64
    with pytest.raises(zero.errors.ShapeError, match="64"):
        zero.tensor([deep])
    second = [[1.0], [2.0]]
    second[1][0] = second
    with pytest.raises(zero.errors.ShapeError):
        zero.tensor(second)


class Evil:
    """A number whose conversion empties the list that holds it."""

    def __init__(self, items):
        self.items = items

    def __float__(self):
        self.items.clear()
        return 1.0


def test_a_list_that_changes_while_it_is_read():
    items = [1.0] * 100
    items[10] = Evil(items)
    with pytest.raises(RuntimeError, match="changed"):
        zero.tensor(items)
    rows = [[1.0, 2.0] for _ in range(50)]
    rows[3][1] = Evil(rows)
    with pytest.raises((RuntimeError, IndexError)):
        zero.tensor(rows)


NUMBERS = st.one_of(st.booleans(), st.integers(-(2**62), 2**62), st.floats(width=32))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=4), st.randoms(use_true_random=False), st.data())
def test_round_trip(shape, rng, data):
    def build(sizes):
        if not sizes:
            return data.draw(NUMBERS)
        return [build(sizes[1:]) for _ in range(sizes[0])]

    values = build(shape)
    x = zero.tensor(values, dtype=zero.float64)
    expected = np.array(values, dtype=np.float64)
    assert tuple(x.shape) == expected.shape
    np.testing.assert_array_equal(x.numpy(), expected)
    np.testing.assert_array_equal(np.array(x.tolist(), dtype=np.float64), expected)


@pytest.mark.parametrize("name", [*ALL_DTYPES, "bfloat16"])
def test_tolist_and_item(name):
    x = zero.arange(6).reshape(2, 3).to(getattr(zero, name))
    expected = (np.arange(6).reshape(2, 3) != 0) if name == "bool" else np.arange(6).reshape(2, 3)
    assert x.tolist() == expected.tolist()
    assert x.T.tolist() == expected.T.tolist()
    assert x[1, 2].item() == expected[1, 2]
    kind = bool if name == "bool" else float if "float" in name else int
    assert type(x.tolist()[0][1]) is kind and type(x[1, 2].item()) is kind
    assert x[0, 0].tolist() == 0
    assert zero.zeros(2, 0, dtype=getattr(zero, name)).tolist() == [[], []]


def test_tensor_copies_and_as_tensor_shares():
    a = np.zeros(3, dtype=np.float32)
    t, s = zero.tensor(a), zero.as_tensor(a)
    a[0] = 5
    assert t.tolist() == [0, 0, 0] and s.tolist() == [5, 0, 0]
    x = zero.ones(2, requires_grad=True)
    assert zero.as_tensor(x) is x
    copy = zero.tensor(x)
    assert copy.is_leaf and not copy.requires_grad and copy.data_ptr() != x.data_ptr()
    assert zero.as_tensor([1, 2], dtype=zero.float64).dtype is zero.float64


def test_asarray():
    a = np.zeros(3)
    assert zero.asarray(a).data_ptr() == a.ctypes.data
    assert zero.asarray(a, copy=True).data_ptr() != a.ctypes.data
    with pytest.raises(ValueError, match="copy"):
        zero.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match="copy"):
        zero.asarray(a, dtype=zero.float32, copy=False)


def test_options():
    assert zero.tensor([1.0], requires_grad=True).requires_grad
    assert zero.tensor([1.0], device="meta").device == zero.device("meta")
    with pytest.raises(RuntimeError, match="requires"):
        zero.tensor([1], requires_grad=True)
    with pytest.raises(RuntimeError, match="cuda"):
        zero.tensor([1.0], device="cuda")
    with pytest.raises(TypeError, match="dtype"):
        zero.tensor([1.0], dtype="float32")


def test_default_dtype():
    try:
        zero.set_default_dtype(zero.float64)
        assert zero.tensor([1.5, 2]).dtype is zero.float64
        assert zero.tensor([1]).dtype is zero.int64
    finally:
        zero.set_default_dtype(zero.float32)
    with pytest.raises(TypeError):
        zero.set_default_dtype(zero.int32)


def test_conversion_leaks_nothing():
    rng = random.Random(0)
    data = [[rng.random() for _ in range(10)] for _ in range(10)]

    def once():
        zero.tensor(data).tolist()
        for bad in ([[1.0, 2.0], [1.0, "x"]], [[1.0], [1.0, 2.0]]):
            try:
                zero.tensor(bad)
            except (TypeError, ValueError):
                continue
            raise AssertionError

    def used():
        gc.collect()
        return tracemalloc.get_traced_memory()[0], zero.memory_stats()["live_bytes"]

    tracemalloc.start()
    try:
        for _ in range(20):
            once()
        python, core = used()
        for _ in range(500):
            once()
        later_python, later_core = used()
    finally:
        tracemalloc.stop()
    assert later_python - python < 5000 and later_core == core


@pytest.mark.parametrize("length", [0, 1, 3, 10**7])
def test_a_list_that_lies_about_its_length(length):
    class Liar(list):
        def __len__(self):
            return length

    for data in (Liar([1.0, 2.0]), [Liar([1.0, 2.0])]):
        with pytest.raises(RuntimeError, match="changed its length"):
            zero.tensor(data)
