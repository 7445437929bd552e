// Losses of pairs of a prediction and a target, each with its reduction in one pass. Beside them
// stand their gradients as compositions, which have gradients of their own.
#include <cmath>
#include <utility>

#include "zero/autograd/record.h"
#include "zero/kernels/loss.h"
#include "zero/ops/autocast.h"
#include "zero/ops/loss.h"
#include "zero/ops/loss_sum.h"
#include "zero/ops/map.h"

namespace zero {

namespace {

// Both with the dtype and shape of their difference.
std::pair<Tensor, Tensor> fit_pair(const char* op, const Tensor& input, const Tensor& target) {
  const DType dtype = result_type(input, target);
  ZERO_CHECK(is_floating(dtype), DTypeError, op, ": only floating point dtypes have one; got ",
             input.dtype(), " and ", target.dtype(), ", expected floating point tensors");
  ZERO_CHECK(input.device() == target.device(), Error, op, ": devices differ; got ", input.device(),
             " and ", target.device(), ", expected one device");
  const Dims sizes = broadcast_shapes(op, input.sizes(), target.sizes());
  auto fit = [&](const Tensor& x) {
    const Tensor c = to(x, dtype);
    return c.sizes() == sizes ? c : expand(c, sizes);
  };
  return {fit(input), fit(target)};
}

// ---- squared error ------------------------------------------------------------------------------

double sum_squared_difference(const Tensor& a, const Tensor& b) {
  return sum_pairs(a, b, 1,
                   kernels().squared_difference[static_cast<int>(compute_type(a.dtype()))]);
}

Tensor scaled_difference(const Tensor& a, const Tensor& b, double scale) {
  Tensor out = empty(a.sizes(), a.options());
  const ScaledDifferenceFn kernel =
      kernels().scaled_difference[static_cast<int>(compute_type(a.dtype()))];
  const int64_t item = itemsize(a.dtype());
  const char *const x = a.data<char>(), *const y = b.data<char>();
  char* const to = out.data<char>();
  const DenormalGuard denormal;
  parallel_for(a.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * item;
    kernel(x + at, y + at, scale, to + at, end - begin);
  });
  return out;
}

// ---- the others ---------------------------------------------------------------------------------

// The derivative of the loss by one of its arguments.
using Slope = Tensor (*)(const Tensor& x, const Tensor& t, const PairLossParams& p);

Tensor opposite(const Tensor&, const Tensor&, const PairLossParams&) { return {}; }  // marks only

Tensor absolute_slope(const Tensor& x, const Tensor& t, const PairLossParams&) {
  return sign(sub(x, t));
}
Tensor huber_slope(const Tensor& x, const Tensor& t, const PairLossParams& p) {
  return mul(clamp(sub(x, t), Scalar(-p.a), Scalar(p.a)), p.b);
}
Tensor entropy_slope(const Tensor& x, const Tensor& t, const PairLossParams&) {
  return div(sub(x, t), clamp(mul(sub(1, x), x), Scalar(1e-12), {}));
}
Tensor entropy_target_slope(const Tensor& x, const Tensor&, const PairLossParams&) {
  const Scalar least(-100.0);
  return sub(clamp(log1p(neg(x)), least, {}), clamp(log(x), least, {}));
}
Tensor logits_slope(const Tensor& x, const Tensor& t, const PairLossParams&) {
  return sub(sigmoid(x), t);
}
Tensor logits_target_slope(const Tensor& x, const Tensor&, const PairLossParams&) { return neg(x); }
Tensor divergence_slope(const Tensor&, const Tensor& t, const PairLossParams&) { return neg(t); }
Tensor divergence_target_slope(const Tensor& x, const Tensor& t, const PairLossParams&) {
  const Tensor none = eq(t, 0);  // 0 ln 0 is 0, also for the gradient
  return sub(where(none, 0.0, add(log(where(none, 1.0, t)), 1)), x);
}
Tensor log_divergence_slope(const Tensor&, const Tensor& t, const PairLossParams&) {
  return neg(exp(t));
}
Tensor log_divergence_target_slope(const Tensor& x, const Tensor& t, const PairLossParams&) {
  return mul(exp(t), add(sub(t, x), 1));
}

struct Entry {
  const char* name;
  const char* node;
  PairLoss kind;
  Slope slope, target_slope;
};

constexpr Entry kEntries[] = {
    {"l1_loss", "L1LossBackward0", PairLoss::Absolute, absolute_slope, opposite},
    {"smooth_l1_loss", "SmoothL1LossBackward0", PairLoss::Huber, huber_slope, opposite},
    {"huber_loss", "HuberLossBackward0", PairLoss::Huber, huber_slope, opposite},
    {"binary_cross_entropy", "BinaryCrossEntropyBackward0", PairLoss::Entropy, entropy_slope,
     entropy_target_slope},
    {"binary_cross_entropy_with_logits", "BinaryCrossEntropyWithLogitsBackward0",
     PairLoss::LogitsEntropy, logits_slope, logits_target_slope},
    {"kl_div", "KlDivBackward0", PairLoss::Divergence, divergence_slope, divergence_target_slope},
    {"kl_div_log", "KlDivBackward0", PairLoss::LogDivergence, log_divergence_slope,
     log_divergence_target_slope},
};

const Entry& find(const std::string& name) {
  for (const Entry& entry : kEntries)
    if (name == entry.name) return entry;
  fail<ValueError>("loss: no such function; got ", name);
}

constexpr int kCosts[] = {
#define ZERO_COST(name, cost) cost,
    ZERO_PAIR_LOSSES(ZERO_COST)
#undef ZERO_COST
};

// What is no probability makes the loss NaN, so only then a second look at x and t is needed.
void check_probabilities(const char* op, const char* which, const Tensor& x, const char* remedy) {
  const Tensor outside = masked_select(x, logical_not(logical_and(ge(x, 0), le(x, 1))));
  if (outside.numel() == 0) return;
  fail<ValueError>(op, ": ", which, " is no probability; got ",
                   item(select(outside, 0, 0)).to_double(), ", expected all between 0 and 1",
                   remedy);
}

// The sum of n neighbours' losses: block by block they go through memory near the processor.
double sum_of_losses(const PairLossParams& p, PairLoss kind, DType dtype, const char* x,
                     const char* t, int64_t n) {
  constexpr int64_t kBlock = 1024;
  alignas(64) char block[kBlock * sizeof(double)];
  const int type = static_cast<int>(compute_type(dtype));
  const DenseFn value = kernels().loss->value[static_cast<int>(kind)][type];
  const ReduceKernel& sum = kernels().reduce[static_cast<int>(ReduceOp::Sum)][type];
  const int64_t item = itemsize(dtype);
  double total = 0;
  for (int64_t i = 0; i < n; i += kBlock) {
    const ReduceDim dim{std::min(kBlock, n - i), item, 1};
    char* const operands[] = {block, const_cast<char*>(x) + i * item,
                              const_cast<char*>(t) + i * item};
    value(&p, operands, dim.size);
    double part;
    sum.fold({block, 1, 0, &dim, 1, false, nullptr, 0}, &part);
    total += part;
  }
  return total;
}

Tensor forward(const Entry& entry, const Tensor& a, const Tensor& b, Reduction reduction,
               const PairLossParams& p) {
  GradModeGuard no_grad(false);
  const int k = static_cast<int>(entry.kind);
  const bool whole = reduction == Reduction::None;
  Tensor y = whole ? empty_as(a, a.options()) : empty({}, a.options());
  if (y.is_meta()) return y;
  double total = 0;
  if (whole) {
    const Operand x = a, t = b;
    run_map(kernels().loss->value[k], kCosts[k], a.dtype(), y, {&x, &t}, &p);
    if (entry.kind == PairLoss::Entropy) total = item(sum(y)).to_double();
  } else {
    const DType wide = compute_dtype(a.dtype());
    total = sum_pairs(readable(a), readable(b), kCosts[k],
                      [&](const char* x, const char* t, int64_t n) {
                        return sum_of_losses(p, entry.kind, wide, x, t, n);
                      });
    store_loss(y, reduced(total, static_cast<double>(a.numel()), reduction));
  }
  if (entry.kind == PairLoss::Entropy && std::isnan(total)) {
    check_probabilities(entry.name, "an input", a,
                        "; sigmoid gives such, and binary_cross_entropy_with_logits takes scores");
    check_probabilities(entry.name, "a target", b, "");
  }
  return y;
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  if (autocast_on) return autocast(CastTo::Float32, mse_loss, input, target, reduction);
  const auto [a, b] = fit_pair("mse_loss", input, target);
  Tensor y;
  if (reduction == Reduction::None) {
    GradModeGuard no_grad(false);
    const Tensor difference = sub(a, b);
    y = mul(difference, difference);
  } else {
    y = empty({}, a.options());
    if (!y.is_meta())
      store_loss(y, reduced(sum_squared_difference(readable(a), readable(b)),
                            static_cast<double>(a.numel()), reduction));
  }
  const double factor = reduction == Reduction::Mean ? 2 / static_cast<double>(a.numel()) : 2.0;
  record("MseLossBackward0", {}, y, {&a, &b}, {&a, &b}, [factor](Node& n, const Tensor& g) {
    const Tensor a = n.saved(0), b = n.saved(1);
    Grads out(2);
    if (grad_enabled() || a.is_meta() || g.dim() != 0) {
      const Tensor slope = mul(sub(a, b), mul(g, factor));
      if (n.needs(0)) out[0] = slope;
      if (n.needs(1)) out[1] = neg(slope);
      return out;
    }
    const double scale = factor * item(g).to_double();
    const Tensor x = readable(a), z = readable(b);
    if (n.needs(0)) out[0] = scaled_difference(x, z, scale);
    if (n.needs(1)) out[1] = scaled_difference(z, x, scale);
    return out;
  });
  return y;
}

Tensor pair_loss(const char* name, const Tensor& input, const Tensor& target, Reduction reduction,
                 double a, double b) {
  if (autocast_on)
    return autocast(CastTo::Float32, pair_loss, name, input, target, reduction, a, b);
  const Entry& entry = find(name);
  const bool logarithms = entry.kind == PairLoss::LogDivergence;
  const auto [x, t] = fit_pair(logarithms ? "kl_div" : name, input, target);
  PairLossParams p{a, b, 1};
  Tensor y = forward(entry, x, t, reduction, p);
  if (reduction == Reduction::Mean) p.scale = 1 / static_cast<double>(x.numel());
  record(entry.node, {}, y, {&x, &t}, {&x, &t}, [&entry, p](Node& n, const Tensor& g) {
    const Tensor x = n.saved(0), t = n.saved(1);
    const bool symmetric = entry.target_slope == opposite;
    Grads grads(2);
    if (n.needs(0) || symmetric) {
      if (grad_enabled()) {
        grads[0] = mul(mul(g, p.scale), entry.slope(x, t, p));
      } else {
        grads[0] = empty_as(x, x.options());
        const int k = static_cast<int>(entry.kind);
        const Operand from = g, at = x, other = t;
        run_map(kernels().loss->gradient[k], kCosts[k], x.dtype(), grads[0], {&from, &at, &other},
                &p);
      }
    }
    if (n.needs(1)) {
      grads[1] = symmetric ? neg(grads[0]) : mul(mul(g, p.scale), entry.target_slope(x, t, p));
    }
    if (!n.needs(0)) grads[0] = Tensor();
    return grads;
  });
  return y;
}

}  // namespace zero
