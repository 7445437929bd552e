// Blocks too large for slabs: whole pages, kept by size class when they are free. allocator.h says
// how many are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "zero/core/counts.h"
#include "zero/core/size_class.h"

namespace zero {

class LargeCache {
 public:
  void* take(size_t nbytes);  // null when the system refuses
  void give(void* p, size_t nbytes) noexcept;
  void clear();

  void set_limit(size_t nbytes);
  int64_t limit() const { return limit_.get(); }
  int64_t live_bytes() const { return counts_.live_bytes.get(); }
  const Counts& counts() const { return counts_; }

  void lock() { mutex_.lock(); }  // for fork() only
  void unlock() { mutex_.unlock(); }

 private:
  struct FreeBlock;  // written into the block itself

  void link(void* p, int index);
  void unlink(FreeBlock* block);
  template <class Surplus>
  FreeBlock* unlink_oldest_while(Surplus surplus);
  FreeBlock* take_cached(int index);

  std::mutex mutex_;
  FreeBlock* classes_[kLargeClasses] = {};
  FreeBlock* newest_ = nullptr;  // by time of release
  FreeBlock* oldest_ = nullptr;
  uint64_t releases_ = 0;
  int64_t cached_ = 0;
  int64_t live_ = 0;  // rounded to size classes, as cached_
  int64_t highest_live_ = 0;
  Counter limit_;
  Counts counts_;
};

}  // namespace zero
