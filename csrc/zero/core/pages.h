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

struct PageCounts {
  int64_t bytes, peak_bytes;
  int64_t calls;  // of take_pages
};

PageCounts page_counts();
void reset_peak_pages();

}  // namespace zero
