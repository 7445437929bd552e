// Softmax and log-softmax along one dimension, each beside its gradient.
#include "zero/autograd/record.h"
#include "zero/kernels/table.h"
#include "zero/ops/ops.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

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

Tensor converted(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : to(x, dtype, x.device());
}

Tensor softmax_backward(const Tensor& y, const Tensor& g, int64_t dim, bool log) {
  const Dims dims = y.dim() == 0 ? Dims() : Dims{dim};
  if (grad_enabled() || y.is_meta()) {
    if (log) return sub(g, mul(exp(y), sum(g, dims, true)));
    return mul(y, sub(g, sum(mul(g, y), dims, true)));
  }
  const DType dtype = compute_dtype(y.dtype());
  const Tensor saved = converted(contiguous(y), dtype), from = converted(contiguous(g), dtype);
  Tensor out = empty(y.sizes(), saved.options());
  const int type = static_cast<int>(compute_type(dtype));
  run(kernels().softmax_backward_rows[type], kernels().softmax_backward_columns[type], saved, &from,
      out, dim, log);
  return converted(out, y.dtype());
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
    const Tensor in = contiguous(converted(x, compute));
    y = empty(x.sizes(), in.options());
    run(kernels().softmax_rows[type], kernels().softmax_columns[type], in, nullptr, y, dim, log);
    y = converted(y, result);
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

}  // namespace zero
