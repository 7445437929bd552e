"""zero.linalg, and the nuclear norm."""

import numpy as np
import pytest

import zero
from zero.errors import DTypeError, ShapeError
from zero.linalg import cross, diagonal, matmul, multi_dot, vander, vecdot, vector_norm

FLOATS = ["float32", "float64"]


def numbers(*shape, dtype="float64", seed=0, **kwargs):
    a = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return zero.tensor(a, **kwargs)


def close(y, expected, tol=1e-12):
    assert tuple(y.shape) == np.shape(expected)
    np.testing.assert_allclose(y.detach().double().numpy(), expected, rtol=tol, atol=tol)


def leaf(*shape, seed=0):
    return numbers(*shape, seed=seed, requires_grad=True)


def check_gradients(f, *inputs):
    assert zero.autograd.gradcheck(f, inputs) and zero.autograd.gradgradcheck(f, inputs)


# ---- products ------------------------------------------------------------------------------------
def test_cross():
    a, b = numbers(2, 3), numbers(1, 3, seed=1)
    close(cross(a, b), np.cross(a, b))
    close(cross(a.t(), b.t(), dim=0), np.cross(a, b).T)
    out = zero.empty(0, dtype=zero.float64)
    assert cross(a, b, out=out) is out
    with pytest.raises(ShapeError):
        cross(numbers(2, 2), numbers(2, 2))


def test_matmul():
    a, b = numbers(2, 3, 4), numbers(4, 5, seed=1)
    close(matmul(a, b), a.numpy() @ b.numpy())


CHAINS = [
    ((3, 4), (4, 2)),
    ((3,), (3, 4), (4,)),
    ((5, 2), (2, 7), (7, 3)),
    ((2, 3), (3, 4), (4, 5), (5,)),
    ((3,), (3,)),
]


@pytest.mark.parametrize("shapes", CHAINS)
def test_multi_dot(shapes):
    parts = [numbers(*s, seed=i) for i, s in enumerate(shapes)]
    close(multi_dot(parts), np.linalg.multi_dot([p.numpy() for p in parts]))
    check_gradients(lambda *p: multi_dot(p), *[p.clone().requires_grad_() for p in parts])


def test_multi_dot_refuses():
    a = numbers(2, 2)
    with pytest.raises(ValueError, match="at least 2"):
        multi_dot([a])
    with pytest.raises(ShapeError, match="at an end"):
        multi_dot([a, numbers(2, 2, 2)])
    with pytest.raises(ShapeError):
        multi_dot([a, numbers(2), a])
    with pytest.raises(DTypeError, match="dtypes differ"):
        multi_dot([a, a.float()])


def test_vecdot():
    a, b = numbers(2, 3, 4), numbers(4, seed=1)
    close(vecdot(a, b), (a.numpy() * b.numpy()).sum(-1))
    close(vecdot(a, a, dim=0), (a.numpy() ** 2).sum(0))
    assert vecdot(numbers(2, 0), numbers(2, 0)).tolist() == [0, 0]
    check_gradients(vecdot, leaf(2, 3), leaf(3, seed=1))
    for wrong in (zero.ones(2), zero.ones(2, dtype=zero.int64)):
        with pytest.raises(DTypeError, match="vecdot"):
            vecdot(wrong, numbers(2))


# ---- parts and matrices --------------------------------------------------------------------------
def test_diagonal():
    a = numbers(2, 3, 4)
    y = diagonal(a, offset=1)
    np.testing.assert_array_equal(y.numpy(), np.diagonal(a, 1, -2, -1))
    y.zero_()  # a view
    assert (np.diagonal(a, 1, -2, -1) == 0).all()


@pytest.mark.parametrize("n", [None, 2, 5])
def test_vander(n):
    a = numbers(2, 3)
    expected = np.stack([np.vander(row, n, True) for row in a.numpy()])
    close(vander(a, N=n), expected)
    check_gradients(lambda x: vander(x, N=n), leaf(3))
    y = vander(zero.tensor([1, 2, 3], dtype=zero.int32), N=n)
    assert vander(zero.tensor(2.0), N=4).tolist() == [[1, 2, 4, 8]]
    assert y.dtype is zero.int64 and y.tolist() == np.vander([1, 2, 3], n, True).tolist()


def test_vander_refuses():
    for x, error in (
        (zero.tensor(3.0), ValueError),
        (zero.ones(1), ValueError),
        (zero.ones(3, dtype=zero.bool), DTypeError),
    ):
        with pytest.raises(error, match="vander"):
            vander(x)
    with pytest.raises(ValueError, match="N=1"):
        vander(zero.ones(3), N=1)


