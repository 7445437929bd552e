#include "zero/core/large_cache.h"

#include <algorithm>
#include <new>

#include "zero/core/pages.h"

namespace zero {

namespace {

constexpr uint64_t kReuseWindow = 8192;            // releases after which an unused block goes
constexpr int64_t kHeldSlack = int64_t{64} << 20;  // beyond 1.25 x the highest live size

constexpr size_t kHugeFrom = size_t{4} << 20;  // two huge pages; below, they seldom fit

int64_t signed_bytes(int index) { return static_cast<int64_t>(class_bytes(index)); }

}  // namespace

struct LargeCache::FreeBlock {
  FreeBlock *newer, *older;
  FreeBlock *class_next, *class_previous;
  uint64_t released_at;
  int index;

  // Gives a chain of unlinked blocks to the system; done without the lock.
  static void release_all(FreeBlock* block) {
    while (block != nullptr) {
      FreeBlock* next = block->older;
      give_pages(block, class_bytes(block->index));
      block = next;
    }
  }
};

void LargeCache::link(void* p, int index) {
  FreeBlock*& first = classes_[index];
  FreeBlock* block = new (p) FreeBlock{nullptr, newest_, first, nullptr, releases_, index};
  (newest_ != nullptr ? newest_->newer : oldest_) = block;
  newest_ = block;
  if (first != nullptr) first->class_previous = block;
  first = block;
  cached_ += signed_bytes(index);
}

void LargeCache::unlink(FreeBlock* block) {
  (block->newer != nullptr ? block->newer->older : newest_) = block->older;
  (block->older != nullptr ? block->older->newer : oldest_) = block->newer;
  FreeBlock* previous = block->class_previous;
  (previous != nullptr ? previous->class_next : classes_[block->index]) = block->class_next;
  if (block->class_next != nullptr) block->class_next->class_previous = previous;
  cached_ -= signed_bytes(block->index);
}

template <class Surplus>
LargeCache::FreeBlock* LargeCache::unlink_oldest_while(Surplus surplus) {
  FreeBlock* chain = nullptr;
  while (oldest_ != nullptr && surplus()) {
    FreeBlock* block = oldest_;
    unlink(block);
    block->older = chain;
    chain = block;
  }
  return chain;
}

LargeCache::FreeBlock* LargeCache::take_cached(int index) {
  FreeBlock* evicted;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (FreeBlock* block = classes_[index]) {
      unlink(block);
      return block;
    }
    // Make room before the system is asked, so that not even a moment passes the bound.
    const int64_t live = live_ + signed_bytes(index);
    const int64_t bound = std::max(highest_live_, live) / 4 * 5 + kHeldSlack;
    evicted = unlink_oldest_while([&] { return live + cached_ > bound; });
  }
  FreeBlock::release_all(evicted);
  return nullptr;
}

void* LargeCache::take(size_t nbytes) {
  const int index = size_class(nbytes);
  void* p = take_cached(index);
  if (p == nullptr) {
    p = take_pages(class_bytes(index), 1);
    if (p == nullptr) return nullptr;
    // Not under the rest of the size class, which stays untouched and so takes no memory.
    if (nbytes >= kHugeFrom) prefer_huge_pages(p, nbytes);
  }
  const std::lock_guard<std::mutex> guard(mutex_);
  live_ += signed_bytes(index);
  highest_live_ = std::max(highest_live_, live_);
  counts_.count_in(nbytes);
  return p;
}

void LargeCache::give(void* p, size_t nbytes) noexcept {
  const int index = size_class(nbytes);
  FreeBlock* evicted;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    ++releases_;
    live_ -= signed_bytes(index);
    counts_.count_out(nbytes);
    link(p, index);
    evicted = unlink_oldest_while(
        [&] { return cached_ > limit() || releases_ - oldest_->released_at > kReuseWindow; });
  }
  FreeBlock::release_all(evicted);
}

void LargeCache::clear() {
  FreeBlock* evicted;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    evicted = unlink_oldest_while([] { return true; });
    highest_live_ = live_;
  }
  FreeBlock::release_all(evicted);
}

void LargeCache::set_limit(size_t nbytes) {
  FreeBlock* evicted;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    limit_.add(static_cast<int64_t>(std::min(nbytes, kLargest)) - limit());
    evicted = unlink_oldest_while([&] { return cached_ > limit(); });
  }
  FreeBlock::release_all(evicted);
}

}  // namespace zero
