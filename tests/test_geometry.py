"""Views in place, bytes read as another dtype, other sizes, orders in memory, NumPy's names."""

import numpy as np
import pytest

import zero
from zero.errors import ShapeError

# ---- views in place ------------------------------------------------------------------------------
IN_PLACE = {
    "squeeze_": ((), lambda x: x.squeeze()),
    "unsqueeze_": ((1,), lambda x: x.unsqueeze(1)),
    "transpose_": ((0, 2), lambda x: x.transpose(0, 2)),
    "swapaxes_": ((0, 2), lambda x: x.transpose(0, 2)),
    "swapdims_": ((0, 2), lambda x: x.transpose(0, 2)),
    "as_strided_": (((3, 2), (1, 3)), lambda x: x.as_strided((3, 2), (1, 3))),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_views_in_place(name):
    args, view = IN_PLACE[name]
    x = zero.arange(6.0).view(2, 1, 3)
    expected, address, version = view(x), x.data_ptr(), x._version
    assert getattr(x, name)(*args) is x
    assert (x.shape, x.stride(), x.data_ptr()) == (expected.shape, expected.stride(), address)
    assert x.equal(expected) and x._version > version

    leaf = zero.randn(2, 1, 3, requires_grad=True)
    weights = zero.randn(expected.shape)
    result = getattr(leaf * 2, name)(*args)
    assert result.shape == expected.shape
    (result * weights).sum().backward()
    other = leaf.detach().requires_grad_()
    (view(other * 2) * weights).sum().backward()
    assert leaf.grad.equal(other.grad)

    # the same under no_grad, where a result keeps its history
    y = leaf * 2
    with zero.no_grad():
        getattr(y, name)(*args)
    leaf.grad = None
    (y * weights).sum().backward()
    assert leaf.grad.equal(other.grad)

    # of a view: its history goes on through the base
    base = leaf * 2
    part = base.view(2, 1, 3)
    getattr(part, name)(*args)
    leaf.grad = None
    (part * weights).sum().backward()
    assert leaf.grad.equal(other.grad)

    with pytest.raises(RuntimeError, match="a leaf that requires grad"):
        getattr(leaf, name)(*args)
    assert leaf.shape == (2, 1, 3)


def test_transposed_in_place():
    x = zero.arange(6).view(2, 3)
    assert x.t_() is x and x.tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(ShapeError, match="at most 2"):
        zero.ones(2, 2, 2).t_()


def test_write_after_a_view_in_place_reaches_the_base():
    leaf = zero.randn(2, 3, requires_grad=True)
    base = leaf * 1
    part = base[:, :2]
    part.transpose_(0, 1)
    part.mul_(3)
    base.sum().backward()
    assert leaf.grad.tolist() == [[3, 3, 1], [3, 3, 1]]


def test_a_saved_tensor_notices_views_in_place():
    x = zero.randn(2, 3, requires_grad=True) * 1
    y = x * x
    x.t_()
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.sum().backward()


def test_leaf_changes_shape_under_no_grad():
    x = zero.randn(2, 3, requires_grad=True)
    (x * x).sum()
    with zero.no_grad():
        x.t_()
    (x * zero.arange(6.0).view(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 1], [2, 3], [4, 5]]


# ---- windows -------------------------------------------------------------------------------------
def test_unfold_is_a_view():
    x = zero.zeros(5)
    x.unfold(0, 2, 3)[1, 0] = 7
    assert x.tolist() == [0, 0, 0, 7, 0]
    with pytest.raises(RuntimeError, match="share one place"):
        x.unfold(0, 2, 1).add_(1)


# ---- bytes as another dtype ----------------------------------------------------------------------
@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "float16", "float64", "bool"])
def test_view_as_dtype(name):
    values = np.random.default_rng(0).integers(0, 255, (3, 8), np.uint8)
    x = zero.tensor(values).view(zero.float32)
    y = x.view(getattr(zero, name))
    expected = values.view(name)
    assert y.shape == expected.shape and y.data_ptr() == x.data_ptr()
    np.testing.assert_array_equal(y.numpy(), expected)
    assert x.view(dtype=getattr(zero, name)).shape == y.shape


