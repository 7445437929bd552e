"""Tools around training."""

from zero.utils import hooks

__all__ = ["hooks"]
