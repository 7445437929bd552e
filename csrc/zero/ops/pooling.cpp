// Pooling beside its gradients. Averages are maps by sparse matrices (taps.h); the gradient of a
// maximum goes to the place that it came from.
#include "zero/ops/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "zero/autograd/record.h"
#include "zero/core/allocator.h"
#include "zero/kernels/pooling.h"
#include "zero/ops/autocast.h"
#include "zero/ops/ops.h"
#include "zero/ops/refuse.h"
#include "zero/ops/taps.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

const char* const kMaxNodes[] = {"MaxPool1DWithIndicesBackward0", "MaxPool2DWithIndicesBackward0",
                                 "MaxPool3DWithIndicesBackward0"};
const char* const kFractionalNodes[] = {"FractionalMaxPool2DBackward0",
                                        "FractionalMaxPool3DBackward0"};
const char* const kAvgNodes[] = {"AvgPool1DBackward0", "AvgPool2DBackward0", "AvgPool3DBackward0"};
const char* const kAdaptiveMaxNodes[] = {"AdaptiveMaxPool1DBackward0", "AdaptiveMaxPool2DBackward0",
                                         "AdaptiveMaxPool3DBackward0"};
const char* const kAdaptiveAvgNodes[] = {"AdaptiveAvgPool1DBackward0", "AdaptiveAvgPool2DBackward0",
                                         "AdaptiveAvgPool3DBackward0"};

// The windows along one dimension: output i takes count[i] elements from first[i] on.
struct Dimension {
  int64_t in, step = 1;
  std::vector<int32_t> first, count;
  std::vector<double> divisor;  // what its count is to an average

  int64_t out() const { return static_cast<int64_t>(first.size()); }
  Windows windows() const {
    Windows w{in, out(), step, first.data(), count.data(), 0, 0, 1};
    // The longest stretch of windows of one length at regular distances, from the longest window.
    const int64_t longest = std::max_element(count.begin(), count.end()) - count.begin();
    int64_t end = longest + 1;
    if (end < w.out) w.inner_step = first[end] - first[longest];
    while (end < w.out && count[end] == count[longest] &&
           first[end] - first[end - 1] == w.inner_step)
      ++end;
    w.inner_begin = longest;
    w.inner_end = end;
    return w;
  }
};
using Dimensions = SmallVector<Dimension, 3>;

void check_input(const char* op, int64_t dims, const Tensor& x, const char* name,
                 const Dims& given) {
  if (x.dtype() == DType::Bool)
    refuse<DTypeError>(op, "not defined for bool", x, name, given, "numbers");
  if (x.dim() != dims + 1 && x.dim() != dims + 2)
    refuse<ShapeError>(op, "wrong number of dimensions", x, name, given,
                       "(C, ...) or (N, C, ...) with the ones that are pooled behind");
  for (int64_t d = x.dim() - dims - 1; d < x.dim(); ++d)
    if (x.size(d) == 0)
      refuse<ShapeError>(op, "a dimension is empty", x, name, given,
                         "sizes above 0 but for the batch");
}

// One number for each dimension, from one for all or as many.
Dims each(const char* op, const char* name, int64_t dims, const Tensor& x, const Dims& given,
          int64_t least) {
  if (given.size() != 1 && given.size() != dims)
    refuse<ValueError>(op, "an option has the wrong length", x, name, given,
                       "an int, or one for each dimension");
  Dims result(dims);
  for (int64_t d = 0; d < dims; ++d) {
    result[d] = given[given.size() == 1 ? 0 : d];
    if (result[d] < least)
      refuse<ValueError>(op, "an option is too small", x, name, given,
                         least == 0 ? "0 or more" : "1 or more");
  }
  return result;
}

