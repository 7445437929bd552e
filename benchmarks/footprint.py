"""What zero costs before it computes: import time, modules loaded, sizes on disk, memory.

python benchmarks/footprint.py
"""

from __future__ import annotations

import pathlib
import statistics
import subprocess
import sys

IMPORT = """
import sys, time
before = set(sys.modules)
start = time.perf_counter()
import {module}
spent = time.perf_counter() - start
print(spent, len(set(sys.modules) - before))
"""
NOT_LOADED = ["numpy", "inspect", "dataclasses", "typing", "pickle", "multiprocessing"]


def import_seconds(module: str, rounds: int = 11) -> float:
    """Median in-process time of the import in a fresh interpreter."""
    times = []
    for _ in range(rounds):
        code = IMPORT.format(module=module)
        out = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        times.append(float(out.stdout.split()[0]))
    return statistics.median(times)


def loaded_by_import() -> list[str]:
    code = f"import sys, zero; print(*[m for m in {NOT_LOADED} if m in sys.modules])"
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()


def megabytes(paths: list[pathlib.Path]) -> float:
    return sum(p.stat().st_size for p in paths if p.is_file()) / 1e6


def main() -> None:
    import zero

    package = pathlib.Path(zero.__file__).parent
    print(f"import zero    {import_seconds('zero') * 1e3:7.1f} ms")
    for peer in ("numpy", "torch"):
        try:
            print(f"import {peer:<7} {import_seconds(peer, 5) * 1e3:7.1f} ms")
        except subprocess.CalledProcessError:
            print(f"import {peer:<7} not installed")
    unwanted = loaded_by_import()
    print(f"of {', '.join(NOT_LOADED)} zero loads: {', '.join(unwanted) or 'none'}")
    extension = [p for p in package.glob("_zero.*") if p.suffix in (".so", ".pyd")]
    print(f"zero._zero     {megabytes(extension):7.1f} MB")
    shipped = [p for p in package.rglob("*") if "__pycache__" not in p.parts]
    print(f"package        {megabytes(shipped):7.1f} MB on disk")


if __name__ == "__main__":
    main()
