// Optimizer steps: each reads and writes every array once.
#pragma once

#include "zero/kernels/common.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// PyTorch's order: g = (-)grad + wd p; buf = g at first, then momentum buf + (1 - dampening) g;
// d = nesterov ? g + momentum buf : buf; p -= lr d.
template <class T, bool Momentum>
ZERO_NOINLINE void sgd_loop(T* __restrict p, const T* __restrict grad, T* __restrict buffer, int64_t n, const SgdArgs& args) {
  const T step = static_cast<T>(-args.lr), decay = static_cast<T>(args.weight_decay);
  const T momentum = static_cast<T>(args.momentum);
  const T keep = args.first ? T(0) : momentum;
  const T take = args.first ? T(1) : static_cast<T>(1 - args.dampening);
  const T sign = args.maximize ? T(-1) : T(1);
  const T ahead = args.nesterov ? momentum : T(1), now = args.nesterov ? T(1) : T(0);
  // Products with 0 would turn infinities into NaN, so what is absent is selected away, not multiplied.
  const bool decays = args.weight_decay != 0, first = args.first, nesterov = args.nesterov;
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) {
    T g = sign * grad[i];
    g = decays ? g + decay * p[i] : g;
    if constexpr (Momentum) {
      const T before = first ? T(0) : buffer[i];
      const T buf = keep * before + take * g;
      buffer[i] = buf;
      const T mixed = ahead * buf + (nesterov ? now * g : T(0));
      p[i] += step * mixed;
    } else {
      p[i] += step * g;
    }
  }
}

template <class T>
void sgd(void* parameter, const void* grad, void* momentum, int64_t n, const SgdArgs& args) {
  T* p = static_cast<T*>(parameter);
  const T* g = static_cast<const T*>(grad);
  if (momentum) {
    sgd_loop<T, true>(p, g, static_cast<T*>(momentum), n, args);
  } else {
    sgd_loop<T, false>(p, g, nullptr, n, args);
  }
}

void fill_optim(KernelTable& table) {
  table.sgd[static_cast<int>(ComputeType::F32)] = sgd<float>;
  table.sgd[static_cast<int>(ComputeType::F64)] = sgd<double>;
}

}  // namespace
}  // namespace zero::ZERO_ISA_NS
