// The strided iterator: elementwise kernels over broadcast operands of any strides and dtypes.
//
// Dimensions are sorted by the output's strides and merged where all operands allow it, so that
// most calls are one long inner loop. Operands of another dtype than the kernel's pass through
// blocks of 512 converted elements in L1. Large loops are split over the thread pool.
#pragma once

#include "zero/kernels/table.h"
#include "zero/ops/ops.h"
#include "zero/runtime/parallel.h"

namespace zero {

inline constexpr int kMaxOperands = 4;  // an output and three inputs

class StridedLoop {
 public:
  // operands[0] is the output; the others broadcast to its shape.
  StridedLoop(const Tensor* const* operands, int n);

  int64_t numel() const { return numel_; }
  // f(data, strides, n0, n1) as a LoopFn gets them; called for parts of the iteration space, from
  // several threads if there are more than `grain` elements.
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

// out = op(inputs), computed in `dtype`; out may have another dtype. Numbers are operands with
// stride 0.
void run_elementwise(ElementwiseOp op, DType dtype, const Tensor& out,
                     std::initializer_list<const Operand*> inputs, const void* params = nullptr);

// out = cast(in), broadcast.
void run_copy(const Tensor& out, const Tensor& in);

// out = in with the order of some dimensions reversed; the same sizes.
void run_reversed_copy(const Tensor& out, const Tensor& in, const Dims& dims);

template <class F>
void StridedLoop::run(int64_t grain, F&& f) const {
  parallel_for(numel_, grain, [&](int64_t begin, int64_t end) { run_range(begin, end, f); });
}

// The part [begin, end) of the elements in iteration order: a partial row, whole rows, a partial
// row.
template <class F>
void StridedLoop::run_range(int64_t begin, int64_t end, F& f) const {
  const int64_t ndim = dims_.size();
  const int64_t n0 = dims_[0].size;
  SmallVector<int64_t, 4> index(ndim);
  char* data[kMaxOperands];
  int64_t strides[2 * kMaxOperands] = {};
  for (int k = 0; k < operands_; ++k) {
    data[k] = data_[k];
    strides[k] = dims_[0].strides[k];
    if (ndim > 1) strides[operands_ + k] = dims_[1].strides[k];
  }
  auto move = [&](int64_t d, int64_t steps) {
    index[d] += steps;
    for (int k = 0; k < operands_; ++k) data[k] += steps * dims_[d].strides[k];
  };
  for (int64_t d = 0, rest = begin; d < ndim && rest; ++d) {
    move(d, rest % dims_[d].size);
    rest /= dims_[d].size;
  }
  for (int64_t left = end - begin; left > 0;) {
    int64_t columns = std::min(n0 - index[0], left), rows = 1;
    if (ndim > 1 && columns == n0) rows = std::min(dims_[1].size - index[1], left / n0);
    f(data, strides, columns, rows);
    left -= columns * rows;
    move(0, columns);
    if (index[0] < n0) break;  // only the last, partial row stops inside
    move(0, -n0);
    if (ndim == 1) break;
    move(1, rows);
    for (int64_t d = 1; d < ndim && index[d] == dims_[d].size; ++d) {
      move(d, -dims_[d].size);
      if (d + 1 < ndim) move(d + 1, 1);
    }
  }
}

// Writes a number as one element of `dtype`.
void store_scalar(void* where, DType dtype, const Scalar& value);
Scalar load_scalar(const void* where, DType dtype);

}  // namespace zero
