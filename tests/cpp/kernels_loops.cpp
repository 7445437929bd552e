// The elementwise, cast and random kernels of every instruction set that this processor has:
// layouts, semantics, agreement. Links the objects of the kernels only.
#include <bit>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "zero/core/philox.h"
#include "zero/kernels/families.h"

using namespace zero;

namespace {

uint64_t state = 12345;
uint32_t random_word() {
  return static_cast<uint32_t>((state = state * 6364136223846793005u + 1442695040888963407u) >> 32);
}

const ComputeType kTypes[] = {ComputeType::F32, ComputeType::F64, ComputeType::I64,
                              ComputeType::I32, ComputeType::Bool};
int size_of(ComputeType t) {
  const int sizes[] = {4, 8, 8, 4, 1};
  return sizes[static_cast<int>(t)];
}

bool is_where(ElementwiseOp op) { return op == ElementwiseOp::Where; }
#define ZERO_CASE(name, ...) case ElementwiseOp::name:
int inputs_of(ElementwiseOp op) {
  switch (op) {
    ZERO_UNARY_OPS(ZERO_CASE)
    ZERO_UNARY_COMPARE_OPS(ZERO_CASE)
    ZERO_POINTWISE_UNARY_OPS(ZERO_CASE)
    ZERO_POINTWISE_COMPARE_OPS(ZERO_CASE)
    ZERO_SPECIAL_UNARY_OPS(ZERO_CASE) return 1;
    ZERO_POINTWISE_TERNARY_OPS(ZERO_CASE)
    case ElementwiseOp::Where: return 3;
    default: return 2;
  }
}
bool is_compare(ElementwiseOp op) {
  switch (op) {
    ZERO_UNARY_COMPARE_OPS(ZERO_CASE)
    ZERO_POINTWISE_COMPARE_OPS(ZERO_CASE)
    ZERO_BINARY_COMPARE_OPS(ZERO_CASE) return true;
    default: return false;
  }
}
#undef ZERO_CASE

// The parameters that an op needs, or may have.
const void* params_of(ElementwiseOp op, bool optional) {
  static const ClampParams clamp{-1.5, 2.0, -2, 5};
  static const AlphaParams alpha{2.0, 2};
  static const NanToNumParams numbers{0.5, 7.0, -7.0};
  static const LogitParams inside{0.125, 0.75};
  static const NextafterParams next{0x1p-149, 0x1p-126, 3.4028234663852886e38, 23};
  switch (op) {
    case ElementwiseOp::Clamp: return &clamp;
    case ElementwiseOp::NanToNum: return &numbers;
    case ElementwiseOp::Nextafter: return &next;
    case ElementwiseOp::Logit: return &inside;
    case ElementwiseOp::Addcmul:
    case ElementwiseOp::Addcdiv: return &alpha;
    case ElementwiseOp::Add:
    case ElementwiseOp::Sub: return optional ? &alpha : nullptr;
    default: return nullptr;
  }
}

template <class T>
void put(std::vector<char>& data, size_t i, T value) {
  std::memcpy(&data[i * sizeof(T)], &value, sizeof(T));
}

std::vector<char> random_data(ComputeType t, size_t n) {
  std::vector<char> data(n * static_cast<size_t>(size_of(t)));
  const double special[] = {0.0, -0.0,   1.0, -1.0, INFINITY, -INFINITY,
                            NAN, 1e-310, 2.0, -3.0, 1e7,      1e30};
  for (size_t i = 0; i < n; ++i) {
    const uint32_t w = random_word();
    const bool edge = w % 11 == 0;
    const double f =
        edge ? special[(w >> 8) % 12] : static_cast<double>(static_cast<int32_t>(w)) * 0x1p-29;
    const int64_t k = edge ? (w % 2 != 0 ? 0 : -1) : static_cast<int32_t>(w) >> (w % 31);
    switch (t) {
      case ComputeType::F32: put(data, i, static_cast<float>(f)); break;
      case ComputeType::F64: put(data, i, f); break;
      case ComputeType::I64: put(data, i, k); break;
      case ComputeType::I32: put(data, i, static_cast<int32_t>(k)); break;
      case ComputeType::Bool: put(data, i, static_cast<uint8_t>(w & 1)); break;
    }
  }
  return data;
}

struct Layout {
  int64_t inner, outer;  // elements
};

bool same_bits_or_nan(const char* a, const char* b, int size, bool floating) {
  if (std::memcmp(a, b, static_cast<size_t>(size)) == 0) return true;
  if (!floating) return false;
  if (size == 4) {
    float x, y;
    std::memcpy(&x, a, 4), std::memcpy(&y, b, 4);
    return std::isnan(x) && std::isnan(y);
  }
  double x, y;
  std::memcpy(&x, a, 8), std::memcpy(&y, b, 8);
  return std::isnan(x) && std::isnan(y);
}

// Every layout gives, bit for bit, what a call with one element gives.
void check_layouts(const KernelTable& table, ElementwiseOp op, ComputeType t) {
  const LoopFn loop = table.elementwise[static_cast<int>(op)][static_cast<int>(t)];
  if (loop == nullptr) return;
  const int inputs = inputs_of(op);
  const int out_size = is_compare(op) ? 1 : size_of(t);
  const int64_t shapes[][2] = {{0, 1},  {1, 1},   {3, 1},   {7, 5},   {31, 3}, {33, 2},
                               {64, 9}, {300, 3}, {777, 1}, {20, 40}, {5, 0}};
  for (auto [n0, n1] : shapes) {
    const Layout layouts[] = {{1, n0},         {0, 0},  {1, 0},     {0, 1},
                              {2, 2 * n0 + 3}, {n1, 1}, {1, n0 + 5}};
    for (int combination = 0; combination < 7 * 7; ++combination) {
      const Layout a[3] = {layouts[combination % 7], layouts[combination / 7],
                           layouts[(combination * 3) % 7]};
      const Layout o = layouts[combination % 3 == 0 ? 0 : combination % 3 == 1 ? 4 : 5];
      const size_t room = static_cast<size_t>(2 * (n0 + 8) * (n1 + 1) + 16);
      std::vector<std::vector<char>> in;
      for (int k = 0; k < inputs; ++k) {
        in.push_back(random_data(is_where(op) && k == 0 ? ComputeType::Bool : t, room));
      }
      std::vector<char> out(room * static_cast<size_t>(out_size), 77), want = out;
      char* data[4] = {out.data()};
      int64_t strides[8];
      const int operands = inputs + 1;
      for (int k = 0; k < operands; ++k) {
        const Layout l = k == 0 ? o : a[k - 1];
        const int size = k == 0 ? out_size : is_where(op) && k == 1 ? 1 : size_of(t);
        if (k > 0) data[k] = in[static_cast<size_t>(k - 1)].data();
        strides[k] = l.inner * size;
        strides[operands + k] = l.outer * size;
      }
      const void* params = params_of(op, combination % 2 != 0);
      loop(data, strides, n0, n1, params);
      const int64_t none[8] = {};
      for (int64_t j = 0; j < n1; ++j) {
        for (int64_t i = 0; i < n0; ++i) {
          char* one[4];
          for (int k = 0; k < operands; ++k) {
            one[k] = (k == 0 ? want.data() : data[k]) + i * strides[k] + j * strides[operands + k];
          }
          loop(one, none, 1, 1, params);
        }
      }
      for (size_t i = 0; i < room; ++i) {
        const size_t at = i * static_cast<size_t>(out_size);
        if (!same_bits_or_nan(&out[at], &want[at], out_size,
                              t <= ComputeType::F64 && !is_compare(op))) {
          std::printf("%s: op %d type %d shape %d x %d combination %d differs at %d\n", table.isa,
                      static_cast<int>(op), static_cast<int>(t), static_cast<int>(n0),
                      static_cast<int>(n1), combination, static_cast<int>(i));
          std::abort();
        }
      }
    }
  }
  // In place, over the first input.
  if (is_where(op) || is_compare(op)) return;
  std::vector<char> a = random_data(t, 1000), b = random_data(t, 1000), c = random_data(t, 1000);
  std::vector<char> out(a.size());
  const int64_t size = size_of(t);
  int64_t strides[8] = {};
  for (int k = 0; k <= inputs; ++k) strides[k] = size;
  char* fresh[4] = {out.data(), a.data(), b.data(), c.data()};
  char* in_place[4] = {a.data(), a.data(), b.data(), c.data()};
  loop(fresh, strides, 1000, 1, params_of(op, true));
  loop(in_place, strides, 1000, 1, params_of(op, true));
  CHECK(std::memcmp(out.data(), a.data(), a.size()) == 0);
}

template <class T>
constexpr ComputeType type_of() {
  return sizeof(T) == 1   ? ComputeType::Bool
         : T(0.5) != T(0) ? (sizeof(T) == 4 ? ComputeType::F32 : ComputeType::F64)
                          : (sizeof(T) == 4 ? ComputeType::I32 : ComputeType::I64);
}

template <class T, class R = T>
R value(const KernelTable& table, ElementwiseOp op, T a, T b = T(0), const void* params = nullptr) {
  const LoopFn loop = table.elementwise[static_cast<int>(op)][static_cast<int>(type_of<T>())];
  R out{};
  char* data[3] = {reinterpret_cast<char*>(&out), reinterpret_cast<char*>(&a),
                   reinterpret_cast<char*>(&b)};
  const int64_t strides[6] = {};
  loop(data, strides, 1, 1, params);
  return out;
}

template <class T>
bool equal(T a, T b) {
  return (a != a && b != b) || (a == b && std::signbit(double(a)) == std::signbit(double(b)));
}

template <class T>
void check_float_semantics(const KernelTable& k) {
  using Op = ElementwiseOp;
  const T inf = INFINITY, nan = NAN;
  const auto same = [&](Op op, T a, T b, T want) {
    const T got = value<T>(k, op, a, b);
    if (!equal(got, want)) {
      std::printf("%s: op %d of %g, %g: got %g, expected %g\n", k.isa, static_cast<int>(op),
                  double(a), double(b), double(got), double(want));
      std::abort();
    }
  };
  const auto same1 = [&](Op op, T a, T want) { same(op, a, T(0), want); };
  // Python: 5.0 % 3.0 and so on, the sign of the divisor.
  const T remainders[][3] = {{5, 3, 2},       {-5, 3, 1},        {5, -3, -1},   {-5, -3, -2},
                             {T(-0.0), 3, 0}, {6, -3, T(-0.0)},  {-6, 3, 0},    {5, -inf, -inf},
                             {-5, inf, inf},  {5, inf, 5},       {inf, 2, nan}, {1, 0, nan},
                             {nan, 1, nan},   {0, -inf, T(-0.0)}};
  for (auto [a, b, want] : remainders) same(Op::Remainder, a, b, want);
  const T floors[][3] = {{5, 3, 1},     {-5, 3, -2},      {5, -3, -2}, {-5, -3, 1},
                         {1, 0, inf},   {-1, 0, -inf},    {0, 0, nan}, {5, -inf, -1},
                         {inf, 2, nan}, {0, -3, T(-0.0)}, {-6, 3, -2}};
  for (auto [a, b, want] : floors) same(Op::FloorDiv, a, b, want);
  same(Op::Fmod, -5, 3, -2), same(Op::Fmod, 5, -3, 2), same(Op::TruncDiv, -5, 3, -1);
  for (Op op : {Op::Maximum, Op::Minimum})
    same(op, nan, 1, nan), same(op, 1, nan, nan), same(op, nan, nan, nan);
  same(Op::Maximum, 2, 3, 3), same(Op::Minimum, 2, 3, 2), same(Op::Maximum, -inf, 3, 3);
  same1(Op::Relu, nan, nan), same1(Op::Relu, -2, 0), same1(Op::Relu, 2, 2);
  same(Op::ReluGrad, 3, nan, 3), same(Op::ReluGrad, 3, 0, 0), same(Op::ReluGrad, 3, 1, 3);
  same(Op::TanhGrad, 2, T(0.5), T(1.5)), same(Op::SigmoidGrad, 2, T(0.5), T(0.5));
  same1(Op::Sign, nan, 0), same1(Op::Sign, -3, -1), same1(Op::Sign, T(-0.0), 0),
      same1(Op::Sign, inf, 1);
  for (auto [x, want] :
       {std::pair<T, T>{0.5, 0}, {1.5, 2}, {2.5, 2}, {-0.5, T(-0.0)}, {-1.5, -2}, {nan, nan}}) {
    same1(Op::Round, x, want);
  }
  same1(Op::Floor, T(-0.5), -1), same1(Op::Ceil, T(-0.5), T(-0.0)), same1(Op::Trunc, T(-1.7), -1);
  same1(Op::Floor, T(1e30), T(1e30)), same1(Op::Abs, T(-0.0), 0), same1(Op::Neg, 0, T(-0.0));
  same1(Op::Rsqrt, 4, T(0.5)), same1(Op::Rsqrt, 0, inf), same1(Op::Sqrt, -1, nan),
      same1(Op::Reciprocal, -0.0, -inf);
  same(Op::Pow, -2, 3, -8), same(Op::Pow, -8, T(1) / 3, nan), same(Op::Pow, 0, -1, inf),
      same(Op::Pow, nan, 0, 1);
  for (T x : {T(1e7), T(-2e10), T(1e30), inf, nan}) {
    same1(Op::Sin, x, T(std::sin(double(x)))), same1(Op::Cos, x, T(std::cos(double(x))));
    same1(Op::Tan, x, T(std::tan(double(x))));
  }
  const AlphaParams alpha{3, 0};
  CHECK(value<T>(k, Op::Add, 1, 2, &alpha) == 7 && value<T>(k, Op::Sub, 1, 2, &alpha) == -5);
  const ClampParams bounds{-1, 2, 0, 0}, crossed{5, 3, 0, 0}, nans{NAN, 2, 0, 0};
  CHECK(value<T>(k, Op::Clamp, -7, 0, &bounds) == -1 && value<T>(k, Op::Clamp, 7, 0, &bounds) == 2);
  CHECK(std::isnan(value<T>(k, Op::Clamp, nan, 0, &bounds)) &&
        value<T>(k, Op::Clamp, 4, 0, &crossed) == 3);
  CHECK(std::isnan(value<T>(k, Op::Clamp, 1, 0, &nans)));
  const auto test = [&](Op op, T a, T b, bool want) {
    CHECK((value<T, uint8_t>(k, op, a, b) == want));
  };
  test(Op::Eq, nan, nan, false), test(Op::Ne, nan, nan, true), test(Op::Lt, nan, 1, false),
      test(Op::Ge, 2, 2, true);
  test(Op::Eq, 0, T(-0.0), true), test(Op::LogicalAnd, nan, 1, true),
      test(Op::LogicalXor, nan, 0, true);
  test(Op::LogicalOr, 0, T(-0.0), false), test(Op::LogicalNot, nan, 0, false),
      test(Op::IsNan, nan, 0, true);
  test(Op::IsInf, -inf, 0, true), test(Op::IsFinite, inf, 0, false),
      test(Op::IsFinite, nan, 0, false);
}

template <class T>
void check_integer_semantics(const KernelTable& k) {
  using Op = ElementwiseOp;
  const T low = sizeof(T) == 4 ? T(INT32_MIN) : T(INT64_MIN), high = T(~low);
  const auto same = [&](Op op, T a, T b, T want) { CHECK(value<T>(k, op, a, b) == want); };
  for (T a : {T(7), T(-7), T(6), T(-6), T(0), low, high}) {
    for (T b : {T(3), T(-3), T(1), T(2), high, low}) {
      const T q = a / b, r = a % b;
      const bool down = r != 0 && (r < 0) != (b < 0);
      same(Op::TruncDiv, a, b, q), same(Op::Fmod, a, b, r);
      same(Op::FloorDiv, a, b, down ? q - 1 : q), same(Op::Remainder, a, b, down ? r + b : r);
    }
    for (Op op : {Op::TruncDiv, Op::FloorDiv, Op::Remainder}) same(op, a, 0, 0);
  }
  same(Op::FloorDiv, low, -1, low), same(Op::TruncDiv, low, -1, low),
      same(Op::Remainder, low, -1, 0);
  same(Op::Fmod, low, -1, 0), same(Op::Neg, low, 0, low), same(Op::Abs, low, 0, low),
      same(Op::Add, high, 1, low);
  same(Op::Pow, 3, 4, 81), same(Op::Pow, 2, -1, 0), same(Op::Pow, -1, -3, -1),
      same(Op::Pow, 1, -9, 1);
  same(Op::Pow, -1, -2, 1), same(Op::Pow, 0, 0, 1), same(Op::BitNot, 5, 0, ~T(5)),
      same(Op::Sign, -9, 0, -1);
  const ClampParams bounds{0, 0, INT64_MIN, INT64_MAX};
  CHECK(value<T>(k, Op::Clamp, low, 0, &bounds) == low &&
        value<T>(k, Op::Clamp, high, 0, &bounds) == high);
}

void check_bool_semantics(const KernelTable& k) {
  using Op = ElementwiseOp;
  for (uint8_t a : {0, 1}) {
    for (uint8_t b : {0, 1}) {
      const auto of = [&](Op op) { return value<uint8_t>(k, op, a, b); };
      CHECK(of(Op::Add) == (a | b) && of(Op::Mul) == (a & b) && of(Op::Maximum) == (a | b));
      CHECK(of(Op::Minimum) == (a & b) && of(Op::BitXor) == (a ^ b) &&
            of(Op::LogicalXor) == (a ^ b));
      CHECK(of(Op::Lt) == (a < b) && of(Op::BitNot) == 1 - a && of(Op::LogicalNot) == 1 - a &&
            of(Op::Sign) == a);
    }
  }
}

// ---- casts --------------------------------------------------------------------------------------

// Conversions written another way: through long double and a search among all 16-bit floats.
double half_value(uint16_t h) {
  const int exponent = (h >> 10) & 31, mantissa = h & 1023;
  const double magnitude = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(1024 + mantissa, exponent - 25);
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}
double bfloat16_value(uint16_t h) { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16); }

