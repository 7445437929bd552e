// Losses of pairs of a prediction and a target: each value and its slope.
// Semantics are PyTorch's. As in activation.cpp, which compiles this, no two products are added.
#pragma once

#include "zero/kernels/loss.h"

#include "zero/kernels/logistic.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace losses {

using Params = PairLossParams;

template <class T> struct Absolute {
  explicit Absolute(const Params&) {}
  ZERO_INLINE T value(T x, T t) const { return math::abs(x - t); }
  ZERO_INLINE T slope(T x, T t) const {
    const T d = x - t;
    return (d > T(0) ? T(1) : T(0)) - (d < T(0) ? T(1) : T(0));
  }
};

template <class T> struct Huber {
  explicit Huber(const Params& p) : bound(static_cast<T>(p.a)), factor(static_cast<T>(p.b)) {}
  ZERO_INLINE T value(T x, T t) const {
    const T d = math::abs(x - t), m = d > bound ? bound : d;
    return m * (d - T(0.5) * m) * factor;
  }
  ZERO_INLINE T slope(T x, T t) const {
    T d = x - t;
    d = d < -bound ? -bound : d;
    return (d > bound ? bound : d) * factor;
  }
  T bound, factor;
};

template <class T>
ZERO_INLINE T above(T x, T least) {  // NaN stays
  return x < least ? least : x;
}

template <class T> struct Entropy {
  explicit Entropy(const Params&) {}
  ZERO_INLINE T value(T x, T t) const {
    const T yes = above(math::log(x), T(-100)), no = above(math::log1p(-x), T(-100));
    const bool mostly = t > T(0.5);  // t yes + (1 - t) no, from the side with more weight
    const T more = mostly ? yes : no, less = mostly ? no : yes;
    const T share = mostly ? T(1) - t : t;  // negative where t is no probability: NaN tells it
    return share < T(0) ? T(math::kNan) : -(more + share * (less - more));
  }
  ZERO_INLINE T slope(T x, T t) const { return (x - t) / above((T(1) - x) * x, T(1e-12)); }
};

template <class T> struct LogitsEntropy {
  explicit LogitsEntropy(const Params&) {}
  ZERO_INLINE T value(T x, T t) const {
    // The product last: beside its sum it becomes one FMA, also where x is no vector.
    const T bent = math::log1p_exp(-math::abs(x));
    return ((x < T(0) ? T(0) : T(1)) - t) * x + bent;
  }
  ZERO_INLINE T slope(T x, T t) const { return math::sigmoid(x) - t; }
};

template <class T> struct Divergence {
  explicit Divergence(const Params&) {}
  ZERO_INLINE T value(T x, T t) const {  // 0 ln 0 is 0
    return t * ((t == T(0) ? T(0) : math::log(t)) - x);
  }
  ZERO_INLINE T slope(T, T t) const { return -t; }
};

template <class T> struct LogDivergence {
  explicit LogDivergence(const Params&) {}
  ZERO_INLINE T value(T x, T t) const { return math::exp(t) * (t - x); }
  ZERO_INLINE T slope(T, T t) const { return -math::exp(t); }
};

template <class L, class T>
void value(const void* params, char* const* operands, int64_t n) {
  const L loss(*static_cast<const Params*>(params));
  T* out = reinterpret_cast<T*>(operands[0]);
  const T* x = reinterpret_cast<const T*>(operands[1]);
  const T* t = reinterpret_cast<const T*>(operands[2]);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = loss.value(x[i], t[i]);
}
template <class L, class T>
void gradient(const void* params, char* const* operands, int64_t n) {
  const Params& p = *static_cast<const Params*>(params);
  const L loss(p);
  const T scale = static_cast<T>(p.scale);
  T* out = reinterpret_cast<T*>(operands[0]);
  const T* g = reinterpret_cast<const T*>(operands[1]);
  const T* x = reinterpret_cast<const T*>(operands[2]);
  const T* t = reinterpret_cast<const T*>(operands[3]);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = g[i] * scale * loss.slope(x[i], t[i]);
}

void ctc_step(const double* before, const double* skip, const double* now, double* out, int64_t n) {
  ZERO_SIMD
  for (int64_t s = 0; s < n; ++s) {
    const double a = before[s], b = before[s - 1], c = before[s - 2] + skip[s];
    const double ab = a > b ? a : b, most = ab > c ? ab : c;
    const double m = most == -math::kInf ? 0.0 : most;
    out[s] = (math::log((math::exp(a - m) + math::exp(b - m)) + math::exp(c - m)) + m) + now[s];
  }
}

template <class T>
constexpr void fill(LossKernels& kernels, ComputeType type) {
  const int t = static_cast<int>(type);
#define ZERO_SET(Name, cost)                                              \
  kernels.value[static_cast<int>(PairLoss::Name)][t] = value<Name<T>, T>; \
  kernels.gradient[static_cast<int>(PairLoss::Name)][t] = gradient<Name<T>, T>;
  ZERO_PAIR_LOSSES(ZERO_SET)
#undef ZERO_SET
}

constexpr LossKernels all_kernels() {
  LossKernels kernels{};
  fill<float>(kernels, ComputeType::F32);
  fill<double>(kernels, ComputeType::F64);
  kernels.ctc_step = ctc_step;
  return kernels;
}

}  // namespace losses
}  // namespace
}  // namespace zero::ZERO_ISA_NS
