// Exponentials and logarithms as activation functions and losses need them: quick where the results
// are ordinary numbers, and ln(1 + e^x) without overflow or cancellation.
#pragma once

#include "zero/kernels/math.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace math {

// e^x without subnormal results: 0 below -87.7, infinite above 88.4.
ZERO_INLINE float exp_normal(float x) {
  const ReducedF a = reduce_exp(clamp(x, -88.0f, 89.0f));
  return exp_reduced(a) * exp2_integer(a.n);
}
ZERO_INLINE double exp_normal(double x) { return exp(x); }

// ln(1 + u) for 0 <= u <= 1 or NaN: 2 atanh(s) with s = u / (2 + u), and 2 s = u - s u; fit 2^-58
// in float64, 2^-31 in float32.
ZERO_INLINE double log1p_unit(double u) {
  const double s = u / (2.0 + u), z = s * s;
  const double series =
      z * polynomial(z, 0.66666666666666663, 0.39999999999999519, 0.28571428571600266,
                     0.22222222198216113, 0.18181819899267959, 0.15384543917753166,
                     0.13335179661515711, 0.11734265179376593, 0.10845291032779812,
                     0.074916394606732661, 0.15631534707431224);
  return u - s * (u - series);
}
ZERO_INLINE float log1p_unit(float u) {
  const float s = u / (2.0f + u), z = s * s;
  const float series = z * polynomial(z, 6.666666865e-01f, 3.999970555e-01f, 2.859235704e-01f,
                                      2.170657516e-01f, 2.322432846e-01f);
  return u - s * (u - series);
}

// ln(1 + e^x), x <= 0 or NaN: no power is subnormal, beyond -700 it is 0.
ZERO_INLINE double log1p_exp(double x) {
  const bool far = x < -700.0;
  const ReducedD a = reduce_exp(far ? -700.0 : x);
  const double power = (1.0 + expm1_reduced(a.r, a.low)) * exp2_integer(a.t);
  return log1p_unit(far ? 0.0 : power);
}
ZERO_INLINE float log1p_exp(float x) { return log1p_unit(exp_normal(x)); }

}  // namespace math
}  // namespace
}  // namespace zero::ZERO_ISA_NS
