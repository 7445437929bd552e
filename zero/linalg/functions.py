"""Powers and the exponential function of matrices."""

from __future__ import annotations

import math

import zero
from zero import Tensor, _deliver
from zero.errors import DTypeError
from zero.linalg._results import check_square
from zero.linalg.solving import inv, solve_ex

__all__ = ["matrix_exp", "matrix_power"]


def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """The n-th power of square matrices, by squares; of their inverses for n < 0.

    Args:
        A: of shape [..., k, k].
        n: an int.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        LinAlgError: n < 0 and a matrix is singular.
        ShapeError: A is no square matrix.
        DTypeError: A is not of floats.

    Example:
        >>> import zero
        >>> zero.linalg.matrix_power(zero.tensor([[1.0, 1.0], [0.0, 1.0]]), 10).tolist()
        [[1.0, 10.0], [0.0, 1.0]]
    """
    if not A.is_floating_point():
        raise DTypeError(f"matrix_power: not of floats; got {A.dtype}, expected floats")
    check_square("matrix_power", A)
    if not isinstance(n, int):
        raise TypeError(f"matrix_power: n is not an int; got {type(n).__name__}, expected an int")
    if n < 0:
        A, n = inv(A), -n
    if n == 0:
        size = A.shape[-1]
        one = zero.eye(size, dtype=A.dtype, device=A.device)
        # Recorded, with a gradient of 0.
        return _deliver(zero.where(zero.ones_like(A, dtype=zero.bool), one, A), out, "matrix_power")
    result, square = None, A
    while True:
        if n & 1:
            result = square if result is None else result @ square
        n >>= 1
        if n == 0:
            break
        square = square @ square
    assert result is not None
    return _deliver(result.clone() if result is A else result, out, "matrix_power")


# Padé's approximants of exp: the coefficients of the numerator, of which the denominator has those
# of odd powers with the other sign; and the 1-norm up to which they are exact to rounding (Higham,
# "The scaling and squaring method for the matrix exponential revisited", 2005).
_PADE = {
    3: (0.42, (120.0, 60.0, 12.0, 1.0)),
    7: (
        3.9,
        (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0),
    ),
    13: (
        5.37,
        (
            *(64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0),
            *(129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0),
            *(40840800.0, 960960.0, 16380.0, 182.0, 1.0),
        ),
    ),
}


def matrix_exp(A: Tensor) -> Tensor:
    """The exponential function of square matrices: ``sum over k of A^k / k!``.

    A is halved until its norm is small, a quotient of polynomials taken there, and the result
    squared as often (Higham 2005, with Padé's approximant of order 7 or, for float64, 13).

    Args:
        A: of shape [..., n, n], of floats.

    Raises:
        ShapeError: A is no square matrix.
        DTypeError: A is not of floats.

    Example:
        >>> import zero
        >>> zero.linalg.matrix_exp(zero.tensor([[0.0, 1.0], [0.0, 0.0]])).tolist()
        [[1.0, 1.0], [0.0, 1.0]]
    """
    if not A.is_floating_point():
        raise DTypeError(f"matrix_exp: not of floats; got {A.dtype}, expected floats")
    check_square("matrix_exp", A)
    if A.dtype not in (zero.float32, zero.float64):
        return matrix_exp(A.float()).to(A.dtype)
    n = A.shape[-1]
    if n <= 1 or A.numel() == 0:
        return A.exp()
    degree = 13 if A.dtype is zero.float64 else 7
    limit, c = _PADE[degree]
    norms = A.detach().abs().sum(-2).amax(-1)
    largest = 0.0 if A.device.type == "meta" else float(zero._all_values(norms).amax())
    squarings = 0
    X, steps = A, None
    if math.isfinite(largest) and largest > limit:
        # Each matrix has its own number of them, so that its result doesn't depend on others.
        steps = (norms / limit).log2().ceil().clamp(min=0)
        squarings = int(zero._all_values(steps).amax())
        X = A * zero.exp2(-steps).unsqueeze(-1).unsqueeze(-1)
    one = zero.eye(n, dtype=A.dtype, device=A.device)
    X2 = X @ X
    X4 = X2 @ X2
    if degree == 7:
        X6 = X2 @ X4
        odd = X @ (c[7] * X6 + c[5] * X4 + c[3] * X2 + c[1] * one)
        even = c[6] * X6 + c[4] * X4 + c[2] * X2 + c[0] * one
    else:
        X6 = X2 @ X4
        odd = X @ (
            X6 @ (c[13] * X6 + c[11] * X4 + c[9] * X2)
            + c[7] * X6
            + c[5] * X4
            + c[3] * X2
            + c[1] * one
        )
        even = (
            X6 @ (c[12] * X6 + c[10] * X4 + c[8] * X2)
            + c[6] * X6
            + c[4] * X4
            + c[2] * X2
            + c[0] * one
        )
    y: Tensor = solve_ex(even - odd, even + odd).result
    for i in range(squarings):
        assert steps is not None
        y = zero.where((steps > i).unsqueeze(-1).unsqueeze(-1), y @ y, y)
    return y
