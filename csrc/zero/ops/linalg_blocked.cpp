#include "zero/ops/linalg_blocked.h"

#include <algorithm>
#include <cstring>

#include "zero/ops/gemm.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

constexpr int64_t kPanelColumns = 16;   // of LU's panels, whose columns are eliminated one by one
constexpr int64_t kSquareColumns = 64;  // of a symmetric update at a time: a half is left out
// Reflectors that are made one by one, and those that are applied to what is right of them at once,
// so that it is read and written seldom. The former are as many rows as products read without a
// copy of the other side.
constexpr int64_t kReflectors = 16, kReflectorBlock = 96;
constexpr int64_t kSolvedColumns = 128;  // of sides at a time
constexpr int64_t kColumnGrain = 64;     // a whole number of vectors

template <class T> constexpr DType kDType = sizeof(T) == 8 ? DType::Float64 : DType::Float32;

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// Where n is cut in two.
int64_t half(int64_t n, int64_t step) { return round_up(n / 2, step); }

template <class T>
void product(int64_t m, int64_t n, int64_t k, GemmOperand a, GemmOperand b, T* c, int64_t c_row,
             bool add) {
  if (m > 0 && n > 0) gemm({kDType<T>, m, n, k, a, b, c, c_row, add});
}

// to = -from; they may be the same.
template <class T>
void negate(T* to, int64_t to_row, const T* from, int64_t from_row, int64_t m, int64_t n) {
  constexpr int64_t item = sizeof(T);
  const LoopFn loop = kernels().elementwise[static_cast<int>(ElementwiseOp::Neg)]
                                           [static_cast<int>(compute_type(kDType<T>))];
  parallel_for(m, kGrainSize / std::max<int64_t>(n, 1) + 1, [=](int64_t begin, int64_t end) {
    char* const data[2] = {reinterpret_cast<char*>(to + begin * to_row),
                           reinterpret_cast<char*>(const_cast<T*>(from + begin * from_row))};
    const int64_t strides[4] = {item, item, to_row * item, from_row * item};
    loop(data, strides, n, end - begin, nullptr);
  });
}

// a and b change places, by copies of a piece.
void swap_bytes(char* a, char* b, int64_t bytes) {
  constexpr int64_t piece = 1024;
  char held[piece];
  for (int64_t i = 0; i < bytes; i += piece) {
    const size_t n = static_cast<size_t>(std::min(piece, bytes - i));
    std::memcpy(held, a + i, n);
    std::memcpy(a + i, b + i, n);
    std::memcpy(b + i, held, n);
  }
}

template <class T>
void exchange_rows(T* a, int64_t row, int64_t n, const int32_t* pivots, int64_t k, bool back) {
  parallel_for(n, kGrainSize / std::max<int64_t>(k, 1) + 64, [=](int64_t begin, int64_t end) {
    for (int64_t p = 0; p < k; ++p) {
      const int64_t i = back ? k - 1 - p : p, j = pivots[i];
      if (i == j) continue;
      swap_bytes(reinterpret_cast<char*>(a + i * row + begin),
                 reinterpret_cast<char*>(a + j * row + begin), (end - begin) * int64_t{sizeof(T)});
    }
  });
}

// X = -A^-1 X, for some columns: so that the products between blocks are additions.
template <class T>
void solve_columns(const T* a, int64_t row, int64_t column, int64_t n, T* x, int64_t x_row,
                   int64_t m, bool lower, bool unit) {
  if (n <= kLinalgBlock)
    return linalg_kernel(kDType<T>).solve_rows(a, row, column, n, x, x_row, m, lower, unit);
  const int64_t k = half(n, kLinalgBlock), rest = n - k;
  const T* const corner = a + k * (row + column);
  T* const below = x + k * x_row;
  if (lower) {
    solve_columns(a, row, column, k, x, x_row, m, lower, unit);
    product<T>(rest, m, k, {a + k * row, row, column}, {x, x_row, 1}, below, x_row, true);
    solve_columns(corner, row, column, rest, below, x_row, m, lower, unit);
  } else {
    solve_columns(corner, row, column, rest, below, x_row, m, lower, unit);
    product<T>(k, m, rest, {a + k * column, row, column}, {below, x_row, 1}, x, x_row, true);
    solve_columns(a, row, column, k, x, x_row, m, lower, unit);
  }
}

