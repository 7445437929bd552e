// Views and writes in place: PyTorch's rules, and the history that follows a write.
#pragma once

#include "zero/autograd/meta.h"

namespace zero {

// Where an operator puts its result: into a new tensor, or into `self` (x.mul_(y)) or `out` (out=).
class Target {
 public:
  Target() = default;  // a new tensor
  static Target inplace(const Tensor& self) { return Target(&self, true); }
  static Target out(const Tensor& out) { return Target(&out, false); }

  bool fresh() const { return !tensor_; }
  bool is_inplace() const { return tensor_ && inplace_; }
  const Tensor& tensor() const { return *tensor_; }

  // Before the write: the tensor to write to; a new one lies in memory as the inputs do, which have
  // this shape or broadcast to it. Raises what autograd, the shape, the dtype or overlapping memory
  // forbid.
  Tensor prepare(const char* op, const Dims& sizes, TensorOptions options, Inputs inputs) const;
  // The same for the sizes of `like`.
  Tensor prepare(const char* op, const Tensor& like, TensorOptions options, Inputs inputs) const {
    const Tensor& first = **inputs.begin();  // its layout counts before that of `like`
    return fresh() && like.is_contiguous() && (!first.defined() || first.is_contiguous())
               ? empty_as(like, options)
               : prepare(op, like.sizes(), options, inputs);
  }
  // The values for backward of x, the tensor whose method this is: x itself, or `copy` when this
  // write is about to change it.
  const Tensor& preserve(const Tensor& x, bool needed, Tensor& copy) const;
  // After the write: counts it.
  void written() const {
    if (tensor_) tensor_->impl()->version().bump();
  }

 private:
  Target(const Tensor* t, bool inplace) : tensor_(t), inplace_(inplace) {}

  const Tensor* tensor_ = nullptr;
  bool inplace_ = false;
};

// Whether one of the inputs requires a gradient. Raises, before anything is written, what recording
// would find wrong with their histories.
bool needs_history(Inputs inputs);

// Raises if x may not be written: memory that several elements share, and, when the write is
// `recorded`, a leaf that needs a gradient, a view of one, a view made under no_grad or by a
// function with several outputs.
void check_inplace(const char* op, const Tensor& x, bool recorded);
// Only what autograd says to it, for writes that change the geometry and no elements.
void check_history(const char* op, const Tensor& x, bool recorded);

bool overlaps_itself(const Tensor& x);  // two elements at one place, as after expand
bool is_dense(const Tensor& x);         // without gaps and repetitions, in any order of dimensions
bool overlaps_partly(const Tensor& a, const Tensor& b);  // common memory, but not the same view
// Raises if `out` and an input of its write have memory in common and both are dense. An
// elementwise write reads each place before it writes there, so `out` itself may be an input; an
// index write, which comes back to places, forbids that too.
enum class Overlap { Partial, Any };
void check_overlap(const char* op, const Tensor& out, const Tensor& x, Overlap forbidden);

// A recorded write that reads an inference tensor is refused if its gradient needs that tensor,
// which is noticed after the write. Before it, keeps what is in `out`; undo_write puts it back.
void keep_for_undo(const Tensor& out, Inputs read);
void undo_write(const Tensor& out);
void forget_write();

// After x was overwritten by `node`, whose input number `input` it was and whose output `output_nr`
// it is: x's history, and that of the tensor it is a view of.
void rebase_history(const Tensor& x, const Ref<Node>& node, int output_nr = 0, int input = 0);

// A differentiable view of `base`: same memory, and writes through it reach the base's gradient.
// The caller records the node.
Tensor make_view(const char* op, const Tensor& base, Dims sizes, Dims strides, int64_t offset,
                 ViewOrigin origin = ViewOrigin::Normal);

// Shares memory and version counter, has no history.
Tensor detach(const Tensor& x);
// Shares memory only: what `.data` gives.
Tensor detached_data(const Tensor& x);
void detach_(const Tensor& x);
// Counts a write to x that went past the operators.
void count_write(const Tensor& x);
// Makes x show the memory of `data`; x keeps its identity, gradient and count of writes.
void set_data(const Tensor& x, const Tensor& data);

}  // namespace zero
