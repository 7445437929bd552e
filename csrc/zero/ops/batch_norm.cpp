// Batch normalisation, beside its gradient. For the elements x of one channel, n of them:
//
//   u = (x - m) r,  y = u w + b      in training m = mean x,  r = 1 / sqrt(mean (x - m)^2 + eps),
//                                    else of the running mean and variance
//   dx = w r (g - mean g - u mean(g u))    in training, else  dx = w r g
//   dw = sum g u,  db = sum g
//
// Mean and squares are those of parts that fit into the cache, where they are met twice; then the
// parts are joined. What the parts are depends on the shape only.
#include "zero/ops/batch_norm.h"

#include <cmath>
#include <limits>

#include "zero/autograd/engine.h"
#include "zero/autograd/record.h"
#include "zero/kernels/batch_norm.h"
#include "zero/ops/iterator.h"
#include "zero/ops/normalize.h"
#include "zero/ops/ops.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

constexpr int64_t kGrain = kGrainSize / 4;  // an element is met about four times
constexpr int64_t kGroup = 8192;            // elements of a part of one channel, about
constexpr int64_t kRows = 512;              // of a part of kBatchColumns channels
constexpr int64_t kShort = 64;              // planes up to here are columns, see Layout

// A tensor as [outer, channels, inner], as it lies in memory. Where planes are short, each of their
// elements counts as a channel: `repeat` of them share mean, variance and weight.
struct Layout {
  explicit Layout(const Tensor& x) : channels(x.size(1)) {
    const int64_t places = channels == 0 ? 0 : x.numel() / channels;
    channels_last = x.dim() > 2 && x.numel() > 0 && !x.is_contiguous() &&
                    permute(detach(x), to_last(x.dim())).is_contiguous();
    // A single channel is one plane.
    outer = channels == 1 ? 1 : channels_last ? places : x.size(0);
    inner = outer == 0 ? 0 : places / outer;
    if (inner > 1 && inner <= kShort && outer >= 8) {
      repeat = inner;
      channels *= repeat;
      inner = 1;
    }
  }

  // x with the channels as its last dimension.
  static Dims to_last(int64_t dims) {
    Dims order{0};
    for (int64_t d = 2; d < dims; ++d) order.push_back(d);
    order.push_back(1);
    return order;
  }
  // A tensor of x's shape in this order in memory, without gaps; t itself if it is one.
  Tensor arranged(const Tensor& t) const {
    return contiguous(channels_last ? permute(t, to_last(t.dim())) : t);
  }
  Tensor result(const Dims& sizes, TensorOptions options) const {
    if (!channels_last) return empty(sizes, options);
    Dims strides(sizes.size(), 1);
    int64_t step = channels;
    for (int64_t d = sizes.size() - 1; d >= 0; --d) {
      if (d == 1) continue;
      strides[d] = step;
      step *= sizes[d];
    }
    return empty_strided(sizes, strides, options);
  }

  int64_t count() const { return outer * inner * repeat; }  // elements of a channel of x

  int64_t outer, channels, inner, repeat = 1;
  bool channels_last;
};

// How sums over channels are cut: the elements of each into `parts`, of whole planes or rows, or of
// pieces of a plane.
struct Cut {
  explicit Cut(const Layout& of) : layout(of), columns(of.inner == 1) {
    if (columns) {
      rows = kRows;
      length = 1;
    } else {
      rows = std::max<int64_t>(1, kGroup / layout.inner);
      length = std::min(layout.inner, kGroup);
    }
    pieces = (layout.inner + length - 1) / length;
    parts = (layout.outer + rows - 1) / rows * pieces;
  }

  int64_t rows_of(int64_t part) const {
    return std::min(rows, layout.outer - part / pieces * rows);
  }
  int64_t length_of(int64_t part) const {
    return std::min(length, layout.inner - part % pieces * length);
  }
  double count(int64_t part) const { return static_cast<double>(rows_of(part) * length_of(part)); }

  const Layout& layout;
  bool columns;
  int64_t rows, length, pieces, parts;
};

template <class F>
void with_compute_type(DType dtype, F f) {
  dtype == DType::Float64 ? f(double()) : f(float());
}

