// Powers, logarithms, circular and hyperbolic functions, rounding. Each stands above its gradient.
#include <cmath>

#include "zero/ops/unary.h"

namespace zero {

namespace {

// Rounding: integers are whole already, and the gradient is 0.
Tensor whole(const char* op, const char* node, ElementwiseOp kernel, const Tensor& x,
             const Target& target) {
  refuse_bool(op, x, "a number");
  Tensor y;
  if (is_floating(x.dtype())) {
    y = same(op, kernel, x, target);
  } else {
    y = target.prepare(op, x, x.options(), {&x});
    run_copy(y, x);
  }
  record(node, target, y, {&x}, {},
         [](Node&, const Tensor& g) { return zeros(g.sizes(), g.options()); });
  return y;
}

constexpr double kLn2 = 0.69314718055994530942, kLn10 = 2.30258509299404568402;
constexpr double kTwoOverRootPi = 1.12837916709551257390;

Tensor squared(const Tensor& x) { return mul(x, x); }

}  // namespace

Tensor exp2(const Tensor& x, Target target) {
  return of_output("exp2", "Exp2Backward0", ElementwiseOp::Exp2, x, target,
                   [](const Tensor& g, const Tensor& y) { return mul(mul(g, y), kLn2); });
}

Tensor expm1(const Tensor& x, Target target) {
  return of_output("expm1", "Expm1Backward0", ElementwiseOp::Expm1, x, target,
                   [](const Tensor& g, const Tensor& y) { return mul(g, add(y, 1)); });
}

Tensor log2(const Tensor& x, Target target) {
  return of_input("log2", "Log2Backward0", ElementwiseOp::Log2, x, target,
                  [](const Tensor& g, const Tensor& x) { return div(g, mul(x, kLn2)); });
}

Tensor log10(const Tensor& x, Target target) {
  return of_input("log10", "Log10Backward0", ElementwiseOp::Log10, x, target,
                  [](const Tensor& g, const Tensor& x) { return div(g, mul(x, kLn10)); });
}

Tensor log1p(const Tensor& x, Target target) {
  return of_input("log1p", "Log1PBackward0", ElementwiseOp::Log1p, x, target,
                  [](const Tensor& g, const Tensor& x) { return div(g, add(x, 1)); });
}

Tensor rsqrt(const Tensor& x, Target target) {
  return of_output(
      "rsqrt", "RsqrtBackward0", ElementwiseOp::Rsqrt, x, target,
      [](const Tensor& g, const Tensor& y) { return mul(mul(g, -0.5), mul(y, squared(y))); });
}

Tensor sin(const Tensor& x, Target target) {
  return of_input("sin", "SinBackward0", ElementwiseOp::Sin, x, target,
                  [](const Tensor& g, const Tensor& x) { return mul(g, cos(x)); });
}

Tensor cos(const Tensor& x, Target target) {
  return of_input("cos", "CosBackward0", ElementwiseOp::Cos, x, target,
                  [](const Tensor& g, const Tensor& x) { return mul(g, neg(sin(x))); });
}

Tensor tan(const Tensor& x, Target target) {
  return of_output("tan", "TanBackward0", ElementwiseOp::Tan, x, target,
                   [](const Tensor& g, const Tensor& y) { return mul(g, add(squared(y), 1)); });
}

Tensor asin(const Tensor& x, Target target) {
  return of_input(
      "asin", "AsinBackward0", ElementwiseOp::Asin, x, target,
      [](const Tensor& g, const Tensor& x) { return mul(g, rsqrt(sub(1, squared(x)))); });
}

Tensor acos(const Tensor& x, Target target) {
  return of_input(
      "acos", "AcosBackward0", ElementwiseOp::Acos, x, target,
      [](const Tensor& g, const Tensor& x) { return neg(mul(g, rsqrt(sub(1, squared(x))))); });
}

Tensor atan(const Tensor& x, Target target) {
  return of_input("atan", "AtanBackward0", ElementwiseOp::Atan, x, target,
                  [](const Tensor& g, const Tensor& x) { return div(g, add(squared(x), 1)); });
}

Tensor sinh(const Tensor& x, Target target) {
  return of_input("sinh", "SinhBackward0", ElementwiseOp::Sinh, x, target,
                  [](const Tensor& g, const Tensor& x) { return mul(g, cosh(x)); });
}

Tensor cosh(const Tensor& x, Target target) {
  return of_input("cosh", "CoshBackward0", ElementwiseOp::Cosh, x, target,
                  [](const Tensor& g, const Tensor& x) { return mul(g, sinh(x)); });
}

Tensor asinh(const Tensor& x, Target target) {
  return of_input(
      "asinh", "AsinhBackward0", ElementwiseOp::Asinh, x, target,
      [](const Tensor& g, const Tensor& x) { return mul(g, rsqrt(add(squared(x), 1))); });
}

Tensor acosh(const Tensor& x, Target target) {
  return of_input(
      "acosh", "AcoshBackward0", ElementwiseOp::Acosh, x, target,
      [](const Tensor& g, const Tensor& x) { return mul(g, rsqrt(sub(squared(x), 1))); });
}

Tensor atanh(const Tensor& x, Target target) {
  return of_input("atanh", "AtanhBackward0", ElementwiseOp::Atanh, x, target,
                  [](const Tensor& g, const Tensor& x) { return div(g, sub(1, squared(x))); });
}

Tensor erf(const Tensor& x, Target target) {
  return of_input("erf", "ErfBackward0", ElementwiseOp::Erf, x, target,
                  [](const Tensor& g, const Tensor& x) {
                    return mul(g, mul(exp(neg(squared(x))), kTwoOverRootPi));
                  });
}

Tensor erfc(const Tensor& x, Target target) {
  return of_input("erfc", "ErfcBackward0", ElementwiseOp::Erfc, x, target,
                  [](const Tensor& g, const Tensor& x) {
                    return mul(g, mul(exp(neg(squared(x))), -kTwoOverRootPi));
                  });
}

Tensor floor(const Tensor& x, Target target) {
  return whole("floor", "FloorBackward0", ElementwiseOp::Floor, x, target);
}
Tensor ceil(const Tensor& x, Target target) {
  return whole("ceil", "CeilBackward0", ElementwiseOp::Ceil, x, target);
}
Tensor round(const Tensor& x, Target target) {
  return whole("round", "RoundBackward0", ElementwiseOp::Round, x, target);
}
Tensor trunc(const Tensor& x, Target target) {
  return whole("trunc", "TruncBackward0", ElementwiseOp::Trunc, x, target);
}

Tensor frac(const Tensor& x, Target target) {
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, "frac: not defined for integers; got ", x,
             ", expected floats");
  Tensor y = same("frac", ElementwiseOp::Frac, x, target);
  record("FracBackward0", target, y, {&x}, {}, [](Node&, const Tensor& g) { return g; });
  return y;
}

}  // namespace zero