uint16_t nearest(float x, double (*value_of)(uint16_t), uint16_t infinity) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(double(x));
  if (std::isinf(x)) return sign | infinity;
  uint16_t low = 0, high = infinity;  // value_of(low) <= a < value_of(high), bisecting
  while (high - low > 1) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (value_of(middle) <= a ? low : high) = middle;
  }
  const double below = value_of(low);
  const double step =
      high == infinity ? below - value_of(static_cast<uint16_t>(low - 1)) : value_of(high) - below;
  const double rest = a - below;
  const bool up = rest > step / 2 || (rest == step / 2 && (low & 1) != 0);
  return sign | static_cast<uint16_t>(low + up);
}

double load(DType t, const char* p) {
  switch (t) {
    case DType::Bool: return *reinterpret_cast<const uint8_t*>(p);
    case DType::UInt8: return *reinterpret_cast<const uint8_t*>(p);
    case DType::Int8: return *reinterpret_cast<const int8_t*>(p);
    case DType::Int16: return *reinterpret_cast<const int16_t*>(p);
    case DType::Int32: return *reinterpret_cast<const int32_t*>(p);
    case DType::Int64: return static_cast<double>(*reinterpret_cast<const int64_t*>(p));
    case DType::Float16: return half_value(*reinterpret_cast<const uint16_t*>(p));
    case DType::BFloat16: return bfloat16_value(*reinterpret_cast<const uint16_t*>(p));
    case DType::Float32: return *reinterpret_cast<const float*>(p);
    default: return *reinterpret_cast<const double*>(p);
  }
}

