"""What layers do with their options, and a change of state_dicts, under PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives n times what it is given, as a tuple; an iterable as it is."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple[Any, ...]:
    """The elements from the last to the first, each n times: padding as ``F.pad`` takes it."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: Any, defaults: Sequence[int]) -> Any:
    """Sizes with those of an input, the last of `defaults`, where they are None."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(
            f"sizes: too few dimensions of the input; got {len(defaults)}, expected at least "
            f"{len(out_size) + 1}"
        )
    own = defaults[len(defaults) - len(out_size) :]
    return [d if size is None else size for size, d in zip(out_size, own, strict=True)]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Takes a prefix off the keys that have it, in place: "module." of a wrapped model.

    Args:
        state_dict: what is changed, with its ``_metadata`` if it has some.
        prefix: with its dot.

    Example:
        >>> import zero
        >>> from zero.nn.modules.utils import consume_prefix_in_state_dict_if_present
        >>> state = {"module.weight": zero.ones(1), "step": zero.ones(1)}
        >>> consume_prefix_in_state_dict_if_present(state, "module.")
        >>> sorted(state)
        ['step', 'weight']
    """
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)
