"""The names of PyTorch's module for Apple's GPUs, answered for a machine without one.

Example:
    >>> import zero
    >>> zero.mps.is_available(), zero.mps.device_count()
    (False, 0)
"""

from __future__ import annotations

from zero.cuda import device_count, empty_cache, is_available, manual_seed, seed

__all__ = [
    "current_allocated_memory",
    "device_count",
    "driver_allocated_memory",
    "empty_cache",
    "is_available",
    "manual_seed",
    "seed",
    "synchronize",
]


def synchronize() -> None:
    """Does nothing: operations have ended when their calls return."""


def current_allocated_memory() -> int:
    """0 bytes."""
    return 0


def driver_allocated_memory() -> int:
    """0 bytes."""
    return 0
