// Matrix products: c = a b, or c += a b, for operands of any strides; c's rows are dense.
//
// A tile of kRows x kPanel<T> results stays in registers while k runs; b is read in panels of
// kPanel<T> columns, copied to [k][kPanel] where they are not dense already. Each result is one
// chain of multiply-adds over a chunk of at most kDepth products, and the chunks are added in
// order: its bits depend neither on the tile it falls into nor on what was copied. Error: (kDepth +
// k / kDepth) roundings of a partial sum. Few rows or columns with both operands dense along k take
// dot products instead: kLanes partial sums each.
#include "zero/kernels/matrix.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace matrix {

// One chunk of k for all rows: panels of b, one after the other, against blocks of a.
template <class T>
ZERO_NOINLINE void multiply_block(int64_t m, int64_t n, int64_t k, const Matrix<T>& a,
                                  const Matrix<T>& b, const Destination<T>& c, T* packed_b,
                                  T* packed_a) {
  constexpr int N = kPanel<T>, H = N / 2;
  // A copy of b pays once several row tiles read it, a copy of a once several panels do.
  const bool dense_b = b.column == 1 && m <= 4 * kRows;
  const bool copy_a = n > 4 * N && m > kRows;
  for (int64_t j = 0; j < n; j += N) {
    const int64_t valid = n - j < N ? n - j : N;
    if (dense_b && (valid == N || valid == H)) continue;
    const Matrix<T> transposed{b.at(0, j), b.column, b.row};
    if (valid <= H) {
      pack<T, H>(packed_b + j * k, transposed, valid, k);
    } else {
      pack<T, N>(packed_b + j * k, transposed, valid, k);
    }
  }
  for (int64_t i0 = 0; i0 < m; i0 += kRowBlock) {
    const int64_t rows = m - i0 < kRowBlock ? m - i0 : kRowBlock;
    if (copy_a)
      for (int64_t i = 0; i < rows; i += kRows)
        pack<T, kRows>(packed_a + i * k, Matrix<T>{a.at(i0 + i, 0), a.row, a.column},
                       rows - i < kRows ? rows - i : kRows, k);
    for (int64_t j = 0; j < n; j += N) {
      const int64_t valid = n - j < N ? n - j : N;
      const bool direct = dense_b && (valid == N || valid == H);
      const T* panel = direct ? b.at(0, j) : packed_b + j * k;
      const int64_t panel_row = direct ? b.row : valid <= H ? H : N;
      for (int64_t i = 0; i < rows; i += kRows) {
        const Matrix<T> strip = copy_a ? Matrix<T>{packed_a + i * k, 1, kRows}
                                       : Matrix<T>{a.at(i0 + i, 0), a.row, a.column};
        const Destination<T> out{c.data + (i0 + i) * c.row + j, c.row,
                                 c.bias ? c.bias + j : nullptr, c.add};
        if (valid <= H) {
          some_rows<T, H>(rows - i, k, strip, panel, panel_row, out, valid);
        } else {
          some_rows<T, N>(rows - i, k, strip, panel, panel_row, out, valid);
        }
      }
    }
  }
}

// One row: four panels at a time, so that enough sums run side by side.
template <class T>
int64_t multiply_row(int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b,
                     const Destination<T>& c) {
  constexpr int N = kPanelVectors == 2 ? 4 * kPanel<T> : 2 * kPanel<T>;
  int64_t j = 0;
  for (; j + N <= n; j += N)
    tile<T, 1, N>(k, a, b.at(0, j), b.row,
                  {c.data + j, c.row, c.bias ? c.bias + j : nullptr, c.add}, N);
  return j;
}

// ---- dot products -------------------------------------------------------------------------------

template <class T> constexpr int kLanes = 2 * kVectorBytes / static_cast<int>(sizeof(T));

template <class T, int N>
ZERO_INLINE T add_lanes(const T (&lanes)[N]) {
  T half[N];
  for (int i = 0; i < N; ++i) half[i] = lanes[i];
  ZERO_UNROLL
  for (int width = N / 2; width > 0; width /= 2) {
    ZERO_UNROLL
    for (int i = 0; i < width; ++i) half[i] += half[i + width];
  }
  return half[0];
}

// out[r] = sum over k of x[k] rows[r][k].
template <class T, int R>
ZERO_NOINLINE void dots(int64_t k, const T* x, const T* rows, int64_t row, T* out) {
  constexpr int L = kLanes<T>;
  T sums[R][L];
  clear(sums);
  int64_t p = 0;
  for (; p + L <= k; p += L) {
    ZERO_UNROLL
    for (int r = 0; r < R; ++r) {
      const T* y = rows + r * row + p;
      ZERO_SIMD
      for (int l = 0; l < L; ++l) sums[r][l] += x[p + l] * y[l];
    }
  }
  T tail[R] = {};
  for (; p < k; ++p) {
    ZERO_UNROLL
    for (int r = 0; r < R; ++r) tail[r] += x[p] * rows[r * row + p];
  }
  ZERO_UNROLL
  for (int r = 0; r < R; ++r) out[r] = add_lanes(sums[r]) + tail[r];
}

