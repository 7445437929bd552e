// Special functions of one number, in float64; float32 calls them and rounds once. Without branches
// where a function is common, so that a loop over it becomes vector code.
//
// Sources: DLMF (dlmf.nist.gov) chapters 5 to 10; Shepherd and Laframboise, Chebyshev approximation
// of (1 + 2x) exp(x^2) erfc x, 1981, for the variable of erfcx; Giles, Approximating the erfinv
// function, 2010, for that of erfinv. The polynomials are zero's own (special_tables.inl).
#pragma once

#include "zero/kernels/math.inl"
#include "zero/kernels/special_tables.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace special {

// Some have a template argument `brief` for results of float32: polynomials and logarithms that are
// good to 2^-33, on arguments that are float32 numbers, and so square exactly.

using math::abs;
using math::exp;
using math::kInf;
using math::kNan;
using math::kPi;
using math::log;
using math::log1p;
using math::polynomial;

constexpr double kLogPi = 1.1447298858494002;
constexpr double kSqrtHalf = 0.7071067811865476;
constexpr double kHalfLog2Pi = 0.9189385332046728;

// c[i] + c[i + step] t + c[i + 2 step] t^2 + …
template <int i, int step, int n>
ZERO_INLINE double horner(double t, const double (&c)[n]) {
  if constexpr (i + step >= n) {
    return c[i];
  } else {
    return c[i] + t * horner<i + step, step>(t, c);
  }
}

// The polynomial of such coefficients. After the first one even and odd powers are summed apart: a
// processor waits for half as many steps of one chain.
template <int n>
ZERO_INLINE double two_chains(double t, const double (&c)[n]) {
  const double z = t * t;
  return c[0] + t * (horner<1, 2>(z, c) + t * horner<2, 2>(z, c));
}

// The polynomial of a table at t in [-1, 1].
template <class Table, bool brief = false>
ZERO_INLINE double series(double t) {
  if constexpr (brief) {
    return two_chains(t, Table::brief);
  } else {
    return two_chains(t, Table::full);
  }
}

template <bool brief>
ZERO_INLINE double log_of(double x) {
  if constexpr (brief) {
    const double y = math::log_core(x);
    const double finite = x == kInf ? x : y;
    return x > 0.0 ? finite : (x == 0.0 ? -kInf : kNan);
  } else {
    return log(x);
  }
}

ZERO_INLINE double signed_by(double x, double sign) {
  return bit_cast<double>((bit_cast<uint64_t>(x) & 0x7fffffffffffffffu) |
                          (bit_cast<uint64_t>(sign) & 0x8000000000000000u));
}

// sin(pi x) and cos(pi x): x = n + r with |r| <= 1/2, exactly; then on |r| <= 1/4 the series of
// one or the other.
struct Circular { double sin, cos; };
ZERO_INLINE Circular sincos_pi(double x) {
  // From 2^52 on all are integers, and adding kRound tells no parity: even ones from 2^53 on.
  const double a = abs(x) < 0x1p51 ? x : x - 2.0 * ZERO_LIBM(floor)(0.5 * x);
  const double t = 2.0 * a + math::kRound;
  const double r = kPi * (a - 0.5 * (t - math::kRound));  // |r| <= pi/4
  const uint64_t q = bit_cast<uint64_t>(t);
  const double z = r * r;
  const double s =
      r + r * (z * polynomial(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                              1.0 / 6227020800, -1.0 / 1307674368000));
  const double c = 1.0 - (0.5 * z - (z * z) * polynomial(z, 1.0 / 24, -1.0 / 720, 1.0 / 40320,
                                                         -1.0 / 3628800, 1.0 / 479001600,
                                                         -1.0 / 87178291200, 1.0 / 20922789888000));
  const bool odd = (q & 1) != 0;
  const double sine = odd ? c : s, cosine = odd ? s : c;
  return {bit_cast<double>(bit_cast<uint64_t>(sine) ^ ((q & 2) << 62)),
          bit_cast<double>(bit_cast<uint64_t>(cosine) ^ (((q + 1) & 2) << 62))};
}

// ---- error functions and the normal distribution ------------------------------------------------

