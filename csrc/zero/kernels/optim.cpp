// Optimizer steps: each reads and writes every array once.
#include "zero/kernels/common.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// PyTorch's order: g = (-)grad + wd p; buf = g at first, then momentum buf + (1 - dampening) g; p
// -= lr (nesterov ? g + momentum buf : buf). What is absent is left out, not multiplied by 0: an
// infinity must not become NaN.
template <class T, bool Momentum>
ZERO_NOINLINE void sgd_loop(T* __restrict p, const T* __restrict grad, T* __restrict buffer,
                            int64_t n, const SgdArgs& args) {
  const T lr = static_cast<T>(args.lr), decay = static_cast<T>(args.weight_decay);
  const T momentum = static_cast<T>(args.momentum), take = static_cast<T>(1 - args.dampening);
  const bool decays = args.weight_decay != 0, first = args.first, nesterov = args.nesterov,
             maximize = args.maximize;
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) {
    T g = maximize ? -grad[i] : grad[i];
    g = decays ? g + decay * p[i] : g;
    if constexpr (Momentum) {
      const T kept = momentum * buffer[i] + take * g;  // buffer has no value yet at first
      const T buf = first ? g : kept;
      buffer[i] = buf;
      g = nesterov ? g + momentum * buf : buf;
    }
    p[i] -= lr * g;
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

}  // namespace

void fill_optim(KernelTable& table) {
  table.sgd[static_cast<int>(ComputeType::F32)] = sgd<float>;
  table.sgd[static_cast<int>(ComputeType::F64)] = sgd<double>;
}

}  // namespace zero::ZERO_ISA_NS
