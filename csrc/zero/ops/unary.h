// What operators of one tensor share: dtype, target and the call of the kernel.
#pragma once

#include "zero/autograd/record.h"
#include "zero/ops/iterator.h"

namespace zero {

// y = f(x) for a tensor of bool: f has two values.
void map_truths(ElementwiseOp kernel, DType dtype, const Tensor& x, const Tensor& y,
                const void* params);
inline constexpr int64_t kManyTruths = 512;  // from which on that is worth its calls

// Float functions: integers and bool give the default float dtype.
inline Tensor real(const char* op, ElementwiseOp kernel, const Tensor& x, const Target& target,
                   const void* params = nullptr) {
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : default_dtype();
  Tensor y = target.prepare(op, x, {dtype, x.device()}, {&x});
  if (x.dtype() == DType::Bool && y.numel() >= kManyTruths && !y.is_meta()) {
    map_truths(kernel, dtype, x, y, params);
    return y;
  }
  const Operand in = x;
  run_elementwise(kernel, dtype, y, {&in}, params);
  return y;
}

// Functions that keep the dtype.
inline Tensor same(const char* op, ElementwiseOp kernel, const Tensor& x, const Target& target,
                   const void* params = nullptr) {
  Tensor y = target.prepare(op, x, x.options(), {&x});
  const Operand in = x;
  run_elementwise(kernel, x.dtype(), y, {&in}, params);
  return y;
}

// y = f(x) whose gradient is formula(g, x).
template <class F>
Tensor of_input(const char* op, const char* node, ElementwiseOp kernel, const Tensor& x,
                const Target& target, F formula) {
  Tensor copy;
  const Tensor& kept = target.preserve(x, requires_grad(x), copy);
  Tensor y = real(op, kernel, x, target);
  record(node, target, y, {&x}, {&kept},
         [formula](Node& n, const Tensor& g) { return formula(g, n.saved(0)); });
  return y;
}

// y = f(x) whose gradient is formula(g, y).
template <class F>
Tensor of_output(const char* op, const char* node, ElementwiseOp kernel, const Tensor& x,
                 const Target& target, F formula) {
  Tensor y = real(op, kernel, x, target);
  record(node, target, y, {&x}, {&y},
         [formula](Node& n, const Tensor& g) { return formula(g, n.saved(0)); });
  return y;
}

inline void refuse_bool(const char* op, const Tensor& x, const char* instead) {
  ZERO_CHECK(x.dtype() != DType::Bool, DTypeError, op, ": not defined for bool; got ", x,
             ", expected ", instead);
}

}  // namespace zero
