// The node at the end of the graph: adds a gradient to a leaf's .grad.
#include <atomic>

#include "zero/autograd/arithmetic.h"
#include "zero/autograd/inplace.h"

namespace zero {

namespace {

// Guards AutogradMeta::accumulator. Graphs hold the accumulator, it holds the leaf, and the leaf only borrows
// it back: so both live as long as any graph ends there, and one leaf has one accumulator at a time.
class SpinLock {
 public:
  SpinLock() { while (flag_.test_and_set(std::memory_order_acquire)) {} }
  ~SpinLock() { flag_.clear(std::memory_order_release); }

 private:
  static inline std::atomic_flag flag_;
};

// A gradient nobody else can see may become .grad as it is.
bool is_stealable(const Tensor& g) {
  return g.ref()->use_count() == 1 && g.impl()->storage_->use_count() == 1 && g.is_contiguous() &&
         !g.impl()->storage_->is_foreign();
}

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf) : Node("AccumulateGrad"), leaf_(std::move(leaf)) {
    outputs_.push_back({leaf_.sizes(), leaf_.dtype(), leaf_.device()});
  }
  ~AccumulateGrad() override {
    SpinLock lock;
    AutogradMeta* meta = autograd_meta(leaf_);
    if (meta && meta->accumulator == this) meta->accumulator = nullptr;
  }

  Grads apply(Grads&& grads) override {
    Tensor& g = grads[0];
    if (!g.defined()) return {};
    AutogradMeta& meta = make_autograd_meta(leaf_);
    if (grad_enabled()) {  // create_graph: the sum is itself part of a graph
      meta.grad = meta.grad.defined() ? gradient::add(meta.grad, g) : gradient::clone(g);
    } else if (!meta.grad.defined()) {
      meta.grad = is_stealable(g) ? std::move(g) : gradient::clone(g);
    } else {
      gradient::add_into(meta.grad, g);
    }
    return {};
  }

  const Tensor& leaf() const { return leaf_; }

 private:
  Tensor leaf_;
};

Ref<Node> accumulator(const Tensor& leaf) {
  AutogradMeta& meta = make_autograd_meta(leaf);
  {
    SpinLock lock;
    if (meta.accumulator && meta.accumulator->try_retain()) return Ref<Node>::adopt(meta.accumulator);
  }
  Ref<Node> fresh = make_ref<AccumulateGrad>(leaf);
  SpinLock lock;
  if (meta.accumulator && meta.accumulator->try_retain()) return Ref<Node>::adopt(meta.accumulator);
  meta.accumulator = fresh.get();
  return fresh;
}

}  // namespace

Edge gradient_edge(const Tensor& x) {
  if (Ref<Node> node = grad_fn(x)) return {std::move(node), autograd_meta(x)->output_nr};
  const AutogradMeta* meta = autograd_meta(x);
  if (meta && meta->requires_grad) return {accumulator(x), 0};
  return {};
}

Tensor accumulated_leaf(const Node& node) {
  const auto* accumulate = dynamic_cast<const AccumulateGrad*>(&node);
  return accumulate ? accumulate->leaf() : Tensor();
}

}  // namespace zero
