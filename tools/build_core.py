"""Compiles csrc/zero: which sources, with which flags, in parallel, each object once.

Each family of kernels, such as csrc/zero/kernels/cast.cpp, becomes one object per instruction set.

`setup.py` links these objects with the Cython module, `tools/cross_compile.py` makes them for other
systems, and this file's command line links a C++ program against them, without Python:

    python tools/build_core.py --program examples/cpp/linear_regression.cpp -o build/regression

The name of an object carries a hash of all that it is made from (compiler, flags, the source and
every project header that it includes), so an object that exists is up to date. Objects lie in
`build/core` (`ZERO_BUILD_DIR` moves `build`), are shared by all Python versions, and are written
under a temporary name first, so that builds of one tree may run at the same time.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CSRC = ROOT / "csrc"

# Several states of one source stay in the cache, so that switching branches costs nothing.
OBJECTS_KEPT = 12

# The instruction sets of the kernels, and what each needs beyond the common flags. The first one of
# a machine is what everything else is compiled for: SSE2 on x86-64 ("baseline"), NEON on aarch64.
ISAS = {"x86_64": ("baseline", "avx2", "avx512", "avx512bf16"), "aarch64": ("neon",)}
# The only families with an object for avx512bf16, whose table is otherwise that of avx512.
BFLOAT16 = ("half_gemm",)
# Families without an object for avx512 (families.h).
NARROW = (
    *("batch_norm", "cast", "distance", "embedding", "pointwise", "pooling", "reduce", "resample"),
    *("scan", "sort", "special"),
)
# Families whose loops are vector code by their pragmas already: at -O2 they take up to half as much
# room, and no more time.
PLAIN = (
    *("activation", "attention", "elementwise", "gemm", "half_gemm", "linalg", "normalize"),
    *("optim", "recurrent", "softmax", "winograd"),
)
# Families whose loops need -O2 on old processors; others take at most 1.2 times the time at -Os.
LOOPS = ("normalize", "reduce", "scan", "softmax", "sort")
# Sources that call kernels and other operators, and have no loops of their own that take long.
SMALL = (
    *("linalg_bidiagonal", "linalg_blocked", "linalg_conquer", "linalg_factor", "linalg_lapack"),
    *("linalg_lu", "linalg_spectral", "linalg_tridiagonal"),
)
ISA_FLAGS = {
    "avx2": {
        "gnu": ["-mavx2", "-mfma", "-mf16c"],
        "msvc": ["/arch:AVX2"],
        "clang-cl": ["/arch:AVX2", "-mfma", "-mf16c"],
    },
    "avx512": {
        "gnu": [
            *("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mf16c"),
            "-mprefer-vector-width=512",
        ],
        "msvc": ["/arch:AVX512"],
        "clang-cl": ["/arch:AVX512", "-mfma", "-mf16c", "-mprefer-vector-width=512"],
    },
}
ISA_FLAGS["avx512bf16"] = {
    kind: [*flags, *(["-mavx512bf16"] if kind != "msvc" else [])]  # msvc: the code for avx512
    for kind, flags in ISA_FLAGS["avx512"].items()
}

# Math functions needn't set errno and nothing watches for traps, so loops with them become vectors;
# a product and a sum may become one FMA. No flag may assume away NaN, infinities or signed zeros.
MATH_FLAGS = ["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fopenmp-simd"]

# Kernels neither throw nor call what does, so nothing unwinds their frames: without tables for that
# `_zero` is 0.2 MB smaller.
KERNEL_FLAGS = ["-fno-exceptions", "-fno-asynchronous-unwind-tables"]

WARNINGS = ["-Wall", "-Wextra"]
CLANG_WARNINGS = ["-Wno-bitwise-conditional-parentheses"]  # `a | b ? x : y` is usual in kernels
# gcc draws these from optimized code and is often wrong.
GCC_WARNINGS = ["-Wno-array-bounds", "-Wno-maybe-uninitialized", "-Wno-stringop-overflow"]

CXX20_PROBE = """
#include <bit>
#include <concepts>
#include <span>
template <std::integral T> constexpr int bits(T x) { return std::popcount(unsigned(x)); }
static_assert(bits(7) == 3 && __cplusplus > 201703L);
int main() { int a[2] = {1, 2}; return static_cast<int>(std::span(a).size()) - 2; }
"""


class BuildError(Exception):
    """A message of one line: what is missing or failed, and what to do."""


def build_dir() -> Path:
    return Path(os.environ.get("ZERO_BUILD_DIR") or ROOT / "build").resolve()


def default_jobs() -> int:
    asked = os.environ.get("ZERO_BUILD_JOBS")
    if asked:
        if not asked.isdigit() or int(asked) < 1:
            raise BuildError(f"ZERO_BUILD_JOBS must be a positive number; got {asked!r}")
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def werror() -> bool:
    """ZERO_WERROR=1 (used by .ci/run): warnings of the compiler and of Cython are errors."""
    return os.environ.get("ZERO_WERROR", "0") not in ("", "0")


@dataclasses.dataclass(frozen=True)
class Mode:
    """What a build is for: a release (the default), a debugger, or sanitizers."""

    sanitizers: tuple[str, ...] = ()
    debug: bool = False

    @classmethod
    def from_environment(cls, debug: bool = False) -> Mode:
        names = [s.strip() for s in os.environ.get("ZERO_SANITIZE", "").split(",") if s.strip()]
        unknown = sorted(set(names) - {"address", "undefined", "thread"})
        if unknown or {"address", "thread"} <= set(names):
            raise BuildError(
                f"ZERO_SANITIZE must be 'address,undefined' (or a part of it) or 'thread'; "
                f"got {os.environ['ZERO_SANITIZE']!r}"
            )
        return cls(tuple(sorted(set(names))), debug)

    @property
    def name(self) -> str:
        return "+".join(self.sanitizers) or ("debug" if self.debug else "release")

    @property
    def release(self) -> bool:
        return self.name == "release"

    def sanitizer_flags(self) -> list[str]:
        if not self.sanitizers:
            return []
        return [f"-fsanitize={','.join(self.sanitizers)}", "-fno-sanitize-recover=all"]


@dataclasses.dataclass(frozen=True)
class Toolchain:
    """A C++ compiler and the machine it compiles for."""

    kind: str  # "gnu" (gcc, clang), "msvc" or "clang-cl": how its options are spelled
    command: tuple[str, ...]
    system: str  # "linux", "darwin", "windows"
    machine: str  # "x86_64", "aarch64", …
    include_dirs: tuple[str, ...] = ()  # of the system; msvc only
    path: str = ""  # PATH with which it is called; msvc only

    @property
    def target(self) -> str:
        return f"{self.system}-{self.machine}"

    @property
    def object_suffix(self) -> str:
        return ".obj" if self.kind != "gnu" else ".o"

    def environment(self) -> dict[str, str]:
        environment = dict(os.environ)
        if self.path:
            environment["PATH"] = self.path
        return environment

    def run(self, arguments: list[str], cwd: Path = ROOT) -> subprocess.CompletedProcess:
        return subprocess.run(
            [*self.command, *arguments],
            cwd=cwd,  # paths in flags are relative, so that a copy of the tree has the same hashes
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )

    @functools.cached_property
    def identity(self) -> str:
        """A text that changes with the compiler's version; BuildError when there is no compiler."""
        missing = BuildError(
            f"no C++ compiler: {self.command[0]!r} cannot be run; install g++ 11 or clang 14, or "
            "later ones (Linux: apt install g++; macOS: xcode-select --install), or set CXX"
        )
        try:
            arguments = [] if self.kind == "msvc" else ["--version"]
            with tempfile.TemporaryDirectory(prefix="zero-probe-") as folder:
                answer = self.run(arguments, Path(folder))  # zig leaves an empty a.o behind
        except OSError:
            raise missing from None
        if answer.returncode != 0 and self.kind != "msvc":
            raise missing
        return " ".join(self.command) + "\n" + answer.stdout

    def accepts(self, flags: list[str], source: str = "int main() {}\n") -> bool:
        with tempfile.TemporaryDirectory(prefix="zero-probe-") as folder:
            probe = Path(folder, "probe.cpp")
            probe.write_text(source)
            return self.compile_file(flags, str(probe), str(probe) + ".o").returncode == 0

    def check(self) -> None:
        """Raises BuildError unless this is a compiler for C++20."""
        version = next(iter(self.identity.splitlines()[1:]), "")
        if not self.accepts(self._language_flags(), CXX20_PROBE):
            what = "Visual Studio 2022" if self.kind != "gnu" else "g++ 11, clang 14"
            raise BuildError(
                f"the C++ compiler {' '.join(self.command)!r} ({version.strip()}) does not compile "
                f"C++20; install {what} or later, or name another compiler with CXX"
            )

    def compile_file(self, flags: list[str], source: str, output: str):
        if self.kind == "gnu":
            return self.run([*flags, "-c", source, "-o", output])
        return self.run([*flags, "/c", source, f"/Fo{output}"])

    def _language_flags(self) -> list[str]:
        if self.kind == "gnu":
            return ["-std=c++20"]
        flags = ["/nologo", "/std:c++20", "/Zc:__cplusplus", "/EHsc", "/MD"]
        return [*flags, *(f"/I{folder}" for folder in self.include_dirs)]

    @functools.cached_property
    def _optional_flags(self) -> list[str]:
        """The math flags that this compiler has: without one of them loops are only slower."""
        spelled = MATH_FLAGS if self.kind == "gnu" else [f"/clang:{f}" for f in MATH_FLAGS]
        return [f for f in spelled if self.accepts([*self._language_flags(), f])]

    def flags(self, mode: Mode, isa: str = "", optimize: str = "") -> list[str]:
        """Options for a kernel on `isa`, or another source; `optimize` overrides a release's level.

        Only kernels gain from -O3: elsewhere it makes vector code of loops over a few operands or
        dimensions, which is larger and slower.
        """
        kernel = [f"-DZERO_ISA_NS={isa}", *ISA_FLAGS.get(isa, {}).get(self.kind, [])] if isa else []
        optimize = optimize or ("3" if isa else "2")
        if self.kind == "gnu":
            flags = [*self._language_flags(), "-pthread", "-fvisibility=hidden", *WARNINGS]
            flags += CLANG_WARNINGS if "clang" in self.identity else GCC_WARNINGS
            flags += ["-Werror"] if werror() else []
            flags += ["-fPIC"] if self.system != "windows" else []
            if mode.release:
                flags += [f"-O{optimize}", "-g0", "-DNDEBUG"]
                if isa and self.system != "windows":  # which unwinds by its own rules
                    flags += KERNEL_FLAGS
            else:
                flags += ["-O1", "-g", "-fno-omit-frame-pointer", *mode.sanitizer_flags()]
            return [*flags, *self._optional_flags, *kernel]
        if mode.sanitizers:
            raise BuildError("ZERO_SANITIZE needs gcc or clang; Visual Studio has no UBSan")
        flags = [*self._language_flags(), "/utf-8", "/bigobj", "/W3"]
        flags += ["/WX"] if werror() else []
        flags += ["/O2", "/DNDEBUG"] if mode.release else ["/Od", "/Z7"]
        if self.kind == "msvc":  # /fp:precise is its default; named because results depend on it
            return [*flags, "/Zc:preprocessor", "/fp:precise", *kernel]
        flags += [f"/clang:-O{optimize}"] if mode.release else []
        return [*flags, *self._optional_flags, *kernel]


