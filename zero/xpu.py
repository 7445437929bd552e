"""The names of PyTorch's module for Intel's GPUs, answered for a machine without one.

Example:
    >>> import zero
    >>> zero.xpu.is_available(), zero.xpu.device_count()
    (False, 0)
"""

from __future__ import annotations

from zero.cuda import (
    device_count,
    empty_cache,
    is_available,
    is_initialized,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    memory_allocated,
    memory_reserved,
    seed,
    seed_all,
    synchronize,
)

__all__ = [
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "seed",
    "seed_all",
    "synchronize",
]
