"""Basic indexing and assignment, as NumPy does it."""

import collections

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

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
    row = zero.tensor([[True, False], [True, True]])[:1]
    row[row] = False  # read and written place by place
    assert row.tolist() == [[False, False]]
    one = zero.ones(1)
    with pytest.raises(RuntimeError, match="shares part of its memory"):
        one[::2] = one  # every other element, if there were more
    nothing, rows = zero.zeros(2, 0), zero.zeros(0, 2)
    with pytest.raises(RuntimeError, match="the tensor to write to"):
        nothing[[1, 0]] = nothing
    for index in ((slice(None), [1, 0]), (slice(0, 1), [1, 0])):  # all of it is it, empty or not
        with pytest.raises(RuntimeError, match="the tensor to write to"):
            rows[index] = rows
    rows[5:, [1, 0]] = rows  # a view of its own, and no place is both read and written


@pytest.mark.parametrize("rows", [0, 2])
def test_a_slice_of_all_of_a_tensor(rows):
    x = zero.ones(rows, 3, dtype=zero.float64, requires_grad=True)
    names = {
        "SliceBackward0": (slice(None), slice(0, rows)),
        "AliasBackward0": (..., (), (slice(None), slice(None)), (slice(0, 5), ...)),
    }
    for name, indices in names.items():
        for index in indices:
            assert x[index].grad_fn.name() == name
    assert x[:, 0].grad_fn.next_functions[0][0].name() == "AccumulateGrad"
    for index in (slice(None), ..., (slice(None), slice(0, 3))):
        y = x.clone()
        y[index] = 2  # writes to y itself, not to a view: nothing is kept for the part
        assert zero.autograd.grad(y.sum(), x)[0].tolist() == [[0.0] * 3] * rows
        (y * y).sum().backward()
        y = x.clone()
        y[index] = zero.zeros(3, dtype=zero.float64)
        assert y.grad_fn.name() == "CopyBackwards"
    g = zero.autograd.grad(x[:].sum(), x)[0]
    g.clamp_(0, 1)  # memory of its own


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


# ---- tensors, arrays, lists and bools as indices -------------------------------------------------
T = zero.tensor
ADVANCED = [
    T([0, 2]),
    T([-1, 0, -4]),
    T([[0, 1], [2, 3]]),
    T([3], dtype=zero.int8),
    T([3, 3], dtype=zero.int16),
    T([0, 1], dtype=zero.int32),
    [0, 2],
    [],
    [True, False, False, True],
    (0, [1, 2]),
    range(3),
    np.array([1, 1]),
    np.array([[True, False, True]] * 4),
    T([False] * 4),
    (T([0, 1]), T([2, 0])),
    (T([[0], [1]]), T([2, 0])),
    (T([0, 1]), slice(None), T([4, 0])),
    (slice(None), T([0, 1])),
    (slice(None), T([0, 1]), T([4, 4])),
    (slice(1, 3), T([0, 2]), slice(None, None, 2)),
    (Ellipsis, T([0, -1])),
    (T([0, 1]), Ellipsis, T([0, 1])),
    (None, T([0, 1])),
    (T([0, 1]), None),
    (slice(None), None, T([[0, 1]])),
    (T([True, False, True, False]), slice(None), T([1, 2])),
    (slice(None), T([[True, False, True, False, True]] * 3)),
    (T([0, 1]), T([True, False, True])),
    (T([[0, 1, 2]]), slice(1, None), [[0], [4]]),
    (T([], dtype=zero.int64),),
]


def to_numpy(index):
    if isinstance(index, tuple):
        return tuple(to_numpy(i) for i in index)
    if isinstance(index, list) and not index:
        return np.zeros(0, int)
    return index.numpy() if isinstance(index, zero.Tensor) else index


@pytest.mark.parametrize("index", ADVANCED, ids=repr)
def test_advanced_reads_and_writes(index):
    x, a = pair()
    i = to_numpy(index)
    y = x[index]
    np.testing.assert_array_equal(y.numpy(), a[i])
    assert y.is_contiguous() and x._version == 0
    y.fill_(-1)  # a copy
    np.testing.assert_array_equal(x.numpy(), a)
    shape = a[i].shape
    values = np.arange(100, 100 + int(np.prod(shape)), dtype=np.float32).reshape(shape)
    for value in (7, values, values[..., :1], values[None, None], values.astype(np.int64)):
        x[index] = zero.tensor(value) if isinstance(value, np.ndarray) else value
        a[i] = value
        np.testing.assert_array_equal(x.numpy(), a)
    assert x._version == 5


