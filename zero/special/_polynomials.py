"""Orthogonal polynomials, as in DLMF 18.3. They have no gradient, as in PyTorch.

Fractions of a degree are cut off; negative degrees give 0.
"""

from __future__ import annotations

import zero
from zero import Tensor

__all__ = [
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
]


def chebyshev_polynomial_t(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomials of the first kind: ``T_n(cos t) = cos(n t)``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.chebyshev_polynomial_t(zero.tensor([0.5, 1.0]), 3).tolist()
        [-1.0, 1.0]
    """
    return zero._special_binary("special.chebyshev_polynomial_t", input, n, out)


def chebyshev_polynomial_u(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomials of the second kind: ``U_n(cos t) = sin((n + 1) t) / sin(t)``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.chebyshev_polynomial_u(zero.tensor([0.5, 1.0]), 3).tolist()
        [-1.0, 4.0]
    """
    return zero._special_binary("special.chebyshev_polynomial_u", input, n, out)


def chebyshev_polynomial_v(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomials of the third kind: ``V_n(cos t) = cos((n + 1/2) t) / cos(t / 2)``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.chebyshev_polynomial_v(zero.tensor([0.5, 1.0]), 3).tolist()
        [-1.0, 1.0]
    """
    return zero._special_binary("special.chebyshev_polynomial_v", input, n, out)


def chebyshev_polynomial_w(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomials of the fourth kind: ``W_n(cos t) = sin((n + 1/2) t) / sin(t / 2)``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.chebyshev_polynomial_w(zero.tensor([0.5, 1.0]), 3).tolist()
        [-1.0, 7.0]
    """
    return zero._special_binary("special.chebyshev_polynomial_w", input, n, out)


def shifted_chebyshev_polynomial_t(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomials of the first kind on [0, 1]: ``T_n(2 x - 1)``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.shifted_chebyshev_polynomial_t(zero.tensor([0.5, 1.0]), 3).tolist()
        [-0.0, 1.0]
    """
    return zero._special_binary("special.shifted_chebyshev_polynomial_t", input, n, out)


def shifted_chebyshev_polynomial_u(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomials of the second kind on [0, 1]: ``U_n(2 x - 1)``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.shifted_chebyshev_polynomial_u(zero.tensor([0.5, 1.0]), 3).tolist()
        [-0.0, 4.0]
    """
    return zero._special_binary("special.shifted_chebyshev_polynomial_u", input, n, out)


def shifted_chebyshev_polynomial_v(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomials of the third kind on [0, 1]: ``V_n(2 x - 1)``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.shifted_chebyshev_polynomial_v(zero.tensor([0.5, 1.0]), 3).tolist()
        [1.0, 1.0]
    """
    return zero._special_binary("special.shifted_chebyshev_polynomial_v", input, n, out)


def shifted_chebyshev_polynomial_w(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomials of the fourth kind on [0, 1]: ``W_n(2 x - 1)``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.shifted_chebyshev_polynomial_w(zero.tensor([0.5, 1.0]), 3).tolist()
        [-1.0, 7.0]
    """
    return zero._special_binary("special.shifted_chebyshev_polynomial_w", input, n, out)


def hermite_polynomial_h(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Hermite's polynomials of physics: ``H_2(x) = 4 x^2 - 2``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.hermite_polynomial_h(zero.tensor([0.5, 1.0]), 2).tolist()
        [-1.0, 2.0]
    """
    return zero._special_binary("special.hermite_polynomial_h", input, n, out)


def hermite_polynomial_he(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Hermite's polynomials of statistics: ``He_2(x) = x^2 - 1``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.hermite_polynomial_he(zero.tensor([0.5, 1.0]), 2).tolist()
        [-0.75, 0.0]
    """
    return zero._special_binary("special.hermite_polynomial_he", input, n, out)


def laguerre_polynomial_l(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Laguerre's polynomials: ``L_1(x) = 1 - x``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.laguerre_polynomial_l(zero.tensor([0.5, 1.0]), 2).tolist()
        [0.125, -0.5]
    """
    return zero._special_binary("special.laguerre_polynomial_l", input, n, out)


def legendre_polynomial_p(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Legendre's polynomials: ``P_2(x) = (3 x^2 - 1) / 2``.

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.legendre_polynomial_p(zero.tensor([0.5, 1.0]), 2).tolist()
        [-0.125, 1.0]
    """
    return zero._special_binary("special.legendre_polynomial_p", input, n, out)
