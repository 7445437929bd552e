// Elementary functions, written so that a loop over them becomes vector code: no branches, only
// selects.
//
// float32: exp, exp2, expm1, log, tanh, sigmoid and erf compute in float32; the others widen to
// float64, whose polynomials here are good to 2^-34 or better, and round once. Largest errors in
// units in the last place (ulp) of the result, subnormal results included, against float64 libm
// (every 61st float32 and all near the edges, with and without FMA; tests/cpp/kernels_math.cpp):
//   exp 0.86  exp2 0.96  expm1 1.44  log 0.80  tanh 1.69  sigmoid 1.87  erf 1.28  the others 0.51
// NaN gives NaN; signed zeros, infinities and poles are those of C (Annex F).
// float64: math_double.inl, and libm where nothing hot needs more.
//
// Polynomials are minimax fits (Remez exchange); "fit 2^-n" is the error of the fit alone.
#pragma once

#include "zero/kernels/common.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace math {

constexpr float kInfF = __builtin_huge_valf();
constexpr float kNanF = __builtin_nanf("");
constexpr double kNan = __builtin_nan("");
constexpr double kInf = __builtin_huge_val();
constexpr double kLn2 = 0.6931471805599453;
constexpr double kPi = 3.141592653589793;
// Adding 1.5 * 2^52 rounds a small double to the nearest integer and leaves it in the low bits.
constexpr double kRound = 6755399441055744.0;

// Horner's rule; coefficients from the constant term on.
template <class T, class... Rest>
ZERO_INLINE T polynomial(T x, T c0, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return c0;
  } else {
    return c0 + x * polynomial(x, rest...);
  }
}

ZERO_INLINE float abs(float x) { return bit_cast<float>(bit_cast<uint32_t>(x) & 0x7fffffffu); }
ZERO_INLINE double abs(double x) {
  return bit_cast<double>(bit_cast<uint64_t>(x) & 0x7fffffffffffffffu);
}
ZERO_INLINE float copysign(float x, float sign) {  // x >= 0 or NaN
  return bit_cast<float>(bit_cast<uint32_t>(x) | (bit_cast<uint32_t>(sign) & 0x80000000u));
}
ZERO_INLINE double copysign(double x, double sign) {  // x >= 0 or NaN
  return bit_cast<double>(bit_cast<uint64_t>(x) | (bit_cast<uint64_t>(sign) & 0x8000000000000000u));
}

}  // namespace math
}  // namespace
}  // namespace zero::ZERO_ISA_NS

#include "zero/kernels/math_double.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace math {

// ---- float32 cores ------------------------------------------------------------------------------

// Adding 1.5 * 2^23 rounds a small float to the nearest integer and leaves it in the low bits.
constexpr float kRoundF = 12582912.0f;

struct ReducedF {
  float r, low;  // x - n ln2 = r + low, |r| <= ln2 / 2
  int32_t n;     // round(x / ln2); without meaning for NaN
};

// |x| < 2^8: n * 0.693359375 is exact (10 bits times 9).
ZERO_INLINE ReducedF reduce_exp(float x) {
  const float t = x * 1.44269504f + kRoundF;
  const float n = t - kRoundF;
  const float high = x - n * 0.693359375f;
  const float r = high + n * 2.12194440e-4f;
  const float low = (high - r) + n * 2.12194440e-4f;  // what the line above rounded off
  return {r, low, static_cast<int32_t>(bit_cast<uint32_t>(t) - bit_cast<uint32_t>(kRoundF))};
}

// exp(r) - 1 = r + r^2 q(r) for |r| <= ln2 / 2; fit 2^-32.
ZERO_INLINE float expm1_reduced(ReducedF a) {
  const float q = polynomial(a.r, 5.000000000e-01f, 1.666666716e-01f, 4.166635498e-02f,
                             8.333273232e-03f, 1.394100836e-03f, 1.991417084e-04f);
  return a.r + ((a.r * a.r) * q + a.low);
}
// Where products are rounded, too, the part of `low` is needed.
ZERO_INLINE float exp_reduced(ReducedF a) {
#if defined(__FMA__) || defined(__aarch64__)
  return polynomial(a.r, 1.0f, 1.0f, 5.000000000e-01f, 1.666666716e-01f, 4.166635498e-02f,
                    8.333273232e-03f, 1.394100836e-03f, 1.991417084e-04f);
#else
  return 1.0f + expm1_reduced(a);
#endif
}

