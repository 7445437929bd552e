"""Times zero against PyTorch, if it is installed, on the same work in one run.

python benchmarks/run.py [-k PART] [--threads 1] [--rounds 15]
pip install -e '.[parity]' installs the peer.
"""

from __future__ import annotations

import argparse
import importlib

from harness import compare, row
from workloads import WORKLOADS

import zero


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-k", default="", metavar="PART", help="only workloads whose name contains PART"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()

    libraries = {"zero": zero}
    try:
        libraries["torch"] = importlib.import_module("torch")
    except ImportError:
        print("torch is not installed: zero alone is timed")
    for library in libraries.values():
        library.set_num_threads(options.threads)
        library.manual_seed(0)

    print(
        f"{options.threads} thread(s), median of {options.rounds} alternating rounds; (zero / peer)"
    )
    for name, build in WORKLOADS.items():
        if options.k in name:
            peers = {peer: build(library) for peer, library in libraries.items()}
            print(row(name, compare(peers, options.rounds, threads=options.threads)), flush=True)


if __name__ == "__main__":
    main()
