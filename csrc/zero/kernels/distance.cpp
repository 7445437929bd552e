// Distances of the rows of two matrices, (sum_m |x[i, m] - y[j, m]|^p)^(1/p), and their gradient.
//
// Differences are taken before they are squared: no x^2 - 2 x y + y^2, which cancels where rows are
// close. A tile of kRows x kPanel<T> sums stays in registers, as in gemm.cpp; after kDepth terms it
// is added to float64.
#include "zero/kernels/math.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace distance {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kRows = 4;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kRows = 4;
#else
constexpr int kVectorBytes = 16, kRows = 4;
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define ZERO_UNROLL _Pragma("GCC unroll 16")
#elif defined(__clang__)
#define ZERO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ZERO_UNROLL
#endif

template <class T> constexpr int kPanel = 2 * kVectorBytes / static_cast<int>(sizeof(T));
constexpr int64_t kDepth = 32;

// What is summed (or, for Largest, compared), and the root of the sum.
enum class Power : uint8_t { Zero, One, Two, Largest, Any };

template <Power P, class T>
ZERO_INLINE T joined(T sum, T difference, T p) {
  const T d = math::abs(difference);
  if constexpr (P == Power::Zero) return sum + (d == T(0) ? T(0) : T(1));
  if constexpr (P == Power::One) return sum + d;
  if constexpr (P == Power::Two) return sum + difference * difference;
  if constexpr (P == Power::Largest) return d > sum || d != d ? d : sum;  // NaN stays
  if constexpr (P == Power::Any) return sum + math::pow(d, p);
}

template <Power P, class T>
ZERO_INLINE T root(double sum, double p) {
  if constexpr (P == Power::Two) return math::sqrt(static_cast<T>(sum));
  if constexpr (P == Power::Any) return math::pow(static_cast<T>(sum), static_cast<T>(1.0 / p));
  return static_cast<T>(sum);
}

template <class T, int R, int N>
ZERO_INLINE void clear(T (&tile)[R][N]) {
  ZERO_UNROLL
  for (int i = 0; i < R; ++i) {
    ZERO_SIMD
    for (int j = 0; j < N; ++j) tile[i][j] = T(0);
  }
}

// totals += the terms of `depth` columns of R rows of x, which are x_row apart, and
// panel[depth][N].
template <Power P, class T, int R, int N>
ZERO_NOINLINE void tile(const T* x, int64_t x_row, const T* panel, int64_t depth, T p,
                        double (&totals)[R][N]) {
  T sums[R][N];
  clear(sums);
  for (int64_t m = 0; m < depth; ++m, panel += N) {
    ZERO_UNROLL
    for (int i = 0; i < R; ++i) {
      const T value = x[i * x_row + m];
      ZERO_SIMD
      for (int j = 0; j < N; ++j) sums[i][j] = joined<P>(sums[i][j], value - panel[j], p);
    }
  }
  for (int i = 0; i < R; ++i) {
    ZERO_SIMD
    for (int j = 0; j < N; ++j) {
      const double sum = static_cast<double>(sums[i][j]);
      if constexpr (P == Power::Largest) {
        totals[i][j] = sum > totals[i][j] || sum != sum ? sum : totals[i][j];
      } else {
        totals[i][j] += sum;
      }
    }
  }
}

// The distances of R rows of x from the rows of a panel, of which `width` count.
template <Power P, class T, int R, int N>
ZERO_INLINE void rows_of_distances(const DistanceArgs& a, int64_t i, int64_t j, int64_t width) {
  const T* x = static_cast<const T*>(a.x) + i * a.m;
  const T* panel = static_cast<const T*>(a.scratch);
  double totals[R][N];
  clear(totals);
  for (int64_t m = 0; m < a.m; m += kDepth) {
    const int64_t depth = a.m - m < kDepth ? a.m - m : kDepth;
    tile<P, T, R, N>(x + m, a.m, panel + m * N, depth, static_cast<T>(a.p), totals);
  }
  for (int k = 0; k < R; ++k) {
    T* row = static_cast<T*>(a.out) + (i + k) * a.out_row + j * a.out_column;
    if (a.out_column == 1) {
      ZERO_SIMD
      for (int64_t n = 0; n < width; ++n) row[n] = root<P, T>(totals[k][n], a.p);
    } else {
      for (int64_t n = 0; n < width; ++n) row[n * a.out_column] = root<P, T>(totals[k][n], a.p);
    }
  }
}

