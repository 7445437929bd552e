// The largest element of windows, and its place.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

// The windows of one dimension: output i takes the count[i] inputs from first[i] on, `step` apart.
// Between inner_begin and inner_end first[i] grows by inner_step, and count[i] is the same.
struct Windows {
  int64_t in, out, step;
  const int32_t *first, *count;
  int64_t inner_begin, inner_end, inner_step;
};

// x is [planes, d.in, h.in, w.in], out and index [planes, d.out, h.out, w.out], all dense. Rows of
// the result from begin to end are computed. NaN is the largest; of equal elements the first
// counts. Places count in the plane; that of an empty window, whose result is the least value there
// is, is -1.
struct MaxPoolArgs {
  const void* x;
  void* out;
  int32_t* index;  // null: not wanted
  int64_t begin, end;
  Windows d, h, w;
  void* scratch;  // max_pool_scratch() bytes, aligned to 64
};
using MaxPoolFn = void (*)(const MaxPoolArgs& args);
constexpr int64_t max_pool_scratch(int64_t in_w, int64_t out_w, int64_t itemsize) {
  return (2 * in_w + 2 * out_w) * itemsize;
}

// x[i] += g[j] for all j with index[j] = i, where x starts as zeros, in each of some planes.
struct UnpoolArgs {
  const void* g;
  const int32_t* index;
  void* out;
  int64_t planes, in, out_size;  // elements of a plane of g, and of out
  // Where windows are squares of two rows and columns side by side, columns of g and of out: each
  // place is written once. Else 0.
  int64_t square_columns, width;
};
using UnpoolFn = void (*)(const UnpoolArgs& args);

// The sums of rows of n neighbouring elements.
using RowSumFn = void (*)(const void* x, int64_t rows, int64_t n, void* out);

struct PoolingKernels {
  MaxPoolFn max_pool[kNumComputeTypes];          // float32, float64 and int64
  UnpoolFn max_pool_backward[kNumComputeTypes];  // float32 and float64, as the next one
  RowSumFn row_sum[kNumComputeTypes];
};

}  // namespace zero
