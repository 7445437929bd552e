// Optimizer steps: each reads and writes every array once.
//
// An optimizer is the update of one element: a struct that takes its constants from UpdateArgs::c,
// which ops/optim.cpp computes, and whose call gets gradient, parameter and up to three states,
// changes the states and returns the new parameter. Sums of two products are written with fma: the
// bits of an element must not depend on where a range ends.
#include "zero/kernels/optim.h"

#include "zero/kernels/fold.inl"
#include "zero/kernels/half.inl"
#include "zero/kernels/math.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// a * b + c, fused where the instruction set can.
ZERO_INLINE float fma(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
ZERO_INLINE double fma(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// mean += take (x - mean), from the end that is nearer: with take = 1 the result is x.
template <class T>
struct Lerp {
  T factor;
  bool far;
  explicit Lerp(double take)
      : factor(static_cast<T>(take < 0.5 ? take : take - 1)), far(take >= 0.5) {}
  ZERO_INLINE T operator()(T mean, T x) const { return fma(factor, x - mean, far ? x : mean); }
};

// mean = keep mean + (1 - keep) x^2
template <class T>
struct SquareMean {
  T keep, take;
  explicit SquareMean(double keep) : keep(static_cast<T>(keep)), take(static_cast<T>(1 - keep)) {}
  ZERO_INLINE T operator()(T mean, T x) const { return fma(keep, mean, take * x * x); }
};

template <class T> ZERO_INLINE T sign(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0); }

template <class T>
struct Sgd {
  T lr;
  explicit Sgd(const double* c) : lr(static_cast<T>(c[0])) {}
  ZERO_INLINE T operator()(T g, T p, T&, T&, T&) const { return fma(-lr, g, p); }
};

template <class T>
struct Momentum {
  T lr, momentum, keep, take;
  bool nesterov;
  explicit Momentum(const double* c)
      : lr(static_cast<T>(c[0])),
        momentum(static_cast<T>(c[1])),
        keep(static_cast<T>(c[2])),
        take(static_cast<T>(c[3])),
        nesterov(c[4] != 0) {}
  ZERO_INLINE T operator()(T g, T p, T& buffer, T&, T&) const {
    buffer = fma(keep, buffer, take * g);
    return fma(-lr, nesterov ? fma(momentum, buffer, g) : buffer, p);
  }
};

template <class T, bool Amsgrad>
struct AdamRule {
  Lerp<T> mean;
  SquareMean<T> square;
  T eps, step, root;
  explicit AdamRule(const double* c)
      : mean(c[0]),
        square(c[1]),
        eps(static_cast<T>(c[2])),
        step(static_cast<T>(c[3])),
        root(static_cast<T>(c[4])) {}
  ZERO_INLINE T operator()(T g, T p, T& m, T& v, T& largest) const {
    m = mean(m, g);
    v = square(v, g);
    T below = v;
    if constexpr (Amsgrad) below = largest = v < largest ? largest : v;  // a NaN stays
    return fma(-step, m / fma(math::sqrt(below), root, eps), p);
  }
};
template <class T> using Adam = AdamRule<T, false>;
template <class T> using Amsgrad = AdamRule<T, true>;

template <class T>
struct NAdam {
  Lerp<T> mean;
  SquareMean<T> square;
  T eps, root, step, ahead;
  explicit NAdam(const double* c)
      : mean(c[0]),
        square(c[1]),
        eps(static_cast<T>(c[2])),
        root(static_cast<T>(c[3])),
        step(static_cast<T>(c[4])),
        ahead(static_cast<T>(c[5])) {}
  ZERO_INLINE T operator()(T g, T p, T& m, T& v, T&) const {
    m = mean(m, g);
    v = square(v, g);
    return p - fma(ahead, m, step * g) / fma(math::sqrt(v), root, eps);
  }
};

template <class T>
struct RAdam {
  Lerp<T> mean;
  SquareMean<T> square;
  T eps, step;
  bool rectified;
  explicit RAdam(const double* c)
      : mean(c[0]),
        square(c[1]),
        eps(static_cast<T>(c[2])),
        step(static_cast<T>(c[3])),
        rectified(c[4] != 0) {}
  ZERO_INLINE T operator()(T g, T p, T& m, T& v, T&) const {
    m = mean(m, g);
    v = square(v, g);
    return fma(-step, rectified ? m / (math::sqrt(v) + eps) : m, p);
  }
};

template <class T>
struct Adamax {
  Lerp<T> mean;
  T keep, eps, step;
  explicit Adamax(const double* c)
      : mean(c[0]),
        keep(static_cast<T>(c[1])),
        eps(static_cast<T>(c[2])),
        step(static_cast<T>(c[3])) {}
  ZERO_INLINE T operator()(T g, T p, T& m, T& largest, T&) const {
    m = mean(m, g);
    const T before = keep * largest, now = math::abs(g) + eps;
    largest = (now > before) | (now != now) ? now : before;  // NaNs of both stay
    return fma(-step, m / largest, p);
  }
};

template <class T>
struct Adagrad {
  T step, eps;
  explicit Adagrad(const double* c) : step(static_cast<T>(c[0])), eps(static_cast<T>(c[1])) {}
  ZERO_INLINE T operator()(T g, T p, T& sum, T&, T&) const {
    sum = fma(g, g, sum);
    return fma(-step, g / (math::sqrt(sum) + eps), p);
  }
};

template <class T>
struct Adadelta {
  SquareMean<T> square;
  T lr, eps;
  explicit Adadelta(const double* c)
      : square(c[0]), lr(static_cast<T>(c[1])), eps(static_cast<T>(c[2])) {}
  ZERO_INLINE T operator()(T g, T p, T& v, T& moved, T&) const {
    v = square(v, g);
    const T delta = math::sqrt(moved + eps) / math::sqrt(v + eps) * g;
    moved = square(moved, delta);
    return fma(-lr, delta, p);
  }
};

template <class T, bool WithMomentum, bool Centered>
struct RMSpropRule {
  SquareMean<T> square;
  Lerp<T> mean;
  T lr, eps, momentum;
  explicit RMSpropRule(const double* c)
      : square(c[0]),
        mean(1 - c[0]),
        lr(static_cast<T>(c[1])),
        eps(static_cast<T>(c[2])),
        momentum(static_cast<T>(c[3])) {}
  ZERO_INLINE T operator()(T g, T p, T& v, T& buffer, T& m) const {
    v = square(v, g);
    T variance = v;
    if constexpr (Centered) {
      m = mean(m, g);
      variance = fma(-m, m, v);
      variance = variance < T(0) ? T(0) : variance;  // of rounding
    }
    T step = g / (math::sqrt(variance) + eps);
    if constexpr (WithMomentum) step = buffer = fma(momentum, buffer, step);
    return fma(-lr, step, p);
  }
};

template <class T> using RMSprop = RMSpropRule<T, false, false>;
template <class T> using RMSpropMomentum = RMSpropRule<T, true, false>;
template <class T> using RMSpropCentered = RMSpropRule<T, false, true>;
template <class T> using RMSpropBoth = RMSpropRule<T, true, true>;

template <class T>
struct Rprop {
  T shrink, grow, least, most;
  explicit Rprop(const double* c)
      : shrink(static_cast<T>(c[0])),
        grow(static_cast<T>(c[1])),
        least(static_cast<T>(c[2])),
        most(static_cast<T>(c[3])) {}
  ZERO_INLINE T operator()(T g, T p, T& before, T& size, T&) const {
    const T turn = g * before;
    const T wanted = size * (turn > T(0) ? grow : turn < T(0) ? shrink : turn + T(1));
    const T longer = wanted < least ? least : wanted;  // a NaN stays
    size = longer > most ? most : longer;
    before = turn < T(0) ? T(0) : g;
    return fma(-sign(before), size, p);
  }
};

template <class T>
struct Asgd {
  T step, keep, take;
  bool first;
  explicit Asgd(const double* c)
      : step(static_cast<T>(c[0])),
        keep(static_cast<T>(c[1])),
        take(static_cast<T>(c[2])),
        first(c[2] == 1) {}
  ZERO_INLINE T operator()(T g, T p, T& mean, T&, T&) const {
    const T next = fma(-step, g, keep * p);
    mean = first ? next : fma(next - mean, take, mean);
    return next;
  }
};

template <class T>
struct Lion {
  Lerp<T> look, mean;
  T lr;
  explicit Lion(const double* c) : look(c[0]), mean(c[1]), lr(static_cast<T>(c[2])) {}
  ZERO_INLINE T operator()(T g, T p, T& m, T&, T&) const {
    const T direction = sign(look(m, g));
    m = mean(m, g);
    return fma(-lr, direction, p);
  }
};

template <class T>
struct Muon {
  Lerp<T> mean, look;
  bool nesterov;
  explicit Muon(const double* c) : mean(1 - c[0]), look(c[0]), nesterov(c[1] != 0) {}
  ZERO_INLINE T operator()(T g, T, T& m, T&, T&) const {
    m = mean(m, g);
    return nesterov ? look(g, m) : m;
  }
};

// A rule over n elements: what all have in common comes before it. `Uses` has a bit for each state.
template <template <class> class Rule, class T, int Uses>
ZERO_NOINLINE void update_all(void* const* arrays, int64_t n, const UpdateArgs& args) {
  T* __restrict p = static_cast<T*>(arrays[0]);
  const T* __restrict grad = static_cast<const T*>(arrays[1]);
  T* __restrict a = static_cast<T*>(arrays[2]);
  T* __restrict b = static_cast<T*>(arrays[3]);
  T* __restrict c = static_cast<T*>(arrays[4]);
  const Rule<T> rule(args.c);
  const T sign = static_cast<T>(args.sign), decay = static_cast<T>(args.decay),
          keep = static_cast<T>(args.keep);
  const bool decays = args.decay != 0;  // an infinite parameter times 0 must not become NaN
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) {
    T g = sign * grad[i], x = p[i], s = 0, t = 0, u = 0;
    g = decays ? fma(decay, x, g) : g;
    x *= keep;
    if constexpr (Uses & 1) s = a[i];
    if constexpr (Uses & 2) t = b[i];
    if constexpr (Uses & 4) u = c[i];
    x = rule(g, x, s, t, u);
    if constexpr (Uses & 1) a[i] = s;
    if constexpr (Uses & 2) b[i] = t;
    if constexpr (Uses & 4) c[i] = u;
    p[i] = x;
  }
}

