#include "zero/autograd/inplace.h"

#include <utility>

#include "zero/autograd/arithmetic.h"
#include "zero/autograd/hooks.h"
#include "zero/core/thread_local.h"

namespace zero {

namespace {

// The gradient of a base after a part of it was overwritten: the part's goes through the write's
// own node, the rest passes. Its edge to the base takes the place of the write's to the view.
class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, Ref<Node> write, int input)
      : Node("CopySlices"),
        base_strides_(base.strides()),
        sizes_(view.sizes()),
        strides_(view.strides()),
        offset_(view.storage_offset() - base.storage_offset()),
        write_(std::move(write)),
        input_(input) {
    next_.push_back(requires_grad(base) ? gradient_edge(base) : Edge());
    for (int64_t i = 0; i < write_->next_.size(); ++i)
      if (i != input_) next_.push_back(write_->next_[i]);
    number();
    outputs_.push_back({base.sizes(), base.dtype(), base.device()});
  }

  Grads apply(Grads&& grads) override {
    const Ref<Node> write = write_;  // another thread may free the graph while this one computes
    ZERO_CHECK(write, Error, "backward: trying to backward through the graph a second time; got ",
               name_,
               " after its saved tensors were freed, expected retain_graph=True in the first call");
    Grads out(next_.size());
    if (!grads[0].defined()) return out;
    Tensor whole = gradient::with_strides(grads[0], base_strides_);
    Tensor part = gradient::as_strided(whole, sizes_, strides_, offset_);
    Grads inner = write->apply({gradient::clone(part)});
    for (int64_t i = 0, k = 1; i < inner.size() && k < out.size(); ++i)
      if (i != input_) out[k++] = std::move(inner[i]);
    if (!needs(0)) return out;
    const OutputSpec spec{sizes_, whole.dtype(), whole.device()};
    const Tensor& own = inner[input_];
    gradient::copy_into(part, own.defined() ? own : gradient::zeros(spec));
    out[0] = std::move(whole);
    return out;
  }

  // The write itself lives on where gradients of gradients lead to it.
  void release_saved() override { write_.reset(); }

  Node* part() const override {
    return write_ && write_->use_count() == 1 ? write_.get() : nullptr;
  }

 private:
  Dims base_strides_, sizes_, strides_;
  int64_t offset_;
  Ref<Node> write_;
  int input_;
};

struct ByteRange { const char *begin, *end; };
ByteRange byte_range(const Tensor& x) {
  const char* begin = static_cast<const char*>(x.data());
  int64_t last = 0;
  for (int64_t d = 0; d < x.dim(); ++d) last += (x.size(d) - 1) * x.stride(d);
  return {begin, begin + (last + 1) * itemsize(x.dtype())};
}

// Strides and sizes of the dimensions that have several elements.
SmallVector<std::pair<int64_t, int64_t>, 6> dims_by_stride(const Tensor& x) {
  SmallVector<std::pair<int64_t, int64_t>, 6> dims;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (x.size(d) > 1) dims.push_back({x.stride(d), x.size(d)});
  std::sort(dims.begin(), dims.end());
  return dims;
}

// A write that its record may refuse, and what was there before.
struct Doubtful {
  Tensor out, before;
  uint32_t version;
};
ZERO_THREAD_LOCAL Doubtful* doubtful = nullptr;

}  // namespace