// exp(factor x^2), factor = 1, 1/2 or their negatives: the square in two parts, of which the large
// one is exact.
template <bool brief>
ZERO_INLINE double exp_square(double x, double factor) {
  if constexpr (brief) {
    return math::exp_core(factor * (x * x));
  } else {
    const double high = bit_cast<double>(bit_cast<uint64_t>(x) & 0xfffffffff8000000u);
    const double rest = factor * ((x - high) * (x + high));
    const double small = abs(rest) < 1.0 ? rest : 0.0;  // where the power is 0 or infinite anyway
    return exp(factor * (high * high)) * (1.0 + small * (1.0 + small * (0.5 + small * (1.0 / 6))));
  }
}
// Squares up to here are in the range of exp_square, and results beyond are as at it.
template <bool brief> constexpr double kFarthest = brief ? 20.0 : 40.0;

template <bool brief>
ZERO_INLINE double erfcx_positive(double a) {  // a >= 0 or NaN
  a = a > 1e100 ? 1e100 : a;
  const double p = a + 3.0, q = 1.0 + 2.0 * a;
  const double r = 1.0 / (p * q);  // of both quotients
  return series<tables::Erfcx, brief>((a - 3.0) * (q * r)) * (p * r);
}
template <bool brief>
ZERO_INLINE double erfcx(double x) {
  const double y = erfcx_positive<brief>(abs(x));
  const double limit = x == kInf ? 0.0 : y;
  const double near = x < -kFarthest<brief> ? -kFarthest<brief> : x;
  const double power = exp_square<brief>(near, 1.0);
  return x < 0.0 ? (power + power) - y : limit;
}
template <bool brief>
ZERO_INLINE double erfc(double x) {
  const double a = abs(x) > kFarthest<brief> ? kFarthest<brief> : abs(x);
  const double y = exp_square<brief>(a, -1.0) * erfcx_positive<brief>(a);
  return x < 0.0 ? 2.0 - y : y;
}
// To |x| = 1 an odd series, fit 2^-57. Beyond, erfc is at most 0.16 and counts the less the smaller
// it is: erfc x = exp(-x^2) P(x - 7/2), whose error is 2^-58 of erf x; 1 from 6 on.
ZERO_INLINE double erf(double x) {
  const double z = x * x;
  const double near = x + x * two_chains(z, tables::kErfNear);
  const math::ReducedD e = math::reduce_exp(z > 36.0 ? -36.0 : -z);
  const double power = (1.0 + math::expm1_reduced(e.r, e.low)) * math::exp2_integer(e.t);
  const double a = abs(x) > 6.0 ? 6.0 : abs(x);
  const double far = 1.0 - power * two_chains(a - 3.5, tables::kErfFar);
  return abs(x) < 1.0 ? near : signed_by(far, x);
}
template <bool brief>
ZERO_INLINE double ndtr(double x) {
  const double a = abs(x) > kFarthest<brief> ? kFarthest<brief> : abs(x);
  const double y = 0.5 * exp_square<brief>(a, -0.5) * erfcx_positive<brief>(a * kSqrtHalf);
  return x > 0.0 ? 1.0 - y : y;
}
template <bool brief>
ZERO_INLINE double log_ndtr(double x) {
  const double a = abs(x);
  const double tail = 0.5 * erfcx_positive<brief>(a * kSqrtHalf);
  const double low = log_of<brief>(tail) - 0.5 * a * a;
  const double c = a > kFarthest<brief> ? kFarthest<brief> : a;
  const double high = log1p(-tail * exp_square<brief>(c, -0.5));
  const double y = x > 0.0 ? high : low;
  return x == kInf ? -0.0 : (x == -kInf ? -kInf : y);
}

