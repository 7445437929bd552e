#include "zero/autograd/meta.h"

#include "zero/autograd/arithmetic.h"
#include "zero/autograd/hooks.h"
#include "zero/autograd/inplace.h"
#include "zero/autograd/record.h"
#include "zero/core/thread_local.h"

namespace zero {

static ZERO_THREAD_LOCAL bool recording = true;
static ZERO_THREAD_LOCAL bool requested = true;

bool grad_enabled() { return recording; }
bool grad_requested() { return requested; }
void set_grad_enabled(bool on) {
  requested = on;
  recording = on && !inference_mode_on;
}
bool inference_enabled() { return inference_mode_on; }
void set_inference_enabled(bool on) {
  inference_mode_on = on;
  recording = requested && !on;
}

AutogradMeta::~AutogradMeta() { delete accumulator.load(std::memory_order_relaxed); }

AutogradMeta& make_autograd_meta(const Tensor& x) {
  if (!x.impl()->autograd_) x.impl()->autograd_ = std::make_unique<AutogradMeta>();
  return *autograd_meta(x);
}

void set_requires_grad(const Tensor& x, bool on) {
  const AutogradMeta* known = autograd_meta(x);
  if (on && known && known->grad_fn) return;  // it does, also where its history is out of date
  ZERO_CHECK(is_leaf(x) || on, Error,
             "requires_grad: only leaves can stop requiring a gradient; got ", x, " made by ",
             grad_fn(x)->name(), ", expected a leaf; detach() gives one");
  ZERO_CHECK(!on || is_floating(x.dtype()), Error,
             "requires_grad: only floating point tensors can require gradients; got ", x);
  ZERO_CHECK(!on || !x.impl()->is_inference_ || inference_mode_on, Error,
             "requires_grad: an inference tensor can't require a gradient outside inference_mode; "
             "got ",
             x, ", expected a clone() of it");
  if (!is_leaf(x) || (!on && !autograd_meta(x))) return;
  make_autograd_meta(x).requires_grad = on;
}

bool is_leaf(const Tensor& x) { return !grad_fn(x); }

void set_history(const Tensor& x, Ref<Node> node, int output_nr) {
  AutogradMeta& meta = make_autograd_meta(x);
  if (meta.retained) [[unlikely]]
    move_retained(x, node.get(), output_nr);
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
  meta.grad_fn_version = x.version();
}

// Which views have no history of their own once their base was written to.
static void check_rebuilt(const Tensor& x, const AutogradMeta& view) {
  if (view.origin == ViewOrigin::Normal) return;
  const char* made = view.origin == ViewOrigin::NoGrad        ? "under no_grad"
                     : view.origin == ViewOrigin::Inference   ? "in inference_mode"
                     : view.origin == ViewOrigin::MultiOutput ? "by a function with several outputs"
                                                              : "by a custom Function";
  fail<Error>("autograd: a view made ", made,
              " is used after its base, or another view of it, was written in place; got ", x,
              ", expected a view made after the write, or a clone() made before it");
}

Ref<Node> grad_fn(const Tensor& x) {
  AutogradMeta* meta = autograd_meta(x);
  if (!meta) return nullptr;
  if (!meta->base.defined() || meta->grad_fn_version == x.version()) return meta->grad_fn;
  if (!meta->grad_fn && !requires_grad(meta->base)) return nullptr;
  // The base was written to since: x is now that strided part of the base's new history.
  check_rebuilt(x, *meta);
  const Tensor& base = meta->base;
  const TensorImpl& view = *x.impl();
  auto backward = [spec = OutputSpec{base.sizes(), base.dtype(), base.device()},
                   base_strides = base.strides(), base_offset = base.storage_offset(),
                   sizes = view.sizes_, strides = view.strides_,
                   offset = view.offset_](Node&, const Tensor& g) {
    return gradient::as_strided_backward(g, spec, base_strides, sizes, strides,
                                         offset - base_offset);
  };
  Ref<Node> node = make_ref<OpNode<decltype(backward)>>("AsStridedBackward0", std::move(backward));
  const Tensor* input = &base;
  connect(*node, &input, 1);
  node->outputs_.push_back({x.sizes(), x.dtype(), x.device()});
  set_history(x, std::move(node), 0);
  return meta->grad_fn;
}

Tensor grad(const Tensor& x) {
  const AutogradMeta* meta = autograd_meta(x);
  if (!meta) return Tensor();
  return meta->retained ? meta->retained->grad : meta->grad;
}

void set_grad(const Tensor& x, const Tensor& g) {
  if (!g.defined()) {
    if (AutogradMeta* meta = autograd_meta(x))
      (meta->retained ? meta->retained->grad : meta->grad) = Tensor();
    return;
  }
  ZERO_CHECK(!g.is_same(x), Error, "grad: a tensor cannot be its own gradient; got ", g);
  ZERO_CHECK(g.sizes() == x.sizes(), ShapeError, "grad: shape differs; got ", g.sizes(),
             ", expected ", x.sizes());
  ZERO_CHECK(g.dtype() == x.dtype(), DTypeError, "grad: dtype differs; got ", g.dtype(),
             ", expected ", x.dtype());
  ZERO_CHECK(g.device() == x.device(), Error, "grad: device differs; got ", g.device(),
             ", expected ", x.device());
  AutogradMeta& meta = make_autograd_meta(x);
  (meta.retained ? meta.retained->grad : meta.grad) = g;
}

}  // namespace zero
