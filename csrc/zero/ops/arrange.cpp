// Elements put elsewhere, or left out, by the shape alone: copies, whose gradients are of the same
// kind and need no saved tensors.
#include <algorithm>
#include <cstring>

#include "zero/autograd/record.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

// Zeros over the other triangle of matrices: of row i it keeps the columns up to i + diagonal, or
// from there on.
void clear_triangle(const Tensor& y, int64_t diagonal, bool lower) {
  const int64_t rows = y.size(y.dim() - 2), columns = y.size(y.dim() - 1),
                item = itemsize(y.dtype());
  if (y.is_meta() || y.numel() == 0) return;
  char* const data = static_cast<char*>(y.data());
  parallel_for(y.numel() / columns, std::max<int64_t>(1, kGrainSize / columns),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const int64_t cut =
                       std::clamp<int64_t>(r % rows + diagonal + (lower ? 1 : 0), 0, columns);
                   char* const row = data + r * columns * item;
                   std::memset(row + (lower ? cut * item : 0), 0,
                               static_cast<size_t>((lower ? columns - cut : cut) * item));
                 }
               });
}

Tensor triangle(const char* op, const char* node, const Tensor& x, int64_t diagonal, bool lower) {
  ZERO_CHECK(x.dim() >= 2, ShapeError, op, ": fewer than two dimensions; got ", x.sizes(),
             ", expected a matrix");
  // Clamped to where a triangle is all or nothing, so that nothing overflows.
  const int64_t k = std::clamp(diagonal, -x.size(x.dim() - 2) - 1, x.size(x.dim() - 1) + 1);
  Tensor y = empty(x.sizes(), x.options());
  if (!y.is_meta()) run_copy(y, x);
  clear_triangle(y, k, lower);
  record(node, {}, y, {&x}, {},
         [op, node, k, lower](Node&, const Tensor& g) { return triangle(op, node, g, k, lower); });
  return y;
}

}  // namespace

Tensor tril(const Tensor& x, int64_t diagonal) {
  return triangle("tril", "TrilBackward0", x, diagonal, true);
}
Tensor triu(const Tensor& x, int64_t diagonal) {
  return triangle("triu", "TriuBackward0", x, diagonal, false);
}

Tensor flip(const Tensor& x, const Dims& dims) {
  Dims wanted;
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim("flip", dim, x.dim());
    ZERO_CHECK(std::find(wanted.begin(), wanted.end(), d) == wanted.end(), ValueError,
               "flip: a dimension is repeated; got ", dims, ", expected each at most once");
    wanted.push_back(d);
  }
  const Tensor y = empty_like(x, x.options());
  run_reversed_copy(y, x, wanted);
  record("FlipBackward0", {}, y, {&x}, {},
         [wanted](Node&, const Tensor& g) { return flip(g, wanted); });
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
