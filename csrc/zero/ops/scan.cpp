// Running sums and products along a dimension.
#include "zero/autograd/record.h"
#include "zero/kernels/table.h"
#include "zero/ops/along.h"
#include "zero/ops/ops.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

// f(first element, lanes) for up to kScanLanes neighbouring columns at a time of a contiguous
// tensor seen as [.., n, inner] around a dimension, `work` additions per element.
template <class F>
void each_columns(int64_t n, int64_t inner, int64_t numel, int64_t work, F f) {
  const int64_t blocks = (inner + kScanLanes - 1) / kScanLanes, outer = numel / (n * inner);
  const DenormalGuard denormal;
  parallel_for(outer * blocks,
               std::max<int64_t>(1, kGrainSize / work / (n * std::min(inner, kScanLanes))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t lane = i % blocks * kScanLanes;
                   f(i / blocks * n * inner + lane, std::min(kScanLanes, inner - lane));
                 }
               });
}

struct Along {
  Along(const Tensor& x, int64_t dim) : n(x.dim() == 0 ? 1 : x.size(dim)) {
    for (int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.size(d);
  }
  int64_t n, inner = 1;
};

// x is contiguous and of the dtype of the arithmetic.
void run_scan(ScanFn scan, int64_t work, const Tensor& x, const Tensor& y, int64_t dim,
              bool reverse) {
  const auto [n, inner] = Along(x, dim);
  const int64_t item = itemsize(x.dtype());
  each_columns(n, inner, x.numel(), work, [&](int64_t first, int64_t lanes) {
    scan({x.data<char>() + first * item, y.data<char>() + first * item, n, lanes, inner, reverse});
  });
}

Tensor scanned(const char* name, ScanOp op, const Tensor& x, int64_t dim,
               std::optional<DType> dtype, bool reverse) {
  const DType result = dtype ? *dtype : is_floating(x.dtype()) ? x.dtype() : DType::Int64;
  ZERO_CHECK(result != DType::Bool, DTypeError, name,
             ": not defined for bool; got dtype bool, expected a number");
  const Tensor own = x.is_meta() || x.numel() == 0 ? Tensor() : without_repeats(x, dim);
  if (own.defined())
    return contiguous(expand(scanned(name, op, own, dim, result, reverse), x.sizes()));
  Tensor y = empty(x.sizes(), {compute_dtype(result), x.device()});
  if (y.is_meta() || y.numel() == 0) return to(y, result, y.device());
  GradModeGuard no_grad(false);
  // Elements become the result's dtype first, then that of the arithmetic.
  const Tensor in = contiguous(to(to(x, result, x.device()), y.dtype(), x.device()));
  run_scan(kernels().scan[static_cast<int>(op)][static_cast<int>(compute_type(y.dtype()))], 2, in,
           y, dim, reverse);
  return to(y, result, y.device());
}

// x[i, j, l] with 1 at i == j: the factors that remain where factor i is left out. [o, n, n, l]
Tensor without_each(const Tensor& x) {  // x is [o, n, l]
  const int64_t o = x.size(0), n = x.size(1), l = x.size(2);
  const Tensor own = view(eye(n, n, {DType::Bool, x.device()}), {1, n, n, 1});
  return where(own, 1.0, expand(unsqueeze(x, 1), {o, n, n, l}));
}

// d/dx[i] of a running product is, with P[i, k] the product of x[j] over j <= k, j != i,
// sum over k >= i of g[k] P[i, k]. It needs n^2 numbers, so it is for inputs that hold zeros only.
Tensor cumprod_gradient(const Tensor& g, const Tensor& x, int64_t dim, bool reverse) {
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < dim; ++d) outer *= x.size(d);
  for (int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.size(d);
  const int64_t n = x.size(dim);
  const Tensor flat = reshape(x, {outer, n, inner});
  const Tensor products = cumprod(without_each(flat), 2, {}, reverse);  // [o, i, k, l]
  const Tensor places = arange(0, n, 1, {DType::Int64, x.device()});
  const Tensor i = view(places, {n, 1}), k = view(places, {1, n});
  const Tensor reached = view(reverse ? le(k, i) : ge(k, i), {1, n, n, 1});
  const Tensor weighted = mul(unsqueeze(reshape(g, {outer, n, inner}), 1), products);
  return reshape(sum(where(reached, weighted, 0.0), {2}), x.sizes());
}

// cummax and cummin: the gradient goes to the elements that the results are.
std::pair<Tensor, Tensor> extremes(const char* op, const char* node, bool largest, const Tensor& x,
                                   int64_t dim) {
  const int64_t d = wrap_dim(op, dim, x.dim());
  Tensor values = empty(x.sizes(), {compute_dtype(x.dtype()), x.device()});
  Tensor indices = empty(x.sizes(), {DType::Int64, x.device()});
  if (!x.is_meta() && x.numel() > 0) {
    const Tensor in = contiguous(to(detach(x), values.dtype(), x.device()));
    const auto [n, inner] = Along(x, d);
    const auto& scans = largest ? kernels().cummax : kernels().cummin;
    const ExtremeScanFn scan = scans[static_cast<int>(compute_type(x.dtype()))];
    const int64_t item = itemsize(in.dtype());
    each_columns(n, inner, x.numel(), 2, [&, n = n, inner = inner](int64_t first, int64_t lanes) {
      scan({in.data<char>() + first * item, values.data<char>() + first * item,
            indices.data<int64_t>() + first, n, lanes, inner});
    });
  }
  values = to(values, x.dtype(), x.device());
  const Tensor watched = outline(x);
  record(node, {}, values, {&x}, {&indices, &watched},
         [d, sizes = x.sizes()](Node& n, const Tensor& g) {
           n.saved(1);  // raises if x was written to
           if (sizes.empty()) return g;
           return scatter("scatter_add", zeros(sizes, g.options()), d, n.saved(0), g, Combine::Add);
         });
  return {std::move(values), std::move(indices)};
}

bool has_zero(const Tensor& x) {
  if (x.is_meta()) return false;
  GradModeGuard no_grad(false);
  return item(any(eq(x, 0))).to_bool();
}

}  // namespace

