// Elementwise operations: what each does to one element, the loops around it, and the table of both.
//
// One functor per op; the lists in table.h register them, so none can be forgotten. Semantics are
// PyTorch's. Integers wrap; a division by zero of integers gives 0 and INT_MIN / -1 wraps, so that
// nothing traps: ops/ raises before it comes here. Bool is stored as a byte 0 or 1.
#pragma once

#include "zero/kernels/math.inl"

namespace zero::ZERO_ISA_NS {
namespace {

using Logical = uint8_t;  // compute type Bool

// ---- functors ------------------------------------------------------------------------------------

// Math functions are long: their one loop runs over contiguous memory, and other layouts pass
// through blocks. The short ones (Light) have a loop per layout.
struct Light { static constexpr bool kHeavy = false; };
struct Heavy { static constexpr bool kHeavy = true; };

#define ZERO_MATH_FUNCTOR(Name, function)               \
  struct Name : Heavy {                                 \
    template <class T>                                  \
    ZERO_INLINE T operator()(T x) const {               \
      return math::function(x);                         \
    }                                                   \
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
ZERO_MATH_FUNCTOR(Erf, erf)
ZERO_MATH_FUNCTOR(Erfc, erfc)
ZERO_MATH_FUNCTOR(Sinh, sinh)
ZERO_MATH_FUNCTOR(Cosh, cosh)
ZERO_MATH_FUNCTOR(Asin, asin)
ZERO_MATH_FUNCTOR(Acos, acos)
ZERO_MATH_FUNCTOR(Atan, atan)
ZERO_MATH_FUNCTOR(Asinh, asinh)
ZERO_MATH_FUNCTOR(Acosh, acosh)
ZERO_MATH_FUNCTOR(Atanh, atanh)
#undef ZERO_MATH_FUNCTOR

// With arguments past kTrigLimit, whose reduction needs more bits of pi, a block goes to float64 libm.
#define ZERO_TRIG_FUNCTOR(Name, function)                             \
  struct Name : Heavy {                                               \
    template <class T>                                                \
    ZERO_INLINE T operator()(T x) const {                             \
      return math::function(x);                                       \
    }                                                                 \
    ZERO_INLINE static bool beyond(float x) {                         \
      return math::abs(x) > math::kTrigLimit;                         \
    }                                                                 \
    ZERO_INLINE static float far(float x) {                           \
      return static_cast<float>(math::function(static_cast<double>(x))); \
    }                                                                 \
  };
ZERO_TRIG_FUNCTOR(Sin, sin)
ZERO_TRIG_FUNCTOR(Cos, cos)
ZERO_TRIG_FUNCTOR(Tan, tan)
#undef ZERO_TRIG_FUNCTOR

// A functor from an expression of x (type T), or of a and b.
#define ZERO_UNARY_FUNCTOR(Name, expression)  \
  struct Name : Light {                       \
    template <class T>                        \
    ZERO_INLINE auto operator()(T x) const {  \
      return expression;                      \
    }                                         \
  };
#define ZERO_BINARY_FUNCTOR(Name, expression)      \
  struct Name : Light {                            \
    template <class T>                             \
    ZERO_INLINE auto operator()(T a, T b) const {  \
      return expression;                           \
    }                                              \
  };

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
ZERO_BINARY_FUNCTOR(LogicalAnd, (a != T(0)) & (b != T(0)))  // NaN is true
ZERO_BINARY_FUNCTOR(LogicalOr, (a != T(0)) | (b != T(0)))
ZERO_BINARY_FUNCTOR(LogicalXor, (a != T(0)) != (b != T(0)))
ZERO_BINARY_FUNCTOR(Maximum, (a >= b) | (a != a) ? a : b)  // NaN if either is
ZERO_BINARY_FUNCTOR(Minimum, (a <= b) | (a != a) ? a : b)
ZERO_BINARY_FUNCTOR(BitAnd, T(a & b))
ZERO_BINARY_FUNCTOR(BitOr, T(a | b))
ZERO_BINARY_FUNCTOR(BitXor, T(a ^ b))
// Gradients: g is the gradient of the result y.
ZERO_BINARY_FUNCTOR(TanhGrad, a * (T(1) - b * b))
ZERO_BINARY_FUNCTOR(SigmoidGrad, a * (b * (T(1) - b)))
ZERO_BINARY_FUNCTOR(ReluGrad, b <= T(0) ? T(0) : a)  // y NaN: g, as in PyTorch
#undef ZERO_UNARY_FUNCTOR
#undef ZERO_BINARY_FUNCTOR

struct Neg : Light {
  template <class T>
  ZERO_INLINE T operator()(T x) const {
    if constexpr (is_float<T>) return -x;
    else return wrap_sub(T(0), x);
  }
};

struct Abs : Light {
  template <class T>
  ZERO_INLINE T operator()(T x) const {
    if constexpr (is_float<T>) return math::abs(x);
    else return x < 0 ? wrap_sub(T(0), x) : x;
  }
};

struct Sign : Light {  // NaN has sign 0, as in PyTorch
  template <class T>
  ZERO_INLINE T operator()(T x) const {
    if constexpr (sizeof(T) == 1) return x;
    else return (x > T(0) ? T(1) : T(0)) - (x < T(0) ? T(1) : T(0));
  }
};

struct BitNot : Light {
  template <class T>
  ZERO_INLINE T operator()(T x) const {
    return sizeof(T) == 1 ? T(x ^ 1) : T(~x);
  }
};

// To an integer value: toward -inf, +inf, zero, and to the nearest (halves to even).
#define ZERO_ROUNDING_FUNCTOR(Name, function)                                              \
  struct Name : Light {                                                                    \
    ZERO_INLINE float operator()(float x) const { return ZERO_LIBM(function##f)(x); }      \
    ZERO_INLINE double operator()(double x) const { return ZERO_LIBM(function)(x); }       \
  };
ZERO_ROUNDING_FUNCTOR(Floor, floor)
ZERO_ROUNDING_FUNCTOR(Ceil, ceil)
ZERO_ROUNDING_FUNCTOR(Trunc, trunc)
ZERO_ROUNDING_FUNCTOR(Round, rint)
#undef ZERO_ROUNDING_FUNCTOR

struct Clamp : Light {
  template <class T>
  struct Bound : Light {
    T lo, hi;
    ZERO_INLINE T operator()(T x) const {
      x = (x < lo) | (lo != lo) ? lo : x;  // a NaN bound gives NaN
      return (x > hi) | (hi != hi) ? hi : x;
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
    if constexpr (sizeof(T) == 8) return x;
    else return static_cast<T>(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
  }
};

struct Add : Light {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (sizeof(T) == 1) return T(a | b);
    else if constexpr (is_float<T>) return a + b;
    else return wrap_add(a, b);
  }
};

struct Sub : Light {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (is_float<T>) return a - b;
    else return wrap_sub(a, b);
  }
};

struct Mul : Light {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (sizeof(T) == 1) return T(a & b);
    else if constexpr (is_float<T>) return a * b;
    else return wrap_mul(a, b);
  }
};

// a + alpha b; Sub comes here with -alpha.
template <class T>
struct AddScaled : Light {
  T alpha;
  ZERO_INLINE T operator()(T a, T b) const { return Add{}(a, Mul{}(alpha, b)); }
};

// Integer division whose quotient goes toward zero; never traps.
template <class T>
ZERO_INLINE T quotient(T a, T b) {
  if (b == 0) return 0;
  return b == -1 ? wrap_sub(T(0), a) : T(a / b);
}

struct TruncDiv : Light {
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (is_float<T>) return Trunc{}(a / b);
    else return quotient(a, b);
  }
};

struct Fmod : Heavy {  // C's: the sign of a
  ZERO_INLINE float operator()(float a, float b) const { return ZERO_LIBM(fmodf)(a, b); }
  ZERO_INLINE double operator()(double a, double b) const { return ZERO_LIBM(fmod)(a, b); }
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    return wrap_sub(a, wrap_mul(quotient(a, b), b));
  }
};

struct Remainder : Heavy {  // Python's: the sign of b, also of a zero
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    const T r = Fmod{}(a, b);
    if constexpr (is_float<T>) {
      if (r == T(0)) return math::copysign(T(0), b);
      return (r < T(0)) != (b < T(0)) ? r + b : r;
    } else {
      if (b == 0) return 0;
      return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
    }
  }
};

struct FloorDiv : Heavy {  // floor(a / b) of the exact quotient
  template <class T>
  ZERO_INLINE T operator()(T a, T b) const {
    if constexpr (is_float<T>) {
      if (b == T(0)) return a / b;
      const T r = Fmod{}(a, b);
      T q = (a - r) / b;
      if (r != T(0) && (r < T(0)) != (b < T(0))) q -= T(1);
      if (q == T(0)) return math::copysign(T(0), a / b);
      const T floor = Floor{}(q);
      return q - floor > T(0.5) ? floor + T(1) : floor;
    } else {
      const T q = quotient(a, b);
      return b != 0 && (a < 0) != (b < 0) && wrap_mul(q, b) != a ? T(q - 1) : q;
    }
  }
};

struct Pow : Heavy {
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

struct Atan2 : Heavy {
  template <class T>
  ZERO_INLINE T operator()(T y, T x) const {
    return math::atan2(y, x);
  }
};

// ---- loops ---------------------------------------------------------------------------------------

template <class T> struct StoredAs { using type = T; };
template <> struct StoredAs<bool> { using type = Logical; };

template <class T>
ZERO_INLINE T& at(char* p, int64_t stride, int64_t i) {
  return *reinterpret_cast<T*>(p + i * stride);
}
template <class T>
ZERO_INLINE const T& at(const char* p, int64_t stride, int64_t i) {
  return *reinterpret_cast<const T*>(p + i * stride);
}

template <class T>
void gather(T* to, const char* from, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = at<T>(from, stride, i);
}
template <class T>
void scatter(char* to, int64_t stride, const T* from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) at<T>(to, stride, i) = from[i];
}
template <class T>
void fill(char* to, int64_t stride, T value, int64_t n) {
  for (int64_t i = 0; i < n; ++i) at<T>(to, stride, i) = value;
}

// out may be a itself: with equal strides every element is read before it is written.
template <class F, class T, class R>
ZERO_INLINE void map_contiguous(F f, R* out, const T* a, int64_t n) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = f(a[i]);
}
template <class F, class T, class R>
ZERO_INLINE void map_contiguous(F f, R* out, const T* a, const T* b, int64_t n) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
}

