// What the engine asks of the operators. Declared here and defined in ops/gradient.cpp, so that
// autograd includes nothing above it.
#pragma once

#include <mutex>

#include "zero/autograd/node.h"
#include "zero/core/fork_lock.h"

namespace zero::gradient {

Tensor add(const Tensor& a, const Tensor& b);        // recorded if gradients are on
void add_into(const Tensor& into, const Tensor& g);  // into += g, not recorded
Tensor clone(const Tensor& x);
Tensor zeros(const OutputSpec& spec);
Tensor ones(const OutputSpec& spec);
Tensor sum_to(const Tensor& g, const Dims& sizes);  // undoes a broadcast
Tensor cast(const Tensor& g, DType dtype);
bool has_nan(const Tensor& g);
// Takes a lock whose holder may need the interpreter's, which is let go while waiting.
void wait_for(std::unique_lock<ForkLock>& lock);
// Before x is made to show other memory: keeps the old while other threads compute with it.
void keep_memory(const Tensor& x);
// Recorded if gradients are on: a copy of x laid out with `strides`, a strided view, a write into a
// view.
Tensor with_strides(const Tensor& x, const Dims& strides);
Tensor as_strided(const Tensor& x, const Dims& sizes, const Dims& strides, int64_t offset);
void copy_into(const Tensor& view, const Tensor& x);
// The gradient of a base laid out with `base_strides`, from that of a strided view of it.
Tensor as_strided_backward(const Tensor& g, const OutputSpec& base, const Dims& base_strides,
                           const Dims& sizes, const Dims& strides, int64_t offset);

}  // namespace zero::gradient