// erfinv(x) / x by w = -log(1 - x^2) and its root s <= 4.
template <bool brief>
ZERO_INLINE double erfinv_ratio(double w, double s) {
  const double central = series<tables::Erfinv, brief>(w * (1.0 / 3.125) - 1.0);
  const double near = series<tables::ErfinvNear, brief>((s - 3.25) * (1.0 / 0.75));
  return w < 6.25 ? central : near;
}
// In two steps (SpecialLoop in special.cpp), the first of which gives w.
ZERO_INLINE double erfinv_first(double x) { return -log((1.0 - x) * (1.0 + x)); }
ZERO_INLINE double erfinv_second(double x, double w) {
  const double s = math::sqrt(w);
  const double far = series<tables::ErfinvFar>(0.5 * s - 3.0);
  const double y = x * (s > 4.0 ? far : erfinv_ratio<false>(w, s));
  const double inside = abs(x) == 1.0 ? x * kInf : y;
  return abs(x) <= 1.0 ? inside : kNan;
}
// In float32 alone, within 2 ulp: w in [0, 5] and its root in [2.236, 4.12]; fits 2^-26.
ZERO_INLINE float erfinv(float x) {
  const float w = -math::log((1.0f - x) * (1.0f + x));
  const float s = math::sqrt(w);
  const float central =  // the first coefficient in two parts
      0.886226952f + math::polynomial(w, -2.66232002e-08f, 0.232013479f, 0.0115509005f,
                                      -0.00234002713f, -0.000120025703f, 3.89816378e-05f,
                                      6.5314307e-06f, -2.69653356e-06f, 3.44010147e-07f,
                                      -2.04188417e-08f, 4.67193229e-10f);
  const float far =
      math::polynomial((s - 3.17803399f) * 1.06160943f, 3.01157045f, 0.946132958f, 0.00555889681f,
                       -0.00381367933f, 0.00250081788f, -0.00158775051f, 0.000796927663f,
                       -0.000230596605f, -3.17626582e-05f, 6.25410466e-05f, -1.90752507e-05f);
  const float y = x * (w < 5.0f ? central : far);
  const float inside = math::abs(x) == 1.0f ? x * math::kInfF : y;
  return math::abs(x) <= 1.0f ? inside : math::kNanF;
}
template <bool brief>
ZERO_INLINE double ndtri(double p) {
  const double w = -log_of<brief>(4.0 * (p * (1.0 - p)));
  const double s = math::sqrt(w);
  const double far = series<tables::ErfinvFar, brief>(0.5 * s - 3.0);
  const double edge = series<tables::ErfinvEdge, brief>((s - 18.0) * 0.1);
  const double beyond = s > 8.0 ? edge : far;
  const double ratio = s > 4.0 ? beyond : erfinv_ratio<brief>(w, s);
  const double y = (1.4142135623730951 * (2.0 * p - 1.0)) * ratio;
  const double inside = p == 0.0 ? -kInf : (p == 1.0 ? kInf : y);
  return ((p >= 0.0) & (p <= 1.0)) ? inside : kNan;
}

// ---- logarithms and sines -----------------------------------------------------------------------

template <bool brief>
ZERO_INLINE double entr(double x) {  // -x log x
  const double y = -x * log_of<brief>(x);
  return x > 0.0 ? y : (x == 0.0 ? 0.0 : (x < 0.0 ? -kInf : kNan));
}
ZERO_INLINE double sinc(double x) {  // sin(pi x) / (pi x)
  const double a = abs(x);
  const double y = sincos_pi(a).sin / (kPi * (a == 0.0 ? 1.0 : a));
  const double limit = a == kInf ? 0.0 : y;
  return a == 0.0 ? 1.0 : limit;
}
ZERO_INLINE double spherical_bessel_j0(double x) {  // sin(x) / x
  const double z = x * x;
  if (abs(x) < 0.5) {
    return polynomial(z, 1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                      1.0 / 6227020800);
  }
  return abs(x) == kInf ? 0.0 : ZERO_LIBM(sin)(x) / x;
}

// ---- gamma functions ----------------------------------------------------------------------------

// sum B_2k / (2k (2k - 1) x^(2k - 1)), x >= 8 (brief: 4): what Stirling's formula leaves.
template <bool brief = false>
ZERO_INLINE double stirling(double x) {
  const double r = 1.0 / x;
  if constexpr (brief) {
    return r * polynomial(r * r, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                          -691.0 / 360360);
  }
  return r * polynomial(r * r, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                        -691.0 / 360360, 1.0 / 156, -3617.0 / 122400, 43867.0 / 244188);
}

