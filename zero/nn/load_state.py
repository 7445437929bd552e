"""One load_state_dict, over all modules of a model."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping

import zero
from zero import Tensor
from zero.nn.state_dict import Saving, waits_for_shape, write_member

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Load"]


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict returns: the keys that had no counterpart."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class Load:
    """One load_state_dict: check everything, then write."""

    def __init__(
        self, root: Saving, state_dict: Mapping[str, Any], strict: bool, assign: bool
    ) -> None:
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"load_state_dict: not a state_dict; got {type(state_dict).__name__}, expected a "
                "dict of tensors, such as model.state_dict() returns"
            )
        self.root = root
        self.state_dict = OrderedDict(state_dict)
        self.metadata = getattr(state_dict, "_metadata", None) or {}
        self.strict = strict
        self.assign = assign
        self.incompatible = _IncompatibleKeys([], [])
        self.errors: list[str] = []
        self.writes: list[tuple[Saving, str, Tensor, Tensor]] = []
        self.extras: list[tuple[Saving, object]] = []
        self.hooks: list[tuple[Saving, Callable[..., object]]] = []
        # What undo() writes: member, its class, and values.
        self.before: list[tuple[Saving, str, Tensor, Any, Tensor]] = []

    def check(self) -> None:
        self._visit(self.root, self.state_dict, "")
        if self.errors or not self.hooks:  # hooks may change the lists of keys
            self._raise_faults()

    def write(self) -> None:
        if self.hooks and self.strict and any(self.incompatible):
            for module, name, member, _ in self.writes:
                self._remember(module, name, member)
        with zero.no_grad():
            for module, name, member, value in self.writes:
                write_member(module, name, member, value, self.assign)
        for module, state in self.extras:
            module.set_extra_state(state)
        for module, hook in self.hooks:
            if hook(module, self.incompatible) is not None:
                raise RuntimeError(
                    "register_load_state_dict_post_hook: a hook returned something, expected None; "
                    "it changes incompatible_keys in place"
                )
        self._raise_faults()

    def undo(self) -> None:
        with zero.no_grad():
            for module, name, member, cls, value in reversed(self.before):
                if waits_for_shape(cls):
                    cls.forget(member, value)
                else:
                    member.copy_(value)
                setattr(module, name, member)

    def _remember(self, module: Saving, name: str, member: Tensor) -> None:
        cls = type(member)
        value = member.data if waits_for_shape(cls) else member.detach().clone()
        self.before.append((module, name, member, cls, value))

    def _visit(self, module: Saving, state_dict: dict[str, Any], prefix: str) -> None:
        local = dict(self.metadata.get(prefix[:-1], {}))
        if self.assign:
            local["assign_to_params_buffers"] = True
        waits = type(module)._load_from_state_dict is Saving._load_from_state_dict
        if waits:
            local["load"] = self
        for name, member in module._own_state().items():
            if not waits or waits_for_shape(type(member)):  # a hook gives it its shape at once
                self._remember(module, name, member)
        # Always as if strict: the keys are returned in any case.
        missing, unexpected = self.incompatible
        module._load_from_state_dict(
            state_dict, prefix, local, True, missing, unexpected, self.errors
        )
        for name, child in module._modules.items():
            if child is not None:
                start = f"{prefix}{name}."
                part = OrderedDict((k, v) for k, v in state_dict.items() if k.startswith(start))
                self._visit(child, part, start)
        for hook in module.__dict__.get("_load_state_dict_post_hooks", {}).values():
            self.hooks.append((module, hook))

    def _raise_faults(self) -> None:
        faults = []
        if self.strict:
            for what, keys in zip(("Missing", "Unexpected"), self.incompatible, strict=True):
                if keys:
                    listed = ", ".join(f'"{key}"' for key in keys)
                    faults.append(f"{what} key(s) in state_dict: {listed}.")
        faults += self.errors
        if faults:
            raise RuntimeError(
                "load_state_dict: Error(s) in loading state_dict for "
                f"{type(self.root).__name__}:" + "".join(f"\n\t{fault}" for fault in faults)
            )
