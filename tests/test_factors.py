"""zero.linalg beyond what op_db tests: errors, edges, many sizes, threads, special values."""

import numpy as np
import pytest

import zero
from zero.errors import DTypeError, LinAlgError, ShapeError

L = zero.linalg
FLOATS = [zero.float32, zero.float64]


def numbers(*shape, dtype=zero.float64, seed=0):
    a = np.random.default_rng(seed).standard_normal(shape)
    return zero.tensor(a).to(dtype)


def close(y, expected, tol=1e-10):
    expected = expected.numpy() if isinstance(expected, zero.Tensor) else expected
    assert tuple(y.shape) == np.shape(expected)
    np.testing.assert_allclose(y.detach().double().numpy(), expected, rtol=tol, atol=tol)


def leaf(*shape, seed=0):
    return numbers(*shape, seed=seed).requires_grad_()


def check_gradients(f, *inputs):
    assert zero.autograd.gradcheck(f, inputs) and zero.autograd.gradgradcheck(f, inputs)


# ---- sizes around the paths: lanes of vectors, panels, blocks ------------------------------------
SIZES = [1, 2, 5, 16, 31, 32, 33, 63, 65, 97, 130, 257]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", SIZES)
def test_square_matrices_of_many_sizes(n, dtype):
    eps = zero.finfo(dtype).eps
    a = numbers(3, n, n, dtype=dtype) / n + zero.eye(n, dtype=dtype)
    b = numbers(3, n, 5, dtype=dtype, seed=1)
    tol = 300 * n * eps
    close(a @ L.solve(a, b), b, tol)
    close(a @ L.inv(a), np.broadcast_to(np.eye(n), (3, n, n)), tol)
    P, low, up = L.lu(a)
    close(P @ low @ up, a, tol)
    assert (low.abs() <= 1).all() and zero.equal(up, up.triu()) and zero.equal(low, low.tril())
    close(L.lu_solve(*L.lu_factor(a), b, adjoint=True), L.solve(a.mT, b), tol)
    spd = a @ a.mT
    for upper in (False, True):
        C = L.cholesky(spd, upper=upper)
        assert zero.equal(C, C.triu() if upper else C.tril())
        close(C.mT @ C if upper else C @ C.mT, spd, tol)
        x = L.solve_triangular(C, b, upper=upper)
        close(C @ x, b, tol)
        close(spd @ zero.cholesky_solve(b, C, upper), b, tol)
    sign, log = L.slogdet(a)
    expected = np.linalg.slogdet(a.double().numpy())
    close(sign, expected[0], tol)
    close(log, expected[1], tol)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "shape", [(3, 3), (32, 20), (20, 32), (33, 20), (20, 33), (150, 110), (110, 150), (230, 7)]
)
def test_qr_of_many_shapes(shape, dtype):
    a = numbers(2, *shape, dtype=dtype)
    tol = 100 * max(shape) * zero.finfo(dtype).eps
    for mode in ("reduced", "complete"):
        Q, R = L.qr(a, mode)
        close(Q @ R, a, tol)
        close(Q.mT @ Q, np.broadcast_to(np.eye(Q.shape[-1]), (2, *[Q.shape[-1]] * 2)), tol)
        assert zero.equal(R, R.triu())
        expected = np.linalg.qr(a.double().numpy(), mode)
        close(R, expected[1], tol)
    v, tau = zero.geqrf(a)
    if shape[0] >= shape[1]:
        close(L.householder_product(v, tau), L.qr(a).Q, tol)
    c = numbers(2, shape[0], 4, dtype=dtype, seed=2)
    k = min(shape)
    close(zero.ormqr(v[..., :k], tau, c), L.qr(a, "complete").Q @ c, tol)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(40, 70), (70, 40), (5, 5)])
def test_rectangular_lu(shape, dtype):
    a = numbers(2, *shape, dtype=dtype)
    P, low, up = L.lu(a)
    close(P @ low @ up, a, 300 * max(shape) * zero.finfo(dtype).eps)
    assert (low.abs() <= 1).all()


