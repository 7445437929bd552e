// Rows of a table, looked up or added up (embedding.cpp).
#pragma once

#include "zero/core/tensor.h"

namespace zero {

// weight[indices], of any shape. Row `padding` has no gradient (below 0: none is); `by_frequency`
// divides the gradient of a row by how often it was looked up.
Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding = -1,
                 bool by_frequency = false);

enum class BagMode : uint8_t { Sum, Mean, Max };

// The rows of each bag, added up or the like: bag b is the list of indices from offsets[b] to the
// next offset. `scales`, one for each index, multiply the rows of a sum; may be undefined.
// `padding` and `by_frequency` as above; a row of padding is no part of its bag.
// Four tensors: the result, the bag of each index, the size of each bag, and the index of each
// maximum (empty in other modes).
Tensors embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                      bool by_frequency, BagMode mode, const Tensor& scales,
                      bool include_last_offset, int64_t padding);

}  // namespace zero
