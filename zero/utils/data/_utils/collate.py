"""Batches of samples: :func:`default_collate` and what it is made of.

Where the memory of a batch comes from, :data:`allocate` says: a worker process has it come from
memory that it shares, so that each sample is written once, to where the main program reads it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, TypeAlias

import numpy as np

import zero
from zero import Tensor
from zero.errors import DTypeError, ShapeError

__all__ = [
    "collate",
    "collate_bytes_fn",
    "collate_float_fn",
    "collate_int_fn",
    "collate_numpy_array_fn",
    "collate_numpy_scalar_fn",
    "collate_str_fn",
    "collate_tensor_fn",
    "default_collate",
    "default_collate_fn_map",
    "default_convert",
]

Functions: TypeAlias = "dict[type | tuple[type, ...], Callable[..., Any]]"

# Makes the tensor of a batch: allocate(shape, dtype). None means zero.empty.
allocate: Callable[[tuple[int, ...], zero.dtype], Tensor] | None = None


def unequal(text: str, position: int) -> ShapeError:
    """The error for samples that make no batch; `position` is the one that is not like the first.

    It is kept with the error, so that the loader can name the sample of the dataset.
    """
    error = ShapeError(text)
    error.position = position  # type: ignore[attr-defined]
    return error


def _empty(shape: tuple[int, ...], dtype: zero.dtype) -> Tensor:
    return zero.empty(shape, dtype=dtype) if allocate is None else allocate(shape, dtype)


def rebuild(data: Any, f: Callable[[Any], Any], tuples: bool = False) -> Any:
    """A container like `data` with f of each of its elements; `data` itself if it is none.

    Containers that can be changed are copied, so that whatever else they know stays.

    Args:
        data: anything.
        f: what becomes of an element.
        tuples: a tuple stays one; else it becomes a list, as in PyTorch's batches.
    """
    kind = type(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: f(data[key]) for key in data})
    if isinstance(data, tuple):
        items = [f(item) for item in data]
        if hasattr(data, "_fields"):
            return kind(*items)
        return kind(items) if tuples else items
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [f(item) for item in data])
    return data


def _like_mapping(data: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    if type(data) is dict:
        return items
    try:
        if isinstance(data, MutableMapping):
            clone = copy.copy(data)
            clone.update(items)
            return clone
        return type(data)(items)  # type: ignore[call-arg]  # or it raises
    except TypeError:
        return items


def _like_sequence(data: Sequence[Any], items: list[Any]) -> Any:
    if type(data) is list:
        return items
    try:
        if isinstance(data, MutableSequence):
            clone = copy.copy(data)
            for i, item in enumerate(items):
                clone[i] = item
            return clone
        return type(data)(items)  # type: ignore[call-arg]  # or it raises
    except TypeError:  # range has no such constructor
        return items


def default_convert(data: Any) -> Any:
    """The data with NumPy's arrays and numbers as tensors; what DataLoader does without batches.

    Args:
        data: one sample: containers of arrays, tensors and anything else, which stays as it is.

    Example:
        >>> import numpy as np
        >>> from zero.utils.data import default_convert
        >>> default_convert({"x": np.array([1, 2]), "name": "a"})
        {'x': tensor([1, 2]), 'name': 'a'}
    """
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUO" else zero.as_tensor(data)
    return rebuild(data, default_convert)


def collate(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Samples to a batch, by a table of functions for the types of their elements.

    Mappings, sequences and named tuples become one of their kind (tuples a list) whose elements
    are batches. Anything else is given to the function of its type, or of the first type in the
    table that it is an instance of: ``f(elements, collate_fn_map=collate_fn_map)``.

    Args:
        batch: the samples, one or more.
        collate_fn_map: the functions.

    Raises:
        DTypeError: a type that no function is for.
        ShapeError: sequences of different lengths.

    Example:
        >>> from zero.utils.data._utils.collate import collate
        >>> def total(elements, *, collate_fn_map=None):
        ...     return sum(elements)
        >>> collate([(1, 2), (3, 4)], collate_fn_map={int: total})
        [4, 6]
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for known, function in collate_fn_map.items():
            if isinstance(first, known):
                return function(batch, collate_fn_map=collate_fn_map)

    def join(elements: Any) -> Any:
        return collate(elements, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _like_mapping(first, {key: join(_values(batch, key)) for key in first})
    if isinstance(first, Sequence) and not isinstance(first, (str, bytes)):
        _check_lengths(batch)
        columns = [join(column) for column in zip(*batch, strict=True)]
        if not isinstance(first, tuple):
            return _like_sequence(first, columns)
        return kind(*columns) if hasattr(first, "_fields") else columns
    raise DTypeError(
        f"default_collate: no batches of such samples; got {kind.__module__}.{kind.__qualname__}, "
        "expected tensors, numpy arrays, numbers, strings, or dicts, tuples and lists of them "
        "(DataLoader(collate_fn=…) takes a function for others)"
    )


def _values(batch: Any, key: Any) -> list[Any]:
    try:
        return [sample[key] for sample in batch]
    except KeyError:
        position = next(i for i, sample in enumerate(batch) if key not in sample)
        raise unequal(
            f"default_collate: samples have different keys; got none {key!r} in sample {position} "
            "of the batch, expected those of sample 0",
            position,
        ) from None


def _check_lengths(batch: Any) -> None:
    length = len(batch[0])
    for position, sample in enumerate(batch):
        if len(sample) != length:
            raise unequal(
                f"default_collate: samples have different lengths; got {length} elements in sample "
                f"0 and {len(sample)} in sample {position} of the batch, expected as many in each "
                "(a collate_fn may pad them)",
                position,
            )


def _unequal(batch: Any) -> ShapeError | None:
    shape = tuple(batch[0].shape)
    for position, sample in enumerate(batch):
        if tuple(sample.shape) != shape:
            return unequal(
                f"default_collate: samples have different shapes; got {shape} in sample 0 and "
                f"{tuple(sample.shape)} in sample {position} of the batch, expected equal ones (a "
                "collate_fn may pad them: zero.nn.utils.rnn.pad_sequence)",
                position,
            )
    return None


def collate_tensor_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Tensor:
    """Tensors, stacked along a new first dimension."""
    out = None
    if allocate is not None and not any(sample.requires_grad for sample in batch):
        dtypes = {sample.dtype for sample in batch}
        if len(dtypes) == 1 and _unequal(batch) is None:
            out = allocate((len(batch), *batch[0].shape), dtypes.pop())
    try:
        return zero.stack(batch, 0, out=out)
    except ShapeError as error:
        raise _unequal(batch) or error from None


_dtypes: dict[Any, zero.dtype] = {}


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Arrays, as one tensor with a new first dimension."""
    first = batch[0]
    kind, shape = first.dtype, first.shape
    if kind.kind in "SUO":
        raise DTypeError(
            f"default_collate: no batches of such arrays; got dtype {kind}, expected numbers"
        )
    if not shape or not all(a.dtype == kind and a.shape == shape for a in batch):
        return collate([zero.as_tensor(a) for a in batch], collate_fn_map=collate_fn_map)
    dtype = _dtypes.get(kind)
    if dtype is None:
        dtype = _dtypes[kind] = zero.from_numpy(np.empty(0, kind)).dtype
    out = _empty((len(batch), *shape), dtype)
    np.concatenate(batch, out=out.numpy().reshape(len(batch) * shape[0], *shape[1:]))
    return out


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Tensor:
    """NumPy's numbers, as a vector of their dtype."""
    return zero.as_tensor(np.array(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Tensor:
    """Floats, as a float64 vector."""
    return zero.tensor(batch, dtype=zero.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Tensor:
    """Ints or bools, as a vector."""
    return zero.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Strings, as they are."""
    return batch


collate_bytes_fn = collate_str_fn

default_collate_fn_map: Functions = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
_as_made = dict(default_collate_fn_map)


def is_default(collate_fn: Any) -> bool:
    """Whether batches come out as PyTorch defines, so that they may be gathered at once."""
    return collate_fn is default_collate and default_collate_fn_map == _as_made


def default_collate(batch: Any) -> Any:
    """Samples to a batch: what DataLoader does if it has no `collate_fn`.

    Tensors and NumPy arrays of equal shapes are stacked along a new first dimension, numbers
    become a vector (floats of Python's a float64 one), strings and bytes a list. Samples that are
    mappings, lists, tuples or named tuples become one of those (tuples a list) of such batches.

    ``default_collate_fn_map`` in ``zero.utils.data._utils.collate`` has a function for each type;
    others can be added to it, see :func:`~zero.utils.data._utils.collate.collate`.

    Args:
        batch: the samples, one or more.

    Raises:
        ShapeError: samples of different shapes, lengths or keys.
        DTypeError: samples of a type without batches.

    Example:
        >>> import zero
        >>> from zero.utils.data import default_collate
        >>> default_collate([(zero.zeros(2), 1), (zero.ones(2), 2)])
        [tensor([[0., 0.],
                [1., 1.]]), tensor([1, 2])]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
