// Places in sorted values, and counts by value.
#include <algorithm>
#include <cmath>
#include <vector>

#include "zero/autograd/record.h"
#include "zero/kernels/table.h"
#include "zero/ops/ops.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

constexpr int64_t kParts = 16;  // of a count on several threads, at most

// counts[place(i)] += 1 for i in [0, n), where place is not negative; in tables of threads, whose
// sum does not depend on how many there are.
template <class Place>
void count_places(int64_t n, int64_t bins, int64_t* counts, Place place) {
  const int64_t parts =
      std::min({kParts, std::max<int64_t>(1, n / (4 * kGrainSize)), 1 + n / (16 * bins + 1)});
  const BlockingSection section(n >= 4 * kGrainSize);
  Tensor tables = zeros({parts, bins}, {DType::Int64, Device::Cpu});
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      int64_t* const table = tables.data<int64_t>() + part * bins;
      for (int64_t i = n * part / parts; i < n * (part + 1) / parts; ++i) {
        const int64_t at = place(i);
        if (at >= 0) ++table[at];
      }
    }
  });
  for (int64_t bin = 0; bin < bins; ++bin) {
    counts[bin] = 0;
    for (int64_t part = 0; part < parts; ++part)
      counts[bin] += tables.data<int64_t>()[part * bins + bin];
  }
}

void check_counted(int64_t value) {
  ZERO_CHECK(value >= 0, ValueError, "bincount: a value is negative; got ", value,
             ", expected at least 0");
  ZERO_CHECK(value < int64_t{1} << 60, ValueError, "bincount: a value is too large; got ", value,
             ", expected less than 2**60");
}

// One pass: a table grows when a larger number comes. Long lists are counted in parts, unless their
// tables would be longer than they are.
Tensor grown_counts(const Tensor& x, int64_t minlength) {
  const int64_t n = x.numel();
  const int64_t* const v = x.data<int64_t>();
  int64_t parts = std::min(kParts, std::max<int64_t>(1, n / (4 * kGrainSize)));
  if (parts > 1) parts = std::min(parts, 1 + n / 4 / std::max<int64_t>(1, item(max(x)).to_int()));
  const BlockingSection section(n >= 8 * kGrainSize);
  std::vector<Tensor> tables(parts);
  std::vector<int64_t> lengths(parts);
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      Tensor table = zeros({1024}, {DType::Int64, Device::Cpu});
      uint64_t size = 1024;
      int64_t* counts = table.data<int64_t>();
      const int64_t last = n * (part + 1) / parts;
      for (int64_t i = n * part / parts; i < last; ++i) {
        if (static_cast<uint64_t>(v[i]) >= size) [[unlikely]] {
          check_counted(v[i]);
          const Tensor larger = zeros({std::max(v[i] + 1, 2 * table.numel())}, table.options());
          std::copy(counts, counts + size, larger.data<int64_t>());
          table = larger;
          size = static_cast<uint64_t>(table.numel());
          counts = table.data<int64_t>();
        }
        ++counts[v[i]];
      }
      int64_t length = table.numel();
      while (length > 0 && counts[length - 1] == 0) --length;
      lengths[part] = length;
      tables[part] = table;
    }
  });
  const int64_t bins = std::max(minlength, *std::max_element(lengths.begin(), lengths.end()));
  Tensor y = zeros({bins}, {DType::Int64, Device::Cpu});
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t bin = 0; bin < lengths[part]; ++bin)
      y.data<int64_t>()[bin] += tables[part].data<int64_t>()[bin];
  return y;
}

struct Range { double low, high; };

Range range_of(const char* op, const Tensor& x, double low, double high) {
  ZERO_CHECK(!(low > high), ValueError, op, ": min is above max; got ", low, " and ", high,
             ", expected min <= max");
  if (low == high && x.numel() > 0) {
    GradModeGuard no_grad(false);
    low = item(min(x)).to_double();
    high = item(max(x)).to_double();
  }
  ZERO_CHECK(std::isfinite(low) && std::isfinite(high), ValueError, op,
             ": the range is not finite; got ", low, " to ", high, ", expected finite numbers");
  if (low == high) return {low - 1, high + 1};
  return {low, high};
}