// Two sums of each part, [channels, parts, 2]: see BatchSumsArgs. Factors are for the gradient.
Tensor sums(const BatchSumsFn* functions, const Cut& cut, const Tensor& x, const Tensor& g,
            const Tensor& factors) {
  const Layout& layout = cut.layout;
  Tensor out = empty({layout.channels, cut.parts, 2}, {DType::Float64, x.device()});
  const int64_t item = itemsize(x.dtype()), stride = layout.channels * layout.inner;
  const int64_t width = cut.columns ? kBatchColumns : 1;
  const int64_t blocks = (layout.channels + width - 1) / width;
  const BatchSumsFn fn = functions[static_cast<int>(compute_type(x.dtype()))];
  const char* const of_first = factors.defined() ? factors.data<char>() : nullptr;
  const int64_t each = width * cut.rows * cut.length;
  parallel_for(
      blocks * cut.parts, std::max<int64_t>(1, kGrain / each), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t part = i % cut.parts, channel = i / cut.parts * width;
          const int64_t at = part / cut.pieces * cut.rows * stride + channel * layout.inner +
                             part % cut.pieces * cut.length;
          fn({.x = x.data<char>() + at * item,
              .g = g.defined() ? g.data<char>() + at * item : nullptr,
              .factors = of_first ? of_first + channel * item : nullptr,
              .channels = layout.channels,
              .rows = cut.rows_of(part),
              .stride = stride,
              .length =
                  cut.columns ? std::min(width, layout.channels - channel) : cut.length_of(part),
              .columns = cut.columns,
              .out = out.data<double>() + (channel * cut.parts + part) * 2,
              .step = 2 * cut.parts});
        }
      });
  return out;
}

void map(const BatchMapFn* functions, const Layout& layout, const Tensor& x, const Tensor& g,
         const Tensor& factors, const Tensor& out) {
  const bool columns = layout.inner == 1;
  const int64_t pieces = (layout.inner + kBatchPiece - 1) / kBatchPiece;
  const int64_t items = layout.outer * (columns ? 1 : layout.channels * pieces);
  const BatchMapFn fn = functions[static_cast<int>(compute_type(x.dtype()))];
  parallel_for(items, std::max<int64_t>(1, kGrain * items / x.numel()),
               [&](int64_t begin, int64_t end) {
                 fn({.x = x.data(),
                     .g = g.defined() ? g.data() : nullptr,
                     .out = out.data(),
                     .factors = factors.data(),
                     .channels = layout.channels,
                     .inner = layout.inner,
                     .begin = begin,
                     .end = end});
               });
}

// ---- statistics ---------------------------------------------------------------------------------

struct Moments { double mean, squares; };  // the second: of differences from the first

Moments join(const double* parts, const Cut& cut) {
  Moments all{parts[0], parts[1]};
  const int64_t n = cut.parts * cut.layout.repeat;
  if (n == 1) return all;
  double sum = 0;
  for (int64_t p = 0; p < n; ++p) sum += cut.count(p % cut.parts) * parts[2 * p];
  all = {sum / static_cast<double>(cut.layout.count()), 0};
  for (int64_t p = 0; p < n; ++p) {
    const double off = parts[2 * p] - all.mean;
    all.squares += parts[2 * p + 1] + cut.count(p % cut.parts) * off * off;
  }
  return all;
}

// running = (1 - momentum) running + momentum value
void move_towards(const Tensor& running, const double* values, double momentum) {
  const int64_t n = running.numel();
  const auto blend = [&](auto* to) {
    using T = std::remove_reference_t<decltype(*to)>;
    for (int64_t i = 0; i < n; ++i)
      to[i] = static_cast<T>((1 - momentum) * static_cast<double>(to[i]) + momentum * values[i]);
  };
  if (running.is_contiguous() && running.dtype() == DType::Float32) {
    blend(running.data<float>());
    count_write(running);
  } else if (running.is_contiguous() && running.dtype() == DType::Float64) {
    blend(running.data<double>());
    count_write(running);
  } else {
    const Tensor wide = contiguous(to(detach(running), DType::Float64, running.device(), true));
    blend(wide.data<double>());
    copy_(running, wide);
  }
}

// The mean and 1 / sqrt(variance + eps) of each channel, [2, channels] in float64. `variances`:
// those of the channels, divided by n - 1.
Tensor measured(const Layout& layout, const Tensor& x, double eps, Tensor* variances) {
  const int64_t channels = layout.channels / layout.repeat;
  const Cut cut(layout);
  const Tensor parts = sums(kernels().batch_norm->moments, cut, x, {}, {});
  const double n = static_cast<double>(layout.count());
  Tensor stats = empty({2, channels}, {DType::Float64, x.device()});
  *variances = empty({channels}, stats.options());
  double *const mean = stats.data<double>(), *const rstd = mean + channels;
  double* const variance = variances->data<double>();
  for (int64_t c = 0; c < channels; ++c) {
    const Moments m = join(parts.data<double>() + c * layout.repeat * cut.parts * 2, cut);
    const double squares = m.squares < 0 ? 0 : m.squares;  // NaN stays
    mean[c] = m.mean;
    rstd[c] = 1 / std::sqrt(squares / n + eps);
    variance[c] = squares / (n - 1);
  }
  return stats;
}

