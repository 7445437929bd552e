// Sums, means, spreads and extremes of all elements or along dimensions, by way of reduce.h.
#include <cmath>
#include <limits>

#include "zero/ops/along.h"
#include "zero/ops/reduce.h"

namespace zero {

namespace {

// ---- sum and mean -------------------------------------------------------------------------------

void accumulate(const Tensor& x, const Selection& selection, const Tensor& y, bool mean,
                ReduceOp op = ReduceOp::Sum) {
  if (y.numel() == 0) return;
  if (selection.count == 0) {
    GradModeGuard no_grad(false);
    fill_(y, mean ? Scalar(std::numeric_limits<double>::quiet_NaN()) : Scalar(0));
    return;
  }
  const bool floating = is_floating(x.dtype()) && op != ReduceOp::Nonzero;
  const double count = static_cast<double>(selection.count);
  if (selection.count == x.numel() && x.is_contiguous() && x.numel() <= 2 * kChunk) {
    // What the plan below comes to, without making one: small sums are frequent.
    const DenormalGuard denormal;
    const ReduceDim dim{x.numel(), itemsize(x.dtype()), 1};
    const FoldArgs args{x.data<char>(), 1, 0, &dim, 1, false, nullptr, 0};
    double state;  // or int64
    kernels().reduce[static_cast<int>(op)][static_cast<int>(compute_type(x.dtype()))].fold(args,
                                                                                           &state);
    if (mean) state /= count;
    char* const data[2] = {y.data<char>(), reinterpret_cast<char*>(&state)};
    const int64_t strides[4] = {0, 0, 0, 0};
    const DType from = floating ? DType::Float64 : DType::Int64;
    kernels().cast[static_cast<int>(from)][static_cast<int>(y.dtype())](data, strides, 1, 1,
                                                                        nullptr);
    return;
  }
  const Plan plan(x, selection, false);
  plan.for_each_tile([&](const Tile& tile) {
    double states[kReduceTile];  // or int64
    plan.fold(op, tile, nullptr, states);
    if (mean)
      for (int64_t j = 0; j < tile.n; ++j) states[j] /= count;
    plan.store(y, tile, floating ? DType::Float64 : DType::Int64, states, 8);
  });
}

// ---- var and std --------------------------------------------------------------------------------

// Two passes in float64. With m the rounded mean, sum (x - m)^2 - (sum (x - m))^2 / n corrects its
// rounding.
void deviations(const Tensor& x, const Selection& selection, const Tensor& y, double correction,
                bool root) {
  if (y.numel() == 0) return;
  if (selection.count == 0) {
    GradModeGuard no_grad(false);
    fill_(y, Scalar(std::numeric_limits<double>::quiet_NaN()));
    return;
  }
  const Plan plan(x, selection, false);
  const double count = static_cast<double>(selection.count),
               freedom = std::max(0.0, count - correction);
  plan.for_each_tile([&](const Tile& tile) {
    double values[kReduceTile];
    DeviationState states[kReduceTile];
    plan.fold(ReduceOp::Sum, tile, nullptr, values);
    for (int64_t j = 0; j < tile.n; ++j) values[j] /= count;
    plan.fold(ReduceOp::Deviation, tile, values, states);
    for (int64_t j = 0; j < tile.n; ++j) {
      const double squares = states[j].squares - states[j].sum * states[j].sum / count;
      const double variance = (squares < 0 ? 0 : squares) / freedom;
      values[j] = root ? std::sqrt(variance) : variance;
    }
    plan.store(y, tile, DType::Float64, values, 8);
  });
}

Tensor deviation(const char* op, const char* node, const Tensor& x, const Dims& dims,
                 double correction, bool keepdim, bool root) {
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, op, ": only floating point dtypes have one; got ",
             x.dtype(), ", expected a floating point tensor");
  const Selection selection(op, x, dims);
  Tensor y = empty(selection.sizes(x, keepdim), x.options());
  if (!y.is_meta()) deviations(computable(x), selection, y, correction, root);
  record(node, {}, y, {&x}, {&x, keep(root, y)},
         [dims, kept = selection.sizes(x, true),
          freedom = static_cast<double>(selection.count) - correction,
          root](Node& n, const Tensor& g) {
           const Tensor x = n.saved(0);
           Tensor scale = g;
           if (root) {
             const Tensor y = n.saved(1);
             scale = where(eq(y, 0), 0.0, div(g, mul(y, 2)));
           }
           scale = with_kept_dims(scale, kept);
           const Tensor center = mean(x, dims, true);
           if (freedom <= 0) {
             const double inf = std::numeric_limits<double>::infinity();
             return mul(where(eq(x, center), std::numeric_limits<double>::quiet_NaN(), inf), scale);
           }
           return mul(sub(x, center), mul(scale, 2 / freedom));
         });
  return y;
}

// ---- max and min --------------------------------------------------------------------------------

// Equal elements share the gradient evenly.
Tensor extreme(const char* op, const char* node, const Tensor& x, const Dims& dims, bool keepdim,
               ReduceOp reduce_op) {
  const Selection selection(op, x, dims);
  selection.check_not_empty(op, x);
  Tensor y = empty(selection.sizes(x, keepdim), x.options());
  if (!y.is_meta() && y.numel() > 0) {
    const Tensor in = computable(x);
    const Plan plan(in, selection, false);
    plan.for_each_tile([&](const Tile& tile) {
      alignas(16) char states[kReduceTile * 8];
      plan.fold(reduce_op, tile, nullptr, states);
      plan.store(y, tile, in.dtype(), states, itemsize(in.dtype()));
    });
  }
  record(node, {}, y, {&x}, {&x, &y},
         [dims, kept = selection.sizes(x, true)](Node& n, const Tensor& g) {
           const Tensor x = n.saved(0), best = with_kept_dims(detach(n.saved(1)), kept);
           const Tensor chosen = where(isnan(best), isnan(x), eq(x, best));
           const Tensor share = div(with_kept_dims(g, kept), sum(chosen, dims, true));
           return where(chosen, share, 0.0);
         });
  return y;
}

// The dimensions of argmax: one, or all as if flattened.
Dims arg_dims(const char* op, const Tensor& x, std::optional<int64_t> dim) {
  return dim ? Dims{wrap_dim(op, *dim, x.dim())} : Dims{};
}

void fold_arg(const Tensor& x, const Selection& selection, ReduceOp op, const Tensor* values,
              const Tensor& indices) {
  if (indices.numel() == 0) return;
  const Tensor in = computable(x);
  const Plan plan(in, selection, true);
  plan.for_each_tile([&](const Tile& tile) {
    alignas(16) char states[kReduceTile * kMaxStateSize];  // ArgState of in's type
    plan.fold(op, tile, nullptr, states);
    if (values) plan.store(*values, tile, in.dtype(), states, kMaxStateSize);
    plan.store(indices, tile, DType::Int64, states + 8, kMaxStateSize);
  });
}
static_assert(sizeof(ArgState<float>) == kMaxStateSize && sizeof(ArgState<bool>) == kMaxStateSize);

Tensor arg_extreme(const char* op, const Tensor& x, std::optional<int64_t> dim, bool keepdim,
                   ReduceOp reduce_op) {
  const Selection selection(op, x, arg_dims(op, x, dim));
  selection.check_not_empty(op, x);
  Tensor indices = empty(selection.sizes(x, keepdim), {DType::Int64, x.device()});
  if (!indices.is_meta()) fold_arg(x, selection, reduce_op, nullptr, indices);
  return indices;
}

std::pair<Tensor, Tensor> extreme_along(const char* op, const char* node, const Tensor& x,
                                        int64_t dim, bool keepdim, ReduceOp reduce_op) {
  dim = wrap_dim(op, dim, x.dim());
  const Selection selection(op, x, {dim});
  selection.check_not_empty(op, x);
  const Dims sizes = selection.sizes(x, keepdim);
  Tensor values = empty(sizes, x.options()), indices = empty(sizes, {DType::Int64, x.device()});
  if (!values.is_meta()) fold_arg(x, selection, reduce_op, &values, indices);
  record(node, {}, values, {&x}, {&indices},
         [dim, kept = selection.sizes(x, true), n = x.dim() == 0 ? 1 : x.size(dim)](
             Node& node, const Tensor& g) {
           if (kept.empty()) return g;  // one element
           return put_along(with_kept_dims(g, kept), with_kept_dims(node.saved(0), kept), dim, n);
         });
  return {std::move(values), std::move(indices)};
}

// all and any are the smallest and the largest truth.
Tensor truth(const char* op, const Tensor& x, const Dims& dims, bool keepdim, ReduceOp reduce_op) {
  const Selection selection(op, x, dims);
  Tensor y = empty(selection.sizes(x, keepdim), {DType::Bool, x.device()});
  if (y.is_meta() || y.numel() == 0) return y;
  if (selection.count == 0) return fill_(y, Scalar(reduce_op == ReduceOp::Min));
  const Tensor in = computable(x, DType::Bool);
  const Plan plan(in, selection, false);
  plan.for_each_tile([&](const Tile& tile) {
    bool states[kReduceTile];
    plan.fold(reduce_op, tile, nullptr, states);
    plan.store(y, tile, DType::Bool, states, 1);
  });
  return y;
}

// ---- selection along a dimension ----------------------------------------------------------------

int log2_size(DType t) {
  const int64_t item = itemsize(t);
  return item == 8 ? 3 : item == 4 ? 2 : item == 2 ? 1 : 0;
}

// Places come from the forward pass, -1 for none; but a tensor of them may have been given to numpy
// and overwritten, which is not counted as a write.
void check_places(const int64_t* index, int64_t begin, int64_t end, int64_t n) {
  for (int64_t i = begin; i < end; ++i)
    ZERO_CHECK(index[i] >= -1 && index[i] < n, IndexError,
               "backward: an index was overwritten after the forward pass; got ", index[i],
               ", expected 0 <= index < ", n);
}

// Runs take_along or put_along over all places; `wide` is the tensor that has n elements along dim.
void run_along(AlongFn kernel, const Tensor& from, const Tensor& to, const Tensor& index,
               const Tensor& wide, int64_t dim) {
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < wide.dim(); ++d) inner *= wide.size(d);
  const AlongArgs args{from.data(), to.data(), index.data<int64_t>(), wide.size(dim), inner};
  parallel_for(index.numel(), kGrainSize / 4, [&](int64_t begin, int64_t end) {
    check_places(args.index, begin, end, args.n);
    kernel(args, begin, end);
  });
}

}  // namespace