// log Gamma(1 + a), -1/4 <= a <= 3/4; its zero at 0 is a factor.
template <bool brief = false>
ZERO_INLINE double lgamma1p_small(double a) {
  return a * (a - 1.0) * series<tables::Lgamma, brief>(2.0 * a - 0.5);
}

// log |Gamma(x)|. From 8 (brief: 4) on Stirling's formula; below, steps to [3/4, 7/4); for x < 0 by
// Gamma(x) Gamma(-x) = -pi / (x sin(pi x)). Close to its zeros at x < 0 the error is absolute.
template <bool brief>
ZERO_INLINE double lgamma_positive(double a) {  // a >= 0 or NaN
  constexpr double large = brief ? 4.0 : 8.0;
  const double up = a < 0.75 ? a + 1.0 : a;
  double z = a >= large ? 1.0 : up, product = 1.0;
  for (int i = 0; i < static_cast<int>(large) - 1; ++i) {
    const double lower = z - 1.0;
    product *= z >= 1.75 ? lower : 1.0;
    z = z >= 1.75 ? lower : z;
  }
  const double small = a < 0.75 ? a : product;
  const double l = log_of<brief>(a >= large ? a : small);
  const double near = lgamma1p_small<brief>(z - 1.0) + (a < 0.75 ? -l : l);
  const double rest = kHalfLog2Pi - 0.5 + stirling<brief>(a >= large ? a : large);
  const double finite = a >= large ? (a - 0.5) * (l - 1.0) + rest : near;
  return a == kInf ? kInf : finite;
}
ZERO_INLINE double lgamma(double x) {
  const double a = abs(x);
  const double positive = lgamma_positive<false>(a);
  const double sine = abs(sincos_pi(a).sin);
  const double mirrored = log(kPi / sine / a) - positive;
  const double below = sine == 0.0 ? kInf : mirrored;
  const double negative = (a < 1e-100) | (a == kInf) ? positive : below;
  return x < 0.0 ? negative : positive;
}

// The derivative of lgamma. For x < 0 by psi(x) = psi(1 - x) - pi / tan(pi x); below 10 by
// psi(x) = psi(x + 10) - sum 1 / (x + i), as one quotient.
ZERO_INLINE double digamma(double x) {
  const double z = x < 0.0 ? 1.0 - x : x;
  double product = 1.0, slope = 0.0;
  for (int i = 0; i < 10; ++i) {
    slope = slope * (z + i) + product;
    product *= z + i;
  }
  const bool small = z < 10.0;
  const double y = small ? z + 10.0 : z, r = 1.0 / y;
  // A quotient, for a product less another sum could be contracted in two ways, with other bits in
  // vectors than in single numbers.
  const double tail = (0.5 + r * polynomial(r * r, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240,
                                            1.0 / 132, -691.0 / 32760, 1.0 / 12, -3617.0 / 8160)) /
                      y;
  const double positive = log(y) - tail - (small ? slope / product : 0.0);
  const Circular c = sincos_pi(x);
  const double negative = c.sin == 0.0 ? kNan : positive - kPi * c.cos / c.sin;
  const double result = x < 0.0 ? negative : positive;
  return x == 0.0 ? signed_by(kInf, -x) : (x == -kInf ? kNan : result);
}

// sum over k >= 0 of (q + k)^-s, q >= 9 + s, by Euler and Maclaurin: an integral, half a term and
// derivatives with the numbers B_2k / (2k)!.
inline double zeta_tail(double s, double q) {
  constexpr double kBernoulli[] = {1.0 / 12,
                                   -1.0 / 720,
                                   1.0 / 30240,
                                   -1.0 / 1209600,
                                   1.0 / 47900160,
                                   -691.0 / 1307674368000,
                                   1.0 / 74724249600,
                                   -3617.0 / 10670622842880000,
                                   43867.0 / 5109094217170944000};
  const double power = math::pow(q, -s);
  double sum = power * (q / (s - 1.0) + 0.5), factor = s / q;
  for (int k = 0; k < 9; ++k) {
    sum += kBernoulli[k] * factor * power;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (q * q);
  }
  return sum;
}

