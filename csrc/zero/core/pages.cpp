#include "zero/core/pages.h"

#include <atomic>

#include "zero/core/counts.h"

#if defined(_WIN32)
#include <malloc.h>
#else
#include <sys/mman.h>
#endif

namespace zero {

namespace {

std::atomic<int64_t> bytes{0};
std::atomic<int64_t> peak_bytes{0};
std::atomic<int64_t> calls{0};

#if defined(_WIN32)

void* map(size_t nbytes, size_t alignment) {
  return _aligned_malloc(nbytes, alignment < 4096 ? 4096 : alignment);
}
void unmap(void* p, size_t) { _aligned_free(p); }

#else

char* map_anywhere(size_t nbytes) {
  void* p = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
}

void unmap(void* p, size_t nbytes) { munmap(p, nbytes); }

// Mappings lie side by side, so after one aligned mapping the next of its size is mostly aligned
// too.
void* map(size_t nbytes, size_t alignment) {
  char* p = map_anywhere(nbytes);
  if (p == nullptr || reinterpret_cast<uintptr_t>(p) % alignment == 0) return p;
  unmap(p, nbytes);
  p = map_anywhere(nbytes + alignment);
  if (p == nullptr) return nullptr;
  const size_t head = -reinterpret_cast<uintptr_t>(p) & (alignment - 1);
  if (head > 0) unmap(p, head);
  unmap(p + head + nbytes, alignment - head);
  return p + head;
}

#endif

}  // namespace

void* take_pages(size_t nbytes, size_t alignment) {
  void* p = map(nbytes, alignment);
  if (p == nullptr) return nullptr;
  const int64_t size = static_cast<int64_t>(nbytes);
  raise_to(peak_bytes, bytes.fetch_add(size) + size);
  calls.fetch_add(1);
  return p;
}

void give_pages(void* p, size_t nbytes) {
  unmap(p, nbytes);
  bytes.fetch_sub(static_cast<int64_t>(nbytes));
}

void prefer_huge_pages(void* p, size_t nbytes) {
#if defined(MADV_HUGEPAGE)
  madvise(p, nbytes, MADV_HUGEPAGE);
#else
  (void)p;
  (void)nbytes;
#endif
}

PageCounts page_counts() { return {bytes.load(), peak_bytes.load(), calls.load()}; }

void reset_peak_pages() { peak_bytes.store(bytes.load()); }

}  // namespace zero
