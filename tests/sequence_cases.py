"""Layers of sequences with real arguments, for the table of PyTorch's values.

An expression over nn makes the module, one over m, the tensors below and lib the call. Parameters
and inputs are numbers by formula, in float64.
"""

import numpy as np

N, L, S, E = 2, 5, 4, 8


def filled(shape, k):
    """Numbers in [-0.5, 0.5], others for each k."""
    n = int(np.prod(shape))
    return (((np.arange(n) * 7919 + 613 * k + 13) % 1021) / 1020 - 0.5).reshape(shape)


def tensors(lib):
    """Inputs by name; those of floats want gradients."""
    shapes = {
        "x": (L, N, E), "y": (S, N, E), "x1": (L, E), "y1": (S, E),  # [L, N, E], without a batch
        "xb": (N, L, E), "yb": (N, S, E), "k6": (S, N, 6), "v4": (S, N, 4),
    }  # fmt: skip
    named = {
        name: lib.tensor(filled(shape, k), dtype=lib.float64).requires_grad_()
        for k, (name, shape) in enumerate(shapes.items())
    }
    named["ahead"] = lib.tensor(np.triu(np.ones((L, L), bool), 1))
    named["minus"] = lib.tensor(np.triu(np.full((L, L), -np.inf), 1))
    named["bias"] = lib.tensor(filled((N * 2, L, L), 20)).requires_grad_()  # of two heads
    named["cross"] = lib.tensor(filled((L, S), 21) > 0.2)
    named["pad_x"] = lib.tensor(np.arange(L) >= np.array([[5], [3]]))  # [N, L]
    named["pad_y"] = lib.tensor(np.arange(S) >= np.array([[2], [4]]))
    named["start"] = lib.tensor(filled((2, N, 3), 23)).requires_grad_()  # states of two layers
    named["soft"] = lib.tensor(filled((N, L), 22)).requires_grad_()
    return named


