// Objects of another language that a graph keeps: a user's hooks, the context of a custom function.
#pragma once

#include "zero/core/tensor.h"

namespace zero {

class Node;

// Such an object may hold the very tensor whose graph keeps it. The collector of its language finds
// that circle with foreign_objects() and breaks it with clear().
class Foreign : public RefCounted {
 public:
  Foreign();
  virtual ~Foreign();
  virtual void* object() const = 0;  // what the collector knows it by; null once cleared
  virtual void clear() = 0;
  // The node that has it is about to end and is not to be reached by way of it any more.
  virtual void owner_ends() noexcept {}

  // How many there are; most programs have none, and nothing is to be searched.
  static int64_t live();
};

// What only x keeps alive: a path from x along which each object has one owner ends at each. A
// collector may take such a reference for one of x's own. The search is cut off after some thousand
// nodes: what lies deeper counts as kept by somebody else.
SmallVector<Foreign*, 4> foreign_objects(const Tensor& x);
SmallVector<Foreign*, 4> foreign_objects(Node& node);

}  // namespace zero
