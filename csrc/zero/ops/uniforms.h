// Draws that reject take as many uniform numbers as they need: a sequence for each element.
#pragma once

#include "zero/core/philox.h"
#include "zero/ops/draw.h"

namespace zero {

// Counter offset + i belongs to element i. The first two numbers are those of a draw of pairs; for
// more the upper half of the block numbers the turns, from 1 on, and is 0 for all other draws.
class Uniforms {
 public:
  Uniforms(const Generator::Draw& d, int64_t i, const double* pair)
      : seed_(d.seed), counter_(d.offset + static_cast<uint64_t>(i)), waiting_{pair[1], pair[0]} {}

  double next() {  // in [0, 1), 53 bits
    if (left_ == 0) refill();
    return waiting_[--left_];
  }

 private:
  void refill() {
    uint32_t words[4];
    philox4x32(static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32),
               static_cast<uint32_t>(counter_), static_cast<uint32_t>(counter_ >> 32), ++turn_, 0,
               words);
    for (int k = 0; k < 2; ++k) {
      const uint64_t word = uint64_t{words[2 * k]} << 32 | words[2 * k + 1];
      waiting_[k] = static_cast<double>(word >> 11) * 0x1p-53;
    }
    left_ = 2;
  }

  uint64_t seed_, counter_;
  double waiting_[2];
  uint32_t turn_ = 0;
  int left_ = 2;
};

// y[i] = f(i, uniform numbers)
template <class F>
void fill_by_uniforms(const Tensor& y, Generator* generator, F f) {
  if (y.is_meta() || y.numel() == 0) return;
  const Generator::Draw d = reserve(generator, 2 * y.numel());
  const UniformParams unit{0, 1};
  fill_blocks<double>(y, [&](double* out, int64_t begin, int64_t n) {
    constexpr int64_t kBlock = 128;
    double pairs[2 * kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i);
      kernels().random.uniform_f64(pairs, 2 * (begin + i), 2 * m, d.seed, d.offset, &unit);
      for (int64_t k = 0; k < m; ++k) {
        Uniforms u(d, begin + i + k, pairs + 2 * k);
        out[i + k] = f(begin + i + k, u);
      }
    }
  });
}

}  // namespace zero
