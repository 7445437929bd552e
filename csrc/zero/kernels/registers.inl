// How many results a loop over products keeps in registers: tiles of kRows x kPanelVectors vectors.
#pragma once

#include "zero/kernels/common.inl"

#if defined(__GNUC__) && !defined(__clang__)
#define ZERO_UNROLL _Pragma("GCC unroll 16")
#elif defined(__clang__)
#define ZERO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ZERO_UNROLL
#endif

namespace zero::ZERO_ISA_NS {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kPanelVectors = 4, kRows = 6;  // 24 of 32 registers hold results
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kPanelVectors = 2, kRows = 6;  // 12 of 16
#elif defined(__aarch64__) || defined(_M_ARM64)
constexpr int kVectorBytes = 16, kPanelVectors = 4, kRows = 6;  // 24 of 32
#else
constexpr int kVectorBytes = 16, kPanelVectors = 2, kRows = 4;  // 8 of 16; products need one
#endif

template <class T> constexpr int kPanel =
    kPanelVectors * kVectorBytes / static_cast<int>(sizeof(T));

// A vector register. Arrays of these stay in registers as a whole, where arrays of numbers come
// from and go to memory around the loop, which costs a product with a short k much of its time.
#if defined(__GNUC__)
template <class T> struct LanesOf { typedef T type __attribute__((vector_size(kVectorBytes))); };
#else
template <class T> struct LanesOf {
  struct type {
    T lane[kVectorBytes / sizeof(T)];
    type& operator+=(const type& x) {
      for (size_t i = 0; i < kVectorBytes / sizeof(T); ++i) lane[i] += x.lane[i];
      return *this;
    }
    friend type operator*(T factor, type x) {
      for (T& l : x.lane) l *= factor;
      return x;
    }
    friend type operator*(type x, const type& y) {
      for (size_t i = 0; i < kVectorBytes / sizeof(T); ++i) x.lane[i] *= y.lane[i];
      return x;
    }
    friend type operator+(type x, T y) {
      for (T& l : x.lane) l += y;
      return x;
    }
    friend type operator+(type x, const type& y) { return x += y; }
    friend type operator-(type x, const type& y) { return x += T(-1) * y; }
  };
};
#endif

template <class T, int R, int N>
ZERO_INLINE void clear(T (&tile)[R][N]) {  // in registers, where `= {}` calls for memory
  ZERO_UNROLL
  for (int i = 0; i < R; ++i) {
    ZERO_SIMD
    for (int j = 0; j < N; ++j) tile[i][j] = T(0);
  }
}

}  // namespace
}  // namespace zero::ZERO_ISA_NS
