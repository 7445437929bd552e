#include <algorithm>
#include <cmath>

#include "zero/ops/gemm.h"
#include "zero/ops/linalg_spectral.h"

namespace zero {

namespace {

constexpr int64_t kColumns = 32;  // of a panel, after which the rest of the matrix is updated
constexpr int64_t kStripe = 128;  // columns that lie together and stay in a cache
constexpr int64_t kRowsAtOnce = 16;
constexpr int64_t kMost = 2 * kColumns;

int64_t before(int64_t i) { return i / kLinalgPad * kLinalgPad; }

// The matrix lies in stripes of columns. In a panel it stays as it was: its current state is
// A - sum over i of p_i r_i^T, where p = (v_0, x_0, v_1, x_1, …) and r = (y_0, u_0, y_1, u_1, …).
// Column j gives the reflector v and y = tau (A - …)^T v, row j then u and x = tau (A - …) u.
// u isn't known before all of y is, but up to a factor and its first element it is the row, of
// which a stripe has its part when it has its part of y. So each stripe is multiplied by both while
// it is in a cache.
// All vectors have zeros before their first element and after the last one, so that loops begin and
// end at multiples of kLinalgPad.
class Bidiagonal {
 public:
  Bidiagonal(DType dtype, const BidiagonalArgs& args)
      : t_(dtype),
        args_(args),
        kernel_(linalg_kernel(dtype)),
        m_(args.m),
        n_(args.n),
        height_(round_up(m_, kRowsAtOnce)),
        long_(round_up(m_, kLinalgPad)),
        wide_(round_up(n_, kStripe)),
        v_step_(long_ + 16),
        u_step_(wide_ + 16),
        stripes_(wide_ / kStripe),
        storage_(wide_ * height_ + (2 * kMost + stripes_ + 2) * v_step_ + kMost * u_step_, dtype),
        a_(storage_.data<char>()),
        p_(t_.at(a_, wide_ * height_)),
        negative_(t_.at(p_, kMost * v_step_)),
        sums_(t_.at(negative_, kMost * v_step_)),
        next_(t_.at(sums_, stripes_ * v_step_)),
        scaled_(t_.at(next_, v_step_)),
        r_(t_.at(scaled_, v_step_)) {}

  void run(double scale) {
    load(scale);
    const DenormalGuard denormal;
    for (int64_t first = 0; first < n_; first += kColumns) {
      const int64_t columns = std::min(kColumns, n_ - first), end = first + columns;
      t_.clear(p_, 0, kMost * v_step_);
      t_.clear(r_, 0, kMost * u_step_);
      t_.clear(next_, 0, v_step_);
      take_column(first);
      for (int64_t k = 0; k < columns; ++k) step(first + k, 2 * k);
      if (end < n_) update(end, columns);
    }
  }

 private:
  char* stripe(int64_t s) const { return t_.at(a_, s * height_ * kStripe); }

  void load(double scale) {
    parallel_for(stripes_, 1 + kGrainSize / (kStripe * m_), [&](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s) {
        const int64_t c = s * kStripe, width = std::min(kStripe, n_ - c);
        char* const to = stripe(s);
        t_.clear(to, 0, height_ * kStripe);
        if (args_.turned) {
          kernel_.turn(to, kStripe, t_.at(args_.a, c * args_.row), args_.row, width, m_);
          if (scale != 1) t_.copy(to, 1, to, 1, m_ * kStripe, scale);
        } else {
          for (int64_t i = 0; i < m_; ++i)
            t_.copy(t_.at(to, i * kStripe), 1, t_.at(args_.a, i * args_.row + c), 1, width, scale);
        }
      }
    });
  }

  // Column j of the stripes.
  void take_column(int64_t j) {
    t_.copy(t_.at(next_, j), 1, t_.at(stripe(j / kStripe), j * kStripe + j % kStripe), kStripe,
            m_ - j);
  }

  // sums[s] = A x for columns of the stripe, for rows from `top` on.
  void multiply(int64_t s, int64_t top, const char* x) {
    char* const sum = t_.at(sums_, s * v_step_);
    const int64_t from = top / kRowsAtOnce * kRowsAtOnce;
    t_.clear(sum, before(top), from);
    t_.clear(sum, height_, long_);
    kernel_.dots(t_.at(sum, from), t_.at(stripe(s), from * kStripe), kStripe, height_ - from,
                 t_.at(x, s * kStripe), kStripe);
  }

  // The first element becomes 1. Returns what it was made to in the matrix, and tau.
  std::pair<double, double> reflector(char* x, int64_t n, void* diagonal, int64_t j, void* kept,
                                      void* kept_tau, int64_t length) {
    alignas(8) char factor[8];
    kernel_.qr_panel(x, 0, n, 1, factor);
    const double value = t_.get(x, 0), tau = t_.get(factor, 0);
    t_.set(diagonal, j, value);
    t_.set(x, 0, 1);
    if (kept != nullptr) {
      t_.copy(t_.at(kept, j * length), 1, t_.at(x, n - length), 1, length);
      t_.set(kept_tau, j, tau);
    }
    return {value, tau};
  }

