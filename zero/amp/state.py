"""What autocast is set to in this thread, for each kind of device.

Programs use :class:`zero.autocast`, which sets all of it and puts it back.
"""

from __future__ import annotations

from zero import (
    _autocast_cache,
    _autocast_nesting,
    _autocast_state,
    _set_autocast_state,
    dtype as DType,
)

__all__ = [
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "clear_autocast_cache",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
]


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether autocast is on.

    Args:
        device_type: 'cpu', or another device, for which it has no effect; None is 'cuda', as in
            PyTorch.

    Example:
        >>> import zero
        >>> with zero.autocast("cpu"):
        ...     zero.is_autocast_enabled("cpu"), zero.is_autocast_enabled()
        (True, False)
    """
    return _autocast_state("cuda" if device_type is None else device_type)[0]


def is_autocast_cpu_enabled() -> bool:
    """``is_autocast_enabled("cpu")``"""
    return _autocast_state("cpu")[0]


def get_autocast_dtype(device_type: str) -> DType:
    """The dtype that autocast casts to on a device.

    Args:
        device_type: 'cpu', 'cuda', 'xpu' or 'mps'.

    Raises:
        RuntimeError: there is no such device.

    Example:
        >>> import zero
        >>> zero.get_autocast_dtype("cpu"), zero.get_autocast_dtype("cuda")
        (zero.bfloat16, zero.float16)
    """
    return _autocast_state(device_type)[1]


def get_autocast_cpu_dtype() -> DType:
    """``get_autocast_dtype("cpu")``"""
    return _autocast_state("cpu")[1]


def get_autocast_gpu_dtype() -> DType:
    """``get_autocast_dtype("cuda")``"""
    return _autocast_state("cuda")[1]


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Turns autocast on or off.

    Args:
        device_type: 'cpu', 'cuda', 'xpu' or 'mps'. A bool alone is for 'cuda', as in PyTorch.
        enabled: whether it is on.

    Example:
        >>> import zero
        >>> zero.set_autocast_enabled("cpu", True)
        >>> zero.mm(zero.ones(2, 2), zero.ones(2, 2)).dtype
        zero.bfloat16
        >>> zero.set_autocast_enabled("cpu", False)
    """
    if isinstance(device_type, bool):
        _set_autocast_state("cuda", device_type, None)
    elif enabled is None:
        raise TypeError("set_autocast_enabled: enabled is not given; expected True or False")
    else:
        _set_autocast_state(device_type, enabled, None)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """``set_autocast_enabled("cpu", enabled)``"""
    _set_autocast_state("cpu", enabled, None)


def set_autocast_dtype(device_type: str, dtype: DType) -> None:
    """Sets what autocast casts to.

    Args:
        device_type: 'cpu', 'cuda', 'xpu' or 'mps'.
        dtype: float16 or bfloat16.

    Example:
        >>> import zero
        >>> zero.set_autocast_dtype("cpu", zero.float16)
        >>> with zero.autocast("cpu"):
        ...     zero.mm(zero.ones(2, 2), zero.ones(2, 2)).dtype
        zero.float16
        >>> zero.set_autocast_dtype("cpu", zero.bfloat16)
    """
    _set_autocast_state(device_type, None, dtype)


def set_autocast_cpu_dtype(dtype: DType) -> None:
    """``set_autocast_dtype("cpu", dtype)``"""
    _set_autocast_state("cpu", None, dtype)


def set_autocast_gpu_dtype(dtype: DType) -> None:
    """``set_autocast_dtype("cuda", dtype)``"""
    _set_autocast_state("cuda", None, dtype)


def is_autocast_cache_enabled() -> bool:
    """Whether 16-bit copies of weights are kept until the outermost context ends.

    Example:
        >>> import zero
        >>> zero.is_autocast_cache_enabled()
        True
    """
    return _autocast_cache()


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Sets what :func:`is_autocast_cache_enabled` tells.

    Args:
        enabled: whether copies of weights are kept.
    """
    _autocast_cache(enabled)


def clear_autocast_cache() -> None:
    """Forgets the copies of weights. Leaving the outermost context does it, too."""
    _autocast_nesting(0)


def autocast_increment_nesting() -> int:
    """Enters a context; how many are entered now."""
    return _autocast_nesting(1)


def autocast_decrement_nesting() -> int:
    """Leaves a context; how many are left."""
    return _autocast_nesting(-1)
