"""The names in checkpoints and what each stands for here; all others are refused by name."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict

import zero
from zero import Parameter, Size, Tensor
from zero.serialization._errors import CheckpointError
from zero.serialization._unpickle import Global, Unpickler
from zero.storage import TypedStorage, UntypedStorage

__all__ = [
    "DTYPES",
    "STORAGES",
    "STORAGE_NAMES",
    "UnknownName",
    "distrust",
    "find",
    "set_state",
    "trust",
    "trusted_objects",
    "trusted_types",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DTYPES = {
    name: getattr(zero, name)
    for name in "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()
}
STORAGE_NAMES = dict(
    zip(
        DTYPES.values(),
        "BoolStorage ByteStorage CharStorage ShortStorage IntStorage LongStorage HalfStorage "
        "BFloat16Storage FloatStorage DoubleStorage".split(),
        strict=True,
    )
)
STORAGES: dict[Global, zero.dtype | None] = {
    Global(f"torch.{name}"): dtype for dtype, name in STORAGE_NAMES.items()
}
UNTYPED = Global("torch.storage.UntypedStorage")
STORAGES[UNTYPED] = None
OTHER_DTYPES = (
    "uint16 uint32 uint64 complex32 complex64 complex128 quint8 qint8 qint32 quint4x2 quint2x4 "
    "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 "
    "ComplexFloatStorage ComplexDoubleStorage QUInt8Storage QInt8Storage QInt32Storage "
    "QUInt4x2Storage QUInt2x4Storage"
).split()


# ---- plain values --------------------------------------------------------------------------------
def expect(condition: bool, what: str) -> None:
    if not condition:
        raise CheckpointError(f"its {what} is not what a writer of checkpoints writes")


def one_of(x: Any, *values: Any) -> bool:
    """Whether x is one of the values and of its type: a tensor would compare element by element."""
    return any(type(x) is type(value) and x == value for value in values)


def short(x: Any) -> str:
    return x[:40] if type(x) is str else f"{type(x).__name__}, not a name"


def pairs_of(items: Any) -> list[Any]:
    good = type(items) in (list, tuple) and all(
        type(item) in (list, tuple) and len(item) == 2 for item in items
    )
    expect(good, "list of keys and values")
    return [x for item in items for x in item]


def ordered_dict(reader: Unpickler, items: Any = ()) -> Any:
    return filled(reader, OrderedDict(), pairs_of(items))


def counter(reader: Unpickler, counts: Any = ()) -> Any:
    expect(type(counts) in (dict, tuple), "Counter")
    return filled(reader, Counter(), [x for pair in dict(counts).items() for x in pair])


def default_dict(reader: Unpickler, factory: Any = None, items: Any = ()) -> Any:
    expect(factory is None or factory in FACTORIES, "factory of a defaultdict")
    made: Any = defaultdict(FACTORIES.get(factory))
    if type(items) is dict:
        items = list(items.items())
    return filled(reader, made, pairs_of(items))


def filled(reader: Unpickler, container: Any, items: list[Any]) -> Any:
    reader.spend(len(items))
    reader.stack.append(container)
    reader.put(items)
    return reader.stack.pop()


def elements(reader: Unpickler, items: Any) -> Any:
    expect(type(items) in (list, tuple), "set")
    reader.spend(len(items))
    reader.check_keys(items)
    return items


def encoded(reader: Unpickler, text: Any, encoding: Any = "latin1") -> bytes:
    expect(type(text) is str and one_of(encoding, "latin1", "latin-1"), "bytes object")
    reader.spend(len(text))
    return text.encode("latin1")  # type: ignore[no-any-return]


def byte_array(reader: Unpickler, content: Any = b"", encoding: Any = "latin-1") -> bytearray:
    if type(content) is str:
        content = encoded(reader, content, encoding)
    expect(type(content) is bytes, "bytearray")
    reader.spend(len(content))
    return bytearray(content)


def complex_number(reader: Unpickler, real: Any, imag: Any) -> complex:
    expect(type(real) is float and type(imag) is float, "complex number")
    return complex(real, imag)


def size(reader: Unpickler, sizes: Any = ()) -> Any:
    expect(type(sizes) in (list, tuple) and all(type(n) is int for n in sizes), "Size")
    reader.spend(len(sizes))
    return Size(sizes)


def device(reader: Unpickler, kind: Any, index: Any = None) -> Any:
    expect(type(kind) is str and (index is None or type(index) is int), "device")
    return zero.device(kind) if index is None else zero.device(kind, index)


def layout(reader: Unpickler, name: Any) -> Any:
    if not one_of(name, "torch.strided"):
        raise CheckpointError(f"it holds the layout {short(name)}; there is strided only")
    return zero.strided


# ---- tensors -------------------------------------------------------------------------------------
def numbers(sizes: Any, what: str) -> tuple[int, ...]:
    good = type(sizes) in (tuple, list, Size) and all(type(n) is int for n in sizes)
    expect(good and all(0 <= n < 1 << 63 for n in sizes) and len(sizes) <= 1000, what)
    return tuple(sizes)


def shown(dtype: zero.dtype, storage: Any, offset: Any, sizes: Any, strides: Any) -> Any:
    """A tensor in the memory of a storage."""
    sizes, strides = numbers(sizes, "size of a tensor"), numbers(strides, "stride of a tensor")
    (offset,) = numbers((offset,), "offset of a tensor")
    expect(len(sizes) == len(strides), "stride of a tensor")
    if type(storage) is UntypedStorage and storage.nbytes() % dtype.itemsize:
        whole = zero.empty(0, dtype=zero.uint8, device=storage.device).set_(storage)
        storage = UntypedStorage(whole[: storage.nbytes() // dtype.itemsize * dtype.itemsize])
    result = zero.empty(0, dtype=dtype, device=storage.device)
    return result.set_(storage, offset, sizes, strides)


def tensor(
    reader: Unpickler, storage: Any, offset: Any, sizes: Any, strides: Any,
    requires_grad: Any = False, hooks: Any = None, metadata: Any = None,
) -> Any:  # fmt: skip
    expect(type(storage) is TypedStorage and not metadata, "tensor")
    return needing_grad(shown(storage.dtype, storage, offset, sizes, strides), requires_grad)


def tensor_of_bytes(
    reader: Unpickler, storage: Any, offset: Any, sizes: Any, strides: Any, requires_grad: Any,
    hooks: Any, dtype: Any, metadata: Any = None,
) -> Any:  # fmt: skip
    good = type(storage) in (UntypedStorage, TypedStorage) and type(dtype) is zero.dtype
    expect(good and not metadata, "tensor")
    if type(storage) is TypedStorage:
        storage = storage.untyped()
    result = shown(dtype, storage, offset, sizes, strides)
    if dtype is zero.bool and result.device.type == "cpu":
        used = shown(zero.uint8, storage, offset, sizes, strides)
        expect(not used.numel() or int(used.max()) <= 1, "tensor of bools")
    return needing_grad(result, requires_grad)


def meta_tensor(reader: Unpickler, dtype: Any, sizes: Any, strides: Any, requires_grad: Any) -> Any:
    expect(type(dtype) is zero.dtype, "meta tensor")
    sizes, strides = numbers(sizes, "size of a tensor"), numbers(strides, "stride of a tensor")
    result = zero.empty_strided(sizes, strides, dtype=dtype, device="meta")
    return needing_grad(result, requires_grad)


def needing_grad(result: Any, requires_grad: Any) -> Any:
    expect(type(requires_grad) is bool, "requires_grad")
    return result.requires_grad_() if requires_grad else result


def parameter(
    reader: Unpickler, data: Any, requires_grad: Any = True, hooks: Any = None, state: Any = None
) -> Any:
    expect(isinstance(data, Tensor) and type(requires_grad) is bool, "parameter")
    return with_attributes(Parameter(data.detach(), requires_grad), state)


def of_type(reader: Unpickler, function: Any, kind: Any, arguments: Any, state: Any) -> Any:
    good = type(function) is Global and function.name.startswith("torch._utils._rebuild_")
    expect(good and type(arguments) is tuple and kind in (TENSOR, PARAMETER), "tensor")
    result = function.make(reader, *arguments)
    if kind is PARAMETER and type(result) is not Parameter:
        result = Parameter(result.detach(), result.requires_grad)
    return with_attributes(result, state)


def with_attributes(result: Any, state: Any) -> Any:
    if type(state) is tuple and len(state) == 2 and state[1] is None:
        state = state[0]
    if state is None:
        return result
    expect(type(state) is dict, "attributes of a tensor")
    set_attributes(result, state)
    return result


def set_attributes(owner: Any, state: Any) -> None:
    for name in state:
        good = type(name) is str and not hasattr(type(owner), name)
        expect(good, f"attribute of a {type(owner).__name__}")
    owner.__dict__.update(state)


# ---- numpy ---------------------------------------------------------------------------------------
KIND = re.compile(r"b1|[iu][1248]|f(2|4|8|16)|c(8|16|32)|[SU][1-9][0-9]{0,8}")


def numpy_dtype(reader: Unpickler, code: Any, align: Any = False, copy: Any = True) -> Any:
    import numpy

    if type(code) is not str or not KIND.fullmatch(code):
        raise CheckpointError(f"it holds numpy arrays of the type {short(code)}")
    return numpy.dtype(code, False, True)


def numpy_scalar(reader: Unpickler, dtype: Any, content: Any = None) -> Any:
    import numpy

    good = isinstance(dtype, numpy.dtype) and type(content) is bytes
    expect(good and len(content) == dtype.itemsize, "numpy scalar")
    reader.spend(len(content))
    return numpy.frombuffer(content, dtype=dtype)[0]


def numpy_array(reader: Unpickler, kind: Any, shape: Any, code: Any) -> Any:
    import numpy

    expect(kind is NDARRAY and numbers(shape, "numpy array") == (0,), "numpy array")
    return numpy.empty(0, dtype=numpy.uint8)


def numpy_buffer(reader: Unpickler, content: Any, dtype: Any, shape: Any, order: Any) -> Any:
    """An array as protocol 5 has it."""
    array = numpy_array(reader, NDARRAY, (0,), b"")
    content = bytes(content) if type(content) is bytearray else content
    expect(one_of(order, "C", "F", "A", "K"), "numpy array")
    numpy_state(reader, array, (1, shape, dtype, order == "F", content))
    return array


def numpy_state(reader: Unpickler, array: Any, state: Any) -> None:
    import numpy

    expect(type(state) is tuple and len(state) == 5, "numpy array")
    version, shape, dtype, fortran, content = state
    sizes = numbers(shape, "shape of a numpy array")
    expect(isinstance(dtype, numpy.dtype) and type(content) is bytes, "numpy array")
    expect(one_of(version, 1) and type(fortran) is bool and len(sizes) <= 64, "numpy array")
    total = dtype.itemsize
    for n in sizes:
        total *= n
    expect(total == len(content), "shape of a numpy array")
    reader.spend(total)
    array.__setstate__((1, sizes, dtype, fortran, content))


def numpy_dtype_state(dtype: Any, state: Any) -> None:
    """Sets the byte order; all else must be what the name of the dtype says already."""
    good = type(state) is tuple and all(type(x) in (int, str, type(None)) for x in state)
    expect(good and len(state) == 8 and state[1] in ("<", ">", "|"), "numpy dtype")
    expect(state == dtype.newbyteorder(state[1]).__reduce__()[2], "numpy dtype")
    dtype.__setstate__(state)


# ---- states --------------------------------------------------------------------------------------
def set_state(reader: Unpickler, owner: Any, state: Any) -> None:
    """Gives an object its state, as BUILD asks."""
    kind = type(owner)
    if kind is OrderedDict:
        expect(type(state) is dict, "state of an OrderedDict")
        set_attributes(owner, state)
    elif kind is Namespace:
        good = type(state) is dict and all(type(name) is str for name in state)
        expect(good, "state of a Namespace")
        vars(owner).update(state)
    elif kind in reader.trusted:
        trusted_state(owner, state)
    elif kind.__module__.partition(".")[0] == "numpy":
        import numpy

        if kind is numpy.ndarray:
            numpy_state(reader, owner, state)
        else:
            expect(isinstance(owner, numpy.dtype), "state of a numpy scalar")
            numpy_dtype_state(owner, state)
    else:
        raise CheckpointError(f"it sets the state of a {kind.__name__}")


def trusted_state(owner: Any, state: Any) -> None:
    if hasattr(owner, "__setstate__"):
        owner.__setstate__(state)
        return
    slots = None
    if type(state) is tuple and len(state) == 2:
        state, slots = state
    if state:
        owner.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(owner, name, value)


# ---- the table -----------------------------------------------------------------------------------
TENSOR = Global("torch.Tensor")
PARAMETER = Global("torch.nn.parameter.Parameter", parameter)
NDARRAY = Global("numpy.ndarray")
ENCODE = Global("_codecs.encode", encoded)
FACTORIES: dict[Any, Any] = {
    Global("builtins.list"): list,
    Global("builtins.dict"): dict,
    Global("builtins.int", lambda reader: 0): int,
    Global("builtins.float", lambda reader: 0.0): float,
    Global("builtins.str", lambda reader: ""): str,
    Global("builtins.tuple", lambda reader: ()): tuple,
}
SET = Global("builtins.set", lambda reader, items=(): set(elements(reader, items)))
FACTORIES[SET] = set

NAMES: dict[str, Any] = {
    found.name: found
    for found in (
        Global("collections.OrderedDict", ordered_dict),
        Global("collections.Counter", counter),
        Global("collections.defaultdict", default_dict),
        Global("argparse.Namespace", lambda reader: Namespace()),
        SET,
        Global("builtins.frozenset", lambda reader, x=(): frozenset(elements(reader, x))),
        Global("builtins.bytes", lambda reader: b""),
        Global("builtins.bytearray", byte_array),
        Global("builtins.complex", complex_number),
        ENCODE,
        Global("torch.Size", size),
        Global("torch.device", device),
        Global("torch.serialization._get_layout", layout),
        Global("torch._utils._rebuild_tensor", tensor),
        Global("torch._utils._rebuild_tensor_v2", tensor),
        Global("torch._utils._rebuild_tensor_v3", tensor_of_bytes),
        Global("torch._utils._rebuild_meta_tensor_no_storage", meta_tensor),
        Global("torch._utils._rebuild_parameter", parameter),
        Global("torch._utils._rebuild_parameter_with_state", parameter),
        Global("torch._tensor._rebuild_from_type_v2", of_type),
        TENSOR,
        PARAMETER,
        Global("numpy.dtype", numpy_dtype),
        NDARRAY,
        *(
            Global(f"{module}.{name}", make)
            for module in ("numpy._core.multiarray", "numpy.core.multiarray")
            for name, make in (("scalar", numpy_scalar), ("_reconstruct", numpy_array))
        ),
        Global("numpy._core.numeric._frombuffer", numpy_buffer),
        Global("numpy.core.numeric._frombuffer", numpy_buffer),
        *FACTORIES,
        *STORAGES,
    )
}
NAMES.update({f"torch.{name}": dtype for name, dtype in DTYPES.items()})
NAMES["torch.UntypedStorage"] = NAMES["torch.storage.UntypedStorage"]
NAMES["builtins.long"], NAMES["builtins.unicode"] = NAMES["builtins.int"], NAMES["builtins.str"]
RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg", "torch.tensor": "torch._tensor"}


def find(module: str, name: str) -> Any:
    """What a name in a file stands for.

    Raises:
        zero.serialization.CheckpointError: nothing does.
    """
    full = f"{RENAMED.get(module, module)}.{name}"
    if full in NAMES:
        return NAMES[full]
    if full in trusted:
        return trusted[full]
    if full.startswith("torch.") and full.partition(".")[2] in OTHER_DTYPES:
        raise CheckpointError(f"it holds a tensor of the dtype {full}, which zero has not")
    raise UnknownName(full)


class UnknownName(CheckpointError):
    """A name in a file that stands for nothing here."""

    def __init__(self, name: str) -> None:
        self.name = name
        shown = name if len(name) <= 200 else name[:200] + "…"
        if name.startswith(("torch.nn.modules", "torch.optim", "torchvision.models")):
            remedy = (
                "In PyTorch, torch.save(x.state_dict(), path) saves what such an object consists of"
            )
        elif name.startswith("torch."):
            remedy = "zero has no such tensors or values"
        else:
            remedy = (
                "Save what it consists of, such as numbers, lists and dicts; or, if you trust the "
                "file, allow the class by zero.serialization.add_safe_globals([…])"
            )
        super().__init__(
            f"it holds an object of {shown}, which is unknown here, and files are never executed. "
            f"{remedy}"
        )


# ---- classes that a program trusts ---------------------------------------------------------------
NEVER = {"os", "posix", "nt", "sys", "subprocess", "builtins", "importlib", "shutil", "runpy"}
trusted: dict[str, Global] = {}  # by full name
trusted_objects: dict[str, Any] = {}


def trust(name: str, value: Any) -> None:
    """Lets a name in files stand for a class or function."""
    if name.partition(".")[0] in NEVER:
        raise ValueError(
            f"add_safe_globals: no file may call this; got {name}, expected a class of your own"
        )
    new = (lambda reader, *a: value.__new__(value, *a)) if isinstance(value, type) else None
    trusted[name] = Global(name, lambda reader, *a: value(*a), new)
    trusted_objects[name] = value


def distrust(name: str) -> None:
    trusted.pop(name, None)
    trusted_objects.pop(name, None)


def trusted_types() -> frozenset[Any]:
    return frozenset(value for value in trusted_objects.values() if isinstance(value, type))
