// Convolutions as products of matrices that nobody writes down: an operand is read through offsets.
//
// The tile of results and the order of its sums are those of gemm.cpp: each result is one chain of
// multiply-adds over the depth of a call, so its bits don't depend on the tile it falls into.
#include "zero/kernels/convolution.h"

#include "zero/kernels/registers.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// ---- products -----------------------------------------------------------------------------------

// c[i][j] = first[i] + sum over p of rows[i][depths[p]] b[p][j] + last[i][j].
template <class T, int N>
ZERO_NOINLINE void tile(const T* const* rows, const int64_t* depths, int64_t depth, const T* b,
                        T* c, int64_t c_row, const T* first, const T* last, int64_t last_row) {
  using Lanes = typename LanesOf<T>::type;
  constexpr int L = kVectorBytes / static_cast<int>(sizeof(T)), V = N / L;
  const T* a[kRows];
  Lanes sums[kRows][V];
  ZERO_UNROLL
  for (int i = 0; i < kRows; ++i) {
    a[i] = rows[i];
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) sums[i][v] = Lanes{} + first[i];
  }
  for (int64_t p = 0; p < depth; ++p, b += N) {
    const int64_t at = depths[p];
    Lanes panel[V];
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) copy_bytes(&panel[v], b + v * L, kVectorBytes);
    ZERO_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const T factor = a[i][at];
      ZERO_UNROLL
      for (int v = 0; v < V; ++v) sums[i][v] += factor * panel[v];
    }
  }
  ZERO_UNROLL
  for (int i = 0; i < kRows; ++i) {
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) {
      Lanes added;
      copy_bytes(&added, last + i * last_row + v * L, kVectorBytes);
      added += sums[i][v];
      copy_bytes(c + i * c_row + v * L, &added, kVectorBytes);
    }
  }
}

template <class T>
ZERO_NOINLINE void copy_block(T* to, int64_t to_row, const T* from, int64_t from_row, int64_t rows,
                              int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    copy_bytes(to + i * to_row, from + i * from_row, columns * static_cast<int64_t>(sizeof(T)));
}

template <class T, int N>
void panel_of_width(const ProductPanelArgs& args) {
  static constexpr T kZeros[N] = {};
  const T* const a = static_cast<const T*>(args.a);
  const T* const b = static_cast<const T*>(args.b);
  const T* const row_bias = static_cast<const T*>(args.row_bias);
  const T* const column_bias = args.column_bias ? static_cast<const T*>(args.column_bias) : kZeros;
  for (int64_t i = 0; i < args.row_count; i += kRows) {
    const int64_t count = args.row_count - i < kRows ? args.row_count - i : kRows;
    T* const c = static_cast<T*>(args.c) + i * args.c_row;
    const bool whole = count == kRows && args.columns == N;
    const T* rows[kRows];
    T first[kRows], part[kRows * N];
    for (int r = 0; r < kRows; ++r) {
      const int64_t row = i + (r < count ? r : count - 1);
      rows[r] = a + args.rows[row];
      first[r] = row_bias && !args.add ? row_bias[row] : T(0);
    }
    if (!whole && args.add) copy_block(part, N, c, args.c_row, count, args.columns);
    T* const to = whole ? c : part;
    const int64_t to_row = whole ? args.c_row : N;
    tile<T, N>(rows, args.depths, args.depth, b, to, to_row, first, args.add ? to : column_bias,
               args.add ? to_row : 0);
    if (!whole) copy_block(c, args.c_row, part, N, count, args.columns);
  }
}

template <class T>
void product_panel(const ProductPanelArgs& args) {
  constexpr int N = kPanel<T>;
  if (args.width == N) return panel_of_width<T, N>(args);
  if constexpr (kPanelVectors == 4) {
    if (args.width == N / 4) return panel_of_width<T, N / 4>(args);
  }
  return panel_of_width<T, N / 2>(args);
}

// ---- copies -------------------------------------------------------------------------------------

