// Elements along one dimension that an index names: what gather, scatter, index_select, index_add
// and their like have in common. An index that repeats along a dimension (stride 0, from expand) is
// read once per row.
#pragma once

#include "zero/ops/ops.h"

namespace zero {

// y[i, j] = x[index[i, j], j] for dim 0. `index` has as many dimensions as x. `watched` is saved,
// too.
Tensor gather_along(const char* op, const char* node, const Tensor& x, int64_t dim,
                    const Tensor& index, const Tensor& watched = {});

// self[index[i, j], j] = combine(…, values[i, j]) for dim 0, one after the other in row-major order
// along `dim`. `values` has the shape of `index`, or one element. Without `include_self` what was
// in the places that the index names takes no part. A new result is contiguous, unless it keeps the
// layout of self.
Tensor scatter_along(const char* op, const char* node, const Tensor& self, int64_t dim,
                     const Tensor& index, const Tensor& values, Combine combine, bool include_self,
                     const Target& target, bool keeps_layout = false);

}  // namespace zero
