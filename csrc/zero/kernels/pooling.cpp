// The largest element of windows (pooling.h): first the largest of each column of a window's rows,
// then of the columns. Both are loops over the row, so they become vector code.
#include "zero/kernels/pooling.h"

#include <limits>

#include "zero/kernels/fold.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// Numbers of rows and columns, as wide as the elements, so that one mask serves both.
template <class T> struct PlaceOf { using type = int32_t; };
template <> struct PlaceOf<double> { using type = int64_t; };
template <> struct PlaceOf<int64_t> { using type = int64_t; };

template <class T>
ZERO_INLINE bool exceeds(T x, T best) {  // NaN exceeds all numbers
  if constexpr (is_float<T>) return (x > best) | ((x != x) & (best == best));
  return x > best;
}
template <class T>
ZERO_INLINE bool ties(T x, T best) {
  if constexpr (is_float<T>) return (x == best) | ((x != x) & (best != best));
  return x == best;
}

template <class T>
constexpr T lowest() {
  using Limits = std::numeric_limits<T>;
  return is_float<T> ? -Limits::infinity() : Limits::lowest();
}

// Column c of a row of the input against the best so far, `best` from row number `place`.
template <bool Index, class T, class Place>
ZERO_NOINLINE void take_row(const T* row, Place number, int64_t n, T* best, Place* place) {
  ZERO_SIMD
  for (int64_t c = 0; c < n; ++c) {
    const bool better = exceeds(row[c], best[c]);
    best[c] = better ? row[c] : best[c];
    if constexpr (Index) place[c] = better ? number : place[c];
  }
}

template <class T, class Place>
struct Row {
  const T* best;       // of each column
  const Place* place;  // its row
  T* out;
  Place *row, *column;  // of the results
};

// Output begin + i against column first + i Step, up to `end`. Step 0 means any.
template <bool Index, int Step, class T, class Place>
ZERO_NOINLINE void take_column(const Row<T, Place>& r, int64_t begin, int64_t end, int64_t first,
                               int64_t any_step, bool set) {
  const int64_t step = Step > 0 ? Step : any_step, n = end - begin;
  const T* const best = r.best + first;
  const Place* const place = r.place + first;
  T* const out = r.out + begin;
  Place *const row = r.row + begin, *const column = r.column + begin;
  if (set) {
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) {
      out[i] = best[i * step];
      if constexpr (Index) {
        row[i] = place[i * step];
        column[i] = static_cast<Place>(first + i * step);
      }
    }
    return;
  }
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) {
    const T x = best[i * step];
    if constexpr (Index) {
      const Place p = place[i * step];
      const bool better = exceeds(x, out[i]) | (ties(x, out[i]) & (p < row[i]));
      out[i] = better ? x : out[i];
      row[i] = better ? p : row[i];
      column[i] = better ? static_cast<Place>(first + i * step) : column[i];
    } else {
      out[i] = exceeds(x, out[i]) ? x : out[i];
    }
  }
}

// One output: the columns from `first` on.
template <bool Index, class T, class Place>
ZERO_NOINLINE void take_window(const Row<T, Place>& r, int64_t i, int64_t first, int64_t count,
                               int64_t step) {
  T best = r.best[first];
  Place row = r.place[first], column = static_cast<Place>(first);
  for (int64_t k = 1, c = first + step; k < count; ++k, c += step) {
    const T x = r.best[c];
    const bool better = exceeds(x, best) || (Index && ties(x, best) && r.place[c] < row);
    if (!better) continue;
    best = x;
    row = r.place[c];
    column = static_cast<Place>(c);
  }
  r.out[i] = best;
  r.row[i] = row;
  r.column[i] = column;
}

template <bool Index, class T, class Place>
void take_columns(const Windows& w, const Row<T, Place>& r) {
  const int64_t first = w.first[w.inner_begin], count = w.count[w.inner_begin];
  const bool together = w.inner_end - w.inner_begin >= 4 && count > 0;
  if (together) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t at = first + k * w.step;
      if (w.inner_step == 1 && is_float<T>) {
        take_column<Index, 1>(r, w.inner_begin, w.inner_end, at, 1, k == 0);
      } else if (w.inner_step == 2 && is_float<T>) {
        take_column<Index, 2>(r, w.inner_begin, w.inner_end, at, 2, k == 0);
      } else {
        take_column<Index, 0>(r, w.inner_begin, w.inner_end, at, w.inner_step, k == 0);
      }
    }
  }
  for (int64_t i = 0; i < w.out; ++i) {
    if (together && i == w.inner_begin) i = w.inner_end;
    if (i == w.out) break;
    if (w.count[i] > 0) {
      take_window<Index>(r, i, w.first[i], w.count[i], w.step);
    } else {
      r.out[i] = lowest<T>();
      r.row[i] = r.column[i] = -1;
    }
  }
}