// The same for all: columns are solved apart from each other, so many that they stay in the cache.
// Their number depends on shapes alone.
template <class T>
void solve_negated(const T* a, int64_t row, int64_t column, int64_t n, T* x, int64_t x_row,
                   int64_t m, bool lower, bool unit) {
  const int64_t count = std::max<int64_t>(1, m / kSolvedColumns);
  const int64_t width = round_up((m + count - 1) / count, kColumnGrain);
  parallel_for((m + width - 1) / width, 1 + (1 << 20) / (n * n * width + 1),
               [=](int64_t begin, int64_t end) {
                 for (int64_t c = begin; c < end; ++c)
                   solve_columns(a, row, column, n, x + c * width, x_row,
                                 std::min(width, m - c * width), lower, unit);
               });
}

// X = -A^-1 for a lower triangle with a diagonal of ones; X is 0 above its diagonal and 1 on it.
template <class T>
void invert_negated(const T* a, int64_t row, int64_t n, T* x, int64_t x_row) {
  if (n <= kLinalgBlock) return solve_negated(a, row, 1, n, x, x_row, n, true, true);
  const int64_t k = half(n, kLinalgBlock), rest = n - k;
  const T* const corner = a + k * (row + 1);
  T* const below = x + k * x_row;
  invert_negated(a, row, k, x, x_row);
  product<T>(rest, k, k, {a + k * row, row, 1}, {x, x_row, 1}, below, x_row, false);
  solve_negated(corner, row, 1, rest, below, x_row, k, true, true);
  invert_negated(corner, row, rest, below + k, x_row);
}

template <class T>
void lu_part(T* a, int64_t row, int64_t m, int64_t n, int32_t* pivots, int32_t* info, T* scratch) {
  if (n <= kPanelColumns) {
    linalg_kernel(kDType<T>).lu_panel(a, row, m, n, pivots, info, scratch);
    return;
  }
  const int64_t least = std::min(m, n);
  const int64_t k = least <= kPanelColumns ? least : half(least, kPanelColumns);
  lu_part(a, row, m, k, pivots, info, scratch);
  T* const right = a + k;
  T* const below = a + k * row;
  exchange_rows(right, row, n - k, pivots, k, false);
  solve_negated(a, row, 1, k, right, row, n - k, true, true);
  product<T>(m - k, n - k, k, {below, row, 1}, {right, row, 1}, below + k, row, true);
  negate(right, row, right, row, k, n - k);
  if (m == k) return;
  int32_t later = 0;
  lu_part(below + k, row, m - k, n - k, pivots + k, &later, scratch);
  if (*info == 0 && later != 0) *info = later + static_cast<int32_t>(k);
  exchange_rows(below, row, k, pivots + k, least - k, false);
  for (int64_t i = k; i < least; ++i) pivots[i] += static_cast<int32_t>(k);
}

