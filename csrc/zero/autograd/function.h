// Custom functions: the caller runs the forward code, and a node of the caller's the backward code.
#pragma once

#include "zero/autograd/meta.h"

namespace zero {

// The edges of the node, from the tensors that the forward code is about to read. They are fixed
// before it runs, since it may write to them.
void connect_function(Node& node, const Tensors& inputs);

// What the forward code returned becomes the outputs of the node. An entry may be undefined: an
// output that is no tensor.
//   no node           nothing is recorded
//   dirty             inputs that were written in place: they get the node as their history
//   non_differentiable  outputs that no gradient is for
// An input that was returned as it came is replaced by a view of it.
void finish_function(const char* op, const Ref<Node>& node, const Tensors& inputs, Tensors& outputs,
                     const Tensors& dirty, const Tensors& non_differentiable);

// Keeps tensors for the backward code, after the outputs have their histories.
void save_for_function(Node& node, const Tensors& saves, const Tensors& outputs);

}  // namespace zero
