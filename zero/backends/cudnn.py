"""cuDNN: not used. The switches can be set; they change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "allow_tf32",
    "benchmark",
    "benchmark_limit",
    "deterministic",
    "enabled",
    "flags",
    "is_acceptable",
    "is_available",
    "set_flags",
    "version",
]

enabled = True
benchmark = False
benchmark_limit: int | None = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False: zero computes on CPUs only."""
    return False


def is_acceptable(tensor: object) -> bool:
    """False: cuDNN takes no tensor of zero's."""
    return False


def version() -> None:
    """None: there is no cuDNN."""
    return None


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
) -> tuple[bool, bool, int | None, bool, bool]:
    """Sets the switches that are not None; returns what all were."""
    global allow_tf32, benchmark, benchmark_limit, deterministic, enabled
    before = (enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    enabled = enabled if _enabled is None else _enabled
    benchmark = benchmark if _benchmark is None else _benchmark
    benchmark_limit = benchmark_limit if _benchmark_limit is None else _benchmark_limit
    deterministic = deterministic if _deterministic is None else _deterministic
    allow_tf32 = allow_tf32 if _allow_tf32 is None else _allow_tf32
    return before


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Context manager: other switches for a while.

    Example:
        >>> from zero.backends import cudnn
        >>> with cudnn.flags(benchmark=True):
        ...     cudnn.benchmark
        True
        >>> cudnn.benchmark
        False
    """
    before = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    try:
        yield
    finally:
        set_flags(*before)