template <class T>
void store_as(char* p, T value) {
  std::memcpy(p, &value, sizeof(T));
}

// x as dtype t; an `integer` wraps, a float that doesn't fit gives the smallest integer.
void store(DType t, char* p, double x, bool integer = false) {
  const bool fits64 = x >= -0x1p63 && x<0x1p63, fits32 = x> - 0x1p31 - 1 && x < 0x1p31;
  const int64_t wide = fits64 ? static_cast<int64_t>(x) : INT64_MIN;
  const int64_t narrow = fits32 || integer ? wide : INT32_MIN;
  switch (t) {
    case DType::Bool: return store_as(p, static_cast<uint8_t>(x != 0));
    case DType::UInt8:
    case DType::Int8: return store_as(p, static_cast<uint8_t>(narrow));
    case DType::Int16: return store_as(p, static_cast<uint16_t>(narrow));
    case DType::Int32: return store_as(p, static_cast<uint32_t>(narrow));
    case DType::Int64: return store_as(p, wide);
    case DType::Float16: return store_as(p, nearest(static_cast<float>(x), half_value, 0x7c00));
    case DType::BFloat16:
      return store_as(p, nearest(static_cast<float>(x), bfloat16_value, 0x7f80));
    case DType::Float32: return store_as(p, static_cast<float>(x));
    default: return store_as(p, x);
  }
}