def test_view_as_dtype_errors_and_writes():
    x = zero.zeros(2, 4)
    x.view(zero.int32).fill_(0x3F800000)
    assert (x == 1).all()
    for y, dtype in (
        (x.t(), zero.int8),
        (zero.zeros(2, 3), zero.float64),
        (zero.zeros(5)[1:], zero.float64),
        (zero.zeros(()), zero.int8),
    ):
        with pytest.raises(ShapeError, match="view"):
            y.view(dtype)
    y = zero.ones(2, requires_grad=True)
    assert not y.view(zero.int32).requires_grad
    with pytest.raises(TypeError, match="both"):
        x.view(2, dtype=zero.int8)


# ---- other sizes ---------------------------------------------------------------------------------
def test_resize():
    x = zero.arange(6)
    address = x.data_ptr()
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]] and x.data_ptr() == address
    assert x.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]
    assert x.resize_(8).shape == (8,) and x[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert x.resize_((0, 3)).shape == (0, 3) and x.resize_().shape == ()
    assert zero.ones(2).resize_as_(zero.zeros(1, 2)).shape == (1, 2)
    assert zero.ones(4).resize(2, 2).shape == zero.ones(4).resize_as(zero.ones(2, 2)).shape
    part = zero.arange(6)[4:]
    assert part.resize_(1).tolist() == [4]
    assert part.resize_(5)[:2].tolist() == [4, 5]
    with pytest.raises(RuntimeError, match="requires grad"):
        zero.ones(2, requires_grad=True).resize_(1)
    with pytest.raises(ShapeError, match="negative"):
        zero.ones(2).resize_(-1)
    with pytest.raises(NotImplementedError, match="memory format"):
        zero.ones(1, 1, 1, 1).resize_(1, 1, 1, 2, memory_format=zero.channels_last)


def test_storage():
    x = zero.arange(6, dtype=zero.int16).view(2, 3)
    part = x[1:, 1:]
    for storage in (part.storage(), part.untyped_storage()):
        assert storage.data_ptr() == x.data_ptr() and storage.nbytes() == 12
        assert len(storage) == storage.size() == 12 // storage.element_size()
        assert storage.device.type == "cpu" and not storage.is_shared()
        copy = storage.clone()
        assert copy.tolist() == list(storage) and copy.data_ptr() != storage.data_ptr()
        assert copy.fill_(0).copy_(storage).tolist() == storage.tolist()
    part.storage()[5] = 40
    part.untyped_storage()[0] = 7
    assert x.tolist() == [[7, 1, 2], [3, 4, 40]] and x.storage()[5] == 40
    assert part.storage().untyped().nbytes() == 12 and part.storage().dtype is zero.int16
    assert repr(part.storage()) == "TypedStorage(6 x zero.int16 on cpu)"
    assert repr(part.untyped_storage()) == "UntypedStorage(12 bytes on cpu)"
    y = zero.zeros(1, dtype=zero.int16)
    assert y.set_(x) is y and y.is_set_to(x) and not y.is_set_to(part)
    assert y.set_(x.storage(), 1, (2, 2)).tolist() == [[1, 2], [3, 4]]
    assert y.set_(x.untyped_storage(), 0, (2,), (5,)).tolist() == [7, 40]
    assert y.set_().shape == (0,)
    with pytest.raises(zero.errors.DTypeError, match="int16"):
        y.set_(zero.zeros(1))


def test_strided_creation():
    x = zero.empty_strided((2, 3), (1, 2), dtype=zero.int64)
    assert (x.shape, x.stride(), x.dtype) == ((2, 3), (1, 2), zero.int64)
    y = zero.ones(1, dtype=zero.int8).new_empty_strided((2,), (3,))
    assert (y.stride(), y.dtype) == ((3,), zero.int8)
    assert zero.empty_permuted((2, 3, 4, 5), (0, 2, 3, 1)).is_contiguous(
        memory_format=zero.channels_last
    )
    for call in (
        lambda: zero.empty_strided((2,), (1, 1)),
        lambda: zero.empty_permuted((2, 3), (0, 0)),
    ):
        with pytest.raises(ShapeError):
            call()
    with pytest.raises(ValueError, match="negative"):
        zero.empty_strided((2,), (-1,))


# ---- orders in memory ----------------------------------------------------------------------------
def test_channels_last():
    x = zero.randn(2, 3, 4, 5, requires_grad=True)
    for y in (
        x.contiguous(memory_format=zero.channels_last),
        x.clone(memory_format=zero.channels_last),
        x.to(memory_format=zero.channels_last),
    ):
        assert y.equal(x) and y.stride() == (60, 1, 15, 3)
        assert y.is_contiguous(memory_format=zero.channels_last) and not y.is_contiguous()
        assert y.contiguous(memory_format=zero.channels_last).data_ptr() == y.data_ptr()
        (grad,) = zero.autograd.grad((y * y).sum(), x)
        assert grad.equal(2 * x)
        assert zero.zeros_like(y).stride() == y.stride()
        assert zero.rand_like(y, memory_format=zero.contiguous_format).is_contiguous()
    assert zero.empty(2, 3, 4, 5, memory_format=zero.channels_last).stride() == (60, 1, 15, 3)
    z = zero.ones(1, 2, 3, 4, 5).clone(memory_format=zero.channels_last_3d)
    assert z.stride() == (120, 1, 40, 10, 2)
    assert z.is_contiguous(memory_format=zero.channels_last_3d)
    assert not z.is_contiguous(memory_format=zero.channels_last)
    with pytest.raises(ShapeError, match="as many dimensions"):
        zero.ones(2).contiguous(memory_format=zero.channels_last)
    with pytest.raises(TypeError, match="memory_format"):
        zero.ones(2).clone(memory_format="channels_last")


@pytest.mark.parametrize(
    "name", ["empty_like", "zeros_like", "ones_like", "rand_like", "randn_like", "full_like"]
)
def test_like_keeps_or_changes_the_order(name):
    x = zero.ones(2, 3, 4, 5).permute(1, 0, 3, 2)
    f, more = getattr(zero, name), (7,) if name == "full_like" else ()
    assert f(x, *more).stride() == f(x, *more, memory_format=zero.preserve_format).stride()
    assert f(x, *more).stride() == x.stride()
    assert f(x, *more, memory_format=zero.contiguous_format).is_contiguous()
    last = f(x, *more, memory_format=zero.channels_last)
    assert last.is_contiguous(memory_format=zero.channels_last)


# ---- NumPy's names -------------------------------------------------------------------------------
def test_numpy_names_of_arguments():
    x = zero.arange(6.0).view(1, 6)
    assert x.squeeze(axis=0).shape == (6,)
    assert zero.squeeze(x, axis=0).shape == (6,)
    assert x.unsqueeze(axis=0).shape == (1, 1, 6)
    assert [p.shape for p in zero.chunk(x, 2, axis=1)] == [(1, 3), (1, 3)]
    assert len(zero.unbind(x, axis=1)) == 6
    assert zero.softmax(x, axis=1).sum().item() == pytest.approx(1)
    assert zero.gather(x, axis=1, index=zero.tensor([[2]])).item() == 2
    assert zero.repeat_interleave(x, 2, axis=0).shape == (2, 6)
    assert zero.add(x1=x, x2=x).equal(x + x) and zero.exp(x=x).equal(zero.exp(a=x))
    assert x.sum(axis=1, keepdims=True).shape == (1, 1)
    for call in (
        lambda: x.squeeze(dim=0, axis=0),
        lambda: zero.chunk(x, 2, axes=1),
        lambda: x.unsqueeze(axis=0, dims=1),
        lambda: x.unsqueeze(),
    ):
        with pytest.raises(TypeError):
            call()


# ---- parts ---------------------------------------------------------------------------------------
def test_parts_may_be_written_in_place():
    leaf = zero.ones(4, requires_grad=True)
    for parts in (zero.unsafe_split, zero.unsafe_chunk, zero.tensor_split, zero.hsplit):
        leaf.grad = None
        x = leaf * 1
        first, second = parts(x, 2)
        first.mul_(5)
        x.sum().backward()
        assert leaf.grad.tolist() == [5, 5, 1, 1]
        assert second.data_ptr() != x.data_ptr()


def test_parts_of_a_tensor_of_places():
    x = zero.arange(5)
    assert [p.tolist() for p in x.tensor_split(zero.tensor([1, 3]))] == [[0], [1, 2], [3, 4]]
    assert [p.tolist() for p in x.tensor_split(zero.tensor(2))] == [[0, 1, 2], [3, 4]]
    assert [p.tolist() for p in x.tensor_split(sections=2)] == [[0, 1, 2], [3, 4]]
    assert [p.tolist() for p in x.hsplit(indices=(2,))] == [[0, 1], [2, 3, 4]]
    with pytest.raises(TypeError, match="is needed"):
        zero.tensor_split(x)


def test_copies_share_no_memory():
    x = zero.arange(6.0).view(2, 3)
    for y in (
        zero.alias_copy(x),
        zero.view_copy(x, (3, 2)),
        zero.t_copy(x),
        zero.select_copy(x, 0, 0),
        zero.unbind_copy(x)[0],
        zero.split_copy(x, 1)[0],
        zero.expand_copy(x, (2, 2, 3)),
        zero.squeeze_copy(x),
    ):
        assert y.is_contiguous()
        y.fill_(-1)
        assert x.equal(zero.arange(6.0).view(2, 3))
    outs = [zero.empty(3), zero.empty(0)]
    assert zero.unbind_copy(x, out=outs) == tuple(outs)
    assert outs[0].equal(x[0]) and outs[1].equal(x[1])
    with pytest.raises(TypeError, match="expected a list of 2"):
        zero.unbind_copy(x, out=outs[:1])
    with pytest.raises(ShapeError, match="does not fit"):
        zero.unbind_copy(x, out=[zero.empty(2), zero.empty(3)])


def test_strided_scatter_counts_in_the_input_s_memory():
    whole = zero.arange(24.0)
    x = whole[12:].view(3, 4)
    ones = zero.full((2, 2), 100.0)
    y = zero.as_strided_scatter(x, ones, (2, 2), (1, 2), 14)
    assert y[0].tolist() == [12, 13, 100, 100] and y[1].tolist() == [100, 100, 18, 19]
    y = zero.as_strided_scatter(x.t(), ones, (2, 2), (1, 2))
    assert y.tolist()[0] == [100, 16, 20] and y.tolist()[3] == [100, 19, 23]
    gaps = zero.arange(8.0)[::2]
    y = zero.as_strided_scatter(gaps, zero.zeros(2), (2,), (2,), 2)
    assert y.tolist() == [0, 0, 0, 6]
    assert x.equal(whole[12:].view(3, 4))


# ---- indexing ------------------------------------------------------------------------------------
def test_scatter_gives_the_last_value_its_gradient():
    index = zero.tensor([[0, 1, 1, 0], [2, 2, 2, 2]])
    src = zero.ones(2, 4, requires_grad=True)
    zero.zeros(2, 3).scatter(1, index, src).sum().backward()
    assert src.grad.tolist() == [[0, 0, 1, 1], [0, 0, 0, 1]]
    rows = zero.ones(3, 2, requires_grad=True)
    zero.zeros(2, 2).index_copy(0, zero.tensor([1, 0, 1]), rows).sum().backward()
    assert rows.grad.tolist() == [[0, 0], [1, 1], [1, 1]]


@pytest.mark.parametrize("how", ["prod", "amax", "amin", "mean", "sum"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce_gradients_at_zeros_and_ties(how, include_self):
    x = zero.tensor([0.0, 2.0, 3.0, 1.0], dtype=zero.float64, requires_grad=True)
    src = zero.tensor([4.0, 0.0, 2.0, 3.0, 3.0], dtype=zero.float64, requires_grad=True)
    index = zero.tensor([0, 1, 1, 2, 2])

    def f(x, src):
        return x.scatter_reduce(0, index, src, how, include_self=include_self)

    f(x, src).backward(zero.arange(1.0, 5).double())
    if how == "amax":
        three = (1, 1, 1) if include_self else (0, 1.5, 1.5)
        two = (1, 0, 1) if include_self else (0, 0, 2)
        assert x.grad.tolist() == [0, two[0], three[0], 4]
        assert src.grad.tolist() == [1, two[1], two[2], three[1], three[2]]
    elif how == "prod":
        # x[0] and src[1] are 0: the product of the other factors is their gradient
        own = [4, 0, 3 * 9, 4] if include_self else [0, 0, 0, 4]
        assert x.grad.tolist() == own
        one = 2 if include_self else 1
        three = 3 * 3 * (3 if include_self else 1)
        zero_of = 0 if include_self else 1
        assert src.grad.tolist() == [zero_of, 2 * 2 * one, 0, three, three]


def test_scatter_reduce_of_nan_and_small_integers():
    nan = float("nan")
    x = zero.tensor([0.0, nan, 1.0])
    index, src = zero.tensor([0, 0, 1, 2]), zero.tensor([nan, 5.0, 3.0, -1.0])
    for how in ("amax", "amin"):
        y = zero.scatter_reduce(x, 0, index, src, how)
        assert y.isnan().tolist() == [True, True, False]
    counts = zero.ones(300, dtype=zero.int8)
    y = zero.zeros(1, dtype=zero.int8).scatter_reduce(
        0, zero.zeros(300, dtype=zero.int64), counts, "mean", include_self=False
    )
    assert y.tolist() == [44 // 300]  # the sum wraps as in PyTorch, the count does not


def test_expanded_index_and_source():
    x = zero.zeros(4, 3)
    index = zero.tensor([1, 3, 1]).unsqueeze(1).expand(3, 3)
    src = zero.arange(3.0).expand(3, 3)
    assert x.scatter_add(0, index, src).tolist() == [[0] * 3, [0, 2, 4], [0] * 3, [0, 1, 2]]
    assert x.scatter(0, index, src).tolist() == [[0] * 3, [0, 1, 2], [0] * 3, [0, 1, 2]]
    y = zero.arange(12.0).view(4, 3)
    assert y.gather(0, index).tolist() == [[3, 4, 5], [9, 10, 11], [3, 4, 5]]


def test_a_failed_write_in_place_changes_nothing():
    for call in (
        lambda x, i: x.scatter_(1, i, 1.0),
        lambda x, i: x.scatter_add_(1, i, zero.ones(2, 3)),
        lambda x, i: x.scatter_reduce_(1, i, zero.ones(2, 3), "mean", include_self=False),
        lambda x, i: x.index_fill_(1, i[1], 1.0),
        lambda x, i: x.index_copy_(1, i[1], zero.ones(2, 3)),
        lambda x, i: x.put_(i, zero.ones(2, 3)),
    ):
        x = zero.zeros(2, 3)
        with pytest.raises(IndexError):
            call(x, zero.tensor([[0, 1, 2], [0, 1, 99]]))
        assert (x == 0).all() and x._version == 0


def test_writes_that_read_their_own_memory_are_refused():
    x, i = zero.arange(4.0), zero.tensor([1, 0, 1])
    for call in (
        lambda: x.scatter_add_(0, zero.tensor([1, 2, 3, 0]), x),
        lambda: x.scatter_reduce_(0, zero.tensor([1, 2, 3, 0]), x, "amax"),
        lambda: x.index_copy_(0, zero.tensor([1, 2, 3, 0]), x),
        lambda: x.put_(zero.tensor([1, 2, 3, 0]), x),
        lambda: x.masked_scatter_(x > 1, x),
        lambda: i.index_fill_(0, i, 7),
    ):
        with pytest.raises(RuntimeError, match="the tensor to write to"):
            call()
    assert x.equal(zero.arange(4.0)) and i.tolist() == [1, 0, 1]


def test_long_lists_are_written_in_order_on_any_number_of_threads():
    n = 300_000
    rng = np.random.default_rng(0)
    index, values = rng.integers(0, 1000, n), rng.standard_normal(n).astype(np.float32)
    expected = np.zeros(1000, np.float32)
    expected[index] = values
    results = []
    before = zero.get_num_threads()
    try:
        for threads in (1, 2, 3):
            zero.set_num_threads(threads)
            x = zero.zeros(1000)
            x.scatter_(0, zero.tensor(index), zero.tensor(values))
            np.testing.assert_array_equal(x.numpy(), expected)
            results.append(zero.zeros(1000).scatter_add(0, zero.tensor(index), zero.tensor(values)))
    finally:
        zero.set_num_threads(before)
    assert results[0].equal(results[1]) and results[0].equal(results[2])


@pytest.mark.parametrize("density", [0.0, 0.01, 0.5, 1.0])
def test_nonzero_of_many(density):
    rng = np.random.default_rng(1)
    for shape in ((100_003,), (70, 1001), (4001, 3, 7), (5, 1, 9001), (33, 0)):
        x = rng.random(shape) < density
        np.testing.assert_array_equal(zero.nonzero(zero.tensor(x)).numpy(), np.argwhere(x))
        np.testing.assert_array_equal(
            zero.nonzero(zero.tensor(x.astype(np.float32))).numpy(), np.argwhere(x)
        )
    odd = zero.tensor([2, 0, 255, 128], dtype=zero.uint8).view(zero.bool)
    assert zero.nonzero(odd).tolist() == [[0], [2], [3]]


@pytest.mark.parametrize("name", ["uint8", "int16", "float32", "float64"])
def test_flip_and_roll_of_many_shapes(name):
    rng = np.random.default_rng(2)
    for shape in ((17,), (5, 8), (3, 1, 9), (2, 3, 4, 5), (40000,)):
        a = rng.integers(0, 100, shape).astype(name)
        x = zero.tensor(a)
        for dims in range(1 << len(shape)) if len(shape) < 4 else (0, 5, 10, 15):
            own = tuple(d for d in range(len(shape)) if dims >> d & 1)
            np.testing.assert_array_equal(zero.flip(x, own).numpy(), np.flip(a, own))
            np.testing.assert_array_equal(
                zero.flip(x.transpose(0, -1), own).numpy(), np.flip(a.swapaxes(0, -1), own)
            )
            if own:
                steps = tuple(range(-2, len(own) - 2))
                np.testing.assert_array_equal(
                    zero.roll(x, steps, own).numpy(), np.roll(a, steps, own)
                )
    assert zero.roll(zero.arange(4), (1, 1), (0, 0)).tolist() == [2, 3, 0, 1]


def test_take_along_dim_counts_from_the_end():
    x = zero.arange(6.0).view(2, 3).requires_grad_()
    y = zero.take_along_dim(x, zero.tensor([[-1], [0]]), 1)
    assert y.tolist() == [[2], [3]]
    y.sum().backward()
    assert x.grad.tolist() == [[0, 0, 1], [1, 0, 0]]
    with zero.no_grad():
        assert not zero.take_along_dim(x, zero.tensor([[-1], [0]]), 1).requires_grad
    with pytest.raises(IndexError, match="of size 3"):
        zero.take_along_dim(x, zero.tensor([[-4], [0]]), 1)
    assert zero.gather(x, 1, zero.empty(0, dtype=zero.uint8)).shape == (0,)


def test_second_gradient_of_a_product_with_zeros():
    index = zero.tensor([0, 0, 1, 1])

    def f(x, src):
        return zero.scatter_reduce(x, 0, index, src, "prod")

    x = zero.tensor([0.0, 3.0], dtype=zero.float64, requires_grad=True)
    src = zero.tensor([0.0, 2.0, 0.0, 5.0], dtype=zero.float64, requires_grad=True)
    assert zero.autograd.gradcheck(f, (x, src)) and zero.autograd.gradgradcheck(f, (x, src))
    src = zero.tensor([0.0, 0.0, 1.0, 5.0], dtype=zero.float64, requires_grad=True)
    assert zero.autograd.gradcheck(f, (x, src))
    with pytest.raises(NotImplementedError, match="several values"):
        zero.autograd.gradgradcheck(f, (x, src))


def test_second_gradient_of_strides_outside_the_base():
    base = zero.randn(10, dtype=zero.float64, requires_grad=True)
    part = (base * 1)[5:]
    y = zero.as_strided(part, (2, 2), (1, 2), 0)
    (g,) = zero.autograd.grad((y * y).sum(), base, create_graph=True)
    (gg,) = zero.autograd.grad((g * g).sum(), base)
    assert g.shape == gg.shape == (10,)
