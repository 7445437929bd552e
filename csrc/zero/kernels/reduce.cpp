// Reductions over any set of dimensions, and the selections by index that go with max and min.
//
// Order of the arithmetic: fold.inl says that of rows, the elements of one output. A column of up
// to kColumnRun elements is folded one after the other, longer ones are halved.
#include "zero/kernels/fold.inl"

namespace zero::ZERO_ISA_NS {
namespace {

constexpr int64_t kColumnRun = 64;  // rows added one by one

// ---- operations ---------------------------------------------------------------------------------

template <class T> constexpr bool has_nan = false;
template <> constexpr bool has_nan<float> = true;
template <> constexpr bool has_nan<double> = true;

template <class T>
struct DeviationOp {
  using In = T;
  using State = DeviationState;
  static ZERO_INLINE State combine(State a, State b) {
    return {a.squares + b.squares, a.sum + b.sum};
  }
};

// True where a is chosen before b: the larger (smaller), NaN above all.
template <class T, bool Largest>
ZERO_INLINE bool beats(T a, T b) {
  const bool better = Largest ? a > b : a < b;
  if constexpr (has_nan<T>) return better | (a != a);
  return better;
}

template <class T, bool Largest>
struct ExtremeOp {
  using In = T;
  using State = T;
  static constexpr int lanes = 128 / sizeof(T);
  static ZERO_INLINE State lift(T x, double, int64_t) { return value_of(x); }
  static ZERO_INLINE State combine(State a, State b) {
    const T better =
        Largest ? (a > b ? a : b) : (a < b ? a : b);  // one instruction; b if there is a NaN
    if constexpr (has_nan<T>) return a != a ? a : better;
    return better;
  }
};

template <class T, bool Largest>
struct ArgOp {
  using In = T;
  using State = ArgState<T>;
  static ZERO_INLINE State lift(T x, double, int64_t index) { return {value_of(x), index}; }
  // Parts may come in any order, so of equal values the smaller index wins, and so of two NaN.
  static ZERO_INLINE State combine(State a, State b) {
    const bool a_first = beats<T, Largest>(a.value, b.value),
               b_first = beats<T, Largest>(b.value, a.value);
    return a_first == b_first ? (a.index < b.index ? a : b) : (a_first ? a : b);
  }
};

// ---- rows: where fold.inl's way is not the fastest ----------------------------------------------

// Truths are counted in bytes: kRun / 64 of them fit.
template <>
struct FoldRun<SumOp<uint8_t>> {
  static ZERO_NOINLINE int64_t run(const char* in, int64_t n, int64_t stride, double, int64_t,
                                   int64_t) {
    const auto* x = reinterpret_cast<const uint8_t*>(in);
    int64_t total = 0, i = 0;
    if (stride == 1 && n >= 64) {
      uint8_t lanes[64] = {};
      for (; i + 64 <= n; i += 64) {
        ZERO_SIMD
        for (int l = 0; l < 64; ++l) lanes[l] = static_cast<uint8_t>(lanes[l] + value_of(x[i + l]));
      }
      for (int l = 0; l < 64; ++l) total += lanes[l];
    }
    for (; i < n; ++i) total += value_of(x[i * stride]);
    return total;
  }
};
static_assert(kRun / 64 <= 255);

// The two sums apart, so that both are vectors.
template <class T>
struct FoldRun<DeviationOp<T>> {
  static ZERO_NOINLINE DeviationState run(const char* in, int64_t n, int64_t stride, double shift,
                                          int64_t, int64_t) {
    double squares[kLanes] = {}, sums[kLanes] = {};
    int64_t i = 0;
    if (stride == static_cast<int64_t>(sizeof(T))) {
      const T* x = reinterpret_cast<const T*>(in);
      for (; i + kLanes <= n; i += kLanes) {
        ZERO_SIMD
        for (int l = 0; l < kLanes; ++l) {
          const double d = static_cast<double>(x[i + l]) - shift;
          squares[l] += d * d;
          sums[l] += d;
        }
      }
    }
    for (int l = 0; i < n; ++i, l = (l + 1) % kLanes) {
      const double d = static_cast<double>(*reinterpret_cast<const T*>(in + i * stride)) - shift;
      squares[l] += d * d;
      sums[l] += d;
    }
    const auto add = [](double a, double b) { return a + b; };
    join_lanes<kLanes / 2>(squares, add);
    join_lanes<kLanes / 2>(sums, add);
    return {squares[0], sums[0]};
  }
};

// An integer as wide as T, for masks and small indices in vectors.
template <int Size> struct IntOf { using type = int64_t; };
template <> struct IntOf<4> { using type = int32_t; };
template <> struct IntOf<1> { using type = int8_t; };
template <class T> using MaskOf = typename IntOf<sizeof(T)>::type;

template <class T>
ZERO_INLINE bool alike(T element, T b) {  // NaN is NaN
  const T a = value_of(element);
  return (a == b) | ((a != a) & (b != b));
}

// The extreme value first, as vectors; then the first place that has it.
template <class T, bool Largest>
struct FoldRun<ArgOp<T, Largest>> {
  static ZERO_NOINLINE ArgState<T> run(const char* in, int64_t n, int64_t stride, double,
                                       int64_t index, int64_t weight) {
    using Extreme = ExtremeOp<T, Largest>;
    if (stride != static_cast<int64_t>(sizeof(T)) || n < Extreme::lanes)
      return fold_lanes<ArgOp<T, Largest>, 1>(in, n, stride, 0, index, weight);
    const T* x = reinterpret_cast<const T*>(in);
    const T best = fold_lanes<Extreme, Extreme::lanes>(in, n, stride, 0, 0, 0);
    int64_t i = 0;
    for (; i + Extreme::lanes <= n; i += Extreme::lanes) {
      MaskOf<T> found[Extreme::lanes];
      ZERO_SIMD
      for (int l = 0; l < Extreme::lanes; ++l) found[l] = alike(x[i + l], best) ? -1 : 0;
      for (int width = Extreme::lanes / 2; width > 0; width /= 2) {
        ZERO_SIMD
        for (int l = 0; l < width; ++l) found[l] |= found[l + width];
      }
      if (found[0] != 0) break;
    }
    while (i < n - 1 && !alike(x[i], best)) ++i;  // others may write to the memory meanwhile
    return {best, index + i * weight};
  }
};

// ---- columns: neighbouring outputs, whose elements are neighbours -------------------------------

// Up to kColumnRun rows.
template <class Op>
ZERO_NOINLINE void add_rows(const ReduceDim& dim, const char* in, int64_t n, int64_t outputs,
                            const double* shift, int64_t index,
                            typename Op::State* __restrict acc) {
  using In = typename Op::In;
  auto row = [&](int64_t i) { return reinterpret_cast<const In*>(in + i * dim.stride); };
  const In* first = row(0);
  ZERO_SIMD
  for (int64_t j = 0; j < outputs; ++j) acc[j] = Op::lift(first[j], shift[j], index);
  int64_t i = 1;
  for (; i + 4 <= n; i += 4) {  // four rows at a time halve the traffic of acc, and more
    const In *a = row(i), *b = row(i + 1), *c = row(i + 2), *d = row(i + 3);
    const int64_t at = index + i * dim.weight, w = dim.weight;
    ZERO_SIMD
    for (int64_t j = 0; j < outputs; ++j) {
      const auto ab = Op::combine(Op::lift(a[j], shift[j], at), Op::lift(b[j], shift[j], at + w));
      const auto cd =
          Op::combine(Op::lift(c[j], shift[j], at + 2 * w), Op::lift(d[j], shift[j], at + 3 * w));
      acc[j] = Op::combine(acc[j], Op::combine(ab, cd));
    }
  }
  for (; i < n; ++i) {
    const In* a = row(i);
    ZERO_SIMD
    for (int64_t j = 0; j < outputs; ++j)
      acc[j] = Op::combine(acc[j], Op::lift(a[j], shift[j], index + i * dim.weight));
  }
}

template <class Op>
struct FoldColumns {
  static void run(const ReduceDim& dim, const char* in, int64_t n, int64_t outputs,
                  const double* shift, int64_t index, typename Op::State* acc) {
    add_rows<Op>(dim, in, n, outputs, shift, index, acc);
  }
};

template <>
struct FoldColumns<SumOp<uint8_t>> {
  static ZERO_NOINLINE void run(const ReduceDim& dim, const char* in, int64_t n, int64_t outputs,
                                const double*, int64_t, int64_t* acc) {
    uint8_t counts[kReduceTile] = {};
    for (int64_t i = 0; i < n; ++i) {
      const auto* row = reinterpret_cast<const uint8_t*>(in + i * dim.stride);
      ZERO_SIMD
      for (int64_t j = 0; j < outputs; ++j)
        counts[j] = static_cast<uint8_t>(counts[j] + value_of(row[j]));
    }
    for (int64_t j = 0; j < outputs; ++j) acc[j] = counts[j];
  }
};
static_assert(kColumnRun <= 127);  // also of the indices below

// As rows of float32 are added.
template <>
struct FoldColumns<SumOp<float>> {
  static ZERO_NOINLINE void run(const ReduceDim& dim, const char* in, int64_t n, int64_t outputs,
                                const double* shift, int64_t index, double* acc) {
    auto row = [&](int64_t i) { return reinterpret_cast<const float*>(in + i * dim.stride); };
    bool infinite = false;
    for (int64_t j = 0; j < outputs; ++j) acc[j] = 0;
    int64_t i = 0;
    for (; i + kSumRun <= n; i += kSumRun) {
      const float *a = row(i), *b = row(i + 1), *c = row(i + 2), *d = row(i + 3);
      ZERO_SIMD
      for (int64_t j = 0; j < outputs; ++j)
        acc[j] += static_cast<double>((a[j] + b[j]) + (c[j] + d[j]));
    }
    for (; i < n; ++i) {
      const float* a = row(i);
      ZERO_SIMD
      for (int64_t j = 0; j < outputs; ++j) acc[j] += static_cast<double>(a[j]);
    }
    for (int64_t j = 0; j < outputs; ++j) infinite |= !is_finite(acc[j]);
    if (infinite) add_rows<SumOp<float>>(dim, in, n, outputs, shift, index, acc);
  }
};
static_assert(kSumRun == 4);

template <class T>
struct FoldColumns<DeviationOp<T>> {
  static ZERO_NOINLINE void run(const ReduceDim& dim, const char* in, int64_t n, int64_t outputs,
                                const double* shift, int64_t, DeviationState* acc) {
    double squares[kReduceTile] = {}, sums[kReduceTile] = {};
    for (int64_t i = 0; i < n; ++i) {
      const T* row = reinterpret_cast<const T*>(in + i * dim.stride);
      ZERO_SIMD
      for (int64_t j = 0; j < outputs; ++j) {
        const double d = static_cast<double>(row[j]) - shift[j];
        squares[j] += d * d;
        sums[j] += d;
      }
    }
    for (int64_t j = 0; j < outputs; ++j) acc[j] = {squares[j], sums[j]};
  }
};

// The extreme values first; then, from the last row up, the rows that have them.
template <class T, bool Largest>
struct FoldColumns<ArgOp<T, Largest>> {
  static ZERO_NOINLINE void run(const ReduceDim& dim, const char* in, int64_t n, int64_t outputs,
                                const double* shift, int64_t index, ArgState<T>* acc) {
    T best[kReduceTile];
    MaskOf<T> place[kReduceTile];
    add_rows<ExtremeOp<T, Largest>>(dim, in, n, outputs, shift, 0, best);
    for (int64_t j = 0; j < outputs; ++j) place[j] = 0;
    for (int64_t i = n - 1; i >= 0; --i) {
      const T* row = reinterpret_cast<const T*>(in + i * dim.stride);
      const auto here = static_cast<MaskOf<T>>(i);
      ZERO_SIMD
      for (int64_t j = 0; j < outputs; ++j) place[j] = alike(row[j], best[j]) ? here : place[j];
    }
    for (int64_t j = 0; j < outputs; ++j) acc[j] = {best[j], index + place[j] * dim.weight};
  }
};

template <class Op>
void fold_columns(const ReduceDim* dims, int d, const char* in, int64_t n, int64_t outputs,
                  const double* shift, int64_t index, typename Op::State* acc) {
  while (d > 0 && n == 1) n = dims[--d].size;
  if (d == 0 && n <= kColumnRun)
    return FoldColumns<Op>::run(dims[0], in, n, outputs, shift, index, acc);
  const int64_t half = d == 0 ? (n + kColumnRun - 1) / kColumnRun / 2 * kColumnRun : n / 2;
  typename Op::State right[kReduceTile];
  fold_columns<Op>(dims, d, in, half, outputs, shift, index, acc);
  fold_columns<Op>(dims, d, in + half * dims[d].stride, n - half, outputs, shift,
                   index + half * dims[d].weight, right);
  for (int64_t j = 0; j < outputs; ++j) acc[j] = Op::combine(acc[j], right[j]);
}

// ---- the table's entries ------------------------------------------------------------------------

template <class Op>
void fold(const FoldArgs& args, void* states) {
  static const double no_shift[kReduceTile] = {};
  auto* state = static_cast<typename Op::State*>(states);
  const double* shift = args.shift ? args.shift : no_shift;
  const int outer = args.ndim - 1;
  const int64_t n = args.dims[outer].size;
  if (args.columns) {
    fold_columns<Op>(args.dims, outer, args.in, n, args.outputs, shift, args.index, state);
    return;
  }
  const char* in = args.in;
  for (int64_t j = 0; j < args.outputs; ++j, in += args.output_stride)
    state[j] = fold_row<Op>(args.dims, outer, in, n, shift[j], args.index);
}

template <class Op>
void combine_states(void* into, const void* from, int64_t n) {
  auto* a = static_cast<typename Op::State*>(into);
  const auto* b = static_cast<const typename Op::State*>(from);
  for (int64_t j = 0; j < n; ++j) a[j] = Op::combine(a[j], b[j]);
}

template <class Op>
void add_reduction(KernelTable& table, ReduceOp op, ComputeType type) {
  table.reduce[static_cast<int>(op)][static_cast<int>(type)] = {
      fold<Op>, combine_states<Op>, static_cast<int64_t>(sizeof(typename Op::State))};
}

template <class T>
void add_reductions(KernelTable& table, ComputeType type) {
  add_reduction<SumOp<T>>(table, ReduceOp::Sum, type);
  add_reduction<CountOp<T>>(table, ReduceOp::Nonzero, type);
  add_reduction<ProdOp<T>>(table, ReduceOp::Prod, type);
  if constexpr (has_nan<T>) {
    add_reduction<NanSumOp<T>>(table, ReduceOp::NanSum, type);
    add_reduction<DeviationOp<T>>(table, ReduceOp::Deviation, type);
  }
  add_reduction<ExtremeOp<T, true>>(table, ReduceOp::Max, type);
  add_reduction<ExtremeOp<T, false>>(table, ReduceOp::Min, type);
  add_reduction<ArgOp<T, true>>(table, ReduceOp::ArgMax, type);
  add_reduction<ArgOp<T, false>>(table, ReduceOp::ArgMin, type);
}

// ---- sums of squares ----------------------------------------------------------------------------

// sum (a - b)^2 in the order of fold_lanes.
template <class T>
ZERO_NOINLINE double squared_difference_run(const T* a, const T* b, int64_t n) {
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    ZERO_SIMD
    for (int l = 0; l < kLanes; ++l) {
      const double d = static_cast<double>(a[i + l]) - static_cast<double>(b[i + l]);
      lanes[l] += d * d;
    }
  }
  for (int l = 0; i < n; ++i, ++l) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    lanes[l] += d * d;
  }
  join_lanes<kLanes / 2>(lanes, [](double a, double b) { return a + b; });
  return lanes[0];
}

