"""Transformers; PyTorch's values are in test_sequence_table."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import zero
from zero import nn
from zero.errors import DTypeError, ShapeError, ValueError
from zero.nn import functional as F
from zero.utils import summary


@pytest.fixture(autouse=True)
def seed():
    zero.manual_seed(0)


def close(found, expected, tolerance=1e-5):
    found, expected = (np.array(t.detach().double().tolist()) for t in (found, expected))
    np.testing.assert_allclose(found, expected, tolerance, tolerance)


# ---- layers --------------------------------------------------------------------------------------
def test_repr_is_pytorchs():
    layer = nn.TransformerEncoderLayer(4, 2, 6, activation=nn.GELU())
    assert repr(layer) == (
        "TransformerEncoderLayer(\n"
        "  (self_attn): MultiheadAttention(\n"
        "    (out_proj): NonDynamicallyQuantizableLinear(in_features=4, out_features=4, bias=True)"
        "\n  )\n"
        "  (linear1): Linear(in_features=4, out_features=6, bias=True)\n"
        "  (dropout): Dropout(p=0.1, inplace=False)\n"
        "  (linear2): Linear(in_features=6, out_features=4, bias=True)\n"
        "  (norm1): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)\n"
        "  (norm2): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)\n"
        "  (dropout1): Dropout(p=0.1, inplace=False)\n"
        "  (dropout2): Dropout(p=0.1, inplace=False)\n"
        "  (activation): GELU(approximate='none')\n"
        ")"
    )


def test_activations():
    for activation, kind in ((F.relu, 1), ("relu", 1), (nn.ReLU(), 1), ("gelu", 2), (F.gelu, 2),
                             (nn.GELU(), 2), (F.silu, 0), (zero.tanh, 0)):  # fmt: skip
        layer = nn.TransformerEncoderLayer(4, 2, 6, activation=activation)
        assert layer.activation_relu_or_gelu == kind
        assert layer(zero.randn(3, 2, 4)).shape == (3, 2, 4)
    for layer in (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer):
        with pytest.raises(ValueError, match="'tanh'"):
            layer(4, 2, activation="tanh")
        with pytest.raises(RuntimeError, match="'tanh'"):
            nn.Transformer(4, 2, 1, 1, activation="tanh")


def test_files_without_an_activation():
    layer = nn.TransformerDecoderLayer(4, 2, 6, 0.0)
    state = {k: v for k, v in layer.__dict__.items() if k != "activation"}
    old = nn.TransformerDecoderLayer.__new__(nn.TransformerDecoderLayer)
    old.__setstate__(state)
    assert old.activation is F.relu
    gelu = copy.deepcopy(nn.TransformerEncoderLayer(4, 2, 6, activation=nn.GELU()))
    assert isinstance(gelu.activation, nn.GELU)


def test_blocks_can_be_overridden():
    class Quiet(nn.TransformerEncoderLayer):
        def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
            return x * 0

        def _ff_block(self, x):
            return zero.ones_like(x)

    x = zero.randn(3, 2, 4)
    close(Quiet(4, 2, norm_first=True)(x), x + 1)


def test_dropout_in_training_only():
    x = zero.randn(3, 2, 4)
    for layer, args in (
        (nn.TransformerEncoderLayer(4, 2, 6, 0.5), (x,)),
        (nn.TransformerDecoderLayer(4, 2, 6, 0.5), (x, x)),
    ):
        assert not zero.equal(layer(*args), layer(*args))
        layer.eval()
        assert zero.equal(layer(*args), layer(*args))
        assert {m.p for m in layer.modules() if isinstance(m, nn.Dropout)} == {0.5}


def test_batch_first_is_another_order_of_the_same():
    x, y = zero.randn(5, 3, 8), zero.randn(4, 3, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    pad = zero.arange(5) >= zero.tensor([[5], [2], [4]])
    for norm_first in (False, True):
        a = nn.TransformerEncoderLayer(8, 2, 16, 0.0, norm_first=norm_first)
        b = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=norm_first)
        b.load_state_dict(a.state_dict())
        close(a(x, mask, pad), b(x.transpose(0, 1), mask, pad).transpose(0, 1))
        a = nn.TransformerDecoderLayer(8, 2, 16, 0.0, norm_first=norm_first)
        b = nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=norm_first)
        b.load_state_dict(a.state_dict())
        close(a(x, y, mask), b(x.transpose(0, 1), y.transpose(0, 1), mask).transpose(0, 1))


def test_gradients_of_small_layers():
    x = zero.randn(3, 2, 4, dtype=zero.float64, requires_grad=True)
    y = zero.randn(2, 2, 4, dtype=zero.float64, requires_grad=True)
    mask = nn.Transformer.generate_square_subsequent_mask(3, dtype=zero.float64)
    for options in ({}, {"norm_first": True, "bias": False}):
        layer = nn.TransformerEncoderLayer(4, 2, 5, 0.0, "gelu", dtype=zero.float64, **options)
        parameters = tuple(layer.parameters())
        f = lambda x, *_, m=layer: m(x, mask, is_causal=True)
        assert zero.autograd.gradcheck(f, (x, *parameters))
        assert zero.autograd.gradgradcheck(f, (x, *parameters[:2]))
        layer = nn.TransformerDecoderLayer(4, 2, 5, 0.0, "gelu", dtype=zero.float64, **options)
        f = lambda x, y, *_, m=layer: m(x, y, mask)
        assert zero.autograd.gradcheck(f, (x, y, *layer.parameters()))


# ---- stacks --------------------------------------------------------------------------------------
def test_stacks_are_copies():
    layer = nn.TransformerEncoderLayer(8, 2, 12, 0.0)
    encoder = nn.TransformerEncoder(layer, 3, nn.LayerNorm(8))
    assert encoder.num_layers == len(encoder.layers) == 3
    first, second = encoder.layers[0], encoder.layers[1]
    assert first is not layer and zero.equal(first.linear1.weight, second.linear1.weight)
    with zero.no_grad():
        second.linear1.weight.zero_()
    assert first.linear1.weight.any() and layer.linear1.weight.any()
    x = zero.randn(4, 2, 8)
    close(encoder(x), encoder.norm(encoder.layers[2](second(first(x)))))
    state = encoder.state_dict()
    del state["layers.1.norm2.weight"]
    with pytest.raises(RuntimeError, match=r"layers\.1\.norm2\.weight"):
        encoder.load_state_dict(state)
    again = pickle.loads(pickle.dumps(encoder))
    assert zero.equal(again(x), encoder(x))
    assert zero.equal(nn.TransformerEncoder(layer, 0)(x), x)


def test_a_causal_mask_is_recognised():
    seen = []

    class Layer(nn.TransformerEncoderLayer):
        def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
            seen.append(is_causal)
            return super().forward(src, src_mask, src_key_padding_mask, is_causal)

    encoder = nn.TransformerEncoder(Layer(8, 2, 12, 0.0), 1)
    x = zero.randn(4, 3, 8)
    ahead = zero.ones(4, 4, dtype=zero.bool).triu(1)
    minus = nn.Transformer.generate_square_subsequent_mask(4)
    almost = minus.clone()
    almost[2, 1] = -0.5
    for mask, said, expected in (
        (ahead, None, True),
        (minus, None, True),
        (minus, False, False),
        (almost, None, False),
        (ahead | ahead.T, None, False),
        (minus.expand(6, 4, 4), None, False),
        (None, None, False),
        (minus, True, True),
    ):
        results = encoder(x, mask, is_causal=said)
        assert seen.pop() is expected and not seen
        close(results, encoder(x, mask, is_causal=False))
        seen.clear()
    with pytest.raises(ValueError, match="is_causal"):
        encoder(x, is_causal=True)
    minus.requires_grad_()  # a mask that learns, and starts like that
    encoder(x, minus).square().sum().backward()
    assert seen.pop() is False and minus.grad.count_nonzero() > 0
    minus.requires_grad_(False)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 12, 0.0), 2)
    close(decoder(x, x, minus), decoder(x, x, ahead, tgt_is_causal=False))


def test_padding_in_evaluation():
    layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)
    norm = nn.LayerNorm(8)
    nn.init.ones_(norm.bias)
    encoder = nn.TransformerEncoder(layer, 2, norm).eval()
    assert encoder.enable_nested_tensor and encoder.use_nested_tensor and encoder.mask_check
    x = zero.randn(2, 4, 8)
    pad = zero.tensor([[False, False, True, True], [False] * 4])
    whole = encoder(x, src_key_padding_mask=pad)  # gradients are recorded
    assert not (whole[0, 2:] == 1).any()
    with zero.no_grad():
        for mask in (pad, zero.zeros(2, 4).masked_fill(pad, -float("inf"))):
            y = encoder(x, src_key_padding_mask=mask)
            assert (y[0, 2:] == 1).all()  # zeros, normalised
            close(y[1], whole[1])
            close(y[0, :2], whole[0, :2])
        inner = pad.flip(1)
        assert not (encoder(x, src_key_padding_mask=inner) == 1).any()
        encoder.mask_check = False
        assert (encoder(x, src_key_padding_mask=inner)[0, :2] == 1).all()
        mask = nn.Transformer.generate_square_subsequent_mask(4)
        close(encoder(x, mask, pad)[0, :1], encoder(x[:1, :1]).squeeze(0))
        assert not (encoder(x, mask, pad) == 1).any()
        try:
            zero.backends.mha.set_fastpath_enabled(False)
            close(encoder(x, src_key_padding_mask=pad), whole)
        finally:
            zero.backends.mha.set_fastpath_enabled(True)
        assert not (encoder.train()(x, src_key_padding_mask=pad) == 1).any()
    for options in (
        {"norm_first": True},
        {"batch_first": False},
        {"bias": False},
        {"activation": F.silu},
        {"nhead": 1},
    ):
        layer = nn.TransformerEncoderLayer(8, **{"nhead": 2, "batch_first": True, **options})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not nn.TransformerEncoder(layer, 1).use_nested_tensor


def test_fully_padded_sequences_stay_finite():
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    src, tgt = zero.randn(2, 3, 8), zero.randn(2, 4, 8)
    pad = zero.tensor([[True] * 3, [False] * 3])
    y = model(src, tgt, src_key_padding_mask=pad, memory_key_padding_mask=pad)
    assert y.isfinite().all()
    y.sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


# ---- Transformer ---------------------------------------------------------------------------------
def test_defaults():
    model = nn.Transformer(dim_feedforward=8, num_encoder_layers=1, num_decoder_layers=1)
    assert (model.d_model, model.nhead, model.batch_first) == (512, 8, False)
    weight = model.encoder.layers[0].linear1.weight
    bound = (6 / (512 + 8)) ** 0.5  # Xavier's
    assert 0.95 * bound < weight.abs().max().item() <= bound
    assert list(dict(model.named_children())) == ["encoder", "decoder"]
    layers = nn.Transformer(8, 2, dim_feedforward=8)
    assert len(layers.encoder.layers) == len(layers.decoder.layers) == 6
    assert nn.TransformerEncoderLayer(8, 2).linear1.out_features == 2048


def test_square_subsequent_mask():
    inf = float("inf")
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    assert mask.tolist() == [[0, -inf, -inf], [0, 0, -inf], [0, 0, 0]]
    assert mask.dtype is zero.float32
    model = nn.Transformer(8, 2, 1, 1, 8)
    mask = model.generate_square_subsequent_mask(2, device="cpu", dtype=zero.float64)
    assert mask.dtype is zero.float64 and mask.tolist() == [[0, -inf], [0, 0]]
    assert model.generate_square_subsequent_mask(2, "meta").is_meta


def test_what_is_ahead_does_not_count():
    model = nn.Transformer(8, 2, 1, 2, 16, 0.0, batch_first=True)
    src, tgt = zero.randn(1, 3, 8), zero.randn(1, 5, 8)
    mask = model.generate_square_subsequent_mask(5)
    other = tgt.clone()
    other[0, 3:] = 7
    for causal in (None, True, False):
        a = model(src, tgt, tgt_mask=mask, tgt_is_causal=causal)
        b = model(src, other, tgt_mask=mask, tgt_is_causal=causal)
        close(a[:, :3], b[:, :3])
        assert (a[:, 3:] - b[:, 3:]).abs().max() > 0.01


def test_custom_parts():
    class Part(nn.Module):
        def forward(self, *args, **kwargs):
            self.given = kwargs
            return args[-1] * 2

    encoder, decoder = Part(), Part()
    model = nn.Transformer(4, 2, custom_encoder=encoder, custom_decoder=decoder)
    x = zero.ones(2, 1, 4)
    assert model(x, x, src_is_causal=True).tolist() == (4 * x).tolist()
    assert encoder.given == {"mask": None, "src_key_padding_mask": None, "is_causal": True}
    assert decoder.given["memory_is_causal"] is False and decoder.given["tgt_is_causal"] is None


def test_wrong_inputs():
    for batch_first in (False, True):
        model = nn.Transformer(8, 2, 1, 1, 8, batch_first=batch_first)
        shapes = ((3, 2, 8), (4, 3, 8)) if not batch_first else ((2, 3, 8), (3, 4, 8))
        with pytest.raises(ShapeError, match="differ in batch"):
            model(*map(zero.zeros, shapes))
        with pytest.raises(ShapeError, match="wrong width"):
            model(zero.zeros(3, 3, 8), zero.zeros(3, 3, 4))
    with pytest.raises(RuntimeError, match="num_layers"):
        nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), "2")
    with pytest.raises(ShapeError, match="num_layers is negative"):
        nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2), -1)
    with pytest.raises(DTypeError, match="norm_first"):
        nn.TransformerEncoderLayer(8, 2, norm_first=zero.ones(2))
    with pytest.raises(ValueError, match="divide into heads"):
        nn.TransformerEncoderLayer(8, 3)


@pytest.mark.parametrize("dtype", [zero.float16, zero.bfloat16])
def test_16_bit_floats(dtype):
    model = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True)
    src, tgt = zero.randn(2, 3, 8), zero.randn(2, 4, 8)
    expected = model(src, tgt)
    model.to(dtype)
    y = model(src.to(dtype), tgt.to(dtype))
    assert y.dtype is dtype
    close(y, expected, 0.1)
    y.sum().backward()
    assert all(p.grad.dtype is dtype for p in model.parameters())


def test_meta_and_nothing_at_all():
    model = nn.Transformer(8, 2, 1, 1, 16, device="meta", batch_first=True)
    mask = model.generate_square_subsequent_mask(4, device="meta")
    pad = zero.empty(2, 3, dtype=zero.bool, device="meta")
    src, tgt = zero.empty(2, 3, 8, device="meta"), zero.empty(2, 4, 8, device="meta")
    y = model(src, tgt, tgt_mask=mask, src_key_padding_mask=pad)
    assert y.is_meta and y.shape == (2, 4, 8)
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    for n, s, t in ((0, 3, 4), (2, 0, 4), (2, 3, 0)):
        y = model(zero.randn(n, s, 8), zero.randn(n, t, 8))
        assert y.shape == (n, t, 8) and y.isfinite().all()
        y.sum().backward()


def test_bits_do_not_depend_on_threads():
    before = zero.get_num_threads()
    model = nn.Transformer(64, 4, 1, 1, 96, 0.1, "gelu", batch_first=True)
    src, tgt = zero.randn(3, 33, 64), zero.randn(3, 40, 64)
    mask = model.generate_square_subsequent_mask(40)
    pad = zero.arange(33) >= zero.tensor([[33], [20], [1]])
    found = set()
    try:
        for threads in (1, 2, 3, 7):
            zero.set_num_threads(threads)
            zero.manual_seed(1)
            model.zero_grad()
            y = model(src, tgt, tgt_mask=mask, memory_key_padding_mask=pad)
            y.square().sum().backward()
            parts = (y.detach(), *(p.grad for p in model.parameters()))
            found.add(b"".join(p.numpy().tobytes() for p in parts))
    finally:
        zero.set_num_threads(before)
    assert len(found) == 1


def test_it_learns_to_reverse():
    """Six of ten digits in reverse order; chance is a tenth."""
    embed, places = nn.Embedding(10, 32), nn.Parameter(zero.randn(6, 32))
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True, norm_first=True), 2
    )
    head = nn.Linear(32, 10)
    parameters = [p for m in (embed, encoder, head) for p in m.parameters()]
    optimizer = zero.optim.Adam([*parameters, places], lr=3e-3)
    for _ in range(250):
        digits = zero.randint(10, (64, 6))
        scores = head(encoder(embed(digits) + places))
        loss = F.cross_entropy(scores.flatten(0, 1), digits.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert (scores.argmax(-1) == digits.flip(1)).float().mean().item() > 0.95


# ---- around --------------------------------------------------------------------------------------
def test_pytorchs_paths():
    for name in (
        "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
        "TransformerEncoderLayer", "MultiheadAttention",
    ):  # fmt: skip
        assert getattr(nn.modules.transformer, name) is getattr(nn, name)
        assert getattr(nn.modules, name) is getattr(nn, name)
    from zero.nn.modules.transformer import (
        _detect_is_causal_mask,
        _generate_square_subsequent_mask,
        _get_activation_fn,
        _get_clones,
        _get_seq_len,
    )

    assert _get_activation_fn("gelu") is F.gelu
    assert isinstance(_get_clones(nn.Linear(1, 1), 2), nn.ModuleList)
    assert _detect_is_causal_mask(_generate_square_subsequent_mask(3))
    assert _get_seq_len(zero.ones(2, 3, 4), True) == 3


def test_flops_of_attention():
    m = nn.MultiheadAttention(8, 2, kdim=6, vdim=4, add_zero_attn=True, batch_first=True)
    q, k, v = (3, 5, 8), (3, 7, 6), (3, 7, 4)
    projections = 2 * 8 * (3 * 5 * 8 * 2 + 3 * 7 * (6 + 4))
    pairs = 3 * 5 * (7 + 1) * (4 * 8 + 5 * 2)
    found = summary(m, [q, k, v])
    assert found.total_flops == projections + pairs and found.uncounted == []

    class Net(nn.Module):
        def __init__(self):
            self.attention = nn.MultiheadAttention(8, 2)

        def forward(self, x):
            return self.attention(query=x, value=x, key=x, need_weights=False)[0]

    assert summary(Net(), (5, 3, 8)).total_flops == 2 * 8 * 15 * 32 + 75 * 42
    assert summary(Net(), (5, 8)).total_flops == 2 * 8 * 5 * 32 + 25 * 42
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0)
    network = 2 * 15 * 8 * 16 * 2 + 2 * 7 * 15 * 8
    dropouts = 15 * (16 + 8 + 8)
    assert summary(layer, (5, 3, 8)).total_flops == 2 * 8 * 15 * 32 + 75 * 42 + network + dropouts
