#include "zero/core/tensor.h"

#include <limits>

namespace zero {

Tensor empty(const Dims& sizes, TensorOptions options) {
  const int64_t item = itemsize(options.dtype);
  const int64_t n = checked_numel("empty", sizes, item);
  return Tensor(make_ref<TensorImpl>(Storage::fresh(static_cast<size_t>(n * item), options.device),
                                     sizes, options.dtype, n));
}

Dims strides_after(const Dims& sizes, std::initializer_list<const Tensor*> inputs) {
  const int64_t n = sizes.size();
  // 0 where the input doesn't say: it is broadcast.
  const auto stride = [&](const Tensor& x, int64_t d) {
    const int64_t own = d - (n - x.dim());
    return own < 0 || (x.size(own) == 1 && sizes[d] != 1) ? 0 : x.stride(own);
  };
  // 1 if dimension a must lie outside of b, -1 if inside, 0 if no input says.
  const auto order = [&](int64_t a, int64_t b) {
    for (const Tensor* x : inputs) {
      if (!x->defined()) continue;
      const int64_t sa = stride(*x, a), sb = stride(*x, b);
      if (sa == 0 || sb == 0) continue;
      if (sa != sb) return sa > sb ? 1 : -1;
      if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
  };
  Dims dims;  // innermost first
  for (int64_t d = n - 1; d >= 0; --d) dims.push_back(d);
  for (int64_t i = 1; i < n; ++i)
    for (int64_t at = i, j = i - 1; j >= 0; --j) {
      const int where = order(dims[j], dims[at]);
      if (where < 0) break;
      if (where == 0) continue;
      std::swap(dims[j], dims[at]);
      at = j;
    }
  Dims strides(n);
  uint64_t step = 1;  // may wrap: sizes that are too large are refused by empty_strided
  for (int64_t d : dims) {
    strides[d] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(std::max<int64_t>(sizes[d], 1));
  }
  return strides;
}

Tensor empty_as(const Tensor& like, TensorOptions options) {
  const int64_t item = itemsize(options.dtype);
  // Sizes that were checked for smaller elements are checked again.
  if (!in_row_order(like))
    return empty_strided(like.sizes(), strides_after(like.sizes(), {&like}), options);
  if (!like.is_contiguous() || like.storage_offset() != 0 || item > itemsize(like.dtype()))
    return empty(like.sizes(), options);
  const size_t nbytes = static_cast<size_t>(like.numel() * item);
  return Tensor(
      make_ref<TensorImpl>(Storage::fresh(nbytes, options.device), *like.impl(), options.dtype));
}

// No storage reaches as far, and sums of two such numbers are still defined.
static constexpr int64_t kFarthest = std::numeric_limits<int64_t>::max() / 2;

// One past the largest element offset that the geometry reaches, at most kFarthest.
static int64_t extent(const Dims& sizes, const Dims& strides) {
  int64_t last = 0;
  for (int64_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    const int64_t steps = sizes[d] - 1;
    if (steps > 0 && strides[d] > (kFarthest - last) / steps) return kFarthest;
    last += steps * strides[d];
  }
  return last + 1;
}

Tensor empty_strided(const Dims& sizes, const Dims& strides, TensorOptions options) {
  const int64_t item = itemsize(options.dtype);
  checked_numel("empty_strided", sizes, item);
  const size_t nbytes = static_cast<size_t>(extent(sizes, strides) * item);
  return Tensor(make_ref<TensorImpl>(Storage::fresh(nbytes, options.device), sizes, strides, 0,
                                     options.dtype));
}

Tensor alias(const Tensor& x) {
  auto impl = make_ref<TensorImpl>(x.impl()->storage_, *x.impl(), x.dtype());
  impl->own_version_ = x.impl()->own_version_;
  impl->is_inference_ = x.impl()->is_inference_;
  return Tensor(std::move(impl));
}

Tensor alias(const char* op, const Tensor& base, Dims sizes, Dims strides, int64_t offset) {
  const int64_t reach = extent(sizes, strides);
  const int64_t have =
      static_cast<int64_t>(base.impl()->storage_->nbytes()) / itemsize(base.dtype());
  if (reach == 0) offset = std::min(offset, have);  // an empty view touches nothing
  const int64_t last = std::min(offset, kFarthest) + reach;
  ZERO_CHECK(offset >= 0 && offset <= have && last <= have, ShapeError, op,
             ": the view reaches outside its storage; got sizes ", sizes, ", strides ", strides,
             ", offset ", offset, ", expected at most ", have, " elements");
  auto impl = make_ref<TensorImpl>(base.impl()->storage_, std::move(sizes), std::move(strides),
                                   offset, base.dtype());
  impl->own_version_ = base.impl()->own_version_;
  impl->is_inference_ = base.impl()->is_inference_;
  return Tensor(std::move(impl));
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) {
  if (!t.defined()) return out << "no tensor";
  return out << t.dtype() << ' ' << t.sizes();
}

}  // namespace zero