void check_casts(const KernelTable& k) {
  const double values[] = {0,
                           -0.0,
                           1,
                           -1,
                           2.5,
                           -2.5,
                           0.1,
                           127,
                           128,
                           255,
                           256,
                           300,
                           -129,
                           32767,
                           32768,
                           40000,
                           65504,
                           65519,
                           65520,
                           65536,
                           2147483647,
                           2147483648,
                           -2147483648,
                           -2147483649.0,
                           4e9,
                           1e15,
                           1e19,
                           -1e19,
                           9007199254740992,
                           3e38,
                           1e-5,
                           6e-8,
                           3e-8,
                           2.9e-8,
                           1e-40,
                           6.1035e-5,
                           6.0976e-5,
                           INFINITY,
                           -INFINITY,
                           NAN,
                           2049,
                           2051,
                           1.00390625,
                           1.01171875};
  const int64_t count = sizeof values / sizeof *values, rows = 37, n = count * rows;
  for (int f = 0; f < kNumDTypes; ++f) {
    for (int t = 0; t < kNumDTypes; ++t) {
      const DType from = static_cast<DType>(f), to = static_cast<DType>(t);
      const int64_t si = itemsize(from), so = itemsize(to);
      std::vector<char> in(static_cast<size_t>(n * si)), want(static_cast<size_t>(n * so));
      for (int64_t i = 0; i < n; ++i) {
        const double x = values[(i * 7) % count] +
                         (i >= count && from >= DType::Float32 ? 1e-3 * double(i % 13) : 0);
        if (std::isnan(x) && (from == DType::Float16 || from == DType::BFloat16)) {
          store_as(&in[static_cast<size_t>(i * si)],
                   static_cast<uint16_t>(from == DType::Float16 ? 0x7e00 : 0x7fc0));
        } else {
          store(from, &in[static_cast<size_t>(i * si)], x);
        }
        const double source = load(from, &in[static_cast<size_t>(i * si)]);
        if (std::isnan(source) && (to == DType::Float16 || to == DType::BFloat16)) {
          store_as(&want[static_cast<size_t>(i * so)],
                   static_cast<uint16_t>(to == DType::Float16 ? 0x7e00 : 0x7fc0));
        } else {
          store(to, &want[static_cast<size_t>(i * so)], source, from <= DType::Int64);
        }
      }
      // Contiguous, transposed either way, every other element, one value for all.
      const int64_t strides[][4] = {{so, si, count * so, count * si},
                                    {so, rows * si, count * so, si},
                                    {rows * so, si, so, count * si},
                                    {rows * so, rows * si, so, si}};
      for (const auto& s : strides) {
        std::vector<char> out(static_cast<size_t>(n * so), 99);
        char* data[2] = {out.data(), in.data()};
        k.cast[f][t](data, s, count, rows, nullptr);
        for (int64_t j = 0; j < rows; ++j) {
          for (int64_t i = 0; i < count; ++i) {
            const char* got = &out[static_cast<size_t>(i * s[0] + j * s[2])];
            const char* expected = &want[static_cast<size_t>((i * s[1] + j * s[3]) / si * so)];
            const bool floating = to >= DType::Float32;
            if (!same_bits_or_nan(got, expected, static_cast<int>(so), floating)) {
              if ((to == DType::Float16 || to == DType::BFloat16) && std::isnan(load(to, got)) &&
                  std::isnan(load(to, expected))) {
                continue;  // any NaN will do
              }
              std::printf("%s: %s to %s of %.17g: got %.17g, expected %.17g\n", k.isa, name(from),
                          name(to), load(from, &in[static_cast<size_t>(i * s[1] + j * s[3])]),
                          load(to, got), load(to, expected));
              std::abort();
            }
          }
        }
      }
    }
  }
  // All 65536 16-bit floats, there and back.
  for (DType t : {DType::Float16, DType::BFloat16}) {
    std::vector<uint16_t> all(65536), back(65536);
    std::vector<float> wide(65536);
    for (size_t i = 0; i < 65536; ++i) all[i] = static_cast<uint16_t>(i);
    char* there[2] = {reinterpret_cast<char*>(wide.data()), reinterpret_cast<char*>(all.data())};
    char* again[2] = {reinterpret_cast<char*>(back.data()), reinterpret_cast<char*>(wide.data())};
    const int64_t widen[4] = {4, 2, 0, 0}, narrow[4] = {2, 4, 0, 0};
    k.cast[static_cast<int>(t)][static_cast<int>(DType::Float32)](there, widen, 65536, 1, nullptr);
    k.cast[static_cast<int>(DType::Float32)][static_cast<int>(t)](again, narrow, 65536, 1, nullptr);
    for (size_t i = 0; i < 65536; ++i) {
      const double x = load(t, reinterpret_cast<char*>(&all[i]));
      CHECK(std::isnan(x)
                ? std::isnan(wide[i]) && std::isnan(load(t, reinterpret_cast<char*>(&back[i])))
                : wide[i] == x && back[i] == all[i]);
    }
  }
  // A large transpose, which goes through tiles.
  std::vector<float> a(200 * 130), b(200 * 130);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  char* data[2] = {reinterpret_cast<char*>(b.data()), reinterpret_cast<char*>(a.data())};
  const int64_t strides[4] = {4, 130 * 4, 200 * 4, 4};
  k.cast[static_cast<int>(DType::Float32)][static_cast<int>(DType::Float32)](data, strides, 200,
                                                                             130, nullptr);
  for (int j = 0; j < 130; ++j) {
    for (int i = 0; i < 200; ++i)
      CHECK(b[static_cast<size_t>(j * 200 + i)] == a[static_cast<size_t>(i * 130 + j)]);
  }
}

