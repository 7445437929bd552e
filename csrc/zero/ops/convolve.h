// How convolutions are computed: the front, which chooses an engine by the shape, and what the
// engines share. No tensors and no gradients here: those are in convolution.cpp.
#pragma once

#include <array>

#include "zero/core/dtype.h"

namespace zero {

using Triple = std::array<int64_t, 3>;  // depth, height, width; 1 for those that aren't there

// x is [batch, groups * in_channels, in], the weight [groups * out_channels, in_channels, kernel],
// y [batch, groups * out_channels, out]. y[o] reads x[o stride - padding + t dilation].
struct ConvolutionShape {
  int64_t batch, groups, in_channels, out_channels;  // channels of a group
  Triple in, kernel, out, stride, padding, dilation;
};

// Each is the gradient of sum(x weight y), over all products of a convolution, by one of the three.
// All are dense, of float32, float64 or int64; a bias may be null. Their bits depend on the shape
// only. Float32 sums are float32, in chunks that are added together.
void convolve(DType dtype, const ConvolutionShape& shape, const void* x, const void* weight,
              const void* bias, void* y);
void convolve_transposed(DType dtype, const ConvolutionShape& shape, const void* y,
                         const void* weight, const void* bias, void* x);
void convolve_weight(DType dtype, const ConvolutionShape& shape, const void* x, const void* y,
                     void* weight);

}  // namespace zero
