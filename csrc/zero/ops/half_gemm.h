// Matrix products of float16 and bfloat16; gemm() comes here with them.
#pragma once

#include "zero/ops/gemm.h"

namespace zero {

// Sums are float32, in chunks of at most 1024 products that are added together, and rounded once.
// `add` is not defined for these dtypes.
void half_gemm(const Gemm& product, const GemmBatch& batch);

}  // namespace zero
