"""state_dict and load_state_dict: what a module has learned, in and out."""

from __future__ import annotations

import zero
from zero import Parameter, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zero.nn.load_state import _IncompatibleKeys

__all__ = ["Saving", "waits_for_shape", "write_member"]

EXTRA = "_extra_state"


class Saving:
    """The part of :class:`Module` that saves and loads."""

    # A class whose keys change counts this up; loading gets it as local_metadata["version"].
    _version: int = 1

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Any]

    def get_extra_state(self) -> object:
        """What else state_dict shall hold; who defines this defines set_extra_state too.

        Example:
            >>> import zero
            >>> class Counter(zero.nn.Module):
            ...     count = 0
            ...     def get_extra_state(self):
            ...         return {"count": self.count}
            ...     def set_extra_state(self, state):
            ...         self.count = state["count"]
            >>> dict(Counter().state_dict())
            {'_extra_state': {'count': 0}}
        """
        raise NotImplementedError(f"{type(self).__name__}: has no get_extra_state()")

    def set_extra_state(self, state: object) -> None:
        """Takes what get_extra_state returned."""
        raise NotImplementedError(
            f"{type(self).__name__}: the state_dict has extra state, but there is no "
            "set_extra_state() to take it"
        )

    def _own_state(self) -> dict[str, Tensor]:
        """The parameters and persistent buffers of this module alone."""
        members: dict[str, Tensor] = {k: v for k, v in self._parameters.items() if v is not None}
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                members[name] = buffer
        return members

    # ---- saving --------------------------------------------------------------------------------

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        """Stores what this module alone has; a subclass may store it differently."""
        for name, member in self._own_state().items():
            keeps = keep_vars or waits_for_shape(type(member))
            destination[prefix + name] = member if keeps else member.detach()
        if type(self).get_extra_state is not Saving.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def state_dict(
        self,
        *args: object,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """All parameters and persistent buffers by path.

        The tensors share memory with the module's; clone what shall stay as it is now. The
        attribute ``_metadata`` of the result holds the version of each module.

        Args:
            args: destination, prefix and keep_vars by position, as in old programs.
            destination: a dict to fill instead of a new one.
            prefix: put before each key.
            keep_vars: the parameters themselves instead of tensors without gradient.

        Example:
            >>> import zero
            >>> list(zero.nn.Linear(2, 3).state_dict())
            ['weight', 'bias']
        """
        if args:
            if len(args) > 3:
                raise TypeError(f"state_dict: takes up to 3 positional arguments; got {len(args)}")
            given: list[Any] = [destination, prefix, keep_vars]
            given[: len(args)] = list(args)
            destination, prefix, keep_vars = given
        if destination is None:
            from collections import OrderedDict

            destination = OrderedDict()
            destination.__dict__["_metadata"] = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        state = self.__dict__
        for hook in list(state.get("_state_dict_pre_hooks", {}).values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in list(state.get("_state_dict_hooks", {}).values()):
            changed = hook(self, destination, prefix, local_metadata)
            if changed is not None:
                destination = changed
        return destination

    # ---- loading -------------------------------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Takes parameters and buffers from what :meth:`state_dict` returned.

        All keys and shapes are checked before anything is written.

        Args:
            state_dict: tensors by path.
            strict: missing and unexpected keys are errors; else they are only returned.
            assign: put the given tensors into the module instead of copying their values, so that
                their dtype and device come along. Optimizers must be made after that.

        Returns:
            A named tuple of the lists missing_keys and unexpected_keys.

        Raises:
            TypeError: state_dict is not a mapping.
            RuntimeError: keys or shapes don't fit; the message lists all of them.

        Example:
            >>> import zero
            >>> a, b = zero.nn.Linear(2, 3), zero.nn.Linear(2, 3)
            >>> b.load_state_dict(a.state_dict())
            <All keys matched successfully>
            >>> bool((a.weight == b.weight).all())
            True
        """
        from zero.nn.load_state import Load

        load = Load(self, state_dict, strict, assign)
        try:
            load.check()
            load.write()
        except BaseException:
            load.undo()
            raise
        return load.incompatible

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Takes what belongs to this module alone; a subclass may change state_dict before.

        Faults are added to the three lists, and nothing raises. As the method of Module itself is
        followed by nothing, its writes wait until all modules have been checked; those of a
        subclass's method are done at once, and undone when a later module has faults.
        """
        for hook in list(self.__dict__.get("_load_state_dict_pre_hooks", {}).values()):
            hook(
                self,
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        assign = local_metadata.get("assign_to_params_buffers", False)
        load = local_metadata.get("load")
        members = self._own_state()
        names = set(members)
        has_extra = type(self).set_extra_state is not Saving.set_extra_state
        for name, member in members.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            value = state_dict[key]
            if not isinstance(value, Tensor):
                error_msgs.append(f"{key}: got {type(value).__name__}, expected a Tensor")
                continue
            lazy = [waits_for_shape(type(tensor)) for tensor in (member, value)]
            if any(lazy):
                if not all(lazy):
                    error_msgs.append(
                        f"{key}: only one of the two has a shape; got {type(value).__name__} in "
                        f"the state_dict, expected one like the model's {type(member).__name__}"
                    )
                continue
            if member.dim() == 0 and value.dim() == 1 and len(value) == 1:
                value = value[0]  # as files of old programs have it
            if value.shape != member.shape:
                error_msgs.append(
                    f"size mismatch for {key}: got shape {tuple(value.shape)} in the state_dict, "
                    f"expected {tuple(member.shape)} of the model"
                )
            elif load is None:
                with zero.no_grad():
                    write_member(self, name, member, value, assign)
            else:
                load.writes.append((self, name, member, value))
        key = prefix + EXTRA
        if has_extra or type(self).get_extra_state is not Saving.get_extra_state:
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
            elif load is None:
                self.set_extra_state(state_dict[key])
            else:
                load.extras.append((self, state_dict[key]))
            names.add(EXTRA)
        if strict:
            for key in state_dict:
                if key.startswith(prefix):
                    name, dot, _ = key[len(prefix) :].partition(".")
                    if name not in self._modules if dot else name not in names:
                        unexpected_keys.append(key)


def waits_for_shape(tensor_class: type) -> bool:
    """What zero.nn.lazy.is_lazy tells of a tensor of this class, without its import."""
    return hasattr(tensor_class, "cls_to_become")


def write_member(module: Saving, name: str, member: Tensor, value: Tensor, assign: bool) -> None:
    if not assign:
        member.copy_(value)
    elif not isinstance(member, Parameter):
        setattr(module, name, value)
    elif isinstance(value, Parameter):
        setattr(module, name, value.requires_grad_(member.requires_grad))
    else:
        setattr(module, name, Parameter(value, member.requires_grad))
