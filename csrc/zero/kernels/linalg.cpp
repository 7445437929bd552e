// Factorizations of small matrices, side by side in the lanes of vectors, and the panels of large
// ones. Layouts are those of linalg.h.
#include "zero/kernels/linalg.h"

#include "zero/kernels/math.inl"
#include "zero/kernels/square.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace linalg {

template <class T> constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
template <class T> using Lanes = typename LanesOf<T>::type;

// An integer as wide as T, so that a lane has one number and one index.
template <class T> struct IndexOf { using type = int64_t; };
template <> struct IndexOf<float> { using type = int32_t; };
template <class T> using Index = typename IndexOf<T>::type;

template <class T>
ZERO_INLINE Lanes<T> get(const T* x) {
  Lanes<T> v;
  copy_bytes(&v, x, kVectorBytes);
  return v;
}
template <class T>
ZERO_INLINE void put(T* x, const Lanes<T>& v) {
  copy_bytes(x, &v, kVectorBytes);
}

// ---- groups of matrices -------------------------------------------------------------------------

// Between memory and lanes: squares are turned in registers where elements lie side by side.
template <class T, bool kLoad>
void transfer(const GroupArgs& g) {
  constexpr int L = kLanes<T>;
  constexpr int64_t item = sizeof(T);
  using Turn = Square<T>;
  T* const x = static_cast<T*>(g.x);
  T* const data = static_cast<T*>(g.data);
  // Lines run in the direction in which memory is dense.
  const bool by_columns = g.column != 1 && g.row == 1;
  const int64_t lines = by_columns ? g.columns : g.rows, length = by_columns ? g.rows : g.columns;
  const int64_t line = by_columns ? g.column : g.row, step = by_columns ? g.row : g.column;
  const int64_t x_line = (by_columns ? 1 : g.columns) * L,
                x_step = (by_columns ? g.columns : 1) * L;
  for (int64_t i = 0; i < lines; ++i) {
    T* const xs = x + i * x_line;
    T* const from = data + i * line;
    int64_t p = 0;
    if (g.count == L && step == 1 && L % Turn::n == 0) {
      for (; p + Turn::n <= length; p += Turn::n)
        for (int l = 0; l < L; l += Turn::n) {
          char* const lanes = reinterpret_cast<char*>(xs + p * x_step + l);
          char* const memory = reinterpret_cast<char*>(from + l * g.step + p);
          if constexpr (kLoad)
            Turn::transpose(lanes, x_step * item, memory, g.step * item);
          else
            Turn::transpose(memory, g.step * item, lanes, x_step * item);
        }
    }
    for (; p < length; ++p)
      for (int64_t l = 0; l < (kLoad ? L : g.count); ++l) {
        T& lane = xs[p * x_step + l];
        if constexpr (kLoad)
          lane = l < g.count ? from[l * g.step + p * step] : T(0);
        else
          from[l * g.step + p * step] = lane;
      }
  }
}

// Rows k and at[l] change places in every lane l; at[l] >= k.
template <class T>
ZERO_NOINLINE void exchange_rows(T* x, int64_t n, int64_t k, const Index<T>* at) {
  constexpr int L = kLanes<T>;
  Index<T> last = 0;
  for (int l = 0; l < L; ++l) last = at[l] > last ? at[l] : last;
  for (int64_t i = k + 1; i <= last; ++i) {
    bool any = false;
    for (int l = 0; l < L; ++l) any |= at[l] == i;
    if (!any) continue;
    for (int64_t j = 0; j < n; ++j) {
      T* const a = x + (k * n + j) * L;
      T* const b = x + (i * n + j) * L;
      ZERO_SIMD
      for (int l = 0; l < L; ++l) {
        const T u = a[l], v = b[l];
        const bool here = at[l] == static_cast<Index<T>>(i);
        a[l] = here ? v : u;
        b[l] = here ? u : v;
      }
    }
  }
}

template <class T>
void exchange(void* x, int64_t n, const int32_t* pivots, int64_t k, bool back) {
  constexpr int L = kLanes<T>;
  for (int64_t p = 0; p < k; ++p) {
    const int64_t row = back ? k - 1 - p : p;
    Index<T> at[L];
    for (int l = 0; l < L; ++l) at[l] = pivots[row * L + l];
    exchange_rows(static_cast<T*>(x), n, row, at);
  }
}

