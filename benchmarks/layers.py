"""Times layers, forward and backward, against PyTorch, by family.

python benchmarks/layers.py [-k PART] [--threads 1] [--rounds 11]
pip install -e '.[parity]' installs the peer.

Printed are each layer's times and, for each family, the geometric mean of PyTorch's time over
zero's (above 1: zero is faster).
"""

from __future__ import annotations

import argparse
import importlib
import statistics
from collections import defaultdict
from collections.abc import Callable
from types import ModuleType

from harness import Statement, compare, readable

import zero

ROUND_SECONDS = 0.02

IMAGE = (64, 64, 28, 28)
ROWS = (64, 1024)

# Family: (layer over nn, shape of the input).
LAYERS: dict[str, list[tuple[str, tuple[int, ...]]]] = {
    "convolution": [
        ("Conv2d(1, 32, 3, padding=1)", (64, 1, 28, 28)),
        ("Conv2d(32, 64, 3, padding=1)", (64, 32, 28, 28)),
        ("Conv2d(3, 64, 3, padding=1)", (32, 3, 32, 32)),
        ("Conv2d(64, 64, 3, padding=1)", (32, 64, 32, 32)),
        ("Conv2d(128, 128, 3, padding=1)", (32, 128, 16, 16)),
        ("Conv2d(256, 256, 3, padding=1)", (32, 256, 8, 8)),
        ("Conv2d(512, 512, 3, padding=1)", (32, 512, 4, 4)),
        ("Conv2d(16, 16, 3, padding=1)", (32, 16, 32, 32)),
        ("Conv2d(64, 64, 3, padding=1)", (1, 64, 56, 56)),
        ("Conv2d(512, 512, 3, padding=1)", (1, 512, 7, 7)),
        ("Conv2d(64, 128, 3, stride=2, padding=1)", (32, 64, 32, 32)),
        ("Conv2d(128, 256, 3, stride=2, padding=1)", (32, 128, 16, 16)),
        ("Conv2d(256, 512, 3, stride=2, padding=1)", (32, 256, 8, 8)),
        ("Conv2d(3, 64, 7, stride=2, padding=3)", (8, 3, 224, 224)),
        ("Conv2d(64, 128, 1, stride=2)", (32, 64, 32, 32)),
        ("Conv2d(64, 64, 1)", (8, 64, 56, 56)),
        ("Conv2d(96, 96, 3, padding=1, groups=96)", (8, 96, 28, 28)),
        ("Conv2d(64, 64, 3, padding=2, dilation=2)", (8, 64, 28, 28)),
        ("Conv1d(64, 64, 5, padding=2)", (32, 64, 256)),
        ("Conv3d(8, 16, 3, padding=1)", (4, 8, 16, 16, 16)),
        ("ConvTranspose2d(64, 32, 4, stride=2, padding=1)", (16, 64, 16, 16)),
        ("Unfold(3, padding=1)", (8, 32, 28, 28)),
    ],
    "pooling": [
        ("MaxPool2d(2)", IMAGE),
        ("MaxPool2d(3, stride=2, padding=1)", IMAGE),
        ("AvgPool2d(2)", IMAGE),
        ("AvgPool2d(3, stride=1, padding=1)", IMAGE),
        ("AdaptiveAvgPool2d(1)", IMAGE),
        ("AdaptiveAvgPool2d(7)", IMAGE),
        ("AdaptiveMaxPool2d(7)", IMAGE),
        ("MaxPool1d(2)", (64, 64, 512)),
        ("AvgPool3d(2)", (4, 16, 16, 32, 32)),
        ("AdaptiveAvgPool2d(1)", (64, 256, 7, 7)),
        ("FractionalMaxPool2d(2, output_ratio=0.5)", (16, 16, 28, 28)),
        ("LPPool2d(2, 2)", IMAGE),
    ],
    "padding and resampling": [
        ("ZeroPad2d(1)", IMAGE),
        ("ReflectionPad2d(1)", IMAGE),
        ("ReplicationPad2d(1)", IMAGE),
        ("CircularPad2d(1)", IMAGE),
        ("Upsample(scale_factor=2, mode='nearest')", (16, 32, 28, 28)),
        ("Upsample(scale_factor=2, mode='bilinear')", (16, 32, 28, 28)),
        ("Upsample(scale_factor=2, mode='bicubic')", (16, 32, 28, 28)),
        ("PixelShuffle(2)", (16, 64, 28, 28)),
    ],
    "normalisation": [
        ("BatchNorm2d(64)", IMAGE),
        ("BatchNorm2d(64).eval()", IMAGE),
        ("BatchNorm1d(1024)", ROWS),
        ("LayerNorm(1024)", ROWS),
        ("GroupNorm(8, 64)", IMAGE),
        ("InstanceNorm2d(64)", IMAGE),
        ("RMSNorm(1024)", ROWS),
        ("LocalResponseNorm(5)", (16, 64, 28, 28)),
    ],
    "transformer": [
        ("TransformerEncoderLayer(64, 2, 256)", (16, 4, 64)),
        ("TransformerEncoderLayer(64, 2, batch_first=True)", (4, 16, 64)),
        ("TransformerEncoderLayer(192, 4, 768, batch_first=True)", (8, 65, 192)),
        ("TransformerEncoderLayer(192, 4, batch_first=True)", (8, 65, 192)),
        (
            "TransformerEncoderLayer(384, 6, 1536, activation='gelu', norm_first=True, "
            "batch_first=True)",
            (2, 256, 384),
        ),
        ("TransformerEncoderLayer(384, 6, 1536, dropout=0.0)", (256, 2, 384)),
    ],
    "activation": [
        (name, ROWS)
        for name in (
            "ReLU()",
            "LeakyReLU()",
            "ELU()",
            "CELU()",
            "SELU()",
            "GELU()",
            "GELU(approximate='tanh')",
            "SiLU()",
            "Mish()",
            "Sigmoid()",
            "Tanh()",
            "Hardtanh()",
            "ReLU6()",
            "Hardsigmoid()",
            "Hardswish()",
            "Softplus()",
            "Softsign()",
            "Softshrink()",
            "Hardshrink()",
            "Tanhshrink()",
            "LogSigmoid()",
            "Threshold(0.1, 0)",
            "PReLU()",
            "GLU()",
            "Softmax(1)",
            "LogSoftmax(1)",
            "Dropout(0.5)",
        )
    ],
}

