"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import zero
from zero import _zero

OPTIONAL = {"zero.utils.tensorboard": "tensorboard", "zero.utils.viz.history": "matplotlib"}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def compiled_objects():
    """name -> object with a docstring: functions, classes and what the classes define."""
    found = {}
    for name, value in vars(_zero).items():
        if getattr(value, "__module__", None) not in ("zero", "zero._zero"):
            continue
        found[name] = value
        if isinstance(value, type):
            for attribute, member in vars(value).items():
                if not attribute.startswith("__") and inspect.getdoc(member):
                    found[f"{name}.{attribute}"] = member
    return found


def modules():
    names = [m.name for m in pkgutil.walk_packages(zero.__path__, "zero.")]
    return ["zero", *sorted(n for n in names if n != "zero._zero")]


def run(test):
    # Written in another way from Python 3.12 on; show dict(...) of it.
    assert not any("OrderedDict([" in example.want for example in test.examples), test.name
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report = []
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


COMPILED = compiled_objects()


@pytest.mark.parametrize("name", sorted(COMPILED))
def test_compiled(name):
    text = inspect.getdoc(COMPILED[name]) or ""
    run(doctest.DocTestParser().get_doctest(text, {}, name, "_zero", 0))


@pytest.mark.parametrize("name", modules())
def test_module(name):
    for part, package in OPTIONAL.items():
        if name.startswith(part):
            pytest.importorskip(package)
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, globs={}):
        run(test)


def test_every_function_has_an_example():
    """But those in place, which name the function that they are the other form of."""
    public = {
        name: value
        for name, value in vars(_zero).items()
        if isinstance(value, type(zero.exp)) and name.strip("_") == name
    }
    assert len(public) > 100
    assert sorted(n for n, f in public.items() if ">>> " not in (f.__doc__ or "")) == []