template <class T>
void lu(void* matrices, int64_t m, int64_t n, int32_t* pivots, int32_t* info) {
  constexpr int L = kLanes<T>;
  T* const x = static_cast<T*>(matrices);
  for (int l = 0; l < L; ++l) info[l] = 0;
  for (int64_t k = 0; k < m && k < n; ++k) {
    T best[L];
    Index<T> at[L];
    for (int l = 0; l < L; ++l) {
      best[l] = math::abs(x[(k * n + k) * L + l]);
      at[l] = static_cast<Index<T>>(k);
    }
    for (int64_t i = k + 1; i < m; ++i) {
      const T* const row = x + (i * n + k) * L;
      ZERO_SIMD
      for (int l = 0; l < L; ++l) {
        const T v = math::abs(row[l]);
        const bool larger = v > best[l];
        best[l] = larger ? v : best[l];
        at[l] = larger ? static_cast<Index<T>>(i) : at[l];
      }
    }
    exchange_rows(x, n, k, at);
    T* const top = x + k * n * L;
    T inverse[L];
    for (int l = 0; l < L; ++l) {
      const T pivot = top[k * L + l];
      pivots[k * L + l] = static_cast<int32_t>(at[l]);
      if (pivot == T(0) && info[l] == 0) info[l] = static_cast<int32_t>(k + 1);
      inverse[l] = T(1) / (pivot == T(0) ? T(1) : pivot);
    }
    const Lanes<T> scale = get(inverse);
    for (int64_t i = k + 1; i < m; ++i) {
      T* const row = x + i * n * L;
      const Lanes<T> factor = get(row + k * L) * scale;
      put(row + k * L, factor);
      for (int64_t j = k + 1; j < n; ++j)
        put<T>(row + j * L, get(row + j * L) - factor * get(top + j * L));
    }
  }
}

template <class T>
void cholesky(void* matrices, int64_t n, int32_t* info) {
  constexpr int L = kLanes<T>;
  T* const x = static_cast<T*>(matrices);
  for (int l = 0; l < L; ++l) info[l] = 0;
  for (int64_t j = 0; j < n; ++j) {
    T* const top = x + j * n * L;
    T inverse[L];
    for (int64_t i = j; i < n; ++i) {
      T* const row = x + i * n * L;
      Lanes<T> sum = get(row + j * L);
      for (int64_t k = 0; k < j; ++k) sum = sum - get(row + k * L) * get(top + k * L);
      if (i == j) {
        put<T>(row + j * L, sum);
        for (int l = 0; l < L; ++l) {
          T& d = row[j * L + l];
          if (!(d > T(0)) && info[l] == 0) info[l] = static_cast<int32_t>(j + 1);
          d = math::sqrt(d);
          inverse[l] = T(1) / d;
        }
      } else {
        put<T>(row + j * L, sum * get(inverse));
      }
    }
    for (int64_t k = (j + 1) * L; k < n * L; ++k) top[k] = T(0);
  }
}

// The row that is solved at step p, and the rows before it.
ZERO_INLINE int64_t row_of(int64_t p, int64_t n, bool lower) { return lower ? p : n - 1 - p; }

template <class T>
void triangular(const void* matrices, int64_t n, void* sides, int64_t m, bool lower, bool unit) {
  constexpr int L = kLanes<T>, kColumns = 4;
  const T* const a = static_cast<const T*>(matrices);
  T* const x = static_cast<T*>(sides);
  for (int64_t p = 0; p < n; ++p) {
    const int64_t i = row_of(p, n, lower);
    T inverse[L];
    for (int l = 0; l < L; ++l) inverse[l] = T(1) / (unit ? T(1) : a[(i * n + i) * L + l]);
    for (int64_t j = 0; j < m; j += kColumns) {
      T* const row = x + (i * m + j) * L;
      if (m - j < kColumns) {
        for (int64_t c = 0; c < m - j; ++c) {
          Lanes<T> sum = get(row + c * L);
          for (int64_t q = 0; q < p; ++q) {
            const int64_t k = row_of(q, n, lower);
            sum = sum - get(a + (i * n + k) * L) * get(x + (k * m + j + c) * L);
          }
          put<T>(row + c * L, sum * get(inverse));
        }
        break;
      }
      Lanes<T> sums[kColumns];
      ZERO_UNROLL
      for (int c = 0; c < kColumns; ++c) sums[c] = get(row + c * L);
      for (int64_t q = 0; q < p; ++q) {
        const int64_t k = row_of(q, n, lower);
        const Lanes<T> factor = get(a + (i * n + k) * L);
        const T* const other = x + (k * m + j) * L;
        ZERO_UNROLL
        for (int c = 0; c < kColumns; ++c) sums[c] = sums[c] - factor * get(other + c * L);
      }
      const Lanes<T> scale = get(inverse);
      ZERO_UNROLL
      for (int c = 0; c < kColumns; ++c) put<T>(row + c * L, sums[c] * scale);
    }
  }
}

