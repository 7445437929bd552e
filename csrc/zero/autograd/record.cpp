#include "zero/autograd/record.h"

namespace zero {

void connect(Node& node, const Tensor* const* inputs, int64_t n) {
  node.next_.resize(n);
  for (int64_t i = 0; i < n; ++i)
    if (requires_grad(*inputs[i])) node.next_[i] = gradient_edge(*inputs[i]);
  node.number();
}

// Inputs are saved before a write in place is counted, so that a later unpack sees the write;
// outputs after.
void save(Node& node, Saves saves, const Tensor* outputs, int64_t n, bool outputs_now) {
  node.saved_.resize(static_cast<int64_t>(saves.size()));
  int64_t slot = -1;
  for (const Tensor* x : saves) {
    ++slot;
    if (!x || !x->defined()) continue;
    int64_t output_nr = 0;
    while (output_nr < n && !x->is_same(outputs[output_nr])) ++output_nr;
    const bool is_output = output_nr < n;
    if (is_output == outputs_now)
      node.saved_[slot] = SavedTensor(*x, is_output, static_cast<int>(output_nr));
  }
}

void set_outputs(Ref<Node> node, const Tensor* outputs, int64_t n, const Target& target) {
  node->outputs_.resize(n);
  for (int64_t i = 0; i < n; ++i) {
    OutputSpec& spec = node->outputs_[i];
    spec.sizes = outputs[i].sizes();
    spec.dtype = outputs[i].dtype();
    spec.device = outputs[i].device();
  }
  if (target.is_inplace()) return rebase_history(outputs[0], node);
  for (int64_t i = 0; i < n; ++i) {
    if (!is_floating(outputs[i].dtype())) continue;
    set_history(outputs[i], i + 1 < n ? node : std::move(node), static_cast<int>(i));
  }
}

}  // namespace zero