Tensor cumsum(const Tensor& x, int64_t dim, std::optional<DType> dtype, bool reverse) {
  const int64_t d = wrap_dim("cumsum", dim, x.dim());
  Tensor y = scanned("cumsum", ScanOp::Sum, x, d, dtype, reverse);
  record("CumsumBackward0", {}, y, {&x}, {},
         [d, reverse](Node&, const Tensor& g) { return cumsum(g, d, {}, !reverse); });
  return y;
}

Tensor cumprod(const Tensor& x, int64_t dim, std::optional<DType> dtype, bool reverse) {
  const int64_t d = wrap_dim("cumprod", dim, x.dim());
  Tensor y = scanned("cumprod", ScanOp::Prod, x, d, dtype, reverse);
  record("CumprodBackward0", {}, y, {&x}, {&x, &y}, [d, reverse](Node& n, const Tensor& g) {
    const Tensor x = n.saved(0);
    if (x.dim() == 0 || x.numel() == 0) return g;
    if (has_zero(x)) return cumprod_gradient(g, x, d, reverse);
    return div(cumsum(mul(g, n.saved(1)), d, {}, !reverse), x);
  });
  return y;
}

std::pair<Tensor, Tensor> cummax(const Tensor& x, int64_t dim) {
  return extremes("cummax", "CummaxBackward0", true, x, dim);
}
std::pair<Tensor, Tensor> cummin(const Tensor& x, int64_t dim) {
  return extremes("cummin", "CumminBackward0", false, x, dim);
}

// d/dx[i] is the sum over k >= i of g[k] exp(x[i] - y[k]). Its positive and its negative part are
// such sums of exponentials themselves, so that nothing overflows.
Tensor logcumsumexp(const Tensor& x, int64_t dim, bool reverse) {
  const int64_t d = wrap_dim("logcumsumexp", dim, x.dim());
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, "logcumsumexp: not of floats; got ", x,
             ", expected a floating point tensor");
  Tensor y = empty(x.sizes(), {compute_dtype(x.dtype()), x.device()});
  if (!x.is_meta() && x.numel() > 0) {
    const Tensor in = contiguous(to(detach(x), y.dtype(), x.device()));
    run_scan(kernels().logcumsumexp[static_cast<int>(compute_type(y.dtype()))], 16, in, y, d,
             reverse);
  }
  y = to(y, x.dtype(), x.device());
  record("LogcumsumexpBackward0", {}, y, {&x}, {&x, &y}, [d, reverse](Node& n, const Tensor& g) {
    const Tensor x = n.saved(0), y = n.saved(1);
    if (x.dim() == 0 || x.numel() == 0) return g;
    const double inf = std::numeric_limits<double>::infinity();
    const Tensor some = ne(y, -inf);  // where nothing was added up, nothing changes
    const auto part = [&](const Tensor& g) {
      const Tensor counts = logical_and(gt(g, 0), some);
      const Tensor logs = sub(log(where(counts, g, 1.0)), where(counts, y, 0.0));
      return exp(add(logcumsumexp(where(counts, logs, -inf), d, !reverse), x));
    };
    return sub(part(g), part(neg(g)));
  });
  return y;
}

// d/dx[i] is g times the product of the others: y / x[i], or, where factors are zero, the product
// of those before times that of those behind.
Tensor prod_gradient(const Tensor& g, const Tensor& x, const Tensor& y, const Dims& dims) {
  if (x.numel() == 0) return mul(g, x);  // no numbers, but a history
  if (x.dim() == 0) return g;
  if (!has_zero(x)) return div(mul(g, y), x);
  // The reduced dimensions go last and become one.
  SmallVector<bool, 8> reduced(x.dim(), dims.empty());
  for (int64_t d : wrap_dims("prod", dims, x.dim()))
    if (x.dim() > 0) reduced[d] = true;
  Dims order, inverse(x.dim()), sizes;
  for (bool last : {false, true})
    for (int64_t d = 0; d < x.dim(); ++d)
      if (reduced[d] == last) order.push_back(d);
  int64_t n = 1;
  for (int64_t i = 0; i < x.dim(); ++i) {
    inverse[order[i]] = i;
    sizes.push_back(x.size(order[i]));
    if (reduced[order[i]]) n *= sizes[i];
  }
  const int64_t outer = x.numel() / n;
  const Tensor rows = reshape(permute(x, order), {outer, n});
  const Tensor one = ones({outer, 1}, x.options());
  const Tensor before = cumprod(cat({one, slice(rows, 1, 0, n - 1)}, 1), 1);
  const Tensor behind = cumprod(cat({slice(rows, 1, 1, n), one}, 1), 1, {}, true);
  const Tensor others = permute(reshape(mul(before, behind), sizes), inverse);
  return mul(g, others);
}

}  // namespace zero
