"""The recorded graph: its nodes, and hooks on what they save."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from zero import (
    Tensor,
    _increment_version,
    _Node,
    _pop_saved_tensors_hooks,
    _push_saved_tensors_hooks,
    _saved_tensors_hooks_disabled,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "Node",
    "disable_saved_tensors_hooks",
    "increment_version",
    "save_on_cpu",
    "saved_tensors_hooks",
]

Node = _Node


class saved_tensors_hooks:
    """Context manager: what operations save for backward goes through a pair of functions.

    Args:
        pack_hook: gets each tensor at the time it is saved, which it must not change, and returns
            anything in its place.
        unpack_hook: gets what pack_hook returned, and returns the tensor when backward needs it.

    Pairs may be nested; the innermost is used, for operations of this thread.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0], requires_grad=True)
        >>> with zero.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), zero.tensor):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([2., 4.])
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception: object) -> None:
        _pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Context manager that keeps saved tensors on the CPU.

    zero computes on the CPU, so it leaves each tensor where it is; programs that use it run as
    they are.

    Args:
        pin_memory: must be False; there is no device to copy to from pinned memory.
        device_type: ignored by definition: nothing moves.

    Example:
        >>> import zero
        >>> x = zero.ones(2, requires_grad=True)
        >>> with zero.autograd.graph.save_on_cpu():
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([2., 2.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cpu") -> None:
        if pin_memory:
            raise NotImplementedError(
                "save_on_cpu: there is no pinned memory; got pin_memory=True, expected False"
            )
        if device_type != "cpu":
            raise NotImplementedError(
                f"save_on_cpu: no such device; got {device_type!r}, expected 'cpu'"
            )
        super().__init__(_same, _same)


def _same(x: Tensor) -> Tensor:
    return x


class disable_saved_tensors_hooks:
    """Context manager or decorator under which :class:`saved_tensors_hooks` raises.

    Args:
        error_message: of the RuntimeError.

    Example:
        >>> import zero
        >>> with zero.autograd.graph.disable_saved_tensors_hooks("not here"):
        ...     with zero.autograd.graph.save_on_cpu():
        ...         pass
        Traceback (most recent call last):
        ...
        RuntimeError: not here
    """

    def __init__(self, error_message: str) -> None:
        if not isinstance(error_message, str):
            raise TypeError(
                "disable_saved_tensors_hooks: error_message is not a string; got "
                f"{type(error_message).__name__}, expected str"
            )
        self.error_message = error_message
        self._before: list[str | None] = []

    def __enter__(self) -> None:
        self._before.append(_saved_tensors_hooks_disabled(self.error_message))

    def __exit__(self, *exception: object) -> None:
        _saved_tensors_hooks_disabled(self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import functools

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with disable_saved_tensors_hooks(self.error_message):
                return function(*args, **kwargs)

        return call


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Counts a write in place that autograd did not see, such as one through a pointer.

    Args:
        tensor: what was written to; one tensor or several.

    Example:
        >>> import zero
        >>> x = zero.ones(2)
        >>> zero.autograd.graph.increment_version(x)
        >>> x._version
        1
    """
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        _increment_version(t)
