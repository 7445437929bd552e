"""Switches of PyTorch's that leave zero nothing to do: it computes the one way they ask for.

Each is kept, checked and given back, so that programs that set it run.
"""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "are_deterministic_algorithms_enabled",
    "compile",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_num_interop_threads",
    "use_deterministic_algorithms",
]

PRECISIONS = ("highest", "high", "medium")


class state:
    deterministic = 0  # 1: a warning would do; 2: an error
    precision = "highest"
    interop_threads = 1


def flag(x: object, op: str, name: str) -> bool:
    if x is True or x is False:
        return x
    raise TypeError(f"{op}: {name} is not a bool; got {x!r}, expected True or False")


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Asks for algorithms that always give the same bits. zero has no others.

    The switch is kept for :func:`are_deterministic_algorithms_enabled`; it changes no result.

    Args:
        mode: True or False.
        warn_only: whether a warning would do where there is no such algorithm.

    Example:
        >>> import zero
        >>> zero.use_deterministic_algorithms(True)
        >>> zero.are_deterministic_algorithms_enabled()
        True
        >>> zero.use_deterministic_algorithms(False)
    """
    on = flag(mode, "use_deterministic_algorithms", "mode")
    warn = flag(warn_only, "use_deterministic_algorithms", "warn_only")
    state.deterministic = (1 if warn else 2) if on else 0


def are_deterministic_algorithms_enabled() -> bool:
    """Whether :func:`use_deterministic_algorithms` asked for them. zero's always are.

    Example:
        >>> import zero
        >>> zero.are_deterministic_algorithms_enabled()
        False
    """
    return state.deterministic > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What `warn_only` of :func:`use_deterministic_algorithms` was.

    Example:
        >>> import zero
        >>> zero.is_deterministic_algorithms_warn_only_enabled()
        False
    """
    return state.deterministic == 1


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Another form of :func:`use_deterministic_algorithms`.

    Args:
        debug_mode: 0 or "default", 1 or "warn", 2 or "error".

    Raises:
        ValueError: none of them.

    Example:
        >>> import zero
        >>> zero.set_deterministic_debug_mode("warn")
        >>> zero.get_deterministic_debug_mode()
        1
        >>> zero.set_deterministic_debug_mode(0)
    """
    modes: dict[int | str, int] = {0: 0, 1: 1, 2: 2, "default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, bool) or debug_mode not in modes:
        raise ValueError(
            f"set_deterministic_debug_mode: no such mode; got {debug_mode!r}, expected 0, 1, 2, "
            "'default', 'warn' or 'error'"
        )
    state.deterministic = modes[debug_mode]


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2, as :func:`set_deterministic_debug_mode` or use_deterministic_algorithms set it.

    Example:
        >>> import zero
        >>> zero.get_deterministic_debug_mode()
        0
    """
    return state.deterministic


def set_float32_matmul_precision(precision: str) -> None:
    """Allows products of float32 matrices to be less precise. zero's are always in full precision.

    Args:
        precision: "highest", "high" or "medium".

    Raises:
        ValueError: none of them.

    Example:
        >>> import zero
        >>> zero.set_float32_matmul_precision("high")
        >>> zero.get_float32_matmul_precision()
        'high'
        >>> zero.set_float32_matmul_precision("highest")
    """
    if precision not in PRECISIONS:
        raise ValueError(
            f"set_float32_matmul_precision: no such precision; got {precision!r}, expected "
            "'highest', 'high' or 'medium'"
        )
    state.precision = precision


def get_float32_matmul_precision() -> str:
    """What :func:`set_float32_matmul_precision` allowed.

    Example:
        >>> import zero
        >>> zero.get_float32_matmul_precision()
        'highest'
    """
    return state.precision


def set_num_interop_threads(n: int) -> None:
    """Sets how many operations may run side by side. zero runs one after the other in each thread.

    Args:
        n: at least 1.

    Raises:
        ValueError: n is less than 1.

    Example:
        >>> import zero
        >>> zero.set_num_interop_threads(1)
    """
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError(f"set_num_interop_threads: n is not an int; got {n!r}, expected an int")
    if n < 1:
        raise ValueError(f"set_num_interop_threads: too few threads; got {n}, expected at least 1")
    state.interop_threads = n


def get_num_interop_threads() -> int:
    """What :func:`set_num_interop_threads` was told; 1 at start.

    Example:
        >>> import zero
        >>> zero.get_num_interop_threads()
        1
    """
    return state.interop_threads


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Returns the model or function unchanged: zero has no compiler, its operations run at once.

    The arguments choose, in PyTorch, how to compile; here they have nothing to choose.

    Args:
        model: a Module or a function; None when used as a decorator with arguments.
        fullgraph: not needed.
        dynamic: not needed.
        backend: not needed.
        mode: not needed.
        options: not needed.
        disable: not needed.

    Raises:
        TypeError: the model cannot be called, or an argument is unknown.

    Example:
        >>> import zero
        >>> model = zero.nn.Linear(2, 1)
        >>> zero.compile(model, mode="max-autotune") is model
        True
        >>> @zero.compile
        ... def double(x):
        ...     return 2 * x
        >>> double(zero.tensor(2.0))
        tensor(4.)
    """
    if model is None:
        return compile
    if not callable(model):
        raise TypeError(f"compile: not a model or function; got {model!r}, expected a callable")
    return model