using Loop = void (*)(void* const* arrays, int64_t n, const UpdateArgs& args);

template <class T>
void update(UpdateRule rule, void* const* arrays, int64_t n, const UpdateArgs& args) {
  const bool second = arrays[3] != nullptr, third = arrays[4] != nullptr;
  Loop loop = nullptr;
  switch (rule) {
    case UpdateRule::Sgd:
      loop = arrays[2] ? update_all<Momentum, T, 1> : update_all<Sgd, T, 0>;
      break;
    case UpdateRule::Adam: loop = third ? update_all<Amsgrad, T, 7> : update_all<Adam, T, 3>; break;
    case UpdateRule::NAdam: loop = update_all<NAdam, T, 3>; break;
    case UpdateRule::RAdam: loop = update_all<RAdam, T, 3>; break;
    case UpdateRule::Adamax: loop = update_all<Adamax, T, 3>; break;
    case UpdateRule::Adagrad: loop = update_all<Adagrad, T, 1>; break;
    case UpdateRule::Adadelta: loop = update_all<Adadelta, T, 3>; break;
    case UpdateRule::RMSprop:
      if (second) {
        loop = third ? update_all<RMSpropBoth, T, 7> : update_all<RMSpropMomentum, T, 3>;
      } else {
        loop = third ? update_all<RMSpropCentered, T, 5> : update_all<RMSprop, T, 1>;
      }
      break;
    case UpdateRule::Rprop: loop = update_all<Rprop, T, 3>; break;
    case UpdateRule::Asgd: loop = update_all<Asgd, T, 1>; break;
    case UpdateRule::Lion: loop = update_all<Lion, T, 1>; break;
    case UpdateRule::Muon: loop = update_all<Muon, T, 1>; break;
  }
  loop(arrays, n, args);
}

