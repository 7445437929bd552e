// Attention, panel by panel (attention.h). After the keys so far, with x = scale q k + mask,
//   max = max x,   sum = sum exp(x - max),   result = sum exp(x - max) value,
// and a larger max among the next ones multiplies sum and result by exp(old max - max). A query
// that has seen no key keeps max = -inf and sum = 0; its exponentials are taken against 0, so that
// they are 0 and not NaN. NaN is passed over in max and comes back in sum.
#include "zero/kernels/attention.h"

#include "zero/kernels/math.inl"
#include "zero/kernels/registers.inl"

namespace zero::ZERO_ISA_NS {
namespace {

template <class T> constexpr int kWidth = static_cast<int>(attention_lanes(sizeof(T)));
template <class T> constexpr T kLowest = -static_cast<T>(__builtin_huge_val());

// ---- products -----------------------------------------------------------------------------------

constexpr int kVectors = 64 / kVectorBytes;  // of a panel's row
// Rows of c in registers: eight of one vector each, which is as many as hide the time of a
// multiply-add; or six, or four so that 4, 8, 32, 64 and 128 rows come out even.
constexpr int kTall = kVectors == 1 ? 8 : kVectorBytes == 16 && kRows == 4 ? 2 : 6;
constexpr int kShort = kTall == 2 ? 2 : 4;

template <class T>
ZERO_INLINE typename LanesOf<T>::type load_lanes(const T* from) {
  typename LanesOf<T>::type x;
  copy_bytes(&x, from, sizeof x);
  return x;
}
template <class T>
ZERO_INLINE void store_lanes(T* to, typename LanesOf<T>::type x) {
  copy_bytes(to, &x, sizeof x);
}

template <class T>
ZERO_NOINLINE void store_part(const PanelProduct& args, const T* results, T* c, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i, results += kWidth<T>, c += args.c_row)
    for (int64_t l = 0; l < args.valid; ++l) c[l] = args.add ? c[l] + results[l] : results[l];
}

// P panels; of two, all rows and lanes are there.
template <class T, int R, int P>
ZERO_NOINLINE void product_tile(const PanelProduct& args, int64_t first, int64_t rows) {
  using Vector = typename LanesOf<T>::type;
  constexpr int N = kVectors, W = kWidth<T>, L = W / N;
  const T* a[R];
  ZERO_UNROLL
  for (int i = 0; i < R; ++i)  // beyond the last row that one again
    a[i] = static_cast<const T*>(args.a) + (first + (i < rows ? i : rows - 1)) * args.a_row;
  const T* b[P];
  ZERO_UNROLL
  for (int p = 0; p < P; ++p) b[p] = static_cast<const T*>(args.b) + p * args.b_panel;
  Vector sums[P][R][N];
  ZERO_UNROLL
  for (int p = 0; p < P; ++p) {
    ZERO_UNROLL
    for (int i = 0; i < R; ++i) {
      ZERO_UNROLL
      for (int j = 0; j < N; ++j) sums[p][i][j] = Vector{};
    }
  }
  const int64_t step = args.a_column;
  for (int64_t done = 0; done < args.k; done += args.span) {
    const int64_t n = args.k - done < args.span ? args.k - done : args.span;
    for (int64_t q = 0, at = 0; q < n; ++q, at += step) {
      Vector x[P][N];
      ZERO_UNROLL
      for (int p = 0; p < P; ++p) {
        ZERO_UNROLL
        for (int j = 0; j < N; ++j) x[p][j] = load_lanes(b[p] + j * L);
        b[p] += args.b_row;
      }
      ZERO_UNROLL
      for (int i = 0; i < R; ++i) {
        const T factor = a[i][at];
        ZERO_UNROLL
        for (int p = 0; p < P; ++p) {
          ZERO_UNROLL
          for (int j = 0; j < N; ++j) sums[p][i][j] += factor * x[p][j];
        }
      }
    }
    ZERO_UNROLL
    for (int i = 0; i < R; ++i) a[i] += args.a_span;
  }
  T* c = static_cast<T*>(args.c) + first * args.c_row;
  if constexpr (P == 1) {
    if (rows < R || args.valid < W) {
      T results[R * W];
      ZERO_UNROLL
      for (int i = 0; i < R; ++i) {
        ZERO_UNROLL
        for (int j = 0; j < N; ++j) store_lanes(results + i * W + j * L, sums[0][i][j]);
      }
      return store_part(args, results, c, rows);
    }
  }
  ZERO_UNROLL
  for (int i = 0; i < R; ++i, c += args.c_row) {
    ZERO_UNROLL
    for (int p = 0; p < P; ++p) {
      ZERO_UNROLL
      for (int j = 0; j < N; ++j) {
        T* const to = c + p * args.c_panel + j * L;
        if (args.add) sums[p][i][j] += load_lanes(to);
        store_lanes(to, sums[p][i][j]);
      }
    }
  }
}

template <class T>
void product_rows(const PanelProduct& args) {
  int64_t done = 0;
  if constexpr (kVectors == 1) {  // two panels read each factor once
    if (args.panels == 2 && args.valid >= kWidth<T>)
      for (; done + kTall <= args.m; done += kTall) product_tile<T, kTall, 2>(args, done, kTall);
  }
  PanelProduct one = args;
  for (int64_t p = 0; p < args.panels; ++p) {
    for (int64_t i = done; i < args.m;) {
      const int64_t left = args.m - i;
      const bool tall = left > kShort && (kTall == 2 * kShort || left != 2 * kShort);
      const int64_t most = tall ? kTall : kShort, rows = left < most ? left : most;
      if (tall) {
        product_tile<T, kTall, 1>(one, i, rows);
      } else {
        product_tile<T, kShort, 1>(one, i, rows);
      }
      i += rows;
    }
    one.b = static_cast<const T*>(one.b) + args.b_panel;
    one.c = static_cast<T*>(one.c) + args.c_panel;
  }
}

// Columns of `a` that lie far apart, as of keys of several heads, share few sets of a cache: only
// so many at a time are still there for the next rows.
constexpr int64_t kColumns = 64;

template <class T>
void product(const PanelProduct& args) {
  if (args.a_column == 1 || args.k <= kColumns) return product_rows<T>(args);
  PanelProduct part = args;
  for (int64_t p = 0; p < args.k; p += kColumns) {
    part.k = part.span = args.k - p < kColumns ? args.k - p : kColumns;
    part.a = static_cast<const T*>(args.a) + p * args.a_column;
    part.b = static_cast<const T*>(args.b) + p * args.b_row;
    part.add = args.add || p > 0;
    product_rows<T>(part);
  }
}

// ---- softmax ------------------------------------------------------------------------------------

// exp(x) for x <= 0 or NaN; numbers too small to be normal are 0, which is cheaper.
ZERO_INLINE float exp_negative(float x) {
  const math::ReducedF a = math::reduce_exp(x < -87.0f ? -87.0f : x);
  const float y = math::exp_reduced(a) * math::exp2_integer(a.n);
  return x < -87.0f ? 0.0f : y;
}
ZERO_INLINE double exp_negative(double x) { return math::exp(x); }

template <class T>
ZERO_INLINE T masked(T x, T mask) {
  const T y = x + mask;
  return mask == kLowest<T> ? mask : y;
}

template <class T>
void mask(const PanelMask& args) {
  constexpr int W = kWidth<T>;
  const T* numbers = static_cast<const T*>(args.mask);
  // Without numbers all lanes see the rows down to the diagonal.
  const int64_t start = numbers != nullptr || args.diagonal < 0 ? 0 : args.diagonal + 1;
  for (int64_t r = start; r < args.keys; ++r) {
    T* const x = static_cast<T*>(args.scores) + r * W;
    if (numbers != nullptr) {
      if (args.mask_row == 0) {
        const T number = numbers[r];
        ZERO_SIMD
        for (int l = 0; l < W; ++l) x[l] = masked(x[l], number);
      } else {
        ZERO_SIMD
        for (int l = 0; l < W; ++l) x[l] = masked(x[l], numbers[l]);
        numbers += args.mask_row;
      }
    }
    if (r <= args.diagonal) continue;
    const int blind = static_cast<int>(r - args.diagonal < W ? r - args.diagonal : W);
    ZERO_SIMD
    for (int l = 0; l < W; ++l) x[l] = l < blind ? kLowest<T> : x[l];  // they don't see this key
  }
}

template <class T>
void softmax(void* scores, int64_t keys, void* max, void* sum, void* factor) {
  constexpr int W = kWidth<T>;
  T* const x = static_cast<T*>(scores);
  T *const m = static_cast<T*>(max), *const s = static_cast<T*>(sum),
           *const f = static_cast<T*>(factor);
  T top[W], total[W];
  for (int l = 0; l < W; ++l) top[l] = m[l];
  for (int64_t r = 0; r < keys; ++r) {
    const T* const row = x + r * W;
    ZERO_SIMD
    for (int l = 0; l < W; ++l) top[l] = row[l] > top[l] ? row[l] : top[l];
  }
  ZERO_SIMD
  for (int l = 0; l < W; ++l) {
    const T base = top[l] == kLowest<T> ? T(0) : top[l];
    f[l] = m[l] == top[l] ? T(1) : exp_negative(m[l] - base);
    m[l] = top[l];
    top[l] = base;
    total[l] = 0;
  }
  for (int64_t r = 0; r < keys; ++r) {
    T* const row = x + r * W;
    ZERO_SIMD
    for (int l = 0; l < W; ++l) {
      const T p = exp_negative(row[l] - top[l]);
      row[l] = p;
      total[l] += p;
    }
  }
  ZERO_SIMD
  for (int l = 0; l < W; ++l) s[l] = s[l] * f[l] + total[l];
}

template <class T>
void softmax_row(const AttentionRows& args, int64_t r) {
  constexpr int W = kWidth<T>;
  const T scale = static_cast<T>(args.scale);
  T* const x = static_cast<T*>(args.scores) + r * args.row;
  const T* const numbers =
      args.mask ? static_cast<const T*>(args.mask) + r * args.mask_row : nullptr;
  const int64_t seen = r + args.diagonal + 1;
  const int64_t n = seen < args.keys ? (seen > 0 ? seen : 0) : args.keys;
  const int64_t whole = (args.keys + W - 1) / W * W;
  T top[W];
  for (int l = 0; l < W; ++l) top[l] = kLowest<T>;
  if (numbers != nullptr) {
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) x[i] = masked(x[i] * scale, numbers[i]);
  } else {
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) x[i] *= scale;
  }
  for (int64_t i = n; i < whole; ++i) x[i] = kLowest<T>;
  for (int64_t i = 0; i < whole; i += W) {
    ZERO_SIMD
    for (int l = 0; l < W; ++l) top[l] = x[i + l] > top[l] ? x[i + l] : top[l];
  }
  T& max = static_cast<T*>(args.max)[r];
  T& sum = static_cast<T*>(args.sum)[r];
  T most = max;
  for (int l = 0; l < W; ++l) most = top[l] > most ? top[l] : most;
  const T base = most == kLowest<T> ? T(0) : most;
  T total[W];
  for (int l = 0; l < W; ++l) total[l] = 0;
  for (int64_t i = 0; i < whole; i += W) {
    ZERO_SIMD
    for (int l = 0; l < W; ++l) {
      const T p = exp_negative(x[i + l] - base);
      x[i + l] = p;
      total[l] += p;
    }
  }
  for (int width = W / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) total[l] += total[l + width];
  const T factor = max == most ? T(1) : exp_negative(max - base);
  sum = sum * factor + total[0];
  max = most;
  static_cast<T*>(args.factor)[r] = factor;
}

