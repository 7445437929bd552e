#include "zero/autograd/saved_tensor.h"

#include "zero/autograd/inplace.h"
#include "zero/autograd/meta.h"

namespace zero {

SavedTensor::SavedTensor(const Tensor& x, bool is_output, int output_nr)
    : tensor_(is_output ? detach(x) : x),
      version_(x.version()),
      output_nr_(output_nr),
      is_output_(is_output),
      requires_grad_(is_output) {}

Tensor SavedTensor::unpack(Node* owner) const {
  ZERO_CHECK(!owner->released(), Error,
             "backward: trying to backward through the graph a second time; got ", owner->name(),
             " after its saved tensors were freed, expected retain_graph=True in the first call");
  if (!tensor_.defined()) return Tensor();
  ZERO_CHECK(tensor_.version() == version_, Error, "backward: a tensor needed by ", owner->name(),
             " was modified by an inplace operation; got ", tensor_, " at version ",
             tensor_.version(), ", expected version ", version_,
             "; write out of place, or into a clone()");
  if (!is_output_) return tensor_;
  // With the history of this very node, for gradients of gradients.
  Tensor x = detach(tensor_);
  if (requires_grad_) set_history(x, Ref<Node>::share(owner), output_nr_);
  return x;
}

}  // namespace zero
