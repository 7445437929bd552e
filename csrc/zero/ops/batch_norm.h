// Batch normalisation (batch_norm.cpp).
#pragma once

#include "zero/core/tensor.h"

namespace zero {

// Each channel, dimension 1, brought to mean 0 and variance 1, then multiplied by its weight and
// moved by its bias; both may be undefined. In training mean and variance are those of x, and what
// is defined of the running ones moves towards them, by `momentum`; else the running ones are used.
Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum, double eps);
// The same with the mean and 1 / sqrt(variance + eps) of each channel, empty unless in training:
// three tensors. Gradients don't flow through the last two.
Tensors native_batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                          const Tensor& running_mean, const Tensor& running_var, bool training,
                          double momentum, double eps);

}  // namespace zero
