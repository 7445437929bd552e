"""Builds the extension zero._zero: csrc/zero (tools/build_core.py) + the C++ that Cython writes.

Metadata is in pyproject.toml. Variables that a build listens to:

    CXX               the compiler
    ZERO_BUILD_JOBS   compilers at a time (default: all CPUs)
    ZERO_BUILD_DIR    where objects are kept (default: build)
    ZERO_BLAS         'none': no OpenBLAS in the package; zero's own GEMM is used
    ZERO_SANITIZE     'address,undefined' or 'thread': a build for finding errors
    ZERO_WERROR       '1': warnings are errors
    ZERO_CLANG_CL     Windows: the clang-cl that compiles the kernels
"""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
os.chdir(ROOT)
sys.path.insert(0, str(ROOT / "tools"))

if sys.platform == "darwin":  # one architecture a build, whatever Python itself was built for
    os.environ.setdefault("ARCHFLAGS", f"-arch {platform.machine()}")
    os.environ.setdefault("MACOSX_DEPLOYMENT_TARGET", "11.0")
    os.environ.setdefault("_PYTHON_HOST_PLATFORM", f"macosx-11.0-{platform.machine()}")

import build_core  # noqa: E402
from setuptools import Extension, setup  # noqa: E402
from setuptools.command.bdist_wheel import bdist_wheel  # noqa: E402
from setuptools.command.build_ext import build_ext  # noqa: E402
from setuptools.errors import CompileError  # noqa: E402

CYTHON_DIRECTIVES = {
    "language_level": 3,
    "binding": True,  # inspect.signature works
    "embedsignature": False,
}


def cython_sources() -> list[Path]:
    patterns = ("_zero.pyx", "**/*.pxd", "**/*.pxi")
    return sorted({path for pattern in patterns for path in (ROOT / "zero").glob(pattern)})


def cython_key() -> str:
    """A hash of all that Cython's output is made from."""
    import Cython

    sources = cython_sources()
    names = [str(path.relative_to(ROOT)) for path in sources]
    contents = [build_core.read(path)[0] for path in sources]
    return build_core.hash_of(Cython.__version__, repr(CYTHON_DIRECTIVES), *names, *contents)


def with_files_in_tracebacks(generated: str) -> str:
    """Cython keeps the code objects of traceback lines by line number alone: a line of one .pxi
    would be shown as that of another."""
    by_line, by_file = "c_line ? -c_line : py_line", "zero_traceback_key(filename, py_line)"
    return generated.replace(by_line, by_file)  # tests/test_errors.py sees whether it was found


def generate_cpp() -> Path:
    """Runs Cython unless its output for these very sources is there already."""
    from Cython.Build import cythonize
    from Cython.Compiler import Options

    key = cython_key()
    folder = build_core.build_dir() / "cython"
    output = folder / f"_zero-{key}.cpp"
    if not output.exists():
        folder.mkdir(parents=True, exist_ok=True)
        Options.warning_errors = build_core.werror()
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            cythonize(
                [Extension("zero._zero", ["zero/_zero.pyx"], language="c++")],
                build_dir=scratch,
                force=True,
                quiet=True,
                compiler_directives=CYTHON_DIRECTIVES,
            )
            if cython_key() != key:
                raise build_core.BuildError("zero/_zero.pyx was edited meanwhile; build again")
            generated = Path(scratch, "zero", "_zero.cpp")
            generated.write_text(with_files_in_tracebacks(generated.read_text("utf-8")), "utf-8")
            os.replace(generated, output)
        older = [p for p in folder.glob("_zero-*.cpp") if p != output]
        for path in sorted(older, key=lambda p: p.stat().st_mtime)[: -build_core.OBJECTS_KEPT]:
            path.unlink(missing_ok=True)
    os.utime(output)
    return output


