// Distances of the rows of two matrices, for each of a batch of matrices.
#include <cmath>
#include <vector>

#include "zero/autograd/record.h"
#include "zero/ops/autocast.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

constexpr int64_t kTaskRows = 256, kTaskColumns = 64;
constexpr int64_t kBackwardRows = 64;

// Tasks per range: about as much work as kGrainSize elements of a cheap loop.
int64_t grain_of(int64_t work) {
  return std::max<int64_t>(1, kGrainSize / std::max(work, int64_t{1}));
}

DistanceArgs arguments(const Tensor& x, const Tensor& y, double p) {
  DistanceArgs a{};
  a.m = x.size(2);
  a.p = p;
  a.rows = x.size(1);
  a.columns = y.size(1);
  return a;
}

template <class T>
void distances(const Tensor& out, const Tensor& x, const Tensor& y, double p) {
  const DistanceArgs all = arguments(x, y, p);
  const int64_t rows = all.rows, columns = all.columns, m = all.m;
  const int64_t row_tasks = (rows + kTaskRows - 1) / kTaskRows;
  const int64_t column_tasks = (columns + kTaskColumns - 1) / kTaskColumns;
  const auto run = kernels().distance[static_cast<int>(compute_type(dtype_of<T>))];
  const int64_t work = std::min(rows, kTaskRows) * std::min(columns, kTaskColumns) * (m + 1);
  const int64_t per_batch = row_tasks * column_tasks;
  const DenormalGuard denormal;
  parallel_for(x.size(0) * per_batch, grain_of(work), [&](int64_t begin, int64_t end) {
    std::vector<T> scratch(static_cast<size_t>(m * kTaskColumns));
    for (int64_t t = begin; t < end; ++t) {
      const int64_t b = t / per_batch, i = t % per_batch / column_tasks * kTaskRows,
                    j = t % column_tasks * kTaskColumns;
      DistanceArgs a = all;
      a.x = x.data<T>() + (b * rows + i) * m;
      a.y = y.data<T>() + (b * columns + j) * m;
      a.out = out.data<T>() + (b * rows + i) * columns + j;
      a.out_row = columns;
      a.rows = std::min(kTaskRows, rows - i);
      a.columns = std::min(kTaskColumns, columns - j);
      a.scratch = scratch.data();
      run(a);
    }
  });
}

// The gradient of x; `turned` if g and the distances are [y's rows, x's rows].
template <class T>
void gradients(const Tensor& out, const Tensor& x, const Tensor& y, const Tensor& g,
               const Tensor& distance, double p, bool turned) {
  const DistanceArgs all = arguments(x, y, p);
  const int64_t rows = all.rows, columns = all.columns, m = all.m;
  const Tensor columns_of_y = contiguous(transpose(y, 1, 2));
  const int64_t tasks = (rows + kBackwardRows - 1) / kBackwardRows;
  const auto run = kernels().distance_backward[static_cast<int>(compute_type(dtype_of<T>))];
  const int64_t work = std::min(rows, kBackwardRows) * columns * (m + 1);
  const DenormalGuard denormal;
  parallel_for(x.size(0) * tasks, grain_of(work), [&](int64_t begin, int64_t end) {
    std::vector<T> scratch(static_cast<size_t>(distance_backward_scratch(columns)));
    for (int64_t t = begin; t < end; ++t) {
      const int64_t b = t / tasks, i = t % tasks * kBackwardRows;
      DistanceArgs a = all;
      a.g_row = turned ? 1 : columns;
      a.g_column = turned ? rows : 1;
      const int64_t first = b * rows * columns + i * a.g_row;
      a.x = x.data<T>() + (b * rows + i) * m;
      a.y = columns_of_y.data<T>() + b * columns * m;
      a.g = g.data<T>() + first;
      a.distance = distance.data<T>() + first;
      a.out = out.data<T>() + (b * rows + i) * m;
      a.rows = std::min(kBackwardRows, rows - i);
      a.scratch = scratch.data();
      run(a);
    }
  });
}

// Without a record, by the kernel.
Tensor fast_gradient(const Tensor& x, const Tensor& y, const Tensor& g, const Tensor& distance,
                     double p, bool turned) {
  Tensor out = zeros(x.sizes(), x.options());
  if (out.is_meta() || g.numel() == 0 || out.numel() == 0 || p == 0) return out;
  const Tensor dense = contiguous(g);
  if (x.dtype() == DType::Float64) {
    gradients<double>(out, x, y, dense, distance, p, turned);
  } else {
    gradients<float>(out, x, y, dense, distance, p, turned);
  }
  return out;
}

