// Winograd's convolutions between their maps (winograd.inl): images to vectors of channels and
// back, weights, and products at the points.
#include "zero/kernels/winograd.h"

#include "zero/kernels/winograd.inl"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define ZERO_SHUFFLES
#endif
#endif

namespace zero::ZERO_ISA_NS {
namespace {

// ---- between channels and lanes -----------------------------------------------------------------

#if defined(ZERO_SHUFFLES)
typedef float Quad __attribute__((vector_size(16)));

ZERO_INLINE Quad load_quad(const float* from) {
  Quad q;
  copy_bytes(&q, from, 16);
  return q;
}

// Squares of 4 x 4 within each 16 bytes of four vectors, transposed.
template <class V>
ZERO_INLINE void transpose_squares(V (&v)[4]) {
  constexpr int n = sizeof(V) / 4;
  if constexpr (n == 4) {
    const V a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
    const V b = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
    const V c = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
    const V d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    v[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
  } else if constexpr (n == 8) {
    const V a = __builtin_shufflevector(v[0], v[1], 0, 8, 1, 9, 4, 12, 5, 13);
    const V b = __builtin_shufflevector(v[0], v[1], 2, 10, 3, 11, 6, 14, 7, 15);
    const V c = __builtin_shufflevector(v[2], v[3], 0, 8, 1, 9, 4, 12, 5, 13);
    const V d = __builtin_shufflevector(v[2], v[3], 2, 10, 3, 11, 6, 14, 7, 15);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
    v[1] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
    v[2] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
  } else {
    // clang-format off
#define ZERO_LOW 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define ZERO_HIGH 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define ZERO_LOW_PAIRS 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define ZERO_HIGH_PAIRS 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
    // clang-format on
    const V a = __builtin_shufflevector(v[0], v[1], ZERO_LOW);
    const V b = __builtin_shufflevector(v[0], v[1], ZERO_HIGH);
    const V c = __builtin_shufflevector(v[2], v[3], ZERO_LOW);
    const V d = __builtin_shufflevector(v[2], v[3], ZERO_HIGH);
    v[0] = __builtin_shufflevector(a, c, ZERO_LOW_PAIRS);
    v[1] = __builtin_shufflevector(a, c, ZERO_HIGH_PAIRS);
    v[2] = __builtin_shufflevector(b, d, ZERO_LOW_PAIRS);
    v[3] = __builtin_shufflevector(b, d, ZERO_HIGH_PAIRS);
  }
}

// The squares themselves: vector j gets the 16 bytes at j of each.
template <class V>
ZERO_INLINE void transpose_halves(V (&)[1]) {}
template <class V>
ZERO_INLINE void transpose_halves(V (&v)[2]) {
  const V a = __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 8, 9, 10, 11);
  v[1] = __builtin_shufflevector(v[0], v[1], 4, 5, 6, 7, 12, 13, 14, 15);
  v[0] = a;
}
template <class V>
ZERO_INLINE void transpose_halves(V (&v)[4]) {
  // clang-format off
#define ZERO_EVEN 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define ZERO_ODD 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
  // clang-format on
  const V a = __builtin_shufflevector(v[0], v[1], ZERO_EVEN);
  const V b = __builtin_shufflevector(v[0], v[1], ZERO_ODD);
  const V c = __builtin_shufflevector(v[2], v[3], ZERO_EVEN);
  const V d = __builtin_shufflevector(v[2], v[3], ZERO_ODD);
  v[0] = __builtin_shufflevector(a, c, ZERO_EVEN);
  v[1] = __builtin_shufflevector(b, d, ZERO_EVEN);
  v[2] = __builtin_shufflevector(a, c, ZERO_ODD);
  v[3] = __builtin_shufflevector(b, d, ZERO_ODD);
}

// Four elements of each of the channels q, 4 + q, 8 + q, ...
template <class V>
ZERO_INLINE V load_quads(const float* from, const int64_t* offsets) {
  constexpr int n = sizeof(V) / 4;
  const Quad a = load_quad(from + offsets[0]);
  if constexpr (n == 4) {
    return a;
  } else {
    const Quad b = load_quad(from + offsets[4]);
    const auto ab = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
    if constexpr (n == 8) {
      return ab;
    } else {
      const Quad c = load_quad(from + offsets[8]), d = load_quad(from + offsets[12]);
      const auto cd = __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7);
      return __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    }
  }
}
#endif

// Where the channels of a vector lie; those that aren't there are the last one again.
struct Offsets {
  int64_t at[L];
  int count;
  Offsets(int64_t channels, int64_t step)
      : count(static_cast<int>(channels < L ? channels : int64_t{L})) {
    for (int l = 0; l < L; ++l) at[l] = (l < count ? l : count - 1) * step;
  }
};

// Four elements of each channel become four vectors.
ZERO_INLINE void load_four(Vector (&v)[4], const float* from, const Offsets& offsets) {
#if defined(ZERO_SHUFFLES)
  ZERO_UNROLL
  for (int q = 0; q < 4; ++q) v[q] = load_quads<Vector>(from, offsets.at + q);
  transpose_squares(v);
#else
  float mixed[4][L];
  for (int l = 0; l < L; ++l)
    for (int x = 0; x < 4; ++x) mixed[x][l] = from[offsets.at[l] + x];
  for (int x = 0; x < 4; ++x) v[x] = load(mixed[x]);
#endif
}

// The other way round. Between them the channels are those of `offsets`.
ZERO_INLINE void store_four(float* to, const Offsets& offsets, Vector (&v)[4]) {
#if defined(ZERO_SHUFFLES)
  transpose_squares(v);
  if (offsets.count == L) {
    ZERO_UNROLL
    for (int l = 0; l < L; ++l)
      copy_bytes(to + offsets.at[l], reinterpret_cast<const char*>(&v[l % 4]) + l / 4 * 16, 16);
    return;
  }
  float mixed[4][L];
  for (int q = 0; q < 4; ++q) store(mixed[q], v[q]);
  for (int l = 0; l < offsets.count; ++l)
    copy_bytes(to + offsets.at[l], &mixed[l % 4][l / 4 * 4], 16);
#else
  for (int x = 0; x < 4; ++x) {
    float mixed[L];
    store(mixed, v[x]);
    for (int l = 0; l < offsets.count; ++l) to[offsets.at[l] + x] = mixed[l];
  }
#endif
}

// A vector of elements of each channel, and a vector of channels for each element, or back: whole
// lines of the cache, as planes of 4 KiB share a set of it.
ZERO_INLINE void load_square(float* to, const float* from, const Offsets& offsets) {
#if defined(ZERO_SHUFFLES)
  constexpr int Q = L / 4;
  Vector v[Q][4];
  ZERO_UNROLL
  for (int q = 0; q < 4; ++q) {
    Vector rows[Q];
    ZERO_UNROLL
    for (int j = 0; j < Q; ++j) rows[j] = load(from + offsets.at[4 * j + q]);
    transpose_halves(rows);
    ZERO_UNROLL
    for (int g = 0; g < Q; ++g) v[g][q] = rows[g];
  }
  ZERO_UNROLL
  for (int g = 0; g < Q; ++g) {
    transpose_squares(v[g]);
    ZERO_UNROLL
    for (int i = 0; i < 4; ++i) store(to + (4 * g + i) * L, v[g][i]);
  }
#else
  for (int l = 0; l < L; ++l)
    for (int x = 0; x < L; ++x) to[x * L + l] = from[offsets.at[l] + x];
#endif
}
ZERO_INLINE void store_square(float* to, const Offsets& offsets, const float* from) {
#if defined(ZERO_SHUFFLES)
  constexpr int Q = L / 4;
  Vector v[Q][4];
  ZERO_UNROLL
  for (int g = 0; g < Q; ++g) {
    ZERO_UNROLL
    for (int i = 0; i < 4; ++i) v[g][i] = load(from + (4 * g + i) * L);
    transpose_squares(v[g]);
  }
  ZERO_UNROLL
  for (int q = 0; q < 4; ++q) {
    Vector rows[Q];
    ZERO_UNROLL
    for (int g = 0; g < Q; ++g) rows[g] = v[g][q];
    transpose_halves(rows);
    ZERO_UNROLL
    for (int j = 0; j < Q; ++j)
      if (4 * j + q < offsets.count) store(to + offsets.at[4 * j + q], rows[j]);
  }
#else
  for (int l = 0; l < offsets.count; ++l)
    for (int x = 0; x < L; ++x) to[offsets.at[l] + x] = from[x * L + l];
#endif
}

// n elements of each channel, by as many as can be; the last four may overlap.
ZERO_NOINLINE void load_run(float* to, const float* from, const Offsets& offsets, int64_t n) {
  int64_t x = 0;
  for (; x + L <= n; x += L) load_square(to + x * L, from + x, offsets);
  for (; x < n && n >= 4; x += 4) {
    const int64_t at = x + 4 <= n ? x : n - 4;
    Vector v[4];
    load_four(v, from + at, offsets);
    ZERO_UNROLL
    for (int i = 0; i < 4; ++i) store(to + (at + i) * L, v[i]);
  }
  for (; x < n; ++x)
    for (int l = 0; l < L; ++l) to[x * L + l] = from[offsets.at[l] + x];
}
ZERO_NOINLINE void store_run(float* to, const Offsets& offsets, const float* from, int64_t n) {
  int64_t x = 0;
  for (; x + L <= n; x += L) store_square(to + x, offsets, from + x * L);
  for (; x < n && n >= 4; x += 4) {
    const int64_t at = x + 4 <= n ? x : n - 4;
    Vector v[4];
    ZERO_UNROLL
    for (int i = 0; i < 4; ++i) v[i] = load(from + (at + i) * L);
    store_four(to + at, offsets, v);
  }
  for (; x < n; ++x)
    for (int l = 0; l < offsets.count; ++l) to[offsets.at[l] + x] = from[x * L + l];
}

// ---- tiles --------------------------------------------------------------------------------------

// Windows of `step` and `halo` more elements to `points` points. Rows are loaded when tiles need
// them, so that they are still in L1 then.
ZERO_NOINLINE void load_rectangle(const WinogradTilesArgs& args, int64_t step, int64_t halo,
                                  int64_t points, MapTileFn map) {
  const int64_t width = step * args.columns + halo;
  // Columns of the rectangle that lie in the image.
  const auto clamp = [](int64_t x, int64_t high) { return x < 0 ? 0 : x > high ? high : x; };
  const int64_t begin = clamp(-args.column, width), end = clamp(args.width - args.column, width);
  for (int64_t c = 0; c < args.channels; c += L) {
    const Offsets offsets(args.channels - c, args.plane);
    const float* const image = args.in + c * args.plane;
    const auto load_row = [&](int64_t y, float* strip) {
      if (y < 0 || y >= args.height || begin >= end) {
        for (int64_t x = 0; x < width; ++x) store(strip + x * L, Vector{});
        return;
      }
      for (int64_t x = 0; x < begin; ++x) store(strip + x * L, Vector{});
      load_run(strip + begin * L, image + y * args.width + args.column + begin, offsets,
               end - begin);
      for (int64_t x = end; x < width; ++x) store(strip + x * L, Vector{});
    };
    float* out = args.out + c;
    int64_t loaded = 0;
    for (int64_t i = 0; i < args.rows; ++i) {
      for (; loaded < step * (i + 1) + halo; ++loaded)
        load_row(args.row + loaded, args.scratch + loaded * width * L);
      for (int64_t j = 0; j < args.columns; ++j, out += args.tile_step)
        map(args.scratch + step * (i * width + j) * L, width * L, L, out, points * args.point_step,
            args.point_step);
    }
  }
}

// Asks for a line of the cache while there is other work to do: stores to lines that aren't there
// took half of store_rectangle's time.
ZERO_INLINE void will_write(float* at) {
#if defined(__GNUC__)
  __builtin_prefetch(at, 1, 2);
  __asm__ volatile("");  // gcc leaves out functions that do nothing but this
#else
  (void)at;
#endif
}

// From the points to tiles of `step` elements.
ZERO_NOINLINE void store_rectangle(const WinogradTilesArgs& args, int64_t step, int64_t points,
                                   MapTileFn map) {
  const int64_t width = step * args.columns, height = step * args.rows;
  // What of the rectangle lies in the image.
  const int64_t low_row = args.row < 0 ? -args.row : 0;
  const int64_t low_column = args.column < 0 ? -args.column : 0;
  const int64_t below = args.height - args.row, right = args.width - args.column;
  const int64_t rows = below < height ? below : height, columns = right < width ? right : width;
  for (int64_t c = 0; c < args.channels; c += L) {
    const Offsets offsets(args.channels - c, args.plane);
    const float* in = args.in + c;
    float* const image = args.out + c * args.plane + args.row * args.width + args.column;
    float each[L];
    for (int l = 0; l < L; ++l)
      each[l] = args.bias ? args.bias[c + (l < offsets.count ? l : 0)] : 0.0f;
    const Vector bias = load(each);
    // Rows of a row of tiles that lie in the image.
    const auto first_row = [&](int64_t i) { return step * i > low_row ? step * i : low_row; };
    const auto last_row = [&](int64_t i) { return step * (i + 1) < rows ? step * (i + 1) : rows; };
    const auto ask_for = [&](int64_t i) {
      for (int64_t y = first_row(i); y < last_row(i); ++y)
        for (int l = 0; l < offsets.count; ++l)
          for (int64_t x = low_column; x < columns; x += 16)
            will_write(image + y * args.width + offsets.at[l] + x);
    };
    for (int64_t i = 0; i < args.rows; ++i) ask_for(i);
    for (int64_t i = 0; i < args.rows; ++i) {
      float* const strip = args.scratch + step * i * width * L;
      for (int64_t j = 0; j < args.columns; ++j, in += args.tile_step)
        map(in, points * args.point_step, args.point_step, strip + step * j * L, width * L, L);
      if (args.bias) {
        for (int64_t x = 0; x < step * width; ++x) store(strip + x * L, load(strip + x * L) + bias);
      }
      for (int64_t y = first_row(i); y < last_row(i); ++y)
        store_run(image + y * args.width + low_column, offsets,
                  args.scratch + (y * width + low_column) * L, columns - low_column);
    }
  }
}

template <class Map, int step>
void load_tiles(const WinogradTilesArgs& args) {
  load_rectangle(args, step, Map::in - step, Map::out, map_tile<Map>);
}
template <class Map>
void store_tiles(const WinogradTilesArgs& args) {
  store_rectangle(args, Map::out, Map::in, map_tile<Map>);
}

// ---- weights ------------------------------------------------------------------------------------

constexpr int kDepths = 4;  // that are loaded together, where they are neighbours

ZERO_NOINLINE void load_weights(const WinogradWeightArgs& args, MapTileFn map) {
  const int64_t step = args.flipped ? -L : L;
  const bool neighbours = args.depth_step == 9;
  const int64_t depths = neighbours ? kDepths : 1, lanes = neighbours ? L : args.lanes;
  // The order of memory: all depths of a vector, or all lanes of a depth.
  for (int64_t first = 0; first < args.lanes; first += lanes)
    for (int64_t d = 0; d < args.depth; d += depths)
      for (int64_t l = first; l < first + lanes; l += L) {
        const int64_t count = args.depth - d < depths ? args.depth - d : depths;
        float taps[kDepths * 9 * L];
        load_run(taps, args.in + l * args.lane_step + d * args.depth_step,
                 Offsets(args.lanes - l, args.lane_step), 9 * count);
        for (int64_t i = 0; i < count; ++i)
          map(taps + (9 * i + (args.flipped ? 8 : 0)) * L, 3 * step, step,
              args.out + (d + i) * args.row_step + l, 6 * args.point_step, args.point_step);
      }
}

ZERO_NOINLINE void store_weights(const WinogradWeightArgs& args, MapTileFn map) {
  for (int64_t d = 0; d < args.depth; ++d)
    for (int64_t l = 0; l < args.lanes; l += L) {
      const Offsets offsets(args.lanes - l, args.lane_step);
      float* const to = args.out + l * args.lane_step + d * args.depth_step;
      float taps[9 * L], before[9 * L];
      map(args.in + d * args.row_step + l, 6 * args.point_step, args.point_step, taps, 3 * L, L);
      if (args.add) {
        load_run(before, to, offsets, 9);
        for (int t = 0; t < 9; ++t) store(taps + t * L, load(before + t * L) + load(taps + t * L));
      }
      store_run(to, offsets, taps, 9);
    }
}

template <class Map>
void load_weight(const WinogradWeightArgs& args) {
  load_weights(args, map_tile<Map>);
}
template <class Map>
void store_weight(const WinogradWeightArgs& args) {
  store_weights(args, map_tile<Map>);
}

// ---- products -----------------------------------------------------------------------------------

template <int R, int V>
ZERO_NOINLINE void product_tile(const WinogradProductArgs& args, const float* a, const float* b,
                                float* c) {
  const int64_t row = args.a_row;
  Vector sums[R][V];
  ZERO_UNROLL
  for (int i = 0; i < R; ++i) {
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) sums[i][v] = Vector{};
  }
  for (int64_t p = 0; p < args.depth; ++p) {
    Vector panel[V];
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) panel[v] = load(b + v * L);
    ZERO_UNROLL
    for (int i = 0; i < R; ++i) {
      const float factor = a[i * row];
      ZERO_UNROLL
      for (int v = 0; v < V; ++v) sums[i][v] += factor * panel[v];
    }
    a += args.a_step;
    b += args.b_row;
  }
  if (args.add) {
    ZERO_UNROLL
    for (int i = 0; i < R; ++i) {
      ZERO_UNROLL
      for (int v = 0; v < V; ++v) sums[i][v] += load(c + i * args.c_row + v * L);
    }
  }
  ZERO_UNROLL
  for (int i = 0; i < R; ++i) {
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) store(c + i * args.c_row + v * L, sums[i][v]);
  }
}