template <class F, class T, class R>
ZERO_NOINLINE void map_heavy(F f, R* out, const T* a, int64_t n) {
  if constexpr (sizeof(T) == 4 && requires(T x) { F::beyond(x); }) {
    for (; n > 0; out += kBlock, a += kBlock, n -= kBlock) {
      const int64_t m = n < kBlock ? n : kBlock;
      int beyond = 0;
      ZERO_SIMD
      for (int64_t i = 0; i < m; ++i) beyond |= F::beyond(a[i]);
      if (beyond == 0) {
        map_contiguous(f, out, a, m);
      } else {
        for (int64_t i = 0; i < m; ++i) out[i] = F::beyond(a[i]) ? F::far(a[i]) : f(a[i]);
      }
    }
  } else {
    map_contiguous(f, out, a, n);
  }
}
template <class F, class T, class R>
ZERO_NOINLINE void map_heavy(F f, R* out, const T* a, const T* b, int64_t n) {
  map_contiguous(f, out, a, b, n);
}

template <class T, class F>
ZERO_INLINE void unary_row(F f, char* out, int64_t so, const char* a, int64_t sa, int64_t n) {
  using R = typename StoredAs<decltype(f(T{}))>::type;
  const T* in = reinterpret_cast<const T*>(a);
  const bool contiguous = so == int64_t{sizeof(R)} && sa == int64_t{sizeof(T)};
  if (sa == 0 && n > 1) return fill<R>(out, so, f(*in), n);
  if constexpr (!F::kHeavy) {
    if (contiguous) return map_contiguous(f, reinterpret_cast<R*>(out), in, n);
    for (int64_t i = 0; i < n; ++i) at<R>(out, so, i) = f(at<T>(a, sa, i));
  } else {
    if (contiguous) return map_heavy(f, reinterpret_cast<R*>(out), in, n);
    T inputs[kBlock];
    R results[kBlock];
    for (; n > 0; out += kBlock * so, a += kBlock * sa, n -= kBlock) {
      const int64_t m = n < kBlock ? n : kBlock;
      gather(inputs, a, sa, m);
      map_heavy(f, results, inputs, m);
      scatter(out, so, results, m);
    }
  }
}

