"""Arguments of composed operators, and how functions become methods."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import zero
from zero import Tensor, _attach, _vmap_level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., object])

__all__ = [
    "Ints",
    "as_ints",
    "attach",
    "copy_for",
    "given_ints",
    "numpy_names",
    "part",
    "wrap_dim",
]

Ints = int | Sequence[int]


def copy_for(input: Tensor, *values: object) -> Tensor:
    """A copy of a tensor to write values to: under vmap a place for each sample, if they differ."""
    if _vmap_level() is None:
        return input.clone()
    from zero.func._batched import spread

    return spread(input, values, _vmap_level())


def as_ints(op: str, name: str, value: Ints) -> tuple[int, ...]:
    if isinstance(value, (tuple, list)):
        return tuple(value)
    if isinstance(value, int):
        return (value,)
    raise TypeError(
        f"{op}: {name} is not an int or a tuple of ints; got {type(value).__name__}, expected ints"
    )


def given_ints(op: str, args: tuple[Ints, ...], dims: Ints | None) -> tuple[int, ...]:
    """The numbers of a method: f(1, 2), f((1, 2)) or f(dims=(1, 2))."""
    if (dims is None) == (not args):
        raise TypeError(f"{op}: dims is missing, or given twice; expected ints or a tuple of ints")
    if dims is not None:
        return as_ints(op, "dims", dims)
    flat: object = args[0] if len(args) == 1 else args
    return as_ints(op, "dims", flat)  # type: ignore[arg-type]


def wrap_dim(op: str, dim: int, ndim: int) -> int:
    if not isinstance(dim, int):
        raise TypeError(f"{op}: dim is not an int; got {type(dim).__name__}, expected an int")
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise zero.errors.IndexError(
            f"{op}: dimension out of range; got {dim}, expected {-limit} to {limit - 1}"
        )
    return dim % limit


def part(x: zero.Tensor, d: int, start: int | None, end: int | None, step: int = 1) -> zero.Tensor:
    """The view x[..., start:end:step] along dimension d >= 0."""
    place: tuple[slice, ...] = (slice(None),) * d + (slice(start, end, step),)
    return x[place]


# NumPy's names of arguments, which PyTorch takes for its own, too. (_bind/calls.pxi does the same
# for compiled functions.)
_NUMPY_NAMES = {
    "axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other",
}  # fmt: skip


def numpy_names(function: Function) -> Function:
    """Lets a function be called with NumPy's names of its arguments."""
    code = function.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names = {numpy: name for numpy, name in _NUMPY_NAMES.items() if name in own}
    for name in own:
        names.pop(name, None)

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> object:
        if not names.keys().isdisjoint(kwargs):
            found = {names.get(name, name): value for name, value in kwargs.items()}
            if len(found) == len(kwargs):  # else one is given twice, which the function refuses
                kwargs = found
        return function(*args, **kwargs)

    return renamed  # type: ignore[return-value]


def attach(*functions: Callable[..., object], **renamed: Callable[..., object]) -> None:
    """Makes functions methods of Tensor, under their own names or those given."""
    for name, function in ({f.__name__: f for f in functions} | renamed).items():
        function.__name__ = name
        _attach(name, function)
