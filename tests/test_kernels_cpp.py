"""Builds and runs the C++ tests of the kernels (tests/cpp/kernels_*.cpp) for each instruction set.

The objects of the kernels come from the build's cache; a test compiles them where they are missing.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "tools"
CPP = ROOT / "tests" / "cpp"

pytestmark = [
    pytest.mark.skipif(not TOOLS.is_dir(), reason="needs the source tree"),
    pytest.mark.skipif(sys.platform == "win32", reason="uses the command line of gcc and clang"),
]


@pytest.fixture(scope="module")
def build_core():
    sys.path.insert(0, str(TOOLS))
    try:
        import build_core
    finally:
        sys.path.remove(str(TOOLS))
    try:
        build_core.host_toolchain().check()
    except build_core.BuildError as error:
        pytest.skip(str(error))
    return build_core


def run(command: list) -> str:
    done = subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout


def supports(isa: str) -> bool:
    """Whether this processor runs the kernels of this instruction set."""
    if isa == "baseline":
        return True
    needed = {"avx2": {"avx2", "fma", "f16c"}, "avx512": {"avx512bw", "avx512dq", "avx512vl"}}
    needed["avx512bf16"] = needed["avx512"] | {"avx512_bf16"}
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return False
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    return needed[isa] <= set(flags)


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_accuracy(build_core, tmp_path, isa):
    host = build_core.host_toolchain()
    if not supports(isa) or (isa != "baseline" and host.machine != "x86_64"):
        pytest.skip(f"this processor has no {isa}")
    flags = host.flags(build_core.Mode(), isa)
    step = os.environ.get("ZERO_TEST_ULP_STEP", "4099")  # 1: every float32
    for name, argument in (("kernels_math", step), ("kernels_math_double", "20000")):
        program = tmp_path / name
        run([*host.command, *flags, "-Icsrc", CPP / f"{name}.cpp", "-o", program])
        report = run([program, argument])
        assert report.endswith("passed\n"), report


@pytest.mark.parametrize("instruction", [False, True])
def test_products_by_pairs(build_core, tmp_path, instruction):
    host = build_core.host_toolchain()
    isa = "avx2" if supports("avx2") and host.machine == "x86_64" else "baseline"
    if instruction:
        isa = "avx512bf16"
        if not supports(isa):
            pytest.skip(f"this processor has no {isa}")
    program = tmp_path / "kernels_pairs"
    flags = [*host.flags(build_core.Mode(), isa), "-Wno-psabi", "-Icsrc"]
    run([*host.command, *flags, CPP / "kernels_pairs.cpp", "-o", program])
    assert run([program]) == "passed\n"


def test_layouts_and_semantics(build_core, tmp_path):
    mode = build_core.Mode.from_environment()
    work = [c for c in build_core.core_compilations(mode) if c.isa]
    objects = build_core.compile_all(work)
    host = build_core.host_toolchain()
    program = tmp_path / "kernels_loops"
    flags = [*host.flags(mode, optimize="1"), "-Icsrc"]
    linking = build_core.link_flags(host.system, mode)
    source = CPP / "kernels_loops.cpp"
    run([*host.command, *flags, source, *objects, "-o", program, *linking])
    report = run([program])
    assert "baseline passed" in report or platform.machine() in ("aarch64", "arm64")


@pytest.mark.parametrize("name", ["pentium", "neon,avx2"])
def test_an_unknown_isa_is_an_error(name):
    pytest.importorskip("zero._zero")
    code = "import zero; zero.ones(2) + 1"
    environment = os.environ | {"ZERO_ISA": name}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert f"ZERO_ISA: not an instruction set of this processor; got '{name}'" in done.stderr
