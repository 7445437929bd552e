// Errors of operators on windows and sizes. One form for all of them: a message is a kilobyte of
// code for each combination of types.
#pragma once

#include "zero/core/tensor.h"

namespace zero {

template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void refuse(const char* op, const char* what,
                                                   const Tensor& x, const char* name,
                                                   const Dims& given, const char* expected) {
  fail<E>(op, ": ", what, "; got ", x, " and ", name, " ", given, ", expected ", expected);
}

}  // namespace zero
