"""What a user installs: the sdist, the wheel built from it, an editable install.

Builds take the compiled objects of this tree (ZERO_BUILD_DIR) and need no network.
"""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import numpy
import pytest

import zero

ROOT = Path(__file__).resolve().parent.parent
MB = 10**6
VERSIONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
PYTHONS = [f"Programming Language :: Python :: {version}" for version in VERSIONS]

if not (ROOT / "setup.py").exists():
    pytest.skip("needs the source tree", allow_module_level=True)

REGRESSION = """
import zero
model = zero.nn.Linear(2, 1)
optimizer = zero.optim.SGD(model.parameters(), lr=0.05)
x = zero.tensor([[1.0, 2.0], [2.0, 1.0]])
target = zero.tensor([[5.0], [4.0]])
for _ in range(100):
    prediction = model(x)
    difference = prediction - target
    loss = (difference * difference).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.item() < 1e-3, loss
"""

GEMM = """
import zero
a = zero.ones([150, 200])
assert ((a @ a.T) == 200).to(zero.float32).mean().item() == 1
print(zero.show_config() or "")
"""


def run(command, cwd, **variables):
    """Output of a command that must succeed, run without what this process was started with."""
    unwanted = ("PYTHONPATH", "PYTHONHOME", "LD_PRELOAD", "ZERO_BLAS", "ZERO_SANITIZE")
    environment = {k: v for k, v in os.environ.items() if k not in unwanted}
    answer = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**environment, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert answer.returncode == 0, answer.stdout
    return answer.stdout


def build(hook, tree, into, **variables):
    """Calls a hook of the build backend, as pip and build do, and returns the file it made."""
    code = f"import setuptools.build_meta as b; print(b.{hook}({str(into)!r}))"
    variables.setdefault("ZERO_BUILD_DIR", str(ROOT / "build"))
    into.mkdir(exist_ok=True)
    output = run([sys.executable, "-c", code], tree, **variables)
    return into / output.splitlines()[-1]


