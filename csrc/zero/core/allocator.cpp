#include "zero/core/allocator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <new>

#include "zero/core/error.h"
#include "zero/core/system.h"
#include "zero/core/thread_local.h"

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <malloc.h>
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define ZERO_ALLOCATOR_PASS_THROUGH 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ZERO_ALLOCATOR_PASS_THROUGH 1
#endif
#endif

namespace zero {

namespace {

// ---- Counters -----------------------------------------------------------------------------------

// A counter with one writer: plain add for it, a clean read for everybody else.
struct Counter {
  std::atomic<int64_t> value{0};
  void add(int64_t n) {
    value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  int64_t get() const { return value.load(std::memory_order_relaxed); }
};

struct Counts {
  Counter live_bytes, live_blocks, allocations;

  void count_in(size_t nbytes) {
    live_bytes.add(static_cast<int64_t>(nbytes));
    live_blocks.add(1);
    allocations.add(1);
  }
  void count_out(size_t nbytes) {
    live_bytes.add(-static_cast<int64_t>(nbytes));
    live_blocks.add(-1);
  }
};

void raise_to(std::atomic<int64_t>& maximum, int64_t value) {
  int64_t seen = maximum.load(std::memory_order_relaxed);
  while (seen < value &&
         !maximum.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

std::atomic<int64_t> system_bytes{0};
std::atomic<int64_t> peak_system_bytes{0};
std::atomic<int64_t> system_allocations{0};
std::atomic<int64_t> slab_bytes{0};  // in slabs that belong to a heap
std::atomic<int64_t> peak_bytes{0};

// ---- The system ---------------------------------------------------------------------------------

// Null when refused. `alignment` is a power of two, at least a page.
void* map_pages(size_t nbytes, size_t alignment) {
#if defined(_WIN32)
  return _aligned_malloc(nbytes, alignment);
#else
  const auto map = [](size_t size) -> char* {
    void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
  };
  char* p = map(nbytes);
  if (p == nullptr || reinterpret_cast<uintptr_t>(p) % alignment == 0) return p;
  munmap(p, nbytes);
  p = map(nbytes + alignment);
  if (p == nullptr) return nullptr;
  const size_t head = -reinterpret_cast<uintptr_t>(p) & (alignment - 1);
  if (head > 0) munmap(p, head);
  munmap(p + head + nbytes, alignment - head);
  return p + head;
#endif
}

void* system_allocate(size_t nbytes, size_t alignment) {
  void* p = map_pages(nbytes, alignment);
  if (p == nullptr) return nullptr;
  const int64_t now = system_bytes.fetch_add(static_cast<int64_t>(nbytes)) + static_cast<int64_t>(nbytes);
  raise_to(peak_system_bytes, now);
  system_allocations.fetch_add(1, std::memory_order_relaxed);
  return p;
}

void system_release(void* p, size_t nbytes) {
#if defined(_WIN32)
  _aligned_free(p);
#else
  munmap(p, nbytes);
#endif
  system_bytes.fetch_sub(static_cast<int64_t>(nbytes));
}

// ---- Size classes -------------------------------------------------------------------------------

constexpr size_t kSmallMax = size_t{32} << 10;
constexpr int kSmallClasses = 56;  // 16 up to 1 KiB in steps of 64, then 8 per doubling
constexpr size_t kNarrowMax = 4096;  // larger small blocks live in wide slabs

// Eight classes per doubling, counted from class 0 = 64 bytes; exact multiples of 64 up to 1 KiB.
constexpr int size_class(size_t nbytes) {
  const size_t units = nbytes == 0 ? 1 : (nbytes + 63) / 64;
  if (units <= 16) return static_cast<int>(units) - 1;
  const int shift = std::bit_width(units - 1) - 4;  // units in (2^(shift+3), 2^(shift+4)]
  return static_cast<int>(((units - 1) >> shift) + 1) + 8 * shift - 1;
}

constexpr size_t class_bytes(int index) {
  if (index < 16) return static_cast<size_t>(index + 1) * 64;
  const int shift = (index - 8) / 8;
  return static_cast<size_t>(index + 1 - 8 * shift) << shift << 6;
}

static_assert(size_class(0) == 0 && size_class(64) == 0 && size_class(65) == 1);
static_assert(size_class(1024) == 15 && size_class(1025) == 16 && size_class(1152) == 16);
static_assert(size_class(kSmallMax) == kSmallClasses - 1);
static_assert(class_bytes(16) == 1152 && class_bytes(kSmallClasses - 1) == kSmallMax);

// size_class() of 64 * i bytes, for the fast path.
constexpr auto kSmallClass = [] {
  std::array<uint8_t, kSmallMax / 64 + 1> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(size_class(64 * i));
  return table;
}();

constexpr size_t kLargest = size_t{1} << 62;
constexpr int kLargeClasses = size_class(kLargest) + 1;

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

constexpr size_t kNarrowSlab = size_t{64} << 10;
constexpr size_t kWideSlab = size_t{512} << 10;

constexpr size_t slab_size(size_t nbytes) { return nbytes <= kNarrowMax ? kNarrowSlab : kWideSlab; }

Slab empty_slab;  // what a heap points to in place of a slab; it never has a free block

// The slabs of one thread, handed to another when the thread ends. Never destroyed.
struct alignas(64) Heap {
  Slab* current[kSmallClasses];          // blocks are taken from here
  Slab* partial[kSmallClasses] = {};     // other slabs with room
  Counts counts;  // what this thread took and gave back; the sum over all heaps is what is live
  Heap* next_heap = nullptr;             // all heaps
  Heap* next_orphan = nullptr;
  alignas(64) std::atomic<Block*> returned{nullptr};  // freed by other threads

  Heap() { std::fill_n(current, kSmallClasses, &empty_slab); }
};

// ---- Shared state -------------------------------------------------------------------------------

struct LargeBlock {  // a free large block, linked from within
  LargeBlock *newer, *older;             // by time of release
  LargeBlock *class_next, *class_previous;
  uint64_t released_at;
  int index;
};

constexpr int64_t kPoolBytes = int64_t{32} << 20;  // free slabs kept
constexpr uint64_t kReuseWindow = 8192;            // releases after which an unused block goes
constexpr int64_t kHeldSlack = int64_t{64} << 20;

struct Shared {
  // Order of locking: heaps, pool, large.
  std::mutex heaps_mutex;
  Heap* orphans = nullptr;
  Heap* common = nullptr;  // for threads that already gave theirs away; used under heaps_mutex

  std::mutex pool_mutex;
  Slab* pool[2] = {};  // narrow, wide
  int64_t pool_bytes = 0;

  std::mutex large_mutex;
  LargeBlock* classes[kLargeClasses] = {};
  LargeBlock* newest = nullptr;
  LargeBlock* oldest = nullptr;
  uint64_t releases = 0;
  int64_t live_held = 0;     // live large bytes, rounded to classes
  int64_t highest_held = 0;  // maximum of that
  int64_t cached = 0;
  int64_t cache_limit = 0;
  Counts counts;

  size_t page = 4096;
  uint64_t memory_limit = 0;

  Shared() {
#if !defined(_WIN32)
    page = static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
#endif
    memory_limit = zero::memory_limit();
    const uint64_t quarter = memory_limit / 4;
    cache_limit = quarter == 0 ? int64_t{1} << 30 : static_cast<int64_t>(quarter);
  }
};

Shared& shared() {
  static Shared* const state = new Shared;  // leaked: tensors may die after static destructors ran
  return *state;
}

std::atomic<Heap*> all_heaps{nullptr};  // grows only

ZERO_THREAD_LOCAL Heap* thread_heap = nullptr;
ZERO_THREAD_LOCAL bool thread_ended = false;

int64_t live_now(const Shared& state) {
  int64_t live = state.counts.live_bytes.get();
  for (Heap* h = all_heaps.load(std::memory_order_acquire); h != nullptr; h = h->next_heap) {
    live += h->counts.live_bytes.get();
  }
  return live;
}

// The sum over heaps is made only when a new peak is possible.
void sample_peak(const Shared& state) {
  const int64_t bound = state.counts.live_bytes.get() + slab_bytes.load(std::memory_order_relaxed);
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
  while (!all_heaps.compare_exchange_weak(heap->next_heap, heap, std::memory_order_release)) {
  }
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
  if (memory == nullptr) memory = system_allocate(size, size);
  if (memory == nullptr) {
    empty_cache();
    memory = system_allocate(size, size);
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
  system_release(slab, size);
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
                                     std::memory_order_relaxed)) {
  }
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
  if (block == nullptr) [[unlikely]] return nullptr;
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
  const std::lock_guard<std::mutex> guard(state.heaps_mutex);
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
      system_release(slab, size);
    }
  }
}

// ---- Large blocks -------------------------------------------------------------------------------

void unlink_large(Shared& state, LargeBlock* block) {
  (block->newer != nullptr ? block->newer->older : state.newest) = block->older;
  (block->older != nullptr ? block->older->newer : state.oldest) = block->newer;
  (block->class_previous != nullptr ? block->class_previous->class_next
                                    : state.classes[block->index]) = block->class_next;
  if (block->class_next != nullptr) block->class_next->class_previous = block->class_previous;
  state.cached -= static_cast<int64_t>(class_bytes(block->index));
}

void link_large(Shared& state, void* p, int index) {
  LargeBlock*& first = state.classes[index];
  LargeBlock* block = new (p) LargeBlock{nullptr, state.newest, first, nullptr, state.releases, index};
  (state.newest != nullptr ? state.newest->newer : state.oldest) = block;
  state.newest = block;
  if (first != nullptr) first->class_previous = block;
  first = block;
  state.cached += static_cast<int64_t>(class_bytes(index));
}

// Unlinks the oldest blocks while `surplus()`; they are released after the lock is given up.
template <class Surplus>
LargeBlock* evict_while(Shared& state, Surplus surplus) {
  LargeBlock* evicted = nullptr;
  while (state.oldest != nullptr && surplus()) {
    LargeBlock* block = state.oldest;
    unlink_large(state, block);
    block->older = evicted;
    evicted = block;
  }
  return evicted;
}

void release_all(LargeBlock* block) {
  while (block != nullptr) {
    LargeBlock* next = block->older;
    system_release(block, class_bytes(block->index));
    block = next;
  }
}

// From the cache, or null.
void* take_large(Shared& state, int index) {
  LargeBlock* evicted = nullptr;
  LargeBlock* block;
  {
    const std::lock_guard<std::mutex> guard(state.large_mutex);
    block = state.classes[index];
    if (block != nullptr) {
      unlink_large(state, block);
    } else {
      // Make room before asking the system, so that not even a moment passes the bound.
      const int64_t live = state.live_held + static_cast<int64_t>(class_bytes(index));
      const int64_t bound = std::max(state.highest_held, live) / 4 * 5 + kHeldSlack;
      evicted = evict_while(state, [&] { return live + state.cached > bound; });
    }
  }
  release_all(evicted);
  return block;
}

[[gnu::noinline]] void* allocate_large(size_t nbytes) {
  Shared& state = shared();
  // Some systems promise more memory than they have and kill the process that uses it.
  if (nbytes > kLargest || (state.memory_limit > 0 && nbytes > state.memory_limit)) refuse(nbytes);
  const int index = size_class(nbytes);
  const size_t size = class_bytes(index);
  void* p = take_large(state, index);
  if (p == nullptr) p = system_allocate(size, state.page);
  if (p == nullptr) {
    empty_cache();
    p = system_allocate(size, state.page);
    if (p == nullptr) refuse(nbytes);
  }
  {
    const std::lock_guard<std::mutex> guard(state.large_mutex);
    state.live_held += static_cast<int64_t>(size);
    state.highest_held = std::max(state.highest_held, state.live_held);
    state.counts.count_in(nbytes);
  }
  sample_peak(state);
  return p;
}

[[gnu::noinline]] void deallocate_large(void* p, size_t nbytes) noexcept {
  Shared& state = shared();
  const int index = size_class(nbytes);
  LargeBlock* evicted;
  {
    const std::lock_guard<std::mutex> guard(state.large_mutex);
    ++state.releases;
    state.live_held -= static_cast<int64_t>(class_bytes(index));
    state.counts.count_out(nbytes);
    link_large(state, p, index);
    evicted = evict_while(state, [&] {
      return state.cached > state.cache_limit ||
             state.releases - state.oldest->released_at > kReuseWindow;
    });
  }
  release_all(evicted);
}

void fill_stats(const Counts& counts, MemoryStats& stats) {
  stats.live_bytes += counts.live_bytes.get();
  stats.live_blocks += counts.live_blocks.get();
  stats.allocations += counts.allocations.get();
}

}  // namespace

#if ZERO_ALLOCATOR_PASS_THROUGH

// The sanitizer sees each block, so that it can tell overruns and uses after the release.
void* allocate(size_t nbytes) {
  Shared& state = shared();
  const size_t size = (std::max<size_t>(nbytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (nbytes > kLargest || (state.memory_limit > 0 && nbytes > state.memory_limit)) refuse(nbytes);
  void* p = std::aligned_alloc(kAlignment, size);
  if (p == nullptr) refuse(nbytes);
  const std::lock_guard<std::mutex> guard(state.large_mutex);
  state.counts.count_in(nbytes);
  system_bytes.fetch_add(static_cast<int64_t>(nbytes));
  raise_to(peak_system_bytes, system_bytes.load());
  raise_to(peak_bytes, state.counts.live_bytes.get());
  return p;
}

void deallocate(void* pointer, size_t nbytes) noexcept {
  if (pointer == nullptr) return;
  std::free(pointer);
  Shared& state = shared();
  const std::lock_guard<std::mutex> guard(state.large_mutex);
  state.counts.count_out(nbytes);
  system_bytes.fetch_sub(static_cast<int64_t>(nbytes));
}

#else

void* allocate(size_t nbytes) {
  if (nbytes > kSmallMax) [[unlikely]] return allocate_large(nbytes);
  Heap* heap = thread_heap;
  if (heap == nullptr) [[unlikely]] return allocate_small_slowly(nbytes);
  Block* block = take(heap, kSmallClass[(nbytes + 63) / 64]);
  if (block == nullptr) [[unlikely]] return allocate_small_slowly(nbytes);
  heap->counts.count_in(nbytes);
  return block;
}

void deallocate(void* pointer, size_t nbytes) noexcept {
  if (nbytes > kSmallMax) [[unlikely]] return deallocate_large(pointer, nbytes);
  if (pointer == nullptr) [[unlikely]] return;
  const uintptr_t mask = ~static_cast<uintptr_t>(slab_size(nbytes) - 1);
  Slab* slab = reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(pointer) & mask);
  Block* block = static_cast<Block*>(pointer);
  Heap* heap = thread_heap;
  if (slab->owner != heap) [[unlikely]] return deallocate_small_slowly(slab, block, nbytes);
  heap->counts.count_out(nbytes);
  put_back(heap, slab, block);
}

#endif

MemoryStats memory_stats() {
  Shared& state = shared();
  MemoryStats stats{};
  {
    const std::lock_guard<std::mutex> guard(state.large_mutex);
    fill_stats(state.counts, stats);
    stats.cache_limit = state.cache_limit;
  }
  for (Heap* h = all_heaps.load(std::memory_order_acquire); h != nullptr; h = h->next_heap) {
    fill_stats(h->counts, stats);
  }
  raise_to(peak_bytes, stats.live_bytes);
  stats.peak_bytes = peak_bytes.load();
  stats.system_bytes = system_bytes.load();
  stats.peak_system_bytes = peak_system_bytes.load();
  stats.system_allocations = system_allocations.load();
  stats.cached_bytes = stats.system_bytes - stats.live_bytes;
  return stats;
}

void reset_peak_memory_stats() {
  peak_bytes.store(live_now(shared()));
  peak_system_bytes.store(system_bytes.load());
}

void empty_cache() {
  Shared& state = shared();
  {
    const std::lock_guard<std::mutex> guard(state.heaps_mutex);
    for (Heap* h = state.orphans; h != nullptr; h = h->next_orphan) drop_empty_slabs(h);
    if (state.common != nullptr) drop_empty_slabs(state.common);
  }
  if (thread_heap != nullptr) drop_empty_slabs(thread_heap);
  release_slab_pool(state);
  LargeBlock* evicted;
  {
    const std::lock_guard<std::mutex> guard(state.large_mutex);
    evicted = evict_while(state, [] { return true; });
    state.highest_held = state.live_held;
  }
  release_all(evicted);
}

void set_cache_limit(size_t nbytes) {
  Shared& state = shared();
  LargeBlock* evicted;
  {
    const std::lock_guard<std::mutex> guard(state.large_mutex);
    state.cache_limit = static_cast<int64_t>(std::min(nbytes, kLargest));
    evicted = evict_while(state, [&] { return state.cached > state.cache_limit; });
  }
  release_all(evicted);
}

void allocator_before_fork() {
  shared().heaps_mutex.lock();
  shared().pool_mutex.lock();
  shared().large_mutex.lock();
}

// The heaps of threads that the child does not have stay as they were: a block from one of them can
// be released there, and its memory is not used again.
void allocator_after_fork_child() { allocator_after_fork_parent(); }

void allocator_after_fork_parent() {
  shared().large_mutex.unlock();
  shared().pool_mutex.unlock();
  shared().heaps_mutex.unlock();
}

}  // namespace zero
