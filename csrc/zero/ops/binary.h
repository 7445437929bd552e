// What operators of two and three operands share: dtype, device, shape, target and the call of the
// kernel.
//
// A backward formula may return a gradient of the broadcast shape or of the promoted dtype: the
// engine sums it out and casts it back.
#pragma once

#include "zero/autograd/record.h"
#include "zero/ops/iterator.h"

namespace zero {

// Where two operands live; a 0-d tensor counts as a number and joins any device.
inline Device common_device(const char* op, const Operand& a, const Operand& b) {
  if (!b.is_tensor()) return a.tensor().device();
  if (!a.is_tensor()) return b.tensor().device();
  const Tensor &x = a.tensor(), &y = b.tensor();
  if (x.device() == y.device()) return x.device();
  ZERO_CHECK(x.dim() == 0 || y.dim() == 0, Error, op, ": tensors are on two devices; got ",
             x.device(), " and ", y.device(), ", expected one device");
  return x.dim() == 0 ? y.device() : x.device();
}

// The operand whose shape the result has; null where the shapes have to be broadcast.
inline const Tensor* common_shape(const Operand& a, const Operand& b) {
  if (!b.is_tensor()) return &a.tensor();
  if (!a.is_tensor()) return &b.tensor();
  return a.tensor().sizes() == b.tensor().sizes() ? &a.tensor() : nullptr;
}

// Allocates, or checks the target, and computes; `result` may differ from the dtype of the
// arithmetic.
inline Tensor compute(const char* op, ElementwiseOp kernel, const Operand& a, const Operand& b,
                      DType dtype, DType result, const Target& target,
                      const void* params = nullptr) {
  const TensorOptions options{result, common_device(op, a, b)};
  const Tensor &x = a.tensor(), &z = b.tensor();
  const Tensor* like = common_shape(a, b);
  Tensor y =
      like ? target.prepare(op, *like, options, {&x, &z})
           : target.prepare(op, broadcast_shapes(op, x.sizes(), z.sizes()), options, {&x, &z});
  run_elementwise(kernel, dtype, y, {&a, &b}, params);
  return y;
}

inline Tensor binary(const char* op, ElementwiseOp kernel, const Operand& a, const Operand& b,
                     DType dtype, const Target& target, const void* params = nullptr) {
  return compute(op, kernel, a, b, dtype, dtype, target, params);
}

inline Tensor compare(const char* op, ElementwiseOp kernel, const Operand& a, const Operand& b,
                      const Target& target) {
  Tensor y = compute(op, kernel, a, b, result_type(a, b), DType::Bool, target);
  target.written();
  return y;
}

inline Tensor bitwise(const char* op, ElementwiseOp kernel, const Operand& a, const Operand& b,
                      const Target& target) {
  const DType dtype = result_type(a, b);
  ZERO_CHECK(!is_floating(dtype), DTypeError, op, ": not defined for floats; got ", dtype,
             ", expected integers or bool");
  Tensor y = binary(op, kernel, a, b, dtype, target);
  target.written();
  return y;
}

// An operand in a backward formula: the tensor saved in `slot`, or the number it was.
struct Kept {
  Tensor tensor;
  Scalar scalar;
  Kept(Node& n, int slot, const Scalar& s) : tensor(n.saved(slot)), scalar(s) {}
  operator Operand() const { return tensor.defined() ? Operand(tensor) : Operand(scalar); }
};

// Integer division by zero has no value.
inline void check_divisor(const char* op, const Operand& b, DType dtype) {
  if (is_floating(dtype)) return;
  const bool zero = b.is_tensor() ? !b.tensor().is_meta() && item(any(eq(b, 0))).to_bool()
                                  : b.scalar().to_int() == 0;
  ZERO_CHECK(
      !zero, Error, op,
      ": ZeroDivisionError; got an integer divisor of 0, expected none; floats give inf or nan");
}

inline DType type_of(const Operand& x) {
  return x.is_tensor() ? x.tensor().dtype() : x.scalar().dtype();
}
inline bool is_bool(const Operand& x) { return type_of(x) == DType::Bool; }

inline void check_alpha(const char* op, const Scalar& alpha, DType dtype) {
  ZERO_CHECK(!alpha.is_float() || is_floating(dtype), DTypeError, op, ": alpha is a float; got ",
             alpha, " for ", dtype, ", expected an integer");
  ZERO_CHECK(alpha.kind() != Scalar::Kind::Bool || dtype == DType::Bool, DTypeError, op,
             ": alpha is a bool; got ", alpha, " for ", dtype, ", expected a number");
}

// The same for three operands, the first of which is a tensor.
inline Tensor ternary(const char* op, ElementwiseOp kernel, const Operand& a, const Operand& b,
                      const Operand& c, DType dtype, const Target& target,
                      const void* params = nullptr) {
  const Tensor& x = a.tensor();
  Dims sizes = x.sizes();
  Device device = x.device();
  for (const Operand* other : {&b, &c}) {
    if (!other->is_tensor()) continue;
    if (common_device(op, a, *other) == Device::Meta) device = Device::Meta;
    sizes = broadcast_shapes(op, sizes, other->tensor().sizes());
  }
  if (b.is_tensor() && c.is_tensor()) common_device(op, b, c);
  Tensor y = target.prepare(op, sizes, {dtype, device}, {&x, &b.tensor(), &c.tensor()});
  run_elementwise(kernel, dtype, y, {&a, &b, &c}, params);
  return y;
}

}  // namespace zero
