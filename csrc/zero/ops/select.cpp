// Masks, and indices along one dimension: all find places and read or write there (index.h).
#include "zero/autograd/record.h"
#include "zero/ops/autocast.h"
#include "zero/ops/gather.h"
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

// A list of indices along `dim`, as an index for the elements of `sizes`, without a copy.
Tensor rows(const char* op, const Tensor& x, const Dims& sizes, int64_t dim, const Tensor& index) {
  check_devices(op, x, index, "the index");
  check_integers(op, index);
  ZERO_CHECK(index.dim() <= 1, IndexError, op, ": the index is not a list; got shape ",
             index.sizes(), ", expected at most 1 dimension");
  if (x.dim() == 0) {
    ZERO_CHECK(index.numel() <= 1, IndexError, op, ": a 0-d tensor has one element; got ",
               index.numel(), " indices, expected one");
    return index.numel() == 1 ? reshape(index, {}) : index;
  }
  Dims own(sizes.size(), 1), wide = sizes;
  own[dim] = wide[dim] = index.numel();
  return expand(reshape(index, own), wide);
}

// The shape of a tensor with a row per index.
Dims with_rows(const Tensor& x, int64_t dim, const Tensor& index) {
  Dims sizes = x.sizes();
  if (!sizes.empty()) sizes[dim] = index.numel();
  return sizes;
}

// Checks the source of index_add and its like, and gives it the shape of its index.
Tensor checked_rows(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& source) {
  check_devices(op, self, source, "the source");
  check_same_dtype(op, self, source);
  const Dims expected = with_rows(self, dim, index);
  const bool fits = self.dim() == 0 ? source.numel() == index.numel() && source.dim() <= 1
                                    : source.sizes() == expected;
  ZERO_CHECK(fits, ShapeError, op, ": the source does not fit; got ", source.sizes(), ", expected ",
             expected, ": a row per index");
  return self.dim() == 0 && source.dim() > 0 ? reshape(source, {}) : source;
}

// The index of gather and scatter, checked but for its values.
Tensor elements(const char* op, const Tensor& x, int64_t dim, const Tensor& index) {
  check_devices(op, x, index, "the index");
  if (index.numel() == 0 && (index.dim() != x.dim() || index.dtype() == DType::UInt8)) return index;
  check_integers(op, index);
  ZERO_CHECK(std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(x.dim(), 1), ShapeError, op,
             ": the index has another number of dimensions; got ", index.sizes(), ", expected ",
             x.dim(), " as the tensor of shape ", x.sizes(), " has");
  for (int64_t d = 0; index.numel() > 0 && d < x.dim() && d < index.dim(); ++d)
    ZERO_CHECK(d == dim || index.size(d) <= x.size(d), ShapeError, op,
               ": the index is larger than the tensor; got ", index.sizes(),
               ", expected sizes up to those of ", x.sizes(), " but for dimension ", dim);
  return index;
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
  Tensor y = target.fresh() ? empty(sizes, x.options())
                            : target.prepare(op, sizes, x.options(), {&x, &v, &mask});
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
  return read_places("MaskedSelectBackward0", expand(x, sizes), places, outline(x));
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
  const int64_t columns = dims > 0 ? x.size(dims - 1) : 1;
  parallel_for(n, kGrainSize / 8, [&](int64_t begin, int64_t end) {
    // Positions rise, so few of them need a division: the row changes seldom, or by one.
    Dims at(dims);
    int64_t first = -columns;  // the position of the row's first element
    const auto find_row = [&](int64_t position) {
      first = position / columns * columns;
      for (int64_t d = dims - 2, rest = position / columns; d >= 0; --d) {
        at[d] = rest % x.size(d);
        rest /= x.size(d);
      }
    };
    const auto next_row = [&] {
      first += columns;
      for (int64_t d = dims - 2; d >= 0; --d) {
        if (++at[d] < x.size(d)) return;
        at[d] = 0;
      }
    };
    if (dims > 0) find_row(p[begin]);
    for (int64_t i = begin; dims > 0 && i < end; ++i) {
      int64_t column = p[i] - first;
      if (column >= columns) {
        if (column < 2 * columns) {
          next_row();
        } else {
          find_row(p[i]);
        }
        column = p[i] - first;
      }
      for (int64_t d = 0; d < dims - 1; ++d) out[d * n + i] = at[d];
      out[(dims - 1) * n + i] = column;
    }
  });
  return y;
}

Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source, Target target) {
  const char* op = target.fresh() ? "masked_scatter" : "masked_scatter_";
  check_mask(op, x, mask);
  check_devices(op, x, source, "the source");
  check_same_dtype(op, x, source);
  const Dims sizes = broadcast_shapes(op, x.sizes(), mask.sizes());
  ZERO_CHECK(target.fresh() || sizes == x.sizes(), ShapeError, op,
             ": the mask does not broadcast to the tensor; got ", mask.sizes(), ", expected ",
             x.sizes(), " or a shape that broadcasts to it");
  check_overlaps(op, target, {&mask, &source});
  Places places;
  for (int64_t d = 0; d < sizes.size(); ++d) places.dims.push_back(d);
  places.positions = nonzero_positions(op, expand(mask, sizes));
  const int64_t count = places.positions.numel();
  ZERO_CHECK(count <= source.numel(), ShapeError, op, ": the source has too few elements; got ",
             source.numel(), ", expected at least ", count, ", as many as the mask is true");
  const Tensor values = slice(reshape(source, {-1}), 0, 0, count);
  if (!target.fresh())
    return write_places(op, "MaskedScatterBackward0", x, places, values, false, target);
  return write_places(op, "MaskedScatterBackward0", contiguous(expand(x, sizes)), places, values,
                      false, {});
}

