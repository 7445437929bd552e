// Draws from distributions. Element i of a draw depends on the seed, the place in the generator's
// sequence and i alone.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "zero/autograd/record.h"
#include "zero/ops/draw.h"
#include "zero/ops/iterator.h"
#include "zero/ops/uniforms.h"

namespace zero {

namespace {

void check_floats(const char* op, const Tensor& x) {
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, op, ": not defined for integers; got ", x.dtype(),
             ", expected a floating dtype");
}

// Fills a contiguous y in blocks by f(out, begin, n, draw) with elements of type T.
template <class T, class F>
void fill_drawn(const Tensor& y, Generator* generator, F f) {
  if (y.is_meta() || y.numel() == 0) return;
  const Generator::Draw d = reserve(generator, y.numel());
  fill_blocks<T>(y, [&](T* out, int64_t begin, int64_t n) { f(out, begin, n, d); });
}

// float64 for itself, float32 for the others.
DType draw_dtype(DType dtype) { return dtype == DType::Float64 ? DType::Float64 : DType::Float32; }

Tensor dense(const Tensor& x, DType dtype, const Dims& sizes) {
  GradModeGuard no_record(false);
  return contiguous(expand(x.dtype() == dtype ? x : to(x, dtype, x.device()), sizes));
}

// Raises where an element lies outside; NaN does.
void check_range(const char* op, const char* what, const Tensor& x, double low, double high) {
  if (x.is_meta() || x.numel() == 0) return;
  GradModeGuard no_record(false);
  const double least = item(amin(x)).to_double(), most = item(amax(x)).to_double();
  ZERO_CHECK(least >= low && most <= high, ValueError, op, ": ", what, "; got values from ", least,
             " to ", most, ", expected ", low, " to ", high);
}

void check_probability(const char* op, double p) {
  ZERO_CHECK(p >= 0 && p <= 1, ValueError, op, ": p is no probability; got ", p,
             ", expected 0 <= p <= 1");
}

// A draw does not move with its parameters: the gradient is 0, as PyTorch has it.
void record_zeros(const char* name, const Tensor& y, Inputs inputs) {
  record(name, {}, y, inputs, {}, [](Node& n, const Tensor& g) {
    Grads grads(n.next_.size());
    for (int64_t i = 0; i < grads.size(); ++i)
      if (n.needs(static_cast<int>(i))) grads[i] = zeros(g.sizes(), g.options());
    return grads;
  });
}

// ---- draws that reject --------------------------------------------------------------------------

// log k! for integers k >= 0: a table, then Stirling's series to 1e-12.
double log_factorial(double k) {
  static const std::array<double, 16> table = [] {
    std::array<double, 16> t{};
    for (size_t i = 1; i < t.size(); ++i) t[i] = t[i - 1] + std::log(static_cast<double>(i));
    return t;
  }();
  if (k < 16) return table[static_cast<size_t>(k)];
  const double r = 1 / k, r2 = r * r;
  return (k + 0.5) * std::log(k) - k + 0.9189385332046727 +
         r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 / 1680)));
}

// Below 10 by adding up probabilities; from there PTRS of Hörmann, "The transformed rejection
// method for generating Poisson random variables", 1993.
double poisson_number(double rate, Uniforms& u) {
  if (rate < 10) {
    double p = std::exp(-rate), total = p, k = 0;
    for (const double x = u.next(); x >= total && p > 0;) {
      p *= rate / ++k;
      total += p;
    }
    return k;
  }
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double x = u.next() - 0.5, v = u.next(), edge = 0.5 - std::abs(x);
    const double k = std::floor((2 * a / edge + b) * x + rate + 0.43);
    if (edge >= 0.07 && v <= v_r) return k;
    if (k < 0 || (edge < 0.013 && v > edge)) continue;
    if (std::log(v * inverse_alpha / (a / (edge * edge) + b)) <=
        k * log_rate - rate - log_factorial(k))
      return k;
  }
}

