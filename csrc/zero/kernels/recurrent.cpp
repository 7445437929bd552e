// Steps of recurrent layers. A tile of R rows x V vectors of results stays in registers while k
// runs, 12 of them, of which the vectors of an LSTM or a GRU belong to different gates of the same
// units. Each result is one chain of multiply-adds over a chunk of kDepth products, and chunks are
// added in order: its bits don't depend on how rows and units are cut.
#include "zero/kernels/recurrent.h"

#include "zero/kernels/logistic.inl"
#include "zero/kernels/registers.inl"

namespace zero::ZERO_ISA_NS {
namespace {
namespace recurrent {

constexpr int64_t kDepth = 128;  // of a panel, with up to 4 vectors: 16 KiB
template <class T> constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(T));

template <class T>
ZERO_INLINE const T* row_of(const RecurrentRows& rows, int64_t i) {
  return static_cast<const T*>(rows.data) + i * rows.row;
}

// ---- products -----------------------------------------------------------------------------------

// Where the vectors of a panel lie in a row, how many of their elements there are, and whether all.
struct Places {
  int64_t at[4], valid[4];
  bool whole;
};

constexpr int vectors(int64_t groups) { return groups == 1 ? 2 : static_cast<int>(groups); }

template <class T>
Places places_of(int64_t panel, int64_t hidden, int64_t groups, const int64_t* slots) {
  constexpr int64_t L = kLanes<T>;
  Places p;
  p.whole = true;
  for (int v = 0; v < vectors(groups); ++v) {
    const int64_t unit = groups == 1 ? (panel * 2 + v) * L : panel * L;
    p.at[v] = (groups == 1 ? 0 : slots[v] * hidden) + unit;
    const int64_t left = hidden - unit;
    p.valid[v] = left < 0 ? 0 : left < L ? left : L;
    p.whole &= p.valid[v] == L;
  }
  return p;
}

// c[rows][places] += sums, where vectors are not whole.
template <class T>
ZERO_NOINLINE void add_parts(int rows, int count, const T* sums, T* c, int64_t c_row,
                             const Places& places) {
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < count; ++v, sums += kLanes<T>)
      for (int64_t l = 0; l < places.valid[v]; ++l) c[i * c_row + places.at[v] + l] += sums[l];
}

template <class T, int R, int V, class Lanes>
ZERO_INLINE void add_tile(const Lanes (&sums)[R][V], T* c, int64_t c_row, const Places& places) {
  if (!places.whole) return add_parts<T>(R, V, reinterpret_cast<const T*>(sums), c, c_row, places);
  ZERO_UNROLL
  for (int i = 0; i < R; ++i) {
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) {
      T* const to = c + i * c_row + places.at[v];
      Lanes x;
      copy_bytes(&x, to, kVectorBytes);
      x += sums[i][v];
      copy_bytes(to, &x, kVectorBytes);
    }
  }
}

// c[R][places] += a[R][k] b[k][V]
template <class T, int R, int V>
ZERO_NOINLINE void tile(int64_t k, const T* a, int64_t a_row, const T* b, T* c, int64_t c_row,
                        const Places& places) {
  using Lanes = typename LanesOf<T>::type;
  constexpr int L = static_cast<int>(kLanes<T>);
  Lanes sums[R][V];
  ZERO_UNROLL
  for (int i = 0; i < R; ++i) {
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) sums[i][v] = Lanes{};
  }
  for (int64_t p = 0; p < k; ++p, b += V * L) {
    // What there is less of stays in registers.
    if constexpr (R > V) {
      Lanes columns[V];
      ZERO_UNROLL
      for (int v = 0; v < V; ++v) copy_bytes(&columns[v], b + v * L, kVectorBytes);
      ZERO_UNROLL
      for (int i = 0; i < R; ++i) {
        const T factor = a[i * a_row + p];
        ZERO_UNROLL
        for (int v = 0; v < V; ++v) sums[i][v] += factor * columns[v];
      }
    } else {
      T factors[R];
      ZERO_UNROLL
      for (int i = 0; i < R; ++i) factors[i] = a[i * a_row + p];
      ZERO_UNROLL
      for (int v = 0; v < V; ++v) {
        Lanes column;
        copy_bytes(&column, b + v * L, kVectorBytes);
        ZERO_UNROLL
        for (int i = 0; i < R; ++i) sums[i][v] += factors[i] * column;
      }
    }
  }
  add_tile<T>(sums, c, c_row, places);
}

