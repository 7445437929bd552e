// Elementary functions of float64 that loops can take as vector code. Each is written from its
// definition: an exact reduction of the argument, a polynomial, and the bits that roundings lost
// carried along in a second number. Included by math.inl.
//
// Largest errors in ulp, against 80-bit long double (tests/cpp/kernels_math.cpp):
//   exp 0.9  exp2 1.1  expm1 1.4  log 0.8  log2 0.7  log10 0.7  log1p 0.8  tanh 1.8  sigmoid 1.6
//   sin and cos 0.8 (for |x| <= kTrigLimitD)  pow 1.2
#pragma once

#include "zero/kernels/common.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace math {

constexpr double kLn2High = 0.6931471803691238;  // 32 bits: times an exponent it is exact
constexpr double kLn2Low = 1.9082149292705877e-10;
constexpr uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
constexpr uint64_t kMantissaBits = 0x000fffffffffffff;

// The upper 21 bits of the fraction: the product of two such numbers is exact.
ZERO_INLINE double upper_half(double x) {
  return bit_cast<double>(bit_cast<uint64_t>(x) & 0xffffffff00000000u);
}

ZERO_INLINE double clamp(double x, double lo, double hi) {  // NaN stays
  x = x < lo ? lo : x;
  return x > hi ? hi : x;
}

// ---- exponentials -------------------------------------------------------------------------------

struct ReducedD {
  double r, low;  // x - n ln2 = r + low, |r| <= ln2 / 2
  double t;       // n + kRound: n = round(x / ln2) lies in its low bits
};

ZERO_INLINE ReducedD reduce_exp(double x) {  // |x| < 1100
  const double t = x * 1.4426950408889634 + kRound;
  const double n = t - kRound;
  const double high = x - n * kLn2High;
  const double r = high - n * kLn2Low;
  return {r, (high - r) - n * kLn2Low, t};
}

// exp(r + low) - 1 = r + r^2 q(r) + low for |r| <= ln2 / 2; fit 2^-58.
ZERO_INLINE double expm1_reduced(double r, double low) {
  const double q = polynomial(r, 0.5000000000000013, 0.166666666666667, 0.04166666666651497,
                              0.008333333333307215, 0.001388888894714466, 0.00019841269917349603,
                              2.4801489798020236e-05, 2.7557216339142515e-06, 2.763133531945823e-07,
                              2.5117846948540705e-08);
  return r + ((r * r) * q + low);
}

// 2^(n + more), for a result between 2^-1022 and 2^1023; t = n + kRound.
ZERO_INLINE double exp2_integer(double t, uint64_t more = 0) {
  return bit_cast<double>((bit_cast<uint64_t>(t) + 1023u + more) << 52);
}

// p 2^n, t = n + kRound, |n| < 2044: in two steps, so that the second rounds into subnormals.
ZERO_INLINE double scale(double p, double t) {
  const double n = t - kRound;
  const double half = n * 0.5 + kRound;
  return (p * exp2_integer(half)) * exp2_integer((n - (half - kRound)) + kRound);
}

ZERO_INLINE double exp(double x) {
  const ReducedD a = reduce_exp(clamp(x, -746.0, 710.0));
  return scale(1.0 + expm1_reduced(a.r, a.low), a.t);
}

ZERO_INLINE double exp2(double x) {
  const double c = clamp(x, -1076.0, 1025.0);
  const double t = c + kRound;
  return scale(1.0 + expm1_reduced((c - (t - kRound)) * kLn2, 0.0), t);
}

// 2 (s p + s - 1/2) with s = 2^(n-1), p = exp(r) - 1
ZERO_INLINE double expm1(double x) {
  const ReducedD a = reduce_exp(clamp(x, -40.0, 710.0));
  const double s = exp2_integer(a.t, static_cast<uint64_t>(-1));
  const double result = 2.0 * (s * expm1_reduced(a.r, a.low) + (s - 0.5));
  return abs(x) < 0x1p-54 ? x : result;
}

// |x| < 0.36: x + x^3 p(x^2), fit 2^-62; beyond, with t = exp(2|x|) - 1: t / (t + 2), and from 1 on
// 1 - 2 / (t + 2).
ZERO_INLINE double tanh(double x) {
  const double a = abs(x), z = a * a;
  const double small =
      a + (a * z) * polynomial(z, -0.33333333333333315, 0.13333333333327027, -0.053968253961526276,
                               0.02186948818391356, -0.008863225080906362, 0.0035919403339957803,
                               -0.0014537470718761205, 0.0005759013370177085,
                               -0.00018496605639786886);
  const double t = expm1(2.0 * (a > 20.0 ? 20.0 : a));
  const bool near = a < 1.0;
  const double q = (near ? t : 2.0) / (t + 2.0);
  return copysign(a < 0.36 ? small : (near ? q : 1.0 - q), x);
}

// As in float32.
ZERO_INLINE double sigmoid(double x) {
  const double e = exp(-abs(x));
  const double sum = 1.0 + e;
  const double quotient = e / sum;
  const double low = quotient - quotient * (e - (sum - 1.0));
  return x < 0.0 ? low : 1.0 - low;
}