@pytest.mark.parametrize("n", [5, 33, 150])
def test_only_one_triangle_is_read(n):
    a = numbers(2, n, n)
    a = a @ a.mT + zero.eye(n)
    nan = zero.full((n, n), zero.nan, dtype=zero.float64)
    low, up = a.tril() + nan.triu(1), a.triu() + nan.tril(-1)
    for x in (a, a.mT.contiguous().mT, zero.cat([a, a], -1)[..., ::2] * 0 + a):
        assert zero.equal(L.cholesky(low), L.cholesky(x))
        assert zero.equal(L.cholesky(up, upper=True), L.cholesky(x, upper=True))
    close(L.eigvalsh(low), L.eigvalsh(up, "U"), 1e-9 * n)
    close(L.solve_triangular(low, a, upper=False), L.solve_triangular(a.tril(), a, upper=False))
    close(L.solve_triangular(up, a, upper=True), L.solve_triangular(a.triu(), a, upper=True))


def test_each_matrix_has_the_same_bits_in_any_batch():
    a = numbers(37, 8, 8)
    b = numbers(37, 8, 3, seed=1)
    whole = [L.solve(a, b), L.cholesky(a @ a.mT), *L.qr(a), L.inv(a), L.matrix_exp(a)]
    for i in (0, 5, 36):
        one = a[i]
        parts = [L.solve(one, b[i]), L.cholesky(one @ one.mT), *L.qr(one), L.inv(one)]
        parts.append(L.matrix_exp(one))
        for y, part in zip(whole, parts, strict=True):
            assert zero.equal(y[i], part)


@pytest.mark.parametrize("n", [8, 90, 300])
def test_threads_give_the_same_bits(n):
    a = numbers(3, n, n, dtype=zero.float32)
    b = numbers(3, n, 70, dtype=zero.float32)
    results = []
    before = zero.get_num_threads()
    try:
        for threads in (1, 2, 3, 7):
            zero.set_num_threads(threads)
            results.append([L.solve(a, b), L.cholesky(a @ a.mT), *L.qr(a), L.inv(a[0]), L.det(a)])
    finally:
        zero.set_num_threads(before)
    for others in results[1:]:
        for x, y in zip(results[0], others, strict=True):
            assert zero.equal(x, y)


def test_strides_don_t_matter():
    a, b = numbers(4, 6, 6), numbers(6, 4, 3).transpose(0, 1)
    for x in (a.mT, a[::2], a.expand(2, 4, 6, 6), zero.stack([a, a], -1).flatten(-2)[..., ::2]):
        y = x.contiguous()
        assert zero.equal(L.inv(x), L.inv(y))
        assert zero.equal(L.cholesky(x @ x.mT + zero.eye(6)), L.cholesky(y @ y.mT + zero.eye(6)))
        assert zero.equal(L.qr(x).R, L.qr(y).R)
    close(a @ L.solve(a, b), b.contiguous())


# ---- errors --------------------------------------------------------------------------------------
def test_singular_matrices_are_named():
    a = zero.stack([zero.eye(3), zero.zeros(3, 3), zero.eye(3)])
    b = zero.ones(3, 3, 1)
    for call in (
        lambda: L.inv(a),
        lambda: L.solve(a, b),
        lambda: L.lu_factor(a),
        lambda: a.inverse(),
    ):
        with pytest.raises(
            LinAlgError, match=r"Batch element 1.*element 1.*expected an invertible"
        ):
            call()
    with pytest.raises(LinAlgError, match=r"^inv: the matrix is singular; got a zero as element 2"):
        L.inv(zero.tensor([[1.0, 2.0], [2.0, 4.0]]))
    with pytest.raises(LinAlgError, match=r"cholesky: \(Batch element 1\).*minor of order 1"):
        L.cholesky(a)
    with pytest.raises(LinAlgError, match="order 2"):
        zero.tensor([[1.0, 2.0], [2.0, 1.0]]).cholesky()
    assert issubclass(LinAlgError, RuntimeError) and issubclass(LinAlgError, ValueError)
    assert L.LinAlgError is LinAlgError
    large = zero.eye(200)
    large[150, 150] = 0
    with pytest.raises(LinAlgError, match="element 151"):
        L.inv(large)
    with pytest.raises(LinAlgError, match="order 151"):
        L.cholesky(large)


def test_infos():
    a = zero.stack([zero.eye(2), zero.zeros(2, 2)])
    assert L.inv_ex(a).info.tolist() == [0, 1]
    assert L.solve_ex(a, zero.ones(2, 2, 1)).info.tolist() == [0, 1]
    assert L.lu_factor_ex(a).info.tolist() == [0, 1]
    L_, info = L.cholesky_ex(a)
    assert info.tolist() == [0, 1] and zero.equal(L_[0], zero.eye(2))
    assert L.ldl_factor_ex(a).info.tolist() == [0, 1]
    for f in (L.inv_ex, L.lu_factor_ex, L.cholesky_ex, L.ldl_factor_ex):
        with pytest.raises(LinAlgError, match="Batch element 1"):
            f(a, check_errors=True)


