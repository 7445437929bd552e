"""A writer of pickles with PyTorch's names, which says where in a nesting it cannot go on."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict
from struct import pack

import zero
from zero import Parameter, Size, Tensor, device, dtype, layout
from zero.errors import DTypeError
from zero.serialization._globals import trusted_objects
from zero.serialization._unpickle import DEEPEST
from zero.storage import TypedStorage, UntypedStorage

__all__ = ["Pickler", "global_", "integer"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

BATCH = 1000  # elements between two marks
FACTORIES = (list, dict, int, float, str, tuple, set)


class Attribute(str):
    """A step on the way to a value that is no key."""

    __slots__ = ()


INSIDE = object()  # a step that has no name


def global_(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def integer(n: int) -> bytes:
    if 0 <= n < 1 << 8:
        return b"K" + bytes([n])
    if 0 <= n < 1 << 16:
        return b"M" + n.to_bytes(2, "little")
    if -(1 << 31) <= n < 1 << 31:
        return b"J" + n.to_bytes(4, "little", signed=True)
    size = n.bit_length() // 8 + 1
    head = b"\x8a" + bytes([size]) if size < 256 else b"\x8b" + size.to_bytes(4, "little")
    return head + n.to_bytes(size, "little", signed=True)


def text(value: str) -> bytes:
    encoded = value.encode("utf-8", "surrogatepass")
    return b"X" + len(encoded).to_bytes(4, "little") + encoded


class Pickler:
    """Writes one object in protocol 2, without recursion.

    Attributes:
        out: the parts of the pickle. In place of a tensor's or a storage's stands None.
        tensors: the place in `out` of each of them, with the tensor.
    """

    def __init__(self) -> None:
        self.out: list[bytes | None] = [b"\x80\x02"]
        self.tensors: list[tuple[int, Any]] = []
        self.memo: dict[int, tuple[int, object]] = {}  # by id, with the object to keep it
        self.strings: dict[str, int] = {}
        self.numbered = 0
        self.path: list[Any] = []
        self.open: set[int] = set()

    def dump(self, root: Any) -> None:
        """Fills `out` and `tensors`.

        Raises:
            DTypeError: something cannot be saved; the error says where it is.
        """
        out, path = self.out, self.path
        frames: list[tuple[int, Iterator[Any]]] = [(0, iter((root,)))]
        while frames:
            owner, children = frames[-1]
            for child in children:
                step = self.step(child)
                if step is None:
                    continue
                if id(child) in self.open:
                    raise self.refusal(child, "contains itself, which files cannot hold")
                if len(frames) > DEEPEST:
                    raise self.refusal(child, f"lies deeper than {DEEPEST} containers")
                self.open.add(id(child))
                path.append(INSIDE)
                frames.append((id(child), step))
                break
            else:
                frames.pop()
                self.open.discard(owner)
                if path:
                    path.pop()
        out.append(b".")

    def step(self, x: Any) -> Iterator[Any] | None:
        """Writes a plain value; for one with parts, gives a generator that yields them."""
        kind, out = type(x), self.out
        if kind is str:
            self.string(x)
        elif kind is float:
            out.append(pack(">cd", b"G", x))
        elif kind is int:
            out.append(integer(x))
        elif x is None:
            out.append(b"N")
        elif kind is bool:
            out.append(b"\x88" if x else b"\x89")
        elif id(x) in self.memo and id(x) not in self.open:
            out.append(self.known(self.memo[id(x)][0]))
        elif kind in CONTAINERS:
            return CONTAINERS[kind](self, x)
        elif isinstance(x, Tensor):
            return self.tensor(x)
        elif kind in LEAVES:
            LEAVES[kind](self, x)
        elif kind.__module__.partition(".")[0] == "numpy":
            return self.numpy_object(x)
        elif kind in trusted_objects.values():
            return self.trusted(x)
        else:
            raise self.refusal(x, None)
        return None

    # ---- names, places and errors ----------------------------------------------------------------
    def known(self, number: int) -> bytes:
        if number < 256:
            return b"h" + bytes([number])
        return b"j" + number.to_bytes(4, "little")

    def number(self) -> int:
        """The number of what was written last, as the reader knows it from here on."""
        n, self.numbered = self.numbered, self.numbered + 1
        self.out.append(b"q" + bytes([n]) if n < 256 else b"r" + n.to_bytes(4, "little"))
        return n

    def remember(self, x: Any) -> None:
        self.memo[id(x)] = (self.number(), x)

    def string(self, x: str) -> None:
        if x in self.strings:
            self.out.append(self.known(self.strings[x]))
        else:
            self.out.append(text(x))
            self.strings[x] = self.number()

    def refusal(self, x: Any, what: str | None) -> DTypeError:
        steps = (
            f".{key}" if type(key) is Attribute else f"[{quoted(key)}]"
            for key in self.path
            if key is not INSIDE
        )
        place = "".join(steps)
        if len(place) > 500:
            place = f"{place[:250]} … {place[-250:]}"
        shown = f"{place}: " if place else ""
        kind = f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
        article = "an" if kind[0] in "aeiouAEIOU" else "a"
        if what is None:
            return DTypeError(
                f"save: {shown}{article} {kind} cannot be saved; expected tensors, numbers, "
                f"strings, lists, tuples, sets and dicts of them{hint(x)}"
            )
        return DTypeError(f"save: {shown}{article} {kind} {what}")

    # ---- containers: each yields its parts -------------------------------------------------------
    def list_(self, x: Any) -> Iterator[Any]:
        self.out.append(b"]")
        self.remember(x)
        yield from self.batches(list(x), b"e")

    def batches(self, items: Any, end: bytes) -> Iterator[Any]:
        for first in range(0, len(items), BATCH):
            self.out.append(b"(")
            for i, item in enumerate(items[first : first + BATCH], first):
                self.path[-1] = i
                yield item
            self.out.append(end)

    def tuple_(self, x: Any) -> Iterator[Any]:
        n = len(x)
        if n > 3:
            self.out.append(b"(")
        for i, item in enumerate(x):
            self.path[-1] = i
            yield item
        self.out.append((b")", b"\x85", b"\x86", b"\x87")[n] if n <= 3 else b"t")
        if n:
            self.remember(x)

    def dict_(self, x: Any) -> Iterator[Any]:
        self.out.append(b"}")
        self.remember(x)
        yield from self.items(x)

    def items(self, x: Any) -> Iterator[Any]:
        pairs = list(x.items())
        for first in range(0, len(pairs), BATCH):
            self.out.append(b"(")
            for key, value in pairs[first : first + BATCH]:
                self.path[-1] = key
                yield key
                self.path[-1] = key
                yield value
            self.out.append(b"u")

    def ordered_dict(self, x: Any) -> Iterator[Any]:
        self.out.append(global_("collections", "OrderedDict") + b")R")
        self.remember(x)
        yield from self.items(x)
        if vars(x):
            yield from self.state(dict(vars(x)))

    def state(self, state: Any) -> Iterator[Any]:
        self.path[-1] = Attribute("__dict__")
        yield state
        self.out.append(b"b")

    def counter(self, x: Any) -> Iterator[Any]:
        self.out.append(global_("collections", "Counter"))
        self.path[-1] = INSIDE
        yield dict(x)
        self.out.append(b"\x85R")
        self.remember(x)

    def default_dict(self, x: Any) -> Iterator[Any]:
        factory = x.default_factory
        if factory is not None and factory not in FACTORIES:
            raise self.refusal(x, "has a factory of its own; dict(…) makes a plain one of it")
        name = b"N" if factory is None else global_("__builtin__", factory.__name__)
        self.out.append(global_("collections", "defaultdict") + name + b"\x85R")
        self.remember(x)
        yield from self.items(x)

    def set_(self, x: Any) -> Iterator[Any]:
        self.out.append(global_("__builtin__", type(x).__name__) + b"]")
        yield from self.batches(list(x), b"e")
        self.out.append(b"\x85R")
        self.remember(x)

    def size(self, x: Any) -> Iterator[Any]:
        self.out.append(global_("torch", "Size"))
        yield tuple(x)
        self.out.append(b"\x85R")
        self.remember(x)

    def namespace(self, x: Any) -> Iterator[Any]:
        self.out.append(global_("argparse", "Namespace") + b")\x81")
        self.remember(x)
        self.out.append(b"}")
        yield from self.named_items(vars(x))
        self.out.append(b"b")

    def named_items(self, state: Any) -> Iterator[Any]:
        self.out.append(b"(")
        for name, value in list(state.items()):
            self.path[-1] = Attribute(name)
            yield name
            yield value
        self.out.append(b"u")

    def trusted(self, x: Any) -> Iterator[Any]:
        """An object of a class that the program allows, as Python's copyreg takes it apart."""
        made = x.__reduce_ex__(2)
        if type(made) is not tuple or len(made) < 2:
            raise self.refusal(x, None)
        function, arguments, state, items, pairs = (*made, None, None, None)[:5]
        new = function.__name__ == "__newobj__"
        if new:
            function, arguments = arguments[0], arguments[1:]
        name = next((n for n, known in trusted_objects.items() if known is function), None)
        if name is None:
            raise self.refusal(x, f"is made by {function!r}, which is not allowed")
        if items is not None or pairs is not None:
            raise self.refusal(x, "is a list or dict of its own kind")
        module, _, own = name.rpartition(".")
        self.out.append(global_(module, own))
        self.path[-1] = INSIDE
        yield tuple(arguments)
        self.out.append(b"\x81" if new else b"R")
        self.remember(x)
        if state is not None:
            yield from self.state(state)

    # ---- tensors ---------------------------------------------------------------------------------
    def tensor(self, x: Tensor) -> Iterator[Any]:
        kind, attributes = type(x), vars(x)
        if kind is not Tensor and kind is not Parameter:
            raise self.refusal(x, f"cannot be saved; expected a Tensor or a Parameter{hint(x)}")
        if kind is Parameter:
            with_state = "_with_state" if attributes else ""
            self.out.append(global_("torch._utils", f"_rebuild_parameter{with_state}") + b"(")
            self.values(x.detach(), False)
            self.out.append(flag(x.requires_grad) + NO_HOOKS)
        elif attributes:
            self.out.append(global_("torch._tensor", "_rebuild_from_type_v2") + b"(")
            self.values(x, x.requires_grad, global_("torch", "Tensor"))
        else:
            self.values(x, x.requires_grad)
        if attributes:
            self.out.append(b"}")
            yield from self.named_items(attributes)
        if attributes or kind is Parameter:
            self.out.append(b"tR")
        self.remember(x)

    def values(self, x: Tensor, requires_grad: bool, inside: bytes = b"") -> None:
        """A tensor of Tensor's own class; with `inside`, only its function, that, and arguments."""
        if x.device.type == "meta":
            function = "_rebuild_meta_tensor_no_storage"
            arguments = (
                b"(" + global_("torch", x.dtype.name) + numbers(x.shape) + numbers(x.stride())
                + flag(requires_grad) + b"t"
            )  # fmt: skip
            self.out.append(global_("torch._utils", function) + inside + arguments)
        else:
            self.tensors.append((len(self.out), (x, flag(requires_grad), inside)))
            self.out.append(None)
        if not inside:
            self.out.append(b"R")

    def storage(self, x: Any) -> None:
        if x.device.type == "meta":
            raise self.refusal(x, "on meta has no content to save")
        whole = zero.empty(0, dtype=zero.uint8, device="cpu")
        whole.set_(x if type(x) is UntypedStorage else x.untyped())
        dtype = None if type(x) is UntypedStorage else x.dtype
        self.tensors.append((len(self.out), (whole, dtype)))
        self.out.append(None)
        self.remember(x)

    # ---- other values ----------------------------------------------------------------------------
    def bytes_(self, x: bytes) -> None:
        self.out += [global_("_codecs", "encode"), text(x.decode("latin1"))]
        self.string("latin1")
        self.out.append(b"\x86R")
        self.remember(x)

    def byte_array(self, x: bytearray) -> None:
        self.out += [global_("__builtin__", "bytearray"), text(x.decode("latin1"))]
        self.string("latin-1")
        self.out.append(b"\x86R")
        self.remember(x)

    def complex_(self, x: complex) -> None:
        parts = pack(">cdcd", b"G", x.real, b"G", x.imag)
        self.out.append(global_("__builtin__", "complex") + parts + b"\x86R")

    def dtype_(self, x: dtype) -> None:
        self.out.append(global_("torch", x.name))

    def device_(self, x: device) -> None:
        index = b"\x85" if x.index is None else integer(x.index) + b"\x86"
        self.out.append(global_("torch", "device") + text(x.type) + index + b"R")

    def layout_(self, x: layout) -> None:
        name = global_("torch.serialization", "_get_layout")
        self.out.append(name + text("torch.strided") + b"\x85R")

    def numpy_object(self, x: Any) -> Iterator[Any]:
        """An array or a scalar, as numpy takes them apart."""
        numpy = sys.modules["numpy"]
        known = isinstance(x, numpy.ndarray | numpy.generic | numpy.dtype)
        dtype = x if isinstance(x, numpy.dtype) else getattr(x, "dtype", None)
        if not known or dtype is None or dtype.kind not in "biufcSU" or dtype.itemsize == 0:
            raise self.refusal(x, None if dtype is None else f"of {dtype} cannot be saved")
        if dtype is x:
            self.numpy_dtype(x)
            return
        function, arguments, *state = x.__reduce__()
        self.out.append(global_(function.__module__, function.__name__))
        if isinstance(x, numpy.ndarray):
            if type(x) is not numpy.ndarray:
                raise self.refusal(x, "cannot be saved; numpy.asarray gives a plain array")
            self.out.append(global_("numpy", "ndarray") + b"K\0\x85")
            self.bytes_(b"b")
            self.out.append(b"\x87R")
            self.remember(x)
            version, shape, dtype, fortran, content = state[0]
            self.out.append(b"(" + integer(version) + numbers(shape))
            self.numpy_dtype(dtype)
            self.out.append(flag(fortran))
            self.bytes_(content)
            self.out.append(b"tb")
        else:
            self.numpy_dtype(arguments[0])
            self.bytes_(arguments[1])
            self.out.append(b"\x86R")
            self.remember(x)
        yield from ()

    def numpy_dtype(self, x: Any) -> None:
        _, (code, align, copy), (version, order, _, _, _, item, alignment, flags) = x.__reduce__()
        self.out.append(
            global_("numpy", "dtype") + text(code) + flag(align) + flag(copy) + b"\x87R("
            + integer(version) + text(order) + b"NNN" + integer(item) + integer(alignment)
            + integer(flags) + b"tb"
        )  # fmt: skip


