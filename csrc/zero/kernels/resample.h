// Linear maps along the last three dimensions, each a sparse matrix: sums of windows,
// interpolation, padding with the input's own elements, and the gradients of all of them.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

// The map of one dimension: output i is the sum of weight[k] times input index[k], k from start[i]
// to start[i + 1]. The innermost dimension may have the same in columns: the taps with number k of
// all outputs stand side by side, from k * out on. An output with fewer has weights 0 there, and
// the index `in`, a place behind the row that holds 0.
struct Taps {
  int64_t in, out;
  const int32_t *start, *index;
  const void* weight;  // of the type that is computed with
  int64_t width;       // how many columns; 0: there are none
  bool ragged;         // some outputs have fewer taps than there are columns
  const int32_t* column_index;
  const void* column_weight;
};

// x is [planes, d.in, h.in, w.in], out [planes, d.out, h.out, w.out], both dense. Rows of the
// result from begin to end are computed.
struct ResampleArgs {
  const void* x;
  void* out;
  int64_t begin, end;
  Taps d, h, w;
  void* scratch;  // w.in + 1 elements
};
using ResampleFn = void (*)(const ResampleArgs& args);

// A map that only moves: output [i, j, k] is input [d[i], h[j], w[k]]. w counts up by 1 between
// run_begin and run_end.
struct MoveArgs {
  const void* x;
  void* out;
  int64_t begin, end;
  int64_t in_d, in_h, in_w, out_d, out_h, out_w;
  const int32_t *d, *h, *w;
  int64_t run_begin, run_end;
};
using MoveFn = void (*)(const MoveArgs& args);

// Samples of x [channels, size[2], size[1], size[0]] at places that a grid [locations, dims] names,
// its first number along size[0]. Two dimensions have size[2] = 1.
enum class GridMode : uint8_t { Linear, Nearest, Cubic };
enum class GridPadding : uint8_t { Zeros, Border, Reflection };
struct GridSampleArgs {
  const void *x, *grid;
  int64_t channels, locations, size[3];
  int dims;
  GridMode mode;
  GridPadding padding;
  bool align_corners;
  int64_t begin, end;  // locations, or channels for the gradient of x
  void* out;           // [channels, locations]; the gradient of x, which starts as zeros; of grid
  const void* g;       // backward: [channels, locations]
};
using GridSampleFn = void (*)(const GridSampleArgs& args);

struct ResampleKernels {
  ResampleFn resample[kNumComputeTypes];       // float32, float64 and int64
  GridSampleFn grid_sample[kNumComputeTypes];  // float32 and float64, as the next two
  GridSampleFn grid_sample_input_gradient[kNumComputeTypes];
  GridSampleFn grid_sample_grid_gradient[kNumComputeTypes];
  MoveFn move[4];  // by log2 of the element's size
};

}  // namespace zero