// beta, tau and the scale of the reflector for a column whose first element is alpha and whose
// others have the norm `rest`: H (alpha, x) = (beta, 0), H = 1 - tau v v^T, v = (1, scale x).
template <class T>
ZERO_INLINE void reflector(T alpha, T rest, T* beta, T* tau, T* scale) {
  const bool none = rest == T(0);
  const T large = math::abs(alpha) > rest ? math::abs(alpha) : rest;
  const T inverse = T(1) / (large == T(0) ? T(1) : large);
  const T u = alpha * inverse, v = rest * inverse;
  const T norm = large * math::sqrt(u * u + v * v);
  *beta = none ? alpha : alpha > T(0) ? -norm : norm;
  *tau = none ? T(0) : (*beta - alpha) / *beta;
  *scale = none ? T(0) : T(1) / (alpha - *beta);
}

// Columns [first, columns) of x, rows from k on, are reflected by the column k of v below row k.
template <class T>
ZERO_NOINLINE void reflect(T* x, int64_t columns, int64_t first, const T* v, int64_t v_columns,
                           int64_t m, int64_t k, const T* tau) {
  constexpr int L = kLanes<T>;
  for (int64_t j = first; j < columns; ++j) {
    T* const top = x + (k * columns + j) * L;
    Lanes<T> w = get(top);
    for (int64_t i = k + 1; i < m; ++i)
      w = w + get(v + (i * v_columns + k) * L) * get(x + (i * columns + j) * L);
    w = w * get(tau + k * L);
    put<T>(top, get(top) - w);
    for (int64_t i = k + 1; i < m; ++i) {
      T* const at = x + (i * columns + j) * L;
      put<T>(at, get(at) - get(v + (i * v_columns + k) * L) * w);
    }
  }
}

template <class T>
void qr(void* matrices, int64_t m, int64_t n, void* factors) {
  constexpr int L = kLanes<T>;
  T* const x = static_cast<T*>(matrices);
  T* const tau = static_cast<T*>(factors);
  for (int64_t k = 0; k < m && k < n; ++k) {
    T large[L] = {}, inverse[L], squares[L] = {}, scale[L];
    for (int64_t i = k + 1; i < m; ++i) {
      const T* const row = x + (i * n + k) * L;
      ZERO_SIMD
      for (int l = 0; l < L; ++l) {
        const T v = math::abs(row[l]);
        large[l] = v > large[l] || v != v ? v : large[l];
      }
    }
    for (int l = 0; l < L; ++l) inverse[l] = T(1) / (large[l] == T(0) ? T(1) : large[l]);
    for (int64_t i = k + 1; i < m; ++i) {
      const Lanes<T> v = get(x + (i * n + k) * L) * get(inverse);
      put<T>(squares, get(squares) + v * v);
    }
    for (int l = 0; l < L; ++l)
      reflector<T>(x[(k * n + k) * L + l], large[l] * math::sqrt(squares[l]),
                   &x[(k * n + k) * L + l], &tau[k * L + l], &scale[l]);
    for (int64_t i = k + 1; i < m; ++i) {
      T* const at = x + (i * n + k) * L;
      put<T>(at, get(at) * get(scale));
    }
    reflect<T>(x, n, k + 1, x, n, m, k, tau);
  }
}

template <class T>
void q(const void* v, int64_t v_columns, int64_t m, int64_t k, const void* tau, void* result,
       int64_t columns) {
  constexpr int L = kLanes<T>;
  T* const x = static_cast<T*>(result);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < columns; ++j)
      for (int l = 0; l < L; ++l) x[(i * columns + j) * L + l] = i == j ? T(1) : T(0);
  for (int64_t p = k - 1; p >= 0; --p)
    reflect<T>(x, columns, p, static_cast<const T*>(v), v_columns, m, p,
               static_cast<const T*>(tau));
}

