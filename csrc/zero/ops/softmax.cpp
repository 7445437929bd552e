// Softmax and log-softmax along one dimension, logsumexp along several, each beside its gradient.
#include "zero/ops/reduce.h"

namespace zero {

namespace {

constexpr int64_t kGrain = kGrainSize / 4;  // an exponential costs about four additions

// A contiguous tensor seen as [outer, n, inner] around dimension `dim`.
struct Layout {
  Layout(const Tensor& x, int64_t dim) {
    for (int64_t d = 0; d < x.dim(); ++d) (d < dim ? outer : d == dim ? n : inner) *= x.size(d);
  }
  int64_t outer = 1, n = 1, inner = 1;
};

// x and g (or null) are read and out is written in this layout, all contiguous and of one dtype.
void run(SoftmaxFn rows, SoftmaxFn columns, const Tensor& x, const Tensor* g, const Tensor& out,
         int64_t dim, bool log) {
  if (out.numel() == 0) return;
  const Layout layout(x, dim);
  const int64_t item = itemsize(x.dtype()), n = layout.n, inner = layout.inner;
  const char *const from = x.data<char>(), *const gradient = g ? g->data<char>() : nullptr;
  char* const to = out.data<char>();
  const DenormalGuard denormal;
  if (inner == 1) {
    parallel_for(layout.outer, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
      const int64_t at = begin * n * item;
      rows({from + at, g ? gradient + at : nullptr, to + at, end - begin, n, 0, 0, log});
    });
    return;
  }
  const int64_t tiles = (inner + kSoftmaxLanes - 1) / kSoftmaxLanes;
  const int64_t work = n * std::min(inner, kSoftmaxLanes);
  parallel_for(layout.outer * tiles, std::max<int64_t>(1, kGrain / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t t = begin; t < end; ++t) {
                   const int64_t lane = t % tiles * kSoftmaxLanes;
                   const int64_t at = (t / tiles * n * inner + lane) * item;
                   columns({from + at, g ? gradient + at : nullptr, to + at, 1, n,
                            std::min(kSoftmaxLanes, inner - lane), inner, log});
                 }
               });
}

Tensor softmax_backward(const Tensor& y, const Tensor& g, int64_t dim, bool log) {
  const Dims dims = y.dim() == 0 ? Dims() : Dims{dim};
  if (grad_enabled() || y.is_meta()) {
    if (log) return sub(g, mul(exp(y), sum(g, dims, true)));
    return mul(y, sub(g, sum(mul(g, y), dims, true)));
  }
  const DType dtype = compute_dtype(y.dtype());
  const Tensor saved = to(contiguous(y), dtype), from = to(contiguous(g), dtype);
  Tensor out = empty(y.sizes(), saved.options());
  const int type = static_cast<int>(compute_type(dtype));
  run(kernels().softmax_backward_rows[type], kernels().softmax_backward_columns[type], saved, &from,
      out, dim, log);
  return to(out, y.dtype());
}

Tensor softmax_forward(const char* op, const char* node, const Tensor& x, int64_t dim,
                       std::optional<DType> dtype, bool log) {
  const DType result = dtype.value_or(x.dtype());
  ZERO_CHECK(is_floating(result), DTypeError, op, ": the result needs a floating point dtype; got ",
             result, ", expected a floating point tensor, or dtype= a floating point dtype");
  dim = wrap_dim(op, dim, x.dim());
  Tensor y;
  if (x.is_meta()) {
    y = empty(x.sizes(), {result, x.device()});
  } else {
    GradModeGuard no_grad(false);
    const DType compute = compute_dtype(result);
    const int type = static_cast<int>(compute_type(compute));
    const Tensor in = contiguous(to(x, compute));
    y = empty(x.sizes(), in.options());
    run(kernels().softmax_rows[type], kernels().softmax_columns[type], in, nullptr, y, dim, log);
    y = to(y, result);
  }
  record(node, {}, y, {&x}, {&y}, [dim, log](Node& n, const Tensor& g) {
    return softmax_backward(n.saved(0), g, dim, log);
  });
  return y;
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  return softmax_forward("softmax", "SoftmaxBackward0", x, dim, dtype, false);
}
Tensor log_softmax(const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  return softmax_forward("log_softmax", "LogSoftmaxBackward0", x, dim, dtype, true);
}

static Tensor logsumexp_value(const Tensor& x, const Dims& dims, bool keepdim) {
  if (x.numel() == 0 || x.is_meta()) return log(sum(exp(x), dims, keepdim));
  // The largest is taken off first, unless it is infinite: inf - inf would be nan.
  const Tensor largest = amax(x, dims, true);
  const Tensor top = where(isinf(largest), 0.0, largest);
  const Tensor shifted = sub(x, top);
  Tensor y = sum(exp(shifted, Target::inplace(shifted)), dims, keepdim);
  y = log(y, Target::inplace(y));
  return add(y, view(top, y.sizes()), 1, Target::inplace(y));
}

Tensor logsumexp(const Tensor& input, const Dims& dims, bool keepdim) {
  const Tensor x = is_floating(input.dtype()) ? input : to(input, default_dtype());
  const Selection selection("logsumexp", x, dims);
  Tensor y;
  {
    GradModeGuard no_grad(false);
    const DType wide = compute_dtype(x.dtype());
    y = to(logsumexp_value(to(x, wide), dims, keepdim), x.dtype());
  }
  record("LogsumexpBackward0", {}, y, {&x}, {&x, &y},
         [kept = selection.sizes(x, true)](Node& n, const Tensor& g) {
           const Tensor x = n.saved(0), y = n.saved(1);
           // In a row of -inf alone nothing has a part in the sum.
           const Tensor nothing = eq(y, Scalar(-std::numeric_limits<double>::infinity()));
           const Tensor total = with_kept_dims(where(nothing, 0.0, y), kept);
           return mul(with_kept_dims(g, kept), exp(sub(x, total)));
         });
  return y;
}

}  // namespace zero
