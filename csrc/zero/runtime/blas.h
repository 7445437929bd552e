// The bridge to a BLAS. This file and blas.cpp alone name one; the library is loaded at the first
// call and never linked, so that another package's copy cannot take its place.
#pragma once

#include <cstddef>
#include <string>

namespace zero {

// What zero calls of LAPACK, with Fortran's interface: matrices by columns, all arguments by
// pointers, and the lengths of strings, which are 1 here, at the end. Pointers to void are to
// floats or to doubles, by the table. A size of -1 for `work` asks for the best one.
struct Lapack {
  void (*gesdd)(const char* job, const int* m, const int* n, void* a, const int* lda, void* s,
                void* u, const int* ldu, void* vt, const int* ldvt, void* work, const int* lwork,
                int* iwork, int* info, size_t);
  void (*syevd)(const char* job, const char* uplo, const int* n, void* a, const int* lda, void* w,
                void* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t,
                size_t);
  // Of a symmetric matrix with three diagonals: eigenvalues alone, and with vectors.
  void (*sterf)(const int* n, void* d, void* e, int* info);
  void (*stedc)(const char* compz, const int* n, void* d, void* e, void* z, const int* ldz,
                void* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t);
  // Steps of stedc: what of two halves' eigenvalues stays as it is, and the order of the others;
  // one root of the secular equation.
  void (*laed2)(int* k, const int* n, const int* n1, void* d, void* q, const int* ldq, int* indxq,
                void* rho, void* z, void* dlamda, void* w, void* q2, int* indx, int* indxc,
                int* indxp, int* coltyp, int* info);
  void (*laed4)(const int* n, const int* i, const void* d, const void* z, void* delta,
                const void* rho, void* dlam, int* info);
  // Singular values and vectors of a matrix with two diagonals.
  void (*bdsdc)(const char* uplo, const char* compq, const int* n, void* d, void* e, void* u,
                const int* ldu, void* vt, const int* ldvt, void* q, int* iq, void* work, int* iwork,
                int* info, size_t, size_t);
  void (*sytrf)(const char* uplo, const int* n, void* a, const int* lda, int* pivots, void* work,
                const int* lwork, int* info, size_t);
  void (*sytrs)(const char* uplo, const int* n, const int* nrhs, const void* a, const int* lda,
                const int* pivots, void* b, const int* ldb, int* info, size_t);
  // Least squares: by QR, by QR with exchanged columns, by two ways to the singular values.
  void (*gels)(const char* trans, const int* m, const int* n, const int* nrhs, void* a,
               const int* lda, void* b, const int* ldb, void* work, const int* lwork, int* info,
               size_t);
  void (*gelsy)(const int* m, const int* n, const int* nrhs, void* a, const int* lda, void* b,
                const int* ldb, int* jpvt, const void* rcond, int* rank, void* work,
                const int* lwork, int* info);
  void (*gelsd)(const int* m, const int* n, const int* nrhs, void* a, const int* lda, void* b,
                const int* ldb, void* s, const void* rcond, int* rank, void* work, const int* lwork,
                int* iwork, int* info);
  void (*gelss)(const int* m, const int* n, const int* nrhs, void* a, const int* lda, void* b,
                const int* ldb, void* s, const void* rcond, int* rank, void* work, const int* lwork,
                int* info);
};

// Values of the C interface's enums.
enum BlasOrder : int { kRowMajor = 101, kColMajor = 102 };
enum BlasTranspose : int { kNoTrans = 111, kTrans = 112 };

// C interface with 32-bit integers (LP64). Every member is set, else there is no Blas; `lapack`
// says whether those of LAPACK are.
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
  Lapack s, d;  // for float32 and float64
  bool lapack;
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
