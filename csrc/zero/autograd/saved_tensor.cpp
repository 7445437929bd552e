#include "zero/autograd/saved_tensor.h"

#include "zero/autograd/inplace.h"
#include "zero/autograd/meta.h"
#include "zero/core/thread_local.h"

namespace zero {

static ZERO_THREAD_LOCAL SavedTensorHooks* innermost = nullptr;

PackedTensor::PackedTensor() = default;
PackedTensor::~PackedTensor() = default;

void push_saved_tensor_hooks(Ref<SavedTensorHooks> hooks) {
  SavedTensorHooks* top = hooks.detach();
  top->outer_ = innermost;
  innermost = top;
}

bool has_saved_tensor_hooks() { return innermost != nullptr; }

void pop_saved_tensor_hooks() {
  if (!innermost) return;
  const auto top = Ref<SavedTensorHooks>::adopt(innermost);
  innermost = top->outer_;
}

SavedTensor::SavedTensor(const Tensor& x, bool is_output, int output_nr)
    : version_(x.version()), output_nr_(output_nr), is_output_(is_output) {
  ZERO_CHECK(!x.impl()->is_inference_, Error,
             "autograd: an inference tensor can't be saved for backward; got ", x,
             ", expected a clone() of it, or no_grad() in place of inference_mode()");
  if (const AutogradMeta* meta = is_output ? nullptr : autograd_meta(x))
    had_history_ = static_cast<bool>(meta->grad_fn);
  if (innermost) [[unlikely]]
    pack(*innermost, x);
  else if (is_output)
    tensor_ = detach(x);
  else
    tensor_ = x;
}

void SavedTensor::pack(SavedTensorHooks& hooks, const Tensor& x) {
  const auto kept = Ref<SavedTensorHooks>::share(&hooks);  // the hook may leave its own scope
  const GradModeGuard no_record(false);
  packed_ = kept->pack(is_output_ ? detach(x) : x);
  ZERO_CHECK(x.version() == version_, Error,
             "saved_tensors_hooks: the pack hook modified its input in place; got ", x,
             " at version ", x.version(), ", expected version ", version_, "; write to a clone()");
  if (!is_output_) packed_->history_ = gradient_edge(x);
}

Tensor SavedTensor::unpack(Node* owner, const Edge* edge) const {
  ZERO_CHECK(!owner->released(), Error,
             "backward: trying to backward through the graph a second time; got ", owner->name(),
             " after its saved tensors were freed, expected retain_graph=True in the first call");
  if (packed_) {
    const Ref<PackedTensor> packed = packed_;  // the hook may free the graph
    Tensor x = detach(packed->unpack());
    if (is_output_)
      set_history(x, Ref<Node>::share(owner), output_nr_);
    else if (packed->history_.node)
      set_history(x, packed->history_.node, packed->history_.output_nr);
    return x;
  }
  if (!tensor_.defined()) return Tensor();
  ZERO_CHECK(tensor_.version() == version_, Error, "backward: a tensor needed by ", owner->name(),
             " was modified by an inplace operation; got ", tensor_, " at version ",
             tensor_.version(), ", expected version ", version_,
             "; write out of place, or into a clone()");
  const bool detached = had_history_ && !autograd_meta(tensor_)->grad_fn;
  ZERO_CHECK(!detached || edge, Error, "backward: a tensor needed by ", owner->name(),
             " was detached in place; got ", tensor_, ", expected detach() in place of detach_()");
  if (!is_output_ && !detached) return tensor_;
  // For gradients of gradients: an output has the history of this very node.
  Tensor x = detach(tensor_);
  set_history(x, detached ? edge->node : Ref<Node>::share(owner),
              detached ? edge->output_nr : output_nr_);
  return x;
}

}  // namespace zero
