// Special functions, element by element: gamma and its kin, error functions, Bessel functions,
// orthogonal polynomials. All compute in float64; float32 results are rounded once.
#include "zero/kernels/special.inl"
#include "zero/kernels/elementwise.inl"

namespace zero::ZERO_ISA_NS {
namespace {

#define ZERO_SPECIAL_UNARY(Name, function)                                         \
  struct Name {                                                                    \
    ZERO_INLINE double operator()(double x) const { return special::function(x); } \
    ZERO_INLINE float operator()(float x) const {                                  \
      return static_cast<float>(special::function(static_cast<double>(x)));        \
    }                                                                              \
  };
// With a brief form for float32.
#define ZERO_SPECIAL_BRIEF(Name, function)                                                \
  struct Name {                                                                           \
    ZERO_INLINE double operator()(double x) const { return special::function<false>(x); } \
    ZERO_INLINE float operator()(float x) const {                                         \
      return static_cast<float>(special::function<true>(static_cast<double>(x)));         \
    }                                                                                     \
  };
ZERO_SPECIAL_BRIEF(Erfc, erfc)
ZERO_SPECIAL_BRIEF(Erfcx, erfcx)
ZERO_SPECIAL_BRIEF(Ndtr, ndtr)
ZERO_SPECIAL_BRIEF(Ndtri, ndtri)
ZERO_SPECIAL_BRIEF(LogNdtr, log_ndtr)
ZERO_SPECIAL_BRIEF(Entr, entr)
ZERO_SPECIAL_BRIEF(I0, i0)
ZERO_SPECIAL_BRIEF(I0e, i0e)
ZERO_SPECIAL_BRIEF(I1, i1)
ZERO_SPECIAL_BRIEF(I1e, i1e)
ZERO_SPECIAL_UNARY(Sinc, sinc)
ZERO_SPECIAL_UNARY(Digamma, digamma)
ZERO_SPECIAL_UNARY(K0, k0)
ZERO_SPECIAL_UNARY(K0e, k0e)
ZERO_SPECIAL_UNARY(K1, k1)
ZERO_SPECIAL_UNARY(K1e, k1e)
ZERO_SPECIAL_UNARY(SphericalJ0, spherical_bessel_j0)
ZERO_SPECIAL_UNARY(AiryAi, airy_ai)
#undef ZERO_SPECIAL_UNARY
#undef ZERO_SPECIAL_BRIEF

// Long chains of steps in two loops, the second of which gets what the first one made: a processor
// looks ahead for so many instructions only, and then sees several elements at a time.
template <class F, class T>
ZERO_NOINLINE void two_loops(const void* functor, char* const* operands, int64_t n) {
  const F f = *static_cast<const F*>(functor);
  T* out = reinterpret_cast<T*>(operands[0]);
  const T* a = reinterpret_cast<const T*>(operands[1]);
  double part[kBlock];
  for (; n > 0; out += kBlock, a += kBlock, n -= kBlock) {
    const int64_t m = n < kBlock ? n : kBlock;
    ZERO_SIMD
    for (int64_t i = 0; i < m; ++i) part[i] = f.first(a[i]);
    ZERO_SIMD
    for (int64_t i = 0; i < m; ++i) out[i] = f.second(a[i], part[i]);
  }
}

template <class Op, class T>
void in_two_loops(char* const* data, const int64_t* strides, int64_t n0, int64_t n1,
                  const void* params) {
  constexpr int64_t kSizes[2] = {sizeof(T), sizeof(T)};
  const auto f = functor<Op, T>(params);
  map_strided(two_loops<decltype(f), T>, &f, kSizes, data, strides, n0, n1);
}

struct SpecialLoop {
  template <class Op, class T>
  static constexpr LoopFn get() {
    if constexpr (requires(T x) { functor<Op, T>(nullptr).first(x); })
      return in_two_loops<Op, T>;
    else
      return unary<Op, T>;
  }
};

struct Erfinv {
  ZERO_INLINE double first(double x) const { return special::erfinv_first(x); }
  ZERO_INLINE double second(double x, double w) const { return special::erfinv_second(x, w); }
  double first(float x) const = delete;
  ZERO_INLINE float operator()(float x) const { return special::erfinv(x); }
};

// Bessel functions near 0 are vector code; blocks that reach farther go one by one.
#define ZERO_SPECIAL_BESSEL(Name, function, least)                             \
  struct Name {                                                                \
    template <class T>                                                         \
    ZERO_INLINE T operator()(T x) const {                                      \
      return static_cast<T>(special::function##_near(static_cast<double>(x))); \
    }                                                                          \
    template <class T>                                                         \
    ZERO_INLINE static bool beyond(T x) {                                      \
      return !((x > T(least)) & (x < T(8)));                                   \
    }                                                                          \
    template <class T>                                                         \
    ZERO_INLINE static T far(T x) {                                            \
      return static_cast<T>(special::function(static_cast<double>(x)));        \
    }                                                                          \
  };
ZERO_SPECIAL_BESSEL(BesselJ0, bessel_j0, -8)
ZERO_SPECIAL_BESSEL(BesselJ1, bessel_j1, -8)
ZERO_SPECIAL_BESSEL(BesselY0, bessel_y0, 0)
ZERO_SPECIAL_BESSEL(BesselY1, bessel_y1, 0)
#undef ZERO_SPECIAL_BESSEL

struct Erf {
  ZERO_INLINE double operator()(double x) const { return special::erf(x); }
  ZERO_INLINE float operator()(float x) const { return math::erf(x); }
};

struct Logit {
  template <class T>
  struct Bounded {
    T lo, hi;
    ZERO_INLINE double first(T x) const {
      const T raised = x < lo ? lo : x;
      const double y = raised > hi ? hi : raised;
      return y / (1.0 - y);
    }
    ZERO_INLINE T second(T, double odds) const {
      return static_cast<T>(special::log_of<sizeof(T) == 4>(odds));
    }
  };
  template <class T>
  static Bounded<T> bind(const void* params) {
    const LogitParams& p = *static_cast<const LogitParams*>(params);
    return {static_cast<T>(p.lo), static_cast<T>(p.hi)};
  }
};

// Close to its zeros below 0 lgamma is a small difference, which takes the full form.
struct Lgamma {
  ZERO_INLINE double operator()(double x) const { return special::lgamma(x); }
  ZERO_INLINE float operator()(float x) const {
    return static_cast<float>(special::lgamma_positive<true>(math::abs(static_cast<double>(x))));
  }
  ZERO_INLINE static bool beyond(float x) { return x < 0.0f; }
  static bool beyond(double x) = delete;
  ZERO_INLINE static float far(float x) {
    return static_cast<float>(special::lgamma(static_cast<double>(x)));
  }
};

#define ZERO_SPECIAL_BINARY(Name, expression)           \
  struct Name {                                         \
    template <class T>                                  \
    ZERO_INLINE T operator()(T first, T second) const { \
      const double a = first, b = second;               \
      return static_cast<T>(expression);                \
    }                                                   \
  };
ZERO_SPECIAL_BINARY(Igamma, special::gamma_parts(a, b).lower)
ZERO_SPECIAL_BINARY(Igammac, special::gamma_parts(a, b).upper)
ZERO_SPECIAL_BINARY(Zeta, special::zeta(a, b))
ZERO_SPECIAL_BINARY(Polygamma, special::polygamma(a, b))

// ---- orthogonal polynomials ---------------------------------------------------------------------
// p_0 = 1 and p_1 are given; the others follow from the two before. n counts as its whole part; a
// negative one, or NaN, gives 0, as in PyTorch. DLMF 18.9.

constexpr double kMaxDegree = 0x1p53;

// From the recurrence p_k+1 = next(k, p_k, p_k-1), until the result is no number any more.
template <class Next>
ZERO_INLINE double recur(double n, double p1, Next next) {
  if (!(n > -1.0)) return 0.0;  // also for NaN
  if (n < 1.0) return 1.0;
  double before = 1.0, p = p1;
  for (double k = 1.0; k + 1.0 <= n && math::abs(p) < math::kInf; k += 1.0) {
    const double following = next(k, p, before);
    before = p;
    p = following;
  }
  return p;
}

// Chebyshev's four kinds: p_1 = 2x - c with c = x (T), 0 (U), 1 (V), -1 (W), and
// p_k+1 = 2x p_k - p_k-1. Many steps are replaced by the trigonometric or hyperbolic form, whose
// angle is n theta (T), (n + 1) theta (U), (n + 1/2) theta (V, W).
enum class Kind { T, U, V, W };

template <Kind kind>
inline double chebyshev(double x, double n) {
  const double first = kind == Kind::T   ? x
                       : kind == Kind::U ? 2.0 * x
                       : kind == Kind::V ? 2.0 * x - 1.0
                                         : 2.0 * x + 1.0;
  if (!(n > 32.0) || x != x) {
    return recur(n, first, [x](double, double p, double before) { return 2.0 * x * p - before; });
  }
  n = ZERO_LIBM(floor)(n < kMaxDegree ? n : kMaxDegree);
  const bool odd = ZERO_LIBM(fmod)(n, 2.0) != 0.0;
  const double a = math::abs(x);
  // V and W of -x are W and V of x, times (-1)^n; T and U keep their kind.
  const Kind mirrored = kind == Kind::V ? Kind::W : kind == Kind::W ? Kind::V : kind;
  const Kind k = x < 0.0 ? mirrored : kind;
  double y;
  if (a == 1.0) {
    y = k == Kind::U ? n + 1.0 : k == Kind::W ? 2.0 * n + 1.0 : 1.0;
  } else if (a < 1.0) {
    // theta from the half angle, since acos is inexact near 1
    const double theta = 2.0 * ZERO_LIBM(asin)(math::sqrt(0.5 * (1.0 - a)));
    y = k == Kind::T   ? ZERO_LIBM(cos)(n * theta)
        : k == Kind::U ? ZERO_LIBM(sin)((n + 1.0) * theta) / ZERO_LIBM(sin)(theta)
        : k == Kind::V ? ZERO_LIBM(cos)((n + 0.5) * theta) / ZERO_LIBM(cos)(0.5 * theta)
                       : ZERO_LIBM(sin)((n + 0.5) * theta) / ZERO_LIBM(sin)(0.5 * theta);
  } else {
    const double theta = 2.0 * ZERO_LIBM(asinh)(math::sqrt(0.5 * (a - 1.0)));
    y = k == Kind::T   ? ZERO_LIBM(cosh)(n * theta)
        : k == Kind::U ? ZERO_LIBM(sinh)((n + 1.0) * theta) / ZERO_LIBM(sinh)(theta)
        : k == Kind::V ? ZERO_LIBM(cosh)((n + 0.5) * theta) / ZERO_LIBM(cosh)(0.5 * theta)
                       : ZERO_LIBM(sinh)((n + 0.5) * theta) / ZERO_LIBM(sinh)(0.5 * theta);
    if (a == math::kInf) y = math::kInf;
  }
  return x < 0.0 && odd ? -y : y;
}

inline double hermite_h(double x, double n) {
  return recur(n, 2.0 * x,
               [x](double k, double p, double before) { return 2.0 * (x * p - k * before); });
}
inline double hermite_he(double x, double n) {
  return recur(n, x, [x](double k, double p, double before) { return x * p - k * before; });
}

// Beyond this degree the recurrences of Laguerre and Legendre would take long; the leading term of
// the uniform expansions by Bessel functions (DLMF 18.15) is then exact to about 1 / n.
constexpr double kLongRecurrence = 1e6;

inline double laguerre(double x, double n) {
  if (n > kLongRecurrence && x >= 0.0 && x < math::kInf) {
    return math::exp(0.5 * x) * special::bessel_j0(2.0 * math::sqrt((n + 0.5) * x));
  }
  return recur(n, 1.0 - x, [x](double k, double p, double before) {
    return ((2.0 * k + 1.0 - x) * p - k * before) / (k + 1.0);
  });
}
inline double legendre(double x, double n) {
  const double a = math::abs(x);
  if (n > kLongRecurrence && a <= 1.0) {
    n = ZERO_LIBM(floor)(n < kMaxDegree ? n : kMaxDegree);
    const double theta = 2.0 * ZERO_LIBM(asin)(math::sqrt(0.5 * (1.0 - a)));
    const double sine = ZERO_LIBM(sin)(theta);
    const double y =
        theta == 0.0 ? 1.0 : math::sqrt(theta / sine) * special::bessel_j0((n + 0.5) * theta);
    return x < 0.0 && ZERO_LIBM(fmod)(n, 2.0) != 0.0 ? -y : y;
  }
  return recur(n, x, [x](double k, double p, double before) {
    return ((2.0 * k + 1.0) * x * p - k * before) / (k + 1.0);
  });
}

ZERO_SPECIAL_BINARY(ChebyshevT, chebyshev<Kind::T>(a, b))
ZERO_SPECIAL_BINARY(ChebyshevU, chebyshev<Kind::U>(a, b))
ZERO_SPECIAL_BINARY(ChebyshevV, chebyshev<Kind::V>(a, b))
ZERO_SPECIAL_BINARY(ChebyshevW, chebyshev<Kind::W>(a, b))
ZERO_SPECIAL_BINARY(ShiftedT, chebyshev<Kind::T>(2.0 * a - 1.0, b))
ZERO_SPECIAL_BINARY(ShiftedU, chebyshev<Kind::U>(2.0 * a - 1.0, b))
ZERO_SPECIAL_BINARY(ShiftedV, chebyshev<Kind::V>(2.0 * a - 1.0, b))
ZERO_SPECIAL_BINARY(ShiftedW, chebyshev<Kind::W>(2.0 * a - 1.0, b))
ZERO_SPECIAL_BINARY(HermiteH, hermite_h(a, b))
ZERO_SPECIAL_BINARY(HermiteHe, hermite_he(a, b))
ZERO_SPECIAL_BINARY(LaguerreL, laguerre(a, b))
ZERO_SPECIAL_BINARY(LegendreP, legendre(a, b))
#undef ZERO_SPECIAL_BINARY

}  // namespace

void fill_special(KernelTable& table) {
#define ZERO_SET(Name) set<SpecialLoop, Name, types::Float>(table, ElementwiseOp::Name);
  ZERO_SPECIAL_UNARY_OPS(ZERO_SET)
#undef ZERO_SET
#define ZERO_SET(Name) set<BinaryLoop, Name, types::Float>(table, ElementwiseOp::Name);
  ZERO_SPECIAL_BINARY_OPS(ZERO_SET)
#undef ZERO_SET
}

}  // namespace zero::ZERO_ISA_NS
