"""Optimizer, the base class of all optimizers."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import wraps
from math import inf

import zero
from zero import Tensor, _drop_grads
from zero.utils.hooks import RemovableHandle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Group: TypeAlias = dict[str, Any]  # "params" and options
    Params: TypeAlias = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Group]
    ParamsT: TypeAlias = Params
else:
    ParamsT = Iterable  # PyTorch's name, which annotations of other optimizers use

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()  # as a default: each group must have this option of its own

_global_optimizer_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Any] = OrderedDict()


def _with_hooks(function: Any) -> Any:
    """A step that calls the hooks, if it is the one of its optimizer's class."""

    @wraps(function)
    def step(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if type(self).step is not step:  # called by the step of a derived class
            return function(self, *args, **kwargs)
        arguments: Any = ((self, *args), kwargs)
        for hooks in (_global_optimizer_pre_hooks, self._hooks("step", "pre")):
            for hook in list(hooks.values()):
                result = hook(self, *arguments)
                if result is None:
                    continue
                if not isinstance(result, tuple) or len(result) != 2:
                    raise zero.errors.Error(
                        f"{type(self).__name__}.step: a hook must return None or (args, kwargs); "
                        f"got {result!r}"
                    )
                arguments = result
        out = function(*arguments[0], **arguments[1])
        for hooks in (self._hooks("step", "post"), _global_optimizer_post_hooks):
            for hook in list(hooks.values()):
                hook(self, *arguments)
        return out

    step.hooked = True  # type: ignore[attr-defined]  # functions take any attribute
    return step


def _call_hooks_in(cls: type[Optimizer]) -> None:
    """From now on; a step costs nothing more as long as nobody has asked for hooks."""
    if not getattr(cls.step, "hooked", False):
        cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]
    for derived in cls.__subclasses__():
        _call_hooks_in(derived)


