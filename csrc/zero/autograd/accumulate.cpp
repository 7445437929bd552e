// The node at the end of the graph: adds a gradient to a leaf's .grad.
//
// It is a part of the leaf: made once, owned by the leaf's AutogradMeta, and a reference to it
// counts as one to the leaf (Node::retain). So a graph keeps the leaves it ends at, without a
// cycle.
#include "zero/autograd/arithmetic.h"
#include "zero/autograd/engine.h"
#include "zero/autograd/meta.h"

namespace zero {

namespace {

// A gradient nobody else can see may become .grad as it is.
bool is_stealable(const Tensor& g) {
  return g.ref()->use_count() == 1 && g.impl()->storage_->use_count() == 1 && g.is_contiguous() &&
         !g.impl()->storage_->is_foreign();
}

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(TensorImpl* leaf) : Node("AccumulateGrad") {
    leaf_ = leaf;
    outputs_.push_back({leaf->sizes_, leaf->dtype_, leaf->storage_->device()});
  }

  Grads apply(Grads&& grads) override {
    Tensor& g = grads[0];
    if (!g.defined()) return {};
    AutogradMeta& meta = static_cast<AutogradMeta&>(*leaf_->autograd_);
    if (grad_enabled()) {  // create_graph: the sum is itself part of a graph
      meta.grad = meta.grad.defined() ? gradient::add(meta.grad, g) : gradient::clone(g);
    } else if (!meta.grad.defined()) {
      meta.grad = is_stealable(g) ? std::move(g) : gradient::clone(g);
    } else {
      gradient::add_into(meta.grad, g);
    }
    return {};
  }
};

Node* accumulator(const Tensor& leaf) {
  AutogradMeta& meta = *autograd_meta(leaf);
  if (Node* node = meta.accumulator.load(std::memory_order_acquire)) return node;
  Node* fresh = new AccumulateGrad(leaf.impl());
  Node* other = nullptr;
  if (meta.accumulator.compare_exchange_strong(other, fresh, std::memory_order_acq_rel))
    return fresh;
  delete fresh;  // another thread was first
  return other;
}

}  // namespace

Edge gradient_edge(const Tensor& x) {
  const AutogradMeta* meta = autograd_meta(x);
  if (!meta) return {};
  if (meta->requires_grad && !meta->grad_fn) return {Ref<Node>::share(accumulator(x)), 0};
  if (Ref<Node> node = grad_fn(x)) return {std::move(node), meta->output_nr};
  return {};
}

Tensor accumulated_leaf(const Node& node) {
  return node.leaf() ? Tensor(Ref<TensorImpl>::share(node.leaf())) : Tensor();
}

}  // namespace zero
