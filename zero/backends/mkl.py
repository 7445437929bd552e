"""Intel MKL: not used; zero multiplies matrices with OpenBLAS or its own kernels."""

__all__ = ["is_available"]


def is_available() -> bool:
    """False: zero is not linked with MKL."""
    return False