def _add_hook(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls a function before each step of every optimizer.

    Args:
        hook: called as ``hook(optimizer, args, kwargs)``; it may return other ``(args, kwargs)``.
            The optimizer is the first of the args.

    Returns:
        A handle whose ``remove()`` ends that.

    Example:
        >>> import zero
        >>> from zero.optim.optimizer import register_optimizer_step_pre_hook
        >>> p = zero.nn.Parameter(zero.ones(1))
        >>> handle = register_optimizer_step_pre_hook(lambda o, args, kwargs: print("a step"))
        >>> zero.optim.SGD([p]).step()
        a step
        >>> handle.remove()
    """
    _call_hooks_in(Optimizer)
    return _add_hook(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls a function after each step of every optimizer.

    Args:
        hook: called as ``hook(optimizer, args, kwargs)``.

    Returns:
        A handle whose ``remove()`` ends that.

    Example:
        >>> import zero
        >>> from zero.optim.optimizer import register_optimizer_step_post_hook
        >>> p = zero.nn.Parameter(zero.ones(1))
        >>> handle = register_optimizer_step_post_hook(lambda o, args, kwargs: print("stepped"))
        >>> zero.optim.SGD([p]).step()
        stepped
        >>> handle.remove()
    """
    _call_hooks_in(Optimizer)
    return _add_hook(_global_optimizer_post_hooks, hook)


def _use_grad_for_differentiable(function: Any) -> Any:
    """Decorates a step that autograd records if the option differentiable says so."""

    @wraps(function)
    def step(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        with zero.set_grad_enabled(bool(self.defaults["differentiable"])):
            return function(self, *args, **kwargs)

    return step


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """What optimizers that are written for PyTorch ask: here the plain loop serves."""
    return False, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Devices whose steps can be captured: there are none."""
    return []


class Optimizer:
    """Base class of optimizers: groups of parameters with their options, and state for each
    parameter.

    A subclass hands its options to ``super().__init__`` and defines :meth:`step`.

    Args:
        params: the parameters, (name, parameter) pairs, or dicts: groups with "params" and options
            of their own. A generator will do.
        defaults: options of the groups that don't say otherwise.

    Attributes:
        param_groups: list of dicts; options may be changed between steps.
        state: what the optimizer remembers, a dict for each parameter.
        defaults: as given.

    Raises:
        TypeError: params is a single tensor, or something in it is not a tensor.
        ValueError: there are no parameters; one was computed, or comes twice; an option is missing.

    Example:
        >>> import zero
        >>> class Sign(zero.optim.Optimizer):
        ...     def __init__(self, params, lr=0.1):
        ...         super().__init__(params, {"lr": lr})
        ...     @zero.no_grad()
        ...     def step(self):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 p.sub_(p.grad.sign() * group["lr"])
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -1.0]))
        >>> (p * p).sum().backward()
        >>> Sign([p]).step()
        >>> p.tolist() == zero.tensor([0.9, -0.9]).tolist()
        True
    """

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                f"{type(self).__name__}: params must be an iterable of tensors or of dicts; got a "
                "Tensor, expected a list such as [tensor]"
            )
        if not isinstance(params, Iterable):
            expected = ", expected for example model.parameters()"
            raise TypeError(
                f"{type(self).__name__}: params must be an iterable of tensors or of dicts; got "
                f"{type(params).__name__}{expected}"
            )
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError(
                f"{type(self).__name__}: there are no parameters; if they come from a generator, "
                "it was used up before"
            )
        self.defaults = defaults
        if _global_optimizer_pre_hooks or _global_optimizer_post_hooks:
            _call_hooks_in(type(self))
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[Group] = []
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Adds parameters with options of their own, such as layers to be trained from now on.

        Args:
            param_group: {"params": …} and any options; the rest comes from the defaults.

        Raises: as the constructor; nothing is added then.
        """
        op = f"{type(self).__name__}: "
        if not isinstance(param_group, dict):
            raise TypeError(f"{op}a group must be a dict; got {type(param_group).__name__}")
        if "params" not in param_group:
            raise ValueError(f"{op}a group must have 'params'; got {sorted(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, (set, frozenset)):
            raise TypeError(f"{op}params must be ordered, so that state_dict is; got a set")
        params = list(params)
        named = {}
        if any(isinstance(pair, tuple) for pair in params):
            if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in params):
                raise zero.errors.ValueError(
                    f"{op}params must be tensors, or (name, tensor) pairs throughout"
                )
            named["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        has_names = bool(named) or "param_names" in param_group
        for group in self.param_groups:
            if has_names != ("param_names" in group):
                raise ValueError(f"{op}all groups must give names of parameters, or none")
        taken = {id(p): True for group in self.param_groups for p in group["params"]}
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    f"{op}can update Tensors only; got {type(param).__name__}, expected Tensors, "
                    "such as model.parameters() gives"
                )
            leaf = param.is_leaf or param.retains_grad or self.defaults.get("differentiable")
            if not leaf:
                raise ValueError(
                    f"{op}can't update a tensor that was computed; got the result of "
                    f"{param.grad_fn and param.grad_fn.name()}, expected a leaf"
                )
            if id(param) in taken:
                where = "another group" if taken[id(param)] else "this group"
                raise ValueError(
                    f"{op}a parameter of shape {tuple(param.shape)} is in {where} already; it "
                    "would be updated twice"
                )
            taken[id(param)] = False
        group = {**param_group, "params": params, **named}
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"{op}a group must have {name!r}; got {sorted(group)}")
            group.setdefault(name, default)
        self._check(group)
        param_group.update(group)  # the caller's own dict, who may go on to change it
        self.param_groups.append(param_group)

    def _check(self, options: Group) -> None:
        """Raises ValueError for options that make no sense; subclasses know which."""

    def _check_number(self, name: str, value: object, low: float = 0, high: float = inf) -> None:
        """An option that must be a number, or a tensor of one, in [low, high)."""
        op = type(self).__name__
        if isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError(f"{op}: {name} must have one element; got {tuple(value.shape)}")
        if not hasattr(value, "__float__"):  # a str has none, though float() would read it
            raise TypeError(f"{op}: {name} must be a number; got {type(value).__name__}")
        if not low <= float(value) < high:
            expected = f"{low:g} or more" + (f" and below {high:g}" if high < inf else "")
            raise ValueError(f"{op}: {name} must be {expected}; got {float(value)}")

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates the parameters by their gradients; each subclass defines how.

        Args:
            closure: computes the loss anew, with gradients; what it returns is returned.
        """
        raise NotImplementedError(f"{type(self).__name__}: has no step()")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the gradients of all parameters.

        Args:
            set_to_none: drop them; else fill them with zeros.
        """
        for group in self.param_groups:
            if set_to_none:
                _drop_grads(group["params"])
                continue
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                if grad.requires_grad:  # of create_graph
                    parameter.grad = grad.detach().zero_()
                else:
                    grad.zero_()

    def state_dict(self) -> dict[str, Any]:
        """State and options in PyTorch's layout, with parameters replaced by their numbers.

        The tensors in it are the optimizer's own; clone what shall stay as it is now.

        Returns:
            A dict, ``{"state": {number: {...}}, "param_groups": [{..., "params": [numbers]}]}``.
        """
        for hook in list(self._hooks("state_dict", "pre").values()):
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed = {name: value for name, value in group.items() if name != "params"}
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        state = {
            numbers.get(id(key), key) if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in list(self._hooks("state_dict", "post").values()):
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over state and options; state is copied, and gets its parameter's dtype and device.

        Args:
            state_dict: what :meth:`state_dict` returned, for as many groups of the same sizes.

        Raises:
            TypeError: it is something else, such as the state of a model.
            ValueError: groups differ in number or size. Nothing is changed then.
        """
        op = f"{type(self).__name__}.load_state_dict: "
        if not isinstance(state_dict, dict) or not {"state", "param_groups"} <= state_dict.keys():
            got = type(state_dict).__name__
            if isinstance(state_dict, dict):
                got = f"a dict with the keys {list(state_dict)[:4]}"
            raise TypeError(
                f"{op}not the state of an optimizer; got {got}, expected a dict with 'state' and "
                "'param_groups', such as optimizer.state_dict() returns"
            )
        state_dict = state_dict.copy()
        for hook in list(self._hooks("load_state_dict", "pre").values()):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError(f"{op}got {len(saved)} groups, expected {len(self.param_groups)}")
        params: dict[Any, Tensor] = {}
        for i, (theirs, ours) in enumerate(zip(saved, self.param_groups, strict=True)):
            if len(theirs["params"]) != len(ours["params"]):
                raise ValueError(
                    f"{op}group {i} has another size; got {len(theirs['params'])} parameters, "
                    f"expected {len(ours['params'])}"
                )
            params.update(zip(theirs["params"], ours["params"], strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            param = params.get(key)
            state[key if param is None else param] = _copied(value, param)
        groups = []
        for theirs, ours in zip(saved, self.param_groups, strict=True):
            options = {name: value for name, value in theirs.items() if name != "params"}
            group = {**deepcopy(options), "params": ours["params"]}
            if "param_names" in ours:
                group.setdefault("param_names", ours["param_names"])
            for name, default in self.defaults.items():
                group.setdefault(name, default)
            self._check(group)
            groups.append(group)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in list(self._hooks("load_state_dict", "post").values()):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("defaults", "state", "param_groups")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes over state and groups; derived classes give groups of old versions new options."""
        self.__dict__.update(state)
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    # ---- hooks -----------------------------------------------------------------------------------
    profile_hook_step = staticmethod(_with_hooks)  # decorates a step, as in PyTorch

    def _hooks(self, event: str, time: str) -> OrderedDict[int, Any]:
        name = f"_optimizer_{event}_{time}_hooks"
        hooks: OrderedDict[int, Any] = self.__dict__.setdefault(name, OrderedDict())
        return hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls a function before each step.

        Args:
            hook: called as ``hook(optimizer, args, kwargs)``; it may return other
                ``(args, kwargs)``. The optimizer is the first of the args.

        Returns:
            A handle whose ``remove()`` ends that.
        """
        _call_hooks_in(type(self))
        return _add_hook(self._hooks("step", "pre"), hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls a function after each step.

        Args:
            hook: called as ``hook(optimizer, args, kwargs)``.

        Returns:
            A handle whose ``remove()`` ends that.
        """
        _call_hooks_in(type(self))
        return _add_hook(self._hooks("step", "post"), hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[[Any], Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls a function at the beginning of :meth:`state_dict`.

        Args:
            hook: called as ``hook(optimizer)``.
            prepend: before the hooks that are there, instead of after them.

        Returns:
            A handle whose ``remove()`` ends that.
        """
        return _add_hook(self._hooks("state_dict", "pre"), hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls a function with what :meth:`state_dict` is about to return.

        Args:
            hook: called as ``hook(optimizer, state_dict)``; it may return another one.
            prepend: before the hooks that are there, instead of after them.

        Returns:
            A handle whose ``remove()`` ends that.
        """
        return _add_hook(self._hooks("state_dict", "post"), hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls a function with what :meth:`load_state_dict` got, a shallow copy of it.

        Args:
            hook: called as ``hook(optimizer, state_dict)``; it may return another one.
            prepend: before the hooks that are there, instead of after them.

        Returns:
            A handle whose ``remove()`` ends that.
        """
        return _add_hook(self._hooks("load_state_dict", "pre"), hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[[Any], Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls a function at the end of :meth:`load_state_dict`.

        Args:
            hook: called as ``hook(optimizer)``.
            prepend: before the hooks that are there, instead of after them.

        Returns:
            A handle whose ``remove()`` ends that.
        """
        return _add_hook(self._hooks("load_state_dict", "post"), hook, prepend)

    def _evaluate(self, closure: Callable[[], Tensor]) -> Tensor:
        if not callable(closure):
            raise TypeError(
                f"{type(self).__name__}.step: closure must be a function that computes the loss; "
                f"got {type(closure).__name__}, expected step() after loss.backward()"
            )
        with zero.enable_grad():
            return closure()

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            names = sorted(name for name in group if name != "params")
            lines += [f"    {name}: {group[name]}" for name in names]
        return "\n".join(lines) + "\n)"


def _copied(value: Any, param: Tensor | None, key: str = "") -> Any:
    """A copy of saved state, in the dtype of its floating-point parameter (but for step counts)."""
    if isinstance(value, Tensor):
        if param is None or key == "step":
            return value.clone()
        dtype = param.dtype if param.is_floating_point() else value.dtype
        return value.to(device=param.device, dtype=dtype, copy=True)
    if isinstance(value, dict):
        return {name: _copied(item, param, name) for name, item in value.items()}
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_copied(item, param, key) for item in value)
    return value