def find_openblas() -> list[Path]:
    """The shared library of scipy-openblas32 and its licences, found without loading it."""
    choice = os.environ.get("ZERO_BLAS", "openblas")
    if choice == "none":
        return []
    if choice != "openblas":
        raise build_core.BuildError(f"ZERO_BLAS must be 'openblas' or 'none'; got {choice!r}")
    spec = importlib.util.find_spec("scipy_openblas32")
    libraries = []
    if spec is not None:
        folder = Path(spec.origin).parent / "lib"
        libraries = [p for p in folder.iterdir() if p.suffix in (".so", ".dylib", ".dll")]
    if not libraries:
        raise build_core.BuildError(
            "scipy-openblas32, whose library is bundled, is not installed; run pip install "
            "scipy-openblas32, or set ZERO_BLAS=none to build without OpenBLAS"
        )
    distribution = importlib.metadata.distribution("scipy-openblas32")
    licences = [f for f in distribution.files or [] if f.name == "LICENSE.txt"]
    return libraries + [Path(f.locate()) for f in licences]


class BuildExt(build_ext):
    """Compiles the core and the Cython module in one parallel run, and bundles OpenBLAS."""

    def build_extensions(self):
        (extension,) = self.extensions
        try:
            self.openblas = find_openblas()  # whatever is missing is said before the long part
            mode = build_core.Mode.from_environment(debug=bool(self.debug))
            host = build_core.host_toolchain()
            host.check()
            work = [lambda: self.module(host, mode), *build_core.core_compilations(mode)]
            objects = build_core.compile_all(work, self.parallel or None, self.force)
        except build_core.BuildError as error:
            raise CompileError(str(error)) from None
        target = self.get_ext_fullpath(extension.name)
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        self.compiler.link_shared_object(
            [str(path) for path in objects],
            target,
            library_dirs=self.library_dirs,
            libraries=self.get_libraries(extension),
            extra_postargs=build_core.link_flags(host.system, mode),
            export_symbols=self.get_export_symbols(extension),
            debug=not mode.release,
            build_temp=self.build_temp,
            target_lang="c++",
        )

    def module(self, host, mode):
        """The compilation of the generated C++, which belongs to one version of Python."""
        from Cython.Compiler.Errors import CompileError as CythonError

        try:
            source = generate_cpp()
        except CythonError:
            raise build_core.BuildError(
                "zero/_zero.pyx does not compile (Cython's messages are above)"
            ) from None
        folders = {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}
        flags = host.flags(mode)
        option = "-I" if host.kind == "gnu" else "/I"
        flags += [option + folder for folder in ["csrc", *sorted(folders)]]
        # Generated code: its warnings say nothing about ours.
        flags = [flag for flag in flags if not flag.startswith(("-W", "/W"))]
        flags += ["-w"] if host.kind == "gnu" else ["/W0"]
        name = "_zero." + (sysconfig.get_config_var("EXT_SUFFIX") or ".abi").split(".")[1]
        folder = build_core.build_dir() / "module" / f"{host.target}-{mode.name}"
        return build_core.Compilation(source, host, tuple(flags), folder, name)

    def run(self):
        super().run()
        package = ROOT / "zero" if self.inplace else Path(self.build_lib, "zero")
        libs = package / "_libs"
        wanted = {path.name: path for path in self.openblas}
        if libs.is_dir():
            for old in libs.iterdir():
                if old.name not in wanted:
                    old.unlink()
        if wanted:
            libs.mkdir(parents=True, exist_ok=True)
        for name, path in wanted.items():
            old, scratch = libs / name, libs / f"{name}.{os.getpid()}.tmp"
            shutil.copyfile(path, scratch)
            if path.suffix == ".so" and shutil.which("strip"):  # its symbol table is 0.9 MB
                subprocess.run(["strip", "--strip-unneeded", str(scratch)], check=True)
            if old.exists() and old.read_bytes() == scratch.read_bytes():
                scratch.unlink()
            else:
                os.replace(scratch, old)  # a running program keeps the file it has opened


class BdistWheel(bdist_wheel):
    """Collects the wheel's files in a folder of its own, where no earlier build has left any."""

    def finalize_options(self):
        build = self.distribution.get_command_obj("build")
        if build.build_base == "build":
            self.scratch = tempfile.TemporaryDirectory(prefix="zero-wheel-")
            build.build_base = self.scratch.name
        super().finalize_options()


setup(
    ext_modules=[Extension("zero._zero", ["zero/_zero.pyx"], language="c++")],
    cmdclass={"build_ext": BuildExt, "bdist_wheel": BdistWheel},
)
