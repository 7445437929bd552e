// Tensors that get another geometry: windows, bytes read as another dtype, views in place, other
// sizes.
#include <algorithm>

#include "zero/autograd/arithmetic.h"
#include "zero/autograd/record.h"
#include "zero/ops/ops.h"

namespace zero {

namespace {

// The sum, in a tensor of the given sizes, of the windows that each element lies in.
Tensor fold(const Tensor& g, const Dims& sizes, int64_t d, int64_t size, int64_t step) {
  Tensor out = zeros(sizes, g.options());
  if (g.numel() > 0) {
    const GradModeGuard no_record(false);
    if (sizes.empty()) {
      copy_(out, reshape(g, {}));
    } else if (step >= size) {  // windows don't overlap
      copy_(unfold(out, d, size, step), g);
    } else {
      const int64_t windows = g.size(d);
      for (int64_t i = 0; i < size; ++i) {
        const Tensor part = slice(out, d, i, i + (windows - 1) * step + 1, step);
        add(part, select(g, g.dim() - 1, i), 1, Target::inplace(part));
      }
    }
  }
  record("UnfoldBackwardBackward0", {}, out, {&g}, {},
         [d, size, step](Node&, const Tensor& gg) { return unfold(gg, d, size, step); });
  return out;
}

}  // namespace

Tensor unfold(const Tensor& x, int64_t dim, int64_t size, int64_t step) {
  const int64_t d = wrap_dim("unfold", dim, x.dim()), n = x.dim() == 0 ? 1 : x.size(d);
  ZERO_CHECK(size >= 0 && size <= n, ShapeError, "unfold: the windows don't fit; got size ", size,
             ", expected 0 to ", n, ", the size of dimension ", d);
  ZERO_CHECK(step > 0, ValueError, "unfold: the step is not positive; got ", step,
             ", expected at least 1");
  Dims sizes = x.sizes(), strides = x.strides();
  const int64_t stride = x.dim() == 0 ? 1 : strides[d];
  if (x.dim() > 0) {
    sizes[d] = (n - size) / step + 1;
    if (sizes[d] > 1) strides[d] *= step;  // or it is never stepped over
  }
  sizes.push_back(size);
  strides.push_back(stride);
  Tensor y = make_view("unfold", x, sizes, strides, x.storage_offset());
  record("UnfoldBackward0", {}, y, {&x}, {},
         [base = x.sizes(), d, size, step](Node&, const Tensor& g) {
           return fold(g, base, d, size, step);
         });
  return y;
}

Tensor view(const Tensor& x, DType dtype) {
  const int64_t own = itemsize(x.dtype()), other = itemsize(dtype);
  Dims sizes = x.sizes(), strides = x.strides();
  int64_t offset = x.storage_offset();
  if (own != other) {
    ZERO_CHECK(x.dim() > 0, ShapeError, "view: a 0-d tensor has elements of one size; got ", x,
               ", expected a dtype of ", own, " bytes instead of ", dtype);
    const int64_t last = x.dim() - 1;
    ZERO_CHECK(strides[last] == 1 || sizes[last] <= 1, ShapeError,
               "view: the last dimension is not contiguous; got strides ", strides,
               ", expected 1 for a dtype of another size, ", dtype);
    const int64_t ratio = std::max(own, other) / std::min(own, other);
    bool fits = true;
    const auto convert = [&](int64_t& n) {
      fits &= other < own || n % ratio == 0;
      n = other < own ? n * ratio : n / ratio;
    };
    convert(sizes[last]);
    convert(offset);
    for (int64_t d = 0; d < last; ++d) convert(strides[d]);
    strides[last] = 1;
    ZERO_CHECK(fits, ShapeError, "view: the elements don't fit ", dtype, "; got sizes ", x.sizes(),
               ", strides ", x.strides(), ", offset ", x.storage_offset(),
               ", expected the last size, the other strides and the offset to be multiples of ",
               ratio);
  }
  auto impl = make_ref<TensorImpl>(x.impl()->storage_, sizes, strides, offset, dtype);
  impl->own_version_ = x.impl()->own_version_;
  impl->is_inference_ = x.impl()->is_inference_;
  impl->is_view_ = !impl->is_inference_;
  return Tensor(std::move(impl));
}

Tensor storage_bytes(const Tensor& x) {
  const Ref<Storage>& storage = x.impl()->storage_;
  const int64_t n = static_cast<int64_t>(storage->nbytes());
  auto impl = make_ref<TensorImpl>(storage, Dims{n}, Dims{1}, 0, DType::UInt8);
  impl->own_version_ = x.impl()->own_version_;
  impl->is_inference_ = x.impl()->is_inference_;
  return Tensor(std::move(impl));
}

void restride_(const char* op, const Tensor& x, const Tensor& view) {
  const bool recorded = requires_grad(x);
  check_history(op, x, recorded);
  // A result's place in the graph moves on with its shape, also under no_grad. A view of another
  // tensor finds its own through the base, and a leaf has none.
  const bool chained = recorded && !is_view(x) && !is_leaf(x);
  Tensor y = view;
  if (chained && !grad_fn(y)) {
    const GradModeGuard mode(true);
    y = as_strided(x, view.sizes(), view.strides(), view.storage_offset());
  }
  Ref<Node> made = chained ? grad_fn(y) : nullptr;  // before y has to look for a new one
  TensorImpl& impl = *x.impl();
  impl.offset_ = y.storage_offset();
  impl.set_geometry(y.sizes(), y.strides());
  impl.version().bump();
  AutogradMeta* meta = autograd_meta(x);
  if (chained) {
    set_history(x, std::move(made), 0);
  } else if (Node* node = meta ? meta->accumulator.load() : nullptr) {
    node->outputs_[0] = {x.sizes(), x.dtype(), x.device()};
  }
}

void resize_(const Tensor& x, const Dims& sizes) {
  ZERO_CHECK(!requires_grad(x), Error,
             "resize_: a tensor that requires grad has no other size; got ", x,
             ", expected reshape() or detach()");
  check_history("resize_", x, false);
  for (int64_t n : sizes)
    ZERO_CHECK(n >= 0, ShapeError, "resize_: a size is negative; got ", sizes,
               ", expected sizes >= 0");
  const int64_t item = itemsize(x.dtype()), wanted = checked_numel("resize_", sizes, item);
  TensorImpl& impl = *x.impl();
  const int64_t have = static_cast<int64_t>(impl.storage_->nbytes()) / item - impl.offset_;
  if (sizes == x.sizes()) return;
  if (wanted > have) {
    // Larger memory, that begins with what the old held.
    Tensor fresh = empty({wanted}, x.options());
    if (have > 0 && !x.is_meta()) {
      const GradModeGuard no_record(false);
      copy_(slice(fresh, 0, 0, have), alias("resize_", x, {have}, {1}, impl.offset_));
    }
    if (AutogradMeta* meta = autograd_meta(x)) meta->base = Tensor();  // shares nothing any more
    gradient::keep_memory(x);
    impl.storage_ = fresh.impl()->storage_;
    impl.offset_ = 0;
  }
  impl.set_geometry(sizes, contiguous_strides(sizes));
  impl.version().bump();
}

}  // namespace zero
