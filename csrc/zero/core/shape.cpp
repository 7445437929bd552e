#include "zero/core/shape.h"

#include <limits>

namespace zero {

int64_t checked_numel(const char* op, const Dims& sizes, int64_t itemsize) {
  bool empty = false;
  for (int64_t s : sizes) {
    ZERO_CHECK(s >= 0, ShapeError, op, ": a size is negative; got ", sizes,
               ", expected sizes >= 0");
    empty |= s == 0;
  }
  if (empty) {  // strides are multiplied out all the same
    const double limit = 9e18;
    double stride = 1;
    for (int64_t d = 1; d < sizes.size(); ++d)
      stride *= static_cast<double>(std::max<int64_t>(sizes[d], 1));
    ZERO_CHECK(stride <= limit, ShapeError, op, ": strides do not fit in 64 bits; got ", sizes,
               ", expected smaller sizes beside the 0");
    return 0;
  }
  // Sizes are multiplied in this order everywhere, so that no later product can overflow.
  const int64_t limit = std::numeric_limits<int64_t>::max() / itemsize;
  int64_t n = 1;
  for (int64_t s : sizes) {
    const bool small = (n | s) < (int64_t{1} << 31);  // spares a division
    ZERO_CHECK(small ? n * s <= limit : n <= limit / s, ShapeError, op, ": too many elements; got ",
               sizes, ", expected at most 2**63 - 1 bytes in all");
    n *= s;
  }
  return n;
}

Dims contiguous_strides(const Dims& sizes) {
  Dims strides(sizes.size());
  int64_t step = 1;
  for (int64_t i = sizes.size() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

bool is_contiguous(const Dims& sizes, const Dims& strides) {
  int64_t step = 1;
  for (int64_t i = sizes.size() - 1; i >= 0; --i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (strides[i] != step) return false;
    step *= sizes[i];
  }
  return true;
}

Dims broadcast_shapes(const char* op, const Dims& a, const Dims& b) {
  if (a == b) return a;
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims out = longer;
  const int64_t lead = longer.size() - shorter.size();
  for (int64_t i = 0; i < shorter.size(); ++i) {
    const int64_t l = longer[lead + i], s = shorter[i];
    ZERO_CHECK(l == s || l == 1 || s == 1, ShapeError, op, ": shapes do not broadcast; got ", a,
               " and ", b, ", expected equal sizes or 1 in each trailing dimension");
    if (l == 1) out[lead + i] = s;
  }
  return out;
}

bool expands_to(const Dims& from, const Dims& to) {
  const int64_t lead = to.size() - from.size();
  if (lead < 0) return false;
  for (int64_t i = 0; i < from.size(); ++i)
    if (from[i] != 1 && from[i] != to[lead + i]) return false;
  return true;
}

int64_t wrap_dim(const char* op, int64_t dim, int64_t ndim) {
  const int64_t range = std::max<int64_t>(ndim, 1);
  ZERO_CHECK(dim >= -range && dim < range, IndexError, op, ": dimension out of range; got ", dim,
             ", expected ", -range, " to ", range - 1, " for a tensor of ", ndim, " dimensions");
  return dim < 0 ? dim + range : dim;
}

Dims wrap_dims(const char* op, const Dims& dims, int64_t ndim) {
  Dims out = dims;
  for (int64_t i = 0; i < out.size(); ++i) {
    out[i] = wrap_dim(op, out[i], ndim);
    for (int64_t j = 0; j < i; ++j)
      ZERO_CHECK(out[i] != out[j], ValueError, op, ": a dimension appears twice; got ", dims,
                 ", expected each dimension at most once");
  }
  return out;
}

bool view_strides(const Dims& sizes, const Dims& strides, const Dims& new_sizes, Dims* out) {
  *out = contiguous_strides(new_sizes);
  if (sizes.empty() || numel(sizes) == 0) return true;  // one element or none: any strides will do
  // Walk both shapes from the end; each run of old dimensions without a gap serves a run of new
  // ones.
  int64_t target = new_sizes.size() - 1;
  int64_t base = sizes.empty() ? 1 : strides[sizes.size() - 1];
  int64_t run = 1, filled = 1;
  for (int64_t d = sizes.size() - 1; d >= 0; --d) {
    run *= sizes[d];
    const bool ends = d == 0 || (sizes[d - 1] != 1 && strides[d - 1] != run * base);
    if (!ends) continue;
    while (target >= 0 && (filled < run || new_sizes[target] == 1)) {
      (*out)[target] = filled * base;
      filled *= new_sizes[target--];
    }
    if (filled != run) return false;
    if (d > 0) base = strides[d - 1];
    run = filled = 1;
  }
  return target < 0;
}

}  // namespace zero