// ---- panels of one matrix -----------------------------------------------------------------------

// Strips of 16 rows, whose lines stay in the cache, in squares turned in registers.
template <class T>
void turn(void* target, int64_t to_row, const void* source, int64_t from_row, int64_t m,
          int64_t n) {
  constexpr int64_t item = sizeof(T), strip = 16;
  using Turn = Square<T>;
  T* const to = static_cast<T*>(target);
  const T* const from = static_cast<const T*>(source);
  for (int64_t i0 = 0; i0 < m; i0 += strip) {
    const int64_t rows = m - i0 < strip ? m - i0 : strip, whole = rows / Turn::n * Turn::n;
    int64_t j = 0;
    for (; j + Turn::n <= n; j += Turn::n)
      for (int64_t i = i0; i < i0 + whole; i += Turn::n)
        Turn::transpose(reinterpret_cast<char*>(to + j * to_row + i), to_row * item,
                        reinterpret_cast<const char*>(from + i * from_row + j), from_row * item);
    for (int64_t c = 0; c < n; ++c)
      for (int64_t i = c < j ? i0 + whole : i0; i < i0 + rows; ++i)
        to[c * to_row + i] = from[i * from_row + c];
  }
}

// The largest magnitude of x[0 … n), and the first place that has it; of NaN, the first one.
template <class T>
ZERO_NOINLINE int64_t largest(const T* x, int64_t n) {
  constexpr int L = 2 * kLanes<T>;
  T best[L] = {};
  int64_t i = 0;
  for (; i + L <= n; i += L) {
    ZERO_SIMD
    for (int l = 0; l < L; ++l) {
      const T v = math::abs(x[i + l]);
      best[l] = v > best[l] || v != v ? v : best[l];
    }
  }
  T most = 0;
  for (int l = 0; l < L; ++l) most = best[l] > most || best[l] != best[l] ? best[l] : most;
  for (; i < n; ++i) most = math::abs(x[i]) > most || x[i] != x[i] ? math::abs(x[i]) : most;
  for (i = 0; i < n; ++i)
    if (math::abs(x[i]) == most || x[i] != x[i]) return i;
  return 0;
}

// y[0 … n) -= sum over k of factors[k] x[k][0 … n); rows of x are `step` apart.
template <class T>
ZERO_NOINLINE void subtract(T* y, const T* x, int64_t step, const T* factors, int64_t count,
                            int64_t n) {
  constexpr int L = kLanes<T>, V = 4;
  int64_t i = 0;
  for (; i + V * L <= n; i += V * L) {
    Lanes<T> sums[V];
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) sums[v] = get(y + i + v * L);
    for (int64_t k = 0; k < count; ++k) {
      ZERO_UNROLL
      for (int v = 0; v < V; ++v) sums[v] = sums[v] - factors[k] * get(x + k * step + i + v * L);
    }
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) put<T>(y + i + v * L, sums[v]);
  }
  for (; i < n; ++i) {
    T sum = y[i];
    for (int64_t k = 0; k < count; ++k) sum -= factors[k] * x[k * step + i];
    y[i] = sum;
  }
}

// The panel is turned first, so that columns are dense.
template <class T>
void lu_panel(void* matrix, int64_t row, int64_t m, int64_t n, int32_t* pivots, int32_t* info,
              void* scratch) {
  T* const a = static_cast<T*>(matrix);
  T* const s = static_cast<T*>(scratch);
  turn<T>(s, m, a, row, m, n);
  for (int64_t j = 0; j < n; ++j) {
    T* const column = s + j * m;
    for (int64_t k = 1; k < j && k < m; ++k) {  // the column of U: rows that have their pivots
      T sum = column[k];
      for (int64_t q = 0; q < k; ++q) sum -= s[q * m + k] * column[q];
      column[k] = sum;
    }
    if (j >= m) continue;  // of a wide panel, U alone
    subtract(column + j, s + j, m, column, j, m - j);
    const int64_t at = j + largest(column + j, m - j);
    pivots[j] = static_cast<int32_t>(at);
    if (at != j)
      for (int64_t k = 0; k < n; ++k) {
        const T v = s[k * m + j];
        s[k * m + j] = s[k * m + at];
        s[k * m + at] = v;
      }
    if (column[j] == T(0)) {
      if (*info == 0) *info = static_cast<int32_t>(j + 1);
      continue;
    }
    const T inverse = T(1) / column[j];
    ZERO_SIMD
    for (int64_t i = j + 1; i < m; ++i) column[i] *= inverse;
  }
  turn<T>(a, row, s, m, n, m);
}

