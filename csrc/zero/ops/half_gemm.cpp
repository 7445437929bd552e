// Which part of a product of 16-bit floats is computed how. Nothing here makes a float32 copy of a
// whole operand, unless it is small.
#include "zero/ops/half_gemm.h"

#include "zero/core/allocator.h"
#include "zero/kernels/half_gemm.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

constexpr int64_t kFewRows = 4;                  // as in gemm.cpp
constexpr double kSmallProduct = 32 * 32 * 32;   // multiply-adds
constexpr double kMiddleProduct = 64 * 64 * 64;  // up to here copies of both operands pay
constexpr double kGrain = 1 << 19;               // those that are worth a range of their own
constexpr int64_t kMinBlock = 128;
constexpr int64_t kMinDepth = 2048, kMaxParts = 16;  // of k, when c is too small to be cut
constexpr int64_t kItem = 2;

double work(const Gemm& g) {
  return static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}

int64_t grain_for(double work_per_task) {
  return work_per_task >= kGrain ? 1
                                 : static_cast<int64_t>(kGrain / std::max(work_per_task, 1.0)) + 1;
}

const void* offset(const void* data, int64_t elements) {
  return static_cast<const char*>(data) + elements * kItem;
}

// Float32 numbers for the time of one call, on the stack if they are few.
class Floats {
 public:
  explicit Floats(int64_t n)
      : bytes_(n * 4), data_(n <= kInline ? inline_ : static_cast<float*>(allocate(bytes_))) {}
  ~Floats() {
    if (data_ != inline_) deallocate(data_, bytes_);
  }
  Floats(const Floats&) = delete;
  float* data() { return data_; }

 private:
  static constexpr int64_t kInline = 2048;
  int64_t bytes_;
  float* data_;
  alignas(kAlignment) float inline_[kInline];
};

// A matrix of 16-bit floats as float32, dense, in the same order in memory or in that of its rows.
GemmOperand widen(DType dtype, const GemmOperand& x, int64_t rows, int64_t columns, float* to,
                  bool in_rows = false) {
  const bool by_columns = !in_rows && x.row == 1 && (x.column != 1 || columns == 1);
  const int64_t inner = by_columns ? rows : columns, outer = by_columns ? columns : rows;
  char* data[2] = {reinterpret_cast<char*>(to), static_cast<char*>(const_cast<void*>(x.data))};
  const int64_t strides[4] = {4, (by_columns ? x.row : x.column) * kItem, inner * 4,
                              (by_columns ? x.column : x.row) * kItem};
  const int from = static_cast<int>(dtype);
  kernels().cast[from][static_cast<int>(DType::Float32)](data, strides, inner, outer, nullptr);
  return by_columns ? GemmOperand{to, 1, rows} : GemmOperand{to, columns, 1};
}

// The other way: c[i row + j column] = from[i, j].
void narrow(DType dtype, const float* from, int64_t rows, int64_t columns, void* c, int64_t row,
            int64_t column) {
  char* data[2] = {static_cast<char*>(c), reinterpret_cast<char*>(const_cast<float*>(from))};
  const int64_t strides[4] = {column * kItem, 4, row * kItem, columns * 4};
  kernels().cast[static_cast<int>(DType::Float32)][static_cast<int>(dtype)](data, strides, columns,
                                                                            rows, nullptr);
}

// c = a b + bias, or c += a b + bias, of dense float32 matrices.
void multiply_floats(int64_t m, int64_t n, int64_t k, const GemmOperand& a, const GemmOperand& b,
                     float* c, const float* bias, bool add) {
  const KernelTable& table = kernels();
  Floats scratch(table.gemm_scratch(m, n, k, 4) / 4);
  table.gemm[static_cast<int>(ComputeType::F32)](
      {m, n, k, a.data, a.row, a.column, b.data, b.row, b.column, c, n, bias, add}, scratch.data());
}

void run_small(const Gemm& g) {
  Floats floats(g.m * g.k + g.k * g.n + g.m * g.n + g.n);
  float *const a = floats.data(), *const b = a + g.m * g.k, *const c = b + g.k * g.n,
               *const bias = c + g.m * g.n;
  if (g.bias) widen(g.dtype, {g.bias, g.n, 1}, 1, g.n, bias);
  multiply_floats(g.m, g.n, g.k, widen(g.dtype, g.a, g.m, g.k, a), widen(g.dtype, g.b, g.k, g.n, b),
                  c, g.bias ? bias : nullptr, false);
  narrow(g.dtype, c, g.m, g.n, g.c, g.c_row, 1);
}

