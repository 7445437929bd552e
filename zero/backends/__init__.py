"""Libraries that PyTorch may compute with, and their switches. zero has its own kernels.

``is_available()`` is False for those that zero doesn't use. Their switches can be set and read, so
that programs which set them run; they change nothing. :mod:`zero.backends.winograd` is zero's own.

Example:
    >>> import zero
    >>> zero.backends.cudnn.benchmark = True
    >>> zero.backends.cudnn.is_available(), zero.backends.mps.is_available()
    (False, False)
    >>> zero.backends.cudnn.benchmark = False
"""

from zero.backends import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp, winograd

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "winograd"]