template <class T, int V>
ZERO_INLINE void solve_columns(const T* a, int64_t a_row, int64_t a_column, int64_t n, T* x,
                               int64_t x_row, bool lower, const T* inverse) {
  constexpr int L = kLanes<T>;
  for (int64_t p = 0; p < n; ++p) {
    const int64_t i = row_of(p, n, lower);
    Lanes<T> sums[V];
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) sums[v] = get(x + i * x_row + v * L);
    for (int64_t q = 0; q < p; ++q) {
      const int64_t k = row_of(q, n, lower);
      const T factor = a[i * a_row + k * a_column];
      ZERO_UNROLL
      for (int v = 0; v < V; ++v) sums[v] = sums[v] + factor * get(x + k * x_row + v * L);
    }
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) put<T>(x + i * x_row + v * L, inverse[i] * sums[v]);
  }
}

template <class T>
void solve_rows(const void* matrix, int64_t row, int64_t column, int64_t n, void* sides,
                int64_t x_row, int64_t m, bool lower, bool unit) {
  constexpr int L = kLanes<T>;
  const T* const a = static_cast<const T*>(matrix);
  T* const x = static_cast<T*>(sides);
  T inverse[kLinalgBlock];  // with the sign of the result
  for (int64_t i = 0; i < n; ++i) inverse[i] = T(-1) / (unit ? T(1) : a[i * (row + column)]);
  int64_t j = 0;
  for (; j + 4 * L <= m; j += 4 * L)
    solve_columns<T, 4>(a, row, column, n, x + j, x_row, lower, inverse);
  for (; j + L <= m; j += L) solve_columns<T, 1>(a, row, column, n, x + j, x_row, lower, inverse);
  if (j == m) return;
  T rest[kLinalgBlock * L];  // the last columns, as one vector
  for (int64_t i = 0; i < n; ++i)
    for (int64_t l = 0; l < L; ++l) rest[i * L + l] = j + l < m ? x[i * x_row + j + l] : T(0);
  solve_columns<T, 1>(a, row, column, n, rest, L, lower, inverse);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t l = 0; j + l < m; ++l) x[i * x_row + j + l] = rest[i * L + l];
}

template <class T>
ZERO_NOINLINE T dot(const T* a, const T* b, int64_t n) {
  constexpr int L = kLanes<T>, V = 4;
  Lanes<T> sums[V];
  ZERO_UNROLL
  for (int v = 0; v < V; ++v) sums[v] = Lanes<T>{};
  int64_t i = 0;
  for (; i + V * L <= n; i += V * L) {
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) sums[v] = sums[v] + get(a + i + v * L) * get(b + i + v * L);
  }
  T lanes[L];
  put<T>(lanes, (sums[0] + sums[1]) + (sums[2] + sums[3]));
  T sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (int l = 0; l < L; ++l) sum += lanes[l];
  return sum;
}

template <class T>
void qr_panel(void* columns, int64_t step, int64_t m, int64_t n, void* factors) {
  T* const v = static_cast<T*>(columns);
  T* const tau = static_cast<T*>(factors);
  for (int64_t k = 0; k < n && k < m; ++k) {
    T* const column = v + k * step;
    const int64_t rest = m - k - 1;
    T* const below = column + k + 1;
    T norm = 0;
    if (rest > 0) {
      const T large = math::abs(below[largest(below, rest)]);
      if (large > T(1e-15) && large < T(1e15)) {
        norm = math::sqrt(dot(below, below, rest));
      } else if (large != T(0)) {  // squares would leave the range of float32
        T sum = 0;
        for (int64_t i = 0; i < rest; ++i) {
          const T x = below[i] / large;
          sum += x * x;
        }
        norm = large * math::sqrt(sum);
      }
    }
    T scale;
    reflector<T>(column[k], norm, &column[k], &tau[k], &scale);
    ZERO_SIMD
    for (int64_t i = 0; i < rest; ++i) below[i] *= scale;
    for (int64_t j = k + 1; j < n; ++j) {
      T* const other = v + j * step + k;
      const T w = tau[k] * (other[0] + dot(below, other + 1, rest));
      other[0] -= w;
      subtract(other + 1, below, 0, &w, 1, rest);
    }
  }
}

