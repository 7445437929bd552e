#include "zero/core/allocator.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

#include "zero/core/counts.h"
#include "zero/core/error.h"
#include "zero/core/large_cache.h"
#include "zero/core/pages.h"
#include "zero/core/profile.h"
#include "zero/core/size_class.h"
#include "zero/core/system.h"
#include "zero/core/thread_local.h"

namespace zero {

namespace {

// The sanitizer sees each block, so that it can tell overruns and uses after the release.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPassThrough = true;
#elif defined(__has_feature)
constexpr bool kPassThrough = __has_feature(address_sanitizer);
#else
constexpr bool kPassThrough = false;
#endif

std::atomic<int64_t> slab_bytes{0};  // in slabs that belong to a heap
std::atomic<int64_t> peak_bytes{0};

// ---- Small blocks -------------------------------------------------------------------------------

struct Heap;
struct Slab;

struct Block {  // a free block
  Block* next;
  Slab* slab;  // set on the way back from another thread, which knew the size and so the slab
};

// Starts an aligned piece of memory; the blocks of one size class follow. A block finds its slab by
// masking its address. Only the owner's thread touches anything but `owner`.
struct alignas(64) Slab {
  Heap* owner = nullptr;
  Block* free = nullptr;
  uint32_t used = 0;
  uint32_t fresh = 0;  // blocks never handed out yet are [fresh, capacity)
  uint32_t capacity = 0;
  int16_t size_class = 0;
  bool full = false;  // in no list, because it has no free block
  Slab* previous = nullptr;
  Slab* next = nullptr;
};
static_assert(sizeof(Slab) == kAlignment, "blocks must start aligned");

constexpr size_t kNarrowMax = 4096;  // larger blocks lie in wide slabs
constexpr size_t kNarrowSlab = size_t{64} << 10;
constexpr size_t kWideSlab = size_t{512} << 10;

constexpr size_t slab_size(size_t nbytes) { return nbytes <= kNarrowMax ? kNarrowSlab : kWideSlab; }

Slab empty_slab;  // what a heap points to in place of a slab; it never has a free block

// The slabs of one thread, handed to another when the thread ends. Never destroyed.
struct alignas(64) Heap {
  Slab* current[kSmallClasses];       // blocks are taken from here
  Slab* partial[kSmallClasses] = {};  // other slabs with room
  Counts counts;  // what this thread took and gave back; the sum over all heaps is what is live
  Heap* next_heap = nullptr;  // all heaps
  Heap* next_orphan = nullptr;
  alignas(64) std::atomic<Block*> returned{nullptr};  // freed by other threads

  Heap() { std::fill_n(current, kSmallClasses, &empty_slab); }
};

// ---- Shared state -------------------------------------------------------------------------------

constexpr int64_t kPoolBytes = int64_t{32} << 20;  // free slabs kept

struct Shared {
  // Order of locking: common, heaps, pool, large.
  std::mutex common_mutex;
  Heap* common = nullptr;  // for threads that already gave theirs away

  std::mutex heaps_mutex;
  Heap* orphans = nullptr;

  std::mutex pool_mutex;
  Slab* pool[2] = {};  // narrow, wide
  int64_t pool_bytes = 0;

  LargeCache large;
  const uint64_t memory_limit = zero::memory_limit();

  Shared() {
    large.set_limit(memory_limit == 0 ? size_t{1} << 30 : static_cast<size_t>(memory_limit / 4));
  }

