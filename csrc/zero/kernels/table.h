// The kernel table: plain function pointers, one table per instruction set, chosen once by cpuid.
//
// Kernels know pointers, strides and counts. They never allocate (scratch comes as an argument),
// never throw and never see a Tensor. Each family is written once, in <family>.cpp,
// compiled per instruction set, and fills its part of one table (families.h).
#pragma once

#include <atomic>
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

// ---- elementwise --------------------------------------------------------------------------------
// A two-dimensional loop. data[0] is the output, data[1..] are the inputs; strides[k] is the byte
// stride of operand k along the inner dimension (n0), strides[operands + k] along the outer one
// (n1). params points to the op's parameters (a struct in table.h) or is null. The output may be
// one of the inputs (same address, same strides); an input with stride 0 must not overlap the
// output.
using LoopFn = void (*)(char* const* data, const int64_t* strides, int64_t n0, int64_t n1,
                        const void* params);

// X(name, number of inputs, types it exists for)
//   types: Float = f32 f64; Number = + i64 i32; Any = + bool; Bits = i64 i32 bool; Int = i64 i32
// Results have the compute type, except for the comparisons (kind Compare), whose result is bool.
// Those of elementwise.cpp:
// clang-format off
#define ZERO_UNARY_OPS(X)                                                                       \
  X(Neg, Number) X(Abs, Number) X(Sign, Any) X(Exp, Float) X(Exp2, Float) X(Expm1, Float)       \
  X(Log, Float) X(Log2, Float) X(Log10, Float) X(Log1p, Float) X(Sqrt, Float) X(Rsqrt, Float)   \
  X(Reciprocal, Float) X(Sin, Float) X(Cos, Float) X(Tan, Float) X(Tanh, Float)                 \
  X(Sigmoid, Float) X(Relu, Number) X(Floor, Float) X(Ceil, Float) X(Round, Float)              \
  X(Trunc, Float) X(Sinh, Float) X(Cosh, Float) X(Asin, Float)     \
  X(Acos, Float) X(Atan, Float) X(Asinh, Float) X(Acosh, Float) X(Atanh, Float)                 \
  X(BitNot, Bits) X(Clamp, Number)
#define ZERO_UNARY_COMPARE_OPS(X)                                                               \
  X(LogicalNot, Any) X(IsNan, Float) X(IsInf, Float) X(IsFinite, Float)
#define ZERO_BINARY_OPS(X)                                                                      \
  X(Add, Any) X(Sub, Number) X(Mul, Any) X(Div, Float) X(FloorDiv, Number) X(TruncDiv, Number)  \
  X(Remainder, Number) X(Fmod, Number) X(Pow, Number) X(Maximum, Any) X(Minimum, Any)           \
  X(Atan2, Float) X(BitAnd, Bits) X(BitOr, Bits) X(BitXor, Bits)                                \
  X(TanhGrad, Float) X(SigmoidGrad, Float) X(ReluGrad, Number)
#define ZERO_BINARY_COMPARE_OPS(X)                                                              \
  X(Eq, Any) X(Ne, Any) X(Lt, Any) X(Le, Any) X(Gt, Any) X(Ge, Any)                             \
  X(LogicalAnd, Any) X(LogicalOr, Any) X(LogicalXor, Any)
// Those of pointwise.cpp:
#define ZERO_POINTWISE_UNARY_OPS(X)                                                             \
  X(NanToNum, Float) X(FrexpMantissa, Float) X(FrexpExponent, Float) X(Frac, Float)             \
  X(Angle, Float)
#define ZERO_POINTWISE_COMPARE_OPS(X) X(Signbit, Any)
#define ZERO_POINTWISE_BINARY_OPS(X)                                                            \
  X(Copysign, Float) X(Fmax, Any) X(Fmin, Any) X(Heaviside, Any) X(Nextafter, Float)            \
  X(Hypot, Float) X(LogAddExp, Float) X(LogAddExp2, Float) X(Xlogy, Float) X(Xlog1py, Float)    \
  X(LeftShift, Int) X(RightShift, Int) X(Gcd, Int) X(Lcm, Int)
