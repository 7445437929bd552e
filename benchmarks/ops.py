"""Times single operators against PyTorch: families x dtypes x layouts x sizes.

python benchmarks/ops.py [-k PART] [--threads 1] [--sizes 1k 100k 10M] [--rounds 11] [--out FILE]
pip install -e '.[parity]' installs the peer.

Printed are, for each family, the geometric mean of PyTorch's time over zero's (above 1: zero is
faster) and each case below 0.9.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from harness import Statement, compare, readable

import zero

DTYPES = ("float32", "float64", "int64", "bool")
LAYOUTS = ("contiguous", "transposed", "broadcast")
SIDES = {"1k": 32, "100k": 320, "10M": 3200}  # operands are square, so that all layouts are alike
SLOW_BELOW = 0.9
ROUND_SECONDS = 0.01

# Expressions over x, y (the same shape), i (indices into a dimension), m (a mask), lib. A row runs
# for all dtypes that PyTorch takes.
FAMILIES = {
    "elementwise": (
        "x + y",
        "x * y",
        "x / y",
        "x < y",
        "x + 1",
        "x & y",
        "-x",
        "x.abs()",
        "x.exp()",
        "x.log()",
        "x.sqrt()",
        "x.tanh()",
        "x.sigmoid()",
        "x.relu()",
        "x.sin()",
        "x.clamp(0, 1)",
        "x.pow(2)",
        "x.pow(1.5)",
        "lib.maximum(x, y)",
        "lib.where(m, x, y)",
        "x.isnan()",
        "x.add_(1)",
        "x.mul_(y)",
    ),
    "mathematics": (
        "x.asin()",
        "x.atan()",
        "x.erf()",
        "x.erfc()",
        "(x / 6).erfinv()",
        "x.frac()",
        "x.lgamma()",
        "x.digamma()",
        "x.logit(0.1)",
        "x.sinc()",
        "x.i0()",
        "x.nan_to_num()",
        "x.signbit()",
        "lib.atan2(x, y)",
        "lib.copysign(x, y)",
        "lib.fmax(x, y)",
        "lib.hypot(x, y)",
        "lib.logaddexp(x, y)",
        "lib.xlogy(x, y)",
        "lib.nextafter(x, y)",
        "lib.gcd(x, y)",
        "x.fmod(y + y + 1)",
        "x % 7",
        "x // 7",
        "x << 3",
        "lib.addcmul(x, y, y, value=2)",
        "lib.addcdiv(x, y, x)",
        "lib.lerp(x, y, 0.3)",
        "lib.clamp(x, y, x)",
        "lib.special.erfcx(x)",
        "lib.special.ndtr(x)",
        "lib.special.log_ndtr(x)",
        "lib.special.entr(x)",
        "lib.special.i1e(x)",
        "lib.special.bessel_j0(x)",
    ),
    "reduction": (
        "x.sum()",
        "x.sum(0)",
        "x.sum(1)",
        "x.mean(1)",
        "x.prod(1)",
        "x.max()",
        "x.max(0)",
        "x.max(1)",
        "x.argmax(1)",
        "x.amax(0)",
        "x.var(1)",
        "x.any()",
        "x.all(1)",
        "x.cumsum(0)",
        "x.cumsum(1)",
        "x.norm()",
        "x.softmax(1)",
        "x.logsumexp(1)",
    ),
    "copy and cast": (
        "x.clone()",
        "x.contiguous()",
        "x.T.contiguous()",
        "x.float()",
        "x.double()",
        "x.long()",
        "x.bool()",
        "x.to(lib.bfloat16)",
        "lib.cat([x, y])",
        "lib.cat([x, y], 1)",
        "lib.stack([x, y], 2)",
        "x.repeat(2, 1)",
        "x.flip(1)",
        "x.roll(3, 1)",
        "x.tril()",
    ),
    "index": (
        "x[i]",
        "x[:, i]",
        "x[i, i]",
        "x.index_select(0, i)",
        "x.index_select(1, i)",
        "x.gather(0, j)",
        "x.gather(1, j)",
        "x[m]",
        "m.nonzero()",
        "x.masked_fill(m, 1)",
        "x.index_fill(0, i, 1)",
        "lib.zeros_like(y).scatter_(1, j, y)",
        "lib.zeros_like(y).scatter_add_(0, j, y)",
        "lib.zeros_like(y).scatter_add_(1, j, y)",
        "lib.zeros_like(y).index_add_(0, i, y)",
        "lib.take_along_dim(x, j, 1)",
    ),
    "sort": (
        "x.sort(1)",
        "x.sort(0)",
        "x.flatten().sort()",
        "x.argsort(1)",
        "x.topk(10, 1)",
        "x.flatten().topk(10)",
        "x.kthvalue(10, 1)",
        "x.median(1)",
        "x.unique()",
        "lib.searchsorted(s, x)",
    ),
}


def operands(lib: ModuleType, dtype: str, layout: str, side: int) -> dict[str, object]:
    """The same numbers for each library: products of primes, spread over a few hundred values."""
    kind = getattr(lib, dtype)
    count = lib.arange(side * side)
    flat = (count * 7919 + 13) % 509
    x, y = ((flat + k) % 509 for k in (0, 255))
    if dtype == "bool":
        x, y = x > 250, y > 250
    elif dtype != "int64":
        x, y = x.to(kind) / 100, y.to(kind) / 100 + 1
    else:
        y = y + 1
    x, y = x.reshape(side, side), y.reshape(side, side)
    if layout == "transposed":
        x = x.t()
    elif layout == "broadcast":
        x = x[:1].expand(side, side)
    return {
        "lib": lib,
        "x": x,
        "y": y,
        "m": (flat % 3 == 0).reshape(side, side),
        "i": (lib.arange(side) * 7919 + 5) % side,
        "j": ((count * 7919 + 13) % side).reshape(side, side),
        "s": lib.arange(509).to(kind),
    }


def works(statement: Statement) -> bool:
    try:
        statement.timeit(1)
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        return False
    return True


def cases(part: str) -> Iterator[tuple[str, str, str, str]]:
    for family, expressions in FAMILIES.items():
        for expression in expressions:
            for dtype in DTYPES:
                for layout in LAYOUTS:
                    if part in f"{family} {expression} {dtype} {layout}":
                        yield family, expression, dtype, layout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", default="", metavar="PART", help="only cases that contain PART")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sizes", nargs="+", default=list(SIDES), choices=list(SIDES))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--out", type=Path, help="a table of all cases, tab-separated")
    options = parser.parse_args()

    torch = importlib.import_module("torch")
    libraries = {"zero": zero, "torch": torch}
    for library in libraries.values():
        library.set_num_threads(options.threads)
    print(f"{options.threads} thread(s), medians of {options.rounds} alternating rounds")

    table = ["size\tfamily\texpression\tdtype\tlayout\tzero_s\ttorch_s\ttorch_over_zero"]
    speeds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for size in options.sizes:
        for family, expression, dtype, layout in cases(options.k):
            peers = {
                name: Statement(expression, **operands(library, dtype, layout, SIDES[size]))
                for name, library in libraries.items()
            }
            if not works(peers["torch"]):
                continue
            what = f"{size:<5} {expression:<40} {dtype:<8} {layout:<11}"
            try:
                medians = compare(peers, options.rounds, ROUND_SECONDS, options.threads)
            except Exception as error:  # a peer's operator may be missing: say so and go on
                print(f"{what} {type(error).__name__}: {error}", flush=True)
                continue
            speed = medians["torch"] / medians["zero"]
            speeds[size, family].append(speed)
            times = "\t".join(f"{medians[name]:.3e}" for name in libraries)
            table.append(f"{size}\t{family}\t{expression}\t{dtype}\t{layout}\t{times}\t{speed:.3f}")
            if speed < SLOW_BELOW:
                shown = "   ".join(f"{name} {readable(medians[name]):>9}" for name in libraries)
                print(f"{what} {shown} ({speed:.2f})", flush=True)
    print()
    for (size, family), values in speeds.items():
        slow = sum(value < SLOW_BELOW for value in values)
        print(
            f"{size:<5} {family:<14} geometric mean {statistics.geometric_mean(values):.2f}   "
            f"least {min(values):.2f}   below {SLOW_BELOW}: {slow} of {len(values)}"
        )
    if options.out:
        options.out.write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
