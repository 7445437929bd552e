// The engine runs nodes by falling sequence number: every edge leads to a smaller one, so when a
// node comes up, all gradients for it have arrived. The loop is iterative, and a node's memory goes
// as soon as it ran.
#include "zero/autograd/engine.h"

#include <atomic>
#include <unordered_map>
#include <vector>

#include "zero/autograd/anomaly.h"
#include "zero/autograd/arithmetic.h"
#include "zero/autograd/autocast.h"
#include "zero/autograd/hooks.h"
#include "zero/autograd/inplace.h"
#include "zero/core/profile.h"
#include "zero/core/thread_local.h"

namespace zero {

namespace {

// The nodes that wait at one time, with the gradients that have arrived for them. They are few (a
// chain of 10^6 nodes needs one slot), so they are searched one by one; a table (open addressing)
// helps from kFew on.
class Pending {
 public:
  struct Item {
    Ref<Node> node;
    Grads grads;
  };

  bool empty() const { return heap_.empty(); }

  // The gradients waiting for `node`, which is enqueued if it is new.
  Grads& at(const Ref<Node>& node) {
    int32_t index = find(node.get());
    if (index < 0) index = enqueue(node);
    return items_[index].grads;
  }

  Item pop() {
    std::pop_heap(heap_.begin(), heap_.end());
    const int32_t index = heap_.back().item;
    heap_.pop_back();
    if (!table_.empty()) erase(items_[index].node.get());
    free_.push_back(index);
    return std::move(items_[index]);
  }

 private:
  static constexpr int64_t kFew = 8;

  struct Entry {
    uint64_t sequence_nr, arrival;
    int32_t item;
    // Of equal numbers (leaves) the first to arrive goes first.
    bool operator<(const Entry& other) const {
      return sequence_nr != other.sequence_nr ? sequence_nr < other.sequence_nr
                                              : arrival > other.arrival;
    }
  };

  int32_t find(const Node* node) const {
    if (!table_.empty()) return table_[slot_of(node)];
    for (const Entry& e : heap_)
      if (items_[e.item].node.get() == node) return e.item;
    return -1;
  }
  int32_t enqueue(const Ref<Node>& node) {
    int32_t index = static_cast<int32_t>(items_.size());
    if (free_.empty()) {
      items_.push_back(Item());
    } else {
      index = free_.back();
      free_.pop_back();
    }
    items_[index].node = node;
    items_[index].grads.resize(node->outputs_.size());
    if (heap_.size() >= kFew && 4 * (heap_.size() + 1) > 3 * table_.size()) grow();
    if (!table_.empty()) table_[slot_of(node.get())] = index;
    heap_.push_back({node->sequence_nr(), ++arrivals_, index});
    std::push_heap(heap_.begin(), heap_.end());
    return index;
  }

  int64_t home(const Node* node) const {
    const uint64_t hash = (reinterpret_cast<uintptr_t>(node) >> 6) * 0x9E3779B97F4A7C15ull >> 32;
    return static_cast<int64_t>(hash) & (table_.size() - 1);
  }
  int64_t after(int64_t slot) const { return (slot + 1) & (table_.size() - 1); }
  int64_t slot_of(const Node* node) const {
    int64_t i = home(node);
    while (table_[i] >= 0 && items_[table_[i]].node.get() != node) i = after(i);
    return i;
  }
  void grow() {
    const int64_t size = std::max<int64_t>(4 * kFew, 2 * table_.size());
    table_.clear();
    table_.resize(size, -1);
    for (const Entry& e : heap_) table_[slot_of(items_[e.item].node.get())] = e.item;
  }
  void erase(const Node* node) {  // shifts back what probed past the hole
    int64_t hole = slot_of(node);
    for (int64_t i = after(hole); table_[i] >= 0; i = after(i)) {
      const int64_t wanted = home(items_[table_[i]].node.get());
      const bool stays = hole < i ? (hole < wanted && wanted <= i) : (hole < wanted || wanted <= i);
      if (stays) continue;
      table_[hole] = table_[i];
      hole = i;
    }
    table_[hole] = -1;
  }

