"""Eigenvalues and singular values of one large matrix, which is reduced by zero's own code."""

import numpy as np
import pytest

import zero
from zero.errors import LinAlgError
from zero.linalg import eigh, eigvalsh, svd, svdvals

FLOATS = ["float32", "float64"]
LEAST = 240  # rows and columns, from where on a matrix is large
SHAPES = [
    *((LEAST, LEAST), (LEAST + 1, LEAST), (LEAST, LEAST + 17), (257, 321)),  # with two diagonals
    *((2 * LEAST + 3, LEAST), (LEAST, 2 * LEAST + 3)),  # by QR first
]


@pytest.fixture
def threads():
    before = zero.get_num_threads()
    yield zero.set_num_threads
    zero.set_num_threads(before)


def numbers(*shape, dtype="float64", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def bound(a):
    """What sums of n products may be off by, of norm 1: n eps. Observed are 0.1 n eps."""
    return max(a.shape) * np.finfo(a.dtype).eps


def wide(x):
    return x.double().numpy()


def check_eigh(a, uplo="L"):
    """A V = V L and V^T V = 1, the values against numpy's; for numbers of any size."""
    tolerance, n = bound(a), len(a)
    size = float(np.abs(a).max()) or 1.0
    part = np.tril(a, -1) if uplo == "L" else np.triu(a, 1).T
    whole = (part + part.T + np.diag(np.diag(a))).astype("float64") / size
    values, vectors = (wide(x) for x in eigh(zero.tensor(a), UPLO=uplo))
    expected = np.linalg.eigvalsh(whole)
    norm = np.abs(expected).max() or 1.0
    for found in (values, wide(eigvalsh(zero.tensor(a), UPLO=uplo))):
        np.testing.assert_allclose(found / size, expected, rtol=0, atol=tolerance * norm)
    assert (np.diff(values) >= 0).all()
    product = (vectors * (values / size)) @ vectors.T
    np.testing.assert_allclose(product, whole, rtol=0, atol=tolerance * norm)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), rtol=0, atol=tolerance)


def check_svd(a, full=False):
    """A = U S V^T, U^T U = 1 and V^T V = 1, the values against numpy's; for numbers of any size."""
    tolerance, k = bound(a), min(a.shape)
    size = float(np.abs(a).max()) or 1.0
    whole = a.astype("float64") / size
    u, s, vh = (wide(x) for x in svd(zero.tensor(a), full_matrices=full))
    assert u.shape == (a.shape[0], a.shape[0] if full else k)
    assert vh.shape == (a.shape[1] if full else k, a.shape[1])
    expected = np.linalg.svd(whole, compute_uv=False)
    norm = expected[0] or 1.0
    for found in (s, wide(svdvals(zero.tensor(a)))):
        np.testing.assert_allclose(found / size, expected, rtol=0, atol=tolerance * norm)
    product = (u[:, :k] * (s / size)) @ vh[:k]
    np.testing.assert_allclose(product, whole, rtol=0, atol=tolerance * norm)
    np.testing.assert_allclose(u.T @ u, np.eye(u.shape[1]), rtol=0, atol=tolerance)
    np.testing.assert_allclose(vh @ vh.T, np.eye(len(vh)), rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [LEAST - 1, LEAST, 257, 300, 301, 603])  # from 301 on of parts