// Rows of windows of two rows and two columns side by side are taken in pieces of known length, of
// which the last may overlap the one before: of a short row, what is left of a vector would take
// most of the time.
#if defined(__x86_64__) && !defined(__AVX2__)
constexpr int64_t kPiece = INT64_MAX;  // on old processors small counts for more
#else
constexpr int64_t kPiece = 8;
#endif

// Returns 1 where there is NaN (or infinities of both signs), which is not compared as it should.
template <bool Index, class T, class Place>
ZERO_INLINE int take_piece(const T* a, const T* b, int64_t n, Place first, Place next_row, T* out,
                           int32_t* index) {
  int unordered = 0;
  ZERO_SIMD_ANY(unordered)
  for (int64_t i = 0; i < n; ++i) {
    T best = a[2 * i], total = best, x = a[2 * i + 1];
    Place place = x > best ? Place(1) : Place(0);
    best = x > best ? x : best;
    total += x;
    x = b[2 * i];
    place = x > best ? next_row : place;
    best = x > best ? x : best;
    total += x;
    x = b[2 * i + 1];
    place = x > best ? next_row + 1 : place;
    best = x > best ? x : best;
    total += x;
    unordered |= total != total;
    out[i] = best;
    if constexpr (Index) index[i] = static_cast<int32_t>(first + static_cast<Place>(2 * i) + place);
  }
  return unordered;
}

// Rows of n results; row r reads its first row from r * step on, the other one `width` behind.
// Returns how many rows have no NaN.
template <bool Index, class Place, class T>
ZERO_NOINLINE int64_t take_squares(const T* x, int64_t step, int64_t width, int64_t rows, int64_t n,
                                   int64_t first, T* out, int32_t* index) {
  const Place next_row = static_cast<Place>(width);
  for (int64_t r = 0; r < rows; ++r, x += step, first += step, out += n) {
    const Place place = static_cast<Place>(first);
    int unordered = 0;
    if (n < kPiece) {
      unordered = take_piece<Index>(x, x + width, n, place, next_row, out, index);
    } else {
      for (int64_t i = 0; i < n; i += kPiece) {
        const int64_t at = i + kPiece <= n ? i : n - kPiece;
        unordered |= take_piece<Index>(x + 2 * at, x + 2 * at + width, kPiece,
                                       place + static_cast<Place>(2 * at), next_row, out + at,
                                       index + (Index ? at : 0));
      }
    }
    if (unordered != 0) return r;
    if constexpr (Index) index += n;
  }
  return rows;
}

// The gradient of such a row: each place is written once.
ZERO_INLINE void spread_piece(const float* g, const int32_t* index, int64_t n, int32_t first,
                              int32_t next_row, float* a, float* b) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) {
    const float x = g[i];
    const int32_t place = index[i] - (first + 2 * static_cast<int32_t>(i));
    a[2 * i] = place == 0 ? x : 0.0f;
    a[2 * i + 1] = place == 1 ? x : 0.0f;
    b[2 * i] = place == next_row ? x : 0.0f;
    b[2 * i + 1] = place == next_row + 1 ? x : 0.0f;
  }
}
// Of a plane.
ZERO_NOINLINE void spread_squares(const float* g, const int32_t* index, int64_t rows, int64_t n,
                                  int64_t width, float* out) {
  const int32_t next_row = static_cast<int32_t>(width);
  for (int64_t r = 0; r < rows; ++r, g += n, index += n, out += 2 * width) {
    const int32_t first = static_cast<int32_t>(2 * r * width);
    float *const a = out, *const b = a + width;
    if (n < kPiece) {
      spread_piece(g, index, n, first, next_row, a, b);
    } else {
      for (int64_t i = 0; i < n; i += kPiece) {
        const int64_t at = i + kPiece <= n ? i : n - kPiece;
        spread_piece(g + at, index + at, kPiece, first + static_cast<int32_t>(2 * at), next_row,
                     a + 2 * at, b + 2 * at);
      }
    }
    for (int64_t c = 2 * n; c < width; ++c) a[c] = b[c] = 0;
  }
}