def machine_name(name: str) -> str:
    name = name.lower().split("-")[0]
    return {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}.get(name, name)


@functools.cache
def host_toolchain() -> Toolchain:
    """The compiler of this machine: CXX, or the one Python was built with, or the usual names."""
    if os.name == "nt":
        return _visual_studio()[0]
    import sysconfig

    named = os.environ.get("CXX")
    candidates = [named] if named else [sysconfig.get_config_var("CXX"), "c++", "g++", "clang++"]
    usable = [c for c in candidates if c and shutil.which(shlex.split(c)[0])]
    command = shlex.split((usable or [named or "c++"])[0])
    if os.sep in command[0]:
        command[0] = os.path.abspath(command[0])
    if sys.platform == "darwin":
        architectures = re.findall(r"-arch\s+(\S+)", os.environ.get("ARCHFLAGS", ""))
        if len(set(architectures)) > 1:
            raise BuildError(
                "universal binaries are not built; set ARCHFLAGS to one architecture, "
                "such as ARCHFLAGS='-arch arm64'"
            )
        machine = architectures[0] if architectures else platform.machine()
        return Toolchain("gnu", (*command, "-arch", machine), "darwin", machine_name(machine))
    toolchain = Toolchain("gnu", tuple(command), "linux", "unknown")
    assert toolchain.identity  # a missing compiler is reported here
    machine = toolchain.run(["-dumpmachine"]).stdout.strip() or platform.machine()
    return dataclasses.replace(toolchain, machine=machine_name(machine))


