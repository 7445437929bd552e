#include "zero/autograd/node.h"

#include <atomic>

#include "zero/autograd/meta.h"

namespace zero {

Node::~Node() = default;

void Node::number() {
  static std::atomic<uint64_t> last{0};
  sequence_nr_ = last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void Node::release_saved() {
  if (saved_.empty()) return;  // such a node can run again
  for (SavedTensor& s : saved_) s.reset();
  released_ = true;
}

void destroy(Node* node) noexcept {
  if (node->leaf()) return destroy(node->leaf());  // the leaf's last holder was a graph
  static thread_local Node* dead = nullptr;
  static thread_local bool draining = false;
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