Tensor without_repeats(const Tensor& x, int64_t dim) {
  Tensor own;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (d == dim || x.size(d) <= 1 || x.stride(d) != 0) continue;
    own = slice(own.defined() ? own : detach(x), d, 0, 1);
  }
  return own;
}

Tensor take_along(const Tensor& x, const Tensor& index, int64_t dim) {
  Dims sizes = x.sizes();
  sizes[dim] = 1;
  Tensor y = empty(sizes, x.options());
  if (!y.is_meta()) {
    GradModeGuard no_grad(false);
    const Tensor from = contiguous(x), places = contiguous(index);
    run_along(kernels().take_along[log2_size(x.dtype())], from, y, places, x, dim);
  }
  record("GatherBackward0", {}, y, {&x}, {&index},
         [dim, n = x.size(dim)](Node& node, const Tensor& g) {
           return put_along(g, node.saved(0), dim, n);
         });
  return y;
}

Tensor put_along(const Tensor& x, const Tensor& index, int64_t dim, int64_t n) {
  Dims sizes = x.sizes();
  sizes[dim] = n;
  Tensor y = zeros(sizes, x.options());
  if (!y.is_meta()) {
    GradModeGuard no_grad(false);
    const Tensor from = contiguous(x), places = contiguous(index);
    run_along(kernels().put_along[log2_size(x.dtype())], from, y, places, y, dim);
  }
  record("ScatterBackward0", {}, y, {&x}, {&index},
         [dim](Node& node, const Tensor& g) { return take_along(g, node.saved(0), dim); });
  return y;
}

