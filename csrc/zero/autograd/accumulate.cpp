// The node at the end of the graph: adds a gradient to a leaf's .grad.
//
// It is a part of the leaf: made once, owned by the leaf's AutogradMeta, and a reference to it
// counts as one to the leaf (Node::retain). So a graph keeps the leaves it ends at, without a
// cycle.
#include "zero/autograd/arithmetic.h"
#include "zero/autograd/engine.h"
#include "zero/autograd/hooks.h"
#include "zero/autograd/inplace.h"

namespace zero {

namespace {

// The gradient of a leaf without gaps lies in memory as the leaf does, others are contiguous.
Dims grad_strides(const Tensor& leaf) {
  return is_dense(leaf) ? leaf.strides() : contiguous_strides(leaf.sizes());
}

// A gradient nobody else can see may become .grad as it is.
bool is_stealable(const Tensor& g, const Tensor& leaf) {
  return is_sole_owner(g) &&
         (leaf.is_contiguous() ? g.is_contiguous() : g.strides() == grad_strides(leaf));
}

// `held` keeps the gradient of before.
void add_to_grad(const Tensor& leaf, Tensor&& g, Tensor& held) {
  AutogradMeta& meta = *autograd_meta(leaf);
  held = meta.grad;
  if (grad_enabled()) {  // create_graph: the sum is itself part of a graph
    meta.grad =
        held.defined() ? gradient::add(held, g) : gradient::with_strides(g, grad_strides(leaf));
  } else if (!held.defined()) {
    meta.grad =
        is_stealable(g, leaf) ? std::move(g) : gradient::with_strides(g, grad_strides(leaf));
  } else {
    gradient::add_into(held, g);
  }
}

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(TensorImpl* leaf) : Node("AccumulateGrad") {
    leaf_ = leaf;
    outputs_.push_back({leaf->sizes_, leaf->dtype_, leaf->storage_->device()});
  }

  Grads apply(Grads&& grads) override {
    // The leaf may have been told meanwhile that it needs no gradient.
    const bool wanted = static_cast<AutogradMeta&>(*leaf_->autograd_).requires_grad;
    if (!grads[0].defined() || !wanted) return {};
    add(std::move(grads[0]));
    if (extras() && extras()->accumulated) {
      const Ref<TensorHook> hook = extras()->accumulated;
      Tensor leaf(Ref<TensorImpl>::share(leaf_));
      hook->call(leaf);
    }
    return {};
  }

  // A large sum lets other Python threads run. Those that have a gradient for this leaf wait here;
  // one that sets .grad meanwhile does not free what is being written.
  void add(Tensor&& g) {
    Tensor held;
    std::unique_lock<ForkLock> lock(lock_, std::try_to_lock);
    if (!lock) gradient::wait_for(lock);
    add_to_grad(Tensor(Ref<TensorImpl>::share(leaf_)), std::move(g), held);
  }

 private:
  ForkLock lock_;
};

AccumulateGrad* accumulator(const Tensor& leaf) {
  AutogradMeta& meta = *autograd_meta(leaf);
  if (Node* node = meta.accumulator.load(std::memory_order_acquire))
    return static_cast<AccumulateGrad*>(node);
  auto* fresh = new AccumulateGrad(leaf.impl());
  Node* other = nullptr;
  if (meta.accumulator.compare_exchange_strong(other, fresh, std::memory_order_acq_rel))
    return fresh;
  delete fresh;  // another thread was first
  return static_cast<AccumulateGrad*>(other);
}

}  // namespace

Edge gradient_edge(const Tensor& x) {
  const AutogradMeta* meta = autograd_meta(x);
  if (!meta) return {};
  if (meta->requires_grad && !meta->grad_fn)
    return {Ref<Node>::share(static_cast<Node*>(accumulator(x))), 0};
  if (Ref<Node> node = grad_fn(x)) return {std::move(node), meta->output_nr};
  return {};
}

Tensor accumulated_leaf(const Node& node) {
  return node.leaf() ? Tensor(Ref<TensorImpl>::share(node.leaf())) : Tensor();
}

}  // namespace zero
