"""The CPU as a device, with the functions that PyTorch has for each kind.

Example:
    >>> import zero
    >>> zero.cpu.is_available(), zero.cpu.device_count(), zero.cpu.current_device()
    (True, 1, 'cpu')
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "amp",
    "current_device",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "synchronize",
]


def __getattr__(name: str) -> ModuleType:
    if name == "amp":
        from importlib import import_module

        return import_module("zero.cpu.amp")
    raise AttributeError(f"module 'zero.cpu' has no attribute {name!r}")


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1: all processors together are one device."""
    return 1


def current_device() -> str:
    """'cpu'"""
    return "cpu"


def set_device(device: object) -> None:
    """Does nothing but check: the CPU is the current device.

    Raises:
        RuntimeError: it is another device.
    """
    import zero

    if zero.device(device).type != "cpu":  # type: ignore[arg-type]
        raise RuntimeError(f"cpu.set_device: not the CPU; got {device!r}, expected 'cpu'")


def synchronize(device: object = None) -> None:
    """Does nothing: operations have ended when their calls return."""