template <class T, int R, int V>
ZERO_INLINE void some_rows(int64_t rows, int64_t k, const T* a, int64_t a_row, const T* b, T* c,
                           int64_t c_row, const Places& places) {
  if constexpr (R > 1) {
    if (rows < R) return some_rows<T, R - 1, V>(rows, k, a, a_row, b, c, c_row, places);
  }
  tile<T, R, V>(k, a, a_row, b, c, c_row, places);
}

// Two panels at once for one row, so that enough sums run side by side.
template <class T, int V>
ZERO_NOINLINE void two_panels(int64_t k, const T* a, const T* b, int64_t b_panel, T* c,
                              const Places& first, const Places& second) {
  using Lanes = typename LanesOf<T>::type;
  constexpr int L = static_cast<int>(kLanes<T>);
  Lanes sums[2][1][V];
  ZERO_UNROLL
  for (int i = 0; i < 2; ++i) {
    ZERO_UNROLL
    for (int v = 0; v < V; ++v) sums[i][0][v] = Lanes{};
  }
  for (int64_t p = 0; p < k; ++p, b += V * L) {
    const T factor = a[p];
    ZERO_UNROLL
    for (int i = 0; i < 2; ++i) {
      ZERO_UNROLL
      for (int v = 0; v < V; ++v) {
        Lanes column;
        copy_bytes(&column, b + i * b_panel + v * L, kVectorBytes);
        sums[i][0][v] += factor * column;
      }
    }
  }
  add_tile<T>(sums[0], c, 0, first);
  add_tile<T>(sums[1], c, 0, second);
}

// c[rows] += a[rows][k] b for the columns of some panels.
template <class T, int groups>
ZERO_NOINLINE void multiply(int64_t begin, int64_t end, int64_t hidden, const int64_t* slots,
                            int64_t rows, int64_t k, const T* a, int64_t a_row, const T* packed,
                            T* c, int64_t c_row) {
  constexpr int V = vectors(groups), R = (kRows < 6 ? 8 : 12) / V;
  constexpr int64_t L = kLanes<T>;
  const int64_t size = k * V * L;  // of a panel
  for (int64_t panel = begin; rows > 0 && panel < end; ++panel) {
    const Places places = places_of<T>(panel, hidden, groups, slots);
    const T* const b = packed + panel * size;
    const bool two = rows == 1 && panel + 1 < end;
    for (int64_t p = 0; p < k; p += kDepth) {
      const int64_t depth = k - p < kDepth ? k - p : kDepth;
      if (two) {
        two_panels<T, V>(depth, a + p, b + p * V * L, size, c, places,
                         places_of<T>(panel + 1, hidden, groups, slots));
        continue;
      }
      for (int64_t i = 0; i < rows;) {
        const int64_t left = rows - i;  // of few, two halves: more sums side by side
        const int64_t now = left <= R ? left : left < 2 * R ? (left + 1) / 2 : R;
        some_rows<T, R, V>(now, depth, a + i * a_row + p, a_row, b + p * V * L, c + i * c_row,
                           c_row, places);
        i += now;
      }
    }
    panel += two;
  }
}

// to[k][V][L], of which this is one vector: column l of b for each of `valid` lanes, else 0.
template <class T>
ZERO_NOINLINE void pack_vector(const T* b, int64_t b_row, int64_t b_column, int64_t k,
                               int64_t valid, T* to, int64_t to_row) {
  constexpr int64_t L = kLanes<T>;
  if (b_column == 1 && valid == L) {
    for (int64_t p = 0; p < k; ++p) copy_bytes(to + p * to_row, b + p * b_row, kVectorBytes);
    return;
  }
  for (int64_t p = 0; p < k; ++p)
    for (int64_t l = 0; l < L; ++l)
      to[p * to_row + l] = l < valid ? b[p * b_row + l * b_column] : T(0);
}

