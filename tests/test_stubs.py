"""zero/_zero.pyi has what the compiled module has: the same names, kinds of arguments, defaults.

Both directions: a function that the stub lacks fails just as one that the module lacks.
"""

import ast
import inspect
import types
from pathlib import Path

import pytest

import zero
from zero import _zero

STUB = Path(zero.__file__).with_name("_zero.pyi")
TREE = ast.parse(STUB.read_text(encoding="utf-8"))

# What every class or module has, or Cython adds for itself.
IMPLICIT = set(dir(object)) | {
    "__buffer__",  # from Python 3.12 on
    "__builtins__",
    "__cached__",
    "__dict__",
    "__file__",
    "__loader__",
    "__module__",
    "__name__",
    "__package__",
    "__path__",
    "__pyx_capi__",
    "__pyx_vtable__",
    "__reduce_cython__",
    "__release_buffer__",
    "__setstate__",
    "__setstate_cython__",
    "__slots__",
    "__spec__",
    "__test__",
    "__weakref__",
}
SLOTS = (types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinMethodType)


def stub_names(body):
    """name -> the statements that define it (several for overloads, or for a property's setter)."""
    names = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.AnnAssign):
            if getattr(node.annotation, "id", None) == "TypeAlias":
                continue  # for the stub's own use
            names.setdefault(node.target.id, []).append(node)
        elif isinstance(node, ast.Assign):
            if isinstance(node.value, ast.Call) and node.value.func.id == "TypeVar":
                continue
            for target in node.targets:
                names.setdefault(target.id, []).append(node)
    return {n: d for n, d in names.items() if n not in IMPLICIT or n == "__init__"}


def defined_here(name, value):
    """Whether a name of the module belongs to it, rather than to what it imported."""
    if name in IMPLICIT or isinstance(value, types.ModuleType):
        return False
    owner = getattr(value, "__module__", None)
    if name.startswith("_"):
        return owner == "zero._zero" and callable(value)
    return owner is None or owner.split(".")[0] == "zero" or not callable(value)


def class_names(cls):
    """A class's own attributes; an operator's slot counts under its name."""
    return {name for name in vars(cls) if name not in IMPLICIT}


def stub_parameters(node):
    """[(name, kind, default)] of a function in the stub; a default is a value, or its absence."""
    args, result = node.args, []
    P = inspect.Parameter
    plain = [(a, P.POSITIONAL_ONLY) for a in args.posonlyargs]
    plain += [(a, P.POSITIONAL_OR_KEYWORD) for a in args.args]
    defaults = [P.empty] * (len(plain) - len(args.defaults)) + [
        ast.literal_eval(d) for d in args.defaults
    ]
    result += [(a.arg, kind, d) for (a, kind), d in zip(plain, defaults, strict=True)]
    if args.vararg:
        result.append((args.vararg.arg, P.VAR_POSITIONAL, P.empty))
    for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        result.append((a.arg, P.KEYWORD_ONLY, P.empty if d is None else ast.literal_eval(d)))
    if args.kwarg:
        result.append((args.kwarg.arg, P.VAR_KEYWORD, P.empty))
    return result


def real_parameters(function):
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in parameters]


def decorators(node):
    return {d.id if isinstance(d, ast.Name) else d.attr for d in node.decorator_list}


def compare_function(where, nodes, value, method=False):
    """A difference between the definitions in the stub and the function, or None."""
    if isinstance(value, staticmethod | classmethod):
        kind = type(value).__name__
        if kind not in decorators(nodes[0]):
            return f"{where} is a {kind}"
        value = value.__func__
    elif decorators(nodes[0]) & {"staticmethod", "classmethod"}:
        return f"{where} is a plain method"
    if not callable(value):
        return f"{where} is a function in the stub but {type(value).__name__} in the module"
    if isinstance(value, SLOTS):
        return None  # CPython decides the parameters
    real = real_parameters(value)[method:]  # self has the name that it has in the function
    if len(nodes) == 1:
        stub = stub_parameters(nodes[0])[method:]
        return None if stub == real else f"{where}: the stub says {stub}, the module {real}"
    for node in nodes:
        difference = compare_overload(inspect.signature(value), node)
        if difference:
            return f"{where}: {difference}"
    return None