// Hurwitz's zeta function; for q < 0 defined where s is an integer. DLMF 25.11.
inline double zeta(double s, double q) {
  if (s == 1.0) return kInf;
  if (!(s > 1.0) || q != q) return kNan;
  const bool whole_q = q == ZERO_LIBM(floor)(q), whole_s = s == ZERO_LIBM(floor)(s);
  if (q <= 0.0 && whole_q) return kInf;
  if (q < 0.0 && !whole_s) return kNan;
  if (q == kInf) return 0.0;
  const double start = 9.0 + (s < 100.0 ? s : 100.0);
  double sum = 0;
  if (q < -start - 1.0) {  // terms below -start mirror a difference of two tails
    const double last = q + ZERO_LIBM(floor)(-start - q);  // in (-start - 1, -start]
    const bool odd = ZERO_LIBM(fmod)(s, 2.0) != 0.0;
    const double mirrored = zeta_tail(s, 1.0 - last) - zeta_tail(s, 1.0 - q);
    sum = odd ? -mirrored : mirrored;
    q = last;
  }
  for (; q < start; q += 1.0) {
    const double term = math::pow(q, -s);
    sum += term;
    if (q > 0.0 && term < 0x1p-60 * abs(sum)) return sum;  // what follows is smaller still
  }
  return sum + zeta_tail(s, q);
}

// The n-th derivative of digamma, n >= 1: (-1)^(n+1) n! zeta(n + 1, x).
inline double polygamma(double n, double x) {
  const bool even = ZERO_LIBM(fmod)(n, 2.0) == 0.0;
  const double y = exp(lgamma(n + 1.0)) * zeta(n + 1.0, x);
  return even ? -y : y;
}

// m - log(1 + m), also where it cancels: with s = m / (2 + m), log(1 + m) = 2 atanh(s).
inline double log1p_gap(double m) {
  if (m < -0.4 || m > 0.6) return m - log1p(m);
  const double s = m / (2.0 + m), z = s * s;
  double power = s * z, sum = 0;
  for (int k = 3; k < 40; k += 2, power *= z) sum += power / k;
  return m * s - 2.0 * sum;
}

// x^a e^-x / Gamma(a)
inline double gamma_density(double a, double x) {
  if (a < 10.0) return exp(a * log(x) - x - lgamma(a));
  const double m = (x - a) / a;
  return math::sqrt(a / (2.0 * kPi)) * exp(-a * log1p_gap(m) - stirling(a));
}

struct GammaParts { double lower, upper; };  // P(a, x) + Q(a, x) = 1

// a > 100, x near a: Temme's uniform expansion, DLMF 8.12.
inline GammaParts gamma_uniform(double a, double x) {
  const double m = (x - a) / a;
  const double half_square = log1p_gap(m);  // eta^2 / 2
  const double eta = signed_by(math::sqrt(2.0 * half_square), m);
  double sum = 0;
  for (int k = 7; k >= 0; --k) {
    double c = 0;
    for (int i = 17; i >= 0; --i) c = c * eta + tables::kTemme[k][i];
    sum = sum / a + c;
  }
  const double rest = exp(-a * half_square) / math::sqrt(2.0 * kPi * a) * sum;
  const double argument = eta * math::sqrt(0.5 * a);
  return {0.5 * erfc<false>(-argument) - rest, 0.5 * erfc<false>(argument) + rest};
}

