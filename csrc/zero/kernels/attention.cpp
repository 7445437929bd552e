// The softmax of attention, tile by tile (attention.h). Tiles are transposed: queries lie side by
// side, so the largest score, the sum of exponentials and the rest are one vector each, and no loop
// ends in the middle of one.
//
// After the tiles so far, with x = scale s + mask,
//   max = max x,   sum = sum exp(x - max),   result = sum exp(x - max) value,
// and a larger max in the next tile multiplies sum and result by exp(old max - max). A query that
// has seen no key keeps max = -inf and sum = 0; its exponentials are taken against 0, so that they
// are 0 and not NaN. NaN is passed over in max and comes back in sum.
#include "zero/kernels/attention.h"

#include "zero/kernels/math.inl"

namespace zero::ZERO_ISA_NS {
namespace {

constexpr int kWide = static_cast<int>(kAttentionLanes), kNarrow = kWide / 2;

template <class T> constexpr T kLowest = -static_cast<T>(__builtin_huge_val());

// exp(x) for x <= 0 or NaN; numbers too small to be normal are 0, which is cheaper.
ZERO_INLINE float exp_negative(float x) {
  const math::ReducedF a = math::reduce_exp(x < -87.0f ? -87.0f : x);
  const float y = math::exp_reduced(a) * math::exp2_integer(a.n);
  return x < -87.0f ? 0.0f : y;
}
ZERO_INLINE double exp_negative(double x) { return math::exp(x); }

// Row r of a tile: x = scale s + mask, -inf where the key is not to be seen.
template <class T, int W, bool Masked>
struct Row {
  T* scores;
  const T* mask;  // null: none
  bool one;       // the same number for all lanes
  int64_t first;  // lanes below it don't see the key

  ZERO_INLINE T at(int l, T scale) const {
    T x = scores[l] * scale;
    if constexpr (Masked) {
      if (mask != nullptr) {
        const T m = one ? mask[0] : mask[l];
        x = m == kLowest<T> ? m : x + m;
      }
      x = l < first ? kLowest<T> : x;
    }
    return x;
  }
};

template <class T, int W, bool Masked>
ZERO_INLINE Row<T, W, Masked> row_of(const AttentionTile& t, int64_t r, int64_t lane) {
  Row<T, W, Masked> row{static_cast<T*>(t.scores) + r * t.width + lane, nullptr, false, 0};
  if constexpr (Masked) {
    row.one = t.mask_row == 0;
    if (t.mask != nullptr)
      row.mask = static_cast<const T*>(t.mask) + (row.one ? r : r * t.mask_row + lane);
    row.first = r - t.diagonal - lane;
  }
  return row;
}

// f(row) for all rows, with what is known of the mask as a constant.
template <class T, int W, bool Masked, class F>
ZERO_INLINE void each_row(const AttentionTile& t, int64_t lane, F f) {
  for (int64_t r = 0; r < t.keys; ++r) f(row_of<T, W, Masked>(t, r, lane));
}

template <class T, int W, bool Masked>
ZERO_NOINLINE void forward_lanes(const AttentionForward& args, int64_t lane) {
  const AttentionTile& t = args.tile;
  const T scale = static_cast<T>(t.scale);
  T* const max = static_cast<T*>(args.max) + lane;
  T* const sum = static_cast<T*>(args.sum) + lane;
  T* const factor = static_cast<T*>(args.factor) + lane;
  T top[W];
  for (int l = 0; l < W; ++l) top[l] = max[l];
  each_row<T, W, Masked>(t, lane, [&](const Row<T, W, Masked>& row) {
    ZERO_SIMD
    for (int l = 0; l < W; ++l) {
      const T x = row.at(l, scale);
      row.scores[l] = x;
      top[l] = x > top[l] ? x : top[l];
    }
  });
  T base[W], total[W];
  ZERO_SIMD
  for (int l = 0; l < W; ++l) {
    base[l] = top[l] == kLowest<T> ? T(0) : top[l];
    factor[l] = max[l] == top[l] ? T(1) : exp_negative(max[l] - base[l]);
    max[l] = top[l];
    total[l] = 0;
  }
  each_row<T, W, false>(t, lane, [&](const Row<T, W, false>& row) {
    ZERO_SIMD
    for (int l = 0; l < W; ++l) {
      const T p = exp_negative(row.scores[l] - base[l]);
      row.scores[l] = p;
      total[l] += p;
    }
  });
  for (int l = 0; l < W; ++l) {
    const T before = sum[l] * factor[l];
    sum[l] = before + total[l];
  }
}

template <class T, int W, bool Masked>
ZERO_NOINLINE void backward_lanes(const AttentionBackward& args, int64_t lane) {
  const AttentionTile& t = args.tile;
  const T scale = static_cast<T>(t.scale);
  T base[W], inverse[W];
  for (int l = 0; l < W; ++l) {
    base[l] = static_cast<const T*>(args.max)[lane + l];
    inverse[l] = static_cast<const T*>(args.inverse_sum)[lane + l];
  }
  each_row<T, W, Masked>(t, lane, [&](const Row<T, W, Masked>& row) {
    ZERO_SIMD
    for (int l = 0; l < W; ++l)
      row.scores[l] = exp_negative(row.at(l, scale) - base[l]) * inverse[l];
  });
}

// Lanes in groups of kWide, or all of them at once if they are fewer.
template <class T, class Args, class Wide, class Narrow>
ZERO_INLINE void each_group(const Args& args, Wide wide, Narrow narrow) {
  if (args.tile.width < kWide) return narrow(args, 0);
  for (int64_t lane = 0; lane < args.tile.width; lane += kWide) wide(args, lane);
}

inline bool is_masked(const AttentionTile& t) {
  return t.mask != nullptr || t.diagonal < t.keys - 1;
}

template <class T>
void forward(const AttentionForward& args) {
  if (is_masked(args.tile)) {
    each_group<T>(args, forward_lanes<T, kWide, true>, forward_lanes<T, kNarrow, true>);
  } else {
    each_group<T>(args, forward_lanes<T, kWide, false>, forward_lanes<T, kNarrow, false>);
  }
}

template <class T>
void backward(const AttentionBackward& args) {
  if (is_masked(args.tile)) {
    each_group<T>(args, backward_lanes<T, kWide, true>, backward_lanes<T, kNarrow, true>);
  } else {
    each_group<T>(args, backward_lanes<T, kWide, false>, backward_lanes<T, kNarrow, false>);
  }
}

template <class T>
ZERO_NOINLINE void forward_row(const AttentionRows& args, int64_t r) {
  constexpr int W = kWide;
  const T scale = static_cast<T>(args.scale);
  T* const x = static_cast<T*>(args.scores) + r * args.row;
  const T* const mask = args.mask ? static_cast<const T*>(args.mask) + r * args.mask_row : nullptr;
  const int64_t visible = r + args.diagonal + 1;
  const int64_t n = visible < args.keys ? (visible > 0 ? visible : 0) : args.keys;
  const int64_t whole = (args.keys + W - 1) / W * W;
  for (int64_t i = n; i < whole; ++i) x[i] = kLowest<T>;
  if (mask != nullptr) {
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) {
      const T y = x[i] * scale + mask[i];
      x[i] = mask[i] == kLowest<T> ? mask[i] : y;
    }
  } else {
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) x[i] *= scale;
  }
  T top[W], total[W];
  for (int l = 0; l < W; ++l) top[l] = kLowest<T>, total[l] = 0;
  for (int64_t i = 0; i < whole; i += W) {
    ZERO_SIMD
    for (int l = 0; l < W; ++l) top[l] = x[i + l] > top[l] ? x[i + l] : top[l];
  }
  T& max = static_cast<T*>(args.max)[r];
  T& sum = static_cast<T*>(args.sum)[r];
  T most = max;
  for (int l = 0; l < W; ++l) most = top[l] > most ? top[l] : most;
  const T base = most == kLowest<T> ? T(0) : most;
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
  const T before = sum * factor;
  sum = before + total[0];
  max = most;
  static_cast<T*>(args.factor)[r] = factor;
}