Dimensions fixed_windows(const char* op, int64_t dims, const Tensor& x,
                         const WindowOptions& options, bool include_padding) {
  check_input(op, dims, x, "kernel_size", options.kernel);
  const Dims kernel = each(op, "kernel_size", dims, x, options.kernel, 1);
  const Dims stride =
      options.stride.empty() ? kernel : each(op, "stride", dims, x, options.stride, 1);
  const Dims padding = each(op, "padding", dims, x, options.padding, 0);
  const Dims dilation = each(op, "dilation", dims, x, options.dilation, 1);
  Dimensions result;
  for (int64_t d = 0; d < dims; ++d) {
    constexpr int64_t limit = std::numeric_limits<int32_t>::max() / 2;
    const int64_t in = x.size(x.dim() - dims + d), k = kernel[d], p = padding[d];
    const int64_t s = std::min(stride[d], 4 * limit);  // more is beyond all input, too
    if (in > limit || k > limit || dilation[d] > limit / k)
      refuse<NotImplementedError>(op, "a dimension is too long", x, "kernel_size", kernel,
                                  "sizes below 2^30");
    const int64_t extent = (k - 1) * dilation[d] + 1;
    if (p > extent / 2)
      refuse<ValueError>(op, "the padding is more than half of the kernel", x, "padding", padding,
                         "at most half of ((kernel_size - 1) dilation + 1)");
    const int64_t room = in + 2 * p - extent;
    int64_t out = room < 0 ? 0 : (room + (options.ceil_mode ? s - 1 : 0)) / s + 1;
    if (room < 0 && options.ceil_mode && room + s - 1 >= 0) out = 1;
    if (options.ceil_mode && out > 0 && (out - 1) * s >= in + p) --out;  // begins outside
    if (out <= 0)
      refuse<ShapeError>(op, "the kernel is larger than the input", x, "kernel_size", kernel,
                         "a window that fits into the padded input");
    Dimension windows{in, dilation[d], {}, {}, {}};
    for (int64_t i = 0; i < out; ++i) {
      int64_t first = i * s - p, end = first + extent;  // of the last element, plus one
      const int64_t whole = std::min(end, in + p) - first;
      if (first < 0) first += (-first + dilation[d] - 1) / dilation[d] * dilation[d];
      end = std::min(end, in);
      const int64_t count = first < end ? (end - first + dilation[d] - 1) / dilation[d] : 0;
      windows.first.push_back(static_cast<int32_t>(count > 0 ? first : 0));
      windows.count.push_back(static_cast<int32_t>(count));
      windows.divisor.push_back(static_cast<double>(include_padding ? whole : count));
    }
    result.push_back(std::move(windows));
  }
  return result;
}

Dimensions adaptive_windows(const char* op, int64_t dims, const Tensor& x, const Dims& given) {
  if (!is_floating(x.dtype()))
    refuse<DTypeError>(op, "not defined for this dtype", x, "output_size", given,
                       "floating point numbers");
  check_input(op, dims, x, "output_size", given);
  const Dims sizes = each(op, "output_size", dims, x, given, 0);
  Dimensions result;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t in = x.size(x.dim() - dims + d), out = sizes[d];
    if (std::max(in, out) > std::numeric_limits<int32_t>::max() / 2)
      refuse<NotImplementedError>(op, "a dimension is too long", x, "output_size", given,
                                  "sizes below 2^30");
    Dimension windows{in, 1, {}, {}, {}};
    for (int64_t i = 0; i < out; ++i) {
      const int64_t first = i * in / out, end = ((i + 1) * in + out - 1) / out;
      windows.first.push_back(static_cast<int32_t>(first));
      windows.count.push_back(static_cast<int32_t>(end - first));
      windows.divisor.push_back(static_cast<double>(end - first));
    }
    result.push_back(std::move(windows));
  }
  return result;
}

// Windows of one length in each dimension; where they begin is a matter of random samples.
Dimensions fractional_windows(const char* op, int64_t dims, const Tensor& x, const Dims& kernels,
                              const Dims& sizes) {
  if (!is_floating(x.dtype()))
    refuse<DTypeError>(op, "not defined for this dtype", x, "output_size", sizes,
                       "floating point numbers");
  check_input(op, dims, x, "output_size", sizes);
  const Dims kernel = each(op, "kernel_size", dims, x, kernels, 1);
  const Dims out = each(op, "output_size", dims, x, sizes, 1);
  Dimensions result;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t in = x.size(x.dim() - dims + d);
    if (in > std::numeric_limits<int32_t>::max())
      refuse<NotImplementedError>(op, "a dimension is too long", x, "output_size", sizes,
                                  "sizes below 2^31");
    ZERO_CHECK(kernel[d] <= in && out[d] <= in - kernel[d] + 1, ShapeError, op,
               ": the windows don't fit; got ", x, ", kernel_size ", kernel, " and output_size ",
               out, ", expected output_size + kernel_size - 1 <= size in each dimension");
    const auto n = static_cast<size_t>(out[d]);
    const auto length = static_cast<int32_t>(kernel[d]);
    result.push_back({in, 1, std::vector<int32_t>(n), std::vector<int32_t>(n, length), {}});
  }
  return result;
}

