#include "zero/ops/linalg_spectral.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "zero/ops/gemm.h"
#include "zero/runtime/blas.h"

namespace zero {

namespace {

// From where on they are as fast as LAPACK on one thread, and up to where its sizes are ints.
constexpr int64_t kLeast = 240, kMost = 20000;
constexpr int64_t kTall = 8;  // fifths: as many times more rows than columns are worth a QR first

// A power of 2 that brings numbers far from 1 near it, so that no product leaves the range.
double scale_of(DType dtype, double largest) {
  if (largest == 0 || (largest > 1e-5 && largest < 1e5)) return 1;
  int exponent;
  std::frexp(largest, &exponent);
  const int most = dtype == DType::Float64 ? 1000 : 100;
  return std::ldexp(1.0, std::clamp(-exponent, -most, most));
}

// The largest magnitude of m rows; of a triangle if each begins at the diagonal. NaN or infinity if
// there is one.
double largest(const Numbers& t, const void* a, int64_t m, int64_t n, bool triangle) {
  double result = 0;
  for (int64_t i = 0; i < m && std::isfinite(result); ++i) {
    const int64_t first = triangle ? i : 0;
    const double value = linalg_kernel(t.dtype).magnitude(t.at(a, i * n + first), n - first);
    if (!(value <= result)) result = value;
  }
  return result;
}

// to = from^T for m x n of `from`.
void turn(const Numbers& t, void* to, int64_t to_row, const void* from, int64_t from_row, int64_t m,
          int64_t n) {
  constexpr int64_t rows = 64;
  parallel_for((m + rows - 1) / rows, 1 + kGrainSize / (rows * n), [=](int64_t begin, int64_t end) {
    const int64_t first = begin * rows;
    linalg_kernel(t.dtype).turn(t.at(to, first), to_row, t.at(from, first * from_row), from_row,
                                std::min(end * rows, m) - first, n);
  });
}

}  // namespace

double Numbers::get(const void* x, int64_t i) const {
  return item == 8 ? static_cast<const double*>(x)[i]
                   : static_cast<double>(static_cast<const float*>(x)[i]);
}

void Numbers::set(void* x, int64_t i, double value) const {
  if (item == 8) {
    static_cast<double*>(x)[i] = value;
  } else {
    static_cast<float*>(x)[i] = static_cast<float>(value);
  }
}

void Numbers::clear(void* x, int64_t begin, int64_t end) const {
  if (begin < end) std::memset(at(x, begin), 0, static_cast<size_t>((end - begin) * item));
}

void Numbers::copy(void* to, int64_t to_step, const void* from, int64_t from_step, int64_t n,
                   double factor) const {
  if (to_step == 1 && from_step == 1 && factor == 1) {
    if (to != from) std::memcpy(to, from, static_cast<size_t>(n * item));
    return;
  }
  with_float(dtype, [&]<class T>(T) {
    T* const x = static_cast<T*>(to);
    const T* const y = static_cast<const T*>(from);
    for (int64_t i = 0; i < n; ++i) x[i * to_step] = static_cast<T>(factor) * y[i * from_step];
  });
}

bool is_finite(DType dtype, const void* x, int64_t n) {
  return std::isfinite(linalg_kernel(dtype).magnitude(x, n));
}

bool is_large_eigh(int64_t n) { return n >= kLeast && n <= kMost; }
bool is_large_svd(int64_t m, int64_t n) {
  return std::min(m, n) >= kLeast && std::max(m, n) <= kMost;
}

int32_t eigh_blocked(const Lapack& lapack, DType dtype, const void* a, int64_t n, void* values,
                     void* vectors) {
  const BlockingSection section(true);
  const Numbers t(dtype);
  const double large = largest(t, a, n, n, true);
  if (!std::isfinite(large)) return -1;
  const double scale = scale_of(dtype, large);
  Buffer storage(n * (vectors ? n + 2 : 2), dtype);
  char* const e = storage.data<char>();
  char* const tau = t.at(e, n);
  char* const v = t.at(tau, n);
  tridiagonal_blocked(dtype, a, n, n, scale, values, e, vectors ? v : nullptr, tau);
  int32_t info = 0;
  if (vectors) {
    info = tridiagonal_vectors(lapack, dtype, n, values, e, vectors);
    reflect_blocked(dtype, t.at(v, 1), n, n - 1, n - 1, tau, t.at(vectors, 1), n, n, true);
  } else {
    const int size = static_cast<int>(n);
    const BlasCall call;
    lapack.sterf(&size, values, e, &info);
  }
  t.copy(values, 1, values, 1, n, 1 / scale);
  return info;
}

int32_t svd_blocked(const Lapack& lapack, DType dtype, const void* a, int64_t m, int64_t n,
                    void* values, void* u, void* vh, bool full) {
  const BlockingSection section(true);
  const Numbers t(dtype);
  const double large = largest(t, a, m, n, false);
  if (!std::isfinite(large)) return -1;
  const double scale = scale_of(dtype, large);
  // Of X = A or A^T, whichever is tall: its left vectors as rows, and its right ones as columns.
  const bool wide = m <= n, vectors = u != nullptr;
  const int64_t k = std::min(m, n), p = std::max(m, n), count = full ? p : k;
  const bool tall = 5 * p >= kTall * k;
  const int64_t height = tall ? k : p;  // of what has two diagonals
  // Lines of k, reflectors, and where the matrix is tall itself, its R, and its Q.
  Buffer storage(4 * k + (vectors ? (height + k) * k : 0) +
                     (tall ? (p + k) * k + (vectors ? p * count : 0) : 0),
                 dtype);
  char* const e = storage.data<char>();
  char *const tau = t.at(e, 3 * k), *const square = t.at(tau, k);
  char *const x = t.at(square, tall ? k * k : 0), *const v = t.at(x, tall ? p * k : 0);
  char *const w = t.at(v, height * k), *const q = t.at(w, k * k);
  BidiagonalArgs args{a,
                      n,
                      height,
                      k,
                      wide,
                      values,
                      e,
                      vectors ? v : nullptr,
                      t.at(e, k),
                      vectors ? w : nullptr,
                      t.at(e, 2 * k)};
  if (tall) {
    if (wide) {
      turn(t, x, k, a, n, m, n);
    } else {
      t.copy(x, 1, a, 1, m * n);
    }
    t.copy(x, 1, x, 1, p * k, scale);
    qr_blocked(dtype, x, k, p, k, tau);
    t.clear(square, 0, k * k);
    for (int64_t i = 0; i < k; ++i)
      t.copy(t.at(square, i * (k + 1)), 1, t.at(x, i * (k + 1)), 1, k - i);
    if (vectors) q_blocked(dtype, x, k, p, k, tau, q, count, count);
    args.a = square;
    args.row = k;
    args.turned = false;
  }
  bidiagonal_blocked(dtype, args, tall ? 1 : scale);

  const int size = static_cast<int>(k), rows_step = static_cast<int>(height);
  int32_t info = 0;
  Buffer work(vectors ? k * (3 * k + 4) : 4 * k, dtype), integers(8 * k, DType::Int32);
  Buffer turned(vectors && !wide ? count * p + k * k : 0, dtype);
  char* const left = static_cast<char*>(wide ? vh : turned.data<void>());  // count x p
  char* const right = wide || !vectors ? static_cast<char*>(u) : t.at(left, count * p);
  char* const rows = tall ? square : left;
  {
    const BlasCall call;
    lapack.bdsdc("U", vectors ? "I" : "N", &size, values, e, rows, &rows_step, right, &size,
                 nullptr, nullptr, work.data<void>(), integers.data<int>(), &info, 1, 1);
  }
  t.copy(values, 1, values, 1, k, 1 / scale);
  if (!vectors) return info;
  const int64_t row_count = tall ? k : count;
  for (int64_t i = 0; i < row_count; ++i) {
    t.clear(rows, i * height + (i < k ? k : 0), (i + 1) * height);
    if (i >= k) t.set(rows, i * (height + 1), 1);
  }
  reflect_blocked(dtype, v, height, height, k, args.v_tau, rows, height, row_count, true);
  reflect_blocked(dtype, t.at(w, 1), k, k - 1, k - 1, args.u_tau, t.at(right, k), k, k, false);
  if (tall) {
    gemm({dtype, k, p, k, {rows, k, 1}, {q, 1, count}, left, p});
    if (count > k) turn(t, t.at(left, k * p), p, t.at(q, k), count, p, count - k);
  }
  if (!wide) {
    turn(t, u, count, left, p, count, p);
    turn(t, vh, k, right, k, k, k);
  }
  return info;
}

}  // namespace zero
