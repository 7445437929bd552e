// Activation functions. All but the last two are one operator: a value and a gradient of the table,
// and beside them the gradient as a composition, which has gradients of its own.
#include "zero/ops/activation.h"

#include <cmath>
#include <cstring>

#include "zero/autograd/engine.h"
#include "zero/autograd/record.h"
#include "zero/kernels/activation.h"
#include "zero/ops/autocast.h"
#include "zero/ops/map.h"

namespace zero {

namespace {

constexpr double kInvSqrt2Pi = 0.39894228040143267794;

Tensor square(const Tensor& x) { return mul(x, x); }
Tensor masked(const Tensor& zeros, const Tensor& g) { return where(zeros, 0.0, g); }

// g and x, or what is kept in its place, to the gradient of x.
using Formula = Tensor (*)(const Tensor& g, const Tensor& x, const ActivationParams& p);

// A gradient that depends on x by comparisons only: its own derivative by x is 0, not missing.
Tensor flat(const Tensor& gradient, const Tensor& x) {
  Tensor y = detach(gradient);
  record("FlatBackward0", {}, y, {&gradient, &x}, {},
         [sizes = x.sizes(), options = x.options()](Node& n, const Tensor& g) {
           return Grads{g, n.needs(1) ? zeros(sizes, options) : Tensor()};
         });
  return y;
}

Tensor leaky_relu_gradient(const Tensor& g, const Tensor& x, const ActivationParams& p) {
  return flat(where(gt(x, 0), g, mul(g, p.a)), x);
}
Tensor elu_gradient(const Tensor& g, const Tensor& x, const ActivationParams& p) {
  const Tensor left = clamp(x, {}, Scalar(0.0));  // e^x of others might be infinite
  const Tensor slope = mul(exp(mul(left, p.c)), p.a * p.b * p.c);
  return where(le(x, 0), mul(g, slope), mul(g, p.b));
}
Tensor elu_gradient_of_result(const Tensor& g, const Tensor& y, const ActivationParams& p) {
  return where(le(y, 0), mul(g, mul(add(y, p.a * p.b), p.c)), mul(g, p.b));
}
Tensor gelu_gradient(const Tensor& g, const Tensor& x, const ActivationParams&) {
  const Tensor density = mul(exp(mul(square(x), -0.5)), kInvSqrt2Pi);
  return mul(g, add(ndtr(x), mul(x, density)));
}
Tensor gelu_tanh_gradient(const Tensor& g, const Tensor& x, const ActivationParams&) {
  constexpr double scale = 4 * kInvSqrt2Pi, cubic = 0.044715;
  const Tensor z = square(x);
  const Tensor s = sigmoid(mul(mul(x, add(mul(z, cubic), 1)), scale));
  const Tensor slope = mul(add(mul(z, 3 * cubic), 1), scale);
  return mul(g, add(s, mul(mul(x, mul(s, sub(1, s))), slope)));
}
Tensor silu_gradient(const Tensor& g, const Tensor& x, const ActivationParams&) {
  const Tensor s = sigmoid(x);
  return mul(g, mul(s, add(mul(x, sub(1, s)), 1)));
}
Tensor mish_gradient(const Tensor& g, const Tensor& x, const ActivationParams&) {
  const Tensor t = tanh(activation("softplus", x, 1, 20, 0));
  return mul(g, add(t, mul(mul(x, sigmoid(x)), sub(1, square(t)))));
}
Tensor hardtanh_gradient(const Tensor& g, const Tensor& x, const ActivationParams& p) {
  return flat(masked(logical_or(le(x, p.a), ge(x, p.b)), g), x);
}
Tensor hardsigmoid_gradient(const Tensor& g, const Tensor& x, const ActivationParams&) {
  return flat(where(logical_and(gt(x, -3), lt(x, 3)), mul(g, 1.0 / 6), 0.0), x);
}
Tensor hardswish_gradient(const Tensor& g, const Tensor& x, const ActivationParams&) {
  const Tensor inside = mul(g, add(div(x, 3), 0.5));
  return masked(le(x, -3), where(lt(x, 3), inside, g));
}
Tensor softplus_gradient(const Tensor& g, const Tensor& x, const ActivationParams& p) {
  const Tensor z = mul(x, p.a);
  return where(gt(z, p.b), g, mul(g, sigmoid(z)));
}
Tensor logsigmoid_gradient(const Tensor& g, const Tensor& x, const ActivationParams&) {
  return mul(g, sigmoid(neg(x)));
}
Tensor shrink_gradient(const Tensor& g, const Tensor& x, const ActivationParams& p) {
  return flat(masked(logical_and(ge(x, -p.a), le(x, p.a)), g), x);
}
Tensor threshold_gradient(const Tensor& g, const Tensor& x, const ActivationParams& p) {
  return flat(masked(le(x, p.a), g), x);
}

struct Entry {
  const char* name;
  const char* node;
  Activation kind;
  Formula gradient;
};

constexpr Entry kEntries[] = {
    {"leaky_relu", "LeakyReluBackward0", Activation::LeakyRelu, leaky_relu_gradient},
    {"elu", "EluBackward0", Activation::Elu, elu_gradient},
    {"celu", "EluBackward0", Activation::Elu, elu_gradient},
    {"selu", "EluBackward0", Activation::Elu, elu_gradient},
    {"gelu", "GeluBackward0", Activation::Gelu, gelu_gradient},
    {"gelu_tanh", "GeluBackward0", Activation::GeluTanh, gelu_tanh_gradient},
    {"silu", "SiluBackward0", Activation::Silu, silu_gradient},
    {"mish", "MishBackward0", Activation::Mish, mish_gradient},
    {"hardtanh", "HardtanhBackward0", Activation::Hardtanh, hardtanh_gradient},
    {"hardsigmoid", "HardsigmoidBackward0", Activation::Hardsigmoid, hardsigmoid_gradient},
    {"hardswish", "HardswishBackward0", Activation::Hardswish, hardswish_gradient},
    {"softplus", "SoftplusBackward0", Activation::Softplus, softplus_gradient},
    {"logsigmoid", "LogSigmoidBackward0", Activation::LogSigmoid, logsigmoid_gradient},
    {"softshrink", "SoftshrinkBackward0", Activation::Softshrink, shrink_gradient},
    {"hardshrink", "HardshrinkBackward0", Activation::Hardshrink, shrink_gradient},
    {"threshold", "ThresholdBackward0", Activation::Threshold, threshold_gradient},
};

const Entry& find(const char* name) {
  for (const Entry& entry : kEntries)
    if (std::strcmp(name, entry.name) == 0) return entry;
  fail<ValueError>("activation: no such function; got ", name);
}

constexpr int kCosts[] = {
#define ZERO_COST(name, cost) cost,
    ZERO_ACTIVATIONS(ZERO_COST)
#undef ZERO_COST
};

// Whether the result of a write in place tells the gradient, so that no copy of x is kept.
bool result_tells(Activation kind, DType dtype, const ActivationParams& p) {
  switch (kind) {
    case Activation::LeakyRelu: return p.a >= 0;
    case Activation::Elu: return p.a >= 0 && p.b > 0 && p.c > 0;
    case Activation::Hardtanh: return itemsize(dtype) >= 4;  // elsewhere limits are rounded
    default: return false;
  }
}

void check_floats(const char* op, const Tensor& x) {
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, op, ": not defined for integers and bool; got ", x,
             ", expected a floating point tensor");
}

}  // namespace

