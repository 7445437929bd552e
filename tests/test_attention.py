"""Attention: its engines against each other and the definition, masks, dropout, memory, threads."""

import itertools

import numpy as np
import pytest
from children import of_the_allocator
from op_db_attention import attention

import zero
from zero.errors import ShapeError
from zero.nn.attention import SDPBackend, sdpa_backend, sdpa_kernel
from zero.nn.functional import scaled_dot_product_attention

FLASH, MATH = SDPBackend.FLASH_ATTENTION, SDPBackend.MATH
NINF = float("-inf")


@pytest.fixture(autouse=True)
def same_threads():
    before = zero.get_num_threads()
    yield
    zero.set_num_threads(before)


def operands(length, keys, features, values, batch=(2, 3), dtype=zero.float64, seed=0):
    generator = zero.Generator().manual_seed(seed)

    def draw(*shape):
        x = zero.randn(*batch, *shape, generator=generator, dtype=zero.float64)
        return x.to(dtype).requires_grad_()

    return draw(length, features), draw(keys, features), draw(keys, values)


def results(backend, tensors, seed=0, **options):
    """The result of an engine and the gradients of its operands."""
    with sdpa_kernel(backend):
        y = scaled_dot_product_attention(*tensors, **options)
    g = zero.randn(y.shape, generator=zero.Generator().manual_seed(seed), dtype=zero.float64)
    return [y.detach(), *zero.autograd.grad(y, tensors, g.to(y.dtype))]


def largest_difference(found, expected):
    differences = [(a.double() - b.double()).abs() for a, b in zip(found, expected, strict=True)]
    return max(d.max().item() if d.numel() else 0.0 for d in differences)


# Edges of the tiles: 64 queries in panels of 8 or 16, 256 keys, parts of as many.
LENGTHS = [(1, 1), (1, 600), (7, 9), (8, 256), (9, 257), (17, 5), (64, 64), (65, 513), (130, 600)]
MASKS = ["none", "causal", "bool", "padding", "rows", "float", "double"]


def masked(kind, length, keys, batch=(2, 3)):
    generator = zero.Generator().manual_seed(length * 1000 + keys)
    shapes = {
        "bool": (batch[0], 1, length, keys),
        "padding": (batch[0], 1, 1, keys),
        "rows": (length, 1),
        "float": (length, keys),
        "double": (*batch, length, keys),
    }
    if kind == "none":
        return {}
    if kind == "causal":
        return {"is_causal": True}
    x = zero.randn(shapes[kind], generator=generator, dtype=zero.float64)
    if kind in ("bool", "padding", "rows"):
        return {"attn_mask": x > -0.3}
    return {"attn_mask": (x if kind == "double" else x.float()).masked_fill(x < -1, NINF)}


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("length, keys", LENGTHS)
def test_tiles_against_the_definition(length, keys, kind):
    tensors = operands(length, keys, 5, 3)
    options = masked(kind, length, keys)
    found = results(FLASH, tensors, **options)
    assert largest_difference(found, results(MATH, tensors, **options)) < 1e-12
    arrays = [t.detach().numpy() for t in tensors]
    numbers = {k: v.numpy() if isinstance(v, zero.Tensor) else v for k, v in options.items()}
    np.testing.assert_allclose(found[0].numpy(), attention(*arrays, **numbers), atol=1e-13)


@pytest.mark.parametrize(
    "dtype, bound", [(zero.float32, 3e-6), (zero.bfloat16, 0.03), (zero.float16, 4e-3)]
)
@pytest.mark.parametrize("kind", ["none", "causal", "bool", "float"])
def test_narrow_dtypes(dtype, bound, kind):
    tensors = operands(70, 200, 16, 16, dtype=dtype)
    exact = [t.detach().double().requires_grad_() for t in tensors]
    options = masked(kind, 70, 200)
    for backend in (FLASH, MATH):
        found = results(backend, tensors, **options)
        assert {x.dtype for x in found} == {dtype}
        assert largest_difference(found, results(MATH, exact, **options)) < bound


