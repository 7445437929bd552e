"""Which engine computes :func:`zero.nn.functional.scaled_dot_product_attention`.

There are two. One works in tiles and never builds the matrix of scores, so that its memory grows
linearly with the lengths, forward and backward; it answers to ``FLASH_ATTENTION`` and to
``EFFICIENT_ATTENTION``. The other, ``MATH``, is composed of matrix products and softmax. The first
serves all shapes and dtypes, masks, dropout and groups; of these it leaves to ``MATH`` only the
gradient of a mask. Gradients of gradients are computed as by ``MATH``, whatever the engine was.
``CUDNN_ATTENTION`` and ``OVERRIDEABLE`` have no engine on CPUs.

Both draw the same numbers for dropout, and their results agree up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from zero import (
    Tensor,
    _attention_backends,
    _fused_sdp_choice,
    _later,
    _set_attention_backends,
)

__all__ = ["SDPBackend", "sdpa_backend", "sdpa_kernel"]


class SDPBackend(Enum):
    """An engine of attention, by PyTorch's name and number.

    Example:
        >>> from zero.nn.attention import SDPBackend
        >>> SDPBackend.FLASH_ATTENTION
        <SDPBackend.FLASH_ATTENTION: 1>
        >>> int(SDPBackend.MATH)
        0
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return self.value

    __index__ = __int__


# All engines, the one that is tried first in front.
_priority = _attention_backends()


@contextmanager
def sdpa_kernel(
    backends: list[SDPBackend] | SDPBackend, set_priority: bool = False
) -> Iterator[dict[str, object]]:
    """Sets which engines attention may take, in a ``with`` block.

    A call that none of them can serve raises an error, which says why. The setting is that of all
    threads. What was recorded in the block keeps its engine for the gradient.

    Args:
        backends: the engines, or one.
        set_priority: whether they are tried in the order of the list. Else in the usual one:
            FLASH_ATTENTION, EFFICIENT_ATTENTION, MATH.

    Raises:
        TypeError: there are other objects than engines.
        ValueError: ERROR is no engine.

    Example:
        >>> import zero
        >>> from zero.nn.attention import SDPBackend, sdpa_backend, sdpa_kernel
        >>> x = zero.ones(1, 3, 4)
        >>> with sdpa_kernel(SDPBackend.MATH):
        ...     y = zero.nn.functional.scaled_dot_product_attention(x, x, x)
        ...     sdpa_backend(x, x, x)
        <SDPBackend.MATH: 0>
        >>> sdpa_backend(x, x, x)
        <SDPBackend.FLASH_ATTENTION: 1>
    """
    global _priority
    given = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(given, list) or not all(isinstance(b, SDPBackend) for b in given):
        raise TypeError(
            f"sdpa_kernel: backends are no engines; got {backends!r}, expected an SDPBackend or a "
            "list of them"
        )
    numbers = list(dict.fromkeys(int(backend) for backend in given))
    allowed, priority = _attention_backends(), _priority
    if set_priority:
        order = numbers + [number for number in priority if number not in numbers]
    else:
        order = priority
    _set_attention_backends([n for n in order if n in numbers] if -1 not in numbers else numbers)
    _priority = order
    try:
        yield {}
    finally:
        _priority = priority
        _set_attention_backends(allowed)


def sdpa_backend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> SDPBackend:
    """The engine that attention would take for these arguments; nothing is computed.

    The arguments are those of :func:`zero.nn.functional.scaled_dot_product_attention`, and are
    checked as there. ``torch._fused_sdp_choice`` exists as well, and gives the engine's number.

    Returns:
        The engine; ``SDPBackend.ERROR`` if none that :func:`sdpa_kernel` allows can serve.

    Example:
        >>> import zero
        >>> from zero.nn.attention import sdpa_backend
        >>> x, mask = zero.ones(1, 3, 4), zero.zeros(3, 3, requires_grad=True)
        >>> sdpa_backend(x, x, x, attn_mask=mask)
        <SDPBackend.MATH: 0>
    """
    return SDPBackend(
        _fused_sdp_choice(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    )


TYPE_CHECKING = False
if not TYPE_CHECKING:
    __getattr__ = _later.missing("zero.nn.attention")