bool overlaps_itself(const Tensor& x) {
  if (x.is_contiguous() || x.numel() <= 1) return false;
  // Sorted by stride, each dimension must step over all that the smaller ones reach.
  int64_t reach = 0;
  for (const auto& [stride, size] : dims_by_stride(x)) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

bool is_dense(const Tensor& x) {
  if (x.is_contiguous()) return true;
  int64_t step = 1;
  for (const auto& [stride, size] : dims_by_stride(x)) {
    if (stride != step) return false;
    step *= size;
  }
  return true;
}

static bool shares_memory(const Tensor& a, const Tensor& b) {
  if (!(a.impl()->storage_ == b.impl()->storage_) || a.is_meta() || a.numel() == 0 ||
      b.numel() == 0)
    return false;
  const ByteRange ra = byte_range(a), rb = byte_range(b);
  return ra.begin < rb.end && rb.begin < ra.end;
}

static bool is_same_view(const Tensor& a, const Tensor& b) {
  return a.data() == b.data() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

bool overlaps_partly(const Tensor& a, const Tensor& b) {
  return shares_memory(a, b) && !is_same_view(a, b);
}

void check_overlap(const char* op, const Tensor& out, const Tensor& x, Overlap forbidden) {
  if (!x.defined() || !(out.impl()->storage_ == x.impl()->storage_)) return;
  const bool same = is_same_view(out, x), itself = out.is_same(x);
  if (!itself && (!shares_memory(out, x) || !is_dense(out) || !is_dense(x))) return;
  ZERO_CHECK(same && forbidden == Overlap::Partial, Error, op,
             same ? ": an input is" : ": an input shares part of its memory with",
             " the tensor to write to; got ", x, ", expected a clone() of it");
}

void keep_for_undo(const Tensor& out, Inputs read) {
  bool recorded = requires_grad(out), frozen = false;
  for (const Tensor* x : read) {
    recorded |= requires_grad(*x);
    frozen |= x->defined() && x->impl()->is_inference_;
  }
  if (!recorded || !frozen || !grad_enabled()) return;
  forget_write();
  doubtful = new Doubtful{out, gradient::clone(detach(out)), out.version()};
}

void undo_write(const Tensor& out) {
  if (doubtful && doubtful->out.is_same(out) && doubtful->version == out.version())
    gradient::copy_into(detached_data(out), doubtful->before);  // which counts no write
  forget_write();
}

void forget_write() { delete std::exchange(doubtful, nullptr); }

bool needs_history(Inputs inputs) {
  bool any = false;
  for (const Tensor* x : inputs) any |= requires_grad(*x);
  if (any && grad_enabled())
    for (const Tensor* x : inputs)
      if (x->defined() && is_view(*x)) grad_fn(*x);
  return any;
}

void check_history(const char* op, const Tensor& x, bool recorded) {
  // One that was detached outside the mode counts its writes.
  ZERO_CHECK(!x.impl()->is_inference_ || inference_mode_on || x.impl()->own_version_, Error, op,
             ": an inference tensor is written in place outside inference_mode; got ", x,
             ", expected a clone() of it");
  const AutogradMeta* meta = autograd_meta(x);
  if (recorded && grad_enabled()) {
    if (is_view(x)) {
      ZERO_CHECK(meta->origin != ViewOrigin::Inference, Error, op,
                 ": a view made in inference_mode is written in place outside it; got ", x,
                 ", expected a clone() of it");
      ZERO_CHECK(meta->origin != ViewOrigin::NoGrad, Error, op,
                 ": a view made under no_grad is written "
                 "in place with gradients on; got ",
                 x, ", expected a view made with gradients on, or a clone()");
      ZERO_CHECK(meta->origin != ViewOrigin::MultiOutput, Error, op,
                 ": one output of a function that returns "
                 "several views is written in place; got ",
                 x, ", expected an out-of-place operation or a clone()");
      ZERO_CHECK(meta->origin != ViewOrigin::Custom, Error, op,
                 ": a view that a custom Function made, or an input it returned, is written in "
                 "place, which would bypass its backward; got ",
                 x, ", expected a clone() of the output");
      ZERO_CHECK(!(requires_grad(x) && is_leaf(meta->base)), Error, op,
                 ": a view of a leaf that requires "
                 "grad is being used in an in-place operation; got ",
                 x, ", expected zero.no_grad() or a clone()");
    }
    ZERO_CHECK(!(requires_grad(x) && is_leaf(x)), Error, op,
               ": a leaf that requires grad is being used in an "
               "in-place operation; got ",
               x, ", expected zero.no_grad() or a clone()");
  }
}

void check_inplace(const char* op, const Tensor& x, bool recorded) {
  check_history(op, x, recorded);
  ZERO_CHECK(!overlaps_itself(x), Error, op,
             ": several elements of the tensor to write share one place in "
             "memory; got ",
             x, " with strides ", x.strides(), ", expected a clone() of it");
}

Tensor Target::prepare(const char* op, const Dims& sizes, TensorOptions options,
                       Inputs inputs) const {
  if (fresh()) {
    for (const Tensor* x : inputs)
      if (x->defined() && !in_row_order(*x)) [[unlikely]]
        return empty_strided(sizes, strides_after(sizes, inputs), options);
    return empty(sizes, options);
  }
  Tensor out = *tensor_;
  const bool recorded = needs_history(inputs);
  ZERO_CHECK(
      inplace_ || !(grad_enabled() && (recorded || requires_grad(out))), Error, op,
      ": out= does not record gradients; got a tensor that requires grad, expected zero.no_grad() "
      "or no out=");
  ZERO_CHECK(out.device() == options.device, Error, op, ": devices differ; got ", out.device(),
             " to write to and ", options.device, ", expected one device");
  const bool resized = !inplace_ && out.numel() == 0 && !(out.sizes() == sizes);
  ZERO_CHECK(out.sizes() == sizes || resized, ShapeError, op,
             ": the result does not fit the tensor to write to; got ", out.sizes(), ", expected ",
             sizes, inplace_ ? "" : ", or a tensor without elements, which takes any shape");
  ZERO_CHECK(!resized || !is_view(out), Error, op,
             ": out= is a view without elements, which takes no other shape; got ", out.sizes(),
             ", expected ", sizes);
  ZERO_CHECK(category(options.dtype) <= category(out.dtype()), DTypeError, op,
             ": the result can't be cast to the dtype of the tensor to write to; got ",
             options.dtype, ", expected ", out.dtype(), " or a dtype it can hold");
  if (resized) {
    set_data(out, empty(sizes, out.options()));
    return out;
  }
  check_inplace(op, out, recorded);
  for (const Tensor* x : inputs) check_overlap(op, out, *x, Overlap::Partial);
  keep_for_undo(out, inputs);
  return out;
}

const Tensor& Target::preserve(const Tensor& x, bool needed, Tensor& copy) const {
  if (!is_inplace() || !needed || !grad_enabled() || !x.is_same(*tensor_)) return x;
  return copy = gradient::clone(x);
}

void rebase_history(const Tensor& x, const Ref<Node>& node, int output_nr, int input) {
  if (!is_view(x)) return set_history(x, node, output_nr);
  // The version has moved on, so x finds its new history through the base (grad_fn in meta.cpp).
  const AutogradMeta& meta = *autograd_meta(x);
  set_history(meta.base, make_ref<CopySlices>(meta.base, x, node, input), 0);
  if (meta.retained) grad_fn(x);  // at once: the old node is not to fill its gradient
}

Tensor make_view(const char* op, const Tensor& base, Dims sizes, Dims strides, int64_t offset,
                 ViewOrigin origin) {
  Tensor view = alias(op, base, std::move(sizes), std::move(strides), offset);
  if (base.impl()->is_inference_) return view;  // whose views nobody follows
  view.impl()->is_view_ = true;
  if (!is_floating(base.dtype())) return view;
  const AutogradMeta* base_meta = autograd_meta(base);
  AutogradMeta& meta = make_autograd_meta(view);
  const bool nested = base_meta && base_meta->base.defined();
  meta.base = nested ? base_meta->base : base;
  if (!grad_enabled()) origin = inference_mode_on ? ViewOrigin::Inference : ViewOrigin::NoGrad;
  meta.origin = nested && origin == ViewOrigin::Normal ? base_meta->origin : origin;
  meta.grad_fn_version = view.version();
  return view;
}

// Of an inference tensor, outside the mode, it has a counter of its own, and may be written.
Tensor detach(const Tensor& x) {
  if (x.impl()->is_inference_) [[unlikely]]
    return detached_data(x);
  return alias(x);
}

Tensor detached_data(const Tensor& x) {
  Tensor data = alias(x);
  if (!x.impl()->is_inference_ || !inference_mode_on)
    data.impl()->own_version_ = make_ref<VersionCounter>();
  return data;
}

void detach_(const Tensor& x) {
  ZERO_CHECK(!x.impl()->is_view_, Error, "detach_: a view can't be detached in place; got ", x,
             ", expected detach()");
  if (AutogradMeta* meta = autograd_meta(x)) {
    if (meta->retained) move_retained(x, nullptr, 0);
    meta->grad_fn.reset();
    meta->requires_grad = false;
  }
}

void count_write(const Tensor& x) { x.impl()->version().bump(); }

void set_data(const Tensor& x, const Tensor& data) {
  if (x.is_same(data)) return;
  ZERO_CHECK(is_floating(data.dtype()) || !requires_grad(x), DTypeError,
             "data: only floating point tensors can require gradients; got ", data,
             " for a tensor that requires grad, expected a floating point dtype");
  gradient::keep_memory(x);
  TensorImpl& impl = *x.impl();
  const TensorImpl& other = *data.impl();
  auto count = make_ref<VersionCounter>(x.version());
  impl.storage_ = other.storage_;
  impl.offset_ = other.offset_;
  impl.dtype_ = other.dtype_;
  impl.set_geometry(other.sizes_, other.strides_);
  impl.own_version_ = std::move(count);
  // The node of a leaf expects gradients of the new shape from now on.
  AutogradMeta* meta = autograd_meta(x);
  if (Node* node = meta ? meta->accumulator.load() : nullptr)
    node->outputs_[0] = {x.sizes(), x.dtype(), x.device()};
}

}  // namespace zero
