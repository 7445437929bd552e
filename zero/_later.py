"""Names that few programs use: their modules are imported when one of them is first asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Method", "attributes", "missing"]


def import_module(name: str) -> Any:
    from importlib import import_module

    return import_module(name)


def attributes(
    package: str, now: list[str], *, modules: str = "", names: dict[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    What ``__getattr__`` finds becomes an ordinary attribute.

    Args:
        package: its name.
        now: the public names that it has already.
        modules: other modules in it that are public.
        names: the public names in each of the rest of its modules.
    """
    homes = {module: f"{package}.{module}" for module in (*modules.split(), *names)}
    public = [*now, *modules.split()]
    for module, found_there in names.items():
        homes.update(dict.fromkeys(found_there.split(), f"{package}.{module}"))
        public += found_there.split()
    attributes = import_module(package).__dict__
    lacking = missing(package)

    def __getattr__(name: str) -> Any:
        if name not in homes:
            lacking(name)
        module = import_module(homes[name])
        value = module if module.__name__ == f"{package}.{name}" else getattr(module, name)
        attributes[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*attributes, *homes})

    return __getattr__, __dir__, sorted(public)


def missing(module: str) -> Callable[[str], Any]:
    """``__getattr__`` of a module that has all its names: it raises, see :mod:`zero._missing`."""

    def __getattr__(name: str) -> Any:
        from zero._missing import no_attribute

        raise no_attribute(module, name)

    return __getattr__


class Method:
    """Stands in the place of a method of Tensor until someone asks for it.

    The module it is in then attaches the method itself, so that later calls are those of any other.
    """

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __get__(self, tensor: object, owner: type) -> Any:
        import_module(self.module)
        return getattr(owner if tensor is None else tensor, self.name)

    def __set__(self, tensor: object, value: object) -> None:
        import_module(self.module)
        setattr(tensor, self.name, value)
