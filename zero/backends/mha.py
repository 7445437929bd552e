"""The fast path of PyTorch's attention for inference. The switch can be set.

zero has one path. What the switch still decides is whether a padded token's output is 0, see
:class:`zero.nn.TransformerEncoder`.

Example:
    >>> import zero
    >>> zero.backends.mha.get_fastpath_enabled()
    True
"""

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_enabled = True


def get_fastpath_enabled() -> bool:
    """Whether it is on."""
    return _enabled


def set_fastpath_enabled(value: bool) -> None:
    """Turns it on or off.

    Args:
        value: True or False.
    """
    global _enabled
    _enabled = bool(value)
