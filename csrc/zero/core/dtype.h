// The ten element types, their C++ types and PyTorch's promotion rules.
#pragma once

#include <cstdint>
#include <cstring>
#include <ostream>

namespace zero {

// The order is the order of promotion inside one category.
enum class DType : uint8_t {
  Bool,
  UInt8,
  Int8,
  Int16,
  Int32,
  Int64,
  Float16,
  BFloat16,
  Float32,
  Float64
};
inline constexpr int kNumDTypes = 10;

// Storage of 16-bit floats; arithmetic happens in float32 (kernels/cast.cpp converts).
struct Half { uint16_t bits; };
struct BFloat16 { uint16_t bits; };

inline constexpr int8_t kItemsizes[kNumDTypes] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
inline constexpr const char* kDTypeNames[kNumDTypes] = {"bool",    "uint8",  "int8",    "int16",
                                                        "int32",   "int64",  "float16", "bfloat16",
                                                        "float32", "float64"};

constexpr int64_t itemsize(DType t) { return kItemsizes[static_cast<int>(t)]; }
constexpr const char* name(DType t) { return kDTypeNames[static_cast<int>(t)]; }
constexpr bool is_floating(DType t) { return t >= DType::Float16; }
constexpr bool is_integral(DType t) { return t < DType::Float16 && t != DType::Bool; }
inline std::ostream& operator<<(std::ostream& out, DType t) { return out << name(t); }

// Bool < integers < floats: a Python scalar or 0-d tensor changes the dtype only of a lower
// category.
constexpr int category(DType t) { return t == DType::Bool ? 0 : is_floating(t) ? 2 : 1; }

// The smallest dtype that holds both; float16 with bfloat16 gives float32, uint8 with a signed
// type the next wider signed one.
constexpr DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) {
    DType t = a;
    a = b;
    b = t;
  }
  if (a == DType::UInt8 && b == DType::Int8) return DType::Int16;
  if (a == DType::Float16 && b == DType::BFloat16) return DType::Float32;
  return b;
}

// The dtype in which kernels compute: float32, float64, int64, int32 or bool.
constexpr DType compute_dtype(DType t) {
  if (t == DType::Float16 || t == DType::BFloat16) return DType::Float32;
  return t >= DType::UInt8 && t <= DType::Int16 ? DType::Int32 : t;
}

// The difference between 1 and the next number of a floating dtype.
constexpr double machine_epsilon(DType t) {
  switch (t) {
    case DType::Float16: return 0x1p-10;
    case DType::BFloat16: return 0x1p-7;
    case DType::Float32: return 0x1p-23;
    default: return 0x1p-52;
  }
}

// The dtype of new float tensors and of Python floats that decide a result; float32 at start.
DType default_dtype();
void set_default_dtype(DType t);

template <class T> struct DTypeOf;
template <> struct DTypeOf<bool> { static constexpr DType value = DType::Bool; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::UInt8; };
template <> struct DTypeOf<int8_t> { static constexpr DType value = DType::Int8; };
template <> struct DTypeOf<int16_t> { static constexpr DType value = DType::Int16; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::Int32; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::Int64; };
template <> struct DTypeOf<Half> { static constexpr DType value = DType::Float16; };
template <> struct DTypeOf<BFloat16> { static constexpr DType value = DType::BFloat16; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::Float32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::Float64; };
template <class T> inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace zero
