// Sizes and strides: an inline vector of int64, without malloc up to six dimensions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <type_traits>

#include "zero/core/error.h"

namespace zero {

// A vector whose first N elements live inside it.
template <class T, int N>
class SmallVector {
 public:
  SmallVector() {}
  explicit SmallVector(int64_t n) { resize(n); }
  SmallVector(int64_t n, const T& value) { resize(n, value); }
  SmallVector(std::initializer_list<T> items) : SmallVector(items.begin(), items.end()) {}
  template <class It>
    requires requires(It i) {
      *i;
      ++i;
    }
  SmallVector(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  SmallVector(const SmallVector& other) {
    if constexpr (kTrivial) {
      assign(other);
    } else {
      for (const T& item : other) push_back(item);
    }
  }
  SmallVector(SmallVector&& other) noexcept { steal(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this == &other) return *this;
    if constexpr (kTrivial) {
      assign(other);
    } else {
      clear();
      for (const T& item : other) push_back(item);
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this == &other) return *this;
    clear();
    free_heap();
    steal(other);
    return *this;
  }
  ~SmallVector() {
    if (data_ != inline_) delete[] data_;
  }

  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void push_back(T item) {
    if (size_ == capacity_) grow(2 * capacity_);
    data_[size_++] = std::move(item);
  }
  void pop_back() {
    --size_;
    if constexpr (!kTrivial) data_[size_] = T();  // ends what it held
  }
  void resize(int64_t n) {
    if constexpr (kTrivial) return resize(n, T());
    if (n > capacity_) grow(n);
    while (size_ > n) pop_back();
    size_ = static_cast<int32_t>(n);  // objects beyond the size are always as new
  }
  void resize(int64_t n, const T& value) {
    if (n > capacity_) grow(n);
    while (size_ > n) pop_back();
    while (size_ < n) data_[size_++] = value;
  }
  void clear() { resize(0); }
  void insert(int64_t at, T item) {
    push_back(T());
    for (int64_t i = size_ - 1; i > at; --i) data_[i] = std::move(data_[i - 1]);
    data_[at] = std::move(item);
  }
  void erase(int64_t at) {
    for (int64_t i = at; i + 1 < size_; ++i) data_[i] = std::move(data_[i + 1]);
    pop_back();
  }
  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    if (a.size_ != b.size_) return false;
    for (int32_t i = 0; i < a.size_; ++i)  // a call of memcmp costs more than a few elements
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  static constexpr bool kTrivial = std::is_trivially_copyable_v<T>;

  // The inline part is copied whole: a few vector moves of constant size, no loop.
  void assign(const SmallVector& other) {
    if (other.size_ > capacity_) grow(other.size_);
    size_ = other.size_;
    if (size_ <= N) {
      std::memcpy(data_, other.data_, sizeof inline_);
    } else {
      std::memcpy(data_, other.data_, static_cast<size_t>(size_) * sizeof(T));
    }
  }
  [[gnu::noinline]] void grow(int64_t capacity) {
    T* bigger = new T[capacity]();
    std::move(begin(), end(), bigger);
    if constexpr (!kTrivial) std::fill(begin(), end(), T());
    free_heap();
    data_ = bigger;
    capacity_ = static_cast<int32_t>(capacity);
  }
  void free_heap() {
    if (data_ != inline_) delete[] data_;
    data_ = inline_;
    capacity_ = N;
  }
  void steal(SmallVector& other) {
    size_ = other.size_;
    if (other.data_ == other.inline_) {
      if constexpr (kTrivial) {
        std::memcpy(inline_, other.inline_, sizeof inline_);
      } else {
        std::move(other.inline_, other.inline_ + other.size_, inline_);
        other.clear();
      }
    } else {
      data_ = other.data_;
      capacity_ = other.capacity_;
      other.data_ = other.inline_;
      other.capacity_ = N;
    }
    other.size_ = 0;
  }

  T* data_ = inline_;
  int32_t size_ = 0;
  int32_t capacity_ = N;
  T inline_[N];  // numbers beyond size_ are undefined
};

using Dims = SmallVector<int64_t, 6>;  // sizes, strides, lists of dimensions

inline std::ostream& operator<<(std::ostream& out, const Dims& dims) {  // as Python prints a tuple
  out << '(';
  for (int64_t i = 0; i < dims.size(); ++i) out << (i ? ", " : "") << dims[i];
  return out << (dims.size() == 1 ? ",)" : ")");
}

// Product of the sizes. Raises where a size is negative or the count does not fit.
int64_t checked_numel(const char* op, const Dims& sizes, int64_t itemsize = 1);

inline int64_t numel(const Dims& sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

Dims contiguous_strides(const Dims& sizes);
bool is_contiguous(const Dims& sizes, const Dims& strides);

// The shape that a and b broadcast to.
Dims broadcast_shapes(const char* op, const Dims& a, const Dims& b);
// True when `from` broadcasts to exactly `to`.
bool expands_to(const Dims& from, const Dims& to);

// A dimension counted from the end if negative, checked; a 0-d tensor accepts 0 and -1.
int64_t wrap_dim(const char* op, int64_t dim, int64_t ndim);
// The same for a list; raises on a repeated dimension. Empty stays empty.
Dims wrap_dims(const char* op, const Dims& dims, int64_t ndim);

// Strides under which `new_sizes` shows the same elements in the same order, if a view can.
bool view_strides(const Dims& sizes, const Dims& strides, const Dims& new_sizes, Dims* out);

}  // namespace zero