@functools.cache
def kernel_toolchain() -> Toolchain:
    """The compiler of the kernels: on Windows clang-cl when there is one (ZERO_CLANG_CL names
    it), because it turns the kernels' loops into vectors as gcc and clang do."""
    host = host_toolchain()
    if host.kind != "msvc":
        return host
    clang_cl = os.environ.get("ZERO_CLANG_CL") or shutil.which("clang-cl", path=host.path)
    if not clang_cl:
        print("clang-cl is not installed: kernels are built by Visual C++, correct but slower")
        return host
    target = "arm64" if host.machine == "aarch64" else "x86_64"
    command = (clang_cl, f"--target={target}-pc-windows-msvc")
    return dataclasses.replace(host, kind="clang-cl", command=command)


@functools.cache
def _visual_studio():
    """(toolchain, setuptools' compiler object, which knows where Visual Studio and its SDK lie)"""
    import setuptools  # noqa: F401, I001  (puts its copy of distutils in place, so it comes first)
    from distutils.ccompiler import new_compiler
    from distutils.util import get_platform

    plat_name = get_platform()
    compiler = new_compiler(compiler="msvc")
    compiler.initialize(plat_name)
    machine = machine_name(plat_name.rpartition("-")[2])
    includes = tuple(compiler.include_dirs)
    path = getattr(compiler, "_paths", os.environ.get("PATH", ""))
    return Toolchain("msvc", (compiler.cc,), "windows", machine, includes, path), compiler