// Arithmetic in T, as the boundary between two bins depends on how it rounds.
template <class T>
void count_bins(const Tensor& x, int64_t bins, Range range, int64_t* counts) {
  const T low = static_cast<T>(range.low), high = static_cast<T>(range.high);
  const T width = high - low, number = static_cast<T>(bins);
  const T* v = x.data<T>();
  count_places(x.numel(), bins, counts, [=](int64_t i) {
    if (!(v[i] >= low && v[i] <= high)) return int64_t{-1};
    return std::min(static_cast<int64_t>((v[i] - low) * number / width), bins - 1);
  });
}

// The bin that holds x, if it lies between the outer edges, else -1. The last one has its right
// edge, too.
template <class T>
int64_t bin_of(T x, const T* edges, int64_t bins, bool uniform) {
  if (!(x >= edges[0] && x <= edges[bins])) return -1;
  if (!uniform) {
    const int64_t place = std::upper_bound(edges, edges + bins + 1, x) - edges - 1;
    return std::min(place, bins - 1);
  }
  const T scaled = (x - edges[0]) / (edges[bins] - edges[0]) * static_cast<T>(bins);
  int64_t place = std::min(static_cast<int64_t>(scaled), bins - 1);
  while (place > 0 && x < edges[place]) --place;
  while (place < bins - 1 && x >= edges[place + 1]) ++place;
  return place;
}

template <class T>
void add_points(const Tensor& points, const Tensors& edges, bool uniform, const Tensor& weight,
                int64_t begin, int64_t end, double* counts) {
  const int64_t dims = edges.size();
  const T* const w = weight.defined() ? weight.data<T>() : nullptr;
  for (int64_t i = begin; i < end; ++i) {
    const T* const point = points.data<T>() + i * dims;
    int64_t place = 0;
    for (int64_t d = 0; d < dims && place >= 0; ++d) {
      const int64_t bins = edges[d].numel() - 1;
      const int64_t bin = bin_of(point[d], edges[d].data<T>(), bins, uniform);
      place = bin < 0 ? -1 : place * bins + bin;
    }
    if (place >= 0) counts[place] += w ? static_cast<double>(w[i]) : 1;
  }
}

}  // namespace

Tensor searchsorted(const char* op, const Tensor& sorted, const Tensor& values, bool right,
                    bool int32, const Tensor& sorter) {
  const bool shared = sorted.dim() == 1;
  ZERO_CHECK(sorted.dim() > 0, ShapeError, op, ": the sorted values are one number; got ", sorted,
             ", expected at least 1 dimension");
  const int64_t last = sorted.dim() - 1, n = sorted.size(last);
  if (!shared) {
    bool fits = values.dim() == sorted.dim();
    for (int64_t d = 0; fits && d < last; ++d) fits = values.size(d) == sorted.size(d);
    ZERO_CHECK(fits, ShapeError, op, ": the shapes do not fit; got sorted values ", sorted.sizes(),
               " and values ", values.sizes(),
               ", expected 1-d sorted values, or as many in all dimensions but the last");
  }
  if (sorter.defined()) {
    ZERO_CHECK(sorter.sizes() == sorted.sizes(), ShapeError, op,
               ": the sorter has another shape than the values it sorts; got ", sorter.sizes(),
               ", expected ", sorted.sizes());
    ZERO_CHECK(sorter.dtype() == DType::Int64, DTypeError, op, ": the sorter is not of int64; got ",
               sorter, ", expected int64");
  }
  ZERO_CHECK(!int32 || n < INT32_MAX, ValueError, op, ": places don't fit in int32; got ", n,
             " sorted values, expected less than 2**31");
  Tensor y = empty(values.sizes(), {int32 ? DType::Int32 : DType::Int64, values.device()});
  if (y.is_meta() || y.numel() == 0) return y;
  ZERO_CHECK(!sorted.is_meta() && !(sorter.defined() && sorter.is_meta()), Error, op,
             ": a meta tensor has no values; got ", sorted, " on meta, expected cpu");
  GradModeGuard no_grad(false);
  DType dtype = compute_dtype(result_type(sorted, values));
  if (dtype == DType::Bool) dtype = DType::Int32;
  const Tensor in = contiguous(to(sorted, dtype, Device::Cpu));
  const Tensor v = contiguous(to(values, dtype, Device::Cpu));
  const Tensor places = sorter.defined() ? contiguous(sorter) : Tensor();
  if (places.defined() && places.numel() > 0) {
    const int64_t least = item(min(places)).to_int(), most = item(max(places)).to_int();
    ZERO_CHECK(least >= 0 && most < n, IndexError, op, ": the sorter is out of range; got ", least,
               " to ", most, ", expected 0 to ", n - 1);
  }
  const SearchFn search = kernels().search[static_cast<int>(compute_type(dtype))];
  const int64_t length = shared ? v.numel() : v.size(last), item_size = itemsize(dtype);
  parallel_for(v.numel(), kGrainSize / 16, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t row = shared ? 0 : begin / length;
      const int64_t stop = std::min(end, (row + 1) * length);
      search({in.data<char>() + row * n * item_size,
              places.defined() ? places.data<int64_t>() + row * n : nullptr, n,
              v.data<char>() + begin * item_size, stop - begin, right,
              y.data<char>() + begin * itemsize(y.dtype()), int32});
      begin = stop;
    }
  });
  return y;
}

Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minlength) {
  ZERO_CHECK(x.dim() == 1 && is_integral(x.dtype()), ValueError,
             "bincount: not a list of integers; got ", x, ", expected a 1-d tensor of integers");
  ZERO_CHECK(minlength >= 0, ValueError, "bincount: minlength is negative; got ", minlength,
             ", expected at least 0");
  ZERO_CHECK(!weights.defined() || weights.sizes() == x.sizes(), ShapeError,
             "bincount: not one weight per element; got weights ",
             weights.defined() ? weights.sizes() : Dims(), ", expected ", x.sizes());
  ZERO_CHECK(!x.is_meta(), NotImplementedError,
             "bincount: the shape of the result depends on values; got ", x,
             " on meta, expected cpu");
  const Tensor in = contiguous(to(detach(x), DType::Int64, Device::Cpu));
  const int64_t n = in.numel();
  const int64_t* const v = in.data<int64_t>();
  if (!weights.defined()) return grown_counts(in, minlength);
  GradModeGuard no_grad(false);
  int64_t bins = minlength;
  for (int64_t i = 0; i < n; ++i) {
    check_counted(v[i]);
    bins = std::max(bins, v[i] + 1);
  }
  const Tensor w = contiguous(to(weights, DType::Float64, Device::Cpu));
  Tensor y = zeros({bins}, w.options());
  for (int64_t i = 0; i < n; ++i) y.data<double>()[v[i]] += w.data<double>()[i];
  return to(y, weights.dtype() == DType::Float32 ? DType::Float32 : DType::Float64, Device::Cpu);
}