template <class T>
void pack(const RecurrentPackArgs& args) {
  constexpr int64_t L = kLanes<T>;
  const int V = vectors(args.groups);
  const int64_t order[4] = {0, 1, 2, 3};
  for (int64_t panel = args.begin; panel < args.end; ++panel) {
    T* const to = static_cast<T*>(args.packed) + panel * args.k * V * L;
    const Places places = places_of<T>(panel, args.hidden, args.groups, order);
    for (int v = 0; v < V; ++v)
      pack_vector<T>(static_cast<const T*>(args.b) + places.at[v] * args.b_column, args.b_row,
                     args.b_column, args.k, places.valid[v], to + v * L, V * L);
  }
}

// ---- gates --------------------------------------------------------------------------------------

// The units of some panels.
struct Units {
  Units(int64_t panel, int64_t panels_end, int64_t hidden, int64_t size)
      : begin(panel * size < hidden ? panel * size : hidden),
        end(panels_end * size < hidden ? panels_end * size : hidden) {}
  int64_t begin, end;
};

template <class T>
ZERO_INLINE T sigmoid_slope(T y) {
  return y * (T(1) - y);
}
template <class T>
ZERO_INLINE T tanh_slope(T y) {
  return T(1) - y * y;
}

// 1 / (1 + e^-x), 2 ulp; math::sigmoid, which gives symmetric results, takes a fifth longer.
ZERO_INLINE float gate(float x) { return 1.0f / (1.0f + math::exp_normal(-x)); }
ZERO_INLINE double gate(double x) { return math::sigmoid(x); }

// x = f(x + bias)
template <class T>
ZERO_NOINLINE void sigmoids(T* x, const T* bias, int64_t n) {
  ZERO_SIMD
  for (int64_t j = 0; j < n; ++j) x[j] = gate(x[j] + bias[j]);
}
template <class T>
ZERO_NOINLINE void tanhs(const T* x, T* y, int64_t n) {
  ZERO_SIMD
  for (int64_t j = 0; j < n; ++j) y[j] = math::tanh(x[j]);
}

template <class T>
ZERO_NOINLINE void add_bias(T* x, const T* bias, int64_t n) {
  ZERO_SIMD
  for (int64_t j = 0; j < n; ++j) x[j] += bias[j];
}

template <class T>
ZERO_NOINLINE void lstm_row(int64_t begin, int64_t end, int64_t n, const T* bias, T* gates,
                            const T* before, T* c, T* h) {
  T *const i = gates, *const f = gates + n, *const g = gates + 2 * n, *const o = gates + 3 * n;
  const int64_t count = end - begin;
  sigmoids(i + begin, bias + begin, count);
  sigmoids(f + begin, bias + n + begin, count);
  add_bias(g + begin, bias + 2 * n + begin, count);
  tanhs(g + begin, g + begin, count);
  sigmoids(o + begin, bias + 3 * n + begin, count);
  ZERO_SIMD
  for (int64_t j = begin; j < end; ++j) c[j] = f[j] * before[j] + i[j] * g[j];
  tanhs(c + begin, h + begin, count);
  ZERO_SIMD
  for (int64_t j = begin; j < end; ++j) h[j] *= o[j];
}

template <class T>
ZERO_NOINLINE void lstm_row_back(int64_t begin, int64_t end, int64_t n, const T* gates,
                                 const T* before, const T* c, const T* extra, T* dh, T* dc,
                                 T* out) {
  const T *const i = gates, *const f = gates + n, *const g = gates + 2 * n, *const o = g + n;
  tanhs(c + begin, out + 2 * n + begin, end - begin);
  ZERO_SIMD
  for (int64_t j = begin; j < end; ++j) {
    const T gh = dh[j] + extra[j];
    dh[j] = T(0);
    const T t = out[2 * n + j];
    const T through = gh * o[j];
    const T gc = dc[j] + through * tanh_slope(t);
    out[3 * n + j] = gh * t * sigmoid_slope(o[j]);
    out[j] = gc * g[j] * sigmoid_slope(i[j]);
    out[n + j] = gc * before[j] * sigmoid_slope(f[j]);
    out[2 * n + j] = gc * i[j] * tanh_slope(g[j]);
    dc[j] = gc * f[j];
  }
}