// Whether int64 holds their products with a size; NaN are none.
bool all_small(const Tensor& x) {
  const Tensor dense = contiguous(to(x, DType::Float64));
  const double* p = dense.data<double>();
  return std::all_of(p, p + dense.numel(), [](double u) { return std::abs(u) <= 1e9; });
}

// A number for each plane and dimension, [N, C, dims]; drawn if none are given.
Tensor random_samples(const char* op, int64_t dims, const Tensor& x, const Tensor& given) {
  const Dims sizes = {x.dim() == dims + 1 ? 1 : x.size(0), x.size(x.dim() - dims - 1), dims};
  if (!given.defined()) return rand(sizes, x.options());
  ZERO_CHECK(given.dtype() == x.dtype() && given.device() == x.device() && given.dim() == 3 &&
                 given.size(0) >= sizes[0] && given.size(1) == sizes[1] && given.size(2) == dims,
             ShapeError, op, ": the random samples don't fit; got ", given, ", expected ",
             x.dtype(), " ", sizes);
  ZERO_CHECK(given.is_meta() || all_small(given), ValueError, op,
             ": a random sample is out of range; got ", given,
             ", expected numbers such as those "
             "from 0 to 1, at most 1e9 in size");
  return given;
}

Dims result_sizes(const Tensor& x, const Dimensions& windows) {
  Dims sizes = x.sizes();
  for (int64_t d = 0; d < windows.size(); ++d)
    sizes[x.dim() - windows.size() + d] = windows[d].out();
  return sizes;
}

// Whether one window is all there is.
bool covers_all(const Dimensions& windows) {
  for (const Dimension& d : windows)
    if (d.out() != 1 || d.count[0] != d.in || d.divisor[0] != static_cast<double>(d.in))
      return false;
  return true;
}

int64_t elements(const Tensor& x, int64_t dims) {
  int64_t n = 1;
  for (int64_t d = x.dim() - dims; d < x.dim(); ++d) n *= x.size(d);
  return n;
}

// ---- the largest element ------------------------------------------------------------------------

Tensor flat_planes(const Tensor& x, int64_t dims) {
  return reshape(
      x, {x.dim() == dims + 1 ? 1 : x.size(0), x.size(x.dim() - dims - 1), elements(x, dims)});
}

Tensor max_backward(const Tensor& g, const Tensor& index, const Dims& in_sizes, int64_t dims,
                    bool squares) {
  int64_t in = 1;
  for (int64_t d = in_sizes.size() - dims; d < in_sizes.size(); ++d) in *= in_sizes[d];
  const int64_t out = elements(g, dims);
  if (grad_enabled() || g.is_meta()) {
    if (g.is_meta()) return empty(in_sizes, g.options());
    // Empty windows have no place: their gradient goes nowhere.
    const Tensor place = flat_planes(to(index, DType::Int64), dims);
    const Tensor gradient = where(lt(place, Scalar(0)), Scalar(0.0), flat_planes(g, dims));
    const Tensor zero = zeros({place.size(0), place.size(1), in}, g.options());
    return reshape(
        scatter("max_pool", zero, 2, clamp(place, Scalar(0), {}), gradient, Combine::Add),
        in_sizes);
  }
  const DType wide = compute_dtype(g.dtype());
  const Tensor from = contiguous(to(g, wide)), dx = empty(in_sizes, {wide, g.device()});
  if (dx.numel() == 0) return to(dx, g.dtype());
  const UnpoolFn kernel =
      kernels().pooling->max_pool_backward[static_cast<int>(compute_type(wide))];
  const int64_t columns = squares ? g.size(g.dim() - 1) : 0, width = in_sizes[in_sizes.size() - 1];
  const DenormalGuard denormal;
  parallel_for(
      dx.numel() / in, std::max<int64_t>(1, kGrainSize / (in + 4 * out)),
      [&](int64_t begin, int64_t end) {
        kernel({from.data<char>() + begin * out * itemsize(wide),
                index.data<int32_t>() + begin * out, dx.data<char>() + begin * in * itemsize(wide),
                end - begin, out, in, columns, width});
      });
  return to(dx, g.dtype());
}

