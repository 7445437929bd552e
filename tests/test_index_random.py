"""Indexing against numpy: values, views, writes, gradients, errors."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

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
        zero.tensor(1, dtype=zero.int8),
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
        (zero.tensor(1.0), IndexError, "not an index"),
        (zero.tensor([1.0]), IndexError, "not an index"),
        ([0.5], IndexError, "not an index"),
        (slice(None, None, -1), ValueError, "step"),
        (slice(None, None, 0), ValueError, "step"),
        (2**70, ValueError, "64 bits"),
        ([0, 1, 3], IndexError, "got 3, expected -3 to 2 for dimension 0 of size 3"),
        ((slice(None), [0, 1], [0]), IndexError, "too many indices"),
        (zero.tensor([[[True]]]), IndexError, "too many indices"),
        (zero.tensor([True, False]), IndexError, "the mask does not fit"),
        (np.ones((3, 3), bool), IndexError, "size 4"),
        ((zero.tensor([0, 1]), zero.tensor([0, 1, 2])), IndexError, "do not broadcast"),
        (zero.tensor([0], device="meta"), RuntimeError, "meta"),
        ({}, IndexError, "type dict"),
    ],
)
def test_errors(index, error, text):
    x = zero.ones(3, 4)
    with pytest.raises(error, match=text):
        x[index]
    with pytest.raises(error, match=text):
        x[index] = 0
    assert x.sum().item() == 12
    assert isinstance(_error(x, index), RuntimeError)


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


# ---- tensors as indices --------------------------------------------------------------------------
def two_steps(a, items):
    """PyTorch's meaning in NumPy's words: ints, slices and None make a view, arrays index that.

    Returns the view and its index, in which all dimensions are spelled out.
    """
    places = [i for i in items if i is not None and i is not Ellipsis]
    used = sum(i.ndim if isinstance(i, np.ndarray) and i.dtype == bool else 1 for i in places)
    first, second = [], []
    for item in items:
        if item is Ellipsis:
            first += [slice(None)] * (a.ndim - used)
            second += [slice(None)] * (a.ndim - used)
        elif isinstance(item, np.ndarray):
            first += [slice(None)] * (item.ndim if item.dtype == bool else 1)
            second.append(item)
        else:
            first.append(item)
            second += [] if isinstance(item, int) else [slice(None)]
    return a[tuple(first)], tuple(second)


@st.composite
def shape_and_arrays(draw):
    """A shape and an index with at least one array: of ints that broadcast together, or a mask."""
    shape = draw(st.sampled_from([(3,), (4, 5), (2, 3, 4), (3, 2, 2, 3), (2, 0, 3)]))
    together = draw(st.sampled_from([(), (1,), (3,), (2, 3)]))
    items, dim, arrays = [], 0, 0
    while dim < len(shape):
        n = shape[dim]
        kinds = ["slice", "none"] + (["int", "array", "array", "array"] if n else []) + ["mask"]
        kind = draw(st.sampled_from(kinds))
        if kind == "none":
            if len(items) < 6:
                items.append(None)
            continue
        covered = 1
        if kind == "slice":
            items.append(
                slice(draw(st.none() | st.integers(-3, 3)), None, draw(st.sampled_from([None, 2])))
            )
        elif kind == "int":
            items.append(draw(st.integers(-n, n - 1)))
        elif kind == "array":
            own = draw(st.sampled_from([together, (1,), together[-1:]]))
            values = draw(
                st.lists(
                    st.integers(-n, n - 1), min_size=int(np.prod(own)), max_size=int(np.prod(own))
                )
            )
            dtype = draw(st.sampled_from([np.int64, np.int32, np.int8]))
            items.append(np.array(values, dtype).reshape(own or (1,)))
            arrays += 1
        else:
            if arrays:  # how many are True would have to fit
                continue
            covered = draw(st.integers(1, min(2, len(shape) - dim)))
            own = shape[dim : dim + covered]
            size = int(np.prod(own))
            values = draw(st.lists(st.booleans(), min_size=size, max_size=size))
            items.append(np.array(values, bool).reshape(own))
            together, arrays = (1,), 1
        dim += covered
        if draw(st.integers(0, 5)) == 0:
            break
    if not arrays:
        items, dim = [np.array([0, -1])], 1
    if draw(st.booleans()):  # what follows it must meet the same sizes
        at = draw(st.integers(0, len(items))) if dim == len(shape) else len(items)
        items.insert(at, Ellipsis)
    return shape, items


def as_tensors(items, form):
    make = {"tensor": zero.tensor, "list": lambda i: i.tolist() if i.size else i, "array": np.array}
    return tuple(make[form](i) if isinstance(i, np.ndarray) else i for i in items)


@settings(max_examples=500, deadline=None)
@given(shape_and_arrays(), st.sampled_from(["tensor", "list", "array"]), st.booleans())
def test_tensors_against_numpy(case, form, transposed):
    shape, items = case
    a = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    w = zero.tensor(a.T.copy() if transposed else a, requires_grad=True)
    x = w.permute(*reversed(range(a.ndim))) if transposed else w
    index = as_tensors(items, form)
    view, places = two_steps(a, items)
    expected = view[places]
    y = x[index]
    assert tuple(y.shape) == expected.shape
    np.testing.assert_array_equal(y.detach().numpy(), expected)
    weights = np.arange(1.0, expected.size + 1).reshape(expected.shape)
    (y * zero.tensor(weights)).sum().backward()
    gradient = np.zeros(shape)
    np.add.at(two_steps(gradient, items)[0], places, weights)
    np.testing.assert_array_equal(w.grad.numpy(), gradient.T if transposed else gradient)


@settings(max_examples=500, deadline=None)
@given(shape_and_arrays(), st.sampled_from(["number", "0-d", "full", "last"]), st.booleans())
def test_tensor_assignment_against_numpy(case, form, through_a_view):
    shape, items = case
    a = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    w = zero.tensor(a, requires_grad=True)
    x = w * 1
    target = x.view(x.shape) if through_a_view else x
    view, places = two_steps(a, items)
    wanted = view[places].shape
    values = np.arange(100.0, 100 + np.prod(wanted)).reshape(wanted)
    if form in ("number", "0-d"):
        values = np.array(7.0)
    elif form == "last":
        values = values[(0,) * (values.ndim - 1)] if values.size else np.array(7.0)
    v = zero.tensor(values, requires_grad=True)
    target[as_tensors(items, "tensor")] = 7.0 if form == "number" else v
    owner = np.full(shape, -1)  # which value stays where
    two_steps(owner, items)[0][places] = np.broadcast_to(
        np.arange(values.size).reshape(values.shape), wanted
    )
    view[places] = values
    np.testing.assert_array_equal(x.detach().numpy(), a)
    weights = np.arange(1.0, a.size + 1).reshape(shape)
    (x * zero.tensor(weights)).sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), np.where(owner < 0, weights, 0))
    if form != "number":
        gradient = np.zeros(values.size)
        np.add.at(gradient, owner[owner >= 0], weights[owner >= 0])
        np.testing.assert_array_equal(v.grad.numpy().ravel(), gradient)


@settings(max_examples=25, deadline=None)
@given(shape_and_arrays())
def test_second_gradients(case):
    shape, items = case
    index = as_tensors(items, "tensor")
    x = zero.tensor(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape), requires_grad=True)
    if x.numel() > 24 or x[index].numel() > 24:
        return

    def write(x, v):
        y = x * x
        y[index] = v * v
        return y

    v = zero.tensor(np.full(tuple(x[index].shape)[-1:], 0.5), requires_grad=True)
    for f, inputs in ((lambda x: x[index] ** 2, (x,)), (write, (x, v))):
        assert zero.autograd.gradcheck(f, inputs)
        assert zero.autograd.gradgradcheck(f, inputs)