// The places of single elements, counted in row-major order.
static Places numbered(const char* op, const Tensor& x, const Tensor& index) {
  check_devices(op, x, index, "the index");
  check_integers(op, index);
  Places places;
  for (int64_t d = 0; d < x.dim(); ++d) places.dims.push_back(d);
  ZERO_CHECK(x.numel() > 0 || index.numel() == 0, IndexError, op,
             ": the tensor has no elements; got ", x.sizes());
  // All of x counts as one dimension.
  const Tensor flat = alias("take", x, {x.numel()}, {0}, x.storage_offset());
  places.positions = checked_index(op, index, flat, 0, true);
  return places;
}

Tensor take(const Tensor& x, const Tensor& index) {
  return read_places("TakeBackward0", x, numbered("take", x, index), outline(x));
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate,
           Target target) {
  const char* op = target.fresh() ? "put" : "put_";
  check_devices(op, self, source, "the source");
  check_same_dtype(op, self, source);
  ZERO_CHECK(source.numel() == index.numel(), ShapeError, op, ": not one value per index; got ",
             source.sizes(), " and ", index.sizes(), ", expected as many elements");
  check_overlaps(op, target, {&index, &source});
  const Places places = numbered(op, self, index);
  return write_places(op, "PutBackward0", self, places, reshape(source, index.sizes()), accumulate,
                      target);
}

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim("index_select", dim, x.dim());
  ZERO_CHECK(x.dim() > 0 || index.numel() == 1, IndexError,
             "index_select: a 0-d tensor has one element; got ", index.numel(),
             " indices, expected one");
  if (x.numel() == 0 && x.dim() > 0) checked_index("index_select", index, x, d, false);
  return gather_along("index_select", "IndexSelectBackward0", x, d,
                      rows("index_select", x, with_rows(x, d, index), d, index));
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha, Target target) {
  const char* op = target.fresh() ? "index_add" : "index_add_";
  const int64_t d = wrap_dim(op, dim, self.dim());
  ZERO_CHECK(!alpha.is_float() || is_floating(self.dtype()), DTypeError, op,
             ": alpha is a float for a tensor of integers; got ", alpha, ", expected an int");
  const Tensor at = rows(op, self, with_rows(self, d, index), d, index);
  check_overlaps(op, target, {&index, &source});
  const Tensor values = checked_rows(op, self, d, index, source);
  return scatter_along(op, "IndexAddBackward0", self, d, at,
                       alpha.to_double() == 1 ? values : mul(values, alpha), Combine::Add, true,
                       target);
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                  Target target) {
  if (autocast_on && target.fresh())
    return autocast(CastTo::Widest, index_copy, self, dim, index, source, target);
  const char* op = target.fresh() ? "index_copy" : "index_copy_";
  const int64_t d = wrap_dim(op, dim, self.dim());
  const Tensor at = rows(op, self, with_rows(self, d, index), d, index);
  check_overlaps(op, target, {&index, &source});
  const Tensor values = checked_rows(op, self, d, index, source);
  return scatter_along(op, "IndexCopyBackward0", self, d, at, values, Combine::Assign, true,
                       target);
}