Tensor remembered(const Tensor& running_mean, const Tensor& running_var, double eps) {
  const int64_t channels = running_mean.numel();
  Tensor stats = empty({2, channels}, {DType::Float64, running_mean.device()});
  run_copy(select(stats, 0, 0), running_mean);
  run_copy(select(stats, 0, 1), running_var);
  double* const rstd = stats.data<double>() + channels;
  for (int64_t c = 0; c < channels; ++c) rstd[c] = 1 / std::sqrt(rstd[c] + eps);
  return stats;
}

// The number of a channel in an array that may be absent.
double number(const Tensor& values, int64_t c, double otherwise) {
  if (!values.defined()) return otherwise;
  return values.dtype() == DType::Float64 ? values.data<double>()[c]
                                          : static_cast<double>(values.data<float>()[c]);
}

// A channel's statistics as its elements, of type T, meet them: rstd (x - mean) =
// (x scale - pivot - off) factor.
template <class T>
struct Measure {
  Measure(const Tensor& stats, int64_t c)
      : mean(stats.data<double>()[c]),
        rstd(stats.data<double>()[stats.size(1) + c]),
        scale(rstd < 1e4 * static_cast<double>(std::numeric_limits<T>::min()) ? 0x1p-64 : 1),
        pivot(static_cast<T>(mean * scale)),
        off(mean * scale - static_cast<double>(pivot)),
        factor(rstd / scale) {}

  double mean, rstd, scale;
  T pivot;
  double off, factor;
};

// Writes a number of each channel of x, of(its measure, its number), for all that repeat it.
template <class T, class F>
void fill_factors(T* to, const Layout& layout, const Tensor& stats, F of) {
  for (int64_t c = 0; c < stats.size(1); ++c) {
    const T value = static_cast<T>(of(Measure<T>(stats, c), c));
    for (int64_t r = 0; r < layout.repeat; ++r) *to++ = value;
  }
}

// What the kernels take, see BatchMapArgs.
Tensor forward_factors(const Layout& layout, const Tensor& stats, const Tensor& weight,
                       const Tensor& bias, DType dtype) {
  Tensor factors = empty({4, layout.channels}, {dtype, stats.device()});
  with_compute_type(dtype, [&]<class T>(T) {
    const auto fill = [&](int64_t i, auto of) {
      fill_factors(factors.data<T>() + i * layout.channels, layout, stats, of);
    };
    const auto a = [&](const Measure<T>& m, int64_t c) { return m.factor * number(weight, c, 1); };
    fill(0, [](const Measure<T>& m, int64_t) { return m.scale; });
    fill(1, [](const Measure<T>& m, int64_t) { return m.pivot; });
    fill(2, a);
    fill(3, [&](const Measure<T>& m, int64_t c) { return number(bias, c, 0) - m.off * a(m, c); });
  });
  return factors;
}

// ---- gradient -----------------------------------------------------------------------------------

// The first three of backward's factors, which its sums take.
Tensor backward_factors(const Layout& layout, const Tensor& stats, DType dtype) {
  Tensor factors = empty({7, layout.channels}, {dtype, stats.device()});
  with_compute_type(dtype, [&]<class T>(T) {
    const auto fill = [&](int64_t i, auto of) {
      fill_factors(factors.data<T>() + i * layout.channels, layout, stats, of);
    };
    fill(0, [](const Measure<T>& m, int64_t) { return m.scale; });
    fill(1, [](const Measure<T>& m, int64_t) { return m.pivot; });
    fill(2, [](const Measure<T>& m, int64_t) { return m.factor; });
  });
  return factors;
}

