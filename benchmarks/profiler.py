"""Times what the profiler costs: operators and steps with it on, against the same with it off.

python benchmarks/profiler.py [-k PART] [--threads 1] [--rounds 51]

What it costs while it is off shows in `benchmarks/run.py` of a build without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from harness import Statement, calls_per_round, readable, timer
from mixed import STEPS, training_step
from workloads import WORKLOADS

import zero
from zero.autograd.profiler import Recording

OPERATORS = {
    "a + b, 4x4": Statement("a + b", a=zero.ones(4, 4), b=zero.ones(4, 4)),
    "a.exp(), 4x4": Statement("a.exp()", a=zero.ones(4, 4)),
    "linear(x, w), 4x4": Statement(
        "linear(x, w)", linear=zero.nn.functional.linear, x=zero.ones(4, 4), w=zero.ones(4, 4)
    ),
    "a.t(), 4x4": Statement("a.t()", a=zero.ones(4, 4)),
}


def on_and_off(work: Statement | Callable[[], object], rounds: int) -> tuple[float, float]:
    """Least seconds a call of rounds by turns: a few nanoseconds would be lost in medians.

    The events of a round are thrown away after it.
    """
    timed = timer(work)
    calls = min(calls_per_round(timed, 0.05), 20_000)
    times: tuple[list[float], list[float]] = ([], [])
    recording = Recording(record_shapes=False)
    for _ in range(rounds):
        times[1].append(timed.timeit(calls) / calls)
        recording.start()
        times[0].append(timed.timeit(calls) / calls)
        recording.discard()
    return min(times[0]), min(times[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", default="", help="only cases with this in their name")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=51)
    options = parser.parse_args()
    zero.set_num_threads(options.threads)
    cases: dict[str, Callable[[], Statement | Callable[[], object]]] = {}
    for name, statement in OPERATORS.items():
        cases[name] = lambda statement=statement: statement
    for name, (model, shape) in STEPS.items():
        cases[name] = lambda model=model, shape=shape: training_step(model, shape)(zero, False)
    for name, build in WORKLOADS.items():
        cases.setdefault(name, lambda build=build: build(zero))
    for name, make in cases.items():
        if options.k not in name:
            continue
        on, off = on_and_off(make(), options.rounds)
        print(
            f"{name:<38} off {readable(off):>9}   on {readable(on):>9} "
            f"({1e9 * (on - off):+,.0f} ns, {100 * (on / off - 1):+.1f} %)",
            flush=True,
        )


if __name__ == "__main__":
    main()
