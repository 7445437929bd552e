"""Error functions, the normal distribution, products with logarithms, zeta."""

from __future__ import annotations

import zero
from zero import Tensor

__all__ = [
    "entr",
    "erfcx",
    "log_ndtr",
    "ndtr",
    "ndtri",
    "xlog1py",
    "zeta",
]


def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The entropy of each element: ``y = -x ln(x)``; 0 at 0, -inf below.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.entr(zero.tensor([0.0, 0.5]))
        tensor([0.0000, 0.3466])
    """
    return zero._special_unary("special.entr", input, out)


def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The scaled complement of the error function: ``y = e^(x^2) erfc(x)``; large x don't
    underflow.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.erfcx(zero.tensor([0.0, 10.0]))
        tensor([1.0000, 0.0561])

    Source: DLMF 7.2.
    """
    return zero._special_unary("special.erfcx", input, out)


def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of :func:`ndtr`, which doesn't become -inf in the tail.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.log_ndtr(zero.tensor([0.0, -10.0]))
        tensor([ -0.6931, -53.2313])
    """
    return zero._special_unary("special.log_ndtr", input, out)


def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The distribution function of the standard normal distribution.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.ndtr(zero.tensor([0.0, 1.0]))
        tensor([0.5000, 0.8413])
    """
    return zero._special_unary("special.ndtr", input, out)


def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The quantiles of the standard normal distribution: the inverse of :func:`ndtr`.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.ndtri(zero.tensor([0.5, 0.975]))
        tensor([0.0000, 1.9600])
    """
    return zero._special_unary("special.ndtri", input, out)


def xlog1py(input: Tensor | float, other: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """A factor times a logarithm: ``y = input ln(1 + other)``; 0 for a factor 0, unless `other` is
    nan.

    Args:
        input: any shape, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.xlog1py(zero.tensor([0.0, 2.0]), zero.tensor([-1.0, 0.0])).tolist()
        [0.0, 0.0]
    """
    return zero._special_binary("special.xlog1py", input, other, out)


def zeta(input: Tensor | float, other: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """Hurwitz's zeta function: ``y = sum over k >= 0 of 1 / (k + other)^input``.

    Only `other` has a gradient, as in PyTorch.

    Args:
        input: the exponents, more than 1: any shape, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.zeta(zero.tensor([2.0, 4.0]), 1)
        tensor([1.6449, 1.0823])

    Source: DLMF 25.11.
    """
    return zero._special_binary("special.zeta", input, other, out)
