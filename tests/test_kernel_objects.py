"""The objects of the instruction sets must not leak code: were an inline function of the AVX-512
object visible outside, the linker could choose that copy for everyone and crash older machines.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "tools"


def isa_objects():
    """{file name: object} of the sources as they are now; empty where nothing was built."""
    if not (TOOLS / "build_core.py").exists():
        return {}
    sys.path.insert(0, str(TOOLS))
    try:
        import build_core
    finally:
        sys.path.remove(str(TOOLS))
    if not (build_core.build_dir() / "core").is_dir() or build_core.host_toolchain().kind != "gnu":
        return {}
    compilations = build_core.core_compilations(build_core.Mode())
    return {c.source.stem: c.output for c in compilations if c.source.stem.startswith("isa_")}


def symbols(path):
    """[(kind, demangled name)] as nm gives them."""
    answer = subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True).stdout
    found = []
    for line in answer.splitlines():
        text = line[16:].strip() if line[:1].isalnum() else line.strip()
        if len(text) > 2 and text[1] == " ":
            found.append((text[0], text[2:]))
    return found


OBJECTS = isa_objects() if shutil.which("nm") else {}

pytestmark = pytest.mark.skipif(not OBJECTS, reason="needs nm and a built source tree")


@pytest.fixture(params=sorted(OBJECTS))
def isa_symbols(request):
    path = OBJECTS[request.param]
    if not path.exists():
        pytest.fail(
            f"{request.param} changed after the last build; run setup.py build_ext --inplace"
        )
    return symbols(path)


def test_one_global_symbol(isa_symbols):
    visible = [name for kind, name in isa_symbols if kind in "TDBRGSC"]
    assert len(visible) == 1, f"the table's getter alone may be visible; got {visible}"


def test_no_weak_symbols(isa_symbols):
    assert [name for kind, name in isa_symbols if kind in "WwVvu"] == []


def test_calls_nothing_of_zero(isa_symbols):
    assert [name for kind, name in isa_symbols if kind == "U" and "zero::" in name] == []


def test_nothing_runs_at_load(isa_symbols):
    # A static initialiser would run before any check of the CPU.
    assert [name for _, name in isa_symbols if "GLOBAL__sub_I" in name] == []
