// Masks, and indices along one dimension: all find places and read or write there (index.h).
#include "zero/autograd/record.h"
#include "zero/ops/index.h"
#include "zero/ops/iterator.h"

namespace zero {

namespace {

void check_mask(const char* op, const Tensor& x, const Tensor& mask) {
  check_devices(op, x, mask, "the mask");
  ZERO_CHECK(mask.dtype() == DType::Bool, DTypeError, op, ": the mask is not of bools; got ", mask,
             ", expected bool");
}

void check_integers(const char* op, const Tensor& index) {
  ZERO_CHECK(is_integral(index.dtype()) && index.dtype() != DType::UInt8, DTypeError, op,
             ": the index is not of integers; got ", index, ", expected int64 or int32");
}

// Places along one dimension for a list of indices.
Places rows(const char* op, const Tensor& x, int64_t dim, const Tensor& index) {
  check_devices(op, x, index, "the index");
  check_integers(op, index);
  ZERO_CHECK(index.dim() <= 1, IndexError, op, ": the index is not a list; got shape ",
             index.sizes(), ", expected at most 1 dimension");
  const Tensor list = index.dim() == 0 ? reshape(index, {1}) : index;
  return {{dim}, dim, checked_index(op, list, x, dim, false)};
}

// The places of single elements: index[..] along `dim`, its own coordinate along the others.
Places elements(const char* op, const Tensor& x, int64_t dim, const Tensor& index) {
  check_devices(op, x, index, "the index");
  check_integers(op, index);
  Places places;
  for (int64_t d = 0; d < x.dim(); ++d) places.dims.push_back(d);
  if (index.numel() == 0) {
    places.positions = empty(index.sizes(), {DType::Int64, index.device()});
    return places;
  }
  ZERO_CHECK(std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(x.dim(), 1), ShapeError, op,
             ": the index has another number of dimensions; got ", index.sizes(), ", expected ",
             x.dim(), " as the tensor of shape ", x.sizes(), " has");
  for (int64_t d = 0; d < x.dim() && d < index.dim(); ++d)
    ZERO_CHECK(d == dim || index.size(d) <= x.size(d), ShapeError, op,
               ": the index is larger than the tensor; got ", index.sizes(),
               ", expected sizes up to those of ", x.sizes(), " but for dimension ", dim);
  places.positions = checked_index(op, index, x, dim, false);
  if (index.dim() == 0 || x.dim() == 0 || index.is_meta()) return places;
  int64_t* const at = places.positions.data<int64_t>();
  const Dims steps = contiguous_strides(x.sizes());
  const int64_t last = x.dim() - 1, columns = index.size(last);
  for (int64_t d = 0; d < dim; ++d) places.runs *= index.size(d);
  parallel_for(index.numel() / columns, std::max<int64_t>(1, kGrainSize / 4 / columns),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   int64_t base = 0;
                   for (int64_t d = last - 1, rest = row; d >= 0; --d) {
                     if (d != dim) base += rest % index.size(d) * steps[d];
                     rest /= index.size(d);
                   }
                   int64_t* const p = at + row * columns;
                   for (int64_t i = 0; i < columns; ++i)
                     p[i] = base + p[i] * steps[dim] + (dim == last ? 0 : i);
                 }
               });
  return places;
}

}  // namespace

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value, Target target) {
  const char* op = target.fresh() ? "masked_fill" : "masked_fill_";
  check_mask(op, x, mask);
  const Tensor& v = value.tensor();  // undefined for a number
  if (value.is_tensor()) {
    check_devices(op, x, v, "the value");
    ZERO_CHECK(v.dim() == 0, ShapeError, op, ": the value is not one number; got ", v,
               ", expected a 0-d tensor");
  }
  const Dims sizes = broadcast_shapes(op, x.sizes(), mask.sizes());
  ZERO_CHECK(target.fresh() || sizes == x.sizes(), ShapeError, op,
             ": the mask does not broadcast to the tensor; got ", mask.sizes(), ", expected ",
             x.sizes(), " or a shape that broadcasts to it");
  const Operand in = x, where_to = mask;
  Tensor y =
      target.fresh() ? empty(sizes, x.options()) : target.prepare(op, sizes, x.options(), {&x, &v});
  if (!target.fresh()) check_overlap(op, y, mask, Overlap::Partial);
  run_elementwise(ElementwiseOp::Where, x.dtype(), y, {&where_to, &value, &in});
  record(value.is_tensor() ? "MaskedFillBackward1" : "MaskedFillBackward0", target, y, {&x, &v},
         {&mask}, [shape = x.sizes()](Node& n, const Tensor& g) {
           Grads grads(2);
           const Tensor mask = n.saved(0);
           if (n.needs(0)) grads[0] = sum_to(where(mask, 0.0, g), shape);
           if (n.needs(1)) grads[1] = sum(where(mask, g, 0.0));
           return grads;
         });
  return y;
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  check_mask("masked_select", x, mask);
  const Dims sizes = broadcast_shapes("masked_select", x.sizes(), mask.sizes());
  Places places;
  for (int64_t d = 0; d < sizes.size(); ++d) places.dims.push_back(d);
  places.positions = nonzero_positions("masked_select", expand(mask, sizes));
  return read_places("MaskedSelectBackward0", expand(x, sizes), places);
}