// ---- Adafactor's matrices -----------------------------------------------------------------------

// f(g, row, column) for each row: where a[row] and b[column, …] belong to it.
template <class T, class F>
ZERO_INLINE void for_rows(const FactoredArgs& args, F f) {
  for (int64_t k = 0; k < args.matrices; ++k) {
    for (int64_t i = 0; i < args.rows; ++i) {
      const int64_t row = k * args.rows + i;
      f(static_cast<const T*>(args.g) + row * args.stride, row, k * args.columns);
    }
  }
}

template <class T>
ZERO_NOINLINE void square_sums(const FactoredArgs& args, double* row_sums, double* column_sums) {
  const int64_t n = args.columns;
  for_rows<T>(args, [&](const T* __restrict g, int64_t row, int64_t column) {
    double* __restrict columns = column_sums + column;
    double total = 0;
    int64_t j = 0;
    if (n >= kLanes) {
      double lanes[kLanes] = {};
      for (; j + kLanes <= n; j += kLanes) {
        ZERO_SIMD
        for (int l = 0; l < kLanes; ++l) {
          const double x = static_cast<double>(g[j + l]), square = x * x;
          columns[j + l] += square;
          lanes[l] += square;
        }
      }
      join_lanes<kLanes / 2>(lanes, [](double a, double b) { return a + b; });
      total = lanes[0];
    }
    for (; j < n; ++j) {
      const double x = static_cast<double>(g[j]), square = x * x;
      columns[j] += square;
      total += square;
    }
    row_sums[row] += total;
  });
}

