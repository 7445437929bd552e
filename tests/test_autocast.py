"""Mixed precision: which operators cast to what, copies of weights, nesting, threads, layers."""

import gc
import threading
import warnings
import weakref

import numpy as np
import pytest
from layer_table import LAYERS, NOT_IN_THE_TABLE, arguments

import zero
import zero.nn.functional as F
from zero import nn

HALVES = [zero.bfloat16, zero.float16]


def u(*shape):
    return zero.rand(shape) * 0.8 + 0.1


I2 = zero.tensor([0, 1])
# PyTorch's lists, each checked by running it: operator -> a call on float32 tensors, and what it
# gives under autocast in bfloat16 for inputs of float32 and of bfloat16.
LOWER, WIDE, SAME = ("bfloat16", "bfloat16"), ("float32", "float32"), ("float32", "bfloat16")
CALLS = {
    "mm": (lambda c: zero.mm(c(2, 3), c(3, 2)), LOWER),
    "matmul": (lambda c: zero.matmul(c(2, 3), c(3, 2)), LOWER),
    "@": (lambda c: c(3) @ c(3), LOWER),
    "matmul with a vector": (lambda c: zero.matmul(c(2, 3), c(3)), LOWER),
    "bmm": (lambda c: zero.bmm(c(2, 2, 3), c(2, 3, 2)), LOWER),
    "addmm": (lambda c: zero.addmm(c(2, 2), c(2, 3), c(3, 2)), LOWER),
    "baddbmm": (lambda c: zero.baddbmm(c(2, 2, 2), c(2, 2, 3), c(2, 3, 2)), LOWER),
    "addbmm": (lambda c: zero.addbmm(c(2, 2), c(2, 2, 3), c(2, 3, 2)), LOWER),
    "linear": (lambda c: zero.linear(c(2, 3), c(2, 3), c(2)), LOWER),
    "einsum": (lambda c: zero.einsum("ij,jk->ik", c(2, 3), c(3, 2)), LOWER),
    "tensordot": (lambda c: zero.tensordot(c(2, 3), c(3, 2), 1), LOWER),
    "inner": (lambda c: zero.inner(c(2, 3), c(2, 3)), LOWER),
    "inner of vectors": (lambda c: zero.inner(c(3), c(3)), SAME),
    "chain_matmul": (lambda c: zero.chain_matmul(c(2, 3), c(3, 2)), LOWER),
    "vecdot": (lambda c: zero.linalg.vecdot(c(2, 3), c(2, 3)), LOWER),
    "multi_dot": (lambda c: zero.linalg.multi_dot([c(2, 3), c(3, 2)]), LOWER),
    "conv2d": (lambda c: F.conv2d(c(1, 2, 5, 5), c(2, 2, 3, 3), c(2)), LOWER),
    "conv_transpose1d": (lambda c: F.conv_transpose1d(c(1, 2, 5), c(2, 2, 3)), LOWER),
    "prelu": (lambda c: F.prelu(c(1, 2, 5), c(2)), LOWER),
    "attention": (
        lambda c: F.scaled_dot_product_attention(c(2, 3, 4), c(2, 3, 4), c(2, 3, 4)),
        LOWER,
    ),
    "attention with a mask": (
        lambda c: F.scaled_dot_product_attention(c(3, 4), c(3, 4), c(3, 4), attn_mask=c(3, 3)),
        LOWER,
    ),
    "affine_grid": (lambda c: F.affine_grid(c(1, 2, 3), (1, 1, 3, 3), False), LOWER),
    "mv": (lambda c: zero.mv(c(2, 3), c(3)), SAME),
    "dot": (lambda c: zero.dot(c(3), c(3)), SAME),
    "addmv": (lambda c: zero.addmv(c(2), c(2, 3), c(3)), SAME),
    "addr": (lambda c: zero.addr(c(2, 3), c(2), c(3)), SAME),
    "outer": (lambda c: zero.outer(c(2), c(3)), SAME),
    "bilinear": (lambda c: F.bilinear(c(2, 3), c(2, 3), c(4, 3, 3)), SAME),
    "kron": (lambda c: zero.kron(c(2, 3), c(2, 3)), SAME),
    "softmax": (lambda c: c(3).softmax(0), SAME),
    "layer_norm": (lambda c: F.layer_norm(c(2, 3), (3,)), SAME),
    "exp": (lambda c: c(3).exp(), SAME),
    "sum": (lambda c: c(3).sum(), SAME),
    "norm": (lambda c: c(3).norm(), SAME),
    "cumprod": (lambda c: c(3).cumprod(0), SAME),
    "avg_pool2d": (lambda c: F.avg_pool2d(c(1, 2, 6, 6), 2), SAME),
    "max_pool3d with indices": (
        lambda c: F.max_pool3d(c(1, 2, 4, 4, 4), 2, return_indices=True)[0],
        SAME,
    ),
    "cosine_similarity": (lambda c: F.cosine_similarity(c(3, 3), c(3, 3)), SAME),
    "reflect in three dimensions": (
        lambda c: F.pad(c(1, 1, 4, 4, 4), (1,) * 6, mode="reflect"),
        SAME,
    ),
    "circular": (lambda c: F.pad(c(1, 1, 4), (1, 1), mode="circular"), SAME),
    "gaussian_nll_loss": (lambda c: F.gaussian_nll_loss(c(3), c(3), c(3)), SAME),
    "multilabel_soft_margin_loss": (
        lambda c: F.multilabel_soft_margin_loss(c(3, 2), c(3, 2)),
        SAME,
    ),
    "triplet_margin_with_distance_loss": (
        lambda c: F.triplet_margin_with_distance_loss(c(3, 2), c(3, 2), c(3, 2)),
        SAME,
    ),
    "prod": (lambda c: c(3).prod(), WIDE),
    "prod of a dimension": (lambda c: c(3, 2).prod(1), WIDE),
    "quantile": (lambda c: zero.quantile(c(3), 0.5), WIDE),
    "nanquantile": (lambda c: zero.nanquantile(c(3), 0.5), WIDE),
    "trace": (lambda c: zero.trace(c(3, 3)), WIDE),
    "cdist": (lambda c: zero.cdist(c(3, 3), c(3, 3)), WIDE),
    "avg_pool3d": (lambda c: F.avg_pool3d(c(1, 2, 6, 6, 6), 2), WIDE),
    "adaptive_avg_pool3d": (lambda c: F.adaptive_avg_pool3d(c(1, 2, 6, 6, 6), 2), WIDE),
    "max_pool3d": (lambda c: F.max_pool3d(c(1, 2, 6, 6, 6), 2), WIDE),
    "adaptive_max_pool3d": (lambda c: F.adaptive_max_pool3d(c(1, 2, 6, 6, 6), 2), WIDE),
    "fractional_max_pool2d": (
        lambda c: F.fractional_max_pool2d(c(1, 2, 6, 6), 2, output_size=3),
        WIDE,
    ),
    "max_unpool1d": (lambda c: F.max_unpool1d(c(1, 1, 2), zero.tensor([[[0, 2]]]), 2), WIDE),
    "grid_sample": (
        lambda c: F.grid_sample(c(1, 1, 4, 4), c(1, 2, 2, 2), align_corners=False),
        WIDE,
    ),
    "reflect": (lambda c: F.pad(c(1, 1, 4, 4), (1, 1, 1, 1), mode="reflect"), WIDE),
    "replicate": (lambda c: F.pad(c(1, 1, 4, 4, 4), (1,) * 6, mode="replicate"), WIDE),
    "mse_loss": (lambda c: F.mse_loss(c(3), c(3)), WIDE),
    "l1_loss": (lambda c: F.l1_loss(c(3), c(3)), WIDE),
    "binary_cross_entropy": (lambda c: F.binary_cross_entropy(c(3), c(3)), WIDE),
    "with pos_weight": (
        lambda c: F.binary_cross_entropy_with_logits(c(3), c(3), pos_weight=c(3)),
        WIDE,
    ),
    "nll_loss": (lambda c: F.nll_loss(c(2, 2), I2), WIDE),
    "cross_entropy": (lambda c: F.cross_entropy(c(2, 2), I2), WIDE),
    "cross_entropy of probabilities": (lambda c: F.cross_entropy(c(2, 2), c(2, 2)), WIDE),
    "poisson_nll_loss": (lambda c: F.poisson_nll_loss(c(3), c(3)), WIDE),
    "hinge_embedding_loss": (lambda c: F.hinge_embedding_loss(c(3), c(3)), WIDE),
    "margin_ranking_loss": (lambda c: F.margin_ranking_loss(c(3), c(3), c(3)), WIDE),
    "cosine_embedding_loss": (
        lambda c: F.cosine_embedding_loss(c(2, 2), c(2, 2), zero.tensor([1, -1])),
        WIDE,
    ),
    "triplet_margin_loss": (lambda c: F.triplet_margin_loss(c(3, 2), c(3, 2), c(3, 2)), WIDE),
    "multi_margin_loss": (lambda c: F.multi_margin_loss(c(2, 2), I2), WIDE),
    "multilabel_margin_loss": (
        lambda c: F.multilabel_margin_loss(c(2, 2), zero.tensor([[0, -1], [1, 0]])),
        WIDE,
    ),
    "soft_margin_loss": (lambda c: F.soft_margin_loss(c(3), c(3)), WIDE),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_an_operator_casts_to(name):
    call, expected = CALLS[name]
    found = []
    for dtype in (zero.float32, zero.bfloat16, zero.float64):
        with zero.autocast("cpu", dtype=zero.bfloat16):
            found.append(call(lambda *s: u(*s).to(dtype)).dtype.name)  # noqa: B023
    assert found == [*expected, "float64"]
    assert call(u).dtype is zero.float32


@pytest.mark.parametrize("join", [zero.cat, zero.stack, zero.hstack])
def test_joining_promotes(join):
    a = u(2)
    h, d = a.bfloat16(), a.double()
    with zero.autocast("cpu", dtype=zero.bfloat16):
        assert [join(x).dtype for x in ([a, h], [h, h], [d, h], [d, a])] == [
            zero.float32,
            zero.bfloat16,
            zero.float64,
            zero.float64,
        ]
        copied = zero.index_copy(a, 0, I2, h)
        assert copied.dtype is zero.float32 and zero.index_copy(h, 0, I2, h).dtype is zero.bfloat16


@pytest.mark.parametrize("dtype", HALVES)
def test_mixed_arguments_and_values(dtype):
    x, w = u(5, 7), u(7, 3)
    with zero.autocast("cpu", dtype=dtype):
        y = zero.mm(x.to(dtype), w)
    assert y.dtype is dtype
    exact = x.to(dtype).double().numpy() @ w.to(dtype).double().numpy()
    np.testing.assert_allclose(y.double().numpy(), exact, rtol=2**-8)


def test_what_is_left_alone():
    x, w = u(2, 3), u(3, 2)
    with zero.autocast("cpu"):
        assert zero.mm(x, w, out=zero.empty(2, 2)).dtype is zero.float32
        assert u(2, 2).addmm_(x, w).dtype is zero.float32
        whole = zero.ones(2, 2, dtype=zero.int64)
        assert zero.mm(whole, whole).dtype is zero.int64
        assert zero.mm(x.to("meta"), w.to("meta")).dtype is zero.float32
        with pytest.raises(zero.errors.DTypeError, match="dtypes differ"):
            zero.mm(x.double(), w)
        with pytest.raises(zero.errors.ShapeError, match=r"^mm: inner dimensions differ"):
            zero.mm(x, x)


def test_nesting_and_state():
    assert zero.get_autocast_dtype("cpu") is zero.bfloat16
    x = u(2, 2)
    with zero.autocast("cpu") as context:
        assert isinstance(context, zero.autocast) and zero.is_autocast_cpu_enabled()
        assert zero.is_autocast_enabled("cpu") and not zero.is_autocast_enabled()
        with zero.autocast("cpu", enabled=False):
            assert (x @ x).dtype is zero.float32 and not zero.is_autocast_enabled("cpu")
            with zero.autocast("cpu", dtype=zero.float16):
                assert (x @ x).dtype is zero.float16
                assert zero.get_autocast_cpu_dtype() is zero.float16
        assert (x @ x).dtype is zero.bfloat16 and zero.get_autocast_cpu_dtype() is zero.bfloat16
        with context:  # once more
            assert (x @ x).dtype is zero.bfloat16
    assert not zero.is_autocast_enabled("cpu") and (x @ x).dtype is zero.float32
    with pytest.raises(KeyError), zero.autocast("cpu"):
        raise KeyError
    assert not zero.is_autocast_enabled("cpu")


def test_decorator():
    @zero.autocast("cpu", dtype=zero.float16)
    def f(x, depth=0):
        """Doc."""
        return f(x, depth - 1) if depth else x @ x

    assert f(u(2, 2)).dtype is f(u(2, 2), depth=2).dtype is zero.float16 and f.__doc__ == "Doc."
    assert not zero.is_autocast_enabled("cpu")
    with pytest.raises(TypeError, match=r"^autocast: only functions can be decorated; got int"):
        zero.autocast("cpu")(3)


def test_settings():
    zero.set_autocast_enabled("cpu", True)
    zero.set_autocast_dtype("cpu", zero.float16)
    try:
        assert (u(2, 2) @ u(2, 2)).dtype is zero.float16
    finally:
        zero.set_autocast_cpu_enabled(False)
        zero.set_autocast_cpu_dtype(zero.bfloat16)
    zero.set_autocast_enabled(True)
    zero.set_autocast_gpu_dtype(zero.bfloat16)
    try:
        assert zero.is_autocast_enabled() and zero.is_autocast_enabled("cuda")
        assert (u(2, 2) @ u(2, 2)).dtype is zero.float32
        assert zero.get_autocast_gpu_dtype() is zero.bfloat16
    finally:
        zero.set_autocast_enabled("cuda", False)
        zero.set_autocast_gpu_dtype(zero.float16)
    with pytest.raises(TypeError, match="enabled is not given"):
        zero.set_autocast_enabled("cpu")
    with pytest.raises(RuntimeError, match=r"^autocast: no such device; got 'abacus', expected"):
        zero.get_autocast_dtype("abacus")


def test_errors_and_warnings():
    with pytest.raises(ValueError, match=r"^autocast: device_type is not a str; got device"):
        zero.autocast(zero.device("cpu"))
    with pytest.raises(RuntimeError, match=r"^autocast: no such device; got 'abacus'"):
        zero.autocast("abacus")
    with pytest.warns(UserWarning, match="switched off, got dtype zero"):
        context = zero.autocast("cpu", dtype=zero.float32)
    with context:
        assert (u(2, 2) @ u(2, 2)).dtype is zero.float32
    with pytest.warns(UserWarning, match="switched off, got dtype half"):
        context = zero.autocast("cpu", dtype="half", cache_enabled=False)
    with pytest.raises(TypeError, match="dtype is not a dtype; got 'half'"), context:
        pass
    assert zero.is_autocast_cache_enabled() and not context._before  # nothing has changed
    with pytest.warns(UserWarning, match="switched off, there is no device 'cuda'"):
        zero.autocast("cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zero.autocast("cuda", enabled=False)
    assert zero.amp.is_autocast_available("cpu") and not zero.amp.is_autocast_available("abacus")


def test_gradients_have_the_dtypes_of_the_forward_pass():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    x, target = u(5, 4), zero.tensor([0, 1, 2, 0, 1])
    seen = []
    with zero.autocast("cpu", dtype=zero.bfloat16):
        hidden = model[0](x)
        hidden.register_hook(lambda g: seen.append(g.dtype))
        loss = F.cross_entropy(model[2](model[1](hidden)), target)
        loss.backward()  # inside makes no difference
    inside = [p.grad for p in model.parameters()]
    assert seen == [zero.bfloat16] and {g.dtype for g in inside} == {zero.float32}
    model.zero_grad()
    with zero.autocast("cpu", dtype=zero.bfloat16):
        loss = F.cross_entropy(model(x), target)
    loss.backward()
    for g, p in zip(inside, model.parameters(), strict=True):
        assert zero.equal(g, p.grad)
    model.zero_grad()
    F.cross_entropy(model(x), target).backward()
    for g, p in zip(inside, model.parameters(), strict=True):
        assert (g - p.grad).abs().max() < 0.02 and not zero.equal(g, p.grad)


def test_second_gradients():
    w = u(3, 3).requires_grad_()
    with zero.autocast("cpu"):
        y = (u(2, 3) @ w).float().square().sum()
        (g,) = zero.autograd.grad(y, w, create_graph=True)
        assert g.dtype is zero.float32
        g.square().sum().backward()
    assert w.grad.dtype is zero.float32 and w.grad.abs().sum() > 0


# ---- copies of weights ---------------------------------------------------------------------------
def casts_of(y):
    """The nodes that cast, below a result."""
    found, todo = set(), [y.grad_fn]
    while todo:
        node = todo.pop()
        if "ToCopy" in node.name():
            found.add(node)
        todo += [n for n, _ in node.next_functions if n is not None]
    return found


def test_weights_are_cast_once():
    w, x = u(3, 3).requires_grad_(), u(2, 3)
    with zero.autocast("cpu"):
        y = zero.mm(x, w)
        with zero.autocast("cpu", enabled=False), zero.autocast("cpu"):
            y = y + zero.mm(x, w)
        assert len(casts_of(y)) == 1
        assert len(casts_of(y + zero.mm(x, w.t()))) == 2  # views are no leaves
        with zero.autocast("cpu", dtype=zero.float16):
            assert len(casts_of(y + zero.mm(x, w))) == 2
    with zero.autocast("cpu"):
        assert len(casts_of(y + zero.mm(x, w))) == 2
    with zero.autocast("cpu", cache_enabled=False):
        assert not zero.is_autocast_cache_enabled()
        assert len(casts_of(zero.mm(x, w) + zero.mm(x, w))) == 2
    assert zero.is_autocast_cache_enabled()
    y.sum().backward()
    np.testing.assert_allclose(
        w.grad.numpy(), 2 * x.sum(0).numpy()[:, None].repeat(3, 1), rtol=0.02
    )


def test_copies_follow_writes():
    w, x = zero.ones(2, 2, requires_grad=True), zero.ones(1, 2)
    with zero.autocast("cpu"):
        assert zero.mm(x, w).tolist() == [[2, 2]]
        with zero.no_grad():
            w.mul_(2)
        assert zero.mm(x, w).tolist() == [[4, 4]]
        for n in (3.0, 4.0, 5.0, 6.0):
            w.data = zero.full((2, 2), 0.0)  # never used; the next one may lie where another lay
            w.data = zero.full((2, 2), n)
            assert zero.mm(x, w).tolist() == [[2 * n, 2 * n]]
        w.data = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
        assert zero.mm(x, w).tolist() == [[4, 6]]
        w.data = w.data.t()  # the same memory
        assert zero.mm(x, w).tolist() == [[3, 7]]
        w.data.fill_(2)  # not counted
        zero.clear_autocast_cache()
        assert zero.mm(x, w).tolist() == [[4, 4]]


def test_a_copy_made_without_a_record_is_not_used_with_one():
    w, x = zero.ones(2, 2, requires_grad=True), zero.ones(1, 2)
    with zero.autocast("cpu"):
        with zero.no_grad():
            zero.mm(x, w)
        y = zero.mm(x, w)
        assert y.requires_grad
        with zero.inference_mode():
            assert not zero.mm(x, w).requires_grad
        zero.mm(x, w).sum().backward()
    assert w.grad is not None


def test_copies_are_freed():
    zero.empty_cache()
    w = zero.ones(256, 256, requires_grad=True)
    gone = weakref.ref(w)
    before = zero.memory_stats()["live_bytes"]
    with zero.autocast("cpu"):
        zero.mm(zero.ones(1, 256), w)
        assert zero.memory_stats()["live_bytes"] - before >= 2 * 256 * 256
    assert zero.memory_stats()["live_bytes"] - before < 10_000
    del w
    gc.collect()
    assert gone() is None


def test_threads_have_states_of_their_own():
    found = []

    def run(dtype):
        with zero.autocast("cpu", dtype=dtype):
            found.append((u(2, 2) @ u(2, 2)).dtype)
        found.append(zero.is_autocast_enabled("cpu"))

    with zero.autocast("cpu", dtype=zero.bfloat16):
        thread = threading.Thread(target=run, args=(zero.float16,))
        thread.start()
        thread.join()
        assert (u(2, 2) @ u(2, 2)).dtype is zero.bfloat16
    assert found == [zero.float16, False]


# ---- custom functions ----------------------------------------------------------------------------
def make_function(cast_inputs):
    class Product(zero.autograd.Function):
        @staticmethod
        @zero.amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            seen.append((a.dtype, zero.is_autocast_enabled("cpu")))
            return a @ b

        @staticmethod
        @zero.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append((g.dtype, zero.is_autocast_enabled("cpu")))
            return g @ b.t(), a.t() @ g

    seen = []
    return Product, seen


def test_custom_functions():
    a, b = u(2, 2).requires_grad_(), u(2, 2).requires_grad_()
    function, seen = make_function(None)
    with zero.autocast("cpu"):
        y = function.apply(a, b)
    assert y.dtype is zero.bfloat16
    y.sum().backward()
    assert seen == [(zero.float32, True), (zero.bfloat16, True)] and a.grad.dtype is zero.float32

    function, seen = make_function(zero.float32)
    with zero.autocast("cpu"):
        y = function.apply(a.detach().half(), b)
        assert y.dtype is zero.float32
        y.sum().backward()
    assert seen == [(zero.float32, False), (zero.float32, False)]

    function, seen = make_function(zero.float16)
    function.apply(a, b).sum().backward()  # not under autocast: nothing is cast
    assert seen == [(zero.float32, False), (zero.float32, False)]
    for decorator in (zero.amp.custom_fwd, zero.amp.custom_bwd):
        with pytest.raises(ValueError, match="device_type is not a str"):
            decorator(device_type=None)


def test_older_names():
    with zero.cpu.amp.autocast():
        assert (u(2, 2) @ u(2, 2)).dtype is zero.bfloat16
    with zero.cpu.amp.autocast(dtype=zero.float16):
        assert (u(2, 2) @ u(2, 2)).dtype is zero.float16
    assert zero.cpu.amp.GradScaler(init_scale=8.0).get_scale() == 8
    assert issubclass(zero.cuda.amp.autocast, zero.autocast)


# ---- layers --------------------------------------------------------------------------------------
def make(name):
    zero.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # NLLLoss2d is an old name
        return eval(f"nn.{name}({LAYERS[name][0]})", {"nn": nn})


def first(y):
    return y[0] if isinstance(y, tuple) else y


def test_the_table_has_all_layers():
    assert set(nn.__all__) - set(LAYERS) - NOT_IN_THE_TABLE - {*dir(nn)} == set()
    layers = {
        n for n in nn.__all__ if isinstance(getattr(nn, n), type) and n not in NOT_IN_THE_TABLE
    }
    assert layers - set(LAYERS) == set()


@pytest.mark.parametrize("name", LAYERS)
def test_dtypes_of_layers_under_autocast(name):
    _, inputs, *expected = LAYERS[name]
    for dtype, result in zip((zero.float32, zero.bfloat16), expected, strict=True):
        if result is None:
            continue
        layer = make(name)
        with zero.autocast("cpu", dtype=zero.bfloat16):
            y = first(layer(*arguments(inputs, dtype)))
        assert y.dtype.name == result
        if y.requires_grad:
            y.sum().backward()
            for p in layer.parameters():
                assert p.grad is None or p.grad.dtype is zero.float32


# Draws differ, or depend on the dtype.
RANDOM = {n for n in LAYERS if "Dropout" in n or n == "RReLU" or n.startswith("Fractional")}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_in_16_bits(name, dtype):
    inputs = LAYERS[name][1]
    results = []
    layer = make(name)
    for kind in (zero.float32, dtype):
        given = arguments(inputs, kind)
        if kind is dtype:
            layer = layer.to(dtype)
        else:
            layer(*given)  # lazy ones get their parameters
            for p in layer.parameters():
                p.data = p.data.to(dtype).float()
        floats = [x.requires_grad_() for x in given if x.is_floating_point()]
        layer.zero_grad()
        y = first(layer(*given))
        if name not in RANDOM:
            assert y.dtype is (kind if name not in ("CTCLoss",) else y.dtype)
        weights = ((zero.arange(y.numel()) * 7 % 5 - 2) / 2).reshape(y.shape)  # exact in all dtypes
        (y.float() * weights).sum().backward()
        found = [y, *(x.grad for x in floats), *(p.grad for p in layer.parameters())]
        results.append([None if x is None else x.detach().double().numpy() for x in found])
    assert all(np.isfinite(x).all() for x in results[1] if x is not None)
    if name in RANDOM:
        return
    tolerance = 8 * (2.0**-7 if dtype is zero.bfloat16 else 2.0**-10)  # 16 roundings
    # Gradients of queries and keys are small differences of large terms.
    largest = max(abs(x).max() for x in results[0] if x is not None and x.size)
    least = largest if name == "MultiheadAttention" else 0
    for wide, half in zip(*results, strict=True):
        assert (wide is None) == (half is None)
        if wide is not None and wide.size:
            np.testing.assert_allclose(
                half, wide, rtol=tolerance, atol=tolerance * max(abs(wide).max(), least)
            )
