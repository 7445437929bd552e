// How the core lets go of the interpreter's lock without knowing an interpreter.
#pragma once

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
  void enter();
  void leave();

  void* token_ = nullptr;
};

}  // namespace zero
