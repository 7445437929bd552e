// New tensors: constants, sequences and random draws.
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "zero/autograd/inplace.h"
#include "zero/ops/draw.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

// Writes a number everywhere, as part of a tensor's creation: not counted as a write.
void set_all(const Tensor& y, const Scalar& value) {
  if (y.is_meta() || y.numel() == 0) return;
  alignas(8) char number[8] = {};
  store_scalar(number, y.dtype(), value);
  const int64_t item = itemsize(y.dtype());
  uint64_t bits = 0;
  std::memcpy(&bits, number, static_cast<size_t>(item));
  char* data = static_cast<char*>(y.data());
  if (bits == 0) {
    parallel_for(y.numel() * item, 16 * kGrainSize, [data](int64_t begin, int64_t end) {
      std::memset(data + begin, 0, static_cast<size_t>(end - begin));
    });
    return;
  }
  const LoopFn copy = kernels().cast[static_cast<int>(y.dtype())][static_cast<int>(y.dtype())];
  parallel_for(y.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
    char* operands[2] = {data + begin * item, number};
    const int64_t strides[4] = {item, 0, 0, 0};
    copy(operands, strides, end - begin, 1, nullptr);
  });
}

// The integers that a dtype holds exactly: all of an integer dtype, up to 2^(bits of the mantissa)
// of a float.
std::pair<int64_t, int64_t> integer_range(DType t) {
  switch (t) {
    case DType::Bool: return {0, 1};
    case DType::UInt8: return {0, 255};
    case DType::Int8: return {-128, 127};
    case DType::Int16: return {-32768, 32767};
    case DType::Int32:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case DType::Int64:
      return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    case DType::Float16: return {-(int64_t{1} << 11), int64_t{1} << 11};
    case DType::BFloat16: return {-(int64_t{1} << 8), int64_t{1} << 8};
    case DType::Float32: return {-(int64_t{1} << 24), int64_t{1} << 24};
    case DType::Float64: return {-(int64_t{1} << 53), int64_t{1} << 53};
  }
  return {0, 0};
}

// Uninitialised; a refused size is the fault of `op`.
Tensor empty_for(const char* op, const Dims& sizes, TensorOptions options) {
  checked_numel(op, sizes, itemsize(options.dtype));
  return empty(sizes, options);
}

enum class Distribution : uint8_t { Uniform, Normal };

// The largest number below x of a dtype with a short mantissa, for an x that it holds.
float below(float x, DType dtype) {
  const bool half = dtype == DType::Float16;
  const int digits = half ? 11 : 8, least = half ? -24 : -126;
  if (x == 0) return -std::ldexp(1.0f, least);
  int exponent;
  const bool power_of_two = std::frexp(x, &exponent) == 0.5f;  // below it lie twice as many
  return x - std::ldexp(1.0f, std::max(exponent - digits - (power_of_two ? 1 : 0), least));
}

// Uniform on [a, b), or normal with mean a and deviation b; y is contiguous.
void fill_draw(const Tensor& y, Distribution distribution, double a, double b,
               Generator* generator) {
  if (y.is_meta() || y.numel() == 0) return;
  const Generator::Draw d = reserve(generator, y.numel());
  const RandomTable& random = kernels().random;
  const bool is_normal = distribution == Distribution::Normal;
  const bool is_short = y.dtype() == DType::Float16 || y.dtype() == DType::BFloat16;
  if (!is_normal && is_short) {
    // Rounding to a short mantissa must not reach the limit, so the bits that it lacks are cut off.
    const float cut = y.dtype() == DType::Float16 ? 2048.0f : 256.0f;
    const float low = static_cast<float>(a), high = static_cast<float>(b), range = high - low;
    const float last = range > 0 ? std::max(low, below(high, y.dtype())) : low;
    const UniformParams unit{0, 1};
    return fill_blocks<float>(y, [&](float* out, int64_t begin, int64_t n) {
      random.uniform_f32(out, begin, n, d.seed, d.offset, &unit);
      for (int64_t i = 0; i < n; ++i) {
        const float u = static_cast<float>(static_cast<int32_t>(out[i] * cut)) / cut;
        out[i] = std::min(low + range * u, last);
      }
    });
  }
  const UniformParams uniform{a, b};
  const NormalParams normal{a, b};
  const void* params = is_normal ? static_cast<const void*>(&normal) : &uniform;
  if (y.dtype() == DType::Float64) {
    const RandomFn fill = is_normal ? random.normal_f64 : random.uniform_f64;
    return fill_blocks<double>(y, [&](double* out, int64_t begin, int64_t n) {
      fill(out, begin, n, d.seed, d.offset, params);
    });
  }
  const RandomFn fill = is_normal ? random.normal_f32 : random.uniform_f32;
  fill_blocks<float>(y, [&](float* out, int64_t begin, int64_t n) {
    fill(out, begin, n, d.seed, d.offset, params);
  });
}

