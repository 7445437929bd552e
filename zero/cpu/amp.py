"""Mixed precision on the CPU under PyTorch's older names; see :mod:`zero.amp`."""

from __future__ import annotations

import zero
from zero import amp, dtype as DType

__all__ = ["GradScaler", "autocast"]


class autocast(amp.autocast):
    """``zero.autocast("cpu", …)``

    Args:
        enabled: False switches it off.
        dtype: bfloat16 or float16.
        cache_enabled: whether casts of parameters are kept.

    Example:
        >>> import zero
        >>> with zero.cpu.amp.autocast():
        ...     (zero.ones(2, 2) @ zero.ones(2, 2)).dtype
        zero.bfloat16
    """

    def __init__(
        self, enabled: bool = True, dtype: DType = zero.bfloat16, cache_enabled: bool = True
    ) -> None:
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``zero.amp.GradScaler("cpu", …)``

    Args:
        init_scale: the factor to begin with.
        growth_factor: what it is multiplied by after growth_interval good steps.
        backoff_factor: what it is multiplied by after a step that was left out.
        growth_interval: see above.
        enabled: False switches it off.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
