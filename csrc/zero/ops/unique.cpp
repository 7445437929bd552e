// The different elements, or rows, of a tensor, in order.
#include <limits>
#include <numeric>
#include <vector>

#include "zero/autograd/record.h"
#include "zero/ops/order.h"
#include "zero/runtime/blocking.h"

namespace zero {

namespace {

void check_values(const char* op, const Tensor& x) {
  ZERO_CHECK(!x.is_meta(), NotImplementedError, op,
             ": the shape of the result depends on values; got ", x, " on meta, expected cpu");
}

void record_unique(const char* op, const Tensor& values, const Tensor& x) {
  record("UniqueBackward0", {}, values, {&x}, {}, [op](Node&, const Tensor&) -> Tensor {
    fail<NotImplementedError>(op,
                              ": has no gradient; got a tensor that requires it, expected "
                              "detach() before");
  });
}

// What is asked for about runs of equal neighbours in a sorted order: begin(place) starts one, then
// add(i) puts element i of the input into it.
struct Runs {
  Runs(const Dims& inverse_sizes, bool with_inverse, bool with_counts) : counted(with_counts) {
    if (counted) starts.reserve(static_cast<size_t>(numel(inverse_sizes)));
    if (!with_inverse) return;
    inverse = empty(inverse_sizes, {DType::Int64, Device::Cpu});
    ids = inverse.data<int64_t>();
  }
  void begin(int64_t place) {
    ++number;
    if (counted) starts.push_back(place);
  }
  void add(int64_t element) {
    if (ids) ids[element] = number - 1;
  }
  Tensor counts(int64_t n) const {
    if (!counted) return {};
    Tensor y = empty({number}, {DType::Int64, Device::Cpu});
    for (int64_t i = 0; i < number; ++i)
      y.data<int64_t>()[i] = (i + 1 < number ? starts[i + 1] : n) - starts[i];
    return y;
  }
  bool counted;
  int64_t number = 0;
  int64_t* ids = nullptr;
  Tensor inverse;
  std::vector<int64_t> starts;
};

// Of dtypes with one byte there are few elements that differ: they are counted.
template <class T>
Unique unique_bytes(const Tensor& x, bool inverse, bool counts) {
  constexpr int64_t kLow = std::numeric_limits<T>::lowest();
  const int64_t n = x.numel();
  constexpr bool kBool = std::is_same_v<T, bool>;  // any byte but 0 is True
  const auto* const v = x.data<std::conditional_t<kBool, uint8_t, T>>();
  int64_t number[4][256] = {}, ids[256], found = 0, i = 0;
  const auto slot = [](auto value) {
    return kBool ? static_cast<int64_t>(value != 0) : static_cast<int64_t>(value) - kLow;
  };
  for (; i + 4 <= n; i += 4)  // in several tables: equal neighbours would wait for each other
    for (int64_t k = 0; k < 4; ++k) ++number[k][slot(v[i + k])];
  for (; i < n; ++i) ++number[0][slot(v[i])];
  for (int64_t s = 0; s < 256; ++s) {
    for (int64_t k = 1; k < 4; ++k) number[0][s] += number[k][s];
    ids[s] = found;
    found += number[0][s] > 0;
  }
  Unique result;
  result.values = empty({found}, x.options());
  if (counts) result.counts = empty({found}, {DType::Int64, Device::Cpu});
  for (int64_t s = 0; s < 256; ++s) {
    if (number[0][s] == 0) continue;
    result.values.data<T>()[ids[s]] = static_cast<T>(s + kLow);
    if (counts) result.counts.data<int64_t>()[ids[s]] = number[0][s];
  }
  if (inverse) {
    result.inverse = empty(x.sizes(), {DType::Int64, Device::Cpu});
    int64_t* const out = result.inverse.data<int64_t>();
    for (int64_t k = 0; k < n; ++k) out[k] = ids[slot(v[k])];
  }
  return result;
}

// 16-bit floats as they compare.
struct HalfValue {
  uint16_t bits;
  friend bool operator==(HalfValue a, HalfValue b) { return equal(a.bits, b.bits, 0x7c00); }
  static bool equal(uint16_t a, uint16_t b, uint16_t infinity) {
    if ((a & 0x7fff) > infinity) return false;  // NaN
    return a == b || ((a | b) & 0x7fff) == 0;   // zeros of both signs
  }
};
struct BFloat16Value {
  uint16_t bits;
  friend bool operator==(BFloat16Value a, BFloat16Value b) {
    return HalfValue::equal(a.bits, b.bits, 0x7f80);
  }
};
// f(elements)
template <class F>
void with_elements(const Tensor& x, F f) {
  switch (x.dtype()) {
    case DType::Bool: return f(x.data<bool>());
    case DType::UInt8:
    case DType::Int8: return f(x.data<int8_t>());
    case DType::Int16: return f(x.data<int16_t>());
    case DType::Int32: return f(x.data<int32_t>());
    case DType::Int64: return f(x.data<int64_t>());
    case DType::Float16: return f(x.data<HalfValue>());
    case DType::BFloat16: return f(x.data<BFloat16Value>());
    case DType::Float32: return f(x.data<float>());
    case DType::Float64: return f(x.data<double>());
  }
}

// Runs of equal rows: of neighbours, or, sorted in lexicographic order, of all. NaN is the largest
// and differs from itself.
template <class T>
void find_rows(const T* rows, int64_t n, int64_t m, bool sorted, Runs& runs,
               std::vector<int64_t>& firsts) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto less = [](T a, T b) { return a < b || (b != b && a == a); };
  if (sorted)
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return std::lexicographical_compare(rows + a * m, rows + (a + 1) * m, rows + b * m,
                                          rows + (b + 1) * m, less);
    });
  for (int64_t i = 0; i < n; ++i) {
    const T *row = rows + order[i] * m, *before = i ? rows + order[i - 1] * m : row;
    if (i == 0 || !std::equal(row, row + m, before)) {
      runs.begin(i);
      firsts.push_back(order[i]);
    }
    runs.add(order[i]);
  }
}

}  // namespace