def install(wheel, folder):
    """A new environment that holds the wheel and, of this one, only what lies beside numpy."""
    run([sys.executable, "-m", "venv", "--without-pip", folder], folder.parent)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run([python, "-c", code], folder).strip())
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "numpy-of-the-tests.pth").write_text(str(Path(numpy.__file__).parents[1]))
    return python, site


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the sources as a clone has them."""
    copy = tmp_path_factory.mktemp("tree") / "zero project"  # a space must not matter
    products = ("build", "dist", "_libs", "*.egg-info", "*.so", "*.pyd", "__pycache__")
    hidden = (".git", ".venv", "venv", ".pytest_cache", ".ruff_cache", ".hypothesis")
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*products, *hidden))
    return copy


@pytest.fixture(scope="module")
def sdist(tree, tmp_path_factory):
    return build("build_sdist", tree, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def sdist_files(sdist):
    with tarfile.open(sdist) as archive:
        names = [PurePosixPath(m.name) for m in archive.getmembers() if m.isfile()]
    return {str(name.relative_to(name.parts[0])) for name in names}


@pytest.fixture(scope="module")
def unpacked(sdist, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)
    (project,) = folder.iterdir()
    return project


@pytest.fixture(scope="module")
def wheel(unpacked, tmp_path_factory):
    """Made from the sdist: what the sdist lacks is missing here."""
    return build("build_wheel", unpacked, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def wheel_files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: info.file_size for info in archive.infolist()}


@pytest.fixture(scope="module")
def metadata(wheel, wheel_files):
    (name,) = [name for name in wheel_files if name.endswith(".dist-info/METADATA")]
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(archive.read(name))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    return install(wheel, tmp_path_factory.mktemp("installed") / "environment")


# ---- sdist ---------------------------------------------------------------------------------------


def test_sdist_holds_every_source(tree, sdist_files):
    folders = [tree / "csrc", tree / "tests", tree / "examples", tree / "tools"]
    files = [
        f for folder in folders for f in folder.rglob("*") if f.is_file() and f.suffix != ".pyc"
    ]
    files += [
        f for kind in ("py", "pyx", "pxd", "pxi", "pyi") for f in tree.glob(f"zero/**/*.{kind}")
    ]
    names = {f.relative_to(tree).as_posix() for f in files}
    names |= {"LICENSE", "LICENSE-openblas.txt", "README.md", "pyproject.toml", "setup.py"}
    assert names - sdist_files == set()
    assert {"zero/_zero.pyx", "zero/_zero.pxd", "zero/_zero.pyi", "zero/py.typed"} <= sdist_files


def test_sdist_holds_no_products(sdist_files):
    binaries = (".so", ".dylib", ".dll", ".pyd", ".o", ".obj", ".a", ".lib", ".pyc")
    assert [name for name in sdist_files if name.endswith(binaries)] == []
    assert [name for name in sdist_files if name.startswith(("build/", "zero/_libs/"))] == []
    # C++ outside these folders could only be generated.
    cpp = [name for name in sdist_files if name.endswith((".cpp", ".c"))]
    written = ("csrc/", "examples/", "tests/", "benchmarks/")
    assert [name for name in cpp if not name.startswith(written)] == []


def test_sdist_is_small(sdist):
    assert sdist.stat().st_size < 2 * MB


# ---- wheel ---------------------------------------------------------------------------------------


def test_wheel_holds_no_sources(wheel_files):
    sources = (".cpp", ".c", ".h", ".inl", ".pyx", ".pxi", ".pxd", ".o", ".pyc")
    assert [name for name in wheel_files if name.endswith(sources)] == []
    tops = {PurePosixPath(name).parts[0] for name in wheel_files}
    assert tops == {"zero", f"zerograd-{zero.__version__}.dist-info"}


def test_wheel_holds_what_it_needs(tree, wheel_files):
    modules = {f.relative_to(tree).as_posix() for f in tree.glob("zero/**/*.py")}
    modules = {m for m in modules if not m.startswith(("zero/_cpp/", "zero/_bind/"))}
    assert modules - set(wheel_files) == set()
    assert {"zero/_zero.pyi", "zero/py.typed", "zero/_libs/LICENSE.txt"} <= set(wheel_files)
    libraries = [
        name for name in wheel_files if name.endswith((".so", ".dylib", ".dll")) and "blas" in name
    ]
    assert len(libraries) == 1
    assert libraries[0].startswith("zero/_libs/")


def test_wheel_sizes(wheel, wheel_files):
    (extension,) = [
        name for name in wheel_files if name.startswith("zero/_zero.") and "pyi" not in name
    ]
    assert wheel.stat().st_size <= 12 * MB
    assert sum(wheel_files.values()) <= 35 * MB
    assert wheel_files[extension] <= 8 * MB


def test_release_has_no_debug_information(wheel, wheel_files):
    (extension,) = [
        name for name in wheel_files if name.startswith("zero/_zero.") and "pyi" not in name
    ]
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(extension)
    assert b".debug_info" not in content
    assert b".symtab\0" not in content
    assert os.fsencode(ROOT) not in content  # nor names of the build's folders


def test_metadata(metadata):
    assert metadata["Name"] == "zerograd"
    assert metadata["Version"] == zero.__version__
    assert metadata["Requires-Python"] == ">=3.10"
    needed = [r for r in metadata.get_all("Requires-Dist") if "extra ==" not in r]
    assert [r.split(">")[0] for r in needed] == ["numpy"]
    assert {"examples", "test", "lint", "parity"} <= set(metadata.get_all("Provides-Extra"))
    assert {"Typing :: Typed", *PYTHONS} <= set(metadata.get_all("Classifier"))


def test_licences(metadata, wheel):
    expression = metadata["License-Expression"]
    for part in ("MIT", "BSD-3-Clause", "GPL-3.0-or-later WITH GCC-exception-3.1"):
        assert part in expression
    names = metadata.get_all("License-File")
    assert sorted(names) == ["LICENSE", "LICENSE-openblas.txt"]
    with zipfile.ZipFile(wheel) as archive:
        folder = f"zerograd-{zero.__version__}.dist-info/licenses"
        summary = archive.read(f"{folder}/LICENSE-openblas.txt").decode()
        texts = archive.read("zero/_libs/LICENSE.txt").decode()
        assert archive.read(f"{folder}/LICENSE").startswith(b"MIT License")
    for part in expression.split(" AND "):
        assert part == "MIT" or part in summary
    for title in ("The OpenBLAS Project", "GCC RUNTIME LIBRARY EXCEPTION", "GNU GENERAL PUBLIC"):
        assert title in texts


def test_wheel_works_from_an_empty_directory(installed, tmp_path):
    python, site = installed
    run([python, "-W", "error", "-c", REGRESSION], tmp_path)
    printed = run([python, "-W", "error", "-c", f"{GEMM}\nprint(zero.__file__)"], tmp_path)
    assert printed.splitlines()[-1].startswith(str(site))
    assert "openblas" in printed.lower()


def test_types_are_found(installed, tmp_path):
    """mypy reads the installed package: what is right passes, what is wrong does not."""
    pytest.importorskip("mypy")
    program = """
        import zero
        class Net(zero.nn.Module):
            def __init__(self) -> None:
                self.layer = zero.nn.Linear(2, 1)
            def forward(self, x: zero.Tensor) -> zero.Tensor:
                return (self.layer(x) + 1).sum()
        @zero.no_grad()
        def count(net: zero.nn.Module) -> int:
            return sum(p.numel() for p in net.parameters())
        net: Net = Net().train().to(zero.float64)
        n: int = count(net)
        largest: zero.Tensor = zero.max(zero.ones(2, 3), dim=1).values
        zero.optim.SGD(net.parameters(), lr=0.1).step()
    """
    wrong = {
        "    n: str = count(net)": "assignment",
        "    zero.tensor([1.0]).relu(3)": "call-arg",
        "    zero.ones(2).no_such": "attr-defined",
    }
    command = [sys.executable, "-m", "mypy", "--config-file=", "--python-executable", installed[0]]
    for name, added in (("right", []), ("wrong", list(wrong))):
        lines = [line[8:] for line in program.splitlines()] + ["def more() -> None:", "    pass"]
        (tmp_path / f"{name}.py").write_text("\n".join([*lines, *added, ""]))
    run([*command, "right.py"], tmp_path)
    answer = subprocess.run(
        [*map(str, command), "wrong.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert re.findall(r"\[([\w-]+)\]$", answer.stdout, re.MULTILINE) == list(wrong.values())


def test_without_openblas(unpacked, tmp_path):
    wheel = build("build_wheel", unpacked, tmp_path / "wheel", ZERO_BLAS="none")
    with zipfile.ZipFile(wheel) as archive:
        assert [name for name in archive.namelist() if "_libs" in name] == []
    python, _ = install(wheel, tmp_path / "environment")
    run([python, "-c", GEMM], tmp_path)


# ---- the wheels of a release ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "kinds"),
    [
        ("linux", ["manylinux_x86_64", "musllinux_x86_64"]),
        ("linux-arm", ["manylinux_aarch64", "musllinux_aarch64"]),
        ("macos", ["macosx_x86_64"]),
        ("macos-arm", ["macosx_arm64"]),
        ("windows", ["win_amd64"]),
    ],
)
def test_wheels_of_a_release(platform, kinds):
    """Every Python that is supported, and no free-threaded one."""
    pytest.importorskip("cibuildwheel")
    system, _, arm = platform.partition("-")
    command = [sys.executable, "-m", "cibuildwheel", "--print-build-identifiers"]
    command += ["--platform", system]
    if arm:
        command += ["--archs", "aarch64" if system == "linux" else "arm64"]
    elif system == "macos":
        command += ["--archs", "x86_64"]
    expected = {f"cp{version.replace('.', '')}-{kind}" for version in VERSIONS for kind in kinds}
    assert set(run(command, ROOT).split()) == expected


def test_versions_are_the_same_everywhere():
    """pyproject.toml, the script that tests wheels, and the workflows say the same."""
    tomllib = pytest.importorskip("tomllib")  # from Python 3.11 on
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = [c for c in project["project"]["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert named == PYTHONS
    assert project["tool"]["mypy"]["python_version"] == VERSIONS[0]
    script = (ROOT / "tools" / "test_wheels.py").read_text(encoding="utf-8")
    assert f"VERSIONS = {VERSIONS}".replace("'", '"') in script
    workflows = ROOT / ".github" / "workflows"
    if not workflows.is_dir():  # an sdist has none
        return
    tests = (workflows / "tests.yml").read_text(encoding="utf-8")
    assert f'python: ["{VERSIONS[0]}", "{VERSIONS[-1]}"]' in tests
    (pin,) = {
        r.split(";")[0]
        for r in project["project"]["optional-dependencies"]["lint"]
        if r.startswith("cibuildwheel")
    }
    assert f"pip install {pin}" in (workflows / "wheels.yml").read_text(encoding="utf-8")


# ---- editable and development builds -------------------------------------------------------------


@pytest.fixture(scope="module")
def editable(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("editable")
    wheel = build("build_editable", tree, folder / "wheel")
    return install(wheel, folder / "environment")[0]


def extension_of(tree):
    (path,) = [p for p in (tree / "zero").glob("_zero.*") if p.suffix in (".so", ".pyd")]
    return path


def test_editable_install_sees_an_edit(tree, editable, tmp_path):
    before = extension_of(tree).stat().st_mtime_ns
    run([editable, "-c", REGRESSION], tmp_path)
    with open(tree / "zero" / "nn" / "__init__.py", "a") as module:
        module.write("\n\ndef edited(x):\n    return 2 * x\n")
    code = "import zero; print(zero.nn.edited(zero.ones([2])).tolist(), zero.__file__)"
    printed = run([editable, "-c", code], tmp_path)
    assert printed.startswith("[2.0, 2.0] ")
    assert str(tree) in printed
    assert extension_of(tree).stat().st_mtime_ns == before


def test_a_changed_source_is_compiled_alone(tree, editable, tmp_path):
    source = min((tree / "csrc" / "zero" / "core").glob("*.cpp"), key=lambda p: p.stat().st_size)
    source.write_text(source.read_text() + f"\n// changed by a test in {os.getpid()}\n")
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    printed = run(command, tree, ZERO_BUILD_DIR=str(ROOT / "build"))
    assert "\n1 of " in printed, printed
    assert "\n0 of " in run(command, tree, ZERO_BUILD_DIR=str(ROOT / "build"))
    run([editable, "-c", REGRESSION], tmp_path)


def test_builds_of_one_tree_may_run_at_once(tree, tmp_path):
    code = (
        "import sys; sys.path.insert(0, 'tools'); import build_core as b;"
        "c = next(c for c in b.core_compilations(b.Mode()) if c.name == 'core.dtype');"
        "print(b.compile_all([c])[0])"
    )
    environment = {**os.environ, "ZERO_BUILD_DIR": str(tmp_path)}
    builds = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=tree,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    outputs = {b.communicate()[0].splitlines()[-1] for b in builds}
    assert [b.returncode for b in builds] == [0, 0, 0]
    (made,) = [p for p in tmp_path.rglob("*") if p.is_file()]  # one object and nothing half-written
    assert outputs == {str(made)}


@pytest.mark.skipif(
    os.name == "nt", reason="Visual C++ is found by setuptools, which has its own words"
)
@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (
            {"CXX": "no-such-compiler"},
            "error: no C++ compiler: 'no-such-compiler' cannot be run; install",
        ),
        ({"ZERO_SANITIZE": "memory"}, "error: ZERO_SANITIZE must be"),
        ({"ZERO_BLAS": "mkl"}, "error: ZERO_BLAS must be 'openblas' or 'none'; got 'mkl'"),
        ({"ZERO_BUILD_JOBS": "-1"}, "error: ZERO_BUILD_JOBS must be a positive number; got '-1'"),
    ],
)
def test_a_build_that_cannot_work_says_why(tree, variables, expected):
    answer = subprocess.run(
        [sys.executable, "setup.py", "build_ext"],
        cwd=tree,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert answer.returncode != 0
    assert answer.stdout.splitlines()[-1].startswith(expected)
    assert "Traceback" not in answer.stdout
