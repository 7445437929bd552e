"""The accelerator of this machine: zero uses none.

Example:
    >>> import zero
    >>> zero.accelerator.is_available(), zero.accelerator.current_accelerator()
    (False, None)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = [
    "current_accelerator",
    "current_device_index",
    "current_stream",
    "device_count",
    "empty_cache",
    "is_available",
    "memory_allocated",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def none(name: str) -> NoReturn:
    raise RuntimeError(
        f"{name}: there is no accelerator; zero computes on CPUs only, expected a check of "
        "zero.accelerator.is_available()"
    )


def is_available() -> bool:
    """False: zero computes on CPUs only."""
    return False


def device_count() -> int:
    """0: there are no accelerators."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None: there is no accelerator."""
    return None


def memory_allocated(device: object = None) -> int:
    """0 bytes."""
    return 0


def empty_cache() -> None:
    """Does nothing; :func:`zero.empty_cache` returns the CPU's memory."""


def synchronize(device: object = None) -> None:
    """Does nothing: operations have ended when their calls return."""


def current_device_index() -> NoReturn:
    """An error: there is no accelerator."""
    none("accelerator.current_device_index")


def set_device_index(device: object) -> NoReturn:
    """An error: there is no accelerator."""
    none("accelerator.set_device_index")


def current_stream(device: object = None) -> NoReturn:
    """An error: there is no accelerator."""
    none("accelerator.current_stream")


def set_stream(stream: object) -> NoReturn:
    """An error: there is no accelerator."""
    none("accelerator.set_stream")
