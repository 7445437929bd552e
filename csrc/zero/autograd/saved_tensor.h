// A tensor kept from forward to backward, with the check that nobody wrote to it in between.
#pragma once

#include "zero/core/tensor.h"

namespace zero {

class Node;

class SavedTensor {
 public:
  SavedTensor() = default;
  // An output of its own node is kept without history, or node and tensor would keep each other
  // alive.
  SavedTensor(const Tensor& x, bool is_output, int output_nr = 0);

  // The tensor with its history; raises if it was changed in place or already freed.
  Tensor unpack(Node* owner) const;
  void reset() { tensor_ = Tensor(); }

 private:
  Tensor tensor_;
  uint32_t version_ = 0;
  int output_nr_ = 0;
  bool is_output_ = false;
  bool requires_grad_ = false;
};

}  // namespace zero
