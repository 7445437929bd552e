// Matrix products: c = a b, or c += a b, for operands of any strides; c's rows are dense.
//
// A tile of kRows x kPanel<T> results stays in registers while k runs; b is read in panels of
// kPanel<T> columns, copied to [k][kPanel] where they are not dense already. Each result is one
// chain of multiply-adds over a chunk of at most kDepth products, and the chunks are added in
// order: its bits depend neither on the tile it falls into nor on what was copied. Error: (kDepth +
// k / kDepth) roundings of a partial sum. Few rows or columns with both operands dense along k take
// dot products instead: kLanes partial sums each.
#include "zero/kernels/packed_gemm.h"

#include "zero/kernels/matrix.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace matrix {

// Columns of a panel of which `valid` are there: whole vectors, of which a few go unused.
template <class T>
constexpr int64_t panel_width(int64_t valid) {
  constexpr int64_t N = kPanel<T>;
  return valid <= N / 4 && kPanelVectors == 4 ? N / 4 : valid <= N / 2 ? N / 2 : N;
}

template <int W> struct Width {};

// f(Width<W>()) with the width of a panel as a constant.
template <class T, class F>
ZERO_INLINE void with_width(int64_t valid, F f) {
  constexpr int N = kPanel<T>;
  const int64_t width = panel_width<T>(valid);
  if (width == N) {
    f(Width<N>());
  } else if (width == N / 2) {
    f(Width<N / 2>());
  } else {
    f(Width<N / 4>());
  }
}

// to[k][panel_width(n)] = b.
template <class T>
void pack_panel(const Matrix<T>& b, int64_t n, int64_t k, T* to) {
  with_width<T>(n, [&]<int W>(Width<W>) { pack<T, W>(to, {b.data, b.column, b.row}, n, k); });
}

// A chunk of k of b as panels: copied, the panel of column j at `packed + j k`; or whole ones where
// they are.
template <class T>
struct Panels {
  const T* packed;
  int64_t k;
  const T* dense;  // null: all are copied
  int64_t dense_row;
  bool copied(int64_t valid) const { return !dense || panel_width<T>(valid) != valid; }
};

// One chunk of k: blocks of rows, whose copies stay in the cache, against panels.
template <class T>
ZERO_NOINLINE void multiply_panels(int64_t m, int64_t n, const Matrix<T>& a, const Panels<T>& b,
                                   const Destination<T>& c, bool copy_a, T* packed_a) {
  constexpr int64_t N = kPanel<T>, item = sizeof(T);
  const int64_t k = b.k, panels = kGroupBytes / (N * (k > 0 ? k : 1) * item);
  const int64_t group = (panels > 0 ? panels : 1) * N;  // columns whose panels stay in L2
  for (int64_t i0 = 0; i0 < m; i0 += kRowBlock) {
    const int64_t rows = m - i0 < kRowBlock ? m - i0 : kRowBlock;
    if (copy_a) {
      int64_t i = 0;
      if (a.row == 1) {
        pack_lines<T, kRows>(packed_a, kRows * k, {a.at(i0, 0), 1, a.column}, rows / kRows, k);
        i = rows / kRows * kRows;
      }
      for (; i < rows; i += kRows)
        pack<T, kRows>(packed_a + i * k, Matrix<T>{a.at(i0 + i, 0), a.row, a.column},
                       rows - i < kRows ? rows - i : kRows, k);
    }
    for (int64_t j0 = 0; j0 < n; j0 += group)
      for (int64_t i = 0; i < rows; i += kRows) {
        const Matrix<T> strip = copy_a ? Matrix<T>{packed_a + i * k, 1, kRows}
                                       : Matrix<T>{a.at(i0 + i, 0), a.row, a.column};
        T* const row = c.data + (i0 + i) * c.row;
        for (int64_t j = j0; j < n && j < j0 + group; j += N) {
          const int64_t valid = n - j < N ? n - j : N;
          const bool copied = b.copied(valid);
          const T* const panel = copied ? b.packed + j * k : b.dense + j;
          const int64_t panel_row = copied ? panel_width<T>(valid) : b.dense_row;
          with_width<T>(valid, [&]<int W>(Width<W>) {
            some_rows<T, W>(rows - i, k, strip, panel, panel_row,
                            {row + j, c.row, c.bias ? c.bias + j : nullptr, c.add}, valid);
          });
        }
      }
  }
}