  // Some systems promise more memory than they have, and kill the process that uses it.
  bool is_hopeless(size_t nbytes) const {
    return nbytes > kLargest || (memory_limit > 0 && nbytes > memory_limit);
  }
};

Shared& shared() {
  static Shared* const state = new Shared;  // leaked: tensors may die after static destructors ran
  return *state;
}

std::atomic<Heap*> all_heaps{nullptr};  // grows only

ZERO_THREAD_LOCAL Heap* thread_heap = nullptr;
ZERO_THREAD_LOCAL bool thread_ended = false;
ZERO_THREAD_LOCAL int64_t thread_large_bytes = 0;  // taken less given back; for the profiler

int64_t live_now(const Shared& state) {
  int64_t live = state.large.live_bytes();
  for (Heap* h = all_heaps.load(std::memory_order_acquire); h != nullptr; h = h->next_heap) {
    live += h->counts.live_bytes.get();
  }
  return live;
}

// The sum over heaps is made only when a new peak is possible.
void sample_peak(const Shared& state) {
  const int64_t bound = state.large.live_bytes() + slab_bytes.load(std::memory_order_relaxed);
  if (bound <= peak_bytes.load(std::memory_order_relaxed)) return;
  raise_to(peak_bytes, live_now(state));
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse(size_t nbytes) {
  const MemoryStats stats = memory_stats();
  fail<OutOfMemoryError>("allocate: cannot allocate ", nbytes, " bytes; ", stats.live_bytes,
                         " bytes are in use by this process's tensors, the memory limit is ",
                         shared().memory_limit, " bytes");
}

// ---- Heaps --------------------------------------------------------------------------------------

Heap* new_heap() {
  Heap* heap = new Heap;
  heap->next_heap = all_heaps.load(std::memory_order_relaxed);
  while (!all_heaps.compare_exchange_weak(heap->next_heap, heap, std::memory_order_release)) {}
  return heap;
}

struct HeapLease {  // gives the heap away when its thread ends
  ~HeapLease() {
    thread_ended = true;
    if (thread_heap == nullptr) return;
    Shared& state = shared();
    const std::lock_guard<std::mutex> guard(state.heaps_mutex);
    thread_heap->next_orphan = state.orphans;
    state.orphans = thread_heap;
    thread_heap = nullptr;
  }
};

Heap* adopt_heap() {
  static thread_local HeapLease lease;
  Shared& state = shared();
  {
    const std::lock_guard<std::mutex> guard(state.heaps_mutex);
    if (state.orphans != nullptr) {
      thread_heap = state.orphans;
      state.orphans = thread_heap->next_orphan;
    }
  }
  if (thread_heap == nullptr) thread_heap = new_heap();
  (void)lease;
  return thread_heap;
}

// ---- Slabs --------------------------------------------------------------------------------------

void link_partial(Heap* heap, Slab* slab) {
  Slab*& first = heap->partial[slab->size_class];
  slab->previous = nullptr;
  slab->next = first;
  if (first != nullptr) first->previous = slab;
  first = slab;
}

void unlink_partial(Heap* heap, Slab* slab) {
  (slab->previous != nullptr ? slab->previous->next : heap->partial[slab->size_class]) = slab->next;
  if (slab->next != nullptr) slab->next->previous = slab->previous;
}

Slab* take_slab(Heap* heap, int index) {
  Shared& state = shared();
  const size_t block = class_bytes(index);
  const size_t size = slab_size(block);
  void* memory = nullptr;
  {
    const std::lock_guard<std::mutex> guard(state.pool_mutex);
    Slab*& pool = state.pool[size == kWideSlab];
    if (pool != nullptr) {
      memory = pool;
      pool = pool->next;
      state.pool_bytes -= static_cast<int64_t>(size);
    }
  }
  if (memory == nullptr) memory = take_pages(size, size);
  if (memory == nullptr) {
    empty_cache();
    memory = take_pages(size, size);
    if (memory == nullptr) return nullptr;
  }
  Slab* slab = new (memory) Slab;
  slab->owner = heap;
  slab->size_class = static_cast<int16_t>(index);
  slab->capacity = static_cast<uint32_t>((size - sizeof(Slab)) / block);
  slab_bytes.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
  sample_peak(state);
  return slab;
}

void give_slab(Slab* slab) {
  Shared& state = shared();
  const size_t size = slab_size(class_bytes(slab->size_class));
  slab_bytes.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
  {
    const std::lock_guard<std::mutex> guard(state.pool_mutex);
    if (state.pool_bytes + static_cast<int64_t>(size) <= kPoolBytes) {
      Slab*& pool = state.pool[size == kWideSlab];
      slab->next = pool;
      pool = slab;
      state.pool_bytes += static_cast<int64_t>(size);
      return;
    }
  }
  give_pages(slab, size);
}

// After a block came back to a slab that was full or is now empty.
[[gnu::noinline]] void settle_slab(Heap* heap, Slab* slab) {
  if (slab->full) {
    slab->full = false;
    link_partial(heap, slab);
  }
  // The current slab stays even when empty, so that one block taken and returned costs nothing.
  if (slab->used == 0 && slab != heap->current[slab->size_class]) {
    unlink_partial(heap, slab);
    give_slab(slab);
  }
}

inline void put_back(Heap* heap, Slab* slab, Block* block) {
  block->next = slab->free;
  slab->free = block;
  if ((--slab->used == 0) | slab->full) settle_slab(heap, slab);
}

void collect_returned(Heap* heap) {
  if (heap->returned.load(std::memory_order_relaxed) == nullptr) return;
  Block* block = heap->returned.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    Block* next = block->next;
    put_back(heap, block->slab, block);
    block = next;
  }
}

void return_to_owner(Slab* slab, Block* block) {
  block->slab = slab;
  std::atomic<Block*>& list = slab->owner->returned;
  block->next = list.load(std::memory_order_relaxed);
  while (!list.compare_exchange_weak(block->next, block, std::memory_order_release,
                                     std::memory_order_relaxed)) {}
}

// Hands out never used blocks a page at a time, so that memory is touched as it is needed.
bool extend(Slab* slab) {
  if (slab->fresh == slab->capacity) return false;
  const size_t block = class_bytes(slab->size_class);
  const uint32_t batch = static_cast<uint32_t>(std::max<size_t>(1, 4096 / block));
  const uint32_t end = std::min(slab->capacity, slab->fresh + batch);
  char* first = reinterpret_cast<char*>(slab + 1);
  for (uint32_t i = end; i-- > slab->fresh;) {
    Block* b = reinterpret_cast<Block*>(first + i * block);
    b->next = slab->free;
    slab->free = b;
  }
  slab->fresh = end;
  return true;
}

// Makes current[index] a slab with a free block; false when the system refuses.
bool refill(Heap* heap, int index) {
  collect_returned(heap);
  Slab*& current = heap->current[index];
  if (current->free != nullptr || extend(current)) return true;
  if (current != &empty_slab) current->full = true;
  current = heap->partial[index];
  if (current != nullptr) {
    unlink_partial(heap, current);
  } else {
    current = &empty_slab;  // a valid state should the next line throw or empty the caches
    Slab* slab = take_slab(heap, index);
    if (slab == nullptr) return false;
    current = slab;
  }
  return current->free != nullptr || extend(current);
}

inline Block* take(Heap* heap, int index) {
  Slab* slab = heap->current[index];
  Block* block = slab->free;
  if (block == nullptr) [[unlikely]]
    return nullptr;
  slab->free = block->next;
  ++slab->used;
  return block;
}

void* allocate_from(Heap* heap, size_t nbytes) {
  const int index = size_class(nbytes);
  if (!refill(heap, index)) return nullptr;
  heap->counts.count_in(nbytes);
  return take(heap, index);
}

// A thread whose own storage is already gone shares one heap with its like.
template <class F>
auto with_common_heap(F&& f) {
  Shared& state = shared();
  const std::lock_guard<std::mutex> guard(state.common_mutex);
  if (state.common == nullptr) state.common = new_heap();
  return f(state.common);
}

[[gnu::noinline]] void* allocate_small_slowly(size_t nbytes) {
  void* p;
  if (thread_heap != nullptr) {
    p = allocate_from(thread_heap, nbytes);
  } else if (!thread_ended) {
    p = allocate_from(adopt_heap(), nbytes);
  } else {
    p = with_common_heap([&](Heap* heap) { return allocate_from(heap, nbytes); });
  }
  if (p == nullptr) refuse(nbytes);
  return p;
}

[[gnu::noinline]] void deallocate_small_slowly(Slab* slab, Block* block, size_t nbytes) {
  return_to_owner(slab, block);
  if (thread_heap == nullptr && !thread_ended) adopt_heap();
  if (thread_heap != nullptr) {
    thread_heap->counts.count_out(nbytes);
  } else {
    with_common_heap([&](Heap* heap) { heap->counts.count_out(nbytes); });
  }
}

void drop_empty_slabs(Heap* heap) {
  collect_returned(heap);
  for (Slab*& slab : heap->current) {
    if (slab == &empty_slab || slab->used > 0) continue;
    give_slab(slab);
    slab = &empty_slab;
  }
}

void release_slab_pool(Shared& state) {
  for (const size_t size : {kNarrowSlab, kWideSlab}) {
    const std::lock_guard<std::mutex> guard(state.pool_mutex);
    while (Slab* slab = state.pool[size == kWideSlab]) {
      state.pool[size == kWideSlab] = slab->next;
      state.pool_bytes -= static_cast<int64_t>(size);
      give_pages(slab, size);
    }
  }
}

[[gnu::noinline]] void* allocate_large(size_t nbytes) {
  Shared& state = shared();
  if (state.is_hopeless(nbytes)) refuse(nbytes);
  void* p = state.large.take(nbytes);
  if (p == nullptr) {
    empty_cache();
    p = state.large.take(nbytes);
    if (p == nullptr) refuse(nbytes);
  }
  thread_large_bytes += static_cast<int64_t>(nbytes);
  sample_peak(state);
  return p;
}

[[gnu::noinline]] void deallocate_large(void* pointer, size_t nbytes) noexcept {
  thread_large_bytes -= static_cast<int64_t>(nbytes);
  shared().large.give(pointer, nbytes);
}

void fill_stats(const Counts& counts, MemoryStats& stats) {
  stats.live_bytes += counts.live_bytes.get();
  stats.live_blocks += counts.allocations.get() - counts.releases.get();
  stats.allocations += counts.allocations.get();
}

// ---- The system's blocks, under a sanitizer -----------------------------------------------------

void* pass_through(size_t nbytes) {
  Shared& state = shared();
  if (state.is_hopeless(nbytes)) refuse(nbytes);
  void* p = ::operator new(nbytes, std::align_val_t{kAlignment}, std::nothrow);
  if (p == nullptr) refuse(nbytes);
  with_common_heap([&](Heap* heap) { heap->counts.count_in(nbytes); });
  thread_large_bytes += static_cast<int64_t>(nbytes);
  raise_to(peak_bytes, live_now(state));
  return p;
}

void pass_back(void* pointer, size_t nbytes) noexcept {
  if (pointer == nullptr) return;
  ::operator delete(pointer, std::align_val_t{kAlignment});
  with_common_heap([&](Heap* heap) { heap->counts.count_out(nbytes); });
  thread_large_bytes -= static_cast<int64_t>(nbytes);
}

}  // namespace

void* allocate(size_t nbytes) {
  if constexpr (kPassThrough) return pass_through(nbytes);
  if (nbytes > kSmallMax) [[unlikely]]
    return allocate_large(nbytes);
  Heap* heap = thread_heap;
  if (heap == nullptr) [[unlikely]]
    return allocate_small_slowly(nbytes);
  Block* block = take(heap, kSmallClass[(nbytes + 63) / 64]);
  if (block == nullptr) [[unlikely]]
    return allocate_small_slowly(nbytes);
  heap->counts.count_in(nbytes);
  return block;
}

void deallocate(void* pointer, size_t nbytes) noexcept {
  if constexpr (kPassThrough) return pass_back(pointer, nbytes);
  if (pointer == nullptr) [[unlikely]]
    return;
  if (nbytes > kSmallMax) [[unlikely]]
    return deallocate_large(pointer, nbytes);
  const uintptr_t mask = ~static_cast<uintptr_t>(slab_size(nbytes) - 1);
  Slab* slab = reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(pointer) & mask);
  Block* block = static_cast<Block*>(pointer);
  Heap* heap = thread_heap;
  if (slab->owner != heap) [[unlikely]]
    return deallocate_small_slowly(slab, block, nbytes);
  heap->counts.count_out(nbytes);
  put_back(heap, slab, block);
}

