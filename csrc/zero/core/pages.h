// Whole pages from the operating system, counted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zero {

// Zeroed memory aligned to `alignment`, a power of two, or to a page if that is more. Null when
// refused.
void* take_pages(size_t nbytes, size_t alignment);
void give_pages(void* p, size_t nbytes);

// Asks for huge pages under [p, p + nbytes): touching fresh memory then takes a sixth of the time.
// For large pieces only; a hint.
void prefer_huge_pages(void* p, size_t nbytes);

size_t page_size();

// Pages of an open file, from `offset`, a multiple of 64 KiB, which all processes that map them
// share. Null when refused.
void* map_file(int file, uint64_t offset, size_t nbytes);
void unmap_file(void* p, size_t nbytes);

// Puts memory of this process, with the first `used` bytes, in the place of a mapping, which ends
// by unmap_file all the same; false where that can't be done.
bool unshare_file(void* p, size_t nbytes, size_t used);

// Keeps pages from being moved out of memory; false when the system allows no more of them.
bool lock_pages(void* p, size_t nbytes);
void unlock_pages(void* p, size_t nbytes);

// Gives the memory of a mapped file's pages back to the system, after which they are zeros; a hint.
void discard_pages(void* p, size_t nbytes);

struct PageCounts {
  int64_t bytes, peak_bytes;
  int64_t calls;  // of take_pages
};

PageCounts page_counts();
void reset_peak_pages();

}  // namespace zero