// The windows of three dimensions; those that are not pooled are of size 1.
struct ThreeWindows {
  explicit ThreeWindows(const Dimensions& dims) {
    const int64_t n = dims.size();
    d = (n > 2 ? dims[n - 3] : one).windows();
    h = (n > 1 ? dims[n - 2] : one).windows();
    w = dims[n - 1].windows();
  }

  const Dimension one{1, 1, {0}, {1}, {}};
  Windows d, h, w;
};

// Whether windows are squares of two rows and columns of an image, side by side from its corner on.
bool are_squares(const Dimensions& dims) {
  if (dims.size() != 2) return false;
  for (const Dimension& d : dims) {
    const Windows w = d.windows();
    if (w.inner_begin != 0 || w.inner_end != w.out || w.inner_step != 2 || w.step != 1 ||
        w.first[0] != 0 || w.count[0] != 2)
      return false;
  }
  return true;
}

// Rows of the result from begin to end.
void pool_rows(const Tensor& x, const ThreeWindows& windows, const Tensor& y, const Tensor& index,
               int64_t begin, int64_t end) {
  const MaxPoolFn kernel = kernels().pooling->max_pool[static_cast<int>(compute_type(x.dtype()))];
  const auto bytes =
      static_cast<size_t>(max_pool_scratch(windows.w.in, windows.w.out, itemsize(x.dtype())));
  void* const scratch = allocate(bytes);
  kernel({x.data(), y.data(), index.defined() ? index.data<int32_t>() : nullptr, begin, end,
          windows.d, windows.h, windows.w, scratch});
  deallocate(scratch, bytes);
}

// Where windows of one length begin, for a number u, in general from 0 to 1: int((i + u) a) -
// int(u a) with a = (in - length) / (out - 1), and the last one at the end.
template <class T>
void place_windows(Dimension& d, T u) {
  const int64_t out = d.out(), last = d.in - d.count[0];
  const T a = out > 1 ? static_cast<T>(last) / static_cast<T>(out - 1) : T(0);
  const int64_t before = static_cast<int64_t>(u * a);
  for (int64_t i = 0; i < out - 1; ++i) {
    const int64_t first = static_cast<int64_t>((static_cast<T>(i) + u) * a) - before;
    d.first[i] = static_cast<int32_t>(std::clamp<int64_t>(first, 0, last));
  }
  d.first[out - 1] = static_cast<int32_t>(last);
}

template <class T>
void place_windows(Dimensions& dims, const T* samples) {
  const int64_t n = dims.size();
  for (int64_t d = 0; d < n; ++d) place_windows(dims[d], samples[n == 2 ? 1 - d : d]);
}

// With samples (of the dtype of x) windows have other places in each plane.
void run_max_pool(const Tensor& x, const Dimensions& dims, const Tensor& y, const Tensor& index,
                  const Tensor& samples) {
  const ThreeWindows windows(dims);
  const Windows &d = windows.d, &h = windows.h, &w = windows.w;
  const int64_t rows = y.numel() / w.out;
  const int64_t taps = int64_t{d.count[d.inner_begin]} * h.count[h.inner_begin];
  const int64_t cost = taps * w.in + int64_t{w.count[w.inner_begin]} * w.out * 2 + 16;
  if (!samples.defined()) {
    parallel_for(rows, std::max<int64_t>(1, 2 * kGrainSize / cost),
                 [&](int64_t begin, int64_t end) { pool_rows(x, windows, y, index, begin, end); });
    return;
  }
  const int64_t rows_of_plane = d.out * h.out, n = dims.size();
  parallel_for(rows / rows_of_plane, std::max<int64_t>(1, 2 * kGrainSize / cost / rows_of_plane),
               [&](int64_t begin, int64_t end) {
                 Dimensions placed = dims;
                 for (int64_t p = begin; p < end; ++p) {
                   if (samples.dtype() == DType::Float64) {
                     place_windows(placed, samples.data<double>() + p * n);
                   } else {
                     place_windows(placed, samples.data<float>() + p * n);
                   }
                   pool_rows(x, ThreeWindows(placed), y, index, p * rows_of_plane,
                             (p + 1) * rows_of_plane);
                 }
               });
}