# ---- norms ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("order", [0, 0.5, 1, 2, 3, -1, -2, float("inf"), -float("inf")])
@pytest.mark.parametrize("dim", [None, 0, -1, (0, 1), ()])
@pytest.mark.parametrize("keepdim", [False, True])
def test_vector_norm(order, dim, keepdim):
    a = numbers(3, 4)
    x = np.abs(a.numpy())
    axes = (0, 1) if dim in (None, ()) else dim
    if np.isinf(order):
        expected = (np.max if order > 0 else np.min)(x, axis=axes, keepdims=keepdim)
    elif order == 0:
        expected = (x != 0).sum(axis=axes, keepdims=keepdim)
    else:
        expected = (x**order).sum(axis=axes, keepdims=keepdim) ** (1 / order)
    close(vector_norm(a, order, dim, keepdim), expected)


def test_vector_norm_more():
    assert vector_norm(numbers(3, dtype="float32"), dtype=zero.float64).dtype is zero.float64
    assert vector_norm(zero.ones(0)).item() == 0
    assert vector_norm(zero.tensor(-3.0), -1, (0,)).item() == 3
    with pytest.raises(IndexError, match="vector_norm"):
        vector_norm(zero.ones(2), 2, 1)
    assert vector_norm(zero.ones(2, 0), float("inf"), 0).shape == (0,)
    for bad in ((zero.ones(0), float("inf")), (zero.ones(0, 3), -1, 0)):
        with pytest.raises(ValueError, match="no elements"):
            vector_norm(*bad)
    with pytest.raises(DTypeError, match="floats"):
        vector_norm(zero.ones(2, dtype=zero.int64))
    with pytest.raises(DTypeError, match="narrower"):
        vector_norm(numbers(2), dtype=zero.float32)
    with pytest.raises(TypeError, match="ord"):
        vector_norm(numbers(2), "fro")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2), (1, 4), (0, 3)])
def test_nuclear_norm(shape, dtype):
    a = numbers(*shape, dtype=dtype)
    expected = np.linalg.svd(a.numpy().astype(float), compute_uv=False).sum()
    y = zero.norm(a, "nuc")
    assert y.dtype is a.dtype
    close(y, expected, 4 * zero.finfo(a.dtype).eps)
    assert a.norm("nuc", keepdim=True).shape == (1, 1)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
def test_gradients_of_the_nuclear_norm(shape):
    check_gradients(lambda x: zero.norm(x, "nuc"), leaf(*shape))
    check_gradients(lambda x: zero.norm(x, "nuc", (2, 0), True), leaf(shape[0], 2, shape[1]))


def test_nuclear_norm_of_low_rank():
    x = zero.ones(3, 2, dtype=zero.float64, requires_grad=True)
    y = zero.norm(x, "nuc")
    close(y, np.sqrt(6))
    y.backward()
    assert np.linalg.norm(x.grad.numpy(), 2) == pytest.approx(1)  # a subgradient
    assert (x.grad * x).sum().item() == pytest.approx(y.item())


def test_nuclear_norm_more():
    a = numbers(2, 3, 4)
    each = [np.linalg.norm(a.numpy()[:, i], "nuc") for i in range(3)]
    close(zero.norm(a, "nuc", (0, 2)), each)
    close(zero.norm(a, "nuc", axis=(2, 0), keepdims=True), np.reshape(each, (1, 3, 1)))
    out = zero.empty(3, dtype=zero.float64)
    assert zero.norm(a, "nuc", (0, 2), out=out) is out and out[0].item() == pytest.approx(each[0])
    assert zero.norm(zero.empty(2, 3, device="meta"), "nuc").shape == ()
    assert zero.norm(zero.ones(2, 2, dtype=zero.bfloat16), "nuc").item() == 2
    for wrong, dim in ((a, None), (a, 0), (a, (0, 0)), (a, (0, 1, 2)), (zero.tensor(3.0), None)):
        with pytest.raises(ShapeError, match="two dimensions"):
            zero.norm(wrong, "nuc", dim)
    with pytest.raises(DTypeError, match="floats"):
        zero.norm(zero.ones(2, 2, dtype=zero.int64), "nuc")
    with pytest.raises(ValueError, match="finite"):
        zero.norm(zero.full((2, 2), float("nan")), "nuc")