# Layers over nn, and the shape of the input: of a sequence, or of one step of a cell.
RECURRENT = [
    ("LSTM(200, 200)", (35, 20, 200)),
    ("LSTM(200, 200, 2)", (35, 20, 200)),
    ("LSTM(64, 128, batch_first=True)", (64, 50, 64)),
    ("LSTM(40, 256, bidirectional=True)", (100, 16, 40)),
    ("LSTM(64, 64, proj_size=32)", (50, 32, 64)),
    ("LSTM(1, 32, batch_first=True)", (32, 48, 1)),
    ("GRU(200, 200)", (35, 20, 200)),
    ("GRU(64, 128, 2)", (50, 64, 64)),
    ("RNN(128, 128)", (50, 32, 128)),
    ("LSTM(8, 16)", (10, 1, 8)),
    ("LSTM(32, 64)", (1, 1, 32)),
    ("GRU(32, 64)", (1, 16, 32)),
    ("LSTMCell(32, 64)", (1, 32)),
    ("LSTMCell(200, 200)", (20, 200)),
    ("GRUCell(32, 64)", (8, 32)),
    ("RNNCell(32, 64)", (8, 32)),
]

# Losses over nn: whether the targets are classes, numbers, or signs.
LOSSES = {
    "L1Loss()": "numbers",
    "MSELoss()": "numbers",
    "SmoothL1Loss()": "numbers",
    "HuberLoss()": "numbers",
    "BCELoss()": "probabilities",
    "BCEWithLogitsLoss()": "probabilities",
    "KLDivLoss(reduction='batchmean')": "probabilities",
    "NLLLoss()": "classes",
    "CrossEntropyLoss()": "classes",
    "CrossEntropyLoss(label_smoothing=0.1)": "classes",
    "PoissonNLLLoss()": "numbers",
    "SoftMarginLoss()": "signs",
    "HingeEmbeddingLoss()": "signs",
    "MultiLabelSoftMarginLoss()": "probabilities",
}

