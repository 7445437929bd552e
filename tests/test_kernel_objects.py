"""The objects of the kernels must not leak code: were an inline function of an AVX-512 object
visible outside, the linker could choose that copy for everyone and crash older machines.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "tools"


def built_objects():
    """{name: object} of the sources as they are now; empty where nothing was built."""
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
    kernels = {f"zero::{c.isa}::fill_{c.source.stem}": c.output for c in compilations if c.isa}
    return kernels | {c.name: c.output for c in compilations if c.name == "kernels.dispatch"}


def symbols(name):
    """[(kind, demangled name)] in an object as nm gives them."""
    path = OBJECTS[name]
    if not path.exists():
        pytest.fail(f"{name} changed after the last build; run setup.py build_ext --inplace")
    answer = subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True).stdout
    found = []
    for line in answer.splitlines():
        text = line[16:].strip() if line[:1].isalnum() else line.strip()
        if len(text) > 2 and text[1] == " ":
            found.append((text[0], text[2:]))
    return found


OBJECTS = built_objects() if shutil.which("nm") else {}
KERNELS = sorted(name for name in OBJECTS if "::fill_" in name)

pytestmark = pytest.mark.skipif(not OBJECTS, reason="needs nm and a built source tree")


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_object_shows_its_fill_function_alone(kernel):
    found = symbols(kernel)
    visible = [name for kind, name in found if kind in "TDBRGSCWwVvu"]
    assert visible == [f"{kernel}(zero::KernelTable&)"]
    assert [name for kind, name in found if kind == "U" and "zero::" in name] == []
    # A static initialiser would run before any check of the CPU.
    assert [name for _, name in found if "GLOBAL__sub_I" in name] == []


def test_the_tables_are_filled_by_every_kernel_object():
    called = [name for kind, name in symbols("kernels.dispatch") if kind == "U"]
    assert sorted(name.partition("(")[0] for name in called if "::fill_" in name) == KERNELS


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_object_has_no_tables_for_exceptions(kernel):
    if sys.platform != "linux" or not shutil.which("objdump"):
        pytest.skip("needs objdump, and knows ELF's names of sections")
    path = OBJECTS[kernel]
    answer = subprocess.run(["objdump", "-h", path], capture_output=True, text=True, check=True)
    assert ".text" in answer.stdout
    assert "eh_frame" not in answer.stdout and "gcc_except" not in answer.stdout