// panel[m][N] = the transpose of up to N rows of y; rows that are missing repeat the last.
template <class T, int N>
ZERO_NOINLINE void pack(T* panel, const T* y, int64_t rows, int64_t m) {
  for (int j = 0; j < N; ++j) {
    const T* row = y + (j < rows ? j : rows - 1) * m;
    for (int64_t k = 0; k < m; ++k) panel[k * N + j] = row[k];
  }
}

template <Power P, class T>
void forward_power(const DistanceArgs& a) {
  constexpr int N = kPanel<T>;
  const T* y = static_cast<const T*>(a.y);
  for (int64_t j = 0; j < a.columns; j += N) {
    const int64_t width = a.columns - j < N ? a.columns - j : N;
    pack<T, N>(static_cast<T*>(a.scratch), y + j * a.m, width, a.m);
    int64_t i = 0;
    for (; i + kRows <= a.rows; i += kRows) rows_of_distances<P, T, kRows, N>(a, i, j, width);
    for (; i < a.rows; ++i) rows_of_distances<P, T, 1, N>(a, i, j, width);
  }
}

// ---- the gradient: out[i, m] = sum_j weight[i, j] slope(x[i, m] - y[j, m], other[i, j]) ---------

template <Power P, class T>
ZERO_INLINE T slope(T d, T other, T p) {
  const T sign = d > T(0) ? T(1) : d < T(0) ? T(-1) : d;  // NaN and 0 stay
  if constexpr (P == Power::One) return sign;
  if constexpr (P == Power::Two) return d;
  if constexpr (P == Power::Largest) return math::abs(d) == other ? sign : T(0);
  if constexpr (P == Power::Any)
    return d == T(0) ? T(0) : sign * math::pow(math::abs(d) * other, p - T(1));
  return T(0);
}

// totals += the slopes of R x N elements of x against n rows of y, which are N apart; those of
// `weight` and `other` are `pair_row` apart.
template <Power P, class T, int R, int N>
ZERO_NOINLINE void slope_tile(const T (&x)[R][N], const T* y, const T* weight, const T* other,
                              int64_t pair_row, int64_t n, T p, double (&totals)[R][N]) {
  T sums[R][N];
  clear(sums);
  for (int64_t j = 0; j < n; ++j, y += N) {
    ZERO_UNROLL
    for (int i = 0; i < R; ++i) {
      const T w = weight[i * pair_row + j];
      const T o = P == Power::Largest || P == Power::Any ? other[i * pair_row + j] : T(0);
      ZERO_SIMD
      for (int m = 0; m < N; ++m) sums[i][m] += w * slope<P>(x[i][m] - y[m], o, p);
    }
  }
  for (int i = 0; i < R; ++i) {
    ZERO_SIMD
    for (int m = 0; m < N; ++m) totals[i][m] += static_cast<double>(sums[i][m]);
  }
}

// Few elements per row: lanes are rows of y, which is transposed, [m][n].
template <Power P, class T>
ZERO_NOINLINE double slope_sum(T x, const T* y, const T* weight, const T* other, int64_t n, T p) {
  constexpr int N = kPanel<T>;
  T lanes[N];
  ZERO_SIMD
  for (int k = 0; k < N; ++k) lanes[k] = T(0);
  int64_t j = 0;
  for (; j + N <= n; j += N) {
    ZERO_SIMD
    for (int k = 0; k < N; ++k) lanes[k] += weight[j + k] * slope<P>(x - y[j + k], other[j + k], p);
  }
  double sum = 0;
  for (int k = 0; k < N; ++k) sum += static_cast<double>(lanes[k]);
  for (; j < n; ++j) sum += static_cast<double>(weight[j] * slope<P>(x - y[j], other[j], p));
  return sum;
}

template <Power P, class T>
void backward_narrow(const DistanceArgs& a, int64_t first, int64_t n) {
  const T* x = static_cast<const T*>(a.x);
  const T* y = static_cast<const T*>(a.y) + first * a.m;
  T* turned = static_cast<T*>(a.scratch);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t m = 0; m < a.m; ++m) turned[m * kDistanceChunk + j] = y[j * a.m + m];
  for (int64_t i = 0; i < a.rows; ++i) {
    const T* weight = static_cast<const T*>(a.weight) + i * a.pair_row + first;
    const T* other = static_cast<const T*>(a.other) + i * a.pair_row + first;
    for (int64_t m = 0; m < a.m; ++m)
      a.totals[i * a.m + m] += slope_sum<P, T>(x[i * a.m + m], turned + m * kDistanceChunk, weight,
                                               other, n, static_cast<T>(a.p));
  }
}

