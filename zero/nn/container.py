"""Modules made of modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import index

from zero.nn.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Sequential"]


class Sequential(Module):
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

    _modules: dict[str, Module]  # type: ignore[assignment]  # a chain has no gaps

    def __init__(self, *args: Module | dict[str, Module]) -> None:
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)  # type: ignore[arg-type]  # append checks each

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def _name(self, position: int) -> str:
        """The name of the module at a position, which counts from the end if negative."""
        i, size = index(position), len(self)
        if not -size <= i < size:
            raise IndexError(f"Sequential: no module at {i}; there are {size}")
        return list(self._modules)[i]

    def _renumber(self, modules: Iterable[Module]) -> None:
        """Takes modules under new names "0", "1", …"""
        modules = list(modules)
        for module in modules:
            if not isinstance(module, Module):
                raise TypeError(f"Sequential: expected Modules; got {type(module).__name__}")
        self.__dict__["_modules"] = {str(i): module for i, module in enumerate(modules)}

    def __getitem__(self, idx: slice | int) -> Sequential | Module:
        if isinstance(idx, slice):
            # Not type(self)(…): a subclass may take other arguments than modules.
            part = type(self).__new__(type(self))
            part.__dict__["_modules"] = dict(list(self._modules.items())[idx])
            part.__dict__["training"] = self.training
            return part
        return self._modules[self._name(idx)]

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

    def insert(self, index: int, module: Module) -> Sequential:
        """Adds a module before a position; names are numbered anew. Returns self."""
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"insert: no position {index}; there are {size} modules")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Adds modules at the end; returns self."""
        for module in sequential:
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Module | Sequential:
        """Removes and returns the module at a position."""
        module = self[key]
        del self[key]
        return module
