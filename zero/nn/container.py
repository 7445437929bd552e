"""Modules made of modules: Sequential, ModuleList and ModuleDict."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import groupby
from operator import index

from zero.nn.module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self


class _Modules(Module):
    """Modules by position, named "0", "1", … unless other names were given."""

    _modules: dict[str, Module]  # type: ignore[assignment]  # nobody asks for None

    if TYPE_CHECKING:

        def __getitem__(self, idx: Any) -> Any: ...
        def append(self, module: Module) -> Self: ...

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def _name(self, position: int) -> str:
        """The name of the module at a position, which counts from the end if negative."""
        i, size = index(position), len(self)
        if not -size <= i < size:
            raise IndexError(f"{type(self).__name__}: no module at {i}; there are {size}")
        return list(self._modules)[i]

    def _checked(self, modules: Iterable[Module]) -> list[Module]:
        modules = list(modules)
        for module in modules:
            if module is not None and not isinstance(module, Module):
                raise TypeError(f"{type(self).__name__}: not a Module; {self._wrong(module)}")
        return modules

    def _wrong(self, given: object) -> str:
        name = type(self).__name__
        if isinstance(given, type) and issubclass(given, Module):
            return (
                f"got the class {given.__name__}, expected a layer made by it: {given.__name__}(…)"
            )
        got = f"got {type(given).__name__}, expected "
        if isinstance(given, (list, tuple)) and isinstance(self, Sequential):
            return f"{got}one argument per Module: {name}(*layers)"
        if callable(given) and not isinstance(given, type):
            return f"{got}a Module; a function can be called in forward()"
        return f"{got}Modules"

    def _renumber(self, modules: Iterable[Module]) -> None:
        """Takes modules under new names "0", "1", …"""
        modules = self._checked(modules)
        self.__dict__["_modules"] = {str(i): module for i, module in enumerate(modules)}

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._name(idx), module)

    def __delitem__(self, idx: slice | int) -> None:
        modules = list(self)
        if isinstance(idx, slice):
            del modules[idx]
        else:
            self._name(idx)  # checks
            del modules[idx]
        self._renumber(modules)

    def insert(self, index: int, module: Module) -> Self:
        """Adds a module before a position; names are numbered anew. Returns self."""
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"insert: no position {index}; there are {size} modules")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds modules at the end; returns self."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend: expected an iterable of Modules; "
                f"got {type(modules).__name__}"
            )
        for module in self._checked(modules):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Module | Self:
        """Removes and returns the module at a position."""
        module: Module | Self = self[key]
        del self[key]
        return module


class Sequential(_Modules):
    """A chain of modules: each gets the result of the one before it.

    Args:
        args: the modules, named "0", "1", …; or one dict of modules by name.

    Example:
        >>> import zero
        >>> model = zero.nn.Sequential(zero.nn.Linear(2, 3), zero.nn.ReLU(), zero.nn.Linear(3, 1))
        >>> model(zero.zeros(5, 2)).shape
        zero.Size([5, 1])
        >>> model[:2]
        Sequential(
          (0): Linear(in_features=2, out_features=3, bias=True)
          (1): ReLU()
        )
    """

    def __init__(self, *args: Module | dict[str, Module]) -> None:
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)  # type: ignore[arg-type]  # it checks each

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, idx: slice | int) -> Sequential | Module:
        if isinstance(idx, slice):
            # Not type(self)(…): a subclass may take other arguments than modules.
            part = type(self).__new__(type(self))
            part.__dict__["_modules"] = dict(list(self._modules.items())[idx])
            part.__dict__["training"] = self.training
            return part
        return self._modules[self._name(idx)]

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            return NotImplemented
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            return NotImplemented
        return self.extend(list(other))

    def __mul__(self, other: int) -> Sequential:
        """The chain repeated, with the same modules."""
        if not isinstance(other, int):
            return NotImplemented
        if other <= 0:
            raise ValueError(f"Sequential: can be repeated a positive number of times; got {other}")
        return Sequential(*(list(self) * other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        repeated = self.__mul__(other)
        return repeated if repeated is NotImplemented else self.extend(list(repeated)[len(self) :])

    def append(self, module: Module) -> Sequential:
        """Adds a module at the end; returns self."""
        number = len(self)
        while str(number) in self._modules:  # model[1:] keeps the names "1", "2", …
            number += 1
        self.add_module(str(number), module)
        return self


class ModuleList(_Modules):
    """A list of modules whose parameters are those of the list.

    It has no forward; the module that owns it says what happens.

    Args:
        modules: to begin with.

    Example:
        >>> import zero
        >>> class Deep(zero.nn.Module):
        ...     def __init__(self):
        ...         self.layers = zero.nn.ModuleList(zero.nn.Linear(4, 4) for _ in range(3))
        ...     def forward(self, x):
        ...         for layer in self.layers:
        ...             x = x + layer(x).tanh()
        ...         return x
        >>> Deep()
        Deep(
          (layers): ModuleList(
            (0-2): 3 x Linear(in_features=4, out_features=4, bias=True)
          )
        )
    """

    _instead = "call the modules in it, or chain them by Sequential"

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: slice | int) -> ModuleList | Module:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return self._modules[self._name(idx)]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)

    def append(self, module: Module) -> Self:
        """Adds a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> None:  # type: ignore[override]
        """Adds a module before a position."""
        super().insert(index, module)

    def __repr__(self) -> str:
        lines, start = [], 0
        for text, equal in groupby(map(repr, self)):
            n = len(list(equal))
            line = f"({start}): {text}" if n == 1 else f"({start}-{start + n - 1}): {n} x {text}"
            lines.append(line.replace("\n", "\n  "))
            start += n
        if not lines:
            return f"{self._get_name()}()"
        return "\n  ".join([f"{self._get_name()}(", *lines]) + "\n)"


class ModuleDict(Module):
    """A dict of modules, in the order of insertion, whose parameters are those of the dict.

    Args:
        modules: a mapping from names to modules, or pairs of them.

    Example:
        >>> import zero
        >>> heads = zero.nn.ModuleDict({"policy": zero.nn.Linear(4, 2)})
        >>> heads["value"] = zero.nn.Linear(4, 1)
        >>> {name: head(zero.ones(4)).shape for name, head in heads.items()}
        {'policy': zero.Size([2]), 'value': zero.Size([1])}
    """

    _modules: dict[str, Module]  # type: ignore[assignment]  # nobody asks for None
    _instead = "call the modules in it"

    def __init__(
        self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None
    ) -> None:
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Removes all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Removes and returns a module."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def items(self) -> ItemsView[str, Module]:
        """Pairs of name and module."""
        return self._modules.items()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Adds modules, and replaces those whose names are there already.

        Args:
            modules: a mapping, another ModuleDict, or pairs of name and module.

        Raises:
            TypeError: modules is something else.
            ValueError: an entry is no pair.
        """
        for key, module in pairs_of(f"{type(self).__name__}.update", modules):
            self[key] = module


def pairs_of(op: str, entries: Any) -> list[tuple[Any, Any]]:
    """The (key, value) pairs of a mapping or of what lists them, checked."""
    if isinstance(entries, (Mapping, Module)) and hasattr(entries, "items"):
        return list(entries.items())
    if not isinstance(entries, Iterable):
        raise TypeError(f"{op}: expected a mapping or pairs; got {type(entries).__name__}")
    pairs: list[tuple[Any, Any]] = []
    for i, pair in enumerate(entries):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{op}: entry {i} is no pair; got {type(pair).__name__}")
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(f"{op}: entry {i} is no pair; got {len(pair)} elements")
        pairs.append((pair[0], pair[1]))
    return pairs
