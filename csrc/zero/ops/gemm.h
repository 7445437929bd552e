// The one way to a matrix product inside the library. Tensors and gradients are in matmul.cpp.
#pragma once

#include "zero/core/shape.h"
#include "zero/kernels/table.h"

namespace zero {

// A matrix as its first element and two strides, in elements. Any strides will do, 0 too; operands
// with one unit stride are fastest.
struct GemmOperand {
  const void* data;
  int64_t row, column;
};

// c = a b + bias, or c += a b + bias; a is m x k, b is k x n. Rows of c are dense and c_row apart;
// c shares no memory with the operands. bias has n elements or is null. k = 0 gives zeros (+ bias).
struct Gemm {
  DType dtype;  // float32, float64, int64, int32; float16 and bfloat16 without `add`
  int64_t m, n, k;
  GemmOperand a, b;
  void* c;
  int64_t c_row;
  bool add = false;
  const void* bias = nullptr;
};

// The same product for every index of some batch dimensions; strides in elements.
struct GemmBatch {
  struct Dim { int64_t size, a, b, c; };
  SmallVector<Dim, 4> dims;  // the innermost last
};

// The bits depend on shapes, strides, ISA and BLAS only, never on the number of threads. Float32
// sums are float32, in chunks of at most 512 products that are added together.
void gemm(const Gemm& product);
void gemm(const Gemm& product, const GemmBatch& batch);

}  // namespace zero
