// Special functions. Each stands above its gradient; those that PyTorch doesn't differentiate give
// results without history, as there.
#include <cmath>
#include <limits>

#include "zero/ops/binary.h"
#include "zero/ops/unary.h"

namespace zero {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kSqrtPi = 1.77245385090551602730;
constexpr double kSqrtHalf = 0.70710678118654752440;

// y = f(x) whose gradient is formula(g, x, y).
template <class F>
Tensor function(const char* op, const char* node, ElementwiseOp kernel, const Tensor& x,
                const Target& target, F formula) {
  Tensor copy;
  const Tensor& kept = target.preserve(x, requires_grad(x), copy);
  Tensor y = real(op, kernel, x, target);
  record(node, target, y, {&x}, {&kept, &y},
         [formula](Node& n, const Tensor& g) { return formula(g, n.saved(0), n.saved(1)); });
  return y;
}

Tensor square(const Tensor& x) { return mul(x, x); }

DType real_type(const Operand& a, const Operand& b) {
  const DType dtype = result_type(a, b);
  return is_floating(dtype) ? dtype : default_dtype();
}

[[noreturn]] void no_derivative(const char* what) {
  fail<Error>("backward: the derivative for ", what,
              " is not implemented; expected detach() of that argument");
}

// P(a, x) or Q(a, x); only x has a gradient: the density of the gamma distribution, or less it.
Tensor incomplete_gamma(const char* op, const char* node, ElementwiseOp kernel, const Operand& a,
                        const Operand& b, const Target& target) {
  const DType dtype = result_type(a, b);
  ZERO_CHECK(is_floating(dtype), DTypeError, op, ": not defined for integers and bool; got ",
             type_of(a), " and ", type_of(b), ", expected floats");
  const Tensor &s = a.tensor(), &x = b.tensor();
  Tensor copy;
  const Tensor& kept_s = target.preserve(s, true, copy);
  Tensor y = binary(op, kernel, a, b, dtype, target);
  const bool lower = kernel == ElementwiseOp::Igamma;
  const bool needed = requires_grad(x);
  record(node, target, y, {&s, &x}, {keep(needed, kept_s), keep(needed, x)},
         [lower](Node& n, const Tensor& g) {
           if (n.needs(0)) no_derivative(lower ? "igamma: input" : "igammac: input");
           Grads grads(2);
           const Tensor s = n.saved(0), x = n.saved(1);
           const Tensor exponent = sub(sub(xlogy(sub(s, 1), x), x), lgamma(s));
           const Tensor density = mul(g, exp(exponent));
           if (n.needs(1)) grads[1] = lower ? density : neg(density);
           return grads;
         });
  return y;
}

}  // namespace

// ---- error functions and the normal distribution ------------------------------------------------

Tensor erfinv(const Tensor& x, Target target) {
  return of_input("erfinv", "ErfinvBackward0", ElementwiseOp::Erfinv, x, target,
                  [](const Tensor& g, const Tensor& x) {
                    return mul(g, mul(exp(square(erfinv(x))), 0.5 * kSqrtPi));
                  });
}

Tensor erfcx(const Tensor& x, Target target) {
  return function("special.erfcx", "SpecialErfcxBackward0", ElementwiseOp::Erfcx, x, target,
                  [](const Tensor& g, const Tensor& x, const Tensor& y) {
                    return mul(g, sub(mul(mul(x, y), 2), 2 / kSqrtPi));
                  });
}

Tensor ndtr(const Tensor& x, Target target) {
  return of_input("special.ndtr", "SpecialNdtrBackward0", ElementwiseOp::Ndtr, x, target,
                  [](const Tensor& g, const Tensor& x) {
                    return mul(g, mul(exp(mul(square(x), -0.5)), kSqrtHalf / kSqrtPi));
                  });
}

Tensor ndtri(const Tensor& x, Target target) {
  return of_output("special.ndtri", "SpecialNdtriBackward0", ElementwiseOp::Ndtri, x, target,
                   [](const Tensor& g, const Tensor& y) {
                     return mul(g, mul(exp(mul(square(y), 0.5)), kSqrtPi / kSqrtHalf));
                   });
}