// Whole vectors, the last of which may overlap the one before, down to 16 bytes; shorter ones
// element by element.
template <class Bits, int size>
ZERO_INLINE bool copy_by(Bits* to, const Bits* from, int64_t n) {
  constexpr int64_t step = size / static_cast<int>(sizeof(Bits));
  if (n < step) return false;
  for (int64_t i = 0; i + step <= n; i += step) copy_bytes(to + i, from + i, size);
  if (n % step != 0) copy_bytes(to + n - step, from + n - step, size);
  return true;
}
template <class Bits>
ZERO_INLINE void copy_run(Bits* to, const Bits* from, int64_t n) {
  if (copy_by<Bits, 64>(to, from, n) || copy_by<Bits, 16>(to, from, n)) return;
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}

template <class Bits>
void gather_columns(const GatherColumnsArgs& args) {
  Bits* out = static_cast<Bits*>(args.out);
  for (int64_t p = 0; p < args.depth; ++p, out += args.width) {
    const Bits* const in = static_cast<const Bits*>(args.in) + args.depths[p];
    const int64_t* run = args.runs;
    Bits* panel = out;
    for (int64_t j = 0, at = 0; j < args.count; j += *run++) {
      copy_run(panel + at, in + args.columns[j], *run);
      at += *run;
      if (at == args.width) {
        panel += args.panel_step;
        at = 0;
      }
    }
  }
}

template <class Bits>
ZERO_INLINE void clear_run(Bits* to, int64_t n) {  // most often a single element
  if (n > 0) to[0] = 0;
  for (int64_t i = 1; i < n; ++i) to[i] = 0;
}

template <class Bits>
void copy_box(const CopyBoxArgs& args) {
  const int64_t* const low = args.low;
  const int64_t* const size = args.size;
  const int64_t width = args.in_size[2], row = box_row(size[2], args.step);
  const auto clamp = [](int64_t x, int64_t high) { return x < 0 ? 0 : x > high ? high : x; };
  // Columns of a box that lie in the volume.
  const int64_t begin = clamp(-low[2], size[2]), end = clamp(width - low[2], size[2]);
  Bits* out = static_cast<Bits*>(args.out);
  for (int64_t i = 0; i < args.count; ++i) {
    const Bits* const volume = static_cast<const Bits*>(args.in) + i * args.in_step;
    for (int64_t d = low[0]; d < low[0] + size[0]; ++d) {
      for (int64_t h = low[1]; h < low[1] + size[1]; ++h, out += row) {
        if (d < 0 || d >= args.in_size[0] || h < 0 || h >= args.in_size[1] || begin >= end) {
          clear_run(out, row);
          continue;
        }
        const Bits* const in = volume + (d * args.in_size[1] + h) * width;
        if (args.step == 1) {
          clear_run(out, begin);
          copy_run(out + begin, in + (low[2] + begin), end - begin);
          clear_run(out + end, row - end);
          continue;
        }
        // Columns q step + r; those with begin <= q step + r < end lie in the volume.
        const int64_t step = args.step, part = row / step;
        for (int64_t r = 0; r < step; ++r) {
          const int64_t first = clamp((begin - r + step - 1) / step, part);
          const int64_t last = clamp((end - r + step - 1) / step, part);
          const Bits* const from = in + (low[2] + first * step + r);
          Bits* const to = out + r * part;
          clear_run(to, first);
          if (step == 2) {
            ZERO_SIMD
            for (int64_t q = 0; q < last - first; ++q) to[first + q] = from[2 * q];
          } else {
            for (int64_t q = 0; q < last - first; ++q) to[first + q] = from[q * step];
          }
          clear_run(to + last, part - last);
        }
      }
    }
  }
}

// ---- a few channels -----------------------------------------------------------------------------

template <class T> constexpr int kLanes = 2 * kVectorBytes / static_cast<int>(sizeof(T));
static_assert(kLanes<float> <= kSlideSlack);

