#include "zero/autograd/foreign.h"

#include "zero/autograd/hooks.h"
#include "zero/autograd/meta.h"

namespace zero {

namespace {

std::atomic<int64_t> count{0};
constexpr int64_t kMost = 4096;

// Walks along references that are the only ones to what they lead to. So each object is met once.
class Search {
 public:
  SmallVector<Foreign*, 4> found;

  void run(TensorImpl* tensor, Node* node) {
    waiting_.push_back({tensor, node});
    for (int64_t seen = 0; !waiting_.empty() && seen < kMost; ++seen) {
      const Item next = waiting_.back();
      waiting_.pop_back();
      next.tensor ? visit(*next.tensor) : visit(*next.node);
    }
  }

 private:
  void follow(const Tensor& x) {
    if (x.defined() && x.ref()->use_count() == 1) waiting_.push_back({x.impl(), nullptr});
  }
  void follow(const Ref<Node>& node) {
    if (!node) return;
    if (TensorImpl* leaf = node->leaf()) {  // a part of it
      if (leaf->use_count() == 1) waiting_.push_back({leaf, nullptr});
    } else if (node->use_count() == 1) {
      waiting_.push_back({nullptr, node.get()});
    }
  }
  template <class T> void take(const Ref<T>& object) {
    if (object && object->use_count() == 1 && object->object()) found.push_back(object.get());
  }
  void follow_slot(const Ref<RetainedGrad>& slot) {
    if (slot && slot->use_count() == 1) follow(slot->grad);
  }

  void visit(TensorImpl& tensor) {
    auto* meta = static_cast<AutogradMeta*>(tensor.autograd_.get());
    if (!meta) return;
    follow(meta->grad_fn);
    follow(meta->grad);
    follow(meta->base);
    follow_slot(meta->retained);
    if (Node* node = meta->accumulator.load(std::memory_order_acquire)) visit(*node);
  }
  void visit(Node& node) {
    for (const Edge& edge : node.next_) follow(edge.node);
    if (Node* part = node.part()) visit(*part);
    for (const SavedTensor& saved : node.saved_) {
      follow(saved.tensor());
      const Ref<PackedTensor>& packed = saved.packed();
      if (packed && packed->use_count() == 1) follow(packed->history_.node);
      take(packed);
    }
    const NodeExtras* extras = node.extras();
    if (!extras) return;
    for (const Ref<TensorHook>& hook : extras->tensor_hooks) take(hook);
    for (const Ref<RetainedGrad>& slot : extras->retained) follow_slot(slot);
    take(extras->pre_hooks);
    take(extras->post_hooks);
    take(extras->accumulated);
    take(extras->context);
    take(extras->metadata);
  }

  struct Item {
    TensorImpl* tensor;
    Node* node;
  };
  SmallVector<Item, 16> waiting_;
};

}  // namespace

Foreign::Foreign() { count.fetch_add(1, std::memory_order_relaxed); }
Foreign::~Foreign() { count.fetch_sub(1, std::memory_order_relaxed); }
int64_t Foreign::live() { return count.load(std::memory_order_relaxed); }

SmallVector<Foreign*, 4> foreign_objects(const Tensor& x) {
  Search search;
  if (Foreign::live() > 0 && x.defined() && x.ref()->use_count() == 1)
    search.run(x.impl(), nullptr);
  return std::move(search.found);
}

SmallVector<Foreign*, 4> foreign_objects(Node& node) {
  Search search;
  if (Foreign::live() > 0 && !node.leaf() && node.use_count() == 1) search.run(nullptr, &node);
  return std::move(search.found);
}

}  // namespace zero
