"""Arguments and names that PyTorch's functions take everywhere: NumPy's names, layouts, formats."""

import math
import warnings

import numpy as np
import pytest

import zero
from zero.errors import DTypeError, ShapeError

x = zero.tensor([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])


# ---- NumPy's names of arguments ------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("aminmax", ()),
        ("diff", ()),
        ("nanmean", ()),
        ("quantile", (0.5,)),
        ("nanquantile", (0.5,)),
        ("std_mean", ()),
        ("var_mean", ()),
        ("split_with_sizes", ([1, 2],)),
        ("tensor_split", (3,)),
        ("unsafe_chunk", (3,)),
        ("unbind_copy", ()),
        ("squeeze_copy", ()),
        ("cumsum", ()),
        ("argmax", ()),
        ("logsumexp", ()),
        ("trapezoid", ()),
        ("cumulative_trapezoid", ()),
    ],
)
def test_axis(name, args):
    f = getattr(zero, name)
    results, expected = f(x, *args, axis=1), f(x, *args, dim=1)
    if isinstance(results, zero.Tensor):
        results, expected = [results], [expected]
    for r, e in zip(results, expected, strict=True):
        assert zero.equal(r, e)
    if hasattr(zero.Tensor, name):
        getattr(x, name)(*args, axis=1)
    with pytest.raises(TypeError):
        f(x, *args, dim=1, axis=1)


@pytest.mark.parametrize("name", ["var_mean", "std_mean", "aminmax"])
def test_keepdims(name):
    for y in getattr(zero, name)(x=x, axis=1, keepdims=True):
        assert y.shape == (2, 1)


def test_x_stays_what_a_function_calls_so():
    y = zero.tensor([1.0, 1.0])
    assert zero.trapezoid(y, x=zero.tensor([0.0, 3.0])).item() == 3
    assert zero.rsub(y, x2=3).tolist() == [2, 2]


# ---- layout, memory_format -----------------------------------------------------------------------
CREATE = {
    "zeros": (2,),
    "ones": (2,),
    "empty": (2,),
    "full": ((2,), 3),
    "scalar_tensor": (3,),
    "arange": (3,),
    "linspace": (0, 1, 3),
    "logspace": (0, 1, 3),
    "eye": (3,),
    "rand": (2,),
    "randn": (2,),
    "randint": (0, 5, (2,)),
    "randperm": (3,),
    "normal": (0.0, 1.0, (2,)),
    "empty_like": (x,),
    "zeros_like": (x,),
    "ones_like": (x,),
    "full_like": (x, 3),
    "rand_like": (x,),
    "randn_like": (x,),
    "randint_like": (x, 5),
    "Tensor.new_tensor": (x, [1.0]),
    "Tensor.new_empty": (x, (2,)),
    "Tensor.new_zeros": (x, (2,)),
    "Tensor.new_ones": (x, (2,)),
    "Tensor.new_full": (x, (2,), 3),
    "hann_window": (4,),
    "kaiser_window": (4,),
}


@pytest.mark.parametrize("name", CREATE)
def test_layout(name):
    home = zero.Tensor if name.startswith("Tensor.") else zero
    f, args = getattr(home, name.split(".")[-1]), CREATE[name]
    plain = f(*args)
    y = f(*args, layout=zero.strided, pin_memory=False)
    assert y.shape == plain.shape and y.dtype is plain.dtype
    with pytest.raises(NotImplementedError, match="layout"):
        f(*args, layout="sparse_coo")


def test_new_tensors_take_their_size_by_name():
    for f in (x.new_empty, x.new_zeros, x.new_ones):
        assert f(size=(2, 3)).shape == f(2, 3).shape == (2, 3)
        with pytest.raises(TypeError, match="twice"):
            f(2, size=(2,))
    assert x.sum_to_size(size=(1, 3)).tolist() == [[9, 6, 6]]


@pytest.mark.parametrize("name", "float double half bfloat16 int long short bool char byte".split())
def test_casts_take_a_memory_format(name):
    cast = getattr(x.t(), name)
    assert cast().stride() == cast(memory_format=zero.preserve_format).stride() == (1, 3)
    assert cast(memory_format=zero.contiguous_format).stride() == (2, 1)
    image = getattr(zero.ones(2, 3, 4, 5), name)(memory_format=zero.channels_last)
    assert image.stride() == (60, 1, 15, 3)
    with pytest.raises(TypeError, match=name):
        cast(memory_format="contiguous")


# ---- what is an int ------------------------------------------------------------------------------
def test_a_bool_tensor_is_no_size_and_no_place():
    one = zero.tensor(1)
    assert zero.narrow(x, 1, one, 2).tolist() == [[1, 2], [5, 4]]
    for wrong in (zero.tensor(True), zero.tensor(1.0)):
        with pytest.raises(TypeError, match="narrow"):
            zero.narrow(x, 1, wrong, 2)
        with pytest.raises(TypeError, match="sum"):
            zero.sum(x, wrong)