Tensor sum(const Tensor& x, const Dims& dims, bool keepdim, std::optional<DType> dtype) {
  const Selection selection("sum", x, dims);
  const DType out = dtype ? *dtype : is_floating(x.dtype()) ? x.dtype() : DType::Int64;
  Tensor y = empty(selection.sizes(x, keepdim), {out, x.device()});
  if (!y.is_meta()) {
    // Elements are converted before they are added where that can change the sum.
    DType in = compute_dtype(x.dtype());
    if (is_floating(in) && !is_floating(out)) in = compute_dtype(out);
    if (in == DType::Int64 && is_floating(out)) in = DType::Float64;
    const bool truth = out == DType::Bool && in != DType::Bool;
    accumulate(computable(truth ? computable(x, DType::Bool) : x, truth ? DType::Bool : in),
               selection, y, false);
  }
  if (dims.empty()) {
    record("SumBackward0", {}, y, {&x}, {},
           [sizes = x.sizes(), dtype = x.dtype()](Node&, const Tensor& g) {
             return expand(g.dtype() == dtype ? g : to(g, dtype, g.device()), sizes);
           });
  } else {
    record("SumBackward1", {}, y, {&x}, {},
           [sizes = x.sizes(), kept = selection.sizes(x, true), dtype = x.dtype()](
               Node&, const Tensor& g) {
             const Tensor h = g.dtype() == dtype ? g : to(g, dtype, g.device());
             return expand(with_kept_dims(h, kept), sizes);
           });
  }
  return y;
}