  // Small graphs need no memory of their own.
  SmallVector<Item, 4> items_;
  SmallVector<Entry, kFew> heap_;
  SmallVector<int32_t, 8> free_;
  SmallVector<int32_t, 1>
      table_;  // index of an item, -1 where empty; no table at all while there are few
  uint64_t arrivals_ = 0;
};

// The shape, dtype and device of the forward output; a formula that did not undo a broadcast or
// cast is completed here.
void fit(Tensor& g, const OutputSpec& spec, const Node& from, int64_t input) {
  if (!(g.sizes() == spec.sizes)) {
    ZERO_CHECK(expands_to(spec.sizes, g.sizes()), ShapeError, "backward: ", from.name(),
               " returned a gradient of the wrong shape for its input ", input, "; got ", g.sizes(),
               ", expected ", spec.sizes);
    g = gradient::sum_to(g, spec.sizes);
  }
  if (g.dtype() != spec.dtype) g = gradient::cast(g, spec.dtype);
  ZERO_CHECK(g.device() == spec.device, Error, "backward: ", from.name(),
             " returned a gradient on another device for its input ", input, "; got ", g.device(),
             ", expected ", spec.device);
}

bool may_add_to(const Tensor& g) { return is_sole_owner(g) && g.is_contiguous(); }

void add_gradient(Tensor& sum, Tensor&& g) {
  if (!sum.defined()) {
    sum = std::move(g);
  } else if (!grad_enabled() && may_add_to(sum)) {
    gradient::add_into(sum, g);
  } else if (!grad_enabled() && may_add_to(g)) {
    gradient::add_into(g, sum);
    sum = std::move(g);
  } else {
    sum = gradient::add(sum, g);
  }
}

// The nodes below `roots` from which one of `targets` can be reached.
class Needed {
 public:
  Needed(const SmallVector<Edge, 3>& roots, const SmallVector<Edge, 3>& targets) {
    std::vector<Node*> all;
    auto visit = [&](Node* node) {
      if (node && needed_.try_emplace(node, false).second) all.push_back(node);
    };
    for (const Edge& e : roots) visit(e.node.get());
    for (size_t i = 0; i < all.size(); ++i)
      for (const Edge& e : all[i]->next_) visit(e.node.get());
    for (const Edge& e : targets) {
      auto it = needed_.find(e.node.get());
      if (it != needed_.end()) it->second = true;
    }
    std::sort(all.begin(), all.end(),
              [](Node* a, Node* b) { return a->sequence_nr() < b->sequence_nr(); });
    for (Node* node : all)
      for (const Edge& e : node->next_)
        if (e.node && needed_[e.node.get()]) needed_[node] = true;
  }
  bool operator()(Node* node) const {
    const auto it = needed_.find(node);
    return it != needed_.end() && it->second;
  }
  bool knows(Node* node) const { return needed_.find(node) != needed_.end(); }

 private:
  std::unordered_map<Node*, bool> needed_;
};

// A pass in progress; hooks may ask about it, and start others.
class Pass {
 public:
  Pass(const SmallVector<Edge, 3>& roots, const Needed* needed)
      : roots_(roots), needed_(needed), outer_(std::exchange(current, this)) {}
  ~Pass() { current = outer_; }
  Pass(const Pass&) = delete;

  uint64_t number() {
    static std::atomic<uint64_t> last{0};
    if (number_ == 0) number_ = ++last;
    return number_;
  }

  bool is_partial() const { return needed_ != nullptr; }
  bool reaches(Node* node) {
    if (needed_) return (*needed_)(node);
    if (!all_) {  // every node below the roots
      SmallVector<Edge, 3> targets;
      targets.push_back({Ref<Node>::share(node), 0});
      all_ = std::make_unique<Needed>(roots_, targets);
    }
    return all_->knows(node);
  }

  static ZERO_THREAD_LOCAL Pass* current;