// ---- reductions to three and two diagonals ------------------------------------------------------

// The sum of one vector's numbers, which are lost.
template <class T>
ZERO_INLINE T sum_of(T* lanes) {
  ZERO_UNROLL
  for (int half = kLanes<T> / 2; half > 0; half /= 2) {
    ZERO_SIMD
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

template <class T>
void dots(void* out, const void* rows, int64_t step, int64_t count, const void* vector, int64_t n) {
  constexpr int L = kLanes<T>, R = kLinalgRows;
  const T* x = static_cast<const T*>(rows);
  const T* const y = static_cast<const T*>(vector);
  for (int64_t i = 0; i < count; i += R, x += R * step) {
    Lanes<T> sums[R][2];
    ZERO_UNROLL
    for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = Lanes<T>{};
    for (int64_t j = 0; j < n; j += 2 * L) {
      const Lanes<T> first = get(y + j), second = get(y + j + L);
      ZERO_UNROLL
      for (int r = 0; r < R; ++r) {
        sums[r][0] = sums[r][0] + get(x + r * step + j) * first;
        sums[r][1] = sums[r][1] + get(x + r * step + j + L) * second;
      }
    }
    T lanes[R * L];
    ZERO_UNROLL
    for (int r = 0; r < R; ++r) put<T>(lanes + r * L, sums[r][0] + sums[r][1]);
    for (int r = 0; r < R; ++r) static_cast<T*>(out)[i + r] = sum_of(lanes + r * L);
  }
}

// Each number of the triangle is read once, for a row and for a column.
template <class T>
void symmetric(const void* matrix, int64_t row, int64_t first, int64_t last, const void* vector,
               void* result, int64_t n) {
  constexpr int L = kLanes<T>, R = kLinalgRows;
  const T* const x = static_cast<const T*>(vector);
  T* const y = static_cast<T*>(result);
  for (int64_t i = first; i < last; i += R) {
    const T* const a = static_cast<const T*>(matrix) + i * row;
    Lanes<T> sums[R];
    ZERO_UNROLL
    for (int r = 0; r < R; ++r) sums[r] = Lanes<T>{};
    for (int64_t j = i / L * L; j < n; j += L) {
      const Lanes<T> v = get(x + j);
      Lanes<T> column = get(y + j);
      ZERO_UNROLL
      for (int r = 0; r < R; ++r) {
        const Lanes<T> numbers = get(a + r * row + j);
        sums[r] = sums[r] + numbers * v;
        column = column + x[i + r] * numbers;
      }
      put<T>(y + j, column);
    }
    T lanes[R * L];
    ZERO_UNROLL
    for (int r = 0; r < R; ++r) put<T>(lanes + r * L, sums[r]);
    for (int r = 0; r < R; ++r)  // the diagonal was a part of both
      y[i + r] += sum_of(lanes + r * L) - a[r * row + i + r] * x[i + r];
  }
}

template <class T>
void subtract_rows(void* y, const void* x, int64_t step, const void* factors, int64_t count,
                   int64_t n) {
  subtract(static_cast<T*>(y), static_cast<const T*>(x), step, static_cast<const T*>(factors),
           count, n);
}

template <class T>
double magnitude(const void* x, int64_t n) {
  const T* const v = static_cast<const T*>(x);
  return n > 0 ? static_cast<double>(math::abs(v[largest(v, n)])) : 0.0;
}

template <class T>
constexpr LinalgKernel kernel = {
    kLanes<T>,   transfer<T, true>, transfer<T, false>, lu<T>,
    cholesky<T>, exchange<T>,       triangular<T>,      qr<T>,
    q<T>,        turn<T>,           lu_panel<T>,        solve_rows<T>,
    qr_panel<T>, dots<T>,           symmetric<T>,       subtract_rows<T>,
    magnitude<T>};

}  // namespace linalg
}  // namespace

void fill_linalg(KernelTable& table) {
  static constexpr LinalgKernels kKernels = {{linalg::kernel<float>, linalg::kernel<double>}};
  table.linalg = &kKernels;
}

}  // namespace zero::ZERO_ISA_NS
