"""Builds and runs the C++ tests of core and runtime (tests/cpp) with the system's compiler."""

import concurrent.futures
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CSRC = ROOT / "csrc"
SOURCES = [
    *(CSRC / "zero" / "core" / f"{name}.cpp" for name in (
        "allocator", "error", "generator", "large_cache", "pages", "system",
    )),
    *sorted((CSRC / "zero" / "runtime").glob("*.cpp")),
]  # fmt: skip
TESTS = sorted((ROOT / "tests" / "cpp").glob("test_*.cpp"))
COMPILER = (
    shlex.split(os.environ.get("CXX", ""))
    or [shutil.which(name) for name in ("c++", "g++", "clang++") if shutil.which(name)][:1]
)
# The same programs under the sanitizers of a sanitized run; ZERO_TEST_CXXFLAGS adds other flags.
FLAGS = ["-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{CSRC}"]
if os.environ.get("ZERO_SANITIZE"):
    FLAGS += [f"-fsanitize={os.environ['ZERO_SANITIZE']}", "-fno-sanitize-recover=all"]
FLAGS += shlex.split(os.environ.get("ZERO_TEST_CXXFLAGS", ""))

pytestmark = [
    pytest.mark.skipif(not CSRC.is_dir(), reason="needs the source tree"),
    pytest.mark.skipif(not COMPILER, reason="no C++ compiler named c++, g++ or clang++, no $CXX"),
    pytest.mark.skipif(sys.platform == "win32", reason="uses the command line of gcc and clang"),
]


def run(command: list, **kwargs) -> str:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **kwargs
    )
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """The test programs, by name."""
    folder = tmp_path_factory.mktemp("cpp")

    def build_object(source: pathlib.Path) -> pathlib.Path:
        target = folder / f"{source.parent.name}_{source.stem}.o"
        run([*COMPILER, *FLAGS, "-c", source, "-o", target])
        return target

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(build_object, [*SOURCES, *TESTS]))
    library = objects[: len(SOURCES)]
    built = {}
    for test, own in zip(TESTS, objects[len(SOURCES) :], strict=True):
        built[test.stem] = folder / test.stem
        run([*COMPILER, *FLAGS, own, *library, "-ldl", "-o", built[test.stem]])
    return built


def environment(**changes) -> dict:
    """This process's environment without what would change a test, and with `changes`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ZERO_", "OMP_", "OPENBLAS_"))
    }
    return kept | changes


@pytest.mark.parametrize("name", ["test_allocator", "test_cpu", "test_generator", "test_parallel"])
def test_program(programs, name):
    run([programs[name]], env=environment())


def test_every_loop_splits_when_asked(programs):
    for test in ("forced_grain", "every_index_once", "exceptions_reach_the_caller"):
        run([programs["test_parallel"], test], env=environment(ZERO_GRAIN="1"))


@pytest.fixture(scope="session")
def openblas_directory():
    package = pytest.importorskip("scipy_openblas32", reason="the build requirement with the BLAS")
    return package.get_lib_dir()


def test_blas_loads_and_multiplies(programs, openblas_directory):
    described = run([programs["test_blas"], openblas_directory], env=environment())
    assert "OpenBLAS" in described and str(openblas_directory) in described


def test_blas_leaves_the_environment_alone(programs, openblas_directory):
    mine = environment(OPENBLAS_NUM_THREADS="7", ZERO_ISA="baseline")
    run([programs["test_blas"], openblas_directory], env=mine)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names x86 kernels")
def test_blas_follows_the_instruction_set(programs, openblas_directory):
    def kernels(**changes):
        text = run([programs["test_blas"], openblas_directory], env=environment(**changes))
        return text.split("kernels for ")[1].split()[0]

    # The library may lack one set of kernels and take the next lower; never a higher one.
    old = {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem"}
    assert kernels(ZERO_ISA="baseline") in old
    assert kernels(ZERO_ISA="avx2") in old | {"Sandybridge", "Haswell", "Zen"}
    assert kernels(ZERO_ISA="avx2", OPENBLAS_CORETYPE="Nehalem") in old


def test_no_blas(programs, openblas_directory, tmp_path):
    none = run([programs["test_blas"], openblas_directory], env=environment(ZERO_BLAS="none"))
    assert none.strip() == "none (ZERO_BLAS=none)"
    missing = run([programs["test_blas"], tmp_path], env=environment())
    assert missing.startswith("none (") and str(tmp_path) in missing
    broken = (
        tmp_path / pathlib.Path(next(pathlib.Path(openblas_directory).glob("lib*openblas*"))).name
    )
    broken.write_bytes(b"not a library")
    assert run([programs["test_blas"], tmp_path], env=environment()).startswith("none (")


def test_autograd_without_python(tmp_path):
    """Graphs, views, writes in place, long chains, threads: the whole core in a C++ program."""
    program = tmp_path / "autograd"
    build = ROOT / "tools" / "build_core.py"
    source = ROOT / "tests" / "cpp" / "autograd.cpp"
    run([sys.executable, build, "--program", source, "-o", program])
    assert run([program], env=environment()).strip() == "autograd: passed"
