#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.h"
#include "zero/core/allocator.h"
#include "zero/core/error.h"
#include "zero/core/size_class.h"
#include "zero/core/system.h"

using namespace zero;

namespace {

struct Owned {
  unsigned char* p;
  size_t n;
};

Owned make(size_t n, unsigned char mark) {
  Owned block{static_cast<unsigned char*>(allocate(n)), n};
  CHECK(reinterpret_cast<uintptr_t>(block.p) % kAlignment == 0);
  std::memset(block.p, mark, n);
  return block;
}

void drop(Owned block) {
  if (block.n > 0) CHECK(block.p[0] == block.p[block.n - 1]);  // nobody else wrote to it
  deallocate(block.p, block.n);
}

void size_classes_fit_and_waste_an_eighth() {
  int before = -1;
  for (size_t n = 0; n < (size_t{1} << 20); n += n < 5000 ? 1 : 37) {
    const int index = size_class(n);
    const size_t size = class_bytes(index);
    CHECK(index >= before && size_class(size) == index);
    CHECK(size >= n && size % 64 == 0);
    if (n > 512) CHECK(static_cast<double>(size) <= 1.125 * static_cast<double>(n) + 64);
    if (n <= kSmallMax) CHECK(kSmallClass[(n + 63) / 64] == index);
    before = index;
  }
  CHECK(class_bytes(size_class(kLargest)) == kLargest);
}

void blocks_do_not_overlap() {
  std::mt19937 random(1);
  std::vector<Owned> live;
  const int64_t before = memory_stats().live_bytes;
  int64_t bytes = 0;
  for (int i = 0; i < 100000 / kFewer; ++i) {
    if (live.size() < 400 && random() % 2 == 0) {
      const size_t limit = size_t{1} << (4 + random() % 16);
      live.push_back(make(random() % limit, static_cast<unsigned char>(random())));
      bytes += static_cast<int64_t>(live.back().n);
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      bytes -= static_cast<int64_t>(live.back().n);
      drop(live.back());
      live.pop_back();
    }
  }
  CHECK(memory_stats().live_bytes - before == bytes);
  CHECK(memory_stats().peak_bytes >= memory_stats().live_bytes);
  for (const Owned& block : live) drop(block);
  CHECK(memory_stats().live_bytes == before);
}

void zero_bytes_and_null() {
  void* a = allocate(0);
  void* b = allocate(0);
  CHECK(a != nullptr && b != nullptr && a != b);
  deallocate(a, 0);
  deallocate(b, 0);
  deallocate(nullptr, 0);
  deallocate(nullptr, 1 << 20);
}

void refusals_are_errors_and_break_nothing() {
  const MemoryStats before = memory_stats();
  for (const size_t n : {size_t{1} << 62, SIZE_MAX, SIZE_MAX / 2, size_t{1} << 50}) {
    try {
      allocate(n);
      CHECK(false);
    } catch (const OutOfMemoryError& error) {
      CHECK(std::string(error.what()).find("cannot allocate " + std::to_string(n) + " bytes") !=
            std::string::npos);
    }
  }
  CHECK(memory_stats().live_bytes == before.live_bytes);
  CHECK(memory_stats().live_blocks == before.live_blocks);
  CHECK(memory_stats().allocations == before.allocations);
  drop(make(1 << 20, 1));
}

void statistics() {
  empty_cache();
  reset_peak_memory_stats();
  const MemoryStats start = memory_stats();
  CHECK(start.peak_bytes == start.live_bytes);
  const size_t n = size_t{3} << 20;
  Owned a = make(n, 1);
  Owned b = make(n, 2);
  drop(a);
  const MemoryStats stats = memory_stats();
  CHECK(stats.live_bytes - start.live_bytes == static_cast<int64_t>(n));
  CHECK(stats.peak_bytes - start.live_bytes == static_cast<int64_t>(2 * n));
  CHECK(stats.live_blocks - start.live_blocks == 1);
  CHECK(stats.allocations - start.allocations == 2);
  drop(b);
  if (kAddressSanitizer) return;
  CHECK(memory_stats().cached_bytes - start.cached_bytes >= static_cast<int64_t>(2 * n));
  const int64_t calls = memory_stats().system_allocations;
  drop(make(n, 3));  // from the cache
  CHECK(memory_stats().system_allocations == calls);
  empty_cache();
  CHECK(memory_stats().system_bytes <= start.system_bytes);
  set_cache_limit(0);
  drop(make(n, 3));
  CHECK(memory_stats().system_bytes <= start.system_bytes);
  set_cache_limit(static_cast<size_t>(start.cache_limit));
  CHECK(memory_stats().cache_limit == start.cache_limit);
}

// Many small blocks at once, then none: the slabs go back as far as the pool does not keep them.
void empty_slabs_return() {
  if (kAddressSanitizer) return;
  const int64_t before = memory_stats().system_bytes;
  std::vector<void*> blocks;
  for (int i = 0; i < 1000000 / kFewer; ++i) blocks.push_back(allocate(200));
  CHECK(memory_stats().system_bytes - before >= 200 * static_cast<int64_t>(blocks.size()));
  for (void* p : blocks) deallocate(p, 200);
  CHECK(memory_stats().system_bytes - before <= int64_t{33} << 20);
  empty_cache();
  CHECK(memory_stats().system_bytes - before <= int64_t{1} << 20);
}

// One thread allocates, another releases; both end; what they leave behind is reused.
void blocks_cross_threads() {
  const MemoryStats before = memory_stats();
  for (int round = 0; round < 5; ++round) {
    std::mutex mutex;
    std::deque<Owned> queue;
    std::atomic<bool> ended{false};
    std::thread producer([&] {
      std::mt19937 random(7);
      for (int i = 0; i < 20000 / kFewer; ++i) {
        const Owned block = make(random() % (i % 50 == 0 ? 100000 : 2000), 5);
        const std::lock_guard<std::mutex> guard(mutex);
        queue.push_back(block);
      }
      ended = true;
    });
    std::thread consumer([&] {
      for (;;) {
        const bool last = ended;
        std::deque<Owned> taken;
        {
          const std::lock_guard<std::mutex> guard(mutex);
          taken.swap(queue);
        }
        for (const Owned& block : taken) drop(block);
        if (last && taken.empty()) return;
      }
    });
    producer.join();
    consumer.join();
  }
  CHECK(memory_stats().live_bytes == before.live_bytes);
  CHECK(memory_stats().live_blocks == before.live_blocks);
  empty_cache();
  CHECK(memory_stats().system_bytes - before.system_bytes <= int64_t{8} << 20);
}

// A thread's own storage is destroyed before this: its blocks come from the common heap.
struct Late {
  Owned block{};
  ~Late() {
    if (block.n > 0) drop(block);
    drop(make(100, 9));
    Owned more = make(3000, 9);
    drop(more);
  }
};
thread_local Late late;

void a_thread_may_allocate_while_it_ends() {
  const int64_t before = memory_stats().live_bytes;
  for (int i = 0; i < 10; ++i) {
    std::thread([] {
      late.block = Owned{};  // constructed first, destroyed last
      late.block = make(500, 3);
    }).join();
  }
  CHECK(memory_stats().live_bytes == before);
}

int64_t resident_bytes() {
  const std::string text = read_text_file("/proc/self/statm");
  const size_t space = text.find(' ');
  return space == std::string::npos ? 0 : std::atoll(text.c_str() + space) * 4096;
}

// Steps whose sizes change all the time: the process stops growing.
void changing_sizes_do_not_grow_the_process() {
  if (kFewer > 1) return;
  std::mt19937 random(3);
  int64_t after_a_tenth = 0;
  for (int step = 0; step < 30000; ++step) {
    const size_t batch = 1 + random() % 256;
    std::vector<Owned> live;
    for (const size_t width : {64, 784, 256, 128, 10, 1}) {
      live.push_back(make(batch * width * 4, 1));
      drop(make(batch * width * 4, 2));
    }
    for (const Owned& block : live) drop(block);
    if (step == 3000) after_a_tenth = resident_bytes();
  }
  CHECK(resident_bytes() - after_a_tenth < int64_t{2} << 20);
}

}  // namespace

int main() {
  size_classes_fit_and_waste_an_eighth();
  zero_bytes_and_null();
  blocks_do_not_overlap();
  refusals_are_errors_and_break_nothing();
  statistics();
  empty_slabs_return();
  blocks_cross_threads();
  a_thread_may_allocate_while_it_ends();
  changing_sizes_do_not_grow_the_process();
}
