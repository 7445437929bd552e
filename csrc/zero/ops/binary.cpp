// Operators of two and three operands, with broadcasting. Each stands above its gradient.
#include "zero/ops/binary.h"

namespace zero {

namespace {

Scalar negate(const Scalar& s) {
  return s.is_float() ? Scalar(-s.to_double()) : Scalar(-s.to_int());
}

Tensor scaled(const Tensor& g, const Scalar& factor) {
  return factor.is_one() ? g : mul(g, factor);
}

// a + alpha * b, and a - alpha * b by way of Sub.
Tensor add_or_sub(const char* op, const char* node, ElementwiseOp kernel, const Operand& a,
                  const Operand& b, const Scalar& alpha, const Target& target) {
  const DType dtype = result_type(a, b);
  if (kernel == ElementwiseOp::Sub) {
    ZERO_CHECK(!is_bool(a) && !is_bool(b), DTypeError, op, ": not defined for bool; got ",
               type_of(a), " and ", type_of(b),
               ", expected numbers; ~ inverts a mask, ^ compares two");
  }
  AlphaParams params;
  const bool plain = alpha.kind() == Scalar::Kind::Int && alpha.is_one();
  if (!plain) {
    check_alpha(op, alpha, dtype);
    params = {alpha.to_double(), alpha.to_int()};
  }
  const Tensor &x = a.tensor(), &z = b.tensor();
  Tensor y = binary(op, kernel, a, b, dtype, target, plain ? nullptr : &params);
  const Scalar factor = kernel == ElementwiseOp::Add ? alpha : negate(alpha);
  record(node, target, y, {&x, &z}, {}, [factor](Node& n, const Tensor& g) {
    Grads grads(2);
    if (n.needs(0)) grads[0] = g;
    if (n.needs(1)) grads[1] = scaled(g, factor);
    return grads;
  });
  return y;
}

}  // namespace

DType result_type(const Operand& a, const Operand& b) {
  const bool ta = a.is_tensor(), tb = b.is_tensor();
  if (ta && !tb) return b.scalar().result_with(a.tensor().dtype());
  if (tb && !ta) return a.scalar().result_with(b.tensor().dtype());
  if (!ta) return promote(a.scalar().dtype(), b.scalar().dtype());
  const DType da = a.tensor().dtype(), db = b.tensor().dtype();
  if (da == db) return da;
  // A 0-d tensor decides only if it is of a higher category.
  const bool za = a.tensor().dim() == 0, zb = b.tensor().dim() == 0;
  if (za == zb) return promote(da, db);
  const DType full = za ? db : da, point = za ? da : db;
  return category(point) > category(full) ? point : full;
}

DType result_type(std::initializer_list<const Operand*> operands) {
  // The dtype among tensors with dimensions, of 0-d tensors, of numbers: a later group decides only
  // if it is of a higher category.
  std::optional<DType> groups[3];
  for (const Operand* x : operands) {
    const int group = !x->is_tensor() ? 2 : x->tensor().dim() == 0 ? 1 : 0;
    const DType own = x->is_tensor() ? x->tensor().dtype() : x->scalar().dtype();
    groups[group] = groups[group] ? promote(*groups[group], own) : own;
  }
  std::optional<DType> found;
  for (const std::optional<DType>& group : groups)
    if (group && (!found || category(*group) > category(*found))) found = group;
  return *found;
}

Tensor add(const Operand& a, const Operand& b, const Scalar& alpha, Target target) {
  return add_or_sub("add", "AddBackward0", ElementwiseOp::Add, a, b, alpha, target);
}

Tensor sub(const Operand& a, const Operand& b, const Scalar& alpha, Target target) {
  const char* node = a.is_tensor() ? "SubBackward0" : "RsubBackward1";
  return add_or_sub("sub", node, ElementwiseOp::Sub, a, b, alpha, target);
}

Tensor mul(const Operand& a, const Operand& b, Target target) {
  const Tensor &x = a.tensor(), &z = b.tensor();
  Tensor copy;
  const Tensor& kept_x = target.preserve(x, requires_grad(z), copy);
  Tensor y = binary("mul", ElementwiseOp::Mul, a, b, result_type(a, b), target);
  record("MulBackward0", target, y, {&x, &z},
         {keep(requires_grad(z), kept_x), keep(requires_grad(x), z)},
         [sa = a.scalar(), sb = b.scalar(), square = x.is_same(z)](Node& n, const Tensor& g) {
           Grads grads(2);
           if (square && !n.extras()) {  // x * x: one product serves both; a hook would see it
             const Tensor half = mul(g, Kept(n, 1, sb));
             grads[0] = add(half, half, 1, grad_enabled() ? Target() : Target::inplace(half));
             return grads;
           }
           if (n.needs(0)) grads[0] = mul(g, Kept(n, 1, sb));
           if (n.needs(1)) grads[1] = mul(g, Kept(n, 0, sa));
           return grads;
         });
  return y;
}

Tensor div(const Operand& a, const Operand& b, Target target) {
  DType dtype = result_type(a, b);
  if (!is_floating(dtype)) dtype = default_dtype();
  const Tensor &x = a.tensor(), &z = b.tensor();
  Tensor copy;
  const Tensor& kept_x = target.preserve(x, requires_grad(z), copy);
  Tensor y = binary("div", ElementwiseOp::Div, a, b, dtype, target);
  record("DivBackward0", target, y, {&x, &z}, {keep(requires_grad(z), kept_x), &z},
         [sa = a.scalar(), sb = b.scalar()](Node& n, const Tensor& g) {
           Grads grads(2);
           const Kept z(n, 1, sb);
           const Tensor over_z = div(g, z);
           if (n.needs(0)) grads[0] = over_z;
           if (n.needs(1)) grads[1] = mul(neg(over_z), div(Kept(n, 0, sa), z));  // -g x / z^2
           return grads;
         });
  return y;
}

Tensor floor_divide(const Operand& a, const Operand& b, Target target) {
  const DType dtype = result_type(a, b);
  ZERO_CHECK(dtype != DType::Bool, DTypeError,
             "floor_divide: not defined for bool; got bool operands, expected numbers");
  check_divisor("floor_divide", b, dtype);
  const Tensor &x = a.tensor(), &z = b.tensor();
  Tensor y = binary("floor_divide", ElementwiseOp::FloorDiv, a, b, dtype, target);
  record("NotImplemented", target, y, {&x, &z}, {}, [](Node&, const Tensor&) -> Grads {
    fail<Error>(
        "backward: the derivative for floor_divide is not implemented; it is 0 wherever it exists, "
        "expected detach() before //");
  });
  return y;
}

Tensor remainder(const Operand& a, const Operand& b, Target target) {
  const DType dtype = result_type(a, b);
  ZERO_CHECK(dtype != DType::Bool, DTypeError,
             "remainder: not defined for bool; got bool operands, expected numbers");
  check_divisor("remainder", b, dtype);
  const Tensor &x = a.tensor(), &z = b.tensor();
  const bool needs_quotient = requires_grad(z);
  Tensor copy;
  const Tensor& kept_x = target.preserve(x, needs_quotient, copy);
  Tensor y = binary("remainder", ElementwiseOp::Remainder, a, b, dtype, target);
  record(b.is_tensor() ? "RemainderBackward1" : "RemainderBackward0", target, y, {&x, &z},
         {keep(needs_quotient, kept_x), keep(needs_quotient, z)},
         [sa = a.scalar(), sb = b.scalar()](Node& n, const Tensor& g) {
           Grads grads(2);
           if (n.needs(0)) grads[0] = g;
           if (n.needs(1)) {  // x - z floor(x / z)
             GradModeGuard quotient_is_constant(false);
             const Tensor quotient = floor_divide(Kept(n, 0, sa), Kept(n, 1, sb));
             GradModeGuard recorded(true);
             grads[1] = neg(mul(g, quotient));
           }
           return grads;
         });
  return y;
}

Tensor pow(const Operand& a, const Operand& b, Target target) {
  const DType dtype = result_type(a, b);
  ZERO_CHECK(dtype != DType::Bool, DTypeError,
             "pow: not defined for bool; got bool operands, expected numbers");
  ZERO_CHECK(is_floating(dtype) || b.is_tensor() || b.scalar().to_int() >= 0, ValueError,
             "pow: integers to negative integer powers are not allowed; got ", b.scalar(),
             ", expected an exponent >= 0 or a float base");
  const Tensor &x = a.tensor(), &e = b.tensor();
  Tensor copy;
  const Tensor& kept_x = target.preserve(x, true, copy);
  const char* node = !b.is_tensor()  ? "PowBackward0"
                     : a.is_tensor() ? "PowBackward1"
                                     : "PowBackward2";
  Tensor y;
  if (!b.is_tensor() && b.scalar().to_double() == 2 && is_floating(dtype)) {
    y = binary("pow", ElementwiseOp::Mul, a, a, dtype, target);
  } else {
    y = binary("pow", ElementwiseOp::Pow, a, b, dtype, target);
  }
  const bool grad_e = requires_grad(e);
  record(node, target, y, {&x, &e}, {&kept_x, &e, keep(grad_e, y)},
         [sa = a.scalar(), sb = b.scalar()](Node& n, const Tensor& g) {
           Grads grads(2);
           const Kept x(n, 0, sa), e(n, 1, sb);
           if (n.needs(0)) {  // g e x^(e-1), and 0 for e = 0 even where x^(e-1) is infinite
             if (e.tensor.defined()) {
               const Tensor slope = mul(e, pow(x, sub(e, 1)));
               grads[0] = mul(g, where(eq(e, 0), 0.0, slope));
             } else if (sb.to_double() == 0) {
               grads[0] = zeros(g.sizes(), g.options());
             } else if (sb.to_double() == 2 && !grad_enabled()) {  // else x must stay in the graph
               grads[0] = mul(g, mul(x, 2));
             } else {
               const Scalar less =
                   sb.is_float() ? Scalar(sb.to_double() - 1) : Scalar(sb.to_int() - 1);
               grads[0] = mul(g, mul(pow(x, less), sb));
             }
           }
           if (n.needs(1)) {  // g y log(x), and 0 for x = 0 with e >= 0
             const Tensor y = n.saved(2);
             const Tensor base = x.tensor.defined() ? x.tensor : scalar_tensor(sa, g.options());
             const Tensor flat = logical_and(eq(base, 0), ge(e, 0));
             grads[1] = where(flat, 0.0, mul(g, mul(y, log(base))));
           }
           return grads;
         });
  return y;
}

// The larger (smaller) operand gets the gradient; at a tie each gets half.
static Tensor extremum(const char* op, const char* node, ElementwiseOp kernel, const Operand& a,
                       const Operand& b, const Target& target) {
  const Tensor &x = a.tensor(), &z = b.tensor();
  Tensor y = binary(op, kernel, a, b, result_type(a, b), target);
  const bool larger = kernel == ElementwiseOp::Maximum;
  record(node, target, y, {&x, &z}, {&x, &z},
         [larger, sa = a.scalar(), sb = b.scalar()](Node& n, const Tensor& g) {
           Grads grads(2);
           const Kept x(n, 0, sa), z(n, 1, sb);
           const Tensor half = where(eq(x, z), mul(g, 0.5), g);
           if (n.needs(0)) grads[0] = where(larger ? lt(x, z) : gt(x, z), 0.0, half);
           if (n.needs(1)) grads[1] = where(larger ? gt(x, z) : lt(x, z), 0.0, half);
           return grads;
         });
  return y;
}

Tensor maximum(const Operand& a, const Operand& b, Target target) {
  return extremum("maximum", "MaximumBackward0", ElementwiseOp::Maximum, a, b, target);
}
Tensor minimum(const Operand& a, const Operand& b, Target target) {
  return extremum("minimum", "MinimumBackward0", ElementwiseOp::Minimum, a, b, target);
}

Tensor where(const Tensor& condition, const Operand& a, const Operand& b, Target target) {
  ZERO_CHECK(condition.dtype() == DType::Bool, DTypeError,
             "where: the condition is not a mask; got ", condition, ", expected bool");
  const Operand c = condition;
  const DType dtype = result_type(a, b);
  Dims sizes = condition.sizes();
  Device device = condition.device();
  auto join = [&](const Operand& x, const Operand& y) {
    if (common_device("where", x, y) == Device::Meta) device = Device::Meta;
  };
  if (a.is_tensor() && b.is_tensor()) join(a, b);
  for (const Operand* x : {&a, &b}) {
    if (!x->is_tensor()) continue;
    join(*x, c);
    sizes = broadcast_shapes("where", sizes, x->tensor().sizes());
  }
  const Tensor &x = a.tensor(), &z = b.tensor();
  Tensor y = target.prepare("where", sizes, {dtype, device}, {&condition, &x, &z});
  run_elementwise(ElementwiseOp::Where, dtype, y, {&c, &a, &b});
  record("WhereBackward0", target, y, {&x, &z}, {&condition}, [](Node& n, const Tensor& g) {
    Grads grads(2);
    const Tensor condition = n.saved(0);
    if (n.needs(0)) grads[0] = where(condition, g, 0.0);
    if (n.needs(1)) grads[1] = where(condition, 0.0, g);
    return grads;
  });
  return y;
}

#define ZERO_DEFINE_BINARY(function, kernel, kind)                     \
  Tensor function(const Operand& a, const Operand& b, Target target) { \
    return kind(#function, ElementwiseOp::kernel, a, b, target);       \
  }
ZERO_DEFINE_BINARY(bitwise_and, BitAnd, bitwise)
ZERO_DEFINE_BINARY(bitwise_or, BitOr, bitwise)
ZERO_DEFINE_BINARY(bitwise_xor, BitXor, bitwise)
ZERO_DEFINE_BINARY(logical_and, LogicalAnd, compare)
ZERO_DEFINE_BINARY(logical_or, LogicalOr, compare)
ZERO_DEFINE_BINARY(logical_xor, LogicalXor, compare)
ZERO_DEFINE_BINARY(eq, Eq, compare)
ZERO_DEFINE_BINARY(ne, Ne, compare)
ZERO_DEFINE_BINARY(lt, Lt, compare)
ZERO_DEFINE_BINARY(le, Le, compare)
ZERO_DEFINE_BINARY(gt, Gt, compare)
ZERO_DEFINE_BINARY(ge, Ge, compare)
#undef ZERO_DEFINE_BINARY

Tensor fmod(const Operand& a, const Operand& b, Target target) {
  const DType dtype = result_type(a, b);
  ZERO_CHECK(dtype != DType::Bool, DTypeError,
             "fmod: not defined for bool; got bool operands, expected numbers");
  check_divisor("fmod", b, dtype);
  const Tensor &x = a.tensor(), &z = b.tensor();
  const bool needs_quotient = requires_grad(z);
  Tensor copy;
  const Tensor& kept_x = target.preserve(x, needs_quotient, copy);
  Tensor y = binary("fmod", ElementwiseOp::Fmod, a, b, dtype, target);
  record(b.is_tensor() ? "FmodBackward1" : "FmodBackward0", target, y, {&x, &z},
         {keep(needs_quotient, kept_x), keep(needs_quotient, z)},
         [sa = a.scalar(), sb = b.scalar()](Node& n, const Tensor& g) {
           Grads grads(2);
           if (n.needs(0)) grads[0] = g;
           if (n.needs(1)) {  // x - z trunc(x / z)
             const Kept x(n, 0, sa), z(n, 1, sb);
             const Tensor quotient =
                 binary("fmod", ElementwiseOp::TruncDiv, x, z, result_type(x, z), {});
             grads[1] = neg(mul(g, quotient));
           }
           return grads;
         });
  return y;
}

Tensor atan2(const Operand& a, const Operand& b, Target target) {
  DType dtype = result_type(a, b);
  if (!is_floating(dtype)) dtype = default_dtype();
  const Tensor &x = a.tensor(), &z = b.tensor();
  Tensor copy;
  const Tensor& kept_x = target.preserve(x, true, copy);
  Tensor y = binary("atan2", ElementwiseOp::Atan2, a, b, dtype, target);
  record("Atan2Backward0", target, y, {&x, &z}, {&kept_x, &z},
         [sa = a.scalar(), sb = b.scalar()](Node& n, const Tensor& g) {
           Grads grads(2);
           const Kept x(n, 0, sa), z(n, 1, sb);
           const Tensor squares = add(mul(x, x), mul(z, z));
           const Tensor scale = where(eq(squares, 0), 0.0, div(g, squares));
           if (n.needs(0)) grads[0] = mul(scale, z);
           if (n.needs(1)) grads[1] = neg(mul(scale, x));
           return grads;
         });
  return y;
}

}  // namespace zero