// The other four. totals[c]: the sums of g and of g (x scale - pivot) factor; the second becomes
// that of g u.
void complete_factors(const Tensor& factors, const Layout& layout, const Tensor& stats,
                      const Tensor& weight, double* totals) {
  const double n = static_cast<double>(layout.count());
  with_compute_type(factors.dtype(), [&]<class T>(T) {
    const auto fill = [&](int64_t i, auto of) {
      fill_factors(factors.data<T>() + i * layout.channels, layout, stats, of);
    };
    for (int64_t c = 0; c < stats.size(1); ++c) {
      const Measure<T> m(stats, c);
      totals[2 * c + 1] -= m.off * m.factor * totals[2 * c];
    }
    const auto a = [&](const Measure<T>& m, int64_t c) { return m.rstd * number(weight, c, 1); };
    const auto mean_g = [&](int64_t c) { return totals[2 * c] / n; };
    const auto mean_gu = [&](int64_t c) { return totals[2 * c + 1] / n; };
    fill(3, [&](const Measure<T>&, int64_t c) { return mean_g(c); });
    fill(4, a);
    fill(5, [&](const Measure<T>& m, int64_t c) { return -a(m, c) * mean_gu(c); });
    fill(6, [&](const Measure<T>& m, int64_t c) {
      const double k = static_cast<double>(static_cast<T>(mean_g(c)));
      return a(m, c) * (k - mean_g(c) + m.off * m.factor * mean_gu(c));
    });
  });
}

// dx where mean and variance are no functions of x.
Tensor rescaled(const Tensor& g, const Tensor& rstd, const Tensor& weight,
                const Dims& per_channel) {
  const DType wide = compute_dtype(g.dtype());
  Tensor factor = reshape(to(rstd, wide), per_channel);
  if (weight.defined()) factor = mul(factor, reshape(to(weight, wide), per_channel));
  return to(mul(to(g, wide), factor), g.dtype());
}

// As compositions, which have gradients of their own.
Grads differentiable_backward(Node& node, const Tensor& g, bool training, double eps) {
  const Tensor saved = node.saved(0), weight = node.saved(1), stats = node.saved(2);
  const DType wide = compute_dtype(g.dtype());
  const Tensor gradient = to(g, wide);
  Dims over{0}, per_channel(g.dim(), 1);
  for (int64_t d = 2; d < g.dim(); ++d) over.push_back(d);
  per_channel[1] = g.size(1);
  Grads grads(3);
  Tensor r, u;
  if (saved.defined()) {
    Tensor d = to(saved, training ? wide : DType::Float64);
    if (training) {  // the mean twice: that of the first differences is its rounding
      for (int i = 0; i < 2; ++i) d = sub(d, mean(d, over, true));
      r = rsqrt(add(mean(mul(d, d), over, true), Scalar(eps)));
    } else {
      d = to(sub(d, reshape(select(stats, 0, 0), per_channel)), wide);
      r = reshape(to(select(stats, 0, 1), wide), per_channel);
    }
    u = mul(d, r);
  }
  if (node.needs(0) && training) {
    Tensor h = gradient;
    if (weight.defined()) h = mul(h, reshape(to(weight, wide), per_channel));
    h = sub(h, add(mul(u, mean(mul(h, u), over, true)), mean(h, over, true)));
    grads[0] = to(mul(r, h), g.dtype());
  } else if (node.needs(0)) {
    grads[0] = rescaled(g, select(stats, 0, 1), weight, per_channel);
  }
  if (node.needs(1)) grads[1] = sum(mul(gradient, u), over);
  if (node.needs(2)) grads[2] = sum(gradient, over);
  return grads;
}

Grads backward(Node& node, const Tensor& g, const Layout& layout, bool training, double eps) {
  const Tensor saved = node.saved(0), weight = node.saved(1), stats = node.saved(2);
  if (grad_enabled() || g.is_meta() || g.numel() == 0 || !saved.defined()) {
    return differentiable_backward(node, g, training, eps);
  }
  const DType wide = compute_dtype(saved.dtype());
  const bool unknown = is_sole_owner(g);  // to others
  const Tensor x = layout.arranged(to(saved, wide)), gradient = layout.arranged(to(g, wide));
  const Tensor w = weight.defined() ? contiguous(to(weight, wide)) : weight;
  const DenormalGuard denormal;
  const Tensor factors = backward_factors(layout, stats, wide);
  const Cut cut(layout);
  const Tensor parts = sums(kernels().batch_norm->gradient, cut, x, gradient, factors);
  const Tensor totals = sum(reshape(parts, {stats.size(1), layout.repeat * cut.parts, 2}), {1});
  complete_factors(factors, layout, stats, w, totals.data<double>());
  Grads grads(3);
  if (node.needs(0) && training) {
    const Tensor dx = unknown && gradient.impl() == g.impl()
                          ? gradient  // each element is read before it is written
                          : layout.result(saved.sizes(), {wide, x.device()});
    map(kernels().batch_norm->backward, layout, x, gradient, factors, dx);
    grads[0] = to(dx, saved.dtype());
  } else if (node.needs(0)) {
    Dims per_channel(g.dim(), 1);
    per_channel[1] = stats.size(1);
    grads[0] = rescaled(g, select(stats, 0, 1), weight, per_channel);
  }
  if (node.needs(1)) grads[1] = contiguous(to(select(totals, 1, 1), wide));
  if (node.needs(2)) grads[2] = contiguous(to(select(totals, 1, 0), wide));
  return grads;
}

