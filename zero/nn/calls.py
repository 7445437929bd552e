"""What a call of a module does beside forward(): hooks, and the path of the module in errors."""

from __future__ import annotations

import warnings
from itertools import pairwise

from zero.nn.hooks import GLOBAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    from zero.nn.backward_hooks import BackwardHooks
    from zero.nn.module import Module

__all__ = ["call_hooked", "name_module"]


def _run_pre_hooks(
    module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    with_kwargs = module._forward_pre_hooks_with_kwargs
    for key, hook in [*GLOBAL._forward_pre_hooks.items(), *module._forward_pre_hooks.items()]:
        if key in with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    f"{type(module).__name__}: a forward pre-hook with kwargs returns None or "
                    f"(args, kwargs); got {type(changed).__name__}"
                )
            args, kwargs = changed
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


def _backward_hooks(module: Module) -> BackwardHooks | None:
    hooks = [*GLOBAL._backward_hooks.values(), *module._backward_hooks.values()]
    pre_hooks = [*GLOBAL._backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
    if not hooks and not pre_hooks:
        return None
    from zero.nn.backward_hooks import BackwardHooks

    return BackwardHooks(module, hooks, pre_hooks)


def call_hooked(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """forward() between the hooks of the module and those of all modules."""
    hooks = [*GLOBAL._forward_hooks.items(), *module._forward_hooks.items()]
    with_kwargs = module._forward_hooks_with_kwargs
    waiting = {  # to be called even after an error
        key: hook
        for key, hook in hooks
        if key in module._forward_hooks_always_called or key in GLOBAL._forward_hooks_always_called
    }
    result: Any = None

    def run(key: int, hook: Callable[..., Any]) -> Any:
        waiting.pop(key, None)
        if key in with_kwargs or key in GLOBAL._forward_hooks_with_kwargs:
            changed = hook(module, args, kwargs, result)
        else:
            changed = hook(module, args, result)
        return result if changed is None else changed

    try:
        args, kwargs = _run_pre_hooks(module, args, kwargs)
        backward_hooks = _backward_hooks(module)
        if backward_hooks is not None:
            args = backward_hooks.enter(args)
        result = module.forward(*args, **kwargs)
        # Read anew: forward() and the hooks may add and remove hooks.
        for key, hook in [*GLOBAL._forward_hooks.items(), *module._forward_hooks.items()]:
            result = run(key, hook)
        return result if backward_hooks is None else backward_hooks.leave(result)
    except Exception:
        for key, hook in list(waiting.items()):
            try:
                result = run(key, hook)
            except Exception as error:
                warnings.warn(
                    f"{type(module).__name__}: a forward hook with always_call=True raised "
                    f"{type(error).__name__}: {error}; the error before it is raised",
                    stacklevel=2,
                )
        raise


def _path(chain: list[Module]) -> str:
    """The path from a module through those that it called, one by the other."""
    names: list[str] = []
    for outer, inner in pairwise(chain):
        for name, module in outer.named_modules(remove_duplicate=False):
            if module is inner:
                names += [name] if name else []  # a module that calls itself
                break
        else:  # no sub-module, but a module from elsewhere
            names.append(f"({type(inner).__name__})")
    return ".".join(names)


def _without_calls(traceback: TracebackType | None) -> None:
    """Takes the extension's part of module calls out of a traceback: three lines for each layer."""
    while traceback is not None:
        inner = traceback.tb_next
        while inner is not None and inner.tb_frame.f_code.co_filename.endswith("_bind/module.pxi"):
            inner = inner.tb_next
        traceback.tb_next = inner
        traceback = inner


def name_module(error: Exception, module: Module, outermost: bool) -> None:
    """Adds to an error which module failed, as a path from the outermost one.

    Args:
        error: what the call of the module raised.
        module: a module that the error passes on its way out, the innermost first.
        outermost: whether no other module called this one.
    """
    state = error.__dict__
    if "_failed_module" in state:
        return
    chain = state.setdefault("_module_chain", [])
    if not chain or chain[0] is not module:
        chain.insert(0, module)
    if not outermost:
        return
    del state["_module_chain"]
    _without_calls(error.__traceback__)
    name = type(chain[-1]).__name__
    path = _path(chain)
    where = f"in module {path} ({name}) of {type(chain[0]).__name__}" if path else f"in {name}"
    state["_failed_module"] = path
    text = error.args[0] if len(error.args) == 1 else None
    # What operators raise says it in the message; of other classes the message may be data.
    if isinstance(error, (RuntimeError, TypeError)) and type(text) is str:
        error.args = (f"{text}\n  {where}",)
    elif hasattr(error, "add_note"):  # from Python 3.11 on
        error.add_note(where)
