"""ParameterList and ParameterDict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping
from operator import index

from zero import Parameter, Tensor
from zero.nn.container import pairs_of
from zero.nn.module import Module

__all__ = ["ParameterDict", "ParameterList"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self


def _as_parameter(value: object) -> object:
    """Tensors become parameters, other things remain what they are."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _line(key: object, value: object, dtype: str) -> str:
    if isinstance(value, Tensor):
        size = "x".join(map(str, value.shape))
        return f"  ({key}): {type(value).__name__} containing: [{dtype} of size {size}]"
    return f"  ({key}): Object of type: {type(value).__name__}"


def _old_name(value: object) -> str:
    """Of a tensor's dtype, as PyTorch shows it in dicts, but not in lists."""
    name = str(getattr(value, "dtype", "")).rpartition(".")[2]
    names = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16"}
    return f"zero.{names.get(name, name.capitalize())}Tensor"


class _Container(Module):
    def __call__(self, *args: object, **kwargs: object) -> object:
        raise RuntimeError(f"{type(self).__name__}: can't be called; it holds parameters only")


class ParameterList(_Container):
    """A list of parameters that are those of the module which owns it.

    Tensors become parameters; what is no tensor is kept as it is.

    Args:
        values: to begin with.

    Example:
        >>> import zero
        >>> weights = zero.nn.ParameterList([zero.ones(2), zero.zeros(3)])
        >>> weights.append(zero.ones(1))
        ParameterList(
            (0): Parameter containing: [zero.float32 of size 2]
            (1): Parameter containing: [zero.float32 of size 3]
            (2): Parameter containing: [zero.float32 of size 1]
        )
        >>> len(list(weights.parameters()))
        3
    """

    _size = 0

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        if values is not None:
            self.extend(values)

    def _name(self, position: int) -> str:
        i, size = index(position), len(self)
        if not -size <= i < size:
            raise IndexError(f"{type(self).__name__}: no parameter at {i}; there are {size}")
        return str(i % size)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __getitem__(self, idx: slice | int) -> object:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return getattr(self, self._name(idx))

    def __setitem__(self, idx: int, param: object) -> None:
        setattr(self, self._name(idx), _as_parameter(param))

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def append(self, value: object) -> Self:
        """Adds a value at the end; returns self."""
        setattr(self, str(len(self)), _as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Adds values at the end; returns self.

        Raises:
            TypeError: values is a tensor, or no iterable.
        """
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend: expected an iterable of values; "
                f"got {type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(
            _line(i, value, str(getattr(value, "dtype", ""))) for i, value in enumerate(self)
        )


class ParameterDict(_Container):
    """A dict of parameters, in the order of insertion, that are those of the module which owns it.

    Tensors become parameters; what is no tensor is kept as it is.

    Args:
        parameters: a mapping, or pairs of key and value.

    Example:
        >>> import zero
        >>> scales = zero.nn.ParameterDict({"left": zero.ones(2)})
        >>> scales["right"] = zero.zeros(3)
        >>> [name for name, _ in scales.named_parameters()]
        ['left', 'right']
    """

    def __init__(self, parameters: Mapping[str, Any] | Iterable[Any] | None = None) -> None:
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key: object) -> str:
        if not isinstance(key, str):
            raise TypeError(
                f"{type(self).__name__}: keys are attribute names; got {type(key).__name__}, "
                "expected str"
            )
        # Without the check a key such as "train" would replace a method.
        if key not in self._keys and hasattr(type(self), key):
            raise KeyError(f"{type(self).__name__}: has an attribute '{key}' already")
        return key

    def __getitem__(self, key: str) -> object:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: object) -> None:
        setattr(self, self._attribute(key), _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> KeysView[str]:
        """The keys."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """The values."""
        return [self[key] for key in self._keys]

    def items(self) -> Iterable[tuple[str, object]]:
        """Pairs of key and value."""
        return [(key, self[key]) for key in self._keys]

    def copy(self) -> ParameterDict:
        """Another dict with the same parameters."""
        return ParameterDict(self.items())

    def get(self, key: str, default: object = None) -> object:
        """The value of a key, or the default if there is none."""
        return self[key] if key in self else default

    def setdefault(self, key: str, default: object = None) -> object:
        """The value of a key; if there is none, the default is stored first."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Removes everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> object:
        """Removes a key and returns its value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, object]:
        """Removes the last key and returns it with its value."""
        if not self._keys:
            raise KeyError(f"{type(self).__name__}.popitem: there is nothing to remove")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def fromkeys(self, keys: Iterable[str], default: object = None) -> ParameterDict:
        """A new dict with these keys and one value."""
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters: Mapping[str, Any] | Iterable[Any]) -> None:
        """Adds values, and replaces those whose keys are there already.

        Raises:
            TypeError: parameters is neither a mapping nor made of pairs.
            ValueError: an entry is no pair.
        """
        for key, value in pairs_of(f"{type(self).__name__}.update", parameters):
            self[key] = value

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        joined = ParameterDict(other)
        joined.update(self)
        return joined

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_line(key, value, _old_name(value)) for key, value in self.items())
