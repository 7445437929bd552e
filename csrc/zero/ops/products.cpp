// Products of matrices and vectors with a sum, Kronecker's product, the cross product.
#include "zero/autograd/record.h"
#include "zero/ops/autocast.h"
#include "zero/ops/ops.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

// beta input + alpha product; with beta 0 the input counts as 0 even where it is nan.
Tensor plus(const char* op, const Tensor& input, const Tensor& product, Scalar beta, Scalar alpha,
            Target target) {
  ZERO_CHECK(expands_to(input.sizes(), product.sizes()), ShapeError, op,
             ": input does not broadcast to the product; got ", input.sizes(), ", expected ",
             product.sizes());
  if (!is_floating(product.dtype())) {  // as PyTorch: the factors become integers
    beta = Scalar(beta.to_int());
    alpha = Scalar(alpha.to_int());
  }
  const bool whole = alpha.to_double() == 1;
  if (beta.to_double() == 0) {
    Tensor scaled = whole ? product : mul(product, alpha);
    if (!(grad_enabled() && requires_grad(input))) return scaled;
    const Tensor everywhere = scalar_tensor(true, {DType::Bool, input.device()});
    return add(scaled, masked_fill(input, everywhere, 0));  // the input's gradient is 0
  }
  // A new result lies as the product does.
  if (beta.to_double() == 1 && (!target.fresh() || in_row_order(input)))
    return add(input, product, alpha, target);
  return add(whole ? product : mul(product, alpha), input, beta);
}

void check_dims(const char* op, const char* name, const Tensor& x, int64_t dims) {
  ZERO_CHECK(x.dim() == dims, ShapeError, op, ": wrong number of dimensions; got ", name, ' ',
             x.sizes(), ", expected ", dims);
}

// y = a x b for dense [outer, 3, inner]. Products of float32 are exact in float64.
template <class T>
void cross_loop(T* y, const T* a, const T* b, int64_t outer, int64_t inner) {
  parallel_for(outer * inner, kGrainSize / 8, [=](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t at = inner == 1 ? 3 * t : t / inner * 3 * inner + t % inner;
      const double a0 = a[at], a1 = a[at + inner], a2 = a[at + 2 * inner];
      const double b0 = b[at], b1 = b[at + inner], b2 = b[at + 2 * inner];
      y[at] = static_cast<T>(a1 * b2 - a2 * b1);
      y[at + inner] = static_cast<T>(a2 * b0 - a0 * b2);
      y[at + 2 * inner] = static_cast<T>(a0 * b1 - a1 * b0);
    }
  });
}

// y = a x b along a dimension of size 3; all have one shape and dtype, y is contiguous.
void run_cross(const Tensor& y, const Tensor& a, const Tensor& b, int64_t dim) {
  if (y.is_meta() || y.numel() == 0) return;
  GradModeGuard no_record(false);
  if (y.dtype() == DType::Float32 || y.dtype() == DType::Float64) {
    const Tensor dense_a = contiguous(a), dense_b = contiguous(b);
    int64_t inner = 1;
    for (int64_t d = dim + 1; d < y.dim(); ++d) inner *= y.size(d);
    const int64_t outer = y.numel() / (3 * inner);
    const DenormalGuard denormal;
    if (y.dtype() == DType::Float32)
      return cross_loop(y.data<float>(), dense_a.data<float>(), dense_b.data<float>(), outer,
                        inner);
    return cross_loop(y.data<double>(), dense_a.data<double>(), dense_b.data<double>(), outer,
                      inner);
  }
  for (int64_t k = 0; k < 3; ++k) {
    const int64_t i = (k + 1) % 3, j = (k + 2) % 3;
    const Tensor part = select(y, dim, k);
    mul(select(a, dim, i), select(b, dim, j), Target::out(part));
    sub(part, mul(select(a, dim, j), select(b, dim, i)), 1, Target::inplace(part));
  }
}

Tensor cross_of(const Tensor& a, const Tensor& b, int64_t dim) {
  Tensor y = empty(a.sizes(), a.options());
  run_cross(y, a, b, dim);
  record("LinalgCrossBackward0", {}, y, {&a, &b},
         {keep(requires_grad(b), a), keep(requires_grad(a), b)}, [dim](Node& n, const Tensor& g) {
           Grads grads(2);
           if (n.needs(0)) grads[0] = cross_of(n.saved(1), g, dim);
           if (n.needs(1)) grads[1] = cross_of(g, n.saved(0), dim);
           return grads;
         });
  return y;
}

}  // namespace

Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta,
             const Scalar& alpha, Target target) {
  if (autocast_on && target.fresh())
    return autocast(CastTo::Lower, addmm, input, a, b, beta, alpha, target);
  check_dims("addmm", "mat1", a, 2);
  check_dims("addmm", "mat2", b, 2);
  return plus("addmm", input, matmul(a, b, {}, "addmm"), beta, alpha, target);
}