// Reflectors as rows, each from its own element on, with the 1 and the zeros before it; and their
// triangular factor, H_1 ... H_b = 1 - V T V^T. By blocks: T12 = -T1 (V1^T V2) T2, and in a block
// column by column. scratch: b^2 + 2 b kReflectors.
template <class T>
void triangular_factor(T* v, int64_t step, int64_t m, int64_t b, const T* tau, T* t, T* scratch) {
  for (int64_t k = 0; k < b; ++k) {
    std::fill(v + k * step, v + k * step + k, T(0));
    v[k * step + k] = T(1);
  }
  T* const squares = scratch;
  product<T>(b, b, m, {v, step, 1}, {v, 1, step}, squares, b, false);
  std::fill(t, t + b * b, T(0));
  for (int64_t p = 0; p < b; p += kReflectors) {
    const int64_t width = std::min(kReflectors, b - p);
    for (int64_t j = p; j < p + width; ++j) {
      for (int64_t i = p; i < j; ++i) {
        T sum = 0;
        for (int64_t k = i; k < j; ++k) sum += t[i * b + k] * squares[k * b + j];
        t[i * b + j] = -tau[j] * sum;
      }
      t[j * b + j] = tau[j];
    }
    if (p == 0) continue;
    T* const first = squares + b * b;
    T* const second = first + p * width;
    product<T>(p, width, width, {squares + p, b, 1}, {t + p * (b + 1), b, 1}, first, width, false);
    product<T>(p, width, p, {t, b, 1}, {first, width, 1}, second, width, false);
    negate(t + p, b, second, width, p, width);
  }
}

template <class T>
int64_t factor_scratch() {
  return kReflectorBlock * (kReflectorBlock + 2 * kReflectors);
}

// X -= V T' V^T X, with T' = T or its transpose. scratch: b^2 + 2 b n.
template <class T>
void reflect(const T* v, int64_t step, int64_t m, int64_t b, const T* t, bool transposed, T* x,
             int64_t row, int64_t n, T* scratch) {
  T* const w = scratch;
  T* const u = w + b * n;
  T* const factor = u + b * n;
  product<T>(b, n, m, {v, step, 1}, {x, row, 1}, w, n, false);
  negate(factor, b, t, b, b, b);
  product<T>(b, n, b, {factor, transposed ? 1 : b, transposed ? b : 1}, {w, n, 1}, u, n, false);
  product<T>(m, n, b, {v, 1, step}, {u, n, 1}, x, row, true);
}

// The same for rows: X -= X V T' V^T, which is the transpose of V T'^T V^T X^T.
template <class T>
void reflect_rows(const T* v, int64_t step, int64_t m, int64_t b, const T* t, bool transposed, T* x,
                  int64_t row, int64_t n, T* scratch) {
  T* const w = scratch;
  T* const u = w + b * n;
  product<T>(n, b, m, {x, row, 1}, {v, 1, step}, w, b, false);
  product<T>(n, b, b, {w, b, 1}, {t, transposed ? 1 : b, transposed ? b : 1}, u, b, false);
  negate(u, b, u, b, n, b);
  product<T>(n, m, b, {u, b, 1}, {v, step, 1}, x, row, true);
}

template <class T>
int32_t run_lu(T* a, int64_t row, int64_t m, int64_t n, int32_t* pivots) {
  Buffer scratch(kPanelColumns * m, kDType<T>);
  int32_t info = 0;
  lu_part(a, row, m, n, pivots, &info, scratch.template data<T>());
  return info;
}

// The inverse by LU factors: U^-1 L^-1, whose columns the exchanges put into their order.
template <class T>
void run_inverse(const T* lu, int64_t row, int64_t n, const int32_t* pivots, T* x, int64_t x_row) {
  for (int64_t i = 0; i < n; ++i) {
    std::fill(x + i * x_row, x + i * x_row + n, T(0));
    x[i * x_row + i] = T(1);
  }
  invert_negated(lu, row, n, x, x_row);
  solve_negated(lu, row, 1, n, x, x_row, n, false, false);
  Buffer places(n, DType::Int64);
  int64_t* const from = places.data<int64_t>();
  for (int64_t i = 0; i < n; ++i) from[i] = i;
  for (int64_t i = 0; i < n; ++i) std::swap(from[i], from[pivots[i]]);
  parallel_for(n, kGrainSize / n + 1, [=](int64_t begin, int64_t end) {
    Buffer buffer(n, kDType<T>);
    T* const held = buffer.data<T>();
    for (int64_t i = begin; i < end; ++i) {
      std::copy_n(x + i * x_row, n, held);
      for (int64_t j = 0; j < n; ++j) x[i * x_row + from[j]] = held[j];
    }
  });
}

