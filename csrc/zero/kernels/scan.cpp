// Running sums, products, extremes and logarithms of sums. The order of the arithmetic depends on
// the place of an element in its lane only; sums of float32 run in float64.
#include "zero/kernels/fold.inl"
#include "zero/kernels/math.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// One row. Four elements are added up by themselves first, so that the sum so far, for which the
// next step waits, grows once for all of them.
template <class Op>
void scan_row(const typename Op::In* x, typename Op::In* y, int64_t n, int64_t step) {
  using T = typename Op::In;
  using State = typename Op::State;
  const auto element = [&](int64_t i) { return Op::lift(x[i * step], 0, 0); };
  State total = element(0);
  y[0] = x[0];
  int64_t i = 1;
  for (; i + 4 <= n; i += 4) {
    const State a = element(i), b = Op::combine(a, element(i + 1));
    const State c = element(i + 2), d = Op::combine(c, element(i + 3));
    y[i * step] = static_cast<T>(Op::combine(total, a));
    y[(i + 1) * step] = static_cast<T>(Op::combine(total, b));
    y[(i + 2) * step] = static_cast<T>(Op::combine(total, Op::combine(b, c)));
    total = Op::combine(total, Op::combine(b, d));
    y[(i + 3) * step] = static_cast<T>(total);
  }
  for (; i < n; ++i) {
    total = Op::combine(total, element(i));
    y[i * step] = static_cast<T>(total);
  }
}

template <class Op>
void scan(const ScanArgs& args) {
  using T = typename Op::In;
  using State = typename Op::State;
  const int64_t step = args.reverse ? -args.stride : args.stride;
  const int64_t first = args.reverse ? (args.n - 1) * args.stride : 0;
  const T* x = static_cast<const T*>(args.from) + first;
  T* y = static_cast<T*>(args.to) + first;
  if (args.lanes == 1) return scan_row<Op>(x, y, args.n, step);
  State total[kScanLanes];
  for (int64_t j = 0; j < args.lanes; ++j) {
    total[j] = Op::lift(x[j], 0, 0);
    y[j] = x[j];
  }
  for (int64_t i = 1; i < args.n; ++i) {
    x += step;
    y += step;
    ZERO_SIMD
    for (int64_t j = 0; j < args.lanes; ++j) {
      total[j] = Op::combine(total[j], Op::lift(x[j], 0, 0));
      y[j] = static_cast<T>(total[j]);
    }
  }
}

// ---- cummax and cummin --------------------------------------------------------------------------

template <class T, bool largest>
ZERO_INLINE bool is_better(T x, T best) {
  return (largest ? x >= best : x <= best) | (x != x);
}

template <class T, bool largest>
void extreme_scan(const ExtremeScanArgs& args) {
  const T* x = static_cast<const T*>(args.from);
  T* y = static_cast<T*>(args.to);
  int64_t* indices = args.indices;
  if (args.lanes == 1) {
    const int64_t n = args.n, stride = args.stride;
    T best = value_of(x[0]);
    for (int64_t i = 0, place = 0; i < n; ++i) {
      const T v = value_of(x[i * stride]);
      const bool better = is_better<T, largest>(v, best);
      if constexpr (is_float<T>) {  // rarely true, and a branch need not wait for the last step
        if (better) {
          best = v;
          place = i;
        }
      } else {
        best = better ? v : best;
        place = better ? i : place;
      }
      y[i * stride] = best;
      indices[i * stride] = place;
    }
    return;
  }
  T best[kScanLanes];
  int64_t place[kScanLanes] = {};
  for (int64_t j = 0; j < args.lanes; ++j) best[j] = value_of(x[j]);
  for (int64_t i = 0; i < args.n; ++i) {
    ZERO_SIMD
    for (int64_t j = 0; j < args.lanes; ++j) {
      const T v = value_of(x[j]);
      const bool better = is_better<T, largest>(v, best[j]);
      best[j] = better ? v : best[j];
      place[j] = better ? i : place[j];
      y[j] = best[j];
      indices[j] = place[j];
    }
    x += args.stride;
    y += args.stride;
    indices += args.stride;
  }
}