Tensors nonzero_as_tuple(const Tensor& x) {
  Tensors columns;
  const Tensor all = nonzero(x.dim() == 0 ? reshape(x, {1}) : x);
  for (int64_t d = 0; d < all.size(1); ++d) columns.push_back(select(all, 1, d));
  return columns;
}

Tensor nonzero(const Tensor& x) {
  const Tensor positions = nonzero_positions("nonzero", x);
  const int64_t n = positions.numel(), dims = x.dim();
  if (dims == 1) return unsafe_view(positions, {n, 1});
  // Column by column, as PyTorch's: each is an index of its own.
  Tensor y = empty_strided({n, dims}, {1, std::max<int64_t>(n, 1)}, positions.options());
  const int64_t* const p = positions.data<int64_t>();
  int64_t* const out = y.data<int64_t>();
  parallel_for(n, kGrainSize / 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t d = dims - 1, rest = p[i]; d >= 0; --d) {
        out[d * n + i] = rest % x.size(d);
        rest /= x.size(d);
      }
  });
  return y;
}

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim("index_select", dim, x.dim());
  if (x.dim() > 0) return read_places("IndexSelectBackward0", x, rows("index_select", x, d, index));
  const Tensor one = reshape(x, {1});
  const Tensor y = read_places("IndexSelectBackward0", one, rows("index_select", one, d, index));
  ZERO_CHECK(y.numel() == 1, IndexError, "index_select: a 0-d tensor has one element; got ",
             y.numel(), " indices, expected one");
  return unsafe_view(y, {});
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha, Target target) {
  const char* op = target.fresh() ? "index_add" : "index_add_";
  const int64_t d = wrap_dim(op, dim, self.dim());
  check_devices(op, self, source, "the source");
  check_same_dtype(op, self, source);
  ZERO_CHECK(self.dim() > 0, ShapeError, op, ": a 0-d tensor has no rows; got ", self,
             ", expected at least 1 dimension");
  ZERO_CHECK(!alpha.is_float() || is_floating(self.dtype()), DTypeError, op,
             ": alpha is a float for a tensor of integers; got ", alpha, ", expected an int");
  const Places places = rows(op, self, d, examined_index(index, self, d));
  const Dims expected = places.selection(self.sizes());
  ZERO_CHECK(source.sizes() == expected, ShapeError, op, ": the source does not fit; got ",
             source.sizes(), ", expected ", expected, ": a row per index");
  check_overlaps(op, target, {&index, &source});
  const bool plain = alpha.to_double() == 1;
  return write_places(op, "IndexAddBackward0", self, places, plain ? source : mul(source, alpha),
                      true, target);
}

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim("gather", dim, x.dim());
  return read_places("GatherBackward0", x, elements("gather", x, d, index));
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Operand& values,
               bool accumulate, Target target) {
  const char* op = accumulate       ? target.fresh() ? "scatter_add" : "scatter_add_"
                   : target.fresh() ? "scatter"
                                    : "scatter_";
  const int64_t d = wrap_dim(op, dim, self.dim());
  const Places places = elements(op, self, d, index);
  check_overlaps(op, target, {&index, &values.tensor()});
  if (!values.is_tensor())
    return write_places(op, "ScatterBackward1", self, places,
                        scalar_tensor(values.scalar(), self.options()), accumulate, target);
  // Where the index is smaller than the values, their first ones count.
  Tensor part = values.tensor();
  check_devices(op, self, part, "the values");
  check_same_dtype(op, self, part);
  if (index.numel() == 0) {
    part = scalar_tensor(0, self.options());
  } else {
    ZERO_CHECK(part.dim() == index.dim(), ShapeError, op,
               ": the values have another number of dimensions than the index; got ", part.sizes(),
               " and ", index.sizes(), ", expected as many");
    for (int64_t k = 0; k < part.dim(); ++k)
      ZERO_CHECK(index.size(k) <= part.size(k), ShapeError, op,
                 ": the index is larger than the values; got ", index.sizes(), " for ",
                 part.sizes(), ", expected sizes up to the values'");
    for (int64_t k = 0; k < part.dim(); ++k)
      if (index.size(k) < part.size(k)) part = slice(part, k, 0, index.size(k));
  }
  return write_places(op, accumulate ? "ScatterAddBackward0" : "ScatterBackward0", self, places,
                      part, accumulate, target);
}

Tensor take_along_dim(const Tensor& x, const Tensor& indices, int64_t dim) {
  const int64_t d = wrap_dim("take_along_dim", dim, x.dim());
  ZERO_CHECK(x.dim() == indices.dim(), ShapeError,
             "take_along_dim: the indices have another number of dimensions; got ", indices.sizes(),
             " for ", x.sizes(), ", expected as many");
  // Both broadcast but for the dimension.
  Dims own = x.sizes(), other = indices.sizes();
  if (x.dim() > 0) own[d] = other[d] = 1;
  Dims wide = broadcast_shapes("take_along_dim", own, other), places = wide;
  if (x.dim() > 0) {
    wide[d] = x.size(d);
    places[d] = indices.size(d);
  }
  return gather(expand(x, wide), d, expand(indices, places));
}

}  // namespace zero
