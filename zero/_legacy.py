"""Tensor classes named after dtypes, as older programs use them: FloatTensor, LongTensor, …"""

from __future__ import annotations

from zero import _zero as z
from zero._zero import Size, Tensor, dtype as DType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMES = {
    "FloatTensor": z.float32,
    "DoubleTensor": z.float64,
    "HalfTensor": z.float16,
    "BFloat16Tensor": z.bfloat16,
    "ByteTensor": z.uint8,
    "CharTensor": z.int8,
    "ShortTensor": z.int16,
    "IntTensor": z.int32,
    "LongTensor": z.int64,
    "BoolTensor": z.bool,
}
CLASSES = {dtype: name for name, dtype in NAMES.items()}

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "set_default_tensor_type",
    "typename",
]


def construct(name: str, dtype: DType, where: str, data: tuple[Any, ...], device: Any) -> Tensor:
    """What the older constructors give: a tensor of sizes, or of data."""
    if device is not None and z.device(device).type != where:
        raise RuntimeError(
            f"{name}: not on this device; got {device!r}, expected {where!r}; zero.tensor makes "
            "tensors on other devices"
        )
    if not data:
        return z.empty(0, dtype=dtype, device=where)
    first = data[0]
    if isinstance(first, int | Size) and not isinstance(first, bool):
        return z.empty(*data, dtype=dtype, device=where)
    if len(data) > 1 or isinstance(first, float | bool | str):
        raise TypeError(
            f"{name}: neither data nor sizes; got {data!r}, expected one sequence or ints; "
            "zero.tensor makes tensors of numbers"
        )
    if isinstance(first, Tensor):
        if first.dtype is not dtype or first.device.type != where:
            raise TypeError(
                f"{name}: a tensor of another type; got a {type_of(first)}, expected {dtype!r} on "
                f"{where!r}; to() converts"
            )
        return first.detach()
    if not hasattr(first, "__array_interface__") and not isinstance(first, list | tuple):
        first = list(first)
    return z.tensor(first, dtype=dtype, device=where)


def new_like(x: Tensor, data: tuple[Any, ...], device: Any) -> Tensor:
    """x.new(*data)"""
    return construct("new", x.dtype, x.device.type, data, device)


class TensorType(type):
    """The class of these classes: their calls make tensors, and isinstance asks for the dtype."""

    dtype: DType

    def __call__(cls, *data: Any, device: Any = None) -> Tensor:
        return construct(cls.__name__, cls.dtype, "cpu", data, device)

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls.dtype and x.device.type == "cpu"


def make_class(name: str) -> TensorType:
    dtype = NAMES[name]
    made = TensorType(
        name,
        (),
        {
            "__doc__": f"""Makes tensors of dtype {dtype!r} on the CPU, as older programs do.

    Args:
        *data: sizes as ints or a Size, for a tensor whose elements are undefined; or nested lists,
            an array or a tensor of this type.
        device: 'cpu'.

    Raises:
        TypeError: a tensor of another type, or neither data nor sizes.

    Example:
        >>> import zero
        >>> x = zero.{name}([[0, 1]])
        >>> x.dtype, isinstance(x, zero.{name}), zero.{name}(2, 3).shape
        ({dtype!r}, True, zero.Size([2, 3]))
    """,
            "__module__": "zero",
            "dtype": dtype,
        },
    )
    return made


FloatTensor = make_class("FloatTensor")
DoubleTensor = make_class("DoubleTensor")
HalfTensor = make_class("HalfTensor")
BFloat16Tensor = make_class("BFloat16Tensor")
ByteTensor = make_class("ByteTensor")
CharTensor = make_class("CharTensor")
ShortTensor = make_class("ShortTensor")
IntTensor = make_class("IntTensor")
LongTensor = make_class("LongTensor")
BoolTensor = make_class("BoolTensor")


def type_of(x: Tensor) -> str:
    """The name of a tensor's type: 'zero.FloatTensor', or 'zero.meta.FloatTensor'."""
    return f"zero.{'meta.' if x.is_meta else ''}{CLASSES[x.dtype]}"


def named(name: str) -> tuple[str, DType]:
    """Device and dtype of 'zero.FloatTensor' or 'zero.meta.FloatTensor', also with 'torch.'."""
    parts = name.split(".")
    where = "cpu"
    if len(parts) == 3 and parts[1] == "meta":
        where = parts.pop(1)
    if len(parts) == 2 and parts[0] in ("zero", "torch") and parts[1] in NAMES:
        return where, NAMES[parts[1]]
    raise ValueError(
        f"type: no such type; got {name!r}, expected a dtype, or a name such as 'zero.FloatTensor'"
    )


def to_type(x: Tensor, target: object) -> Tensor:
    """A tensor as another type: a dtype, a name or a class; itself if it is that already."""
    if isinstance(target, str):
        where, dtype = named(target)
        return x.to(where, dtype)
    if isinstance(target, TensorType):
        return x.to("cpu", target.dtype)
    if isinstance(target, type) and hasattr(target, "unavailable"):
        target()
    if target is Tensor:
        return x.to("cpu", z.get_default_dtype())
    return x.to(dtype=target)  # type: ignore[arg-type]


def typename(obj: object) -> str:
    """The name of an object's type with its module; of a tensor, that of its dtype's class.

    Args:
        obj: any object; a class stands for itself.

    Example:
        >>> import zero
        >>> zero.typename(zero.ones(2)), zero.typename(zero.nn.Linear(1, 1)), zero.typename(3)
        ('zero.FloatTensor', 'zero.nn.linear.Linear', 'int')
    """
    if isinstance(obj, Tensor):
        return type_of(obj)
    known: Any = obj if hasattr(obj, "__qualname__") and hasattr(obj, "__module__") else type(obj)
    module = known.__module__
    name: str = known.__qualname__
    return name if module in (None, "builtins") else f"{module}.{name}"


def set_default_tensor_type(t: object) -> None:
    """Sets the dtype of new float tensors; the older form of :func:`set_default_dtype`.

    Args:
        t: a class of floating point tensors such as zero.DoubleTensor, or its name.

    Raises:
        TypeError: the dtype is not a floating point one, or there is no such class.

    Example:
        >>> import zero
        >>> zero.set_default_tensor_type(zero.DoubleTensor)
        >>> zero.tensor(1.5).dtype
        zero.float64
        >>> zero.set_default_tensor_type("zero.FloatTensor")
    """
    if isinstance(t, str):
        where, dtype = named(t)
        if where != "cpu":
            raise TypeError(
                f"set_default_tensor_type: not on this device; got {t!r}, expected a type of the "
                "CPU; set_default_device changes the device"
            )
        z.set_default_dtype(dtype)
    elif isinstance(t, TensorType):
        z.set_default_dtype(t.dtype)
    else:
        raise TypeError(
            f"set_default_tensor_type: not a tensor type; got {t!r}, expected one such as "
            "zero.DoubleTensor"
        )
