// Products of matrices of 16-bit floats, summed in float32.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

// c = a b + bias, rounded once. a is m x k, b is k x n, with any strides in elements; rows of c are
// dense and c_row apart. bias has one value per column, or is null. m and n are at most
// kHalfGemmBlock.
struct HalfGemmArgs {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_column;
  const void* b;
  int64_t b_row, b_column;
  void* c;
  int64_t c_row;
  const void* bias;
  bool wide;  // c is float32
};
using HalfGemmFn = void (*)(const HalfGemmArgs& args, void* scratch);
inline constexpr int64_t kHalfGemmBlock = 512;

// out[i, j] = sum over k of few[i, k] many[j, k]: few is dense float32 [m, k], many is [n, k] of
// 16-bit floats with dense rows, `row` apart; out is dense [m, n].
struct HalfDotsArgs {
  int64_t m, n, k;
  const float* few;
  const void* many;
  int64_t row;
  float* out;
};
using HalfDotsFn = void (*)(const HalfDotsArgs& args);

struct HalfGemmKernels {
  HalfGemmFn float16, bfloat16;
  HalfDotsFn float16_dots, bfloat16_dots;
  int64_t (*scratch)(int64_t m, int64_t n, int64_t k);  // bytes, aligned to 64
};

}  // namespace zero