// n p < 10 by adding up probabilities; from there BTRS of Hörmann, "The generation of binomial
// random variates", 1993.
double binomial_number(double n, double p, Uniforms& u) {
  if (std::isnan(n) || std::isnan(p)) return std::nan("");
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (p > 0.5) return n - binomial_number(n, 1 - p, u);
  const double odds = p / (1 - p);
  if (n * p < 10) {
    double q = std::exp(n * std::log1p(-p)), total = q, k = 0;
    for (const double x = u.next(); x >= total && k < n && q > 0;) {
      ++k;
      q *= odds * (n - k + 1) / k;
      total += q;
    }
    return k;
  }
  const double deviation = std::sqrt(n * p * (1 - p)), log_odds = std::log(odds);
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double alpha = (2.83 + 5.1 / b) * deviation, v_r = 0.92 - 4.2 / b;
  const double mode = std::floor((n + 1) * p);
  const double at_mode = log_factorial(mode) + log_factorial(n - mode);
  for (;;) {
    const double x = u.next() - 0.5, v = u.next(), edge = 0.5 - std::abs(x);
    const double k = std::floor((2 * a / edge + b) * x + n * p + 0.5);
    if (edge >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > n) continue;
    if (std::log(v * alpha / (a / (edge * edge) + b)) <=
        at_mode - log_factorial(k) - log_factorial(n - k) + (k - mode) * log_odds)
      return k;
  }
}

}  // namespace

// ---- draws over a tensor ------------------------------------------------------------------------

Tensor exponential_(const Tensor& self, double rate, Generator* generator) {
  ZERO_CHECK(rate > 0, ValueError, "exponential_: lambd is not positive; got ", rate,
             ", expected lambd > 0");
  check_floats("exponential_", self);
  const ExponentialParams params{rate};
  const RandomTable& random = kernels().random;
  return draw_over("exponential_", self, [&](const Tensor& y) {
    if (y.dtype() == DType::Float64) {
      fill_drawn<double>(y, generator, [&](double* out, int64_t begin, int64_t n, auto& d) {
        random.exponential_f64(out, begin, n, d.seed, d.offset, &params);
      });
    } else {
      fill_drawn<float>(y, generator, [&](float* out, int64_t begin, int64_t n, auto& d) {
        random.exponential_f32(out, begin, n, d.seed, d.offset, &params);
      });
    }
  });
}

Tensor cauchy_(const Tensor& self, double median, double sigma, Generator* generator) {
  ZERO_CHECK(sigma > 0, ValueError, "cauchy_: sigma is not positive; got ", sigma,
             ", expected sigma > 0");
  check_floats("cauchy_", self);
  const UniformParams unit{0, 1};
  return draw_over("cauchy_", self, [&](const Tensor& y) {
    fill_drawn<double>(y, generator, [&](double* out, int64_t begin, int64_t n, auto& d) {
      kernels().random.uniform_f64(out, begin, n, d.seed, d.offset, &unit);
      for (int64_t i = 0; i < n; ++i)
        out[i] = median + sigma * std::tan(3.141592653589793 * (out[i] - 0.5));
    });
  });
}

Tensor log_normal_(const Tensor& self, double mean, double deviation, Generator* generator) {
  ZERO_CHECK(deviation > 0, ValueError, "log_normal_: std is not positive; got ", deviation,
             ", expected std > 0");
  check_floats("log_normal_", self);
  check_inplace("log_normal_", self, true);
  const Tensor y = [&] {
    GradModeGuard no_record(false);
    const Tensor z = normal_(empty(self.sizes(), {draw_dtype(self.dtype()), self.device()}), mean,
                             deviation, generator);
    return exp(z, Target::inplace(z));
  }();
  return copy_(self, y);
}

Tensor geometric_(const Tensor& self, double p, Generator* generator) {
  ZERO_CHECK(p > 0 && p < 1, ValueError, "geometric_: p is out of range; got ", p,
             ", expected 0 < p < 1");
  ZERO_CHECK(self.dtype() != DType::Bool, DTypeError,
             "geometric_: not defined for bool; got bool, expected numbers");
  const ExponentialParams params{-std::log1p(-p)};  // the integer above an exponential number
  return draw_over("geometric_", self, [&](const Tensor& y) {
    fill_drawn<double>(y, generator, [&](double* out, int64_t begin, int64_t n, auto& d) {
      kernels().random.exponential_f64(out, begin, n, d.seed, d.offset, &params);
      for (int64_t i = 0; i < n; ++i) out[i] = std::ceil(out[i]);
    });
  });
}

Tensor bernoulli_(const Tensor& self, double p, Generator* generator) {
  check_probability("bernoulli_", p);
  check_inplace("bernoulli_", self, true);
  return copy_(self, random_choice(self.sizes(), p, 1, self.options(), generator));
}