template <class T>
void softmax_rows(const AttentionRows& args) {
  for (int64_t r = 0; r < args.rows; ++r) softmax_row<T>(args, r);
}

template <class T>
void finish(void* max, void* sum, int64_t n) {
  T *const m = static_cast<T*>(max), *const s = static_cast<T*>(sum);
  ZERO_SIMD
  for (int64_t l = 0; l < n; ++l) {
    m[l] = m[l] == kLowest<T> ? T(0) : m[l];
    s[l] = s[l] == 0 ? T(0) : 1 / s[l];
  }
}

// ---- backward -----------------------------------------------------------------------------------

template <class T>
void probabilities(void* scores, int64_t keys, const void* max, const void* inverse) {
  constexpr int W = kWidth<T>;
  T* const x = static_cast<T*>(scores);
  T base[W], factor[W];
  for (int l = 0; l < W; ++l) {
    base[l] = static_cast<const T*>(max)[l];
    factor[l] = static_cast<const T*>(inverse)[l];
  }
  for (int64_t r = 0; r < keys; ++r) {
    T* const row = x + r * W;
    ZERO_SIMD
    for (int l = 0; l < W; ++l) row[l] = exp_negative(row[l] - base[l]) * factor[l];
  }
}

// In float64: a probability near 1 leaves little of g - delta, and nothing must come from rounding.
template <class T>
void mean_gradient(const void* p, const void* g, int64_t keys, double* delta) {
  constexpr int W = kWidth<T>;
  const T *const x = static_cast<const T*>(p), *const y = static_cast<const T*>(g);
  double sums[W], total[W];
  for (int l = 0; l < W; ++l) sums[l] = total[l] = 0;
  for (int64_t r = 0; r < keys; ++r) {
    ZERO_SIMD
    for (int l = 0; l < W; ++l) {
      const double weight = static_cast<double>(x[r * W + l]);
      sums[l] += weight * static_cast<double>(y[r * W + l]);
      total[l] += weight;
    }
  }
  for (int l = 0; l < W; ++l) delta[l] = total[l] > 0 ? sums[l] / total[l] : 0;
}

