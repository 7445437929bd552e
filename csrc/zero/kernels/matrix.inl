// What kernels of matrix products share: tiles of results in registers, and operands copied in the
// order in which tiles read them.
#pragma once

#include "zero/kernels/registers.inl"
#include "zero/kernels/square.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace matrix {

constexpr int64_t kDepth = 256;    // a panel of b: 16 KiB (64 KiB with AVX-512)
constexpr int64_t kRowBlock = 96;  // kRowBlock x kDepth of a are copied at a time: L2
constexpr int64_t kColumnBlock = 512;
constexpr int64_t kGroupBytes = 256 << 10;  // panels of b that strips of a meet in turn

constexpr int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// A matrix as a pointer and two strides in elements.
template <class T>
struct Matrix {
  const T* data;
  int64_t row, column;
  const T* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
};

// Where results go: `valid` columns of a tile, the bias of its columns or null, and whether c is
// added to.
template <class T>
struct Destination {
  T* data;
  int64_t row;
  const T* bias;
  bool add;
};

template <class T, int R, int N>
ZERO_INLINE void store_tile(const T (&tile)[R][N], const Destination<T>& c, int64_t valid) {
  if (valid == N) {
    ZERO_UNROLL
    for (int i = 0; i < R; ++i) {
      T* row = c.data + i * c.row;
      if (c.add) {
        ZERO_SIMD
        for (int j = 0; j < N; ++j) row[j] += tile[i][j];
      } else {
        ZERO_SIMD
        for (int j = 0; j < N; ++j) row[j] = tile[i][j];
      }
      if (c.bias) {
        ZERO_SIMD
        for (int j = 0; j < N; ++j) row[j] += c.bias[j];
      }
    }
    return;
  }
  for (int i = 0; i < R; ++i) {
    T* row = c.data + i * c.row;
    for (int64_t j = 0; j < valid; ++j) {
      const T sum = c.add ? row[j] + tile[i][j] : tile[i][j];
      row[j] = c.bias ? sum + c.bias[j] : sum;
    }
  }
}

// c[R][valid] (+)= a[R][k] b[k][N]; rows of b are dense and `b_row` apart.
template <class T, int R, int N>
ZERO_NOINLINE void tile(int64_t k, Matrix<T> a, const T* b, int64_t b_row, Destination<T> c,
                        int64_t valid) {
  using Lanes = typename LanesOf<T>::type;
  constexpr int L = kVectorBytes / static_cast<int>(sizeof(T)), V = N / L;
  Lanes sums[R][V];
  ZERO_UNROLL
  for (int i = 0; i < R; ++i) {
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) sums[i][v] = Lanes{};
  }
  const T* pa = a.data;
  for (int64_t p = 0; p < k; ++p, pa += a.column, b += b_row) {
    Lanes columns[V];
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) copy_bytes(&columns[v], b + v * L, kVectorBytes);
    ZERO_UNROLL
    for (int i = 0; i < R; ++i) {
      const T factor = pa[i * a.row];
      ZERO_UNROLL
      for (int v = 0; v < V; ++v) sums[i][v] += factor * columns[v];
    }
  }
  if (valid != N) {
    T results[R][N];
    copy_bytes(results, sums, sizeof(results));
    return store_tile(results, c, valid);
  }
  ZERO_UNROLL
  for (int i = 0; i < R; ++i) {
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) {
      T* const to = c.data + i * c.row + v * L;
      Lanes result = sums[i][v], other;
      if (c.add) {
        copy_bytes(&other, to, kVectorBytes);
        result += other;
      }
      if (c.bias) {
        copy_bytes(&other, c.bias + v * L, kVectorBytes);
        result += other;
      }
      copy_bytes(to, &result, kVectorBytes);
    }
  }
}

template <class T, int N>
ZERO_INLINE void some_rows(int64_t rows, int64_t k, const Matrix<T>& a, const T* b, int64_t b_row,
                           const Destination<T>& c, int64_t valid) {
  if (rows >= kRows) return tile<T, kRows, N>(k, a, b, b_row, c, valid);
  switch (rows) {
    case 1: return tile<T, 1, N>(k, a, b, b_row, c, valid);
    case 2: return tile<T, 2, N>(k, a, b, b_row, c, valid);
    case 3: return tile<T, 3, N>(k, a, b, b_row, c, valid);
    case 4: return tile<T, 4, N>(k, a, b, b_row, c, valid);
    default: return tile<T, 5, N>(k, a, b, b_row, c, valid);
  }
}

// to[p][W] = the transpose of W dense rows, in squares turned in registers. Returns the p that are
// done.
template <class T, int W>
ZERO_INLINE int64_t pack_squares(T* to, const Matrix<T>& from, int64_t k) {
  constexpr int64_t item = sizeof(T), step = 64 / item;  // a line of the cache of each row
  using Turn = Square<T>;
  int64_t p = 0;
  for (; p + step <= k; p += step)
    for (int w = 0; w < W; w += Turn::n)
      for (int64_t q = p; q < p + step; q += Turn::n)
        Turn::transpose(reinterpret_cast<char*>(to + q * W + w), W * item,
                        reinterpret_cast<const char*>(from.at(w, q)), from.row * item);
  return p;
}

// to[k][W] = the transpose of `width` rows x k of `from`, the missing ones zero.
template <class T, int W>
ZERO_NOINLINE void pack(T* to, Matrix<T> from, int64_t width, int64_t k) {
  if (width < W && from.row == 1) {
    for (int64_t p = 0; p < k; ++p) {
      const T* row = from.at(0, p);  // read by masked loads where there are such
      ZERO_SIMD
      for (int w = 0; w < W; ++w) to[p * W + w] = w < width ? row[w] : T(0);
    }
  } else if (width < W) {
    for (int64_t p = 0; p < k; ++p) {
      ZERO_UNROLL
      for (int w = 0; w < W; ++w) to[p * W + w] = w < width ? *from.at(w, p) : T(0);
    }
  } else if (from.row == 1) {
    for (int64_t p = 0; p < k; ++p) copy_bytes(to + p * W, from.at(0, p), W * sizeof(T));
  } else {
    int64_t p = 0;
    if constexpr (W % 4 == 0) {
      if (from.column == 1) p = pack_squares<T, W>(to, from, k);
    }
    for (; p + 8 <= k; p += 8)
      for (int w = 0; w < W; ++w) {
        const T* row = from.at(w, p);
        ZERO_UNROLL
        for (int q = 0; q < 8; ++q) to[(p + q) * W + w] = row[q * from.column];
      }
    for (; p < k; ++p)
      for (int w = 0; w < W; ++w) to[p * W + w] = *from.at(w, p);
  }
}

// The same of `count` whole groups of W dense rows, each `step` behind the last: along the lines of
// `from`, each read once.
template <class T, int W>
ZERO_NOINLINE void pack_lines(T* to, int64_t step, Matrix<T> from, int64_t count, int64_t k) {
  for (int64_t p = 0; p < k; ++p, to += W) {
    const T* line = from.at(0, p);
    for (int64_t j = 0; j < count; ++j, line += W) copy_bytes(to + j * step, line, W * sizeof(T));
  }
}

}  // namespace matrix
}  // namespace
}  // namespace zero::ZERO_ISA_NS
