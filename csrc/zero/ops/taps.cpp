#include "zero/ops/taps.h"

#include <algorithm>
#include <limits>

#include "zero/autograd/record.h"
#include "zero/core/allocator.h"
#include "zero/kernels/resample.h"
#include "zero/ops/ops.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

void TapMatrix::check(const char* op, int64_t size) {
  ZERO_CHECK(size <= std::numeric_limits<int32_t>::max(), NotImplementedError, op,
             ": a dimension is too long; got ", size, ", expected at most 2^31 - 1");
}

void TapMatrix::add(int64_t input, double weight) {
  if (taps() > start_.back() && index_.back() == input) {
    weight_.back() += weight;
  } else if (weight != 0) {
    index_.push_back(static_cast<int32_t>(input));
    weight_.push_back(weight);
  }
}

void TapMatrix::close() {
  ZERO_CHECK(taps() <= std::numeric_limits<int32_t>::max(), NotImplementedError, op_,
             ": windows of a dimension have too many elements; got ", taps(),
             ", expected at most 2^31 - 1");
  start_.push_back(static_cast<int32_t>(index_.size()));
}

TapMatrix TapMatrix::transposed() const {
  TapMatrix result(out());
  result.start_.assign(static_cast<size_t>(in_) + 1, 0);
  for (int32_t i : index_) ++result.start_[i + 1];
  for (int64_t i = 0; i < in_; ++i) result.start_[i + 1] += result.start_[i];
  std::vector<int32_t> next(result.start_.begin(), result.start_.end() - 1);
  result.index_.resize(index_.size());
  result.weight_.resize(index_.size());
  for (int64_t i = 0; i < out(); ++i) {
    for (int32_t k = begin(i); k < begin(i + 1); ++k) {
      const int32_t at = next[index_[k]]++;
      result.index_[at] = static_cast<int32_t>(i);
      result.weight_[at] = weight(k);
    }
  }
  return result;
}

namespace {

// A matrix in the form that kernels read, with weights of type T.
template <class T>
class TapTable {
 public:
  TapTable(const TapMatrix& m, bool in_columns) : matrix_(m) {
    const int64_t n = m.out();
    int64_t most = 1;
    start_.resize(n + 1);
    for (int64_t i = 0; i <= n; ++i) {
      start_[i] = m.begin(i);
      if (i > 0) most = std::max<int64_t>(most, start_[i] - start_[i - 1]);
    }
    weight_.resize(m.taps());
    for (int64_t k = 0; k < m.taps(); ++k) weight_[k] = static_cast<T>(m.weight(k));
    // Columns are vector code, but short ones, or those that are mostly empty, take longer.
    if (!in_columns || n < 8 || most * n > 4 * m.taps() + 64) return;
    width_ = most;
    ragged_ = most * n != m.taps();
    column_index_.assign(most * n, static_cast<int32_t>(m.in()));
    column_weight_.assign(most * n, T(0));
    for (int64_t i = 0; i < n; ++i) {
      for (int32_t first = start_[i], k = first; k < start_[i + 1]; ++k) {
        column_index_[(k - first) * n + i] = m.index()[k];
        column_weight_[(k - first) * n + i] = weight_[k];
      }
    }
  }

  Taps taps() const {
    return {matrix_.in(),         matrix_.out(), start_.data(), matrix_.index().data(),
            weight_.data(),       width_,        ragged_,       column_index_.data(),
            column_weight_.data()};
  }

 private:
  const TapMatrix& matrix_;
  std::vector<T> weight_;
  int64_t width_ = 0;
  bool ragged_ = false;
  std::vector<int32_t> start_, column_index_;
  std::vector<T> column_weight_;
};

// The matrices of three dimensions; those that are not mapped are of size 1.
struct ThreeTaps {
  explicit ThreeTaps(const TapMatrices& taps)
      : one(TapMatrix::moving("", 1, 1, [](int64_t i) { return i; })) {
    const size_t n = taps.size();
    w = &taps[n - 1];
    h = n > 1 ? &taps[n - 2] : &one;
    d = n > 2 ? &taps[n - 3] : &one;
  }
  int64_t rows(int64_t planes) const { return planes * d->out() * h->out(); }

