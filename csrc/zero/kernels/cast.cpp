// Conversion between all ten dtypes, and copies; contiguous, strided and transposed.
//
// PyTorch's rules, as x86 computes them: float -> integer truncates; NaN and what does not fit give
// INT64_MIN for int64 and, for the narrower ones, INT32_MIN cut to their bits (0 for 8 and 16).
// Integers wrap. To bool: is it not zero (NaN is true). To float16 and bfloat16: by way of float32,
// to nearest, halves to even.
#include "zero/kernels/blocks.inl"
#include "zero/kernels/half.inl"
#include "zero/kernels/math.inl"

namespace zero::ZERO_ISA_NS {
namespace {

struct BoolByte { uint8_t bits; };  // bool in memory, apart from uint8

template <DType t> struct CType;
template <> struct CType<DType::Bool> { using type = BoolByte; };
template <> struct CType<DType::UInt8> { using type = uint8_t; };
template <> struct CType<DType::Int8> { using type = int8_t; };
template <> struct CType<DType::Int16> { using type = int16_t; };
template <> struct CType<DType::Int32> { using type = int32_t; };
template <> struct CType<DType::Int64> { using type = int64_t; };
template <> struct CType<DType::Float16> { using type = Half; };
template <> struct CType<DType::BFloat16> { using type = BFloat16; };
template <> struct CType<DType::Float32> { using type = float; };
template <> struct CType<DType::Float64> { using type = double; };

// ---- one element --------------------------------------------------------------------------------

// What does not fit gives the smallest integer, which is what the instruction of x86 gives.
template <class F>
ZERO_INLINE int32_t
to_int32(F x) {  // as float32 the first bound is -2^31, whose result is the same
  const bool fits = (x > F(-2147483649.0)) & (x < F(2147483648.0));
  return fits ? static_cast<int32_t>(x) : INT32_MIN;
}
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX512DQ__)
constexpr bool kInt64Vectors = false;  // one instruction for one element, none for several
using Floats = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(16)));
ZERO_INLINE int64_t to_int64(float x) { return __builtin_ia32_cvttss2si64(Floats{x, 0, 0, 0}); }
ZERO_INLINE int64_t to_int64(double x) { return __builtin_ia32_cvttsd2si64(Doubles{x, 0}); }
#else
constexpr bool kInt64Vectors = true;
template <class F>
ZERO_INLINE int64_t to_int64(F x) {
  const bool fits = (x >= F(-9223372036854775808.0)) & (x < F(9223372036854775808.0));
  return fits ? static_cast<int64_t>(x) : INT64_MIN;
}
#endif

template <class T> constexpr bool is_half = false;
template <> constexpr bool is_half<Half> = true;
template <> constexpr bool is_half<BFloat16> = true;
template <class T> constexpr bool is_bool = false;
template <> constexpr bool is_bool<BoolByte> = true;
template <class T> constexpr bool is_real = false;
template <> constexpr bool is_real<float> = true;
template <> constexpr bool is_real<double> = true;

template <class To, class From>
ZERO_INLINE To convert(From x) {
  if constexpr (is_half<From>) {
    return convert<To>(to_float(x));
  } else if constexpr (is_bool<From>) {
    if constexpr (is_real<To>)
      return x.bits != 0 ? To(1) : To(0);  // vector code
    else
      return convert<To>(static_cast<uint8_t>(x.bits != 0));
  } else if constexpr (is_bool<To>) {
    return {static_cast<uint8_t>(x != From(0))};
  } else if constexpr (is_half<To>) {
    if constexpr (same<To, Half>)
      return to_half(static_cast<float>(x));
    else
      return to_bfloat16(static_cast<float>(x));
  } else if constexpr (is_real<From> && !is_real<To>) {
    if constexpr (sizeof(To) == 8)
      return to_int64(x);
    else
      return static_cast<To>(to_int32(x));
  } else {
    return static_cast<To>(x);
  }
}

