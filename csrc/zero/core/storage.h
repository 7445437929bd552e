// The memory that one tensor and its views share, with the count of writes to it.
#pragma once

#include <atomic>
#include <cstring>

#include "zero/core/device.h"
#include "zero/core/intrusive.h"

namespace zero {

// Counts in-place writes; autograd compares it with the count at the time a tensor was saved.
class VersionCounter : public RefCounted {
 public:
  explicit VersionCounter(uint32_t start = 0) : version_(start) {}
  ~VersionCounter() { Ref<VersionCounter>::adopt(echo_.load(std::memory_order_relaxed)); }
  uint32_t current() const { return version_.load(std::memory_order_relaxed); }
  void bump() {
    version_.fetch_add(1, std::memory_order_relaxed);
    if (VersionCounter* echo = echo_.load(std::memory_order_acquire)) [[unlikely]]
      echo->bump();
  }
  // A counter that goes along with this one: whoever holds it keeps no memory alive.
  Ref<VersionCounter> echo() {
    if (!echo_.load(std::memory_order_acquire)) {
      Ref<VersionCounter> made = make_ref<VersionCounter>(current());
      VersionCounter* none = nullptr;
      if (echo_.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) made.detach();
    }
    return Ref<VersionCounter>::share(echo_.load(std::memory_order_acquire));
  }

 private:
  std::atomic<uint32_t> version_;
  std::atomic<VersionCounter*> echo_{nullptr};  // owned; most have none
};

class Storage;
void destroy(Storage* storage) noexcept;

class Storage : public VersionCounter {
 public:
  // Fresh memory, uninitialised; none on the meta device. A little of it lies behind the object, in
  // one block.
  static Ref<Storage> fresh(size_t nbytes, Device device) {
    const bool behind = device == Device::Cpu && nbytes <= kMaxBehind;
    void* block = allocate(kHeader + (behind ? nbytes : 0));
    void* data = behind ? static_cast<char*>(block) + kHeader : nullptr;
    if (!behind && device == Device::Cpu) {
      try {
        data = allocate(nbytes);
      } catch (...) {
        deallocate(block, kHeader);
        throw;
      }
    }
    return Ref<Storage>::adopt(::new (block) Storage(data, nbytes, device, behind));
  }
  // Memory of somebody else; `release(owner)` is called when the last view of it is gone.
  Storage(void* data, size_t nbytes, void (*release)(void*), void* owner)
      : data_(data), nbytes_(nbytes), device_(Device::Cpu), release_(release), owner_(owner) {}
  static void* operator new(size_t) { return allocate(kHeader); }
  ~Storage() {
    if (release_)
      release_(owner_);
    else if (data_ && !behind_)
      deallocate(data_, nbytes_);
  }

  void* data() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }
  bool is_foreign() const { return release_ != nullptr; }
  // Whose memory it is, if it was made with this release function; else null.
  void* owner(void (*release)(void*)) const { return release_ == release ? owner_ : nullptr; }

  // Goes on, with the same contents, in the memory of `other`, which is somebody else's, of this
  // size, and used by nobody; `other` gets what this had. So the caller decides when that ends.
  void move_to(Storage& other) {
    if (nbytes_ > 0) std::memcpy(other.data_, data_, nbytes_);
    std::swap(data_, other.data_);
    std::swap(release_, other.release_);
    std::swap(owner_, other.owner_);
    if (behind_ && other.release_ == nullptr) other.data_ = nullptr;  // a part of this object
  }
  // Counts those outside who hold the address of the memory, which may not move meanwhile.
  void lend() { lent_.fetch_add(1, std::memory_order_relaxed); }
  void take_back() { lent_.fetch_sub(1, std::memory_order_relaxed); }
  bool is_lent() const { return lent_.load(std::memory_order_relaxed) > 0; }

  // Bytes of the block that the object lies in.
  size_t block_size() const { return behind_ ? kHeader + nbytes_ : kHeader; }

 private:
  static constexpr size_t kHeader = kAlignment;  // so that the elements behind it are aligned
  static constexpr size_t kMaxBehind = 4096;

  Storage(void* data, size_t nbytes, Device device, bool behind)
      : data_(data), nbytes_(nbytes), device_(device), behind_(behind) {
    static_assert(sizeof(Storage) <= kHeader);
  }

  void* data_;
  size_t nbytes_;
  std::atomic<uint32_t> lent_{0};
  Device device_;
  bool behind_ = false;  // fresh() took room for the elements, also if they have moved
  void (*release_)(void*) = nullptr;
  void* owner_ = nullptr;
};

inline void destroy(Storage* storage) noexcept {
  const size_t size = storage->block_size();
  storage->~Storage();
  deallocate(storage, size);
}

}  // namespace zero