@pytest.mark.parametrize("backend", [FLASH, MATH])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True, "scale": 0.7},
        {"attn_mask": zero.tensor([[True, False, True], [False] * 3, [True] * 3, [False] * 3])},
        {"attn_mask": zero.tensor([[0.5, NINF, 1.0], [NINF] * 3, [0.0] * 3, [0.0, 0.0, 2.0]])},
        {"dropout_p": 0.4},
        {"enable_gqa": True},
    ],
    ids=["plain", "causal", "bools", "numbers", "dropout", "groups"],
)
def test_gradients_and_their_gradients(backend, options):
    heads = 2 if options.get("enable_gqa") else 4
    tensors = operands(4, 3, 2, 3, (1, 4))
    tensors = tensors[0], *(t.detach()[:, :heads].requires_grad_() for t in tensors[1:])

    def f(q, k, v):
        zero.manual_seed(7)
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, **options)

    assert zero.autograd.gradcheck(f, tensors)
    assert zero.autograd.gradgradcheck(f, tensors)


def test_the_gradient_of_a_mask():
    q, k, v = operands(3, 4, 2, 2)
    bias = zero.randn(3, 4, dtype=zero.float64).requires_grad_()
    assert sdpa_backend(q, k, v, attn_mask=bias) is MATH

    def f(*args):
        return scaled_dot_product_attention(*args)

    assert zero.autograd.gradcheck(f, (q, k, v, bias))
    assert zero.autograd.gradgradcheck(f, (q, k, v, bias))
    with zero.no_grad():
        assert sdpa_backend(q, k, v, attn_mask=bias) is FLASH
    with sdpa_kernel(FLASH), pytest.raises(RuntimeError, match=r"FLASH_ATTENTION \(the mask req"):
        scaled_dot_product_attention(q, k, v, attn_mask=bias)


# ---- layouts and batches -------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [zero.float32, zero.float64])
def test_heads_between_length_and_features(dtype):
    generator = zero.Generator().manual_seed(1)
    packed = zero.randn(2, 70, 3 * 4 * 8, generator=generator, dtype=dtype).requires_grad_()
    q, k, v = (x.unflatten(-1, (4, 8)).transpose(1, 2) for x in packed.chunk(3, -1))
    copies = [x.detach().contiguous().requires_grad_() for x in (q, k, v)]
    for options in ({}, {"is_causal": True}, {"attn_mask": zero.ones(70, 70).tril().bool()}):
        y = scaled_dot_product_attention(q, k, v, **options)
        assert y.transpose(1, 2).is_contiguous()  # so heads are joined without a copy
        z = scaled_dot_product_attention(*copies, **options)
        assert zero.equal(y, z)
        g = zero.randn(y.shape, generator=generator, dtype=dtype)
        (found,) = zero.autograd.grad(y, packed, g)
        expected = zero.autograd.grad(z, copies, g)
        joined = zero.cat([x.transpose(1, 2).flatten(2) for x in expected], -1)
        assert zero.equal(found, joined)


def test_any_strides():
    q, k, v = operands(20, 30, 6, 4)
    expected = results(FLASH, (q, k, v))
    turned = [x.detach().transpose(-1, -2).contiguous().transpose(-1, -2) for x in (q, k, v)]
    spread = [x.detach().repeat_interleave(2, -1)[..., ::2] for x in (q, k, v)]
    for tensors in (turned, spread):
        assert not tensors[0].is_contiguous()
        found = results(FLASH, [x.requires_grad_() for x in tensors])
        assert largest_difference(found, expected) < 1e-14
    y = scaled_dot_product_attention(q, k, v)
    summed = zero.autograd.grad(y.sum(), (q, k, v))  # an expanded gradient
    whole = zero.autograd.grad(scaled_dot_product_attention(q, k, v), (q, k, v), zero.ones_like(y))
    assert all(zero.equal(a, b) for a, b in zip(summed, whole, strict=True))


@pytest.mark.parametrize("backend", [FLASH, MATH])
def test_batches_broadcast(backend):
    q, k, v = operands(5, 7, 4, 3, (2, 3))
    few = k.detach()[:1].requires_grad_(), v.detach()[0, 0].requires_grad_()
    wide = few[0].detach().expand(2, 3, 7, 4), few[1].detach().expand(2, 3, 7, 3)
    expected = results(backend, (q, *(x.clone().requires_grad_() for x in wide)))
    found = results(backend, (q, *few))
    expected[2] = expected[2].sum(0, keepdim=True)
    expected[3] = expected[3].sum((0, 1))
    assert [x.shape for x in found] == [x.shape for x in expected]
    assert largest_difference(found, expected) < 1e-13


