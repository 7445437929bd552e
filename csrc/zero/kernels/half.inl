// 16-bit floats from and to float32: to nearest, halves to even.
#pragma once

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "zero/kernels/common.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// Subnormals are made from their integer, not by scaling a subnormal float32: flush mode would lose
// them.
ZERO_INLINE float to_float(Half h) {
  const uint32_t magnitude = h.bits & 0x7fffu;
  const uint32_t normal = (magnitude << 13) + (112u << 23);
  const uint32_t special =
      (magnitude << 13) | 0x7f800000u | (magnitude > 0x7c00u ? 0x00400000u : 0u);
  const uint32_t tiny =
      bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  const uint32_t bits = magnitude >= 0x7c00u ? special : magnitude < 0x0400u ? tiny : normal;
  return bit_cast<float>(bits | ((h.bits & 0x8000u) << 16));
}
ZERO_INLINE float to_float(BFloat16 h) {
  return bit_cast<float>(static_cast<uint32_t>(h.bits) << 16);
}

ZERO_INLINE Half to_half(float x) {
  const uint32_t bits = bit_cast<uint32_t>(x);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Below 2^-14 the spacing of float16 is 2^-24, that of float32 at 1/2: the sum rounds.
  const uint32_t tiny = bit_cast<uint32_t>(bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t special =
      magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : 0x7c00u;
  const uint32_t result = magnitude >= 0x477ff000u  ? special
                          : magnitude < 0x38800000u ? tiny
                                                    : normal;
  return {static_cast<uint16_t>(result | ((bits >> 16) & 0x8000u))};
}
ZERO_INLINE BFloat16 to_bfloat16(float x) {
  const uint32_t bits = bit_cast<uint32_t>(x);
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const uint32_t quiet = bits | 0x400000u;
  return {static_cast<uint16_t>((x != x ? quiet : rounded) >> 16)};
}

// GCC makes no vector conversions of float16 from plain loops; the instructions are worth the
// exception.
template <class To, class From>
ZERO_INLINE int64_t convert_with_f16c([[maybe_unused]] To* to, [[maybe_unused]] const From* from,
                                      [[maybe_unused]] int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  if constexpr (same<From, Half> && same<To, float>) {
    for (; i + 8 <= n; i += 8) {
      const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(half));
    }
  } else if constexpr (same<From, float> && same<To, Half>) {
    for (; i + 8 <= n; i += 8) {
      const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), half);
    }
  }
#endif
  return i;
}

}  // namespace
}  // namespace zero::ZERO_ISA_NS
