"""Recurrent layers, their cells, and sequences of different lengths.

Values of PyTorch were recorded from 2.13, in float64, on weights and inputs given by formulas.
"""

import copy
import pickle
import re

import numpy as np
import pytest
from op_db_recurrent import layers

import zero
from zero import nn
from zero.autograd import gradcheck, gradgradcheck
from zero.errors import ShapeError
from zero.nn.utils import parametrizations, weight_norm
from zero.nn.utils.rnn import (
    PackedSequence,
    invert_permutation,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)

MODES = ["LSTM", "GRU", "RNN_TANH", "RNN_RELU"]


@pytest.fixture(autouse=True)
def same_threads():
    before = zero.get_num_threads()
    zero.manual_seed(0)
    yield
    zero.set_num_threads(before)


def make(mode, *sizes, **options):
    if mode.startswith("RNN_"):
        return nn.RNN(*sizes, nonlinearity=mode[4:].lower(), **options)
    return getattr(nn, mode)(*sizes, **options)


def fill(module):
    with zero.no_grad():
        for i, p in enumerate(module.parameters()):
            numbers = zero.arange(p.numel(), dtype=zero.float64) * 0.7 + i
            p.copy_((numbers.sin() * 0.5).reshape(p.shape))
    return module


def wave(*shape):
    return (zero.arange(int(np.prod(shape)), dtype=zero.float64) * 0.3).cos().reshape(shape)


def states_of(h):
    return list(h) if isinstance(h, tuple) else [h]


def tensors_of(result):
    """Output and states."""
    y, h = result
    return [y.data if isinstance(y, PackedSequence) else y, *states_of(h)]


def same(a, b, tol=1e-6):
    assert a.shape == b.shape and a.dtype == b.dtype
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=tol, atol=tol)


# ---- PyTorch's values ----------------------------------------------------------------------------
def near(found, expected):
    np.testing.assert_allclose(np.array(found), np.array(expected), rtol=2e-7, atol=2e-9)


def test_values_of_pytorch_packed():
    module = fill(nn.LSTM(3, 4, 2, bidirectional=True, dtype=zero.float64))
    packed = pack_padded_sequence(wave(4, 3, 3), [2, 4, 1], enforce_sorted=False)
    y, (h, c) = module(packed)
    assert y.batch_sizes.tolist() == [3, 2, 1, 1]
    data = y.data.flatten().tolist()
    near(data[:4], [-0.008339978, -0.088471442, -0.145268346, -0.17104723])
    near(data[-4:], [0.111705386, 0.078570161, 0.014529913, -0.063695065])
    first = [0.055923622, 0.06519915, -0.166361361, -0.067682783, 0.064375685, 0.076819128]
    near(h.flatten().tolist()[:6], first)
    last = [0.081144544, -0.28453029, 0.371634303, 0.299850727, 0.105834341, -0.082084133]
    near(c.flatten().tolist()[-6:], last)


@pytest.mark.parametrize(
    "name, expected",
    {
        "LSTMCell": [
            [0.247400173, 0.144723951, 0.157884407, 0.181902888],
            [0.373397669, 0.258627251, 0.277384542, 0.311601274],
        ],
        "GRUCell": [[0.27828219, -0.18137136, 0.084502544, -0.12470373]],
        "RNNCell": [[0.972368485, 0.637069692, 0.869796634, 0.505757911]],
    }.items(),
)
def test_values_of_pytorch_cells(name, expected):
    cell = fill(getattr(nn, name)(3, 2, dtype=zero.float64))
    h = wave(2, 2)
    result = cell(wave(2, 3), (h, h + 1) if name == "LSTMCell" else h)
    near([state.flatten().tolist() for state in states_of(result)], expected)


def test_formulas():
    """Gates in the order of PyTorch, and the reset gate behind the product."""
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    gru = nn.GRU(1, 1, dtype=zero.float64)
    w, u, b, d = ([0.5, -0.3, 0.8], [0.4, 0.7, -0.6], [0.1, 0.2, 0.3], [-0.2, 0.05, 0.6])
    with zero.no_grad():
        for p, values in zip(gru.parameters(), (w, u, b, d), strict=True):
            p.copy_(zero.tensor(values, dtype=zero.float64).reshape(p.shape))
    h, expected = 0.0, []
    for x in (1.0, -2.0):
        r = sigmoid(w[0] * x + b[0] + u[0] * h + d[0])
        z = sigmoid(w[1] * x + b[1] + u[1] * h + d[1])
        n = np.tanh(w[2] * x + b[2] + r * (u[2] * h + d[2]))
        h = (1 - z) * n + z * h
        expected.append(h)
    x = zero.tensor([[[1.0]], [[-2.0]]], dtype=zero.float64)
    near(gru(x)[0].flatten().tolist(), expected)


