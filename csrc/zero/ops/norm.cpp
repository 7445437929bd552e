// Products and norms of all elements or along dimensions.
#include <cmath>
#include <limits>

#include "zero/autograd/inplace.h"
#include "zero/ops/autocast.h"
#include "zero/ops/loss_sum.h"
#include "zero/ops/pieces.h"
#include "zero/ops/reduce.h"

namespace zero {

Tensor prod_gradient(const Tensor& g, const Tensor& x, const Tensor& y,
                     const Dims& dims);  // scan.cpp

Tensor prod(const Tensor& x, const Dims& dims, bool keepdim, std::optional<DType> dtype) {
  if (autocast_on) return autocast(CastTo::Float32, prod, x, dims, keepdim, dtype);
  const DType result = dtype ? *dtype : is_floating(x.dtype()) ? x.dtype() : DType::Int64;
  const Selection selection("prod", x, dims);
  Tensor y = empty(selection.sizes(x, keepdim), {result, x.device()});
  if (!y.is_meta() && y.numel() > 0) {
    if (selection.count == 0) {
      GradModeGuard no_grad(false);
      fill_(y, 1);
    } else {
      const Tensor in = computable(computable(x, dtype ? result : x.dtype()));
      const DType from = is_floating(in.dtype()) ? DType::Float64 : DType::Int64;
      const Plan plan(in, selection, false);
      plan.for_each_tile([&](const Tile& tile) {
        double states[kReduceTile];  // or int64
        plan.fold(ReduceOp::Prod, tile, nullptr, states);
        plan.store(y, tile, from, states, 8);
      });
    }
  }
  record(dims.empty() ? "ProdBackward0" : "ProdBackward1", {}, y, {&x}, {&x, &y},
         [dims, kept = selection.sizes(x, true)](Node& n, const Tensor& g) {
           return prod_gradient(with_kept_dims(g, kept), n.saved(0),
                                with_kept_dims(n.saved(1), kept), dims);
         });
  return y;
}

namespace {

// Of all elements, which lie densely, in pieces that depend on their number only.
double sum_of_squares(const Tensor& x) {
  const auto size = [&](int64_t) { return x.numel(); };
  const auto squares = kernels().squares[static_cast<int>(compute_type(x.dtype()))];
  const DenormalGuard denormal;
  SmallVector<double, 16> parts(count_pieces(1, size));
  for_pieces(1, size, kGrainSize, [&](int64_t, int64_t begin, int64_t end, int64_t piece) {
    parts[piece] = squares(x.data<char>() + begin * itemsize(x.dtype()), end - begin);
  });
  return sum_of(parts.data(), parts.size());
}

// sqrt(sum x^2), with squares and their sum in float64: neither overflows in float32. The gradient
// at 0 is 0.
Tensor euclidean(const Tensor& x, const Selection& selection, const Dims& dims, bool keepdim) {
  Tensor y = empty(selection.sizes(x, keepdim), x.options());
  if (!y.is_meta() && y.numel() > 0) {
    if (selection.count == 0) {
      GradModeGuard no_grad(false);
      fill_(y, 0);
    } else if (const Tensor in = computable(x); y.numel() == 1 && is_dense(in)) {
      store_scalar(y.data(), y.dtype(), Scalar(std::sqrt(sum_of_squares(in))));
    } else {
      const Plan plan(in, selection, false);
      plan.for_each_tile([&](const Tile& tile) {
        DeviationState states[kReduceTile];
        double values[kReduceTile];
        plan.fold(ReduceOp::Deviation, tile, nullptr, states);
        for (int64_t j = 0; j < tile.n; ++j) values[j] = std::sqrt(states[j].squares);
        plan.store(y, tile, DType::Float64, values, 8);
      });
    }
  }
  record(dims.empty() ? "NormBackward0" : "NormBackward1", {}, y, {&x}, {&x, &y},
         [kept = selection.sizes(x, true)](Node& n, const Tensor& g) {
           const Tensor y = with_kept_dims(n.saved(1), kept), flat = eq(y, 0);
           const Tensor scale = div(with_kept_dims(g, kept), where(flat, 1.0, y));
           return mul(n.saved(0), where(flat, 0.0, scale));
         });
  return y;
}

}  // namespace

Tensor norm(const Tensor& x, double p, const Dims& dims, bool keepdim) {
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, "norm: only floating point dtypes have one; got ",
             x.dtype(), ", expected a floating point tensor");
  const Selection selection("norm", x, dims);
  if (p == 2) return euclidean(x, selection, dims, keepdim);
  if (std::isinf(p)) {
    selection.check_not_empty("norm", x);
    return p > 0 ? amax(abs(x), dims, keepdim) : amin(abs(x), dims, keepdim);
  }
  if (p == 0) {
    Tensor y = sum(to(ne(x, 0), x.dtype(), x.device()), dims, keepdim);
    record(dims.empty() ? "NormBackward0" : "NormBackward1", {}, y, {&x}, {},
           [options = x.options(), sizes = x.sizes()](Node&, const Tensor&) {
             return zeros(sizes, options);
           });
    return y;
  }
  if (p == 1) return sum(abs(x), dims, keepdim);
  if (itemsize(x.dtype()) < 4)  // where powers overflow soon
    return to(norm(to(x, DType::Float32, x.device()), p, dims, keepdim), x.dtype(), x.device());
  // At 0 the root has no slope; the gradient there is 0, as for p = 2. With p < 0 a norm is 0 where
  // an element is.
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor powers;
  if (p < 1) {  // nor has the power
    const Tensor none = eq(x, 0);
    powers = where(none, p > 0 ? 0.0 : infinity, pow(abs(where(none, 1.0, x)), p));
  } else {
    powers = pow(abs(x), p);
  }
  const Tensor total = sum(powers, dims, keepdim), flat = eq(total, 0);
  if (p > 0) return where(flat, 0.0, pow(where(flat, 1.0, total), 1 / p));
  const Tensor none = eq(total, infinity);
  const Tensor root = pow(where(logical_or(flat, none), 1.0, total), 1 / p);
  return where(none, 0.0, where(flat, infinity, root));
}

}  // namespace zero