 private:
  const SmallVector<Edge, 3>& roots_;
  const Needed* needed_;
  std::unique_ptr<Needed> all_;
  uint64_t number_ = 0;
  Pass* outer_;
};
ZERO_THREAD_LOCAL Pass* Pass::current = nullptr;

// One node, with the hooks on it.
Grads apply_hooked(Node& node, Grads&& grads) {
  if (!node.extras()) return node.apply(std::move(grads));
  if (const Ref<NodeHook> hook = node.extras()->pre_hooks) hook->call(grads, nullptr);
  const Ref<NodeHook> hook = node.extras()->post_hooks;
  if (!hook) return node.apply(std::move(grads));
  const Grads given = grads;
  Grads out = node.apply(std::move(grads));
  hook->call(out, &given);
  return out;
}

Grads apply_watched_or_not(Node& node, Grads&& grads) {
  if (anomaly_enabled.load(std::memory_order_relaxed)) [[unlikely]]
    return apply_watched(node, std::move(grads), apply_hooked);
  return apply_hooked(node, std::move(grads));
}

// What the profiler notes of a node.
class NodeSpan {
 public:
  NodeSpan(const Node& node, const Grads& grads) : number_(node.sequence_nr()) {
    const bool own_name = node.extras() && node.extras()->context;  // which ends with the node
    const char* name = own_name ? lasting_name(node.name()) : node.name();
    span_ = begin_span(SpanKind::Node, name, number_);
    if (!profiling_sizes || span_ < 0) return;
    begin_sizes(span_, grads.size());
    for (const Tensor& g : grads) add_sizes(g.defined() ? &g.sizes() : nullptr);
  }
  ~NodeSpan() { end_span(span_, number_); }
  NodeSpan(const NodeSpan&) = delete;

