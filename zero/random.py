"""Random numbers: seeds and states of the generator that functions use by default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from zero import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


@contextmanager
def fork_rng(
    devices: Iterable[object] | None = None, enabled: bool = True, device_type: str = "cpu"
) -> Iterator[None]:
    """Context manager: random numbers drawn in it leave the default generator as it was.

    Args:
        devices: other devices whose generators to keep, of which there are none.
        enabled: False lets the block change the generator.
        device_type: the kind of `devices`.

    Raises:
        RuntimeError: there are devices in `devices`.

    Example:
        >>> import zero
        >>> state = zero.get_rng_state()
        >>> with zero.random.fork_rng():
        ...     _ = zero.manual_seed(1)
        ...     x = zero.rand(2)
        >>> zero.equal(zero.get_rng_state(), state)
        True
    """
    others = list(devices or ())
    if others:
        raise RuntimeError(
            f"fork_rng: no such devices; got {others!r} of type {device_type!r}, expected none: "
            "zero computes on CPUs only"
        )
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)
