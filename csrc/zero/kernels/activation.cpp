// Activation functions: the value of each, and its gradient. Losses of pairs of numbers, which are
// maps of the same make, are in loss.inl: one object has the code for operands that aren't dense.
//
// Semantics at edges and for NaN are PyTorch's: a gradient is masked (not multiplied by 0) where a
// function is constant. Nowhere are two products added: either could become a part of an FMA, and
// the bits of an element must not depend on that.
#include "zero/kernels/activation.h"

#include "zero/kernels/common.inl"
#if defined(__x86_64__) && !defined(__AVX2__)
#undef ZERO_SIMD  // on old processors small counts for more: 0.1 MB
#define ZERO_SIMD
#endif
#include "zero/kernels/blocks.inl"
#include "zero/kernels/loss.inl"
#include "zero/kernels/special.inl"

namespace zero::ZERO_ISA_NS {
namespace {

using Params = ActivationParams;

// 1 / (1 + e^-x): of an infinite power it is 0.
template <class T>
ZERO_INLINE T logistic(T x) {
  return T(1) / (T(1) + math::exp_normal(-x));
}

// ---- functions that are linear in parts ---------------------------------------------------------

template <class T> struct LeakyRelu {
  explicit LeakyRelu(const Params& p) : slope(static_cast<T>(p.a)) {}
  ZERO_INLINE T value(T x) const { return x > T(0) ? x : x * slope; }
  ZERO_INLINE T gradient(T g, T x) const { return x > T(0) ? g : g * slope; }
  T slope;
};

template <class T> struct Hardtanh {
  explicit Hardtanh(const Params& p) : low(static_cast<T>(p.a)), high(static_cast<T>(p.b)) {}
  ZERO_INLINE T value(T x) const {
    x = x < low ? low : x;
    return x > high ? high : x;
  }
  ZERO_INLINE T gradient(T g, T x) const { return ((x <= low) | (x >= high)) ? T(0) : g; }
  T low, high;
};

template <class T>
ZERO_INLINE T clamp_to_six(T x) {
  x = x < T(0) ? T(0) : x;
  return x > T(6) ? T(6) : x;
}

template <class T> struct Hardsigmoid {
  explicit Hardsigmoid(const Params&) {}
  ZERO_INLINE T value(T x) const { return clamp_to_six(x + T(3)) / T(6); }
  ZERO_INLINE T gradient(T g, T x) const {
    return ((x > T(-3)) & (x < T(3))) ? g * (T(1) / T(6)) : T(0);
  }
};

template <class T> struct Hardswish {
  explicit Hardswish(const Params&) {}
  ZERO_INLINE T value(T x) const { return x * clamp_to_six(x + T(3)) / T(6); }
  ZERO_INLINE T gradient(T g, T x) const {
    const T inside = g * (x / T(3) + T(0.5));
    return x <= T(-3) ? T(0) : (x < T(3) ? inside : g);
  }
};

template <class T> struct Softshrink {
  explicit Softshrink(const Params& p) : bound(static_cast<T>(p.a)) {}
  ZERO_INLINE T value(T x) const {
    return x > bound ? x - bound : (x < -bound ? x + bound : x * T(0));
  }
  ZERO_INLINE T gradient(T g, T x) const { return ((x >= -bound) & (x <= bound)) ? T(0) : g; }
  T bound;
};

template <class T> struct Hardshrink {
  explicit Hardshrink(const Params& p) : bound(static_cast<T>(p.a)) {}
  ZERO_INLINE T value(T x) const { return ((x >= -bound) & (x <= bound)) ? T(0) : x; }
  ZERO_INLINE T gradient(T g, T x) const { return ((x >= -bound) & (x <= bound)) ? T(0) : g; }
  T bound;
};

template <class T> struct Threshold {
  explicit Threshold(const Params& p) : bound(static_cast<T>(p.a)), other(static_cast<T>(p.b)) {}
  ZERO_INLINE T value(T x) const { return x <= bound ? other : x; }
  ZERO_INLINE T gradient(T g, T x) const { return x <= bound ? T(0) : g; }
  T bound, other;
};

// ---- smooth functions ---------------------------------------------------------------------------

template <class T> struct Elu {
  explicit Elu(const Params& p)
      : low(static_cast<T>(p.a * p.b)), slope(static_cast<T>(p.b)), rate(static_cast<T>(p.c)) {}
  ZERO_INLINE T value(T x) const { return x > T(0) ? x * slope : math::expm1(x * rate) * low; }
  ZERO_INLINE T gradient(T g, T x) const {
    const T left = g * (rate * low) * math::exp_normal(x * rate);
    return x <= T(0) ? left : g * slope;
  }
  T low, slope, rate;
};

template <class T> struct EluResult : Elu<T> {
  using Elu<T>::Elu;
  ZERO_INLINE T gradient(T g, T y) const {
    return y <= T(0) ? g * this->rate * (y + this->low) : g * this->slope;
  }
};

// The normal distribution P(x) from e = exp(-x^2 / 2). In float32 P(-a) = e t s(t) with
// t = 1 / (1 + 0.21 a), a >= 0; fit 2^-26 of P(-a) to a = 13.3, where e is 0.
ZERO_INLINE float normal_distribution(float x, float e) {
  const float t = 1.0f / (1.0f + 0.21f * math::abs(x));
  const float s = math::polynomial(t, 8.370606471e-02f, 8.515485516e-02f, 6.862196073e-02f,
                                   1.269720009e-01f, -9.862256128e-02f, 3.559495030e-01f,
                                   -3.358145045e-01f, 2.862222998e-01f, -7.218961948e-02f);
  const float tail = e * (t * s);
  return x < 0.0f ? tail : 1.0f - tail;
}
ZERO_INLINE double normal_distribution(double x, double) {
  return 0.5 + 0.5 * special::erf(x * 0.7071067811865476);
}

// x P(x); the gradient is P(x) + x p(x), p the density.
template <class T> struct Gelu {
  explicit Gelu(const Params&) {}
  static ZERO_INLINE T power(T x) { return math::exp_normal(T(-0.5) * x * x); }
  ZERO_INLINE T value(T x) const { return x * normal_distribution(x, power(x)); }
  ZERO_INLINE T gradient(T g, T x) const {
    const T e = power(x), density = e * T(0.3989422804014327);
    return g * (normal_distribution(x, e) + x * density);
  }
};

// With u = sqrt(2 / pi) (x + 0.044715 x^3), (1 + tanh u) / 2 is the logistic function of 2 u.
template <class T> struct GeluTanh {
  explicit GeluTanh(const Params&) {}
  static constexpr T kScale = T(1.5957691216057308), kCubic = T(0.044715);
  ZERO_INLINE T value(T x) const { return x * logistic(kScale * (x + kCubic * (x * x * x))); }
  ZERO_INLINE T gradient(T g, T x) const {
    const T z = x * x;
    const T s = logistic(kScale * (x + kCubic * (x * z)));
    const T slope = kScale * (T(1) + T(3) * kCubic * z);
    return g * (s + x * (s * (T(1) - s)) * slope);  // the slope last: it may be infinite
  }
};

template <class T> struct Silu {  // x sigmoid(x)
  explicit Silu(const Params&) {}
  ZERO_INLINE T value(T x) const { return x / (T(1) + math::exp_normal(-x)); }
  ZERO_INLINE T gradient(T g, T x) const {
    const T s = logistic(x);
    return g * (s * (T(1) + x * (T(1) - s)));
  }
};

// x tanh(ln(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2). From 20 on the quotient is 1.
template <class T> struct Mish {
  explicit Mish(const Params&) {}
  static ZERO_INLINE T power(T x) { return math::exp_normal(x > T(20) ? T(20) : x); }
  ZERO_INLINE T value(T x) const {
    const T e = power(x), n = e * (e + T(2));
    return x * (n / (n + T(2)));
  }
  ZERO_INLINE T gradient(T g, T x) const {
    const T e = power(x), n = e * (e + T(2)), q = T(1) / (n + T(2));
    // x sigmoid(x) (1 - tanh^2) = x e / (1 + e) 4 (1 + e)^2 q^2
    const T inner = (x > T(20) ? T(0) : x) * (T(4) * e * (T(1) + e));
    return g * (q * (n + inner * q));
  }
};

template <class T> struct Softplus {
  explicit Softplus(const Params& p)
      : beta(static_cast<T>(p.a)), inverse(static_cast<T>(1 / p.a)), limit(static_cast<T>(p.b)) {}
  ZERO_INLINE T value(T x) const {
    const T z = x * beta;
    const T bent = (z > T(0) ? z : T(0)) + math::log1p_exp(-math::abs(z));
    return z > limit ? x : bent * inverse;
  }
  ZERO_INLINE T gradient(T g, T x) const {
    const T z = x * beta;
    return z > limit ? g : g * logistic(z);
  }
  T beta, inverse, limit;
};

template <class T> struct LogSigmoid {
  explicit LogSigmoid(const Params&) {}
  ZERO_INLINE T value(T x) const { return (x < T(0) ? x : T(0)) - math::log1p_exp(-math::abs(x)); }
  ZERO_INLINE T gradient(T g, T x) const { return g * logistic(-x); }
};

// ---- loops --------------------------------------------------------------------------------------

template <class F, class T>
void value(const void* params, char* const* operands, int64_t n) {
  const F f(*static_cast<const Params*>(params));
  T* out = reinterpret_cast<T*>(operands[0]);
  const T* x = reinterpret_cast<const T*>(operands[1]);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = f.value(x[i]);
}
template <class F, class T>
void gradient(const void* params, char* const* operands, int64_t n) {
  const F f(*static_cast<const Params*>(params));
  T* out = reinterpret_cast<T*>(operands[0]);
  const T* g = reinterpret_cast<const T*>(operands[1]);
  const T* kept = reinterpret_cast<const T*>(operands[2]);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = f.gradient(g[i], kept[i]);
}

// Of two and three inputs, without params.
template <class T, T (*f)(T, T)>
void pairs(const void*, char* const* operands, int64_t n) {
  T* out = reinterpret_cast<T*>(operands[0]);
  const T* a = reinterpret_cast<const T*>(operands[1]);
  const T* b = reinterpret_cast<const T*>(operands[2]);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
}
template <class T, T (*f)(T, T, T)>
void triples(const void*, char* const* operands, int64_t n) {
  T* out = reinterpret_cast<T*>(operands[0]);
  const T* a = reinterpret_cast<const T*>(operands[1]);
  const T* b = reinterpret_cast<const T*>(operands[2]);
  const T* c = reinterpret_cast<const T*>(operands[3]);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i], c[i]);
}

