"""Times linear algebra against PyTorch: a batch of small matrices, and a large one.

python benchmarks/linalg.py [-k PART] [--threads 1 2] [--rounds 7] [--backward] [--processor-time]
pip install -e '.[parity]' installs the peer.

Printed are the times of each function and, for each group, the geometric mean of PyTorch's time
over zero's (above 1: zero is faster).
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from timeit import Timer
from types import ModuleType

from harness import Statement, compare, row

import zero

# Expressions over A, a symmetric positive-definite S, sides B and the module `linalg`.
FUNCTIONS = {
    "lu_factor": "linalg.lu_factor(A)",
    "solve": "linalg.solve(A, B)",
    "cholesky": "linalg.cholesky(S)",
    "solve_triangular": "linalg.solve_triangular(S, B, upper=False)",
    "qr": "linalg.qr(A)",
    "inv": "linalg.inv(A)",
    "det": "linalg.det(A)",
    "eigh": "linalg.eigh(S)",
    "svd": "linalg.svd(A)",
    "svdvals": "linalg.svdvals(A)",
}
SHAPES = {
    "1000 of 4x4": (1000, 4, 4),
    "1000 of 8x8": (1000, 8, 8),
    "1000 of 16x16": (1000, 16, 16),
    "100 of 64x64": (100, 64, 64),
    "1000x1000": (1000, 1000),
}
Work = tuple[str, dict[str, object]]

# Those of which a mean of their own is printed.
BLOCKED = ("solve", "cholesky", "qr", "inv")


def statement(
    peer: ModuleType, source: str, shape: tuple[int, ...], dtype: str, backward: bool
) -> Work:
    """The expression and its names, which have the same values for both peers."""
    import numpy as np

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    s = a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1], dtype=dtype)
    names = {name: peer.tensor(x) for name, x in (("A", a), ("B", b), ("S", s))}
    if backward:
        for x in names.values():
            x.requires_grad_()
        source = f"total({source})"

    def total(y: object) -> None:
        sum(x.sum() for x in (y if isinstance(y, tuple) else (y,)) if x.requires_grad).backward()

    return source, {"linalg": peer.linalg, "total": total, **names}


def compare_processor_time(works: dict[str, Work], rounds: int) -> dict[str, float]:
    """Median processor time of this thread: on a busy machine the wall's says little."""
    timers = {
        name: Timer(source, timer=time.thread_time, globals=names)
        for name, (source, names) in works.items()
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for timer in timers.values():
        timer.timeit(1)
    for _ in range(rounds):
        for name, timer in timers.items():
            times[name].append(timer.timeit(1))
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", default="", help="only functions or shapes with this in their name")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--processor-time", action="store_true", help="time of the one thread, not the wall's"
    )
    parser.add_argument("--backward", action="store_true", help="with a backward pass")
    options = parser.parse_args()
    peers: dict[str, ModuleType] = {"zero": zero}
    try:
        peers["torch"] = importlib.import_module("torch")
    except ImportError:
        print("PyTorch is not installed: times of zero alone")
    for threads in options.threads:
        for peer in peers.values():
            peer.set_num_threads(threads)
        for shape_name, shape in SHAPES.items():
            ratios: dict[str, list[float]] = {"all": [], "solve, cholesky, qr, inv": []}
            for dtype in ("float32", "float64"):
                for name, source in FUNCTIONS.items():
                    title = f"{name} {shape_name} {dtype}"
                    if options.k not in title:
                        continue
                    works = {
                        peer: statement(module, source, shape, dtype, options.backward)
                        for peer, module in peers.items()
                    }
                    if options.processor_time:
                        medians = compare_processor_time(works, options.rounds)
                    else:
                        statements = {n: Statement(s, **names) for n, (s, names) in works.items()}
                        medians = compare(statements, options.rounds, threads=threads)
                    print(row(title, medians), flush=True)
                    if "torch" in medians:
                        ratio = medians["torch"] / medians["zero"]
                        ratios["all"].append(ratio)
                        if name in BLOCKED:
                            ratios["solve, cholesky, qr, inv"].append(ratio)
            for group, values in ratios.items():
                if values:
                    mean = statistics.geometric_mean(values)
                    print(f"-- {shape_name}, {threads} threads, {group}: {mean:.2f}", flush=True)


if __name__ == "__main__":
    main()