Tensor bin_counts(const Tensor& points, const Tensors& edges, bool uniform, const Tensor& weight) {
  GradModeGuard no_grad(false);
  const Tensor in = contiguous(points), w = weight.defined() ? contiguous(weight) : weight;
  Dims sizes;
  for (const Tensor& e : edges) sizes.push_back(e.numel() - 1);
  const int64_t n = in.size(0), bins = numel(sizes);
  // Sums of parts that depend on the shape only, added in their order.
  const int64_t parts =
      std::min({kParts, std::max<int64_t>(1, n / kGrainSize), 1 + n / (4 * bins + 1)});
  const BlockingSection section(n >= kGrainSize);
  Tensor tables = zeros({parts, bins}, {DType::Float64, Device::Cpu});
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      double* const table = tables.data<double>() + part * bins;
      const int64_t first = n * part / parts, last = n * (part + 1) / parts;
      if (in.dtype() == DType::Float64) {
        add_points<double>(in, edges, uniform, w, first, last, table);
      } else {
        add_points<float>(in, edges, uniform, w, first, last, table);
      }
    }
  });
  return view(to(sum(tables, {0}), points.dtype(), Device::Cpu), sizes);
}

Tensor histc(const Tensor& x, int64_t bins, double low, double high) {
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, "histc: not of floats; got ", x,
             ", expected a floating point tensor");
  ZERO_CHECK(bins > 0, ValueError, "histc: bins is not positive; got ", bins,
             ", expected at least 1");
  if (x.is_meta()) return empty({bins}, x.options());
  GradModeGuard no_grad(false);
  const Range range = range_of("histc", x, low, high);
  const Tensor in = contiguous(to(x, compute_dtype(x.dtype()), Device::Cpu));
  Tensor counts = empty({bins}, {DType::Int64, Device::Cpu});
  if (in.dtype() == DType::Float64) {
    count_bins<double>(in, bins, range, counts.data<int64_t>());
  } else {
    count_bins<float>(in, bins, range, counts.data<int64_t>());
  }
  return to(counts, x.dtype(), Device::Cpu);
}

}  // namespace zero