// ---- checks -------------------------------------------------------------------------------------

void check_running(const char* name, const Tensor& running, const Tensor& x, bool training) {
  if (!running.defined()) {
    ZERO_CHECK(training, ValueError, "batch_norm: no ", name,
               "; got None, expected a tensor unless in training");
    return;
  }
  ZERO_CHECK(running.sizes() == Dims{x.size(1)}, ShapeError, "batch_norm: the ", name,
             " does not fit; got ", running.sizes(), ", expected ", Dims{x.size(1)});
  ZERO_CHECK(is_floating(running.dtype()), DTypeError, "batch_norm: the ", name,
             " is not floating point; got ", running, ", expected ", x.dtype());
  ZERO_CHECK(running.device() == x.device(), Error, "batch_norm: devices differ; got input on ",
             x.device(), " and ", name, " on ", running.device(), ", expected one device");
  ZERO_CHECK(!(grad_enabled() && requires_grad(running)), Error, "batch_norm: the ", name,
             " requires a gradient; batch_norm has none for it, expected a tensor without");
  if (training) check_inplace("batch_norm", running, false);
}

Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
           const Tensor& running_var, bool training, double momentum, double eps, Tensor* stats) {
  ZERO_CHECK(is_floating(x.dtype()), DTypeError,
             "batch_norm: the input is not floating point; got ", x,
             ", expected a floating point tensor");
  if (x.dim() == 1 && x.numel() == 0) {  // as in PyTorch
    *stats = zeros({2, 0}, {DType::Float64, x.device()});
    return clone(x);
  }
  ZERO_CHECK(x.dim() >= 2, ShapeError, "batch_norm: no channels; got ", x,
             ", expected (N, C, ...)");
  check_parameter("batch_norm", "weight", weight, x, {x.size(1)});
  check_parameter("batch_norm", "bias", bias, x, {x.size(1)});
  check_running("running_mean", running_mean, x, training);
  check_running("running_var", running_var, x, training);
  Tensor y;
  const Layout layout(x);
  if (x.is_meta() || x.numel() == 0) {
    y = empty(x.sizes(), x.options());
    *stats = x.is_meta() || training ? zeros({2, x.size(1)}, {DType::Float64, x.device()})
                                     : remembered(running_mean, running_var, eps);
  } else {
    const GradModeGuard no_grad(false);
    const DenormalGuard denormal;
    const DType wide = compute_dtype(x.dtype());
    const Tensor in = layout.arranged(to(x, wide));
    const auto parameter = [&](const Tensor& p) {
      return p.defined() ? contiguous(to(p, wide)) : p;
    };
    Tensor variances;
    *stats = training ? measured(layout, in, eps, &variances)
                      : remembered(running_mean, running_var, eps);
    const Tensor factors =
        forward_factors(layout, *stats, parameter(weight), parameter(bias), wide);
    y = layout.result(x.sizes(), in.options());
    map(kernels().batch_norm->forward, layout, in, {}, factors, y);
    y = to(y, x.dtype());
    if (training && running_mean.defined())
      move_towards(running_mean, stats->data<double>(), momentum);
    if (training && running_var.defined())
      move_towards(running_var, variances.data<double>(), momentum);
  }
  const bool of_weight = requires_grad(weight), uses_stats = requires_grad(x) || of_weight;
  record("NativeBatchNormBackward0", {}, y, {&x, &weight, &bias},
         {keep((training && requires_grad(x)) || of_weight, x), keep(requires_grad(x), weight),
          keep(uses_stats, *stats)},
         [layout, training, eps](Node& n, const Tensor& g) {
           return backward(n, g, layout, training, eps);
         });
  return y;
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum, double eps) {
  Tensor stats;
  return run(x, weight, bias, running_mean, running_var, training, momentum, eps, &stats);
}

Tensors native_batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                          const Tensor& running_mean, const Tensor& running_var, bool training,
                          double momentum, double eps) {
  Tensor stats;
  Tensors results(3);
  results[0] = run(x, weight, bias, running_mean, running_var, training, momentum, eps, &stats);
  const GradModeGuard no_grad(false);
  const DType wide = compute_dtype(x.dtype());
  for (int64_t i = 0; i < 2; ++i)
    results[i + 1] =
        training ? to(clone(select(stats, 0, i)), wide) : empty({0}, {wide, x.device()});
  return results;
}

}  // namespace zero