template <class T>
int32_t run_cholesky(T* a, int64_t row, int64_t n) {
  if (n <= kLinalgBlock) {
    const LinalgKernel& kernel = linalg_kernel(kDType<T>);
    Buffer lanes(n * n * kernel.lanes, kDType<T>);
    int32_t info[kMaxLanes];
    // The transpose of the upper triangle is the lower one of the transpose.
    const GroupArgs group{lanes.template data<T>(), a, n, n, 1, 0, 1, row};
    kernel.load(group);
    kernel.cholesky(lanes.template data<T>(), n, info);
    kernel.store(group);
    return info[0];
  }
  const int64_t k = half(n, kLinalgBlock), rest = n - k;
  if (const int32_t info = run_cholesky(a, row, k)) return info;
  T* const right = a + k;
  T* const corner = a + k * (row + 1);
  solve_negated(a, 1, row, k, right, row, rest, true, false);  // -U12
  Buffer upper(k * rest, kDType<T>);
  negate(upper.template data<T>(), rest, right, row, k, rest);
  for (int64_t j = 0; j < rest; j += kSquareColumns) {
    const int64_t columns = std::min(kSquareColumns, rest - j);
    product<T>(j + columns, columns, k, {right, 1, row}, {upper.template data<T>() + j, rest, 1},
               corner + j, row, true);
  }
  negate(right, row, right, row, k, rest);
  const int32_t info = run_cholesky(corner, row, rest);
  return info == 0 ? 0 : info + static_cast<int32_t>(k);
}

template <class T>
void run_qr(T* a, int64_t row, int64_t m, int64_t n, T* tau) {
  const int64_t least = std::min(m, n), block = kReflectorBlock;
  Buffer panel(2 * block * m, kDType<T>), factors(block * block + factor_scratch<T>(), kDType<T>);
  Buffer scratch(block * (block + 2 * n), kDType<T>);
  T* const v = panel.template data<T>();
  T* const t = factors.template data<T>();
  T* const copy = v + block * m;  // with R in the place of ones and zeros
  for (int64_t j = 0; j < least; j += block) {
    const int64_t b = std::min(block, least - j), height = m - j;
    T* const corner = a + j * (row + 1);
    linalg_kernel(kDType<T>).turn(v, m, corner, row, height, b);
    for (int64_t p = 0; p < b; p += kReflectors) {
      const int64_t width = std::min(kReflectors, b - p), rest = b - p - width;
      T* const part = v + p * (m + 1);
      linalg_kernel(kDType<T>).qr_panel(part, m, height - p, width, tau + j + p);
      for (int64_t i = 0; i < width; ++i) std::copy_n(v + (p + i) * m, height, copy + (p + i) * m);
      triangular_factor(part, m, height - p, width, tau + j + p, t, t + block * block);
      if (rest > 0)
        reflect_rows(part, m, height - p, width, t, false, part + width * m, m, rest,
                     scratch.template data<T>());
    }
    linalg_kernel(kDType<T>).turn(corner, row, copy, m, b, height);
    if (j + b == n) break;
    triangular_factor(v, m, height, b, tau + j, t, t + block * block);
    reflect(v, m, height, b, t, true, corner + b, row, n - j - b, scratch.template data<T>());
  }
}

template <class T>
void run_reflect(T* v, int64_t step, int64_t m, int64_t k, const T* tau, T* x, int64_t row,
                 int64_t n, bool by_rows) {
  const int64_t block = kReflectorBlock;
  Buffer factors(block * block + factor_scratch<T>() + block * (block + 2 * n), kDType<T>);
  T* const t = factors.template data<T>();
  T* const scratch = t + block * block;
  T* const more = scratch + factor_scratch<T>();
  for (int64_t j = (k - 1) / block * block; j >= 0 && k > 0; j -= block) {
    const int64_t b = std::min(block, k - j);
    T* const part = v + j * (step + 1);
    triangular_factor(part, step, m - j, b, tau + j, t, scratch);
    if (by_rows) {
      reflect_rows(part, step, m - j, b, t, true, x + j, row, n, more);
    } else {
      reflect(part, step, m - j, b, t, false, x + j * row, row, n, more);
    }
  }
}