Build = Callable[[ModuleType], Statement]


def fill(lib: ModuleType, *shape: int) -> object:
    """The same numbers for each library, spread over -1 … 1."""
    count = 1
    for size in shape:
        count *= size
    return (((lib.arange(count) * 7919 + 13) % 1021).float() / 510.5 - 1).reshape(shape)


def layer(expression: str, shape: tuple[int, ...]) -> Build:
    def build(lib: ModuleType) -> Statement:
        x = fill(lib, *shape).requires_grad_()
        module = eval(f"nn.{expression}", {"nn": lib.nn})
        return Statement("module(x).backward(g)", module=module, x=x, g=module(x).detach().clone())

    return build


def heads(options: str, shape: tuple[int, ...]) -> Build:
    def build(lib: ModuleType) -> Statement:
        x = fill(lib, *shape).requires_grad_()
        memory = fill(lib, shape[0], 2 * shape[1], shape[2]).requires_grad_()
        masks = {"pad": lib.arange(shape[1]) > lib.arange(shape[0]).unsqueeze(1) + shape[1] // 2}
        module = lib.nn.MultiheadAttention(shape[2], shape[2] // 32, batch_first=True)
        call = f"module({options})[0]"
        names = {"module": module, "x": x, "memory": memory, **masks}
        return Statement(f"{call}.backward(g)", g=eval(call, names).detach().clone(), **names)

    return build


def loss(expression: str, kind: str) -> Build:
    def build(lib: ModuleType) -> Statement:
        x = fill(lib, *ROWS)
        numbers = fill(lib, *ROWS).flip(1)
        target = {
            "numbers": numbers,
            "probabilities": (numbers + 1) / 2,
            "signs": (numbers > 0).float() * 2 - 1,
            "classes": lib.arange(ROWS[0]) * 37 % ROWS[1],
        }[kind]
        if expression.startswith("BCELoss"):
            x = x.sigmoid()
        elif expression.startswith(("KLDiv", "NLL")):
            x = x.log_softmax(1)
        criterion = eval(f"nn.{expression}", {"nn": lib.nn})
        return Statement(
            "criterion(x, target).backward()",
            criterion=criterion,
            x=x.detach().requires_grad_(),
            target=target,
        )

    return build


def embedding(expression: str, count: int) -> Build:
    def build(lib: ModuleType) -> Statement:
        module = eval(f"nn.{expression}", {"nn": lib.nn})
        x = (lib.arange(count) * 7919 % 10_000).reshape(-1, 32)
        return Statement("module(x).backward(g)", module=module, x=x, g=module(x).detach().clone())

    return build


# Shape of the query, length of keys, options; forward and backward, or forward alone.
ATTENTION: list[tuple[tuple[int, ...], int, str, bool]] = [
    ((8, 8, 512, 64), 512, "", True),
    ((8, 8, 512, 64), 512, "is_causal=True", True),
    ((1, 16, 2048, 64), 2048, "", True),
    ((1, 16, 2048, 64), 2048, "is_causal=True", True),
    ((32, 4, 65, 48), 65, "is_causal=True", True),
    ((12, 4, 64, 32), 64, "is_causal=True", True),
    ((2, 2, 8, 8), 8, "", True),
    ((8, 8, 512, 64), 512, "", False),
    ((8, 8, 512, 64), 512, "is_causal=True", False),
    ((1, 16, 2048, 64), 2048, "", False),
    ((1, 16, 2048, 64), 2048, "is_causal=True", False),
    ((1, 1, 1, 64), 1000, "", False),
    ((2, 2, 8, 8), 8, "", False),
]


def attention(shape: tuple[int, ...], keys: int, options: str, backward: bool) -> Build:
    def build(lib: ModuleType) -> Statement:
        q = fill(lib, *shape)
        k = fill(lib, *shape[:-2], keys, shape[-1]).flip(-1)
        v = fill(lib, *shape[:-2], keys, shape[-1]).flip(-2)
        f = lib.nn.functional.scaled_dot_product_attention
        call = f"f(q, k, v, {options})"
        if not backward:
            return Statement(call, f=f, q=q, k=k, v=v)
        inputs = {name: x.requires_grad_() for name, x in zip("qkv", (q, k, v), strict=True)}
        return Statement(f"{call}.backward(g)", f=f, g=lib.ones_like(q), **inputs)

    return build


def recurrent(expression: str, shape: tuple[int, ...]) -> Build:
    def build(lib: ModuleType) -> Statement:
        x = fill(lib, *shape).requires_grad_()
        module = eval(f"nn.{expression}", {"nn": lib.nn})
        call = "module(x)" if expression.startswith(("GRUCell", "RNNCell")) else "module(x)[0]"
        g = eval(call, {"module": module, "x": x}).detach().clone()
        return Statement(f"{call}.backward(g)", module=module, x=x, g=g)

    return build


FAMILIES: dict[str, dict[str, Build]] = {
    family: {f"{name} of {'x'.join(map(str, shape))}": layer(name, shape) for name, shape in rows}
    for family, rows in LAYERS.items()
}
FAMILIES["transformer"] |= {
    f"MultiheadAttention: {options} of {'x'.join(map(str, shape))}": heads(options, shape)
    for shape in ((4, 16, 64), (8, 65, 192))
    for options in (
        "x, x, x",
        "x, x, x, need_weights=False",
        "x, x, x, pad, need_weights=False",
        "x, memory, memory, need_weights=False",
    )
}
FAMILIES["recurrent"] = {
    f"{name} of {'x'.join(map(str, shape))}": recurrent(name, shape) for name, shape in RECURRENT
}
FAMILIES["loss"] = {name: loss(name, kind) for name, kind in LOSSES.items()}
FAMILIES["embedding"] = {
    f"{name} of {count}": embedding(name, count)
    for name, count in {
        "Embedding(10_000, 128)": 2048,
        "Embedding(10_000, 16)": 2048,
        "EmbeddingBag(10_000, 64)": 2048,
        "EmbeddingBag(10_000, 64, mode='max')": 2048,
    }.items()
}
for _shape, _keys, _options, _backward in ATTENTION:
    _words = ["attention", "x".join(map(str, _shape)), f"over {_keys}", _options]
    _name = " ".join([*filter(None, _words), *([] if _backward else ["forward"])])
    FAMILIES.setdefault("attention", {})[_name] = attention(_shape, _keys, _options, _backward)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", default="", metavar="PART", help="only layers that contain PART")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()

    libraries = {"zero": zero, "torch": importlib.import_module("torch")}
    for library in libraries.values():
        library.set_num_threads(options.threads)
        library.manual_seed(0)
    print(
        f"{options.threads} thread(s), medians of {options.rounds} alternating rounds, "
        "forward and backward; (torch / zero)"
    )
    speeds: dict[str, list[float]] = defaultdict(list)
    for family, layers in FAMILIES.items():
        for name, build in layers.items():
            if options.k not in f"{family} {name}":
                continue
            try:
                peers = {peer: build(library) for peer, library in libraries.items()}
            except AttributeError as error:  # a peer may lack a layer: say so and go on
                print(f"{name:<58} {error}", flush=True)
                continue
            medians = compare(peers, options.rounds, ROUND_SECONDS, options.threads)
            speeds[family].append(medians["torch"] / medians["zero"])
            times = "   ".join(f"{peer} {readable(medians[peer]):>9}" for peer in libraries)
            print(f"{name:<58} {times} ({speeds[family][-1]:.2f})", flush=True)
    print()
    for family, values in speeds.items():
        print(
            f"{family:<24} geometric mean {statistics.geometric_mean(values):.2f}   "
            f"least {min(values):.2f}   layers {len(values)}"
        )


if __name__ == "__main__":
    main()
