// Elements put elsewhere, or left out, by the shape alone: copies, whose gradients are of the same
// kind and need no saved tensors.
#include <algorithm>
#include <cstring>
#include <limits>

#include "zero/autograd/record.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

// The rows of x that start at offset(r), without what is above or below a diagonal: of row i it
// keeps the columns up to i + diagonal, or from there on. y is x, or of the same sizes.
void keep_triangle(const Tensor& x, const Tensor& y, int64_t diagonal, bool lower) {
  const int64_t last = y.dim() - 1, rows = y.size(last - 1), columns = y.size(last);
  const int64_t item = itemsize(y.dtype()), step = y.stride(last) * item;
  if (y.is_meta() || y.numel() == 0) return;
  const auto offset = [&](const Tensor& t, int64_t row) {
    int64_t at = 0;
    for (int64_t d = last - 1; d >= 0; --d) {
      at += row % t.size(d) * t.stride(d);
      row /= t.size(d);
    }
    return static_cast<char*>(t.data()) + at * item;
  };
  const bool copies = !x.is_same(y);
  parallel_for(y.numel() / columns, std::max<int64_t>(1, kGrainSize / columns),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const int64_t cut =
                       std::clamp<int64_t>(r % rows + diagonal + (lower ? 1 : 0), 0, columns);
                   const int64_t clear = lower ? cut : 0, cleared = lower ? columns - cut : cut;
                   const int64_t keep = lower ? 0 : cut;
                   char* const row = offset(y, r);
                   if (step != item) {
                     for (int64_t i = clear; i < clear + cleared; ++i)
                       std::memset(row + i * step, 0, static_cast<size_t>(item));
                     continue;
                   }
                   std::memset(row + clear * item, 0, static_cast<size_t>(cleared * item));
                   if (copies)
                     std::memcpy(row + keep * item, offset(x, r) + keep * item,
                                 static_cast<size_t>((columns - cleared) * item));
                 }
               });
}

Tensor triangle(const char* op, const char* node, const Tensor& x, int64_t diagonal, bool lower,
                const Target& target) {
  ZERO_CHECK(x.dim() >= 2, ShapeError, op, ": fewer than two dimensions; got ", x.sizes(),
             ", expected a matrix");
  // Clamped to where a triangle is all or nothing, so that nothing overflows.
  const int64_t k = std::clamp(diagonal, -x.size(x.dim() - 2) - 1, x.size(x.dim() - 1) + 1);
  Tensor y = x;
  if (target.fresh()) {
    y = empty(x.sizes(), x.options());
    if (x.stride(x.dim() - 1) == 1 || x.is_meta()) {
      keep_triangle(x, y, k, lower);
    } else {
      run_copy(y, x);
      keep_triangle(y, y, k, lower);
    }
  } else {
    check_inplace(op, x, needs_history({&x}));
    keep_triangle(y, y, k, lower);
  }
  record(node, target, y, {&x}, {}, [op, node, k, lower](Node&, const Tensor& g) {
    return triangle(op, node, g, k, lower, {});
  });
  return y;
}

// y = x, rolled along dims[at..]: what ends in the front and what ends behind it, block by block.
void run_roll(const Tensor& y, const Tensor& x, const Dims& shifts, const Dims& dims, int64_t at) {
  if (x.numel() == 0) return;
  if (at == dims.size()) return run_copy(y, x);
  const int64_t d = dims[at], n = x.size(d), shift = shifts[at];
  const auto part = [&](const Tensor& t, int64_t start, int64_t length) {
    Dims sizes = t.sizes();
    sizes[d] = length;
    return alias("roll", t, sizes, t.strides(), t.storage_offset() + start * t.stride(d));
  };
  run_roll(part(y, 0, shift), part(x, n - shift, shift), shifts, dims, at + 1);
  run_roll(part(y, shift, n - shift), part(x, 0, n - shift), shifts, dims, at + 1);
}

}  // namespace

Tensor tril(const Tensor& x, int64_t diagonal, Target target) {
  return triangle(target.fresh() ? "tril" : "tril_", "TrilBackward0", x, diagonal, true, target);
}
Tensor triu(const Tensor& x, int64_t diagonal, Target target) {
  return triangle(target.fresh() ? "triu" : "triu_", "TriuBackward0", x, diagonal, false, target);
}

Tensor triangle_indices(int64_t rows, int64_t columns, int64_t offset, bool lower) {
  const char* op = lower ? "tril_indices" : "triu_indices";
  ZERO_CHECK(rows >= 0 && columns >= 0, ValueError, op, ": a size is negative; got ", rows, " and ",
             columns, ", expected sizes >= 0");
  checked_numel(op, {rows, columns}, 16);
  const int64_t k = std::clamp(offset, -rows - 1, columns + 1);
  const auto cut = [&](int64_t row) {
    return std::clamp<int64_t>(row + k + (lower ? 1 : 0), 0, columns);
  };
  int64_t n = 0;
  for (int64_t r = 0; r < rows; ++r) n += lower ? cut(r) : columns - cut(r);
  Tensor y = empty({2, n}, {DType::Int64, Device::Cpu});
  int64_t* row = y.data<int64_t>();
  int64_t* column = row + n;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t end = lower ? cut(r) : columns;
    for (int64_t c = lower ? 0 : cut(r); c < end; ++c) {
      *row++ = r;
      *column++ = c;
    }
  }
  return y;
}