Unique unique(const Tensor& x, bool inverse, bool counts) {
  check_values("unique", x);
  const Tensor in = contiguous(detach(x));
  if (x.dtype() == DType::Bool) return unique_bytes<bool>(in, inverse, counts);
  if (x.dtype() == DType::UInt8) return unique_bytes<uint8_t>(in, inverse, counts);
  if (x.dtype() == DType::Int8) return unique_bytes<int8_t>(in, inverse, counts);
  const int64_t n = in.numel();
  const OrderKernel& order = order_kernel(in);
  const int64_t size = order.entry->size;
  ZERO_CHECK(size == sizeof(WideEntry) || n <= int64_t{1} << 32, NotImplementedError,
             "unique: too many elements; got ", x, ", expected up to 2**32 of this dtype");
  Runs runs(x.sizes(), inverse, counts);
  Tensor values;
  if (n == 0) {
    values = empty({0}, x.options());
  } else {
    const BlockingSection section(is_large(in));
    const Scratch scratch(2 * n * size);
    char *const entries = scratch.data(), *const spare = entries + n * size;
    load_entries(in, false, entries);
    char* const sorted = sort_entries(order, entries, spare, n);
    char* const firsts = sorted == entries ? spare : entries;
    const bool has_nan = is_floating(x.dtype());
    const uint64_t nan = nan_key(x.dtype());
    with_entries(*order.entry, sorted, [&]<class Entry>(const Entry* e) {
      Entry* const first = reinterpret_cast<Entry*>(firsts);
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t key = e[i].key();
        if (i == 0 || key != e[i - 1].key() || (has_nan && key == nan)) {
          first[runs.number] = e[i];
          runs.begin(i);
        }
        runs.add(e[i].index());
      }
    });
    values = empty({runs.number}, x.options());
    store_elements(in, false, firsts, runs.number, values.data(), nullptr);
  }
  record_unique("unique", values, x);
  return {std::move(values), std::move(runs.inverse), runs.counts(n)};
}

Unique unique_consecutive(const Tensor& x, bool inverse, bool counts) {
  check_values("unique_consecutive", x);
  const Tensor in = contiguous(detach(x));
  const int64_t n = in.numel();
  Runs runs(x.sizes(), inverse, counts);
  Tensor values;
  with_elements(in, [&]<class T>(T* v) {
    const auto begins = [v](int64_t i) { return i == 0 || !(v[i] == v[i - 1]); };
    int64_t number = 0;
    for (int64_t i = 0; i < n; ++i) number += begins(i);
    values = empty({number}, x.options());
    T* first = values.data<T>();
    for (int64_t i = 0; i < n; ++i)
      if (begins(i)) *first++ = v[i];
    if (!inverse && !counts) return;
    for (int64_t i = 0; i < n; ++i) {
      if (begins(i)) runs.begin(i);
      runs.add(i);
    }
  });
  record_unique("unique_consecutive", values, x);
  return {std::move(values), std::move(runs.inverse), runs.counts(n)};
}

Unique unique_along(const char* op, const Tensor& x, int64_t dim, bool inverse, bool counts,
                    bool sorted) {
  check_values(op, x);
  const int64_t d = wrap_dim(op, dim, x.dim());
  const Tensor in = detach(x.dim() == 0 ? reshape(x, {1}) : x);
  const int64_t n = in.size(d);
  for (int64_t k = 0; k < in.dim(); ++k)
    ZERO_CHECK(n == 0 || in.size(k) > 0, ShapeError, op, ": slices have no elements; got ", x,
               ", expected sizes above 0");
  const DType dtype = is_floating(x.dtype()) ? DType::Float64 : DType::Int64;
  const int64_t m = n == 0 ? 0 : in.numel() / n;
  Dims front{d};
  for (int64_t k = 0; k < in.dim(); ++k)
    if (k != d) front.push_back(k);
  const Tensor rows = contiguous(to(permute(in, front), dtype, Device::Cpu));
  Runs runs({n}, inverse, counts);
  std::vector<int64_t> places;
  {
    const BlockingSection section(is_large(in));
    if (dtype == DType::Float64) {
      find_rows(rows.data<double>(), n, m, sorted, runs, places);
    } else {
      find_rows(rows.data<int64_t>(), n, m, sorted, runs, places);
    }
  }
  Tensor firsts = empty({runs.number}, {DType::Int64, Device::Cpu});
  for (int64_t i = 0; i < runs.number; ++i) firsts.data<int64_t>()[i] = places[i];
  // As PyTorch's, the result has the slices one after the other in memory.
  const Tensor picked = index_select(permute(in, front), 0, firsts);
  Dims sizes(front.size()), strides(front.size());
  for (int64_t k = 0; k < front.size(); ++k) {
    sizes[front[k]] = picked.size(k);
    strides[front[k]] = picked.stride(k);
  }
  Tensor values = alias(op, picked, std::move(sizes), std::move(strides), 0);
  record_unique(op, values, x);
  return {std::move(values), std::move(runs.inverse), runs.counts(n)};
}

}  // namespace zero