std::pair<Tensor, Tensor> largest(const char* op, const char* node, const Tensor& x,
                                  const Dimensions& windows, bool indices,
                                  const Tensor& samples = {}) {
  const int64_t dims = windows.size();
  if (elements(x, dims) > std::numeric_limits<int32_t>::max())
    refuse<NotImplementedError>(op, "a plane is too large", x, "strides", x.strides(),
                                "at most 2^31 - 1 elements behind the channels");
  const Dims sizes = result_sizes(x, windows);
  Tensor y, index;
  {
    GradModeGuard no_grad(false);
    const DType wide = is_floating(x.dtype()) ? compute_dtype(x.dtype()) : DType::Int64;
    y = empty(sizes, {x.is_meta() ? x.dtype() : wide, x.device()});
    if (indices || requires_grad(x)) index = empty(sizes, {DType::Int32, x.device()});
    if (y.numel() > 0 && !x.is_meta())
      run_max_pool(contiguous(to(x, wide)), windows, y, index, samples);
    y = to(y, x.dtype());
  }
  record(node, {}, y, {&x}, {&index},
         [in_sizes = x.sizes(), dims, squares = !samples.defined() && are_squares(windows)](
             Node& n, const Tensor& g) {
           return max_backward(g, n.saved(0), in_sizes, dims, squares);
         });
  return {y, indices ? to(index, DType::Int64) : Tensor()};
}

// ---- averages -----------------------------------------------------------------------------------

Tensor average(const char* op, const char* node, const Tensor& x, const Dimensions& windows,
               std::optional<int64_t> given) {
  auto taps = std::make_shared<TapMatrices>();
  bool same = true;
  double divisor = given ? static_cast<double>(*given) : 1;
  for (const Dimension& d : windows) {
    TapMatrix matrix(op, d.in);
    for (int64_t i = 0; i < d.out(); ++i) {
      for (int64_t k = 0; k < d.count[i]; ++k) matrix.add(d.first[i] + k);
      matrix.close();
      same &= d.divisor[i] == d.divisor[0];
    }
    if (!given && d.out() > 0) divisor *= d.divisor[0];
    taps->push_back(std::move(matrix));
  }
  if (given || same) return map_taps(node, x, taps, divisor);
  // A divisor for each window, the product of those of its dimensions.
  const DType wide = is_floating(x.dtype()) ? compute_dtype(x.dtype()) : DType::Int64;
  const Dims sizes = result_sizes(x, windows);
  const Tensor divisors =
      empty(Dims(sizes.end() - windows.size(), sizes.end()), {DType::Float64, Device::Cpu});
  double* at = divisors.data<double>();
  const int64_t total = divisors.numel();
  for (int64_t i = 0; i < total; ++i) {
    at[i] = 1;
    for (int64_t d = windows.size() - 1, rest = i; d >= 0; rest /= windows[d].out(), --d)
      at[i] *= std::max(windows[d].divisor[rest % windows[d].out()], 1.0);
  }
  return map_taps(node, x, taps, 1, to(divisors, wide, x.device()));
}

