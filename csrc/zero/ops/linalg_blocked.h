// Factorizations of one large matrix, cut into blocks whose updates are products of matrices, which
// run on all threads. Rows are dense and `row` elements apart; everything happens in place, and
// bits depend on shapes alone. For float and double.
#pragma once

#include "zero/core/allocator.h"
#include "zero/kernels/linalg.h"

namespace zero {

inline const LinalgKernel& linalg_kernel(DType dtype) {
  return kernels().linalg->kernel[dtype == DType::Float64];
}

// Elements for one call, uninitialised.
class Buffer {
 public:
  Buffer(int64_t n, DType dtype)
      : bytes_(static_cast<size_t>(n * itemsize(dtype))), data_(allocate(bytes_)) {}
  ~Buffer() { deallocate(data_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  template <class T> T* data() { return static_cast<T*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

// X = -A^-1 X for a triangular A of any strides, n x n, and n x m sides.
void solve_blocked(DType dtype, const void* a, int64_t row, int64_t column, int64_t n, void* x,
                   int64_t x_row, int64_t m, bool lower, bool unit);
// P A = L U with min(m, n) pivots, rows from 0 on. Returns 1 + the first column whose pivot is 0,
// else 0.
int32_t lu_blocked(DType dtype, void* a, int64_t row, int64_t m, int64_t n, int32_t* pivots);
// The inverse by these factors.
void inverse_blocked(DType dtype, const void* lu, int64_t row, int64_t n, const int32_t* pivots,
                     void* x, int64_t x_row);
// The exchanges of k pivots on n columns, from the last one on if `back`.
void exchange_rows(DType dtype, void* a, int64_t row, int64_t n, const int32_t* pivots, int64_t k,
                   bool back);
// A = U^T U by the upper triangle; below it stay numbers without a meaning. Returns 1 + the first
// minor that is not positive, else 0.
int32_t cholesky_blocked(DType dtype, void* a, int64_t row, int64_t n);
// A = Q R: R on and above the diagonal, reflectors below; min(m, n) factors in tau.
void qr_blocked(DType dtype, void* a, int64_t row, int64_t m, int64_t n, void* tau);
// The first columns of the product of k reflectors, which are columns of v.
void q_blocked(DType dtype, const void* v, int64_t v_row, int64_t m, int64_t k, const void* tau,
               void* q, int64_t q_row, int64_t columns);
// X = H_1 … H_k X, or, if `by_rows`, X = X (H_1 … H_k)^T for n rows of X: reflectors are rows of v,
// m long; row i counts from its element i on, which becomes 1, as those before it become 0.
void reflect_blocked(DType dtype, void* v, int64_t step, int64_t m, int64_t k, const void* tau,
                     void* x, int64_t row, int64_t n, bool by_rows);

}  // namespace zero
