// Elementwise operations: what each does to one element. The loops are in elementwise.inl.
//
// One functor per op; the lists in table.h register them, so none can be forgotten. Semantics are
// PyTorch's. Integers wrap; a division by zero of integers gives 0 and INT_MIN / -1 wraps, so that
// nothing traps: ops/ raises before it comes here. Bool is stored as a byte 0 or 1 (see value_of).
#include "zero/kernels/elementwise.inl"
#include "zero/kernels/math.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// ---- functors -----------------------------------------------------------------------------------

#define ZERO_MATH_FUNCTOR(Name, function) \
  struct Name {                           \
    template <class T>                    \
    ZERO_INLINE T operator()(T x) const { \
      return math::function(x);           \
    }                                     \
  };
ZERO_MATH_FUNCTOR(Exp, exp)
ZERO_MATH_FUNCTOR(Exp2, exp2)
ZERO_MATH_FUNCTOR(Expm1, expm1)
ZERO_MATH_FUNCTOR(Log, log)
ZERO_MATH_FUNCTOR(Log2, log2)
ZERO_MATH_FUNCTOR(Log10, log10)
ZERO_MATH_FUNCTOR(Log1p, log1p)
ZERO_MATH_FUNCTOR(Tanh, tanh)
ZERO_MATH_FUNCTOR(Sigmoid, sigmoid)
ZERO_MATH_FUNCTOR(Sinh, sinh)
ZERO_MATH_FUNCTOR(Cosh, cosh)
ZERO_MATH_FUNCTOR(Asin, asin)
ZERO_MATH_FUNCTOR(Acos, acos)
ZERO_MATH_FUNCTOR(Atan, atan)
ZERO_MATH_FUNCTOR(Asinh, asinh)
ZERO_MATH_FUNCTOR(Acosh, acosh)
ZERO_MATH_FUNCTOR(Atanh, atanh)
#undef ZERO_MATH_FUNCTOR

// With arguments past the limits, whose reduction needs more bits of pi, a block goes to libm.
#define ZERO_TRIG_FUNCTOR(Name, function)                                                 \
  struct Name {                                                                           \
    template <class T>                                                                    \
    ZERO_INLINE T operator()(T x) const {                                                 \
      return math::function(x);                                                           \
    }                                                                                     \
    ZERO_INLINE static bool beyond(float x) { return math::abs(x) > math::kTrigLimit; }   \
    ZERO_INLINE static bool beyond(double x) { return math::abs(x) > math::kTrigLimitD; } \
    template <class T>                                                                    \
    ZERO_INLINE static T far(T x) {                                                       \
      return static_cast<T>(ZERO_LIBM(function)(static_cast<double>(x)));                 \
    }                                                                                     \
  };
ZERO_TRIG_FUNCTOR(Sin, sin)
ZERO_TRIG_FUNCTOR(Cos, cos)
ZERO_TRIG_FUNCTOR(Tan, tan)
#undef ZERO_TRIG_FUNCTOR

ZERO_UNARY_FUNCTOR(Sqrt, math::sqrt(x))
ZERO_UNARY_FUNCTOR(Rsqrt, T(1) / math::sqrt(x))
ZERO_UNARY_FUNCTOR(Reciprocal, T(1) / x)
ZERO_UNARY_FUNCTOR(Relu, x < T(0) ? T(0) : x)  // NaN stays
ZERO_UNARY_FUNCTOR(LogicalNot, x == T(0))
ZERO_UNARY_FUNCTOR(IsNan, x != x)
ZERO_UNARY_FUNCTOR(IsInf, math::abs(x) == T(math::kInf))
ZERO_UNARY_FUNCTOR(IsFinite, math::abs(x) < T(math::kInf))
ZERO_BINARY_FUNCTOR(Div, a / b)
ZERO_BINARY_FUNCTOR(Eq, a == b)
ZERO_BINARY_FUNCTOR(Ne, a != b)
ZERO_BINARY_FUNCTOR(Lt, a < b)
ZERO_BINARY_FUNCTOR(Le, a <= b)
ZERO_BINARY_FUNCTOR(Gt, a > b)
ZERO_BINARY_FUNCTOR(Ge, a >= b)
ZERO_BINARY_FUNCTOR(LogicalAnd, bool((a != T(0)) & (b != T(0))))  // NaN is true
ZERO_BINARY_FUNCTOR(LogicalOr, bool((a != T(0)) | (b != T(0))))
ZERO_BINARY_FUNCTOR(LogicalXor, (a != T(0)) != (b != T(0)))
ZERO_BINARY_FUNCTOR(Maximum, ((a >= b) | (a != a)) ? a : b)  // NaN if either is
ZERO_BINARY_FUNCTOR(Minimum, ((a <= b) | (a != a)) ? a : b)
ZERO_BINARY_FUNCTOR(BitAnd, (T(a & b)))
ZERO_BINARY_FUNCTOR(BitOr, T(a | b))
ZERO_BINARY_FUNCTOR(BitXor, T(a ^ b))
// Gradients: g is the gradient of the result y.
ZERO_BINARY_FUNCTOR(TanhGrad, (a * (T(1) - b * b)))
ZERO_BINARY_FUNCTOR(SigmoidGrad, (a * (b * (T(1) - b))))
ZERO_BINARY_FUNCTOR(ReluGrad, b <= T(0) ? T(0) : a)  // y NaN: g, as in PyTorch