# ---- sources, headers, hashes --------------------------------------------------------------------


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


@functools.cache
def _parsed(path: Path, modified: int, size: int) -> tuple[bytes, tuple[str, ...]]:
    content = path.read_bytes()
    return content, tuple(INCLUDE.findall(content.decode("utf-8")))


def read(path: Path) -> tuple[bytes, tuple[str, ...]]:
    """(content, names in quotes that it includes); read again only when the file has changed."""
    stat = path.stat()
    return _parsed(path, stat.st_mtime_ns, stat.st_size)


def included_files(path: Path) -> list[Path]:
    """The file and every project header (or .inl) that it includes, directly or not."""
    seen, todo = set(), [path]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for name in read(current)[1]:
            places = (CSRC / name, current.parent / name)
            todo += [place for place in places if place.is_file()][:1]
    return [path, *sorted(seen - {path})]  # an order that doesn't depend on where the tree lies


def hash_of(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


# ---- compiling -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Compilation:
    """One source on its way to one object, whose name says what it is made from."""

    source: Path
    toolchain: Toolchain
    flags: tuple[str, ...]
    folder: Path
    name: str
    isa: str = ""  # of a kernel

    @property
    def output(self) -> Path:
        contents = [read(path)[0] for path in included_files(self.source)]
        flags = [
            f for f in self.flags if not f.startswith(("-W", "/W"))
        ]  # they don't change objects
        key = hash_of(self.toolchain.identity, "\n".join(flags), *contents)
        return self.folder / f"{self.name}-{key}{self.toolchain.object_suffix}"

    def run(self, force: bool = False) -> tuple[Path, bool, str]:
        """(object, whether it was compiled now, what the compiler said)"""
        output = self.output
        if output.exists() and not force:
            os.utime(output)  # the newest objects are the ones in use
            return output, False, ""
        self.folder.mkdir(parents=True, exist_ok=True)
        suffix = f".{os.getpid()}.{threading.get_ident()}.tmp{self.toolchain.object_suffix}"
        scratch = output.with_name(output.name + suffix)
        shown = os.path.relpath(self.source, ROOT)
        try:
            answer = self.toolchain.compile_file(list(self.flags), shown, str(scratch))
            if answer.returncode != 0:
                command = shlex.join([*self.toolchain.command, *self.flags, "-c", shown])
                print(f"{command}\n{answer.stdout}", flush=True)
                raise BuildError(f"{shown} does not compile (the compiler's messages are above)")
            if self.output != output:  # nobody knows which state the compiler saw
                raise BuildError(f"{shown} was edited while it was compiled; build again")
            os.replace(scratch, output)
        finally:
            scratch.unlink(missing_ok=True)
        said = answer.stdout if self.toolchain.kind == "gnu" else ""  # cl echoes the file's name
        return output, True, said

    def prune(self) -> None:
        """Removes all but the newest objects of this source."""
        pattern = f"{self.name}-{'?' * 16}{self.toolchain.object_suffix}"
        others = [path for path in self.folder.glob(pattern) if path != self.output]
        try:
            others.sort(key=lambda p: p.stat().st_mtime)
            for path in others[: max(0, len(others) - OBJECTS_KEPT + 1)]:
                path.unlink()
        except FileNotFoundError:
            pass  # another build removed it first


def core_compilations(
    mode: Mode, toolchain: Toolchain | None = None, folder: Path | None = None
) -> list[Compilation]:
    """What has to be compiled for the core, the slowest first."""
    host = toolchain or host_toolchain()
    folder = folder or build_dir() / "core" / f"{host.target}-{mode.name}"
    result = []
    for source in (CSRC / "zero").rglob("*.cpp"):
        place = source.relative_to(CSRC / "zero").with_suffix("").parts
        kernel = place[0] == "kernels" and place != ("kernels", "dispatch")
        chosen = kernel_toolchain() if kernel and toolchain is None else host
        include = "-Icsrc" if chosen.kind == "gnu" else "/Icsrc"
        for isa in ISAS.get(host.machine, ("baseline",)) if kernel else ("",):
            if isa == "avx512" and place[-1] in NARROW:
                continue
            if isa == "avx512bf16" and place[-1] not in BFLOAT16:
                continue
            name = ".".join([*place, isa] if isa else place)
            level = "2" if kernel and place[-1] in PLAIN else "s" if place[-1] in SMALL else ""
            if isa == "baseline":  # processors from before 2013: 0.6 MB less than at -O3
                level = "2" if place[-1] in LOOPS else "s"
            flags = (*chosen.flags(mode, isa, level), include)
            result.append(Compilation(source, chosen, flags, folder, name, isa))
    return sorted(result, key=lambda c: (not c.isa, c.name))


def compile_all(work: list, jobs: int | None = None, force: bool = False) -> list[Path]:
    """Runs compilations (or functions that return one) in parallel and returns their objects."""

    def step(item):
        try:
            compilation = item if isinstance(item, Compilation) else item()
            return compilation, *compilation.run(force)
        except FileNotFoundError as error:
            raise BuildError(f"{error.filename} vanished while it was needed") from None

    jobs = jobs or default_jobs()
    started, done, objects, failures = time.perf_counter(), [], [], []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(step, item) for item in work]):
            try:
                compilation, output, fresh, said = future.result()
            except BuildError as failure:  # the others go on: one run shows every error
                failures.append(str(failure))
                continue
            objects.append(output)
            if fresh:
                done.append(compilation)
                print(f"[{len(objects)}/{len(work)}] {compilation.name}", flush=True)
            if said.strip():
                print(said, flush=True)
    for compilation in done:
        compilation.prune()
    if failures:
        raise BuildError("; ".join(sorted(set(failures))))
    seconds = time.perf_counter() - started
    print(f"{len(done)} of {len(work)} objects compiled in {seconds:.1f} s, {jobs} at a time")
    return sorted(objects)


