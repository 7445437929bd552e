// The backward pass.
#pragma once

#include "zero/autograd/node.h"

namespace zero {

// Adds the gradients of `roots` (weighted by `grads`; an undefined one is 1 for a single element)
// to the .grad of all leaves below, or only of `inputs` where given.
void backward(const Tensors& roots, const Tensors& grads, bool retain_graph, bool create_graph,
              const Tensors& inputs = {});

// The gradients for `inputs`, leaves or not, without touching any .grad. Undefined where an input
// was not part of the graph and `allow_unused` says that is fine.
Tensors grad(const Tensors& roots, const Tensors& grads, const Tensors& inputs, bool retain_graph,
             bool create_graph, bool allow_unused);

// Adds g to the .grad of x: into its memory, unless the sum is recorded. A gradient that nobody
// else holds becomes .grad itself.
void accumulate_grad(const Tensor& x, Tensor&& g);

// The leaf of an AccumulateGrad node; undefined for another node.
Tensor accumulated_leaf(const Node& node);

}  // namespace zero
