"""Mixed precision: products in 16 bits, sums and losses in 32.

>>> import zero
>>> model = zero.nn.Linear(4, 2)
>>> with zero.autocast("cpu", dtype=zero.bfloat16):
...     scores = model(zero.ones(3, 4))
...     loss = zero.nn.functional.cross_entropy(scores, zero.tensor([0, 1, 1]))
>>> scores.dtype, loss.dtype, model.weight.dtype
(zero.bfloat16, zero.float32, zero.float32)
"""

from zero.amp.autocast_mode import (
    autocast as autocast,
    custom_bwd as custom_bwd,
    custom_fwd as custom_fwd,
    is_autocast_available as is_autocast_available,
)
from zero.amp.grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
