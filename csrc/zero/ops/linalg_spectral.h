// Eigenvalues and singular values of one large matrix: reduced to three or two diagonals here, with
// all threads; those are LAPACK's. Bits depend on shapes alone.
#pragma once

#include "zero/ops/linalg_batch.h"

namespace zero {

struct Lapack;

inline int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// Lines of float32 or float64 numbers, by address and index: one code for both.
struct Numbers {
  const DType dtype;
  const int64_t item;
  explicit Numbers(DType type) : dtype(type), item(itemsize(type)) {}

  char* at(void* x, int64_t i) const { return static_cast<char*>(x) + i * item; }
  const char* at(const void* x, int64_t i) const { return static_cast<const char*>(x) + i * item; }
  double get(const void* x, int64_t i) const;
  void set(void* x, int64_t i, double value) const;
  void clear(void* x, int64_t begin, int64_t end) const;  // zeros
  // to[i * to_step] = factor from[i * from_step].
  void copy(void* to, int64_t to_step, const void* from, int64_t from_step, int64_t n,
            double factor = 1) const;
};

bool is_finite(DType dtype, const void* x, int64_t n);

// Whether a single symmetric n x n matrix, or an m x n matrix, is large enough.
bool is_large_eigh(int64_t n);
bool is_large_svd(int64_t m, int64_t n);

// A of which the triangle above the diagonal is read; rows are dense. `vectors` (null: not wanted):
// eigenvectors as rows. Returns LAPACK's info, or -1 where there is NaN or an infinity.
int32_t eigh_blocked(const Lapack& lapack, DType dtype, const void* a, int64_t n, void* values,
                     void* vectors);
// U (null: not wanted) is m x m or m x k, and Vh n x n or k x n, by `full`; rows are dense.
int32_t svd_blocked(const Lapack& lapack, DType dtype, const void* a, int64_t m, int64_t n,
                    void* values, void* u, void* vh, bool full);

// Eigenvalues of T and its eigenvectors as rows, n apart; d becomes the former, e is lost. Returns
// LAPACK's info.
int32_t tridiagonal_vectors(const Lapack& lapack, DType dtype, int64_t n, void* d, void* e,
                            void* vectors);

// scale A = Q T Q^T: the diagonal d and what is beside it, e, of T. Q is the product of the
// reflectors in the n - 1 rows of v, of which row k begins at element k + 1; v may be null.
void tridiagonal_blocked(DType dtype, const void* a, int64_t row, int64_t n, double scale, void* d,
                         void* e, void* v, void* tau);

// scale A = Q B P^T for m >= n, or of the transpose of what lies at `a` if `turned`: the diagonal d
// of B and what is above it, e. Q and P are products of the reflectors in the n rows of v, m long,
// row k from element k on, and in the n - 1 rows of u, n long, from element k + 1 on; both may be
// null.
struct BidiagonalArgs {
  const void* a;
  int64_t row, m, n;
  bool turned;
  void *d, *e, *v, *v_tau, *u, *u_tau;
};
void bidiagonal_blocked(DType dtype, const BidiagonalArgs& args, double scale);

}  // namespace zero