template <bool Index, class T>
void pool(const MaxPoolArgs& args) {
  using Place = typename PlaceOf<T>::type;
  const Windows &d = args.d, &h = args.h, &w = args.w;
  T* const buffer = static_cast<T*>(args.scratch);
  Place* const places = reinterpret_cast<Place*>(buffer + w.in);
  Row<T, Place> r = {buffer, places, nullptr, places + w.in, places + w.in + w.out};
  const bool pairs = w.inner_begin == 0 && w.inner_end == w.out && w.inner_step == 2 &&
                     w.count[0] == 2 && w.step == 1;
  int64_t row_h = args.begin % h.out, row_d = args.begin / h.out % d.out;
  const T* x = static_cast<const T*>(args.x) + args.begin / (h.out * d.out) * (d.in * h.in * w.in);
  const auto advance = [&](int64_t by) {  // within a plane
    if ((row_h += by) < h.out) return;
    row_h = 0;
    if (++row_d < d.out) return;
    row_d = 0;
    x += d.in * h.in * w.in;
  };
  for (int64_t i = args.begin; i < args.end; ++i, advance(1)) {
    r.out = static_cast<T*>(args.out) + i * w.out;
    if (is_float<T> && pairs && d.count[row_d] == 1 && h.count[row_h] == 2 &&
        row_h >= h.inner_begin && row_h < h.inner_end) {
      const int64_t first = (d.first[row_d] * h.in + h.first[row_h]) * w.in + w.first[0];
      const int64_t left = args.end - i, regular = h.inner_end - row_h;
      const int64_t most = left < regular ? left : regular;
      const int64_t taken =
          take_squares<Index, Place>(x + first, h.inner_step * w.in, h.step * w.in, most, w.out,
                                     first, r.out, Index ? args.index + i * w.out : nullptr);
      if (taken > 0) {  // the last one is counted by the loop
        i += taken - 1;
        if (taken > 1) advance(taken - 1);
        continue;
      }
    }
    int64_t rows = 0;
    for (int64_t a = 0; a < d.count[row_d]; ++a) {
      for (int64_t b = 0; b < h.count[row_h]; ++b, ++rows) {
        const int64_t number = (d.first[row_d] + a * d.step) * h.in + h.first[row_h] + b * h.step;
        const T* const row = x + number * w.in;
        if (rows == 0) {
          copy_bytes(buffer, row, w.in * static_cast<int64_t>(sizeof(T)));
          if constexpr (Index)
            for (int64_t c = 0; c < w.in; ++c) places[c] = static_cast<Place>(number);
        } else {
          take_row<Index>(row, static_cast<Place>(number), w.in, buffer, places);
        }
      }
    }
    if (rows > 0) {
      take_columns<Index>(w, r);
    } else {
      for (int64_t c = 0; c < w.out; ++c) r.out[c] = lowest<T>(), r.row[c] = r.column[c] = -1;
    }
    if (Index && args.index != nullptr) {
      int32_t* const index = args.index + i * w.out;
      const Place in_w = static_cast<Place>(w.in);
      ZERO_SIMD
      for (int64_t c = 0; c < w.out; ++c) {
        const Place place = r.row[c] * in_w + r.column[c];
        index[c] = static_cast<int32_t>(r.row[c] < 0 ? -1 : place);
      }
    }
  }
}

template <class T>
void max_pool(const MaxPoolArgs& args) {
  if (is_float<T> && args.index == nullptr) {
    pool<false, T>(args);
  } else {
    pool<true, T>(args);
  }
}

template <class T>
void max_pool_backward(const UnpoolArgs& args) {
  const T* g = static_cast<const T*>(args.g);
  const int32_t* index = args.index;
  T* out = static_cast<T*>(args.out);
  for (int64_t p = 0; p < args.planes; ++p) {
    if (same<T, float> && args.square_columns > 0) {
      const int64_t rows = args.in / args.square_columns;
      if constexpr (same<T, float>)
        spread_squares(g, index, rows, args.square_columns, args.width, out);
      for (int64_t i = 2 * rows * args.width; i < args.out_size; ++i) out[i] = 0;
    } else {
      for (int64_t i = 0; i < args.out_size; ++i) out[i] = 0;
      for (int64_t i = 0; i < args.in; ++i)
        if (index[i] >= 0) out[index[i]] += g[i];
    }
    g += args.in;
    index += args.in;
    out += args.out_size;
  }
}

// A few numbers, in eight lanes.
template <class T>
ZERO_INLINE T short_sum(const T* row, int64_t n) {
  constexpr int width = 8;
  T lanes[width] = {}, total = 0;
  int64_t i = 0;
  for (; i + width <= n; i += width) {
    ZERO_SIMD
    for (int l = 0; l < width; ++l) lanes[l] += row[i + l];
  }
  for (; i < n; ++i) total += row[i];
  for (int l = 0; l < width; ++l) total += lanes[l];
  return total;
}

// Short rows, of small planes, are summed in their type; long ones in float64.
template <class T>
void row_sum(const void* x, int64_t rows, int64_t n, void* out) {
  const T* row = static_cast<const T*>(x);
  T* const sums = static_cast<T*>(out);
  for (int64_t r = 0; r < rows; ++r, row += n) {
    sums[r] = n <= 128 ? short_sum(row, n)
                       : static_cast<T>(sum_terms<8>(n, [=](int64_t i) { return row[i]; }));
  }
}

}  // namespace

void fill_pooling(KernelTable& table) {
  static constexpr PoolingKernels kernels = {
      {max_pool<float>, max_pool<double>, max_pool<int64_t>, nullptr, nullptr},
      {max_pool_backward<float>, max_pool_backward<double>, nullptr, nullptr, nullptr},
      {row_sum<float>, row_sum<double>, nullptr, nullptr, nullptr}};
  static_assert(static_cast<int>(ComputeType::F32) == 0 &&
                static_cast<int>(ComputeType::F64) == 1 && static_cast<int>(ComputeType::I64) == 2);
  table.pooling = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
