// Every kernel family, for isa_*.cpp. To add one: write <family>.inl with a function
// `void fill_<family>(KernelTable& table)` in the unnamed namespace, add its pointers to table.h,
// and add one line to each of the two lists here.
#pragma once

#include "zero/kernels/cast.inl"
#include "zero/kernels/elementwise.inl"
#include "zero/kernels/gemm.inl"
#include "zero/kernels/optim.inl"
#include "zero/kernels/random.inl"
#include "zero/kernels/reduce.inl"
#include "zero/kernels/softmax.inl"

namespace zero::ZERO_ISA_NS {

// The only name that an isa_*.cpp defines for others.
void fill_table(KernelTable& table) {
#define ZERO_TEXT_OF(name) #name
#define ZERO_TEXT(name) ZERO_TEXT_OF(name)
  table.isa = ZERO_TEXT(ZERO_ISA_NS);
#undef ZERO_TEXT
#undef ZERO_TEXT_OF
  fill_elementwise(table);
  fill_cast(table);
  fill_random(table);
  fill_gemm(table);
  fill_optim(table);
  fill_reduce(table);
  fill_softmax(table);
}

}  // namespace zero::ZERO_ISA_NS
