"""Child processes that import the same zero as the tests do, installed or in the tree."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import zero

HERE = Path(__file__).resolve().parent

# Under AddressSanitizer each block is the system's own, and it reserves address space.
of_the_allocator = pytest.mark.skipif(
    "address" in os.environ.get("ZERO_SANITIZE", ""),
    reason="AddressSanitizer replaces the allocator",
)


def run_child(*arguments, timeout=240, cwd=None, **variables) -> str:
    """What ``python *arguments`` prints; its environment has no ZERO_* but those in `variables`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ZERO_", "OMP_", "OPENBLAS_"))}
    paths = [
        str(Path(zero.__file__).parent.parent),
        str(HERE),
        *kept.get("PYTHONPATH", "").split(os.pathsep),
    ]
    environment = kept | {"PYTHONPATH": os.pathsep.join(filter(None, paths))} | variables
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