void check_floats(const char* op, DType dtype) {
  ZERO_CHECK(is_floating(dtype), DTypeError, op, ": not defined for integers; got ", dtype,
             ", expected a floating dtype; randint draws integers");
}

Tensor draw(const char* op, Distribution distribution, double a, double b, const Dims& sizes,
            TensorOptions options, Generator* generator) {
  check_floats(op, options.dtype);
  Tensor y = empty_for(op, sizes, options);
  fill_draw(y, distribution, a, b, generator);
  return y;
}

// Integers from low on, below high.
void fill_integers(const Tensor& y, int64_t low, int64_t high, Generator* generator) {
  if (y.is_meta() || y.numel() == 0) return;
  const Generator::Draw d = reserve(generator, y.numel());
  const RandintParams params{low, high};
  const RandomFn fill = kernels().random.randint_i64;
  fill_blocks<int64_t>(y, [&](int64_t* out, int64_t begin, int64_t n) {
    fill(out, begin, n, d.seed, d.offset, &params);
  });
}

// The upper 64 bits of a 64 x 64 bit product.
uint64_t multiply_high(uint64_t a, uint64_t b) {
  const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const uint64_t cross = a0 * b1 + (middle & 0xffffffffu);
  return a1 * b1 + (middle >> 32) + (cross >> 32);
}

// ceil((end - start) / step), checked. For int64 bounds and step are integers first, as in PyTorch.
int64_t arange_length(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype) {
  const double a = start.to_double(), b = end.to_double(), s = step.to_double();
  ZERO_CHECK(std::isfinite(a) && std::isfinite(b) && std::isfinite(s), ValueError,
             "arange: a bound or the step is not finite; got start ", start, ", end ", end,
             ", step ", step);
  ZERO_CHECK(s != 0, ValueError, "arange: the step is 0; got start ", start, ", end ", end,
             ", expected another step");
  ZERO_CHECK((b - a) / s >= 0, ValueError, "arange: the step leads away from the end; got start ",
             start, ", end ", end, ", step ", step, ", expected a ",
             b > a ? "positive" : "negative", " step");
  if (!is_floating(dtype)) {
    const double limit = 9223372036854775807.0;
    const bool fits = [&] {
      for (const Scalar* x : {&start, &end, &step})
        if (x->is_float() && std::abs(x->to_double()) >= limit) return false;
      return true;
    }();
    ZERO_CHECK(fits, ValueError, "arange: a bound or the step is no int64; got start ", start,
               ", end ", end, ", step ", step, " for ", dtype);
    ZERO_CHECK(step.to_int() != 0, ValueError, "arange: the step is 0 as an integer; got ", step,
               " for ", dtype, ", expected an integer step or a floating dtype");
  }
  if (dtype == DType::Int64) {
    // Unsigned, since end - start may exceed int64.
    const bool up = step.to_int() > 0;
    const uint64_t from = static_cast<uint64_t>(start.to_int()),
                   to = static_cast<uint64_t>(end.to_int());
    const uint64_t span = up ? to - from : from - to;
    const uint64_t stride = up ? static_cast<uint64_t>(step.to_int())
                               : uint64_t{0} - static_cast<uint64_t>(step.to_int());
    const uint64_t n = span / stride + (span % stride != 0);
    ZERO_CHECK(n <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()), ValueError,
               "arange: too many elements; got ", n, ", expected fewer than 2**63");
    return static_cast<int64_t>(n);
  }
  const double n = std::ceil((b - a) / s);
  ZERO_CHECK(n < 9.2e18, ValueError, "arange: too many elements; got ", n,
             ", expected fewer than 2**63");
  return static_cast<int64_t>(n);
}

}  // namespace

Tensor zeros(const Dims& sizes, TensorOptions options) {
  Tensor y = empty_for("zeros", sizes, options);
  set_all(y, 0);
  return y;
}

Tensor ones(const Dims& sizes, TensorOptions options) {
  Tensor y = empty_for("ones", sizes, options);
  set_all(y, 1);
  return y;
}

Tensor full(const Dims& sizes, const Scalar& value, TensorOptions options) {
  Tensor y = empty_for("full", sizes, options);
  set_all(y, value);
  return y;
}

