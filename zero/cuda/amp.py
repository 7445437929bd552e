"""Mixed precision on CUDA devices, of which there are none: switched off, as PyTorch does then.

Example:
    >>> import zero
    >>> scaler = zero.cuda.amp.GradScaler(enabled=zero.cuda.is_available())
    >>> scaler.scale(zero.tensor(2.0))
    tensor(2.)
"""

from __future__ import annotations

from collections.abc import Callable

import zero
from zero import amp, dtype as DType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):
    """Context manager and decorator that computes in lower precision on CUDA devices: not here.

    Args:
        enabled: True warns that there is no such device.
        dtype: float16 or bfloat16.
        cache_enabled: whether casts of parameters are kept.
    """

    def __init__(
        self, enabled: bool = True, dtype: DType = zero.float16, cache_enabled: bool = True
    ) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """Scales losses so that float16 gradients don't vanish; without a CUDA device it is off.

    Args:
        init_scale: not used.
        growth_factor: not used.
        backoff_factor: not used.
        growth_interval: not used.
        enabled: True warns that it is off.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: DType | None = None) -> Any:
    """:func:`zero.amp.custom_fwd` for CUDA devices.

    Args:
        fwd: the method.
        cast_inputs: a dtype for its floats where autocast is on, which it is not.
    """
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """:func:`zero.amp.custom_bwd` for CUDA devices.

    Args:
        bwd: the method.
    """
    return amp.custom_bwd(bwd, device_type="cuda")
