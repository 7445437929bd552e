"""Timing of peers in one run: alternating rounds, warm buffers, medians and ratios.

No time is ever asserted.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping

ROUND_SECONDS = 0.05


def calls_per_round(step: Callable[[], object]) -> int:
    """How many calls fill a round; also warms caches, allocators and kernels."""
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            step()
        spent = time.perf_counter() - start
        if spent > ROUND_SECONDS / 2:
            return max(1, round(calls * ROUND_SECONDS / spent))
        calls *= 2


def time_round(step: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        step()
    return (time.perf_counter() - start) / calls


def compare(peers: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds per call of each peer; the peers take turns, so a slow machine slows all."""
    calls = {name: calls_per_round(step) for name, step in peers.items()}
    times: dict[str, list[float]] = {name: [] for name in peers}
    gc.disable()
    try:
        for _ in range(rounds):
            for name, step in peers.items():
                times[name].append(time_round(step, calls[name]))
    finally:
        gc.enable()
    return {name: statistics.median(values) for name, values in times.items()}


def readable(seconds: float) -> str:
    for unit, scale in (("ns", 1e9), ("µs", 1e6), ("ms", 1e3)):
        if seconds * scale < 1000:
            return f"{seconds * scale:.1f} {unit}"
    return f"{seconds:.2f} s"


def row(name: str, medians: Mapping[str, float]) -> str:
    """`name   zero 150 ns   torch 1.9 µs (0.08)`: in brackets zero's time over the peer's."""
    cells = [f"{name:<38} zero {readable(medians['zero']):>9}"]
    for peer, seconds in medians.items():
        if peer != "zero":
            cells.append(f"{peer} {readable(seconds):>9} ({medians['zero'] / seconds:.2f})")
    return "   ".join(cells)