def test_eigh(n, dtype):
    check_eigh(numbers(n, n, dtype=dtype), "L" if n % 2 else "U")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_svd(shape, dtype):
    a = numbers(*shape, dtype=dtype)
    check_svd(a)
    check_svd(a, full=True)


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_matrices(dtype):
    n = 310
    eye = np.eye(n, dtype=dtype)
    low_rank = numbers(n, 5, dtype=dtype) @ numbers(5, n, dtype=dtype, seed=1)
    blocks = np.kron(np.eye(n // 62), numbers(62, 62)).astype(dtype)
    wilkinson = np.diag(np.ones(n - 1), -1) + np.diag(np.abs(np.arange(n) - n // 2))  # close pairs
    graded = np.diag(np.logspace(0, -30, n)).astype(dtype)
    one = np.ones((n, n), dtype)
    for a in (0 * eye, eye, one, low_rank, blocks, wilkinson.astype(dtype), graded):
        check_eigh(a)
        check_svd(a)
    check_svd(np.eye(n, n + 9, dtype=dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("tiny", [True, False])
def test_extreme_sizes(dtype, tiny):
    size = {("float32", True): 1e-30, ("float32", False): 1e30, ("float64", True): 1e-200}.get(
        (dtype, tiny), 1e200
    )
    a = (numbers(2 * LEAST, LEAST) * size).astype(dtype)
    check_eigh(a[:LEAST])
    check_svd(a[: LEAST + 5])
    check_svd(a)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_of_different_sizes(dtype):
    """A row whose products with others are smaller than the least normal number."""
    a = numbers(LEAST, LEAST, dtype=dtype)
    a[0] *= np.dtype(dtype).type(1e-36 if dtype == "float32" else 1e-300)
    a[7] *= np.dtype(dtype).type(1e-30 if dtype == "float32" else 1e-280)
    check_svd(a)
    check_svd(np.ascontiguousarray(a.T))
    check_eigh(a)
    # A first column that is reduced already leaves a row as small as it was.
    a[0] = numbers(LEAST, dtype=dtype) * (10 * np.finfo(dtype).tiny)
    a[:, 0] = np.arange(LEAST) == 0
    check_svd(a)
    check_svd(np.ascontiguousarray(a.T))


@pytest.mark.parametrize("dtype", FLOATS)
def test_threads_give_the_same_bits(threads, dtype):
    a = zero.tensor(numbers(401, 330, dtype=dtype))
    square = a @ a.t()
    tall = zero.tensor(numbers(600, 300, dtype=dtype))
    results = []
    for n in (1, 2, 3, 7):
        threads(n)
        found = (*eigh(square), eigvalsh(square), *svd(a), svdvals(a.t()), *svd(tall))
        results.append([x.numpy().tobytes() for x in found])
    assert all(result == results[0] for result in results)


def test_only_one_triangle_is_read():
    a = numbers(LEAST, LEAST)
    lower = np.where(np.tri(LEAST, dtype=bool), a, np.nan)
    assert zero.equal(eigvalsh(zero.tensor(lower)), eigvalsh(zero.tensor(a)))
    upper = zero.tensor(np.ascontiguousarray(lower.T))
    assert zero.equal(eigvalsh(upper, UPLO="U"), eigvalsh(zero.tensor(a)))


@pytest.mark.parametrize("function", [eigh, eigvalsh, svd, svdvals])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_refuses_what_is_not_finite(function, bad):
    a = zero.zeros(LEAST, LEAST)
    a[200, 100] = bad
    with pytest.raises(LinAlgError, match="not finite"):
        function(a)


def test_a_batch_agrees_with_its_matrices():
    a = zero.tensor(numbers(2, LEAST, LEAST))
    for f in (eigvalsh, svdvals):
        both = f(a)
        for i in range(2):
            zero.testing.assert_close(both[i], f(a[i]), rtol=1e-11, atol=1e-11)


def test_gradients():
    """d(sum L)/dA = 1, d(sum S)/dA = U V^T; and along a direction, differences of functions."""
    a = zero.tensor(numbers(LEAST, LEAST), requires_grad=True)
    eigvalsh(a).sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), np.eye(LEAST), atol=1e-12)
    a.grad = None
    svdvals(a).sum().backward()
    u, _, vh = np.linalg.svd(a.detach().numpy())
    np.testing.assert_allclose(a.grad.numpy(), u @ vh, atol=1e-10)  # of values as close as 1e-3
    a.grad = None
    weights = zero.tensor(numbers(LEAST, seed=2))

    def f(x):
        values, vectors = eigh(x + x.t())
        return (vectors[:, -1].square() * weights).sum() + values[0]

    f(a).backward()
    direction, step = zero.tensor(numbers(LEAST, LEAST, seed=3)), 1e-5
    with zero.no_grad():
        slope = (f(a + step * direction) - f(a - step * direction)) / (2 * step)
    assert (a.grad * direction).sum().item() == pytest.approx(slope.item(), rel=1e-5)
