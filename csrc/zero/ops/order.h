// Rows of a tensor as entries (kernels/table.h): what sorting, selection and unique have in common.
#pragma once

#include <utility>

#include "zero/core/allocator.h"
#include "zero/kernels/table.h"
#include "zero/ops/ops.h"
#include "zero/runtime/parallel.h"

namespace zero {

// Entries as their kernels write them.
struct NarrowEntry {
  uint64_t word;
  uint64_t key() const { return word >> 32; }
  int64_t index() const { return static_cast<int64_t>(word & 0xffffffffu); }
};
struct WideEntry {
  uint64_t key_;
  int64_t index_;
  uint64_t key() const { return key_; }
  int64_t index() const { return index_; }
};

class Scratch {
 public:
  explicit Scratch(int64_t bytes) : bytes_(static_cast<size_t>(bytes)), data_(allocate(bytes_)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { deallocate(data_, bytes_); }
  char* data() const { return static_cast<char*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

inline const OrderKernel& order_kernel(const Tensor& x) {
  return kernels().order[static_cast<int>(x.dtype())];
}

// Whether the interpreter's lock should be let go while all elements are sorted.
inline bool is_large(const Tensor& x) { return x.numel() >= kGrainSize; }

// The key of NaN in ascending order; integers have none.
inline uint64_t nan_key(DType dtype) { return ~uint64_t{0} >> (64 - 8 * itemsize(dtype)); }
inline bool is_nan_key(DType dtype, uint64_t key) {
  return is_floating(dtype) && key == nan_key(dtype);
}

// f(entries) with the type that they have.
template <class F>
auto with_entries(const EntryKernel& kernel, const void* entries, F f) {
  if (kernel.size == sizeof(NarrowEntry)) return f(static_cast<const NarrowEntry*>(entries));
  return f(static_cast<const WideEntry*>(entries));
}

// Sorts the entries of one row, on several threads if it is long. Returns which of both is sorted.
char* sort_entries(const OrderKernel& order, char* entries, char* scratch, int64_t n);

// The entries of all elements of a contiguous tensor, by their place in it; and back. On several
// threads if there are many.
void load_entries(const Tensor& x, bool descending, char* entries);
void store_elements(const Tensor& x, bool descending, const char* entries, int64_t n, void* values,
                    int64_t* indices);

}  // namespace zero
