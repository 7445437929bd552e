"""Norms and clipping of lists of tensors, in one call over all their elements, against NumPy."""

import itertools
import math

import numpy as np
import pytest

import zero
from zero.nn import Parameter
from zero.nn.utils import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)

SHAPES = [(3, 4), (), (0,), (16384,), (16385,), (300, 217), (5,)]  # of one piece, and of several
TOLERANCE = {"float64": 1e-12, "float32": 1e-6, "float16": 1e-3, "bfloat16": 8e-3}
LISTS = [
    ("float32",),
    ("float64",),
    ("float16",),
    ("bfloat16",),
    ("float32", "float64"),
    ("bfloat16", "float32", "float16"),
]


def parameters(*dtypes, seed=0):
    """Parameters with gradients, and these as float64 arrays."""
    generator = np.random.default_rng(seed)
    result = []
    for shape, dtype in zip(SHAPES, itertools.cycle(dtypes)):
        p = Parameter(zero.zeros(shape, dtype=getattr(zero, dtype)))
        p.grad = zero.tensor(generator.normal(size=shape)).to(p.dtype)
        result.append(p)
    return result, [p.grad.double().numpy().copy() for p in result]


def norm_of(arrays, p):
    x = np.abs(np.concatenate([a.reshape(-1) for a in arrays]))
    if p == 0:  # as in PyTorch, the number of tensors that are not 0 everywhere
        return sum(bool(np.any(a)) for a in arrays)
    return x.max() if p == math.inf else x.min() if p == -math.inf else (x**p).sum() ** (1 / p)


@pytest.mark.parametrize("dtypes", LISTS, ids="-".join)
@pytest.mark.parametrize("p", [2, 1, 0, 3, 0.5, -1, math.inf, -math.inf])
def test_norms_are_those_of_one_vector(p, dtypes):
    ps, arrays = parameters(*dtypes)
    expected = norm_of(arrays, p)
    norm = get_total_norm([q.grad for q in ps], p)
    wide = "float64" if "float64" in dtypes else "float32" if len(dtypes) > 1 else dtypes[0]
    assert norm.dtype == getattr(zero, wide) and norm.shape == () and not norm.requires_grad
    limit = float(np.finfo(np.float16).max) if wide == "float16" else math.inf
    # pow has some ulp where the exponent is large
    worst = max(TOLERANCE[wide], 1e-6 if "float32" in dtypes else 0.0)  # a few are added there
    tolerance = worst * (10 if p in (3, 0.5, -1) else 1)
    least = 6e-8 if wide == "float16" else 0.0
    expected_norm = expected if expected <= limit else math.inf
    assert norm.item() == pytest.approx(expected_norm, rel=tolerance, abs=least)

    max_norm = expected / 4
    if expected > limit:
        return
    assert clip_grad_norm_(ps, max_norm, p).item() == norm.item()
    factor = max_norm / (norm.item() + 1e-6)
    for q, array, dtype in zip(ps, arrays, itertools.cycle(dtypes)):
        assert q.grad.dtype == getattr(zero, dtype)
        np.testing.assert_allclose(
            q.grad.double().numpy(), array * factor, rtol=TOLERANCE[dtype], atol=1e-7
        )


def test_threads_do_not_change_bits():
    before, seen = zero.get_num_threads(), set()
    try:
        for threads in (1, 2, 3, 7):
            zero.set_num_threads(threads)
            ps, _ = parameters("float32", "float64", "bfloat16")
            norms = [get_total_norm([q.grad for q in ps], p).item() for p in (2, 1, 3, math.inf)]
            clip_grad_norm_(ps, 1.0)
            clip_grad_value_(ps, 1e-2)
            sums = [q.grad.double().sum().item() for q in ps]
            seen.add((*norms, *sums))
    finally:
        zero.set_num_threads(before)
    assert len(seen) == 1


def test_parts_equal_the_whole():
    ps, _ = parameters("float32", "float64")
    qs, _ = parameters("float32", "float64")
    norm = get_total_norm(q.grad for q in qs)
    clip_grads_with_norm_(iter(qs), 1.5, norm)
    assert zero.equal(clip_grad_norm_((p for p in ps), 1.5), norm)
    assert all(zero.equal(p.grad, q.grad) for p, q in zip(ps, qs, strict=True))


def test_sizes_of_elements_that_leave_the_range_of_squares():
    for value, dtype in itertools.product((1e30, 1e-30), (zero.float32, zero.float64)):
        p = Parameter(zero.zeros(40000, dtype=dtype))
        p.grad = zero.full((40000,), value, dtype=dtype)
        assert clip_grad_norm_(p, 1.0).item() == pytest.approx(200 * value, rel=1e-6)
        expected = value if value < 1 else 1 / 200
        assert p.grad[7].item() == pytest.approx(expected, rel=1e-6)
    p = Parameter(zero.zeros(3))
    p.grad = zero.tensor([1e-30, 3.0, -4.0])
    assert clip_grad_norm_(p, 10).item() == 5
    p.grad = zero.tensor([1e20, 0.0, 1e20])
    assert get_total_norm([p.grad], 3).item() == pytest.approx(2 ** (1 / 3) * 1e20, rel=1e-6)


