"""Who a worker is, and its random numbers."""

from __future__ import annotations

import random
import sys
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import zero

__all__ = ["RNG", "WorkerInfo", "enter", "get_worker_info", "mix", "seed_all"]

MASK = 2**64 - 1


class RNG:
    """Generators of a worker that is a thread, which shares the global ones with all others.

    Each is made when it is asked for.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    @cached_property
    def random_generator(self) -> random.Random:
        return random.Random(self.seed)

    @cached_property
    def torch_generator(self) -> zero.Generator:
        return zero.Generator().manual_seed(self.seed)

    @cached_property
    def numpy_generator(self) -> Any:
        from numpy.random import default_rng

        return default_rng(self.seed)


@dataclass(frozen=True)
class WorkerInfo:
    """What :func:`get_worker_info` tells a worker about itself.

    Attributes:
        id: its number, from 0.
        num_workers: how many there are.
        seed: the random seed of this worker in this epoch.
        dataset: its copy of the dataset.
        rng: if it is a thread, generators of its own, which begin anew with each batch of a
            map-style dataset: ``random_generator``, ``torch_generator`` and ``numpy_generator``.
        worker_method: ``"multiprocessing"`` or ``"thread"``.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: RNG | None = None
    worker_method: str | None = "multiprocessing"


_of_process: WorkerInfo | None = None
_of_thread = threading.local()


def enter(info: WorkerInfo) -> None:
    """Makes the calling thread, or its whole process, this worker."""
    global _of_process
    if info.worker_method == "thread":
        _of_thread.info = info
    else:
        _of_process = info


def get_worker_info() -> WorkerInfo | None:
    """What the calling worker of a DataLoader is; None in the main program.

    Returns:
        An object with the attributes ``id``, ``num_workers``, ``seed``, ``dataset``, ``rng`` and
        ``worker_method``. An iterable dataset reads its share of the data by the first two; a
        ``worker_init_fn`` may change the worker's copy of the dataset.

    Example:
        >>> from zero.utils.data import get_worker_info
        >>> get_worker_info() is None
        True
    """
    return getattr(_of_thread, "info", _of_process)


def mix(*numbers: int) -> int:
    """63 bits that depend on all the numbers (the finaliser of MurmurHash3, once for each)."""
    state = 0x9E3779B97F4A7C15
    for number in numbers:
        state = (state ^ (number & MASK)) * 0xFF51AFD7ED558CCD & MASK
        state = (state ^ state >> 33) * 0xC4CEB9FE1A85EC53 & MASK
        state ^= state >> 33
    return state >> 1


def seed_all(seed: int, *, but: frozenset[str] = frozenset()) -> None:
    """Seeds the global generators of zero, random and, if it is loaded, numpy.

    Args:
        seed: an int of 64 bits.
        but: names of modules to leave alone.
    """
    if "zero" not in but:
        zero.manual_seed(seed)
    if "random" not in but:
        random.seed(seed)
    if "numpy" in sys.modules and "numpy" not in but:
        sys.modules["numpy"].random.seed([seed & 0xFFFFFFFF, seed >> 32])