// The derivative is density / ndtr; with erfcx neither of them vanishes.
Tensor log_ndtr(const Tensor& x, Target target) {
  return of_input("special.log_ndtr", "SpecialLogNdtrBackward0", ElementwiseOp::LogNdtr, x, target,
                  [](const Tensor& g, const Tensor& x) {
                    return mul(div(g, erfcx(mul(x, -kSqrtHalf))), 1 / (kSqrtHalf * kSqrtPi));
                  });
}

// ---- logarithms and sines -----------------------------------------------------------------------

Tensor entr(const Tensor& x, Target target) {
  return of_input("special.entr", "SpecialEntrBackward0", ElementwiseOp::Entr, x, target,
                  [](const Tensor& g, const Tensor& x) { return mul(g, sub(-1, log(x))); });
}

Tensor logit(const Tensor& x, std::optional<double> eps, Target target) {
  const double inf = std::numeric_limits<double>::infinity();
  const LogitParams params{eps ? *eps : -inf, eps ? 1 - *eps : inf};
  Tensor copy;
  const Tensor& kept = target.preserve(x, requires_grad(x), copy);
  Tensor y = real("logit", ElementwiseOp::Logit, x, target, &params);
  record("LogitBackward0", target, y, {&x}, {&kept}, [eps](Node& n, const Tensor& g) {
    const Tensor x = n.saved(0);
    const Tensor slope = div(g, mul(x, sub(1, x)));
    const Tensor inside = logical_and(ge(x, eps.value_or(0)), le(x, 1 - eps.value_or(0)));
    return where(inside, slope, eps ? 0.0 : std::nan(""));
  });
  return y;
}

// The derivative is (cos(pi x) - sinc(x)) / x, and 0 at 0.
Tensor sinc(const Tensor& x, Target target) {
  return of_input("sinc", "SincBackward0", ElementwiseOp::Sinc, x, target,
                  [](const Tensor& g, const Tensor& x) {
                    // sinc stays a function of x, so that it can be differentiated again
                    const Tensor zero = eq(x, 0);
                    const Tensor safe = where(zero, 1.0, x);
                    const Tensor slope = div(sub(cos(mul(safe, kPi)), sinc(safe)), safe);
                    const Tensor at_zero = mul(x, -kPi * kPi / 3);  // its second derivative there
                    return mul(g, where(zero, at_zero, slope));
                  });
}

// ---- gamma functions ----------------------------------------------------------------------------

Tensor lgamma(const Tensor& x, Target target) {
  return of_input("lgamma", "LgammaBackward0", ElementwiseOp::Lgamma, x, target,
                  [](const Tensor& g, const Tensor& x) { return mul(g, digamma(x)); });
}

Tensor digamma(const Tensor& x, Target target) {
  return of_input("digamma", "DigammaBackward0", ElementwiseOp::Digamma, x, target,
                  [](const Tensor& g, const Tensor& x) { return mul(g, polygamma(1, x)); });
}

Tensor polygamma(int64_t n, const Tensor& x, Target target) {
  ZERO_CHECK(n >= 0, ValueError, "polygamma: n is negative; got ", n, ", expected 0 or more");
  if (n == 0) return digamma(x, target);
  Tensor copy;
  const Tensor& kept = target.preserve(x, requires_grad(x), copy);
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : default_dtype();
  Tensor y =
      binary("polygamma", ElementwiseOp::Polygamma, static_cast<double>(n), x, dtype, target);
  record("PolygammaBackward0", target, y, {&x}, {&kept},
         [n](Node& node, const Tensor& g) { return mul(g, polygamma(n + 1, node.saved(0))); });
  return y;
}

// log of the multivariate gamma function: a sum of lgamma(x - i / 2).
Tensor mvlgamma(const Tensor& x, int64_t p, Target target) {
  ZERO_CHECK(p >= 1, ValueError, "mvlgamma: p is less than 1; got ", p, ", expected 1 or more");
  const Tensor source = target.is_inplace() ? clone(x) : x;  // the graph keeps it
  Tensor sum = lgamma(source);
  for (int64_t i = 1; i < p; ++i) {
    const Tensor shifted = sub(source, 0.5 * static_cast<double>(i));
    sum = add(sum, lgamma(shifted));
  }
  return add(sum, 0.25 * static_cast<double>(p * (p - 1)) * std::log(kPi), 1, target);
}

