// What mixed precision asks for beyond autocast.h: by gradient scalers, and by operators in Python.
#pragma once

#include "zero/core/tensor.h"

namespace zero {

// g *= inverse_scale for each gradient, in place and unrecorded; found_inf, one float32, becomes 1
// if any of the results is infinite or NaN. One pass over memory.
void unscale_(const Tensors& grads, const Tensor& found_inf, const Tensor& inverse_scale);

// x as float32, if it is one of those that autocast casts to that.
Tensor autocast_float32(const Tensor& x);

}  // namespace zero
