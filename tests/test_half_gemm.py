"""Products of 16-bit floats: sums rounded once, every layout, the same bits on any threads."""

import numpy as np
import pytest

import zero

HALVES = [zero.bfloat16, zero.float16]
SIZES = [
    *((1, 1, 1), (2, 3, 5), (8, 8, 8), (31, 33, 30), (1, 300, 200), (300, 1, 200), (3, 500, 1500)),
    *((500, 3, 1500), (4, 4, 9000), (5, 17, 2000), (6, 16, 512), (7, 9, 5000), (64, 48, 100)),
    *((97, 130, 257), (200, 520, 300), (520, 200, 64), (1030, 40, 70), (40, 1030, 70)),
    *((33, 40, 9000), (130, 520, 513), (0, 3, 4), (3, 4, 0)),
]


def values(rng, dtype, *shape):
    return zero.tensor(rng.normal(size=shape).astype(np.float32)).to(dtype)


def layouts(x):
    """The same matrix in rows, in columns, and with gaps."""
    m, n = x.shape
    wide = zero.zeros(2 * m, 3 * n, dtype=x.dtype)
    wide[::2, ::3] = x
    return [x, x.t().contiguous().t(), wide[::2, ::3]]


def check(y, a, b, dtype, bias=None):
    wide_a, wide_b = a.double().numpy(), b.double().numpy()
    exact, size = wide_a @ wide_b, abs(wide_a) @ abs(wide_b)
    if bias is not None:
        exact, size = exact + bias.double().numpy(), size + abs(bias.double().numpy())
    unit = 2.0**-8 if dtype is zero.bfloat16 else 2.0**-11  # half of the last bit
    depth = min(a.shape[-1], 1024) + 16
    tiny = 2.0**-25 if dtype is zero.float16 else 0
    bound = unit * abs(exact) * 1.001 + depth * 2.0**-24 * size * 1.01 + tiny
    assert y.dtype is dtype
    assert (abs(y.double().numpy() - exact) <= bound).all()


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("size", SIZES)
def test_products(size, dtype):
    m, n, k = size
    rng = np.random.default_rng(0)
    a, b, bias = values(rng, dtype, m, k), values(rng, dtype, k, n), values(rng, dtype, n)
    results = []
    for left in layouts(a):
        for right in layouts(b):
            results.append(left @ right)
            check(results[-1], a, b, dtype)
    y = zero.linear(a, b.t(), bias)
    check(y, a, b, dtype, bias)
    check(zero.linear(a, b.t().contiguous(), bias), a, b, dtype, bias)


@pytest.mark.parametrize("dtype", HALVES)
def test_batches_and_vectors(dtype):
    rng = np.random.default_rng(1)
    for shape_a, shape_b in (
        ((5, 4, 6), (5, 6, 3)),
        ((3, 1, 70, 40), (2, 40, 90)),
        ((200, 70), (3, 70, 50)),
        ((4, 90, 70), (70, 60)),
        ((0, 4, 6), (0, 6, 3)),
    ):
        a, b = values(rng, dtype, *shape_a), values(rng, dtype, *shape_b)
        check(a @ b, a, b, dtype)
        check(a @ b.transpose(-1, -2).contiguous().transpose(-1, -2), a, b, dtype)
    x, m = values(rng, dtype, 700), values(rng, dtype, 700, 300)
    check(x @ m, x, m, dtype)
    check(m.t() @ x, m.t(), x, dtype)
    check(x @ x, x, x, dtype)


def test_special_numbers():
    for dtype in HALVES:
        for m, n, k in ((2, 2, 3), (70, 80, 90), (1, 300, 200)):
            a, b = zero.ones(m, k, dtype=dtype), zero.ones(k, n, dtype=dtype)
            a[0, 0] = float("inf")
            y = a @ b
            assert y[0].isinf().all() and y[1:].isfinite().all()
            b[0] = 0
            assert (a @ b)[0].isnan().all()
    a, b = zero.full((40, 400), 16.0).half(), zero.full((400, 40), 16.0).half()
    assert (a @ b).isinf().all()  # 102,400
    tiny = zero.full((64, 64), 2.0**-24).half()
    assert zero.equal(tiny @ zero.eye(64).half(), tiny)


def bits(threads, dtype):
    zero.set_num_threads(threads)
    rng = np.random.default_rng(2)
    found = []
    for m, n, k in (*SIZES, (600, 700, 300), (300, 1100, 600)):
        a, b = values(rng, dtype, m, k), values(rng, dtype, k, n)
        found += [a @ b, a.t().contiguous().t() @ b, zero.linear(a, b.t(), values(rng, dtype, n))]
    return [y.view(zero.int16).numpy().tobytes() for y in found]


@pytest.mark.parametrize("dtype", HALVES)
def test_the_same_bits_on_any_number_of_threads(dtype):
    before = zero.get_num_threads()
    try:
        one = bits(1, dtype)
        for threads in (2, 3, 7):
            assert bits(threads, dtype) == one
    finally:
        zero.set_num_threads(before)


@pytest.mark.parametrize("dtype", HALVES)
def test_gradients(dtype):
    rng = np.random.default_rng(3)
    x, w = (values(rng, dtype, *s).requires_grad_() for s in ((50, 70), (60, 70)))
    g = values(rng, dtype, 50, 60)
    zero.linear(x, w).backward(g)
    check(x.grad, g, w.detach(), dtype)
    check(w.grad, g.t(), x.detach(), dtype)


def test_no_copy_of_a_whole_operand():
    a, b = zero.ones(2, 4096, dtype=zero.bfloat16), zero.ones(4096, 4096, dtype=zero.bfloat16)
    for right in (b, b.t()):
        a @ right
        zero.reset_peak_memory_stats()
        before = zero.memory_stats()["live_bytes"]
        y = a @ right
        assert zero.memory_stats()["peak_bytes"] - before < 1_000_000 and y[0, 0].item() == 4096