 private:
  uint64_t number_;
  int64_t span_;
};

Grads apply(Node& node, Grads&& grads) {
  if (profiling) [[unlikely]] {
    const NodeSpan span(node, grads);
    return apply_watched_or_not(node, std::move(grads));
  }
  return apply_watched_or_not(node, std::move(grads));
}

// Runs the graph. With targets, only what leads to them: their gradients are accumulated if they
// are leaves and `accumulate` says so, and returned otherwise.
Tensors run(const SmallVector<Edge, 3>& roots, const Tensors& grads,
            const SmallVector<Edge, 3>& targets, bool accumulate, bool retain_graph,
            bool create_graph) {
  const GradModeGuard mode(create_graph);
  const AutocastOff no_casts;  // gradients have the dtypes of the forward pass
  Tensors captured(targets.size());
  std::unique_ptr<Needed> needed;
  if (!targets.empty()) needed = std::make_unique<Needed>(roots, targets);

  const Pass pass(roots, needed.get());
  Pending pending;
  for (int64_t i = 0; i < roots.size(); ++i) {
    if (needed && !(*needed)(roots[i].node.get())) continue;
    add_gradient(pending.at(roots[i].node)[roots[i].output_nr], Tensor(grads[i]));
  }
  while (!pending.empty()) {
    Pending::Item item = pending.pop();
    Node& node = *item.node;
    if (node.extras()) run_tensor_hooks(node, item.grads);
    bool runs = !needed || (accumulate && node.leaf());
    for (int64_t i = 0; i < targets.size(); ++i)
      if (targets[i].node == item.node) captured[i] = item.grads[targets[i].output_nr];
    if (needed)
      for (const Edge& e : node.next_) runs |= e.node && (*needed)(e.node.get());
    if (!runs) continue;

    Grads out = apply(node, std::move(item.grads));
    item.grads.clear();
    ZERO_CHECK(out.size() == node.next_.size(), Error, "backward: ", node.name(),
               " returned the wrong number of gradients; got ", out.size(), ", expected ",
               node.next_.size());
    if (!retain_graph) node.release_saved();
    for (int64_t i = 0; i < out.size(); ++i) {
      const Edge& e = node.next_[i];
      if (!e.node || (needed && !(*needed)(e.node.get()))) continue;
      Tensor& sum = pending.at(e.node)[e.output_nr];
      if (!out[i].defined()) continue;
      fit(out[i], e.node->outputs_[e.output_nr], node, i);
      add_gradient(sum, std::move(out[i]));
    }
  }
  return captured;
}

Tensors run_from(const char* op, const Tensors& roots, const Tensors& grads,
                 const SmallVector<Edge, 3>& targets, bool accumulate, bool retain_graph,
                 bool create_graph) {
  ZERO_CHECK(!roots.empty(), ValueError, op,
             ": no outputs; got an empty list, expected at least one tensor");
  ZERO_CHECK(grads.empty() || grads.size() == roots.size(), ValueError, op,
             ": as many gradients as outputs are needed; got ", grads.size(), ", expected ",
             roots.size());
  SmallVector<Edge, 3> edges;
  Tensors seeds;
  for (int64_t i = 0; i < roots.size(); ++i) {
    const Tensor& root = roots[i];
    // No node: not recorded, or a view made before its base was asked to require grad.
    Edge edge = gradient_edge(root);
    ZERO_CHECK(edge.node, Error, op,
               ": a tensor does not require grad and does not have a grad_fn; got ", root,
               ", expected the result of recorded operations on a tensor with requires_grad=True");
    Tensor seed = grads.empty() ? Tensor() : grads[i];
    if (!seed.defined()) {
      ZERO_CHECK(root.numel() == 1, Error, op,
                 ": grad can be implicitly created only for scalar outputs; got ", root,
                 ", expected one element, or a gradient of the same shape");
      seed = gradient::ones({root.sizes(), root.dtype(), root.device()});
    }
    ZERO_CHECK(seed.sizes() == root.sizes(), ShapeError, op,
               ": a gradient's shape differs from its output's; got ", seed.sizes(), ", expected ",
               root.sizes());
    ZERO_CHECK(is_floating(seed.dtype()), DTypeError, op,
               ": a gradient is not floating point; got ", seed, ", expected ", root.dtype());
    edges.push_back(std::move(edge));
    seeds.push_back(seed.dtype() == root.dtype() ? seed : gradient::cast(seed, root.dtype()));
  }
  return run(edges, seeds, targets, accumulate, retain_graph, create_graph);
}

SmallVector<Edge, 3> target_edges(const char* op, const Tensors& inputs) {
  SmallVector<Edge, 3> targets;
  for (const Tensor& x : inputs) {
    ZERO_CHECK(requires_grad(x), Error, op, ": one of the inputs does not require grad; got ", x,
               ", expected a tensor with requires_grad=True or made from one");
    targets.push_back(gradient_edge(x));
  }
  return targets;
}

}  // namespace

void backward(const Tensors& roots, const Tensors& grads, bool retain_graph, bool create_graph,
              const Tensors& inputs) {
  const SmallVector<Edge, 3> targets = target_edges("backward", inputs);
  for (const Tensor& x : inputs) retain_grad(x);
  run_from("backward", roots, grads, targets, true, retain_graph, create_graph);
}

Tensors grad(const Tensors& roots, const Tensors& grads, const Tensors& inputs, bool retain_graph,
             bool create_graph, bool allow_unused) {
  ZERO_CHECK(!inputs.empty(), ValueError,
             "grad: no inputs; got an empty list, expected at least one tensor");
  Tensors found = run_from("grad", roots, grads, target_edges("grad", inputs), false, retain_graph,
                           create_graph);
  for (int64_t i = 0; i < inputs.size(); ++i) {
    ZERO_CHECK(found[i].defined() || allow_unused, Error,
               "grad: one of the differentiated tensors appears to not have been used in the "
               "graph; got input ",
               i, ", expected allow_unused=True if that is meant");
    // PyTorch's gradient of a sum is a view of one number, that of a mean may be written to.
    if (found[i].defined() && !found[i].impl()->is_view_ && overlaps_itself(found[i])) {
      const GradModeGuard no_record(false);
      found[i] = gradient::clone(found[i]);
    }
  }
  return found;
}

bool is_sole_owner(const Tensor& x) {
  const Storage& storage = *x.impl()->storage_;
  return x.ref()->use_count() == 1 && storage.use_count() == 1 && !storage.is_foreign();
}

Tensor room_for_gradient(const Tensor& g, const Tensor& like) {
  const bool fits = g.dtype() == like.dtype() && g.device() == like.device() &&
                    g.sizes() == like.sizes() && g.strides() == like.strides() && is_dense(g);
  return fits && is_sole_owner(g) ? g : empty_as(like, like.options());
}

uint64_t current_pass() { return Pass::current ? Pass::current->number() : 0; }
bool pass_reaches(Node& node) { return Pass::current && Pass::current->reaches(&node); }
bool pass_is_partial() { return Pass::current && Pass::current->is_partial(); }

Tensor stand_in(const Ref<Node>& node, int64_t output_nr) {
  ZERO_CHECK(output_nr >= 0 && output_nr < node->outputs_.size(), IndexError,
             "GradientEdge: no such output of ", node->name(), "; got ", output_nr,
             ", expected 0 to ", node->outputs_.size() - 1);
  if (node->leaf()) return accumulated_leaf(*node);
  const OutputSpec& spec = node->outputs_[output_nr];
  const Tensor one = gradient::zeros({{}, spec.dtype, spec.device});
  Tensor x = alias("GradientEdge", one, spec.sizes, Dims(spec.sizes.size()), 0);
  set_history(x, node, static_cast<int>(output_nr));
  return x;
}

}  // namespace zero
