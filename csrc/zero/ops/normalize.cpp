// Normalisation of rows, beside its gradient: layer_norm, group_norm and rms_norm are one operator
// over rows that are cut in different ways.
#include "zero/ops/normalize.h"

#include "zero/autograd/record.h"
#include "zero/kernels/table.h"
#include "zero/ops/ops.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

constexpr int64_t kGrain = kGrainSize / 4;  // an element is met about four times
// The gradients of weights are summed over blocks of rows, then over the blocks: so many of them,
// each of so many elements or more. Both depend on the shape only.
constexpr int64_t kMostBlocks = 32, kLeastBlock = 16384;

// How a tensor is cut into rows, and who shares weights: see NormalizeArgs.
struct Cut {
  int64_t rows, n, run, groups;
  bool centered;

  int64_t runs() const { return n == 0 ? 0 : n / run; }
  int64_t weights() const { return groups * runs(); }
  // Of the tensor, and of its weights: reductions are over the last two dimensions of the first.
  Dims shape() const { return {groups == 0 ? 0 : rows / groups, groups, runs(), run}; }
  Dims weight_shape() const { return {groups, runs(), 1}; }
};

// As compositions, which have gradients of their own.
Grads differentiable_backward(Node& node, const Tensor& g, const Cut& cut, double eps,
                              const Dims& weight_sizes) {
  const Tensor saved = node.saved(0);
  const DType wide = compute_dtype(g.dtype());
  const Tensor gradient = reshape(to(g, wide), cut.shape());
  Grads grads(3);
  if (saved.defined()) {
    const Dims over{2, 3};
    const Tensor x = reshape(to(saved, wide), cut.shape());
    Tensor d = x;  // the mean twice: that of the first differences is its rounding
    for (int i = 0; cut.centered && i < 2; ++i) d = sub(d, mean(d, over, true));
    const Tensor r = rsqrt(add(mean(mul(d, d), over, true), Scalar(eps)));
    const Tensor u = mul(d, r);
    if (node.needs(0)) {
      const Tensor weight = node.saved(1);
      Tensor h = gradient;
      if (weight.defined()) h = mul(h, reshape(to(weight, wide), cut.weight_shape()));
      Tensor inner = mul(u, mean(mul(h, u), over, true));
      if (cut.centered) inner = add(inner, mean(h, over, true));
      grads[0] = to(reshape(mul(r, sub(h, inner)), saved.sizes()), saved.dtype());
    }
    if (node.needs(1)) grads[1] = reshape(sum(mul(gradient, u), {0, 3}), weight_sizes);
  }
  if (node.needs(2)) grads[2] = reshape(sum(gradient, {0, 3}), weight_sizes);
  return grads;
}

Grads backward(Node& node, const Tensor& g, const Cut& cut, double eps, const Dims& weight_sizes) {
  const Tensor saved = node.saved(0), weight = node.saved(1);
  if (grad_enabled() || g.is_meta() || !saved.defined()) {
    return differentiable_backward(node, g, cut, eps, weight_sizes);
  }
  const DType wide = compute_dtype(saved.dtype());
  const Tensor x = contiguous(to(saved, wide)), gradient = contiguous(to(g, wide));
  const Tensor w = weight.defined() ? contiguous(to(weight, wide)) : weight;
  const Tensor stats = node.saved(2);
  const bool of_weights = node.needs(1) || node.needs(2);
  const int64_t length = std::max<int64_t>(
      {1, (cut.rows + kMostBlocks - 1) / kMostBlocks, kLeastBlock / std::max<int64_t>(cut.n, 1)});
  const int64_t blocks = (cut.rows + length - 1) / length;
  Tensor dx, parts;
  if (node.needs(0)) dx = empty(x.sizes(), x.options());
  if (of_weights) parts = zeros({2, blocks, cut.weights()}, {DType::Float64, x.device()});
  if (x.numel() > 0) {
    const int64_t item = itemsize(wide);
    const auto at = [&](const Tensor& t, int64_t row) -> char* {
      return t.defined() ? t.data<char>() + row * cut.n * item : nullptr;
    };
    const DenormalGuard denormal;
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t row = b * length;
        double* const dw = of_weights ? parts.data<double>() + b * cut.weights() : nullptr;
        kernels().normalize_backward[static_cast<int>(compute_type(wide))](
            {.x = at(x, row),
             .rows = std::min(length, cut.rows - row),
             .n = cut.n,
             .run = cut.run,
             .groups = cut.groups,
             .row = row,
             .weight = w.defined() ? w.data() : nullptr,
             .bias = nullptr,
             .eps = eps,
             .centered = cut.centered,
             .stats = stats.data<double>() + 2 * row,
             .out = at(dx, row),
             .g = at(gradient, row),
             .weight_gradient = dw,
             .bias_gradient = dw ? dw + blocks * cut.weights() : nullptr});
      }
    });
  }
  Grads grads(3);
  if (dx.defined()) grads[0] = to(dx, saved.dtype());
  if (of_weights) {
    const Tensor total = sum(parts, {1});
    for (int64_t i = 0; i < 2; ++i) {
      if (node.needs(static_cast<int>(i) + 1)) {
        grads[i + 1] = to(reshape(select(total, 0, i), weight_sizes), wide);
      }
    }
  }
  return grads;
}

