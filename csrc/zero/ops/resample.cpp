// Interpolation between neighbours, as maps by sparse matrices (taps.h), which have the gradients.
//
// Element i of a result lies at scale (i + 1/2) - 1/2 of the input, with scale = in / out, or at
// i (in - 1) / (out - 1) with align_corners.
//   linear: between the two neighbours;
//   cubic:  the four, by the convolution kernel with a = -3/4 (Keys, Cubic convolution
//           interpolation for digital image processing, 1981);
//   with antialias where scale > 1, the filter is stretched by it, so that all elements count
//           (cubic with a = -1/2; Lanczos with three lobes).
#include "zero/ops/resample.h"

#include <algorithm>
#include <cmath>

#include "zero/autograd/record.h"
#include "zero/ops/ops.h"
#include "zero/ops/refuse.h"
#include "zero/ops/taps.h"

namespace zero {

namespace {

double cubic_weight(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((x - 5) * x + 8) * x * a - 4 * a;
  return 0;
}
double smooth_cubic_weight(double x) { return cubic_weight(x, -0.5); }
double linear_weight(double x) { return std::max(1 - std::abs(x), 0.0); }
double lanczos_weight(double x) {
  constexpr double pi = 3.14159265358979323846, lobes = 3;
  if (std::abs(x) >= lobes) return 0;
  if (x == 0) return 1;
  return lobes * std::sin(pi * x) * std::sin(pi * x / lobes) / (pi * pi * x * x);
}

// One dimension; `given` is how many times larger it is meant to be, or 0.
struct Resampling {
  int64_t in, out;
  double given;
  bool align_corners;

