"""Orthogonal polynomials, as in DLMF 18.3. They have no gradient, as in PyTorch.

Fractions of a degree are cut off; negative degrees give 0.
"""

from __future__ import annotations

import zero
from zero import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Polynomial(Protocol):
        def __call__(
            self, input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
        ) -> Tensor: ...


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

DOC = """{summary}

    Args:
        input: any shape, or a number.
        n: the degrees: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.special.{name}(zero.tensor([0.5, 1.0]), {degree}).tolist()
        {values}
    """


def _polynomial(name: str, summary: str, degree: int, values: list[float]) -> Polynomial:
    """One of them, and what an example shows: its values at 1/2 and 1."""

    def polynomial(
        input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
    ) -> Tensor:
        return zero._special_binary(f"special.{name}", input, n, out)

    polynomial.__name__ = polynomial.__qualname__ = name
    polynomial.__doc__ = DOC.format(summary=summary, name=name, degree=degree, values=values)
    return polynomial


chebyshev_polynomial_t = _polynomial(
    "chebyshev_polynomial_t",
    "Chebyshev's polynomials of the first kind: ``T_n(cos t) = cos(n t)``.",
    3,
    [-1.0, 1.0],
)
chebyshev_polynomial_u = _polynomial(
    "chebyshev_polynomial_u",
    "Chebyshev's polynomials of the second kind: ``U_n(cos t) = sin((n + 1) t) / sin(t)``.",
    3,
    [-1.0, 4.0],
)
chebyshev_polynomial_v = _polynomial(
    "chebyshev_polynomial_v",
    "Chebyshev's polynomials of the third kind: ``V_n(cos t) = cos((n + 1/2) t) / cos(t / 2)``.",
    3,
    [-1.0, 1.0],
)
chebyshev_polynomial_w = _polynomial(
    "chebyshev_polynomial_w",
    "Chebyshev's polynomials of the fourth kind: ``W_n(cos t) = sin((n + 1/2) t) / sin(t / 2)``.",
    3,
    [-1.0, 7.0],
)
shifted_chebyshev_polynomial_t = _polynomial(
    "shifted_chebyshev_polynomial_t",
    "Chebyshev's polynomials of the first kind on [0, 1]: ``T_n(2 x - 1)``.",
    3,
    [-0.0, 1.0],
)
shifted_chebyshev_polynomial_u = _polynomial(
    "shifted_chebyshev_polynomial_u",
    "Chebyshev's polynomials of the second kind on [0, 1]: ``U_n(2 x - 1)``.",
    3,
    [-0.0, 4.0],
)
shifted_chebyshev_polynomial_v = _polynomial(
    "shifted_chebyshev_polynomial_v",
    "Chebyshev's polynomials of the third kind on [0, 1]: ``V_n(2 x - 1)``.",
    3,
    [1.0, 1.0],
)
shifted_chebyshev_polynomial_w = _polynomial(
    "shifted_chebyshev_polynomial_w",
    "Chebyshev's polynomials of the fourth kind on [0, 1]: ``W_n(2 x - 1)``.",
    3,
    [-1.0, 7.0],
)
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h",
    "Hermite's polynomials of physics: ``H_2(x) = 4 x^2 - 2``.",
    2,
    [-1.0, 2.0],
)
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he",
    "Hermite's polynomials of statistics: ``He_2(x) = x^2 - 1``.",
    2,
    [-0.75, 0.0],
)
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l",
    "Laguerre's polynomials: ``L_1(x) = 1 - x``.",
    2,
    [0.125, -0.5],
)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p",
    "Legendre's polynomials: ``P_2(x) = (3 x^2 - 1) / 2``.",
    2,
    [-0.125, 1.0],
)
