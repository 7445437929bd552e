// What the engine asks of the operators (autograd/arithmetic.h).
#include "zero/autograd/arithmetic.h"

#include "zero/autograd/record.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/blocking.h"

namespace zero::gradient {

Tensor add(const Tensor& a, const Tensor& b) { return zero::add(a, b); }

void add_into(const Tensor& into, const Tensor& g) {
  GradModeGuard no_record(false);
  zero::add(into, g, 1, Target::inplace(into));
}

Tensor clone(const Tensor& x) { return zero::clone(x); }
Tensor zeros(const OutputSpec& spec) { return zero::zeros(spec.sizes, {spec.dtype, spec.device}); }
Tensor ones(const OutputSpec& spec) { return zero::ones(spec.sizes, {spec.dtype, spec.device}); }
Tensor sum_to(const Tensor& g, const Dims& sizes) { return zero::sum_to(g, sizes); }
Tensor cast(const Tensor& g, DType dtype) { return zero::to(g, dtype, g.device()); }

bool has_nan(const Tensor& g) {
  if (g.is_meta() || g.numel() == 0) return false;
  const GradModeGuard no_record(false);
  return zero::item(zero::any(zero::isnan(g))).to_bool();
}

void wait_for(std::unique_lock<ForkLock>& lock) {
  const BlockingSection waiting(true);
  lock.lock();
}

void keep_memory(const Tensor& x) { keep_while_blocking(detach(x)); }

Tensor with_strides(const Tensor& x, const Dims& strides) {
  Tensor y = empty_strided(x.sizes(), strides, x.options());
  run_copy(y, x);
  record("CloneBackward0", {}, y, {&x}, {}, [](Node&, const Tensor& g) { return g; });
  return y;
}

Tensor as_strided(const Tensor& x, const Dims& sizes, const Dims& strides, int64_t offset) {
  return zero::as_strided(x, sizes, strides, offset);
}

void copy_into(const Tensor& view, const Tensor& x) { zero::copy_(view, x); }

namespace {

// Visits the element offsets of a geometry in row-major order.
template <class F>
void for_each_offset(const Dims& sizes, const Dims& strides, int64_t offset, F f) {
  if (numel(sizes) == 0) return;
  Dims index(sizes.size());
  for (;;) {
    f(offset);
    int64_t d = sizes.size() - 1;
    for (; d >= 0; --d) {
      offset += strides[d];
      if (++index[d] < sizes[d]) break;
      offset -= sizes[d] * strides[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

int64_t last_offset(const Dims& sizes, const Dims& strides, int64_t offset) {
  for (int64_t d = 0; d < sizes.size(); ++d) offset += (sizes[d] - 1) * strides[d];
  return offset;
}

// buffer[offset of each element of the view] += g, one after the other: views may overlap
// themselves.
void scatter(const Tensor& buffer, const Tensor& g, const Dims& sizes, const Dims& strides,
             int64_t offset) {
  double* out = buffer.data<double>();
  const Tensor values = zero::contiguous(zero::to(g, DType::Float64, g.device()));
  const double* in = values.data<double>();
  for_each_offset(sizes, strides, offset, [&](int64_t at) { out[at] += *in++; });
}

}  // namespace

Tensor as_strided_backward(const Tensor& g, const OutputSpec& base, const Dims& base_strides,
                           const Dims& sizes, const Dims& strides, int64_t offset) {
  Tensor out = zero::zeros(base.sizes, {base.dtype, base.device});
  if (g.numel() == 0) return out;  // zeros without a history, as in PyTorch
  if (!g.is_meta() && out.numel() > 0) {
    GradModeGuard no_record(false);
    const int64_t low = std::min<int64_t>(0, offset);
    const int64_t high =
        std::max(last_offset(base.sizes, base_strides, 0), last_offset(sizes, strides, offset));
    const Tensor whole = zero::zeros({high - low + 1}, {DType::Float64, g.device()});
    scatter(whole, g, sizes, strides, offset - low);
    Tensor found = alias("as_strided", whole, base.sizes, base_strides, -low);
    // Elements of the base that share a place share its gradient.
    if (overlaps_itself(found)) {
      const Tensor count = zero::zeros({high - low + 1}, {DType::Float64, g.device()});
      scatter(count, zero::ones(base.sizes, {DType::Float64, g.device()}), base.sizes, base_strides,
              -low);
      found = zero::div(found, alias("as_strided", count, base.sizes, base_strides, -low));
    }
    run_copy(out, found);
  }
  record("AsStridedBackwardBackward0", {}, out, {&g}, {},
         [base_strides, sizes, strides, offset](Node&, const Tensor& gg) {
           const int64_t end = last_offset(gg.sizes(), base_strides, 0);
           const int64_t low = std::min<int64_t>(0, offset);
           const int64_t high = std::max(end, last_offset(sizes, strides, offset));
           if ((low == 0 && high <= end) || numel(sizes) == 0 || gg.numel() == 0)
             return zero::as_strided(with_strides(gg, base_strides), sizes, strides, offset);
           // The view shows memory outside the base, too: 0 there.
           const Tensor memory = zero::zeros({high - low + 1}, gg.options());
           copy_(zero::as_strided(memory, gg.sizes(), base_strides, -low), gg);
           return zero::as_strided(memory, sizes, strides, offset - low);
         });
  return out;
}

}  // namespace zero::gradient
