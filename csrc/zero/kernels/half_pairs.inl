// Products of bfloat16 by an instruction that adds two of them to each of 16 float32 sums: what
// AVX512-BF16 has. Two neighbours along k are one number of 32 bits, so operands are only moved.
// The instruction reads and writes subnormal numbers as 0.
#pragma once

#include "zero/kernels/half.inl"
#include "zero/kernels/matrix.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace pairs {

using matrix::Destination;
using matrix::Matrix;

constexpr int kSums = 16, kVectors = 4, kColumns = kSums * kVectors;
typedef float Sums __attribute__((vector_size(64)));
typedef uint32_t Pairs __attribute__((vector_size(64)));

ZERO_INLINE Sums add_products(Sums sums, Pairs a, Pairs b) {
#if defined(__AVX512BF16__)
  return bit_cast<Sums>(
      _mm512_dpbf16_ps(bit_cast<__m512>(sums), bit_cast<__m512bh>(a), bit_cast<__m512bh>(b)));
#else  // the same but for rounding, so that the rest can be tested on any processor
  const Pairs high = Pairs{} + 0xffff0000u;
  sums += bit_cast<Sums>(a & high) * bit_cast<Sums>(b & high);
  return sums + bit_cast<Sums>(a << 16) * bit_cast<Sums>(b << 16);
#endif
}

// to[k / 2][W] = pairs of the transpose of `width` rows x k of `from`; what is missing is 0.
template <int W>
ZERO_NOINLINE void pack(uint32_t* to, Matrix<BFloat16> from, int64_t width, int64_t k) {
  for (int64_t p = 0; p < k; p += 2, to += W) {
    const int64_t next = p + 1 < k ? from.column : 0;
    const uint32_t mask = p + 1 < k ? 0xffffu : 0u;
    const BFloat16* row = from.at(0, p);
    for (int64_t w = 0; w < width; ++w) {
      const BFloat16* x = row + w * from.row;
      to[w] = x->bits | (x[next].bits & mask) << 16;
    }
    for (int64_t w = width; w < W; ++w) to[w] = 0;
  }
}

template <int R>
ZERO_NOINLINE void tile(int64_t count, const uint32_t* a, const uint32_t* b, Destination<float> c,
                        int64_t valid) {
  Sums sums[R][kVectors] = {};
  for (int64_t p = 0; p < count; ++p, a += kRows, b += kColumns) {
    Pairs columns[kVectors];
    copy_bytes(columns, b, sizeof(columns));
    ZERO_UNROLL
    for (int i = 0; i < R; ++i) {
      const Pairs row = Pairs{} + a[i];
      ZERO_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[i][v] = add_products(sums[i][v], row, columns[v]);
    }
  }
  float results[R][kColumns];
  copy_bytes(results, sums, sizeof(results));
  matrix::store_tile(results, c, valid);
}

ZERO_INLINE void some_rows(int64_t rows, int64_t count, const uint32_t* a, const uint32_t* b,
                           const Destination<float>& c, int64_t valid) {
  switch (rows < kRows ? rows : kRows) {
    case 1: return tile<1>(count, a, b, c, valid);
    case 2: return tile<2>(count, a, b, c, valid);
    case 3: return tile<3>(count, a, b, c, valid);
    case 4: return tile<4>(count, a, b, c, valid);
    case 5: return tile<5>(count, a, b, c, valid);
    default: return tile<kRows>(count, a, b, c, valid);
  }
}

// One chunk of k: c (+)= a b (+ bias).
ZERO_NOINLINE void add_chunk(int64_t m, int64_t n, int64_t k, const Matrix<BFloat16>& a,
                             const Matrix<BFloat16>& b, const Destination<float>& c,
                             uint32_t* packed_b, uint32_t* packed_a) {
  const int64_t count = (k + 1) / 2;
  for (int64_t j = 0; j < n; j += kColumns)
    pack<kColumns>(packed_b + j * count, {b.at(0, j), b.column, b.row},
                   n - j < kColumns ? n - j : kColumns, k);
  for (int64_t i0 = 0; i0 < m; i0 += matrix::kRowBlock) {
    const int64_t rows = m - i0 < matrix::kRowBlock ? m - i0 : matrix::kRowBlock;
    for (int64_t i = 0; i < rows; i += kRows)
      pack<kRows>(packed_a + i * count, {a.at(i0 + i, 0), a.row, a.column},
                  rows - i < kRows ? rows - i : kRows, k);
    for (int64_t j = 0; j < n; j += kColumns)
      for (int64_t i = 0; i < rows; i += kRows) {
        const Destination<float> out{c.data + (i0 + i) * c.row + j, c.row,
                                     c.bias ? c.bias + j : nullptr, c.add};
        some_rows(rows - i, count, packed_a + i * count, packed_b + j * count, out,
                  n - j < kColumns ? n - j : kColumns);
      }
  }
}

}  // namespace pairs
}  // namespace
}  // namespace zero::ZERO_ISA_NS