Tensor flip(const Tensor& x, const Dims& dims) {
  Dims wanted;
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim("flip", dim, x.dim());
    ZERO_CHECK(std::find(wanted.begin(), wanted.end(), d) == wanted.end(), ValueError,
               "flip: a dimension is repeated; got ", dims, ", expected each at most once");
    wanted.push_back(d);
  }
  Tensor y = empty_like(x, x.options());
  run_reversed_copy(y, x, x.dim() > 0 ? wanted : Dims());
  record("FlipBackward0", {}, y, {&x}, {},
         [wanted](Node&, const Tensor& g) { return flip(g, wanted); });
  return y;
}

Tensor roll(const Tensor& x, const Dims& shifts, const Dims& dims) {
  ZERO_CHECK(!shifts.empty(), ShapeError, "roll: no shifts are given; expected at least one");
  if (dims.empty() && shifts.size() == 1) {  // of all elements as one dimension
    if (x.dim() == 0) return clone(x);
    return unsafe_view(roll(reshape(x, {-1}), shifts, {0}), x.sizes());
  }
  ZERO_CHECK(shifts.size() == dims.size(), ShapeError, "roll: not one shift per dimension; got ",
             shifts, " and ", dims);
  ZERO_CHECK(x.dim() > 0, IndexError, "roll: a 0-d tensor has no dimensions; got ", dims);
  if (dims.size() == 1 && x.numel() == 0) return clone(x);  // PyTorch looks at no dimension then
  // The steps of a repeated dimension add up.
  Dims own, steps, back;
  for (int64_t i = 0; i < dims.size(); ++i) {
    const int64_t d = wrap_dim("roll", dims[i], x.dim()), n = std::max<int64_t>(x.size(d), 1);
    const int64_t step = (shifts[i] % n + n) % n;
    int64_t k = std::find(own.begin(), own.end(), d) - own.begin();
    if (k == own.size()) {
      own.push_back(d);
      steps.push_back(0);
    }
    steps[k] = (steps[k] + step) % n;
  }
  for (int64_t i = 0; i < own.size(); ++i) back.push_back(-steps[i]);
  Tensor y = empty(x.sizes(), x.options());
  if (!y.is_meta()) run_roll(y, x, steps, own, 0);
  record("RollBackward0", {}, y, {&x}, {},
         [back, own](Node&, const Tensor& g) { return roll(g, back, own); });
  return y;
}

Tensor repeat_interleave(const Tensor& counts) {
  const char* op = "repeat_interleave";
  ZERO_CHECK(counts.dim() == 1 && is_integral(counts.dtype()), DTypeError, op,
             ": counts are not a 1-d tensor of integers; got ", counts);
  ZERO_CHECK(!counts.is_meta(), NotImplementedError, op,
             ": the shape of the result depends on values; got counts on meta, expected cpu");
  const Tensor all = contiguous(to(counts, DType::Int64, Device::Cpu, true));
  const int64_t* const count = all.data<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < all.numel(); ++i) {
    ZERO_CHECK(count[i] >= 0, ValueError, op, ": a count is negative; got ", count[i]);
    ZERO_CHECK(count[i] <= std::numeric_limits<int64_t>::max() - total, ValueError, op,
               ": too many copies; the sum of the counts does not fit in 64 bits");
    total += count[i];
  }
  Tensor y = empty({total}, all.options());
  int64_t* out = y.data<int64_t>();
  for (int64_t i = 0; i < all.numel(); ++i) {
    std::fill(out, out + count[i], i);
    out += count[i];
  }
  return y;
}

Tensor diag_embed(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2) {
  ZERO_CHECK(x.dim() > 0, ShapeError, "diag_embed: a 0-d tensor has no diagonal; got ", x,
             ", expected one dimension");
  const int64_t dims = x.dim() + 1;
  const int64_t a = wrap_dim("diag_embed", dim1, dims), b = wrap_dim("diag_embed", dim2, dims);
  ZERO_CHECK(a != b, ShapeError, "diag_embed: one dimension twice; got dim1 ", dim1, " and dim2 ",
             dim2, ", expected two of the result's ", dims);
  const int64_t n = x.size(x.dim() - 1) + std::abs(offset);
  Dims sizes;
  for (int64_t d = 0, next = 0; d < dims; ++d)
    sizes.push_back(d == a || d == b ? n : x.size(next++));
  Tensor y = zeros(sizes, x.options());
  {
    const GradModeGuard no_record(false);
    copy_(diagonal(y, offset, a, b), x);
  }
  record("DiagEmbedBackward0", {}, y, {&x}, {},
         [offset, a, b](Node&, const Tensor& g) { return diagonal(g, offset, a, b); });
  return y;
}

}  // namespace zero
