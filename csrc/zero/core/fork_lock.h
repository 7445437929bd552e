// A lock that a forked child finds free, whoever held it in the parent.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace zero {

// One more in each child than in its parent; counted by the fork handlers (thread_pool.cpp).
inline std::atomic<uint32_t> fork_generation{1};

// For locks too many to be taken before a fork(), or whose holder may wait for the thread that
// forks. It holds the generation of the process that took it: the holder that a child inherits is
// of an older one, and does not exist there. What it guards may then be half written.
class ForkLock {
 public:
  bool try_lock() {
    const uint32_t mine = fork_generation.load(std::memory_order_relaxed);
    return holder_.exchange(mine, std::memory_order_acquire) != mine;
  }
  // Looks again and again, so that unlock() need not know of it: for locks that are seldom waited
  // for.
  void lock() {
    for (int i = 0; !try_lock(); ++i) {
      if (i < 8)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  void unlock() { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t> holder_{0};  // 0: nobody
};

}  // namespace zero