template <class T>
double squared_difference(const void* pa, const void* pb, int64_t n) {
  const T *a = static_cast<const T*>(pa), *b = static_cast<const T*>(pb);
  if (n <= kRun) return squared_difference_run(a, b, n);
  const int64_t half = (n + kRun - 1) / kRun / 2 * kRun;
  return squared_difference<T>(a, b, half) + squared_difference<T>(a + half, b + half, n - half);
}

// The same of one array. Squares of float32 are added up four by four before that, unless some may
// have left the range.
template <class T>
double squares(const void* p, int64_t n) {
  const T* x = static_cast<const T*>(p);
  if (n > kRun) {
    const int64_t half = (n + kRun - 1) / kRun / 2 * kRun;
    return squares<T>(x, half) + squares<T>(x + half, n - half);
  }
  if constexpr (sizeof(T) == sizeof(float)) {
    const double sum = sum_terms<kSumRun>(n, [=](int64_t i) { return x[i] * x[i]; });
    if (sum > 1e-20 && is_finite(sum)) return sum;  // those below 2^-126 make no difference
  }
  return sum_terms(n, [=](int64_t i) {
    const double value = static_cast<double>(x[i]);
    return value * value;
  });
}

template <class T>
void scaled_difference(const void* pa, const void* pb, double scale, void* out, int64_t n) {
  const T *a = static_cast<const T*>(pa), *b = static_cast<const T*>(pb);
  T* y = static_cast<T*>(out);
  const T s = static_cast<T>(scale);
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) y[i] = s * (a[i] - b[i]);
}

