// Operators on lists of tensors: one call, and one loop over all their elements.
#pragma once

#include "zero/core/tensor.h"

namespace zero {

// The p-norm of all elements, as of one vector, in the dtype that the tensors promote to; 0 of no
// tensors. As in PyTorch, p = 0 counts the tensors that are not 0 everywhere. Raises if it is
// infinite or NaN and must not be.
Tensor total_norm(const char* op, const Tensors& tensors, double p, bool must_be_finite);

// What follows writes in place, unrecorded, after all checks of all tensors. Tensors that share
// memory are written one after the other.

// Times min(max_norm / (norm + 1e-6), 1), which is NaN if the norm is.
void clip_to_norm_(const char* op, const Tensors& tensors, double max_norm, const Tensor& norm);
void clip_to_range_(const char* op, const Tensors& tensors, double low, double high);
// tensors[i] += weight (ends[i] - tensors[i])
void foreach_lerp_(const Tensors& tensors, const Tensors& ends, double weight);

}  // namespace zero
