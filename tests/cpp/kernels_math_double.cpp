// Accuracy of kernels/math_double.inl: the worst error of each float64 function against long
// double, in ulp, where that has more bits (x86). Compiled once per instruction set, as
// kernels_math.cpp is.
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "zero/kernels/math.inl"

namespace {

namespace math = zero::ZERO_ISA_NS::math;
using Wide = long double;

int failures = 0;

// |got - want| in units of the last place of the float64 nearest to want.
double ulp_error(double got, Wide want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  const double rounded = static_cast<double>(want);
  if (std::isinf(rounded) || std::isinf(got)) {  // one may round past the largest number
    const double largest = DBL_MAX * (1 - 4 * DBL_EPSILON);
    return got == rounded || (std::fabs(want) > largest && std::fabs(got) > largest) ? 0 : 1e9;
  }
  if (std::isnan(got)) return 1e9;
  if (got == 0 && want == 0) return std::signbit(got) == std::signbit(want) ? 0 : 1e9;
  int exponent;
  std::frexp(rounded, &exponent);
  const Wide unit = std::ldexp(Wide(1), std::max(exponent - 53, -1074));
  return static_cast<double>(std::fabs(static_cast<Wide>(got) - want) / unit);
}

struct Numbers {
  uint64_t state = 1;
  uint64_t bits() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t high = state >> 32;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return high << 32 | state >> 32;
  }
  double uniform(double lo, double hi) {
    return lo + (hi - lo) * (static_cast<double>(bits() >> 11) * 0x1p-53);
  }
};

std::vector<double> all_arguments(int n) {
  Numbers random;
  std::vector<double> xs;
  for (int i = 0; i < n; ++i) {
    xs.push_back(std::bit_cast<double>(random.bits()));
    xs.push_back(random.uniform(-2, 2));
    xs.push_back(random.uniform(-40, 40));
    xs.push_back(random.uniform(-760, 760));
    xs.push_back(random.uniform(-1e6, 1e6));
    xs.push_back(std::exp2(random.uniform(-60, 2)) * (i % 2 ? 1 : -1));
    xs.push_back(1 + std::exp2(random.uniform(-53, -2)) * (i % 2 ? 1 : -1));
    xs.push_back(std::round(random.uniform(-6e5, 6e5)) * 1.5707963267948966);
  }
  const double edges[] = {0.0,
                          -0.0,
                          INFINITY,
                          -INFINITY,
                          NAN,
                          1.0,
                          -1.0,
                          0.5,
                          2.0,
                          709.78,
                          -708.39,
                          -745.1,
                          710.0,
                          -746.0,
                          1024.0,
                          -1022.0,
                          -1074.0,
                          -1075.0,
                          20.0,
                          -37.0,
                          5e-324,
                          2.3e-308,
                          DBL_MAX,
                          0.70710678118654746,
                          1.4142135623730951};
  for (double edge : edges) {
    const uint64_t bits = std::bit_cast<uint64_t>(edge);
    for (uint64_t k = 0; k < 256; ++k) xs.push_back(std::bit_cast<double>(bits + k - 128));
  }
  while (xs.size() % 4096 != 0) xs.push_back(1.5);
  return xs;
}

// Not inlined, so that no constant is folded.
template <class F>
ZERO_NOINLINE void apply(F f, double* out, const double* in, int n) {
  ZERO_SIMD
  for (int i = 0; i < n; ++i) out[i] = f(in[i]);
}
template <class F>
ZERO_NOINLINE void apply2(F f, double* out, const double* a, const double* b, int n) {
  ZERO_SIMD
  for (int i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
}

void report(const char* name, double worst, double bound, double x, double y, double got,
            Wide want) {
  const bool bad = !(worst <= bound);
  std::printf("%-8s %.3f ulp (bound %.2f) at %.17g, %.17g: got %.17g, expected %.21Lg%s\n", name,
              worst, bound, x, y, got, want, bad ? "  FAILED" : "");
  failures += bad;
}

template <class F, class G>
void check(const char* name, double bound, const std::vector<double>& xs, F f, G reference,
           double limit = INFINITY) {
  std::vector<double> out(xs.size());
  apply(f, out.data(), xs.data(), static_cast<int>(xs.size()));
  double worst = -1;
  size_t at = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (std::fabs(xs[i]) > limit) continue;
    const double error = ulp_error(out[i], reference(static_cast<Wide>(xs[i])));
    if (error > worst) worst = error, at = i;
  }
  report(name, worst, bound, xs[at], 0, out[at], reference(static_cast<Wide>(xs[at])));
}

