// What users hang onto a node: hooks on the gradients that pass it, gradients to keep, and where
// in their program it was recorded.
#pragma once

#include "zero/autograd/anomaly.h"
#include "zero/autograd/meta.h"

namespace zero {

// Sees the gradient of one tensor and may replace it. After an accumulation: sees the leaf.
class TensorHook : public Foreign {
 public:
  virtual void call(Tensor& x) = 0;
};

// Before the node runs: sees the gradients of its outputs and may replace them. After: the same
// with those of its inputs, and the former beside them.
class NodeHook : public Foreign {
 public:
  virtual void call(Grads& grads, const Grads* grad_outputs) = 0;
};

struct NodeExtras {
  SmallVector<Ref<TensorHook>, 1> tensor_hooks;  // by output; shorter, or null, where there is none
  SmallVector<Ref<RetainedGrad>, 1> retained;    // likewise
  Ref<NodeHook> pre_hooks, post_hooks;
  Ref<TensorHook> accumulated;          // of a leaf
  Ref<CallSite> call_site;              // in anomaly mode
  Ref<Foreign> context;                 // of a custom function
  Ref<Foreign> metadata;                // what the user noted
  std::atomic<void*> wrapper{nullptr};  // the node in another language, borrowed
};

// The node and output that x's hooks belong to; raises where x needs no gradient.
Edge hook_edge(const char* op, const Tensor& x);

// The gradients of a node's outputs, on their way into it, go through the tensors' hooks and to the
// tensors that retain theirs.
void run_tensor_hooks(Node& node, Grads& grads);

// Lets backward() fill x.grad, as it does for a leaf.
void retain_grad(const Tensor& x);
bool retains_grad(const Tensor& x);
// x is about to get another history: its gradient will be that of the new one.
void move_retained(const Tensor& x, Node* to, int output_nr);

}  // namespace zero
