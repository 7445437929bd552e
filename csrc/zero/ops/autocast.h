// What an operator does under autocast, in its first line:
//
//   if (autocast_on) return autocast(CastTo::Lower, linear, x, weight, bias);
//
// calls linear again with its tensors cast, and with autocast off until it returns.
#pragma once

#include "zero/autograd/autocast.h"
#include "zero/core/tensor.h"

namespace zero {

enum class CastTo : uint8_t {
  Lower,    // what autocast was asked for, float16 or bfloat16: products
  Float32,  // losses, long products, and what else loses too much in 16 bits
  Widest,   // float32 if any tensor is: operators that join tensors
};

namespace detail {

// Of floats on the CPU but float64; others are passed on as they are.
Tensor autocast_argument(const Tensor& x, DType dtype);
Tensors autocast_argument(const Tensors& tensors, DType dtype);
template <class T>
const T& autocast_argument(const T& x, DType) {
  return x;
}

DType widest(const Tensor& x);
DType widest(const Tensors& tensors);
template <class T>
DType widest(const T&) {
  return DType::Float16;
}

template <class... Args>
DType autocast_dtype(CastTo to, const Args&... args) {
  if (to == CastTo::Float32) return DType::Float32;
  const DType lower = autocast_state(AutocastDevice::Cpu).dtype;
  const bool any = to == CastTo::Widest && ((widest(args) == DType::Float32) || ...);
  return any ? DType::Float32 : lower;
}

}  // namespace detail

template <class Op, class... Args>
auto autocast(CastTo to, Op op, const Args&... args) {
  const DType dtype = detail::autocast_dtype(to, args...);
  const AutocastOff off;
  return op(detail::autocast_argument(args, dtype)...);
}

}  // namespace zero
