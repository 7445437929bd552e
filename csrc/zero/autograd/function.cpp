#include "zero/autograd/function.h"

#include "zero/autograd/record.h"

namespace zero {

static int64_t find(const Tensors& list, const Tensor& x) {
  int64_t i = 0;
  while (i < list.size() && !list[i].is_same(x)) ++i;
  return i < list.size() ? i : -1;
}

static Tensor view_of(const char* op, const Tensor& x) {
  const GradModeGuard no_record(false);
  return make_view(op, x, x.sizes(), x.strides(), x.storage_offset());
}

void connect_function(Node& node, const Tensors& inputs) {
  SmallVector<const Tensor*, 8> pointers;
  for (const Tensor& x : inputs) pointers.push_back(&x);
  connect(node, pointers.data(), pointers.size());
}

static void set_function_output(const char* op, const Ref<Node>& node, const Tensors& inputs,
                                const Tensors& outputs, int64_t i, bool dirty, Tensor& y) {
  const int64_t input = find(inputs, y);
  const int nr = static_cast<int>(i);
  if (!dirty) {
    if (input >= 0) y = view_of(op, y);
    return set_history(y, node, nr);
  }
  ZERO_CHECK(!(requires_grad(y) && is_leaf(y)), Error, op,
             ": a leaf that requires grad was marked dirty; got ", y,
             ", expected a clone() to write to");
  ZERO_CHECK(!is_view(y) || outputs.size() == 1, Error, op,
             ": a function that writes to a view in place has several outputs; got ",
             outputs.size(), ", expected one, or a clone() to write to");
  if (input >= 0) return rebase_history(y, node, nr, static_cast<int>(input));
  set_history(y, node, nr);
}

void finish_function(const char* op, const Ref<Node>& node, const Tensors& inputs, Tensors& outputs,
                     const Tensors& dirty, const Tensors& non_differentiable) {
  for (const Tensor& x : dirty)
    ZERO_CHECK(find(outputs, x) >= 0, Error, op,
               ": an input that was marked dirty is not an output; got ", x,
               ", expected it among the outputs");
  auto is_differentiable = [&](const Tensor& y) {
    return node && y.defined() && is_floating(y.dtype()) && find(non_differentiable, y) < 0;
  };
  int64_t differentiable = 0;
  for (const Tensor& y : outputs) differentiable += is_differentiable(y);
  if (node) node->outputs_.resize(outputs.size());
  for (int64_t i = 0; i < outputs.size(); ++i) {
    Tensor& y = outputs[i];
    if (!y.defined()) continue;
    const bool is_input = find(inputs, y) >= 0;
    const bool is_dirty = find(dirty, y) >= 0;
    if (node) node->outputs_[i] = {y.sizes(), y.dtype(), y.device()};
    if (is_differentiable(y)) {
      set_function_output(op, node, inputs, outputs, i, is_dirty, y);
    } else if (requires_grad(y)) {
      if (is_input)
        y = detach(y);
      else if (!is_view(y))
        detach_(y);
    } else if (is_input && !is_dirty) {
      y = view_of(op, y);
    }
    if (is_view(y) && !is_dirty)
      autograd_meta(y)->origin = differentiable > 1 ? ViewOrigin::MultiOutput : ViewOrigin::Custom;
  }
}

void save_for_function(Node& node, const Tensors& saves, const Tensors& outputs) {
  node.saved_.resize(saves.size());
  for (int64_t i = 0; i < saves.size(); ++i) {
    if (!saves[i].defined()) continue;
    const int64_t output_nr = find(outputs, saves[i]);
    const bool is_output = output_nr >= 0 && grad_fn(saves[i]).get() == &node;
    node.saved_[i] = SavedTensor(saves[i], is_output, static_cast<int>(output_nr));
  }
}

}  // namespace zero