// How a product is cut: by its shape and strides alone.
struct Plan {
  enum class Way : uint8_t { Small, Few, Blocks } way;
  int64_t rows, columns;  // of a block
  int64_t across, count;  // blocks side by side, and in all
};

int64_t pieces(int64_t size, int64_t step) { return (size + step - 1) / step; }

// Of a matrix that few rows are multiplied with, columns that are dense are read as they are, of
// others a block is widened at a time: 64 KiB.
int64_t few_columns(const GemmOperand& many) { return many.row == 1 ? 64 : 256; }
int64_t few_depth(const GemmOperand& many) { return many.row == 1 ? 1024 : 64; }

Plan plan_of(const Gemm& g) {
  if (work(g) <= kSmallProduct) return {Plan::Way::Small, g.m, g.n, 1, 1};
  if (g.m <= kFewRows) {
    const int64_t step = few_columns(g.b), count = pieces(g.n, step);
    return {Plan::Way::Few, g.m, step, count, count};
  }
  if (g.n <= kFewRows) {
    const int64_t step = few_columns({nullptr, g.a.column, g.a.row});
    return {Plan::Way::Few, step, g.n, 1, pieces(g.m, step)};
  }
  if (work(g) <= kMiddleProduct) return {Plan::Way::Small, g.m, g.n, 1, 1};
  int64_t rows = std::min(g.m, kHalfGemmBlock), columns = std::min(g.n, kHalfGemmBlock);
  if (pieces(g.m, rows) * pieces(g.n, columns) < 4) {  // so that threads have their share
    int64_t& longer = g.m >= g.n ? rows : columns;
    longer = std::clamp((std::max(g.m, g.n) / 4 + 63) / 64 * 64, kMinBlock, kHalfGemmBlock);
  }
  const int64_t across = pieces(g.n, columns);
  return {Plan::Way::Blocks, rows, columns, across, across * pieces(g.m, rows)};
}

Gemm block_of(const Gemm& g, const Plan& plan, int64_t index) {
  const int64_t i = index / plan.across * plan.rows, j = index % plan.across * plan.columns;
  Gemm block = g;
  block.m = std::min(plan.rows, g.m - i);
  block.n = std::min(plan.columns, g.n - j);
  block.a.data = offset(g.a.data, i * g.a.row);
  block.b.data = offset(g.b.data, j * g.b.column);
  block.c = const_cast<void*>(offset(g.c, i * g.c_row + j));
  if (g.bias) block.bias = offset(g.bias, j);
  return block;
}

// to += from
void add_to(float* to, const float* from, int64_t n) {
  char* data[3] = {reinterpret_cast<char*>(to), reinterpret_cast<char*>(to),
                   reinterpret_cast<char*>(const_cast<float*>(from))};
  const int64_t strides[6] = {4, 4, 4, 0, 0, 0};
  const int type = static_cast<int>(ComputeType::F32);
  kernels().elementwise[static_cast<int>(ElementwiseOp::Add)][type](data, strides, n, 1, nullptr);
}

// Few rows times many columns, a strip of the latter. Few columns are the rows of the transpose.
void run_few(const Gemm& g) {
  const bool turned = g.m > kFewRows || g.n < g.m;
  const GemmOperand few = turned ? GemmOperand{g.b.data, g.b.column, g.b.row} : g.a;
  const GemmOperand many = turned ? GemmOperand{g.a.data, g.a.column, g.a.row} : g.b;
  const int64_t m = turned ? g.n : g.m, n = turned ? g.m : g.n;
  const int64_t depth = std::min(g.k, few_depth(many));
  const bool dense = many.row == 1;
  const HalfGemmKernels& kernel = *kernels().half_gemm;
  Floats floats(m * depth + (dense ? m : depth) * n + m * n + g.n);
  float *const a = floats.data(), *const b = a + m * depth, *const c = b + (dense ? m : depth) * n,
               *const bias = c + m * n;
  for (int64_t p = 0; p < g.k; p += depth) {
    const int64_t k = std::min(depth, g.k - p);
    const void* part = offset(many.data, p * many.row);
    const GemmOperand rows =
        widen(g.dtype, {offset(few.data, p * few.column), few.row, few.column}, m, k, a, true);
    if (dense) {
      const HalfDotsArgs args{m, n, k, a, part, many.column, p > 0 ? b : c};
      (g.dtype == DType::Float16 ? kernel.float16_dots : kernel.bfloat16_dots)(args);
      if (p > 0) add_to(c, b, m * n);
    } else {
      multiply_floats(m, n, k, rows, widen(g.dtype, {part, many.row, many.column}, k, n, b), c,
                      nullptr, p > 0);
    }
  }
  if (g.bias) {
    widen(g.dtype, {g.bias, g.n, 1}, 1, g.n, bias);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += bias[turned ? i : j];
  }
  narrow(g.dtype, c, m, n, g.c, turned ? 1 : g.c_row, turned ? g.c_row : 1);
}

