"""make_tensor: random tensors for tests."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["make_tensor"]


def make_tensor(
    *shape: int | Sequence[int],
    dtype: zero.dtype,
    device: str | zero.device,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
) -> Tensor:
    """A tensor of random numbers, uniform on [low, high).

    Args:
        *shape: sizes, as ints or as one sequence.
        dtype: of the result.
        device: 'cpu' or 'meta'.
        low: the least value. By default -9, for uint8 and bool 0.
        high: the limit. By default 9 for floats, 10 for integers, 2 for bool.
        requires_grad: whether operations on the result are recorded.
        noncontiguous: whether the elements lie apart in memory (if there are two or more).
        exclude_zero: whether zeros become the smallest positive number of the dtype.

    Raises:
        ValueError: `low` is not below `high`, or one of them doesn't fit the dtype; or a dtype
            without gradients is to require them.

    Example:
        >>> import zero
        >>> x = zero.testing.make_tensor(2, 3, dtype=zero.float32, device="cpu", low=0, high=1)
        >>> x.shape, bool(((x >= 0) & (x <= 1)).all())
        (zero.Size([2, 3]), True)
    """
    sizes: Any = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    floating = dtype.is_floating_point
    if requires_grad and not floating:
        raise ValueError(
            f"make_tensor: no gradients for this dtype; got {dtype} and requires_grad=True, "
            "expected a floating point dtype"
        )
    if dtype is zero.bool:
        least, limit = 0.0, 2.0
    elif floating:
        least, limit = -9.0, 9.0
    else:
        least, limit = (0.0, 10.0) if dtype is zero.uint8 else (-9.0, 10.0)
    if low is not None:
        least = low
    if high is not None:
        limit = high
    if not least < limit:
        raise ValueError(
            f"make_tensor: no numbers in the interval; got low={least} and high={limit}, expected "
            "low < high"
        )
    x = zero.empty(sizes, dtype=dtype, device=device)
    if x.device.type != "meta":
        if floating:
            u = zero.rand(sizes, dtype=zero.float64)
            x = (least * (1 - u) + limit * u).to(dtype)  # low and high may be far apart
        else:
            x = zero.randint(int(least), int(limit), sizes).to(dtype)
        if exclude_zero:
            tiny = zero.finfo(dtype).smallest_normal if floating else 1
            x = zero.where(x == 0, zero.full((), tiny, dtype=dtype), x)
    if noncontiguous and x.numel() > 1:
        apart = zero.empty(*x.shape, 2, dtype=dtype, device=device)
        apart[..., 0] = x
        x = apart[..., 0]
    return x.detach().requires_grad_(requires_grad)