// The incomplete gamma functions: a power series for x < a + 1, else a continued fraction.
inline GammaParts gamma_parts(double a, double x) {
  if (a != a || x != x || a < 0.0 || x < 0.0) return {kNan, kNan};
  if (a == 0.0) return x > 0.0 ? GammaParts{1, 0} : GammaParts{kNan, kNan};
  if (a == kInf) return x == kInf ? GammaParts{kNan, kNan} : GammaParts{0, 1};
  if (x == 0.0) return {0, 1};
  if (x == kInf) return {1, 0};
  if (a > 100.0 && abs(x - a) < 0.3 * a) return gamma_uniform(a, x);
  if (x <= 1.1 && a < 1.0) {  // Q = 1 - P would cancel
    const double scale = a < 0.75 ? lgamma1p_small(a) : lgamma(1.0 + a);
    double term = 1.0, sum = 0;
    for (int n = 1; n < 40; ++n) {
      term *= -x / n;
      sum += a * term / (a + n);
    }
    const double power = a * log(x) - scale;
    const double upper = -ZERO_LIBM(expm1)(power) - exp(power) * sum;
    return {exp(power) * (1.0 + sum), upper};
  }
  if (x < a + 1.0) {
    double term = 1.0, sum = 1.0;
    for (int n = 1; n < 2000 && term > 0x1p-54 * sum; ++n) {
      term *= x / (a + n);
      sum += term;
    }
    const double lower = gamma_density(a, x) * sum / a;
    return {lower, 1.0 - lower};
  }
  // Lentz's method on DLMF 8.9.2.
  double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, h = d;
  for (int n = 1; n < 2000; ++n) {
    const double factor = n * (a - n);
    b += 2.0;
    d = 1.0 / (factor * d + b);
    c = b + factor / c;
    h *= c * d;
    if (abs(c * d - 1.0) < 0x1p-53) break;
  }
  const double upper = gamma_density(a, x) * h;
  return {1.0 - upper, upper};
}

// ---- Bessel functions ---------------------------------------------------------------------------

// e^-|x| I0(x) and e^-|x| I1(x).
template <bool brief = false>
ZERO_INLINE double i0e(double x) {
  const double a = abs(x);
  const double near = series<tables::I0, brief>(0.25 * a - 1.0);
  const double far = series<tables::I0Far, brief>(16.0 / a - 1.0) / math::sqrt(a);
  return a < 8.0 ? near : far;
}
template <bool brief = false>
ZERO_INLINE double i1e(double x) {
  const double a = abs(x);
  const double near = x * series<tables::I1, brief>(0.25 * a - 1.0);
  const double far = series<tables::I1Far, brief>(16.0 / a - 1.0) / math::sqrt(a);
  return a < 8.0 ? near : signed_by(far, x);
}
// In two factors, since the sum of both may be finite where e^|x| is not.
template <bool brief = false>
ZERO_INLINE double i0(double x) {
  const double e = exp(0.5 * abs(x)), y = (e * i0e<brief>(x)) * e;
  return abs(x) == kInf ? kInf : y;
}
template <bool brief = false>
ZERO_INLINE double i1(double x) {
  const double e = exp(0.5 * abs(x)), y = (e * i1e<brief>(x)) * e;
  return abs(x) == kInf ? x : y;
}

// e^x K0(x) and e^x K1(x), x > 0.
inline double k0e(double x) {
  if (!(x >= 0.0)) return kNan;
  if (x == 0.0) return kInf;
  if (x <= 2.0) { return exp(x) * (series<tables::K0>(0.5 * x * x - 1.0) - log(0.5 * x) * i0(x)); }
  const double t = 1.0 / x;
  return (x < 8.0 ? series<tables::K0Mid>((t - 0.3125) / 0.1875)
                  : series<tables::K0Far>(16.0 * t - 1.0)) /
         math::sqrt(x);
}
inline double k1e(double x) {
  if (!(x >= 0.0)) return kNan;
  if (x == 0.0) return kInf;
  if (x <= 2.0) {
    return exp(x) * (1.0 / x + (log(0.5 * x) * i1(x) + x * series<tables::K1>(0.5 * x * x - 1.0)));
  }
  const double t = 1.0 / x;
  return (x < 8.0 ? series<tables::K1Mid>((t - 0.3125) / 0.1875)
                  : series<tables::K1Far>(16.0 * t - 1.0)) /
         math::sqrt(x);
}
inline double k0(double x) { return exp(-x) * k0e(x); }
inline double k1(double x) { return exp(-x) * k1e(x); }

