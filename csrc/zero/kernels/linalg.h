// The kernels of linalg.cpp.
//
// Small matrices are computed side by side: of a group of `lanes` matrices, element (i, j) of the
// l-th lies at x[(i * columns + j) * lanes + l], so that one vector instruction serves all of them
// and each has the same bits in any batch. Larger ones are cut into panels and blocks of at most
// kLinalgBlock, between which are products of matrices (ops/linalg_blocked.cpp).
#pragma once

#include "zero/kernels/table.h"

namespace zero {

inline constexpr int64_t kLinalgBlock = 32;
inline constexpr int kMaxLanes = 16;
// The last kernels take rows by so many, and vectors in multiples of kLinalgPad elements.
inline constexpr int64_t kLinalgRows = 4, kLinalgPad = 64;

// `count` matrices, at most `lanes`, that lie `step` apart; strides in elements.
struct GroupArgs {
  void *x, *data;
  int64_t rows, columns, count, step, row, column;
};

struct LinalgKernel {
  int lanes;
  void (*load)(const GroupArgs& args);   // data to x; lanes that are missing become 0
  void (*store)(const GroupArgs& args);  // x to data
  // P A = L U of m x n matrices in place. pivots[k][lanes]: the row, from 0 on, that changed places
  // with row k; info[lanes]: 1 + the first k whose pivot is 0, else 0.
  void (*lu)(void* x, int64_t m, int64_t n, int32_t* pivots, int32_t* info);
  // A = L L^T by the lower triangle, zeros above it. info: 1 + the first k whose minor isn't
  // positive.
  void (*cholesky)(void* x, int64_t n, int32_t* info);
  // The exchanges of k pivots on rows of n elements, from the last one on if `back`.
  void (*exchange)(void* x, int64_t n, const int32_t* pivots, int64_t k, bool back);
  // X = A^-1 X; A is n x n and triangular, X n x m.
  void (*triangular)(const void* a, int64_t n, void* x, int64_t m, bool lower, bool unit);
  // Householder's A = Q R of m x n matrices: R on and above the diagonal, reflectors below.
  void (*qr)(void* x, int64_t m, int64_t n, void* tau);
  // The first `columns` columns of the product of k reflectors, of which `v` has `v_columns`.
  void (*q)(const void* v, int64_t v_columns, int64_t m, int64_t k, const void* tau, void* q,
            int64_t columns);
  // ---- one matrix, rows `row` apart ----
  // to[j][i] = from[i][j] for m x n of `from`.
  void (*turn)(void* to, int64_t to_row, const void* from, int64_t from_row, int64_t m, int64_t n);
  // LU of m rows and n <= kLinalgBlock columns. info stays or becomes 1 + a column whose pivot is
  // 0. scratch: n * m elements.
  void (*lu_panel)(void* a, int64_t row, int64_t m, int64_t n, int32_t* pivots, int32_t* info,
                   void* scratch);
  // X = -A^-1 X for n <= kLinalgBlock.
  void (*solve_rows)(const void* a, int64_t row, int64_t column, int64_t n, void* x, int64_t x_row,
                     int64_t m, bool lower, bool unit);
  // QR of a matrix whose n columns are rows here, `step` apart and m long.
  void (*qr_panel)(void* v, int64_t step, int64_t m, int64_t n, void* tau);
  // out[i] = the sum of x[i][0 … n) y[0 … n), for rows `step` apart.
  void (*dots)(void* out, const void* x, int64_t step, int64_t count, const void* y, int64_t n);
  // y += A x for what rows [first, last) of an upper triangle give of a symmetric A: their products
  // and those of their columns. Below its diagonal are zeros as far as vectors reach.
  void (*symmetric)(const void* a, int64_t row, int64_t first, int64_t last, const void* x, void* y,
                    int64_t n);
  // y[0 … n) -= the sum of factors[i] x[i][0 … n).
  void (*subtract)(void* y, const void* x, int64_t step, const void* factors, int64_t count,
                   int64_t n);
  double (*magnitude)(const void* x, int64_t n);  // the largest; NaN if there is one
};

struct LinalgKernels {
  LinalgKernel kernel[2];  // float32 and float64
};

}  // namespace zero
