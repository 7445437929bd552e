"""Timing of peers in one run: alternating rounds, warm buffers, medians and ratios.

No time is ever asserted.
"""

from __future__ import annotations

import statistics
import time
import timeit
from collections.abc import Callable, Mapping

ROUND_SECONDS = 0.05
# A peer's threads may go on looking for work after its last call (libgomp's: 8 to 10 ms here), on
# the processors that the next peer needs.
REST_SECONDS = 0.015


class Statement(timeit.Timer):
    """One expression over names; unlike a function it costs nothing but itself."""

    def __init__(self, source: str, **names: object) -> None:
        super().__init__(source, globals=names)


def timer(work: Statement | Callable[[], object]) -> timeit.Timer:
    return work if isinstance(work, Statement) else Statement("step()", step=work)


def calls_per_round(work: timeit.Timer, seconds: float) -> int:
    """How many calls fill a round; also warms caches, allocators and kernels."""
    work.timeit(1)  # imports what is imported at first use
    calls = 1
    while True:
        spent = work.timeit(calls)
        if spent > seconds / 2:
            return max(1, round(calls * seconds / spent))
        calls *= 2


def compare(
    peers: Mapping[str, Statement | Callable[[], object]],
    rounds: int,
    round_seconds: float = ROUND_SECONDS,
    threads: int = 1,
) -> dict[str, float]:
    """Median seconds per call of each peer; the peers take turns, so a slow machine slows all.

    With several threads each round begins with a rest, until the others' threads sleep, and one
    call that is not timed, which wakes its own.
    """
    timers = {name: timer(work) for name, work in peers.items()}
    calls = {name: calls_per_round(work, round_seconds) for name, work in timers.items()}
    times: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        for name, work in timers.items():  # timeit keeps the garbage collector out
            if threads > 1:
                time.sleep(REST_SECONDS)
                work.timeit(1)
            times[name].append(work.timeit(calls[name]) / calls[name])
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