#define ZERO_POINTWISE_TERNARY_OPS(X)                                                           \
  X(Addcmul, Any) X(Addcdiv, Float) X(Lerp, Float) X(ClampBoth, Any)
// Those of special.cpp, for floats:
#define ZERO_SPECIAL_UNARY_OPS(X)                                                               \
  X(Erf) X(Erfc) X(Erfcx) X(Erfinv) X(Ndtr) X(Ndtri) X(LogNdtr) X(Entr) X(Logit) X(Sinc) X(Lgamma) \
  X(Digamma) X(I0) X(I0e) X(I1) X(I1e) X(K0) X(K0e) X(K1) X(K1e) X(BesselJ0) X(BesselJ1)        \
  X(BesselY0) X(BesselY1) X(SphericalJ0) X(AiryAi)
#define ZERO_SPECIAL_BINARY_OPS(X)                                                              \
  X(Igamma) X(Igammac) X(Zeta) X(Polygamma) X(ChebyshevT) X(ChebyshevU) X(ChebyshevV)           \
  X(ChebyshevW) X(ShiftedT) X(ShiftedU) X(ShiftedV) X(ShiftedW) X(HermiteH) X(HermiteHe)        \
  X(LaguerreL) X(LegendreP)
// clang-format on
// Add and Sub take AlphaParams (a + alpha * b) or null (alpha = 1), Addcmul and Addcdiv
// AlphaParams; Clamp, NanToNum, Nextafter and Logit theirs.
struct AlphaParams {  // the one of the compute type is read
  double f;
  int64_t i;
};
struct ClampParams {  // NaN inputs stay NaN
  double lo_f, hi_f;
  int64_t lo_i, hi_i;
};
struct NanToNumParams { double nan, posinf, neginf; };
struct LogitParams { double lo, hi; };  // bounds of its argument
struct NextafterParams {                // of the dtype: float16 and bfloat16 come as float32
  double least, smallest_normal, largest;
  int digits;  // of the fraction
};

#define ZERO_ENUM_ITEM(name, ...) name,
// clang-format off
enum class ElementwiseOp : uint8_t {
  ZERO_UNARY_OPS(ZERO_ENUM_ITEM) ZERO_UNARY_COMPARE_OPS(ZERO_ENUM_ITEM)
  ZERO_BINARY_OPS(ZERO_ENUM_ITEM) ZERO_BINARY_COMPARE_OPS(ZERO_ENUM_ITEM)
  ZERO_POINTWISE_UNARY_OPS(ZERO_ENUM_ITEM) ZERO_POINTWISE_COMPARE_OPS(ZERO_ENUM_ITEM)
  ZERO_POINTWISE_BINARY_OPS(ZERO_ENUM_ITEM) ZERO_POINTWISE_TERNARY_OPS(ZERO_ENUM_ITEM)
  ZERO_SPECIAL_UNARY_OPS(ZERO_ENUM_ITEM) ZERO_SPECIAL_BINARY_OPS(ZERO_ENUM_ITEM)
  Where,  // out = cond ? a : b; inputs cond (bool), a, b of the compute type
  Count
};
// clang-format on
#undef ZERO_ENUM_ITEM

// ---- matrix products (gemm.cpp) -----------------------------------------------------------------
// c = a b + bias, or c += a b + bias. a is m x k, b is k x n, with any strides in elements; rows of
// c are dense and c_row apart. bias has one value per column, or is null. The bits of c don't
// depend on how the caller cuts m and n, as long as a part with up to four rows or columns stays
// one.
struct GemmArgs {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_column;
  const void* b;
  int64_t b_row, b_column;
  void* c;
  int64_t c_row;
  const void* bias;
  bool add;
};
using GemmFn = void (*)(const GemmArgs& args, void* scratch);

