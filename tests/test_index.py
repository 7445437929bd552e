"""Basic indexing and assignment, as NumPy does it."""

import collections

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zero

SHAPE = (4, 3, 5)
CASES = [
    0,
    -1,
    3,
    (0,),
    (1, 2),
    (1, 2, 3),
    (-1, -1, -1),
    slice(None),
    slice(1, 3),
    slice(None, None, 2),
    slice(1, None, 3),
    slice(3, 1),
    slice(-3, -1),
    slice(10, 20),
    slice(-10, 2),
    slice(0, 0),
    slice(2**70),
    slice(-(2**70), None),
    (slice(None), 1),
    (slice(None), slice(1, 2), 0),
    Ellipsis,
    (Ellipsis, 0),
    (0, Ellipsis),
    (Ellipsis,),
    (0, Ellipsis, 1),
    (0, 1, 2, Ellipsis),
    None,
    (None, 0),
    (0, None),
    (slice(None), None, 1),
    (None, None),
    (Ellipsis, None),
    (None, Ellipsis, None),
    (0, 0, 0, None),
    (slice(1, 3), Ellipsis, slice(None, None, 2)),
    (),
    np.int64(2),
    (np.int8(1), slice(np.int32(0), np.int32(2))),
]


def pair():
    a = np.arange(60, dtype=np.float32).reshape(SHAPE)
    return zero.tensor(a), a.copy()


@pytest.mark.parametrize("index", CASES, ids=repr)
def test_reads(index):
    x, a = pair()
    y, b = x[index], a[index]
    assert tuple(y.shape) == np.shape(b)
    np.testing.assert_array_equal(y.numpy(), b)
    assert y is not x and isinstance(y, zero.Tensor)
    if y.numel():  # always a view
        y.fill_(-1)
        assert (x == -1).sum().item() == y.numel()


@pytest.mark.parametrize("index", CASES, ids=repr)
def test_writes(index):
    values = np.arange(100, 160, dtype=np.float32)
    for make in (
        lambda s: 7,
        lambda s: 2.5,
        lambda s: True,
        lambda s: values[: int(np.prod(s))].reshape(s),
        lambda s: values[: s[-1]] if s else values[0],
        lambda s: np.float64(3),
    ):
        x, a = pair()
        value = make(a[index].shape)
        a[index] = value
        x[index] = zero.tensor(value) if isinstance(value, np.ndarray) else value
        np.testing.assert_array_equal(x.numpy(), a)
        assert x._version == 1


def test_writes_of_lists_arrays_and_other_dtypes():
    x, a = pair()
    x[0, 0] = a[0, 0] = [5, 4, 3, 2, 1]
    x[1] = a[1] = np.ones((3, 1), np.int64)
    x[2, 1:] = zero.tensor([[1], [2]], dtype=zero.uint8)
    a[2, 1:] = [[1], [2]]
    x[3] = zero.ones(1, 1, 3, 5)
    a[3] = 1
    np.testing.assert_array_equal(x.numpy(), a)
    n = zero.zeros(3, dtype=zero.int64)
    n[0] = 2.9
    n[1] = zero.tensor(3.9)
    n[2] = True
    assert n.tolist() == [2, 3, 1]


def test_tensors_with_one_integer_are_indices():
    x, a = pair()
    i = zero.tensor(2)
    np.testing.assert_array_equal(x[i].numpy(), a[2])
    np.testing.assert_array_equal(x[i, zero.tensor(-1, dtype=zero.int8)].numpy(), a[2, -1])
    np.testing.assert_array_equal(x[i : zero.tensor(4)].numpy(), a[2:4])


def test_writes_through_chained_indexing():
    x, a = pair()
    for t in (x, a):
        t[1:][0][:, ::2][1] = 9
        t[..., -1][2] += 100
        t[::3, 0] *= 2
    np.testing.assert_array_equal(x.numpy(), a)


def test_writes_from_overlapping_memory():
    x, a = pair()
    x[:2] = x[2:]
    a[:2] = a[2:]
    np.testing.assert_array_equal(x.numpy(), a)
    x[0] = x[0]
    np.testing.assert_array_equal(x.numpy(), a)


def test_index_of_empty_dimensions():
    x = zero.zeros(0, 3)
    assert x[:, 0].shape == (0,) and x[1:].shape == (0, 3) and x[..., None].shape == (0, 3, 1)
    x[:] = 5
    x[:, 1] = zero.ones(0)
    with pytest.raises(IndexError, match="0"):
        x[0]


def test_select_of_views():
    x, a = pair()
    y, b = x.permute(2, 0, 1)[1:4], a.transpose(2, 0, 1)[1:4]
    for index in ((0, 1), (slice(None, None, 2), 3), (Ellipsis, -1), (None, 1, slice(1, None))):
        np.testing.assert_array_equal(y[index].numpy(), b[index])


integers = st.integers(-6, 6)
slices = st.builds(slice, st.none() | integers, st.none() | integers, st.none() | st.integers(1, 4))
items = integers | slices | st.none() | st.just(Ellipsis)
shapes = st.lists(st.integers(0, 4), min_size=0, max_size=4).map(tuple)


@settings(max_examples=400, deadline=None)
@given(
    shape=shapes,
    index=st.lists(items, max_size=6).map(tuple) | items,
    write=st.booleans(),
    transposed=st.booleans(),
)
def test_anything_as_numpy_does(shape, index, write, transposed):
    a = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    x = zero.tensor(a)
    if transposed:
        a, x = a.T, x.permute(*reversed(range(x.ndim)))
    try:
        b = a[index]
    except IndexError:
        with pytest.raises(IndexError, match=r"index|select"):
            x[index]
        return
    np.testing.assert_array_equal(x[index].numpy(), b)
    if write:
        a, before = a.copy(), x._version
        a[index] = -5
        x[index] = -5
        np.testing.assert_array_equal(x.numpy(), a)
        assert x._version == before + 1


@settings(max_examples=200, deadline=None)
@given(shape=shapes, data=st.data())
def test_gradients_of_indexing(shape, data):
    index = tuple(data.draw(st.integers(-n, n - 1) | slices if n else slices) for n in shape)
    x = zero.ones(shape, requires_grad=True)
    y = x[index]
    weights = np.arange(1, y.numel() + 1, dtype=np.float32).reshape(tuple(y.shape))
    y.backward(zero.tensor(weights))
    expected = np.zeros(shape, np.float32)
    expected[index] = weights
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_a_named_tuple_is_a_tuple():
    Place = collections.namedtuple("Place", "row column")
    assert zero.arange(6).view(2, 3)[Place(1, 2)].item() == 5