Tensor scalar_tensor(const Scalar& value, TensorOptions options) {
  Tensor y = empty({}, options);
  if (!y.is_meta()) store_scalar(y.data(), y.dtype(), value);
  return y;
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, TensorOptions options) {
  ZERO_CHECK(options.dtype != DType::Bool, DTypeError,
             "arange: not defined for bool; got bool, expected numbers");
  const int64_t n = arange_length(start, end, step, options.dtype);
  if (!is_floating(options.dtype)) {
    const int64_t first = start.to_int(), stride = step.to_int();
    Tensor y = empty({n}, options);
    if (y.is_meta()) return y;
    fill_blocks<int64_t>(y, [=](int64_t* out, int64_t begin, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        out[i] =
            static_cast<int64_t>(static_cast<uint64_t>(first) +
                                 static_cast<uint64_t>(begin + i) * static_cast<uint64_t>(stride));
    });
    return y;
  }
  Tensor y = empty({n}, options);
  if (y.is_meta()) return y;
  const double first = start.to_double(), stride = step.to_double();
  fill_blocks<double>(y, [=](double* out, int64_t begin, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = first + static_cast<double>(begin + i) * stride;
  });
  return y;
}

// The values from both ends toward the middle, so that each end is exact.
template <class F>
static Tensor spaced(const char* op, const Scalar& start, const Scalar& end, int64_t steps,
                     TensorOptions options, F f) {
  ZERO_CHECK(steps >= 0, ValueError, op, ": steps is negative; got ", steps,
             ", expected steps >= 0");
  ZERO_CHECK(options.dtype != DType::Bool, DTypeError, op,
             ": not defined for bool; got bool, expected numbers");
  Tensor y = empty_for(op, {steps}, options);
  if (y.is_meta()) return y;
  const bool integers =
      !is_floating(options.dtype);  // then the bounds are cut first, as in PyTorch
  const auto bound = [=](const Scalar& s) {
    return integers ? static_cast<double>(s.to_int()) : s.to_double();
  };
  const double first = bound(start), last = bound(end);
  const double step = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : 0;
  fill_blocks<double>(y, [=](double* out, int64_t begin, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = begin + k;
      const double x = i < steps / 2 || steps == 1
                           ? first + step * static_cast<double>(i)
                           : last - step * static_cast<double>(steps - 1 - i);
      out[k] = f(x);
    }
  });
  return y;
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, TensorOptions options) {
  return spaced("linspace", start, end, steps, options, [](double x) { return x; });
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                TensorOptions options) {
  return spaced("logspace", start, end, steps, options,
                [base](double x) { return std::pow(base, x); });
}

Tensor eye(int64_t rows, int64_t columns, TensorOptions options) {
  ZERO_CHECK(rows >= 0 && columns >= 0, ValueError, "eye: a size is negative; got ", rows, " and ",
             columns, ", expected sizes >= 0");
  Tensor y = zeros({rows, columns}, options);
  if (y.is_meta()) return y;
  alignas(8) char one[8];
  store_scalar(one, options.dtype, 1);
  const size_t item = static_cast<size_t>(itemsize(options.dtype));
  char* data = static_cast<char*>(y.data());
  for (int64_t i = 0; i < std::min(rows, columns); ++i)
    std::memcpy(data + static_cast<size_t>(i * (columns + 1)) * item, one, item);
  return y;
}

Tensor rand(const Dims& sizes, TensorOptions options, Generator* generator) {
  return draw("rand", Distribution::Uniform, 0, 1, sizes, options, generator);
}

Tensor randn(const Dims& sizes, TensorOptions options, Generator* generator) {
  return draw("randn", Distribution::Normal, 0, 1, sizes, options, generator);
}

Tensor uniform_(const Tensor& self, double low, double high, Generator* generator) {
  ZERO_CHECK(low <= high, ValueError, "uniform_: the bounds are in the wrong order; got from ", low,
             " and to ", high, ", expected from <= to");
  check_floats("uniform_", self.dtype());
  return draw_over("uniform_", self, [&](const Tensor& y) {
    fill_draw(y, Distribution::Uniform, low, high, generator);
  });
}

Tensor normal_(const Tensor& self, double mean, double deviation, Generator* generator) {
  ZERO_CHECK(deviation >= 0, ValueError, "normal_: std is negative; got ", deviation,
             ", expected std >= 0");
  check_floats("normal_", self.dtype());
  return draw_over("normal_", self, [&](const Tensor& y) {
    fill_draw(y, Distribution::Normal, mean, deviation, generator);
  });
}