# ---- against NumPy: every way through the loops --------------------------------------------------
# mode, in, hidden, steps, batch, options: a few steps; packed weights, with tails of vectors; long
# products; rows shared among threads; both ways.
SHAPES = [
    (3, 5, 2, 3, {}),
    (7, 13, 6, 5, {}),
    (4, 20, 3, 30, {"batch_first": True}),
    (5, 150, 4, 7, {}),
    (6, 17, 5, 29, {"bidirectional": True, "num_layers": 2}),
    (8, 9, 30, 1, {"bias": False}),
]


@pytest.mark.parametrize("dtype", [zero.float32, zero.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mode", [*MODES, "projection"])
def test_against_numpy(mode, shape, dtype):
    size, hidden, steps, batch, options = shape
    if mode == "projection":
        mode, options = "LSTM", {**options, "proj_size": hidden // 2}
    layer = make(mode, size, hidden, dtype=dtype, **options)
    cells = layer.num_layers * (1 + layer.bidirectional)
    x = zero.randn(steps, batch, size, dtype=dtype)
    h = zero.randn(cells, batch, layer.proj_size or hidden, dtype=dtype)
    start = (h, zero.randn(cells, batch, hidden, dtype=dtype)) if mode == "LSTM" else h
    for hx in (None, start):
        found = tensors_of(layer(x.transpose(0, 1) if layer.batch_first else x, hx))
        if layer.batch_first:
            found[0] = found[0].transpose(0, 1)
        wide = lambda t: None if t is None else t.detach().double().numpy()
        state = tuple(map(wide, hx)) if isinstance(hx, tuple) else wide(hx)
        weights = [wide(w) for w in layer.parameters()]
        expected = layers(
            mode.lower(), wide(x), state, weights, layer.bias, layer.num_layers, layer.bidirectional
        )
        for y, e in zip(found, expected, strict=True):
            tol = 1e-12 if dtype == zero.float64 else 2e-5
            np.testing.assert_allclose(wide(y), e, rtol=tol, atol=tol)
        with zero.no_grad():  # keeps less, computes the same
            again = tensors_of(layer(x.transpose(0, 1) if layer.batch_first else x, hx))
        for y, e in zip(found[1:], again[1:], strict=True):
            assert zero.equal(y, e)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("lengths", [[2, 6, 1, 6, 3], [6, 6, 6, 6, 6], [1] * 5, [9] + [4] * 11])
@pytest.mark.parametrize("mode", [*MODES, "projection"])
def test_packed_is_padded_without_padding(mode, lengths, batch_first):
    options = {"bidirectional": True, "num_layers": 2, "dtype": zero.float64}
    if mode == "projection":
        mode, options = "LSTM", {**options, "proj_size": 3}
    layer = make(mode, 4, 7, batch_first=batch_first, **options)
    batch, out = len(lengths), layer.proj_size or 7
    x = zero.randn(max(lengths), batch, 4, dtype=zero.float64).requires_grad_()
    h = zero.randn(4, batch, out, dtype=zero.float64).requires_grad_()
    c = zero.randn(4, batch, 7, dtype=zero.float64).requires_grad_()
    for hx in (None, (h, c) if mode == "LSTM" else h):
        given = x.transpose(0, 1) if batch_first else x
        packed = pack_padded_sequence(given, lengths, batch_first, enforce_sorted=False)
        y, state = layer(packed, hx)
        assert isinstance(y, PackedSequence)
        padded, found_lengths = pad_packed_sequence(y, batch_first)
        assert found_lengths.tolist() == lengths
        padded = padded.transpose(0, 1) if batch_first else padded
        numbers = lambda t: None if t is None else t.detach().numpy()
        start = tuple(map(numbers, hx)) if isinstance(hx, tuple) else numbers(hx)
        weights = [numbers(w) for w in layer.parameters()]
        expected = layers(mode.lower(), numbers(x), start, weights, True, 2, True, lengths)
        for t, e in zip([padded, *states_of(state)], expected, strict=True):
            np.testing.assert_allclose(numbers(t), e, rtol=1e-12, atol=1e-12)
        # Gradients are those of the sequences one by one.
        inputs = [x, *(states_of(hx) if hx is not None else []), *layer.parameters()]
        weight = zero.randn(padded.shape, dtype=zero.float64)
        loss = (padded * weight).sum() + sum((s * s).sum() for s in states_of(state))
        grads = zero.autograd.grad(loss, inputs)
        loss = 0
        for b, length in enumerate(lengths):
            part = x[:length, b : b + 1]
            one = None if hx is None else [s[:, b : b + 1] for s in states_of(hx)]
            one = one if one is None else tuple(one) if mode == "LSTM" else one[0]
            y, state = layer(part.transpose(0, 1) if batch_first else part, one)
            y = y.transpose(0, 1) if batch_first else y
            loss = loss + (y * weight[:length, b : b + 1]).sum()
            loss = loss + sum((s * s).sum() for s in states_of(state))
        for g, e in zip(grads, zero.autograd.grad(loss, inputs), strict=True):
            same(g, e, 1e-11)


# ---- gradients -----------------------------------------------------------------------------------
CHECKED = [
    {"steps": 3, "batch": 2, "hidden": 3},
    {"steps": 5, "batch": 6, "hidden": 3},  # packed weights
    {"steps": 2, "batch": 2, "hidden": 2, "bidirectional": True, "num_layers": 2},
    {"steps": 2, "batch": 2, "hidden": 3, "proj_size": 2},
    {"lengths": [3, 2, 2, 1], "hidden": 2, "bidirectional": True},
]


@pytest.mark.parametrize("options", CHECKED, ids=str)
@pytest.mark.parametrize("mode", MODES[:3])
def test_gradients(mode, options):
    options = dict(options)
    lengths, hidden = options.pop("lengths", None), options.pop("hidden")
    steps, batch = options.pop("steps", 3), options.pop("batch", 4)
    if "proj_size" in options and mode != "LSTM":
        pytest.skip("only an LSTM has a projection")
    layer = make(mode, 2, hidden, dtype=zero.float64, **options)
    cells = layer.num_layers * (1 + layer.bidirectional)
    x = zero.randn(steps, batch, 2, dtype=zero.float64).requires_grad_()
    h = zero.randn(cells, batch, layer.proj_size or hidden, dtype=zero.float64).requires_grad_()
    c = zero.randn(cells, batch, hidden, dtype=zero.float64).requires_grad_()
    names = [name for name, _ in layer.named_parameters()]

    def f(x, h, c, *weights):
        state = (h, c) if mode == "LSTM" else h
        given = pack_padded_sequence(x, lengths) if lengths else x
        parameters = dict(zip(names, weights, strict=True))
        return tuple(
            tensors_of(zero.nn.utils.stateless.functional_call(layer, parameters, (given, state)))
        )

    inputs = (x, h, c if mode == "LSTM" else c.detach(), *layer.parameters())
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


@pytest.mark.parametrize("name", ["LSTMCell", "GRUCell", "RNNCell"])
def test_cells_are_layers_of_one_step(name):
    cell = getattr(nn, name)(3, 4)
    layer = getattr(nn, name.removesuffix("Cell"))(3, 4)
    layer.load_state_dict({f"{k}_l0": v for k, v in cell.state_dict().items()})
    x, h, c = zero.randn(5, 3), zero.randn(5, 4), zero.randn(5, 4)
    pair = name == "LSTMCell"
    for state in (None, (h, c) if pair else h):
        found = states_of(cell(x, state))
        start = state if state is None else tuple(s[None] for s in states_of(state))
        expected = tensors_of(layer(x[None], start if pair or start is None else start[0]))[1:]
        for a, b in zip(found, expected, strict=True):
            same(a[None], b)
        one = states_of(cell(x[0], None if state is None else (h[0], c[0]) if pair else h[0]))
        for a, b in zip(one, found, strict=True):
            same(a, b[0])
    out = cell(x, (h.requires_grad_(), c.requires_grad_()) if pair else h.requires_grad_())
    sum(s.sum() for s in states_of(out)).backward()
    assert h.grad is not None and (c.grad is not None or not pair)
    assert all(p.grad is not None for p in cell.parameters())


def test_states_may_be_written_to():
    """As reinforcement learning does where an episode ends."""
    cell = nn.LSTMCell(3, 4)
    h, c = cell(zero.randn(2, 3))
    h[0] = 0
    c.mul_(0.5)
    h, c = cell(zero.randn(2, 3), (h, c))
    (h.sum() + c.sum()).backward()


def test_written_output_is_noticed():
    y, _ = nn.GRU(3, 4)(zero.randn(2, 2, 3))
    with zero.no_grad():
        y.zero_()
    with pytest.raises(RuntimeError, match=r"in place|modified|changed"):
        y.sum().backward()


def test_backward_twice_and_partly():
    layer = nn.LSTM(3, 4, bidirectional=True)
    x = zero.randn(5, 6, 3).requires_grad_()
    y, (h, c) = layer(x)
    (a,) = zero.autograd.grad(y.sum(), x, retain_graph=True)
    (b,) = zero.autograd.grad(y.sum(), x, retain_graph=True)
    assert zero.equal(a, b)
    (a,) = zero.autograd.grad(h.sum() + c.sum(), x, retain_graph=True)
    (b,) = zero.autograd.grad(h.sum(), x, retain_graph=True)
    (c,) = zero.autograd.grad(c.sum(), x)
    same(a, b + c)
    frozen = nn.GRU(3, 4).requires_grad_(False)
    (g,) = zero.autograd.grad(frozen(x)[0].sum(), x)
    assert g.shape == x.shape
    only = nn.GRU(3, 4)
    only(x.detach())[1].sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in only.parameters())


# ---- threads -------------------------------------------------------------------------------------
# The units of each step shared; the rows of all steps; no packed weights; a projection; packed.
THREADED = [
    ("LSTM", 200, 20, 6, {}),
    ("GRU", 190, 17, 5, {"bidirectional": True}),
    ("LSTM", 30, 100, 9, {}),
    ("GRU", 50, 61, 12, {}),
    ("RNN_TANH", 100, 70, 30, {}),
    ("RNN_RELU", 300, 33, 6, {}),
    ("LSTM", 100, 50, 3, {}),
    ("LSTM", 120, 40, 6, {"proj_size": 60}),
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("shape", THREADED, ids=str)
def test_same_bits_on_any_number_of_threads(shape, packed):
    mode, hidden, batch, steps, options = shape
    layer = make(mode, 40, hidden, **options)
    x = zero.randn(steps, batch, 40).requires_grad_()
    lengths = sorted((1 + b % steps for b in range(batch)), reverse=True)
    results = []
    for threads in (1, 2, 3, 7):
        zero.set_num_threads(threads)
        found = tensors_of(layer(pack_padded_sequence(x, lengths) if packed else x))
        loss = sum((t * t).sum() for t in found)
        results.append([*found, *zero.autograd.grad(loss, [x, *layer.parameters()])])
    for others in results[1:]:
        assert all(zero.equal(a, b) for a, b in zip(results[0], others, strict=True))


# ---- the modules ---------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", MODES)
def test_shapes_without_batch(mode):
    layer = make(mode, 3, 4, num_layers=2, bidirectional=True, batch_first=True)
    x = zero.randn(5, 3)
    y, h = layer(x)
    with_batch, states = layer(x[None])
    same(y, with_batch[0])
    for a, b in zip(states_of(h), states_of(states), strict=True):
        same(a, b[:, 0])
    again, _ = layer(x, h)
    assert again.shape == (5, 8) and not zero.equal(again, y)


def test_output_of_batch_first_is_laid_out_by_steps():
    """As PyTorch's: a transposed view."""
    y, _ = nn.GRU(3, 4, batch_first=True)(zero.randn(2, 5, 3))
    assert y.shape == (2, 5, 4) and y.stride() == (4, 8, 1)


def test_dropout_lies_between_layers():
    with pytest.warns(UserWarning, match="dropout lies between layers"):
        nn.LSTM(3, 4, dropout=0.5)
    layer = nn.GRU(3, 400, num_layers=2, dropout=0.25)
    x = zero.randn(2, 10, 3)
    zero.manual_seed(1)
    a, _ = layer(x)
    zero.manual_seed(1)
    b, _ = layer(x)
    c, _ = layer(x)
    assert zero.equal(a, b) and not zero.equal(a, c)
    layer.eval()
    assert zero.equal(layer(x)[0], layer(x)[0])
    gone = nn.RNN(3, 4, num_layers=2, dropout=1.0)
    with zero.no_grad():
        gone.bias_ih_l1.zero_()
        gone.bias_hh_l1.zero_()
    assert gone(x)[0].abs().sum() == 0  # nothing reaches the second layer
    # What comes between has its expected value: the second layer is the identity of one unit.
    mean = nn.RNN(1, 1, num_layers=2, dropout=0.5, nonlinearity="relu", bias=False)
    with zero.no_grad():
        for name, p in mean.named_parameters():
            p.fill_(1.0 if "ih" in name else 0.0)
    y, _ = mean(zero.ones(1, 4000, 1))
    assert set(y.flatten().tolist()) == {0.0, 2.0} and abs(y.mean().item() - 1) < 0.1


def test_representation_and_attributes():
    layer = nn.LSTM(3, 4, 2, False, True, 0.5, True, 2)
    expected = (
        "LSTM(3, 4, proj_size=2, num_layers=2, bias=False, batch_first=True, dropout=0.5, "
        "bidirectional=True)"
    )
    assert repr(layer) == expected and layer.mode == "LSTM"
    assert repr(nn.RNN(3, 4, nonlinearity="relu")) == "RNN(3, 4)"
    assert nn.RNN(3, 4, 1, "relu").mode == "RNN_RELU" and nn.GRU(3, 4).mode == "GRU"
    assert repr(nn.LSTMCell(3, 4, bias=False)) == "LSTMCell(3, 4, bias=False)"
    assert repr(nn.RNNCell(3, 4, nonlinearity="relu")) == "RNNCell(3, 4, nonlinearity=relu)"
    assert [[w.shape for w in part] for part in nn.GRU(3, 4).all_weights] == [
        [(12, 3), (12, 4), (12,), (12,)]
    ]
    assert nn.LSTM(3, 4).flatten_parameters() is None
    assert isinstance(nn.LSTM(3, 4), nn.RNNBase) and isinstance(nn.GRUCell(3, 4), nn.RNNCellBase)
    assert nn.modules.rnn.LSTM is nn.LSTM and nn.modules.RNNBase is nn.RNNBase
    assert "bias_ih" in dict(nn.RNNCell(3, 4, bias=False)._parameters)


def test_start_of_parameters():
    for module in (nn.LSTM(50, 25), nn.GRUCell(50, 25)):
        numbers = zero.cat([p.detach().flatten() for p in module.parameters()])
        assert numbers.abs().max() <= 0.2 and abs(numbers.std().item() - 0.2 / 3**0.5) < 0.01


def test_copies_and_state():
    layer = nn.LSTM(3, 4, 2, bidirectional=True)
    x = zero.randn(5, 2, 3)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert zero.equal(other(x)[0], layer(x)[0])
        with zero.no_grad():
            other.weight_hh_l1.add_(1)
        assert not zero.equal(other(x)[0], layer(x)[0])
        other.load_state_dict(layer.state_dict())
        assert zero.equal(other(x)[0], layer(x)[0])
    wide = copy.deepcopy(layer).double()
    same(wide(x.double())[0].float(), layer(x)[0], 1e-5)


def test_weights_of_the_user():
    x = zero.randn(6, 5, 3)
    layer = nn.GRU(3, 4)
    layer.weight_hh_l0 = nn.Parameter(zero.zeros(12, 4))
    layer.bias_hh_l0 = nn.Parameter(zero.zeros(12))
    other = nn.GRU(3, 4)
    other.load_state_dict(layer.state_dict())
    assert zero.equal(layer(x)[0], other(x)[0])
    wide = nn.Parameter(zero.randn(4, 12).t())  # strided
    layer.weight_hh_l0 = wide
    y = layer(x)[0]
    layer.weight_hh_l0 = nn.Parameter(wide.detach().contiguous())
    same(y, layer(x)[0])


@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
@pytest.mark.parametrize("norm", [parametrizations.weight_norm, weight_norm])
def test_parametrized_weights(norm):
    x = zero.randn(6, 5, 3)
    layer = nn.LSTM(3, 4)
    before = layer(x)[0]
    norm(layer, "weight_hh_l0")
    same(layer(x)[0], before)
    layer(x)[0].sum().backward()
    names = [name for name, p in layer.named_parameters() if p.grad is not None]
    assert len(names) == 5 and "weight_hh_l0" not in names
    cell = norm(nn.GRUCell(3, 4), "weight_ih")
    cell(x[0]).sum().backward()


@pytest.mark.parametrize("dtype", [zero.float16, zero.bfloat16])
@pytest.mark.parametrize("mode", MODES)
def test_16_bit_floats_are_computed_with_as_float32(mode, dtype):
    layer = make(mode, 3, 4, num_layers=2).to(dtype)
    wide = copy.deepcopy(layer).float()
    x = zero.randn(5, 6, 3).to(dtype)
    for a, b in zip(tensors_of(layer(x)), tensors_of(wide(x.float())), strict=True):
        assert a.dtype == dtype and zero.equal(a, b.to(dtype))
    layer(x)[0].float().square().sum().backward()
    assert all(p.grad.dtype == dtype for p in layer.parameters())


def test_on_meta():
    layer = nn.LSTM(3, 4, 2, bidirectional=True, device="meta")
    x = zero.empty(5, 2, 3, device="meta", requires_grad=True)
    y, (h, c) = layer(x)
    assert (y.shape, h.shape, c.shape) == ((5, 2, 8), (4, 2, 4), (4, 2, 4))
    y.sum().backward()
    assert x.grad.shape == x.shape and x.grad.is_meta
    assert nn.GRUCell(3, 4, device="meta")(x.detach()[0]).is_meta


def test_empty_batches():
    for mode in MODES:
        layer = make(mode, 3, 4)
        y, h = layer(zero.ones(5, 0, 3))
        assert y.shape == (5, 0, 4) and states_of(h)[0].shape == (1, 0, 4)
        y.sum().backward()
        assert all(p.grad.abs().sum() == 0 for p in layer.parameters())
    assert nn.GRUCell(3, 4)(zero.ones(0, 3)).shape == (0, 4)


@pytest.mark.parametrize(
    "make_it, error, words",
    [
        (lambda: nn.RNN(3, 4, nonlinearity="elu"), ValueError, "no such nonlinearity"),
        (lambda: nn.RNNBase("QRNN", 3, 4), ValueError, "no such mode"),
        (lambda: nn.LSTM(3, 4.0), TypeError, "hidden_size is not an int"),
        (lambda: nn.LSTM(3, 0), ValueError, "hidden_size is not positive"),
        (lambda: nn.LSTM(0, 3), ValueError, "input_size is not positive"),
        (lambda: nn.GRU(3, 4, num_layers=0), ValueError, "num_layers is not positive"),
        (lambda: nn.GRU(3, 4, 1, 0), TypeError, "bias is not a bool"),
        (lambda: nn.GRU(3, 4, dropout=1.5), ValueError, "dropout is no probability"),
        (lambda: nn.GRU(3, 4, dropout=True), ValueError, "dropout is no number"),
        (lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size is too large"),
        (lambda: nn.LSTM(3, 4, proj_size=-1), ValueError, "negative"),
        (lambda: nn.GRU(3, 4, proj_size=2), ValueError, "only an LSTM"),
    ],
)
def test_errors_of_options(make_it, error, words):
    with pytest.raises(error, match=words):
        make_it()


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda m, x: m(x[0, 0]), ValueError, "2 or 3 dimensions"),
        (lambda m, x: m([1, 2]), TypeError, "no tensor"),
        (lambda m, x: m(x[:0]), RuntimeError, "without steps"),
        (lambda m, x: m(zero.ones(5, 2, 4)), RuntimeError, r"input.size\(-1\) == 3"),
        (lambda m, x: m(x.double()), TypeError, "dtypes differ"),
        (lambda m, x: m(x, (zero.ones(1, 1, 4),) * 2), RuntimeError, "does not fit"),
        (lambda m, x: m(x, (zero.ones(2, 4),) * 2), RuntimeError, "does not fit"),
        (lambda m, x: m(x[:, 0], (zero.ones(1, 2, 4),) * 2), RuntimeError, "without a batch"),
        (lambda m, x: m(x, zero.ones(1, 2, 4)), (TypeError, RuntimeError), "."),
        (lambda m, x: m(x, (zero.ones(1, 2, 4),) * 3), TypeError, "no pair"),
        (lambda m, x: m(x.long()), TypeError, "floating point"),
        (lambda m, x: m(x[:, 0], (None, None)), TypeError, "a state is no tensor; got NoneType"),
        (lambda m, x: nn.GRU(3, 4)(x[:, 0], (x, x)), TypeError, "a state is no tensor; got tuple"),
        (
            lambda m, x: m(pack_sequence([x[:, 0]]), ((x, x), x)),
            TypeError,
            "a state is no tensor; got tuple",
        ),
    ],
)
def test_errors_of_calls(call, error, words):
    with pytest.raises(error, match=words):
        call(nn.LSTM(3, 4), zero.ones(5, 2, 3))


@pytest.mark.parametrize(
    "sizes, words",
    [
        ([1, 3], "don't fall; got 3 at step 1"),
        ([4, 0], "don't fall; got 0 at step 1"),
        ([-1, 5], "don't fall; got -1 at step 0"),
        ([3, 2], "don't add up to the rows of the input; got 2 at step 1 .* expected 1"),
        ([2, 1], "don't add up to the rows of the input; got 1 at step 1 .* expected 2"),
        ([5], "don't add up"),
        ([2**62] * 4 + [4], "don't add up"),  # they do in 64 bits
        ([], "no list"),
        ([2.0, 2.0], "no list"),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_errors_of_batch_sizes(sizes, words, device):
    sizes = zero.tensor(sizes, dtype=None if 2.0 in sizes else zero.int64)
    if not len(sizes):
        sizes = zero.empty(0, dtype=zero.int64)
    with pytest.raises(RuntimeError, match=words):
        nn.GRU(3, 4, device=device)(PackedSequence(zero.ones(4, 3, device=device), sizes))
    for other in (sizes.int(), sizes[None], sizes.to("meta")):
        with pytest.raises(RuntimeError, match="no list"):
            weights = [zero.ones(1, 3), zero.ones(1, 1)]
            zero.rnn_tanh(zero.ones(4, 3), other, None, weights, False, 1, 0.0, False, False)


def test_no_rows_of_large_batches():
    """Sizes whose sum is 0 in 64 bits, where no memory is needed."""
    sizes, weights = zero.tensor([2**62] * 4), [zero.ones(0, 1), zero.ones(0, 0)]
    with pytest.raises(RuntimeError, match="don't add up"):
        zero.lstm(zero.ones(0, 1), sizes, None, weights, False, 1, 0.0, False, False)


def test_batch_sizes_may_be_written_to():
    """By way of NumPy, which tells nobody."""
    sizes, layer = zero.tensor([3, 1]), nn.GRU(2, 4)
    data = zero.randn(4, 2).requires_grad_()
    y = layer(PackedSequence(data, sizes))[0].data
    (expected,) = zero.autograd.grad(y.sum(), data, retain_graph=True)
    sizes.numpy()[:] = [2**40, 2**40]
    assert zero.equal(zero.autograd.grad(y.sum(), data)[0], expected)


def test_projection_is_a_matrix():
    weights = [zero.ones(16, 3), zero.ones(16, 2), zero.tensor(1.0)]
    with pytest.raises(ShapeError, match="weight_hr is no matrix"):
        zero.lstm(zero.ones(2, 1, 3), None, weights, False, 1, 0.0, False, False, False)


def test_nan_passes_back_through_relu():
    layer = nn.RNN(1, 3, nonlinearity="relu")
    x = zero.tensor([[[float("nan")]], [[1.0]]])
    layer(x)[0].square().sum().backward()
    assert all(p.grad.isnan().all() for p in layer.parameters())


# ---- sequences of different lengths --------------------------------------------------------------
def test_pack_and_pad():
    x = zero.arange(12.0).reshape(3, 4).unsqueeze(2)
    packed = pack_padded_sequence(x, [3, 1, 2, 2], enforce_sorted=False)
    assert packed.data.flatten().tolist() == [0, 2, 3, 1, 4, 6, 7, 8]
    assert packed.batch_sizes.tolist() == [4, 3, 1]
    assert packed.sorted_indices.tolist() == [0, 2, 3, 1]
    assert packed.unsorted_indices.tolist() == [0, 3, 1, 2]
    padded, lengths = pad_packed_sequence(packed)
    assert padded[..., 0].tolist() == [[0, 1, 2, 3], [4, 0, 6, 7], [8, 0, 0, 0]]
    assert lengths.tolist() == [3, 1, 2, 2] and lengths.dtype == zero.int64
    padded, _ = pad_packed_sequence(packed, True, -1, 5)
    assert padded[..., 0].tolist() == [
        [0, 4, 8, -1, -1],
        [1, -1, -1, -1, -1],
        [2, 6, -1, -1, -1],
        [3, 7, -1, -1, -1],
    ]
    first = pack_padded_sequence(x.transpose(0, 1), zero.tensor([3, 1, 2, 2]), True, False)
    assert zero.equal(first.data, packed.data)
    plain = pack_padded_sequence(x, zero.tensor([3.0, 2, 2, 1]))
    assert plain.data.flatten().tolist() == [0, 1, 2, 3, 4, 5, 6, 8]
    assert plain.sorted_indices is None and plain.unsorted_indices is None
    assert pack_padded_sequence(zero.ones(3, 2).long(), [3, 1]).data.shape == (4,)


def test_gradients_of_packing():
    x = zero.randn(4, 3, 2, dtype=zero.float64).requires_grad_()

    def f(x):
        packed = pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
        return pad_packed_sequence(packed._replace(data=packed.data**2), padding_value=2.0)[0]

    assert gradcheck(f, (x,)) and gradgradcheck(f, (x,))
    f(x).sum().backward()
    assert x.grad[2:, 0].abs().sum() == 0  # padding


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x: pack_padded_sequence(x, [3, 1, 2, 2]), "enforce_sorted=False"),
        (lambda x: pack_padded_sequence(x, [3, 2, 2]), "not one length"),
        (lambda x: pack_padded_sequence(x, [3, 2, 2, 0]), "out of range; got 0"),
        (lambda x: pack_padded_sequence(x, [4, 2, 2, 1]), "out of range; got 4"),
        (lambda x: pack_padded_sequence(x, [[3, 2, 2, 1]]), "no list"),
        (lambda x: pack_padded_sequence(x[:, :0], []), "not one length"),
        (lambda x: pack_padded_sequence(x[:, 0, 0], [3]), "dimensions"),
        (lambda x: pad_packed_sequence(pack_padded_sequence(x, [3] * 4), total_length=2), "small"),
        (lambda x: pad_sequence([]), "no sequences"),
        (lambda x: pad_sequence([x], padding_side="top"), "no such side"),
        (lambda x: pad_sequence([zero.ones(2, 2), zero.ones(3, 3)]), "more than their length"),
        (lambda x: pad_sequence([zero.tensor(1.0)]), "more than their length"),
        (lambda x: pad_sequence(3), "no list"),
        (lambda x: pack_sequence([zero.ones(2), zero.ones(3)]), "don't fall"),
        (lambda x: unpad_sequence(x, [1]), "not one length"),
        (lambda x: PackedSequence(x), "no batch_sizes"),
        (lambda x: PackedSequence(x, [4]), "no tensors; got Tensor and list"),
        (lambda x: PackedSequence([1], zero.tensor([1])), "no tensors; got list and Tensor"),
    ],
)
def test_errors_of_packing(call, words):
    with pytest.raises(RuntimeError, match=words):
        call(zero.ones(3, 4, 1))


