// Sizes of the allocator's blocks: multiples of 64 bytes up to 1 KiB, then eight classes per
// doubling.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace zero {

constexpr int size_class(size_t nbytes) {
  const size_t units = nbytes == 0 ? 1 : (nbytes + 63) / 64;
  if (units <= 16) return static_cast<int>(units) - 1;
  const int shift = std::bit_width(units - 1) - 4;  // units in (2^(shift + 3), 2^(shift + 4)]
  return static_cast<int>(((units - 1) >> shift) + 1) + 8 * shift - 1;
}

constexpr size_t class_bytes(int index) {
  if (index < 16) return static_cast<size_t>(index + 1) * 64;
  const int shift = (index - 8) / 8;
  return static_cast<size_t>(index + 1 - 8 * shift) << shift << 6;
}

inline constexpr size_t kSmallMax = size_t{32} << 10;
inline constexpr int kSmallClasses = size_class(kSmallMax) + 1;
inline constexpr size_t kLargest = size_t{1} << 62;
inline constexpr int kLargeClasses = size_class(kLargest) + 1;

static_assert(size_class(0) == 0 && size_class(64) == 0 && size_class(65) == 1);
static_assert(size_class(1024) == 15 && size_class(1025) == 16 && size_class(1152) == 16);
static_assert(class_bytes(16) == 1152 && class_bytes(kSmallClasses - 1) == kSmallMax);

// size_class() of 64 * i bytes, for the fast path.
inline constexpr auto kSmallClass = [] {
  std::array<uint8_t, kSmallMax / 64 + 1> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(size_class(64 * i));
  return table;
}();

}  // namespace zero