// 2^n for -126 <= n <= 127
ZERO_INLINE float exp2_integer(int32_t n) {
  return bit_cast<float>((static_cast<uint32_t>(n) + 127u) << 23);
}

// p * 2^n for -151 <= n <= 129: the second product rounds, once, also into the subnormals.
ZERO_INLINE float scale(float p, int32_t n) {
  const uint32_t sum = static_cast<uint32_t>(n) + 2u * 127u, half = sum >> 1;
  return (p * bit_cast<float>(half << 23)) * bit_cast<float>((sum - half) << 23);
}

ZERO_INLINE float clamp(float x, float lo, float hi) {  // NaN stays
  x = x < lo ? lo : x;
  return x > hi ? hi : x;
}

// ---- float64 cores for float32 results ----------------------------------------------------------

// log(x) for finite x > 0 that is normal in float64 (as all float32 are); anything for others.
// x = 2^k m, sqrt(1/2) <= m < sqrt(2); log m = 2 atanh(s), s = (m - 1) / (m + 1); fit 2^-45.
ZERO_INLINE double log_core(double x) {
  const uint64_t u = bit_cast<uint64_t>(x) + (0x3ff0000000000000u - kSqrtHalfBits);
  const double m = bit_cast<double>((u & kMantissaBits) + kSqrtHalfBits);
  const double k =
      bit_cast<double>((u >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
  const double s = (m - 1.0) / (m + 1.0);
  const double series =
      polynomial(s * s, 1.9999999999999465, 0.6666666667971756, 0.39999994851234283,
                 0.28572170292605387, 0.22174077882064464, 0.19610582836932433);
  return k * kLn2 + s * series;
}

// exp(r) 2^n with n in the low bits of t, |r| <= ln2 / 2, |n| < 1000; fit 2^-40.
ZERO_INLINE double exp_scaled(double r, double t) {
  const double p = polynomial(r, 0.9999999999997621, 0.9999999999806075, 0.5000000000618741,
                              0.16666666885578388, 0.04166666421849214, 0.008333267005456002,
                              0.001388917877288759, 0.00019915436839195268, 2.4727196053265103e-05);
  const uint64_t n = bit_cast<uint64_t>(t) - bit_cast<uint64_t>(kRound);
  return p * bit_cast<double>((n + 1023u) << 52);
}

ZERO_INLINE double exp_core(double x) {  // |x| <= 600 or NaN
  const double t = x * 1.4426950408889634 + kRound;
  return exp_scaled(x - (t - kRound) * kLn2, t);
}

ZERO_INLINE double exp2_core(double x) {  // |x| <= 1000 or NaN
  const double t = x + kRound;
  return exp_scaled((x - (t - kRound)) * kLn2, t);
}

// x = n pi/2 + r, |r| <= pi/4, for float32 x with |x| <= kTrigLimit: n has at most 22 bits and the
// first part of pi/2 has 31, so that their product is exact. q holds n in its low bits.
constexpr float kTrigLimit = 6.0e6f;
struct ReducedTrig {
  double r;
  uint64_t q;
};
ZERO_INLINE ReducedTrig reduce_trig(double x) {
  const double t = x * 0.6366197723675814 + kRound;
  const double n = t - kRound;
  const double r = (x - n * 1.5707963267341256) - n * 6.077100506506192e-11;
  return {r, bit_cast<uint64_t>(t)};
}
ZERO_INLINE double sin_reduced(double r) {  // |r| <= pi/4; fit 2^-38
  const double z = r * r;
  return r * (1.0 + z * polynomial(z, -0.16666666641426509, 0.008333329362278817,
                                   -0.00019839327136080622, 2.7182372725444226e-06));
}
ZERO_INLINE double cos_reduced(double r) {  // |r| <= pi/4; fit 2^-43
  const double z = r * r;
  return 1.0 - 0.5 * z +
         (z * z) * polynomial(z, 0.041666666622477214, -0.0013888883722636973,
                              2.4799511766987655e-05, -2.72095479817319e-07);
}
// (-1)^n sin(r) for x = n pi + r, |r| <= pi/2, n an integer and a `half`: one polynomial, fit to
// 2^-43.
// For |x| <= kTrigLimit n pi is exact in its first part, as above.
ZERO_INLINE float sin_halves(double x, double half) {
  const double t = (x * 0.3183098861837907 - half) + kRound;
  const double n = (t - kRound) + half;
  const double r = (x - n * 3.1415926534682512) - n * 1.2154201013012384e-10;
  const double z = r * r;
  const double series =
      polynomial(z, 1.0, -0.16666666666504409, 0.0083333333210743876, -0.00019841266727176074,
                 2.7556952896483079e-06, -2.5030188677013675e-08, 1.540941167755023e-10);
  const uint64_t odd = bit_cast<uint64_t>(t) << 63;
  return static_cast<float>(bit_cast<double>(bit_cast<uint64_t>(r * series) ^ odd));
}

// atan2(y, x). With a = min(|x|, |y|) / max: a <= tan(pi/8), or atan a = pi/4 + atan((a-1)/(a+1)),
// which takes one division for both. Fit 2^-45 for results of float32 (`brief`), else 2^-60.
template <bool brief>
ZERO_INLINE double atan2_core(double y, double x) {
  const double ax = abs(x), ay = abs(y);
  const bool swap = ay > ax;
  double num = swap ? ax : ay, den = swap ? ay : ax;
  num = num == kInf ? 1.0 : num;  // both infinite: the diagonal
  den = den == kInf ? (num == 1.0 && ax == ay ? 1.0 : kInf) : den;
  if constexpr (!brief) {
    const double size = den > 1e300 ? 0.25 : 1.0;  // the sum below must not overflow
    num *= size;
    den *= size;
  }
  const bool far = num > 0.41421356237309503 * den;
  const double top = far ? num - den : num;
  const double bottom = far ? num + den : den;
  const double s = top / (bottom == 0.0 ? 1.0 : bottom);
  const double z = s * s;
  const bool left = bit_cast<int64_t>(x) < 0;
  double a = 0;
  if constexpr (brief) {
    const double series = polynomial(
        z, -0.3333333333168524, 0.19999999683639277, -0.14285693485946574, 0.1111044711352517,
        -0.09079097914549948, 0.07568240268249424, -0.05889891619377114, 0.03087639326517899);
    a = s * (1.0 + z * series) + (far ? kPi / 4 : 0.0);
    a = swap ? kPi / 2 - a : a;
    a = left ? kPi - a : a;
  } else {  // eighths of the circle, and less than half of one more
    const double series = polynomial(
        z, -0.33333333333333331, 0.19999999999999993, -0.14285714285711515, 0.11111111110754406,
        -0.0909090906699066, 0.076923067353214747, -0.066666420049965452, 0.058819250338777322,
        -0.052580394289794816, 0.047193814578951367, -0.041043814178076433, 0.030634433239014519,
        -0.013916943217800841);
    const double small = s + s * (z * series), eighth = far ? 1.0 : 0.0;
    const double upright = left ? 2.0 + eighth : 2.0 - eighth;
    const double n = swap ? upright : (left ? 4.0 - eighth : eighth);
    const double rest = (swap == left ? small : -small) + n * 3.061616997868383e-17;
    a = n * (kPi / 4) + rest;  // the product is exact
  }
  a = ((x != x) | (y != y)) ? kNan : a;
  return copysign(a, y);
}

// ---- functions ----------------------------------------------------------------------------------

ZERO_INLINE float sqrt(float x) { return ZERO_LIBM(sqrtf)(x); }
ZERO_INLINE double sqrt(double x) { return ZERO_LIBM(sqrt)(x); }

ZERO_INLINE float exp(float x) {
  const ReducedF a = reduce_exp(clamp(x, -104.0f, 89.0f));
  return scale(exp_reduced(a), a.n);
}

ZERO_INLINE float exp2(float x) {
  const float c = clamp(x, -151.0f, 129.0f);
  const float t = c + kRoundF;
  const float r = (c - (t - kRoundF)) * 0.693147181f;
  const uint32_t n = bit_cast<uint32_t>(t) - bit_cast<uint32_t>(kRoundF);
  return scale(exp_reduced({r, 0.0f, 0}), static_cast<int32_t>(n));
}

// expm1(x) = 2 (s p + s - 1/2) with s = 2^(n-1), p = expm1(r); for |x| < 2^-25 it is x.
ZERO_INLINE float expm1(float x) {
  const ReducedF a = reduce_exp(clamp(x, -17.5f, 89.0f));
  const float s = bit_cast<float>((static_cast<uint32_t>(a.n) + 126u) << 23);
  const float result = 2.0f * (s * expm1_reduced(a) + (s - 0.5f));
  return abs(x) < 0x1p-25f ? x : result;
}

// log(x) = k ln2 + log(1 + f), 1 + f in [sqrt(1/2), sqrt(2)); log(1 + f) = f - f^2/2 + f^3 p(f);
// fit 2^-30.
ZERO_INLINE float log(float x) {
  const bool tiny = x < 0x1p-126f;
  const float normal = tiny ? x * 0x1p23f : x;
  const uint32_t u = bit_cast<uint32_t>(normal) + (0x3f800000u - 0x3f3504f3u);
  const float f = bit_cast<float>((u & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  const float k = static_cast<float>(static_cast<int32_t>(u >> 23) - (tiny ? 150 : 127));
  const float p = polynomial(f, 3.333331048e-01f, -2.499998659e-01f, 2.000222653e-01f,
                             -1.666925251e-01f, 1.421866417e-01f, -1.238433495e-01f,
                             1.187292635e-01f, -1.178986579e-01f, 6.915540248e-02f);
  const float z = f * f;
  const float low = ((f * z) * p - k * 2.12194440e-4f) - 0.5f * z;
  float result = (f + low) + k * 0.693359375f;
  result = x == kInfF ? x : result;
  return x > 0.0f ? result : (x == 0.0f ? -kInfF : kNanF);
}

// The logarithms of a scaled or shifted argument come from log_core; the edges are alike.
ZERO_INLINE float log_edges(double result, float x, float pole) {
  const float r = x == kInfF ? x : static_cast<float>(result);
  return x > pole ? r : (x == pole ? -kInfF : kNanF);
}
ZERO_INLINE float log2(float x) { return log_edges(log_core(x) * 1.4426950408889634, x, 0.0f); }
ZERO_INLINE float log10(float x) { return log_edges(log_core(x) * 0.4342944819032518, x, 0.0f); }
ZERO_INLINE float log1p(float x) {
  const double d = x;
  const double small = d * (1.0 - 0.5 * d);  // |x| < 2^-20: the next term is below 2^-41
  return log_edges(abs(d) < 0x1p-20 ? small : log_core(1.0 + d), x, -1.0f);
}

// |x| < 0.55: x + x^3 p(x^2), fit 2^-30; beyond: 1 - 2 / (exp(2|x|) + 1), which is 1 from 9.02 on.
// There an error of exp counts for at most 3/8, and the less the larger x is: 2|x| / ln2 = n + r
// needs no second part, and 2^r a fit of only 2^-28.
ZERO_INLINE float tanh(float x) {
  const float a = abs(x);
  const float z = a * a;
  const float near =
      a + a * (z * polynomial(z, -3.333331943e-01f, 1.333260238e-01f, -5.385385826e-02f,
                              2.107775956e-02f, -6.282474380e-03f));
  const float c = a > 9.02f ? 9.02f : a;
  const float t = c * 2.885390082f + kRoundF;
  const float r = c * 2.885390082f - (t - kRoundF);
  const float p = polynomial(r, 1.0f, 6.931471825e-01f, 2.402264774e-01f, 5.550332367e-02f,
                             9.618436918e-03f, 1.339887385e-03f, 1.535336196e-04f);
  const float scale = bit_cast<float>((bit_cast<uint32_t>(t) << 23) + 0x3f800000u);
  const float far = 1.0f - 2.0f / (p * scale + 1.0f);
  return copysign(a < 0.55f ? near : far, x);
}

// With e = exp(-|x|): e / (1 + e) for x < 0, and 1 minus that for x >= 0, so that
// sigmoid(x) + sigmoid(-x) is 1 exactly (in the rounding of the difference).
ZERO_INLINE float sigmoid(float x) {
  const float a = abs(x);
  const ReducedF d = reduce_exp(-(a > 104.0f ? 104.0f : a));
  const float e = scale(exp_reduced(d), d.n);
  const float sum = 1.0f + e;
  const float quotient = e / sum;
  const float low = quotient - quotient * (e - (sum - 1.0f));  // makes up for the rounding of 1 + e
  return x < 0.0f ? low : 1.0f - low;
}

// |x| < 0.92: x + x p(x^2), fit 2^-31; beyond: 1 - exp(-q(|x|)), fit 2^-34 of erf; 1 from 4 on.
ZERO_INLINE float erf(float x) {
  const float a = abs(x) > 4.0f ? 4.0f : abs(x);
  const float near =
      a + a * polynomial(a * a, 1.283791661e-01f, -3.761263490e-01f, 1.128369644e-01f,
                         -2.685941383e-02f, 5.200990010e-03f, -8.141481085e-04f, 8.362310473e-05f);
  const float q =
      polynomial(a, -1.746831840e-04f, 1.129514933e+00f, 6.333469152e-01f, 1.082800776e-01f,
                 -2.511941642e-02f, 4.171059001e-03f, -4.344617191e-04f, 2.109497109e-05f);
  const ReducedF d = reduce_exp(-q);
  const float far = 1.0f - exp_reduced(d) * exp2_integer(d.n);
  return copysign(a < 0.92f ? near : far, x);
}

// |x| <= kTrigLimit only (infinities are beyond it); elementwise.cpp sends blocks with larger ones
// to libm.
ZERO_INLINE float sin(float x) { return sin_halves(x, 0.0); }
ZERO_INLINE float cos(float x) { return -sin_halves(x, 0.5); }  // sin(r) = -cos(r + pi/2)
ZERO_INLINE double tan(double x) { return ZERO_LIBM(tan)(x); }
ZERO_INLINE float tan(float x) {
  const ReducedTrig a = reduce_trig(x);
  const double s = sin_reduced(a.r), c = cos_reduced(a.r);
  const bool odd = (a.q & 1) != 0;
  return static_cast<float>((odd ? -c : s) / (odd ? s : c));
}

ZERO_INLINE double atan(double x) { return atan2_core<false>(x, 1.0); }
ZERO_INLINE float atan(float x) { return static_cast<float>(atan2_core<true>(x, 1.0)); }
ZERO_INLINE double atan2(double y, double x) { return atan2_core<false>(y, x); }
ZERO_INLINE float atan2(float y, float x) { return static_cast<float>(atan2_core<true>(y, x)); }
// asin(x) = s + s^3 P(s^2) with s = |x| to 1/2; beyond, asin(x) = pi/2 - 2 asin(s) with
// s = sqrt((1 - |x|) / 2); fit 2^-40.
ZERO_INLINE double asin_core(double a) {  // asin(s), a = |x| of a float32
  const double z = a > 0.5 ? 0.5 * (1.0 - a) : a * a;
  const double s = sqrt(z);  // a itself where a^2 is exact
  return s + s * (z * polynomial(z, 0.1666666666666218, 0.075000000035845588, 0.044642852437938717,
                                 0.030382182776212484, 0.022366065938885009, 0.017441495685492855,
                                 0.013187916136753731, 0.015675662527070935, -0.0029397929067241963,
                                 0.0279070314326661));
}
ZERO_INLINE double asin(double x) { return ZERO_LIBM(asin)(x); }
ZERO_INLINE float asin(float x) {
  const double a = abs(static_cast<double>(x)), core = asin_core(a);
  const float r = static_cast<float>(a > 0.5 ? kPi / 2 - 2.0 * core : core);
  return abs(x) <= 1.0f ? copysign(r, x) : kNanF;
}
ZERO_INLINE double acos(double x) { return ZERO_LIBM(acos)(x); }
ZERO_INLINE float acos(float x) {
  const double a = abs(static_cast<double>(x)), core = asin_core(a);
  const double positive = a > 0.5 ? 2.0 * core : kPi / 2 - core;
  const float r = static_cast<float>(x < 0.0f ? kPi - positive : positive);
  return abs(x) <= 1.0f ? r : kNanF;
}

ZERO_INLINE double sinh(double x) { return ZERO_LIBM(sinh)(x); }
ZERO_INLINE float sinh(float x) {
  const double d = clamp(x, -90.0f, 90.0f);
  const double z = d * d;
  const double e = exp_core(d);
  const double small = d * polynomial(z, 1.0, 1.0 / 6, 1.0 / 120, 1.0 / 5040);  // next term 2^-34
  return static_cast<float>(abs(d) < 0.25 ? small : 0.5 * (e - 1.0 / e));
}
ZERO_INLINE double cosh(double x) { return ZERO_LIBM(cosh)(x); }
ZERO_INLINE float cosh(float x) {
  const double e = exp_core(clamp(x, -90.0f, 90.0f));
  return static_cast<float>(0.5 * (e + 1.0 / e));
}

// The inverses are logarithms; for |x| < 2^-12 the first terms of their series leave 2^-50.
ZERO_INLINE double asinh(double x) { return ZERO_LIBM(asinh)(x); }
ZERO_INLINE float asinh(float x) {
  const double a = abs(x), z = a * a;
  const double r = a < 0x1p-12 ? a * (1.0 - z / 6) : log_core(a + sqrt(z + 1.0));
  return copysign(abs(x) < kInfF ? static_cast<float>(r) : abs(x),
                  x);  // infinity and NaN: themselves
}
ZERO_INLINE double acosh(double x) { return ZERO_LIBM(acosh)(x); }
ZERO_INLINE float acosh(float x) {
  const double d = x;
  const float r = static_cast<float>(log_core(d + sqrt(d * d - 1.0)));
  return x >= 1.0f ? (x == kInfF ? x : r) : kNanF;
}
ZERO_INLINE double atanh(double x) { return ZERO_LIBM(atanh)(x); }
ZERO_INLINE float atanh(float x) {
  const double a = abs(x);
  const double r = a < 0x1p-12 ? a * (1.0 + a * a / 3) : 0.5 * log_core((1.0 + a) / (1.0 - a));
  const float inside = copysign(static_cast<float>(r), x);
  return abs(x) < 1.0f ? inside : (abs(x) == 1.0f ? copysign(kInfF, x) : kNanF);
}

ZERO_INLINE bool is_integer(float x) {  // from 2^23 on all floats are
  const float a = abs(x);
  return (a >= 0x1p23f) | ((a + 0x1p23f) - 0x1p23f == a);
}

// |x|^y = 2^(y log2|x|) in float64, then the sign and the special cases of C's pow.
ZERO_INLINE float pow(float x, float y) {
  const float ax = abs(x);
  double l = log_core(ax) * 1.4426950408889634;
  l = ax == 0.0f ? -kInf : l;
  l = ax < kInfF ? l : static_cast<double>(ax);  // infinity and NaN
  double p = y * l;
  p = ((ax == 1.0f) & (y == y)) ? 0.0 : p;
  p = p > 200.0 ? 200.0 : p;
  p = p < -200.0 ? -200.0 : p;
  const float magnitude = static_cast<float>(exp2_core(p));
  const bool integer = is_integer(y);
  const bool odd = integer & !is_integer(0.5f * y);
  const uint32_t flip = odd ? bit_cast<uint32_t>(x) & 0x80000000u : 0u;
  float r = bit_cast<float>(bit_cast<uint32_t>(magnitude) ^ flip);
  r = ((x < 0.0f) & (x > -kInfF) & !integer) ? kNanF : r;
  return ((y == 0.0f) | (x == 1.0f)) ? 1.0f : r;
}

}  // namespace math
}  // namespace
}  // namespace zero::ZERO_ISA_NS