def test_pad_sequence():
    a, b = zero.tensor([[1.0, 2]]), zero.tensor([[3.0, 4], [5, 6]])
    assert pad_sequence([a, b]).tolist() == [[[1, 2], [3, 4]], [[0, 0], [5, 6]]]
    assert pad_sequence([a, b], True, -1, "left").tolist() == [
        [[-1, -1], [1, 2]],
        [[3, 4], [5, 6]],
    ]
    assert pad_sequence(x for x in (a, b)).shape == (2, 2, 2)
    assert pad_sequence(zero.ones(2, 3)).shape == (3, 2)
    assert pad_sequence([zero.ones(2).long(), zero.ones(3)]).dtype == zero.int64
    parts = unpad_sequence(pad_sequence([a, b]), zero.tensor([1, 2]))
    assert zero.equal(parts[0], a) and zero.equal(parts[1], b)


def test_pack_and_unpack_sequence():
    parts = [zero.arange(2), zero.arange(5), zero.arange(3)]
    packed = pack_sequence(parts, enforce_sorted=False)
    assert packed.data.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3, 4]
    assert [p.tolist() for p in unpack_sequence(packed)] == [p.tolist() for p in parts]
    assert invert_permutation(None) is None
    assert invert_permutation(zero.tensor([2, 0, 1])).tolist() == [1, 2, 0]


