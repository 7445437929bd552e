// Convolutions: three operators that are each other's gradients.
#pragma once

#include "zero/core/tensor.h"

namespace zero {

// For each of the spatial dimensions: what PyTorch's arguments say, with padding before and after.
struct ConvolutionOptions {
  Dims stride, padding, padding_after, dilation;
  int64_t groups = 1;
  bool transposed = false;
  Dims output_padding = {};  // of a transposed one
};

// y[n, k, o] = bias[k] + sum over c and t of x[n, c, o stride - padding + t dilation] w[k, c, t],
// where what lies outside of x is 0; or its transpose, whose weight is [channels of x, channels of
// y / groups, ...]. The options have as many numbers as x and the weight have dimensions after the
// first two. bias may be undefined; x may be without the batch dimension. `op` is the name in
// errors.
Tensor convolution(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const ConvolutionOptions& options);

}  // namespace zero
