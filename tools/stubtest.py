"""Compares zero/_zero.pyi with the compiled module: mypy's stubtest, less the differences below.

    python tools/stubtest.py

stubtest's own allowlist hides all there is to say about a name, and its first parameter is a
difference of every method. Here a line names what is said, so that the rest is still found.
Exits with 1 if something else differs, or if a line of the list is not needed any more.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

METHOD = r"Tensor\.\w+ is inconsistent, "
MAX = r"(?:Tensor\.)?(?:max|min) is inconsistent, "

# What stubtest says behind "zero._zero.", and why it may.
ALLOWED = {
    METHOD + 'stub parameter "self" differs from runtime parameter "(input|[ALBb])"': (
        "a method is the function of the same name, whose first parameter is input or a matrix"
    ),
    r'Tensor\.__r?pow__ is inconsistent, stub does not have parameter "mod"': (
        "every type with a power has CPython's third argument; a modulus is refused"
    ),
    MAX + r'runtime parameter "(?:dim|keepdim|axis)" has a default value of type .*': (
        "overloads: the default of dim or axis means that there is neither dim nor other"
    ),
    MAX + r'(?:stub parameter "other" .*|runtime does not have parameter "keepdim")': (
        "overloads: other stands in the place of dim, or is given by name"
    ),
    r"__(?:reduce_cython|setstate_cython|test)__ is not present in stub": "Cython adds them",
}


def main() -> int:
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "zero._zero"]
    # Whatever lies on PYTHONPATH counts as installed, and mypy keeps errors in that to itself.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    said = [line for line in lines if line.startswith("zero._zero")]
    if done.stderr or len(said) != len(lines):  # it could not compare: a stub that doesn't parse
        print(done.stdout + done.stderr)
        return 1
    needed, differences = set(), []
    for line in said:
        matching = [p for p in ALLOWED if re.fullmatch(rf"zero\._zero\.{p}", line)]
        needed.update(matching)
        if not matching:
            differences.append(line)
    differences += [f"allowed, but said no more: {p}" for p in ALLOWED if p not in needed]
    print("\n".join(differences) or f"stubtest: {len(said)} differences, all of them allowed")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
