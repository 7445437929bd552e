#include "zero/ops/autocast.h"

#include "zero/autograd/meta.h"
#include "zero/ops/ops.h"

namespace zero {

namespace {

bool takes_part(const Tensor& x) {
  return x.defined() && is_floating(x.dtype()) && x.dtype() != DType::Float64 && !x.is_meta();
}

bool is_weight(const Tensor& x) {
  return x.dtype() == DType::Float32 && requires_grad(x) && is_leaf(x) && !is_view(x);
}

}  // namespace

Tensor detail::autocast_argument(const Tensor& x, DType dtype) {
  if (!takes_part(x) || x.dtype() == dtype) return x;
  if (!is_weight(x)) return to(x, dtype);
  Tensor cast = kept_cast(x, dtype);
  if (!cast.defined()) keep_cast(x, cast = to(x, dtype));
  return cast;
}

Tensors detail::autocast_argument(const Tensors& tensors, DType dtype) {
  Tensors result;
  for (const Tensor& x : tensors) result.push_back(autocast_argument(x, dtype));
  return result;
}

DType detail::widest(const Tensor& x) { return takes_part(x) ? x.dtype() : DType::Float16; }

DType detail::widest(const Tensors& tensors) {
  DType result = DType::Float16;
  for (const Tensor& x : tensors) result = std::max(result, widest(x));
  return result;
}

}  // namespace zero
