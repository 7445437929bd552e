// What losses share: their operands, and sums over blocks that depend on the shape only.
#pragma once

#include "zero/ops/iterator.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

inline double sum_of(const double* values, int64_t n) {
  if (n == 0) return 0;
  const ReduceDim dim{n, sizeof(double), 1};
  const FoldArgs args{reinterpret_cast<const char*>(values), 1, 0, &dim, 1, false, nullptr, 0};
  double total;
  kernels().reduce[static_cast<int>(ReduceOp::Sum)][static_cast<int>(ComputeType::F64)].fold(
      args, &total);
  return total;
}

// kernel(x, t, n) summed over the elements of two contiguous tensors of one dtype.
template <class Kernel>
double sum_pairs(const Tensor& a, const Tensor& b, int64_t cost, Kernel kernel) {
  const int64_t chunk = kGrainSize / cost;  // elements of one block
  const int64_t n = a.numel(), item = itemsize(a.dtype());
  const char *const x = a.data<char>(), *const y = b.data<char>();
  const DenormalGuard denormal;
  if (n <= chunk) return n == 0 ? 0 : kernel(x, y, n);
  const int64_t chunks = (n + chunk - 1) / chunk;
  const Tensor parts = empty({chunks}, {DType::Float64, Device::Cpu});
  double* const sums = parts.data<double>();
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const int64_t first = c * chunk;
      sums[c] = kernel(x + first * item, y + first * item, std::min(chunk, n - first));
    }
  });
  return sum_of(sums, chunks);
}

inline void store_loss(const Tensor& out, double value) {
  store_scalar(out.data(), out.dtype(), Scalar(value));
}

// Divides a sum of losses by the number (or weight) of those that count.
inline double reduced(double total, double weight, Reduction reduction) {
  return reduction == Reduction::Mean ? total / weight : total;
}

// Contiguous, in the dtype of the kernels, without history.
inline Tensor readable(const Tensor& x) {
  GradModeGuard no_grad(false);
  return contiguous(to(x, compute_dtype(x.dtype())));
}

}  // namespace zero
