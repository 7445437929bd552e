// Matrix products of float16 and bfloat16: float32 products of operands that are widened while they
// are copied, so that no float32 copy of a whole operand exists.
//
// The loops are those of gemm.cpp: a result is one chain of multiply-adds over a chunk of at most
// kDepth products, and the chunks are added in order, then the bias; all in float32, rounded to 16
// bits once. The bits don't depend on how m and n are cut.
#include "zero/kernels/half_gemm.h"

#include "zero/kernels/half.inl"
#include "zero/kernels/matrix.inl"
#if defined(__AVX512BF16__)
#include "zero/kernels/half_pairs.inl"
#endif

namespace zero::ZERO_ISA_NS {
namespace {
namespace matrix {

ZERO_INLINE void narrow_to(Half* to, float x) { *to = to_half(x); }
ZERO_INLINE void narrow_to(BFloat16* to, float x) { *to = to_bfloat16(x); }

template <class H>
void widen(float* to, const H* from, int64_t n) {
  int64_t i = convert_with_f16c(to, from, n);
  ZERO_SIMD
  for (int64_t j = i; j < n; ++j) to[j] = to_float(from[j]);
}

template <class H>
void narrow(H* to, const float* from, int64_t n) {
  int64_t i = convert_with_f16c(to, from, n);
  ZERO_SIMD
  for (int64_t j = i; j < n; ++j) narrow_to(to + j, from[j]);
}

// `width` x k numbers as float32, in the order in which they lie in memory.
template <class H>
ZERO_NOINLINE Matrix<float> widen(Matrix<H> from, int64_t width, int64_t k, float* lines) {
  if (from.row == 1 && from.column != 1) {
    for (int64_t p = 0; p < k; ++p) widen(lines + p * width, from.at(0, p), width);
    return {lines, 1, width};
  }
  for (int64_t w = 0; w < width; ++w) {
    if (from.column == 1) {
      widen(lines + w * k, from.at(w, 0), k);
    } else {
      for (int64_t p = 0; p < k; ++p) lines[w * k + p] = to_float(*from.at(w, p));
    }
  }
  return {lines, k, 1};
}

// pack() of 16-bit floats; `lines` has room for W x k numbers.
template <int W, class H>
ZERO_INLINE void pack_wide(float* to, const Matrix<H>& from, int64_t width, int64_t k,
                           float* lines) {
  pack<float, W>(to, widen(from, width, k, lines), width, k);
}

// Parts of the scratch memory, as numbers of floats from its start.
struct Layout {
  int64_t a, lines, sums, bias, size;  // b comes first
  Layout(int64_t m, int64_t n, int64_t k) {
    constexpr int64_t lanes = kPanel<float> > kRows ? kPanel<float> : kRows;
    const int64_t depth = k < kDepth ? k : kDepth;
    a = round_up(round_up(n, kPanel<float>) * depth, 16);
    lines = a + round_up(round_up(m < kRowBlock ? m : kRowBlock, kRows) * depth, 16);
    sums = lines + round_up(lanes * depth, 16);
    bias = sums + round_up(m * n, 16);
    size = bias + n;
  }
};

// One chunk of k: sums (+)= a b (+ bias).
template <class H>
ZERO_NOINLINE void add_chunk(int64_t m, int64_t n, int64_t k, const Matrix<H>& a,
                             const Matrix<H>& b, const Destination<float>& c, float* packed_b,
                             float* packed_a, float* lines) {
  constexpr int N = kPanel<float>, half = N / 2;
  for (int64_t j = 0; j < n; j += N) {
    const Matrix<H> columns{b.at(0, j), b.column, b.row};
    if (n - j <= half) {
      pack_wide<half>(packed_b + j * k, columns, n - j, k, lines);
    } else {
      const int64_t width = n - j < N ? n - j : N;
      pack_wide<N>(packed_b + j * k, columns, width, k, lines);
    }
  }
  for (int64_t i0 = 0; i0 < m; i0 += kRowBlock) {
    const int64_t rows = m - i0 < kRowBlock ? m - i0 : kRowBlock;
    for (int64_t i = 0; i < rows; i += kRows) {
      const int64_t width = rows - i < kRows ? rows - i : kRows;
      const Matrix<H> strip{a.at(i0 + i, 0), a.row, a.column};
      pack_wide<kRows>(packed_a + i * k, strip, width, k, lines);
    }
    for (int64_t j = 0; j < n; j += N) {
      const int64_t valid = n - j < N ? n - j : N;
      for (int64_t i = 0; i < rows; i += kRows) {
        const Matrix<float> strip{packed_a + i * k, 1, kRows};
        const Destination<float> out{c.data + (i0 + i) * c.row + j, c.row,
                                     c.bias ? c.bias + j : nullptr, c.add};
        if (valid <= half) {
          some_rows<float, half>(rows - i, k, strip, packed_b + j * k, half, out, valid);
        } else {
          some_rows<float, N>(rows - i, k, strip, packed_b + j * k, N, out, valid);
        }
      }
    }
  }
}

#if defined(__AVX512BF16__)
template <>
void add_chunk<BFloat16>(int64_t m, int64_t n, int64_t k, const Matrix<BFloat16>& a,
                         const Matrix<BFloat16>& b, const Destination<float>& c, float* packed_b,
                         float* packed_a, float*) {
  static_assert(pairs::kColumns == kPanel<float>);
  pairs::add_chunk(m, n, k, a, b, c, reinterpret_cast<uint32_t*>(packed_b),
                   reinterpret_cast<uint32_t*>(packed_a));
}
#endif

template <class H>
void half_gemm(const HalfGemmArgs& args, void* scratch) {
  const int64_t m = args.m, n = args.n, k = args.k;
  const Matrix<H> a{static_cast<const H*>(args.a), args.a_row, args.a_column};
  const Matrix<H> b{static_cast<const H*>(args.b), args.b_row, args.b_column};
  const Layout layout(m, n, k);
  float* const floats = static_cast<float*>(scratch);
  float* const bias = floats + layout.bias;
  if (args.bias) widen(bias, static_cast<const H*>(args.bias), n);
  Destination<float> sums{floats + layout.sums, n, nullptr, false};
  if (args.wide) sums = {static_cast<float*>(args.c), args.c_row, nullptr, false};
  int64_t p = 0;
  do {  // once also for k = 0, which gives zeros
    const int64_t depth = k - p < kDepth ? k - p : kDepth;
    sums.add = p > 0;
    if (p + depth == k && args.bias) sums.bias = bias;
    add_chunk<H>(m, n, depth, {a.at(0, p), a.row, a.column}, {b.at(p, 0), b.row, b.column}, sums,
                 floats, floats + layout.a, floats + layout.lines);
    p += depth;
  } while (p < k);
  if (args.wide) return;
  H* const c = static_cast<H*>(args.c);
  for (int64_t i = 0; i < m; ++i) narrow(c + i * args.c_row, floats + layout.sums + i * n, n);
}

// ---- few rows -----------------------------------------------------------------------------------

template <int N, class H>
ZERO_INLINE void widen_some(float (&to)[N], const H* from) {
  const int64_t done = convert_with_f16c(to, from, N);
  if (done == N) return;
  ZERO_SIMD
  for (int i = 0; i < N; ++i) to[i] = to_float(from[i]);
}

// out[r] = sum over k of x[k] rows[r][k], in lanes that are added in pairs.
template <int R, class H>
ZERO_NOINLINE void dots(int64_t k, const float* x, const H* rows, int64_t row, float* out) {
  constexpr int L = 2 * kVectorBytes / static_cast<int>(sizeof(float));
  float sums[R][L];
  clear(sums);
  int64_t p = 0;
  for (; p + L <= k; p += L) {
    ZERO_UNROLL
    for (int r = 0; r < R; ++r) {
      float y[L];
      widen_some(y, rows + r * row + p);
      ZERO_SIMD
      for (int l = 0; l < L; ++l) sums[r][l] += x[p + l] * y[l];
    }
  }
  for (int r = 0; r < R; ++r) {
    float tail = 0;
    for (int64_t q = p; q < k; ++q) tail += x[q] * to_float(rows[r * row + q]);
    for (int width = L / 2; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) sums[r][l] += sums[r][l + width];
    out[r] = sums[r][0] + tail;
  }
}

template <class H>
void half_dots(const HalfDotsArgs& args) {
  const H* const y = static_cast<const H*>(args.many);
  for (int64_t j = 0; j < args.n; j += 4) {
    for (int64_t i = 0; i < args.m; ++i) {
      const float* const x = args.few + i * args.k;
      float* const out = args.out + i * args.n + j;
      if (args.n - j >= 4) {
        dots<4>(args.k, x, y + j * args.row, args.row, out);
      } else {
        for (int64_t r = 0; r < args.n - j; ++r)
          dots<1>(args.k, x, y + (j + r) * args.row, args.row, out + r);
      }
    }
  }
}

int64_t half_gemm_scratch(int64_t m, int64_t n, int64_t k) {
  return Layout(m, n, k).size * static_cast<int64_t>(sizeof(float));
}

}  // namespace matrix

}  // namespace

void fill_half_gemm(KernelTable& table) {
  static constexpr HalfGemmKernels kernels{matrix::half_gemm<Half>, matrix::half_gemm<BFloat16>,
                                           matrix::half_dots<Half>, matrix::half_dots<BFloat16>,
                                           matrix::half_gemm_scratch};
  table.half_gemm = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
