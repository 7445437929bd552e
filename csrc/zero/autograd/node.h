// A node of the autograd graph: one recorded operation, from the gradients of its outputs to those
// of its inputs.
#pragma once

#include "zero/autograd/saved_tensor.h"
#include "zero/core/tensor.h"

namespace zero {

struct NodeExtras;  // hooks.h

// Ends a node and all that only it kept alive, without recursion: a chain of 10^6 nodes is freed on
// a flat stack.
void destroy(Node* node) noexcept;

using Grads = Tensors;  // one per input of the forward operation; an undefined one means zero

// What an output of the forward operation was, so that a gradient can be checked or made as zeros.
struct OutputSpec {
  Dims sizes;
  DType dtype = DType::Float32;
  Device device = Device::Cpu;
};

class Node : public RefCounted {
 public:
  explicit Node(const char* name) : name_(name) {}
  virtual ~Node();

  // grads[i] belongs to output i and may be undefined; the result has one entry per next edge.
  virtual Grads apply(Grads&& grads) = 0;
  // Frees what was kept for the backward pass; apply raises afterwards.
  virtual void release_saved();
  // The node of the write that a node on the whole tensor runs; most have none.
  virtual Node* part() const { return nullptr; }

  const char* name() const { return name_; }
  // Later operations have larger numbers: every edge leads to a smaller one. Leaves have 0.
  uint64_t sequence_nr() const { return sequence_nr_; }
  void number();  // takes the next number; call it when the edges are there
  bool released() const { return released_; }

  // For backward formulas.
  bool needs(int input) const { return static_cast<bool>(next_[input].node); }
  Tensor saved(int i) { return saved_[i].unpack(this); }
  // Input i, saved at i as well, of which PyTorch keeps a view: it may be detached in place.
  Tensor saved_view(int i) { return saved_[i].unpack(this, &next_[i]); }

  // The node of a leaf is a part of the leaf: whoever holds it holds the leaf (accumulate.cpp).
  void retain() const noexcept { leaf_ ? leaf_->retain() : RefCounted::retain(); }
  bool release() const noexcept { return leaf_ ? leaf_->release() : RefCounted::release(); }
  TensorImpl* leaf() const { return leaf_; }

  NodeExtras* extras() const { return extras_; }  // null without hooks and the like
  NodeExtras& make_extras();

  SmallVector<Edge, 2> next_;
  SmallVector<SavedTensor, 2> saved_;
  SmallVector<OutputSpec, 1> outputs_;

 protected:
  const char* name_;
  uint64_t sequence_nr_ = 0;
  bool released_ = false;
  TensorImpl* leaf_ = nullptr;

 private:
  friend void destroy(Node* node) noexcept;
  Node* next_dead_ = nullptr;
  NodeExtras* extras_ = nullptr;
};

// The node and output that produced x, or the accumulator of a leaf; no node if x needs no
// gradient.
Edge gradient_edge(const Tensor& x);

}  // namespace zero