Tensor normalize(const char* op, const char* node, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, const Cut& cut, const Dims& weight_sizes, double eps) {
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, op, ": the input is not floating point; got ", x,
             ", expected a floating point tensor");
  check_parameter(op, "weight", weight, x, weight_sizes);
  check_parameter(op, "bias", bias, x, weight_sizes);
  Tensor y, stats;
  if (x.is_meta()) {
    y = empty(x.sizes(), x.options());
  } else {
    GradModeGuard no_grad(false);
    const DType wide = compute_dtype(x.dtype());
    const Tensor in = contiguous(to(x, wide));
    const auto parameter = [&](const Tensor& p) {
      return p.defined() ? contiguous(to(p, wide)) : p;
    };
    const Tensor w = parameter(weight), b = parameter(bias);
    y = empty(x.sizes(), in.options());
    stats = empty({cut.rows, 2}, {DType::Float64, x.device()});
    if (x.numel() > 0) {
      const int64_t item = itemsize(wide);
      const DenormalGuard denormal;
      parallel_for(cut.rows, std::max<int64_t>(1, kGrain / cut.n), [&](int64_t begin, int64_t end) {
        const int64_t at = begin * cut.n * item;
        kernels().normalize[static_cast<int>(compute_type(wide))](
            {.x = in.data<char>() + at,
             .rows = end - begin,
             .n = cut.n,
             .run = cut.run,
             .groups = cut.groups,
             .row = begin,
             .weight = w.defined() ? w.data() : nullptr,
             .bias = b.defined() ? b.data() : nullptr,
             .eps = eps,
             .centered = cut.centered,
             .stats = stats.data<double>() + 2 * begin,
             .out = y.data<char>() + at,
             .g = nullptr,
             .weight_gradient = nullptr,
             .bias_gradient = nullptr});
      });
    }
    y = to(y, x.dtype());
  }
  const bool uses_x = requires_grad(x) || (weight.defined() && requires_grad(weight));
  record(node, {}, y, {&x, &weight, &bias},
         {keep(uses_x, x), keep(requires_grad(x), weight), keep(uses_x, stats)},
         [cut, eps, weight_sizes](Node& n, const Tensor& g) {
           return backward(n, g, cut, eps, weight_sizes);
         });
  return y;
}

// Rows are the last dimensions, of these sizes.
Cut last_dimensions(const char* op, const Tensor& x, const Dims& sizes, bool centered) {
  const int64_t dims = sizes.size(), outer = x.dim() - dims;
  ZERO_CHECK(dims > 0, ShapeError, op, ": normalized_shape is empty; got ", sizes,
             ", expected the sizes of the last dimensions");
  bool fits = outer >= 0;
  for (int64_t d = 0; fits && d < dims; ++d) fits = x.size(outer + d) == sizes[d];
  ZERO_CHECK(fits, ShapeError, op,
             ": the input's last dimensions differ from normalized_shape; got input ", x.sizes(),
             ", expected (*, ", sizes, ")");
  Cut cut{1, 1, 1, 1, centered};
  for (int64_t d = 0; d < x.dim(); ++d) (d < outer ? cut.rows : cut.n) *= x.size(d);
  return cut;
}

}  // namespace

void check_parameter(const char* op, const char* name, const Tensor& parameter, const Tensor& x,
                     const Dims& sizes) {
  if (!parameter.defined()) return;
  ZERO_CHECK(parameter.sizes() == sizes, ShapeError, op, ": the ", name, " does not fit; got ",
             parameter.sizes(), ", expected ", sizes);
  ZERO_CHECK(parameter.dtype() == x.dtype() || parameter.dtype() == compute_dtype(x.dtype()),
             DTypeError, op, ": the dtypes differ; got input ", x.dtype(), " and ", name, " ",
             parameter.dtype(), ", expected ", x.dtype());
  ZERO_CHECK(parameter.device() == x.device(), Error, op, ": devices differ; got input on ",
             x.device(), " and ", name, " on ", parameter.device(), ", expected one device");
}

Tensor layer_norm(const Tensor& x, const Dims& sizes, const Tensor& weight, const Tensor& bias,
                  double eps) {
  const Cut cut = last_dimensions("layer_norm", x, sizes, true);
  return normalize("layer_norm", "NativeLayerNormBackward0", x, weight, bias, cut, sizes, eps);
}

Tensor rms_norm(const Tensor& x, const Dims& sizes, const Tensor& weight,
                std::optional<double> given) {
  const double eps = given.value_or(machine_epsilon(x.dtype()));
  const Cut cut = last_dimensions("rms_norm", x, sizes, false);
  return normalize("rms_norm", "FusedRmsNormBackward0", x, weight, {}, cut, sizes, eps);
}

Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps) {
  ZERO_CHECK(x.dim() >= 2, ShapeError, "group_norm: no channels; got ", x,
             ", expected (N, C, ...)");
  const int64_t channels = x.size(1);
  ZERO_CHECK(groups > 0 && channels % groups == 0, ShapeError,
             "group_norm: the channels don't divide into groups; got ", channels,
             " channels and num_groups ", groups, ", expected a divisor of ", channels);
  Cut cut{x.size(0) * groups, channels / groups, 1, groups, true};
  for (int64_t d = 2; d < x.dim(); ++d) cut.run *= x.size(d);
  cut.n *= cut.run;
  return normalize("group_norm", "NativeGroupNormBackward0", x, weight, bias, cut, {channels}, eps);
}

}  // namespace zero
