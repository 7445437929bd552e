// The kernel families, and how they fill one table.
//
// A family is one source of this folder, <family>.cpp. tools/build_core.py compiles it once per
// instruction set, into namespace zero::<isa>, where its one visible name is fill_<family>. To add
// a family: write that source, add its pointers to table.h and its name to this list.
#pragma once

#include "zero/kernels/table.h"

// clang-format off
#define ZERO_FAMILIES(X) \
  X(cast) X(distance) X(elementwise) X(gemm) X(optim) X(pointwise) X(random) X(reduce) X(scan) \
  X(softmax) X(sort) X(special)
// clang-format on

#define ZERO_DECLARE(family) void fill_##family(KernelTable& table);
#define ZERO_FILL(family) fill_##family(table);
#define ZERO_ISA(name)                         \
  namespace zero::name {                       \
  ZERO_FAMILIES(ZERO_DECLARE)                  \
  inline void fill_table(KernelTable& table) { \
    table.isa = #name;                         \
    ZERO_FAMILIES(ZERO_FILL)                   \
  }                                            \
  }

ZERO_ISA(baseline)
ZERO_ISA(avx2)
ZERO_ISA(avx512)
ZERO_ISA(neon)

#undef ZERO_ISA
#undef ZERO_FILL
#undef ZERO_DECLARE