template <class T>
void run_q(const T* v, int64_t v_row, int64_t m, int64_t k, const T* tau, T* q, int64_t q_row,
           int64_t columns) {
  const int64_t block = kReflectorBlock;
  Buffer panel(block * m, kDType<T>);
  T* const rows = panel.template data<T>();
  for (int64_t i = 0; i < m; ++i) {
    std::fill(q + i * q_row, q + i * q_row + columns, T(0));
    if (i < columns) q[i * q_row + i] = T(1);
  }
  for (int64_t j = (k - 1) / block * block; j >= 0 && k > 0; j -= block) {
    const int64_t b = std::min(block, k - j), height = m - j;
    linalg_kernel(kDType<T>).turn(rows, m, v + j * (v_row + 1), v_row, height, b);
    run_reflect(rows, m, height, b, tau + j, q + j * (q_row + 1), q_row, columns - j, false);
  }
}

// f(T*) with the type of the elements.
template <class F>
auto typed(DType dtype, void* x, F f) {
  return dtype == DType::Float32 ? f(static_cast<float*>(x)) : f(static_cast<double*>(x));
}

}  // namespace

void solve_blocked(DType dtype, const void* a, int64_t row, int64_t column, int64_t n, void* x,
                   int64_t x_row, int64_t m, bool lower, bool unit) {
  typed(dtype, x, [&]<class T>(T* sides) {
    solve_negated(static_cast<const T*>(a), row, column, n, sides, x_row, m, lower, unit);
  });
}
int32_t lu_blocked(DType dtype, void* a, int64_t row, int64_t m, int64_t n, int32_t* pivots) {
  return typed(dtype, a, [&](auto* x) { return run_lu(x, row, m, n, pivots); });
}
void inverse_blocked(DType dtype, const void* lu, int64_t row, int64_t n, const int32_t* pivots,
                     void* x, int64_t x_row) {
  typed(dtype, x,
        [&]<class T>(T* y) { run_inverse(static_cast<const T*>(lu), row, n, pivots, y, x_row); });
}
void exchange_rows(DType dtype, void* a, int64_t row, int64_t n, const int32_t* pivots, int64_t k,
                   bool back) {
  typed(dtype, a, [&](auto* x) { exchange_rows(x, row, n, pivots, k, back); });
}
int32_t cholesky_blocked(DType dtype, void* a, int64_t row, int64_t n) {
  return typed(dtype, a, [&](auto* x) { return run_cholesky(x, row, n); });
}
void qr_blocked(DType dtype, void* a, int64_t row, int64_t m, int64_t n, void* tau) {
  typed(dtype, a, [&]<class T>(T* x) { run_qr(x, row, m, n, static_cast<T*>(tau)); });
}
void q_blocked(DType dtype, const void* v, int64_t v_row, int64_t m, int64_t k, const void* tau,
               void* q, int64_t q_row, int64_t columns) {
  typed(dtype, q, [&]<class T>(T* x) {
    run_q(static_cast<const T*>(v), v_row, m, k, static_cast<const T*>(tau), x, q_row, columns);
  });
}
void reflect_blocked(DType dtype, void* v, int64_t step, int64_t m, int64_t k, const void* tau,
                     void* x, int64_t row, int64_t n, bool by_rows) {
  typed(dtype, x, [&]<class T>(T* y) {
    run_reflect(static_cast<T*>(v), step, m, k, static_cast<const T*>(tau), y, row, n, by_rows);
  });
}

}  // namespace zero
