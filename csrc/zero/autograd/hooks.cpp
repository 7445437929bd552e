#include "zero/autograd/hooks.h"

#include "zero/autograd/arithmetic.h"

namespace zero {

template <class T>
static T& entry(SmallVector<T, 1>& list, int64_t i) {
  if (list.size() <= i) list.resize(i + 1);
  return list[i];
}

Edge hook_edge(const char* op, const Tensor& x) {
  ZERO_CHECK(requires_grad(x), Error, op, ": the tensor does not require grad; got ", x,
             ", expected a tensor with requires_grad=True or made from one");
  Edge edge = gradient_edge(x);
  ZERO_CHECK(edge.node, Error, op,
             ": no gradient flows to a view that was made under no_grad; got ", x,
             ", expected a view made with gradients on");
  return edge;
}

void run_tensor_hooks(Node& node, Grads& grads) {
  const NodeExtras& extras = *node.extras();
  for (int64_t i = 0; i < extras.tensor_hooks.size(); ++i) {
    const Ref<TensorHook> hook = extras.tensor_hooks[i];
    if (hook) hook->call(grads[i]);
  }
  for (int64_t i = 0; i < extras.retained.size(); ++i) {
    const Ref<RetainedGrad> slot = extras.retained[i];
    if (!slot || !grads[i].defined()) continue;
    slot->grad =
        slot->grad.defined() ? gradient::add(slot->grad, grads[i]) : gradient::clone(grads[i]);
  }
}

void retain_grad(const Tensor& x) {
  if (requires_grad(x) && is_leaf(x)) return;  // does so anyway
  const Edge edge = hook_edge("retain_grad", x);
  if (retains_grad(x)) return;
  AutogradMeta& meta = *autograd_meta(x);
  meta.retained = make_ref<RetainedGrad>();
  meta.retained->grad = std::move(meta.grad);
  entry(edge.node->make_extras().retained, edge.output_nr) = meta.retained;
}

bool retains_grad(const Tensor& x) {
  const AutogradMeta* meta = autograd_meta(x);
  return meta && meta->retained;
}

void move_retained(const Tensor& x, Node* to, int output_nr) {
  AutogradMeta& meta = *autograd_meta(x);
  entry(meta.grad_fn->make_extras().retained, meta.output_nr).reset();
  if (to) {
    entry(to->make_extras().retained, output_nr) = meta.retained;
  } else {
    meta.grad = meta.retained->grad;
    meta.retained.reset();
  }
}

}  // namespace zero
