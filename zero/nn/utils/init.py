"""Layers without the work of their starting values."""

from __future__ import annotations

from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["skip_init"]


def skip_init(module_cls: type[Any], *args: Any, **kwargs: Any) -> Any:
    """A layer whose parameters have memory, but no values yet.

    Args:
        module_cls: the class, which takes an argument `device`.
        args: for it.
        kwargs: for it; `device` is where the parameters are.

    Raises:
        ValueError: it is no class of modules, or takes no device.

    Example:
        >>> import zero
        >>> zero.nn.utils.skip_init(zero.nn.Linear, 5, 1)
        Linear(in_features=5, out_features=1, bias=True)
    """
    import inspect

    from zero.nn.module import Module

    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise ValueError(f"skip_init: got {module_cls!r}, expected a class of modules")
    if "device" not in inspect.signature(module_cls).parameters:
        raise ValueError(f"skip_init: {module_cls.__name__} takes no argument device")
    device = kwargs.pop("device", "cpu")
    make: Any = module_cls
    return make(*args, device="meta", **kwargs).to_empty(device=device)
