"""Module, the base class of all layers and models."""

from __future__ import annotations

from zero import Parameter, Tensor, _call_module, _quick_slots
from zero.nn.conversion import Conversion
from zero.nn.hooks import (
    CALL_DICTS,
    STATE_DICTS,
    Hooks,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from zero.nn.parameter import Buffer
from zero.nn.state_dict import Saving

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from typing_extensions import Self

__all__ = [
    "Module",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]


class Module(Conversion, Saving, Hooks):
    """Base class of everything that has parameters.

    A subclass makes its parameters and sub-modules in ``__init__`` by assigning them to attributes,
    and says in :meth:`forward` what it computes. Calling the module calls forward.

    An attribute that is a :class:`Parameter` is a parameter of the module, one that is a Module is
    a sub-module; a Tensor is just an attribute unless it is made a buffer by
    :meth:`register_buffer`.

    Calling ``super().__init__()`` is allowed, but not necessary.

    Example:
        >>> import zero
        >>> class Scale(zero.nn.Module):
        ...     def __init__(self, features):
        ...         self.factor = zero.nn.Parameter(zero.ones(features))
        ...     def forward(self, x):  # [N, features]
        ...         return x * self.factor
        >>> model = Scale(3)
        >>> [name for name, _ in model.named_parameters()]
        ['factor']
        >>> model(zero.ones(2, 3)).shape
        zero.Size([2, 3])
    """

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Module | None]
    _instead = "expected a method forward(self, …) of the class that computes the result"

    # The state is made here and not in __init__, so that a subclass needn't call
    # super().__init__(). Module.__setattr__ sorts attributes into these dicts; other attributes are
    # plain ones.
    def __new__(cls, *args: object, **kwargs: object) -> Self:
        self = super().__new__(cls)
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _modules={},
        )
        return self

    def __init__(self) -> None:
        pass

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the result; each subclass defines its own.

        Raises:
            NotImplementedError: the subclass has none.
        """
        raise NotImplementedError(f"{type(self).__name__}: has no forward(); {self._instead}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _call_module(self, args, kwargs)

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        _quick_slots(cls)

    # What copy and pickle made of older or other states is completed by __new__'s.
    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    # ---- attributes ----------------------------------------------------------------------------

    # Called for what is not found otherwise. The slot of _quick_slots finds members before.
    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        for kind in ("_parameters", "_modules", "_buffers"):
            members = state.get(kind, ())
            if name in members:
                return members[name]
        if name in CALL_DICTS or name in STATE_DICTS:
            return self._make_hook_dict(name)
        raise AttributeError(
            f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self
        )

    def __setattr__(self, name: str, value: object) -> None:
        state = self.__dict__
        if isinstance(value, Parameter):
            self._check_name("register_parameter", name, "_parameters", replace=True)
            _check_parameter(name, value)
            self._forget(name, "_parameters")
            state["_parameters"][name] = value
        elif name in state["_parameters"]:
            if value is not None:
                raise self._wrong_kind(name, value, "parameter", "a Parameter or None")
            state["_parameters"][name] = None
        elif isinstance(value, Module):
            self._check_name("register_module", name, "_modules", replace=True)
            self._forget(name, "_modules")
            state["_modules"][name] = value
        elif name in state["_modules"]:
            if value is not None:
                raise self._wrong_kind(name, value, "sub-module", "a Module or None")
            state["_modules"][name] = None
        elif name in state["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise self._wrong_kind(name, value, "buffer", "a Tensor or None")
            state["_buffers"][name] = value
            if isinstance(value, Buffer):
                self.register_buffer(name, value, value.persistent)
        elif isinstance(value, Tensor) and isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        state = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in state[kind]:
                del state[kind][name]
                state["_non_persistent_buffers_set"].discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        own = [*self.__dict__, *self._parameters, *self._buffers, *self._modules]
        names = {*dir(type(self)), *own}
        return sorted(name for name in names if not name[:1].isdigit())  # those of a Sequential

    def _forget(self, name: str, new_kind: str) -> None:
        """Removes what else has the name that a parameter or sub-module is about to get."""
        state = self.__dict__
        state.pop(name, None)
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind != new_kind:
                state[kind].pop(name, None)
        state["_non_persistent_buffers_set"].discard(name)

    def _wrong_kind(self, name: str, value: object, kind: str, expected: str) -> TypeError:
        return TypeError(
            f"{type(self).__name__}: '{name}' is a {kind}; "
            f"got {type(value).__name__}, expected {expected}"
        )

    def _check_name(self, op: str, name: str, kind: str, replace: bool = False) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{op}: name must be a str; got {type(name).__name__}")
        if name == "":
            raise KeyError(f"{op}: name is empty")
        if "." in name:
            raise KeyError(f"{op}: name must not contain '.'; got {name!r}")
        # An attribute of the object may be replaced; one of the class would still be found first.
        taken = hasattr(type(self), name) if replace else hasattr(self, name)
        if taken and name not in self.__dict__[kind]:
            raise KeyError(f"{op}: {type(self).__name__} has an attribute '{name}' already")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter under a name; None says that there could be one.

        Args:
            name: of the attribute; without dots.
            param: the parameter, a leaf, or None. None is left out of parameters and state_dict.

        Raises:
            KeyError: the name is empty, has a dot, or is taken by something else.
            TypeError: param is something else.
            ValueError: param was computed, so that an optimizer could not update it.
        """
        self._check_name("register_parameter", name, "_parameters")
        _check_parameter(name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that belongs to the module's state, but isn't trained.

        Args:
            name: of the attribute; without dots.
            tensor: the buffer; None is left out of state_dict.
            persistent: whether state_dict holds it.

        Raises:
            KeyError: the name is empty, has a dot, or is taken by something else.
            TypeError: tensor is something else.

        Example:
            >>> import zero
            >>> norm = zero.nn.Module()
            >>> norm.register_buffer("running_mean", zero.zeros(2))
            >>> list(norm.state_dict().items())
            [('running_mean', tensor([0., 0.]))]
        """
        self._check_name("register_buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"register_buffer: '{name}' must be a Tensor or None; got {type(tensor).__name__}"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Adds a sub-module under a name, as assigning it to an attribute does.

        Args:
            name: of the attribute; without dots.
            module: the sub-module or None.

        Raises:
            KeyError: the name is empty, has a dot, or is taken by something else.
            TypeError: module is something else.
        """
        if module is not None and not isinstance(module, Module):
            raise TypeError(
                f"register_module: '{name}' must be a Module or None; got {type(module).__name__}"
            )
        self._check_name("register_module", name, "_modules")
        self._modules[name] = module

    add_module = register_module

    # ---- walking -------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it with their paths, parents first.

        Args:
            memo: modules to leave out.
            prefix: put before each path.
            remove_duplicate: yield a module that is used twice only once.

        Example:
            >>> import zero
            >>> model = zero.nn.Sequential(zero.nn.ReLU(), zero.nn.Sequential(zero.nn.Tanh()))
            >>> [path for path, _ in model.named_modules()]
            ['', '0', '1', '1.0']
        """
        memo = set() if memo is None else memo
        if remove_duplicate:
            if self in memo:
                return
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below it, parents first, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct sub-modules with their names, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct sub-modules, each once."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        owners: Iterable[tuple[str, Module]]
        if recurse:
            owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        else:
            owners = [(prefix, self)]
        for path, module in owners:
            for name, member in module.__dict__[kind].items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their paths.

        Args:
            prefix: put before each path.
            recurse: those of the sub-modules too.
            remove_duplicate: yield a parameter that is used twice only once.

        Example:
            >>> import zero
            >>> model = zero.nn.Sequential(zero.nn.Linear(2, 3), zero.nn.Tanh())
            >>> [(path, tuple(p.shape)) for path, p in model.named_parameters()]
            [('0.weight', (3, 2)), ('0.bias', (3,))]
        """
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once; what an optimizer wants.

        Args:
            recurse: those of the sub-modules too.

        Example:
            >>> import zero
            >>> sum(p.numel() for p in zero.nn.Linear(3, 4).parameters())
            16
        """
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their paths; the arguments are those of :meth:`named_parameters`."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        """The sub-module at a path; the module itself for "".

        Args:
            target: names with dots between them, as :meth:`named_modules` gives them.

        Raises:
            AttributeError: there is none; the message says up to where the path exists.

        Example:
            >>> import zero
            >>> model = zero.nn.Sequential(zero.nn.Linear(2, 3), zero.nn.Tanh())
            >>> model.get_submodule("1")
            Tanh()
        """
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(
                    f"no module at '{target}': {type(module).__name__} has no attribute '{name}'"
                )
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(
                    f"no module at '{target}': '{name}' is not a Module; got "
                    f"{type(module).__name__}"
                )
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Replaces, or adds, the sub-module at a path.

        Args:
            target: names with dots between them.
            module: the new one.
            strict: there must be one already.

        Raises:
            ValueError: target is empty, or module is not a Module.
            AttributeError: the path leads nowhere or to something else than a module.

        Example:
            >>> import zero
            >>> model = zero.nn.Sequential(zero.nn.Linear(2, 3), zero.nn.Tanh())
            >>> model.set_submodule("1", zero.nn.ReLU())
            >>> model[1]
            ReLU()
        """
        if not isinstance(target, str) or target == "":
            raise ValueError(f"set_submodule: target must be a path; got {target!r}")
        if not isinstance(module, Module):
            raise ValueError(
                f"set_submodule: '{target}' must be a Module; got {type(module).__name__}"
            )
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            parent.get_submodule(name)  # raises unless it is a module
        setattr(parent, name, module)

    def _get_member(self, target: str, kind: str, called: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(
                f"no {called} at '{target}': {type(module).__name__} has no attribute '{name}'"
            )
        if name not in module.__dict__[kind]:
            raise AttributeError(f"no {called} at '{target}': '{name}' is not a {called}")
        return module.__dict__[kind][name]

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path such as "encoder.0.weight".

        Raises:
            AttributeError: there is none, or it is not a parameter.
        """
        parameter: Parameter = self._get_member(target, "_parameters", "parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path such as "norm.running_mean".

        Raises:
            AttributeError: there is none, or it is not a buffer.
        """
        buffer: Tensor = self._get_member(target, "_buffers", "buffer")
        return buffer

    # ---- modes --------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], object]) -> Self:
        """Calls fn on every sub-module and on the module itself, children first.

        Example:
            >>> import zero
            >>> def clear(module):
            ...     if isinstance(module, zero.nn.Linear):
            ...         module.bias.data.fill_(0.5)
            >>> model = zero.nn.Sequential(zero.nn.Linear(2, 3)).apply(clear)
            >>> model[0].bias.tolist()
            [0.5, 0.5, 0.5]
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Puts the module and all below it into training mode (or, with False, evaluation mode).

        Raises:
            ValueError: mode is not a bool.
        """
        if not isinstance(mode, bool):
            raise ValueError(f"train: mode must be a bool; got {type(mode).__name__}")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Puts the module and all below it into evaluation mode."""
        return self.train(False)

    # ---- text ----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What repr() shows between the parentheses; layers return their arguments."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        own = self.extra_repr()
        lines = own.split("\n") if own else []
        children = []
        for name, module in self._modules.items():
            children.append(f"({name}): " + repr(module).replace("\n", "\n  "))
        if len(lines) < 2 and not children:
            return f"{self._get_name()}({own})"
        return "\n  ".join([f"{self._get_name()}(", *lines, *children]) + "\n)"


def _check_parameter(name: str, param: Parameter | None) -> None:
    if param is None:
        return
    if not isinstance(param, Parameter):
        raise TypeError(
            f"register_parameter: '{name}' must be a Parameter or None; got {type(param).__name__}"
        )
    if param.grad_fn is not None:
        raise ValueError(
            f"register_parameter: '{name}' is the result of {param.grad_fn.name()}, expected a "
            "leaf; to train what it was computed from, compute it in forward()"
        )


_quick_slots(Module)
