// Convolutions of float32 with 3 x 3 kernels by Winograd's algorithm, in three directions: at a
// stride of 1 F(4x4, 3x3) with a quarter of the multiplications, at a stride of 2 with 81 of 144.
#pragma once

#include <atomic>

#include "zero/ops/convolve.h"

namespace zero {

// Whether convolutions may take it, in all threads (zero.backends.winograd).
inline std::atomic<bool> winograd_on{true};
inline bool winograd_enabled() { return winograd_on.load(std::memory_order_relaxed); }
inline void enable_winograd(bool enabled) { winograd_on.store(enabled); }

enum class WinogradTask : uint8_t { Convolution, Transposed, Weight };

// Whether the algorithm serves a shape and is faster there than the engines that gather. By the
// shape alone, and but for the weight's gradient by that of one image.
bool winograd_serves(DType dtype, const ConvolutionShape& shape, WinogradTask task);

// As the functions of convolve.h. Each sum over channels is cut into chunks of 64, each sum over
// tiles into chunks of up to 64.
void winograd_convolve(const ConvolutionShape& shape, const float* x, const float* weight,
                       const float* bias, float* y);
void winograd_transposed(const ConvolutionShape& shape, const float* y, const float* weight,
                         const float* bias, float* x);
void winograd_weight(const ConvolutionShape& shape, const float* x, const float* y, float* weight);

}  // namespace zero