def test_a_failed_call_changes_nothing():
    out = zero.full((3, 3), 7.0)
    with pytest.raises(LinAlgError):
        L.inv(zero.zeros(3, 3), out=out)
    Q, R = zero.full((3, 3), 7.0), zero.full((2, 2), 7.0)
    with pytest.raises(ShapeError):
        L.qr(zero.eye(3), out=(Q, R))
    assert (out == 7).all() and (Q == 7).all() and (R == 7).all()
    a = zero.zeros(2, 2)
    with pytest.raises(LinAlgError):
        L.cholesky(a)
    assert (a == 0).all()


@pytest.mark.parametrize(
    ("call", "outs"),
    [
        (lambda a, **k: L.qr(a, **k), 2),
        (lambda a, **k: L.svd(a, **k), 3),
        (lambda a, **k: L.eigh(a, **k), 2),
        (lambda a, **k: L.lu(a, **k), 3),
        (lambda a, **k: L.lu_factor(a, **k), 2),
        (lambda a, **k: L.cholesky_ex(a, **k), 2),
        (lambda a, **k: L.slogdet(a, **k), 2),
        (lambda a, **k: L.inv_ex(a, **k), 2),
        (lambda a, **k: L.solve_ex(a, a, **k), 2),
        (lambda a, **k: zero.triangular_solve(a, a, **k), 2),
        (lambda a, **k: zero.geqrf(a, **k), 2),
    ],
)
def test_out(call, outs):
    a = numbers(3, 3)
    a = a @ a.mT + zero.eye(3)
    expected = call(a)
    places = tuple(zero.empty(0, dtype=x.dtype) for x in expected)
    assert len(places) == outs
    results = call(a, out=places)
    for y, place, x in zip(results, places, expected, strict=True):
        assert y is place and zero.equal(place, x)
    with pytest.raises(TypeError, match="out is no tuple"):
        call(a, out=places[0])


def test_dtypes_and_shapes_are_checked():
    for f in (L.inv, L.cholesky, L.det, L.qr, L.svd, L.eigvalsh, L.lu_factor, L.pinv):
        for dtype in (zero.int64, zero.bool, zero.float16, zero.bfloat16):
            with pytest.raises(DTypeError, match="expected float32 or float64"):
                f(zero.ones(2, 2).to(dtype))
        with pytest.raises(ShapeError, match="at least 2 dimensions"):
            f(zero.ones(2))
    with pytest.raises(DTypeError, match="dtypes differ"):
        L.solve(zero.eye(2), zero.eye(2).double())
    with pytest.raises(ShapeError, match="broadcast"):
        L.solve(zero.eye(2).expand(3, 2, 2), zero.ones(4, 2, 1))
    with pytest.raises(ValueError, match="a pivot is no row"):
        L.lu_solve(zero.eye(2), zero.tensor([1, 3], dtype=zero.int32), zero.ones(2, 1))
    with pytest.raises(NotImplementedError, match="complex"):
        L.eigvals(zero.eye(2))
    with pytest.raises(NotImplementedError, match="pivot=False"):
        L.lu(zero.eye(2), pivot=False)


def test_what_is_not_finite():
    nan = zero.full((2, 2), zero.nan)
    for f in (L.svd, L.svdvals, L.eigh, L.eigvalsh, L.pinv):
        with pytest.raises(LinAlgError, match="not finite"):
            f(nan)
    assert L.det(nan).isnan() and L.inv(zero.stack([zero.eye(2), nan]))[1].isnan().all()
    with pytest.raises(LinAlgError):
        L.cholesky(nan)
    tiny = zero.tensor([[1e-30, 0.0], [0.0, 1e-30]])
    close(L.qr(tiny).R.abs() * 1e30, np.eye(2), 1e-5)
    huge = zero.full((40, 2), 1e30)
    close(L.qr(huge).R[0, 0] / -1e30, np.asarray(40**0.5), 1e-5)


def test_autocast_computes_in_float32():
    a = zero.eye(3, dtype=zero.bfloat16)
    with zero.autocast("cpu", dtype=zero.bfloat16):
        assert L.inv(a).dtype is zero.float32


