// Softmax, log-softmax and the cross entropy of class indices, with their gradients.
//
//   softmax(x)_i     = exp(x_i - m) / s        m = max x, s = sum exp(x - m)
//   log_softmax(x)_i = (x_i - m) - log s
//
// The arithmetic of the elements is that of the type, s and log s are float64: log s keeps the
// 2^-45 (float32) of a sum that exceeds 1 by little. A NaN, an infinity, or -inf everywhere makes s
// and so the whole row NaN. Short rows are taken together, so that exp runs over full vectors.
#include "zero/kernels/fold.inl"
#include "zero/kernels/math.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// Rows that fill a block together.
ZERO_INLINE int64_t rows_at_once(int64_t n, int64_t rows) {
  const int64_t fit = n >= kBlock ? 1 : kBlock / n;
  return fit < rows ? fit : rows;
}

// Ignores NaN where it meets a number: the sum of exp(x - m) finds it.
template <class T>
ZERO_NOINLINE T max_of(const T* x, int64_t n) {
  if (n < kLanes) {
    T m = x[0];
    for (int64_t i = 1; i < n; ++i) m = x[i] > m ? x[i] : m;
    return m;
  }
  T lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l] = x[l];
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
    ZERO_SIMD
    for (int l = 0; l < kLanes; ++l) lanes[l] = x[i + l] > lanes[l] ? x[i + l] : lanes[l];
  }
  for (int l = 0; i < n; ++i, ++l) lanes[l] = x[i] > lanes[l] ? x[i] : lanes[l];
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l)
      lanes[l] = lanes[l + width] > lanes[l] ? lanes[l + width] : lanes[l];
  return lanes[0];
}

template <class T>
ZERO_NOINLINE double dot(const T* a, const T* b, int64_t n) {
  return sum_terms(
      n, [=](int64_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); });
}

// For s >= 1, infinite or NaN.
template <class T>
ZERO_INLINE double log_of_sum(double s) {
  if constexpr (sizeof(T) == sizeof(double)) return ZERO_LIBM(log)(s);
  return s < math::kInf ? math::log_core(s) : s;
}

template <class T>
ZERO_NOINLINE void exp_block(const T* x, T* y, int64_t n) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) y[i] = math::exp(x[i]);
}
template <class T>
ZERO_NOINLINE void exp_difference(const T* x, T m, T* y, int64_t n) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) y[i] = math::exp(x[i] - m);
}

// y = exp(x - max) for neighbouring rows (n >= kBlock: one), max and sum of each.
template <class T>
ZERO_NOINLINE void exp_rows(const T* x, T* y, int64_t rows, int64_t n, double* max, double* sum) {
  if (rows == 1) {
    const T m = max_of(x, n);
    max[0] = static_cast<double>(m);
    exp_difference(x, m, y, n);
    sum[0] = sum_of(y, n);
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * n;
    const T m = max_of(row, n);
    max[r] = static_cast<double>(m);
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) y[r * n + i] = row[i] - m;
  }
  exp_block(y, y, rows * n);
  for (int64_t r = 0; r < rows; ++r) sum[r] = sum_of(y + r * n, n);
}

// The same without a place for the exponentials of a long row.
template <class T>
ZERO_NOINLINE void exp_sums(const T* x, int64_t rows, int64_t n, double* max, double* sum) {
  T block[kBlock];
  if (n <= kBlock) return exp_rows(x, block, rows, n, max, sum);
  const T m = max_of(x, n);
  double s = 0;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t len = n - i < kBlock ? n - i : kBlock;
    exp_difference(x + i, m, block, len);
    s += sum_of(block, len);
  }
  max[0] = static_cast<double>(m);
  sum[0] = s;
}

