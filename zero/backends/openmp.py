"""OpenMP: not used; zero has its own pool of threads."""

__all__ = ["is_available"]


def is_available() -> bool:
    """False: zero is not linked with OpenMP."""
    return False