Tensor addmv(const Tensor& input, const Tensor& matrix, const Tensor& vector, const Scalar& beta,
             const Scalar& alpha, Target target) {
  check_dims("addmv", "mat", matrix, 2);
  check_dims("addmv", "vec", vector, 1);
  return plus("addmv", input, matmul(matrix, vector, {}, "addmv"), beta, alpha, target);
}

Tensor addr(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta,
            const Scalar& alpha, Target target) {
  check_dims("addr", "vec1", a, 1);
  check_dims("addr", "vec2", b, 1);
  const Tensor column = unsqueeze(a, 1);
  if (beta.to_double() == 1 && is_floating(a.dtype()) && is_floating(b.dtype()) &&
      expands_to(input.sizes(), {a.size(0), b.size(0)}))
    return addcmul(input, column, b, alpha, target);
  // Of bools it is (beta and input) or (alpha and product).
  const bool logic =
      input.dtype() == DType::Bool && a.dtype() == DType::Bool && b.dtype() == DType::Bool;
  return plus("addr", input, mul(column, b), logic ? Scalar(int64_t{beta.to_bool()}) : beta,
              logic ? Scalar(int64_t{alpha.to_bool()}) : alpha, target);
}

Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta,
               const Scalar& alpha, Target target) {
  if (autocast_on && target.fresh())
    return autocast(CastTo::Lower, baddbmm, input, a, b, beta, alpha, target);
  check_dims("baddbmm", "batch1", a, 3);
  check_dims("baddbmm", "batch2", b, 3);
  ZERO_CHECK(a.size(0) == b.size(0), ShapeError, "baddbmm: batch sizes differ; got batch1 ",
             a.sizes(), " and batch2 ", b.sizes(), ", expected batch1.shape[0] == batch2.shape[0]");
  return plus("baddbmm", input, matmul(a, b, {}, "baddbmm"), beta, alpha, target);
}

Tensor addbmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta,
              const Scalar& alpha, Target target) {
  if (autocast_on && target.fresh())
    return autocast(CastTo::Lower, addbmm, input, a, b, beta, alpha, target);
  check_dims("addbmm", "batch1", a, 3);
  check_dims("addbmm", "batch2", b, 3);
  ZERO_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1), ShapeError,
             "addbmm: sizes do not fit; got batch1 ", a.sizes(), " and batch2 ", b.sizes(),
             ", expected (B, I, K) and (B, K, J)");
  // One product: batch and K together are summed over.
  const int64_t depth = a.size(0) * a.size(2);
  const Tensor rows = reshape(transpose(a, 0, 1), {a.size(1), depth});
  const Tensor columns = reshape(b, {depth, b.size(2)});
  return plus("addbmm", input, matmul(rows, columns, {}, "addbmm"), beta, alpha, target);
}

Tensor kron(const Tensor& a, const Tensor& b) {
  const int64_t n = std::max(a.dim(), b.dim());
  Dims sizes_a, sizes_b, sizes;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t own_a = d - (n - a.dim()), own_b = d - (n - b.dim());
    const int64_t size_a = own_a < 0 ? 1 : a.size(own_a), size_b = own_b < 0 ? 1 : b.size(own_b);
    sizes_a.push_back(size_a);
    sizes_a.push_back(1);
    sizes_b.push_back(1);
    sizes_b.push_back(size_b);
    sizes.push_back(size_a * size_b);
  }
  return reshape(mul(reshape(a, sizes_a), reshape(b, sizes_b)), sizes);
}

Tensor cross(const Tensor& a, const Tensor& b, std::optional<int64_t> dim) {
  ZERO_CHECK(a.dim() == b.dim(), ShapeError, "cross: not as many dimensions in both; got ",
             a.sizes(), " and ", b.sizes(), ", expected the same number");
  const Dims sizes = broadcast_shapes("cross", a.sizes(), b.sizes());
  int64_t at = 0;
  if (dim) {
    at = wrap_dim("cross", *dim, a.dim());
  } else {
    while (at < sizes.size() && sizes[at] != 3) ++at;
    ZERO_CHECK(at < sizes.size(), ShapeError, "cross: no dimension has size 3; got ", a.sizes(),
               " and ", b.sizes());
  }
  ZERO_CHECK(a.dim() > 0 && a.size(at) == 3 && b.size(at) == 3, ShapeError, "cross: dimension ", at,
             " is not of size 3; got ", a.sizes(), " and ", b.sizes());
  const DType dtype = result_type(a, b);
  ZERO_CHECK(dtype != DType::Bool, DTypeError,
             "cross: not defined for bool; got bool, expected numbers");
  const auto fitted = [&](const Tensor& x) {
    return expand(x.dtype() == dtype ? x : to(x, dtype, x.device()), sizes);
  };
  return cross_of(fitted(a), fitted(b), at);
}

}  // namespace zero