template <class T>
void softmax_rows(const SoftmaxArgs& args) {
  const T* x = static_cast<const T*>(args.x);
  T* y = static_cast<T*>(args.out);
  const int64_t n = args.n;
  double max[kBlock], sum[kBlock];
  for (int64_t done = 0; done < args.rows;) {
    const int64_t rows = rows_at_once(n, args.rows - done);
    if (args.log) {
      exp_sums(x, rows, n, max, sum);
    } else {
      exp_rows(x, y, rows, n, max, sum);
    }
    for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
      if (args.log) {
        const T m = static_cast<T>(max[r]), log_sum = static_cast<T>(log_of_sum<T>(sum[r]));
        ZERO_SIMD
        for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - m) - log_sum;
      } else {
        const T scale = static_cast<T>(1 / sum[r]);
        ZERO_SIMD
        for (int64_t i = 0; i < n; ++i) y[i] *= scale;
      }
    }
    done += rows;
  }
}

// softmax: y (g - sum g y); log_softmax: g - exp(y) sum g
template <class T>
void softmax_backward_rows(const SoftmaxArgs& args) {
  const T *y = static_cast<const T*>(args.x), *g = static_cast<const T*>(args.g);
  T* out = static_cast<T*>(args.out);
  const int64_t n = args.n;
  for (int64_t done = 0; done < args.rows;) {
    const int64_t rows = rows_at_once(n, args.rows - done);
    if (args.log) exp_block(y, out, rows * n);
    for (int64_t r = 0; r < rows; ++r, y += n, g += n, out += n) {
      if (args.log) {
        const T s = static_cast<T>(sum_of(g, n));
        ZERO_SIMD
        for (int64_t i = 0; i < n; ++i) out[i] = g[i] - out[i] * s;
      } else {
        const T s = static_cast<T>(dot(g, y, n));
        ZERO_SIMD
        for (int64_t i = 0; i < n; ++i) out[i] = y[i] * (g[i] - s);
      }
    }
    done += rows;
  }
}

template <class T>
void softmax_columns(const SoftmaxArgs& args) {
  const T* x = static_cast<const T*>(args.x);
  T* y = static_cast<T*>(args.out);
  const int64_t n = args.n, lanes = args.lanes, stride = args.stride;
  T max[kSoftmaxLanes], e[kSoftmaxLanes];
  double sum[kSoftmaxLanes];
  for (int64_t l = 0; l < lanes; ++l) max[l] = x[l], sum[l] = 0;
  for (int64_t i = 1; i < n; ++i) {
    const T* row = x + i * stride;
    ZERO_SIMD
    for (int64_t l = 0; l < lanes; ++l) max[l] = row[l] > max[l] ? row[l] : max[l];
  }
  for (int64_t i = 0; i < n; ++i) {
    const T* row = x + i * stride;
    T* to = args.log ? e : y + i * stride;
    ZERO_SIMD
    for (int64_t l = 0; l < lanes; ++l) to[l] = math::exp(row[l] - max[l]);
    ZERO_SIMD
    for (int64_t l = 0; l < lanes; ++l) sum[l] += static_cast<double>(to[l]);
  }
  for (int64_t l = 0; l < lanes; ++l)
    e[l] = static_cast<T>(args.log ? log_of_sum<T>(sum[l]) : 1 / sum[l]);
  for (int64_t i = 0; i < n; ++i) {
    const T* row = x + i * stride;
    T* to = y + i * stride;
    if (args.log) {
      ZERO_SIMD
      for (int64_t l = 0; l < lanes; ++l) to[l] = (row[l] - max[l]) - e[l];
    } else {
      ZERO_SIMD
      for (int64_t l = 0; l < lanes; ++l) to[l] *= e[l];
    }
  }
}