struct Neg {
  template <class T>
  ZERO_INLINE T operator()(T x) const {
    if constexpr (is_float<T>)
      return -x;
    else
      return wrap_sub(T(0), x);
  }
};

struct Abs {
  template <class T>
  ZERO_INLINE T operator()(T x) const {
    if constexpr (is_float<T>)
      return math::abs(x);
    else
      return x < 0 ? wrap_sub(T(0), x) : x;
  }
};

struct Sign {  // NaN has sign 0, as in PyTorch
  template <class T>
  ZERO_INLINE T operator()(T x) const {
    if constexpr (sizeof(T) == 1)
      return x;
    else
      return (x > T(0) ? T(1) : T(0)) - (x < T(0) ? T(1) : T(0));
  }
};

struct BitNot {
  template <class T>
  ZERO_INLINE T operator()(T x) const {
    return sizeof(T) == 1 ? T(x ^ 1) : T(~x);
  }
};

// To an integer value: toward -inf, +inf, zero, and to the nearest (halves to even).
#define ZERO_ROUNDING_FUNCTOR(Name, function)                                         \
  struct Name {                                                                       \
    ZERO_INLINE float operator()(float x) const { return ZERO_LIBM(function##f)(x); } \
    ZERO_INLINE double operator()(double x) const { return ZERO_LIBM(function)(x); }  \
  };
ZERO_ROUNDING_FUNCTOR(Floor, floor)
ZERO_ROUNDING_FUNCTOR(Ceil, ceil)
ZERO_ROUNDING_FUNCTOR(Trunc, trunc)
ZERO_ROUNDING_FUNCTOR(Round, rint)
#undef ZERO_ROUNDING_FUNCTOR

struct Clamp {
  template <class T>
  struct Bound {
    T lo, hi;
    ZERO_INLINE T operator()(T x) const {
      x = ((x < lo) | (lo != lo)) ? lo : x;  // a NaN bound gives NaN
      return ((x > hi) | (hi != hi)) ? hi : x;
    }
  };
  template <class T>
  static Bound<T> bind(const void* params) {
    const ClampParams& p = *static_cast<const ClampParams*>(params);
    Bound<T> f{};
    if constexpr (is_float<T>) {
      f.lo = static_cast<T>(p.lo_f), f.hi = static_cast<T>(p.hi_f);
    } else {
      f.lo = saturate<T>(p.lo_i), f.hi = saturate<T>(p.hi_i);
    }
    return f;
  }
  template <class T>
  static T saturate(int64_t x) {
    if constexpr (sizeof(T) == 8)
      return x;
    else
      return static_cast<T>(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
  }
};

struct Add {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (sizeof(T) == 1)
      return T(a | b);
    else if constexpr (is_float<T>)
      return a + b;
    else
      return wrap_add(a, b);
  }
};

struct Sub {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (is_float<T>)
      return a - b;
    else
      return wrap_sub(a, b);
  }
};

struct Mul {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (sizeof(T) == 1)
      return T(a & b);
    else if constexpr (is_float<T>)
      return a * b;
    else
      return wrap_mul(a, b);
  }
};

// a + alpha b; Sub comes here with -alpha.
template <class T>
struct AddScaled {
  T alpha;
  ZERO_INLINE T operator()(T a, T b) const { return Add{}(a, Mul{}(alpha, b)); }
};

