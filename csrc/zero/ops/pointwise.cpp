// More elementwise operators: signs, neighbours, roots and logarithms of sums, integer bits and
// divisors, rounded quotients, products of three, bounds. Each stands above its gradient.
#include <cmath>
#include <limits>

#include "zero/ops/binary.h"
#include "zero/ops/unary.h"

namespace zero {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLn2 = 0.69314718055994530942;

// The dtype of a function of real numbers: integers and bool give the default float dtype.
DType real_type(const Operand& a, const Operand& b) {
  const DType dtype = result_type(a, b);
  return is_floating(dtype) ? dtype : default_dtype();
}

DType float_type(const char* op, const Operand& a, const Operand& b) {
  const DType dtype = result_type(a, b);
  ZERO_CHECK(is_floating(dtype), DTypeError, op, ": not defined for integers and bool; got ",
             type_of(a), " and ", type_of(b), ", expected floats");
  return dtype;
}

Tensor integers(const char* op, ElementwiseOp kernel, const Operand& a, const Operand& b,
                const Target& target) {
  const DType dtype = result_type(a, b);
  ZERO_CHECK(!is_floating(dtype) && dtype != DType::Bool, DTypeError, op,
             ": not defined for floats and bool; got ", type_of(a), " and ", type_of(b),
             ", expected integers");
  Tensor y = binary(op, kernel, a, b, dtype, target);
  target.written();
  return y;
}

// The tensor saved in `slot`, or the number that the operand was, as a 0-d tensor.
Tensor kept_or_number(Node& n, int slot, const Scalar& s, const Tensor& g) {
  const Tensor x = n.saved(slot);
  return x.defined() ? x : scalar_tensor(s, g.options());
}

struct Nothing {
  Tensor operator()(const Tensor& g, const Tensor&, const Tensor&) const {
    return zeros(g.sizes(), g.options());
  }
};

// y = f(a, b) whose gradients are left(g, a, b) and right(g, a, b), which reads neither if it is
// Nothing.
template <class Left, class Right>
Tensor of_inputs(const char* op, const char* node, ElementwiseOp kernel, const Operand& a,
                 const Operand& b, DType dtype, const Target& target, Left left, Right right,
                 const void* params = nullptr) {
  const Tensor &x = a.tensor(), &z = b.tensor();
  const bool needed = !std::is_same_v<Right, Nothing> || requires_grad(x);
  Tensor copy;
  const Tensor& kept_x = target.preserve(x, needed, copy);
  Tensor y = binary(op, kernel, a, b, dtype, target, params);
  record(node, target, y, {&x, &z}, {keep(needed, kept_x), keep(needed, z)},
         [left, right, sa = a.scalar(), sb = b.scalar()](Node& n, const Tensor& g) {
           Grads grads(2);
           const Tensor x = kept_or_number(n, 0, sa, g), z = kept_or_number(n, 1, sb, g);
           if (n.needs(0)) grads[0] = left(g, x, z);
           if (n.needs(1)) grads[1] = right(g, x, z);
           return grads;
         });
  return y;
}

double largest_float(DType t) {
  switch (t) {
    case DType::Float16: return 65504.0;
    case DType::BFloat16: return 0x1.fep127;
    case DType::Float32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

// `g` where a condition holds, else 0.
Tensor masked(const Tensor& condition, const Tensor& g) { return where(condition, g, 0.0); }

}  // namespace

// ---- signs --------------------------------------------------------------------------------------

Tensor signbit(const Tensor& x, Target target) {
  Tensor y = target.prepare("signbit", x, {DType::Bool, x.device()}, {&x});
  const Operand in = x;
  run_elementwise(ElementwiseOp::Signbit, x.dtype(), y, {&in});
  target.written();
  return y;
}

Tensor isposinf(const Tensor& x, Target target) { return eq(x, kInf, target); }
Tensor isneginf(const Tensor& x, Target target) { return eq(x, -kInf, target); }

// The angle of a number in the complex plane: pi for those below 0; NaN stays.
Tensor angle(const Tensor& x, Target target) {
  Tensor y = real("angle", ElementwiseOp::Angle, x, target);
  record("AngleBackward0", target, y, {&x}, {},
         [](Node&, const Tensor& g) { return zeros(g.sizes(), g.options()); });
  return y;
}

// The gradient of a NaN is NaN, as in PyTorch. The result has the second operand's sign.
Tensor copysign(const Operand& a, const Operand& b, Target target) {
  const Tensor &x = a.tensor(), &z = b.tensor();
  const bool needed = requires_grad(x);
  Tensor copy;
  const Tensor& kept_x = target.preserve(x, needed, copy);
  Tensor y = binary("copysign", ElementwiseOp::Copysign, a, b, real_type(a, b), target);
  record(b.is_tensor() ? "CopysignBackward0" : "CopysignBackward1", target, y, {&x, &z},
         {keep(needed, kept_x), keep(needed, y)}, [](Node& n, const Tensor& g) {
           Grads grads(2);
           if (n.needs(0)) {
             const Tensor x = n.saved(0), one = scalar_tensor(1.0, g.options());
             const Tensor ratio = mul(sign(x), copysign(one, detach(n.saved(1))));
             grads[0] = mul(g, where(isnan(x), x, ratio));
           }
           if (n.needs(1)) grads[1] = zeros(g.sizes(), g.options());
           return grads;
         });
  return y;
}

Tensor nan_to_num(const Tensor& x, double nan, std::optional<double> posinf,
                  std::optional<double> neginf, Target target) {
  if (!is_floating(x.dtype())) {
    Tensor y = target.prepare("nan_to_num", x, x.options(), {&x});
    run_copy(y, x);
    target.written();
    return y;
  }
  const double largest = largest_float(x.dtype());
  const NanToNumParams params{nan, posinf.value_or(largest), neginf.value_or(-largest)};
  Tensor copy;
  const Tensor& kept = target.preserve(x, requires_grad(x), copy);
  Tensor y = same("nan_to_num", ElementwiseOp::NanToNum, x, target, &params);
  record("NanToNumBackward0", target, y, {&x}, {&kept},
         [](Node& n, const Tensor& g) { return masked(isfinite(n.saved(0)), g); });
  return y;
}

// ---- extrema ------------------------------------------------------------------------------------

// A tie is the first operand's, as in PyTorch.
Tensor fmax(const Operand& a, const Operand& b, Target target) {
  return of_inputs(
      "fmax", "FmaxBackward0", ElementwiseOp::Fmax, a, b, result_type(a, b), target,
      [](const Tensor& g, const Tensor& x, const Tensor& z) {
        return masked(logical_or(ge(x, z), isnan(z)), g);
      },
      [](const Tensor& g, const Tensor& x, const Tensor& z) {
        return masked(logical_not(logical_or(ge(x, z), isnan(z))), g);
      });
}

Tensor fmin(const Operand& a, const Operand& b, Target target) {
  return of_inputs(
      "fmin", "FminBackward0", ElementwiseOp::Fmin, a, b, result_type(a, b), target,
      [](const Tensor& g, const Tensor& x, const Tensor& z) {
        return masked(logical_or(le(x, z), isnan(z)), g);
      },
      [](const Tensor& g, const Tensor& x, const Tensor& z) {
        return masked(logical_not(logical_or(le(x, z), isnan(z))), g);
      });
}

Tensor heaviside(const Operand& a, const Operand& b, Target target) {
  common_device("heaviside", a, b);
  ZERO_CHECK(type_of(a) == type_of(b), DTypeError, "heaviside: dtypes differ; got ", type_of(a),
             " and ", type_of(b), ", expected one");
  const Tensor &x = a.tensor(), &z = b.tensor();
  Tensor y = binary("heaviside", ElementwiseOp::Heaviside, a, b, type_of(a), target);
  record("NotImplemented", target, y, {&x, &z}, {}, [](Node&, const Tensor&) -> Grads {
    fail<Error>(
        "backward: the derivative for heaviside is not implemented; it is 0 wherever it exists, "
        "expected detach() before");
  });
  return y;
}

// Bounds that may be tensors; null where there is none. Where low > high, high wins.
Tensor clamp_between(const Tensor& x, const Operand* low, const Operand* high, Target target) {
  ZERO_CHECK(low || high, ValueError,
             "clamp: no bound; got None and None, expected min, max or both");
  const Operand in = x;
  Tensor copy;
  const Tensor& kept = target.preserve(x, true, copy);
  if (!low || !high) {
    const Operand& bound = low ? *low : *high;
    const Tensor& b = bound.tensor();
    const ElementwiseOp kernel = low ? ElementwiseOp::Maximum : ElementwiseOp::Minimum;
    Tensor y = binary("clamp", kernel, in, bound, result_type(in, bound), target);
    record(low ? "ClampMinBackward1" : "ClampMaxBackward1", target, y, {&x, &b}, {&kept, &b},
           [lower = low != nullptr, s = bound.scalar()](Node& n, const Tensor& g) {
             Grads grads(2);
             const Tensor x = n.saved(0);
             const Kept b(n, 1, s);
             if (n.needs(0)) grads[0] = masked(lower ? ge(x, b) : le(x, b), g);
             if (n.needs(1)) grads[1] = masked(lower ? lt(x, b) : gt(x, b), g);
             return grads;
           });
    return y;
  }
  const Tensor &lo = low->tensor(), &hi = high->tensor();
  const DType dtype = result_type({&in, low, high});
  Tensor y = ternary("clamp", ElementwiseOp::ClampBoth, in, *low, *high, dtype, target);
  record("ClampBackward0", target, y, {&x, &lo, &hi}, {&kept, &lo, &hi},
         [sl = low->scalar(), sh = high->scalar()](Node& n, const Tensor& g) {
           Grads grads(3);
           const Tensor x = n.saved(0);
           const Kept lo(n, 1, sl), hi(n, 2, sh);
           if (n.needs(0)) grads[0] = masked(logical_and(ge(x, lo), le(x, hi)), g);
           if (n.needs(1)) grads[1] = masked(logical_and(lt(x, lo), lt(lo, hi)), g);
           if (n.needs(2)) grads[2] = masked(logical_or(gt(x, hi), lt(hi, lo)), g);
           return grads;
         });
  return y;
}

// ---- neighbours and parts -----------------------------------------------------------------------

// Moves with its first operand; where both are equal the result is the second, but no gradient
// flows.
Tensor nextafter(const Operand& a, const Operand& b, Target target) {
  const DType dtype = float_type("nextafter", a, b);
  NextafterParams params{0x1p-1074, 0x1p-1022, largest_float(dtype), 52};
  if (dtype == DType::Float16) params = {0x1p-24, 0x1p-14, largest_float(dtype), 10};
  if (dtype == DType::BFloat16) params = {0x1p-133, 0x1p-126, largest_float(dtype), 7};
  if (dtype == DType::Float32) params = {0x1p-149, 0x1p-126, largest_float(dtype), 23};
  return of_inputs(
      "nextafter", "NextafterBackward0", ElementwiseOp::Nextafter, a, b, dtype, target,
      [](const Tensor& g, const Tensor& x, const Tensor& z) { return masked(ne(x, z), g); },
      Nothing(), &params);
}

std::pair<Tensor, Tensor> frexp(const Tensor& x) {
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, "frexp: not defined for integers; got ", x,
             ", expected floats");
  const Operand in = x;
  Tensor exponent = empty_as(x, {DType::Int32, x.device()});
  run_elementwise(ElementwiseOp::FrexpExponent, x.dtype(), exponent, {&in});
  Tensor mantissa = same("frexp", ElementwiseOp::FrexpMantissa, x, {});
  record("FrexpBackward0", {}, mantissa, {&x}, {&exponent},
         [](Node& n, const Tensor& g) { return div(g, exp2(n.saved(0))); });
  return {mantissa, exponent};
}

// ---- roots and logarithms -----------------------------------------------------------------------

Tensor hypot(const Operand& a, const Operand& b, Target target) {
  const DType dtype = float_type("hypot", a, b);
  const Tensor &x = a.tensor(), &z = b.tensor();
  const bool gx = requires_grad(x), gz = requires_grad(z);
  Tensor copy;
  const Tensor& kept_x = target.preserve(x, gx, copy);
  Tensor y = binary("hypot", ElementwiseOp::Hypot, a, b, dtype, target);
  record("HypotBackward0", target, y, {&x, &z}, {keep(gx, kept_x), keep(gz, z), &y},
         [](Node& n, const Tensor& g) {
           Grads grads(2);
           const Tensor y = n.saved(2);
           if (n.needs(0)) grads[0] = mul(g, div(n.saved(0), y));
           if (n.needs(1)) grads[1] = mul(g, div(n.saved(1), y));
           return grads;
         });
  return y;
}

// The gradients are the weights of a softmax over the two; -inf has none, also beside another.
static Tensor weighted(const Tensor& g, const Tensor& x, const Tensor& distance) {
  return where(eq(x, -kInf), 0.0, mul(g, sigmoid(distance)));
}

Tensor logaddexp(const Operand& a, const Operand& b, Target target) {
  return of_inputs(
      "logaddexp", "LogaddexpBackward0", ElementwiseOp::LogAddExp, a, b,
      float_type("logaddexp", a, b), target,
      [](const Tensor& g, const Tensor& x, const Tensor& z) { return weighted(g, x, sub(x, z)); },
      [](const Tensor& g, const Tensor& x, const Tensor& z) { return weighted(g, z, sub(z, x)); });
}

Tensor logaddexp2(const Operand& a, const Operand& b, Target target) {
  return of_inputs(
      "logaddexp2", "Logaddexp2Backward0", ElementwiseOp::LogAddExp2, a, b,
      float_type("logaddexp2", a, b), target,
      [](const Tensor& g, const Tensor& x, const Tensor& z) {
        return weighted(g, x, mul(sub(x, z), kLn2));
      },
      [](const Tensor& g, const Tensor& x, const Tensor& z) {
        return weighted(g, z, mul(sub(z, x), kLn2));
      });
}

Tensor xlogy(const Operand& a, const Operand& b, Target target) {
  return of_inputs(
      "xlogy", "XlogyBackward0", ElementwiseOp::Xlogy, a, b, real_type(a, b), target,
      [](const Tensor& g, const Tensor& x, const Tensor& z) {
        return where(logical_and(eq(x, 0), le(z, 0)), 0.0, xlogy(g, z));
      },
      [](const Tensor& g, const Tensor& x, const Tensor& z) { return div(mul(g, x), z); });
}

Tensor xlog1py(const Operand& a, const Operand& b, Target target) {
  return of_inputs(
      "xlog1py", "SpecialXlog1PyBackward0", ElementwiseOp::Xlog1py, a, b, real_type(a, b), target,
      [](const Tensor& g, const Tensor& x, const Tensor& z) {
        return where(logical_and(eq(x, 0), le(z, -1)), 0.0, xlog1py(g, z));
      },
      [](const Tensor& g, const Tensor& x, const Tensor& z) { return div(mul(g, x), add(z, 1)); });
}

// ---- integers -----------------------------------------------------------------------------------

Tensor bitwise_left_shift(const Operand& a, const Operand& b, Target target) {
  return integers("bitwise_left_shift", ElementwiseOp::LeftShift, a, b, target);
}
Tensor bitwise_right_shift(const Operand& a, const Operand& b, Target target) {
  return integers("bitwise_right_shift", ElementwiseOp::RightShift, a, b, target);
}
Tensor gcd(const Operand& a, const Operand& b, Target target) {
  return integers("gcd", ElementwiseOp::Gcd, a, b, target);
}
Tensor lcm(const Operand& a, const Operand& b, Target target) {
  return integers("lcm", ElementwiseOp::Lcm, a, b, target);
}

// The quotient rounded down or toward 0; its gradient is 0.
static Tensor rounded_quotient(ElementwiseOp kernel, const Operand& a, const Operand& b,
                               const Target& target) {
  const DType dtype = result_type(a, b);
  ZERO_CHECK(dtype != DType::Bool, DTypeError,
             "div: not defined for bool when rounded; got bool operands, expected numbers");
  check_divisor("div", b, dtype);
  const Tensor &x = a.tensor(), &z = b.tensor();
  Tensor y = binary("div", kernel, a, b, dtype, target);
  record("DivBackward2", target, y, {&x, &z}, {}, [](Node& n, const Tensor& g) {
    Grads grads(2);
    for (int i = 0; i < 2; ++i)
      if (n.needs(i)) grads[i] = zeros(g.sizes(), g.options());
    return grads;
  });
  return y;
}
Tensor div_floor(const Operand& a, const Operand& b, Target target) {
  return rounded_quotient(ElementwiseOp::FloorDiv, a, b, target);
}
Tensor div_trunc(const Operand& a, const Operand& b, Target target) {
  return rounded_quotient(ElementwiseOp::TruncDiv, a, b, target);
}

// ---- three operands -----------------------------------------------------------------------------

// A factor: True is 1.
static Scalar number(const Scalar& s) {
  return s.kind() == Scalar::Kind::Bool ? Scalar(s.to_int()) : s;
}

Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value,
               Target target) {
  const Operand ox = x, oa = a, ob = b;
  const DType dtype = result_type({&ox, &oa, &ob});
  const Scalar factor = number(value);
  check_alpha("addcmul", factor, dtype);
  const AlphaParams params{factor.to_double(), factor.to_int()};
  const bool ga = requires_grad(a), gb = requires_grad(b);
  Tensor y = ternary("addcmul", ElementwiseOp::Addcmul, ox, oa, ob, dtype, target, &params);
  record("AddcmulBackward0", target, y, {&x, &a, &b}, {keep(gb, a), keep(ga, b)},
         [factor](Node& n, const Tensor& g) {
           Grads grads(3);
           if (n.needs(0)) grads[0] = g;
           if (n.needs(1)) grads[1] = mul(mul(g, n.saved(1)), factor);
           if (n.needs(2)) grads[2] = mul(mul(g, n.saved(0)), factor);
           return grads;
         });
  return y;
}

Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value,
               Target target) {
  const Operand ox = x, oa = a, ob = b;
  DType dtype = result_type({&ox, &oa, &ob});
  if (!is_floating(dtype)) dtype = default_dtype();
  const Scalar factor = number(value);
  const AlphaParams params{factor.to_double(), 0};
  const bool gb = requires_grad(b);
  Tensor y = ternary("addcdiv", ElementwiseOp::Addcdiv, ox, oa, ob, dtype, target, &params);
  record("AddcdivBackward0", target, y, {&x, &a, &b}, {keep(gb, a), &b},
         [factor](Node& n, const Tensor& g) {
           Grads grads(3);
           const Tensor b = n.saved(1);
           if (n.needs(0)) grads[0] = g;
           if (n.needs(1)) grads[1] = div(mul(g, factor), b);
           if (n.needs(2)) grads[2] = neg(mul(mul(g, factor), div(n.saved(0), mul(b, b))));
           return grads;
         });
  return y;
}