NO_HOOKS = global_("collections", "OrderedDict") + b")R"

CONTAINERS: dict[type, Callable[[Pickler, Any], Iterator[Any]]] = {
    list: Pickler.list_,
    tuple: Pickler.tuple_,
    dict: Pickler.dict_,
    OrderedDict: Pickler.ordered_dict,
    Counter: Pickler.counter,
    defaultdict: Pickler.default_dict,
    set: Pickler.set_,
    frozenset: Pickler.set_,
    Size: Pickler.size,
    Namespace: Pickler.namespace,
}
LEAVES: dict[type, Callable[[Pickler, Any], None]] = {
    bytes: Pickler.bytes_,
    bytearray: Pickler.byte_array,
    complex: Pickler.complex_,
    dtype: Pickler.dtype_,
    device: Pickler.device_,
    layout: Pickler.layout_,
    TypedStorage: Pickler.storage,
    UntypedStorage: Pickler.storage,
}


def numbers(values: Any) -> bytes:
    """A tuple of ints."""
    return b"(" + b"".join(map(integer, values)) + b"t"


def flag(value: bool) -> bytes:
    return b"\x88" if value else b"\x89"


def quoted(key: Any) -> str:
    if type(key) is str:
        inside = repr(key)[1:-1].replace('"', '\\"')
        return f'"{inside}"'
    shown = repr(key) if isinstance(key, int | float | bytes | None) else f"a {type(key).__name__}"
    return shown if len(shown) < 80 else shown[:77] + "..."


def hint(x: Any) -> str:
    """What to save instead."""
    if hasattr(x, "state_dict"):
        return "; save its state_dict() and load that with load_state_dict()"
    if isinstance(x, zero.Generator):
        return "; save its get_state() and load that with set_state()"
    if isinstance(x, tuple) and hasattr(x, "_asdict"):
        return "; a tuple(…) or the dict that _asdict() gives can be saved"
    if isinstance(x, dict):
        return "; dict(…) makes a plain dict of it"
    if isinstance(x, zero.nn.UninitializedParameter | zero.nn.UninitializedBuffer):
        return "; a lazy module has its parameters after the first call"
    if isinstance(x, Tensor):
        return ""
    if isinstance(x, type) or callable(x):
        return ". Functions and classes are part of the program, not of a file"
    return (
        ". zero.serialization.add_safe_globals([…]) allows objects of a class of yours, in the "
        "program that saves and in the one that loads"
    )