template <class F, class T>
struct BoundLeft {
  F f;
  T left;
  ZERO_INLINE auto operator()(T right) const { return f(left, right); }
};
template <class F, class T>
struct BoundRight {
  F f;
  T right;
  ZERO_INLINE auto operator()(T left) const { return f(left, right); }
};

// An input with stride 0 is read once per row, before the first write.
template <class T, class F>
ZERO_INLINE void binary_row(F f, char* out, int64_t so, const char* a, int64_t sa, const char* b, int64_t sb,
                            int64_t n) {
  using R = typename StoredAs<decltype(f(T{}, T{}))>::type;
  constexpr int64_t kSize = sizeof(T);
  const T* x = reinterpret_cast<const T*>(a);
  const T* y = reinterpret_cast<const T*>(b);
  R* to = reinterpret_cast<R*>(out);
  const bool contiguous = so == int64_t{sizeof(R)};
  if (sa == 0 && sb == 0 && n > 1) return fill<R>(out, so, f(*x, *y), n);
  if constexpr (!F::kHeavy) {
    if (contiguous && sa == kSize && sb == kSize) return map_contiguous(f, to, x, y, n);
    if (contiguous && sa == kSize && sb == 0) {
      return map_contiguous(BoundRight<F, T>{f, *y}, to, x, n);
    }
    if (contiguous && sa == 0 && sb == kSize) {
      return map_contiguous(BoundLeft<F, T>{f, *x}, to, y, n);
    }
    for (int64_t i = 0; i < n; ++i) at<R>(out, so, i) = f(at<T>(a, sa, i), at<T>(b, sb, i));
  } else {
    if (contiguous && sa == kSize && sb == kSize) return map_heavy(f, to, x, y, n);
    T left[kBlock], right[kBlock];
    R results[kBlock];
    for (; n > 0; out += kBlock * so, a += kBlock * sa, b += kBlock * sb, n -= kBlock) {
      const int64_t m = n < kBlock ? n : kBlock;
      gather(left, a, sa, m);
      gather(right, b, sb, m);
      map_heavy(f, results, left, right, m);
      scatter(out, so, results, m);
    }
  }
}