template <class T>
void gradient(void* p, const void* g, int64_t keys, const double* delta, double scale) {
  constexpr int W = kWidth<T>;
  T* const y = static_cast<T*>(p);
  const T* const x = static_cast<const T*>(g);
  double d[W];
  for (int l = 0; l < W; ++l) d[l] = delta[l];
  for (int64_t r = 0; r < keys; ++r) {
    ZERO_SIMD
    for (int l = 0; l < W; ++l)
      y[r * W + l] *= static_cast<T>(scale * (static_cast<double>(x[r * W + l]) - d[l]));
  }
}

template <class T>
void dropout(const void* from, const uint8_t* keep, int64_t keep_row, double value, void* to,
             int64_t keys, int64_t width) {
  const T scale = static_cast<T>(value);
  for (int64_t r = 0; r < keys; ++r) {
    const T* const x = static_cast<const T*>(from) + r * width;
    const uint8_t* const kept = keep + r * keep_row;
    T* const y = static_cast<T*>(to) + r * width;
    ZERO_SIMD
    for (int64_t l = 0; l < width; ++l) y[l] = kept[l] ? x[l] * scale : T(0);
  }
}

// ---- factors and sums ---------------------------------------------------------------------------

template <class T>
void scale_lanes(void* x, int64_t rows, const void* factors) {
  constexpr int W = kWidth<T>;
  T f[W];
  bool same = true;
  for (int l = 0; l < W; ++l) {
    f[l] = static_cast<const T*>(factors)[l];
    same &= f[l] == 1;
  }
  if (same) return;
  for (int64_t r = 0; r < rows; ++r) {
    T* const row = static_cast<T*>(x) + r * W;
    ZERO_SIMD
    for (int l = 0; l < W; ++l) row[l] = f[l] == 0 ? T(0) : row[l] * f[l];
  }
}

