#include <algorithm>
#include <cmath>

#include "zero/ops/gemm.h"
#include "zero/ops/linalg_spectral.h"

namespace zero {

namespace {

constexpr int64_t kColumns = 32;       // of a panel, after which the rest of the matrix is updated
constexpr int64_t kBlockColumns = 64;  // of an update at a time: what is below them is left out
constexpr int64_t kStripeElements = 1 << 15, kMostStripes = 16;

// Rows of the upper triangle that are multiplied by a vector at a time: stripes of equal areas,
// which depend on n alone, as each has a sum of its own.
int64_t stripe_begin(int64_t n, int64_t stripe, int64_t stripes) {
  if (stripe == stripes) return round_up(n, kLinalgRows);
  const double rest = 1 - static_cast<double>(stripe) / static_cast<double>(stripes);
  const auto row = static_cast<int64_t>(static_cast<double>(n) * (1 - std::sqrt(rest)));
  return row / kLinalgRows * kLinalgRows;
}

int64_t before(int64_t i) { return i / kLinalgPad * kLinalgPad; }

}  // namespace

// In a panel the matrix stays as it was: its current state is A - sum over i of p_i q_i^T, where
// p = (v_0, w_0, v_1, w_1, …) and q has the members of each pair exchanged. A column j gives the
// reflector v = v_j and, with y = tau (A - …) v, its w = y - tau (y^T v) / 2 v.
// All vectors have zeros before their first element and after n, so that loops begin and end at
// multiples of kLinalgPad.
void tridiagonal_blocked(DType dtype, const void* matrix, int64_t row, int64_t n, double scale,
                         void* d, void* e, void* v, void* tau) {
  const Numbers t(dtype);
  const LinalgKernel& kernel = linalg_kernel(dtype);
  const int64_t length = round_up(n, kLinalgPad), step = length + 16;  // not a power of 2
  const int64_t height = round_up(n, kLinalgRows), most = 2 * kColumns;
  const int64_t stripes = std::clamp<int64_t>(n * n / 2 / kStripeElements, 1, kMostStripes);
  Buffer storage((height + 2 * most + stripes) * step, dtype);
  char* const a = storage.data<char>();
  char* const p = t.at(a, height * step);
  char* const negative = t.at(p, most * step);  // -q
  char* const sums = t.at(negative, most * step);
  alignas(8) char factors[8 * most], products[8 * (most + kLinalgRows)];
  // factor times the numbers of k pairs, exchanged.
  const auto exchange = [&](const char* from, int64_t from_step, int64_t k, double factor) {
    t.copy(factors, 2, t.at(from, from_step), 2 * from_step, k, factor);
    t.copy(t.at(factors, 1), 2, from, 2 * from_step, k, factor);
  };
  parallel_for(height, 1 + kGrainSize / n, [&](int64_t begin, int64_t end) {
    t.clear(a, begin * step, end * step);
    for (int64_t i = begin; i < std::min(end, n); ++i)
      t.copy(t.at(a, i * step + i), 1, t.at(matrix, i * row + i), 1, n - i, scale);
  });
  const DenormalGuard denormal;
  for (int64_t first = 0; first < n; first += kColumns) {
    const int64_t columns = std::min(kColumns, n - first), next = first + columns;
    t.clear(p, 0, most * step);
    for (int64_t k = 0; k < columns; ++k) {
      const int64_t j = first + k, base = before(j), rest = length - base, pairs = 2 * k;
      char* const panel = t.at(p, base);
      char* const column = t.at(p, pairs * step);
      char* const w = t.at(column, step);
      t.copy(t.at(column, j), 1, t.at(a, j * step + j), 1, n - j);
      exchange(t.at(p, j), step, k, 1);
      kernel.subtract(t.at(column, base), panel, step, factors, pairs, rest);
      t.set(d, j, t.get(column, j));
      t.clear(column, base, j + 1);
      if (j + 1 == n) break;
      kernel.qr_panel(t.at(column, j + 1), 0, n - j - 1, 1, t.at(tau, j));
      t.set(e, j, t.get(column, j + 1));
      t.set(column, j + 1, 1);
      if (v != nullptr) t.copy(t.at(v, j * n), 1, column, 1, n);

      int64_t stripe = 0;
      while (stripe_begin(n, stripe + 1, stripes) <= j + 1) ++stripe;
      const int64_t top = (j + 1) / kLinalgRows * kLinalgRows;
      const auto begin_of = [=](int64_t s) { return std::max(top, stripe_begin(n, s, stripes)); };
      parallel_for(stripes - stripe, 1, [&](int64_t begin, int64_t end) {
        for (int64_t s = stripe + begin; s < stripe + end; ++s) {
          char* const sum = t.at(sums, s * step);
          t.clear(sum, before(begin_of(s)), length);
          kernel.symmetric(a, step, begin_of(s), stripe_begin(n, s + 1, stripes), column, sum,
                           length);
        }
      });
      const double factor = t.get(tau, j);
      t.set(factors, 0, -factor);
      for (int64_t s = stripe; s < stripes; ++s) {
        const int64_t from = before(begin_of(s));
        kernel.subtract(t.at(w, from), t.at(sums, s * step + from), 0, factors, 1, length - from);
      }
      kernel.dots(products, panel, step, pairs, t.at(column, base), rest);
      exchange(products, 1, k, factor);
      kernel.subtract(t.at(w, base), panel, step, factors, pairs, rest);
      kernel.dots(products, t.at(w, base), 0, 1, t.at(column, base), rest);
      t.set(factors, 0, factor / 2 * t.get(products, 0));
      kernel.subtract(t.at(w, base), t.at(column, base), 0, factors, 1, rest);
      t.clear(w, base, j + 1);
    }
    if (next >= n) break;
    for (int64_t i = 0; i < 2 * columns; ++i)
      t.copy(t.at(negative, i * step + next), 1, t.at(p, (i ^ 1) * step + next), 1, n - next, -1);
    parallel_for(
        (n - next + kBlockColumns - 1) / kBlockColumns, 1, [&](int64_t begin, int64_t end) {
          for (int64_t block = begin; block < end; ++block) {
            const int64_t c = next + block * kBlockColumns, last = std::min(c + kBlockColumns, n);
            gemm({dtype,
                  last - next,
                  last - c,
                  2 * columns,
                  {t.at(p, next), 1, step},
                  {t.at(negative, c), step, 1},
                  t.at(a, next * step + c),
                  step,
                  true});
            for (int64_t i = c; i < last; ++i) t.clear(a, i * step + c, i * step + i);
          }
        });
  }
}

}  // namespace zero
