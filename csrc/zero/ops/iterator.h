// The strided iterator: elementwise kernels over broadcast operands of any strides and dtypes.
//
// Dimensions are sorted by the output's strides and merged where all operands allow it, so that most calls
// are one long inner loop. Operands of another dtype than the kernel's pass through blocks of 512
// converted elements in L1. Large loops are split over the thread pool.
#pragma once

#include "zero/kernels/table.h"
#include "zero/ops/ops.h"

namespace zero {

inline constexpr int kMaxOperands = 4;  // an output and three inputs

class StridedLoop {
 public:
  // operands[0] is the output; the others broadcast to its shape.
  StridedLoop(const Tensor* const* operands, int n);

  int64_t numel() const { return numel_; }
  // f(data, strides, n0, n1) as a LoopFn gets them; called for parts of the iteration space, from several threads
  // if there are more than `grain` elements.
  template <class F>
  void run(int64_t grain, F&& f) const;

 private:
  struct Dim {
    int64_t size;
    int64_t strides[kMaxOperands];  // bytes
  };
  void coalesce();
  template <class F>
  void run_range(int64_t begin, int64_t end, F& f) const;

  int operands_;
  int64_t numel_;
  char* data_[kMaxOperands];
  SmallVector<Dim, 4> dims_;  // innermost first; never empty
};

// out = op(inputs), computed in `dtype`; out may have another dtype. Numbers are operands with stride 0.
void run_elementwise(ElementwiseOp op, DType dtype, const Tensor& out,
                     std::initializer_list<const Operand*> inputs, const void* params = nullptr);

// out = cast(in), broadcast.
void run_copy(const Tensor& out, const Tensor& in);

// Writes a number as one element of `dtype`.
void store_scalar(void* where, DType dtype, const Scalar& value);
Scalar load_scalar(const void* where, DType dtype);

}  // namespace zero