template <class T>
void forward_rows(const AttentionRows& args) {
  for (int64_t r = 0; r < args.rows; ++r) forward_row<T>(args, r);
}

template <class T>
void finish(void* max, void* sum, int64_t lanes) {
  T *const m = static_cast<T*>(max), *const s = static_cast<T*>(sum);
  for (int64_t l = 0; l < lanes; ++l) {
    m[l] = m[l] == kLowest<T> ? T(0) : m[l];
    s[l] = s[l] == 0 ? T(0) : 1 / s[l];
  }
}

template <class T>
void gradient(void* p, const void* g, const void* delta, double scale, int64_t keys,
              int64_t width) {
  T* y = static_cast<T*>(p);
  const T* x = static_cast<const T*>(g);
  const T* const d = static_cast<const T*>(delta);
  const T s = static_cast<T>(scale);
  for (int64_t r = 0; r < keys; ++r, y += width, x += width) {
    ZERO_SIMD
    for (int64_t l = 0; l < width; ++l) y[l] = (s * y[l]) * (x[l] - d[l]);
  }
}

template <class T>
void dropout(const void* from, const uint8_t* keep, double value, void* to, int64_t n) {
  const T* const x = static_cast<const T*>(from);
  T* const y = static_cast<T*>(to);
  const T scale = static_cast<T>(value);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) y[i] = keep[i] ? x[i] * scale : T(0);
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
                  int64_t n, void* out) {
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
    static_cast<T*>(out)[r] = static_cast<T>(total);
  }
}

template <class T>
bool visible(const T* mask, int64_t n) {
  int any = 0;
  ZERO_SIMD_ANY(any)
  for (int64_t i = 0; i < n; ++i) any |= mask[i] != kLowest<T>;
  return any != 0;
}
bool any_visible(const void* mask, int64_t n, ComputeType type) {
  return type == ComputeType::F64 ? visible(static_cast<const double*>(mask), n)
                                  : visible(static_cast<const float*>(mask), n);
}

template <class T>
bool numbers_of(const uint8_t* from, T* to, int64_t n) {
  int any = 0;
  ZERO_SIMD_ANY(any)
  for (int64_t i = 0; i < n; ++i) {
    to[i] = from[i] ? T(0) : kLowest<T>;
    any |= from[i];
  }
  return any != 0;
}
bool mask_of_bools(const uint8_t* from, void* to, int64_t n, ComputeType type) {
  return type == ComputeType::F64 ? numbers_of(from, static_cast<double*>(to), n)
                                  : numbers_of(from, static_cast<float*>(to), n);
}

}  // namespace

void fill_attention(KernelTable& table) {
  static constexpr AttentionKernels kernels{
      mask_of_bools,
      any_visible,
      {forward<float>, forward<double>},
      {backward<float>, backward<double>},
      {forward_rows<float>, forward_rows<double>},
      {finish<float>, finish<double>},
      {gradient<float>, gradient<double>},
      {dropout<float>, dropout<double>},
      {scale_rows<float>, scale_rows<double>},
      {row_products<float>, row_products<double>},
  };
  table.attention = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
