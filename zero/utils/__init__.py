"""Tools around training."""

from zero.utils import hooks

__all__ = ["hooks"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.utils import _pytree as _pytree
else:

    def __getattr__(name):
        if name == "_pytree":
            from importlib import import_module

            return import_module("zero.utils._pytree")
        raise AttributeError(f"module 'zero.utils' has no attribute {name!r}")