template <class T>
void scale_all(void* x, int64_t n, double factor) {
  T* const y = static_cast<T*>(x);
  const T f = static_cast<T>(factor);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) y[i] *= f;
}

template <class T>
void scale_rows(void* x, int64_t rows, int64_t row, int64_t n, const void* factors) {
  for (int64_t r = 0; r < rows; ++r) {
    T* const y = static_cast<T*>(x) + r * row;
    const T factor = static_cast<const T*>(factors)[r];
    if (factor == 1) continue;
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) y[i] = factor == 0 ? T(0) : y[i] * factor;
  }
}

template <class T>
void row_products(const void* a, int64_t a_row, const void* b, int64_t b_row, int64_t rows,
                  int64_t n, double* out) {
  constexpr int kSums = 8;
  for (int64_t r = 0; r < rows; ++r) {
    const T* const x = static_cast<const T*>(a) + r * a_row;
    const T* const y = static_cast<const T*>(b) + r * b_row;
    double sums[kSums] = {};
    int64_t i = 0;
    for (; i + kSums <= n; i += kSums) {
      ZERO_SIMD
      for (int l = 0; l < kSums; ++l)
        sums[l] += static_cast<double>(x[i + l]) * static_cast<double>(y[i + l]);
    }
    for (int l = 0; i < n; ++i, ++l)
      sums[l] += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    double total = 0;
    for (int l = 0; l < kSums; ++l) total += sums[l];
    out[r] = total;
  }
}

// ---- masks --------------------------------------------------------------------------------------

template <class T>
bool any_visible(const void* mask, int64_t n) {
  const T* const numbers = static_cast<const T*>(mask);
  for (int64_t i = 0; i < n; ++i)
    if (numbers[i] != kLowest<T>) return true;
  return false;
}

template <class T>
bool mask_of_bools(const uint8_t* from, void* to, int64_t n) {
  T* const numbers = static_cast<T*>(to);
  int any = 0;
  ZERO_SIMD_ANY(any)
  for (int64_t i = 0; i < n; ++i) {
    numbers[i] = from[i] ? T(0) : kLowest<T>;
    any |= from[i];
  }
  return any != 0;
}

}  // namespace

#define ZERO_BOTH(function) {function<float>, function<double>}

void fill_attention(KernelTable& table) {
  static constexpr AttentionKernels kernels{
      ZERO_BOTH(product),       ZERO_BOTH(mask),          ZERO_BOTH(softmax),
      ZERO_BOTH(softmax_rows),  ZERO_BOTH(finish),        ZERO_BOTH(probabilities),
      ZERO_BOTH(mean_gradient), ZERO_BOTH(gradient),      ZERO_BOTH(dropout),
      ZERO_BOTH(scale_lanes),   ZERO_BOTH(scale_rows),    ZERO_BOTH(scale_all),
      ZERO_BOTH(row_products),  ZERO_BOTH(mask_of_bools), ZERO_BOTH(any_visible),
  };
  table.attention = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
