// Reference counting inside the object: one allocation per object, a handle is one pointer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "zero/core/allocator.h"

namespace zero {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // True when this was the last reference. The sole owner needs no read-modify-write.
  bool release() const noexcept {
    if (count_.load(std::memory_order_acquire) == 1) return true;
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  uint32_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }

  // Objects come from the tensor allocator, whose small path is a thread-local free list.
  static void* operator new(size_t size) { return allocate(size); }
  static void operator delete(void* p, size_t size) noexcept { deallocate(p, size); }

 private:
  mutable std::atomic<uint32_t> count_{1};
};

// How the last handle ends an object; a class may say otherwise by its own overload
// (autograd/node.h).
template <class T>
void destroy(T* object) noexcept {
  delete object;
}

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  // Takes over the reference that a new object is born with.
  static Ref adopt(T* object) {
    Ref r;
    r.object_ = object;
    return r;
  }
  static Ref share(T* object) {
    if (object) object->retain();
    return adopt(object);
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_) object_->retain();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U> Ref(Ref<U> other) noexcept : object_(other.detach()) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { reset(); }

  void reset() noexcept {
    T* old = std::exchange(object_, nullptr);
    if (old && old->release()) destroy(old);
  }
  T* detach() noexcept { return std::exchange(object_, nullptr); }  // gives the reference away
  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace zero
