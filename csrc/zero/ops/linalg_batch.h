// The matrices of a tensor, and loops over them.
#pragma once

#include "zero/autograd/record.h"
#include "zero/ops/linalg.h"
#include "zero/ops/linalg_blocked.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

// `count` matrices that lie `step` elements apart. Untyped, as the kernels' arguments are: one code
// for float32 and float64.
struct Matrices {
  char* data;
  DType dtype;
  int64_t count, rows, columns, step, row, column;

  char* at(int64_t i) const { return data + i * step * itemsize(dtype); }
  Matrices transposed() const { return {data, dtype, count, columns, rows, step, column, row}; }
  // For kernels: matrices [first, first + n), of which some columns.
  GroupArgs group(void* x, int64_t first, int64_t n, int64_t column0, int64_t width) const {
    return {x, at(first) + column0 * column * itemsize(dtype), rows, width, n, step, row, column};
  }
  GroupArgs group(void* x, int64_t first, int64_t n) const {
    return group(x, first, n, 0, columns);
  }
};

inline Tensor turned(const Tensor& x) { return transpose(x, x.dim() - 2, x.dim() - 1); }
inline int64_t rows_of(const Tensor& x) { return x.size(x.dim() - 2); }
inline int64_t columns_of(const Tensor& x) { return x.size(x.dim() - 1); }
// The leading dimensions, with others behind them.
Dims batch_sizes(const Tensor& x, std::initializer_list<int64_t> last = {});
int64_t batch_count(const Tensor& x);

// x, or a copy, so that one stride leads from matrix to matrix.
Tensor in_steps(const Tensor& x);

Matrices matrices(const Tensor& x);  // of a tensor in steps

// A new tensor whose matrices lie in memory by columns.
Tensor empty_by_columns(const Dims& sizes, TensorOptions options);

// f(T()) with the type of the elements.
template <class F>
void with_float(DType dtype, F f) {
  if (dtype == DType::Float32) {
    f(float());
  } else {
    f(double());
  }
}

void check_matrices(const char* op, const char* name, const Tensor& x);
void check_square(const char* op, const char* name, const Tensor& x);
// B of A X = B: matrices of as many rows. Leading dimensions of both are broadcast.
void check_sides(const char* op, const Tensor& a, const Tensor& b);
void broadcast_batches(const char* op, Tensor* a, Tensor* b);

inline bool is_small(int64_t rows, int64_t columns) {
  return rows <= kLinalgBlock && columns <= kLinalgBlock;
}

// f(first, n, scratch) for groups of matrices that are computed side by side; `work` is what a
// matrix takes, in multiply-adds.
template <class F>
void for_groups(DType dtype, int64_t count, int64_t work, int64_t scratch, F f) {
  const int64_t lanes = linalg_kernel(dtype).lanes;
  const DenormalGuard denormal;
  const BlockingSection section(count * work > 1'000'000);
  parallel_for((count + lanes - 1) / lanes, 1 + 8192 / (work + 1), [&](int64_t begin, int64_t end) {
    Buffer buffer(scratch * lanes, dtype);
    for (int64_t g = begin; g < end; ++g)
      f(g * lanes, std::min(lanes, count - g * lanes), buffer.data<char>());
  });
}

// f(i) for each large matrix; a single one has all threads to itself.
template <class F>
void for_each_matrix(int64_t count, F f) {
  const DenormalGuard denormal;
  const BlockingSection section(true);
  parallel_for(
      count, 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) f(i);
      },
      kMaxGemmThreads);
}

}  // namespace zero
