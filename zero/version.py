"""The version, and what zero was built for.

Example:
    >>> import zero
    >>> zero.version.__version__ == zero.__version__, zero.version.cuda
    (True, None)
"""

from zero._version import __version__

__all__ = ["__version__", "cuda", "debug", "hip", "xpu"]

cuda: str | None = None
hip: str | None = None
xpu: str | None = None
debug = False
