"""The floor of each workload on this machine, beside the times of PyTorch and zero.

python benchmarks/peak.py [-k PART] [--threads 1] [--rounds 15] [--machine]

First what the machine can do: multiply-adds in registers, bytes from each level of memory
(peak.cpp, which a C++ compiler, $CXX, makes), and zero's product of large matrices. Then for each
workload of run.py the floor of a step in which every operator reads what it is given and writes
its result once: the sum over operators of the larger of operations / peak and bytes / bandwidth.
Operations are those of products (2 for a multiply-add), convolutions, attention and recurrent
layers; bandwidth is the best of reading and copying so many bytes, again and again, so that they
come from the level of memory that holds them. A library that joins operators can go below it, and
functions such as tanh take more than their bytes. PyTorch counts, as it is the one that shows its
operators (`pip install -e '.[parity]'`).
"""

from __future__ import annotations

import argparse
import collections
import functools
import math
import os
import shlex
import subprocess
import tempfile
import time
from pathlib import Path

import torch
from harness import Statement, compare, readable, timer
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter
from torch.utils.flop_counter import flop_registry
from workloads import WORKLOADS

import zero

# Winograd's algorithm needs fewer multiplications in 3x3 convolutions; by stride.
WINOGRAD = {1: 4.0, 2: 2.0}


