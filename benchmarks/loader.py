"""Times epochs of DataLoader against PyTorch's.

python benchmarks/loader.py [-k PART] [--rounds 11] [--threads 1]
pip install -e '.[parity]' installs the peer.

In brackets is zero's time over PyTorch's (below 1: zero is faster).
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from types import ModuleType

import numpy as np
from harness import Statement, compare, row

import zero

N, WIDTH, BATCH = 20_000, 32, 64
X = np.random.default_rng(0).random((N, WIDTH), np.float32)
Y = (np.arange(N) % 10).tolist()


def epoch(lib: ModuleType, dataset: object, **options: object) -> Statement:
    size = 16 if "num_workers" in options else BATCH
    loader = lib.utils.data.DataLoader(dataset, size, **options)

    def run() -> None:
        for _ in loader:
            pass

    return Statement("run()", run=run)


def tensors(lib: ModuleType) -> object:
    return lib.utils.data.TensorDataset(lib.from_numpy(X), lib.tensor(Y))


def subset(lib: ModuleType) -> object:
    data = tensors(lib)
    order = np.random.default_rng(1).permutation(N).tolist()
    return lib.utils.data.Subset(data, order[: N // 2])


def rows(lib: ModuleType) -> object:
    class Rows(lib.utils.data.Dataset):  # type: ignore[name-defined]
        def __len__(self) -> int:
            return N

        def __getitem__(self, i: int) -> tuple[np.ndarray, int]:
            return X[i], Y[i]

    return Rows()


def rows_as_tensors(lib: ModuleType) -> object:
    class Rows(lib.utils.data.Dataset):  # type: ignore[name-defined]
        def __len__(self) -> int:
            return N

        def __getitem__(self, i: int) -> tuple[object, int]:
            return lib.from_numpy(X[i]), Y[i]

    return Rows()


def images(lib: ModuleType) -> object:
    """256 samples of 1 MB."""
    pool = np.random.default_rng(0).random((32, 512, 512), np.float32)

    class Images(lib.utils.data.Dataset):  # type: ignore[name-defined]
        def __len__(self) -> int:
            return 256

        def __getitem__(self, i: int) -> tuple[np.ndarray, int]:
            return pool[i % len(pool)], i

    return Images()


WORKERS = {"num_workers": 2, "multiprocessing_context": "fork"}


def first_batches(peers: dict[str, ModuleType], rounds: int) -> dict[str, float]:
    """Median seconds from the beginning of an epoch to its first batch, fork included."""
    times: dict[str, list[float]] = {name: [] for name in peers}
    data = {name: rows(lib) for name, lib in peers.items()}
    for _ in range(rounds):
        for name, lib in peers.items():
            begin = time.perf_counter()
            batches = iter(lib.utils.data.DataLoader(data[name], BATCH, **WORKERS))
            next(batches)
            times[name].append(time.perf_counter() - begin)
            del batches
    return {name: statistics.median(values) for name, values in times.items()}


def case(
    make: Callable[[ModuleType], object], **options: object
) -> Callable[[ModuleType], Statement]:
    return lambda lib: epoch(lib, make(lib), **options)


CASES = {
    "TensorDataset 20,000 x 32": case(tensors),
    "TensorDataset 20,000 x 32, shuffled": case(tensors, shuffle=True),
    "Subset of it, 10,000, shuffled": case(subset, shuffle=True),
    "NumPy rows and ints, in Python": case(rows),
    "NumPy rows and ints, shuffled": case(rows, shuffle=True),
    "tensors and ints, in Python": case(rows_as_tensors, shuffle=True),
    "NumPy rows and ints, 2 workers": case(rows, persistent_workers=True, **WORKERS),
    "256 samples of 1 MB, 2 workers": case(images, persistent_workers=True, **WORKERS),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", default="", help="only cases with this in their name")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    torch = importlib.import_module("torch")
    importlib.import_module("torch.utils.data")
    for lib in (zero, torch):
        lib.set_num_threads(options.threads)
    for name, build in CASES.items():
        if options.k in name:
            peers = {"zero": build(zero), "torch": build(torch)}
            print(row(name, compare(peers, options.rounds, 0.05, options.threads)), flush=True)
    name = "fork of 2 workers to the first batch"
    if options.k in name:
        print(row(name, first_batches({"zero": zero, "torch": torch}, options.rounds)))


if __name__ == "__main__":
    main()
