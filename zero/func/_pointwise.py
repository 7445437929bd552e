"""The rule of elementwise operators: batches broadcast as their samples do."""

from __future__ import annotations

from zero import Tensor, promote_types, result_type
from zero.func._batched import BatchedTensor, Misfit, at, cannot_write, each, physical, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["aligned", "pointwise", "same_function", "write_pointwise"]


def aligned(x: BatchedTensor, rank: int) -> Tensor:
    """A batch whose samples have `rank` dimensions, with new ones of size 1 in front."""
    missing = rank - x.ndim
    if missing <= 0:
        return x.physical
    index = (slice(None), *(None,) * missing)
    return x.physical[index]


def pointwise(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """The rule itself."""
    if len(args) == 1 and not kwargs:
        if f.__name__ == "where":
            raise RuntimeError(
                "vmap: where without values lists places, as nonzero does, whose "
                "number depends on values; expected two tensors to choose from"
            )
        return wrapped(f(args[0].physical), level)
    if kwargs:
        return wrapped(_called(f, args, kwargs, level), level)
    if len(args) == 2:  # the usual call
        a, b = args
        if type(a) is type(b) and a.level is b.level and a.ndim == b.ndim and a.dtype is b.dtype:
            return wrapped(f(a.physical, b.physical), level)
        if not isinstance(b, Tensor):
            return wrapped(f(a.physical, b), level)
    return wrapped(_called(f, args, kwargs, level), level)


def _called(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any, writes: bool = False
) -> Any:
    values = [*args, *kwargs.values()]
    tensors = [x for x in values if isinstance(x, Tensor)]
    rank = max(x.ndim for x in tensors)
    common = _common(f, tensors) if len(tensors) > 1 else None
    new = []
    for x in values:
        if isinstance(x, Tensor):
            dtype = x.dtype
            if type(x) is BatchedTensor and x.level is level:
                x = aligned(x, rank)
            if common is not None and dtype is not common and not _is_mask(f, x):
                x = x.to(common)
        new.append(x)
    if writes:
        new[0] = values[0].physical
    n = len(args)
    return f(*new[:n], **dict(zip(kwargs, new[n:], strict=True)))


def _common(f: Any, tensors: list[Tensor]) -> Any:
    """The dtype to cast to first; None where the batches promote as their samples do.

    A number without dimensions counts less than a tensor; its batch is a tensor like any other.
    """
    if f.__name__ == "where" and tensors[0].dtype is not tensors[-1].dtype:
        tensors = tensors[1:]
    if f.__name__.startswith("masked_fill"):
        return None
    first = tensors[0].dtype
    if all(x.dtype is first for x in tensors) or all(x.ndim > 0 for x in tensors):
        return None
    if len(tensors) == 2:
        return result_type(*tensors)
    kinds: list[Any] = [None, None]
    for x in tensors:
        i = x.ndim == 0
        kinds[i] = x.dtype if kinds[i] is None else promote_types(kinds[i], x.dtype)
    if kinds[0] is None:
        return kinds[1]
    floats = [kind.is_floating_point for kind in kinds]
    return kinds[1] if floats[1] and not floats[0] else kinds[0]


def _is_mask(f: Any, x: Tensor) -> bool:
    return f.__name__ == "where" and not x.dtype.is_floating_point and str(x.dtype) == "zero.bool"


def write_pointwise(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """The rule of elementwise operators in place: the written tensor must be a batch."""
    first = args[0] if args else next(iter(kwargs.values()))
    if not at(first, level):
        raise cannot_write(f.__name__)
    rest = (*args[1:], *kwargs.values()) if args else tuple(kwargs.values())
    if any(isinstance(x, Tensor) and x.ndim > first.ndim for x in rest):
        raise Misfit("the values have more dimensions")
    _called(f, args, kwargs, level, writes=True)
    return first


def same_function(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """The rule of functions of one tensor that leave leading dimensions alone."""
    if f.__name__ == "full_like" and any(
        isinstance(x, Tensor) for x in (*args[1:], *kwargs.values())
    ):
        return each(f, args, kwargs, level)
    named = {name: physical(x, level) for name, x in kwargs.items()}
    result = f(*(physical(x, level) for x in args), **named)
    if f.__name__.endswith("_"):
        return args[0] if args else next(iter(kwargs.values()))
    return wrapped(result, level)