Tensor nansum(const Tensor& x, const Dims& dims, bool keepdim, std::optional<DType> dtype) {
  const DType out = dtype.value_or(x.dtype());
  if (!is_floating(x.dtype()) || !is_floating(out)) return sum(x, dims, keepdim, dtype);
  const Selection selection("nansum", x, dims);
  Tensor y = empty(selection.sizes(x, keepdim), {out, x.device()});
  if (!y.is_meta()) accumulate(computable(x), selection, y, false, ReduceOp::NanSum);
  record("NansumBackward0", {}, y, {&x}, {&x},
         [kept = selection.sizes(x, true)](Node& n, const Tensor& g) {
           const Tensor x = n.saved(0);
           const Tensor h = to(with_kept_dims(g, kept), x.dtype(), x.device());
           return where(isnan(x), 0.0, expand(h, x.sizes()));
         });
  return y;
}

Tensor count_nonzero(const Tensor& x, const Dims& dims) {
  if (x.dtype() == DType::Bool) return sum(x, dims);
  const Selection selection("count_nonzero", x, dims);
  Tensor y = empty(selection.sizes(x, false), {DType::Int64, x.device()});
  if (!y.is_meta()) accumulate(computable(x), selection, y, false, ReduceOp::Nonzero);
  return y;
}

