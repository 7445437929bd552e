"""What PyTorch has and zero has not is said so."""

from importlib import import_module

import pytest

import zero
from zero._missing import MISSING


@pytest.mark.parametrize("home", MISSING)
def test_names_that_are_there_stand_in_no_list(home):
    names = MISSING[home].split()
    assert len(names) == len(set(names))
    assert [name for name in names if hasattr(import_module(home), name)] == []


@pytest.mark.parametrize("home", MISSING)
def test_the_error_tells_them_from_slips(home):
    module = import_module(home)
    name = MISSING[home].split()[0]
    end = f"PyTorch has it, zero {zero.__version__} does not have it yet$"
    with pytest.raises(AttributeError, match=f"^module '{home}' has no attribute '{name}': {end}"):
        getattr(module, name)
    with pytest.raises(AttributeError, match=f"^module '{home}' has no attribute 'nonsense'$"):
        module.nonsense  # noqa: B018


@pytest.mark.parametrize("home", MISSING)
def test_pytorch_has_them(home):
    pytest.importorskip("torch")
    module = import_module(home.replace("zero", "torch", 1))
    assert {name for name in MISSING[home].split() if not _reached(module, name)} == set()


def _reached(module, name):
    try:
        return hasattr(module, name) or import_module(f"{module.__name__}.{name}") is not None
    except ImportError:
        return False