class Machine:
    """What `threads` threads can do: 1e9 operations a second, and bytes by what they touch."""

    def __init__(self, threads: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = str(Path(folder, "peak"))
            source = str(Path(__file__).with_name("peak.cpp"))
            options = ["-std=c++20", "-O3", "-march=native", "-pthread", source, "-o", program]
            subprocess.run([*shlex.split(os.environ.get("CXX", "c++")), *options], check=True)
            lines = subprocess.run(
                [program, str(threads)], check=True, capture_output=True, text=True
            ).stdout.splitlines()
        self.bandwidth: dict[int, dict[str, float]] = collections.defaultdict(dict)
        for line in lines:
            name, size, value = line.split()
            if name == "fma":
                self.peak = float(value)
            else:
                self.bandwidth[int(size)][name] = float(value)

    def seconds(self, operations: float, size: int) -> float:
        """The least time for operations, and bytes moved meanwhile."""
        level = max((s for s in self.bandwidth if s <= size), default=min(self.bandwidth))
        rates = self.bandwidth[level]
        return max(operations / self.peak, size / max(rates["read"], rates["copy"])) * 1e-9

    def show(self, threads: int) -> None:
        print(f"{threads} thread(s): {self.peak:.0f} GFLOP/s of multiply-adds in registers")
        for n in (512, 1024):
            print(f"  zero, {n}x{n}x{n}: {product_rate(n, threads):.0f} GFLOP/s")
        for size, rates in self.bandwidth.items():
            cells = "  ".join(f"{name} {rate:.0f}" for name, rate in rates.items())
            print(f"  {size >> 10:>7} KiB: {cells} GB/s")


def timed(work: Statement, threads: int) -> Statement:
    """On one thread by the time that the processor spends on it, which others don't prolong."""
    if threads == 1:
        work.timer = time.thread_time
    return work


def product_rate(n: int, threads: int) -> float:
    work = timed(Statement("a @ b", a=zero.randn(n, n), b=zero.randn(n, n)), threads)
    return 2e-9 * n**3 * 3 / min(work.repeat(repeat=20, number=3))


def attention_operations(q: torch.Tensor, k: torch.Tensor, causal: bool, products: int) -> float:
    pairs = q.shape[-2] * k.shape[-2] * (0.5 if causal else 1.0)
    return 2.0 * products * math.prod(q.shape[:-2]) * pairs * q.shape[-1]


def operations(function: object, arguments: tuple, options: dict, result: object) -> float:
    """Multiplications and additions in products; 0 for what only goes through elements."""
    packet = function.overloadpacket
    name = packet.__name__
    if name == "_scaled_dot_product_flash_attention_for_cpu":
        q, k, _, *rest = arguments
        return attention_operations(q, k, bool(rest[1:2] and rest[1]), 2)
    if name == "_scaled_dot_product_flash_attention_for_cpu_backward":
        _, q, k, *rest = arguments
        return attention_operations(q, k, bool(rest[4]), 4)
    if name.startswith("mkldnn_rnn_layer"):
        x, *weights = arguments[:3]
        count = 2.0 * math.prod(x.shape[:-1]) * sum(w.numel() for w in weights)
        return 2 * count if name.endswith("backward") else count
    if packet not in flop_registry:
        return 0.0
    count = float(flop_registry[packet](*arguments, **options, out_val=result))
    if name in ("convolution", "convolution_backward"):
        weight, stride = (
            (arguments[1], arguments[3])
            if name == "convolution"
            else (
                arguments[2],
                arguments[4],
            )
        )
        if tuple(weight.shape[2:]) == (3, 3):
            count /= WINOGRAD.get(stride[0], 1.0)
    return count


def is_view(function: object) -> bool:
    results = function._schema.returns
    return any(r.alias_info is not None and not r.alias_info.is_write for r in results)


def bytes_of(value: object) -> int:
    """Of the tensors in it, what is there in memory: an expanded tensor's elements count once."""
    tensors = [t for t in tree_iter(value) if isinstance(t, torch.Tensor)]
    return sum(
        t.itemsize * math.prod(n for n, step in zip(t.shape, t.stride(), strict=True) if step != 0)
        for t in tensors
    )


class Count(TorchDispatchMode):
    """Adds up the operators that run under it."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self.machine = machine
        self.operations, self.bytes, self.floor = 0.0, 0, 0.0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = function.overloadpacket.__name__
        if is_view(function) or name.startswith(
            ("empty", "_unsafe_view", "detach", "_local_scalar")
        ):
            return result
        schema = function._schema.arguments
        given = zip(schema, args, strict=False)
        written = [
            value for a, value in given if a.alias_info is not None and a.alias_info.is_write
        ]
        # What an operator writes to without reading it, as `fill_` does, counts as both.
        size = bytes_of((args, kwargs)) + bytes_of(written if written else result)
        count = operations(function, args, kwargs or {}, result)
        self.operations += count
        self.bytes += size
        self.floor += self.machine.seconds(count, size)
        return result


class FusedOptimizers:
    """torch with optimizers that read and write each of their tensors once."""

    def __getattr__(self, name: str) -> object:
        if name == "optim":
            return self
        if name in ("SGD", "Adam", "AdamW"):
            return functools.partial(getattr(torch.optim, name), fused=True)
        return getattr(torch, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-k", default="", metavar="PART", help="only workloads whose name contains PART"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--machine", action="store_true", help="the machine's figures alone")
    options = parser.parse_args()
    for library in (zero, torch):
        library.set_num_threads(options.threads)
        library.manual_seed(0)
    machine = Machine(options.threads)
    machine.show(options.threads)
    if options.machine:
        return

    clock = "processor time" if options.threads == 1 else "time"
    print(f"\n{clock}, median of {options.rounds} alternating rounds")
    print(
        f"{'':<38}{'GFLOP':>9}{'MB':>9}{'floor':>10}{'torch':>10}{'zero':>10}"
        f"{'zero/torch':>12}{'floor/zero':>12}"
    )
    for name, build in WORKLOADS.items():
        step = build(FusedOptimizers())
        if options.k not in name or isinstance(step, Statement):
            continue
        step()
        with Count(machine) as count:
            step()
        peers = {
            library.__name__: timed(timer(build(library)), options.threads)
            for library in (zero, torch)
        }
        seconds = compare(peers, options.rounds, threads=options.threads)
        cells = [readable(s) for s in (count.floor, seconds["torch"], seconds["zero"])]
        print(
            f"{name:<38}{count.operations * 1e-9:>9.3f}{count.bytes * 1e-6:>9.2f}"
            + "".join(f"{cell:>10}" for cell in cells)
            + f"{seconds['zero'] / seconds['torch']:>12.2f}{count.floor / seconds['zero']:>12.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
