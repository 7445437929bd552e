// Rows brought to mean 0 and variance 1 (layer_norm, group_norm; rms_norm without the mean), and
// the gradients:
//
//   u = (x - m) r,  y = u w + b      m = mean x,  r = 1 / sqrt(mean (x - m)^2 + eps)
//   dx = r (h - mean h - u mean(h u))    h = g w        (without the mean of h where m is 0)
//   dw = sum g u,  db = sum g
//
// Two passes: squares are those of differences. Sums are float64, but of what was rounded to the
// type anyway eight numbers are added up in it first. m is kept as the sum of two numbers of the
// type, so that x - m keeps its digits where x is large and varies little.
#include <limits>

#include "zero/kernels/fold.inl"

namespace zero::ZERO_ISA_NS {
namespace {

constexpr int kRunInType = 8;

// The statistics of a row as its elements meet them. Rows of the largest numbers are scaled by a
// power of two: their differences might overflow, and rstd be no normal number of the type.
template <class T>
struct Row {
  Row(double mean, double rstd)
      : scale(rstd < 1e4 * static_cast<double>(std::numeric_limits<T>::min()) ? T(0x1p-64) : T(1)),
        high(static_cast<T>(mean * static_cast<double>(scale))),
        low(static_cast<T>(mean * static_cast<double>(scale) - static_cast<double>(high))),
        factor(static_cast<T>(rstd / static_cast<double>(scale))),
        rstd(static_cast<T>(rstd)) {}
  ZERO_INLINE T difference(T x) const { return (x * scale - high) - low; }
  ZERO_INLINE T unit(T x) const { return difference(x) * factor; }

  const T scale, high, low, factor, rstd;
};

template <class T>
ZERO_NOINLINE void measure(const T* x, int64_t n, double eps, bool centered, double* stats) {
  const double count = static_cast<double>(n);
  const double m =
      centered ? sum_terms(n, [=](int64_t i) { return static_cast<double>(x[i]); }) / count : 0;
  const Row<T> row(m, 1);
  double squares = sum_terms<kRunInType>(n, [=](int64_t i) {
    const T d = row.difference(x[i]);
    return d * d;
  });
  if (sizeof(T) < sizeof(double) && !(squares > 1e-25 && squares < 1e35)) {  // beyond the type
    squares = sum_terms(n, [=](int64_t i) {
      const double d = static_cast<double>(x[i]) - m;
      return d * d;
    });
  }
  stats[0] = m;
  stats[1] = 1 / ZERO_LIBM(sqrt)(squares / count + eps);
}

// y = u w + b with a weight and a bias for each element, or one for all.
template <class T, class Weight, class Bias>
ZERO_INLINE void store_units(const T* x, const Row<T>& row, Weight w, Bias b, int64_t n, T* y) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) y[i] = row.unit(x[i]) * w(i) + b(i);
}

template <class T>
void normalize(const NormalizeArgs& args) {
  const int64_t n = args.n, run = args.run, runs = n / run;
  const T* x = static_cast<const T*>(args.x);
  T* y = static_cast<T*>(args.out);
  double* stats = args.stats;
  for (int64_t r = args.row; r < args.row + args.rows; ++r, stats += 2) {
    measure(x, n, args.eps, args.centered, stats);
    const int64_t first = r % args.groups * runs;
    const T* const w = args.weight ? static_cast<const T*>(args.weight) + first : nullptr;
    const T* const b = args.bias ? static_cast<const T*>(args.bias) + first : nullptr;
    const auto weight = [=](int64_t i) { return w[i]; };
    const auto bias = [=](int64_t i) { return b[i]; };
    const auto one = [](int64_t) { return T(1); };
    const auto nothing = [](int64_t) { return T(0); };
    const Row<T> row(stats[0], stats[1]);
    if (w == nullptr && b == nullptr) {
      store_units(x, row, one, nothing, n, y);
    } else if (run > 1) {
      for (int64_t i = 0; i < runs; ++i) {
        const T weight_of_run = w ? w[i] : T(1), bias_of_run = b ? b[i] : T(0);
        store_units(
            x + i * run, row, [=](int64_t) { return weight_of_run; },
            [=](int64_t) { return bias_of_run; }, run, y + i * run);
      }
    } else if (b == nullptr) {
      store_units(x, row, weight, nothing, n, y);
    } else if (w == nullptr) {
      store_units(x, row, one, bias, n, y);
    } else {
      store_units(x, row, weight, bias, n, y);
    }
    x += n;
    y += n;
  }
}

