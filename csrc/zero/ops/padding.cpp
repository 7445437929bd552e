// Padding beside its gradients: that of a constant cuts it off, that of the input's own elements is
// the transposed map (taps.h).
#include <algorithm>

#include "zero/autograd/record.h"
#include "zero/ops/autocast.h"
#include "zero/ops/iterator.h"
#include "zero/ops/ops.h"
#include "zero/ops/refuse.h"
#include "zero/ops/resample.h"
#include "zero/ops/taps.h"

namespace zero {

namespace {

// The part of x that pads leave, or the part of the padded tensor that is of x.
Tensor inner_part(const Tensor& x, const Dims& pads, bool of_result) {
  Dims sizes = x.sizes();
  int64_t offset = x.storage_offset();
  for (int64_t i = 0; i < pads.size() / 2; ++i) {
    const int64_t d = x.dim() - 1 - i, sign = of_result ? 1 : -1;
    const int64_t before = std::max<int64_t>(sign * pads[2 * i], 0);
    const int64_t after = std::max<int64_t>(sign * pads[2 * i + 1], 0);
    offset += before * x.stride(d);
    sizes[d] -= before + after;
  }
  return alias("pad", x, sizes, x.strides(), offset);
}

// At least so much must be left when negative pads are cut off, and in the end.
Dims padded_sizes(const Tensor& x, const Dims& pads, int64_t least_left, int64_t least) {
  if (pads.size() % 2 != 0 || pads.size() / 2 > x.dim())
    refuse<ValueError>("pad", "pad has the wrong length", x, "pad", pads,
                       "two numbers for each of the last dimensions");
  constexpr int64_t limit = int64_t{1} << 61;  // three of them add up
  const auto too_large = [](int64_t n) { return n < -limit || n > limit; };
  Dims sizes = x.sizes();
  for (int64_t i = 0; i < pads.size() / 2; ++i) {
    int64_t& size = sizes[x.dim() - 1 - i];
    if (too_large(size) || too_large(pads[2 * i]) || too_large(pads[2 * i + 1]))
      refuse<ShapeError>("pad", "a size is too large", x, "pad", pads, "numbers below 2^61");
    const int64_t cut = std::min<int64_t>(pads[2 * i], 0) + std::min<int64_t>(pads[2 * i + 1], 0);
    size += pads[2 * i] + pads[2 * i + 1];
    if (size < least || x.size(x.dim() - 1 - i) + cut < least_left)
      refuse<ShapeError>("pad", "nothing is left", x, "pad", pads, "less that is cut off");
  }
  return sizes;
}

// The place in a dimension of size n that element i of the padded one shows: kind 0 reflects, 1
// replicates, 2 is circular.
int64_t source(int kind, int64_t i, int64_t n, int64_t before, int64_t after) {
  if (kind == 2) {  // of what is left when negative pads are cut off
    const int64_t cut = std::max<int64_t>(-before, 0);
    const int64_t left = n - cut - std::max<int64_t>(-after, 0);
    return cut + ((i - std::max<int64_t>(before, 0)) % left + left) % left;
  }
  const int64_t at = i - before;
  if (kind == 1) return std::clamp<int64_t>(at, 0, n - 1);
  return at < 0 ? -at : at >= n ? 2 * (n - 1) - at : at;
}

}  // namespace

Tensor constant_pad(const Tensor& x, const Dims& pads, const Scalar& value) {
  const Dims sizes = padded_sizes(x, pads, 0, 0);
  Tensor y;
  {
    GradModeGuard no_grad(false);
    bool covered = true;  // there is no element of the padding
    for (int64_t p : pads) covered &= p <= 0;
    y = covered ? empty(sizes, x.options()) : full(sizes, value, x.options());
    if (!x.is_meta() && x.numel() > 0 && y.numel() > 0) {
      const Tensor from = inner_part(x, pads, false);
      if (from.numel() > 0) run_copy(inner_part(y, pads, true), from);
    }
  }
  record("ConstantPadNdBackward0", {}, y, {&x}, {}, [pads](Node&, const Tensor& g) {
    Dims opposite = pads;
    for (int64_t& p : opposite) p = -p;
    return constant_pad(g, opposite, Scalar(0));  // a part of g would share its memory
  });
  return y;
}

Tensor pad_by(const std::string& mode, const Tensor& x, const Dims& pads) {
  const int64_t dims = pads.size() / 2;
  if (autocast_on && (mode == "replicate" || (mode == "reflect" && dims < 3)))  // PyTorch's list
    return autocast(CastTo::Float32, pad_by, mode, x, pads);
  ZERO_CHECK(mode == "reflect" || mode == "replicate" || mode == "circular", NotImplementedError,
             "pad: unknown mode; got '", mode,
             "', expected 'constant', 'reflect', 'replicate' or 'circular'");
  if (dims < 1 || dims > 3 || pads.size() % 2 != 0 || (x.dim() != dims + 1 && x.dim() != dims + 2))
    refuse<NotImplementedError>(
        "pad", "only a constant pads other than the last one, two or three dimensions", x, "pad",
        pads, "(C, ...) or (N, C, ...), and two numbers for each dimension behind the channels");
  padded_sizes(x, pads, mode == "circular" ? 1 : 0, 1);
  const int kind = mode == "reflect" ? 0 : mode == "replicate" ? 1 : 2;
  auto taps = std::make_shared<TapMatrices>();
  for (int64_t d = dims - 1; d >= 0; --d) {
    const int64_t n = x.size(x.dim() - 1 - d), before = pads[2 * d], after = pads[2 * d + 1];
    const int64_t most = kind == 0 ? n - 1 : kind == 1 ? std::max(before, after) : n;
    if (n == 0)
      refuse<ShapeError>("pad", "a dimension is empty", x, "pad", pads,
                         "sizes above 0 but for the batch");
    if (before > most || after > most)
      refuse<ShapeError>("pad", "there are not enough elements to pad with", x, "pad", pads,
                         "at most the size in mode 'circular', one less in mode 'reflect'");
    taps->push_back(TapMatrix::moving("pad", n, n + before + after, [&](int64_t i) {
      return source(kind, i, n, before, after);
    }));
  }
  static constexpr const char* kNodes[3][3] = {
      {"ReflectionPad1DBackward0", "ReflectionPad2DBackward0", "ReflectionPad3DBackward0"},
      {"ReplicationPad1DBackward0", "ReplicationPad2DBackward0", "ReplicationPad3DBackward0"},
      {"CircularPad1DBackward0", "CircularPad2DBackward0", "CircularPad3DBackward0"}};
  return map_taps(kNodes[kind][dims - 1], x, taps);
}

}  // namespace zero
