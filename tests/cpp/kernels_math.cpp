// Accuracy of kernels/math.inl: the worst error of each float32 function against float64 libm, in
// ulp. Compiled once per instruction set (ZERO_ISA_NS and the flags of tools/build_core.py),
// without the table. Arguments: every `step`-th float32 of all 2^32, then dense samples around the
// edges.
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "zero/kernels/math.inl"

namespace {

namespace math = zero::ZERO_ISA_NS::math;

int failures = 0;

// |got - want| in units of the last place of the float32 nearest to want.
double ulp_error(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  const float rounded = static_cast<float>(want);
  if (std::isinf(rounded)) {  // a value past the largest float: that float or infinity
    if (got == rounded) return 0;
    if (std::isinf(want)) return 1e9;
    return std::fabs(got) == 3.4028234664e38f ? 1 : 1e9;
  }
  if (std::isnan(got)) return 1e9;
  if (got == 0 && want == 0) return std::signbit(got) == std::signbit(want) ? 0 : 1e9;
  if (std::isinf(got)) return std::fabs(want) > 3.4028233e38 ? 1 : 1e9;
  int exponent;
  std::frexp(want, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(static_cast<double>(got) - want) / unit;
}

// The loop that the compiler makes vectors of; not inlined so that no constant is folded.
template <class F>
ZERO_NOINLINE void apply(F f, float* out, const float* in, int n) {
  ZERO_SIMD
  for (int i = 0; i < n; ++i) out[i] = f(in[i]);
}
template <class F>
ZERO_NOINLINE void apply2(F f, float* out, const float* a, const float* b, int n) {
  ZERO_SIMD
  for (int i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
}

void report(const char* name, double worst, double bound, float x, float y, float got,
            double want) {
  const bool bad = !(worst <= bound);
  std::printf("%-8s %.3f ulp (bound %.2f) at %.9g, %.9g: got %.9g, expected %.17g%s\n", name, worst,
              bound, x, y, got, want, bad ? "  FAILED" : "");
  failures += bad;
}

std::vector<float> all_arguments(uint32_t step) {
  std::vector<float> xs;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += step) {
    xs.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  const float edges[] = {0.0f,       -0.0f,         INFINITY,    -INFINITY,  NAN,        1.0f,
                         -1.0f,      0.5f,          2.0f,        88.72f,     -87.33f,    -103.97f,
                         89.0f,      -104.0f,       128.0f,      -149.0f,    -150.0f,    -126.0f,
                         9.01f,      0.92f,         4.0f,        -17.4f,     90.0f,      1e-45f,
                         1.2e-38f,   3.4028235e38f, 0.25f,       -0.25f,     2.4414e-4f, 0.7853982f,
                         1.5707964f, 3.1415927f,    0.70710678f, 1.41421356f};
  for (float edge : edges) {
    const uint32_t bits = std::bit_cast<uint32_t>(edge);
    for (uint32_t k = 0; k < 1024; ++k) xs.push_back(std::bit_cast<float>(bits + k - 512));
  }
  while (xs.size() % 4096 != 0) xs.push_back(1.5f);
  return xs;
}

template <class F, class G>
void check(const char* name, double bound, const std::vector<float>& xs, F f, G reference,
           double limit = INFINITY) {
  double worst = 0, want_at = 0;
  float at = 0, got_at = 0;
  std::vector<float> out(4096);
  for (size_t start = 0; start < xs.size(); start += out.size()) {
    apply(f, out.data(), xs.data() + start, static_cast<int>(out.size()));
    for (size_t i = 0; i < out.size(); ++i) {
      const float x = xs[start + i];
      if (std::fabs(x) > limit) continue;
      const double want = reference(static_cast<double>(x));
      const double error = ulp_error(out[i], want);
      if (error > worst) worst = error, at = x, got_at = out[i], want_at = want;
    }
  }
  report(name, worst, bound, at, 0, got_at, want_at);
}

template <class F, class G>
void check2(const char* name, double bound, F f, G reference, bool near_one) {
  const float special[] = {0.0f,    -0.0f,      1.0f,   -1.0f, INFINITY,   -INFINITY, NAN,
                           2.0f,    -2.0f,      0.5f,   3.0f,  -3.0f,      -0.5f,     1e30f,
                           -1e-30f, 16777217.f, 1e-45f, 3e38f, -8388607.f, 2.5f};
  std::vector<float> a, b;
  for (float x : special) {
    for (float y : special) a.push_back(x), b.push_back(y);
  }
  uint64_t state = 1;
  auto next = [&] {
    return static_cast<uint32_t>((state = state * 6364136223846793005u + 1442695040888963407u) >>
                                 32);
  };
  for (int i = 0; i < 400000; ++i) {
    a.push_back(std::bit_cast<float>(next()));
    b.push_back(std::bit_cast<float>(next()));
    const float u = static_cast<float>(next()) * 0x1p-32f,
                v = static_cast<float>(next()) * 0x1p-32f;
    a.push_back(near_one ? std::exp2(20 * u - 10) : 2 * u - 1);
    b.push_back(near_one ? (v - 0.5f) * 280.0f / std::fmax(0.01f, std::fabs(20 * u - 10))
                         : 2 * v - 1);
    a.push_back(static_cast<float>(static_cast<int>(next() % 41) - 20));
    b.push_back(static_cast<float>(static_cast<int>(next() % 41) - 20));
  }
  std::vector<float> out(a.size());
  apply2(f, out.data(), a.data(), b.data(), static_cast<int>(a.size()));
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double error =
        ulp_error(out[i], reference(static_cast<double>(a[i]), static_cast<double>(b[i])));
    if (error > worst) worst = error, at = i;
  }
  report(name, worst, bound, a[at], b[at], out[at], reference(a[at], b[at]));
}

void check_symmetry(const std::vector<float>& xs) {
  std::vector<float> minus(xs.size()), t(xs.size()), tm(xs.size()), s(xs.size()), sm(xs.size());
  const int n = static_cast<int>(xs.size());
  for (int i = 0; i < n; ++i) minus[i] = -xs[i];
  const auto tanh = [](float x) { return math::tanh(x); };
  const auto sigmoid = [](float x) { return math::sigmoid(x); };
  apply(tanh, t.data(), xs.data(), n);
  apply(tanh, tm.data(), minus.data(), n);
  apply(sigmoid, s.data(), xs.data(), n);
  apply(sigmoid, sm.data(), minus.data(), n);
  for (int i = 0; i < n; ++i) {
    if (std::isnan(xs[i])) continue;
    const float high = xs[i] < 0 ? sm[i] : s[i], low = xs[i] < 0 ? s[i] : sm[i];
    if (t[i] != -tm[i] || high != 1.0f - low) {
      std::printf("symmetry of tanh or sigmoid at %.9g FAILED\n", xs[i]);
      failures += 1;
      return;
    }
  }
}

#define ZERO_FN(name) [](float x) { return math::name(x); }
#define ZERO_REF(name) [](double x) { return std::name(x); }

}  // namespace

int main(int argc, char** argv) {
  const uint32_t step = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 2039;
  const std::vector<float> xs = all_arguments(step);
  check("exp", 1.0, xs, ZERO_FN(exp), ZERO_REF(exp));
  check("exp2", 1.0, xs, ZERO_FN(exp2), ZERO_REF(exp2));
  check("expm1", 2.0, xs, ZERO_FN(expm1), ZERO_REF(expm1));
  check("log", 1.0, xs, ZERO_FN(log), ZERO_REF(log));
  check("log2", 0.51, xs, ZERO_FN(log2), ZERO_REF(log2));
  check("log10", 0.51, xs, ZERO_FN(log10), ZERO_REF(log10));
  check("log1p", 0.51, xs, ZERO_FN(log1p), ZERO_REF(log1p));
  check("tanh", 2.0, xs, ZERO_FN(tanh), ZERO_REF(tanh));
  check("sigmoid", 2.0, xs, ZERO_FN(sigmoid), [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
  check("erf", 2.0, xs, ZERO_FN(erf), ZERO_REF(erf));
  check("sin", 0.51, xs, ZERO_FN(sin), ZERO_REF(sin), math::kTrigLimit);
  check("cos", 0.51, xs, ZERO_FN(cos), ZERO_REF(cos), math::kTrigLimit);
  check("tan", 0.51, xs, ZERO_FN(tan), ZERO_REF(tan), math::kTrigLimit);
  check("atan", 0.51, xs, ZERO_FN(atan), ZERO_REF(atan));
  check("asin", 0.51, xs, ZERO_FN(asin), ZERO_REF(asin));
  check("acos", 0.51, xs, ZERO_FN(acos), ZERO_REF(acos));
  check("sinh", 0.51, xs, ZERO_FN(sinh), ZERO_REF(sinh));
  check("cosh", 0.51, xs, ZERO_FN(cosh), ZERO_REF(cosh));
  check("asinh", 0.51, xs, ZERO_FN(asinh), ZERO_REF(asinh));
  check("acosh", 0.51, xs, ZERO_FN(acosh), ZERO_REF(acosh));
  check("atanh", 0.51, xs, ZERO_FN(atanh), ZERO_REF(atanh));
  check2(
      "pow", 0.51, [](float x, float y) { return math::pow(x, y); },
      [](double x, double y) { return std::pow(x, y); }, true);
  check2(
      "atan2", 0.51, [](float x, float y) { return math::atan2(x, y); },
      [](double x, double y) { return std::atan2(x, y); }, false);
  check_symmetry(xs);
  std::printf("%s\n", failures == 0 ? "passed" : "failed");
  return failures != 0;
}
