"""Tools around training."""

from zero.utils import hooks

__all__ = ["hooks", "summary", "viz", "watch"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.utils import _pytree as _pytree
    from zero.utils import viz
    from zero.utils.module_summary import summary
    from zero.utils.module_watch import watch
else:
    _LAZY = {"summary": "module_summary", "watch": "module_watch"}

    def __getattr__(name):
        """What few programs need is imported when it is asked for."""
        from importlib import import_module

        if name in ("_pytree", "viz"):
            return import_module(f"zero.utils.{name}")
        if name in _LAZY:
            return getattr(import_module(f"zero.utils.{_LAZY[name]}"), name)
        raise AttributeError(f"module 'zero.utils' has no attribute {name!r}")