// R rows at a time, so that enough sums run side by side.
template <class T, int R>
ZERO_INLINE void slide_rows(const SlideArgs& args, int64_t r, T bias) {
  constexpr int L = kLanes<T>;
  const T* const weights = static_cast<const T*>(args.weights);
  const T* a[R];
  ZERO_UNROLL
  for (int i = 0; i < R; ++i) a[i] = static_cast<const T*>(args.a) + args.rows[r + i];
  for (int64_t x = 0; x < args.width; x += L) {
    const int64_t valid = args.width - x < L ? args.width - x : L;
    T sums[R][L];
    const bool unmasked = valid == L || args.readable;
    if (unmasked) {
      using Lanes = typename LanesOf<T>::type;
      constexpr int V = L * static_cast<int>(sizeof(T)) / kVectorBytes;
      Lanes held[R][V];  // in registers
      ZERO_UNROLL
      for (int i = 0; i < R; ++i) {
        ZERO_UNROLL
        for (int v = 0; v < V; ++v) held[i][v] = Lanes{} + bias;
      }
      for (int64_t p = 0; p < args.depth; ++p) {
        const T factor = weights[p];
        const int64_t at = args.depths[p] + x;
        ZERO_UNROLL
        for (int i = 0; i < R; ++i) {
          ZERO_UNROLL
          for (int v = 0; v < V; ++v) {
            Lanes read;
            copy_bytes(&read, a[i] + at + v * (L / V), kVectorBytes);
            held[i][v] += factor * read;
          }
        }
      }
      copy_bytes(sums, held, sizeof(sums));
    } else {
      for (int i = 0; i < R; ++i)
        for (int j = 0; j < L; ++j) sums[i][j] = bias;
    }
    for (int64_t p = 0; !unmasked && p < args.depth; ++p) {
      const T factor = weights[p];
      const int64_t at = args.depths[p] + x;
      ZERO_UNROLL
      for (int i = 0; i < R; ++i) {
        ZERO_SIMD
        for (int j = 0; j < L; ++j) sums[i][j] += factor * (j < valid ? a[i][at + j] : T(0));
      }
    }
    for (int i = 0; i < R; ++i) {
      T* const out = static_cast<T*>(args.out) + args.out_rows[r + i] + x * args.out_step;
      if (args.out_step == 1) {
        copy_run(out, sums[i], valid);
      } else if (args.out_step == 2) {
        for (int64_t j = 0; j < valid; ++j) out[2 * j] = sums[i][j];
      } else {
        for (int64_t j = 0; j < valid; ++j) out[j * args.out_step] = sums[i][j];
      }
    }
  }
}

// V vectors of sums, of whatever lies side by side in memory.
template <int V>
ZERO_INLINE void slide_vectors(const SlideArgs& args, const float* a, float bias, float* out) {
  using Lanes = LanesOf<float>::type;
  constexpr int L = kVectorBytes / 4;
  const float* const weights = static_cast<const float*>(args.weights);
  Lanes sums[V];
  ZERO_UNROLL
  for (int v = 0; v < V; ++v) sums[v] = Lanes{} + bias;
  for (int64_t p = 0; p < args.depth; ++p) {
    const float factor = weights[p];
    const float* const from = a + args.depths[p];
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) {
      Lanes read;
      copy_bytes(&read, from + v * L, kVectorBytes);
      sums[v] += factor * read;
    }
  }
  copy_bytes(out, sums, sizeof(sums));
}

// Narrow rows that lie at equal distances are computed with what is between them. Returns how many
// rows are done.
ZERO_NOINLINE int64_t slide_narrow(const SlideArgs& args, float bias) {
  constexpr int64_t kMost = 1024;  // sums at a time
  constexpr int L = kVectorBytes / 4, V = 8;
  if (!args.readable || args.row_count < 2) return 0;
  const int64_t distance = args.rows[1] - args.rows[0];
  const int64_t whole = (args.width + kLanes<float> - 1) / kLanes<float> * kLanes<float>;
  if (distance < args.width || distance >= whole || distance > kMost / 4) return 0;
  float sums[kMost + V * L];
  const int64_t most = (kMost - args.width) / distance + 1;
  int64_t r = 0;
  while (r < args.row_count) {
    const int64_t left = args.row_count - r, count = left < most ? left : most;
    if (args.rows[r + count - 1] - args.rows[r] != (count - 1) * distance) return r;
    const float* const a = static_cast<const float*>(args.a) + args.rows[r];
    const int64_t n = (count - 1) * distance + args.width;
    int64_t x = 0;
    for (; x + V * L <= n; x += V * L) slide_vectors<V>(args, a + x, bias, sums + x);
    for (; x < n; x += L) slide_vectors<1>(args, a + x, bias, sums + x);
    for (int64_t i = 0; i < count; ++i) {
      float* const out = static_cast<float*>(args.out) + args.out_rows[r + i];
      const float* const from = sums + i * distance;
      if (args.out_step == 1) {
        copy_run(out, from, args.width);
      } else {
        for (int64_t j = 0; j < args.width; ++j) out[j * args.out_step] = from[j];
      }
    }
    r += count;
  }
  return r;
}