// Integer division whose quotient goes toward zero; never traps.
template <class T>
ZERO_INLINE T quotient(T a, T b) {
  if (b == 0) return 0;
  return b == -1 ? wrap_sub(T(0), a) : T(a / b);
}

struct TruncDiv {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (is_float<T>)
      return Trunc{}(a / b);
    else
      return quotient(a, b);
  }
};

#if defined(__FMA__) || defined(__aarch64__)
constexpr bool kFusedProducts = true;
#else
constexpr bool kFusedProducts = false;
#endif

// a = whole b + rest: the quotient, cut, and the rest, all in float64. For float32 they are exact
// as long as |a / b| < 2^28, for a product of 24 by 28 bits is; for float64, where a product and
// its difference are rounded once, up to 2^51. What is beyond goes to libm.
template <class T>
struct Division {
  double quotient, whole, rest;
  ZERO_INLINE Division(T a, T b) {
    const double x = a, y = b;
    quotient = x / y;
    const double step = quotient < 0.0 ? -1.0 : 1.0;
    const double nearest = (quotient + math::kRound) - math::kRound;
    whole = math::abs(nearest) > math::abs(quotient) ? nearest - step : nearest;
    if constexpr (same<T, float>) {
      rest = x - whole * y;
    } else {  // a quotient that was rounded to a whole number leaves a rest of the other sign
      const double left = ZERO_LIBM(fma)(-whole, y, x);
      const bool over = (left != 0.0) & ((left < 0.0) != (x < 0.0));
      rest = left + (over ? math::copysign(math::abs(y), x) : 0.0);
      whole -= over ? step : 0.0;
    }
  }
  ZERO_INLINE static bool beyond(T a, T b) {
    constexpr double limit = same<T, float> ? 0x1p28 : kFusedProducts ? 0x1p51 : 0.0;
    const double q = static_cast<double>(a) / static_cast<double>(b);
    return !((math::abs(q) < limit) & (math::abs(static_cast<double>(b)) < math::kInf));
  }
};

ZERO_INLINE float libm_fmod(float a, float b) { return ZERO_LIBM(fmodf)(a, b); }
ZERO_INLINE double libm_fmod(double a, double b) { return ZERO_LIBM(fmod)(a, b); }

struct Fmod {  // C's: the sign of a
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (is_float<T>) {
      const T r = static_cast<T>(Division<T>(a, b).rest);
      return r == T(0) ? math::copysign(T(0), a) : r;
    } else {
      return wrap_sub(a, wrap_mul(quotient(a, b), b));
    }
  }
  template <class T>
  ZERO_INLINE static bool beyond(T a, T b) {
    return Division<T>::beyond(a, b);
  }
  template <class T>
  ZERO_INLINE static T far(T a, T b) {
    return libm_fmod(a, b);
  }
};

struct Remainder {  // Python's: the sign of b, also of a zero
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (is_float<T>) {
      return with_sign_of(static_cast<T>(Division<T>(a, b).rest), b);
    } else {
      const T r = Fmod{}(a, b);
      if (b == 0) return 0;
      return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
    }
  }
  template <class T>
  ZERO_INLINE static T with_sign_of(T r, T b) {
    const T shifted = r + ((r < T(0)) != (b < T(0)) ? b : T(0));
    return r == T(0) ? math::copysign(T(0), b) : shifted;
  }
  template <class T>
  ZERO_INLINE static bool beyond(T a, T b) {
    return Division<T>::beyond(a, b);
  }
  template <class T>
  ZERO_INLINE static T far(T a, T b) {
    return with_sign_of(libm_fmod(a, b), b);
  }
};

struct FloorDiv {  // floor(a / b) of the exact quotient
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (is_float<T>) {
      const Division<T> d(a, b);
      const double q = d.whole - ((d.rest < 0.0) != (b < T(0)) ? 1.0 : 0.0);
      const double floor = d.rest == 0.0 ? d.whole : q;
      const T sign = static_cast<T>(d.quotient);
      return floor == 0.0 ? math::copysign(T(0), sign) : static_cast<T>(floor);
    } else {
      const T q = quotient(a, b);
      return b != 0 && (a < 0) != (b < 0) && wrap_mul(q, b) != a ? T(q - 1) : q;
    }
  }
  template <class T>
  ZERO_INLINE static T of_remainder(T a, T b, T r) {
    if (b == T(0)) return a / b;
    T q = (a - r) / b;
    if (r != T(0) && (r < T(0)) != (b < T(0))) q -= T(1);
    if (q == T(0)) return math::copysign(T(0), a / b);
    const T floor = Floor{}(q);
    return q - floor > T(0.5) ? floor + T(1) : floor;
  }
  template <class T>
  ZERO_INLINE static bool beyond(T a, T b) {
    return Division<T>::beyond(a, b);
  }
  template <class T>
  ZERO_INLINE static T far(T a, T b) {
    return of_remainder(a, b, libm_fmod(a, b));
  }
};

