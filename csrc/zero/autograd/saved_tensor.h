// A tensor kept from forward to backward, with the check that nobody wrote to it in between.
#pragma once

#include <string>

#include "zero/autograd/foreign.h"

namespace zero {

class Node;

// Where a gradient goes: the node and which of its forward outputs the gradient is for.
struct Edge {
  Ref<Node> node;
  int output_nr = 0;
};

// What a user's hook made of a tensor to save; it can be made a tensor again.
class PackedTensor : public Foreign {
 public:
  PackedTensor();
  ~PackedTensor() override;
  virtual Tensor unpack() = 0;

  Edge history_;  // of the tensor, unless it is an output of the node that saves it
};

// The pair of hooks that the tensors saved in a thread go through.
class SavedTensorHooks : public RefCounted {
 public:
  virtual ~SavedTensorHooks() = default;
  virtual Ref<PackedTensor> pack(const Tensor& x) = 0;

 private:
  friend void push_saved_tensor_hooks(Ref<SavedTensorHooks> hooks);
  friend void pop_saved_tensor_hooks();
  SavedTensorHooks* outer_ = nullptr;  // owned
};

// The innermost pair holds.
void push_saved_tensor_hooks(Ref<SavedTensorHooks> hooks);
void pop_saved_tensor_hooks();
bool has_saved_tensor_hooks();

class SavedTensor {
 public:
  SavedTensor() = default;
  // An output of its own node is kept without history, or node and tensor would keep each other
  // alive.
  SavedTensor(const Tensor& x, bool is_output, int output_nr = 0);

  // The tensor with its history; raises if it was changed in place or already freed. With an edge,
  // that is the history of a tensor that was detached in place; else this raises, too.
  Tensor unpack(Node* owner, const Edge* edge = nullptr) const;
  void reset() {
    tensor_ = Tensor();
    packed_.reset();
  }

  const Tensor& tensor() const { return tensor_; }
  const Ref<PackedTensor>& packed() const { return packed_; }

 private:
  void pack(SavedTensorHooks& hooks, const Tensor& x);

  Tensor tensor_;             // undefined if packed
  Ref<PackedTensor> packed_;  // null without hooks
  uint32_t version_ = 0;
  int output_nr_ = 0;
  bool is_output_ = false;
  bool had_history_ = false;  // an input that was a result, which detach_() must not change
};

}  // namespace zero