template <class T>
ZERO_INLINE T prelu(T x, T w) {
  return x > T(0) ? x : w * x;
}
template <class T>
ZERO_INLINE T prelu_gradient(T g, T x, T w) {
  return x > T(0) ? g : w * g;
}
template <class T>
ZERO_INLINE T prelu_weight_gradient(T g, T x) {
  return x > T(0) ? T(0) : g * x;
}
template <class T>
ZERO_INLINE T glu(T a, T b) {
  return a * logistic(b);
}
template <class T>
ZERO_INLINE T glu_gate_gradient(T g, T a, T b) {
  const T s = logistic(b);
  return g * a * (s * (T(1) - s));
}

template <class T>
void dropout(const void* params, char* const* operands, int64_t n) {
  const T scale = static_cast<T>(static_cast<const Params*>(params)->a);
  T* out = reinterpret_cast<T*>(operands[0]);
  const T* x = reinterpret_cast<const T*>(operands[1]);
  const uint8_t* chosen = reinterpret_cast<const uint8_t*>(operands[2]);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * (chosen[i] != 0 ? scale : T(0));
}

// ---- table --------------------------------------------------------------------------------------

template <class T, int operands>
void map(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const void* params) {
  const DenseMap& map = *static_cast<const DenseMap*>(params);
  int64_t sizes[operands];
  for (int64_t& size : sizes) size = sizeof(T);
  map_strided(map.loop, map.params, sizes, data, strides, n0, n1);
}

