// The kernels for x86-64 with AVX2, FMA and F16C (tools/build_core.py holds the flags).
#define ZERO_ISA_NS avx2

#ifndef __AVX2__
#error "isa_avx2.cpp needs the compiler's AVX2 flags"
#endif

#include "zero/kernels/families.inl"
