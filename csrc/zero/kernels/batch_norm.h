// The kernels of batch_norm.cpp.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

// Sums over `rows` rows of `length` neighbours, `stride` apart: of one channel or, for `columns`,
// of one channel a column (then length is at most kBatchColumns).
//   moments:  of a channel's elements, their mean and the sum of squared differences from it
//   gradient: the sums of g, and of g (x scale - pivot) rstd
// They are written to out[0] and out[1], those of the next column `step` further on.
struct BatchSumsArgs {
  const void *x, *g;    // g: gradient only
  const void* factors;  // likewise: those of backward below, from the (first) channel on
  int64_t channels;     // one of these arrays
  int64_t rows, stride, length;
  bool columns;
  double* out;
  int64_t step;
};
using BatchSumsFn = void (*)(const BatchSumsArgs& args);
inline constexpr int64_t kBatchColumns = 64;

// The numbers of each channel that elements are computed with: so many arrays, one after the other,
// each of `channels` elements.
//   forward:  y = (x scale - pivot) a + b                         {scale, pivot, a, b}
//   backward: dx = (x scale - pivot) rstd b + c + (g - k) a        {scale, pivot, rstd, k, a, b, c}
// The tensor is [outer, channels, inner]. Where inner is not 1, it is cut into pieces of
// kBatchPiece elements of a plane, or what is left of it; else into rows of `channels` elements.
struct BatchMapArgs {
  const void *x, *g;
  void* out;
  const void* factors;
  int64_t channels, inner;
  int64_t begin, end;  // pieces or rows
};
using BatchMapFn = void (*)(const BatchMapArgs& args);
inline constexpr int64_t kBatchPiece = 8192;

struct BatchNormKernels {  // float32 and float64
  BatchSumsFn moments[kNumComputeTypes], gradient[kNumComputeTypes];
  BatchMapFn forward[kNumComputeTypes], backward[kNumComputeTypes];
};

}  // namespace zero
