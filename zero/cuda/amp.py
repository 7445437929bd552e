"""Mixed precision on CUDA devices, of which there are none: switched off, as PyTorch does then.

Example:
    >>> import zero
    >>> scaler = zero.cuda.amp.GradScaler(enabled=zero.cuda.is_available())
    >>> scaler.scale(zero.tensor(2.0))
    tensor(2.)
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def switched_off(name: str, enabled: bool) -> None:
    if enabled:
        warnings.warn(
            f"cuda.amp.{name}: there is no CUDA device, so mixed precision is off; expected "
            "enabled=zero.cuda.is_available()",
            UserWarning,
            stacklevel=3,
        )


class autocast:
    """Context manager and decorator that computes in lower precision on CUDA devices: not here.

    Args:
        enabled: True warns that mixed precision is off.
        dtype: not used.
        cache_enabled: not used.
    """

    def __init__(
        self, enabled: bool = True, dtype: object = None, cache_enabled: bool = True
    ) -> None:
        switched_off("autocast", enabled)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return decorated


class GradScaler:
    """Scales losses so that float16 gradients don't vanish; without a CUDA device it scales by 1.

    Args:
        init_scale: not used.
        growth_factor: not used.
        backoff_factor: not used.
        growth_interval: not used.
        enabled: True warns that mixed precision is off.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        switched_off("GradScaler", enabled)

    def scale(self, outputs: Any) -> Any:
        """The outputs, unchanged."""
        return outputs

    def unscale_(self, optimizer: object) -> None:
        """Does nothing: the gradients were not scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)``."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: object = None) -> None:
        """Does nothing: the scale stays 1."""

    def get_scale(self) -> float:
        """1.0"""
        return 1.0

    def is_enabled(self) -> bool:
        """False."""
        return False

    def state_dict(self) -> dict[str, object]:
        """An empty dict."""
        return {}

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Does nothing: there is no state."""


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: object = None) -> Any:
    """A decorator for Function.forward that changes nothing: there is no mixed precision."""
    return (lambda function: function) if fwd is None else fwd


def custom_bwd(bwd: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for Function.backward that changes nothing."""
    return bwd