def link_flags(system: str, mode: Mode) -> list[str]:
    """Options for the linker of a shared library or program made from the core."""
    if system == "linux":
        strip = ["-Wl,-s"] if mode.release else []
        return [*strip, "-Wl,--as-needed", *mode.sanitizer_flags(), "-pthread", "-ldl"]
    if system == "darwin":
        return [*(["-Wl,-S,-x"] if mode.release else []), *mode.sanitizer_flags()]
    return []


def build_program(source: Path, output: Path, mode: Mode, jobs: int | None = None) -> Path:
    """Compiles a C++ program and links it with the core."""
    host = host_toolchain()
    host.check()
    output.parent.mkdir(parents=True, exist_ok=True)
    include = "-Icsrc" if host.kind == "gnu" else "/Icsrc"
    folder = build_dir() / "programs" / f"{host.target}-{mode.name}"
    program = Compilation(source, host, (*host.flags(mode), include), folder, source.stem)
    objects = [str(o) for o in compile_all([program, *core_compilations(mode)], jobs)]
    if host.kind == "gnu":
        answer = host.run([*objects, "-o", str(output), *link_flags(host.system, mode)])
        if answer.returncode != 0:
            print(answer.stdout)
            raise BuildError(f"{output.name} does not link (the linker's messages are above)")
    else:
        _visual_studio()[1].link_executable(objects, output.stem, output_dir=str(output.parent))
    return output


def main() -> int:
    parser = argparse.ArgumentParser(description="Compile the C++ core without Python.")
    parser.add_argument("--program", type=Path, help="a .cpp with main() to link with the core")
    parser.add_argument("-o", "--output", type=Path, help="where the program goes")
    parser.add_argument("-j", "--jobs", type=int, help="compilers at a time (default: all CPUs)")
    arguments = parser.parse_args()
    try:
        mode = Mode.from_environment()
        if arguments.program:
            source = arguments.program.resolve()
            output = arguments.output or build_dir() / source.stem
            print(build_program(source, output.resolve(), mode, arguments.jobs))
        else:
            host_toolchain().check()
            compile_all(core_compilations(mode), arguments.jobs)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
