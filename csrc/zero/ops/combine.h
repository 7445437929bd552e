// What a write does with the number that is there: loops over places call Write::to(there, value).
#pragma once

#include <cstdint>
#include <type_traits>

#include "zero/core/dtype.h"

namespace zero {

struct BoolByte { uint8_t bits; };  // not always 0 or 1, so it can't be read as a bool

struct Assign {
  template <class T>
  static void to(T& y, T v) {
    y = v;
  }
};

struct Accumulate {
  template <class T>
  static void to(T& y, T v) {
    if constexpr (std::is_same_v<T, BoolByte>) {
      y.bits = (y.bits | v.bits) != 0;
    } else if constexpr (std::is_integral_v<T>) {  // wraps
      y = static_cast<T>(static_cast<uint64_t>(y) + static_cast<uint64_t>(v));
    } else {
      y += v;
    }
  }
};

struct Multiply {
  template <class T>
  static void to(T& y, T v) {
    if constexpr (std::is_same_v<T, BoolByte>) {
      y.bits = y.bits && v.bits;
    } else if constexpr (std::is_integral_v<T>) {
      y = static_cast<T>(static_cast<uint64_t>(y) * static_cast<uint64_t>(v));
    } else {
      y *= v;
    }
  }
};

struct Largest {  // nan stays
  template <class T>
  static void to(T& y, T v) {
    if constexpr (std::is_same_v<T, BoolByte>) {
      Accumulate::to(y, v);
    } else {
      y = y >= v || y != y ? y : v;
    }
  }
};

struct Smallest {
  template <class T>
  static void to(T& y, T v) {
    if constexpr (std::is_same_v<T, BoolByte>) {
      Multiply::to(y, v);
    } else {
      y = y <= v || y != y ? y : v;
    }
  }
};

// f(T()) with an unsigned type as large as the dtype's elements, for loops that only move them.
template <class F>
void with_item(DType dtype, F f) {
  switch (itemsize(dtype)) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    default: return f(uint64_t());
  }
}

// f(T()) with the type that numbers of the dtype are added in; 16-bit floats pass as float32.
template <class F>
void with_number(DType dtype, F f) {
  switch (dtype) {
    case DType::Bool: return f(BoolByte());
    case DType::UInt8: return f(uint8_t());
    case DType::Int8: return f(int8_t());
    case DType::Int16: return f(int16_t());
    case DType::Int32: return f(int32_t());
    case DType::Int64: return f(int64_t());
    case DType::Float32: return f(float());
    default: return f(double());
  }
}

}  // namespace zero