// ---- logarithms ---------------------------------------------------------------------------------

// log(x) = k ln2 + log(1 + f), 1 + f in [sqrt(1/2), sqrt(2)); with s = f / (2 + f),
// log(1 + f) = f - f^2/2 + s (f^2/2 + r), r a polynomial in s^2; fit 2^-61.
struct ReducedLog {
  double k, f, half_square, tail;  // tail = s (f^2/2 + r)
};
ZERO_INLINE ReducedLog with_tail(double k, double f) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double r = z * polynomial(z, 0.6666666666666735, 0.39999999999412855, 0.28571428742830113,
                                  0.22222198524245096, 0.1818356704457759, 0.1531397670980106,
                                  0.14796729860882513);
  const double half_square = 0.5 * (f * f);
  return {k, f, half_square, s * (half_square + r)};
}

struct Exponent {
  double k, m;  // x = 2^k m, m in [sqrt(1/2), sqrt(2))
};
ZERO_INLINE Exponent exponent_of(double x) {  // x > 0, finite
  const bool tiny = x < 0x1p-1022;
  const uint64_t u =
      bit_cast<uint64_t>(tiny ? x * 0x1p54 : x) + (0x3ff0000000000000u - kSqrtHalfBits);
  const double biased = bit_cast<double>((u >> 52) | 0x4330000000000000u);
  return {biased - (4503599627370496.0 + (tiny ? 1023.0 + 54.0 : 1023.0)),
          bit_cast<double>((u & kMantissaBits) + kSqrtHalfBits)};
}

ZERO_INLINE double log_edges(double result, double x, double pole) {
  const double r = x == kInf ? x : result;
  return x > pole ? r : (x == pole ? -kInf : kNan);
}

ZERO_INLINE double log(double x) {
  const Exponent e = exponent_of(x);
  const ReducedLog a = with_tail(e.k, e.m - 1.0);
  return log_edges(a.k * kLn2High - ((a.half_square - (a.tail + a.k * kLn2Low)) - a.f), x, 0.0);
}

// k `unit` + log(1 + f) `factor`, where both constants come in an upper half and a rest.
ZERO_INLINE double log_to_base(double x, double unit, double unit_low, double factor,
                               double factor_low) {
  const Exponent e = exponent_of(x);
  const ReducedLog a = with_tail(e.k, e.m - 1.0);
  const double high = upper_half(a.f - a.half_square);
  const double low = ((a.f - high) - a.half_square) + a.tail;
  const double whole = a.k * unit, part = high * factor;  // exact
  const double sum = whole + part;
  const double rest = (low + high) * factor_low + low * factor + a.k * unit_low;
  return log_edges(sum + (rest + ((whole - sum) + part)), x, 0.0);
}
ZERO_INLINE double log2(double x) {
  return log_to_base(x, 1.0, 0.0, 1.4426950407214463, 1.6751713164886512e-10);
}
ZERO_INLINE double log10(double x) {
  return log_to_base(x, 0.3010299955494702, 1.1451100898021838e-10, 0.4342944818781689,
                     2.5082946711645275e-11);
}

// Of u = 1 + x, and of what its rounding lost; near 1 f is x itself.
ZERO_INLINE double log1p(double x) {
  const double u = 1.0 + x;
  const Exponent e = exponent_of(u);
  const bool near = e.k == 0.0;
  const double lost = (u >= 2.0 ? 1.0 - (u - x) : x - (u - 1.0)) / u;
  const ReducedLog a = with_tail(e.k, near ? x : e.m - 1.0);
  const double low = a.k * kLn2Low + (near ? 0.0 : lost);
  const double result = a.k * kLn2High - ((a.half_square - (a.tail + low)) - a.f);
  return abs(x) < 0x1p-54 ? x : log_edges(result, x, -1.0);
}

// ---- sine and cosine ----------------------------------------------------------------------------

// |x| <= kTrigLimitD: n has at most 20 bits and the parts of pi/2 have 33 each, so that the
// products are exact; x = n pi/2 + r + low, |r| <= pi/4.
constexpr double kTrigLimitD = 1.0e6;
struct ReducedTrigD {
  double r, low;
  uint64_t q;  // n in its low bits
};
ZERO_INLINE ReducedTrigD reduce_trig_exactly(double x) {
  const double t = x * 0.6366197723675814 + kRound;
  const double n = t - kRound;
  const double first = x - n * 1.5707963267341256;
  const double middle = n * 6.077100506303966e-11;
  const double second = first - middle;
  const double last = n * 2.0222662487959506e-21 - ((first - second) - middle);
  const double r = second - last;
  return {r, (second - r) - last, bit_cast<uint64_t>(t)};
}
ZERO_INLINE double sin_or_cos(ReducedTrigD a, uint64_t q) {
  const double z = a.r * a.r;
  // sin(r + low) = r + (z r S(z) + low (1 - z/2)); fit 2^-58
  const double s =
      polynomial(z, -0.16666666666666632, 0.008333333333322365, -0.00019841269829768156,
                 2.7557313677793577e-06, -2.5050755842919588e-08, 1.5896660388403913e-10);
  const double sine = a.r + ((z * a.r) * s + a.low * (1.0 - 0.5 * z));
  // cos(r + low) = 1 - z/2 + (z^2 C(z) - r low), with what 1 - z/2 rounds off; fit 2^-64
  const double c =
      polynomial(z, 0.0416666666666666, -0.0013888888888874066, 2.4801587289444258e-05,
                 -2.755731434088213e-07, 2.087572165365187e-09, -1.1359560855824111e-11);
  const double half = 0.5 * z, one = 1.0 - half;
  const double cosine = one + (((1.0 - one) - half) + ((z * z) * c - a.r * a.low));
  const double value = (q & 1) != 0 ? cosine : sine;
  return bit_cast<double>(bit_cast<uint64_t>(value) ^ ((q & 2) << 62));
}

