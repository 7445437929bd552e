"""Handles by which hooks are removed again."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import weakref
    from collections.abc import Iterable, MutableMapping
    from typing import Any, TypeAlias

    Hooks: TypeAlias = MutableMapping[int, Any]

__all__ = ["RemovableHandle"]


class RemovableHandle:
    """Stands for an entry of a dict of hooks; :meth:`remove` takes the entry out.

    The dicts are referenced weakly: a handle keeps neither hooks nor their owner alive. As a
    context manager it removes the hook at the end of the block.

    Args:
        hooks_dict: where the hook is (to be) stored under the handle's ``id``.
        extra_dict: a dict, or several, that may have an entry of the same id, which goes too.

    Attributes:
        id: the key; no two handles of a process have the same.

    Example:
        >>> from collections import OrderedDict
        >>> from zero.utils.hooks import RemovableHandle
        >>> hooks = OrderedDict()
        >>> handle = RemovableHandle(hooks)
        >>> hooks[handle.id] = print
        >>> handle.remove()
        >>> len(hooks)
        0
    """

    id: int
    next_id: int = 0

    def __init__(
        self, hooks_dict: Hooks, *, extra_dict: Hooks | Iterable[Hooks] | None = None
    ) -> None:
        import weakref

        extra: Any = [extra_dict] if isinstance(extra_dict, dict) else extra_dict or ()
        self.hooks_dict_ref: weakref.ref[Hooks] = weakref.ref(hooks_dict)
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extra)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self) -> None:
        """Removes the hook; a second time does nothing."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        return (self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        import weakref
        from collections import OrderedDict

        hooks, self.id, extra = state
        # A dict that had ended by then is replaced by an empty one, which ends at once.
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if d is None else d) for d in extra)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()