template <class T>
ZERO_NOINLINE void gru_row(int64_t begin, int64_t end, int64_t n, const T* bias, T* gates,
                           const T* before, T* h) {
  T *const r = gates, *const z = gates + n, *const m = gates + 2 * n, *const w = gates + 3 * n;
  const int64_t count = end - begin;
  sigmoids(r + begin, bias + begin, count);
  sigmoids(z + begin, bias + n + begin, count);
  const T* const bias_n = bias + 2 * n;
  ZERO_SIMD
  for (int64_t j = begin; j < end; ++j) m[j] = (m[j] + bias_n[j]) + r[j] * w[j];
  tanhs(m + begin, m + begin, count);
  ZERO_SIMD
  for (int64_t j = begin; j < end; ++j) h[j] = m[j] + z[j] * (before[j] - m[j]);
}

template <class T>
ZERO_NOINLINE void gru_row_back(int64_t begin, int64_t end, int64_t n, const T* gates,
                                const T* before, const T* extra, T* dh, T* out) {
  const T *const r = gates, *const z = gates + n, *const m = gates + 2 * n, *const w = m + n;
  ZERO_SIMD
  for (int64_t j = begin; j < end; ++j) {
    const T gh = dh[j] + extra[j];
    const T gn = gh * (T(1) - z[j]) * tanh_slope(m[j]);
    out[j] = gn * w[j] * sigmoid_slope(r[j]);
    out[n + j] = gh * (before[j] - m[j]) * sigmoid_slope(z[j]);
    out[2 * n + j] = gn * r[j];
    out[3 * n + j] = gn;
    dh[j] = gh * z[j];
  }
}

template <class T, RecurrentMode mode>
void plain_row(int64_t begin, int64_t end, const T* bias, T* gates, T* h) {
  add_bias(gates + begin, bias + begin, end - begin);
  if constexpr (mode == RecurrentMode::Tanh) {
    tanhs(gates + begin, gates + begin, end - begin);
  } else {
    ZERO_SIMD
    for (int64_t j = begin; j < end; ++j)
      gates[j] = gates[j] < T(0) ? T(0) : gates[j];  // NaN stays
  }
  copy_bytes(h + begin, gates + begin, (end - begin) * static_cast<int64_t>(sizeof(T)));
}

template <class T, RecurrentMode mode>
ZERO_NOINLINE void plain_row_back(int64_t begin, int64_t end, const T* gates, const T* extra, T* dh,
                                  T* out) {
  ZERO_SIMD
  for (int64_t j = begin; j < end; ++j) {
    const T g = dh[j] + extra[j], y = gates[j];
    out[j] = mode == RecurrentMode::Tanh ? g * tanh_slope(y) : y <= T(0) ? T(0) : g;  // NaN: g
    dh[j] = T(0);
  }
}

// ---- steps --------------------------------------------------------------------------------------

// Which slot each gate of W_hh h goes to.
template <RecurrentMode mode> constexpr int64_t kSlots[4] = {0, 1,
                                                             mode == RecurrentMode::Gru ? 3 : 2, 3};