# ---- windows -------------------------------------------------------------------------------------
WINDOWS = {
    "bartlett_window": (np.bartlett, ()),
    "blackman_window": (np.blackman, ()),
    "hamming_window": (np.hamming, ()),
    "hann_window": (np.hanning, ()),
    "kaiser_window": (lambda n: np.kaiser(n, 12.0), ()),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("length", [0, 1, 2, 7, 64])
@pytest.mark.parametrize("dtype", [zero.float64, zero.float32, zero.bfloat16])
def test_windows(name, length, dtype):
    f, (ref, _) = getattr(zero, name), WINDOWS[name]
    tol = 4 * zero.finfo(dtype).eps
    y = f(length, periodic=False, dtype=dtype)
    assert y.dtype is dtype and y.shape == (length,)
    np.testing.assert_allclose(y.double().numpy(), ref(length), atol=tol, rtol=tol)
    periodic = f(length, dtype=dtype).double().numpy()
    expected = ref(length + 1)[:-1] if length > 1 else np.ones(length)
    np.testing.assert_allclose(periodic, expected, atol=tol, rtol=tol)


def test_windows_more():
    assert zero.hamming_window(4, True, 0.5, 0.3).tolist() == pytest.approx([0.2, 0.5, 0.8, 0.5])
    np.testing.assert_allclose(zero.kaiser_window(9, False, 3.0).numpy(), np.kaiser(9, 3), 1e-6)
    assert zero.kaiser_window(5, False, 5000.0).isfinite().all()  # where I_0 itself overflows
    assert zero.hann_window(3, requires_grad=True).requires_grad
    assert zero.hann_window(3, device="meta").shape == (3,)
    with pytest.raises(ValueError, match="negative"):
        zero.hann_window(-1)
    with pytest.raises(DTypeError, match="floats"):
        zero.hann_window(3, dtype=zero.int64)


# ---- rarer functions -----------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("n", [None, 0, 1, 2, 5])
@pytest.mark.parametrize("increasing", [False, True])
def test_vander(dtype, n, increasing):
    a = np.array([1, 0, 3]).astype(dtype)
    y = zero.vander(zero.from_numpy(a), n, increasing)
    wide = a if a.dtype.kind == "f" else a.astype("int64")
    np.testing.assert_array_equal(y.numpy(), np.vander(wide, n, increasing))
    assert y.dtype is (zero.from_numpy(a).dtype if a.dtype.kind == "f" else zero.int64)


def test_vander_more():
    zero.autograd.gradcheck(zero.vander, (zero.tensor([1.5, -2.0], dtype=zero.float64,
                                                      requires_grad=True), 4))  # fmt: skip
    with pytest.raises(ShapeError, match="1-d"):
        zero.vander(x)
    with pytest.raises(ValueError, match="negative"):
        zero.vander(x[0], -1)


def test_frombuffer():
    memory = bytearray(np.arange(6, dtype="<i2").tobytes())
    y = zero.frombuffer(memory, dtype=zero.int16)
    assert y.tolist() == [0, 1, 2, 3, 4, 5]
    y[0] = 9
    assert memory[0] == 9
    assert zero.frombuffer(memory, dtype=zero.int16, count=2, offset=4).tolist() == [2, 3]
    halves = zero.ones(3, dtype=zero.bfloat16)
    raw = bytearray(halves.view(zero.uint8).numpy().tobytes())
    assert zero.equal(zero.frombuffer(raw, dtype=zero.bfloat16), halves)
    assert zero.frombuffer(np.eye(2), dtype=zero.float64, requires_grad=True).requires_grad
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert zero.frombuffer(b"abc", dtype=zero.uint8).tolist() == [97, 98, 99]
    assert "frombuffer" in str(caught[0].message)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"offset": 12}, "offset"),
        ({"offset": -1}, "offset"),
        ({"offset": 3}, "left over"),
        ({"count": 0}, "count"),
        ({"count": 7}, "count"),
        ({"count": 2**62}, "count"),
        ({"offset": 1, "count": 2}, "aligned"),
    ],
)
def test_frombuffer_refuses(given, text):
    with pytest.raises(ValueError, match=text):
        zero.frombuffer(bytearray(12), dtype=zero.int16, **given)


def test_frombuffer_refuses_what_has_no_buffer():
    with pytest.raises(TypeError, match="frombuffer"):
        zero.frombuffer([1, 2], dtype=zero.int16)
    with pytest.raises(TypeError, match="frombuffer"):
        zero.frombuffer(np.zeros((4, 4))[:, ::2], dtype=zero.float64)
    with pytest.raises(ValueError, match="offset"):
        zero.frombuffer(bytearray(), dtype=zero.int16)