template <class T>
constexpr void fill(ActivationKernels& kernels, ComputeType type) {
  const int t = static_cast<int>(type);
#define ZERO_SET(Name, cost)                                                \
  kernels.value[static_cast<int>(Activation::Name)][t] = value<Name<T>, T>; \
  kernels.gradient[static_cast<int>(Activation::Name)][t] = gradient<Name<T>, T>;
  ZERO_ACTIVATIONS(ZERO_SET)
#undef ZERO_SET
  kernels.value[static_cast<int>(Activation::EluResult)][t] = value<Elu<T>, T>;
  kernels.maps.of_inputs[1][t] = map<T, 2>;
  kernels.maps.of_inputs[2][t] = map<T, 3>;
  kernels.maps.of_inputs[3][t] = map<T, 4>;
  kernels.prelu[t] = pairs<T, prelu<T>>;
  kernels.prelu_gradient[t] = triples<T, prelu_gradient<T>>;
  kernels.prelu_weight_gradient[t] = pairs<T, prelu_weight_gradient<T>>;
  kernels.glu[t] = pairs<T, glu<T>>;
  kernels.glu_gate_gradient[t] = triples<T, glu_gate_gradient<T>>;
  kernels.dropout[t] = dropout<T>;
}

constexpr ActivationKernels all_kernels() {
  ActivationKernels kernels{};
  fill<float>(kernels, ComputeType::F32);
  fill<double>(kernels, ComputeType::F64);
  return kernels;
}

}  // namespace

void fill_activation(KernelTable& table) {
  static constexpr ActivationKernels kernels = all_kernels();
  static constexpr LossKernels loss_kernels = losses::all_kernels();
  table.activation = &kernels;
  table.loss = &loss_kernels;
}

}  // namespace zero::ZERO_ISA_NS
