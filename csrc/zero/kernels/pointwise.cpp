// More elementwise operations: of pairs (extrema that skip NaN, signs, neighbours, shifts, common
// divisors, sums of logarithms), of triples (fused products, interpolation, bounds), and the parts
// of a float. Semantics are PyTorch's.
#include "zero/kernels/elementwise.inl"
#include "zero/kernels/logistic.inl"

namespace zero::ZERO_ISA_NS {
namespace {

template <class T> struct BitsOf { using type = uint32_t; };
template <> struct BitsOf<double> { using type = uint64_t; };
template <class T> constexpr typename BitsOf<T>::type kSign = 0x80000000u;
template <> constexpr uint64_t kSign<double> = 0x8000000000000000u;

// ---- signs and extrema --------------------------------------------------------------------------

struct Signbit {  // of -0.0 and of a NaN, too
  template <class T>
  ZERO_INLINE bool operator()(T x) const {
    if constexpr (is_float<T>)
      return (bit_cast<typename BitsOf<T>::type>(x) & kSign<T>) != 0;
    else if constexpr (sizeof(T) == 1)
      return false;
    else
      return x < 0;
  }
};

struct Frac {
  ZERO_INLINE float operator()(float x) const { return x - ZERO_LIBM(truncf)(x); }
  ZERO_INLINE double operator()(double x) const { return x - ZERO_LIBM(trunc)(x); }
};
ZERO_UNARY_FUNCTOR(Angle, x < T(0) ? T(math::kPi) : (x != x ? x : T(0)))
ZERO_BINARY_FUNCTOR(Copysign, math::copysign(math::abs(a), b))
ZERO_BINARY_FUNCTOR(Fmax, ((a >= b) | (b != b)) ? a : b)  // NaN only if both are
ZERO_BINARY_FUNCTOR(Fmin, ((a <= b) | (b != b)) ? a : b)
ZERO_BINARY_FUNCTOR(Heaviside, a == T(0) ? b : (a > T(0) ? T(1) : T(0)))

struct NanToNum {
  template <class T>
  struct Replace {
    T nan, high, low;
    ZERO_INLINE T operator()(T x) const {
      const T finite = x == T(math::kInf) ? high : (x == T(-math::kInf) ? low : x);
      return x != x ? nan : finite;
    }
  };
  template <class T>
  static Replace<T> bind(const void* params) {
    const NanToNumParams& p = *static_cast<const NanToNumParams*>(params);
    return {static_cast<T>(p.nan), static_cast<T>(p.posinf), static_cast<T>(p.neginf)};
  }
};

// ---- neighbours and parts of a float ------------------------------------------------------------

// The next number toward b. Floats of 16 bits come as float32: the step is the last of their bits.
struct Nextafter {
  template <class T>
  struct Step {
    using Bits = typename BitsOf<T>::type;
    Bits unit;          // of the last place
    T least;            // smallest positive number
    T smallest_normal;  // below it steps are `least`
    T largest;
    ZERO_INLINE T operator()(T a, T b) const {
      const Bits bits = bit_cast<Bits>(a);
      const bool away = (b > a) == ((bits & kSign<T>) == 0);
      const T moved = bit_cast<T>(away ? bits + unit : bits - unit);
      const T down = math::abs(a) - least;
      const T near = math::copysign(away ? math::abs(a) + least : (down < T(0) ? T(0) : down), a);
      const bool subnormal =
          away ? math::abs(a) < smallest_normal : math::abs(a) <= smallest_normal;
      T next = subnormal ? near : moved;
      next = a == T(0) ? math::copysign(least, b) : next;
      next = math::abs(a) == T(math::kInf) ? math::copysign(largest, a) : next;
      next = a == b ? b : next;
      return ((a != a) | (b != b)) ? T(math::kNan) : next;
    }
  };
  template <class T>
  static Step<T> bind(const void* params) {
    const NextafterParams& p = *static_cast<const NextafterParams*>(params);
    Step<T> f{};
    constexpr int own = sizeof(T) == 8 ? 52 : 23;
    f.unit = static_cast<typename BitsOf<T>::type>(1) << (own - p.digits);
    f.least = static_cast<T>(p.least);
    f.smallest_normal = static_cast<T>(p.smallest_normal);
    f.largest = static_cast<T>(p.largest);
    return f;
  }
};

// x = mantissa 2^exponent, 1/2 <= |mantissa| < 1; zeros, infinities and NaN are their own mantissa
// with the exponent 0. Bits are taken apart, so subnormals count also where arithmetic flushes
// them.
template <class T>
struct Parts {
  using Bits = typename BitsOf<T>::type;
  static constexpr int kDigits = sizeof(T) == 8 ? 52 : 23;
  static constexpr int kBias = sizeof(T) == 8 ? 1022 : 126;
  static constexpr Bits kFraction = (Bits(1) << kDigits) - 1;
  static constexpr Bits kMaxExponent = sizeof(T) == 8 ? 0x7ff : 0xff;
  Bits fraction;
  int exponent;
  bool own;  // zero, infinite or NaN
  ZERO_INLINE explicit Parts(T x) {
    const Bits bits = bit_cast<Bits>(x);
    const Bits raw = (bits >> kDigits) & kMaxExponent;
    fraction = bits & kFraction;
    own = raw == kMaxExponent || (raw == 0 && fraction == 0);
    exponent = static_cast<int>(raw) - kBias;
    // A subnormal number is a whole multiple of the least one, and that multiple is normal.
    const Bits whole = bit_cast<Bits>(static_cast<T>(fraction));
    const int shifted = static_cast<int>(whole >> kDigits) - kBias - (kBias + kDigits);
    exponent = raw == 0 ? shifted : exponent;
    fraction = raw == 0 ? whole & kFraction : fraction;
  }
};

struct FrexpMantissa {
  template <class T>
  ZERO_INLINE T operator()(T x) const {
    using P = Parts<T>;
    const P p(x);
    const auto bits = bit_cast<typename P::Bits>(x);
    const auto half = static_cast<typename P::Bits>(P::kBias) << P::kDigits;
    return p.own ? x : bit_cast<T>((bits & kSign<T>) | half | p.fraction);
  }
};
struct FrexpExponent {
  template <class T>
  ZERO_INLINE T operator()(T x) const {
    const Parts<T> p(x);
    return p.own ? T(0) : static_cast<T>(p.exponent);
  }
};

// ---- integers -----------------------------------------------------------------------------------

// By a negative number of places, or more than there are bits: all bits are shifted out. Integers
// of 8 and 16 bits come as int32; the cast back drops what is above.
struct LeftShift {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    using U = typename UnsignedOf<T>::type;
    constexpr T kLast = 8 * sizeof(T) - 1;
    const T shifted = static_cast<T>(static_cast<U>(a) << (b & kLast));
    return (b & ~kLast) == 0 ? shifted : T(0);
  }
};
struct RightShift {  // keeps the sign
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    constexpr T kLast = 8 * sizeof(T) - 1;
    return a >> ((b < 0 || b > kLast) ? kLast : b);
  }
};