template <class T, class F>
ZERO_INLINE void unary_rows(F f, char* const* data, const int64_t* strides, int64_t n0, int64_t n1) {
  for (int64_t j = 0; j < n1; ++j) {
    unary_row<T>(f, data[0] + j * strides[2], strides[0], data[1] + j * strides[3], strides[1], n0);
  }
}
template <class T, class F>
ZERO_INLINE void binary_rows(F f, char* const* data, const int64_t* strides, int64_t n0, int64_t n1) {
  for (int64_t j = 0; j < n1; ++j) {
    binary_row<T>(f, data[0] + j * strides[3], strides[0], data[1] + j * strides[4], strides[1],
                  data[2] + j * strides[5], strides[2], n0);
  }
}

template <class Op, class T>
void unary(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const void* params) {
  if constexpr (requires { Op::template bind<T>(params); }) {
    unary_rows<T>(Op::template bind<T>(params), data, strides, n0, n1);
  } else {
    unary_rows<T>(Op{}, data, strides, n0, n1);
  }
}

template <class Op> constexpr int kAlphaSign = 0;  // has no alpha
template <> constexpr int kAlphaSign<Add> = 1;
template <> constexpr int kAlphaSign<Sub> = -1;

template <class Op, class T>
void binary(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const void* params) {
  if constexpr (kAlphaSign<Op> != 0) {
    if (params != nullptr) {
      const AlphaParams& p = *static_cast<const AlphaParams*>(params);
      AddScaled<T> f{};
      if constexpr (sizeof(T) == 1) f.alpha = p.i != 0;
      else if constexpr (is_float<T>) f.alpha = static_cast<T>(kAlphaSign<Op> * p.f);
      else f.alpha = wrap_mul(static_cast<T>(kAlphaSign<Op>), static_cast<T>(p.i));
      return binary_rows<T>(f, data, strides, n0, n1);
    }
  }
  binary_rows<T>(Op{}, data, strides, n0, n1);
}