// ---- loops --------------------------------------------------------------------------------------

// int64 from and to floats as vectors where the processor has no instruction for it: the last bits
// of 1.5 2^52 + x are the integer x, for |x| < 2^51. A block with another number goes one by one.
#if defined(__SSE4_1__)
constexpr bool kTruncVectors = !kInt64Vectors;
#else
constexpr bool kTruncVectors = false;
#endif
template <class To, class From> constexpr bool kByDoubles = false;
template <class To> constexpr bool kByDoubles<To, int64_t> = is_real<To> && !kInt64Vectors;
template <class From> constexpr bool kByDoubles<int64_t, From> = is_real<From> && !kInt64Vectors;

template <class To, class From>
ZERO_INLINE void convert_by_doubles(To* to, const From* from, int64_t n) {
  constexpr int64_t limit = int64_t{1} << 51;
  const int64_t bits = bit_cast<int64_t>(math::kRound);
  int64_t wide = same<To, int64_t> && !kTruncVectors;
  if constexpr (same<From, int64_t>) {
    ZERO_SIMD_ANY(wide)
    for (int64_t i = 0; i < n; ++i)
      wide |= static_cast<int64_t>((static_cast<uint64_t>(from[i]) + limit) >> 52);
    if (wide == 0) {
      ZERO_SIMD
      for (int64_t i = 0; i < n; ++i)
        to[i] = static_cast<To>(bit_cast<double>(from[i] + bits) - math::kRound);
      return;
    }
  } else if constexpr (kTruncVectors) {
    ZERO_SIMD_ANY(wide)
    for (int64_t i = 0; i < n; ++i) wide |= !((from[i] > From(-limit)) & (from[i] < From(limit)));
    if (wide == 0) {
      ZERO_SIMD
      for (int64_t i = 0; i < n; ++i)
        to[i] =
            bit_cast<int64_t>(ZERO_LIBM(trunc)(static_cast<double>(from[i])) + math::kRound) - bits;
      return;
    }
  }
  for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
}

template <class To, class From>
ZERO_NOINLINE void cast_loop(const void*, char* const* operands, int64_t n) {
  To* to = reinterpret_cast<To*>(operands[0]);
  const From* from = reinterpret_cast<const From*>(operands[1]);
  if constexpr ((is_half<To> && !same<From, float>) || (is_half<From> && !same<To, float>)) {
    float block[kBlock];  // one loop to or from float32 serves all the other dtypes
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = n - i < kBlock ? n - i : kBlock;
      char* const in[] = {reinterpret_cast<char*>(block), operands[1] + i * sizeof(From)};
      char* const out[] = {operands[0] + i * sizeof(To), reinterpret_cast<char*>(block)};
      cast_loop<float, From>(nullptr, in, m);
      cast_loop<To, float>(nullptr, out, m);
    }
    return;
  }
  const int64_t done = convert_with_f16c(to, from, n);
  if constexpr (kByDoubles<To, From>) {
    for (int64_t i = 0; i < n; i += kBlock)
      convert_by_doubles(to + i, from + i, n - i < kBlock ? n - i : kBlock);
    return;
  }
  ZERO_SIMD
  for (int64_t i = done; i < n; ++i) to[i] = convert<To>(from[i]);
}

template <class To, class From>
void cast(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const void*) {
  constexpr int64_t kSizes[2] = {sizeof(To), sizeof(From)};
  map_strided(cast_loop<To, From>, nullptr, kSizes, data, strides, n0, n1);
}

// Where the two lie differently in their cache lines, in pieces: some processors are several times
// slower at long copies of that kind with the instruction that the library takes for them.
inline void copy_row(char* out, const char* in, int64_t bytes) {
  const int64_t piece = ((out - in) & 63) != 0 ? 1024 : bytes;
  for (int64_t i = 0; i < bytes; i += piece)
    copy_bytes(out + i, in + i, bytes - i < piece ? bytes - i : piece);
}