template <class T>
ZERO_INLINE T magnitude(T x) {
  return x < 0 ? wrap_sub(T(0), x) : x;
}
struct Gcd {  // Euclid's algorithm, on unsigned numbers: |INT_MIN| is one
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    using U = typename UnsignedOf<T>::type;
    U x = static_cast<U>(magnitude(a)), y = static_cast<U>(magnitude(b));
    while (y != 0) {
      const U rest = x % y;
      x = y;
      y = rest;
    }
    return static_cast<T>(x);
  }
};
struct Lcm {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    const T g = Gcd{}(a, b);
    if (g == 0) return 0;
    return magnitude(wrap_mul(g == -1 ? wrap_sub(T(0), a) : T(a / g), b));
  }
};

// ---- logarithms and roots -----------------------------------------------------------------------

// float32 in float64, where no square overflows; float64 scaled by the larger operand.
struct Hypot {
  ZERO_INLINE float operator()(float a, float b) const {
    const double x = a, y = b;
    const float r = static_cast<float>(math::sqrt(x * x + y * y));
    return ((math::abs(a) == math::kInfF) | (math::abs(b) == math::kInfF)) ? math::kInfF : r;
  }
  ZERO_INLINE double operator()(double a, double b) const {
    const double x = math::abs(a), y = math::abs(b);
    const double large = x > y ? x : y, small = x > y ? y : x;
    const double t = small / (large == 0.0 ? 1.0 : large);
    const double r = large * math::sqrt(1.0 + t * t);
    const double sum = ((x != x) | (y != y)) ? math::kNan : r;
    return ((x == math::kInf) | (y == math::kInf)) ? math::kInf : sum;
  }
};