static void check_lerp(const Tensor& start, const Tensor& other, const char* name) {
  ZERO_CHECK(other.dtype() == start.dtype(), DTypeError, "lerp: dtypes differ; got ", other.dtype(),
             " for ", name, ", expected ", start.dtype());
}

static Tensor interpolate(const char* node, const Tensor& start, const Tensor& end,
                          const Operand& weight, const Target& target) {
  const Operand a = start, b = end;
  const Tensor& w = weight.tensor();
  const DType dtype = start.dtype();
  ZERO_CHECK(is_floating(dtype), DTypeError, "lerp: not defined for integers; got ", start,
             ", expected a floating point tensor");
  check_lerp(start, end, "end");
  if (w.defined() && w.dim() > 0) check_lerp(start, w, "weight");
  const bool gw = requires_grad(w);
  Tensor copy;
  const Tensor& kept = target.preserve(start, gw, copy);
  Tensor y = ternary("lerp", ElementwiseOp::Lerp, a, b, weight, dtype, target);
  record(node, target, y, {&start, &end, &w}, {keep(gw, kept), keep(gw, end), &w},
         [s = weight.scalar(), fixed = !w.defined()](Node& n, const Tensor& g) {
           Grads grads(3);
           const Tensor kept = fixed ? Tensor() : n.saved(2);
           const Operand w = fixed ? Operand(s) : Operand(kept);
           if (n.needs(0)) grads[0] = fixed ? mul(g, 1 - s.to_double()) : mul(g, sub(1, w));
           if (n.needs(1)) grads[1] = mul(g, w);
           if (n.needs(2)) grads[2] = mul(g, sub(n.saved(1), n.saved(0)));
           return grads;
         });
  return y;
}

Tensor lerp(const Tensor& start, const Tensor& end, const Scalar& weight, Target target) {
  return interpolate("LerpBackward0", start, end, number(weight), target);
}
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight, Target target) {
  return interpolate("LerpBackward1", start, end, weight, target);
}

}  // namespace zero