// Only for |x| <= kTrigLimitD (infinities are beyond it), as those of float32.
ZERO_INLINE double sin(double x) {
  const ReducedTrigD a = reduce_trig_exactly(x);
  return x == 0.0 ? x : sin_or_cos(a, a.q);
}
ZERO_INLINE double cos(double x) {
  const ReducedTrigD a = reduce_trig_exactly(x);
  return sin_or_cos(a, a.q + 1);
}

// ---- powers -------------------------------------------------------------------------------------

ZERO_INLINE bool is_integer(double x) {  // from 2^52 on all floats are
  const double a = abs(x);
  return (a >= 0x1p52) | ((a + 0x1p52) - 0x1p52 == a);
}

// |x|^y = 2^(y log2|x|), where log2|x| = high + low has some 70 bits: with s = f / (2 + f) as
// s_high + s_low, log(1 + f) = 2/3 (3 s + s^3 + 3/5 s^5 + ...); fit 2^-70. Then the sign and the
// special cases of C's pow.
ZERO_INLINE double pow(double x, double y) {
  const double ax = abs(x);
  const Exponent e = exponent_of(ax);
  const double f = e.m - 1.0, d = 2.0 + f;
  const double s = f / d, s_high = upper_half(s);
  const double d_high = upper_half(d), d_low = f - (d_high - 2.0);
  const double s_low = ((f - s_high * d_high) - s_high * d_low) / d;
  const double z = s * s;
  double tail = (z * z) * polynomial(z, 0.600000000000034, 0.4285714285514371, 0.3333333378092356,
                                     0.2727267645713607, 0.23080140423119241, 0.19885120926373256,
                                     0.19795497408085835);
  tail += s_low * (s_high + s);
  const double square = s_high * s_high;  // exact
  const double t_high = upper_half(3.0 + square + tail);
  const double t_low = tail - ((t_high - 3.0) - square);
  const double u = s_high * t_high, v = s_low * t_high + t_low * s;  // 3/2 log(1 + f) = u + v
  const double p_high = upper_half(u + v), p_low = v - (p_high - u);
  // 2 / (3 ln2) in two parts
  const double l_high = p_high * 0.9617966937366873;
  const double l_low = p_high * 1.8928830231719995e-10 + p_low * 0.9617966939259756;
  const double high = upper_half((l_high + l_low) + e.k);
  const double low = l_low - ((high - e.k) - l_high);

  const double c = clamp(y, -0x1p66, 0x1p66);  // enough to reach 0 or infinity from any |x| but 1
  const double c_high = upper_half(c);
  const double whole = c_high * high, rest = (c - c_high) * high + c * low;
  const double sum = whole + rest;
  const double bounded = clamp(sum, -1100.0, 1100.0);
  const double t = bounded + kRound;
  const double n = t - kRound;
  const double part = whole - n;  // exact
  const double g_high = upper_half(part + rest), g_low = rest - (g_high - part);
  const double r = sum == bounded ? g_high * kLn2High : 0.0;
  const double r_low = sum == bounded ? g_high * kLn2Low + g_low * kLn2 : 0.0;
  const double r_sum = r + r_low;
  double magnitude = scale(1.0 + expm1_reduced(r_sum, r_low - (r_sum - r)), t);
  magnitude = ax == 0.0 ? (y > 0.0 ? 0.0 : kInf) : magnitude;
  magnitude = ax == kInf ? (y > 0.0 ? kInf : 0.0) : magnitude;
  magnitude = ((x != x) | (y != y)) ? kNan : magnitude;
  const bool integer = is_integer(y);
  const bool odd = integer & !is_integer(0.5 * y);
  const uint64_t flip = odd ? bit_cast<uint64_t>(x) & 0x8000000000000000u : 0u;
  double result = bit_cast<double>(bit_cast<uint64_t>(magnitude) ^ flip);
  result = ((x < 0.0) & (x > -kInf) & !integer) ? kNan : result;
  return ((y == 0.0) | (x == 1.0)) ? 1.0 : result;
}

}  // namespace math
}  // namespace
}  // namespace zero::ZERO_ISA_NS
