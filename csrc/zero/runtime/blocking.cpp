#include "zero/runtime/blocking.h"

#include <atomic>

#include "zero/core/thread_local.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

std::atomic<void* (*)()> release_hook{nullptr};
std::atomic<void (*)(void*)> acquire_hook{nullptr};
ZERO_THREAD_LOCAL bool released = false;  // by a section of this thread

}  // namespace

void set_blocking_hook(BlockingHook hook) {
  acquire_hook.store(hook.acquire, std::memory_order_relaxed);
  release_hook.store(hook.release, std::memory_order_release);
}

void BlockingSection::enter() {
  auto* const release = release_hook.load(std::memory_order_acquire);
  if (release == nullptr || released || in_parallel_region()) return;
  token_ = release();
  released = token_ != nullptr;
}

void BlockingSection::leave() {
  released = false;
  acquire_hook.load(std::memory_order_relaxed)(token_);
}

}  // namespace zero