// ---- reductions (reduce.cpp) --------------------------------------------------------------------
// Sum, NanSum (of floats; NaN is 0) and Prod accumulate in float64 or int64, Nonzero (the count of
// what is not 0; not for bool) in int64, Deviation in DeviationState, Max and Min in the compute
// type, ArgMax and ArgMin in ArgState. NaN is larger and smaller than any number; Min and Max of
// bool are all and any.
enum class ReduceOp : uint8_t {
  Sum,
  NanSum,
  Nonzero,
  Prod,
  Deviation,
  Max,
  Min,
  ArgMax,
  ArgMin,
  Count
};

struct DeviationState { double squares, sum; };  // of x - shift
template <class T> struct ArgState {
  T value;
  int64_t index;
};
inline constexpr int64_t kMaxStateSize = 16;
inline constexpr int64_t kReduceTile = 128;  // outputs of one call, at most

struct ReduceDim {
  int64_t size;    // >= 1
  int64_t stride;  // bytes
  int64_t weight;  // by how much the index of ArgMax grows from element to element
};

// Folds the elements of up to kReduceTile outputs, one state each.
struct FoldArgs {
  const char* in;  // first element of the first output
  int64_t outputs;
  int64_t output_stride;  // bytes
  const ReduceDim* dims;  // the reduced ones, innermost first
  int ndim;               // >= 1
  bool columns;           // outputs are neighbours in memory, elements of one output are not
  const double* shift;    // one per output, for Deviation; else null
  int64_t index;          // of the first element
};
struct ReduceKernel {
  void (*fold)(const FoldArgs& args, void* states);
  void (*combine)(void* into, const void* from, int64_t n);  // the elements of `from` come after
  int64_t state_size;
};

// sum (a - b)^2; n in float64.
using SquaredDifferenceFn = double (*)(const void* a, const void* b, int64_t n);
// sum x^2; n in float64, without overflow of squares in float32.
using SquaresFn = double (*)(const void* x, int64_t n);
// out = scale (a - b)
using ScaledDifferenceFn = void (*)(const void* a, const void* b, double scale, void* out,
                                    int64_t n);

// One element of n along a dimension, for each place [outer, inner]: to[o, i] = from[o, index[o,
// i], i] (0 where there is no such element), or the other way: to[o, index[o, i], i] = from[o, i].
// begin, end count places.
struct AlongArgs {
  const void* from;
  void* to;
  const int64_t* index;
  int64_t n, inner;
};
using AlongFn = void (*)(const AlongArgs& args, int64_t begin, int64_t end);
// Whether n indices are all in [0, limit).
using InRangeFn = bool (*)(const int64_t* index, int64_t n, int64_t limit);

// ---- running sums and products (scan.cpp) -------------------------------------------------------
// to[i] = from[0] + … + from[i] (or the product), accumulated in float64 or int64, for `lanes`
// neighbouring columns whose n elements are `stride` elements apart; `reverse` starts at the end.
struct ScanArgs {
  const void* from;
  void* to;
  int64_t n, lanes, stride;
  bool reverse;
};
using ScanFn = void (*)(const ScanArgs& args);
// The largest or smallest element so far, and its index: of several the last one. From the first
// NaN on it is NaN.
struct ExtremeScanArgs {
  const void* from;
  void* to;
  int64_t *indices, n, lanes, stride;
};
using ExtremeScanFn = void (*)(const ExtremeScanArgs& args);
enum class ScanOp : uint8_t { Sum, Prod, Count };
inline constexpr int64_t kScanLanes = 128;  // of one call, at most

// ---- order (sort.cpp) ---------------------------------------------------------------------------
// Elements are ordered as entries: a key, an unsigned integer in the order of the elements (-0 and
// 0 are one, all NaN the largest; complemented where the order is descending), and an index. The
// entries of dtypes of up to four bytes are one uint64 each, key << 32 | index, the others two.
// Entries with equal keys keep the order of their indices.