  void step(int64_t j, int64_t pairs) {
    const int64_t base = before(j), rest = long_ - base;
    char* const v = t_.at(p_, pairs * v_step_);
    char* const x = t_.at(v, v_step_);
    char* const y = t_.at(r_, pairs * u_step_);
    char* const u = t_.at(y, u_step_);
    alignas(8) char factors[8 * (kMost + kLinalgRows)], row_factors[8 * kMost];

    t_.copy(t_.at(v, j), 1, t_.at(next_, j), 1, m_ - j);
    t_.copy(factors, 1, t_.at(r_, j), u_step_, pairs);
    kernel_.subtract(t_.at(v, base), t_.at(p_, base), v_step_, factors, pairs, rest);
    t_.clear(v, base, j);
    const double v_tau =
        reflector(t_.at(v, j), m_ - j, args_.d, j, args_.v, args_.v_tau, m_).second;
    if (j + 1 == n_) return;

    kernel_.dots(factors, t_.at(p_, base), v_step_, pairs, t_.at(v, base), rest);
    t_.copy(factors, 1, factors, 1, pairs, v_tau);
    const int64_t top = j / kRowsAtOnce * kRowsAtOnce;
    t_.copy(t_.at(scaled_, top), 1, t_.at(v, top), 1, height_ - top, -v_tau);
    t_.copy(row_factors, 1, t_.at(p_, j), v_step_, pairs + 1);
    const int64_t s0 = (j + 1) / kStripe;
    const int64_t grain = 1 + kGrainSize / 4 / (kStripe * (height_ - top));
    parallel_for(stripes_ - s0, grain, [&](int64_t begin, int64_t end) {
      for (int64_t s = s0 + begin; s < s0 + end; ++s) {
        const int64_t c = s * kStripe;
        char *const y_part = t_.at(y, c), *const u_part = t_.at(u, c), *const r = t_.at(r_, c);
        for (int64_t i = top; i < height_; i += kRowsAtOnce)
          kernel_.subtract(y_part, t_.at(stripe(s), i * kStripe), kStripe, t_.at(scaled_, i),
                           kRowsAtOnce, kStripe);
        kernel_.subtract(y_part, r, u_step_, factors, pairs, kStripe);
        t_.copy(u_part, 1, t_.at(stripe(s), j * kStripe), 1, kStripe);
        kernel_.subtract(u_part, r, u_step_, row_factors, pairs + 1, kStripe);
        if (c <= j) t_.clear(u, c, j + 1);
        multiply(s, j + 1, u);
        if (s == s0) take_column(j + 1);
      }
    });

    const double alpha = t_.get(u, j + 1);
    const auto [beta, tau] =
        reflector(t_.at(u, j + 1), n_ - j - 1, args_.e, j, args_.u, args_.u_tau, n_);
    // What was multiplied is the row; u = (row - beta e) / (alpha - beta). Of a row so small that
    // products with it are inexact, u itself is multiplied.
    const bool tiny = tau != 0 && std::abs(beta) < (t_.item == 8 ? 1e-150 : 1e-20);
    if (tiny)
      for (int64_t s = s0; s < stripes_; ++s) multiply(s, j + 1, u);
    const double factor = tau == 0 ? 0 : tiny ? tau : tau / (alpha - beta);
    const int64_t x_base = before(j + 1), x_rest = long_ - x_base;
    char* const x_part = t_.at(x, x_base);
    t_.set(row_factors, 0, -factor);
    for (int64_t s = s0; s < stripes_; ++s)
      kernel_.subtract(x_part, t_.at(sums_, s * v_step_ + x_base), 0, row_factors, 1, x_rest);
    t_.set(row_factors, 0, tiny ? 0 : factor * beta);
    kernel_.subtract(x_part, t_.at(next_, x_base), 0, row_factors, 1, x_rest);
    kernel_.dots(factors, t_.at(r_, x_base), u_step_, pairs + 1, t_.at(u, x_base), wide_ - x_base);
    t_.copy(factors, 1, factors, 1, pairs + 1, tau);
    kernel_.subtract(x_part, t_.at(p_, x_base), v_step_, factors, pairs + 1, x_rest);
    t_.clear(x, x_base, j + 1);
  }

  void update(int64_t first, int64_t columns) {
    t_.copy(negative_, 1, p_, 1, 2 * columns * v_step_, -1);
    const int64_t s0 = first / kStripe;
    parallel_for(stripes_ - s0, 1, [&](int64_t begin, int64_t end) {
      for (int64_t s = s0 + begin; s < s0 + end; ++s) {
        const int64_t c = std::max(first, s * kStripe), last = std::min((s + 1) * kStripe, n_);
        gemm({t_.dtype,
              m_ - first,
              last - c,
              2 * columns,
              {t_.at(negative_, first), 1, v_step_},
              {t_.at(r_, c), u_step_, 1},
              t_.at(stripe(s), first * kStripe + c - s * kStripe),
              kStripe,
              true});
      }
    });
  }

  const Numbers t_;
  const BidiagonalArgs& args_;
  const LinalgKernel& kernel_;
  const int64_t m_, n_, height_, long_, wide_, v_step_, u_step_, stripes_;
  Buffer storage_;
  char *const a_, *const p_, *const negative_;
  char *const sums_, *const next_;  // of each stripe; the next column
  char *const scaled_, *const r_;
};

}  // namespace

void bidiagonal_blocked(DType dtype, const BidiagonalArgs& args, double scale) {
  Bidiagonal(dtype, args).run(scale);
}

}  // namespace zero