// Zeros and ones over y, by the probabilities p of as many elements, which are dense.
static void fill_ones_by(const Tensor& y, const Tensor& p, Generator* generator) {
  const RandomTable& random = kernels().random;
  const BernoulliByParams params{p.data()};
  if (p.dtype() == DType::Float64) {
    fill_drawn<double>(y, generator, [&](double* out, int64_t begin, int64_t n, auto& d) {
      random.bernoulli_by_f64(out, begin, n, d.seed, d.offset, &params);
    });
  } else {
    fill_drawn<float>(y, generator, [&](float* out, int64_t begin, int64_t n, auto& d) {
      random.bernoulli_by_f32(out, begin, n, d.seed, d.offset, &params);
    });
  }
}

Tensor bernoulli_(const Tensor& self, const Tensor& p, Generator* generator) {
  check_floats("bernoulli_", p);
  ZERO_CHECK(expands_to(p.sizes(), self.sizes()), ShapeError,
             "bernoulli_: p does not broadcast to the tensor; got p ", p.sizes(), ", expected ",
             self.sizes());
  check_range("bernoulli_", "p is no probability", p, 0, 1);
  const Tensor dense_p = dense(p, draw_dtype(p.dtype()), self.sizes());
  return draw_over("bernoulli_", self,
                   [&](const Tensor& y) { fill_ones_by(y, dense_p, generator); });
}

// ---- draws by other tensors ---------------------------------------------------------------------

Tensor bernoulli(const Tensor& p, Generator* generator) {
  check_floats("bernoulli", p);
  check_range("bernoulli", "a probability is outside [0, 1]", p, 0, 1);
  Tensor y = empty(p.sizes(), p.options());
  fill_ones_by(y, dense(p, draw_dtype(p.dtype()), p.sizes()), generator);
  record_zeros("BernoulliBackward0", y, {&p});
  return y;
}

Tensor normal(const Operand& mean, const Operand& deviation, Generator* generator) {
  const Tensor &m = mean.tensor(), &s = deviation.tensor();
  const Tensor& first = m.defined() ? m : s;
  if (s.defined()) {
    check_range("normal", "std is negative", s, 0, HUGE_VAL);
  } else {
    ZERO_CHECK(deviation.scalar().to_double() >= 0, ValueError, "normal: std is negative; got ",
               deviation.scalar(), ", expected std >= 0");
  }
  const Dims sizes =
      m.defined() && s.defined() ? broadcast_shapes("normal", m.sizes(), s.sizes()) : first.sizes();
  Tensor y = randn(sizes, first.options(), generator);
  {
    GradModeGuard no_record(false);
    mul(y, deviation, Target::inplace(y));
    add(y, mean, 1, Target::inplace(y));
  }
  record_zeros("NormalBackward0", y, {&m, &s});
  return y;
}

Tensor poisson(const Tensor& rate, Generator* generator) {
  check_floats("poisson", rate);
  check_range("poisson", "a rate is negative or not finite", rate, 0, 1.7976931348623157e308);
  const Tensor rates = dense(rate, DType::Float64, rate.sizes());
  const double* r = rates.data<double>();
  Tensor y = empty(rate.sizes(), rate.options());
  fill_by_uniforms(y, generator, [&](int64_t i, Uniforms& u) { return poisson_number(r[i], u); });
  record_zeros("PoissonBackward0", y, {&rate});
  return y;
}

Tensor binomial(const Tensor& count, const Tensor& probability, Generator* generator) {
  check_floats("binomial", count);
  check_floats("binomial", probability);
  const Dims sizes = broadcast_shapes("binomial", count.sizes(), probability.sizes());
  const DType dtype = result_type(count, probability);
  const Tensor counts = dense(count, DType::Float64, sizes);
  const Tensor probabilities = dense(probability, DType::Float64, sizes);
  const double *c = counts.data<double>(), *p = probabilities.data<double>();
  Tensor y = empty(sizes, {dtype, counts.device()});
  fill_by_uniforms(y, generator,
                   [&](int64_t i, Uniforms& u) { return binomial_number(c[i], p[i], u); });
  record_zeros("BinomialBackward0", y, {&count, &probability});
  return y;
}

// ---- indices by weight --------------------------------------------------------------------------

