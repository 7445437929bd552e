// Batch normalisation: channels brought to mean 0 and variance 1, and the gradient
// (ops/batch_norm.cpp has the formulas).
//
// Sums are float64, but of what was rounded to the type anyway eight numbers are added up in it
// first. x is measured from a pivot, the mean rounded to the type, so that differences keep their
// digits where x is large and varies little; what the rounding took off is put back in float64, or
// is a part of the factors. A scale below 1 is for the largest numbers: 1 / deviation would be no
// normal number of the type.
#include "zero/kernels/batch_norm.h"

#include "zero/kernels/fold.inl"

namespace zero::ZERO_ISA_NS {
namespace {

constexpr int kRunInType = 8;

// Squares of these differences were too large or too small for float32.
template <class T>
ZERO_INLINE bool beyond_type(double squares) {
  return sizeof(T) < sizeof(double) && !(squares > 1e-25 && squares < 1e35);
}

// ---- rows of one channel ------------------------------------------------------------------------

// The sum of term(offset) over rows, as sum_terms does it for one: the lanes go on from row to row.
template <int run, class Term>
ZERO_INLINE double sum_runs(int64_t rows, int64_t stride, int64_t length, const Term& term) {
  double lanes[kLanes] = {}, rest = 0;
  for (int64_t r = 0, at = 0; r < rows; ++r, at += stride) {
    const auto element = [=](int64_t i) { return term(at + i); };
    int64_t i = 0;
    if constexpr (run > 1) i = add_runs<run>(element, i, length, lanes);
    i = add_runs<1>(element, i, length, lanes);
    for (; i < length; ++i) rest += static_cast<double>(element(i));
  }
  join_lanes<kLanes / 2>(lanes, [](double a, double b) { return a + b; });
  return lanes[0] + rest;
}

template <class Term>
ZERO_INLINE double sum_rows(int64_t rows, int64_t stride, int64_t length, const Term& term) {
  constexpr bool narrow = sizeof(term(int64_t{0})) < sizeof(double);
  if (narrow && length >= kRunInType * kLanes)
    return sum_runs<narrow ? kRunInType : 1>(rows, stride, length, term);
  return sum_runs<1>(rows, stride, length, term);
}

template <class T>
ZERO_NOINLINE void plane_moments(const BatchSumsArgs& args) {
  const T* const x = static_cast<const T*>(args.x);
  const int64_t rows = args.rows, stride = args.stride, length = args.length;
  const double n = static_cast<double>(rows * length);
  const double mean =
      sum_rows(rows, stride, length, [=](int64_t i) { return static_cast<double>(x[i]); }) / n;
  const T pivot = static_cast<T>(mean);
  const double off = mean - static_cast<double>(pivot);
  double squares = sum_rows(rows, stride, length,
                            [=](int64_t i) {
                              const T d = x[i] - pivot;
                              return d * d;
                            }) -
                   n * off * off;
  if (beyond_type<T>(squares)) {
    squares = sum_rows(rows, stride, length, [=](int64_t i) {
      const double d = static_cast<double>(x[i]) - mean;
      return d * d;
    });
  }
  args.out[0] = mean;
  args.out[1] = squares;
}

template <class T>
ZERO_NOINLINE void plane_gradient(const BatchSumsArgs& args) {
  const T *const x = static_cast<const T*>(args.x), *const g = static_cast<const T*>(args.g);
  const T* const factors = static_cast<const T*>(args.factors);
  const T scale = factors[0], pivot = factors[args.channels], rstd = factors[2 * args.channels];
  const int64_t rows = args.rows, stride = args.stride, length = args.length;
  args.out[0] = sum_rows(rows, stride, length, [=](int64_t i) { return g[i]; });
  args.out[1] = sum_rows(rows, stride, length,
                         [=](int64_t i) { return g[i] * ((x[i] * scale - pivot) * rstd); });
}

// ---- columns, each of a channel -----------------------------------------------------------------

// total[c] += the sum of term(offset, c) over rows; `run` of them are added up in the terms' type.
template <class Term>
ZERO_INLINE void sum_columns(int64_t rows, int64_t stride, int64_t columns, double* total,
                             Term term) {
  using T = decltype(term(int64_t{0}, int64_t{0}));
  int64_t r = 0;
  for (; r + kRunInType <= rows; r += kRunInType) {
    const int64_t at = r * stride;
    ZERO_SIMD
    for (int64_t c = 0; c < columns; ++c) {
      T part = term(at + c, c);
      for (int k = 1; k < kRunInType; ++k) part += term(at + k * stride + c, c);
      total[c] += static_cast<double>(part);
    }
  }
  for (; r < rows; ++r) {
    const int64_t at = r * stride;
    ZERO_SIMD
    for (int64_t c = 0; c < columns; ++c) total[c] += static_cast<double>(term(at + c, c));
  }
}

template <class T>
ZERO_NOINLINE void column_moments(const BatchSumsArgs& args) {
  const T* const x = static_cast<const T*>(args.x);
  const int64_t rows = args.rows, stride = args.stride, columns = args.length;
  const double n = static_cast<double>(rows);
  double mean[kBatchColumns] = {}, squares[kBatchColumns] = {};
  T pivot[kBatchColumns];
  sum_columns(rows, stride, columns, mean,
              [=](int64_t i, int64_t) { return static_cast<double>(x[i]); });
  for (int64_t c = 0; c < columns; ++c) {
    mean[c] /= n;
    pivot[c] = static_cast<T>(mean[c]);
  }
  const T* const p = pivot;
  sum_columns(rows, stride, columns, squares, [=](int64_t i, int64_t c) {
    const T d = x[i] - p[c];
    return d * d;
  });
  for (int64_t c = 0; c < columns; ++c) {
    const double off = mean[c] - static_cast<double>(pivot[c]);
    squares[c] -= n * off * off;
    if (beyond_type<T>(squares[c])) {
      squares[c] = 0;
      for (int64_t r = 0; r < rows; ++r) {
        const double d = static_cast<double>(x[r * stride + c]) - mean[c];
        squares[c] += d * d;
      }
    }
    args.out[c * args.step] = mean[c];
    args.out[c * args.step + 1] = squares[c];
  }
}

template <class T>
ZERO_NOINLINE void column_gradient(const BatchSumsArgs& args) {
  const T *const x = static_cast<const T*>(args.x), *const g = static_cast<const T*>(args.g);
  const T* const scale = static_cast<const T*>(args.factors);
  const T *const pivot = scale + args.channels, *const rstd = pivot + args.channels;
  double plain[kBatchColumns] = {}, units[kBatchColumns] = {};
  sum_columns(args.rows, args.stride, args.length, plain, [=](int64_t i, int64_t) { return g[i]; });
  sum_columns(args.rows, args.stride, args.length, units, [=](int64_t i, int64_t c) {
    return g[i] * ((x[i] * scale[c] - pivot[c]) * rstd[c]);
  });
  for (int64_t c = 0; c < args.length; ++c) {
    args.out[c * args.step] = plain[c];
    args.out[c * args.step + 1] = units[c];
  }
}

template <class T>
void moments(const BatchSumsArgs& args) {
  args.columns ? column_moments<T>(args) : plane_moments<T>(args);
}

template <class T>
void gradient(const BatchSumsArgs& args) {
  args.columns ? column_gradient<T>(args) : plane_gradient<T>(args);
}

// ---- element by element -------------------------------------------------------------------------

// Calls of(first element, how many, first channel) for every piece of a plane.
template <class F>
ZERO_INLINE void for_each_piece(const BatchMapArgs& args, F of) {
  const int64_t pieces = (args.inner + kBatchPiece - 1) / kBatchPiece;
  for (int64_t i = args.begin; i < args.end; ++i) {
    const int64_t plane = i / pieces, at = i % pieces * kBatchPiece;
    const int64_t left = args.inner - at;
    of(plane * args.inner + at, left < kBatchPiece ? left : kBatchPiece, plane % args.channels);
  }
}

template <class T>
void forward(const BatchMapArgs& args) {
  const T* const x = static_cast<const T*>(args.x);
  T* const y = static_cast<T*>(args.out);
  const int64_t channels = args.channels;
  const T* const scale = static_cast<const T*>(args.factors);
  const T *const pivot = scale + channels, *const a = pivot + channels, *const b = a + channels;
  if (args.inner == 1) {
    for (int64_t r = args.begin; r < args.end; ++r) {
      const int64_t at = r * channels;
      ZERO_SIMD
      for (int64_t c = 0; c < channels; ++c)
        y[at + c] = (x[at + c] * scale[c] - pivot[c]) * a[c] + b[c];
    }
    return;
  }
  for_each_piece(args, [=](int64_t at, int64_t n, int64_t c) {
    const T s = scale[c], p = pivot[c], factor = a[c], shift = b[c];
    ZERO_SIMD
    for (int64_t i = at; i < at + n; ++i) y[i] = (x[i] * s - p) * factor + shift;
  });
}

template <class T>
void backward(const BatchMapArgs& args) {
  const T *const x = static_cast<const T*>(args.x), *const g = static_cast<const T*>(args.g);
  T* const dx = static_cast<T*>(args.out);
  const int64_t channels = args.channels;
  const T* const scale = static_cast<const T*>(args.factors);
  const T *const pivot = scale + channels, *const rstd = pivot + channels;
  const T* const k = rstd + channels;
  const T *const a = k + channels, *const b = a + channels, *const c = b + channels;
  if (args.inner == 1) {
    for (int64_t r = args.begin; r < args.end; ++r) {
      const int64_t at = r * channels;
      ZERO_SIMD
      for (int64_t j = 0; j < channels; ++j) {
        const T of_x = (x[at + j] * scale[j] - pivot[j]) * rstd[j] * b[j] + c[j];
        dx[at + j] = (g[at + j] - k[j]) * a[j] + of_x;
      }
    }
    return;
  }
  for_each_piece(args, [=](int64_t at, int64_t n, int64_t j) {
    const T s = scale[j], p = pivot[j], r = rstd[j], kj = k[j], aj = a[j], bj = b[j], cj = c[j];
    ZERO_SIMD
    for (int64_t i = at; i < at + n; ++i) {
      const T of_x = (x[i] * s - p) * r * bj + cj;
      dx[i] = (g[i] - kj) * aj + of_x;
    }
  });
}

}  // namespace

void fill_batch_norm(KernelTable& table) {
  static constexpr BatchNormKernels kernels{{moments<float>, moments<double>},
                                            {gradient<float>, gradient<double>},
                                            {forward<float>, forward<double>},
                                            {backward<float>, backward<double>}};
  table.batch_norm = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
