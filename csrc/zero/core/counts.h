// Counters of the allocator: plain additions for the one writer, clean reads for everybody else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zero {

// One writer at a time (a thread, or whoever holds a lock).
class Counter {
 public:
  void add(int64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

struct Counts {
  Counter live_bytes, allocations, releases;

  void count_in(size_t nbytes) {
    live_bytes.add(static_cast<int64_t>(nbytes));
    allocations.add(1);
  }
  void count_out(size_t nbytes) {
    live_bytes.add(-static_cast<int64_t>(nbytes));
    releases.add(1);
  }
};

// Any number of writers.
inline void raise_to(std::atomic<int64_t>& maximum, int64_t value) {
  int64_t seen = maximum.load(std::memory_order_relaxed);
  while (seen < value && !maximum.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {}
}

}  // namespace zero
