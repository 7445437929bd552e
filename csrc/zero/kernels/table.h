// The kernel table: plain function pointers, one table per instruction set, chosen once by cpuid.
//
// Kernels know pointers, strides and counts. They never allocate (scratch comes as an argument), never
// throw and never see a Tensor. Each family is written once in <family>.inl; isa_*.cpp compile all
// families per instruction set and fill one table.
#pragma once

#include <cstdint>

#include "zero/core/dtype.h"

namespace zero {

// Kernels compute in these types; other dtypes pass through a conversion block (ops/iterator.h).
enum class ComputeType : uint8_t { F32, F64, I64, I32, Bool };
inline constexpr int kNumComputeTypes = 5;

constexpr ComputeType compute_type(DType t) {
  switch (compute_dtype(t)) {
    case DType::Float32: return ComputeType::F32;
    case DType::Float64: return ComputeType::F64;
    case DType::Int64: return ComputeType::I64;
    case DType::Bool: return ComputeType::Bool;
    default: return ComputeType::I32;
  }
}

// ---- elementwise ---------------------------------------------------------------------------------
// A two-dimensional loop. data[0] is the output, data[1..] are the inputs; strides[k] is the byte
// stride of operand k along the inner dimension (n0), strides[operands + k] along the outer one (n1).
// params points to the op's parameters (a struct in table.h) or is null. The output may be one of the inputs.
using LoopFn = void (*)(char* const* data, const int64_t* strides, int64_t n0, int64_t n1,
                        const void* params);

// X(name, number of inputs, types it exists for)
//   types: Float = f32 f64; Number = + i64 i32; Any = + bool; Bits = i64 i32 bool
// Results have the compute type, except for the comparisons (kind Compare), whose result is bool.
#define ZERO_UNARY_OPS(X)                                                                       \
  X(Neg, Number) X(Abs, Number) X(Sign, Any) X(Exp, Float) X(Exp2, Float) X(Expm1, Float)       \
  X(Log, Float) X(Log2, Float) X(Log10, Float) X(Log1p, Float) X(Sqrt, Float) X(Rsqrt, Float)   \
  X(Reciprocal, Float) X(Sin, Float) X(Cos, Float) X(Tan, Float) X(Tanh, Float)                 \
  X(Sigmoid, Float) X(Relu, Number) X(Floor, Float) X(Ceil, Float) X(Round, Float)              \
  X(Trunc, Float) X(Erf, Float) X(BitNot, Bits) X(Clamp, Number)
#define ZERO_UNARY_COMPARE_OPS(X) X(LogicalNot, Any) X(IsNan, Float) X(IsInf, Float) X(IsFinite, Float)
#define ZERO_BINARY_OPS(X)                                                                      \
  X(Add, Any) X(Sub, Number) X(Mul, Any) X(Div, Float) X(FloorDiv, Number) X(TruncDiv, Number)  \
  X(Remainder, Number) X(Fmod, Number) X(Pow, Number) X(Maximum, Any) X(Minimum, Any)           \
  X(Atan2, Float) X(BitAnd, Bits) X(BitOr, Bits) X(BitXor, Bits)                                \
  X(TanhGrad, Float) X(SigmoidGrad, Float) X(ReluGrad, Number)
#define ZERO_BINARY_COMPARE_OPS(X)                                                              \
  X(Eq, Any) X(Ne, Any) X(Lt, Any) X(Le, Any) X(Gt, Any) X(Ge, Any)                             \
  X(LogicalAnd, Any) X(LogicalOr, Any) X(LogicalXor, Any)
// Add and Sub take AlphaParams (a + alpha * b) or null (alpha = 1); Clamp takes ClampParams.
struct AlphaParams { double f; int64_t i; };                  // the one of the compute type is read
struct ClampParams { double lo_f, hi_f; int64_t lo_i, hi_i; };  // NaN inputs stay NaN

#define ZERO_ENUM_ITEM(name, types) name,
enum class ElementwiseOp : uint8_t {
  ZERO_UNARY_OPS(ZERO_ENUM_ITEM) ZERO_UNARY_COMPARE_OPS(ZERO_ENUM_ITEM)
  ZERO_BINARY_OPS(ZERO_ENUM_ITEM) ZERO_BINARY_COMPARE_OPS(ZERO_ENUM_ITEM)
  Where,  // out = cond ? a : b; inputs cond (bool), a, b of the compute type
  Count
};
#undef ZERO_ENUM_ITEM

// ---- the table -----------------------------------------------------------------------------------
struct KernelTable {
  const char* isa;  // "baseline", "avx2", "avx512" or "neon"

  LoopFn elementwise[static_cast<int>(ElementwiseOp::Count)][kNumComputeTypes];  // null: not defined
  LoopFn cast[kNumDTypes][kNumDTypes];  // [from][to]: data[0] of dtype `to`, data[1] of dtype `from`
};

// The table in use. ZERO_ISA=baseline|avx2|avx512|neon overrides the choice for this process.
const KernelTable& kernels();

}  // namespace zero
