"""Times gradients of each sample: one vmap(grad(f)) against loops over samples, and PyTorch's.

python benchmarks/per_sample.py [--batch 256] [--threads 1] [--rounds 9]
pip install -e '.[parity]' installs the peer.

Printed are medians and, in brackets, each one's time over that of zero's vmap; then the largest
difference between vmap's gradients and the loop's.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
from collections.abc import Callable
from types import ModuleType

from harness import compare, readable

import zero

NETWORKS = ((4, 64, 64, 2), (20, 64, 64, 10), (64, 128, 128, 10), (784, 64, 10))


class Samples:
    """A network of tanh layers, and three ways to its gradients for each sample of a batch."""

    def __init__(self, lib: ModuleType, sizes: tuple[int, ...], batch: int) -> None:
        self.lib = lib
        self.func = importlib.import_module(f"{lib.__name__}.func")
        layers: list = []
        for n_in, n_out in itertools.pairwise(sizes):
            layers += [lib.nn.Linear(n_in, n_out), lib.nn.Tanh()]
        self.net = lib.nn.Sequential(*layers[:-1])
        self.parameters = {name: p.detach() for name, p in self.net.named_parameters()}
        self.x, self.target = lib.randn(batch, sizes[0]), lib.randint(0, sizes[-1], (batch,))
        self.each = self.func.vmap(self.func.grad(self.loss), (None, 0, 0))

    def loss(self, parameters: dict, x: object, target: object) -> object:
        y = self.func.functional_call(self.net, parameters, (x,))
        return self.lib.nn.functional.cross_entropy(y, target)

    def by_vmap(self) -> list:
        return list(self.each(self.parameters, self.x, self.target).values())

    def by_loop(self, gradients: Callable[[int], object]) -> list:
        rows = [gradients(i) for i in range(len(self.x))]
        return [self.lib.stack(column) for column in zip(*rows, strict=True)]

    def by_grad(self) -> list:
        grad = self.func.grad(self.loss)
        return self.by_loop(
            lambda i: grad(self.parameters, self.x[i], self.target[i]).values(),
        )

    def by_autograd(self) -> list:
        own, cross_entropy = list(self.net.parameters()), self.lib.nn.functional.cross_entropy

        def gradients(i: int) -> tuple:
            y = self.net(self.x[i : i + 1])
            return self.lib.autograd.grad(cross_entropy(y, self.target[i : i + 1]), own)

        return self.by_loop(gradients)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    libraries = [zero]
    try:
        libraries.append(importlib.import_module("torch"))
    except ImportError:
        print("torch is not installed: zero alone is timed")
    for library in libraries:
        library.set_num_threads(options.threads)
        library.manual_seed(0)

    print(f"{options.threads} thread(s), medians of {options.rounds} alternating rounds")
    for sizes in NETWORKS:
        samples = Samples(zero, sizes, options.batch)
        ways = {
            "vmap": samples.by_vmap,
            "loop of grad": samples.by_grad,
            "loop of autograd.grad": samples.by_autograd,
        }
        if len(libraries) > 1:
            ways["torch's vmap"] = Samples(libraries[1], sizes, options.batch).by_vmap
        medians = compare(ways, options.rounds, threads=options.threads)
        cells = [
            f"{way} {readable(seconds)} ({seconds / medians['vmap']:.1f})"
            for way, seconds in medians.items()
        ]
        pairs = zip(samples.by_vmap(), samples.by_autograd(), strict=True)
        error = max(float((a - b).abs().max()) for a, b in pairs)
        print(f"{'-'.join(map(str, sizes)):<14} " + "   ".join(cells) + f"   off by {error:.1e}")


if __name__ == "__main__":
    main()