template <class T, RecurrentMode mode>
void forward(const RecurrentForwardArgs& args) {
  constexpr int groups = static_cast<int>(recurrent_gates(mode));
  constexpr int64_t slots = recurrent_slots(mode);
  const int64_t n = args.hidden, size = recurrent_panel(kVectorBytes, sizeof(T), groups);
  const int64_t row = slots * n;
  const Units all(args.begin, args.end, n, size);
  T* const gates = static_cast<T*>(args.gates);
  const T* const bias = static_cast<const T*>(args.bias);
  if (mode == RecurrentMode::Gru && args.fill) {
    const T* const start = static_cast<const T*>(args.bias_n ? args.bias_n : args.zeros);
    for (int64_t i = 0; i < args.rows; ++i)
      copy_bytes(gates + i * row + 3 * n + all.begin, start + all.begin,
                 (all.end - all.begin) * static_cast<int64_t>(sizeof(T)));
  }
  if (args.packed) {
    const auto product = [&](int64_t first, int64_t rows, const RecurrentRows& h) {
      multiply<T, groups>(args.begin, args.end, n, kSlots<mode>, rows, args.k, row_of<T>(h, first),
                          h.row, static_cast<const T*>(args.packed), gates + first * row, row);
    };
    product(0, args.split, args.h_before);
    if (args.h_start.data) product(args.split, args.rows - args.split, args.h_start);
  }
  const RecurrentRows zeros{args.zeros, 0};
  for (int64_t i = 0; i < args.rows; ++i) {
    const bool goes_on = i < args.split;
    T* const h = static_cast<T*>(args.h) + i * args.h_row;
    if constexpr (mode == RecurrentMode::Lstm) {
      lstm_row<T>(all.begin, all.end, n, bias, gates + i * row,
                  row_of<T>(goes_on ? args.c_before : args.c_start, i),
                  static_cast<T*>(args.c) + i * args.c_row, h);
    } else if constexpr (mode == RecurrentMode::Gru) {
      const RecurrentRows& start = args.h_start.data ? args.h_start : zeros;
      gru_row<T>(all.begin, all.end, n, bias, gates + i * row,
                 row_of<T>(goes_on ? args.h_before : start, i), h);
    } else {
      plain_row<T, mode>(all.begin, all.end, bias, gates + i * row, h);
    }
  }
}

template <class T, RecurrentMode mode>
void backward(const RecurrentBackwardArgs& args) {
  constexpr int64_t slots = recurrent_slots(mode);
  const int64_t n = args.hidden, row = slots * n;
  const Units all(args.begin, args.end, n, recurrent_panel(kVectorBytes, sizeof(T), 1));
  if (args.packed)
    multiply<T, 1>(args.begin, args.end, n, nullptr, args.next_rows, args.k,
                   static_cast<const T*>(args.next), row, static_cast<const T*>(args.packed),
                   static_cast<T*>(args.dh), n);
  for (int64_t i = 0; i < args.rows; ++i) {
    const bool goes_on = i < args.split;
    const T* const gates = static_cast<const T*>(args.gates) + i * row;
    const T* const extra = row_of<T>(args.g, i);
    T* const dh = static_cast<T*>(args.dh) + i * n;
    T* const out = static_cast<T*>(args.out) + i * row;
    if constexpr (mode == RecurrentMode::Lstm) {
      lstm_row_back<T>(all.begin, all.end, n, gates,
                       row_of<T>(goes_on ? args.c_before : args.c_start, i), row_of<T>(args.c, i),
                       extra, dh, static_cast<T*>(args.dc) + i * n, out);
    } else if constexpr (mode == RecurrentMode::Gru) {
      gru_row_back<T>(all.begin, all.end, n, gates,
                      row_of<T>(goes_on ? args.h_before : args.h_start, i), extra, dh, out);
    } else {
      plain_row_back<T, mode>(all.begin, all.end, gates, extra, dh, out);
    }
  }
}

}  // namespace recurrent
}  // namespace

void fill_recurrent(KernelTable& table) {
  using namespace recurrent;
  constexpr auto Tanh = RecurrentMode::Tanh, Relu = RecurrentMode::Relu, Lstm = RecurrentMode::Lstm,
                 Gru = RecurrentMode::Gru;
  static constexpr RecurrentKernels kernels{
      kVectorBytes,
      {pack<float>, pack<double>},
      {{forward<float, Tanh>, forward<double, Tanh>},
       {forward<float, Relu>, forward<double, Relu>},
       {forward<float, Lstm>, forward<double, Lstm>},
       {forward<float, Gru>, forward<double, Gru>}},
      {{backward<float, Tanh>, backward<double, Tanh>},
       {backward<float, Relu>, backward<double, Relu>},
       {backward<float, Lstm>, backward<double, Lstm>},
       {backward<float, Gru>, backward<double, Gru>}},
  };
  table.recurrent = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