void check_pow(double bound, int n) {
  const double special[] = {0.0,      -0.0,      1.0,     -1.0,
                            INFINITY, -INFINITY, NAN,     2.0,
                            -2.0,     0.5,       3.0,     -3.0,
                            -0.5,     1e300,     -1e-300, 9007199254740993.0,
                            2.5,      1e-310,    DBL_MAX, -9007199254740991.0,
                            5e-324,   -1e308};
  std::vector<double> a, b;
  for (double x : special) {
    for (double y : special) a.push_back(x), b.push_back(y);
  }
  Numbers random;
  for (int i = 0; i < n; ++i) {
    a.push_back(std::bit_cast<double>(random.bits()));
    b.push_back(std::bit_cast<double>(random.bits()));
    const double u = random.uniform(-10, 10);
    a.push_back(std::exp2(u));
    b.push_back(random.uniform(-1000, 1000) / u);
    a.push_back(1 + random.uniform(-1, 1) * 0x1p-20);
    b.push_back(random.uniform(-1, 1) * 0x1p30);
    a.push_back(static_cast<double>(static_cast<int>(random.bits() % 41) - 20));
    b.push_back(static_cast<double>(static_cast<int>(random.bits() % 41) - 20));
    a.push_back(random.uniform(0, 500));
    b.push_back(1.5);
  }
  std::vector<double> out(a.size());
  apply2([](double x, double y) { return math::pow(x, y); }, out.data(), a.data(), b.data(),
         static_cast<int>(a.size()));
  double worst = -1;
  size_t at = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double error = ulp_error(out[i], std::pow(static_cast<Wide>(a[i]), b[i]));
    if (error > worst) worst = error, at = i;
  }
  report("pow", worst, bound, a[at], b[at], out[at], std::pow(static_cast<Wide>(a[at]), b[at]));
}

#define ZERO_FN(name) [](double x) { return math::name(x); }
#define ZERO_REF(name) [](Wide x) { return std::name(x); }

}  // namespace

int main(int argc, char** argv) {
  if (LDBL_MANT_DIG < 64) {
    std::printf("long double has no more bits here: nothing to compare with\npassed\n");
    return 0;
  }
  const int n = argc > 1 ? std::atoi(argv[1]) : 20000;
  const std::vector<double> xs = all_arguments(n);
  check("exp", 1.0, xs, ZERO_FN(exp), ZERO_REF(exp));
  check("exp2", 1.2, xs, ZERO_FN(exp2), ZERO_REF(exp2));
  check("expm1", 1.6, xs, ZERO_FN(expm1), ZERO_REF(expm1));
  check("log", 0.9, xs, ZERO_FN(log), ZERO_REF(log));
  check("log2", 0.8, xs, ZERO_FN(log2), ZERO_REF(log2));
  check("log10", 0.8, xs, ZERO_FN(log10), ZERO_REF(log10));
  check("log1p", 0.9, xs, ZERO_FN(log1p), ZERO_REF(log1p));
  check("tanh", 2.0, xs, ZERO_FN(tanh), ZERO_REF(tanh));
  check("sigmoid", 2.0, xs, ZERO_FN(sigmoid), [](Wide x) { return 1 / (1 + std::exp(-x)); });
  check("sin", 0.9, xs, ZERO_FN(sin), ZERO_REF(sin), math::kTrigLimitD);
  check("cos", 0.9, xs, ZERO_FN(cos), ZERO_REF(cos), math::kTrigLimitD);
  check_pow(1.2, 5 * n);
  std::printf("%s\n", failures == 0 ? "passed" : "failed");
  return failures != 0;
}
