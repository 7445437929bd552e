// Copies, fills and conversions.
#include <cstring>

#include "zero/autograd/record.h"
#include "zero/core/profile.h"
#include "zero/ops/iterator.h"

namespace zero {

Tensor copy_(const Tensor& self, const Tensor& source) {
  ZERO_CHECK(expands_to(source.sizes(), self.sizes()), ShapeError,
             "copy_: the source does not broadcast; got ", source.sizes(),
             ", expected a shape that broadcasts to ", self.sizes());
  ZERO_CHECK(self.is_meta() || !source.is_meta(), Error,
             "copy_: a meta tensor has no values; got a source on meta, expected cpu");
  check_inplace("copy_", self, needs_history({&self, &source}));
  check_overlap("copy_", self, source, Overlap::Partial);
  run_copy(self, overlaps_partly(self, source) ? clone(detach(source)) : source);
  // What was there before is gone: no gradient for it.
  record("CopyBackwards", Target::inplace(self), self, {&self, &source}, {},
         [](Node& n, const Tensor& g) {
           Grads grads(2);
           if (n.needs(0)) grads[0] = zeros(g.sizes(), g.options());
           if (n.needs(1)) grads[1] = g;
           return grads;
         });
  return self;
}

Tensor fill_(const Tensor& self, const Scalar& value) {
  check_inplace("fill_", self, needs_history({&self}));
  const int64_t item = itemsize(self.dtype());
  alignas(8) char number[8];
  store_scalar(number, self.dtype(), value);
  bool zero = true;
  for (int64_t i = 0; i < item; ++i) zero &= number[i] == 0;
  if (zero && self.is_contiguous() && !self.is_meta()) {
    char* data = static_cast<char*>(self.data());
    parallel_for(self.numel() * item, 16 * kGrainSize,
                 [&](int64_t begin, int64_t end) { std::memset(data + begin, 0, end - begin); });
  } else {
    auto storage = make_ref<Storage>(number, sizeof number, [](void*) {}, nullptr);
    run_copy(self,
             Tensor(make_ref<TensorImpl>(std::move(storage), Dims(), Dims(), 0, self.dtype())));
  }
  record("FillBackward0", Target::inplace(self), self, {&self}, {},
         [](Node&, const Tensor& g) { return zeros(g.sizes(), g.options()); });
  return self;
}

Tensor fill_(const Tensor& self, const Tensor& value) {
  ZERO_CHECK(value.dim() == 0, ShapeError, "fill_: the value is not one number; got ", value,
             ", expected a 0-d tensor");
  return copy_(self, value);
}

Tensor zero_(const Tensor& self) { return fill_(self, 0); }

Tensor empty_like(const Tensor& x, TensorOptions options) {
  if (x.is_contiguous()) return empty(x.sizes(), options);
  // Dense strides (a transpose) are kept, in their order also where there are gaps.
  return empty_strided(x.sizes(), is_dense(x) ? x.strides() : strides_after(x.sizes(), {&x}),
                       options);
}

// A copy with dtype and device of `options`, recorded under `node`.
static Tensor copied(const char* node, const Tensor& x, Tensor y) {
  run_copy(y, x);
  record(node, {}, y, {&x}, {}, [](Node&, const Tensor& g) { return g; });
  return y;
}

Tensor write_out(const char* op, const Tensor& result, const Tensor& out) {
  const Target target = Target::out(out);
  target.prepare(op, result, result.options(), {&result});
  GradModeGuard no_grad(false);
  return copy_(out, result);
}

void write_two_out(const char* op, const std::pair<Tensor, Tensor>& results, const Tensor& first,
                   const Tensor& second) {
  const auto& [a, b] = results;
  ZERO_CHECK(!(first.impl()->storage_ == second.impl()->storage_) || first.numel() == 0, Error, op,
             ": the two tensors to write to share memory; got ", first, " and ", second);
  Target::out(first).prepare(op, a, a.options(), {&a});
  Target::out(second).prepare(op, b, b.options(), {&a});
  GradModeGuard no_grad(false);
  copy_(first, a);
  copy_(second, b);
}

Tensor clone(const Tensor& x) { return copied("CloneBackward0", x, empty_like(x, x.options())); }

Tensor contiguous(const Tensor& x) {
  if (x.is_contiguous()) return x;
  ++contiguous_copies.copies;
  contiguous_copies.bytes += x.numel() * static_cast<int64_t>(itemsize(x.dtype()));
  return copied("CloneBackward0", x, empty(x.sizes(), x.options()));
}

Tensor to(const Tensor& x, DType dtype, Device device, bool copy) {
  if (dtype == x.dtype() && device == x.device() && !copy) return x;
  ZERO_CHECK(
      !x.is_meta() || device == Device::Meta, NotImplementedError,
      "to: cannot copy out of a meta tensor; it has no data, expected empty_like(x, device='cpu')");
  return copied("ToCopyBackward0", x, empty_like(x, {dtype, device}));
}

Scalar item(const Tensor& x) {
  ZERO_CHECK(x.numel() == 1, ValueError, "item: a tensor with ", x.numel(),
             " elements cannot be converted to a number; got ", x, ", expected one element");
  ZERO_CHECK(!x.is_meta(), Error, "item: a meta tensor has no values; got ", x,
             " on meta, expected cpu");
  switch (x.dtype()) {
    case DType::Float32: return Scalar(static_cast<double>(*x.data<float>()));
    case DType::Float64: return Scalar(*x.data<double>());
    case DType::Int64: return Scalar(*x.data<int64_t>());
    default: return load_scalar(x.data(), x.dtype());
  }
}

}  // namespace zero