// A copy of a pays where its rows are not dense, once several panels read it.
template <class T>
bool copies_a(int64_t m, int64_t n, int64_t a_column) {
  return a_column != 1 && m > kRows && n > 2 * kPanel<T>;
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

// The numbers from `width` on are added to those before it, then the halves of these, down to one.
template <int width, class T, int R, int L>
ZERO_INLINE void fold(T (&x)[R][L]) {
  for (int r = 0; r < R; ++r) {
    ZERO_SIMD
    for (int l = 0; l < width; ++l) x[r][l] += x[r][l + width];
  }
  if constexpr (width > 1) fold<width / 2>(x);
}

// out[r] = sum over k of x[k] rows[r][k]. In the end halves of the lanes are added to each other,
// by way of memory: each step is one vector instruction there, and not a shuffle for each number.
template <class T, int R>
ZERO_NOINLINE void dots(int64_t k, const T* x, const T* rows, int64_t row, T* out) {
  using Lanes = typename LanesOf<T>::type;
  constexpr int L = kVectorBytes / static_cast<int>(sizeof(T)), V = kLanes<T> / L;
  static_assert(V == 2);
  Lanes sums[R][V];
  ZERO_UNROLL
  for (int r = 0; r < R; ++r) {
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) sums[r][v] = Lanes{};
  }
  int64_t p = 0;
  for (; p + kLanes<T> <= k; p += kLanes<T>) {
    Lanes factors[V];
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) copy_bytes(&factors[v], x + p + v * L, kVectorBytes);
    ZERO_UNROLL
    for (int r = 0; r < R; ++r) {
      ZERO_UNROLL
      for (int v = 0; v < V; ++v) {
        Lanes y;
        copy_bytes(&y, rows + r * row + p + v * L, kVectorBytes);
        sums[r][v] += factors[v] * y;
      }
    }
  }
  T tail[R] = {}, half[R][L];
  for (; p < k; ++p) {
    ZERO_UNROLL
    for (int r = 0; r < R; ++r) tail[r] += x[p] * rows[r * row + p];
  }
  ZERO_UNROLL
  for (int r = 0; r < R; ++r) {
    sums[r][0] += sums[r][1];
    copy_bytes(half[r], &sums[r][0], kVectorBytes);
  }
  fold<L / 2>(half);
  ZERO_UNROLL
  for (int r = 0; r < R; ++r) out[r] = half[r][0] + tail[r];
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

// c[i][j .. j + N) (+)= a[i] b[., j .. j + N), side by side.
template <class T, int N>
ZERO_INLINE void multiply_side(int64_t i, int64_t j, int64_t k, const Matrix<T>& a,
                               const Matrix<T>& b, const Destination<T>& c) {
  T sums[1][N] = {};
  for (int64_t p = 0; p < k; ++p) {
    const T factor = *a.at(i, p), *const row = b.at(p, j);
    ZERO_SIMD
    for (int l = 0; l < N; ++l) sums[0][l] += factor * row[l];
  }
  store_tile<T, 1, N>(sums, {c.data + i * c.row + j, c.row, c.bias ? c.bias + j : nullptr, c.add},
                      N);
}

template <class T>
ZERO_INLINE void multiply_tiny(int64_t m, int64_t n, int64_t k, const Matrix<T>& a,
                               const Matrix<T>& b, const Destination<T>& c) {
  for (int64_t i = 0; i < m; ++i) {
    int64_t j = 0;
    for (; j + 4 <= n && b.column == 1; j += 4) multiply_side<T, 4>(i, j, k, a, b, c);
    for (; j < n; ++j) multiply_side<T, 1>(i, j, k, a, b, c);
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
  constexpr int N = kPanel<T>;
  // A copy of b pays once several row tiles read it.
  const bool dense = b.column == 1 && m <= 4 * kRows;
  T* packed_b = static_cast<T*>(scratch);
  T* packed_a = packed_b + round_up(n < kColumnBlock ? n : kColumnBlock, N) *
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
      const Panels<T> panels{packed_b, depth, dense ? bp.data : nullptr, bp.row};
      for (int64_t j = 0; j < columns - done; j += N) {
        const int64_t valid = columns - done - j < N ? columns - done - j : N;
        if (panels.copied(valid))
          pack_panel<T>({bp.at(0, j), bp.row, bp.column}, valid, depth, packed_b + j * depth);
      }
      multiply_panels(m, columns - done, ap, panels, out, copies_a<T>(m, n, a.column), packed_a);
      p += depth;
    } while (p < args.k);
  }
}