// ---- selection along a dimension ----------------------------------------------------------------

// Places without an element: -1, and what was no index when the caller's memory was last seen.
inline bool is_place(int64_t i, const AlongArgs& args) {
  return static_cast<uint64_t>(i) < static_cast<uint64_t>(args.n);
}

template <class T>
void take_along(const AlongArgs& args, int64_t begin, int64_t end) {
  const T* from = static_cast<const T*>(args.from);
  T* to = static_cast<T*>(args.to);
  int64_t outer = begin / args.inner, k = begin % args.inner;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = args.index[i];
    to[i] = is_place(at, args) ? from[(outer * args.n + at) * args.inner + k] : T(0);
    if (++k == args.inner) k = 0, ++outer;
  }
}

template <class T>
void put_along(const AlongArgs& args, int64_t begin, int64_t end) {
  const T* from = static_cast<const T*>(args.from);
  T* to = static_cast<T*>(args.to);
  int64_t outer = begin / args.inner, k = begin % args.inner;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = args.index[i];
    if (is_place(at, args)) to[(outer * args.n + at) * args.inner + k] = from[i];
    if (++k == args.inner) k = 0, ++outer;
  }
}

// The sign of v, or of limit - 1 - v, says that v is out of range.
bool in_range(const int64_t* index, int64_t n, int64_t limit) {
  const uint64_t top = static_cast<uint64_t>(limit - 1);
  uint64_t outside = 0;
  ZERO_SIMD_ANY(outside)
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t v = static_cast<uint64_t>(index[i]);
    outside |= v | (top - v);
  }
  return static_cast<int64_t>(outside) >= 0;
}

}  // namespace