template <class T>
struct Each {
  const T* p;
  ZERO_INLINE T operator[](int64_t i) const { return p[i]; }
};
template <class T>
struct Same {
  T value;
  ZERO_INLINE T operator[](int64_t) const { return value; }
};

template <class T, class A, class B>
ZERO_INLINE void select_contiguous(T* out, const Logical* cond, A a, B b, int64_t n) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) {
    const T x = a[i], y = b[i];  // both are read, so that this is a select
    out[i] = cond[i] != 0 ? x : y;
  }
}

// T is any type of the size: bits are moved, not computed with.
template <class T>
void where(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const void*) {
  constexpr int64_t kSize = sizeof(T);
  const int64_t so = strides[0], sc = strides[1], sa = strides[2], sb = strides[3];
  for (int64_t j = 0; j < n1; ++j) {
    char* out = data[0] + j * strides[4];
    const char* c = data[1] + j * strides[5];
    const char* a = data[2] + j * strides[6];
    const char* b = data[3] + j * strides[7];
    T* to = reinterpret_cast<T*>(out);
    const Logical* cond = reinterpret_cast<const Logical*>(c);
    const T* x = reinterpret_cast<const T*>(a);
    const T* y = reinterpret_cast<const T*>(b);
    const bool plain = so == kSize && sc == 1;
    if (plain && sa == kSize && sb == kSize) {
      select_contiguous(to, cond, Each<T>{x}, Each<T>{y}, n0);
    } else if (plain && sa == kSize && sb == 0) {
      select_contiguous(to, cond, Each<T>{x}, Same<T>{*y}, n0);
    } else if (plain && sa == 0 && sb == kSize) {
      select_contiguous(to, cond, Same<T>{*x}, Each<T>{y}, n0);
    } else if (plain && sa == 0 && sb == 0) {
      select_contiguous(to, cond, Same<T>{*x}, Same<T>{*y}, n0);
    } else {
      for (int64_t i = 0; i < n0; ++i) {
        at<T>(out, so, i) = at<Logical>(c, sc, i) != 0 ? at<T>(a, sa, i) : at<T>(b, sb, i);
      }
    }
  }
}

// ---- table ---------------------------------------------------------------------------------------

namespace types {  // the sets of compute types that table.h names
struct Float { static constexpr bool kFloat = true, kInt = false, kBool = false; };
struct Number { static constexpr bool kFloat = true, kInt = true, kBool = false; };
struct Any { static constexpr bool kFloat = true, kInt = true, kBool = true; };
struct Bits { static constexpr bool kFloat = false, kInt = true, kBool = true; };
}  // namespace types

struct UnaryLoop {
  template <class Op, class T> static constexpr LoopFn get() { return unary<Op, T>; }
};
struct BinaryLoop {
  template <class Op, class T> static constexpr LoopFn get() { return binary<Op, T>; }
};

template <class Loop, class Op, class Types>
void set(KernelTable& table, ElementwiseOp op) {
  LoopFn* row = table.elementwise[static_cast<int>(op)];
  if constexpr (Types::kFloat) {
    row[static_cast<int>(ComputeType::F32)] = Loop::template get<Op, float>();
    row[static_cast<int>(ComputeType::F64)] = Loop::template get<Op, double>();
  }
  if constexpr (Types::kInt) {
    row[static_cast<int>(ComputeType::I64)] = Loop::template get<Op, int64_t>();
    row[static_cast<int>(ComputeType::I32)] = Loop::template get<Op, int32_t>();
  }
  if constexpr (Types::kBool) {
    row[static_cast<int>(ComputeType::Bool)] = Loop::template get<Op, Logical>();
  }
}

void fill_elementwise(KernelTable& table) {
#define ZERO_SET(Name, Types) set<UnaryLoop, Name, types::Types>(table, ElementwiseOp::Name);
  ZERO_UNARY_OPS(ZERO_SET)
  ZERO_UNARY_COMPARE_OPS(ZERO_SET)
#undef ZERO_SET
#define ZERO_SET(Name, Types) set<BinaryLoop, Name, types::Types>(table, ElementwiseOp::Name);
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

}  // namespace
}  // namespace zero::ZERO_ISA_NS