MHA = "MultiheadAttention(8, 2{})"
ENC = "TransformerEncoderLayer(8, 2, 12, 0.0{})"
DEC = "TransformerDecoderLayer(8, 2, 12, 0.0{})"
CASES = {
    "RNN": ("RNN(8, 3, bias=False)", "m(x)"),
    "RNN, ReLU": (
        "RNN(8, 3, 2, nonlinearity='relu', bidirectional=True, batch_first=True)",
        "m(xb)",
    ),
    "LSTM": ("LSTM(8, 3)", "m(x)"),
    "LSTM, projected": (
        "LSTM(8, 4, 2, bidirectional=True, batch_first=True, dropout=0.4, proj_size=3).eval()",
        "m(xb)",
    ),
    "LSTM, started": ("LSTM(8, 3, 2, bias=False)", "m(x, (start, start * 2))"),
    "LSTM without a batch": ("LSTM(8, 3, bidirectional=True)", "m(x1)"),
    "GRU": ("GRU(8, 3)", "m(x)"),
    "GRU, both directions": ("GRU(8, 3, 2, bidirectional=True, batch_first=True)", "m(xb)"),
    "GRU, started": ("GRU(8, 3, 2, bias=False)", "m(x, start)"),
    "LSTM cell": ("LSTMCell(8, 3)", "m(x[0], (start[0], start[1]))"),
    "GRU cell": ("GRUCell(8, 3)", "m(x[0], start[0])"),
    "RNN cell": ("RNNCell(8, 3, nonlinearity='relu')", "m(x[0])"),
    "attention": (MHA.format(""), "m(x, x, x)"),
    "attention to another": (MHA.format(", batch_first=True"), "m(xb, yb, yb)"),
    "attention, three inputs": (MHA.format(", dropout=0.3") + ".eval()", "m(x, y, y * 2)"),
    "attention without weights": (MHA.format(""), "m(x, x, x, need_weights=False)"),
    "attention, weights of heads": (MHA.format(""), "m(x, y, y, average_attn_weights=False)"),
    "attention without a batch": (MHA.format(", batch_first=True"), "m(x1, y1, y1)"),
    "attention, sizes of keys": (MHA.format(", kdim=6, vdim=4"), "m(x, k6, v4, pad_y)"),
    "attention, no biases": (MHA.format(", bias=False, kdim=6, vdim=4"), "m(x, k6, v4)"),
    "attention, learned key": (
        MHA.format(", add_bias_kv=True, batch_first=True"),
        "m(xb, xb, xb, pad_x, attn_mask=ahead)",
    ),
    "attention, key of zeros": (
        MHA.format(", add_zero_attn=True, add_bias_kv=True"),
        "m(x, x, x, attn_mask=minus, need_weights=False)",
    ),
    "attention, mask of heads": (MHA.format(""), "m(x, x, x, soft, False, bias)"),
    "attention, mask of heads, weights": (MHA.format(""), "m(x, x, x, attn_mask=bias)"),
    "attention, causal": (
        MHA.format(", batch_first=True"),
        "m(xb, xb, xb, attn_mask=ahead, need_weights=False, is_causal=True)",
    ),
    "attention, causal and padded": (
        MHA.format(", batch_first=True"),
        "m(xb, xb, xb, pad_x, False, ahead, is_causal=True)",
    ),
    "encoder layer": (ENC.format(""), "m(x)"),
    "encoder layer, padded": (ENC.format(", batch_first=True"), "m(xb, None, pad_x)"),
    "encoder layer, GELU": (
        ENC.format(", 'gelu', 1e-3, True, True"),
        "m(xb, src_mask=minus, is_causal=True)",
    ),
    "encoder layer, no biases": (
        ENC.format(", lib.nn.functional.silu, bias=False"),
        "m(x, ahead, pad_x)",
    ),
    "encoder layer, module": (ENC.format(", lib.nn.Tanh()"), "m(x1)"),
    "encoder": (
        f"TransformerEncoder(nn.{ENC.format('')}, 2, nn.LayerNorm(8))",
        "m(x, mask=minus)",
    ),
    "encoder, evaluation": (
        f"TransformerEncoder(nn.{ENC.format(', batch_first=True')}, 2, nn.LayerNorm(8)).eval()",
        "m(xb, src_key_padding_mask=pad_x)",
    ),
    "encoder of other copies": (
        f"TransformerEncoder(nn.{ENC.format(', norm_first=True')}, 2, None, False)",
        "m(x, bias, soft)",
    ),
    "decoder layer": (DEC.format(""), "m(x, y)"),
    "decoder layer, GELU": (
        DEC.format(", 'gelu', batch_first=True, norm_first=True"),
        "m(xb, yb, ahead, cross, pad_x, pad_y, True)",
    ),
    "decoder": (
        f"TransformerDecoder(nn.{DEC.format('')}, 2, nn.LayerNorm(8))",
        "m(x, y, tgt_mask=minus, memory_key_padding_mask=pad_y)",
    ),
    "transformer": (
        "Transformer(8, 2, 1, 2, 12, 0.0)",
        "m(y, x, tgt_mask=m.generate_square_subsequent_mask(5, dtype=lib.float64))",
    ),
    "transformer, all masks": (
        "Transformer(8, 2, 2, 1, 12, 0.0, 'gelu', batch_first=True, norm_first=True, bias=False)",
        "m(yb, xb, None, minus, cross, pad_y, pad_x, pad_y, False, True, False)",
    ),
    "transformer, custom encoder": (
        "Transformer(8, 2, 1, 1, 12, 0.0, custom_encoder=Flat())",
        "m(y, x)",
    ),
}


def flat(results):
    if not isinstance(results, tuple):
        return [] if results is None else [results]
    return [t for r in results for t in flat(r)]


def run(lib, build, call):
    """The state_dict's shapes, the results and weighted sums of the gradients of what there is."""

    class Flat(lib.nn.Module):
        def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
            return src + 1

    scope = {"nn": lib.nn, "lib": lib, "Flat": Flat}
    module = eval(f"nn.{build}", scope).double()
    with lib.no_grad():
        for k, parameter in enumerate(module.parameters()):
            parameter.copy_(lib.tensor(filled(tuple(parameter.shape), 40 + k)))
    shapes = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    named = tensors(lib)
    results = flat(eval(call, {"m": module, "lib": lib, **named}))

    def checksum(t, k):
        return float((t.detach() * lib.tensor(filled(tuple(t.shape), k))).sum().item())

    loss = sum((r * lib.tensor(filled(tuple(r.shape), 90))).sum() for r in results)
    loss.backward()
    owners = {**dict(module.named_parameters()), **named}
    gradients = {name: checksum(t.grad, 91) for name, t in owners.items() if t.grad is not None}
    values = [(tuple(r.shape), checksum(r, 92), r.detach().flatten()[:3].tolist()) for r in results]
    return shapes, values, gradients
