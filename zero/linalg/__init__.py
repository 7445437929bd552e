"""Linear algebra, with PyTorch's names: products, factors of matrices, equations, norms.

Matrices stand in the last two dimensions, and are of float32 or float64; all others are a batch.
What needs complex results (`eig`, `eigvals`) raises an error.

>>> import zero
>>> A = zero.tensor([[4.0, 2.0], [2.0, 3.0]])
>>> zero.linalg.cholesky(A)
tensor([[2.0000, 0.0000],
        [1.0000, 1.4142]])
>>> zero.linalg.solve(A, zero.tensor([8.0, 8.0]))
tensor([1., 2.])
"""

from __future__ import annotations

from zero import _later
from zero.errors import LinAlgError
from zero.linalg.factors import (
    cholesky,
    cholesky_ex,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    ldl_factor,
    ldl_factor_ex,
    lu,
    lu_factor,
    lu_factor_ex,
    qr,
    svd,
    svdvals,
)
from zero.linalg.functions import matrix_exp, matrix_power
from zero.linalg.least_squares import lstsq, matrix_rank, pinv
from zero.linalg.norms import cond, matrix_norm, norm, vector_norm
from zero.linalg.products import cross, diagonal, matmul, multi_dot, vander, vecdot
from zero.linalg.solving import (
    det,
    inv,
    inv_ex,
    ldl_solve,
    lu_solve,
    slogdet,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
)

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

TYPE_CHECKING = False
if not TYPE_CHECKING:  # else any name would do
    __getattr__ = _later.missing(__name__)
