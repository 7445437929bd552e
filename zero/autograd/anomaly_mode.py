"""Anomaly mode: where in the forward pass a failing backward pass, or a NaN in it, came from."""

from __future__ import annotations

import sys

from zero import _anomaly, _set_anomaly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from zero.nn import Module

__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled"]


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _anomaly()[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return _anomaly()[1]


class set_detect_anomaly:
    """Turns anomaly mode on or off, at once or for a while as a context manager.

    Args:
        mode: whether it is on.
        check_nan: whether gradients are searched for NaN.

    Example:
        >>> import zero
        >>> with zero.autograd.set_detect_anomaly(True):
        ...     zero.autograd.anomaly_mode.is_anomaly_enabled()
        True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        for name, value in (("mode", mode), ("check_nan", check_nan)):
            if not isinstance(value, bool):
                raise TypeError(
                    f"set_detect_anomaly: {name} is not a bool; got {type(value).__name__}, "
                    "expected True or False"
                )
        self._before = _anomaly()
        _set_anomaly(mode, check_nan, _call_site)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _set_anomaly(*self._before, _call_site)


class detect_anomaly:
    """Context manager under which each operation remembers where it was called.

    A backward pass under it that raises warns of the forward call of the operation that failed:
    its traceback, and the module it was in. The first NaN in a gradient raises, and names the same.
    It is for finding mistakes: each operation costs a look at the stack.

    Args:
        check_nan: whether gradients are searched for NaN.

    Example:
        >>> import warnings, zero
        >>> x = zero.zeros(1, requires_grad=True)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     with zero.autograd.detect_anomaly():
        ...         y = (x * (x / x)).sum()
        ...         y.backward()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        RuntimeError: backward: MulBackward0 returned nan values for its input 0, called at ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        import warnings

        self.check_nan = check_nan
        self._inner: list[set_detect_anomaly] = []
        warnings.warn(
            "detect_anomaly: anomaly mode is on, which makes each operation slow; for finding "
            "mistakes only",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._inner.append(set_detect_anomaly(True, self.check_nan))

    def __exit__(self, *exception: object) -> None:
        self._inner.pop().__exit__(*exception)


# ---- where the program is ------------------------------------------------------------------------
_PACKAGE = __file__.rpartition("autograd")[0]


def _call_site() -> tuple[str, str, str]:
    """The stack as text, its last line outside of zero, and the path of the module it is in."""
    import traceback

    frame = sys._getframe(1)
    stack = traceback.extract_stack(frame)
    users = [f for f in stack if not f.filename.startswith(_PACKAGE)]
    last = (users or stack)[-1]
    line = f"{last.filename}:{last.lineno} in {last.name}: {last.line}"
    return "".join(traceback.format_list(stack)), line, _module_path(frame)


def _module_path(frame: FrameType | None) -> str:
    """The modules whose forward() is running, as a path of attribute names."""
    nn = sys.modules.get("zero.nn")
    if nn is None:
        return ""
    modules: list[Module] = []
    while frame is not None:
        if frame.f_code.co_name == "forward":
            owner = frame.f_locals.get("self")
            if isinstance(owner, nn.Module) and owner not in modules[-1:]:
                modules.append(owner)
        frame = frame.f_back
    if not modules:
        return ""
    from itertools import pairwise

    modules.reverse()
    parts = [type(modules[0]).__name__]
    for parent, child in pairwise(modules):
        names = (name for name, module in parent.named_modules() if module is child)
        parts.append(next(names, type(child).__name__))
    return ".".join(parts)