Tensor igamma(const Operand& a, const Operand& x, Target target) {
  return incomplete_gamma("igamma", "IgammaBackward0", ElementwiseOp::Igamma, a, x, target);
}
Tensor igammac(const Operand& a, const Operand& x, Target target) {
  return incomplete_gamma("igammac", "IgammacBackward0", ElementwiseOp::Igammac, a, x, target);
}

// Only the second argument has a gradient.
Tensor zeta(const Operand& a, const Operand& b, Target target) {
  const Tensor &s = a.tensor(), &q = b.tensor();
  Tensor y = binary("special.zeta", ElementwiseOp::Zeta, a, b, real_type(a, b), target);
  record("SpecialZetaBackward0", target, y, {&s, &q}, {&s, &q},
         [sa = a.scalar(), sb = b.scalar()](Node& n, const Tensor& g) {
           if (n.needs(0)) no_derivative("special.zeta: input");
           Grads grads(2);
           const Kept s(n, 0, sa), q(n, 1, sb);
           const Tensor order = s.tensor.defined() ? s.tensor : scalar_tensor(sa, g.options());
           if (n.needs(1)) grads[1] = neg(mul(g, mul(order, zeta(add(order, 1), q))));
           return grads;
         });
  return y;
}

// ---- Bessel functions ---------------------------------------------------------------------------

Tensor i0(const Tensor& x, Target target) {
  return of_input("i0", "I0Backward0", ElementwiseOp::I0, x, target,
                  [](const Tensor& g, const Tensor& x) { return mul(g, i1(x)); });
}

Tensor i0e(const Tensor& x, Target target) {
  return function("special.i0e", "SpecialI0EBackward0", ElementwiseOp::I0e, x, target,
                  [](const Tensor& g, const Tensor& x, const Tensor& y) {
                    return mul(g, sub(i1e(x), mul(sign(x), y)));
                  });
}

// I1'(x) = I0(x) - I1(x) / x, and 1/2 at 0.
Tensor i1(const Tensor& x, Target target) {
  return function("special.i1", "SpecialI1Backward0", ElementwiseOp::I1, x, target,
                  [](const Tensor& g, const Tensor& x, const Tensor& y) {
                    const Tensor zero = eq(x, 0);
                    const Tensor slope = sub(i0(x), div(y, where(zero, 1.0, x)));
                    return mul(g, where(zero, 0.5, slope));
                  });
}

Tensor i1e(const Tensor& x, Target target) {
  return function("special.i1e", "SpecialI1EBackward0", ElementwiseOp::I1e, x, target,
                  [](const Tensor& g, const Tensor& x, const Tensor& y) {
                    const Tensor zero = eq(x, 0);
                    const Tensor inverse = reciprocal(where(zero, 1.0, x));
                    const Tensor slope = sub(i0e(x), mul(y, add(sign(x), inverse)));
                    return mul(g, where(zero, 0.5, slope));
                  });
}

// ---- by name ------------------------------------------------------------------------------------

