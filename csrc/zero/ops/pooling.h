// Pooling over windows, for one, two and three dimensions: the last ones of the input, which has
// one or two more in front, [C, ...] or [N, C, ...]. `op` is the name in errors, a literal; lists
// have one entry per dimension, or one for all.
#pragma once

#include <optional>
#include <utility>

#include "zero/core/tensor.h"

namespace zero {

struct WindowOptions {
  Dims kernel, stride, padding, dilation;
  bool ceil_mode = false;
};

// The largest element of each window and, if `indices`, its place in the plane, as int64.
std::pair<Tensor, Tensor> max_pool(const char* op, int64_t dims, const Tensor& x,
                                   const WindowOptions& options, bool indices);
// The sum of each window divided by the number of its elements (those of the padding count if
// include_padding) or by `divisor`.
Tensor avg_pool(const char* op, int64_t dims, const Tensor& x, const WindowOptions& options,
                bool include_padding, std::optional<int64_t> divisor = {});
// As many windows as `sizes` says, which cover the input.
std::pair<Tensor, Tensor> adaptive_max_pool(const char* op, int64_t dims, const Tensor& x,
                                            const Dims& sizes, bool indices);
Tensor adaptive_avg_pool(const char* op, int64_t dims, const Tensor& x, const Dims& sizes);
// As many windows as `sizes` says, all as large as `kernel`, which begin at steps of two lengths
// (dims is 2 or 3). Which step is where tell numbers from 0 to 1, one for each plane and dimension:
// samples [N or more, C, dims], of two dimensions the last one first; if undefined they are drawn.
std::pair<Tensor, Tensor> fractional_max_pool(const char* op, int64_t dims, const Tensor& x,
                                              const Dims& kernel, const Dims& sizes,
                                              const Tensor& samples, bool indices);

}  // namespace zero
