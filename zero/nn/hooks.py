"""Hooks of modules: functions that are called beside forward, backward, saving and loading."""

from __future__ import annotations

from zero.utils.hooks import RemovableHandle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import OrderedDict
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "Hooks",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]

# Dicts of hooks are made when they are first asked for; a module without hooks has none. Those of
# the first group make calls of the module look for hooks.
CALL_DICTS = frozenset(
    {
        "_forward_pre_hooks",
        "_forward_pre_hooks_with_kwargs",
        "_forward_hooks",
        "_forward_hooks_with_kwargs",
        "_forward_hooks_always_called",
        "_backward_pre_hooks",
        "_backward_hooks",
    }
)
STATE_DICTS = frozenset(
    {
        "_state_dict_pre_hooks",
        "_state_dict_hooks",
        "_load_state_dict_pre_hooks",
        "_load_state_dict_post_hooks",
    }
)


class Hooks:
    """The part of :class:`Module` that registers hooks."""

    _hooked = False  # whether a call has to look for hooks
    _handle_class = RemovableHandle

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def _make_hook_dict(self, name: str) -> OrderedDict[int, Any]:
        from collections import OrderedDict

        state = self.__dict__
        hooks: OrderedDict[int, Any] = OrderedDict()
        state[name] = hooks
        if name in CALL_DICTS:
            state["_hooked"] = True
        return hooks

    def _add_hook(
        self, op: str, hook: Callable[..., Any], name: str, prepend: bool = False, **flags: bool
    ) -> RemovableHandle:
        if not callable(hook):
            raise TypeError(f"{op}: hook must be callable; got {type(hook).__name__}")
        hooks = getattr(self, name)
        marks = {suffix: getattr(self, f"{name}_{suffix}") for suffix in flags}
        handle = self._handle_class(hooks, extra_dict=marks.values())
        hooks[handle.id] = hook
        for suffix, on in flags.items():
            if on:
                marks[suffix][handle.id] = True
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    # ---- calls ---------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Has a function called before each forward; it may change the arguments.

        Args:
            hook: called as ``hook(module, args)``. It returns None or other arguments: a tuple, or
                the only one.
            prepend: call it before the hooks that there are.
            with_kwargs: call ``hook(module, args, kwargs)``; it returns None or (args, kwargs).

        Returns:
            A handle with ``remove()``.

        Raises:
            TypeError: hook is not callable.

        Example:
            >>> import zero
            >>> layer = zero.nn.Identity()
            >>> handle = layer.register_forward_pre_hook(lambda module, args: args[0] + 1)
            >>> layer(zero.zeros(2))
            tensor([1., 1.])
            >>> handle.remove()
            >>> layer(zero.zeros(2))
            tensor([0., 0.])
        """
        return self._add_hook(
            "register_forward_pre_hook",
            hook,
            "_forward_pre_hooks",
            prepend,
            with_kwargs=with_kwargs,
        )

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Has a function called after each forward; it may change the result.

        Args:
            hook: called as ``hook(module, args, output)``. It returns None or another output.
            prepend: call it before the hooks that there are.
            with_kwargs: call ``hook(module, args, kwargs, output)``.
            always_call: call it even if forward raises; output is None then.

        Returns:
            A handle with ``remove()``.

        Raises:
            TypeError: hook is not callable.

        Example:
            >>> import zero
            >>> layer, seen = zero.nn.Linear(2, 3), []
            >>> def remember(module, args, output):
            ...     seen.append(tuple(output.shape))
            >>> with layer.register_forward_hook(remember):
            ...     y = layer(zero.ones(5, 2))
            >>> seen
            [(5, 3)]
        """
        return self._add_hook(
            "register_forward_hook",
            hook,
            "_forward_hooks",
            prepend,
            with_kwargs=with_kwargs,
            always_called=always_call,
        )

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Has a function called when the gradients of the outputs are known; it may change them.

        Args:
            hook: called as ``hook(module, grad_output)`` with a tuple that has an entry for each
                output, None for what is no tensor or has no gradient. It returns None or other
                gradients, as many.
            prepend: call it before the hooks that there are.

        Returns:
            A handle with ``remove()``.

        Raises:
            TypeError: hook is not callable.

        Example:
            >>> import zero
            >>> layer = zero.nn.Linear(2, 1)
            >>> handle = layer.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 10,))
            >>> layer(zero.ones(1, 2)).sum().backward()
            >>> layer.bias.grad
            tensor([10.])
        """
        return self._add_hook(
            "register_full_backward_pre_hook", hook, "_backward_pre_hooks", prepend
        )

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Has a function called when the gradients of the inputs are known; it may change them.

        If no input requires gradients, it is called when those of the outputs are known. Inputs
        given by keyword don't count. In a module with such a hook tensors go in and out as views,
        which must not be written to in place.

        Args:
            hook: called as ``hook(module, grad_input, grad_output)`` with tuples that have an entry
                for each input and output, None for what is no tensor or has no gradient. It
                returns None or other gradients of the inputs, as many.
            prepend: call it before the hooks that there are.

        Returns:
            A handle with ``remove()``.

        Raises:
            TypeError: hook is not callable.

        Example:
            >>> import zero
            >>> layer, seen = zero.nn.Tanh(), []
            >>> def remember(module, grad_input, grad_output):
            ...     seen.append((grad_input[0].item(), grad_output[0].item()))
            >>> handle = layer.register_full_backward_hook(remember)
            >>> layer(zero.tensor(0.0, requires_grad=True)).backward()
            >>> seen
            [(1.0, 1.0)]
        """
        return self._add_hook("register_full_backward_hook", hook, "_backward_hooks", prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Not available: PyTorch's old form, whose gradients were those of the last operation.

        Raises:
            NotImplementedError: always; register_full_backward_hook has the module's gradients.
        """
        raise NotImplementedError(
            "register_backward_hook: is PyTorch's old form, which is wrong for modules of several "
            "operations; use register_full_backward_hook"
        )

    # ---- state ---------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has ``hook(module, prefix, keep_vars)`` called before state_dict reads the module."""
        return self._add_hook("register_state_dict_pre_hook", hook, "_state_dict_pre_hooks")

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has ``hook(module, state_dict, prefix, local_metadata)`` called after state_dict has
        stored the module and what is below it. The hook changes state_dict in place and returns
        None.
        """

        def checked(*args: object) -> None:
            if hook(*args) is not None:
                raise RuntimeError(
                    "register_state_dict_post_hook: a hook returned something, expected None"
                )

        used = checked if callable(hook) else hook  # what is no function is refused
        return self._add_hook("register_state_dict_post_hook", used, "_state_dict_hooks")

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The same; a hook that returns a dict replaces the state_dict by it."""
        return self._add_hook("_register_state_dict_hook", hook, "_state_dict_hooks")

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has a function called before the module takes its part of a state_dict.

        Args:
            hook: called as ``hook(module, state_dict, prefix, local_metadata, strict,
                missing_keys, unexpected_keys, error_msgs)``; it may change state_dict, which is the
                module's own copy, and add to the lists.

        Example:
            >>> import zero
            >>> def rename(module, state_dict, prefix, *_):
            ...     if prefix + "old" in state_dict:
            ...         state_dict[prefix + "bias"] = state_dict.pop(prefix + "old")
            >>> layer = zero.nn.Linear(2, 1)
            >>> handle = layer.register_load_state_dict_pre_hook(rename)
            >>> layer.load_state_dict({"weight": zero.ones(1, 2), "old": zero.ones(1)})
            <All keys matched successfully>
        """
        return self._add_hook(
            "register_load_state_dict_pre_hook", hook, "_load_state_dict_pre_hooks"
        )

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """The same; the hook gets the module only if asked for."""

        def without_module(module: object, *args: object) -> object:
            return hook(*args)

        used = hook if with_module or not callable(hook) else without_module
        return self._add_hook(
            "_register_load_state_dict_pre_hook", used, "_load_state_dict_pre_hooks"
        )

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has ``hook(module, incompatible_keys)`` called after load_state_dict has gone through the
        module and what is below it. The hook may change the lists missing_keys and unexpected_keys,
        and returns None.
        """
        return self._add_hook(
            "register_load_state_dict_post_hook", hook, "_load_state_dict_post_hooks"
        )


class _HandleOfAll(RemovableHandle):
    def remove(self) -> None:
        super().remove()
        Hooks._hooked = any(GLOBAL.__dict__.values())


class _Everywhere(Hooks):
    """The hooks of all modules, as if of one."""

    _handle_class = _HandleOfAll

    def __getattr__(self, name: str) -> Any:
        if name not in CALL_DICTS:
            raise AttributeError(name)
        from collections import OrderedDict

        hooks = self.__dict__[name] = OrderedDict()
        return hooks

    def _add_hook(self, *args: Any, **flags: Any) -> RemovableHandle:
        handle = super()._add_hook(*args, **flags)
        Hooks._hooked = True  # until the last of them is removed, every call looks for hooks
        return handle


GLOBAL = _Everywhere()


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Has ``hook(module, args)`` called before forward of every module, before its own hooks."""
    return GLOBAL.register_forward_pre_hook(hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Has ``hook(module, args, output)`` called after forward of every module, before its own."""
    return GLOBAL.register_forward_hook(hook, with_kwargs=with_kwargs, always_call=always_call)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Has ``hook(module, grad_output)`` called for every module, before its own hooks."""
    return GLOBAL.register_full_backward_pre_hook(hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Has ``hook(module, grad_input, grad_output)`` called for every module, before its own."""
    return GLOBAL.register_full_backward_hook(hook)
