"""Sorting, selection, search and counts: what the registry's random samples don't reach."""

import math
import pickle

import numpy as np
import pytest

import zero

NAN, INF = math.nan, math.inf


def same(found, expected):
    np.testing.assert_array_equal(np.array(found.tolist(), float), np.array(expected, float))


@pytest.fixture(autouse=True)
def threads():
    before = zero.get_num_threads()
    yield
    zero.set_num_threads(before)


# ---- order of special values -------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [zero.float16, zero.bfloat16, zero.float32, zero.float64])
def test_nan_is_largest(dtype):
    x = zero.tensor([NAN, 2.0, -INF, NAN, INF, 1.0], dtype=dtype)
    values, indices = zero.sort(x)
    same(values, [-INF, 1, 2, INF, NAN, NAN])
    assert indices.tolist() == [2, 5, 1, 4, 0, 3]
    values, indices = zero.sort(x, descending=True)
    same(values, [NAN, NAN, INF, 2, 1, -INF])
    assert indices.tolist() == [0, 3, 4, 1, 5, 2]
    same(zero.topk(x, 3).values, [NAN, NAN, INF])
    same(zero.topk(x, 2, largest=False).values, [-INF, 1])
    same(zero.kthvalue(x, 4).values, INF)
    assert zero.argsort(x).tolist() == [2, 5, 1, 4, 0, 3]


def test_zeros_are_equal_and_keep_their_sign():
    x = zero.tensor([0.0, -0.0, 1.0, -0.0, 0.0])
    for descending, order in ((False, [0, 1, 3, 4, 2]), (True, [2, 0, 1, 3, 4])):
        values, indices = zero.sort(x, descending=descending)
        assert indices.tolist() == order
        assert np.signbit(values.numpy()).tolist() == np.signbit(x.numpy()[order]).tolist()
    assert zero.unique(x).tolist() == [0.0, 1.0]


def test_bits_of_nan_survive():
    bits = np.array([0x7FC00001, 0x3F800000, -1], np.int32)
    values = zero.sort(zero.from_numpy(bits.view(np.float32))).values
    assert values.numpy().view(np.int32).tolist() == [0x3F800000, 0x7FC00001, -1]


def test_median_with_nan():
    x = zero.tensor([[3.0, NAN, 1.0, NAN], [4.0, 1.0, 2.0, 3.0], [NAN] * 4])
    values, indices = zero.median(x, 1)
    same(values, [NAN, 2, NAN])
    assert indices.tolist() == [1, 2, 0]
    values, indices = zero.nanmedian(x, 1)
    same(values, [1, 2, NAN])
    assert indices.tolist() == [2, 2, 0]
    assert math.isnan(zero.median(x).item()) and zero.nanmedian(x).item() == 2
    assert math.isnan(zero.median(zero.zeros(0)).item())


def test_mode_takes_nan_one_by_one():
    value, index = zero.mode(zero.tensor([NAN, 2.0, NAN, 2.0, NAN]))
    assert (value.item(), index.item()) == (2.0, 3)


