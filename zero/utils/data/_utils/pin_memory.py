"""Batches in pinned memory."""

from __future__ import annotations

from typing import Any

from zero.utils.data._utils.collate import rebuild

__all__ = ["pin_memory"]


def pin_memory(data: Any, device: Any = None) -> Any:
    """The same structure with its tensors in pinned memory.

    An object with a method ``pin_memory`` is asked to do it itself.

    Args:
        data: tensors in containers.
        device: accepted as in PyTorch, and not needed.
    """
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    return rebuild(data, pin_memory, tuples=True)