namespace {

template <ElementwiseOp kernel>
Tensor plain_unary(const char* op, const Tensor& x, const Target& target) {
  Tensor y = real(op, kernel, x, target);
  target.written();
  return y;
}

template <ElementwiseOp kernel>
Tensor plain_binary(const char* op, const Operand& a, const Operand& b, const Target& target) {
  Tensor y = binary(op, kernel, a, b, real_type(a, b), target);
  target.written();
  return y;
}

template <Tensor (*f)(const Tensor&, Target)>
Tensor recorded_unary(const char*, const Tensor& x, const Target& target) {
  return f(x, target);
}
template <Tensor (*f)(const Operand&, const Operand&, Target)>
Tensor recorded_binary(const char*, const Operand& a, const Operand& b, const Target& target) {
  return f(a, b, target);
}

struct UnaryEntry {
  const char* name;
  Tensor (*call)(const char* op, const Tensor& x, const Target& target);
};
struct BinaryEntry {
  const char* name;
  Tensor (*call)(const char* op, const Operand& a, const Operand& b, const Target& target);
};

constexpr UnaryEntry kUnary[] = {
    {"special.airy_ai", plain_unary<ElementwiseOp::AiryAi>},
    {"special.bessel_j0", plain_unary<ElementwiseOp::BesselJ0>},
    {"special.bessel_j1", plain_unary<ElementwiseOp::BesselJ1>},
    {"special.bessel_y0", plain_unary<ElementwiseOp::BesselY0>},
    {"special.bessel_y1", plain_unary<ElementwiseOp::BesselY1>},
    {"special.entr", recorded_unary<entr>},
    {"special.erfcx", recorded_unary<erfcx>},
    {"special.i0e", recorded_unary<i0e>},
    {"special.i1", recorded_unary<i1>},
    {"special.i1e", recorded_unary<i1e>},
    {"special.log_ndtr", recorded_unary<log_ndtr>},
    {"special.modified_bessel_i0", plain_unary<ElementwiseOp::I0>},
    {"special.modified_bessel_i1", plain_unary<ElementwiseOp::I1>},
    {"special.modified_bessel_k0", plain_unary<ElementwiseOp::K0>},
    {"special.modified_bessel_k1", plain_unary<ElementwiseOp::K1>},
    {"special.ndtr", recorded_unary<ndtr>},
    {"special.ndtri", recorded_unary<ndtri>},
    {"special.scaled_modified_bessel_k0", plain_unary<ElementwiseOp::K0e>},
    {"special.scaled_modified_bessel_k1", plain_unary<ElementwiseOp::K1e>},
    {"special.spherical_bessel_j0", plain_unary<ElementwiseOp::SphericalJ0>},
};
constexpr BinaryEntry kBinary[] = {
    {"special.chebyshev_polynomial_t", plain_binary<ElementwiseOp::ChebyshevT>},
    {"special.chebyshev_polynomial_u", plain_binary<ElementwiseOp::ChebyshevU>},
    {"special.chebyshev_polynomial_v", plain_binary<ElementwiseOp::ChebyshevV>},
    {"special.chebyshev_polynomial_w", plain_binary<ElementwiseOp::ChebyshevW>},
    {"special.hermite_polynomial_h", plain_binary<ElementwiseOp::HermiteH>},
    {"special.hermite_polynomial_he", plain_binary<ElementwiseOp::HermiteHe>},
    {"special.laguerre_polynomial_l", plain_binary<ElementwiseOp::LaguerreL>},
    {"special.legendre_polynomial_p", plain_binary<ElementwiseOp::LegendreP>},
    {"special.shifted_chebyshev_polynomial_t", plain_binary<ElementwiseOp::ShiftedT>},
    {"special.shifted_chebyshev_polynomial_u", plain_binary<ElementwiseOp::ShiftedU>},
    {"special.shifted_chebyshev_polynomial_v", plain_binary<ElementwiseOp::ShiftedV>},
    {"special.shifted_chebyshev_polynomial_w", plain_binary<ElementwiseOp::ShiftedW>},
    {"special.xlog1py", recorded_binary<xlog1py>},
    {"special.zeta", recorded_binary<zeta>},
};

template <class Entry, int n>
const Entry& find(const Entry (&entries)[n], const std::string& name) {
  for (const Entry& entry : entries)
    if (name == entry.name) return entry;
  fail<ValueError>("special: no such function; got ", name);
}

}  // namespace

Tensor special_unary(const std::string& name, const Tensor& x, Target target) {
  const UnaryEntry& entry = find(kUnary, name);
  return entry.call(entry.name, x, target);
}
Tensor special_binary(const std::string& name, const Operand& a, const Operand& b, Target target) {
  const BinaryEntry& entry = find(kBinary, name);
  return entry.call(entry.name, a, b, target);
}

}  // namespace zero
