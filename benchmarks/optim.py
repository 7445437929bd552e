"""Steps of optimizers, beside PyTorch's.

    python benchmarks/optim.py                # one thread
    python benchmarks/optim.py --threads 2 --sizes 1M 10M

A model of N parameters is 20 tensors: 8 matrices with a ninth of N each, 4 with a 40th, and 8
vectors with 1/10000; `small` is 10 tensors with 1 to 64 elements. All gradients are there; only
`step()` is timed. PyTorch runs with fused=True where it has that, and with foreach=True.
"""

from __future__ import annotations

import argparse
import math
import statistics

from harness import compare, row

import zero

SIZES = {"1M": 10**6, "10M": 10**7, "100M": 10**8}
OPTIMIZERS = {
    "SGD": {"momentum": 0.9},
    "Adam": {},
    "AdamW": {"amsgrad": True},
    "NAdam": {},
    "RAdam": {},
    "Adamax": {},
    "Adagrad": {},
    "Adadelta": {},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "Rprop": {},
    "ASGD": {},
    "Adafactor": {},
}


def shapes_of(size: str) -> list[tuple[int, ...]]:
    if size == "small":
        return [(n,) for n in (1, 2, 4, 8, 8, 16, 16, 32, 64, 64)]
    n = SIZES[size]
    large, middle = math.isqrt(n // 9), math.isqrt(n // 40)
    return [(large, large)] * 8 + [(middle, middle)] * 4 + [(n // 10000,)] * 8


def optimizer(lib, name: str, size: str, **options):
    parameters = []
    for shape in shapes_of(size):
        p = lib.nn.Parameter(lib.randn(*shape))
        p.grad = lib.randn(*shape)
        parameters.append(p)
    return getattr(lib.optim, name)(parameters, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--sizes", nargs="+", default=["small", *SIZES])
    parser.add_argument("--optimizers", nargs="+", default=[*OPTIMIZERS])
    args = parser.parse_args()

    import torch

    torch.set_num_threads(args.threads)
    zero.set_num_threads(args.threads)
    for size in args.sizes:
        ratios = {}
        for name in args.optimizers:
            options = OPTIMIZERS[name]
            best = "foreach"
            peers = {"zero": optimizer(zero, name, size, **options)}
            peers["foreach"] = optimizer(torch, name, size, foreach=True, **options)
            if name in ("SGD", "Adam", "AdamW", "Adagrad"):
                best = "fused"
                peers["fused"] = optimizer(torch, name, size, fused=True, **options)
            steps = {peer: optimizer.step for peer, optimizer in peers.items()}
            medians = compare(steps, args.rounds, threads=args.threads)
            ratios[name] = medians[best] / medians["zero"]
            print(row(f"{name}, {size}", medians), flush=True)
            del peers, steps  # before the next ones take their memory
        mean = statistics.geometric_mean(ratios.values())
        least = min(ratios, key=ratios.__getitem__)
        print(
            f"{size}: {mean:.2f} times as fast as PyTorch in the geometric mean, at least "
            f"{ratios[least]:.2f} ({least}); {args.threads} thread(s)\n"
        )


if __name__ == "__main__":
    main()