struct Pow {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (is_float<T>) {
      return math::pow(a, b);
    } else {
      if (b < 0) return a == 1 ? 1 : a == -1 ? ((b & 1) != 0 ? -1 : 1) : 0;
      T result = 1;
      for (; b != 0; b >>= 1) {
        if ((b & 1) != 0) result = wrap_mul(result, a);
        a = wrap_mul(a, a);
      }
      return result;
    }
  }
};

struct Atan2 {
  template <class T>
  ZERO_INLINE T operator()(T y, T x) const {
    return math::atan2(y, x);
  }
};

// ---- loops of their own -------------------------------------------------------------------------

template <class Op> constexpr int kAlphaSign = 0;  // has no alpha
template <> constexpr int kAlphaSign<Add> = 1;
template <> constexpr int kAlphaSign<Sub> = -1;

template <class Op, class T>
void sum(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const void* params) {
  if (params == nullptr) return run_binary<T>(Op{}, data, strides, n0, n1);
  const AlphaParams& p = *static_cast<const AlphaParams*>(params);
  AddScaled<T> f{};
  if constexpr (sizeof(T) == 1)
    f.alpha = p.i != 0;
  else if constexpr (is_float<T>)
    f.alpha = static_cast<T>(kAlphaSign<Op> * p.f);
  else
    f.alpha = wrap_mul(static_cast<T>(kAlphaSign<Op>), static_cast<T>(p.i));
  run_binary<T>(f, data, strides, n0, n1);
}

struct SumLoop {
  template <class Op, class T>
  static constexpr LoopFn get() {
    if constexpr (kAlphaSign<Op> != 0)
      return sum<Op, T>;
    else
      return binary<Op, T>;
  }
};

template <class T>  // any type of the size: bits are moved, not computed with
ZERO_NOINLINE void where_loop(const void*, char* const* operands, int64_t n) {
  T* out = reinterpret_cast<T*>(operands[0]);
  const Logical* cond = reinterpret_cast<const Logical*>(operands[1]);
  const T* a = reinterpret_cast<const T*>(operands[2]);
  const T* b = reinterpret_cast<const T*>(operands[3]);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) {
    const T x = a[i], y = b[i];  // both are read, so that this is a select
    out[i] = cond[i] != 0 ? x : y;
  }
}

template <class T>
void where(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const void*) {
  constexpr int64_t kSizes[4] = {sizeof(T), sizeof(Logical), sizeof(T), sizeof(T)};
  map_strided(where_loop<T>, nullptr, kSizes, data, strides, n0, n1);
}

}  // namespace

void fill_elementwise(KernelTable& table) {
#define ZERO_SET(Name, Types) set<UnaryLoop, Name, types::Types>(table, ElementwiseOp::Name);
  ZERO_UNARY_OPS(ZERO_SET)
  ZERO_UNARY_COMPARE_OPS(ZERO_SET)
#undef ZERO_SET
#define ZERO_SET(Name, Types) set<SumLoop, Name, types::Types>(table, ElementwiseOp::Name);
  ZERO_BINARY_OPS(ZERO_SET)
  ZERO_BINARY_COMPARE_OPS(ZERO_SET)
#undef ZERO_SET
  LoopFn* row = table.elementwise[static_cast<int>(ElementwiseOp::Where)];
  row[static_cast<int>(ComputeType::F32)] = where<uint32_t>;
  row[static_cast<int>(ComputeType::F64)] = where<uint64_t>;
  row[static_cast<int>(ComputeType::I64)] = where<uint64_t>;
  row[static_cast<int>(ComputeType::I32)] = where<uint32_t>;
  row[static_cast<int>(ComputeType::Bool)] = where<uint8_t>;
}

}  // namespace zero::ZERO_ISA_NS
