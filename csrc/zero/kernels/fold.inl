// The elements of one output of a reduction, folded.
//
// A row of up to kRun elements is folded in lanes, which are then combined as a binary tree; longer
// rows and further dimensions are halved until they are such rows. So the error of a float64 sum of
// n elements grows as about (kRun / 16 + log2 n) 2^-53, and the order depends on sizes and strides
// only. Sums of float32 accumulate in float64, four by four, integers in int64.
#pragma once

#include "zero/kernels/common.inl"

namespace zero::ZERO_ISA_NS {
namespace {

constexpr int64_t kRun = 2048;  // elements of a row folded without a tree
constexpr int kLanes = 16;

ZERO_INLINE bool is_finite(double x) { return x - x == 0; }

// A state is the value of a part; lift makes one of an element, combine joins two neighbouring
// parts. `shift` is the output's number from FoldArgs, `index` the place of the element in its
// output.

template <class T> struct AccumulatorOf { using type = int64_t; };
template <> struct AccumulatorOf<float> { using type = double; };
template <> struct AccumulatorOf<double> { using type = double; };

template <class T>
struct SumOp {
  using In = T;
  using State = typename AccumulatorOf<T>::type;
  static constexpr int lanes = kLanes;
  static ZERO_INLINE State lift(T x, double, int64_t) { return static_cast<State>(value_of(x)); }
  static ZERO_INLINE State combine(State a, State b) { return wrap_add(a, b); }
};

template <class T>
struct NanSumOp : SumOp<T> {
  static ZERO_INLINE typename SumOp<T>::State lift(T x, double, int64_t) {
    return static_cast<typename SumOp<T>::State>(x == x ? x : T(0));
  }
};

// How many are not zero.
template <class T>
struct CountOp {
  using In = T;
  using State = int64_t;
  static constexpr int lanes = kLanes;
  static ZERO_INLINE State lift(T x, double, int64_t) { return x != T(0); }
  static ZERO_INLINE State combine(State a, State b) { return a + b; }
};

template <class T>
struct ProdOp {
  using In = T;
  using State = typename AccumulatorOf<T>::type;
  static constexpr int lanes = kLanes;
  static ZERO_INLINE State lift(T x, double, int64_t) { return static_cast<State>(value_of(x)); }
  static ZERO_INLINE State combine(State a, State b) { return wrap_mul(a, b); }
};

// lanes[0] = all 2 `width` lanes, as a binary tree. A template, so that every step has a constant
// width and becomes vector code.
template <int width, class State, class Combine>
ZERO_INLINE void join_lanes(State* lanes, Combine combine) {
  ZERO_SIMD
  for (int l = 0; l < width; ++l) lanes[l] = combine(lanes[l], lanes[l + width]);
  if constexpr (width > 1) join_lanes<width / 2>(lanes, combine);
}

// n >= 1 elements. Starting from the elements themselves spares an identity. One lane means any
// stride.
template <class Op, int Lanes>
ZERO_INLINE typename Op::State fold_lanes(const char* in, int64_t n, int64_t stride, double shift,
                                          int64_t index, int64_t weight) {
  using In = typename Op::In;
  using State = typename Op::State;
  auto element = [&](int64_t i) {
    const In x = Lanes > 1 ? reinterpret_cast<const In*>(in)[i]
                           : *reinterpret_cast<const In*>(in + i * stride);
    return Op::lift(x, shift, index + i * weight);
  };
  if (n < Lanes) {
    State s = element(0);
    for (int64_t i = 1; i < n; ++i) s = Op::combine(s, element(i));
    return s;
  }
  State lanes[Lanes];
  int64_t i = Lanes;
  if (n >= 2 * Lanes) {  // not a copy, which would go through memory
    ZERO_SIMD
    for (int l = 0; l < Lanes; ++l) lanes[l] = Op::combine(element(l), element(l + Lanes));
    i = 2 * Lanes;
  } else {
    ZERO_SIMD
    for (int l = 0; l < Lanes; ++l) lanes[l] = element(l);
  }
  for (; i + Lanes <= n; i += Lanes) {
    ZERO_SIMD
    for (int l = 0; l < Lanes; ++l) lanes[l] = Op::combine(lanes[l], element(i + l));
  }
  for (int l = 0; i < n; ++i, ++l) lanes[l] = Op::combine(lanes[l], element(i));
  if constexpr (Lanes > 1)
    join_lanes<Lanes / 2>(lanes, [](State a, State b) { return Op::combine(a, b); });
  return lanes[0];
}

template <class Op>
struct FoldRun {
  static ZERO_NOINLINE typename Op::State run(const char* in, int64_t n, int64_t stride,
                                              double shift, int64_t index, int64_t weight) {
    if (stride == static_cast<int64_t>(sizeof(typename Op::In)))
      return fold_lanes<Op, Op::lanes>(in, n, stride, shift, index, weight);
    return fold_lanes<Op, 1>(in, n, stride, shift, index, weight);
  }
};

// The sum of term(i) for i < n in float64. Each lane adds up `Run` neighbours, a power of two, in
// the type of the terms before that, as a binary tree.
template <int Run, class Term>
ZERO_INLINE auto sum_run(const Term& term, int64_t i) {
  if constexpr (Run == 1)
    return term(i);
  else
    return sum_run<Run / 2>(term, i) + sum_run<Run / 2>(term, i + Run / 2 * kLanes);
}

template <int Run, class Term>
ZERO_INLINE int64_t add_runs(const Term& term, int64_t i, int64_t n, double* lanes) {
  for (; i + Run * kLanes <= n; i += Run * kLanes) {
    decltype(term(i)) part[kLanes];
    ZERO_SIMD
    for (int l = 0; l < kLanes; ++l) part[l] = sum_run<Run>(term, i + l);
    ZERO_SIMD
    for (int l = 0; l < kLanes; ++l) lanes[l] += static_cast<double>(part[l]);
  }
  return i;
}

template <int Run = 1, class Term>
ZERO_INLINE double sum_terms(int64_t n, Term term) {
  double total = 0;
  int64_t i = 0;
  if (n >= kLanes) {
    double lanes[kLanes] = {};
    if constexpr (Run > 1) i = add_runs<Run>(term, i, n, lanes);
    i = add_runs<1>(term, i, n, lanes);
    join_lanes<kLanes / 2>(lanes, [](double a, double b) { return a + b; });
    total = lanes[0];
  }
  for (; i < n; ++i) total += static_cast<double>(term(i));
  return total;
}

// Neighbours of a lane that are added up in float32 before they go on in float64: conversions would
// cost more than the sums. An overflow among them is none of the whole.
constexpr int kSumRun = 4;

template <>
struct FoldRun<SumOp<float>> {
  static ZERO_NOINLINE double run(const char* in, int64_t n, int64_t stride, double, int64_t,
                                  int64_t) {
    using Op = SumOp<float>;
    if (stride != sizeof(float)) return fold_lanes<Op, 1>(in, n, stride, 0, 0, 0);
    const float* x = reinterpret_cast<const float*>(in);
    const double sum = sum_terms<kSumRun>(n, [=](int64_t i) { return x[i]; });
    return is_finite(sum) ? sum : fold_lanes<Op, Op::lanes>(in, n, stride, 0, 0, 0);
  }
};

// n elements of dimension d and all of those inside it (dims[0] is the innermost).
template <class Op>
typename Op::State fold_row(const ReduceDim* dims, int d, const char* in, int64_t n, double shift,
                            int64_t index) {
  while (d > 0 && n == 1) n = dims[--d].size;
  const int64_t stride = dims[d].stride, weight = dims[d].weight;
  if (d == 0 && n <= kRun) return FoldRun<Op>::run(in, n, stride, shift, index, weight);
  const int64_t half = d == 0 ? (n + kRun - 1) / kRun / 2 * kRun : n / 2;
  const auto left = fold_row<Op>(dims, d, in, half, shift, index);
  const auto right =
      fold_row<Op>(dims, d, in + half * stride, n - half, shift, index + half * weight);
  return Op::combine(left, right);
}

// n >= 1 neighbours
template <class T>
ZERO_NOINLINE double sum_of(const T* x, int64_t n) {
  if (n < kLanes) {
    double s = x[0];
    for (int64_t i = 1; i < n; ++i) s += x[i];
    return s;
  }
  const ReduceDim dim = {n, static_cast<int64_t>(sizeof(T)), 1};
  return fold_row<SumOp<T>>(&dim, 0, reinterpret_cast<const char*>(x), n, 0, 0);
}

}  // namespace
}  // namespace zero::ZERO_ISA_NS
