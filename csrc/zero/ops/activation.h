// Activation functions (activation.cpp). relu, tanh and sigmoid are in ops.h.
#pragma once

#include "zero/ops/ops.h"

namespace zero {

// By PyTorch's name; what a, b and c mean is said in kernels/activation.h. For floats.
Tensor activation(const char* name, const Tensor& x, double a, double b, double c,
                  Target target = {});

// x where it is positive, else weight x; one weight, or one for each channel.
Tensor prelu(const Tensor& x, const Tensor& weight);

// a sigmoid(b) of the halves a and b along a dimension.
Tensor glu(const Tensor& x, int64_t dim);

}  // namespace zero
