// Selection along one dimension by an index per place: the gradients of max(dim) and of nll_loss,
// and each other's gradient. And what repeats in an operator's input.
#pragma once

#include "zero/core/tensor.h"

namespace zero {

// y[.., 0, ..] = x[.., index[.., 0, ..], ..]; 0 where the index is negative. `index` is int64, of
// size 1 along `dim`.
Tensor take_along(const Tensor& x, const Tensor& index, int64_t dim);
// y[.., index[.., 0, ..], ..] = x[.., 0, ..] and 0 elsewhere; y has size n along `dim`.
Tensor put_along(const Tensor& x, const Tensor& index, int64_t dim, int64_t n);

// The first of all the parts that are alike because x was expanded: x without history, of size 1 in
// the dimensions other than `dim` with stride 0. Undefined where there are none.
Tensor without_repeats(const Tensor& x, int64_t dim);

}  // namespace zero
