// Gamma distributed numbers, and how they move with their parameter.
#include <cmath>
#include <limits>

#include "zero/autograd/record.h"
#include "zero/ops/uniforms.h"

namespace zero {

namespace {

double normal_number(Uniforms& u) {
  const double radius = std::sqrt(-2 * std::log(1 - u.next()));
  return radius * std::cos(2 * 3.141592653589793 * u.next());
}

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
double gamma_number(double a, Uniforms& u) {
  if (a < 1) {
    const double larger = gamma_number(a + 1, u);
    return larger * std::pow(1 - u.next(), 1 / a);
  }
  const double d = a - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal_number(u), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, w = 1 - u.next();
    if (w < 1 - 0.0331 * x * x * x * x) return d * v;
    if (std::log(w) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
  }
}

// The logarithm's derivative of the gamma function: up to 10 by recurrence, then its asymptotic
// series to 1e-13.
double digamma(double a) {
  double shift = 0;
  for (; a < 10; ++a) shift -= 1 / a;
  const double r = 1 / a, r2 = r * r;
  return shift + std::log(a) - r / 2 -
         r2 * (1.0 / 12 - r2 * (1.0 / 120 - r2 * (1.0 / 252 - r2 * (1.0 / 240 - r2 / 132))));
}

// dx / da where x is the same quantile for every a: -(dP / da) / (dP / dx), P the distribution
// function.
double gamma_slope(double a, double x) {
  if (!(a > 0) || !(x > 0) || !std::isfinite(x)) return 0;
  if (a > 1000) {
    // Cornish and Fisher: x = a + z sqrt(a) + (z^2 - 1) / 3 + (z^3 - 7 z) / (36 sqrt(a)) - ...
    const double s = std::sqrt(a);
    double z = (x - a) / s;
    for (int i = 0; i < 8; ++i)
      z = (x - a - (z * z - 1) / 3 - (z * z * z - 7 * z) / (36 * s) +
           (3 * z * z * z * z + 7 * z * z - 16) / (810 * a)) /
          s;
    return 1 + z / (2 * s) - (z * z * z - 7 * z) / (72 * a * s) +
           (3 * z * z * z * z + 7 * z * z - 16) / (810 * a * a);
  }
  const double log_x = std::log(x);
  if (x > a + 20 + 6 * std::sqrt(a))  // the far tail, of probability below 1e-8: two terms in 1 / x
    return (log_x - digamma(a) + 1 / x) * (1 + (a - 1) / x);
  // P = sum_n x^(a + n) exp(-x) / Gamma(a + n + 1), term by term; t_n = x^(n + 1) / (a ... (a + n))
  double t = x / a, psi = digamma(a + 1), total = 0, size = 0;
  for (double n = 1; n < 20000; ++n) {
    total += t * (psi - log_x);
    size += t;
    if (a + n > x && t < 1e-17 * size) break;
    t *= x / (a + n);
    psi += 1 / (a + n);
  }
  return total;
}

}  // namespace

static Tensor standard_gamma_slope(const Tensor& concentration, const Tensor& drawn) {
  Tensor y = empty(drawn.sizes(), drawn.options());
  {
    GradModeGuard no_record(false);
    const Tensor a = contiguous(to(concentration, DType::Float64, drawn.device()));
    const Tensor x = contiguous(to(drawn, DType::Float64, drawn.device()));
    if (!y.is_meta() && y.numel() > 0)
      fill_blocks<double>(y, [&](double* out, int64_t begin, int64_t n) {
        for (int64_t i = 0; i < n; ++i)
          out[i] = gamma_slope(a.data<double>()[begin + i], x.data<double>()[begin + i]);
      });
  }
  record("StandardGammaSlopeBackward0", {}, y, {&concentration, &drawn}, {},
         [](Node&, const Tensor&) -> Grads {
           fail<NotImplementedError>(
               "standard_gamma: the gradient of a draw has no gradient of its own");
         });
  return y;
}

Tensor standard_gamma(const Tensor& concentration, Generator* generator) {
  ZERO_CHECK(is_floating(concentration.dtype()), DTypeError,
             "standard_gamma: not defined for integers; got ", concentration.dtype(),
             ", expected a floating dtype");
  Tensor y = empty(concentration.sizes(), concentration.options());
  {
    GradModeGuard no_record(false);
    const Tensor wide = contiguous(to(concentration, DType::Float64, concentration.device()));
    const double least = y.dtype() == DType::Float64   ? std::numeric_limits<double>::min()
                         : y.dtype() == DType::Float16 ? 6.103515625e-05
                                                       : std::numeric_limits<float>::min();
    const double* a = wide.data<double>();
    fill_by_uniforms(y, generator, [&](int64_t i, Uniforms& u) {
      return a[i] > 0 ? std::max(gamma_number(a[i], u), least) : a[i] == 0 ? 0 : std::nan("");
    });
  }
  record("StandardGammaBackward0", {}, y, {&concentration}, {&concentration, &y},
         [](Node& n, const Tensor& g) {
           return mul(g, standard_gamma_slope(n.saved(0), n.saved(1)));
         });
  return y;
}

}  // namespace zero
