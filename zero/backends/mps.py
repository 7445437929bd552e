"""Metal on Apple's processors: not used."""

__all__ = ["is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"]


def is_available() -> bool:
    """False: zero computes on CPUs only."""
    return False


def is_built() -> bool:
    """False: zero has no kernels for Metal."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """False: it asks whether Metal can be used, and zero doesn't use it."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """False: it asks whether Metal can be used, and zero doesn't use it."""
    return False