Tensor random_(const Tensor& self, std::optional<int64_t> low, std::optional<int64_t> high,
               Generator* generator) {
  const auto [least, most] = integer_range(self.dtype());
  const int64_t from = low.value_or(0);
  ZERO_CHECK(from < high.value_or(most), ValueError,
             "random_: no integer lies in the range; got from ", from, " and to ",
             high.value_or(most), ", expected from < to");
  const int64_t last = high ? *high - 1 : most;  // included: the limit may be 2^63
  ZERO_CHECK(from >= least && last <= most, ValueError,
             "random_: the dtype does not hold the range; got ", from, " to ", last, " for ",
             self.dtype(), ", expected integers from ", least, " to ", most);
  return draw_over("random_", self, [&](const Tensor& y) {
    if (last < std::numeric_limits<int64_t>::max())
      return fill_integers(y, from, last + 1, generator);
    if (y.is_meta() || y.numel() == 0) return;
    const Generator::Draw d = reserve(generator, y.numel());  // half of all words: clear the sign
    const RandintParams all{0, 0};
    fill_blocks<int64_t>(y, [&](int64_t* out, int64_t begin, int64_t n) {
      kernels().random.randint_i64(out, begin, n, d.seed, d.offset, &all);
      for (int64_t i = 0; i < n; ++i) out[i] &= std::numeric_limits<int64_t>::max();
    });
  });
}

Tensor randint(int64_t low, int64_t high, const Dims& sizes, TensorOptions options,
               Generator* generator) {
  ZERO_CHECK(low < high, ValueError, "randint: no integer lies in the range; got low ", low,
             " and high ", high, ", expected low < high");
  const auto [least, most] = integer_range(options.dtype);
  ZERO_CHECK(low >= least && high - 1 <= most, ValueError,
             "randint: the dtype does not hold the range; got low ", low, " and high ", high,
             " for ", options.dtype, ", expected integers from ", least, " to ", most);
  Tensor y = empty_for("randint", sizes, options);
  fill_integers(y, low, high, generator);
  return y;
}

Tensor random_choice(const Dims& sizes, double p, double value, TensorOptions options,
                     Generator* generator) {
  Tensor y = empty_for("random_choice", sizes, options);
  if (y.is_meta() || y.numel() == 0) return y;
  const Generator::Draw d = reserve(generator, y.numel());
  const BernoulliParams params{p};
  const RandomFn fill = kernels().random.bernoulli;
  const auto choose = [&](auto* out, int64_t begin, int64_t n) {
    using T = std::remove_pointer_t<decltype(out)>;
    constexpr int64_t kBlock = 512;
    const T values[2] = {0, static_cast<T>(value)};
    uint8_t chosen[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i);
      fill(chosen, begin + i, m, d.seed, d.offset, &params);
      for (int64_t k = 0; k < m; ++k) out[i + k] = values[chosen[k]];
    }
  };
  if (options.dtype == DType::Float64)
    fill_blocks<double>(y, choose);
  else
    fill_blocks<float>(y, choose);
  return y;
}

Tensor randperm(int64_t n, TensorOptions options, Generator* generator) {
  ZERO_CHECK(n >= 0, ValueError, "randperm: n is negative; got ", n, ", expected n >= 0");
  ZERO_CHECK(options.dtype != DType::Bool, DTypeError,
             "randperm: not defined for bool; got bool, expected numbers");
  const int64_t most = integer_range(options.dtype).second;
  ZERO_CHECK(n - 1 <= most, ValueError, "randperm: the dtype does not hold the range; got n = ", n,
             " for ", options.dtype, ", expected n <= ", most, " + 1");
  Tensor y = empty({n}, {DType::Int64, options.device});
  if (!y.is_meta() && n > 0) {
    const Generator::Draw d = reserve(generator, n);
    BlockingSection section(n > 100000);
    int64_t* items = y.data<int64_t>();
    for (int64_t i = 0; i < n; ++i) items[i] = i;
    // Fisher and Yates: item i changes places with one of the items 0 .. i, chosen by word i of the
    // draw.
    constexpr int64_t kBlock = 512;
    const RandintParams all{0, 0};
    uint64_t words[kBlock];
    for (int64_t i = 0; i < n; ++i) {
      if (i % kBlock == 0)
        kernels().random.randint_i64(words, i, std::min(kBlock, n - i), d.seed, d.offset, &all);
      const auto j =
          static_cast<int64_t>(multiply_high(words[i % kBlock], static_cast<uint64_t>(i) + 1));
      std::swap(items[i], items[j]);
    }
  }
  return to(y, options.dtype, options.device);
}

}  // namespace zero
