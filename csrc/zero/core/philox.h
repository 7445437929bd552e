// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011. A pure function: (key, counter) -> four uniform 32-bit
// words.
//
// Everything is `static`: kernels are compiled once per instruction set, and a function shared
// between those objects could be linked in the wrong one's version.
#pragma once

#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#define ZERO_PHILOX_INLINE static __forceinline constexpr
#else
#define ZERO_PHILOX_INLINE __attribute__((always_inline)) static inline constexpr
#endif

namespace zero {

constexpr uint32_t kPhiloxFactor0 = 0xD2511F53u, kPhiloxFactor1 = 0xCD9E8D57u;
constexpr uint32_t kPhiloxKeyStep0 = 0x9E3779B9u;  // golden ratio
constexpr uint32_t kPhiloxKeyStep1 = 0xBB67AE85u;  // sqrt(3) - 1
constexpr int kPhiloxRounds = 10;

// On its own for kernels/random.cpp, which runs a round on many blocks at a time.
ZERO_PHILOX_INLINE void philox_round(uint32_t key0, uint32_t key1, uint32_t& c0, uint32_t& c1,
                                     uint32_t& c2, uint32_t& c3) {
  // Halves of the products on their own: compilers know a vector form of each.
  const uint32_t high0 = static_cast<uint32_t>(uint64_t{kPhiloxFactor0} * c0 >> 32);
  const uint32_t high1 = static_cast<uint32_t>(uint64_t{kPhiloxFactor1} * c2 >> 32);
  const uint32_t low0 = kPhiloxFactor0 * c0, low1 = kPhiloxFactor1 * c2;
  c0 = high1 ^ c1 ^ key0;
  c1 = low1;
  c2 = high0 ^ c3 ^ key1;
  c3 = low0;
}

ZERO_PHILOX_INLINE void philox4x32(uint32_t key0, uint32_t key1, uint32_t c0, uint32_t c1,
                                   uint32_t c2, uint32_t c3, uint32_t out[4]) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    philox_round(key0, key1, c0, c1, c2, c3);
    key0 += kPhiloxKeyStep0;
    key1 += kPhiloxKeyStep1;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

// The project's convention: the seed is the key, the 64-bit counter fills the low half of the
// block.
ZERO_PHILOX_INLINE void philox(uint64_t seed, uint64_t counter, uint32_t out[4]) {
  philox4x32(static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
             static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0, out);
}

}  // namespace zero
