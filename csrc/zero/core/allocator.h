// The memory of tensors and graph nodes: 64-byte aligned blocks, cached so that a training loop
// neither calls the system nor takes page faults for buffers it had a moment ago.
//
//   size        where it lives                      when it is free
//   <= 32 KiB   slab of one size class, owned by    in the slab; an empty slab goes to a pool
//               a thread
//   larger      own pages of the system             in a cache of size classes, bounded
//
// Size classes are at most 12.5 % apart (64 bytes below 512). The cache of large blocks holds no
// more than (a) the limit of set_cache_limit, by default a quarter of the memory limit, (b) what
// keeps live + cached below 1.25 x the highest live size + 64 MiB, and (c) blocks reused within the
// last few thousand releases. So changing shapes do not grow the process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zero {

inline constexpr size_t kAlignment = 64;

// Returns at least nbytes (0 is allowed and gives a pointer of its own), aligned to 64 bytes,
// contents undefined. Throws OutOfMemoryError, after the cache was emptied in vain.
void* allocate(size_t nbytes);

// `nbytes` is what was asked from allocate(). Any thread may release a block. Null is ignored.
void deallocate(void* pointer, size_t nbytes) noexcept;

struct MemoryStats {
  int64_t live_bytes;  // sum of the sizes asked and not yet released; exact
  // Its maximum. Exact for large blocks; blocks <= 32 KiB are looked at whenever a large block or a
  // slab is taken, so a maximum inside existing slabs can be missed.
  int64_t peak_bytes;
  int64_t cached_bytes;  // system_bytes - live_bytes: free blocks, rounding up, rests of slabs
  int64_t system_bytes;  // address space taken from the system
  int64_t peak_system_bytes;
  int64_t allocations;  // calls of allocate() so far
  int64_t live_blocks;
  int64_t system_allocations;  // how often the system was asked
  int64_t cache_limit;
};

MemoryStats memory_stats();
void reset_peak_memory_stats();

// Returns all free memory to the system, except free blocks in slabs of other running threads.
void empty_cache();

// Most bytes of free large blocks to keep; 0 keeps none.
void set_cache_limit(size_t nbytes);

// Bracket a fork(): no lock is held by a thread that the child does not have.
void allocator_before_fork();
void allocator_after_fork_parent();
void allocator_after_fork_child();

}  // namespace zero
