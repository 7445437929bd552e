"""Rules of indexing, gathering and scattering."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.func._batched import (
    Misfit,
    at,
    cannot_write,
    dim_of_batch,
    each,
    named,
    physical,
    whole,
    wrapped,
)
from zero.func._pointwise import aligned, same_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zero.func._batched import Rule

__all__ = ["FAMILIES", "reads_items", "writes_items"]


# ---- x[index] ------------------------------------------------------------------------------------
class Place:
    """What an index of a sample means: a view by ints and slices, and tensors that select from it.

    Attributes:
        basic: the index of the view.
        dims: the dimensions of the view that tensors select from.
        tensors: these tensors, of integers.
        mask: a mask for each sample, which selects alone; then there are no tensors.
    """

    def __init__(self, x: Tensor, index: Any, level: Any) -> None:
        items = [_item(i) for i in (index if isinstance(index, tuple) else (index,))]
        used = 0
        for i in items:
            if isinstance(i, Tensor):
                used += i.ndim if _is_mask(i) else 1
            elif i is not None and i is not Ellipsis:
                used += 1
        if used > x.ndim:
            raise Misfit("too many indices")
        if Ellipsis in _plain(items):
            k = next(n for n, i in enumerate(items) if i is Ellipsis)
            items[k : k + 1] = [slice(None)] * (x.ndim - used)
        self.basic: list[Any] = []
        self.dims: list[int] = []
        self.tensors: list[Tensor] = []
        self.mask: Tensor | None = None
        dim = 0
        for i in items:
            if not isinstance(i, Tensor):
                self.basic.append(i)
                dim += i is None or isinstance(i, slice)
                continue
            if not _is_mask(i):
                selecting = [i]
            elif type(i) is not Tensor:
                selecting = [i] * i.ndim
                self.mask = i
            else:
                selecting = list(i.nonzero(as_tuple=True))
            for tensor in selecting:
                self.basic.append(slice(None))
                self.dims.append(dim)
                self.tensors.append(tensor)
                dim += 1
        if self.mask is not None and len(self.tensors) > self.mask.ndim:
            raise RuntimeError(
                "vmap: a mask that differs between samples cannot be combined with "
                "other tensors in an index"
            )

    def view(self, batch: Tensor) -> Tensor:
        """That of a batch."""
        index = (slice(None), *self.basic)
        return batch[index]

    @property
    def at(self) -> int:
        """Where the dimensions of the tensors stand in the result."""
        together = all(b == a + 1 for a, b in zip(self.dims, self.dims[1:], strict=False))
        return self.dims[0] if together else 0


def _item(i: Any) -> Any:
    if i is None or i is Ellipsis or isinstance(i, slice):
        return i
    if isinstance(i, bool):
        raise NotImplementedError("vmap: a bool as an index is not supported")
    if isinstance(i, int):
        return i
    if not isinstance(i, Tensor):
        i = i.__index__() if hasattr(i, "__index__") and not hasattr(i, "ndim") else zero.tensor(i)
    if isinstance(i, Tensor) and type(i) is Tensor and i.ndim == 0 and not _is_mask(i):
        return int(i)
    return i


def _plain(items: Sequence[Any]) -> list[Any]:
    return [i for i in items if not isinstance(i, (Tensor, slice))]


def _is_mask(i: Tensor) -> bool:
    return i.dtype in (zero.bool, zero.uint8)


def reads_items(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """x[index]."""
    x, index = args
    items = index if isinstance(index, tuple) else (index,)
    if all(i is None or i is Ellipsis or type(i) in (int, slice) for i in items):
        return wrapped(f(x.physical, (slice(None), *items)), level)
    place = Place(x, index, level)
    if place.mask is not None:
        raise RuntimeError(
            "vmap: the size of the result of indexing by a mask depends on values, and differs "
            "between samples; expected where or masked_fill"
        )
    if not at(x, level):
        return _selected(x[tuple(place.basic)], place, level)
    view = place.view(x.physical)
    return _selected(wrapped(view, level), place, level) if place.tensors else wrapped(view, level)


def _selected(x: Tensor, place: Place, level: Any) -> Any:
    """What tensors select from the view x."""
    tensors, dims = place.tensors, place.dims
    n = max(i.ndim for i in tensors)
    if not any(at(i, level) for i in tensors):
        index: list[Any] = [slice(None)] * (x.ndim + 1)
        for d, i in zip(dims, tensors, strict=True):
            index[d + 1] = i
        y = physical(x, level)[tuple(index)]
        together = dims[-1] - dims[0] == len(dims) - 1
        return wrapped(y if together else y.movedim(n, 0), level)
    y = _turned(x, place, level)[_places(x, place, n, level)]  # [B, ...places, ...rest]
    at_end = tuple(range(1 + place.at, 1 + place.at + n))
    return wrapped(y.movedim(tuple(range(1, n + 1)), at_end), level)


def _turned(x: Tensor, place: Place, level: Any) -> Tensor:
    """The view with the dimensions that are selected from in front, behind that of samples."""
    order = [*place.dims, *(d for d in range(x.ndim) if d not in place.dims)]
    if at(x, level):
        batch: Tensor = physical(x, level)
        return batch.permute((0, *(d + 1 for d in order)))
    return x.permute(tuple(order))


def _places(x: Tensor, place: Place, n: int, level: Any) -> tuple[Tensor, ...]:
    """The index into the turned view: for each sample its own places."""
    tensors = [aligned(i, n) if at(i, level) else i for i in place.tensors]  # type: ignore[arg-type]
    if at(x, level):
        tensors.insert(0, zero.arange(level.size).reshape(level.size, *(1,) * n))
    return tuple(tensors)


def writes_items(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> None:
    """x[index] = value."""
    x, index, value = args
    if not at(x, level):
        raise cannot_write("x[...] = value")
    _put(x, Place(x, index, level), value, False, level)


def _put(x: Any, place: Place, value: Any, accumulate: bool, level: Any) -> None:
    view = place.view(x.physical)
    if place.mask is not None:
        _put_masked(view, place, value, level)
        return
    rank = view.ndim - 1
    if not place.tensors:
        view[...] = _fitting(value, rank, level)
        return
    n = max(i.ndim for i in place.tensors)
    result_rank = rank - len(place.dims) + n
    value = _fitting(value, result_rank, level)
    if isinstance(value, Tensor) and value.ndim > 0:
        value = value[(None,) * (result_rank + 1 - value.ndim)]
        now = tuple(range(1 + place.at, 1 + place.at + n))
        value = value.movedim(now, tuple(range(1, n + 1)))
    sample = wrapped(view, level)
    turned, places = _turned(sample, place, level), _places(sample, place, n, level)
    if not isinstance(value, Tensor):
        value = x.physical.new_full((), value)
    turned.index_put_(places, value, accumulate)


def _fitting(value: Any, rank: int, level: Any) -> Any:
    """A value to assign, with at most the dimensions of its place, and samples in front."""
    if not isinstance(value, Tensor):
        return value
    while value.ndim > rank and value.shape[0] == 1:
        value = value[0]
    return aligned(value, rank) if at(value, level) else value


def _put_masked(view: Tensor, place: Place, value: Any, level: Any) -> None:
    mask: Any = place.mask
    rank = view.ndim - 1
    batch = mask.physical.reshape(
        level.size, *(1,) * place.dims[0], *mask.shape, *(1,) * (rank - place.dims[-1] - 1)
    ).bool()
    if not isinstance(value, Tensor):
        view.masked_fill_(batch, value)
        return
    if value.ndim > 0 and value.shape[0] != 1:
        raise RuntimeError(
            "vmap: how many values go to x[mask] depends on the mask, and differs between samples; "
            "expected one value, or where"
        )
    view.copy_(zero.where(batch, _fitting(value, rank, level).to(view.dtype), view))


def puts(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """index_put and index_put_."""
    given = named(f, args, kwargs)
    x, indices = given["input"], tuple(given["indices"])
    if f.__name__ == "index_put":
        x = wrapped(whole(x, level).clone(), level)
    elif not at(x, level):
        raise cannot_write(f.__name__)
    index = tuple(slice(None) if i is None else i for i in indices)
    _put(x, Place(x, index, level), given["values"], given.get("accumulate", False), level)
    return x


# ---- along a dimension ---------------------------------------------------------------------------
def gathers(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """gather and all of scatter: tensors of as many dimensions, which need not be expanded."""
    given = named(f, args, kwargs)
    x, index, src = given["input"], given["index"], given.get("src")
    writes = f.__name__.endswith("_")
    if writes and not at(x, level):
        raise cannot_write(f.__name__)
    rank = max(x.ndim, 1)
    if max(index.ndim, 1) != rank or (isinstance(src, Tensor) and max(src.ndim, 1) != rank):
        if not (isinstance(src, Tensor) and src.ndim == 0):
            raise Misfit("shapes")
    given["dim"] = dim_of_batch(given["dim"], rank)
    for name in ("input", "index", "src"):
        value = given.get(name)
        if isinstance(value, Tensor):
            batch = whole(value, level)
            given[name] = batch.unsqueeze(1) if value.ndim == 0 else batch
    y = f(**given)
    if writes:
        return x
    single = index.ndim if f is zero.gather else x.ndim
    return wrapped(y.squeeze(1) if single == 0 else y, level)


def selects(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """index_select."""
    given = named(f, args, kwargs)
    x, dim, index = given["input"], given["dim"], given["index"]
    if x.ndim == 0 or index.ndim != 1:
        return each(f, args, kwargs, level)
    dim = dim_of_batch(dim, x.ndim) - 1
    return (
        reads_items(None, (x, (*(slice(None),) * dim, index)), {}, level)
        if (at(index, level))
        else wrapped(f(x.physical, dim + 1, index), level)
    )


def adds(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """index_add, index_copy, index_fill and index_reduce, with the same index for all samples."""
    given = named(f, args, kwargs)
    x, index = given["input"], given["index"]
    writes = f.__name__.endswith("_")
    if writes and not at(x, level):
        raise cannot_write(f.__name__)
    if at(index, level) or x.ndim == 0 or at(given.get("value"), level):
        return each(f, args, kwargs, level)
    given["dim"] = dim_of_batch(given["dim"], x.ndim)
    given["input"] = whole(x, level)
    if "source" in given:
        if given["source"].ndim != x.ndim:
            return each(f, args, kwargs, level)
        given["source"] = whole(given["source"], level)
    y = f(**given)
    return x if writes else wrapped(y, level)


def takes(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    return given["input"].reshape(-1)[given["index"]]


def takes_along(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    x, indices, dim = given["input"], given["indices"], given.get("dim")
    if dim is None:
        return x.reshape(-1).gather(0, indices.reshape(-1))
    if x.ndim != indices.ndim or x.ndim == 0:
        raise Misfit("shapes")
    return wrapped(f(whole(x, level), whole(indices, level), dim_of_batch(dim, x.ndim)), level)


def buckets(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    rule = each if at(given["boundaries"], level) else same_function
    return rule(f, args, kwargs, level)


FAMILIES: dict[str, Rule] = {
    "index_put index_put_": puts,
    "gather scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_": gathers,
    "index_select": selects,
    "index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_reduce "
    "index_reduce_": adds,
    "take": takes,
    "take_along_dim": takes_along,
    "bucketize": buckets,
    "put put_ masked_scatter masked_scatter_ searchsorted histc _bin_counts tril_indices": each,
}