  TapMatrix one;
  const TapMatrix *d, *h, *w;
};

template <class T>
void run_map(const Tensor& x, const Tensor& y, const ThreeTaps& taps, int64_t planes) {
  const TapTable<T> d(*taps.d, false), h(*taps.h, false), w(*taps.w, true);
  const auto average = [](const TapMatrix& m) {
    return 1 + m.taps() / std::max<int64_t>(m.out(), 1);
  };
  const int64_t cost = average(*taps.d) * average(*taps.h) * taps.w->in() / 4 + taps.w->taps() + 16;
  const ResampleFn kernel = kernels().resample->resample[static_cast<int>(compute_type(x.dtype()))];
  const DenormalGuard denormal;
  parallel_for(taps.rows(planes), std::max<int64_t>(1, kGrainSize / cost),
               [&](int64_t begin, int64_t end) {
                 const size_t bytes = static_cast<size_t>(taps.w->in() + 1) * sizeof(T);
                 void* const scratch = allocate(bytes);
                 kernel({x.data(), y.data(), begin, end, d.taps(), h.taps(), w.taps(), scratch});
                 deallocate(scratch, bytes);
               });
}

void run_move(const Tensor& x, const Tensor& y, const ThreeTaps& taps, int64_t planes) {
  const std::vector<int32_t>& w = taps.w->index();
  const int64_t n = taps.w->out();
  int64_t run_begin = 0, run_end = 0;  // the longest run of neighbours
  for (int64_t i = 0, from = 0; i < n; ++i) {
    if (i > 0 && w[i] != w[i - 1] + 1) from = i;
    if (i + 1 - from > run_end - run_begin) run_begin = from, run_end = i + 1;
  }
  if (run_end - run_begin < 8) run_begin = run_end = n;
  int kind = 0;
  while (itemsize(x.dtype()) >> kind > 1) ++kind;
  const MoveFn kernel = kernels().resample->move[kind];
  parallel_for(taps.rows(planes), std::max<int64_t>(1, kGrainSize / std::max<int64_t>(n, 1)),
               [&](int64_t begin, int64_t end) {
                 kernel({x.data(), y.data(), begin, end, taps.d->in(), taps.h->in(), taps.w->in(),
                         taps.d->out(), taps.h->out(), n, taps.d->index().data(),
                         taps.h->index().data(), w.data(), run_begin, run_end});
               });
}

// x mapped, without a record; in its own dtype if that only moves elements, else in the dtype it
// computes in.
Tensor mapped(const Tensor& x, const TapMatrices& taps) {
  const bool moves =
      std::all_of(taps.begin(), taps.end(), [](const TapMatrix& m) { return m.moves(); });
  const DType wide = !is_floating(x.dtype()) ? DType::Int64 : compute_dtype(x.dtype());
  Dims sizes = x.sizes();
  const int64_t dims = static_cast<int64_t>(taps.size()), outer = x.dim() - dims;
  for (int64_t d = 0; d < dims; ++d) sizes[outer + d] = taps[d].out();
  const Tensor in = moves || x.is_meta() ? x : to(x, wide);
  Tensor y = empty(sizes, {moves ? x.dtype() : wide, x.device()});
  if (y.is_meta() || y.numel() == 0) return y;
  const Tensor dense = contiguous(in);
  int64_t planes = 1;
  for (int64_t d = 0; d < outer; ++d) planes *= sizes[d];
  const ThreeTaps three(taps);
  if (moves) {
    run_move(dense, y, three, planes);
  } else if (wide == DType::Float32) {
    run_map<float>(dense, y, three, planes);
  } else if (wide == DType::Float64) {
    run_map<double>(dense, y, three, planes);
  } else {
    run_map<int64_t>(dense, y, three, planes);
  }
  return y;
}

Tensor divided(const Tensor& x, double divisor, const Tensor& divisors) {
  if (divisors.defined()) {
    const Target target = grad_enabled() ? Target() : Target::inplace(x);
    return is_floating(x.dtype()) ? div(x, divisors, target) : div_trunc(x, divisors, target);
  }
  if (divisor == 1) return x;
  if (!is_floating(x.dtype())) return div_trunc(x, Scalar(static_cast<int64_t>(divisor)));
  return div(x, Scalar(divisor), grad_enabled() ? Target() : Target::inplace(x));
}

}  // namespace

Tensor map_taps(const char* node, const Tensor& x, const SharedTaps& taps, double divisor,
                const Tensor& divisors) {
  Tensor y;
  {
    GradModeGuard no_grad(false);
    y = to(divided(mapped(x, *taps), divisor, divisors), x.dtype());
  }
  record(node, {}, y, {&x}, {keep(divisors.defined(), divisors)},
         [node, taps, divisor](Node& n, const Tensor& g) {
           const Tensor wide = to(g, compute_dtype(g.dtype()));
           Tensor shares = wide;
           const Tensor divisors = n.saved(0);
           if (divisors.defined()) {
             shares = div(wide, divisors);
           } else if (divisor != 1) {
             shares = div(wide, Scalar(divisor));
           }
           auto back = std::make_shared<TapMatrices>();
           for (const TapMatrix& m : *taps) back->push_back(m.transposed());
           return to(map_taps(node, shares, back), g.dtype());
         });
  return y;
}

}  // namespace zero
