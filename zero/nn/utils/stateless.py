"""Calls of a module with other parameters than its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from zero import Tensor
from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zero.nn.module import Module

__all__ = ["functional_call"]


def _places(module: Module) -> dict[str, tuple[dict[str, Any], str, Any]]:
    """Where each parameter and buffer is, by path: the dict, the key and the tensor."""
    places = {}
    for path, owner in module.named_modules(remove_duplicate=False):
        for members in (owner.__dict__["_parameters"], owner.__dict__["_buffers"]):
            for name, tensor in members.items():
                if tensor is not None:
                    places[f"{path}.{name}" if path else name] = (members, name, tensor)
    return places


def _with_tied(
    places: dict[str, tuple[dict[str, Any], str, Any]], given: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """What is given for one path is given for all paths of the same tensor."""
    by_tensor: dict[int, tuple[str, Tensor]] = {}
    for path, value in given.items():
        if path in places:
            key = id(places[path][2])
            first, other = by_tensor.setdefault(key, (path, value))
            if other is not value:
                raise ValueError(
                    f"functional_call: {first!r} and {path!r} are one tensor of the module; got "
                    "two values, expected one unless tie_weights=False"
                )
    new = dict(given)
    for path, (_, _, tensor) in places.items():
        if id(tensor) in by_tensor:
            new.setdefault(path, by_tensor[id(tensor)][1])
    return new


@contextmanager
def _replaced(
    module: Module, given: Mapping[str, Tensor], tie_weights: bool, strict: bool
) -> Iterator[None]:
    places = _places(module)
    new = _with_tied(places, given) if tie_weights else dict(given)
    missing = sorted(places.keys() - new.keys()) if strict else []
    unknown = [path for path in new if path not in places and not _is_attribute(module, path)]
    if missing or unknown:
        raise ValueError(
            f"functional_call: the names don't fit; missing {missing}, unexpected {unknown}"
        )
    computed: list[tuple[Any, str, Any]] = []  # tensors of parametrizations
    for path, value in new.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"functional_call: {path!r} is no tensor; got {type(value).__name__}")
    try:
        for path, value in new.items():
            if path in places:
                members, name, _ = places[path]
                members[name] = value
            else:
                owner_path, _, name = path.rpartition(".")
                owner = module.get_submodule(owner_path)
                cls = type(owner)
                computed.append((cls, name, cls.__dict__[name]))
                setattr(cls, name, value)
        yield
    finally:
        for cls, name, own in reversed(computed):  # one class may be met twice
            setattr(cls, name, own)
        for path in new:
            if path in places:
                members, name, tensor = places[path]
                # What the call assigned to a buffer is the caller's.
                if isinstance(given, dict) and path in given and members.get(name) is not None:
                    given[path] = members[name]
                members[name] = tensor


def _is_attribute(module: Module, path: str) -> bool:
    """Whether a path leads to a parametrized tensor."""
    from zero.nn.utils.parametrize import is_parametrized

    owner_path, _, name = path.rpartition(".")
    try:
        owner = module.get_submodule(owner_path)
    except AttributeError:
        return False
    return is_parametrized(owner, name)


def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls a module with other tensors in the place of its parameters and buffers.

    The module has its own again afterwards. Gradients flow to the given tensors.

    Args:
        module: what is called.
        parameters_and_buffers: tensors by path. What is not given stays the module's own. Buffers
            that the call assigns are found here.
        args: for the call, a tuple or a single argument.
        kwargs: for the call.
        tie_weights: whether what is given for a tensor holds for all its paths.
        strict: whether all paths have to be given.

    Raises:
        ValueError: a path does not exist or, with `strict`, is not given; or two values are given
            for one tensor.
        TypeError: a value is no tensor.

    Example:
        >>> import zero
        >>> layer = zero.nn.Linear(2, 1)
        >>> state = {"weight": zero.ones(1, 2), "bias": zero.ones(1)}
        >>> zero.nn.utils.stateless.functional_call(layer, state, zero.ones(3, 2)).flatten()
        tensor([3., 3., 3.])
    """
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _replaced(module, parameters_and_buffers, tie_weights, strict):
        return module(*args, **(kwargs or {}))
