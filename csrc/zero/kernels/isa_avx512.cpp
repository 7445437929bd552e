// The kernels for x86-64 with AVX-512 F, BW, DQ and VL (tools/build_core.py holds the flags).
#define ZERO_ISA_NS avx512

#ifndef __AVX512F__
#error "isa_avx512.cpp needs the compiler's AVX-512 flags"
#endif

#include "zero/kernels/families.inl"
