// How the core lets go of the interpreter's lock without knowing an interpreter.
#pragma once

#include "zero/core/tensor.h"

namespace zero {

struct BlockingHook {
  void* (*release)() = nullptr;      // null result: this thread holds no lock, nothing to do
  void (*acquire)(void*) = nullptr;  // takes what release() returned
};

void set_blocking_hook(BlockingHook hook);

// Lets the lock go for one scope if the work in it is large (from about 0.2 ms: taking the lock
// back can mean waiting for another thread's time slice). Nested sections do nothing; neither do
// sections inside parallel_for, where waiting for the lock could close a circle with fork().
class BlockingSection {
 public:
  explicit BlockingSection(bool large) {
    if (large) enter();
  }
  ~BlockingSection() {
    if (token_ != nullptr) leave();
  }

  BlockingSection(const BlockingSection&) = delete;
  BlockingSection& operator=(const BlockingSection&) = delete;

 private:
  friend void keep_while_blocking(const Tensor& t);
  struct Kept;

  void enter();
  void leave();
  void close();

  void* token_ = nullptr;
  // While the section is open; see keep_while_blocking.
  BlockingSection* next_;
  Kept* kept_;
};

// Keeps a tensor's memory until the sections that are open now have ended. To be called where the
// last hold on it may be given up while another thread computes with it, which holds no reference
// of its own: where a tensor that Python knows is made to show other memory.
void keep_while_blocking(const Tensor& t);

}  // namespace zero
