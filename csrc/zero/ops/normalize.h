// What the operators of normalisation have in common.
#pragma once

#include "zero/core/tensor.h"

namespace zero {

// A weight or bias, if there is one, has these sizes, and the dtype of x or, beside float16 and
// bfloat16, float32.
void check_parameter(const char* op, const char* name, const Tensor& parameter, const Tensor& x,
                     const Dims& sizes);

}  // namespace zero