@pytest.mark.parametrize("index", ADVANCED, ids=repr)
@pytest.mark.parametrize("layout", ["transposed", "step"])
def test_advanced_indexing_of_strided_tensors(index, layout):
    _, a = pair()
    if layout == "transposed":
        x = zero.tensor(a.transpose(2, 1, 0).copy()).permute(2, 1, 0)
    else:
        x = zero.zeros(8, 3, 10)[::2, :, ::2].copy_(zero.tensor(a))
    assert not x.is_contiguous()
    i = to_numpy(index)
    np.testing.assert_array_equal(x[index].numpy(), a[i])
    x[index] = x[index] * -2
    a[i] *= -2
    np.testing.assert_array_equal(x.numpy(), a)


def test_bools_add_a_dimension():
    x = zero.arange(6).view(2, 3)
    for true in (True, T(True), T(1, dtype=zero.uint8), np.bool_(True), np.array(True)):
        assert x[true].tolist() == [x.tolist()]
        assert x[0, true].tolist() == [[0, 1, 2]]
        assert x[:, true].shape == (2, 1, 3)
        assert x[true, T([1, 0])].tolist() == [[3, 4, 5], [0, 1, 2]]
    for false in (False, T(False), T(0, dtype=zero.uint8), np.bool_(False)):
        assert x[false].shape == (0, 2, 3) and x[:, false].shape == (2, 0, 3)
        assert x[false, True].shape == (0, 2, 3)
        x[false] = 9
        x[0, false] = zero.ones(3, dtype=zero.int64)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and T(5)[True].tolist() == [5]
    x[True] = 1
    x[0, T(True)] = T([7, 8, 9])
    assert x.tolist() == [[7, 8, 9], [1, 1, 1]]


def test_uint8_is_a_mask():
    x = zero.arange(6).view(2, 3)
    assert x[T([0, 2], dtype=zero.uint8)].tolist() == [[3, 4, 5]]
    x[T([[1, 0, 1], [0, 255, 0]], dtype=zero.uint8)] = 0
    assert x.tolist() == [[0, 1, 0], [3, 0, 5]]


def test_a_list_of_lists_is_a_tuple():
    x = zero.arange(6).view(2, 3)
    with pytest.warns(UserWarning, match="tuple"):
        assert x[[[0, 1], [1, 2]]].tolist() == [1, 5]
    with pytest.warns(UserWarning, match="tuple"):
        assert x[[slice(None), 0]].tolist() == [0, 3]


def test_ints_beside_tensors_select_first():
    """As in PyTorch, unlike NumPy: an int makes a view, then tensors index that."""
    x = zero.arange(120).view(2, 3, 4, 5)
    i = T([0, 1])
    assert x[0, :, i].shape == (3, 2, 5) and x[:, i, 0].shape == (2, 2, 5)
    assert x[T(0), :, i].shape == (3, 2, 5) and x[i, :, 0].shape == (2, 3, 5)
    assert x[i, 1].tolist() == x[:, 1][i].tolist()