template <class T>
void slide(const SlideArgs& args) {
  constexpr int R = 4;
  const T bias = args.bias ? *static_cast<const T*>(args.bias) : T(0);
  int64_t r = 0;
  if constexpr (same<T, float>) r = slide_narrow(args, bias);
  for (; r + R <= args.row_count; r += R) slide_rows<T, R>(args, r, bias);
  for (; r < args.row_count; ++r) slide_rows<T, 1>(args, r, bias);
}

// Of R weights at a time.
template <class T, int R>
ZERO_INLINE void slide_gradients(const SlideArgs& args, int64_t p) {
  constexpr int L = kLanes<T>;
  T sums[R][L];
  clear(sums);
  for (int64_t r = 0; r < args.row_count; ++r) {
    const T* a[R];
    ZERO_UNROLL
    for (int i = 0; i < R; ++i)
      a[i] = static_cast<const T*>(args.a) + args.rows[r] + args.depths[p + i];
    const T* const g = static_cast<const T*>(args.out) + args.out_rows[r];
    int64_t x = 0;
    for (; x + L <= args.width; x += L) {
      ZERO_UNROLL
      for (int i = 0; i < R; ++i) {
        ZERO_SIMD
        for (int j = 0; j < L; ++j) sums[i][j] += g[x + j] * a[i][x + j];
      }
    }
    const int64_t valid = args.width - x;
    for (int half = 0; half * (L / 2) < valid; ++half) {
      const int64_t at = x + half * (L / 2), left = args.width - at;
      ZERO_UNROLL
      for (int i = 0; i < R; ++i) {
        ZERO_SIMD
        for (int j = 0; j < L / 2; ++j)
          sums[i][half * (L / 2) + j] +=
              (j < left ? g[at + j] : T(0)) * (j < left ? a[i][at + j] : T(0));
      }
    }
  }
  for (int i = 0; i < R; ++i) {
    constexpr int P = 4;
    double parts[P] = {};  // side by side: one chain would take longer than the sums of an image
    for (int j = 0; j < L; j += P) {
      ZERO_SIMD
      for (int l = 0; l < P; ++l) parts[l] += static_cast<double>(sums[i][j + l]);
    }
    args.gradient[p + i] += (parts[0] + parts[2]) + (parts[1] + parts[3]);
  }
}

template <class T>
void slide_gradient(const SlideArgs& args) {
  constexpr int R = 3;
  int64_t p = 0;
  for (; p + R <= args.depth; p += R) slide_gradients<T, R>(args, p);
  for (; p < args.depth; ++p) slide_gradients<T, 1>(args, p);
}

// Unsigned, so that sums of integers wrap.
constexpr int kF32 = static_cast<int>(ComputeType::F32), kF64 = static_cast<int>(ComputeType::F64),
              kI64 = static_cast<int>(ComputeType::I64);

constexpr ConvolutionKernels make_kernels() {
  ConvolutionKernels k{};
  k.row_step = kRows;
  k.panel_bytes = kPanelVectors * kVectorBytes;
  k.narrowest = kPanelVectors;
  k.product_panel[kF32] = product_panel<float>;
  k.product_panel[kF64] = product_panel<double>;
  k.product_panel[kI64] = product_panel<uint64_t>;
  k.gather_columns[kF32] = gather_columns<uint32_t>;
  k.gather_columns[kF64] = k.gather_columns[kI64] = gather_columns<uint64_t>;
  k.copy_box[kF32] = copy_box<uint32_t>;
  k.copy_box[kF64] = k.copy_box[kI64] = copy_box<uint64_t>;
  k.slide[kF32] = slide<float>;
  k.slide[kF64] = slide<double>;
  k.slide_gradient[kF32] = slide_gradient<float>;
  k.slide_gradient[kF64] = slide_gradient<double>;
  return k;
}

}  // namespace

void fill_convolution(KernelTable& table) {
  static constexpr ConvolutionKernels kernels = make_kernels();
  table.convolution = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
