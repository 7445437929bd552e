// What autograd knows of a tensor: its gradient, the node that made it, the tensor it is a view of.
#pragma once

#include "zero/autograd/grad_mode.h"
#include "zero/autograd/node.h"

#include <initializer_list>

namespace zero {

using Inputs = std::initializer_list<const Tensor*>;  // the tensors an operator reads

// How a view came about decides whether it may be written in place.
enum class ViewOrigin : uint8_t {
  Normal,
  NoGrad,       // made under no_grad: a write with gradients would leave the base's history wrong
  Inference,    // made in inference mode: never to be written outside
  MultiOutput,  // one of several from split, unbind, chunk: its node cannot be rebased alone
  Custom,       // by a custom function: a write would go past its backward
};

// The .grad of a result that keeps it (retain_grad); the node that fills it shares it.
struct RetainedGrad final : RefCounted { Tensor grad; };

struct AutogradMeta final : AutogradMetaBase {
  Tensor grad;
  Ref<Node> grad_fn;
  std::atomic<Node*> accumulator{nullptr};  // of a leaf; owned, see accumulate.cpp
  int output_nr = 0;
  bool requires_grad = false;  // asked for by the user; only leaves
  Ref<RetainedGrad> retained;  // takes the place of grad in a result that keeps its gradient

  // Views only.
  Tensor base;
  ViewOrigin origin = ViewOrigin::Normal;
  uint32_t grad_fn_version = 0;  // of the base when grad_fn was made

  ~AutogradMeta() override;
  static void* operator new(size_t size) { return allocate(size); }
  static void operator delete(void* p, size_t size) noexcept { deallocate(p, size); }
};

// Null where nothing was recorded.
inline AutogradMeta* autograd_meta(const Tensor& x) {
  return static_cast<AutogradMeta*>(x.impl()->autograd_.get());
}
AutogradMeta& make_autograd_meta(const Tensor& x);

inline bool requires_grad(const Tensor& x) {
  if (!x.defined()) return false;
  const AutogradMeta* meta = autograd_meta(x);
  return meta && (meta->requires_grad || meta->grad_fn ||
                  (meta->base.defined() && requires_grad(meta->base)));
}
// Leaves only; raises for integers and for results of recorded operations.
void set_requires_grad(const Tensor& x, bool on);

inline bool is_view(const Tensor& x) {
  const AutogradMeta* meta = autograd_meta(x);
  return meta && meta->base.defined();
}

// The node that made x, null for a leaf. A view whose base was written to gets a new one here.
Ref<Node> grad_fn(const Tensor& x);
bool is_leaf(const Tensor& x);
void set_history(const Tensor& x, Ref<Node> node, int output_nr);

Tensor grad(const Tensor& x);  // undefined where there is none
void set_grad(const Tensor& x, const Tensor& grad);

}  // namespace zero