Tensor activation(const char* name, const Tensor& x, double a, double b, double c, Target target) {
  const Entry& entry = find(name);
  const ActivationParams p{a, b, c};
  check_floats(name, x);
  Activation kind = entry.kind;
  Formula formula = entry.gradient;
  const bool keeps_result = target.is_inplace() && result_tells(kind, x.dtype(), p);
  if (keeps_result && kind == Activation::Elu) {
    kind = Activation::EluResult;
    formula = elu_gradient_of_result;
  }
  Tensor copy;
  const Tensor& kept = target.preserve(x, !keeps_result && requires_grad(x), copy);
  Tensor y = target.prepare(name, x, x.options(), {&x});
  const Operand in = x;
  const int k = static_cast<int>(kind);
  run_map(kernels().activation->value[k], kCosts[k], x.dtype(), y, {&in}, &p);
  record(entry.node, target, y, {&x}, {keeps_result ? &y : &kept},
         [k, formula, p](Node& n, const Tensor& g) {
           const Tensor kept = n.saved(0);
           if (grad_enabled()) return formula(g, kept, p);
           Tensor out = room_for_gradient(g, kept);
           const Operand from = g, at = kept;
           run_map(kernels().activation->gradient[k], kCosts[k], kept.dtype(), out, {&from, &at},
                   &p);
           return out;
         });
  return y;
}