// c[i][j] for few i and any j: x are the few rows, y the many; c is reached by two strides.
template <class T>
void multiply_dots(int64_t few, int64_t many, int64_t k, const T* x, int64_t x_row, const T* y,
                   int64_t y_row, T* c, int64_t c_few, int64_t c_many, const T* bias,
                   int64_t bias_few, int64_t bias_many, bool add) {
  constexpr int64_t chunk =
      kDepth * kLanes<T>;  // so that a lane, too, adds at most kDepth products
  for (int64_t j = 0; j < many; j += 4) {
    const int64_t rows = many - j < 4 ? many - j : 4;
    for (int64_t i = 0; i < few; ++i) {
      T sums[4] = {};
      for (int64_t p = 0; p < k; p += chunk) {
        const int64_t depth = k - p < chunk ? k - p : chunk;
        T part[4] = {};
        if (rows == 4) {
          dots<T, 4>(depth, x + i * x_row + p, y + j * y_row + p, y_row, part);
        } else {
          for (int64_t r = 0; r < rows; ++r)
            dots<T, 1>(depth, x + i * x_row + p, y + (j + r) * y_row + p, 0, part + r);
        }
        for (int r = 0; r < 4; ++r) sums[r] += part[r];
      }
      for (int64_t r = 0; r < rows; ++r) {
        T& out = c[i * c_few + (j + r) * c_many];
        T value = add ? out + sums[r] : sums[r];
        out = bias ? value + bias[i * bias_few + (j + r) * bias_many] : value;
      }
    }
  }
}

// ---- the entries of the table -------------------------------------------------------------------

constexpr int64_t kFewRows = 4;
constexpr int64_t kTiny = 64;  // products for which calling a tile costs more than computing it

template <class T>
ZERO_INLINE void multiply_tiny(int64_t m, int64_t n, int64_t k, const Matrix<T>& a,
                               const Matrix<T>& b, const Destination<T>& c) {
  for (int64_t i = 0; i < m; ++i) {
    T* row = c.data + i * c.row;
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += *a.at(i, p) * *b.at(p, j);
      if (c.add) sum += row[j];
      row[j] = c.bias ? sum + c.bias[j] : sum;
    }
  }
}

template <class T>
void gemm(const GemmArgs& args, void* scratch) {
  const int64_t m = args.m, n = args.n;
  const Matrix<T> a{static_cast<const T*>(args.a), args.a_row, args.a_column};
  const Matrix<T> b{static_cast<const T*>(args.b), args.b_row, args.b_column};
  const T* bias = static_cast<const T*>(args.bias);
  T* c = static_cast<T*>(args.c);
  if (m * n * args.k <= kTiny)
    return multiply_tiny<T>(m, n, args.k, a, b, {c, args.c_row, bias, args.add});
  if (args.k >= kLanes<T> && (a.column == 1) && (b.row == 1) && (m <= kFewRows || n <= kFewRows)) {
    if (m <= n)
      multiply_dots<T>(m, n, args.k, a.data, a.row, b.data, b.column, c, args.c_row, 1, bias, 0, 1,
                       args.add);
    else
      multiply_dots<T>(n, m, args.k, b.data, b.column, a.data, a.row, c, 1, args.c_row, bias, 1, 0,
                       args.add);
    return;
  }
  T* packed_b = static_cast<T*>(scratch);
  T* packed_a = packed_b + round_up(n < kColumnBlock ? n : kColumnBlock, kPanel<T>) *
                               (args.k < kDepth ? args.k : kDepth);
  for (int64_t j0 = 0; j0 < n; j0 += kColumnBlock) {
    const int64_t columns = n - j0 < kColumnBlock ? n - j0 : kColumnBlock;
    int64_t p = 0;
    do {  // once also for k = 0, which gives zeros
      const int64_t depth = args.k - p < kDepth ? args.k - p : kDepth;
      const bool last = p + depth == args.k;
      const Matrix<T> ap{a.at(0, p), a.row, a.column};
      Matrix<T> bp{b.at(p, j0), b.row, b.column};
      Destination<T> out{c + j0, args.c_row, last && bias ? bias + j0 : nullptr, args.add || p > 0};
      int64_t done = 0;
      if (m == 1 && b.column == 1) {
        done = multiply_row(columns, depth, ap, bp, out);
        bp.data += done;
        out.data += done;
        if (out.bias) out.bias += done;
      }
      multiply_block(m, columns - done, depth, ap, bp, out, packed_b, packed_a);
      p += depth;
    } while (p < args.k);
  }
}

int64_t gemm_scratch(int64_t m, int64_t n, int64_t k, int64_t itemsize) {
  const int64_t panel = kPanelVectors * kVectorBytes / itemsize;
  const int64_t depth = k < kDepth ? k : kDepth;
  const int64_t columns = round_up(n < kColumnBlock ? n : kColumnBlock, panel);
  const int64_t rows = n > 4 * panel ? round_up(m < kRowBlock ? m : kRowBlock, kRows) : 0;
  return (columns + rows) * depth * itemsize;
}

}  // namespace matrix

}  // namespace

void fill_gemm(KernelTable& table) {
  table.gemm_scratch = matrix::gemm_scratch;
  table.gemm[static_cast<int>(ComputeType::F32)] = matrix::gemm<float>;
  table.gemm[static_cast<int>(ComputeType::F64)] = matrix::gemm<double>;
  table.gemm[static_cast<int>(ComputeType::I32)] = matrix::gemm<uint32_t>;  // unsigned: sums wrap
  table.gemm[static_cast<int>(ComputeType::I64)] = matrix::gemm<uint64_t>;
}

}  // namespace zero::ZERO_ISA_NS