// A number for all places.
static Tensor one_value(const char* op, const Tensor& self, const Operand& value) {
  if (!value.is_tensor()) return scalar_tensor(value.scalar(), self.options());
  const Tensor& v = value.tensor();
  check_devices(op, self, v, "the value");
  ZERO_CHECK(v.dim() == 0, ShapeError, op, ": the value is not one number; got ", v,
             ", expected a number or a 0-d tensor");
  return to(v, self.dtype(), self.device());
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Operand& value,
                  Target target) {
  const char* op = target.fresh() ? "index_fill" : "index_fill_";
  const int64_t d = wrap_dim(op, dim, self.dim());
  const Tensor at = rows(op, self, with_rows(self, d, index), d, index);
  check_overlaps(op, target, {&index});
  return scatter_along(op, "IndexFillBackward0", self, d, at, one_value(op, self, value),
                       Combine::Assign, true, target, true);
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    Combine combine, bool include_self, Target target) {
  const char* op = target.fresh() ? "index_reduce" : "index_reduce_";
  const int64_t d = wrap_dim(op, dim, self.dim());
  const Tensor at = rows(op, self, with_rows(self, d, index), d, index);
  check_overlaps(op, target, {&index, &source});
  const Tensor values = checked_rows(op, self, d, index, source);
  return scatter_along(op, "IndexReduceBackward0", self, d, at, values, combine, include_self,
                       target);
}

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim("gather", dim, x.dim());
  return gather_along("gather", "GatherBackward0", x, d, elements("gather", x, d, index),
                      outline(x));
}

Tensor scatter(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
               const Operand& values, Combine combine, bool include_self, Target target) {
  const int64_t d = wrap_dim(op, dim, self.dim());
  const Tensor at = elements(op, self, d, index);
  check_overlaps(op, target, {&index, &values.tensor()});
  if (!values.is_tensor())
    return scatter_along(op, "ScatterBackward1", self, d, at,
                         scalar_tensor(values.scalar(), self.options()), combine, include_self,
                         target);
  // Where the index is smaller than the values, their first ones count.
  Tensor part = values.tensor();
  check_devices(op, self, part, "the values");
  check_same_dtype(op, self, part);
  bool fits = part.dim() == index.dim();
  for (int64_t k = 0; fits && k < part.dim(); ++k) fits = index.size(k) <= part.size(k);
  if (!fits && index.numel() == 0) {
    part = scalar_tensor(0, self.options());  // nothing is read
  } else {
    ZERO_CHECK(part.dim() == index.dim(), ShapeError, op,
               ": the values have another number of dimensions than the index; got ", part.sizes(),
               " and ", index.sizes(), ", expected as many");
    ZERO_CHECK(fits, ShapeError, op, ": the index is larger than the values; got ", index.sizes(),
               " for ", part.sizes(), ", expected sizes up to the values'");
    for (int64_t k = 0; k < part.dim(); ++k)
      if (index.size(k) < part.size(k)) part = slice(part, k, 0, index.size(k));
  }
  const char* node = combine == Combine::Assign ? "ScatterBackward0"
                     : combine == Combine::Add  ? "ScatterAddBackward0"
                                                : "ScatterReduceBackward0";
  return scatter_along(op, node, self, d, at, part, combine, include_self, target);
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
  check_devices("take_along_dim", x, indices, "the indices");
  check_integers("take_along_dim", indices);
  // Unlike gather's, these may count from the end.
  const Tensor at = checked_index("take_along_dim", indices, x, d, true);
  return gather(expand(x, wide), d, expand(at, places));
}

}  // namespace zero