// One window that is all there is.
Tensor whole_average(const char* node, const Tensor& x, const Dimensions& windows) {
  const int64_t n = elements(x, windows.size());
  const DType wide = compute_dtype(x.dtype());
  Tensor y;
  {
    GradModeGuard no_grad(false);
    y = empty(result_sizes(x, windows), {x.is_meta() ? x.dtype() : wide, x.device()});
    if (!x.is_meta() && y.numel() > 0) {
      const Tensor in = contiguous(to(x, wide));
      const RowSumFn kernel = kernels().pooling->row_sum[static_cast<int>(compute_type(wide))];
      const DenormalGuard denormal;
      parallel_for(y.numel(), std::max<int64_t>(1, kGrainSize / (n + 16)),
                   [&](int64_t begin, int64_t end) {
                     kernel(in.data<char>() + begin * n * itemsize(wide), end - begin, n,
                            y.data<char>() + begin * itemsize(wide));
                   });
      y = to(div(y, Scalar(static_cast<double>(n)), Target::inplace(y)), x.dtype());
    }
  }
  record(node, {}, y, {&x}, {}, [n, sizes = x.sizes()](Node&, const Tensor& g) {
    return expand(div(g, Scalar(static_cast<double>(n))), sizes);
  });
  return y;
}

}  // namespace

std::pair<Tensor, Tensor> max_pool(const char* op, int64_t dims, const Tensor& x,
                                   const WindowOptions& options, bool indices) {
  if (autocast_on && dims == 3 && !indices)
    return autocast(CastTo::Float32, max_pool, op, dims, x, options, indices);
  return largest(op, kMaxNodes[dims - 1], x, fixed_windows(op, dims, x, options, false), indices);
}

Tensor avg_pool(const char* op, int64_t dims, const Tensor& x, const WindowOptions& options,
                bool include_padding, std::optional<int64_t> divisor) {
  if (autocast_on && dims == 3)
    return autocast(CastTo::Float32, avg_pool, op, dims, x, options, include_padding, divisor);
  if (divisor && *divisor == 0)
    refuse<ValueError>(op, "divisor_override is 0", x, "kernel_size", options.kernel,
                       "another number");
  const Dimensions windows = fixed_windows(op, dims, x, options, include_padding);
  if (!divisor && covers_all(windows) && is_floating(x.dtype()))
    return whole_average(kAvgNodes[dims - 1], x, windows);
  return average(op, kAvgNodes[dims - 1], x, windows, divisor);
}

std::pair<Tensor, Tensor> adaptive_max_pool(const char* op, int64_t dims, const Tensor& x,
                                            const Dims& sizes, bool indices) {
  if (autocast_on && dims == 3)
    return autocast(CastTo::Float32, adaptive_max_pool, op, dims, x, sizes, indices);
  const Dimensions windows = adaptive_windows(op, dims, x, sizes);
  if (!covers_all(windows) || x.numel() == 0)
    return largest(op, kAdaptiveMaxNodes[dims - 1], x, windows, indices);
  Dims flat(x.sizes().begin(), x.sizes().end() - dims);
  flat.push_back(-1);
  const std::pair<Tensor, Tensor> best = max(reshape(x, flat), -1, true);
  const Dims result = result_sizes(x, windows);
  return {reshape(best.first, result), indices ? reshape(best.second, result) : Tensor()};
}

Tensor adaptive_avg_pool(const char* op, int64_t dims, const Tensor& x, const Dims& sizes) {
  if (autocast_on && dims == 3)
    return autocast(CastTo::Float32, adaptive_avg_pool, op, dims, x, sizes);
  const Dimensions windows = adaptive_windows(op, dims, x, sizes);
  if (covers_all(windows)) return whole_average(kAdaptiveAvgNodes[dims - 1], x, windows);
  return average(op, kAdaptiveAvgNodes[dims - 1], x, windows, {});
}

std::pair<Tensor, Tensor> fractional_max_pool(const char* op, int64_t dims, const Tensor& x,
                                              const Dims& kernel, const Dims& sizes,
                                              const Tensor& samples, bool indices) {
  if (autocast_on)
    return autocast(CastTo::Float32, fractional_max_pool, op, dims, x, kernel, sizes, samples,
                    indices);
  const Dimensions windows = fractional_windows(op, dims, x, kernel, sizes);
  const Tensor places =
      contiguous(to(random_samples(op, dims, x, samples), compute_dtype(x.dtype())));
  return largest(op, kFractionalNodes[dims - 2], x, windows, indices, places);
}

}  // namespace zero