// J and Y to 8 are polynomials (..._near), and logarithms times them; from 8 on sqrt(2 / (pi x))
// times cos and sin of x - pi/4 (order 0) or x - 3pi/4 (order 1), mixed by P and Q. sin x and cos x
// are of x itself, so that large x lose nothing.
struct BesselPair { double j, y; };
template <int order>
inline BesselPair bessel_far(double x) {
  const double r = 1.0 / x, t = 128.0 * (r * r) - 1.0;
  const double p = order == 0 ? series<tables::P0>(t) : series<tables::P1>(t);
  const double q = (order == 0 ? series<tables::Q0>(t) : series<tables::Q1>(t)) * r;
  double s, c;
  if (x > math::kTrigLimitD) {
    s = ZERO_LIBM(sin)(x), c = ZERO_LIBM(cos)(x);
  } else {
    const math::ReducedTrigD reduced = math::reduce_trig_exactly(x);
    s = math::sin_or_cos(reduced, reduced.q), c = math::sin_or_cos(reduced, reduced.q + 1);
  }
  const double cosine = order == 0 ? c + s : s - c;  // times sqrt(2)
  const double sine = order == 0 ? s - c : -(s + c);
  const double scale = math::sqrt(r * (1.0 / kPi));
  return {scale * (p * cosine - q * sine), scale * (p * sine + q * cosine)};
}

ZERO_INLINE double bessel_j0_near(double x) { return series<tables::J0>(x * x / 32.0 - 1.0); }
ZERO_INLINE double bessel_j1_near(double x) { return x * series<tables::J1>(x * x / 32.0 - 1.0); }
ZERO_INLINE double bessel_y0_near(double x) {
  return series<tables::Y0>(x * x / 32.0 - 1.0) + 2.0 / kPi * log(x) * bessel_j0_near(x);
}
ZERO_INLINE double bessel_y1_near(double x) {
  const double t = x * x / 32.0 - 1.0, factor = 2.0 / kPi * log(x);
  return x * (series<tables::Y1>(t) + factor * series<tables::J1>(t)) - 2.0 / kPi / x;
}
inline double bessel_j0(double x) {
  const double a = abs(x);
  if (a < 8.0) return bessel_j0_near(x);
  return a == kInf ? 0.0 : bessel_far<0>(a).j;
}
inline double bessel_j1(double x) {
  const double a = abs(x);
  if (a < 8.0) return bessel_j1_near(x);
  const double y = a == kInf ? 0.0 : bessel_far<1>(a).j;
  return x < 0.0 ? -y : y;
}
inline double bessel_y0(double x) {
  if (!(x >= 0.0)) return kNan;
  if (x == 0.0) return -kInf;
  if (x < 8.0) return bessel_y0_near(x);
  return x == kInf ? 0.0 : bessel_far<0>(x).y;
}
inline double bessel_y1(double x) {
  if (!(x >= 0.0)) return kNan;
  if (x == 0.0) return -kInf;
  if (x < 8.0) return bessel_y1_near(x);
  return x == kInf ? 0.0 : bessel_far<1>(x).y;
}

// Ai(x), with zeta = 2/3 |x|^(3/2). DLMF 9.7.
inline double airy_ai(double x) {
  if (x != x) return x;
  if (x > -5.3 && x < 2.1) {
    return x < -2.0 ? series<tables::AiryMiddle>((x + 3.65) / 1.65)
                    : series<tables::AiryNear>((x - 0.05) / 2.05);
  }
  const double a = abs(x), root = math::sqrt(a);
  if (a > 1e200) return x > 0.0 || a == kInf ? 0.0 : kNan;
  const double zeta = 2.0 / 3 * a * root;
  const double scale = 1.0 / (math::sqrt(kPi) * math::sqrt(root));
  if (x > 0.0) return 0.5 * scale * exp(-zeta) * series<tables::AiryRight>(4.0 / zeta - 1.0);
  const double t = 128.0 / (zeta * zeta) - 1.0;
  const double f = series<tables::AiryLeftSine>(t);
  const double g = series<tables::AiryLeftCosine>(t) / zeta;
  const double s = ZERO_LIBM(sin)(zeta), c = ZERO_LIBM(cos)(zeta);
  return scale * kSqrtHalf * (f * (s + c) - g * (c - s));
}

}  // namespace special
}  // namespace
}  // namespace zero::ZERO_ISA_NS