def test_functions_of_python():
    y = zero.tensor([1.0, 4.0])
    assert y.apply_(math.sqrt) is y and y.tolist() == [1, 2]
    assert zero.arange(4).view(2, 2).t().apply_(lambda v: v * 2).tolist() == [[0, 4], [2, 6]]
    assert zero.arange(3).map_(zero.tensor(5), lambda a, b: a * b).tolist() == [0, 5, 10]
    three = zero.arange(3).map2_(zero.tensor([5, 6, 7]), zero.tensor(1), lambda a, b, c: a * b + c)
    assert three.tolist() == [1, 7, 15]
    assert zero.empty(0).apply_(math.sqrt).shape == (0,)
    with pytest.raises(RuntimeError, match="requires a gradient"):
        zero.ones(2, requires_grad=True).apply_(math.sqrt)
    with pytest.raises(DTypeError, match="map_"):
        zero.arange(3).map_(zero.ones(3), lambda a, b: a)
    y = zero.ones(2)
    with pytest.raises(ZeroDivisionError):
        y.apply_(lambda v: v / 0)
    assert y.tolist() == [1, 1]


def test_reversed_and_zero():
    assert reversed(x).tolist() == [[6, 5, 4], [3, 1, 2]]
    assert reversed(zero.tensor(3)).item() == 3
    y = zero.ones(2)
    assert zero.zero_(y) is y and y.tolist() == [0, 0]


# ---- kinds that the operator entries don't reach -------------------------------------------------
def test_addr_of_bools_is_logic():
    a, b = zero.tensor([True, False]), zero.tensor([True, True])
    base = zero.tensor([[False, True], [False, True]])
    for beta, alpha in ((1, 1), (3, 2), (0, 2), (3, 0), (True, True)):
        y = zero.addr(base, a, b, beta=beta, alpha=alpha)
        expected = base.numpy() & (beta != 0) | np.outer(a, b) & (alpha != 0)
        assert y.dtype is zero.bool
        np.testing.assert_array_equal(y.numpy(), expected)


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_gradient_of_an_empty_product_has_a_history(dim):
    y = zero.ones(0, 3, dtype=zero.float64, requires_grad=True)
    total = zero.prod(y) if dim is None else zero.prod(y, dim)
    (g,) = zero.autograd.grad(total.sum(), y, create_graph=True)
    assert g.shape == (0, 3) and g.requires_grad
    (gg,) = zero.autograd.grad(g.sum(), y)
    assert gg.shape == (0, 3)


@pytest.mark.parametrize("dtype", [zero.float16, zero.bfloat16])
@pytest.mark.parametrize("p", [3, 4, 0.5, -2])
def test_powers_of_a_norm_do_not_overflow_in_half_precision(dtype, p):
    y = zero.tensor([[9.0, 40.0, 3.0]] * 4, dtype=dtype, requires_grad=True)
    r = zero.norm(y, p)
    assert r.dtype is dtype
    expected = (np.abs(y.detach().double().numpy()) ** p).sum() ** (1 / p)
    assert r.item() == pytest.approx(expected, rel=zero.finfo(dtype).eps)
    r.backward()
    wide = y.detach().double().requires_grad_()
    zero.norm(wide, p).backward()
    np.testing.assert_allclose(
        y.grad.double().numpy(), wide.grad.numpy(), rtol=4 * zero.finfo(dtype).eps
    )


def test_arithmetic_of_two_numbers_gives_a_tensor():
    for f, a, b, dtype, value in (
        (zero.add, 1.5, 2.5, zero.float32, 4),
        (zero.add, 3, 2, zero.int64, 5),
        (zero.add, True, True, zero.bool, True),
        (zero.add, True, 2.5, zero.float32, 3.5),
        (zero.sub, 3, 2.0, zero.float32, 1),
        (zero.mul, 3, 2, zero.int64, 6),
        (zero.div, 3, 2, zero.float32, 1.5),
        (zero.true_divide, True, 2, zero.float32, 0.5),
        (zero.floor_divide, 7, 2, zero.int64, 3),
        (zero.floor_divide, 7, 2.0, zero.float32, 3),
    ):
        y = f(a, b)
        assert (y.shape, y.dtype, y.item()) == ((), dtype, value)
    assert zero.add(1, 2, alpha=3).item() == 7
    assert zero.div(7, 2, rounding_mode="trunc").dtype is zero.int64
    for f in (zero.add, zero.sub, zero.mul, zero.div, zero.floor_divide):
        with pytest.raises(TypeError, match=f.__name__):
            f("1", 2)
    with pytest.raises(TypeError, match="pow"):
        zero.pow(2, 3)


def test_einsum_of_one_operand_sums_integers_as_sum_does():
    y = zero.full((2, 3), 100, dtype=zero.uint8)
    assert zero.einsum("ij->", y).dtype is zero.int64 and zero.einsum("ij->", y).item() == 600
    assert zero.einsum("ij->ji", y).dtype is zero.uint8
    assert zero.einsum("ij,kj->ik", y, y).dtype is zero.uint8


def test_cartesian_prod_of_one_tensor_is_that_tensor():
    assert zero.cartesian_prod(x[0]).tolist() == x[0].tolist()
    y = zero.ones(2)
    assert zero.cartesian_prod(y) is y
