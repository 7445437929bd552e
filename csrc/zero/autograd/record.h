// How an operator is recorded. The forward function and its gradient stand on one screen:
//
//   Tensor exp(const Tensor& x) {
//     Tensor y = …;
//     record("ExpBackward0", {}, y, {&x}, {&y},
//            [](Node& n, const Tensor& g) { return mul(g, n.saved(0)); });
//     return y;
//   }
//
// `inputs` are the tensors a gradient may flow to, `saves` what the formula needs (an entry may be
// null: keep(condition, x)). The lambda gets the node and the gradient of the output (or, with
// several outputs, `Grads& gs`) and returns one Tensor, or Grads with one entry per input. It
// captures only small values, never tensors: those go through `saves`, where writes in place are
// noticed.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "zero/autograd/inplace.h"
#include "zero/autograd/meta.h"

namespace zero {

template <class F>
class OpNode final : public Node {
 public:
  OpNode(const char* name, F backward) : Node(name), backward_(std::move(backward)) {}

  Grads apply(Grads&& grads) override {
    if constexpr (std::is_invocable_v<F&, Node&, const Tensor&>) {
      if (!grads[0].defined()) return Grads(next_.size());
      if constexpr (std::is_same_v<std::invoke_result_t<F&, Node&, const Tensor&>, Tensor>) {
        return Grads{backward_(*this, grads[0])};
      } else {
        return backward_(*this, grads[0]);
      }
    } else {
      return backward_(*this, grads);
    }
  }

 private:
  F backward_;
};

using Saves = std::initializer_list<const Tensor*>;

inline const Tensor* keep(bool condition, const Tensor& x) { return condition ? &x : nullptr; }

inline bool any_requires_grad(Inputs inputs) {
  if (!grad_enabled()) return false;
  for (const Tensor* x : inputs)
    if (requires_grad(*x)) return true;
  return false;
}

// What to save of an input that a formula doesn't read, but PyTorch's does: its sizes and its count
// of writes, so that backward notices one, without its memory. Undefined where x is not recorded.
Tensor outline(const Tensor& x);

// Fill a new node; record() below calls them in the order that in-place writes ask for. connect
// also numbers it, after its edges are known: an input that is a view may get a new node of its own
// only then.
void connect(Node& node, const Tensor* const* inputs, int64_t n);
// Of a write in place, the output is the entry of `saves` that points to `outputs`.
enum class Saving { Inputs, Outputs, All };
void save(Node& node, Saves saves, const Tensor* outputs, int64_t n, Saving what);
// Inputs of a write to y; undoes it if one can't be saved.
void save_inputs(Node& node, Saves saves, const Tensor& y);
void set_output(Ref<Node>&& node, const Tensor& output, const Target& target);
void set_outputs(const Ref<Node>& node, const Tensors& outputs);

template <class F>
void record(const char* name, const Target& target, const Tensor& y, Inputs inputs, Saves saves,
            F backward) {
  if (!any_requires_grad(inputs) || !is_floating(y.dtype())) return target.written();
  Ref<Node> node = make_ref<OpNode<F>>(name, std::move(backward));
  connect(*node, inputs.begin(), static_cast<int64_t>(inputs.size()));
  if (target.fresh()) {
    if (saves.size() > 0) save(*node, saves, &y, 1, Saving::All);
  } else {  // inputs before the write is counted, so that a later unpack sees it; outputs after
    save_inputs(*node, saves, y);
    target.written();
    save(*node, saves, &y, 1, Saving::Outputs);
  }
  set_output(std::move(node), y, target);
}

// Several outputs, any number of inputs.
template <class F>
void record(const char* name, const Tensors& outputs, const Tensors& inputs, Saves saves,
            F backward) {
  SmallVector<const Tensor*, 8> pointers;
  bool any = false;
  for (const Tensor& x : inputs) {
    pointers.push_back(&x);
    any |= requires_grad(x);
  }
  if (!any || !grad_enabled()) return;
  Ref<Node> node = make_ref<OpNode<F>>(name, std::move(backward));
  connect(*node, pointers.data(), pointers.size());
  save(*node, saves, outputs.data(), outputs.size(), Saving::All);
  set_outputs(node, outputs);
}

}  // namespace zero