// All rows, in tiles as equal as can be.
template <int V>
void product_columns(const WinogradProductArgs& args, int64_t column) {
  const int64_t tiles = (args.rows + kRows - 1) / kRows;
  const float* const b = args.b + column;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t i = args.rows * tile / tiles;
    const float* const a = args.a + i * args.a_row;
    float* const c = args.c + i * args.c_row + column;
    switch (args.rows * (tile + 1) / tiles - i) {
      case 1: product_tile<1, V>(args, a, b, c); break;
      case 2: product_tile<2, V>(args, a, b, c); break;
      case 3: product_tile<3, V>(args, a, b, c); break;
      case 4: product_tile<4, V>(args, a, b, c); break;
      case 5: product_tile < kRows<5 ? kRows : 5, V>(args, a, b, c); break;
      default: product_tile<kRows, V>(args, a, b, c);
    }
  }
}

void product(const WinogradProductArgs& args) {
  constexpr int V = kPanelVectors;
  int64_t column = 0;
  for (; column + V * L <= args.columns; column += V * L) product_columns<V>(args, column);
  if constexpr (V == 4) {
    if (column + 2 * L <= args.columns) {
      product_columns<2>(args, column);
      column += 2 * L;
    }
  }
  if (column < args.columns) product_columns<1>(args, column);
}

}  // namespace

void fill_winograd(KernelTable& table) {
  static constexpr WinogradKernels kernels = {
      .lanes = L,
      .schemes = {{.points = 6,
                   .weight = {0, 1, 2, 3, 4, 5},
                   .step = 4,
                   .halo = 2,
                   .load_source = load_tiles<Source, 4>,
                   .store_result = store_tiles<Result>,
                   .load_back = load_tiles<Source, 4>,
                   .store_back = store_tiles<Result>,
                   .load_gradient = load_tiles<Gradient, 4>,
                   .load_weight = load_weight<Weight>,
                   .store_weight = store_weight<WeightGradient>},
                  {.points = 9,
                   .weight = {0, 1, 2, 3, 4, 5, 5, 5, 5},
                   .step = 8,
                   .halo = 1,
                   .load_source = load_tiles<StridedSource, 8>,
                   .store_result = store_tiles<StridedResult>,
                   .load_back = load_tiles<StridedBack, 4>,
                   .store_back = store_tiles<StridedBackResult>,
                   .load_gradient = load_tiles<StridedGradient, 4>,
                   .load_weight = load_weight<StridedWeight>,
                   .store_weight = store_weight<StridedWeightGradient>}},
      .product = product};
  table.winograd = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
