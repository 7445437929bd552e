"""Times products of bfloat16 and training steps under autocast, against PyTorch and float32.

python benchmarks/mixed.py [-k PART] [--threads 1] [--rounds 11]
pip install -e '.[parity]' installs the peer.

In brackets is zero's time over the peer's (below 1: zero is faster).
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from types import ModuleType

from harness import Statement, compare, row

import zero

ROUND_SECONDS = 0.02

# (m, n, k) of x[m, k] @ w[n, k].T, as a linear layer multiplies.
PRODUCTS = [(1, 1024, 1024), (16, 1024, 1024), (64, 256, 784), (256, 256, 256), (512, 512, 512)]
PRODUCTS += [(1024, 1024, 1024), (768, 512, 128)]


def linear(m: int, n: int, k: int, dtype: str) -> Callable[[ModuleType], Statement]:
    def build(lib: ModuleType) -> Statement:
        kind = getattr(lib, dtype)
        x, w = (((lib.arange(r * k) * 7919 % 1021).float() / 510 - 1).reshape(r, k) for r in (m, n))
        return Statement(
            "linear(x, w)", linear=lib.nn.functional.linear, x=x.to(kind), w=w.to(kind)
        )

    return build


def training_step(model: str, shape: tuple[int, ...]) -> Callable[[ModuleType, bool], Statement]:
    def build(lib: ModuleType, lower: bool) -> Statement:
        lib.manual_seed(0)
        nn = lib.nn
        network = eval(model, {"nn": nn})
        optimizer = lib.optim.SGD(network.parameters(), lr=0.01)
        x, target = lib.randn(*shape), lib.randint(10, (shape[0],))

        def step() -> None:
            with lib.autocast("cpu", dtype=lib.bfloat16, enabled=lower):
                loss = nn.functional.cross_entropy(network(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        return Statement("step()", step=step)

    return build


STEPS = {
    "MLP 4-64-64-10, batch 32": (
        "nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), "
        "nn.Linear(64, 10))",
        (32, 4),
    ),
    "MLP 784-256-128-10, batch 64": (
        "nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), "
        "nn.Linear(128, 10))",
        (64, 784),
    ),
    "CNN 1x28x28, batch 16": (
        "nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), "
        "nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 10))",
        (16, 1, 28, 28),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", default="", help="only cases with this in their name")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    torch = importlib.import_module("torch")
    for lib in (zero, torch):
        lib.set_num_threads(options.threads)
    cases: dict[str, dict[str, Statement]] = {}
    for size in PRODUCTS:
        cases[f"linear {'x'.join(map(str, size))}"] = {
            "zero": linear(*size, "bfloat16")(zero),
            "zero float32": linear(*size, "float32")(zero),
            "torch": linear(*size, "bfloat16")(torch),
        }
    for name, (model, shape) in STEPS.items():
        build = training_step(model, shape)
        cases[name] = {
            "zero": build(zero, True),
            "zero float32": build(zero, False),
            "torch": build(torch, True),
        }
    for name, peers in cases.items():
        if options.k in name:
            print(row(name, compare(peers, options.rounds, ROUND_SECONDS, options.threads)))


if __name__ == "__main__":
    main()