// `lanes` neighbouring columns of n elements, `stride` elements apart, and their entries, one
// column after the other, `step` entries apart. Indices count from `first`.
struct EntryArgs {
  const void* x;
  int64_t n, stride, lanes, first;
  bool descending;
  void* entries;
  int64_t step;
};
// The elements of entries, and their indices; either may be null. x is that of EntryArgs.
struct ElementArgs {
  const void* entries;
  int64_t n, step, lanes;
  bool descending;
  const void* x;
  int64_t x_stride;
  void* values;
  int64_t *indices, stride;  // of the results
};
// The k first of a row, kept in a buffer of `capacity` >= 2 k + kBestBlock entries.
struct BestArgs {
  const void* x;
  int64_t n, first, k;
  bool descending;
  void *entries, *scratch;
  int64_t capacity;
};
inline constexpr int64_t kBestBlock = 64;

// A radix sort takes the bits from `shift` to `bits` of its keys, eight at a time.
struct RadixPlan { int shift, bits; };

// The functions of one size of entries. Scratch has room for as many.
struct EntryKernel {
  int64_t size;                                            // bytes
  void* (*sort)(void* entries, void* scratch, int64_t n);  // returns which of both is sorted
  // The parts of sort, for one row on several threads:
  void (*range)(const void* entries, int64_t n, uint64_t* low, uint64_t* high);  // of the keys
  RadixPlan (*plan)(int64_t n, uint64_t range);
  // How many entries have each value of the eight bits from `shift` on of key - low.
  void (*count)(const void* entries, int64_t n, uint64_t low, int shift, int64_t* counts);
  // Moves entries to to[offsets[those bits]++].
  void (*scatter)(const void* entries, int64_t n, uint64_t low, int shift, int64_t* offsets,
                  void* to);
  // Sorts neighbours that agree in the bits from `shift` on.
  void (*finish)(void* entries, void* scratch, int64_t n, uint64_t low, int shift);
  // Moves the k first entries to the front, in an order that depends on the entries only.
  void (*select)(void* entries, void* scratch, int64_t n, int64_t k);
  // Moves entry k of their order to the front.
  void (*pick)(void* entries, void* scratch, int64_t n, int64_t k);
};

struct OrderKernel {
  const EntryKernel* entry;
  void (*load)(const EntryArgs& args);
  void (*store)(const ElementArgs& args);
  int64_t (*best)(const BestArgs& args);  // returns how many entries it left in the buffer
};

// The places of `count` values among n sorted ones (those at order[0], order[1], … unless that is
// null): the number of those below a value or, for `right`, up to it.
struct SearchArgs {
  const void* sorted;
  const int64_t* order;
  int64_t n;
  const void* values;
  int64_t count;
  bool right;
  void* out;  // int64, or int32 if narrow
  bool narrow;
};
using SearchFn = void (*)(const SearchArgs& args);

// ---- softmax and cross entropy (softmax.cpp) ----------------------------------------------------
// `rows` rows of n neighbouring elements; or `lanes` neighbouring columns whose n elements are
// `stride` apart.
struct SoftmaxArgs {
  const void* x;  // backward: the result y
  const void* g;  // backward only
  void* out;
  int64_t rows, n;
  int64_t lanes, stride;
  bool log;
};
using SoftmaxFn = void (*)(const SoftmaxArgs& args);
inline constexpr int64_t kSoftmaxLanes = 64;  // of one call by columns, at most

struct CrossEntropyArgs {
  const void* x;          // [rows, n]: the scores; backward: exp(x - max)
  const int64_t* target;  // a class in [0, n), or `ignore`
  double *max, *sum;      // per row: max x and sum exp(x - max); backward reads the sums
  double* loss;           // forward: log sum - (x[target] - max), 0 where ignored
  const void* g;          // backward: of the loss, g_step (0 or 1) apart
  int64_t g_step;
  double scale;  // backward: factor for g
  void* out;     // forward: exp(x - max), or null; backward: the gradient of x
  int64_t rows, n, ignore;
};
using CrossEntropyFn = void (*)(const CrossEntropyArgs& args);