def test_packed_sequence_is_a_tuple():
    packed = pack_sequence([zero.ones(3, 1), zero.ones(2, 1)])
    data, sizes, order, back = packed
    assert packed.data is data and packed[1] is sizes and order is None and back is None
    assert packed.to(zero.float64).data.dtype == zero.float64 and packed.to("cpu") is packed
    assert packed.double().data.dtype == zero.float64 and packed.half().data.dtype == zero.float16
    assert packed.long().data.dtype == zero.int64 and packed.cpu() is packed
    assert not packed.is_cuda and not packed.is_pinned()
    assert PackedSequence((data, sizes)).data is data
    assert PackedSequence(data, sizes, zero.tensor([1, 0])).unsorted_indices.tolist() == [1, 0]
    for other in (copy.deepcopy(packed), pickle.loads(pickle.dumps(packed))):
        assert type(other) is PackedSequence and zero.equal(other.data, data)
    assert re.match(r"PackedSequence\(data=tensor", repr(packed))
    with pytest.raises(RuntimeError):
        packed.cuda()


# ---- functions -----------------------------------------------------------------------------------
def test_functions_take_packed_sequences():
    layer = nn.GRU(3, 4)
    packed = pack_sequence([zero.randn(3, 3), zero.randn(2, 3)])
    weights = list(layer.parameters())
    y, h = zero.gru(packed.data, packed.batch_sizes, None, weights, True, 1, 0.0, False, False)
    expected, end = layer(packed)
    assert zero.equal(y, expected.data) and zero.equal(h, end)
    layer = nn.LSTM(3, 4)
    start = (zero.zeros(1, 2, 4),) * 2
    weights = list(layer.parameters())
    found = zero.lstm(packed.data, packed.batch_sizes, start, weights, True, 1, 0.0, True, False)
    assert zero.equal(found[0], layer(packed)[0].data)