// One block, by the kernel; a float32 result has rows `wide_row` apart.
void run_block(const Gemm& g, float* wide = nullptr, int64_t wide_row = 0) {
  const HalfGemmKernels& kernel = *kernels().half_gemm;
  Floats scratch(kernel.scratch(g.m, g.n, g.k) / 4);
  const HalfGemmArgs args{g.m,
                          g.n,
                          g.k,
                          g.a.data,
                          g.a.row,
                          g.a.column,
                          g.b.data,
                          g.b.row,
                          g.b.column,
                          wide ? wide : g.c,
                          wide ? wide_row : g.c_row,
                          wide ? nullptr : g.bias,
                          wide != nullptr};
  (g.dtype == DType::Float16 ? kernel.float16 : kernel.bfloat16)(args, scratch.data());
}

void run_one(const Gemm& g, Plan::Way way) {
  if (way == Plan::Way::Small) return run_small(g);
  way == Plan::Way::Few ? run_few(g) : run_block(g);
}

// A small c with a long k, such as the gradient of a narrow layer's weight: parts of k, added in
// order.
void run_parts(const Gemm& g) {
  const int64_t parts = std::min(g.k / kMinDepth, kMaxParts), size = g.m * g.n;
  const int64_t depth = (g.k + parts - 1) / parts;
  Floats sums(parts * size), bias(g.n);
  parallel_for(parts, grain_for(work(g) / static_cast<double>(parts)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t p = begin; p < end; ++p) {
                   Gemm part = g;
                   part.k = std::min(depth, g.k - p * depth);
                   part.a.data = offset(g.a.data, p * depth * g.a.column);
                   part.b.data = offset(g.b.data, p * depth * g.b.row);
                   run_block(part, sums.data() + p * size, g.n);
                 }
               });
  for (int64_t p = 1; p < parts; ++p) add_to(sums.data(), sums.data() + p * size, size);
  if (g.bias) {
    widen(g.dtype, {g.bias, g.n, 1}, 1, g.n, bias.data());
    for (int64_t i = 0; i < g.m; ++i) add_to(sums.data() + i * g.n, bias.data(), g.n);
  }
  narrow(g.dtype, sums.data(), g.m, g.n, g.c, g.c_row, 1);
}

}  // namespace

void half_gemm(const Gemm& g, const GemmBatch& batch) {
  int64_t count = 1;
  for (const GemmBatch::Dim& dim : batch.dims) count *= dim.size;
  if (count == 0 || g.m == 0 || g.n == 0) return;
  const DenormalGuard guard;
  const Plan plan = plan_of(g);
  if (count == 1 && plan.count == 1 && plan.way == Plan::Way::Small) return run_small(g);
  const BlockingSection section(work(g) * static_cast<double>(count) > 1e7);
  if (count == 1 && plan.count == 1 && plan.way == Plan::Way::Blocks && g.k >= 2 * kMinDepth)
    return run_parts(g);
  parallel_for(count * plan.count, grain_for(work(g) / static_cast<double>(plan.count)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task) {
                   int64_t index = task / plan.count, a = 0, b = 0, c = 0;
                   for (int64_t d = batch.dims.size() - 1; d >= 0; --d) {
                     const GemmBatch::Dim& dim = batch.dims[d];
                     const int64_t i = index % dim.size;
                     index /= dim.size;
                     a += i * dim.a;
                     b += i * dim.b;
                     c += i * dim.c;
                   }
                   Gemm one = g;
                   one.a.data = offset(g.a.data, a);
                   one.b.data = offset(g.b.data, b);
                   one.c = const_cast<void*>(offset(g.c, c));
                   run_one(block_of(one, plan, task % plan.count), plan.way);
                 }
               });
}

}  // namespace zero