namespace {

// How many weights of a row are above 0.
int64_t count_positive(const double* weights, int64_t n) {
  int64_t positive = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double w = weights[i];
    ZERO_CHECK(w >= 0 && std::isfinite(w), ValueError,
               "multinomial: a weight is negative, infinite or nan; got ", w, " at index ", i,
               ", expected finite weights >= 0");
    positive += w > 0;
  }
  ZERO_CHECK(positive > 0, ValueError,
             "multinomial: all weights are 0; expected one above 0 in each row");
  return positive;
}

// The index where the running sum passes u times the total: never one of weight 0.
int64_t place_of(const double* sums, int64_t n, double u) {
  const double total = sums[n - 1];
  const double* end = sums + n;
  const double* at = std::upper_bound(sums, end, u * total);
  if (at == end) at = std::lower_bound(sums, end, total);  // u total was rounded to the total
  return at - sums;
}

// The `samples` least of n waiting times, each exponential with its weight as rate: the order in
// which indices are drawn one after the other without replacement (Efraimidis and Spirakis, 2006).
void without_replacement(const double* weights, double* times, int64_t n, int64_t* out,
                         int64_t samples) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i) {
    times[i] /= weights[i];
    if (weights[i] > 0) order.push_back(i);
  }
  const auto sooner = [times](int64_t a, int64_t b) {
    return times[a] < times[b] || (times[a] == times[b] && a < b);
  };
  std::partial_sort(order.begin(), order.begin() + samples, order.end(), sooner);
  std::copy_n(order.begin(), samples, out);
}

}  // namespace

Tensor multinomial(const Tensor& weights, int64_t samples, bool replacement, Generator* generator) {
  ZERO_CHECK(weights.dim() == 1 || weights.dim() == 2, ShapeError,
             "multinomial: input has the wrong number of dimensions; got ", weights.sizes(),
             ", expected (n,) or (rows, n)");
  check_floats("multinomial", weights);
  const int64_t n = weights.size(weights.dim() - 1),
                rows = weights.dim() == 2 ? weights.size(0) : 1;
  ZERO_CHECK(samples > 0, ValueError, "multinomial: num_samples is not positive; got ", samples,
             ", expected at least 1");
  ZERO_CHECK(n > 0, ShapeError, "multinomial: there is nothing to draw from; got ", weights.sizes(),
             ", expected at least one weight");
  ZERO_CHECK(replacement || samples <= n, ValueError,
             "multinomial: more samples than there are weights; got num_samples ", samples, " for ",
             n, " weights, expected replacement=True");
  Dims sizes = weights.sizes();
  sizes.back() = samples;
  Tensor y = empty(sizes, {DType::Int64, weights.device()});
  if (y.is_meta() || y.numel() == 0) return y;

  GradModeGuard no_record(false);
  const Tensor w = contiguous(to(weights, DType::Float64, weights.device(), true));
  const bool independent = replacement || samples == 1;
  const int64_t grain = std::max<int64_t>(1, kGrainSize / 4 / n);
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      double* row = w.data<double>() + r * n;
      const int64_t positive = count_positive(row, n);
      ZERO_CHECK(replacement || samples <= positive, ValueError,
                 "multinomial: more samples than weights above 0; got num_samples ", samples,
                 " for ", positive, " of them, expected replacement=True");
      if (independent)  // running sums
        for (int64_t i = 1; i < n; ++i) row[i] += row[i - 1];
    }
  });
  if (independent) {
    const Generator::Draw d = reserve(generator, y.numel());
    const UniformParams unit{0, 1};
    fill_blocks<int64_t>(y, [&](int64_t* out, int64_t begin, int64_t count) {
      constexpr int64_t kBlock = 256;
      double u[kBlock];
      for (int64_t i = 0; i < count; i += kBlock) {
        const int64_t m = std::min(kBlock, count - i);
        kernels().random.uniform_f64(u, begin + i, m, d.seed, d.offset, &unit);
        for (int64_t k = 0; k < m; ++k)
          out[i + k] = place_of(w.data<double>() + (begin + i + k) / samples * n, n, u[k]);
      }
    });
    return y;
  }
  const Tensor times = exponential_(empty({rows, n}, w.options()), 1, generator);
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      without_replacement(w.data<double>() + r * n, times.data<double>() + r * n, n,
                          y.data<int64_t>() + r * samples, samples);
  });
  return y;
}

}  // namespace zero
