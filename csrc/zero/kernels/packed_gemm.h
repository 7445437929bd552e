// Products of matrices in two steps: several threads share a copy of b.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

struct PackColumnsArgs {
  int64_t k;
  int64_t first, n;  // columns; `first` is a multiple of `panel`
  const void* b;
  int64_t b_row, b_column;
  void* packed;    // aligned to 64, k x padded
  int64_t padded;  // all columns of b, rounded up to a multiple of `panel`
};
struct PackedGemm {
  int64_t panel;
  void (*pack)(const PackColumnsArgs& args);
  // c[:, first : first + n] of a product whose k x padded copy of b is `packed`; a is m x k, c and
  // bias begin at column 0. scratch: gemm_scratch(m, n, k).
  void (*multiply)(const GemmArgs& args, const void* packed, int64_t padded, int64_t first,
                   void* scratch);
};

}  // namespace zero