template <class T>
void softmax_backward_columns(const SoftmaxArgs& args) {
  const T *y = static_cast<const T*>(args.x), *g = static_cast<const T*>(args.g);
  T* out = static_cast<T*>(args.out);
  const int64_t n = args.n, lanes = args.lanes, stride = args.stride;
  double sum[kSoftmaxLanes] = {};
  T s[kSoftmaxLanes];
  for (int64_t i = 0; i < n; ++i) {
    const T *yi = y + i * stride, *gi = g + i * stride;
    if (args.log) {
      ZERO_SIMD
      for (int64_t l = 0; l < lanes; ++l) sum[l] += static_cast<double>(gi[l]);
    } else {
      ZERO_SIMD
      for (int64_t l = 0; l < lanes; ++l)
        sum[l] += static_cast<double>(gi[l]) * static_cast<double>(yi[l]);
    }
  }
  for (int64_t l = 0; l < lanes; ++l) s[l] = static_cast<T>(sum[l]);
  for (int64_t i = 0; i < n; ++i) {
    const T *yi = y + i * stride, *gi = g + i * stride;
    T* to = out + i * stride;
    if (args.log) {
      ZERO_SIMD
      for (int64_t l = 0; l < lanes; ++l) to[l] = gi[l] - math::exp(yi[l]) * s[l];
    } else {
      ZERO_SIMD
      for (int64_t l = 0; l < lanes; ++l) to[l] = yi[l] * (gi[l] - s[l]);
    }
  }
}

// Classes were checked when they were given, but their memory may be numpy's and overwritten since.
inline bool counts(int64_t t, const CrossEntropyArgs& args) {
  return t != args.ignore && static_cast<uint64_t>(t) < static_cast<uint64_t>(args.n);
}

// The exponentials stay in args.out, if that is given, for the pass back.
template <class T>
void cross_entropy(const CrossEntropyArgs& args) {
  const T* x = static_cast<const T*>(args.x);
  T* const out = static_cast<T*>(args.out);
  const int64_t n = args.n;
  for (int64_t done = 0; done < args.rows;) {
    const int64_t rows = rows_at_once(n, args.rows - done);
    double *const max = args.max + done, *const sum = args.sum + done;
    if (out != nullptr)
      exp_rows(x + done * n, out + done * n, rows, n, max, sum);
    else
      exp_sums(x + done * n, rows, n, max, sum);
    for (int64_t r = done; r < done + rows; ++r) {
      const int64_t t = args.target[r];
      const bool used = counts(t, args);
      const double chosen = static_cast<double>(x[r * n + (used ? t : 0)]);
      const double loss = log_of_sum<T>(args.sum[r]) - (chosen - args.max[r]);
      args.loss[r] = used ? loss : 0;
    }
    done += rows;
  }
}

// (softmax - onehot(target)) g scale from the exponentials and their sums; 0 in rows that are
// ignored, whatever g and the exponentials are there.
template <class T>
void cross_entropy_backward(const CrossEntropyArgs& args) {
  const T *e = static_cast<const T*>(args.x), *g = static_cast<const T*>(args.g);
  T* out = static_cast<T*>(args.out);
  const int64_t n = args.n;
  for (int64_t r = 0; r < args.rows; ++r, e += n, out += n) {
    const int64_t t = args.target[r];
    if (!counts(t, args)) {
      for (int64_t i = 0; i < n; ++i) out[i] = T(0);
      continue;
    }
    const double s = static_cast<double>(g[r * args.g_step]) * args.scale;
    const T scale = static_cast<T>(s / args.sum[r]);
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) out[i] = e[i] * scale;
    out[t] -= static_cast<T>(s);
  }
}

template <class T>
void add_softmax(KernelTable& table, ComputeType type) {
  const int t = static_cast<int>(type);
  table.softmax_rows[t] = softmax_rows<T>;
  table.softmax_columns[t] = softmax_columns<T>;
  table.softmax_backward_rows[t] = softmax_backward_rows<T>;
  table.softmax_backward_columns[t] = softmax_backward_columns<T>;
  table.cross_entropy[t] = cross_entropy<T>;
  table.cross_entropy_backward[t] = cross_entropy_backward<T>;
}

}  // namespace

void fill_softmax(KernelTable& table) {
  add_softmax<float>(table, ComputeType::F32);
  add_softmax<double>(table, ComputeType::F64);
}

}  // namespace zero::ZERO_ISA_NS
