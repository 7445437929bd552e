"""Winograd's algorithm for convolutions of ``float32`` with kernels of 3 x 3: on or off.

With it such a convolution needs a quarter of the multiplications, or about half of them at a stride
of 2, forward and backward. A tile of 4 x 4 results is computed as a whole, which has two
consequences. A rounding error is relative to the largest value of the tile, not to each result, and
where an input is infinite or NaN, so may be all results of the tiles that read it. Without it each
result depends on its own inputs only.

The switch counts when an operation computes, in all threads: a backward pass outside of the
context has its own setting.

Example:
    >>> import zero
    >>> x, w = zero.zeros(1, 16, 8, 8), zero.ones(16, 16, 3, 3)
    >>> x[0, 0, 0, 0] = zero.inf
    >>> zero.conv2d(x, w, padding=1)[0, 0].isfinite().sum().item()
    48
    >>> with zero.backends.winograd.flags(enabled=False):
    ...     zero.conv2d(x, w, padding=1)[0, 0].isfinite().sum().item()
    60
    >>> zero.backends.winograd.enabled
    True
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import zero

__all__ = ["enabled", "flags", "is_available", "set_flags"]

enabled: bool  # an attribute of the class below


class _Switch(ModuleType):
    """The class of this module, as an attribute of a plain one cannot tell that it was set."""

    @property
    def enabled(self) -> bool:
        return zero._winograd_enabled()

    @enabled.setter
    def enabled(self, value: bool) -> None:
        zero._enable_winograd(value)


def is_available() -> bool:
    """True: every build has it."""
    return True


def set_flags(_enabled: bool | None = None) -> tuple[bool]:
    """Sets the switch unless it is None; returns what it was."""
    before = zero._winograd_enabled()
    if _enabled is not None:
        zero._enable_winograd(_enabled)
    return (before,)


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """Context manager: another setting for a while.

    Args:
        enabled: whether convolutions may take the algorithm.

    Raises:
        TypeError: enabled is no bool.

    Example:
        >>> from zero.backends import winograd
        >>> with winograd.flags(enabled=False):
        ...     winograd.enabled
        False
        >>> winograd.enabled
        True
    """
    before = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(*before)


sys.modules[__name__].__class__ = _Switch