@pytest.mark.parametrize("backend", [FLASH, MATH])
@pytest.mark.parametrize("kind", ["none", "causal", "bool", "padding", "double"])
@pytest.mark.parametrize("heads", [(1, 1), (2, 2), (3, 3), (3, 1)])
def test_grouped_heads(backend, kind, heads):
    batch = (2, 6)
    q, k, v = operands(20, 140, 4, 3, batch)
    few = [x.detach()[:, :n].requires_grad_() for x, n in zip((k, v), heads, strict=True)]
    each = [x.detach().repeat_interleave(6 // x.shape[1], 1).requires_grad_() for x in few]
    options = masked(kind, 20, 140, batch)
    found = results(backend, (q, *few), enable_gqa=True, **options)
    expected = results(MATH, (q, *each), **options)
    for i, x in enumerate(few):
        expected[2 + i] = expected[2 + i].unflatten(1, (x.shape[1], -1)).sum(2)
    assert largest_difference(found, expected) < 1e-12


@pytest.mark.parametrize("backend", [FLASH, MATH])
@pytest.mark.parametrize("sizes", list(itertools.product((0, 2), repeat=4)))
@pytest.mark.parametrize("batch", [(), (0,), (2, 0), (2,)])
def test_empty_dimensions(backend, sizes, batch):
    tensors = operands(*sizes, batch=batch)
    found = results(backend, tensors)
    assert found[0].shape == (*batch, sizes[0], sizes[3])
    assert [x.shape for x in found[1:]] == [x.shape for x in tensors]
    expected = attention(*(t.detach().numpy() for t in tensors))
    np.testing.assert_allclose(found[0].numpy(), expected, atol=1e-14)
    assert all(x.isfinite().all() for x in found)


# ---- masks and special numbers -------------------------------------------------------------------
@pytest.mark.parametrize("backend", [FLASH, MATH])
@pytest.mark.parametrize("bools", [True, False])
def test_queries_that_see_no_key(backend, bools):
    q, k, v = operands(70, 200, 4, 3, dtype=zero.float32)
    seen = zero.rand(70, 200, generator=zero.Generator().manual_seed(0)) < 0.5
    blind = [0, 3, 64, 69]
    seen[blind] = False
    seen[:, 150:] = False  # keys that nobody sees
    mask = seen if bools else zero.zeros(70, 200).masked_fill(~seen, NINF)
    y, dq, dk, dv = results(backend, (q, k, v), attn_mask=mask)
    assert all(x.isfinite().all() for x in (y, dq, dk, dv))
    assert not y[..., blind, :].any() and not dq[..., blind, :].any()
    assert not dk[..., 150:, :].any() and not dv[..., 150:, :].any()
    assert y[..., 1, :].all()


@pytest.mark.parametrize("backend", [FLASH, MATH])
def test_the_most_negative_number_hides_nothing_by_itself(backend):
    least = zero.finfo(zero.float32).min
    mask = zero.tensor([[least] * 3, [0.0] * 3, [least, 0.0, 0.0], [least, NINF, NINF]])
    v = zero.tensor([[0.0], [3.0], [6.0]]).requires_grad_()
    q = zero.zeros(4, 1).requires_grad_()
    k = zero.zeros(3, 1).requires_grad_()
    with sdpa_kernel(backend):
        y = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert y.flatten().tolist() == [3, 3, 4.5, 0]
    (g,) = zero.autograd.grad(y[0].sum(), v)
    np.testing.assert_allclose(g.numpy().ravel(), [1 / 3] * 3, rtol=1e-6)


@pytest.mark.parametrize("backend", [FLASH, MATH])
def test_nan_stays(backend):
    q, k, v = (x.detach() for x in operands(70, 300, 4, 4, (1,), zero.float32))
    q[0, 66, 1] = zero.nan
    mask = zero.ones(70, 300).tril(200).bool()
    with sdpa_kernel(backend):
        for options in ({}, {"is_causal": True}, {"attn_mask": mask}):
            y = scaled_dot_product_attention(q, k, v, **options)
            assert y[0, 66].isnan().all() and y[0, :66].isfinite().all()
            assert y[0, 67:].isfinite().all()
        q[0, 66, 1] = zero.inf
        assert scaled_dot_product_attention(q, k, v)[0, 66].isnan().all()
        # What takes no part does not matter, whatever its score.
        q[0, 66, 1], k[0, 299, 0] = 0.0, zero.nan
        mask[:, 290:] = False
        for given in (mask, zero.zeros(70, 300).masked_fill(~mask, NINF)):
            assert scaled_dot_product_attention(q, k, v, attn_mask=given).isfinite().all()


@pytest.mark.parametrize("backend", [FLASH, MATH])
def test_scores_far_apart(backend):
    q = zero.tensor([[100.0], [-100.0], [0.0]]).requires_grad_()
    k = zero.linspace(-50, 50, 201)[:, None].requires_grad_()
    v = zero.arange(201.0)[:, None].requires_grad_()
    y, *gradients = results(backend, (q, k, v), scale=1.0)
    np.testing.assert_allclose(y.numpy().ravel(), [200, 0, 100], atol=1e-4)
    assert all(g.isfinite().all() for g in gradients)


@pytest.mark.parametrize("length", [3, 30])
def test_nothing_comes_from_rounding_where_one_weight_is_1(length):
    generator = zero.Generator().manual_seed(2)
    q = zero.zeros(length, 6)
    q[:, 0] = 1000.0
    k = zero.eye(6)
    v, g = (zero.randn(n, 6, generator=generator) * 1000 for n in (6, length))
    tensors = [x.requires_grad_() for x in (q, k, v)]
    y = scaled_dot_product_attention(*tensors)
    dq, dk, dv = zero.autograd.grad(y, tensors, g)
    assert zero.equal(y.detach(), v.detach()[:1].expand(length, 6))
    assert not dq.any() and not dk.any() and not dv[1:].any()


def test_gradients_are_as_exact_as_the_result():
    # A pass back that found other scores than the forward pass would be off by their difference.
    generator = zero.Generator().manual_seed(3)
    shapes = [(200, 3, 8), (200, 6, 8), (200, 6, 8), (200, 3, 8)]
    *tensors, g = (zero.rand(s, generator=generator) * 18 - 9 for s in shapes)
    found, expected = (
        [x.to(dtype).requires_grad_() for x in tensors] for dtype in (zero.float32, zero.float64)
    )
    y, z = (scaled_dot_product_attention(*x) for x in (found, expected))
    dv = zero.autograd.grad(y, found, g)[2], zero.autograd.grad(z, expected, g.double())[2]
    error, error_of_dv = ((a.double() - b).square().mean().sqrt() for a, b in ((y, z), dv))
    assert error < 3e-6 and error_of_dv < 3e-6


@pytest.mark.parametrize("keys", [40, 700])
def test_gradients_in_16_bits_are_rounded_once(keys):
    tensors = operands(20, keys, 16, 16, dtype=zero.bfloat16)
    exact = [x.detach().double().requires_grad_() for x in tensors]
    found, expected = results(FLASH, tensors), results(MATH, exact)
    g = zero.randn(found[0].shape, generator=zero.Generator().manual_seed(0), dtype=zero.float64)
    rounded = scaled_dot_product_attention(*exact)
    expected[1:] = zero.autograd.grad(rounded, exact, g.bfloat16().double())
    for a, b in zip(found, expected, strict=True):
        error = (a.double() - b).abs()
        assert (error <= 2.0**-8 * b.abs() + 1e-4 * b.abs().max()).all()


@pytest.mark.parametrize("length", [1, 2, 4, 5])
@pytest.mark.parametrize("kind", ["none", "causal", "bool", "padding", "rows", "double"])
def test_few_queries_without_gradients(length, kind):
    tensors = operands(length, 1100, 20, 3)
    options = masked(kind, length, 1100)
    expected = scaled_dot_product_attention(*tensors, **options)
    with zero.no_grad():
        for dropout in (0.0, 0.3):
            zero.manual_seed(1)
            y = scaled_dot_product_attention(*tensors, dropout_p=dropout, **options)
            zero.manual_seed(1)
            with sdpa_kernel(MATH):
                z = scaled_dot_product_attention(*tensors, dropout_p=dropout, **options)
            assert largest_difference([y], [z]) < 1e-13
            if dropout == 0:
                assert largest_difference([y], [expected]) < 1e-13


# ---- dropout -------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"enable_gqa": True}])
def test_engines_drop_the_same_weights(options):
    q, k, v = operands(70, 150, 4, 3, (2, 4))
    if options.get("enable_gqa"):
        k, v = (x.detach()[:, :2].requires_grad_() for x in (k, v))
    found = {}
    for backend in (FLASH, MATH):
        zero.manual_seed(3)
        found[backend] = results(backend, (q, k, v), dropout_p=0.3, **options)
        found[backend].append(zero.rand(1))  # as many numbers are used up
    assert largest_difference(found[FLASH], found[MATH]) < 1e-12
    assert largest_difference(found[FLASH][:1], results(FLASH, (q, k, v), **options)[:1]) > 0.1


def test_dropout_drops_as_many_as_it_says():
    n = 400
    q, k, v = zero.zeros(1, n, 1), zero.zeros(1, n, 1), zero.eye(n)[None]
    zero.manual_seed(0)
    y = scaled_dot_product_attention(q, k, v, dropout_p=0.25)
    kept = (y != 0).float().mean().item()
    assert abs(kept - 0.75) < 5 * (0.25 * 0.75) ** 0.5 / n
    np.testing.assert_allclose(y[y != 0].numpy(), 1 / 0.75 / n, rtol=1e-5)
    assert not scaled_dot_product_attention(q, k, v, dropout_p=1.0).any()


# ---- the choice ----------------------------------------------------------------------------------
def test_engines_are_chosen_and_forced():
    x = zero.ones(1, 2, 3)
    assert sdpa_backend(x, x, x) is FLASH and zero._fused_sdp_choice(x, x, x) == 1
    for one in (MATH, FLASH, SDPBackend.EFFICIENT_ATTENTION):
        with sdpa_kernel(one) as nothing:
            assert nothing == {} and sdpa_backend(x, x, x) is one
            y = scaled_dot_product_attention(x.requires_grad_(), x, x)
            assert (y.grad_fn.name() == "ScaledDotProductFlashAttentionForCpuBackward0") == (
                one is not MATH
            )
    both = [MATH, SDPBackend.EFFICIENT_ATTENTION]
    with sdpa_kernel(both):
        assert sdpa_backend(x, x, x) is SDPBackend.EFFICIENT_ATTENTION
        with sdpa_kernel(both, set_priority=True):
            assert sdpa_backend(x, x, x) is MATH
            with sdpa_kernel([FLASH, MATH]):
                assert sdpa_backend(x, x, x) is MATH
        assert sdpa_backend(x, x, x) is SDPBackend.EFFICIENT_ATTENTION
    assert sdpa_backend(x, x, x) is FLASH
    with pytest.raises(KeyError), sdpa_kernel(MATH):
        raise KeyError
    assert sdpa_backend(x, x, x) is FLASH


def test_the_choice_takes_what_a_call_under_autocast_takes():
    x, mask = zero.randn(2, 5, 8), zero.zeros(5, 5, requires_grad=True)
    with zero.autocast("cpu", dtype=zero.bfloat16):
        assert scaled_dot_product_attention(x.bfloat16(), x, x).dtype is zero.bfloat16
        assert sdpa_backend(x.bfloat16(), x, x) is SDPBackend.FLASH_ATTENTION
        assert sdpa_backend(x.bfloat16(), x, x, mask) is SDPBackend.MATH


def test_engines_that_do_not_exist():
    x = zero.ones(1, 2, 3)
    with sdpa_kernel([SDPBackend.CUDNN_ATTENTION, SDPBackend.OVERRIDEABLE]):
        assert sdpa_backend(x, x, x) is SDPBackend.ERROR
        with pytest.raises(RuntimeError, match=r"got CUDNN_ATTENTION \(there is no such engine"):
            scaled_dot_product_attention(x, x, x)
    with sdpa_kernel([]), pytest.raises(RuntimeError, match="got none, expected MATH"):
        scaled_dot_product_attention(x, x, x)
    for wrong in ("flash", [1], None, (MATH,)):
        with pytest.raises(TypeError, match="no engines"), sdpa_kernel(wrong):
            pass
    with pytest.raises(ValueError, match="ERROR"), sdpa_kernel(SDPBackend.ERROR):
        pass
    assert sdpa_backend(x, x, x) is FLASH
    with pytest.raises(ShapeError, match="length"):
        sdpa_backend(x, x, x[:, :1])


def test_the_numbers_of_engines():
    numbers = {b.name: int(b) for b in SDPBackend}
    assert numbers == {
        "ERROR": -1,
        "MATH": 0,
        "FLASH_ATTENTION": 1,
        "EFFICIENT_ATTENTION": 2,
        "CUDNN_ATTENTION": 3,
        "OVERRIDEABLE": 4,
    }
    assert repr(FLASH) == "<SDPBackend.FLASH_ATTENTION: 1>" and str(MATH) == "SDPBackend.MATH"


def test_wrong_arguments():
    x = zero.ones(2, 3)
    for args in ((1, x, x), (x, None, x), (x, x, [1]), (x, x, x, "mask")):
        with pytest.raises(TypeError, match="is not a Tensor"):
            scaled_dot_product_attention(*args)
    with pytest.raises(TypeError):
        scaled_dot_product_attention(x, x, x, None, 0.0, False, 1.0)  # scale by name only
    with pytest.raises(RuntimeError, match="two devices"):
        scaled_dot_product_attention(x, x, x.to("meta"))


def test_meta_tensors():
    q, k, v = (x.detach().to("meta").requires_grad_() for x in operands(3, 5, 4, 2))
    for backend in (FLASH, MATH):
        with sdpa_kernel(backend):
            y = scaled_dot_product_attention(q, k, v, dropout_p=0.5)
        assert y.shape == (2, 3, 3, 2) and y.device.type == "meta"
        grads = zero.autograd.grad(y, (q, k, v), zero.empty_like(y))
        assert [g.shape for g in grads] == [x.shape for x in (q, k, v)]


@pytest.mark.parametrize("keys", [5, 300])
@pytest.mark.parametrize("which", ["key", "result"])
def test_writes_before_backward_are_noticed(keys, which):
    q, k, v = operands(3, keys, 4, 2)
    y = scaled_dot_product_attention(q, k, v)
    loss = y.sum()
    with zero.no_grad():
        (k if which == "key" else y).mul_(2)
    if which == "result" and keys == 5:  # which is not kept where one tile has all keys
        loss.backward()
        return
    with pytest.raises(RuntimeError, match="was modified by an inplace"):
        loss.backward()


# ---- threads and memory --------------------------------------------------------------------------
@pytest.mark.parametrize(
    "batch, length, keys, options",
    [
        ((2, 3), 65, 257, {}),
        ((1, 1), 300, 2100, {}),
        ((1, 1), 2100, 300, {}),
        ((1, 1), 1100, 1100, {"is_causal": True}),
        ((1, 3), 700, 800, {"dropout_p": 0.2}),
        ((1, 4), 200, 600, {"enable_gqa": True}),
        ((50,), 3, 4, {}),
    ],
)
def test_the_same_bits_on_any_number_of_threads(batch, length, keys, options):
    tensors = operands(length, keys, 24, 16, batch, zero.float32)
    if options.get("enable_gqa"):
        tensors = tensors[0], *(x.detach()[:, :2].requires_grad_() for x in tensors[1:])
    expected = None
    for threads in (1, 2, 3, 7):
        zero.set_num_threads(threads)
        zero.manual_seed(5)
        found = [x.numpy().tobytes() for x in results(FLASH, tensors, **options)]
        expected = expected or found
        assert found == expected, threads


@of_the_allocator
@pytest.mark.parametrize("threads", [1, 3])
def test_memory_is_linear_in_the_length(threads):
    zero.set_num_threads(threads)
    n = 16 * 1024
    q, k, v = (zero.randn(1, 1, n, 64).requires_grad_() for _ in range(3))
    mask = zero.ones(n, dtype=zero.bool)  # broadcast, and never in full size
    mask[n // 2 :] = False
    mask = mask.expand(n, n)
    zero.empty_cache()
    zero.reset_peak_memory_stats()
    before = zero.memory_stats()["live_bytes"]
    y = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    y.backward(zero.ones_like(y))
    peak = zero.memory_stats()["peak_bytes"] - before
    assert peak < 100e6, f"{peak / 1e6:.0f} MB"
    assert not k.grad[..., n // 2 :, :].any() and k.grad[..., 0, :].any()
