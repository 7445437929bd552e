#include "zero/runtime/blocking.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "zero/core/fork_lock.h"
#include "zero/core/thread_local.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

std::atomic<void* (*)()> release_hook{nullptr};
std::atomic<void (*)(void*)> acquire_hook{nullptr};
ZERO_THREAD_LOCAL bool released = false;  // by a section of this thread

// The open sections of all threads.
ForkLock sections_lock;
BlockingSection* first_section = nullptr;
uint32_t sections_generation = 0;

// Those that a child inherits are of threads that it does not have.
std::unique_lock<ForkLock> lock_sections() {
  std::unique_lock<ForkLock> lock(sections_lock);
  const uint32_t now = fork_generation.load(std::memory_order_relaxed);
  if (sections_generation != now) first_section = nullptr;
  sections_generation = now;
  return lock;
}

}  // namespace

struct BlockingSection::Kept {
  Tensor tensor;
  Kept* next;
};

void set_blocking_hook(BlockingHook hook) {
  acquire_hook.store(hook.acquire, std::memory_order_relaxed);
  release_hook.store(hook.release, std::memory_order_release);
}

void BlockingSection::enter() {
  auto* const release = release_hook.load(std::memory_order_acquire);
  if (release == nullptr || released || in_parallel_region()) return;
  {
    const auto lock = lock_sections();
    next_ = std::exchange(first_section, this);
    kept_ = nullptr;
  }
  token_ = release();
  released = token_ != nullptr;
  if (!released) close();
}

void BlockingSection::close() {
  {
    const auto lock = lock_sections();
    BlockingSection** at = &first_section;
    while (*at != nullptr && *at != this) at = &(*at)->next_;
    if (*at != nullptr) *at = next_;
  }
  while (Kept* kept = kept_) {
    kept_ = kept->next;
    delete kept;
  }
}

void BlockingSection::leave() {
  released = false;
  acquire_hook.load(std::memory_order_relaxed)(token_);
  close();
}

void keep_while_blocking(const Tensor& t) {
  const auto lock = lock_sections();
  for (BlockingSection* s = first_section; s != nullptr; s = s->next_)
    s->kept_ = new BlockingSection::Kept{t, s->kept_};
}

}  // namespace zero
