#include "zero/autograd/record.h"

#include "zero/autograd/anomaly.h"

namespace zero {

Tensor outline(const Tensor& x) {
  if (!any_requires_grad({&x})) return Tensor();
  if (has_saved_tensor_hooks()) return x;  // as in PyTorch, they see it
  Tensor y(make_ref<TensorImpl>(Storage::fresh(0, Device::Meta), *x.impl(), x.dtype()));
  y.impl()->own_version_ = x.impl()->version().echo();
  return y;
}

void connect(Node& node, const Tensor* const* inputs, int64_t n) {
  node.next_.resize(n);
  for (int64_t i = 0; i < n; ++i)
    if (inputs[i]->defined() && autograd_meta(*inputs[i]))
      node.next_[i] = gradient_edge(*inputs[i]);
  node.number();
  if (anomaly_enabled.load(std::memory_order_relaxed)) [[unlikely]]
    note_call_site(node);
}

void save(Node& node, Saves saves, const Tensor* outputs, int64_t n, Saving what) {
  node.saved_.resize(static_cast<int64_t>(saves.size()));
  int64_t slot = -1;
  for (const Tensor* x : saves) {
    ++slot;
    if (!x || !x->defined()) continue;
    if (what == Saving::All) {
      int64_t output_nr = 0;
      while (output_nr < n && !x->is_same(outputs[output_nr])) ++output_nr;
      node.saved_[slot] = SavedTensor(*x, output_nr < n, static_cast<int>(output_nr));
    } else if ((x == outputs) == (what == Saving::Outputs)) {
      // x.mul_(x) saves x as an input that it overwrites: the check at unpacking says so. Without
      // its history, which will be this node.
      const bool overwritten = x != outputs && x->is_same(*outputs);
      node.saved_[slot] = SavedTensor(overwritten ? detach(*x) : *x, x == outputs);
    }
  }
}

void save_inputs(Node& node, Saves saves, const Tensor& y) {
  try {
    save(node, saves, &y, 1, Saving::Inputs);
  } catch (...) {
    undo_write(y);
    throw;
  }
  forget_write();
}

static void describe(OutputSpec& spec, const Tensor& output) {
  spec.sizes = output.sizes();
  spec.dtype = output.dtype();
  spec.device = output.device();
}

void set_output(Ref<Node>&& node, const Tensor& output, const Target& target) {
  node->outputs_.resize(1);
  describe(node->outputs_[0], output);
  if (target.is_inplace()) return rebase_history(output, node);
  set_history(output, std::move(node), 0);
}

void set_outputs(const Ref<Node>& node, const Tensors& outputs) {
  node->outputs_.resize(outputs.size());
  for (int64_t i = 0; i < outputs.size(); ++i) {
    describe(node->outputs_[i], outputs[i]);
    if (is_floating(outputs[i].dtype())) set_history(outputs[i], node, static_cast<int>(i));
  }
}

}  // namespace zero