# ---- empty matrices ------------------------------------------------------------------------------
def test_empty_matrices():
    for shape in ((0, 0), (3, 0, 0), (0, 2, 2)):
        a = zero.empty(shape)
        assert L.inv(a).shape == shape and L.cholesky(a).shape == shape
        assert L.det(a).tolist() == (
            [1.0] * 3 if shape == (3, 0, 0) else 1.0 if len(shape) == 2 else []
        )
        assert L.slogdet(a)[1].shape == shape[:-2] and L.matrix_exp(a).shape == shape
        assert L.eigvalsh(a).shape == shape[:-1] and L.solve(a, a).shape == shape
    Q, R = L.qr(zero.empty(3, 0), "complete")
    assert zero.equal(Q, zero.eye(3)) and R.shape == (3, 0)
    U, S, Vh = L.svd(zero.empty(2, 0))
    assert zero.equal(U, zero.eye(2)) and S.shape == (0,) and Vh.shape == (0, 0)
    assert L.pinv(zero.empty(3, 0)).shape == (0, 3)
    assert L.matrix_rank(zero.empty(2, 0, 3)).tolist() == [0, 0]
    assert L.lstsq(zero.empty(3, 0), zero.ones(3, 2)).solution.shape == (0, 2)


# ---- gradients -----------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 5), (5, 3)])
def test_gradients_of_factors(shape):
    a = leaf(*shape)
    check_gradients(lambda a: L.lu_factor(a)[0], a)
    check_gradients(lambda a: tuple(L.qr(a)), a)
    check_gradients(lambda a: L.qr(a).Q, a)
    check_gradients(lambda a: L.qr(a).R, a)
    check_gradients(lambda a: L.svdvals(a), a)
    check_gradients(lambda a: (lambda u, s, v: (u.abs(), s, v.abs()))(*L.svd(a, False)), a)
    check_gradients(lambda a: L.svd(a, False).U.abs(), a)
    check_gradients(lambda a: L.pinv(a), a)


def test_gradients_of_equations():
    a, b = leaf(2, 3, 3), leaf(2, 3, 2, seed=1)
    check_gradients(L.solve, a, b)
    check_gradients(lambda a, b: L.solve(a, b[0]), a, b)  # broadcasts
    check_gradients(lambda a, b: L.lu_solve(*L.lu_factor(a), b), a, b)
    check_gradients(lambda a, b: L.lu_solve(*L.lu_factor(a), b, adjoint=True), a, b)
    LU, pivots = L.lu_factor(a.detach())
    check_gradients(lambda b: zero.lu_solve(b, LU, pivots), b)
    check_gradients(lambda a, b: L.lstsq(a, b).solution, leaf(5, 3), leaf(5, 2, seed=1))
    check_gradients(lambda a, b: L.lstsq(a, b, driver="gels")[1], leaf(5, 3), leaf(5, 2, seed=1))
    check_gradients(lambda a: L.matrix_exp(a), a)
    check_gradients(lambda a: L.cond(a), a)


def test_gradients_of_singular_matrices():
    a = zero.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]], dtype=zero.float64)
    a.requires_grad_()
    L.det(a).backward()
    cofactors = np.array(
        [
            [
                (-1) ** (i + j)
                * np.linalg.det(np.delete(np.delete(a.detach().numpy(), i, 0), j, 1))
                for j in range(3)
            ]
            for i in range(3)
        ]
    )
    close(a.grad, cofactors, 1e-9)
    check_gradients(L.det, a.detach().clone().requires_grad_())
    # Singular values that are the same, and a rank that isn't full.
    identity = zero.eye(3, dtype=zero.float64, requires_grad=True)
    L.pinv(identity).sum().backward()
    close(identity.grad, -np.ones((3, 3)))
    L.matrix_norm(identity, "nuc").backward()


def test_gradients_that_are_not_there():
    a = leaf(5, 3)
    with pytest.raises(RuntimeError, match="'complete'"):
        L.qr(a, "complete").Q.sum().backward()
    for f in (zero.geqrf, L.ldl_factor, lambda a: L.ldl_factor_ex(a)):
        with pytest.raises(NotImplementedError, match="no gradient"):
            f(leaf(3, 3))