Tensor prelu(const Tensor& x, const Tensor& weight) {
  if (autocast_on) return autocast(CastTo::Lower, prelu, x, weight);
  check_floats("prelu", x);
  ZERO_CHECK(weight.dim() <= 1, ShapeError, "prelu: weight has more than one dimension; got ",
             weight.sizes(), ", expected one number, or one for each channel");
  ZERO_CHECK(weight.dtype() == x.dtype(), DTypeError, "prelu: the dtypes differ; got input ",
             x.dtype(), " and weight ", weight.dtype(), ", expected one dtype");
  ZERO_CHECK(weight.device() == x.device(), Error, "prelu: devices differ; got input on ",
             x.device(), " and weight on ", weight.device(), ", expected one device");
  Dims sizes(x.dim(), 1);
  if (weight.numel() != 1) {
    const int64_t channels = x.dim() > 1 ? x.size(1) : 1;
    ZERO_CHECK(x.dim() > 0 && weight.numel() == channels, ShapeError,
               "prelu: the weights don't fit the channels; got input ", x.sizes(), " and ",
               weight.numel(), " weights, expected one, or one for each of ", channels,
               " channels");
    if (x.dim() > 1) sizes[1] = channels;
  }
  const Tensor w = reshape(weight, sizes);
  Tensor y = empty_as(x, x.options());
  const Operand in = x, factor = w;
  run_map(kernels().activation->prelu, 1, x.dtype(), y, {&in, &factor});
  record("PreluKernelBackward0", {}, y, {&x, &w}, {&x, &w}, [](Node& n, const Tensor& g) {
    const Tensor x = n.saved(0), w = n.saved(1);
    Grads grads(2);
    if (grad_enabled()) {
      const Tensor positive = gt(x, 0);
      if (n.needs(0)) grads[0] = flat(where(positive, g, mul(g, w)), x);
      if (n.needs(1)) grads[1] = masked(positive, mul(g, x));
      return grads;
    }
    const ActivationKernels& table = *kernels().activation;
    const Operand from = g, at = x, factor = w;
    if (n.needs(0)) {
      grads[0] = empty_as(x, x.options());
      run_map(table.prelu_gradient, 1, x.dtype(), grads[0], {&from, &at, &factor});
    }
    if (n.needs(1)) {
      grads[1] = empty_as(x, x.options());
      run_map(table.prelu_weight_gradient, 1, x.dtype(), grads[1], {&from, &at});
    }
    return grads;
  });
  return y;
}

Tensor glu(const Tensor& x, int64_t dim) {
  check_floats("glu", x);
  ZERO_CHECK(x.dim() > 0, ShapeError, "glu: a 0-d tensor has no halves; got ", x,
             ", expected one dimension or more");
  dim = wrap_dim("glu", dim, x.dim());
  ZERO_CHECK(x.size(dim) % 2 == 0, ShapeError, "glu: the dimension has no halves; got ",
             x.size(dim), " elements along dimension ", dim, ", expected an even number");
  const int64_t half = x.size(dim) / 2;
  const auto halves = [dim, half](const Tensor& t) {
    return std::pair(slice(t, dim, 0, half, 1), slice(t, dim, half, 2 * half, 1));
  };
  Dims sizes = x.sizes();
  sizes[dim] = half;
  Tensor y = empty(sizes, x.options());
  {
    GradModeGuard no_grad(false);
    const auto [a, b] = halves(x);
    const Operand first = a, gate = b;
    run_map(kernels().activation->glu, 4, x.dtype(), y, {&first, &gate});
  }
  record("GluBackward0", {}, y, {&x}, {&x}, [dim, halves](Node& n, const Tensor& g) {
    const Tensor x = n.saved(0);
    const auto [a, b] = halves(x);
    if (grad_enabled()) {
      const Tensor s = sigmoid(b);
      return cat({mul(g, s), mul(mul(g, a), mul(s, sub(1, s)))}, dim);
    }
    Tensor out = empty(x.sizes(), x.options());
    const auto [to_a, to_b] = halves(out);
    const Operand from = g, first = a, gate = b;
    const ActivationKernels& table = *kernels().activation;
    run_map(table.glu, 4, x.dtype(), to_a, {&from, &gate});
    run_map(table.glu_gate_gradient, 4, x.dtype(), to_b, {&from, &first, &gate});
    return out;
  });
  return y;
}

}  // namespace zero
