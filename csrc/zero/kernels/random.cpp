// Random fills from Philox4x32-10 (core/philox.h). Element i of a draw is a pure function of (seed,
// offset, i): ranges of any alignment, on any thread, give the same values.
//
// Words are made a block at a time, turned into values by a loop over the block, and the part asked
// for is copied out.
#include "zero/core/philox.h"
#include "zero/kernels/math.inl"

namespace zero::ZERO_ISA_NS {
namespace {

constexpr int kCounters = 64;  // a block

// words[k][c] is word k of counter `first + c`. Round by round over the block: that becomes vector
// code.
ZERO_NOINLINE void philox_block(uint64_t seed, uint64_t first, uint32_t (*words)[kCounters]) {
  uint32_t *w0 = words[0], *w1 = words[1], *w2 = words[2], *w3 = words[3];
  for (int c = 0; c < kCounters; ++c) {
    const uint64_t counter = first + static_cast<uint64_t>(c);
    w0[c] = static_cast<uint32_t>(counter);
    w1[c] = static_cast<uint32_t>(counter >> 32);
    w2[c] = 0;
    w3[c] = 0;
  }
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    ZERO_SIMD
    for (int c = 0; c < kCounters; ++c) {
      uint32_t c0 = w0[c], c1 = w1[c], c2 = w2[c], c3 = w3[c];
      philox_round(key0, key1, c0, c1, c2, c3);
      w0[c] = c0;
      w1[c] = c1;
      w2[c] = c2;
      w3[c] = c3;
    }
    key0 += kPhiloxKeyStep0;
    key1 += kPhiloxKeyStep1;
  }
}

ZERO_INLINE uint64_t join(uint32_t low, uint32_t high) {
  return static_cast<uint64_t>(high) << 32 | low;
}

// Draw::kPerCounter elements come from one counter; its call operator makes them from its four
// words.
template <class Draw, class T>
ZERO_INLINE void random_fill(const Draw& draw, void* data, int64_t begin, int64_t n, uint64_t seed,
                             uint64_t offset) {
  constexpr int64_t kPer = Draw::kPerCounter;
  constexpr int64_t kValues = kPer * kCounters;
  T* out = static_cast<T*>(data);
  uint32_t words[4][kCounters];
  T values[kValues];
  while (n > 0) {
    const int64_t counter = begin / kPer;
    const int64_t skip = begin - counter * kPer;
    const int64_t count = kValues - skip < n ? kValues - skip : n;
    philox_block(seed, offset + static_cast<uint64_t>(counter), words);
    T* target = count == kValues ? out : values;
    ZERO_SIMD
    for (int c = 0; c < kCounters; ++c)
      draw(words[0][c], words[1][c], words[2][c], words[3][c], target + kPer * c);
    if (target == values) copy_bytes(out, values + skip, count * int64_t{sizeof(T)});
    out += count;
    begin += count;
    n -= count;
  }
}

// ---- uniform: lo + (hi - lo) u, u in [0, 1) -----------------------------------------------------

ZERO_INLINE float unit(
    uint32_t word) {  // 24 bits; by way of int32, for which there is an instruction
  return static_cast<float>(static_cast<int32_t>(word >> 8)) * 0x1p-24f;
}
ZERO_INLINE double unit(uint64_t word) {  // 53 bits: the upper 32 and 21 of the lower, each exact
  const double high = static_cast<double>(static_cast<int32_t>(word >> 33));
  const double low = static_cast<double>(static_cast<int32_t>((word >> 11) & 0x3fffffu));
  return (high * 4194304.0 + low) * 0x1p-53;
}

// The largest float below hi that the rounding of lo + (hi - lo) u may give; lo for an empty range.
ZERO_INLINE float below(float lo, float hi) { return hi > lo ? ZERO_LIBM(nextafterf)(hi, lo) : lo; }
ZERO_INLINE double below(double lo, double hi) {
  return hi > lo ? ZERO_LIBM(nextafter)(hi, lo) : lo;
}

template <class T>
struct Affine {
  T lo, range, last;
  explicit Affine(const void* params) {
    const UniformParams& p = *static_cast<const UniformParams*>(params);
    lo = static_cast<T>(p.lo);
    range = static_cast<T>(p.hi - p.lo);
    last = below(lo, static_cast<T>(p.hi));
  }
  ZERO_INLINE T operator()(T u) const {
    const T x = lo + range * u;
    return x > last ? last : x;
  }
};

struct UniformF32 : Affine<float> {
  static constexpr int kPerCounter = 4;
  using Affine<float>::Affine;
  ZERO_INLINE void operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t d, float* out) const {
    const Affine<float>& f = *this;
    out[0] = f(unit(a));
    out[1] = f(unit(b));
    out[2] = f(unit(c));
    out[3] = f(unit(d));
  }
};

