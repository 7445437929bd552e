"""Basic indexing against numpy: values, views, writes, gradients, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zero

SHAPES = [(), (3,), (4, 5), (2, 3, 4), (2, 0, 3)]


@st.composite
def shape_and_index(draw):
    shape = draw(st.sampled_from(SHAPES))
    items = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        slices = st.builds(
            slice,
            st.none() | st.integers(-6, 6),
            st.none() | st.integers(-6, 6),
            st.none() | st.integers(1, 4),
        )
        items.append(draw(slices if size == 0 else slices | st.integers(-size, size - 1)))
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
        used = [i for i in items if i is not None and i is not Ellipsis]
        if len(used) < len(shape):  # what follows the ellipsis meets other sizes
            items = [i if not isinstance(i, int) else slice(i, None) for i in items]
    if len(items) == 1 and draw(st.booleans()):
        return shape, items[0]
    return shape, tuple(items)


@settings(max_examples=400, deadline=None)
@given(shape_and_index())
def test_against_numpy(case):
    shape, index = case
    a = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    x = zero.tensor(a)
    expected = a[index]
    y = x[index]
    assert tuple(y.shape) == expected.shape
    np.testing.assert_array_equal(y.numpy(), expected)
    assert y is not x
    y.fill_(-1)  # y is a view
    if expected.shape == () and not isinstance(expected, np.ndarray):
        a[index] = -1
    else:
        expected[...] = -1
    np.testing.assert_array_equal(x.numpy(), a)


@settings(max_examples=300, deadline=None)
@given(shape_and_index(), st.booleans())
def test_assignment_against_numpy(case, number):
    shape, index = case
    a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    x = zero.tensor(a)
    value = 7.0 if number else np.arange(np.prod(a[index].shape)).reshape(a[index].shape) * -2
    a[index] = value
    x[index] = value if number else zero.tensor(value)
    np.testing.assert_array_equal(x.numpy(), a)


@settings(max_examples=100, deadline=None)
@given(shape_and_index())
def test_gradient(case):
    shape, index = case
    x = zero.tensor(np.ones(shape), requires_grad=True)
    x[index].sum().backward()
    expected = np.zeros(shape)
    expected[index] = 1
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_ints_of_all_kinds():
    x = zero.arange(6).reshape(2, 3)
    for one in (
        1,
        np.int64(1),
        np.uint8(1),
        zero.tensor(1),
        zero.tensor(1, dtype=zero.uint8),
        np.array(1),
    ):
        assert x[one].tolist() == [3, 4, 5]
        assert x[0, one].item() == 1
        assert x[one:].tolist() == [[3, 4, 5]]


def test_assignment_broadcasts_and_casts():
    x = zero.zeros(2, 3)
    x[:, 1] = 5
    x[0] = zero.tensor([1, 2, 3])
    x[1, :2] = zero.tensor(True)
    assert x.tolist() == [[1, 2, 3], [1, 1, 0]]
    x[...] = [7, 8, 9]
    assert x.tolist() == [[7, 8, 9]] * 2
    x[1] = np.ones((1, 1, 3))  # leading dimensions of size 1 are dropped
    assert x.tolist() == [[7, 8, 9], [1, 1, 1]]
    x[()] = zero.zeros(3)
    assert x.sum().item() == 0
    n = zero.zeros(3, dtype=zero.int64)
    n[0] = 2.9
    assert n.tolist() == [2, 0, 0]


def test_augmented_assignment_is_in_place():
    x = zero.ones(2, 3)
    before = x.data_ptr()
    x[0] += 2
    x[:, 1] *= 10
    x[1, 0] -= 1
    assert x.data_ptr() == before and x.tolist() == [[3, 30, 3], [0, 10, 1]]
    w = zero.ones(3, requires_grad=True)
    y = w * 1
    y[0] += 4 * y[1]
    y[2] *= 5
    y.sum().backward()
    assert w.grad.tolist() == [1, 5, 5]


def test_assignment_and_gradients():
    w, v = zero.ones(2, 2, requires_grad=True), zero.ones(2, requires_grad=True)
    y = w * 3
    y[0] = v * 2
    (y * y).sum().backward()
    assert w.grad.tolist() == [[0, 0], [18, 18]] and v.grad.tolist() == [8, 8]


@pytest.mark.parametrize(
    "index, error, text",
    [
        (5, IndexError, "index: out of range; got 5, expected -3 to 2 for dimension 0 of size 3"),
        (-4, IndexError, "got -4"),
        ((0, 4), IndexError, "dimension 1|got 4"),
        ((0, 0, 0), IndexError, r"too many indices; got more than the tensor of shape \(3, 4\)"),
        ((slice(None),) * 3, IndexError, "too many"),
        ((..., ...), IndexError, "ellipsis"),
        (1.0, IndexError, "got 1.0 of type float"),
        ("a", IndexError, "type str"),
        (zero.tensor(1.0), NotImplementedError, "not supported yet"),
        (slice(None, None, -1), ValueError, "step"),
        (slice(None, None, 0), ValueError, "step"),
        (2**70, ValueError, "64 bits"),
        (True, NotImplementedError, "not supported yet"),
        ([0, 1], NotImplementedError, "not supported yet"),
        ((0, [0, 1]), NotImplementedError, "not supported yet"),
        (np.array([0, 1]), NotImplementedError, "not supported yet"),
        (zero.tensor([0, 1]), NotImplementedError, "not supported yet"),
        (zero.tensor([True, False, True]), NotImplementedError, "not supported yet"),
    ],
)
def test_errors(index, error, text):
    x = zero.ones(3, 4)
    with pytest.raises(error, match=text):
        x[index]
    with pytest.raises(error, match=text):
        x[index] = 0
    assert x.sum().item() == 12
    assert issubclass(error, NotImplementedError) or isinstance(_error(x, index), RuntimeError)


def _error(x, index):
    try:
        x[index]
    except Exception as error:
        return error


def test_errors_of_assignment():
    x = zero.zeros(2, 3)
    with pytest.raises(zero.errors.ShapeError):
        x[0] = zero.ones(2)
    with pytest.raises(TypeError):
        x[0] = "a"
    with pytest.raises(RuntimeError, match="leaf"):
        zero.ones(2, requires_grad=True)[0] = 5
    with pytest.raises(IndexError):
        zero.tensor(1.0)[0]
    with pytest.raises(TypeError):
        del x[0]
    assert x.sum().item() == 0
