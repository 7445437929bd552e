// The kernels of convolutions. What is convolved is read through tables of offsets, in elements, so
// that one loop over products serves every stride, dilation and number of dimensions.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

// c[i][j] = sum over p of a[rows[i] + depths[p]] b[p][j] (+ a bias, or + c) for i < row_count,
// j < columns. b is dense, [depth][width]; width is the panel of the type, or a half or, where
// there is such, a quarter of it; its columns from `columns` on are read only.
struct ProductPanelArgs {
  const void* a;
  const int64_t* rows;
  int64_t row_count;
  const int64_t* depths;
  int64_t depth;
  const void* b;
  int64_t width, columns;
  void* c;
  int64_t c_row;
  const void *row_bias, *column_bias;  // null: none
  bool add;                            // to what c is; else c is overwritten
};
using ProductPanelFn = void (*)(const ProductPanelArgs& args);

// out[j / width][p][j % width] = in[columns[j] + depths[p]] for j < count; panels of out are
// panel_step apart. `runs` are the lengths of stretches of columns that are neighbours in memory
// and in a panel.
struct GatherColumnsArgs {
  const void* in;
  const int64_t* columns;
  const int64_t* runs;
  int64_t count;
  const int64_t* depths;
  int64_t depth;
  void* out;
  int64_t width, panel_step;
};
using GatherColumnsFn = void (*)(const GatherColumnsArgs& args);

// Copies a box out of each of `count` dense volumes, `in_step` apart, to dense boxes one after the
// other; what lies outside of a volume is zero. With step > 1, the columns of a row are put in
// order of their remainder by `step`: all of 0, then of 1, ...
struct CopyBoxArgs {
  const void* in;
  int64_t in_step, count;
  int64_t in_size[3], low[3], size[3];
  int64_t step;
  void* out;
};
using CopyBoxFn = void (*)(const CopyBoxArgs& args);
// Elements of a row of such a box.
constexpr int64_t box_row(int64_t size, int64_t step) { return (size + step - 1) / step * step; }

// out[out_rows[r] + x out_step] = bias + sum over p of weights[p] a[rows[r] + depths[p] + x] for
// x < width.
struct SlideArgs {
  const void* a;
  const int64_t* rows;
  int64_t row_count, width;
  const int64_t* depths;
  int64_t depth;
  const void* weights;
  const void* bias;  // one, or null
  void* out;         // of the gradient: what out's is, read
  const int64_t* out_rows;
  int64_t out_step;  // of the gradient: 1
  bool readable;     // a, also kSlideSlack elements beyond what is asked for
  double* gradient;  // of the gradient: sums are added to it, one for each weight
};
inline constexpr int64_t kSlideSlack = 32;
using SlideFn = void (*)(const SlideArgs& args);

struct ConvolutionKernels {
  int64_t row_step;                                // rows of c that are computed together
  int64_t panel_bytes;                             // of the widest panel
  int64_t narrowest;                               // the narrowest is so much narrower
  ProductPanelFn product_panel[kNumComputeTypes];  // float32, float64 and int64; so all that follow
  GatherColumnsFn gather_columns[kNumComputeTypes];
  CopyBoxFn copy_box[kNumComputeTypes];
  SlideFn slide[kNumComputeTypes];           // the two for floats only
  SlideFn slide_gradient[kNumComputeTypes];  // of the weights
};

}  // namespace zero
