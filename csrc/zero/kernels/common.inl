// What every kernel family uses: the vector pragma, forced inlining, bit casts, wrapping integers.
//
// Families are compiled once per instruction set, into namespace zero::ZERO_ISA_NS. All but
// fill_<family> lies in an unnamed namespace: another function visible outside its object could be
// linked in the wrong instruction set's version. For the same reason they use no std:: function;
// libm is called by its C names.
#pragma once

#if !defined(ZERO_ISA_NS)
#error "kernels are compiled once per instruction set: tools/build_core.py defines ZERO_ISA_NS"
#endif

#include <stdint.h>

#include "zero/kernels/table.h"

#if defined(__GNUC__)  // gcc, clang, clang-cl
#define ZERO_SIMD \
  _Pragma("omp simd")  // iterations are independent (-fopenmp-simd; no OpenMP runtime)
#define ZERO_SIMD_ANY(flag) \
  ZERO_PRAGMA(omp simd reduction(| : flag))  // the same, and each may set a bit of `flag`
#define ZERO_PRAGMA(text) _Pragma(#text)
#define ZERO_INLINE __attribute__((always_inline)) inline
#define ZERO_NOINLINE __attribute__((noinline))
#define ZERO_LIBM(name) __builtin_##name
#else
#include <math.h>
#include <string.h>
#define ZERO_SIMD __pragma(loop(ivdep))
#define ZERO_SIMD_ANY(flag)
#define ZERO_INLINE __forceinline
#define ZERO_NOINLINE __declspec(noinline)
#define ZERO_LIBM(name) ::name
#endif

#if defined(__clang__)
#pragma clang diagnostic ignored \
    "-Wpass-failed"  // a loop that calls libm cannot become vector code
#endif

namespace zero::ZERO_ISA_NS {
namespace {

template <class To, class From>
ZERO_INLINE To bit_cast(From x) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, x);
}

ZERO_INLINE void copy_bytes(void* to, const void* from, int64_t bytes) {
#if defined(__GNUC__)
  __builtin_memcpy(to, from, static_cast<size_t>(bytes));
#else
  ::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

// Loops with buffers on the stack work in blocks of this many elements: two or three stay in L1.
constexpr int64_t kBlock = 256;

template <class T> struct UnsignedOf { using type = T; };
template <> struct UnsignedOf<int32_t> { using type = uint32_t; };
template <> struct UnsignedOf<int64_t> { using type = uint64_t; };

template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;

template <class T> constexpr bool is_float = T(0.5) != T(0);

// An element in memory as loops compute with it. uint8_t stands for bool, the only type of one byte
// that is computed with: what others wrote, or nobody did, may be another byte than 0 or 1.
template <class T>
ZERO_INLINE T value_of(T x) {
  return x;
}
ZERO_INLINE uint8_t value_of(uint8_t x) { return x != 0; }

// Sums, differences and products of integers wrap, as in PyTorch; floats just compute.
template <class T>
ZERO_INLINE T wrap_add(T a, T b) {
  using U = typename UnsignedOf<T>::type;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <class T>
ZERO_INLINE T wrap_sub(T a, T b) {
  using U = typename UnsignedOf<T>::type;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}
template <class T>
ZERO_INLINE T wrap_mul(T a, T b) {
  using U = typename UnsignedOf<T>::type;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}

}  // namespace
}  // namespace zero::ZERO_ISA_NS
