// The backward pass.
#pragma once

#include "zero/autograd/node.h"

namespace zero {

// Adds the gradients of `roots` (weighted by `grads`; an undefined one is 1 for a single element)
// to the .grad of all leaves below, or only of `inputs` where given; those that are no leaves
// retain their gradients from then on.
void backward(const Tensors& roots, const Tensors& grads, bool retain_graph, bool create_graph,
              const Tensors& inputs = {});

// The gradients for `inputs`, leaves or not, without touching any .grad. Undefined where an input
// was not part of the graph and `allow_unused` says that is fine.
Tensors grad(const Tensors& roots, const Tensors& grads, const Tensors& inputs, bool retain_graph,
             bool create_graph, bool allow_unused);

// Whether nobody else knows a tensor or its memory, so that it may be overwritten.
bool is_sole_owner(const Tensor& x);
// For what a formula makes of g element by element: the memory of g if nobody else knows it, else
// memory as that of `like`.
Tensor room_for_gradient(const Tensor& g, const Tensor& like);

// For hooks: the number of the pass that runs in this thread, 0 where none does; and whether that
// pass comes by a node, and whether it goes to some leaves only.
uint64_t current_pass();
bool pass_reaches(Node& node);
bool pass_is_partial();
// The number of the node that this thread made last.
uint64_t last_sequence_nr();

// Stands for an output of a node where a pass begins or ends; has no memory of its own.
Tensor stand_in(const Ref<Node>& node, int64_t output_nr);

// The leaf of an AccumulateGrad node; undefined for another node.
Tensor accumulated_leaf(const Node& node);

}  // namespace zero