// ---- normalisation (normalize.cpp) --------------------------------------------------------------
// `rows` rows of n neighbouring elements, brought to mean 0 and variance 1:
// out = (x - mean) rstd weight + bias, where runs of `run` elements share a weight and a bias. A
// row has n / run of them, and `groups` rows follow each other before they begin again.
struct NormalizeArgs {
  const void* x;
  int64_t rows, n, run, groups;
  int64_t row;                // number of the first one
  const void *weight, *bias;  // null: 1 and 0
  double eps;
  bool centered;  // false: mean stays 0 (RMS)
  double* stats;  // mean and rstd of each row; backward reads them
  void* out;      // backward: the gradient of x, or null
  const void* g;  // backward: of out
  // Backward: to these, one for each weight, the gradients of these rows are added; both or none.
  double *weight_gradient, *bias_gradient;
};
using NormalizeFn = void (*)(const NormalizeArgs& args);

// ---- distances (distance.cpp) -------------------------------------------------------------------
// out[i, j] = (sum_m |x[i, m] - y[j, m]|^p)^(1/p); the number of m that differ for p = 0, the
// largest difference for p = inf. x and y are dense; rows of out are out_row apart.
// The gradient: out[i, m] = sum_j g[i, j] d distance[i, j] / d x[i, m]. There y is transposed,
// [m, columns], and out is dense.
struct DistanceArgs {
  const void *x, *y;
  const void *g, *distance;  // backward: with strides g_row and g_column
  int64_t g_row, g_column;
  void* out;
  int64_t out_row;
  int64_t rows, columns, m;
  double p;
  void* scratch;  // forward: kDistancePanel * m elements; backward: distance_backward_scratch()
};
using DistanceFn = void (*)(const DistanceArgs& args);
inline constexpr int64_t kDistancePanel = 32;
constexpr int64_t distance_backward_scratch(int64_t columns) { return 8 * columns; }

// ---- random -------------------------------------------------------------------------------------
// Fills out[0..n) with elements begin .. begin + n - 1 of a draw. Element i depends on (seed,
// offset, i) only, so any split into ranges gives the same values. `offset` is the first Philox
// counter (core/generator.h); element i uses counter offset + i / 4 where it takes 32 random bits
// (float32, bernoulli and bernoulli_by) and offset + i / 2 where it takes 64 (float64, integers).
using RandomFn = void (*)(void* out, int64_t begin, int64_t n, uint64_t seed, uint64_t offset,
                          const void* params);
struct UniformParams { double lo, hi; };  // [lo, hi)
struct NormalParams { double mean, std; };
struct RandintParams { int64_t lo, hi; };     // [lo, hi); hi = lo means all 2^64 values
struct BernoulliParams { double p; };         // writes bool
struct BernoulliByParams { const void* p; };  // a probability per element of the whole draw
struct ExponentialParams { double rate; };

struct RandomTable {
  RandomFn uniform_f32, uniform_f64;
  RandomFn normal_f32, normal_f64;
  RandomFn randint_i64, randint_i32;  // the same integers; lo and hi of the second fit int32
  RandomFn bernoulli;
  RandomFn bernoulli_by_f32, bernoulli_by_f64;  // write 0 and 1 as floats
  RandomFn exponential_f32, exponential_f64;    // above 0
};

// The counters that a draw of n elements uses up.
constexpr uint64_t random_counters(int64_t n, bool bits64) {
  return (static_cast<uint64_t>(n) + (bits64 ? 1 : 3)) / (bits64 ? 2 : 4);
}