Tensor mean(const Tensor& x, const Dims& dims, bool keepdim, std::optional<DType> dtype) {
  const DType out = dtype ? *dtype : x.dtype();
  ZERO_CHECK(is_floating(out), DTypeError, "mean: could not infer the dtype of the result; got ",
             out, ", expected a floating point tensor, or dtype= a floating point dtype");
  const Selection selection("mean", x, dims);
  Tensor y = empty(selection.sizes(x, keepdim), {out, x.device()});
  if (!y.is_meta())
    accumulate(computable(x, is_floating(x.dtype()) ? compute_dtype(x.dtype()) : DType::Float64),
               selection, y, true);
  record(dims.empty() ? "MeanBackward0" : "MeanBackward1", {}, y, {&x}, {},
         [sizes = x.sizes(), kept = selection.sizes(x, true), dtype = x.dtype(),
          over_all = dims.empty(),
          count = static_cast<double>(selection.count)](Node&, const Tensor& g) {
           Tensor h = g.dtype() == dtype ? g : to(g, dtype, g.device());
           if (!over_all) h = with_kept_dims(h, kept);
           if (grad_enabled()) return div(expand(h, sizes), count);
           // One number repeated, but no view to the user's eyes: autograd.grad gives a copy.
           const Tensor wide = expand(div(h, count), sizes);
           return alias("mean", wide, wide.sizes(), wide.strides(), 0);
         });
  return y;
}

Tensor var(const Tensor& x, const Dims& dims, double correction, bool keepdim) {
  return deviation("var", "VarBackward0", x, dims, correction, keepdim, false);
}
Tensor std_dev(const Tensor& x, const Dims& dims, double correction, bool keepdim) {
  return deviation("std", "StdBackward0", x, dims, correction, keepdim, true);
}

Tensor amax(const Tensor& x, const Dims& dims, bool keepdim) {
  return extreme("amax", "AmaxBackward0", x, dims, keepdim, ReduceOp::Max);
}
Tensor amin(const Tensor& x, const Dims& dims, bool keepdim) {
  return extreme("amin", "AminBackward0", x, dims, keepdim, ReduceOp::Min);
}
Tensor max(const Tensor& x) { return extreme("max", "MaxBackward1", x, {}, false, ReduceOp::Max); }
Tensor min(const Tensor& x) { return extreme("min", "MinBackward1", x, {}, false, ReduceOp::Min); }
std::pair<Tensor, Tensor> max(const Tensor& x, int64_t dim, bool keepdim) {
  return extreme_along("max", "MaxBackward0", x, dim, keepdim, ReduceOp::ArgMax);
}
std::pair<Tensor, Tensor> min(const Tensor& x, int64_t dim, bool keepdim) {
  return extreme_along("min", "MinBackward0", x, dim, keepdim, ReduceOp::ArgMin);
}
Tensor argmax(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  return arg_extreme("argmax", x, dim, keepdim, ReduceOp::ArgMax);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  return arg_extreme("argmin", x, dim, keepdim, ReduceOp::ArgMin);
}
Tensor all(const Tensor& x, const Dims& dims, bool keepdim) {
  return truth("all", x, dims, keepdim, ReduceOp::Min);
}
Tensor any(const Tensor& x, const Dims& dims, bool keepdim) {
  return truth("any", x, dims, keepdim, ReduceOp::Max);
}

bool equal(const Tensor& a, const Tensor& b) {
  ZERO_CHECK(!a.is_meta() && !b.is_meta(), Error, "equal: meta tensors have no values; got ",
             a.device(), " and ", b.device(), ", expected cpu tensors");
  if (!(a.sizes() == b.sizes())) return false;
  GradModeGuard no_grad(false);
  return *all(eq(a, b)).data<bool>();
}

Tensor sum_to(const Tensor& x, const Dims& sizes) {
  if (x.sizes() == sizes) return x;
  ZERO_CHECK(expands_to(sizes, x.sizes()), ShapeError,
             "sum_to: the shape does not broadcast to the tensor's; got ", sizes,
             ", expected one that expands to ", x.sizes());
  if (sizes.empty()) return sum(x);  // no view, which detach_() would refuse
  const int64_t lead = x.dim() - sizes.size();
  Dims dims;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (d < lead || (sizes[d - lead] == 1 && x.size(d) != 1)) dims.push_back(d);
  const Tensor y = dims.empty() ? x : sum(x, dims, true);
  return y.sizes() == sizes ? y : view(y, sizes);
}

}  // namespace zero
