// Small squares of numbers, transposed in registers.
#pragma once

#include "zero/kernels/registers.inl"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define ZERO_SHUFFLES
#endif
#endif

namespace zero::ZERO_ISA_NS {
namespace {

// A square of n vectors of n elements, transposed in registers: log2(n) rounds that interleave its
// halves.
#if defined(ZERO_SHUFFLES)
template <class Bits> struct Square {
  static constexpr int n = 16 / sizeof(Bits);
  typedef Bits Vector __attribute__((vector_size(16)));

  static ZERO_INLINE Vector low(Vector a, Vector b) {
    if constexpr (n == 2) return __builtin_shufflevector(a, b, 0, 2);
    if constexpr (n == 4) return __builtin_shufflevector(a, b, 0, 4, 1, 5);
    if constexpr (n == 8) return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    if constexpr (n == 16)
      return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  }
  static ZERO_INLINE Vector high(Vector a, Vector b) {
    if constexpr (n == 2) return __builtin_shufflevector(a, b, 1, 3);
    if constexpr (n == 4) return __builtin_shufflevector(a, b, 2, 6, 3, 7);
    if constexpr (n == 8) return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    if constexpr (n == 16)
      return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                     31);
  }

  static ZERO_INLINE void transpose(char* to, int64_t to_step, const char* from,
                                    int64_t from_step) {
    Vector rows[n], mixed[n];
    ZERO_UNROLL
    for (int i = 0; i < n; ++i) copy_bytes(&rows[i], from + i * from_step, 16);
    ZERO_UNROLL
    for (int round = 1; round < n; round *= 2) {
      ZERO_UNROLL
      for (int i = 0; i < n / 2; ++i) {
        mixed[2 * i] = low(rows[i], rows[i + n / 2]);
        mixed[2 * i + 1] = high(rows[i], rows[i + n / 2]);
      }
      ZERO_UNROLL
      for (int i = 0; i < n; ++i) rows[i] = mixed[i];
    }
    ZERO_UNROLL
    for (int i = 0; i < n; ++i) copy_bytes(to + i * to_step, &rows[i], 16);
  }
};
#else
template <class Bits> struct Square {
  static constexpr int n = 1;
  static void transpose(char* to, int64_t, const char* from, int64_t) {
    *reinterpret_cast<Bits*>(to) = *reinterpret_cast<const Bits*>(from);
  }
};
#endif

}  // namespace
}  // namespace zero::ZERO_ISA_NS