// ---- random -------------------------------------------------------------------------------------

template <class T>
std::vector<T> draw(RandomFn fn, int64_t n, const void* params, uint64_t seed = 5,
                    uint64_t offset = 9) {
  std::vector<T> out(static_cast<size_t>(n));
  fn(out.data(), 0, n, seed, offset, params);
  // Ranges of any alignment give the same values.
  std::vector<T> parts(static_cast<size_t>(n));
  for (int64_t begin = 0, step = 1; begin < n; begin += step, step = (step * 7 + 3) % 701 + 1) {
    const int64_t m = begin + step < n ? step : n - begin;
    fn(parts.data() + begin, begin, m, seed, offset, params);
  }
  CHECK(std::memcmp(out.data(), parts.data(), sizeof(T) * out.size()) == 0);
  return out;
}

template <class T>
void check_moments(const std::vector<T>& x, double mean, double variance, double fourth) {
  const double n = static_cast<double>(x.size());
  double sum = 0, square = 0, quartic = 0;
  for (T v : x) sum += double(v);
  for (T v : x) square += std::pow(double(v) - mean, 2), quartic += std::pow(double(v) - mean, 4);
  // Five standard deviations of each estimate.
  CHECK(std::fabs(sum / n - mean) < 5 * std::sqrt(variance / n));
  CHECK(std::fabs(square / n - variance) < 5 * std::sqrt((fourth - variance * variance) / n));
  CHECK(std::fabs(quartic / n - fourth) < 0.05 * fourth);
}

