"""What `import zero` costs and brings along; each in a process of its own."""

import ast
import importlib
import json
import subprocess
import sys

import pytest

import zero
import zero._zero

HEAVY = ["numpy", "inspect", "dataclasses", "typing", "pickle", "multiprocessing", "scipy"]
HEAVY += ["collections", "functools", "weakref"]  # light ones, but for a small import


def run(code, *options):
    answer = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def loaded():
    """The modules that importing zero adds to those of a bare Python."""
    code = (
        "import sys; before = set(sys.modules); import zero; after = set(sys.modules); "
        "import json; print(json.dumps(sorted(after - before)))"
    )
    return json.loads(run(code))


def test_heavy_modules_stay_out(loaded):
    assert "zero._zero" in loaded and "zero.nn.module" in loaded
    assert not set(HEAVY) & set(loaded)


def test_rarely_needed_modules_are_imported_later(loaded):
    rare = [
        "accelerator",
        "backends",
        "cpu",
        "cuda",
        "distributions",
        "mps",
        "random",
        "testing",
        "utils.data",
        "version",
        "xpu",
        "_composed.views",
        "_legacy",
        "autograd.functional",
        "nn.init",
        "nn.linear",
        "optim.adam",
    ]
    assert not {f"zero.{name}" for name in rare} & set(loaded)
    code = "import zero; zero.cuda.is_available(); zero.backends.cudnn.benchmark = True"
    assert run(code) == ""


def test_no_thread_is_started():
    code = """
import os, zero
path = "/proc/self/task"
print(len(os.listdir(path)) if os.path.exists(path) else 1)
"""
    assert run(code).split() == ["1"]


def test_nothing_is_printed_or_warned_of():
    assert run("import zero", "-W", "error", "-X", "dev") == ""


def test_submodules_can_be_imported_first():
    names = ["nn", "nn.functional", "optim", "optim.sgd", "autograd", "errors"]
    names += [
        "backends.cudnn",
        "cpu.amp",
        "cuda.amp",
        "amp",
        "testing",
        "random",
        "version",
        "utils._pytree",
        "data",
        "utils.data.dataloader",
        "utils.data._utils.worker",
        "utils.data.datasets",
    ]
    for name in names:
        run(f"import zero.{name}; zero.{name}; zero.tensor([1.0])")


def test_all_is_exact():
    assert len(set(zero.__all__)) == len(zero.__all__)
    for name in zero.__all__:
        assert hasattr(zero, name), name
    public = {name for name in vars(zero) if not name.startswith("_")}
    assert public - set(zero.__all__) == set()


def test_every_function_of_the_extension_is_exported():
    methods_only = {"view", "expand", "expand_as", "reshape_as", "view_as"}
    functions = {
        name
        for name, value in vars(zero._zero).items()
        if getattr(value, "__module__", None) == "zero._zero" and not isinstance(value, type)
    }
    public = {name for name in functions if not name.startswith("_")} - methods_only
    assert len(public) > 100
    assert {name for name in public if not hasattr(zero, name)} == set()


@pytest.mark.parametrize("name", ["nn", "optim", "autograd", "nn.functional"])
def test_all_of_submodules(name):
    module = importlib.import_module(f"zero.{name}")
    for public in module.__all__:
        assert hasattr(module, public)


def exported(module):
    """The public names that a package's source shows to a type checker."""
    names = set()
    with open(module.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            source = importlib.import_module(node.module)
            names |= set(getattr(source, "__all__", set(vars(source)) - {"DTypeObject"}))
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names}
    return {name for name in names if name and not name.startswith("_")}


@pytest.mark.parametrize(
    "name",
    [
        "zero",
        "zero.nn",
        "zero.optim",
        "zero.autograd",
        "zero.utils",
        "zero.utils.data",
        "zero.utils.data.datasets",
    ],
)
def test_names_that_come_later_are_those_of_the_source(name):
    package = importlib.import_module(name)
    others = {"zero": {"__version__", "newaxis"}}.get(name, set())
    assert set(package.__all__) == exported(package) - {"DeviceObject"} | others
    for found in dir(package):
        assert getattr(package, found) is getattr(package, found)


def test_methods_that_come_later_are_those_that_are_attached():
    code = """
import importlib, pickle, pkgutil, zero
from zero._later import Method
x = zero.ones(2, 2)
later = {name for name, value in vars(zero.Tensor).items() if isinstance(value, Method)}
assert {"repeat", "real", "H", "tile"} <= later
before = set(dir(zero.Tensor))
try:
    x.real = x
    raise SystemExit("real was set")
except AttributeError:
    pass
x.tile = 3
assert x.tile == 3 and x.diag().tolist() == [1, 1] and zero.Tensor.diag is zero.diag
assert pickle.loads(pickle.dumps(zero.Tensor.outer)) is zero.outer
for found in pkgutil.iter_modules(zero._composed.__path__):
    importlib.import_module(f"zero._composed.{found.name}")
assert set(dir(zero.Tensor)) == before
assert not [n for n, value in vars(zero.Tensor).items() if isinstance(value, Method)]
"""
    assert run(code) == ""


def test_version():
    assert zero.__version__.count(".") == 2


def test_dtype_names():
    assert zero.float is zero.float32 and zero.double is zero.float64 and zero.half is zero.float16
    assert zero.long is zero.int64 and zero.int is zero.int32 and zero.short is zero.int16
