#include "zero/core/pages.h"

#include <atomic>
#include <cstring>

#include "zero/core/counts.h"

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <io.h>
#include <malloc.h>
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
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

}  // namespace

size_t page_size() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

void* map_file(int file, uint64_t offset, size_t nbytes) {
  const uint64_t end = offset + nbytes;
  const HANDLE mapping =
      CreateFileMappingW(reinterpret_cast<HANDLE>(_get_osfhandle(file)), nullptr, PAGE_READWRITE,
                         static_cast<DWORD>(end >> 32), static_cast<DWORD>(end), nullptr);
  if (mapping == nullptr) return nullptr;
  void* p = MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, static_cast<DWORD>(offset >> 32),
                          static_cast<DWORD>(offset), nbytes);
  CloseHandle(mapping);  // the view keeps it
  return p;
}
void unmap_file(void* p, size_t) { UnmapViewOfFile(p); }
bool unshare_file(void*, size_t, size_t) { return false; }

bool lock_pages(void* p, size_t nbytes) { return VirtualLock(p, nbytes) != 0; }
void unlock_pages(void* p, size_t nbytes) { VirtualUnlock(p, nbytes); }

void discard_pages(void*, size_t) {}

namespace {

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

}  // namespace

size_t page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

void* map_file(int file, uint64_t offset, size_t nbytes) {
  void* p =
      mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  return p == MAP_FAILED ? nullptr : p;
}
void unmap_file(void* p, size_t nbytes) { munmap(p, nbytes); }

bool unshare_file(void* p, size_t nbytes, size_t used) {
  char* copy = map_anywhere(used > 0 ? used : 1);
  if (copy == nullptr) return false;
  std::memcpy(copy, p, used);
  const bool done = mmap(p, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1,
                         0) != MAP_FAILED;
  if (done) std::memcpy(p, copy, used);
  unmap(copy, used > 0 ? used : 1);
  return done;
}

bool lock_pages(void* p, size_t nbytes) { return mlock(p, nbytes) == 0; }
void unlock_pages(void* p, size_t nbytes) { munlock(p, nbytes); }

void discard_pages(void* p, size_t nbytes) {
#if defined(MADV_REMOVE)
  madvise(p, nbytes, MADV_REMOVE);
#else
  (void)p;
  (void)nbytes;
#endif
}

namespace {

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