// ---- one copy of b for many calls ---------------------------------------------------------------

template <class T>
void pack_columns(const PackColumnsArgs& args) {
  const int64_t k = args.k, first = args.first;
  const Matrix<T> b{static_cast<const T*>(args.b), args.b_row, args.b_column};
  for (int64_t p = 0; p < k; p += kDepth) {
    const int64_t depth = k - p < kDepth ? k - p : kDepth;
    T* const chunk = static_cast<T*>(args.packed) + p * args.padded;
    int64_t j = first;
    if (b.column == 1) {
      constexpr int64_t N = kPanel<T>;
      pack_lines<T, N>(chunk + j * depth, N * depth, {b.at(p, j), 1, b.row}, args.n / N, depth);
      j += args.n / N * N;
    }
    for (; j < first + args.n; j += kPanel<T>) {
      const int64_t valid = first + args.n - j < kPanel<T> ? first + args.n - j : kPanel<T>;
      pack_panel<T>({b.at(p, j), b.row, b.column}, valid, depth, chunk + j * depth);
    }
  }
}

template <class T>
void gemm_packed(const GemmArgs& args, const void* packed, int64_t padded, int64_t first,
                 void* scratch) {
  const Matrix<T> a{static_cast<const T*>(args.a), args.a_row, args.a_column};
  const T* const bias = args.bias ? static_cast<const T*>(args.bias) + first : nullptr;
  for (int64_t p = 0; p < args.k; p += kDepth) {
    const int64_t depth = args.k - p < kDepth ? args.k - p : kDepth;
    const T* const panels = static_cast<const T*>(packed) + p * padded + first * depth;
    multiply_panels<T>(args.m, args.n, {a.at(0, p), a.row, a.column}, {panels, depth, nullptr, 0},
                       {static_cast<T*>(args.c) + first, args.c_row,
                        p + depth == args.k ? bias : nullptr, args.add || p > 0},
                       copies_a<T>(args.m, args.n, a.column), static_cast<T*>(scratch));
  }
}

int64_t gemm_scratch(int64_t m, int64_t n, int64_t k, int64_t itemsize) {
  const int64_t panel = kPanelVectors * kVectorBytes / itemsize;
  const int64_t depth = k < kDepth ? k : kDepth;
  const int64_t columns = round_up(n < kColumnBlock ? n : kColumnBlock, panel);
  const int64_t rows = n > 2 * panel ? round_up(m < kRowBlock ? m : kRowBlock, kRows) : 0;
  return (columns + rows) * depth * itemsize;
}

}  // namespace matrix

}  // namespace

void fill_gemm(KernelTable& table) {
#if defined(__AVX2__)  // elsewhere a BLAS is faster, or nothing is known
  static constexpr PackedGemm kPacked[] = {
      {kPanel<float>, matrix::pack_columns<float>, matrix::gemm_packed<float>},
      {kPanel<double>, matrix::pack_columns<double>, matrix::gemm_packed<double>}};
  table.packed_gemm[static_cast<int>(ComputeType::F32)] = &kPacked[0];
  table.packed_gemm[static_cast<int>(ComputeType::F64)] = &kPacked[1];
#endif
  table.gemm_scratch = matrix::gemm_scratch;
  table.gemm[static_cast<int>(ComputeType::F32)] = matrix::gemm<float>;
  table.gemm[static_cast<int>(ComputeType::F64)] = matrix::gemm<double>;
  table.gemm[static_cast<int>(ComputeType::I32)] = matrix::gemm<uint32_t>;  // unsigned: sums wrap
  table.gemm[static_cast<int>(ComputeType::I64)] = matrix::gemm<uint64_t>;
}

}  // namespace zero::ZERO_ISA_NS
