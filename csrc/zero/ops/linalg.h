// Factorizations of matrices [..., m, n] of float32 or float64, one for each index of the leading
// dimensions, and what is solved with them. A matrix that has none makes no error here: `info` says
// it, an int32 for each matrix, 0 where all is well. Small matrices are computed side by side in
// the lanes of vectors, larger ones by blocks (linalg_blocked.h) or by LAPACK, if there is one.
#pragma once

#include "zero/ops/ops.h"

namespace zero {

// ---- linalg_lu.cpp ------------------------------------------------------------------------------
struct LuFactors { Tensor lu, pivots, info; };  // pivots: int32, rows from 1 on
LuFactors lu_factor(const Tensor& a);           // P A = L U
// X of A X = B by the factors of A, or of its transpose; only B has a gradient.
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transposed);
// X of A X = B for a triangular A, of which the other triangle isn't read.
Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool unit);
struct Solution {
  Tensor x;
  LuFactors factors;
};
Solution solve(const Tensor& a, const Tensor& b);
Solution inverse(const Tensor& a);
Tensor determinant(const Tensor& a);
std::pair<Tensor, Tensor> sign_log_determinant(const Tensor& a);

// ---- linalg_factor.cpp --------------------------------------------------------------------------
// L of A = L L^T by the lower triangle of A, or, if `upper`, U of A = U^T U by the upper one.
std::pair<Tensor, Tensor> cholesky(const Tensor& a, bool upper);  // factor, info
// Reflectors below R, and their factors; no gradient.
std::pair<Tensor, Tensor> householder_qr(const Tensor& a);
// The first columns of the product of reflectors, as many as `v` has; no gradient.
Tensor householder_product(const Tensor& v, const Tensor& tau);
std::pair<Tensor, Tensor> qr(const Tensor& a, bool complete);

// ---- linalg_lapack.cpp --------------------------------------------------------------------------
// A = U diag(S) Vh; U and Vh are undefined without `vectors`. Info > 0: it didn't converge, < 0:
// there are infinities or NaN.
struct Svd { Tensor u, s, vh, info; };
Svd svd(const Tensor& a, bool full, bool vectors);
struct Eigh { Tensor values, vectors, info; };  // A V = V diag(values), by one triangle of A
Eigh eigh(const Tensor& a, bool upper, bool vectors);
// Least squares by one of LAPACK's four drivers, without gradients: the solutions stand above what
// is left of B.
enum class LeastSquares : uint8_t { Gels, Gelsy, Gelsd, Gelss };
struct LeastSquaresResult { Tensor b, rank, singular_values, info; };
LeastSquaresResult least_squares(const Tensor& a, const Tensor& b, double rcond,
                                 LeastSquares driver);
struct LdlFactors { Tensor ld, pivots, info; };  // of a symmetric A, by its lower triangle
LdlFactors ldl_factor(const Tensor& a);
Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b);

// All of these by their names, for the bindings: see the table at the end of linalg_factor.cpp.
Tensors linalg(const std::string& name, const Tensors& inputs, int64_t option, double number);
// The first matrix whose info is not 0, or -1.
int64_t first_failure(const Tensor& info);

}  // namespace zero
