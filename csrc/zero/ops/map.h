// Maps of dense operands that a family keeps in its own part of the table.
#pragma once

#include "zero/kernels/activation.h"
#include "zero/ops/iterator.h"

namespace zero {

// out = f(inputs), computed in `dtype`, as run_elementwise does it. An element costs as much as
// `cost` additions.
void run_map(const DenseFn (&loops)[kNumComputeTypes], int cost, DType dtype, const Tensor& out,
             std::initializer_list<const Operand*> inputs, const void* params = nullptr);

}  // namespace zero
