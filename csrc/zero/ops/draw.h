// What random operators share: places in a generator's sequence, and fills of any dtype in blocks.
#pragma once

#include "zero/autograd/grad_mode.h"
#include "zero/autograd/meta.h"
#include "zero/kernels/table.h"
#include "zero/ops/ops.h"
#include "zero/runtime/parallel.h"

namespace zero {

// Fills y block by block: f(block, begin, n) writes elements begin .. begin + n - 1 as `T`, which
// are then converted to y's dtype.
template <class T, class F>
void fill_blocks(const Tensor& y, F f) {
  constexpr int64_t kBlock = 512;
  const LoopFn cast = kernels().cast[static_cast<int>(dtype_of<T>)][static_cast<int>(y.dtype())];
  const int64_t item = itemsize(y.dtype());
  char* data = static_cast<char*>(y.data());
  parallel_for(y.numel(), kGrainSize / 2, [&](int64_t begin, int64_t end) {
    if (y.dtype() == dtype_of<T>) return f(reinterpret_cast<T*>(data) + begin, begin, end - begin);
    T block[kBlock];
    const int64_t strides[4] = {item, sizeof(T), 0, 0};
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t n = std::min(kBlock, end - i);
      f(block, i, n);
      char* operands[2] = {data + i * item, reinterpret_cast<char*>(block)};
      cast(operands, strides, n, 1, nullptr);
    }
  });
}

// As many counters for every dtype, so that the draws which follow don't depend on it.
inline Generator::Draw reserve(Generator* generator, int64_t numel) {
  return (generator ? *generator : default_generator()).reserve(random_counters(numel, true));
}

// Overwrites self by fill(y), which writes all of a contiguous y. Where the write is recorded, or
// self has gaps, y is another tensor that is copied to it: the same numbers for every layout.
template <class F>
Tensor draw_over(const char* op, const Tensor& self, F fill) {
  check_inplace(op, self, true);
  if (self.is_contiguous() && !(grad_enabled() && requires_grad(self))) {
    fill(self);
    count_write(self);
    return self;
  }
  const Tensor y = empty(self.sizes(), self.options());
  fill(y);
  return copy_(self, y);
}

}  // namespace zero
