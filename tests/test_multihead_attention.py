"""nn.MultiheadAttention and F.multi_head_attention_forward, beyond PyTorch's values.

Those stand in test_transformer.py.
"""

import copy
import math
import pickle

import numpy as np
import pytest

import zero
from zero import nn
from zero.errors import DTypeError, ShapeError, ValueError
from zero.nn import functional as F
from zero.nn.utils import parametrize

NAN, INF = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def seed():
    zero.manual_seed(0)


def values(t):
    return np.array(t.detach().double().tolist())


def close(found, expected, tolerance=1e-5):
    np.testing.assert_allclose(values(found), values(expected), tolerance, tolerance)


def reference(m, query, key, value, mask=None):
    """[N, L, E] of [N, L, E] and masks that are added, in NumPy: outputs and weights of heads."""
    weights = m.in_proj_weight.chunk(3) if m._qkv_same_embed_dim else (
        m.q_proj_weight, m.k_proj_weight, m.v_proj_weight
    )  # fmt: skip
    biases = [0.0] * 3 if m.in_proj_bias is None else np.split(values(m.in_proj_bias), 3)
    q, k, v = (
        values(x) @ values(w).T + b
        for x, w, b in zip((query, key, value), weights, biases, strict=True)
    )
    h, d = m.num_heads, m.head_dim
    if m.bias_k is not None:
        k, v = (
            np.concatenate([x, np.broadcast_to(values(b), (len(x), 1, h * d))], 1)
            for x, b in ((k, m.bias_k), (v, m.bias_v))
        )
    if m.add_zero_attn:
        k, v = (np.pad(x, ((0, 0), (0, 1), (0, 0))) for x in (k, v))
    q, k, v = (x.reshape(*x.shape[:2], h, d).transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(d)
    if mask is not None:
        scores += np.pad(mask, (*[(0, 0)] * (mask.ndim - 1), (0, k.shape[2] - mask.shape[-1])))
    top = np.where(np.isinf(scores.max(-1, keepdims=True)), 0, scores.max(-1, keepdims=True))
    e = np.exp(scores - top)
    w = e / np.where(e.sum(-1, keepdims=True) == 0, 1, e.sum(-1, keepdims=True))
    y = (w @ v).transpose(0, 2, 1, 3).reshape(*query.shape)
    bias = 0.0 if m.out_proj.bias is None else values(m.out_proj.bias)
    return y @ values(m.out_proj.weight).T + bias, w


OPTIONS = [
    {},
    {"bias": False},
    {"kdim": 5, "vdim": 7},
    {"add_bias_kv": True},
    {"add_zero_attn": True, "add_bias_kv": True},
    {"kdim": 5, "bias": False, "add_zero_attn": True},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("batch_first", [True, False])
def test_against_numpy(options, batch_first):
    m = nn.MultiheadAttention(6, 3, batch_first=batch_first, dtype=zero.float64, **options)
    with zero.no_grad():
        for p in m.parameters():  # biases, too
            p.copy_(zero.randn_like(p))
    n, length, keys = 2, 4, 5
    q = zero.randn(n, length, 6, dtype=zero.float64)
    k = zero.randn(n, keys, m.kdim, dtype=zero.float64)
    v = zero.randn(n, keys, m.vdim, dtype=zero.float64)
    hidden = np.zeros((n, 1, 1, keys))
    hidden[1, ..., 3:] = -INF
    pairs = np.random.default_rng(0).uniform(-2, 2, (n, 3, length, keys))
    masks = [
        (None, {}),
        (hidden, {"key_padding_mask": zero.tensor(hidden[:, 0, 0] < 0)}),
        (pairs, {"attn_mask": zero.tensor(pairs.reshape(6, length, keys))}),
        (pairs[0, 0] + hidden, {
            "attn_mask": zero.tensor(pairs[0, 0]),
            "key_padding_mask": zero.tensor(hidden[:, 0, 0] < 0),
        }),
    ]  # fmt: skip
    inputs = [x if batch_first else x.transpose(0, 1) for x in (q, k, v)]
    for mask, given in masks:
        expected, weights = reference(m, q, k, v, mask)
        y, w = m(*inputs, average_attn_weights=False, **given)
        np.testing.assert_allclose(values(w), weights, 1e-10, 1e-12)
        np.testing.assert_allclose(
            values(y if batch_first else y.transpose(0, 1)), expected, 1e-9, 1e-9
        )
        close(m(*inputs, **given)[1], w.mean(1), 1e-12)
        without, none = m(*inputs, need_weights=False, **given)
        assert none is None and without.shape == y.shape
        close(without, y, 1e-9)


def test_one_tensor_or_three_equal_ones():
    m = nn.MultiheadAttention(8, 2)
    x = zero.randn(5, 3, 8)
    y = zero.randn(4, 3, 8)
    close(m(x, x, x)[0], m(x, x.clone(), x.clone())[0])
    close(m(x, y, y)[0], m(x, y, y.clone())[0])


def test_without_a_batch():
    for batch_first in (True, False):
        m = nn.MultiheadAttention(8, 2, batch_first=batch_first)
        x, y = zero.randn(5, 8), zero.randn(4, 8)
        batch = 0 if batch_first else 1
        mask = zero.randn(2, 5, 4)
        pad = zero.tensor([False, True, False, False])
        found, w = m(x, y, y, pad, attn_mask=mask, average_attn_weights=False)
        xb, yb = x.unsqueeze(batch), y.unsqueeze(batch)
        expected, wb = m(xb, yb, yb, pad[None], attn_mask=mask, average_attn_weights=False)
        assert found.shape == (5, 8) and w.shape == (2, 5, 4)
        close(found, expected.squeeze(batch))
        close(w, wb[0])
        assert m(x, x, x)[1].shape == (5, 5)


# ---- masks ---------------------------------------------------------------------------------------
def test_bools_and_floats_say_the_same():
    m = nn.MultiheadAttention(8, 2, batch_first=True)
    x = zero.randn(2, 5, 8)
    ahead = zero.ones(5, 5, dtype=zero.bool).triu(1)
    pad = zero.tensor([[False] * 5, [False] * 3 + [True] * 2])

    def added(mask):
        return zero.zeros(mask.shape).masked_fill(mask, -INF)

    for need in (True, False):
        expected = m(x, x, x, pad, need, ahead)[0]
        for p in (pad, added(pad), added(pad).double()):
            for a in (ahead, added(ahead), ahead.expand(4, 5, 5), added(ahead).expand(4, 5, 5)):
                close(m(x, x, x, p, need, a)[0], expected)
    # Each row of a is what a shorter sequence gets.
    alone = m(x[1:, :3], x[1:, :3], x[1:, :3], need_weights=False)[0]
    close(m(x[1:], x[1:], x[1:], pad[1:], False)[0][:, :3], alone)


def test_a_mask_of_floats_gets_a_gradient():
    m = nn.MultiheadAttention(4, 2, dtype=zero.float64)
    x = zero.randn(3, 2, 4, dtype=zero.float64)
    for shape in ((3, 3), (4, 3, 3)):
        for need in (True, False):
            mask = zero.randn(shape, dtype=zero.float64, requires_grad=True)
            f = lambda a, n=need: m(x, x, x, need_weights=n, attn_mask=a)[0]
            assert zero.autograd.gradcheck(f, (mask,))
    pad = zero.randn(2, 3, dtype=zero.float64, requires_grad=True)
    assert zero.autograd.gradcheck(lambda p: m(x, x, x, p, False)[0], (pad,))


def test_a_query_that_sees_nothing_gets_zeros():
    m = nn.MultiheadAttention(4, 2, batch_first=True)
    nn.init.ones_(m.out_proj.bias)
    pad = zero.tensor([[True] * 3, [False, True, False]])
    rows = zero.tensor([[False, True, True], [True, True, True], [False, False, False]])
    for need in (True, False):
        for soft in (False, True):
            x = zero.randn(2, 3, 4, requires_grad=True)
            for given in ({"key_padding_mask": pad}, {"attn_mask": rows}):
                if soft:
                    given = {k: zero.zeros(v.shape).masked_fill(v, -INF) for k, v in given.items()}
                m.zero_grad()
                y, w = m(x, x, x, need_weights=need, **given)
                blind = (slice(0, 1),) if "key_padding_mask" in given else (slice(None), 1)
                assert values(y[blind]).tolist() == np.ones(y[blind].shape).tolist()
                if need:
                    assert not w[blind].any() and not w.isnan().any()
                    np.testing.assert_allclose(values(w.sum(-1)).max(), 1, 1e-6)
                y.sum().backward()
                for p in (*m.parameters(), x):
                    assert p.grad.isfinite().all()


def test_nan_stays_where_it_is():
    m = nn.MultiheadAttention(4, 2, batch_first=True)
    x = zero.randn(2, 3, 4)
    q = x.clone()
    q[0, 1, 2] = NAN
    rows = zero.tensor([[False, True, True], [False, False, True], [True, True, True]])
    for need in (True, False):
        y = m(q, x, x, need_weights=need, attn_mask=rows)[0]
        assert y.isnan().any(-1).tolist() == [[False, True, False], [False] * 3]


def test_a_window_over_a_long_sequence():
    m = nn.MultiheadAttention(2, 1)
    n = 600
    mask = zero.full((n, n), -INF).triu(1) + zero.full((n, n), -INF).tril(-10)
    x = zero.ones(n, 2)
    with zero.no_grad():
        close(m(x, x, x, attn_mask=mask, need_weights=False)[0], m(x, x, x, attn_mask=mask)[0])


def test_the_hint_needs_a_mask_and_trusts_it():
    m = nn.MultiheadAttention(8, 2, batch_first=True)
    x = zero.randn(2, 5, 8)
    ahead = zero.ones(5, 5, dtype=zero.bool).triu(1)
    for need in (True, False):
        expected = m(x, x, x, attn_mask=ahead, need_weights=need)[0]
        close(m(x, x, x, attn_mask=ahead, need_weights=need, is_causal=True)[0], expected)
        with pytest.raises(ValueError, match="got no attn_mask"):
            m(x, x, x, need_weights=need, is_causal=True)
    wrong = zero.zeros(5, 5)
    close(m(x, x, x, attn_mask=wrong, need_weights=False, is_causal=True)[0], expected)
    with pytest.raises(DTypeError, match=r"attn_mask of zero\.int64"):
        m(x, x, x, attn_mask=wrong.long(), need_weights=False, is_causal=True)
    # A padded key stays hidden, and an added one is seen by all.
    pad = zero.tensor([[False, True, False, False, False]] * 2)
    y = m(x, x, x, pad, attn_mask=ahead, is_causal=True, need_weights=False)[0]
    close(y, m(x, x, x, pad, attn_mask=ahead)[0])
    m = nn.MultiheadAttention(8, 2, add_bias_kv=True, batch_first=True)
    y = m(x, x, x, attn_mask=ahead, is_causal=True, need_weights=False)[0]
    close(y, m(x, x, x, attn_mask=ahead)[0])


# ---- training, parameters, state -----------------------------------------------------------------
def test_dropout_is_of_weights_and_in_training():
    m = nn.MultiheadAttention(4, 1, dropout=0.5)
    x = zero.randn(50, 1, 4)
    w = m(x, x, x)[1]
    dropped = (w == 0).float().mean().item()
    assert 0.4 < dropped < 0.6 and w.sum(-1).max().item() > 1.1
    assert not zero.equal(m(x, x, x, need_weights=False)[0], m(x, x, x, need_weights=False)[0])
    m.eval()
    assert (m(x, x, x)[1] > 0).all()
    close(m(x, x, x, need_weights=False)[0], m(x, x, x)[0])


def test_starts():
    m = nn.MultiheadAttention(64, 4, add_bias_kv=True)
    bound = math.sqrt(6 / (64 + 192))
    assert 0.95 * bound < m.in_proj_weight.abs().max().item() <= bound
    assert 0.95 / 8 < m.out_proj.weight.abs().max().item() <= 1 / 8
    assert not m.in_proj_bias.any() and not m.out_proj.bias.any()
    assert 0.05 < m.bias_k.std().item() < 0.3 and not zero.equal(m.bias_k, m.bias_v)
    m = nn.MultiheadAttention(64, 4, kdim=32, vdim=16)
    for weight, fan in ((m.q_proj_weight, 128), (m.k_proj_weight, 96), (m.v_proj_weight, 80)):
        assert 0.9 * math.sqrt(6 / fan) < weight.abs().max().item() <= math.sqrt(6 / fan)
    assert m.in_proj_weight is None and m.bias_k is None and m.bias_v is None


def test_attributes_and_repr():
    m = nn.MultiheadAttention(6, 3, 0.25, batch_first=True)
    assert (m.embed_dim, m.num_heads, m.head_dim, m.kdim, m.vdim) == (6, 3, 2, 6, 6)
    assert m.dropout == 0.25 and m.batch_first is True and m.add_zero_attn is False
    assert repr(m) == (
        "MultiheadAttention(\n  (out_proj): NonDynamicallyQuantizableLinear(in_features=6, "
        "out_features=6, bias=True)\n)"
    )
    assert nn.modules.activation.MultiheadAttention is nn.MultiheadAttention
    linear = nn.modules.linear.NonDynamicallyQuantizableLinear
    assert type(m.out_proj) is linear and issubclass(linear, nn.Linear)


def test_copies_pickles_and_strict_states():
    m = nn.MultiheadAttention(8, 2, kdim=3, add_bias_kv=True)
    x, k, v = zero.randn(4, 2, 8), zero.randn(5, 2, 3), zero.randn(5, 2, 8)
    expected = m(x, k, v)[0].tolist()
    for other in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert other(x, k, v)[0].tolist() == expected
    other = nn.MultiheadAttention(8, 2, kdim=3, add_bias_kv=True)
    other.load_state_dict(m.state_dict())
    assert other(x, k, v)[0].tolist() == expected
    plain = nn.MultiheadAttention(8, 2)
    with pytest.raises(RuntimeError, match="q_proj_weight"):
        plain.load_state_dict(m.state_dict())
    state = plain.__dict__.copy()
    del state["_qkv_same_embed_dim"]  # as files older than the attribute
    old = nn.MultiheadAttention.__new__(nn.MultiheadAttention)
    old.__setstate__(state)
    close(old(x, x, x)[0], plain(x, x, x)[0])


def test_parametrized_and_shared_weights():
    m = nn.MultiheadAttention(4, 2)
    x = zero.randn(3, 1, 4)

    class Half(nn.Module):
        def forward(self, w):
            return w / 2

    halved = copy.deepcopy(m)
    with zero.no_grad():
        halved.in_proj_weight.copy_(m.in_proj_weight / 2)
    parametrize.register_parametrization(m, "in_proj_weight", Half())
    close(m(x, x, x)[0], halved(x, x, x)[0])
    m(x, x, x)[0].sum().backward()
    assert m.parametrizations.in_proj_weight.original.grad.any()

    a, b = nn.MultiheadAttention(4, 2), nn.MultiheadAttention(4, 2)
    b.in_proj_weight = a.in_proj_weight
    b.out_proj = a.out_proj
    b.in_proj_bias = a.in_proj_bias
    (a(x, x, x)[0].sum() + b(x, x, x)[0].sum()).backward()
    twice = a.in_proj_weight.grad.clone()
    a.zero_grad()
    a(x, x, x)[0].sum().backward()
    close(twice, 2 * a.in_proj_weight.grad)


def test_gradients():
    for options in OPTIONS:
        m = nn.MultiheadAttention(4, 2, dtype=zero.float64, **options)
        q = zero.randn(3, 1, 4, dtype=zero.float64, requires_grad=True)
        k = zero.randn(2, 1, m.kdim, dtype=zero.float64, requires_grad=True)
        v = zero.randn(2, 1, m.vdim, dtype=zero.float64, requires_grad=True)
        for need in (True, False):
            f = lambda *a, m=m, n=need: m(*a[:3], need_weights=n)
            g = lambda *a, f=f: tuple(t for t in f(*a) if t is not None)
            assert zero.autograd.gradcheck(g, (q, k, v, *m.parameters()))
    m = nn.MultiheadAttention(4, 2, dtype=zero.float64)
    for need in (True, False):
        f = lambda x, *_, n=need: m(x, x, x, need_weights=n)[0]
        assert zero.autograd.gradgradcheck(f, (q, *m.parameters()))


def test_bits_do_not_depend_on_threads():
    before = zero.get_num_threads()
    m = nn.MultiheadAttention(96, 3, dropout=0.1, batch_first=True)
    x = zero.randn(4, 70, 96, requires_grad=True)
    pad = zero.arange(70) >= zero.tensor([[70], [60], [3], [0]])
    found = {True: set(), False: set()}
    try:
        for threads in (1, 2, 3, 7):
            zero.set_num_threads(threads)
            for need in found:
                zero.manual_seed(1)
                x.grad = None
                m.zero_grad()
                y, _ = m(x, x, x, pad, need)
                y.square().sum().backward()
                parts = (y.detach(), x.grad, *(p.grad for p in m.parameters()))
                found[need].add(b"".join(p.numpy().tobytes() for p in parts))
    finally:
        zero.set_num_threads(before)
    assert all(len(kinds) == 1 for kinds in found.values())


# ---- the rest ------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [zero.float16, zero.bfloat16, zero.float64])
def test_dtypes(dtype):
    m = nn.MultiheadAttention(8, 2)
    x = zero.randn(5, 2, 8)
    mask = zero.randn(5, 5)
    expected, weights = m(x, x, x, attn_mask=mask)
    m, x = m.to(dtype), x.to(dtype)
    eps = {zero.float16: 5e-3, zero.bfloat16: 4e-2, zero.float64: 1e-5}[dtype]
    for need in (True, False):
        y, w = m(x, x, x, attn_mask=mask.to(dtype), need_weights=need)
        assert y.dtype is dtype and (w is None or w.dtype is dtype)
        close(y, expected, eps)
        y.sum().backward()
        assert m.in_proj_weight.grad.dtype is dtype and m.in_proj_weight.grad.isfinite().all()
    close(m(x, x, x, attn_mask=mask.to(dtype))[1], weights, eps)


def test_meta_and_nothing_at_all():
    m = nn.MultiheadAttention(8, 2, device="meta", batch_first=True)
    x = zero.empty(3, 5, 8, device="meta")
    pad = zero.empty(3, 5, device="meta", dtype=zero.bool)
    for need in (True, False):
        y, w = m(x, x, x, pad, need, average_attn_weights=False)
        assert y.is_meta and y.shape == (3, 5, 8) and (w is None or w.shape == (3, 2, 5, 5))
    m = nn.MultiheadAttention(8, 2, batch_first=True)
    for shape, keys in (((0, 5, 8), (0, 4, 8)), ((2, 0, 8), (2, 4, 8)), ((2, 5, 8), (2, 0, 8))):
        x = zero.zeros(shape, requires_grad=True)
        k = zero.zeros(keys, requires_grad=True)
        for need in (True, False):
            y, w = m(x, k, k, need_weights=need)
            assert y.shape == shape and (w is None or w.shape == (*shape[:2], keys[1]))
            assert not y.any()  # biases start as zeros
            y.sum().backward()
            assert x.grad.shape == shape and k.grad.shape == keys
    x = zero.zeros(2, 0, 8)
    assert m(x, x, x)[0].shape == (2, 0, 8)


def test_strided_inputs():
    m = nn.MultiheadAttention(8, 2)
    x = zero.randn(2, 8, 5).permute(2, 0, 1)
    for need in (True, False):
        close(m(x, x, x, need_weights=need)[0], m(*[x.contiguous()] * 3, need_weights=need)[0])
        close(m(x, x[:3], x[:3], need_weights=need)[0], m(x, x[:3] + 0, x[:3] + 0)[0])


def test_as_a_function():
    m = nn.MultiheadAttention(6, 2, add_bias_kv=True, add_zero_attn=True)
    x, y = zero.randn(4, 3, 6), zero.randn(5, 3, 6)

    def call(q=x, k=y, v=y, dim=6, heads=2, weight=m.in_proj_weight, bk=m.bias_k, **more):
        return F.multi_head_attention_forward(
            q, k, v, dim, heads, weight, m.in_proj_bias, bk, m.bias_v, True, 0.0,
            m.out_proj.weight, m.out_proj.bias, **more,
        )  # fmt: skip

    expected = m(x, y, y)
    for a, b in zip(call(), expected, strict=True):
        close(a, b)
    for a, b in zip(call(bk=m.bias_k.flatten()), expected, strict=True):
        close(a, b)
    q, k, v = m.in_proj_weight.chunk(3)
    separate = call(
        weight=None, use_separate_proj_weight=True, q_proj_weight=q, k_proj_weight=k,
        v_proj_weight=v,
    )  # fmt: skip
    close(separate[0], expected[0])
    for wrong, words in (
        ({"dim": 5}, "in_proj_weight has the wrong shape"),
        ({"q": x[..., :4]}, "query has the wrong width"),
        ({"heads": 4}, "does not divide into heads"),
        ({"weight": None}, "no in_proj_weight"),
        ({"weight": q}, "in_proj_weight has the wrong shape"),
        ({"use_separate_proj_weight": True}, "q_proj_weight"),
        ({"bk": None}, "bias_k and bias_v"),
        ({"static_k": zero.ones(6, 5, 3)}, "static_k"),
        ({"k": y[:4]}, "key and value differ"),
        ({"q": x[:, :2]}, "query and key differ"),
        ({"q": x[0]}, "three dimensions each"),
        ({"attn_mask": zero.ones(5, 4)}, "attn_mask has the wrong shape"),
        ({"attn_mask": zero.ones(5, 4, 5)}, "attn_mask has the wrong shape"),
        ({"key_padding_mask": zero.ones(5, 3)}, "key_padding_mask has the wrong shape"),
    ):
        with pytest.raises((ShapeError, ValueError), match=words):
            call(**wrong)
    for name in ("attn_mask", "key_padding_mask"):
        mask = zero.ones((4, 5) if name == "attn_mask" else (3, 5), dtype=zero.int64)
        with pytest.raises(DTypeError, match=f"{name} of zero.int64"):
            call(**{name: mask})


def test_names_that_variants_of_pytorchs_layers_call():
    mask = zero.tensor([[False, True]])
    names = {"mask_name": "m", "other_type": F._none_or_dtype(mask), "other_name": "o"}
    added = F._canonical_mask(mask, **names, target_type=zero.float64)
    assert added.dtype is zero.float64 and added.tolist() == [[0, -INF]]
    assert F._canonical_mask(added, **names, target_type=zero.float32) is added
    assert F._canonical_mask(None, **names, target_type=zero.float32) is None
    assert F._none_or_dtype(None) is None and names["other_type"] is zero.bool
    with pytest.raises(DTypeError, match=r"m of zero\.int64"):
        F._canonical_mask(zero.tensor([1]), **names, target_type=zero.float32)
    x, y, w, b = zero.randn(3, 2, 4), zero.randn(5, 2, 4), zero.randn(12, 4), zero.randn(12)
    one, other = x[:, 0], y[:, 0]
    for three in (
        (x, x, x),
        (x, y, y),
        (x, y, y * 2),
        (one, one, one),
        (one, other, other),
        (one[0], other[0], other[0]),
    ):
        found = F._in_projection_packed(*three, w, b)
        for part, z, each, shift in zip(found, three, w.chunk(3), b.chunk(3), strict=True):
            close(part, F.linear(z, each, shift))


def test_static_keys_and_values():
    m = nn.MultiheadAttention(6, 2)
    x, y = zero.randn(4, 3, 6), zero.randn(5, 3, 6)
    expected = m(x, y, y)
    _, w_k, w_v = m.in_proj_weight.chunk(3)
    heads = [F.linear(y, w).view(5, 6, 3).transpose(0, 1) for w in (w_k, w_v)]

    def call(key, **static):
        return F.multi_head_attention_forward(
            x, key, key, 6, 2, m.in_proj_weight, m.in_proj_bias, None, None, False, 0.0,
            m.out_proj.weight, m.out_proj.bias, **static,
        )  # fmt: skip

    for found, known in zip(
        call(zero.ones(5, 3, 6), static_k=heads[0], static_v=heads[1]), expected, strict=True
    ):
        close(found, known)
    close(call(y, static_v=heads[1])[0], expected[0])
    for wrong in (heads[0][:3], heads[0][..., :2], heads[0][0]):
        with pytest.raises(ShapeError, match="static_k has the wrong shape"):
            call(y, static_k=wrong)


def test_wrong_options():
    for args, words in (
        ((7, 2), "does not divide into heads"),
        ((0, 2), "does not divide into heads"),
        ((8, 0), "does not divide into heads"),
        ((8, 2, 1.5), "dropout"),
    ):
        with pytest.raises(ValueError, match=words):
            nn.MultiheadAttention(*args)
    with pytest.raises(DTypeError, match="num_heads is not an int"):
        nn.MultiheadAttention(8, 2.0)
    with pytest.raises(ShapeError, match="embed_dim is negative"):
        nn.MultiheadAttention(-8, 2)
    with pytest.raises(DTypeError, match="batch_first is not a bool"):
        nn.MultiheadAttention(8, 2, batch_first="yes")