// ---- logcumsumexp -------------------------------------------------------------------------------

// y = m + log s for the largest element m so far and s = sum exp(x - m), both in float64. A step
// needs one exponential: of x below m, s grows by exp(x - m); of x above, it becomes
// s exp(m - x) + 1.
constexpr int64_t kExpBlock = 64;

template <class T>
ZERO_INLINE double exp_of(double x) {  // x <= 0 or NaN
  if constexpr (sizeof(T) == sizeof(double)) return math::exp(x);
  return x < -600.0 ? 0.0 : math::exp_core(x < -600.0 ? -600.0 : x);
}
template <class T>
ZERO_INLINE double log_of(double s) {
  if constexpr (sizeof(T) == sizeof(double)) return math::log(s);
  const double y = math::log_core(s);
  return s == 0.0 ? -math::kInf : s < math::kInf ? y : s;  // NaN stays
}

// The maxima first, then the exponentials of a block at once, the sums, the logarithms.
template <class T>
void logcumsumexp_row(const T* x, T* y, int64_t n, int64_t step) {
  double m[kExpBlock + 1], e[kExpBlock], sum = 0;
  m[0] = -math::kInf;
  for (int64_t i = 0; i < n; i += kExpBlock) {
    const int64_t len = n - i < kExpBlock ? n - i : kExpBlock;
    for (int64_t j = 0; j < len; ++j) {
      const double v = static_cast<double>(x[j * step]);
      m[j + 1] = v > m[j] ? v : m[j];
      e[j] = v;
    }
    ZERO_SIMD
    for (int64_t j = 0; j < len; ++j) {
      const double before = m[j] - m[j] == 0.0 ? m[j] : 0.0;  // inf - inf would be NaN
      e[j] = exp_of<T>(-math::abs(e[j] - before));
    }
    for (int64_t j = 0; j < len; ++j) {
      sum = m[j + 1] > m[j] ? sum * e[j] + 1 : sum + e[j];
      e[j] = sum;
    }
    ZERO_SIMD
    for (int64_t j = 0; j < len; ++j) e[j] = m[j + 1] + log_of<T>(e[j]);
    for (int64_t j = 0; j < len; ++j) y[j * step] = static_cast<T>(e[j]);
    m[0] = m[len];
    x += len * step;
    y += len * step;
  }
}

template <class T>
void logcumsumexp(const ScanArgs& args) {
  const T* x = static_cast<const T*>(args.from);
  T* y = static_cast<T*>(args.to);
  const int64_t first = args.reverse ? (args.n - 1) * args.stride : 0;
  for (int64_t l = 0; l < args.lanes; ++l)
    logcumsumexp_row(x + first + l, y + first + l, args.n,
                     args.reverse ? -args.stride : args.stride);
}

template <class T>
void add_extremes(KernelTable& table, ComputeType type) {
  table.cummax[static_cast<int>(type)] = extreme_scan<T, true>;
  table.cummin[static_cast<int>(type)] = extreme_scan<T, false>;
}

template <class T>
void add_scans(KernelTable& table, ComputeType type) {
  table.scan[static_cast<int>(ScanOp::Sum)][static_cast<int>(type)] = scan<SumOp<T>>;
  table.scan[static_cast<int>(ScanOp::Prod)][static_cast<int>(type)] = scan<ProdOp<T>>;
}

}  // namespace

void fill_scan(KernelTable& table) {
  add_scans<float>(table, ComputeType::F32);
  add_scans<double>(table, ComputeType::F64);
  add_scans<int64_t>(table, ComputeType::I64);
  add_scans<int32_t>(table, ComputeType::I32);
  add_extremes<float>(table, ComputeType::F32);
  add_extremes<double>(table, ComputeType::F64);
  add_extremes<int64_t>(table, ComputeType::I64);
  add_extremes<int32_t>(table, ComputeType::I32);
  add_extremes<uint8_t>(table, ComputeType::Bool);
  table.logcumsumexp[static_cast<int>(ComputeType::F32)] = logcumsumexp<float>;
  table.logcumsumexp[static_cast<int>(ComputeType::F64)] = logcumsumexp<double>;
}

}  // namespace zero::ZERO_ISA_NS