// Adds g u and g to the gradients of a weight and a bias per element.
template <class T>
ZERO_NOINLINE void add_gradients(const T* x, const T* g, const Row<T>& row, int64_t n, double* dw,
                                 double* db) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) {
    dw[i] += static_cast<double>(g[i] * row.unit(x[i]));
    db[i] += static_cast<double>(g[i]);
  }
}

struct Sums { double plain, units; };  // of h, and of h u

template <class T>
ZERO_NOINLINE Sums sums(const T* x, const T* g, const T* w, const Row<T>& row, int64_t n) {
  if (w == nullptr) {
    return {sum_terms<kRunInType>(n, [=](int64_t i) { return g[i]; }),
            sum_terms<kRunInType>(n, [=](int64_t i) { return g[i] * row.unit(x[i]); })};
  }
  return {sum_terms<kRunInType>(n, [=](int64_t i) { return g[i] * w[i]; }),
          sum_terms<kRunInType>(n, [=](int64_t i) { return g[i] * w[i] * row.unit(x[i]); })};
}

// dx for elements that share a weight, or with one each.
template <class T>
ZERO_NOINLINE void store_gradient(const T* x, const T* g, const T* w, bool each, const Row<T>& row,
                                  T plain, T units, int64_t n, T* out) {
  if (w != nullptr && each) {
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i)
      out[i] = row.rstd * (g[i] * w[i] - plain - row.unit(x[i]) * units);
    return;
  }
  const T weight = w ? *w : T(1);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i)
    out[i] = row.rstd * (g[i] * weight - plain - row.unit(x[i]) * units);
}

template <class T>
void normalize_backward(const NormalizeArgs& args) {
  const int64_t n = args.n, run = args.run, runs = n / run;
  const T *x = static_cast<const T*>(args.x), *g = static_cast<const T*>(args.g);
  T* out = static_cast<T*>(args.out);
  const double* stats = args.stats;
  for (int64_t r = args.row; r < args.row + args.rows; ++r, x += n, g += n, stats += 2) {
    const Row<T> row(stats[0], stats[1]);
    const int64_t first = r % args.groups * runs;
    const T* const w = args.weight ? static_cast<const T*>(args.weight) + first : nullptr;
    double* const dw = args.weight_gradient ? args.weight_gradient + first : nullptr;
    double* const db = args.bias_gradient ? args.bias_gradient + first : nullptr;
    Sums total = {0, 0};
    if (run == 1) {
      if (dw != nullptr) add_gradients(x, g, row, n, dw, db);
      if (out != nullptr) total = sums(x, g, w, row, n);
    } else {
      for (int64_t i = 0; i < runs; ++i) {
        const Sums part = sums<T>(x + i * run, g + i * run, nullptr, row, run);
        const double weight = w ? static_cast<double>(w[i]) : 1;
        total.plain += weight * part.plain;
        total.units += weight * part.units;
        if (dw != nullptr) dw[i] += part.units, db[i] += part.plain;
      }
    }
    if (out == nullptr) continue;
    const T plain = args.centered ? static_cast<T>(total.plain / static_cast<double>(n)) : T(0);
    const T units = static_cast<T>(total.units / static_cast<double>(n));
    const int64_t length = run == 1 ? n : run;
    for (int64_t i = 0; i < n; i += length)
      store_gradient(x + i, g + i, w ? w + i / run : nullptr, run == 1, row, plain, units, length,
                     out + i);
    out += n;
  }
}

template <class T>
void add_normalize(KernelTable& table, ComputeType type) {
  table.normalize[static_cast<int>(type)] = normalize<T>;
  table.normalize_backward[static_cast<int>(type)] = normalize_backward<T>;
}

}  // namespace

void fill_normalize(KernelTable& table) {
  add_normalize<float>(table, ComputeType::F32);
  add_normalize<double>(table, ComputeType::F64);
}

}  // namespace zero::ZERO_ISA_NS
