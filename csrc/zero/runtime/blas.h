// The bridge to a BLAS. This file and blas.cpp alone name one; the library is loaded at the first
// call and never linked, so that another package's copy cannot take its place.
#pragma once

#include <string>

namespace zero {

// Values of the C interface's enums.
enum BlasOrder : int { kRowMajor = 101, kColMajor = 102 };
enum BlasTranspose : int { kNoTrans = 111, kTrans = 112 };

// C interface with 32-bit integers (LP64). Every member is set, else there is no Blas.
struct Blas {
  // c = alpha op(a) op(b) + beta c; op(a) is m x k, op(b) is k x n.
  void (*sgemm)(BlasOrder order, BlasTranspose transa, BlasTranspose transb, int m, int n, int k,
                float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c,
                int ldc);
  void (*dgemm)(BlasOrder order, BlasTranspose transa, BlasTranspose transb, int m, int n, int k,
                double alpha, const double* a, int lda, const double* b, int ldb, double beta,
                double* c, int ldc);
  // y = alpha op(a) x + beta y; a is m x n.
  void (*sgemv)(BlasOrder order, BlasTranspose trans, int m, int n, float alpha, const float* a,
                int lda, const float* x, int incx, float beta, float* y, int incy);
  void (*dgemv)(BlasOrder order, BlasTranspose trans, int m, int n, double alpha, const double* a,
                int lda, const double* x, int incx, double beta, double* y, int incy);
};

// Null when no library was found or ZERO_BLAS=none. The library runs one thread; call it from as
// many threads as kMaxGemmThreads.
const Blas* blas();

// Around every call of the library. When the process ends it frees its buffers, although threads
// may be computing: the end waits for the calls that run, and those that come later never return.
class BlasCall {
 public:
  BlasCall();
  ~BlasCall();
  BlasCall(const BlasCall&) = delete;
  BlasCall& operator=(const BlasCall&) = delete;
};

// Bracket a fork(): calls that run are waited for, and others start afterwards, as the library has
// locks that a child would find held.
void blas_before_fork();
void blas_after_fork();

// One line for people: library, version, core type; or why there is none.
std::string blas_description();

// Where to look, instead of `_libs` beside the shared object of this code. Before the first blas()
// only; afterwards ValueError.
void set_blas_directory(const std::string& path);

}  // namespace zero
