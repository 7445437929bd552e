// The memory that one tensor and its views share, with the count of writes to it.
#pragma once

#include <atomic>

#include "zero/core/device.h"
#include "zero/core/intrusive.h"

namespace zero {

// Counts in-place writes; autograd compares it with the count at the time a tensor was saved.
class VersionCounter : public RefCounted {
 public:
  explicit VersionCounter(uint32_t start = 0) : version_(start) {}
  uint32_t current() const { return version_.load(std::memory_order_relaxed); }
  void bump() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> version_;
};

class Storage : public VersionCounter {
 public:
  // Fresh memory, uninitialised; none on the meta device.
  Storage(size_t nbytes, Device device)
      : data_(device == Device::Cpu ? allocate(nbytes) : nullptr), nbytes_(nbytes), device_(device) {}
  // Memory of somebody else; `release(owner)` is called when the last view of it is gone.
  Storage(void* data, size_t nbytes, void (*release)(void*), void* owner)
      : data_(data), nbytes_(nbytes), device_(Device::Cpu), release_(release), owner_(owner) {}
  ~Storage() {
    if (release_) release_(owner_);
    else if (data_) deallocate(data_, nbytes_);
  }

  void* data() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }
  bool is_foreign() const { return release_ != nullptr; }

 private:
  void* data_;
  size_t nbytes_;
  Device device_;
  void (*release_)(void*) = nullptr;
  void* owner_ = nullptr;
};

}  // namespace zero