void fill_reduce(KernelTable& table) {
  constexpr int f32 = static_cast<int>(ComputeType::F32), f64 = static_cast<int>(ComputeType::F64);
  add_reductions<float>(table, ComputeType::F32);
  add_reductions<double>(table, ComputeType::F64);
  add_reductions<int64_t>(table, ComputeType::I64);
  add_reductions<int32_t>(table, ComputeType::I32);
  add_reductions<uint8_t>(table, ComputeType::Bool);
  table.squared_difference[f32] = squared_difference<float>;
  table.squared_difference[f64] = squared_difference<double>;
  table.squares[f32] = squares<float>;
  table.squares[f64] = squares<double>;
  table.scaled_difference[f32] = scaled_difference<float>;
  table.scaled_difference[f64] = scaled_difference<double>;
  table.in_range = in_range;
  table.take_along[0] = take_along<uint8_t>;
  table.take_along[1] = take_along<uint16_t>;
  table.take_along[2] = take_along<uint32_t>;
  table.take_along[3] = take_along<uint64_t>;
  table.put_along[0] = put_along<uint8_t>;
  table.put_along[1] = put_along<uint16_t>;
  table.put_along[2] = put_along<uint32_t>;
  table.put_along[3] = put_along<uint64_t>;
}

}  // namespace zero::ZERO_ISA_NS