void check_random(const KernelTable& k) {
  const int64_t n = 200001;
  const UniformParams unit{0, 1}, range{-2, 3}, empty{2, 2};
  const std::vector<float> u = draw<float>(k.random.uniform_f32, n, &unit);
  const std::vector<double> u64 = draw<double>(k.random.uniform_f64, n, &unit);
  check_moments(u, 0.5, 1.0 / 12, 1.0 / 80);
  check_moments(u64, 0.5, 1.0 / 12, 1.0 / 80);
  uint32_t words[4];
  philox(5, 9 + 25, words);
  CHECK(u[103] == static_cast<float>(words[3] >> 8) * 0x1p-24f);
  philox(5, 9 + 50, words);
  CHECK(u64[101] ==
        static_cast<double>((static_cast<uint64_t>(words[3]) << 32 | words[2]) >> 11) * 0x1p-53);
  for (float x : u) CHECK(x >= 0 && x < 1);
  for (double x : u64) CHECK(x >= 0 && x < 1);
  for (float x : draw<float>(k.random.uniform_f32, n, &range)) CHECK(x >= -2 && x < 3);
  for (float x : draw<float>(k.random.uniform_f32, 9, &empty)) CHECK(x == 2);
  const float next = std::nextafter(1.0f, 2.0f);
  const UniformParams narrow{1, next};
  for (float x : draw<float>(k.random.uniform_f32, 5000, &narrow)) CHECK(x == 1);

  const NormalParams standard{0, 1}, moved{3, 2};
  check_moments(draw<float>(k.random.normal_f32, n, &standard), 0, 1, 3);
  check_moments(draw<double>(k.random.normal_f64, n, &standard), 0, 1, 3);
  check_moments(draw<float>(k.random.normal_f32, n, &moved), 3, 4, 48);
  // Against Box and Muller in float64, from the same words.
  const std::vector<float> z = draw<float>(k.random.normal_f32, 4000, &standard);
  for (uint64_t c = 0; c < 1000; ++c) {
    philox(5, 9 + c, words);
    for (int pair = 0; pair < 2; ++pair) {
      const double radius = std::sqrt(-2 * std::log((words[2 * pair] + 0.5) * 0x1p-32));
      const uint32_t second = words[2 * pair + 1];
      const double quadrant = second >> 30, part = static_cast<int32_t>(second << 2) >> 2;
      const double angle = (quadrant + part * 0x1p-30) * 1.5707963267948966;
      const size_t i = 4 * c + 2 * static_cast<size_t>(pair);
      CHECK(std::fabs(z[i] - radius * std::cos(angle)) < 4e-6 * (1 + radius));
      CHECK(std::fabs(z[i + 1] - radius * std::sin(angle)) < 4e-6 * (1 + radius));
    }
  }

  const RandintParams dice{1, 7}, all{0, 0}, wide{INT64_MIN, INT64_MAX};
  const std::vector<int64_t> d = draw<int64_t>(k.random.randint_i64, 60000, &dice);
  const std::vector<int32_t> d32 = draw<int32_t>(k.random.randint_i32, 60000, &dice);
  int64_t counts[8] = {};
  for (size_t i = 0; i < d.size(); ++i) {
    CHECK(d[i] >= 1 && d[i] < 7 && d32[i] == d[i]);
    ++counts[d[i]];
  }
  for (int face = 1; face < 7; ++face) CHECK(std::llabs(counts[face] - 10000) < 500);
  philox(5, 9, words);
  CHECK(draw<int64_t>(k.random.randint_i64, 2, &all)[0] ==
        static_cast<int64_t>(static_cast<uint64_t>(words[1]) << 32 | words[0]));
  double mean = 0;
  for (int64_t x : draw<int64_t>(k.random.randint_i64, 10000, &wide)) mean += double(x) * 1e-4;
  CHECK(std::fabs(mean) < 5 * 0x1p63 / std::sqrt(3.0) / 100);

  const BernoulliParams third{1.0 / 3}, never{0}, always{1};
  double hits = 0;
  for (uint8_t x : draw<uint8_t>(k.random.bernoulli, n, &third)) hits += x;
  CHECK(std::fabs(hits / double(n) - 1.0 / 3) < 5 * std::sqrt(2.0 / 9 / double(n)));
  for (uint8_t x : draw<uint8_t>(k.random.bernoulli, n, &never)) CHECK(x == 0);
  for (uint8_t x : draw<uint8_t>(k.random.bernoulli, n, &always)) CHECK(x == 1);
}

void check_table(const KernelTable& k) {
  for (int op = 0; op < static_cast<int>(ElementwiseOp::Count); ++op) {
    bool any = false;
    for (ComputeType t : kTypes) {
      any = any || k.elementwise[op][static_cast<int>(t)] != nullptr;
      check_layouts(k, static_cast<ElementwiseOp>(op), t);
    }
    CHECK(any);
  }
  check_float_semantics<float>(k);
  check_float_semantics<double>(k);
  check_integer_semantics<int32_t>(k);
  check_integer_semantics<int64_t>(k);
  check_bool_semantics(k);
  check_casts(k);
  check_random(k);
  std::printf("%s passed\n", k.isa);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  KernelTable table{};
#if defined(__aarch64__)
  neon::fill_table(table);
  check_table(table);
#elif defined(__x86_64__)
  baseline::fill_table(table);
  check_table(table);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    table = KernelTable{};
    avx2::fill_table(table);
    check_table(table);
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    table = KernelTable{};
    avx512::fill_table(table);
    check_table(table);
  }
#else
  baseline::fill_table(table);
  check_table(table);
#endif
  return 0;
}
