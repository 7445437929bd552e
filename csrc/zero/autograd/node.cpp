#include "zero/autograd/node.h"

#include <algorithm>

#include "zero/autograd/engine.h"
#include "zero/autograd/hooks.h"
#include "zero/autograd/meta.h"
#include "zero/core/thread_local.h"

namespace zero {

Node::~Node() { delete extras_; }

NodeExtras& Node::make_extras() {
  if (!extras_) extras_ = new NodeExtras;
  return *extras_;
}

// Each thread counts for itself, since a counter that all share costs every operation a locked
// addition; the edges say how far the other threads' nodes reach.
static ZERO_THREAD_LOCAL uint64_t last = 0;

uint64_t last_sequence_nr() { return last; }

void Node::number() {
  for (const Edge& edge : next_)
    if (edge.node) last = std::max(last, edge.node->sequence_nr_);
  sequence_nr_ = ++last;
}

void Node::release_saved() {
  if (saved_.empty()) return;  // such a node can run again
  for (SavedTensor& s : saved_) s.reset();
  released_ = true;
}

void destroy(Node* node) noexcept {
  if (node->leaf()) return destroy(node->leaf());  // the leaf's last holder was a graph
  // What ends before it in the list may run code of the user's, who may know the context.
  if (node->extras_ && node->extras_->context) node->extras_->context->owner_ends();
  static ZERO_THREAD_LOCAL Node* dead = nullptr;
  static ZERO_THREAD_LOCAL bool draining = false;
  node->next_dead_ = dead;
  dead = node;
  if (draining) return;  // the loop below, further up the stack, takes it
  draining = true;
  while (dead) {
    Node* next = dead;
    dead = next->next_dead_;
    delete next;
  }
  draining = false;
}

}  // namespace zero