// ---- layers -------------------------------------------------------------------------------------
// The kernels of layers lie in headers of their own, named in the comment: who changes one
// compiles only what uses it.
struct ActivationKernels;   // activation.h
struct AttentionKernels;    // attention.h
struct BatchNormKernels;    // batch_norm.h
struct ConvolutionKernels;  // convolution.h
struct EmbeddingKernels;    // embedding.h
struct HalfGemmKernels;     // half_gemm.h
struct LinalgKernels;       // linalg.h
struct LossKernels;         // loss.h
struct OptimizerKernels;    // optim.h
struct PackedGemm;          // packed_gemm.h
struct PoolingKernels;      // pooling.h
struct RecurrentKernels;    // recurrent.h
struct ResampleKernels;     // resample.h
struct WinogradKernels;     // winograd.h

// ---- the table ----------------------------------------------------------------------------------
struct KernelTable {
  const char* isa;  // "baseline", "avx2", "avx512" or "neon"

  LoopFn elementwise[static_cast<int>(ElementwiseOp::Count)]
                    [kNumComputeTypes];  // null: not defined
  LoopFn cast[kNumDTypes]
             [kNumDTypes];  // [from][to]: data[0] of dtype `to`, data[1] of dtype `from`
  RandomTable random;

  GemmFn gemm[kNumComputeTypes];  // not for bool
  int64_t (*gemm_scratch)(int64_t m, int64_t n, int64_t k,
                          int64_t itemsize);        // bytes, aligned to 64
  const PackedGemm* packed_gemm[kNumComputeTypes];  // float32 and float64; null: by a BLAS
  DistanceFn distance[kNumComputeTypes];            // float32 and float64
  DistanceFn distance_backward[kNumComputeTypes];

  ReduceKernel reduce[static_cast<int>(ReduceOp::Count)][kNumComputeTypes];
  SquaredDifferenceFn
      squared_difference[kNumComputeTypes];  // these and what follows: float32 and float64
  SquaresFn squares[kNumComputeTypes];
  ScaledDifferenceFn scaled_difference[kNumComputeTypes];
  ScanFn scan[static_cast<int>(ScanOp::Count)][kNumComputeTypes];  // not for bool
  ScanFn logcumsumexp[kNumComputeTypes];                           // float32 and float64
  ExtremeScanFn cummax[kNumComputeTypes], cummin[kNumComputeTypes];
  AlongFn take_along[4], put_along[4];  // by log2 of the element's size
  InRangeFn in_range;
  OrderKernel order[kNumDTypes];
  SearchFn search[kNumComputeTypes];  // not for bool
  SoftmaxFn softmax_rows[kNumComputeTypes], softmax_columns[kNumComputeTypes];
  SoftmaxFn softmax_backward_rows[kNumComputeTypes], softmax_backward_columns[kNumComputeTypes];
  CrossEntropyFn cross_entropy[kNumComputeTypes], cross_entropy_backward[kNumComputeTypes];
  NormalizeFn normalize[kNumComputeTypes], normalize_backward[kNumComputeTypes];

  const ActivationKernels* activation;
  const AttentionKernels* attention;
  const BatchNormKernels* batch_norm;
  const ConvolutionKernels* convolution;
  const EmbeddingKernels* embedding;
  const HalfGemmKernels* half_gemm;
  const LinalgKernels* linalg;
  const LossKernels* loss;
  const OptimizerKernels* optimizer;
  const PoolingKernels* pooling;
  const RecurrentKernels* recurrent;
  const ResampleKernels* resample;
  const WinogradKernels* winograd;
};

namespace detail {
inline constinit std::atomic<const KernelTable*> kernels_in_use{nullptr};
const KernelTable& choose_kernels();
}  // namespace detail

// The table in use. ZERO_ISA=baseline|avx2|avx512|neon overrides the choice for this process.
inline const KernelTable& kernels() {
  const KernelTable* table = detail::kernels_in_use.load(std::memory_order_acquire);
  return table ? *table : detail::choose_kernels();
}

}  // namespace zero
