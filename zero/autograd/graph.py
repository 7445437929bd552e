"""The recorded graph: its nodes, and hooks on what they save."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from zero import (
    Tensor,
    _current_pass,
    _gradient_edge,
    _increment_version,
    _Node,
    _pass_reaches,
    _pop_saved_tensors_hooks,
    _push_saved_tensors_hooks,
    _saved_tensors_hooks_disabled,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

Node = _Node


class GradientEdge(tuple):  # type: ignore[type-arg]
    """Where a gradient goes: a node, and which of its outputs the gradient is for.

    :func:`zero.autograd.grad` and :func:`zero.autograd.backward` take it in place of a tensor,
    which then need not be kept.

    Args:
        node: a node of the graph.
        output_nr: the number of its output.
        ownership_token: what keeps the node alive; zero's nodes do that themselves.
    """

    __slots__ = ()
    _fields = ("node", "output_nr", "ownership_token")

    def __new__(
        cls, node: _Node, output_nr: int, ownership_token: _Node | None = None
    ) -> GradientEdge:
        return tuple.__new__(cls, (node, output_nr, ownership_token))

    def __repr__(self) -> str:
        return f"GradientEdge(node={self.node}, output_nr={self.output_nr})"

    node = property(itemgetter(0))
    output_nr = property(itemgetter(1))
    ownership_token = property(itemgetter(2))


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of a tensor goes.

    Args:
        tensor: a leaf or a result that needs a gradient.

    Raises:
        RuntimeError: it needs none.

    Example:
        >>> import zero
        >>> x = zero.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> edge = zero.autograd.graph.get_gradient_edge(y)
        >>> z = y * 2
        >>> del y
        >>> zero.autograd.grad(z, edge)
        (tensor(2.),)
    """
    return GradientEdge(*_gradient_edge(tensor))


class _MultiHandle:
    """Removes the hooks of :func:`register_multi_grad_hook`."""

    def __init__(self, handles: tuple[Any, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> _MultiHandle:
    """Calls a function when the gradients of several tensors are there.

    Args:
        tensors: each needs a gradient.
        fn: with mode "all" it gets, once in each backward pass that comes by one of the tensors, a
            list with a gradient for each tensor, None for those that the pass doesn't come by. With
            mode "any" it gets the first of these gradients alone. What it returns is ignored.
        mode: "all" or "any".

    Returns:
        A handle with ``remove()``; as a context manager it removes the hook at the end.

    Raises:
        RuntimeError: a tensor needs no gradient.
        ValueError: an unknown mode.

    Example:
        >>> import zero
        >>> a = zero.tensor(2.0, requires_grad=True)
        >>> b = zero.tensor(3.0, requires_grad=True)
        >>> hook = lambda grads: print([g.item() for g in grads])
        >>> handle = zero.autograd.graph.register_multi_grad_hook([a, b], hook)
        >>> (a * b).backward()
        [3.0, 2.0]
    """
    from threading import Lock

    if mode not in ("all", "any"):
        raise ValueError(
            f"register_multi_grad_hook: unknown mode; got {mode!r}, expected 'all' or 'any'"
        )
    tensors = tuple(tensors)
    nodes = [get_gradient_edge(t).node for t in tensors]
    lock = Lock()
    passes: dict[int, list[Tensor | None]] = {}  # the gradients that came so far
    left: dict[int, int] = {}  # how many are still to come

    def hook_of(i: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            number = _current_pass()
            with lock:
                first = number not in passes
                if first:
                    passes[number] = [None] * len(nodes)
                    left[number] = sum(map(_pass_reaches, nodes))
                grads = passes[number]
                grads[i] = grad
                left[number] -= 1
                last = left[number] == 0
                if last:
                    del passes[number], left[number]
            if mode == "any" and first:
                fn(grad)
            elif mode == "all" and last:
                fn(grads)

        return hook

    return _MultiHandle(tuple(t.register_hook(hook_of(i)) for i, t in enumerate(tensors)))


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
        pin_memory: keep copies in pinned memory instead, see :meth:`zero.Tensor.pin_memory`.
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
        if device_type != "cpu":
            raise NotImplementedError(
                f"save_on_cpu: no such device; got {device_type!r}, expected 'cpu'"
            )
        super().__init__(_pinned if pin_memory else _same, _same)


def _same(x: Tensor) -> Tensor:
    return x


def _pinned(x: Tensor) -> Tensor:
    return x.detach().pin_memory()


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


class allow_mutation_on_saved_tensors:
    """Context manager under which tensors that were saved for backward may be written in place.

    Backward then uses the values of before the write. Every tensor that is saved is copied for
    that, written to later or not, so it takes the memory of the saved tensors once more.

    Example:
        >>> import zero
        >>> x = zero.tensor([2.0, 3.0], requires_grad=True)
        >>> with zero.autograd.graph.allow_mutation_on_saved_tensors():
        ...     y = x.clone()
        ...     z = (y * y).sum()
        ...     y.zero_()
        ...     z.backward()
        tensor([0., 0.], grad_fn=<FillBackward0>)
        >>> x.grad
        tensor([4., 6.])
    """

    _active = False

    def __enter__(self) -> allow_mutation_on_saved_tensors:
        if allow_mutation_on_saved_tensors._active:
            raise RuntimeError("allow_mutation_on_saved_tensors: contexts can't be nested")
        allow_mutation_on_saved_tensors._active = True
        _push_saved_tensors_hooks(Tensor.clone, _same)
        return self

    def __exit__(self, *exception: object) -> None:
        allow_mutation_on_saved_tensors._active = False
        _pop_saved_tensors_hooks()

    def clear(self) -> None:
        """PyTorch's: lets go of the copies. Here each graph holds its own."""


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