// min(a b, limit); a NaN stays.
template <class T>
ZERO_INLINE T factor(T a, T b, T limit) {
  const T x = a * b;
  return x > limit ? limit : x;
}

// No term is out of range: v has a part of g^2.
template <class T>
ZERO_NOINLINE double factored_size(const FactoredArgs& args) {
  double total = 0;
  const T limit = static_cast<T>(args.limit);
  for_rows<T>(args, [&](const T* g, int64_t row, int64_t column) {
    const T a = static_cast<const T*>(args.a)[row], *b = static_cast<const T*>(args.b) + column;
    total += sum_terms(args.columns, [=](int64_t j) {
      const T u = g[j] * factor(a, b[j], limit);
      return u * u;
    });
  });
  return total;
}

template <class T>
ZERO_NOINLINE void factored_step(const FactoredArgs& args) {
  const T limit = static_cast<T>(args.limit), keep = static_cast<T>(args.keep),
          step = static_cast<T>(args.step);
  for_rows<T>(args, [&](const T* __restrict g, int64_t row, int64_t column) {
    const T a = static_cast<const T*>(args.a)[row];
    const T* __restrict b = static_cast<const T*>(args.b) + column;
    T* __restrict p = static_cast<T*>(args.p) + row * args.stride;
    ZERO_SIMD
    for (int64_t j = 0; j < args.columns; ++j)
      p[j] = fma(step, g[j] * factor(a, b[j], limit), keep * p[j]);
  });
}

// ---- Muon's rounding ----------------------------------------------------------------------------
void round_bfloat16(float* x, const float* y, int64_t n, const RoundArgs& args) {
  const float a = args.a, b = args.b, divisor = args.divisor;
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) x[i] = to_float(to_bfloat16(fma(a, x[i], b * y[i]) / divisor));
}

}  // namespace

void fill_optim(KernelTable& table) {
  static constexpr OptimizerKernels kernels = {
      {update<float>, update<double>},
      {square_sums<float>, square_sums<double>},
      {factored_size<float>, factored_size<double>},
      {factored_step<float>, factored_step<double>},
      round_bfloat16,
  };
  table.optimizer = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
