// The kernels of embedding.cpp.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

// out[into[i]] += scale[i] x[from[i]] for i = 0 … n - 1, one after the other, in the columns
// [begin, end) of rows of `columns` elements. A row below 0 takes no part.
struct AddRowsArgs {
  const void* x;
  const int64_t *from, *into;  // null: row i
  const void* scale;           // null: 1
  void* out;
  int64_t n, columns, begin, end;
};
using AddRowsFn = void (*)(const AddRowsArgs& args);

struct EmbeddingKernels {
  AddRowsFn add_rows[kNumComputeTypes];  // float32 and float64
};

}  // namespace zero