// log(e^a + e^b) = max + log(1 + e^-|a - b|). In float64 also for float32: where the two cancel,
// their absolute errors count.
struct LogAddExp {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    const double x = a, y = b;
    const double sum = math::log1p_exp(-math::abs(x - y));
    return static_cast<T>(x == y ? x + math::kLn2 : (x > y ? x : y) + sum);
  }
};
struct LogAddExp2 {  // log2(2^a + 2^b)
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    const double x = a, y = b;
    const double sum = math::log1p_exp(-math::abs(x - y) * math::kLn2);
    return static_cast<T>(x == y ? x + 1.0 : (x > y ? x : y) + sum * 1.4426950408889634);
  }
};

// x log y and x log(1 + y): 0 for x = 0 unless y is NaN.
struct Xlogy {
  ZERO_INLINE float operator()(float x, float y) const {
    const float product = x == 0.0f ? 0.0f : x * math::log(y);
    return y != y ? y : product;
  }
  ZERO_INLINE double operator()(double x, double y) const {
    const double product = x == 0.0 ? 0.0 : x * math::log(y);
    return y != y ? y : product;
  }
};
struct Xlog1py {
  ZERO_INLINE float operator()(float x, float y) const {
    const float product = x == 0.0f ? 0.0f : x * math::log1p(y);
    return y != y ? y : product;
  }
  ZERO_INLINE double operator()(double x, double y) const {
    const double product = x == 0.0 ? 0.0 : x * math::log1p(y);
    return y != y ? y : product;
  }
};

// ---- three operands -----------------------------------------------------------------------------

struct Addcmul {  // a + value b c
  template <class T>
  struct Scaled {
    T value;
    ZERO_INLINE T operator()(T a, T b, T c) const {
      if constexpr (is_float<T>)
        return a + value * b * c;
      else if constexpr (sizeof(T) == 1)
        return T(a | (value & b & c));
      else
        return wrap_add(a, wrap_mul(value, wrap_mul(b, c)));
    }
  };
  template <class T>
  static Scaled<T> bind(const void* params) {
    const AlphaParams& p = *static_cast<const AlphaParams*>(params);
    if constexpr (is_float<T>)
      return {static_cast<T>(p.f)};
    else if constexpr (sizeof(T) == 1)
      return {static_cast<T>(p.i != 0)};
    else
      return {static_cast<T>(p.i)};
  }
};
struct Addcdiv {  // a + value b / c
  template <class T>
  struct Scaled {
    T value;
    ZERO_INLINE T operator()(T a, T b, T c) const { return a + value * b / c; }
  };
  template <class T>
  static Scaled<T> bind(const void* params) {
    return {static_cast<T>(static_cast<const AlphaParams*>(params)->f)};
  }
};
struct Lerp {  // from the nearer end, so that weight 1 gives the end itself
  template <class T>
  ZERO_INLINE T operator()(T a, T b, T weight) const {
    const T way = b - a;
    return weight < T(0.5) ? a + weight * way : b - (T(1) - weight) * way;
  }
};
struct ClampBoth {  // min(max(x, low), high); NaN if one is
  template <class T>
  ZERO_INLINE T operator()(T x, T low, T high) const {
    const T raised = x < low ? low : x;
    const T y = raised > high ? high : raised;
    const T with_low = low == low ? y : low;
    return high == high ? with_low : high;
  }
};

}  // namespace

void fill_pointwise(KernelTable& table) {
#define ZERO_SET(Name, Types) set<UnaryLoop, Name, types::Types>(table, ElementwiseOp::Name);
  ZERO_POINTWISE_UNARY_OPS(ZERO_SET)
  ZERO_POINTWISE_COMPARE_OPS(ZERO_SET)
#undef ZERO_SET
#define ZERO_SET(Name, Types) set<BinaryLoop, Name, types::Types>(table, ElementwiseOp::Name);
  ZERO_POINTWISE_BINARY_OPS(ZERO_SET)
#undef ZERO_SET
#define ZERO_SET(Name, Types) set<TernaryLoop, Name, types::Types>(table, ElementwiseOp::Name);
  ZERO_POINTWISE_TERNARY_OPS(ZERO_SET)
#undef ZERO_SET
}

}  // namespace zero::ZERO_ISA_NS
