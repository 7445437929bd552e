// The kernel families, and how they fill one table.
//
// A family is one source of this folder, <family>.cpp. tools/build_core.py compiles it once per
// instruction set, into namespace zero::<isa>, where its one visible name is fill_<family>. To add
// a family: write that source, add its pointers to table.h and its name to this list.
#pragma once

#include "zero/kernels/table.h"

// clang-format off
#define ZERO_FAMILIES(X)                                                                       \
  X(activation) X(attention) X(convolution) X(elementwise) X(gemm) X(half_gemm) X(linalg)      \
  X(normalize) X(optim) X(random) X(recurrent) X(softmax) X(winograd)
// These have no objects for avx512, where avx2 serves (NARROW in tools/build_core.py): they wait
// for memory, or are rare, and `_zero` would be a fifth larger. (optim waits for memory too, but
// stores of whole cache lines take a tenth less where three arrays come from it.)
#define ZERO_NARROW_FAMILIES(X)                                                                \
  X(batch_norm) X(cast) X(distance) X(embedding) X(pointwise) X(pooling) X(reduce) X(resample) \
  X(scan) X(sort) X(special)
// clang-format on

#define ZERO_DECLARE(family) void fill_##family(KernelTable& table);
#define ZERO_FILL(family) fill_##family(table);
#define ZERO_ISA(name)                         \
  namespace zero::name {                       \
  ZERO_FAMILIES(ZERO_DECLARE)                  \
  ZERO_NARROW_FAMILIES(ZERO_DECLARE)           \
  inline void fill_table(KernelTable& table) { \
    table.isa = #name;                         \
    ZERO_FAMILIES(ZERO_FILL)                   \
    ZERO_NARROW_FAMILIES(ZERO_FILL)            \
  }                                            \
  }

ZERO_ISA(baseline)
ZERO_ISA(avx2)
ZERO_ISA(neon)

namespace zero::avx512 {
ZERO_FAMILIES(ZERO_DECLARE)
inline void fill_table(KernelTable& table) {
  avx2::fill_table(table);
  table.isa = "avx512";
  ZERO_FAMILIES(ZERO_FILL)
}
}  // namespace zero::avx512

// One family has an object more: processors with AVX512-BF16 multiply bfloat16 in pairs.
namespace zero::avx512bf16 {
void fill_half_gemm(KernelTable& table);
inline void fill_table(KernelTable& table) {
  avx512::fill_table(table);
  table.isa = "avx512bf16";
  fill_half_gemm(table);
}
}  // namespace zero::avx512bf16

#undef ZERO_ISA
#undef ZERO_FILL
#undef ZERO_DECLARE
