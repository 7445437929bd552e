// What operators of one tensor share: dtype, target and the call of the kernel.
#pragma once

#include "zero/autograd/record.h"
#include "zero/ops/iterator.h"

namespace zero {

// Float functions: integers and bool give the default float dtype.
inline Tensor real(const char* op, ElementwiseOp kernel, const Tensor& x, const Target& target,
                   const void* params = nullptr) {
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : default_dtype();
  Tensor y = target.prepare(op, x, {dtype, x.device()}, {&x});
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

inline void refuse_bool(const char* op, const Tensor& x, const char* instead) {
  ZERO_CHECK(x.dtype() != DType::Bool, DTypeError, op, ": not defined for bool; got ", x,
             ", expected ", instead);
}

}  // namespace zero
