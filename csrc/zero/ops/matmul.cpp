// Matrix products of tensors, and the linear layer. Operands are read by their strides, never
// copied.
#include <string_view>

#include "zero/autograd/record.h"
#include "zero/ops/autocast.h"
#include "zero/ops/gemm.h"
#include "zero/ops/iterator.h"

namespace zero {

namespace {

void check_numbers(const char* op, const char* a_name, const Tensor& a, const char* b_name,
                   const Tensor& b) {
  ZERO_CHECK(a.dtype() == b.dtype(), DTypeError, op, ": dtypes differ; got ", a_name, ' ',
             a.dtype(), " and ", b_name, ' ', b.dtype(), ", expected one dtype; to() converts");
  ZERO_CHECK(a.dtype() != DType::Bool, DTypeError, op, ": not defined for bool; got ", a_name, ' ',
             a, " and ", b_name, ' ', b, ", expected numbers; to() converts");
  ZERO_CHECK(a.device() == b.device(), Error, op, ": tensors are on two devices; got ", a_name,
             " on ", a.device(), " and ", b_name, " on ", b.device(), ", expected one device");
}

// The last two dimensions; a vector is a row on the left of a product and a column on the right.
GemmOperand left(const Tensor& a) {
  const int64_t d = a.dim();
  return {a.data(), d > 1 ? a.stride(d - 2) : 0, a.stride(d - 1)};
}
GemmOperand right(const Tensor& b) {
  const int64_t d = b.dim();
  return d > 1 ? GemmOperand{b.data(), b.stride(d - 2), b.stride(d - 1)}
               : GemmOperand{b.data(), b.stride(0), 0};
}
int64_t rows_of(const Tensor& a) { return a.dim() > 1 ? a.size(a.dim() - 2) : 1; }
int64_t columns_of(const Tensor& b) { return b.dim() > 1 ? b.size(b.dim() - 1) : 1; }
int64_t depth_of(const Tensor& b) { return b.size(b.dim() > 1 ? b.dim() - 2 : 0); }

// Batch dimension d of `batch_dims`, counted in the result, as a stride of x: 0 where x is
// broadcast.
int64_t batch_stride(const Tensor& x, int64_t d, int64_t batch_dims) {
  const int64_t own = d - (batch_dims - (x.dim() - 2));
  return own < 0 || x.size(own) == 1 ? 0 : x.stride(own);
}

struct Transposed {
  bool a = false,
       b = false;  // that operand is a matrix whose transpose is meant: its strides are exchanged
};

// y = a b (+ bias) for dtypes of gemm(); y is contiguous with the result's shape.
void multiply(const Tensor& y, const Tensor& a, const Tensor& b, const Tensor& bias, Transposed t) {
  const int64_t m = t.a ? a.size(1) : rows_of(a), n = t.b ? b.size(0) : columns_of(b);
  Gemm g{y.dtype(), m, n, t.a ? a.size(0) : a.size(a.dim() - 1), left(a), right(b), y.data(), n};
  if (t.a) std::swap(g.a.row, g.a.column);
  if (t.b) std::swap(g.b.row, g.b.column);
  if (bias.defined()) g.bias = bias.data();
  const int64_t batch_dims = std::max(a.dim(), b.dim()) - 2;
  if (batch_dims <= 0) return gemm(g);

  GemmBatch batch;
  int64_t step = g.m * n;
  bool folding = true;  // a batch of left sides that lie below each other is one taller left side
  for (int64_t d = batch_dims - 1; d >= 0; --d) {
    const int64_t size = y.size(d);
    if (size == 1) continue;
    const GemmBatch::Dim dim{size, batch_stride(a, d, batch_dims), batch_stride(b, d, batch_dims),
                             step};
    step *= size;
    if (folding && dim.b == 0 && (g.m == 1 || dim.a == g.m * g.a.row)) {
      if (g.m == 1) g.a.row = dim.a;
      g.m *= size;
      continue;
    }
    folding = false;
    batch.dims.insert(0, dim);
  }
  gemm(g, batch);
}

// The same for all dtypes: small integers are converted, and the result converted back.
void multiply_any(const Tensor& y, const Tensor& a, const Tensor& b, const Tensor& bias = {},
                  Transposed t = {}) {
  if (y.is_meta() || y.numel() == 0) return;
  const DType compute = is_floating(y.dtype()) ? y.dtype() : compute_dtype(y.dtype());
  const bool dense_bias = !bias.defined() || bias.is_contiguous();
  if (compute == y.dtype() && y.is_contiguous() && dense_bias) return multiply(y, a, b, bias, t);
  GradModeGuard no_record(false);
  const Tensor wide =
      compute == y.dtype() && y.is_contiguous() ? y : empty(y.sizes(), {compute, y.device()});
  auto widen = [&](const Tensor& x) { return to(x, compute, x.device()); };
  multiply(wide, widen(a), widen(b), bias.defined() ? contiguous(widen(bias)) : bias, t);
  if (!wide.is_same(y)) run_copy(y, wide);
}

Dims product_sizes(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dim() == 2 && b.dim() == 2) return {a.size(0), b.size(1)};
  Dims sizes;
  if (a.dim() > 2 && b.dim() > 2) {
    const Dims batch_a(a.sizes().begin(), a.sizes().end() - 2),
        batch_b(b.sizes().begin(), b.sizes().end() - 2);
    for (int64_t i = 1; i <= std::min(batch_a.size(), batch_b.size()); ++i) {
      const int64_t x = batch_a[batch_a.size() - i], y = batch_b[batch_b.size() - i];
      ZERO_CHECK(x == y || x == 1 || y == 1, ShapeError, op,
                 ": batch dimensions do not broadcast; got a ", a.sizes(), " and b ", b.sizes(),
                 ", expected equal sizes or 1 before the last two dimensions");
    }
    sizes = broadcast_shapes(op, batch_a, batch_b);
  } else if (a.dim() > 2 || b.dim() > 2) {
    const Dims& longer = a.dim() > 2 ? a.sizes() : b.sizes();
    sizes = Dims(longer.begin(), longer.end() - 2);
  }
  if (a.dim() > 1) sizes.push_back(rows_of(a));
  if (b.dim() > 1) sizes.push_back(columns_of(b));
  return sizes;
}

// x with its last two dimensions exchanged; without a record where none is asked for.
Tensor transposed(const Tensor& x) {
  const int64_t d = x.dim();
  if (grad_enabled()) return transpose(x, d - 2, d - 1);
  Dims sizes = x.sizes(), strides = x.strides();
  std::swap(sizes[d - 2], sizes[d - 1]);
  std::swap(strides[d - 2], strides[d - 1]);
  return alias("transpose", x, std::move(sizes), std::move(strides), x.storage_offset());
}

// op(a) op(b) of two matrices without a record, where a transpose is two strides exchanged.
Tensor unrecorded_product(const Tensor& a, const Tensor& b, Transposed t) {
  Tensor y = empty({a.size(t.a ? 1 : 0), b.size(t.b ? 0 : 1)}, a.options());
  multiply_any(y, a, b, {}, t);
  return y;
}

// All leading dimensions as one: [..., n] -> [rows, n].
Tensor as_matrix(const Tensor& x) {
  if (x.dim() == 2) return x;
  const int64_t last = x.size(x.dim() - 1);
  const int64_t rows = numel(Dims(x.sizes().begin(), x.sizes().end() - 1));
  return reshape(x, {rows, last});
}

bool is_matrix(const Tensor& x) {  // without a copy
  Dims strides;
  const int64_t last = x.size(x.dim() - 1);
  return view_strides(x.sizes(), x.strides(), {last == 0 ? 0 : x.numel() / last, last}, &strides);
}

// The gradients of a b. A result may have broadcast batch dimensions: the engine sums them out.
Tensor gradient_of_left(const Tensor& g, const Tensor& b, int64_t a_dims) {
  if (g.dim() == 2 && b.dim() == 2 && !grad_enabled()) return unrecorded_product(g, b, {.b = true});
  if (a_dims > 1 && b.dim() > 1) return matmul(g, transposed(b));
  if (a_dims > 1) return matmul(unsqueeze(g, -1), unsqueeze(b, 0));  // [..., m] [k] -> [..., m, k]
  if (b.dim() > 1)
    return squeeze(matmul(unsqueeze(g, -2), transposed(b)), {-2});  // [..., n] -> [..., k]
  return mul(g, b);
}
// `columns`: the matrices of b lie in memory column by column, and so shall those of its gradient.
Tensor gradient_of_right(const Tensor& a, const Tensor& g, int64_t b_dims, bool columns) {
  if (a.dim() == 2 && g.dim() == 2 && !grad_enabled()) return unrecorded_product(a, g, {.a = true});
  if (a.dim() > 2 && b_dims <= 2) {
    const Tensor rows = transposed(as_matrix(a));  // [k, rows]
    return b_dims == 2 ? matmul(rows, as_matrix(g)) : matmul(rows, reshape(g, {g.numel()}));
  }
  if (a.dim() > 1 && b_dims > 1 && columns) return transposed(matmul(transposed(g), a));
  if (a.dim() > 1 && b_dims > 1) return matmul(transposed(a), g);
  if (a.dim() > 1) return matmul(transposed(a), g);  // b and g are vectors, a is 2-d
  if (b_dims > 1) return matmul(unsqueeze(a, 1), unsqueeze(g, -2));  // [k] [..., n] -> [..., k, n]
  return mul(g, a);
}

const char* node_name(int64_t a_dims, int64_t b_dims) {
  if (a_dims > 2 || b_dims > 2) return "BmmBackward0";
  if (b_dims == 2) return "MmBackward0";
  return a_dims == 2 ? "MvBackward0" : "DotBackward0";
}

// PyTorch's autocast leaves mv, dot and addmv alone; addmm and its like come here cast already.
bool is_lowered(std::string_view op) { return op == "matmul" || op == "mm" || op == "bmm"; }

bool has_columns(const Tensor& b) {  // of batches
  return b.dim() > 2 && b.strides()[b.dim() - 2] == 1 && b.strides()[b.dim() - 1] > 1;
}

bool shares_storage(const Tensor& a, const Tensor& b) {
  return a.impl()->storage_ == b.impl()->storage_;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, Target target, const char* op) {
  if (autocast_on && target.fresh() && is_lowered(op))
    return autocast(CastTo::Lower, matmul, a, b, target, op);
  ZERO_CHECK(a.dim() > 0 && b.dim() > 0, ShapeError, op, ": an operand is 0-d; got a ", a.sizes(),
             " and b ", b.sizes(),
             ", expected at least one dimension each; * multiplies by a number");
  check_numbers(op, "a", a, "b", b);
  ZERO_CHECK(a.size(a.dim() - 1) == depth_of(b), ShapeError, op,
             ": inner dimensions differ; got a ", a.sizes(), " and b ", b.sizes(),
             ", expected a.shape[-1] == b.shape[", b.dim() > 1 ? -2 : 0, ']');
  Tensor copy;
  const Tensor& kept_a = target.preserve(a, requires_grad(b), copy);
  const Dims sizes = product_sizes(op, a, b);
  Tensor y =
      target.fresh() ? empty(sizes, a.options()) : target.prepare(op, sizes, a.options(), {&a, &b});
  if (!target.fresh() && !y.is_meta() &&
      (y.dtype() != a.dtype() || shares_storage(y, a) || shares_storage(y, b))) {
    const Tensor fresh = empty(y.sizes(), a.options());
    multiply_any(fresh, a, b);
    run_copy(y, fresh);
  } else {
    multiply_any(y, a, b);
  }
  record(
      node_name(a.dim(), b.dim()), target, y, {&a, &b},
      {keep(requires_grad(b), kept_a), keep(requires_grad(a), b)},
      [op, a_dims = a.dim(), b_dims = b.dim(), columns = has_columns(b)](Node& n, const Tensor& g) {
        Grads grads(2);
        const bool views = std::string_view(op) == "matmul";  // bmm and mm keep what they get
        const auto kept = [&](int k, bool view) {
          return views && view ? n.saved_view(k) : n.saved(k);
        };
        if (n.needs(0)) grads[0] = gradient_of_left(g, kept(1, b_dims > 2), a_dims);
        if (n.needs(1))
          grads[1] = gradient_of_right(kept(0, a_dims > 2 || b_dims > a_dims), g, b_dims, columns);
        return grads;
      });
  return y;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (autocast_on) return autocast(CastTo::Lower, linear, x, weight, bias);
  ZERO_CHECK(x.dim() > 0 && (weight.dim() == 1 || weight.dim() == 2), ShapeError,
             "linear: wrong number of dimensions; got x ", x.sizes(), " and weight ",
             weight.sizes(), ", expected x (..., in) and weight (out, in) or (in,)");
  check_numbers("linear", "x", x, "weight", weight);
  const int64_t in = weight.size(weight.dim() - 1);
  ZERO_CHECK(x.size(x.dim() - 1) == in, ShapeError,
             "linear: the input's last dimension differs from the weight's; got x ", x.sizes(),
             " and weight ", weight.sizes(), ", expected x.shape[-1] == ", in);
  if (bias.defined()) {
    check_numbers("linear", "x", x, "bias", bias);
    ZERO_CHECK(
        weight.dim() == 2 ? bias.dim() == 1 && bias.size(0) == weight.size(0) : bias.dim() == 0,
        ShapeError, "linear: the bias does not fit the weight; got bias ", bias.sizes(),
        " and weight ", weight.sizes(), ", expected one element per output");
  }
  if (weight.dim() == 1) {
    const Tensor y = matmul(x, weight);
    return bias.defined() ? add(y, bias) : y;
  }

  Dims sizes = x.sizes();
  sizes.back() = weight.size(0);
  Tensor y = empty(sizes, x.options());
  multiply_any(y, x, weight, bias, {.b = true});
  // Rows that are no matrix are copied by others, which keep the copy: it may be saved.
  const bool copied = x.impl()->is_inference_ && x.dim() > 2 && !is_matrix(x);
  const Tensor kept = copied ? contiguous(x) : x;
  const char* node = x.dim() != 2     ? "LinearBackward0"
                     : bias.defined() ? "AddmmBackward0"
                                      : "MmBackward0";
  record(node, {}, y, {&x, &weight, &bias},
         {keep(requires_grad(weight), kept), keep(requires_grad(x), weight)},
         [matrix = x.dim() == 2](Node& n, const Tensor& g) {
           Grads grads(3);
           if (n.needs(0)) grads[0] = matmul(g, n.saved_view(1));
           if (n.needs(1)) {
             const Tensor x = matrix ? n.saved(0) : n.saved_view(0);
             grads[1] = gradient_of_right(as_matrix(g), as_matrix(x), 2, false);
           }
           if (n.needs(2)) grads[2] = sum(as_matrix(g), {0});
           return grads;
         });
  return y;
}

}  // namespace zero
