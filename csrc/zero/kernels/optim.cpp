// Optimizer steps: each reads and writes every array once.
#include "zero/kernels/math.inl"

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
void sgd(void* const* arrays, int64_t n, const SgdArgs& args) {
  T* p = static_cast<T*>(arrays[0]);
  const T* g = static_cast<const T*>(arrays[1]);
  if (arrays[2]) {
    sgd_loop<T, true>(p, g, static_cast<T*>(arrays[2]), n, args);
  } else {
    sgd_loop<T, false>(p, g, nullptr, n, args);
  }
}

// g = (-)grad, + wd p if the decay is not decoupled; m += (1 - beta1) (g - m); v = beta2 v +
// (1 - beta2) g^2; p = shrink p - step_size m / (sqrt(v) / root_scale + eps), where amsgrad puts
// the largest v so far in v's place.
template <class T, bool Amsgrad>
ZERO_NOINLINE void adam_loop(T* __restrict p, const T* __restrict grad, T* __restrict m,
                             T* __restrict v, T* __restrict largest, int64_t n,
                             const AdamArgs& args) {
  const T take1 = static_cast<T>(1 - args.beta1), keep2 = static_cast<T>(args.beta2),
          take2 = static_cast<T>(1 - args.beta2), eps = static_cast<T>(args.eps),
          step_size = static_cast<T>(args.step_size), scale = static_cast<T>(args.root_scale),
          decay = static_cast<T>(args.weight_decay), shrink = static_cast<T>(args.shrink);
  const bool adds_decay = args.weight_decay != 0 && !args.decoupled,
             shrinks = args.weight_decay != 0 && args.decoupled, maximize = args.maximize;
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) {
    T g = maximize ? -grad[i] : grad[i];
    g = adds_decay ? g + decay * p[i] : g;
    const T start = shrinks ? shrink * p[i] : p[i];
    const T mean = m[i] + take1 * (g - m[i]);
    T square = keep2 * v[i] + take2 * g * g;
    m[i] = mean;
    v[i] = square;
    if constexpr (Amsgrad) {
      square = square < largest[i] ? largest[i] : square;  // a NaN stays
      largest[i] = square;
    }
    p[i] = start - step_size * (mean / (math::sqrt(square) / scale + eps));
  }
}

template <class T>
void adam(void* const* arrays, int64_t n, const AdamArgs& args) {
  T* const* a = reinterpret_cast<T* const*>(arrays);
  if (a[4]) {
    adam_loop<T, true>(a[0], a[1], a[2], a[3], a[4], n, args);
  } else {
    adam_loop<T, false>(a[0], a[1], a[2], a[3], nullptr, n, args);
  }
}

}  // namespace

void fill_optim(KernelTable& table) {
  table.sgd[static_cast<int>(ComputeType::F32)] = sgd<float>;
  table.sgd[static_cast<int>(ComputeType::F64)] = sgd<double>;
  table.adam[static_cast<int>(ComputeType::F32)] = adam<float>;
  table.adam[static_cast<int>(ComputeType::F64)] = adam<double>;
}

}  // namespace zero::ZERO_ISA_NS
