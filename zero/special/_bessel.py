"""Bessel functions and their kin. Those under PyTorch's long names have no gradient, as there."""

from __future__ import annotations

import zero
from zero import Tensor

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "i0e",
    "i1",
    "i1e",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "spherical_bessel_j0",
]


def airy_ai(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Airy's function Ai: the solution of ``y'' = x y`` that vanishes for large x.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.airy_ai(zero.tensor([0.0, 1.0]))
        tensor([0.3550, 0.1353])

    Source: DLMF 9.2.
    """
    return zero._special_unary("special.airy_ai", input, out)


def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind of order 0.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.bessel_j0(zero.tensor([0.0, 1.0]))
        tensor([1.0000, 0.7652])

    Source: DLMF 10.2.
    """
    return zero._special_unary("special.bessel_j0", input, out)


def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind of order 1.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.bessel_j1(zero.tensor([0.0, 1.0]))
        tensor([0.0000, 0.4401])

    Source: DLMF 10.2.
    """
    return zero._special_unary("special.bessel_j1", input, out)


def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind of order 0; -inf at 0, nan below.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.bessel_y0(zero.tensor([0.0, 1.0]))
        tensor([  -inf, 0.0883])

    Source: DLMF 10.2.
    """
    return zero._special_unary("special.bessel_y0", input, out)


def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind of order 1; -inf at 0, nan below.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.bessel_y1(zero.tensor([0.0, 1.0]))
        tensor([   -inf, -0.7812])

    Source: DLMF 10.2.
    """
    return zero._special_unary("special.bessel_y1", input, out)


def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0, scaled: ``y = e^-|x| I0(x)``.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.i0e(zero.tensor([0.0, 1.0]))
        tensor([1.0000, 0.4658])

    Source: DLMF 10.25.
    """
    return zero._special_unary("special.i0e", input, out)


def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.i1(zero.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])

    Source: DLMF 10.25.
    """
    return zero._special_unary("special.i1", input, out)


def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1, scaled: ``y = e^-|x| I1(x)``.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.i1e(zero.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2079])

    Source: DLMF 10.25.
    """
    return zero._special_unary("special.i1e", input, out)


def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0, without a gradient.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.modified_bessel_i0(zero.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])

    Source: DLMF 10.25.
    """
    return zero._special_unary("special.modified_bessel_i0", input, out)


def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1, without a gradient.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.modified_bessel_i1(zero.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])

    Source: DLMF 10.25.
    """
    return zero._special_unary("special.modified_bessel_i1", input, out)


def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0; inf at 0, nan below.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.modified_bessel_k0(zero.tensor([0.0, 1.0]))
        tensor([   inf, 0.4210])

    Source: DLMF 10.25.
    """
    return zero._special_unary("special.modified_bessel_k0", input, out)


def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1; inf at 0, nan below.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.modified_bessel_k1(zero.tensor([0.0, 1.0]))
        tensor([   inf, 0.6019])

    Source: DLMF 10.25.
    """
    return zero._special_unary("special.modified_bessel_k1", input, out)


def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0, scaled: ``y = e^x K0(x)``.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.scaled_modified_bessel_k0(zero.tensor([1.0, 100.0]))
        tensor([1.1445, 0.1252])

    Source: DLMF 10.25.
    """
    return zero._special_unary("special.scaled_modified_bessel_k0", input, out)


def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1, scaled: ``y = e^x K1(x)``.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.scaled_modified_bessel_k1(zero.tensor([1.0, 100.0]))
        tensor([1.6362, 0.1258])

    Source: DLMF 10.25.
    """
    return zero._special_unary("special.scaled_modified_bessel_k1", input, out)


def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The spherical Bessel function of the first kind of order 0: ``y = sin(x) / x``.

    Args:
        input: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.special.spherical_bessel_j0(zero.tensor([0.0, 1.0]))
        tensor([1.0000, 0.8415])

    Source: DLMF 10.47.
    """
    return zero._special_unary("special.spherical_bessel_j0", input, out)