# ---- sizes, threads and keys that are hard -----------------------------------------------------
def hard(n):
    """Rows whose keys agree in their leading bits, or nearly all of them."""
    rng = np.random.default_rng(n)
    yield 1 + rng.integers(0, 9, n) * 2.0**-52
    yield np.where(np.arange(n) == n // 2, 1e300, rng.standard_normal(n))
    yield np.repeat(2.5, n)
    yield np.arange(n)[::-1].astype(float)
    yield rng.integers(-(2**62), 2**62, n)
    yield rng.integers(-3, 3, n)
    yield np.where(np.arange(n) == 0, -(2**63), rng.integers(0, 1000, n))


@pytest.mark.parametrize("n", [3, 64, 65, 1000, 140001])
def test_hard_keys(n):
    for x in hard(n):
        t = zero.from_numpy(x.copy())
        expected = np.argsort(x, kind="stable")
        k = max(1, n // 3)
        for threads in (1, 3):
            zero.set_num_threads(threads)
            values, indices = zero.sort(t)
            assert (indices.numpy() == expected).all() and (values.numpy() == x[expected]).all()
            assert (zero.argsort(t).numpy() == expected).all()
            assert (zero.topk(t, k, largest=False).indices.numpy() == expected[:k]).all()
            assert zero.kthvalue(t, k).indices.item() == expected[k - 1]


def test_topk_in_parts():
    rng = np.random.default_rng(0)
    for x in (rng.standard_normal(900_000).astype(np.float32), rng.integers(0, 50, 900_000)):
        t = zero.from_numpy(x)
        for threads in (1, 2):
            zero.set_num_threads(threads)
            for k in (1, 100, 5000):
                expected = np.argsort(-x, kind="stable")[:k]
                assert (zero.topk(t, k).indices.numpy() == expected).all()


def test_columns():
    x = np.random.default_rng(0).integers(0, 9, (4097, 37)).astype(np.float32)
    t = zero.from_numpy(x)
    expected = np.argsort(x, 0, kind="stable")
    assert (zero.sort(t, 0).indices.numpy() == expected).all()
    assert (zero.sort(t.T, 1).indices.numpy() == expected.T).all()
    assert (zero.topk(t, 5, 0, largest=False).indices.numpy() == expected[:5]).all()


# ---- gradients ---------------------------------------------------------------------------------
def gradient(f, x):
    t = zero.tensor(x, requires_grad=True)
    f(t).backward()
    return t.grad.tolist()


def test_gradients_at_ties():
    assert gradient(lambda x: zero.sort(x).values[0], [2.0, 1.0, 1.0]) == [0, 1, 0]
    assert gradient(lambda x: zero.topk(x, 1).values.sum(), [3.0, 3.0]) == [1, 0]
    assert gradient(zero.median, [2.0, 1.0, 2.0]) == [0.5, 0, 0.5]
    assert gradient(lambda x: zero.median(x, 0).values, [2.0, 1.0, 2.0]) == [1, 0, 0]
    assert gradient(lambda x: zero.cummax(x, 0).values.sum(), [1.0, 3.0, 2.0, 3.0]) == [1, 2, 0, 1]
    assert gradient(lambda x: zero.mode(x, 0).values, [2.0, 1.0, 2.0]) == [0, 0, 1]


def test_logcumsumexp_of_infinities():
    same(zero.logcumsumexp(zero.tensor([-INF, -INF, 0.0, -INF, 1e4]), 0), [-INF, -INF, 0, 0, 1e4])
    same(zero.logcumsumexp(zero.tensor([0.0, INF, 1.0]), 0), [0, INF, INF])
    same(zero.logcumsumexp(zero.tensor([NAN, 0.0]), 0), [NAN, NAN])
    same(zero.logcumsumexp(zero.tensor([-1e4, 0.0, -1e4]), 0), [-1e4, 0, 0])
    grad = gradient(lambda x: zero.logcumsumexp(x, 0)[1:].sum(), [-INF, 0.0, 0.0])
    assert grad == [0, 1.5, 0.5]


def test_unique_has_no_gradient():
    x = zero.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(NotImplementedError, match="unique"):
        zero.unique(x).sum().backward()


# ---- sets and counts ---------------------------------------------------------------------------
def test_unique():
    same(zero.unique(zero.tensor([NAN, 1.0, NAN])), [1, NAN, NAN])
    rows = zero.tensor([[1, 2], [0, 5], [1, 2]])
    values, inverse, counts = zero.unique(rows, return_inverse=True, return_counts=True, dim=0)
    assert values.tolist() == [[0, 5], [1, 2]]
    assert (inverse.tolist(), counts.tolist()) == ([1, 0, 1], [1, 2])
    values, counts = zero.unique(zero.tensor([3, 3]), return_counts=True)
    assert (values.tolist(), counts.tolist()) == ([3], [2])
    assert zero.unique_consecutive(zero.tensor([[1, 1], [1, 1], [2, 1]]), dim=0).tolist() == [
        [1, 1],
        [2, 1],
    ]
    assert zero.unique(zero.zeros(0)).shape == (0,)


def test_isin():
    x = zero.tensor([1.0, NAN, 3.0])
    assert zero.isin(x, zero.tensor([NAN, 3.0])).tolist() == [False, False, True]
    assert zero.isin(x, zero.tensor([NAN] * 30 + [3.0])).tolist() == [False, False, True]
    assert zero.isin(2, zero.tensor([1, 2])).item() is True
    assert zero.isin(zero.tensor([1, 2]), 1.5).tolist() == [False, False]


def test_bincount():
    assert zero.bincount(zero.tensor([5000, 0, 5000])).nonzero().tolist() == [[0], [5000]]
    w = zero.tensor([0.5, 1.0, 2.0])
    assert zero.bincount(zero.tensor([1, 1, 0]), w, minlength=4).tolist() == [2.0, 1.5, 0, 0]
    assert zero.bincount(zero.tensor([1]), zero.tensor([2])).dtype is zero.float64
    with pytest.raises(ValueError, match="-1"):
        zero.bincount(zero.tensor([3, -1]))


def test_searchsorted_by_sorter():
    x = zero.tensor([5, 1, 3])
    order = zero.argsort(x)
    assert zero.searchsorted(x, zero.tensor([1, 4]), sorter=order).tolist() == [0, 2]
    with pytest.raises(IndexError, match="3"):
        zero.searchsorted(x, 4, sorter=zero.tensor([0, 1, 3]))
    with pytest.raises(ValueError, match="shape"):
        zero.searchsorted(x, 4, sorter=zero.tensor([0, 1]))
    assert zero.searchsorted(zero.tensor([1, 3]), 2.5).item() == 1  # a float among integers
    same(zero.searchsorted(zero.tensor([1.0, 2.0]), zero.tensor([NAN, INF])), [2, 2])
    x = zero.tensor([1.0, 2.0, NAN, NAN])  # as sort leaves them
    same(zero.searchsorted(x, zero.tensor([2.0, NAN, INF])), [1, 2, 2])
    same(zero.searchsorted(x, zero.tensor([2.0, NAN, INF]), right=True), [2, 4, 2])


def test_histograms():
    x = zero.tensor([0.0, 1.0, 2.0, 3.0, NAN, 9.0])
    assert zero.histc(x, 3, 0, 3).tolist() == [1, 1, 2]
    assert zero.histc(zero.ones(4), 2).tolist() == [0, 4]
    edges = zero.tensor([0.0, 1.0, 3.0])
    result = zero.histogram(x, edges)
    assert result.hist.tolist() == [1, 3] and result.bin_edges.tolist() == [0, 1, 3]
    with pytest.raises(ValueError, match="finite"):
        zero.histogram(x, 3)
    with pytest.raises(ValueError, match="finite"):
        zero.histc(x, 3)
    points = zero.tensor([[0.0, 0.0], [1.0, 3.0], [1.0, 3.0]])
    hist, edges = zero.histogramdd(points, [1, 2], density=True)
    assert hist.tolist() == [[pytest.approx(1 / 1.5 / 3), pytest.approx(2 / 1.5 / 3)]]
    assert [len(e) for e in edges] == [2, 3]


def test_quantiles_with_nan():
    x = zero.tensor([[1.0, NAN, 3.0], [1.0, 2.0, 3.0]])
    same(zero.quantile(x, 0.5, 1), [NAN, 2])
    same(zero.nanquantile(x, 0.5, 1), [2, 2])
    same(zero.nanquantile(zero.tensor([NAN, NAN]), 0.5), NAN)


def test_results_have_names():
    result = zero.sort(zero.tensor([2.0, 1.0]))
    assert isinstance(result, zero.return_types.sort) and isinstance(result, tuple)
    assert result.values.tolist() == [1, 2] and result.indices.tolist() == [1, 0]
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is zero.return_types.sort
    out = (zero.empty(0), zero.empty(0, dtype=zero.int64))
    assert zero.topk(zero.tensor([2.0, 1.0]), 1, out=out)[0] is out[0]
    assert out[1].tolist() == [0]


@pytest.mark.parametrize("dtype", [zero.float32, zero.float64, zero.int64, zero.bool])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_rows_of_an_expanded_tensor(dtype, dim):
    """They are worked on once; results are those of a tensor that holds all of them."""
    x = ((zero.arange(12) * 7) % 5).to(dtype).reshape(4, 1, 3)
    calls = [
        lambda t: t.sort(dim, descending=True),
        lambda t: t.sort(dim),
        lambda t: [t.argsort(dim)],
        lambda t: t.topk(min(2, t.size(dim)), dim),
        lambda t: t.kthvalue(1, dim),
        lambda t: t.median(dim, keepdim=True),
        lambda t: t.mode(dim),
        lambda t: [t.cumsum(dim), t.cumsum(dim, dtype=zero.int8), t.cumprod(dim)],
    ]
    for expanded in (x.expand(4, 5, 3), x.expand(2, 4, 5, 3)[1], x[1:2].expand(4, 5, 3)):
        for call in calls:
            for got, expected in zip(call(expanded), call(expanded.clone()), strict=True):
                assert zero.equal(got, expected) and got.dtype == expected.dtype
                assert got.stride() == expected.stride()


def test_gradients_of_an_expanded_tensor():
    x = zero.tensor([3.0, 1.0, 2.0], requires_grad=True)
    weights = zero.arange(8.0).reshape(4, 2)
    (x.expand(4, 3).topk(2, 1).values * weights).sum().backward()
    assert x.grad.tolist() == [12.0, 0.0, 16.0]