# ---- single functions ----------------------------------------------------------------------------
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_least_squares(driver):
    a, b = numbers(2, 6, 3), numbers(2, 6, 2, seed=1)
    x, residuals, rank, values = L.lstsq(a, b, driver=driver)
    close(x, np.linalg.pinv(a.numpy()) @ b.numpy())
    if driver != "gelsy":
        close(residuals, ((a @ x - b) ** 2).sum(-2))
    if driver != "gels":
        assert rank.tolist() == [3, 3]
    if driver in ("gelsd", "gelss"):
        close(values, L.svdvals(a))
        low = numbers(6, 1) @ numbers(1, 3)
        y = L.lstsq(low, b[0], driver=driver)
        assert y.rank == 1 and y.residuals.numel() == 0
        close(y.solution, np.linalg.pinv(low.numpy()) @ b[0].numpy())
    wide = numbers(2, 5)
    close(
        L.lstsq(wide, b[0, :2], driver=driver).solution,
        np.linalg.pinv(wide.numpy()) @ b[0, :2].numpy(),
    )
    close(L.lstsq(a, b[..., 0], driver=driver).solution, x[..., 0])


def test_ranks_and_pseudo_inverses():
    a = numbers(5, 2) @ numbers(2, 4, seed=1)
    assert L.matrix_rank(a) == 2 and L.matrix_rank(a, tol=1e9) == 0
    assert L.matrix_rank(zero.stack([a, a * 0])).tolist() == [2, 0]
    d = zero.diag(zero.tensor([1.0, 1e-3, 1e-9]))
    assert L.matrix_rank(d) == 2 and L.matrix_rank(d, rtol=1e-2) == 1
    assert L.matrix_rank(d, atol=1e-12, rtol=0.0) == 3 and L.matrix_rank(-d, hermitian=True) == 2
    assert L.matrix_rank(zero.stack([d, d]), atol=zero.tensor([1e-2, 1e-12])).tolist() == [1, 3]
    close(L.pinv(a), np.linalg.pinv(a.numpy(), rcond=1e-12))
    close(L.pinv(d.double(), rtol=1e-2), np.diag([1.0, 0, 0]))
    close(zero.pinverse(a, 1e-10), np.linalg.pinv(a.numpy(), rcond=1e-10))


def test_matrix_exp():
    for n, scale in ((2, 0.1), (4, 3.0), (5, 30.0)):
        a = numbers(n, n) * scale
        values, vectors = np.linalg.eig(a.numpy())
        expected = (vectors * np.exp(values)) @ np.linalg.inv(vectors)
        size = np.abs(expected).max()
        close(L.matrix_exp(a) / size, expected.real / size, 1e-9)
    assert zero.matrix_exp(zero.zeros(3, 3, dtype=zero.bfloat16)).dtype is zero.bfloat16
    close(zero.zeros(2, 2).matrix_exp(), np.eye(2))


def test_cov_with_weights():
    x = numbers(3, 6)
    f = zero.tensor([1, 2, 0, 3, 1, 1])
    a = zero.tensor([0.5, 1.0, 2.0, 0.1, 0.7, 1.0], dtype=zero.float64)
    for correction in (0, 1):
        for weights in ({"fweights": f}, {"aweights": a}, {"fweights": f, "aweights": a}):
            expected = np.cov(
                x.numpy(), ddof=correction, **{k: v.numpy() for k, v in weights.items()}
            )
            close(zero.cov(x, correction=correction, **weights), expected)
    close(zero.cov(zero.arange(4)), np.asarray(np.cov(np.arange(4.0))), 1e-6)
    close(x.corrcoef(), np.corrcoef(x.numpy()))
    check_gradients(zero.corrcoef, leaf(3, 5))
    with pytest.raises(DTypeError, match="no integers"):
        zero.cov(x, fweights=a)
    with pytest.raises(ShapeError, match="don't fit"):
        zero.cov(x, aweights=a[:2])
    with pytest.raises(ValueError, match="negative"):
        zero.cov(x, aweights=-a)


def test_low_rank():
    zero.manual_seed(0)
    a = numbers(3, 20, 4) @ numbers(3, 4, 15, seed=1)
    U, S, V = zero.svd_lowrank(a, q=6)
    close((U * S.unsqueeze(-2)) @ V.mT, a, 1e-8)
    close(S[..., :4], L.svdvals(a)[..., :4], 1e-8)
    U, S, V = zero.svd_lowrank(a.mT, q=4, M=a.mT * 0.5)
    close((U * S.unsqueeze(-2)) @ V.mT, a.mT * 0.5, 1e-8)
    U, S, V = zero.pca_lowrank(a[0], q=5)
    close((U * S) @ V.mT, a[0] - a[0].mean(0), 1e-8)
    with pytest.raises(ValueError, match="out of range"):
        zero.pca_lowrank(a, q=100)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("general", [True, False])
