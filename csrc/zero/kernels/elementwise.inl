// The loops of elementwise operations and how a family enters them in the table.
//
// A family is a list of table.h and one functor per op: elementwise.cpp, pointwise.cpp,
// special.cpp. A functor with parameters has a static bind<T>(params) that makes the object called
// for each element. One that is only good for some float32 has beyond(x), which tells the others,
// and far(x) for them.
#pragma once

#include "zero/kernels/blocks.inl"

namespace zero::ZERO_ISA_NS {
namespace {

using Logical = uint8_t;  // compute type Bool

// A functor from an expression of x (type T), of a and b, or of a, b and c.
#define ZERO_UNARY_FUNCTOR(Name, expression) \
  struct Name {                              \
    template <class T>                       \
    ZERO_INLINE auto operator()(T x) const { \
      return expression;                     \
    }                                        \
  };
#define ZERO_BINARY_FUNCTOR(Name, expression)     \
  struct Name {                                   \
    template <class T>                            \
    ZERO_INLINE auto operator()(T a, T b) const { \
      return expression;                          \
    }                                             \
  };

// ---- loops --------------------------------------------------------------------------------------

// What a functor's result is in memory; it must be the compute type or bool, not a promoted int.
template <class Result, class T> struct StoredAs {
  static_assert(same<Result, T>);
  using type = T;
};
template <class T> struct StoredAs<bool, T> { using type = Logical; };

// The loops over contiguous memory. out may be an input: every element is read before it is
// written.
template <class F, class T, class R>
ZERO_INLINE void unary_map(F f, R* out, const T* a, int64_t n) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = f(value_of(a[i]));
}

template <class F, class T>
ZERO_NOINLINE void unary_loop(const void* functor, char* const* operands, int64_t n) {
  const F& f = *static_cast<const F*>(functor);
  using R = typename StoredAs<decltype(f(T{})), T>::type;
  R* out = reinterpret_cast<R*>(operands[0]);
  const T* a = reinterpret_cast<const T*>(operands[1]);
  if constexpr (is_float<T> && requires(T x) { F::beyond(x); }) {
    for (; n > 0; out += kBlock, a += kBlock, n -= kBlock) {
      const int64_t m = n < kBlock ? n : kBlock;
      int beyond = 0;
      ZERO_SIMD_ANY(beyond)
      for (int64_t i = 0; i < m; ++i) beyond |= F::beyond(a[i]);
      if (beyond == 0) {
        unary_map(f, out, a, m);
      } else {
        for (int64_t i = 0; i < m; ++i) out[i] = F::beyond(a[i]) ? F::far(a[i]) : f(a[i]);
      }
    }
  } else {
    unary_map(f, out, a, n);
  }
}

template <class F, class T, class R>
ZERO_INLINE void binary_map(F f, R* out, const T* a, const T* b, int64_t n) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = f(value_of(a[i]), value_of(b[i]));
}

template <class F, class T>
ZERO_NOINLINE void binary_loop(const void* functor, char* const* operands, int64_t n) {
  const F f = *static_cast<const F*>(functor);
  using R = typename StoredAs<decltype(f(T{}, T{})), T>::type;
  R* out = reinterpret_cast<R*>(operands[0]);
  const T* a = reinterpret_cast<const T*>(operands[1]);
  const T* b = reinterpret_cast<const T*>(operands[2]);
  if constexpr (is_float<T> && requires(T x) { F::beyond(x, x); }) {
    for (; n > 0; out += kBlock, a += kBlock, b += kBlock, n -= kBlock) {
      const int64_t m = n < kBlock ? n : kBlock;
      int beyond = 0;
      ZERO_SIMD_ANY(beyond)
      for (int64_t i = 0; i < m; ++i) beyond |= F::beyond(a[i], b[i]);
      if (beyond == 0) {
        binary_map(f, out, a, b, m);
      } else {
        for (int64_t i = 0; i < m; ++i) {
          out[i] = F::beyond(a[i], b[i]) ? F::far(a[i], b[i]) : f(a[i], b[i]);
        }
      }
    }
  } else {
    binary_map(f, out, a, b, n);
  }
}

template <class F, class T>
ZERO_NOINLINE void ternary_loop(const void* functor, char* const* operands, int64_t n) {
  const F f = *static_cast<const F*>(functor);
  static_assert(same<decltype(f(T{}, T{}, T{})), T>);
  T* out = reinterpret_cast<T*>(operands[0]);
  const T* a = reinterpret_cast<const T*>(operands[1]);
  const T* b = reinterpret_cast<const T*>(operands[2]);
  const T* c = reinterpret_cast<const T*>(operands[3]);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) out[i] = f(value_of(a[i]), value_of(b[i]), value_of(c[i]));
}

template <class T, class F>
ZERO_INLINE void run_unary(const F& f, char* const* data, const int64_t* strides, int64_t n0,
                           int64_t n1) {
  using R = typename StoredAs<decltype(f(T{})), T>::type;
  constexpr int64_t kSizes[2] = {sizeof(R), sizeof(T)};
  map_strided(unary_loop<F, T>, &f, kSizes, data, strides, n0, n1);
}
template <class T, class F>
ZERO_INLINE void run_binary(const F& f, char* const* data, const int64_t* strides, int64_t n0,
                            int64_t n1) {
  using R = typename StoredAs<decltype(f(T{}, T{})), T>::type;
  constexpr int64_t kSizes[3] = {sizeof(R), sizeof(T), sizeof(T)};
  map_strided(binary_loop<F, T>, &f, kSizes, data, strides, n0, n1);
}

template <class T, class F>
ZERO_INLINE void run_ternary(const F& f, char* const* data, const int64_t* strides, int64_t n0,
                             int64_t n1) {
  constexpr int64_t kSizes[4] = {sizeof(T), sizeof(T), sizeof(T), sizeof(T)};
  map_strided(ternary_loop<F, T>, &f, kSizes, data, strides, n0, n1);
}

template <class Op, class T>
ZERO_INLINE auto functor(const void* params) {
  if constexpr (requires { Op::template bind<T>(params); }) {
    return Op::template bind<T>(params);
  } else {
    return Op{};
  }
}

template <class Op, class T>
void unary(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const void* params) {
  run_unary<T>(functor<Op, T>(params), data, strides, n0, n1);
}
template <class Op, class T>
void binary(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const void* params) {
  run_binary<T>(functor<Op, T>(params), data, strides, n0, n1);
}
template <class Op, class T>
void ternary(char* const* data, const int64_t* strides, int64_t n0, int64_t n1,
             const void* params) {
  run_ternary<T>(functor<Op, T>(params), data, strides, n0, n1);
}

// ---- table --------------------------------------------------------------------------------------

namespace types {  // the sets of compute types that table.h names
struct Float { static constexpr bool kFloat = true, kInt = false, kBool = false; };
struct Number { static constexpr bool kFloat = true, kInt = true, kBool = false; };
struct Any { static constexpr bool kFloat = true, kInt = true, kBool = true; };
struct Bits { static constexpr bool kFloat = false, kInt = true, kBool = true; };
struct Int { static constexpr bool kFloat = false, kInt = true, kBool = false; };
}  // namespace types

struct UnaryLoop {
  template <class Op, class T> static constexpr LoopFn get() { return unary<Op, T>; }
};
struct BinaryLoop {
  template <class Op, class T> static constexpr LoopFn get() { return binary<Op, T>; }
};
struct TernaryLoop {
  template <class Op, class T> static constexpr LoopFn get() { return ternary<Op, T>; }
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

}  // namespace
}  // namespace zero::ZERO_ISA_NS