// Copies. Dense rows move as they are. The others go in tiles through a block in L1: each cache
// line of the source is read once, along whichever dimension it lies, and each of the target
// written once.
template <class Bits>
void copy(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const void*) {
  constexpr int64_t kSize = sizeof(Bits);
  int64_t so0 = strides[0], sa0 = strides[1], so1 = strides[2], sa1 = strides[3];
  if (so0 == kSize && sa0 == kSize) {
    for (int64_t j = 0; j < n1; ++j) {
      char* out = data[0] + j * so1;
      const char* in = data[1] + j * sa1;
      if (out != in) copy_row(out, in, n0 * kSize);
    }
    return;
  }
  auto size = [](int64_t stride) { return stride < 0 ? -stride : stride; };
  if (n1 == 1 || (so1 >= so0 && (size(sa1) >= size(sa0) || sa1 == 0))) {  // both run along n0
    for (int64_t j = 0; j < n1; ++j) {
      char* out = data[0] + j * so1;
      const char* in = data[1] + j * sa1;
      if (so0 == kSize && (sa0 == 0 || sa0 == -kSize)) {
        gather_tile(reinterpret_cast<Bits*>(out), in, sa0, 0, {n0, 1});
        continue;
      }
      for (int64_t i = 0; i < n0; ++i, out += so0, in += sa0) {
        *reinterpret_cast<Bits*>(out) = *reinterpret_cast<const Bits*>(in);
      }
    }
    return;
  }
  constexpr int64_t kColumns = 64, kRows = 64 / kSize < 16 ? 16 : 64 / kSize;
  Bits block[kColumns * kRows];
  if (so1 < so0) {  // the target's lines along n0
    int64_t t = so0;
    so0 = so1;
    so1 = t;
    t = sa0;
    sa0 = sa1;
    sa1 = t;
    t = n0;
    n0 = n1;
    n1 = t;
  }
  // A transpose whose target has its lines so close that they stay in L1 needs no block.
  const bool turned = so0 == kSize && sa1 == kSize && sa0 != 0 && size(so1) <= 2048;
  for (int64_t j = 0; j < n1; j += kRows) {
    for (int64_t i = 0; i < n0; i += kColumns) {
      const Tile tile = {n0 - i < kColumns ? n0 - i : kColumns, n1 - j < kRows ? n1 - j : kRows};
      char* const to = data[0] + i * so0 + j * so1;
      const char* const from = data[1] + i * sa0 + j * sa1;
      if (turned && tile.rows > 1) {
        transpose_tile<Bits>(to, so1, from, sa0, tile);
        continue;
      }
      gather_tile(block, from, sa0, sa1, tile);
      scatter_tile(to, so0, so1, block, tile);
    }
  }
}

// Dtypes of one size share the copy.
template <int size> struct BitsOfSize;
template <> struct BitsOfSize<1> { using type = uint8_t; };
template <> struct BitsOfSize<2> { using type = uint16_t; };
template <> struct BitsOfSize<4> { using type = uint32_t; };
template <> struct BitsOfSize<8> { using type = uint64_t; };

template <int from, int to>
constexpr LoopFn cast_of() {
  using From = typename CType<static_cast<DType>(from)>::type;
  using To = typename CType<static_cast<DType>(to)>::type;
  if constexpr (from == to) {
    using Bits = typename BitsOfSize<sizeof(To)>::type;
    return copy<Bits>;
  } else {
    return cast<To, From>;
  }
}

template <int index>
void fill_cast_from(KernelTable& table) {
  if constexpr (index < kNumDTypes * kNumDTypes) {
    constexpr int from = index / kNumDTypes, to = index % kNumDTypes;
    table.cast[from][to] = cast_of<from, to>();
    fill_cast_from<index + 1>(table);
  }
}

}  // namespace

void fill_cast(KernelTable& table) { fill_cast_from<0>(table); }

}  // namespace zero::ZERO_ISA_NS