def compare_overload(signature, node):
    """An overload describes some of the calls; the function must take all of them."""
    parameters = stub_parameters(node)
    by_position = [n for n, kind, _ in parameters if kind is not inspect.Parameter.KEYWORD_ONLY]
    by_name = {
        n: None for n, kind, _ in parameters if kind is not inspect.Parameter.POSITIONAL_ONLY
    }
    self = by_name.pop(parameters[0][0], None)
    try:
        signature.bind(*by_position)
        signature.bind(self, **by_name)
    except TypeError as error:
        return f"an overload does not fit the module: {error}"
    for name, _, default in parameters:
        if default is not inspect.Parameter.empty and signature.parameters[name].default != default:
            return f"an overload gives {name} the default {default!r}"
    return None


def compare(where, nodes, value):
    node = nodes[0]
    if isinstance(node, ast.ClassDef):
        return None if isinstance(value, type) else f"{where} is no class"
    if isinstance(node, ast.AnnAssign | ast.Assign):
        if isinstance(getattr(node, "value", None), ast.Name) and not where.count("."):
            same = value is getattr(_zero, node.value.id)
            return None if same else f"{where} is not {node.value.id}"
        return None
    if "property" in decorators(node):
        found = inspect.isdatadescriptor(value)
        return None if found else f"{where} is no property but {type(value).__name__}"
    if inspect.isgetsetdescriptor(value) or isinstance(value, property):
        return f"{where} is a property, which the stub calls a function"
    return compare_function(where, nodes, value, method="." in where)


STUB_MODULE = stub_names(TREE.body)
STUB_CLASSES = {n: d[0] for n, d in STUB_MODULE.items() if isinstance(d[0], ast.ClassDef)}


def test_module_has_the_names_of_the_stub():
    real = {name for name, value in vars(_zero).items() if defined_here(name, value)}
    stub = set(STUB_MODULE)
    assert sorted(stub - set(vars(_zero))) == [], "in the stub, not in the module"
    assert sorted(real - stub) == [], "in the module, not in the stub"


@pytest.mark.parametrize("name", sorted(n for n in STUB_MODULE if n not in STUB_CLASSES))
def test_function(name):
    assert compare(name, STUB_MODULE[name], getattr(_zero, name)) is None


@pytest.mark.parametrize("name", sorted(STUB_CLASSES))
def test_class(name):
    cls = getattr(_zero, name)
    stub = stub_names(STUB_CLASSES[name].body)
    stub.pop("__init__", None)
    assert sorted(set(stub) - set(dir(cls))) == [], f"in the stub of {name}, not in the class"
    assert sorted(class_names(cls) - set(stub)) == [], f"in {name}, not in the stub"
    for n in stub:
        getattr(cls, n)  # brings methods that are attached when they are asked for
    differences = [
        compare(f"{name}.{n}", nodes, inspect.getattr_static(cls, n)) for n, nodes in stub.items()
    ]
    assert [d for d in differences if d] == []


def test_a_difference_is_found():
    """The comparison itself can fail."""
    node = ast.parse("def f(a, b=1, *, c=None): ...").body

    def same(a, b=1, *, c=None):
        pass

    def other(a, b=2, *, c=None):
        pass

    def positional(a, b=1, c=None):
        pass

    assert compare_function("f", node, same) is None
    assert compare_function("f", node, other) is not None
    assert compare_function("f", node, positional) is not None

    overloads = ast.parse("def g(a, b): ...\ndef g(a, c): ...").body
    assert compare_function("g", overloads, lambda a, b=None, *, c=None: None) is None
    assert compare_function("g", overloads, lambda a, b=None: None) is not None