def test_the_last_of_several_values_stays():
    x = zero.zeros(3, 2)
    x[T([0, 2, 0])] = T([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert x.tolist() == [[5, 6], [0, 0], [3, 4]]
    big = zero.zeros(1000)
    i = zero.randint(0, 1000, (100_000,))
    values = zero.arange(100_000, dtype=zero.float32)
    big[i] = values
    expected = np.zeros(1000, np.float32)
    expected[i.numpy()] = values.numpy()
    np.testing.assert_array_equal(big.numpy(), expected)


def test_only_values_that_stay_have_a_gradient():
    x, v = zero.zeros(3, requires_grad=True), zero.ones(4, requires_grad=True)
    y = x * 1
    y[T([0, 2, 0, 1])] = v
    (y * T([1.0, 2.0, 3.0])).sum().backward()
    assert v.grad.tolist() == [0, 3, 1, 2] and x.grad.tolist() == [0, 0, 0]


def test_writes_that_read_their_own_memory():
    def refused(write, *values):
        x = T(*values)
        with pytest.raises(RuntimeError, match=r"expected a clone\(\) of it"):
            write(x)
        assert zero.equal(x, T(*values))  # nothing was written

    six = list(range(6))
    all_six, back = T(six), T(six[::-1])
    for write in (
        lambda x: x.__setitem__(back, x),
        lambda x: x.__setitem__(T([0, 1, 2]), x[3:]),
        lambda x: x.__setitem__(x, 7),
        lambda x: x.__setitem__(x, back),
        lambda x: x.__setitem__(x > 2, x[:3]),
        lambda x: x.__setitem__(slice(0, 2), x[1:3]),
        lambda x: x.index_put_((back,), x),
        lambda x: x.index_put_((back,), x, accumulate=True),
        lambda x: x.index_add_(0, back, x),
        lambda x: x.index_add_(0, x, all_six),
        lambda x: x.index_copy_(0, back, x),
        lambda x: x.index_fill_(0, x, 1),
        lambda x: x.scatter_(0, back, x),
        lambda x: x.scatter_(0, x, 1),
        lambda x: x.scatter_add_(0, back, x),
    ):
        refused(write, six)
    refused(lambda x: x.copy_(x.t()), [[0, 1], [2, 3]])
    refused(lambda m: m.__setitem__(m, T([False, True])), [True, False, True])
    refused(lambda m: m[1:].masked_fill_(m[:-1], False), [True, False, True])
    # One number for the places of a mask is written element by element.
    m = T([True, False])
    m[m] = False
    assert m.tolist() == [False, False]
    # Of memory with gaps nobody looks which elements meet: the values are copied first.
    x = T([[0, 1], [2, 3]])
    x[:, T([0])] = x[:, 1:]
    assert x.tolist() == [[1, 1], [3, 3]]
    x = zero.arange(3)
    assert x.index_put((T([2, 1, 0]),), x).tolist() == [2, 1, 0]  # a new tensor may
    x.copy_(x)
    assert x.tolist() == [0, 1, 2]


def test_an_index_of_nothing_is_not_looked_at():
    x = zero.ones(3, 1)
    assert x[1:1, [5]].shape == (0, 1)
    x[1:1, [5]] = 2.0
    assert x[1:1].index_add(1, T([5]), zero.ones(0, 1)).shape == (0, 1)
    assert x[1:1].index_fill(1, T([5]), 1).shape == (0, 1)
    assert zero.ones(3, 0)[[5]].shape == (1, 0)
    w = zero.ones(3, 0, requires_grad=True)
    w[[5]].sum().backward()
    assert w.grad.shape == (3, 0)
    for empty, index in ((x[:0], [5]), (zero.ones(0), [0])):
        with pytest.raises(IndexError):
            empty[index]
    with pytest.raises(IndexError):
        x[1:1].index_select(1, T([5]))


def test_masks_and_numbers():
    x = T([[1.0, -2.0], [-3.0, 4.0]])
    x[x < 0] = 0
    assert x.tolist() == [[1, 0], [0, 4]]
    x[T([True, False])] = 5.9
    x[:, T([False, True])] = True
    assert x[0, 0].item() == T(5.9).item() and x[:, 1].tolist() == [1, 1]
    n = zero.zeros(2, dtype=zero.int64)
    n[n == 0] = 2.9
    assert n.tolist() == [2, 2]
    x[x > 100] = zero.ones(0)
    x[x > 100] = 1
    with pytest.raises(zero.errors.ShapeError, match=r"got \(2,\)"):
        x[x > 0] = zero.ones(2)


def test_history_of_writes():
    for index in (T([0, 2]), T([True, False, True]), [0, 2], (T([0, 2]),)):
        for value in (3.0, T(3.0)):
            w = zero.ones(3, requires_grad=True)
            y = w * 2
            y[index] = value
            assert y.grad_fn.name() in ("IndexPutBackward0", "MaskedFillBackward0")
            (y * y).sum().backward()
            assert w.grad.tolist() == [0, 8, 0]
    w, v = zero.ones(2, 3, requires_grad=True), zero.ones(2, requires_grad=True)
    y = w * 2
    y[0][T([0, 2])] = v * 3  # through a view
    assert y.grad_fn.name() == "CopySlices"
    (y * y).sum().backward()
    assert w.grad.tolist() == [[0, 8, 0], [8, 8, 8]] and v.grad.tolist() == [18, 18]
    with pytest.raises(RuntimeError, match="leaf"):
        w[T([0])] = 1
    with pytest.raises(RuntimeError, match="leaf"):
        w[w > 0] = 1
    assert w.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_an_index_may_change_after_its_use():
    w, i = zero.ones(3, requires_grad=True), T([0, 0, 2])
    y = w[i]
    i.fill_(1)
    y.sum().backward()
    assert w.grad.tolist() == [2, 0, 1]


def test_augmented_assignment_adds_once():
    x = zero.zeros(3)
    x[T([0, 0, 1])] += 1
    assert x.tolist() == [1, 1, 0]


def test_gradients_of_repeated_places():
    x = zero.tensor([[0.0, 1.0], [2.0, 3.0]], requires_grad=True)
    x[T([1, 1, 0]), T([1, 1, 0])].sum().backward()
    assert x.grad.tolist() == [[1, 0], [0, 2]]
    table = zero.zeros(5, 3, dtype=zero.bfloat16, requires_grad=True)
    table[zero.zeros(1000, dtype=zero.int64)].sum().backward()  # not rounded at 256
    assert table.grad[0].tolist() == [1000, 1000, 1000] and table.grad[1:].sum().item() == 0


OUT_OF_RANGE = [
    (T([0, 4]), "got 4, expected -4 to 3 for dimension 0 of size 4"),
    ([-5], "got -5, expected -4 to 3 for dimension 0 of size 4"),
    ((slice(None), T([0, 1]), T([5, 9])), "got 5, expected -5 to 4 for dimension 2 of size 5"),
    ((T([0] * 50_000 + [7]), T([1])), "got 7, expected -4 to 3 for dimension 0 of size 4"),
]


@pytest.mark.parametrize("index, text", OUT_OF_RANGE, ids=range(len(OUT_OF_RANGE)))
def test_out_of_range(index, text):
    x, a = pair()
    for f in (lambda: x[index], lambda: x.__setitem__(index, 1)):
        with pytest.raises(IndexError, match=f"index: out of range; {text}"):
            f()
    np.testing.assert_array_equal(x.numpy(), a)
    assert x._version == 0


def test_out_of_range_of_nothing():
    assert zero.zeros(0, 3)[:, T([0, 1])].shape == (0, 2)
    assert zero.zeros(0, 3)[[]].shape == (0, 3)
    with pytest.raises(IndexError, match="size 0"):
        zero.zeros(0, 3)[T([0])]


def test_indices_on_meta():
    x = zero.zeros(4, 3, device="meta", requires_grad=True)
    for i in (T([0, 9]), T([0, 1], device="meta")[:2], [1, 2]):
        if isinstance(i, zero.Tensor) and i.device.type == "cpu":
            with pytest.raises(IndexError):
                x[i]
            i = i % 4
        y = x[i, :2]
        assert (y.shape, y.device.type) == ((2, 2), "meta")
        (g,) = zero.autograd.grad(y.sum(), x)
        assert (g.shape, g.device.type) == ((4, 3), "meta")
        z = x * 1
        z[i] = 1
        z[:, i] = zero.ones(2, device="meta")
    with pytest.raises(NotImplementedError, match="depends on values"):
        x[zero.zeros(4, dtype=zero.bool, device="meta")]
    with pytest.raises(RuntimeError, match="devices differ"):
        zero.zeros(4)[T([0], device="meta")]


def test_rows_of_all_item_sizes():
    """Rows are copied as bytes, whatever they hold."""
    i = T([3, 0, 3])
    for dtype in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"):
        x = (zero.arange(20).view(4, 5) % 2).to(getattr(zero, dtype))
        assert x[i].tolist() == [x[k].tolist() for k in (3, 0, 3)]
        x[i] = x[T([0, 1, 2])]
        assert x[3].tolist() == x[2].tolist()


def test_mini_batches_cover_the_data():
    data, perm = zero.arange(1000 * 7).view(1000, 7), zero.randperm(1000)
    batches = zero.cat([data[perm[i : i + 64]] for i in range(0, 1000, 64)])
    assert sorted(batches[:, 0].tolist()) == list(range(0, 7000, 7))


def test_functions_that_select():
    x = zero.arange(6).view(2, 3)
    assert [t.tolist() for t in zero.where(x > 3)] == [[1, 1], [1, 2]]
    assert [t.tolist() for t in x.nonzero(as_tuple=True)] == [[0, 0, 1, 1, 1], [1, 2, 0, 1, 2]]
    assert zero.nonzero(T(5)).shape == (1, 0) and zero.nonzero(T(0)).shape == (0, 0)
    assert [t.tolist() for t in zero.nonzero(T(5), as_tuple=True)] == [[0]]
    assert x.scatter(0, T([[0, 1]]), value=7).tolist() == [[7, 1, 2], [3, 7, 5]]
    assert x.scatter(0, T([[0, 0]]), 7, reduce="add").tolist() == [[7, 8, 2], [3, 4, 5]]
    assert zero.index_select(T(5), 0, T(0)).item() == 5
    assert x.scatter(0, T([[0, 1]]), 7, reduce="multiply").tolist() == [[0, 1, 2], [3, 28, 5]]
    with pytest.raises(ValueError, match="divide"):
        x.scatter(0, T([[0, 1]]), 7, reduce="divide")
    with pytest.raises(NotImplementedError, match="sparse"):
        zero.gather(x, 0, T([[0]]), sparse_grad=True)
    with pytest.raises(TypeError, match="both"):
        x.scatter(0, T([[0]]), 1, value=2)
    y = zero.zeros(4)
    assert y.index_put_((T([1]),), T(2.0)) is y and y.masked_fill_(y == 0, 3) is y
    assert y.tolist() == [3, 2, 3, 3]


def test_sources_larger_than_the_index():
    s = zero.ones(4, requires_grad=True)
    zero.zeros(3).scatter_add(0, T([0, 1]), s).sum().backward()
    assert s.grad.tolist() == [1, 1, 0, 0]
    s = zero.ones(3, 4, requires_grad=True)
    zero.zeros(3, 4).scatter(1, T([[0, 1], [0, 0]]), s).sum().backward()
    assert s.grad.tolist() == [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


def test_accumulation_gives_the_same_bits_on_any_number_of_threads():
    i = zero.randint(0, 50, (5000,))
    rows = zero.randn(5000, 300)
    before = zero.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3, 7):
            zero.set_num_threads(threads)
            y = zero.zeros(50, 300).index_add_(0, i, rows)
            z = zero.zeros(300, 50).index_add_(1, i, rows.T)
            flat = zero.zeros(50).scatter_add_(0, i, rows[:, 0])
            results.append([t.contiguous().numpy().tobytes() for t in (y, z.T, flat)])
    finally:
        zero.set_num_threads(before)
    assert all(r == results[0] for r in results) and results[0][0] == results[0][1]


def test_leading_ones_of_the_values_are_dropped_before_memory_is_compared():
    x = zero.zeros(1, 0)
    x[T([0]), 0:0] = x  # as (0,), without elements, it shares none
    full = zero.ones(1, 2)
    with pytest.raises(RuntimeError, match="memory"):
        full[T([0]), 0:2] = full
    empty = zero.zeros(2, 0)
    with pytest.raises(RuntimeError, match="the tensor to write to"):
        empty[T([1, 0]), :] = empty
    empty[T([1, 0]), :-1] = empty  # a slice, and not all of it
    y = zero.zeros(2, 2)
    y[T([0])] = zero.full((1, 1, 1, 2), 3.0)
    y[T([1, 1])] = zero.full((1, 1, 1), 4.0)
    assert y.tolist() == [[3, 3], [4, 4]]
    v = zero.ones(1, 1, 2, requires_grad=True)
    z = zero.zeros(2, 2)
    z[T([0, 1])] = v
    z.sum().backward()
    assert v.grad.tolist() == [[[2, 2]]]
