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

template <Power P>
ZERO_INLINE double root(double sum, double p) {
  if constexpr (P == Power::Two) return math::sqrt(sum);
  if constexpr (P == Power::Any) return math::pow(sum, 1.0 / p);
  return sum;
}

template <class T, int N>
ZERO_INLINE void clear(T (&tile)[kRows][N]) {
  ZERO_UNROLL
  for (int i = 0; i < kRows; ++i) {
    ZERO_SIMD
    for (int j = 0; j < N; ++j) tile[i][j] = T(0);
  }
}

// totals += the terms of `depth` columns of x (rows given by pointers) and panel[depth][N].
template <Power P, class T, int N>
ZERO_NOINLINE void tile(const T* const (&x)[kRows], const T* panel, int64_t depth, T p,
                        double (&totals)[kRows][N]) {
  T sums[kRows][N];
  clear(sums);
  for (int64_t m = 0; m < depth; ++m, panel += N) {
    ZERO_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const T value = x[i][m];
      ZERO_SIMD
      for (int j = 0; j < N; ++j) sums[i][j] = joined<P>(sums[i][j], value - panel[j], p);
    }
  }
  for (int i = 0; i < kRows; ++i) {
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
  const T* x = static_cast<const T*>(a.x);
  const T* y = static_cast<const T*>(a.y);
  T* out = static_cast<T*>(a.out);
  T* panel = static_cast<T*>(a.scratch);
  for (int64_t j0 = 0; j0 < a.columns; j0 += N) {
    const int64_t width = a.columns - j0 < N ? a.columns - j0 : N;
    pack<T, N>(panel, y + j0 * a.m, width, a.m);
    for (int64_t i0 = 0; i0 < a.rows; i0 += kRows) {
      const int64_t height = a.rows - i0 < kRows ? a.rows - i0 : kRows;
      double totals[kRows][N];
      clear(totals);
      for (int64_t m = 0; m < a.m; m += kDepth) {
        const T* rows[kRows];
        for (int i = 0; i < kRows; ++i)
          rows[i] = x + (i0 + (i < height ? i : height - 1)) * a.m + m;
        const int64_t depth = a.m - m < kDepth ? a.m - m : kDepth;
        tile<P, T, N>(rows, panel + m * N, depth, static_cast<T>(a.p), totals);
      }
      for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < width; ++j)
          out[(i0 + i) * a.out_row + j0 + j] = static_cast<T>(root<P>(totals[i][j], a.p));
    }
  }
}

// ---- the gradient: out[i, m] = sum_j g[i, j] d distance[i, j] / d x[i, m] -----------------------

// d is x - y; `weight` and `other` come from prepare().
template <Power P, class T>
ZERO_INLINE T slope(T d, T weight, T other, T p) {
  const T sign = d > T(0) ? T(1) : d < T(0) ? T(-1) : d;  // NaN and 0 stay
  if constexpr (P == Power::One) return weight * sign;
  if constexpr (P == Power::Two) return weight * d;
  if constexpr (P == Power::Largest) return math::abs(d) == other ? weight * sign : T(0);
  if constexpr (P == Power::Any)
    return d == T(0) ? T(0) : weight * sign * math::pow(math::abs(d) * other, p - T(1));
  return T(0);
}

// Where the distance is 0 its gradient is 0.
template <Power P, class T>
ZERO_INLINE void prepare(T g, T distance, T* weight, T* other) {
  const bool flat = distance == T(0);
  const T inverse = T(1) / (flat ? T(1) : distance);
  *weight = flat ? T(0) : P == Power::Two ? g * inverse : g;
  *other = P == Power::Largest ? distance : inverse;
}

// sums[i] += the slopes of kRows rows against n columns.
template <Power P, class T>
ZERO_NOINLINE void slopes(const T (&x)[kRows], const T* y, const T* weight, const T* other,
                          int64_t stride, int64_t n, T p, double (&sums)[kRows]) {
  constexpr int N = kPanel<T>;
  T lanes[kRows][N];
  clear(lanes);
  int64_t j = 0;
  for (; j + N <= n; j += N) {
    ZERO_UNROLL
    for (int i = 0; i < kRows; ++i) {
      ZERO_SIMD
      for (int k = 0; k < N; ++k)
        lanes[i][k] +=
            slope<P>(x[i] - y[j + k], weight[i * stride + j + k], other[i * stride + j + k], p);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    double sum = 0;
    for (int k = 0; k < N; ++k) sum += static_cast<double>(lanes[i][k]);
    for (int64_t k = j; k < n; ++k)
      sum += static_cast<double>(
          slope<P>(x[i] - y[k], weight[i * stride + k], other[i * stride + k], p));
    sums[i] += sum;
  }
}

template <Power P, class T>
void backward_power(const DistanceArgs& a) {
  constexpr int64_t kColumns = 4096;  // sums of so many are float32
  const T* x = static_cast<const T*>(a.x);
  const T* y = static_cast<const T*>(a.y);  // transposed: [m, columns]
  const T* g = static_cast<const T*>(a.g);
  const T* distance = static_cast<const T*>(a.distance);
  T* out = static_cast<T*>(a.out);
  T* weight = static_cast<T*>(a.scratch);
  T* other = weight + kRows * a.columns;
  for (int64_t i0 = 0; i0 < a.rows; i0 += kRows) {
    const int64_t height = a.rows - i0 < kRows ? a.rows - i0 : kRows;
    for (int64_t i = 0; i < kRows; ++i) {
      const int64_t row = (i0 + (i < height ? i : height - 1)) * a.g_row;
      for (int64_t j = 0; j < a.columns; ++j)
        prepare<P>(g[row + j * a.g_column], distance[row + j * a.g_column],
                   weight + i * a.columns + j, other + i * a.columns + j);
    }
    for (int64_t m = 0; m < a.m; ++m) {
      T values[kRows];
      for (int64_t i = 0; i < kRows; ++i)
        values[i] = x[(i0 + (i < height ? i : height - 1)) * a.m + m];
      double sums[kRows] = {};
      for (int64_t j = 0; j < a.columns; j += kColumns) {
        const int64_t n = a.columns - j < kColumns ? a.columns - j : kColumns;
        slopes<P, T>(values, y + m * a.columns + j, weight + j, other + j, a.columns, n,
                     static_cast<T>(a.p), sums);
      }
      for (int64_t i = 0; i < height; ++i) out[(i0 + i) * a.m + m] = static_cast<T>(sums[i]);
    }
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
}

}  // namespace zero::ZERO_ISA_NS