struct UniformF64 : Affine<double> {
  static constexpr int kPerCounter = 2;
  using Affine<double>::Affine;
  ZERO_INLINE void operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t d, double* out) const {
    const Affine<double>& f = *this;
    out[0] = f(unit(join(a, b)));
    out[1] = f(unit(join(c, d)));
  }
};

// ---- normal: Box and Muller, "A note on the generation of random normal deviates", 1958 ---------
// r = sqrt(-2 log u), u in (0, 1]; (r cos t, r sin t), t uniform on the circle.

template <class T>
struct Deviate {
  T mean, std;
  explicit Deviate(const void* params) {
    const NormalParams& p = *static_cast<const NormalParams*>(params);
    mean = static_cast<T>(p.mean);
    std = static_cast<T>(p.std);
  }
  ZERO_INLINE T operator()(T z) const { return mean + std * z; }
};

struct NormalF32 : Deviate<float> {
  static constexpr int kPerCounter = 4;
  using Deviate<float>::Deviate;
  ZERO_INLINE void operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t d, float* out) const {
    pair(a, b, out);
    pair(c, d, out + 2);
  }
  // All 32 bits of the first word count: u >= 2^-33, so that |z| reaches 6.7. The second word's top
  // two bits are the quadrant, the others an angle in [-pi/4, pi/4); sin and cos to 2^-25, fits
  // 2^-28 and 2^-33.
  ZERO_INLINE void pair(uint32_t first, uint32_t second, float* out) const {
    const Deviate<float>& f = *this;
    const float high = static_cast<float>(static_cast<int32_t>(first >> 16)) * 0x1p-16f;
    const float low =
        static_cast<float>(static_cast<int32_t>(first & 0xffffu)) * 0x1p-32f + 0x1p-33f;
    const float radius = math::sqrt(-2.0f * math::log(high + low));
    const int32_t fraction = static_cast<int32_t>(second << 2) >> 2;
    const float t = static_cast<float>(fraction) * (0x1p-30f * 1.57079633f);
    const float z = t * t;
    const float s = t + t * (z * math::polynomial(z, -0.166666667f, 0.00833332936f,
                                                  -0.000198393271f, 2.71823724e-06f));
    const float c =
        1.0f + z * math::polynomial(z, -0.5f, 0.0416666467f, -0.00138873615f, 2.44377302e-05f);
    const uint32_t quadrant = second >> 30;
    const bool odd = (quadrant & 1u) != 0;
    const uint32_t flip_sin = (quadrant & 2u) << 30, flip_cos = ((quadrant + 1u) & 2u) << 30;
    const float sin_t = bit_cast<float>(bit_cast<uint32_t>(odd ? c : s) ^ flip_sin);
    const float cos_t = bit_cast<float>(bit_cast<uint32_t>(odd ? s : c) ^ flip_cos);
    out[0] = f(radius * cos_t);
    out[1] = f(radius * sin_t);
  }
};

struct NormalF64 : Deviate<double> {
  static constexpr int kPerCounter = 2;
  using Deviate<double>::Deviate;
  ZERO_INLINE void operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t d, double* out) const {
    const Deviate<double>& f = *this;
    const double u = 1.0 - unit(join(a, b));
    const double t = 2.0 * math::kPi * unit(join(c, d));
    const double radius = math::sqrt(-2.0 * math::log(u));
    out[0] = f(radius * math::cos(t));
    out[1] = f(radius * math::sin(t));
  }
};

// ---- exponential: -log(u) / rate, u in (0, 1] ---------------------------------------------------

template <class T>
struct Decay {
  T rate;
  explicit Decay(const void* params)
      : rate(static_cast<T>(static_cast<const ExponentialParams*>(params)->rate)) {}
  // Where u rounds to 1, half the least other value: a draw is never 0.
  ZERO_INLINE T operator()(T u, T least) const {
    const T x = -math::log(u);
    return (x > least ? x : least) / rate;
  }
};

struct ExponentialF32 : Decay<float> {
  static constexpr int kPerCounter = 4;
  using Decay<float>::Decay;
  ZERO_INLINE float value(uint32_t word) const {  // all 32 bits count: up to 23 / rate
    const float high = static_cast<float>(static_cast<int32_t>(word >> 16)) * 0x1p-16f;
    const float low =
        static_cast<float>(static_cast<int32_t>(word & 0xffffu)) * 0x1p-32f + 0x1p-33f;
    const Decay<float>& f = *this;
    return f(high + low, 0x1p-26f);
  }
  ZERO_INLINE void operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t d, float* out) const {
    out[0] = value(a);
    out[1] = value(b);
    out[2] = value(c);
    out[3] = value(d);
  }
};