@pytest.mark.parametrize("n", [3, 40000])  # one thread, and several
def test_gradients_that_share_memory(n):
    generator = np.random.default_rng(1)
    array = generator.normal(size=(n, 4)).astype(np.float32)

    def check(grads, expected):
        ps = [Parameter(zero.zeros(g.shape)) for g in grads]
        for p, g in zip(ps, grads, strict=True):
            p.grad = g
        total = math.sqrt(sum(float((a.astype(np.float64) ** 2).sum()) for a in expected))
        assert clip_grad_norm_(ps, 1.0).item() == pytest.approx(total, rel=1e-6)
        return 1 / (total + 1e-6)

    x = zero.tensor(array)
    factor = check([x[:, :2], x[:, 2:]], [array])  # rows side by side
    np.testing.assert_allclose(x.numpy(), array * factor, rtol=1e-5)
    x = zero.tensor(array)
    factor = check([x.t(), zero.tensor(array).permute(1, 0)], [array, array])
    np.testing.assert_allclose(x.numpy(), array * factor, rtol=1e-5)
    x = zero.tensor(array)
    factor = check([x, x], [array, array])  # scaled twice, one after the other, as in PyTorch
    np.testing.assert_allclose(x.numpy(), array * factor**2, rtol=1e-5)
    x = zero.tensor(array)
    factor = check([x, x[: n // 2]], [array, array[: n // 2]])
    np.testing.assert_allclose(x[n // 2 :].numpy(), array[n // 2 :] * factor, rtol=1e-5)
    np.testing.assert_allclose(x[: n // 2].numpy(), array[: n // 2] * factor**2, rtol=1e-5)


def test_what_fails_writes_nothing():
    p, q = Parameter(zero.ones(3)), Parameter(zero.ones(2, 3))
    p.grad, q.grad = zero.full((3,), 5.0), zero.tensor([1.0, 2.0, 3.0]).expand(2, 3)
    with pytest.raises(RuntimeError, match="share one place"):
        clip_grad_norm_([p, q], 1.0)
    with pytest.raises(RuntimeError, match="share one place"):
        clip_grad_value_([p, q], 1.0)
    with pytest.raises(TypeError, match="got str among them"):
        clip_grad_norm_([p, "q"], 1.0)
    with pytest.raises(RuntimeError, match=r"of order 2 is nan.*error_if_nonfinite=False"):
        q.grad = zero.full((2, 3), math.nan)
        clip_grad_norm_([p, q], 1.0, error_if_nonfinite=True)
    assert p.grad.tolist() == [5.0] * 3 and p.grad._version == 0
    with pytest.raises(TypeError, match="floating"):
        get_total_norm([zero.arange(3)])
    with pytest.raises(RuntimeError, match="two devices"):
        get_total_norm([zero.ones(3), zero.ones(3, device="meta")])
    with pytest.raises(TypeError, match="max_norm is not a number"):
        clip_grad_norm_([p], "much")


def test_writes_are_counted_where_there_are_some():
    p = Parameter(zero.ones(3))
    p.grad = zero.ones(3)
    clip_grad_norm_([p], 5.0)
    assert p.grad._version == 0  # nothing was multiplied
    clip_grad_norm_([p], 1.0)
    assert p.grad._version == 1


def test_meta():
    p = Parameter(zero.zeros(3, device="meta"))
    p.grad = zero.zeros(3, device="meta")
    assert clip_grad_norm_([p], 1.0).device.type == "meta"
    clip_grad_value_([p], 1.0)
    with pytest.raises(RuntimeError, match="meta"):
        clip_grad_norm_([p], 1.0, error_if_nonfinite=True)


def test_values():
    ps, arrays = parameters("float32", "float64", "bfloat16", "float16")
    clip_grad_value_(ps, 0.5)
    for p, array in zip(ps, arrays, strict=True):
        np.testing.assert_array_equal(p.grad.double().numpy(), np.clip(array, -0.5, 0.5))
    p = Parameter(zero.zeros(3))
    p.grad = zero.tensor([math.nan, -math.inf, math.inf])
    clip_grad_value_(p, 1)
    assert str(p.grad.tolist()) == "[nan, -1.0, 1.0]"


def test_lerp_of_lists():
    for dtypes in LISTS:
        ps, starts = parameters(*dtypes)
        qs, ends = parameters(*dtypes, seed=1)
        xs = [p.grad for p in ps]
        pointers = [x.data_ptr() for x in xs]
        zero._foreach_lerp_(xs, [q.grad for q in qs], 0.25)
        assert [x.data_ptr() for x in xs] == pointers
        for x, a, b in zip(xs, starts, ends, strict=True):
            tolerance = TOLERANCE[str(x.dtype).split(".")[1]]
            np.testing.assert_allclose(
                x.double().numpy(), a + 0.25 * (b - a), rtol=tolerance, atol=tolerance
            )
    a, b = zero.ones(200, 300), zero.zeros(300, 200)
    zero._foreach_lerp_([a, a[:1]], [b.t(), zero.ones(1, 300)], 0.5)  # other strides; in order
    assert a[0, 0] == 0.75 and a[1, 0] == 0.5 and a._version == 2
    with pytest.raises(ValueError, match="2 and 1"):
        zero._foreach_lerp_([a, a], [b], 0.5)
    with pytest.raises(RuntimeError, match="pair 1"):
        zero._foreach_lerp_([a, a], [a.clone(), b], 0.5)
    with pytest.raises(TypeError, match="pair 0"):
        zero._foreach_lerp_([a], [a.double()], 0.5)
    with pytest.raises(RuntimeError, match="no_grad"):
        zero._foreach_lerp_([Parameter(a)], [a], 0.5)
    assert a[1, 0] == 0.5