  double scale() const {
    if (align_corners)
      return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    return given > 0 ? 1 / given : static_cast<double>(in) / static_cast<double>(out);
  }
  double place(int64_t i) const {
    return align_corners ? scale() * static_cast<double>(i)
                         : scale() * (static_cast<double>(i) + 0.5) - 0.5;
  }
};

// Which element is nearest is a matter of rounding: PyTorch's numbers are of the input's own type.
template <class Real>
TapMatrix nearest(const Resampling& r, double shift) {
  const Real scale = r.given > 0 ? static_cast<Real>(1 / r.given)
                                 : static_cast<Real>(r.in) / static_cast<Real>(r.out);
  return TapMatrix::moving("interpolate", r.in, r.out, [&](int64_t i) {
    const Real at = scale * (static_cast<Real>(i) + static_cast<Real>(shift));
    return std::min(static_cast<int64_t>(at), r.in - 1);
  });
}

TapMatrix linear(const Resampling& r) {
  TapMatrix matrix("interpolate", r.in);
  for (int64_t i = 0; i < r.out; ++i) {
    const double at = std::max(r.place(i), 0.0);
    const int64_t left = std::min(static_cast<int64_t>(at), r.in - 1);
    const double right = std::min(at - static_cast<double>(left), 1.0);
    matrix.add(left, 1 - right);
    matrix.add(std::min(left + 1, r.in - 1), right);
    matrix.close();
  }
  return matrix;
}

TapMatrix cubic(const Resampling& r) {
  TapMatrix matrix("interpolate", r.in);
  for (int64_t i = 0; i < r.out; ++i) {
    const double at = r.place(i), left = std::floor(at);
    for (int64_t k = -1; k < 3; ++k) {
      const int64_t index = static_cast<int64_t>(left) + k;
      matrix.add(std::clamp<int64_t>(index, 0, r.in - 1),
                 cubic_weight(at - left - static_cast<double>(k), -0.75));
    }
    matrix.close();
  }
  return matrix;
}

TapMatrix filtered(const Resampling& r, double radius, double (*filter)(double)) {
  const double scale = r.scale(), stretch = std::max(scale, 1.0), support = radius * stretch;
  TapMatrix matrix("interpolate", r.in);
  std::vector<double> weights;
  for (int64_t i = 0; i < r.out; ++i) {
    const double center = scale * (static_cast<double>(i) + 0.5);
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const int64_t end = std::min(static_cast<int64_t>(center + support + 0.5), r.in);
    weights.clear();
    double total = 0;
    for (int64_t k = first; k < end; ++k) {
      weights.push_back(filter((static_cast<double>(k) - center + 0.5) / stretch));
      total += weights.back();
    }
    for (int64_t k = first; k < end; ++k)
      matrix.add(k, total == 0 ? 0 : weights[static_cast<size_t>(k - first)] / total);
    matrix.close();
  }
  return matrix;
}

TapMatrix matrix_of(const std::string& mode, const Resampling& r, DType dtype) {
  const bool wide = dtype == DType::Float64;
  if (mode == "nearest") return wide ? nearest<double>(r, 0) : nearest<float>(r, 0);
  if (mode == "nearest-exact") return wide ? nearest<double>(r, 0.5) : nearest<float>(r, 0.5);
  if (mode == "linear") return linear(r);
  if (mode == "cubic") return cubic(r);
  if (mode == "linear-antialias") return filtered(r, 1, linear_weight);
  if (mode == "cubic-antialias") return filtered(r, 2, smooth_cubic_weight);
  ZERO_CHECK(mode == "lanczos-antialias", NotImplementedError, "interpolate: unknown mode; got '",
             mode, "', expected a mode of resample()");
  return filtered(r, 3, lanczos_weight);
}

// Where PyTorch goes by the sizes, whatever the scale is: a dimension keeps its size, or rows or
// columns of nearest neighbours double.
bool ignores_scale(const std::string& mode, int64_t dims, int64_t in, int64_t out) {
  if (mode == "nearest") return dims == 2 && (out == in || out == 2 * in);
  return out == in && mode != "nearest-exact" && mode != "cubic";
}

const char* node_name(const std::string& mode, int64_t dims) {
  static constexpr const char* kNearest[] = {
      "UpsampleNearest1DBackward0", "UpsampleNearest2DBackward0", "UpsampleNearest3DBackward0"};
  static constexpr const char* kExact[] = {"UpsampleNearestExact1DBackward0",
                                           "UpsampleNearestExact2DBackward0",
                                           "UpsampleNearestExact3DBackward0"};
  static constexpr const char* kLinear[] = {
      "UpsampleLinear1DBackward0", "UpsampleBilinear2DBackward0", "UpsampleTrilinear3DBackward0"};
  if (mode == "nearest") return kNearest[dims - 1];
  if (mode == "nearest-exact") return kExact[dims - 1];
  if (mode == "linear") return kLinear[dims - 1];
  if (mode == "cubic") return "UpsampleBicubic2DBackward0";
  if (mode == "linear-antialias") return "UpsampleBilinear2DAaBackward0";
  return mode == "cubic-antialias" ? "UpsampleBicubic2DAaBackward0"
                                   : "UpsampleLanczos2DAaBackward0";
}

}  // namespace

Tensor resample(const std::string& mode, const Tensor& x, const Dims& sizes,
                const std::vector<double>& scales, bool align_corners) {
  const int64_t dims = x.dim() - 2;
  if (dims < 1 || dims > 3 || sizes.size() != dims ||
      (!scales.empty() && static_cast<int64_t>(scales.size()) != dims))
    refuse<ShapeError>("interpolate", "the sizes don't fit", x, "sizes", sizes,
                       "a size for each dimension behind (N, C)");
  auto taps = std::make_shared<TapMatrices>();
  for (int64_t d = 0; d < dims; ++d) {
    if (x.size(d + 2) == 0 || sizes[d] <= 0 || x.size(1) == 0)
      refuse<ShapeError>("interpolate", "a size is 0", x, "sizes", sizes,
                         "sizes above 0 but for the batch");
    const int64_t in = x.size(d + 2), out = sizes[d];
    const bool by_sizes = scales.empty() || ignores_scale(mode, dims, in, out);
    const double given = by_sizes ? 0 : scales[static_cast<size_t>(d)];
    taps->push_back(matrix_of(mode, {in, out, given, align_corners}, x.dtype()));
  }
  const bool nearest = mode == "nearest" || mode == "nearest-exact";
  if (is_floating(x.dtype()) || (nearest && x.dtype() == DType::UInt8))
    return map_taps(node_name(mode, dims), x, taps);
  if (x.dtype() != DType::UInt8)
    refuse<DTypeError>("interpolate", "not defined for this dtype", x, "sizes", sizes,
                       "floating point numbers or uint8");
  const Tensor y = map_taps(node_name(mode, dims), to(x, DType::Float32), taps);
  return to(clamp(round(y), Scalar(0), Scalar(255)), DType::UInt8);
}

}  // namespace zero