MemoryStats memory_stats() {
  Shared& state = shared();
  MemoryStats stats{};
  fill_stats(state.large.counts(), stats);
  stats.cache_limit = state.large.limit();
  for (Heap* h = all_heaps.load(std::memory_order_acquire); h != nullptr; h = h->next_heap) {
    fill_stats(h->counts, stats);
  }
  raise_to(peak_bytes, stats.live_bytes);
  stats.peak_bytes = peak_bytes.load();
  if constexpr (kPassThrough) {
    stats.system_bytes = stats.live_bytes;
    stats.peak_system_bytes = stats.peak_bytes;
    stats.system_allocations = stats.allocations;
  } else {
    const PageCounts pages = page_counts();
    stats.system_bytes = pages.bytes;
    stats.peak_system_bytes = pages.peak_bytes;
    stats.system_allocations = pages.calls;
  }
  stats.cached_bytes = stats.system_bytes - stats.live_bytes;
  return stats;
}

void reset_peak_memory_stats() {
  peak_bytes.store(live_now(shared()));
  reset_peak_pages();
}

void empty_cache() {
  Shared& state = shared();
  {
    const std::lock_guard<std::mutex> guard(state.heaps_mutex);
    for (Heap* h = state.orphans; h != nullptr; h = h->next_orphan) drop_empty_slabs(h);
  }
  if (thread_heap != nullptr) drop_empty_slabs(thread_heap);
  release_slab_pool(state);
  state.large.clear();
}

int64_t thread_live_bytes() {
  const Heap* heap = thread_heap;
  return thread_large_bytes + (heap != nullptr ? heap->counts.live_bytes.get() : 0);
}

void set_cache_limit(size_t nbytes) { shared().large.set_limit(nbytes); }

void allocator_before_fork() {
  shared().common_mutex.lock();
  shared().heaps_mutex.lock();
  shared().pool_mutex.lock();
  shared().large.lock();
}

// The heaps of threads that the child does not have stay as they were: a block from one of them can
// be released there, and its memory is not used again.
void allocator_after_fork_child() { allocator_after_fork_parent(); }

void allocator_after_fork_parent() {
  shared().large.unlock();
  shared().pool_mutex.unlock();
  shared().heaps_mutex.unlock();
  shared().common_mutex.unlock();
}

}  // namespace zero
