// Operators of one tensor. Each stands above its gradient; formulas are in ops, so they can be
// differentiated again.
#include <limits>

#include "zero/autograd/engine.h"
#include "zero/ops/unary.h"

namespace zero {

namespace {

Tensor classify(ElementwiseOp kernel, const Tensor& x) {
  Tensor y = empty_as(x, {DType::Bool, x.device()});
  if (!is_floating(x.dtype())) return fill_(y, kernel == ElementwiseOp::IsFinite);
  const Operand in = x;
  run_elementwise(kernel, x.dtype(), y, {&in});
  return y;
}

// A gradient that is a function of g and the result: one fused pass, unless gradients of gradients
// are asked for.
template <class Composed>
Tensor fused_gradient(ElementwiseOp kernel, const Tensor& g, const Tensor& y, Composed composed) {
  if (grad_enabled()) return composed();
  Tensor out = room_for_gradient(g, y);
  const Operand a = g, b = y;
  run_elementwise(kernel, y.dtype(), out, {&a, &b});
  return out;
}

}  // namespace

void map_truths(ElementwiseOp kernel, DType dtype, const Tensor& x, const Tensor& y,
                const void* params) {
  const GradModeGuard no_record(false);
  const Tensor values = empty({2}, {dtype, x.device()});
  const Tensor first = select(values, 0, 0), second = select(values, 0, 1);
  fill_(first, 0);
  fill_(second, 1);
  const Operand both = values, truth = x, no = first, yes = second;
  run_elementwise(kernel, dtype, values, {&both}, params);
  run_elementwise(ElementwiseOp::Where, dtype, y, {&truth, &yes, &no});
}

Tensor neg(const Tensor& x, Target target) {
  refuse_bool("neg", x, "a number; logical_not inverts a mask");
  Tensor y = same("neg", ElementwiseOp::Neg, x, target);
  record("NegBackward0", target, y, {&x}, {}, [](Node&, const Tensor& g) { return neg(g); });
  return y;
}

Tensor abs(const Tensor& x, Target target) {
  refuse_bool("abs", x, "a number");
  Tensor copy;
  const Tensor& kept = target.preserve(x, requires_grad(x), copy);
  Tensor y = same("abs", ElementwiseOp::Abs, x, target);
  record("AbsBackward0", target, y, {&x}, {&kept},
         [](Node& n, const Tensor& g) { return mul(g, sign(n.saved(0))); });
  return y;
}

Tensor sign(const Tensor& x, Target target) {
  Tensor y = same("sign", ElementwiseOp::Sign, x, target);
  record("SignBackward0", target, y, {&x}, {},
         [](Node&, const Tensor& g) { return zeros(g.sizes(), g.options()); });
  return y;
}

Tensor exp(const Tensor& x, Target target) {
  Tensor y = real("exp", ElementwiseOp::Exp, x, target);
  record("ExpBackward0", target, y, {&x}, {&y},
         [](Node& n, const Tensor& g) { return mul(g, n.saved(0)); });
  return y;
}

Tensor log(const Tensor& x, Target target) {
  Tensor copy;
  const Tensor& kept = target.preserve(x, requires_grad(x), copy);
  Tensor y = real("log", ElementwiseOp::Log, x, target);
  record("LogBackward0", target, y, {&x}, {&kept},
         [](Node& n, const Tensor& g) { return div(g, n.saved(0)); });
  return y;
}

Tensor sqrt(const Tensor& x, Target target) {
  Tensor y = real("sqrt", ElementwiseOp::Sqrt, x, target);
  record("SqrtBackward0", target, y, {&x}, {&y},
         [](Node& n, const Tensor& g) { return div(g, mul(n.saved(0), 2)); });
  return y;
}

Tensor tanh(const Tensor& x, Target target) {
  Tensor y = real("tanh", ElementwiseOp::Tanh, x, target);
  record("TanhBackward0", target, y, {&x}, {&y}, [](Node& n, const Tensor& g) {
    const Tensor y = n.saved(0);
    return fused_gradient(ElementwiseOp::TanhGrad, g, y, [&] { return mul(g, sub(1, mul(y, y))); });
  });
  return y;
}

Tensor sigmoid(const Tensor& x, Target target) {
  Tensor y = real("sigmoid", ElementwiseOp::Sigmoid, x, target);
  record("SigmoidBackward0", target, y, {&x}, {&y}, [](Node& n, const Tensor& g) {
    const Tensor y = n.saved(0);
    return fused_gradient(ElementwiseOp::SigmoidGrad, g, y,
                          [&] { return mul(g, mul(y, sub(1, y))); });
  });
  return y;
}

Tensor relu(const Tensor& x, Target target) {
  refuse_bool("relu", x, "a number");
  Tensor y = same("relu", ElementwiseOp::Relu, x, target);
  record("ReluBackward0", target, y, {&x}, {&y}, [](Node& n, const Tensor& g) {
    const Tensor y = n.saved(0);
    // y is 0 where it stands, and keeps the gradient a function of x.
    return fused_gradient(ElementwiseOp::ReluGrad, g, y, [&] { return where(le(y, 0), y, g); });
  });
  return y;
}

Tensor reciprocal(const Tensor& x, Target target) {
  Tensor y = real("reciprocal", ElementwiseOp::Reciprocal, x, target);
  record("ReciprocalBackward0", target, y, {&x}, {&y}, [](Node& n, const Tensor& g) {
    const Tensor y = n.saved(0);
    return mul(neg(g), mul(y, y));
  });
  return y;
}

Tensor clamp(const Tensor& x, const std::optional<Scalar>& min, const std::optional<Scalar>& max,
             Target target) {
  ZERO_CHECK(min || max, ValueError,
             "clamp: no bound; got None and None, expected min, max or both");
  DType dtype = x.dtype();
  if (min) dtype = promote(dtype, min->result_with(dtype));
  if (max) dtype = promote(dtype, max->result_with(dtype));
  ZERO_CHECK(dtype != DType::Bool, DTypeError, "clamp: not defined for bool; got ", x,
             ", expected a number");
  constexpr double inf = std::numeric_limits<double>::infinity();
  using Int = std::numeric_limits<int64_t>;
  const ClampParams params{min ? min->to_double() : -inf, max ? max->to_double() : inf,
                           min ? min->to_int() : Int::min(), max ? max->to_int() : Int::max()};
  Tensor copy;
  const Tensor& kept = target.preserve(x, requires_grad(x), copy);
  Tensor y = target.prepare("clamp", x, {dtype, x.device()}, {&x});
  const Operand in = x;
  run_elementwise(ElementwiseOp::Clamp, dtype, y, {&in}, &params);
  // The gradient is 1 at a bound, as in PyTorch, and 0 beyond.
  record("ClampBackward1", target, y, {&x}, {&kept}, [min, max](Node& n, const Tensor& g) {
    const Tensor x = n.saved(0);
    Tensor inside = min ? ge(x, *min) : le(x, *max);
    if (min && max) inside = logical_and(inside, le(x, *max));
    return where(inside, g, 0.0);
  });
  return y;
}

Tensor bitwise_not(const Tensor& x, Target target) {
  ZERO_CHECK(!is_floating(x.dtype()), DTypeError, "bitwise_not: not defined for floats; got ", x,
             ", expected integers or bool");
  Tensor y = same("bitwise_not", ElementwiseOp::BitNot, x, target);
  target.written();
  return y;
}

Tensor logical_not(const Tensor& x, Target target) {
  Tensor y = target.prepare("logical_not", x, {DType::Bool, x.device()}, {&x});
  const Operand in = x;
  run_elementwise(ElementwiseOp::LogicalNot, x.dtype(), y, {&in});
  target.written();
  return y;
}

Tensor isnan(const Tensor& x) { return classify(ElementwiseOp::IsNan, x); }
Tensor isinf(const Tensor& x) { return classify(ElementwiseOp::IsInf, x); }
Tensor isfinite(const Tensor& x) { return classify(ElementwiseOp::IsFinite, x); }

}  // namespace zero