// R rows of x and `width` of its columns, from m on, against a panel of n rows of y.
template <Power P, class T, int R, int N>
ZERO_INLINE void rows_of_slopes(const DistanceArgs& a, int64_t i, int64_t m, int64_t width,
                                int64_t first, int64_t n) {
  const T* x = static_cast<const T*>(a.x) + i * a.m + m;
  const T* panel = static_cast<const T*>(a.scratch);
  T values[R][N];
  double sums[R][N];
  clear(sums);
  for (int k = 0; k < R; ++k)
    for (int c = 0; c < N; ++c) values[k][c] = c < width ? x[k * a.m + c] : T(0);
  for (int64_t j = 0; j < n; j += kDepth) {
    const int64_t at = i * a.pair_row + first + j;
    slope_tile<P, T, R, N>(values, panel + j * N, static_cast<const T*>(a.weight) + at,
                           static_cast<const T*>(a.other) + at, a.pair_row,
                           n - j < kDepth ? n - j : kDepth, static_cast<T>(a.p), sums);
  }
  for (int k = 0; k < R; ++k)
    for (int64_t c = 0; c < width; ++c) a.totals[(i + k) * a.m + m + c] += sums[k][c];
}

template <Power P, class T>
void backward_wide(const DistanceArgs& a, int64_t first, int64_t n) {
  constexpr int N = kPanel<T>;
  const T* y = static_cast<const T*>(a.y) + first * a.m;
  T* panel = static_cast<T*>(a.scratch);
  for (int64_t m = 0; m < a.m; m += N) {
    const int64_t width = a.m - m < N ? a.m - m : N;
    for (int64_t j = 0; j < n; ++j)
      for (int c = 0; c < N; ++c) panel[j * N + c] = c < width ? y[j * a.m + m + c] : T(0);
    int64_t i = 0;
    for (; i + kRows <= a.rows; i += kRows)
      rows_of_slopes<P, T, kRows, N>(a, i, m, width, first, n);
    for (; i < a.rows; ++i) rows_of_slopes<P, T, 1, N>(a, i, m, width, first, n);
  }
}

template <Power P, class T>
void backward_power(const DistanceArgs& a) {
  T* out = static_cast<T*>(a.out);
  double* totals = a.totals;
  for (int64_t i = 0; i < a.rows * a.m; ++i) totals[i] = 0;
  const bool wide = P != Power::Any && a.m >= kPanel<T> / 2;
  for (int64_t j = 0; j < a.columns; j += kDistanceChunk) {
    const int64_t n = a.columns - j < kDistanceChunk ? a.columns - j : kDistanceChunk;
    if (wide) {
      backward_wide<P, T>(a, j, n);
    } else {
      backward_narrow<P, T>(a, j, n);
    }
  }
  for (int64_t i = 0; i < a.rows * a.m; ++i) out[i] = static_cast<T>(totals[i]);
}

// out = g / distance, 0 where that is 0.
template <class T>
void over_distance(const void* g, const void* distance, void* out, int64_t n) {
  const T* from = static_cast<const T*>(g);
  const T* d = static_cast<const T*>(distance);
  T* to = static_cast<T*>(out);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) {
    const bool flat = d[i] == T(0);
    const T quotient = from[i] / (flat ? T(1) : d[i]);
    to[i] = flat ? T(0) : quotient;
  }
}

template <class T>
void forward(const DistanceArgs& a) {
  if (a.p == 0) return forward_power<Power::Zero, T>(a);
  if (a.p == 1) return forward_power<Power::One, T>(a);
  if (a.p == 2) return forward_power<Power::Two, T>(a);
  if (a.p == math::kInf) return forward_power<Power::Largest, T>(a);
  forward_power<Power::Any, T>(a);
}

template <class T>
void backward(const DistanceArgs& a) {
  if (a.p == 0) return backward_power<Power::Zero, T>(a);
  if (a.p == 1) return backward_power<Power::One, T>(a);
  if (a.p == 2) return backward_power<Power::Two, T>(a);
  if (a.p == math::kInf) return backward_power<Power::Largest, T>(a);
  backward_power<Power::Any, T>(a);
}

}  // namespace distance
}  // namespace

void fill_distance(KernelTable& table) {
  constexpr int f32 = static_cast<int>(ComputeType::F32), f64 = static_cast<int>(ComputeType::F64);
  table.distance[f32] = distance::forward<float>;
  table.distance[f64] = distance::forward<double>;
  table.distance_backward[f32] = distance::backward<float>;
  table.distance_backward[f64] = distance::backward<double>;
  table.over_distance[f32] = distance::over_distance<float>;
  table.over_distance[f64] = distance::over_distance<double>;
}

}  // namespace zero::ZERO_ISA_NS