struct ExponentialF64 : Decay<double> {
  static constexpr int kPerCounter = 2;
  using Decay<double>::Decay;
  ZERO_INLINE void operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t d, double* out) const {
    const Decay<double>& f = *this;
    out[0] = f(1.0 - unit(join(a, b)), 0x1p-54);
    out[1] = f(1.0 - unit(join(c, d)), 0x1p-54);
  }
};

// ---- integers and bernoulli ---------------------------------------------------------------------

// The upper half of a 64 x 64 bit product, from 32-bit parts: vectors and MSVC have no wider type.
ZERO_INLINE uint64_t multiply_high(uint64_t a, uint64_t b) {
  const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const uint64_t cross = a0 * b1 + (middle & 0xffffffffu);
  return a1 * b1 + (middle >> 32) + (cross >> 32);
}

// lo + floor(word (hi - lo) / 2^64) for a 64-bit word: no value is more likely than another by more
// than (hi - lo) / 2^64 of its probability.
template <class T>
struct Integers {
  static constexpr int kPerCounter = 2;
  uint64_t lo, range;
  explicit Integers(const void* params) {
    const RandintParams& p = *static_cast<const RandintParams*>(params);
    lo = static_cast<uint64_t>(p.lo);
    range = static_cast<uint64_t>(p.hi) - lo;
  }
  ZERO_INLINE T value(uint64_t word) const {
    return static_cast<T>(
        static_cast<int64_t>(lo + (range == 0 ? word : multiply_high(word, range))));
  }
  ZERO_INLINE void operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t d, T* out) const {
    out[0] = value(join(a, b));
    out[1] = value(join(c, d));
  }
};

// word < p 2^32; p = 1 is always, p = 0 never.
struct Bernoulli {
  static constexpr int kPerCounter = 4;
  uint64_t threshold;
  explicit Bernoulli(const void* params) {
    threshold =
        static_cast<uint64_t>(static_cast<const BernoulliParams*>(params)->p * 4294967296.0);
  }
  ZERO_INLINE void operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint8_t* out) const {
    out[0] = a < threshold;
    out[1] = b < threshold;
    out[2] = c < threshold;
    out[3] = d < threshold;
  }
};

struct Words {
  static constexpr int kPerCounter = 4;
  ZERO_INLINE void operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t* out) const {
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
  }
};

// word < p 2^32, with a probability per element.
template <class T>
void bernoulli_by(void* out, int64_t begin, int64_t n, uint64_t seed, uint64_t offset,
                  const void* params) {
  T* y = static_cast<T*>(out);
  const T* p = static_cast<const T*>(static_cast<const BernoulliByParams*>(params)->p) + begin;
  uint32_t words[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = n - i < kBlock ? n - i : kBlock;
    random_fill<Words, uint32_t>(Words(), words, begin + i, count, seed, offset);
    ZERO_SIMD
    for (int64_t k = 0; k < count; ++k) {  // by way of int32, for which there is an instruction
      const double word =
          static_cast<double>(static_cast<int32_t>(words[k] ^ 0x80000000u)) + 2147483648.0;
      y[i + k] = word * 0x1p-32 < static_cast<double>(p[i + k]) ? T(1) : T(0);
    }
  }
}

template <class Draw, class T>
void draw(void* out, int64_t begin, int64_t n, uint64_t seed, uint64_t offset, const void* params) {
  random_fill<Draw, T>(Draw(params), out, begin, n, seed, offset);
}

}  // namespace

void fill_random(KernelTable& table) {
  table.random.uniform_f32 = draw<UniformF32, float>;
  table.random.uniform_f64 = draw<UniformF64, double>;
  table.random.normal_f32 = draw<NormalF32, float>;
  table.random.normal_f64 = draw<NormalF64, double>;
  table.random.randint_i64 = draw<Integers<int64_t>, int64_t>;
  table.random.randint_i32 = draw<Integers<int32_t>, int32_t>;
  table.random.bernoulli = draw<Bernoulli, uint8_t>;
  table.random.bernoulli_by_f32 = bernoulli_by<float>;
  table.random.bernoulli_by_f64 = bernoulli_by<double>;
  table.random.exponential_f32 = draw<ExponentialF32, float>;
  table.random.exponential_f64 = draw<ExponentialF64, double>;
}

}  // namespace zero::ZERO_ISA_NS