def test_lobpcg(largest, general):
    zero.manual_seed(0)
    a, b = numbers(2, 40, 40), numbers(2, 40, 40, seed=1) * 0.1
    a, b = a @ a.mT + zero.eye(40), b @ b.mT + zero.eye(40)
    E, X = zero.lobpcg(a, 3, b if general else None, largest=largest)
    inverse = L.inv(L.cholesky(b)) if general else zero.eye(40, dtype=zero.float64)
    values = L.eigvalsh(inverse @ a @ inverse.mT)
    close(E, values.flip(-1)[:, :3] if largest else values[:, :3], 1e-6)
    bx = b @ X if general else X
    close(X.mT @ bx, np.broadcast_to(np.eye(3), (2, 3, 3)), 1e-9)
    close(a @ X - bx * E.unsqueeze(-2), np.zeros((2, 40, 3)), 1e-4)
    start = zero.lobpcg(a, X=X, B=b if general else None, largest=largest, niter=1)
    close(start[0], E, 1e-6)


def test_lobpcg_refuses():
    a = zero.eye(9)
    with pytest.raises(ValueError, match="too many eigenpairs"):
        zero.lobpcg(a, 4)
    with pytest.raises(NotImplementedError, match="no gradient"):
        zero.lobpcg(a.clone().requires_grad_())
    with pytest.raises(NotImplementedError, match="tracker"):
        zero.lobpcg(a, tracker=print)
    with pytest.raises(ShapeError, match="X doesn't fit"):
        zero.lobpcg(a, X=zero.ones(8, 1))


def test_lu_unpack_in_parts():
    a = numbers(4, 3)
    LU, pivots = zero.lu(a)
    P, low, up = zero.lu_unpack(LU, pivots, unpack_data=False)
    assert P.shape == (4, 4) and low.numel() == up.numel() == 0
    P, low, up = zero.lu_unpack(LU, pivots, unpack_pivots=False)
    assert P.numel() == 0 and low.shape == (4, 3) and up.shape == (3, 3)
    assert len(zero.lu(a[:3], get_infos=True)) == 3
    with pytest.raises(DTypeError, match="int32"):
        zero.lu_unpack(LU, pivots.long())


def test_names_beside_linalg():
    a = numbers(3, 3)
    spd = a @ a.mT + zero.eye(3)
    b = numbers(3, 2, seed=1)
    close(a.inverse(), L.inv(a))
    close(a.pinverse(), L.pinv(a))
    close(a.det(), L.det(a))
    close(a.slogdet().logabsdet, L.slogdet(a).logabsdet)
    close(spd.logdet(), L.slogdet(spd).logabsdet)
    assert (-zero.eye(3)).logdet().isnan() and zero.zeros(2, 2).logdet() == -zero.inf
    close(spd.cholesky(True), L.cholesky(spd, upper=True))
    close(b.cholesky_solve(spd.cholesky()), L.solve(spd, b))
    close(spd.cholesky().cholesky_inverse(), L.inv(spd))
    close(b.triangular_solve(a).solution, L.solve(a.triu(), b))
    close(a.qr().R, L.qr(a).R)
    close(a.svd().V.abs(), L.svd(a).Vh.mT.abs())
    assert (a.svd(compute_uv=False).U == 0).all()
    close(b.lu_solve(*a.lu()), L.solve(a, b))
    close(a.matrix_power(3), a @ a @ a)
    v, tau = a.geqrf()
    close(v.orgqr(tau), L.qr(a).Q)
    close(v.ormqr(tau, b, transpose=True), L.qr(a).Q.mT @ b)
    close(zero.nuclear_norm(a), L.svdvals(a).sum())
    assert zero.nuclear_norm(a, True).shape == (1, 1)


def test_results_have_names():
    a = zero.eye(2)
    names = {
        "linalg_qr": (L.qr(a), "Q R"),
        "linalg_svd": (L.svd(a), "U S Vh"),
        "linalg_eigh": (L.eigh(a), "eigenvalues eigenvectors"),
        "linalg_slogdet": (L.slogdet(a), "sign logabsdet"),
        "linalg_lu": (L.lu(a), "P L U"),
        "linalg_lstsq": (L.lstsq(a, a), "solution residuals rank singular_values"),
        "svd": (zero.svd(a), "U S V"),
    }
    for name, (result, fields) in names.items():
        assert type(result) is getattr(zero.return_types, name)
        assert result._fields == tuple(fields.split())
        for i, field in enumerate(fields.split()):
            assert getattr(result, field) is result[i]