// From operators, so that it can be differentiated again. The distance counts as what it is: a
// function of x and y.
Grads recorded_gradients(const Tensor& x, const Tensor& y, const Tensor& g, const Tensor& distance,
                         double p) {
  const Tensor flat = eq(distance, 0);
  const Tensor safe = where(flat, 1.0, distance);
  if (p == 2) {  // sum_j w[i, j] (x[i] - y[j])
    const Tensor w = where(flat, 0.0, div(g, safe));
    const Tensor across = transpose(w, 1, 2);
    return {sub(mul(sum(w, {2}, true), x), matmul(w, y)),
            sub(mul(unsqueeze(sum(w, {1}), 2), y), matmul(across, x))};
  }
  const Tensor d = sub(unsqueeze(x, 2), unsqueeze(y, 1));  // [B, n, k, m]
  const Tensor way = sign(d), size = abs(d);
  Tensor slope;
  if (p == 0) {
    slope = mul(d, 0.0);
  } else if (p == 1) {
    slope = way;
  } else if (std::isinf(p)) {
    slope = where(eq(size, unsqueeze(distance, 3)), way, 0.0);
  } else {
    const Tensor none = eq(size, 0);
    slope = where(none, 0.0, mul(way, pow(div(where(none, 1.0, size), unsqueeze(safe, 3)), p - 1)));
  }
  const Tensor terms = mul(slope, unsqueeze(where(flat, 0.0, g), 3));
  return {sum(terms, {2}), neg(sum(terms, {1}))};
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p) {
  if (autocast_on) return autocast(CastTo::Float32, cdist, x1, x2, p);
  ZERO_CHECK(x1.dim() >= 2 && x2.dim() >= 2, ShapeError, "cdist: not matrices; got ", x1.sizes(),
             " and ", x2.sizes(), ", expected at least two dimensions each");
  ZERO_CHECK(x1.size(x1.dim() - 1) == x2.size(x2.dim() - 1), ShapeError,
             "cdist: the points have different sizes; got ", x1.sizes(), " and ", x2.sizes(),
             ", expected x1.shape[-1] == x2.shape[-1]");
  ZERO_CHECK(is_floating(x1.dtype()) && is_floating(x2.dtype()), DTypeError,
             "cdist: not defined for integers; got ", x1.dtype(), " and ", x2.dtype(),
             ", expected floating dtypes; to() converts");
  ZERO_CHECK(p >= 0, ValueError, "cdist: p is negative; got ", p, ", expected p >= 0");
  ZERO_CHECK(x1.device() == x2.device(), Error, "cdist: tensors are on two devices; got ",
             x1.device(), " and ", x2.device(), ", expected one device");
  const DType result = result_type(x1, x2), compute = compute_dtype(result);
  const int64_t n = x1.size(x1.dim() - 2), k = x2.size(x2.dim() - 2), m = x1.size(x1.dim() - 1);
  Dims batch = broadcast_shapes("cdist", Dims(x1.sizes().begin(), x1.sizes().end() - 2),
                                Dims(x2.sizes().begin(), x2.sizes().end() - 2));
  const int64_t count = numel(batch);
  const auto flat = [&](const Tensor& t, int64_t rows) {
    Dims sizes = batch;
    sizes.push_back(rows);
    sizes.push_back(m);
    const Tensor wide = t.dtype() == compute ? t : to(t, compute, t.device());
    return contiguous(reshape(expand(wide, sizes), {count, rows, m}));
  };
  const Tensor x = flat(x1, n), y = flat(x2, k);
  const Tensor out = empty({count, n, k}, x.options());
  if (!out.is_meta() && out.numel() > 0) {
    if (compute == DType::Float64) {
      distances<double>(out, x, y, p);
    } else {
      distances<float>(out, x, y, p);
    }
  }
  record("CdistBackward0", {}, out, {&x, &y}, {&x, &y, &out}, [p](Node& node, const Tensor& g) {
    const Tensor x = node.saved(0), y = node.saved(1), distance = node.saved(2);
    if (grad_enabled()) return recorded_gradients(x, y, g, distance, p);
    Grads grads(2);
    if (node.needs(0)) grads[0] = fast_gradient(x, y, g, distance, p, false);
    if (node.needs(1)) grads[1] = fast_gradient(y, x, g, distance, p, true);
    return grads;
  });
  Dims sizes = batch;
  sizes.push_back(n);
  sizes.push_back(k);
  const Tensor shaped = reshape(out, sizes);
  return shaped.dtype() == result ? shaped : to(shaped, result, shaped.device());
}

}  // namespace zero
