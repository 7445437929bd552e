// Rows of a table, looked up (embedding) or looked up and added up (embedding_bag), beside their
// gradients, which are sums of rows again: see add_rows.
#include "zero/ops/embedding.h"

#include <vector>

#include "zero/autograd/record.h"
#include "zero/kernels/embedding.h"
#include "zero/ops/index.h"
#include "zero/ops/iterator.h"
#include "zero/ops/ops.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

constexpr int64_t kFewColumns = 32;  // of a part; two cache lines

// y[into[i]] += scale[i] x[from[i]], y with so many rows that start as 0. Lists of rows are
// private; an undefined one means row i, a row below 0 takes no part; an undefined scale is 1. The
// gradients are sums of rows in turn.
Tensor add_rows(const Tensor& x, const Tensor& from, const Tensor& into, const Tensor& scale,
                int64_t rows);

// The rows themselves.
Tensor rows_at(const Tensor& x, const Tensor& from) {
  return from.defined() ? add_rows(x, from, {}, {}, from.numel()) : x;
}

// The gradient of the scales.
Tensor row_products(const Tensor& x, const Tensor& from, const Tensor& g, const Tensor& into) {
  return sum(mul(rows_at(x, from), rows_at(g, into)), {1});
}

Tensor add_rows(const Tensor& x, const Tensor& from, const Tensor& into, const Tensor& scale,
                int64_t rows) {
  const int64_t columns = x.size(1);
  const int64_t n = from.defined() ? from.numel() : into.defined() ? into.numel() : x.size(0);
  Tensor y;
  {
    const GradModeGuard no_grad(false);
    const DType wide = compute_dtype(x.dtype());  // sums of many must not be rounded to 16 bits
    y = zeros({rows, columns}, {wide, x.device()});
    if (!y.is_meta() && n > 0 && columns > 0) {
      const Tensor in = contiguous(to(x, wide));
      const Tensor factors = scale.defined() ? contiguous(to(scale, wide)) : scale;
      const auto list = [](const Tensor& t) { return t.defined() ? t.data<int64_t>() : nullptr; };
      const AddRowsFn fn = kernels().embedding->add_rows[static_cast<int>(compute_type(wide))];
      const DenormalGuard denormal;
      // Rows repeat, and each must see what is added in its order: threads share the columns.
      parallel_for(columns, std::max(kFewColumns, kGrainSize / n), [&](int64_t begin, int64_t end) {
        fn({.x = in.data(),
            .from = list(from),
            .into = list(into),
            .scale = factors.defined() ? factors.data() : nullptr,
            .out = y.data(),
            .n = n,
            .columns = columns,
            .begin = begin,
            .end = end});
      });
    }
    y = to(y, x.dtype());
  }
  record("EmbeddingDenseBackwardBackward0", {}, y, {&x, &scale},
         {keep(requires_grad(scale), x), &from, &into, &scale},
         [rows_of_x = x.size(0)](Node& n, const Tensor& g) {
           const Tensor from = n.saved(1), into = n.saved(2);
           Grads grads(2);
           if (n.needs(0)) grads[0] = add_rows(g, into, from, n.saved(3), rows_of_x);
           if (n.needs(1)) grads[1] = row_products(n.saved(0), from, g, into);
           return grads;
         });
  return y;
}

// One over how often each row is named.
Tensor rarities(const Tensor& positions, int64_t rows) {
  std::vector<int64_t> counts(static_cast<size_t>(rows));
  const int64_t n = positions.numel();
  const int64_t* const at = positions.data<int64_t>();
  for (int64_t i = 0; i < n; ++i)
    if (at[i] >= 0) ++counts[static_cast<size_t>(at[i])];
  Tensor scale = empty({n}, {DType::Float64, Device::Cpu});
  for (int64_t i = 0; i < n; ++i)
    scale.data<double>()[i] =
        at[i] < 0 ? 0 : 1 / static_cast<double>(counts[static_cast<size_t>(at[i])]);
  return scale;
}

// The list with -1 in the places of the padding.
Tensor without(const Tensor& positions, int64_t padding) {
  if (padding < 0) return positions;
  Tensor out = empty(positions.sizes(), positions.options());
  const int64_t* const from = positions.data<int64_t>();
  int64_t* const to = out.data<int64_t>();
  for (int64_t i = 0; i < positions.numel(); ++i) to[i] = from[i] == padding ? -1 : from[i];
  return out;
}

void check_table(const char* op, const Tensor& weight, const Tensor& indices) {
  ZERO_CHECK(weight.dim() == 2, ShapeError, op, ": the weight is no table; got ", weight,
             ", expected 2 dimensions");
  ZERO_CHECK(indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32, DTypeError, op,
             ": the indices are not of integers; got ", indices, ", expected int64 or int32");
  check_devices(op, weight, indices, "the indices");
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding, bool by_frequency) {
  check_table("embedding", weight, indices);
  Places places;
  places.dims = {0};
  places.positions = checked_index("embedding", indices, weight, 0, false);
  Tensor y;
  {
    const GradModeGuard no_grad(false);
    y = read_places("EmbeddingBackward0", weight, places);
  }
  record("EmbeddingBackward0", {}, y, {&weight}, {&places.positions},
         [rows = weight.size(0), padding, by_frequency](Node& n, const Tensor& g) {
           const Tensor at = n.saved(0);
           const int64_t columns = g.size(g.dim() - 1);
           const Tensor rows_of_g = reshape(g, {at.numel(), columns});
           if (g.is_meta()) return add_rows(rows_of_g, {}, at, {}, rows);
           const Tensor into = without(at, padding);
           const Tensor scale = by_frequency ? rarities(into, rows) : Tensor();
           return add_rows(rows_of_g, {}, into, scale, rows);
         });
  return y;
}

namespace {

// The bags that a list of indices makes.
struct Bags {
  Tensor from, into;  // row and bag of each index; a row of padding is -1
  Tensor sizes;       // without padding
  int64_t count;
};

Bags divided(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
             bool include_last_offset, int64_t padding) {
  const int64_t n = indices.numel();
  Bags bags{without(checked_index("embedding_bag", indices, weight, 0, false), padding),
            empty({n}, {DType::Int64, Device::Cpu}),
            {},
            offsets.numel() - (include_last_offset ? 1 : 0)};
  const Tensor starts = contiguous(to(offsets, DType::Int64, offsets.device(), true));  // private
  const int64_t* const start = starts.data<int64_t>();
  ZERO_CHECK(offsets.numel() == 0 || start[0] == 0, ValueError,
             "embedding_bag: the first bag does not begin with the first index; got ", start[0],
             ", expected offsets[0] == 0");
  for (int64_t b = 0; b < offsets.numel(); ++b) {
    const int64_t before = b == 0 ? 0 : start[b - 1];
    ZERO_CHECK(start[b] >= before && start[b] <= n, ValueError,
               "embedding_bag: offsets are no places among the indices, in their order; got ",
               start[b], " at position ", b, " after ", before, ", expected up to ", n);
  }
  bags.sizes = empty({bags.count}, {DType::Int64, Device::Cpu});
  const int64_t* const from = bags.from.data<int64_t>();
  int64_t *const into = bags.into.data<int64_t>(), *const sizes = bags.sizes.data<int64_t>();
  for (int64_t i = 0; i < n; ++i) into[i] = -1;  // behind the last offset
  for (int64_t b = 0; b < bags.count; ++b) {
    const int64_t end = b + 1 < offsets.numel() ? start[b + 1] : n;
    sizes[b] = 0;
    for (int64_t i = start[b]; i < end; ++i) {
      into[i] = b;
      sizes[b] += from[i] >= 0;
    }
  }
  return bags;
}

// The row that holds the largest number of each bag and column, the first of several, NaN before
// all numbers; 0 where a bag is empty.
template <class T>
void find_largest(const Tensor& weight, const Bags& bags, const Tensor& out) {
  const T* const x = weight.data<T>();
  const int64_t columns = weight.size(1);
  const int64_t *const from = bags.from.data<int64_t>(), *const into = bags.into.data<int64_t>();
  int64_t* const at = out.data<int64_t>();
  parallel_for(columns, std::max(kFewColumns, kGrainSize / std::max<int64_t>(1, bags.from.numel())),
               [&](int64_t begin, int64_t end) {
                 std::vector<T> best(static_cast<size_t>(end - begin));
                 int64_t bag = -1;
                 for (int64_t i = 0; i < bags.from.numel(); ++i) {
                   if (from[i] < 0 || into[i] < 0) continue;
                   const T* const row = x + from[i] * columns;
                   int64_t* const to = at + into[i] * columns;
                   const bool first = into[i] != bag;
                   bag = into[i];
                   for (int64_t c = begin; c < end; ++c) {
                     T& largest = best[static_cast<size_t>(c - begin)];
                     if (!first && (row[c] <= largest || largest != largest)) continue;
                     largest = row[c];
                     to[c] = from[i];
                   }
                 }
               });
}

Tensor largest(const Tensor& weight, const Bags& bags, Tensor* places) {
  const Tensor in = contiguous(to(detach(weight), compute_dtype(weight.dtype())));
  *places = zeros({bags.count, weight.size(1)}, {DType::Int64, Device::Cpu});
  in.dtype() == DType::Float64 ? find_largest<double>(in, bags, *places)
                               : find_largest<float>(in, bags, *places);
  if (bags.count == 0 || weight.size(0) == 0) {  // all bags are empty
    return mul(zeros({bags.count, weight.size(1)}, weight.options()), sum(weight));
  }
  const Tensor empty_bags = reshape(eq(bags.sizes, 0), {bags.count, 1});
  return masked_fill(gather(weight, 0, *places), empty_bags, 0);
}

}  // namespace

Tensors embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                      bool by_frequency, BagMode mode, const Tensor& scales,
                      bool include_last_offset, int64_t padding) {
  const char* const op = "embedding_bag";
  check_table(op, weight, indices);
  ZERO_CHECK(is_floating(weight.dtype()), DTypeError, op,
             ": the weight is not floating point; got ", weight,
             ", expected a floating point tensor");
  check_table(op, weight, offsets);
  ZERO_CHECK(indices.dim() == 1 && offsets.dim() == 1, ShapeError, op,
             ": not a list of indices and one of offsets; got ", indices.sizes(), " and ",
             offsets.sizes(), ", expected 1 dimension each");
  ZERO_CHECK(!include_last_offset || offsets.numel() > 0, ShapeError, op,
             ": no offsets; got none, expected at least the last one");
  ZERO_CHECK(!by_frequency || mode != BagMode::Max, ValueError, op,
             ": a maximum is not scaled by frequency; got mode 'max' and scale_grad_by_freq=True, "
             "expected mode 'sum' or 'mean'");
  if (scales.defined()) {
    ZERO_CHECK(mode == BagMode::Sum, ValueError, op,
               ": per_sample_weights are for sums; got another mode, expected mode 'sum'");
    ZERO_CHECK(scales.sizes() == indices.sizes(), ShapeError, op,
               ": not one of per_sample_weights for each index; got ", scales.sizes(), " and ",
               indices.sizes(), ", expected the same shape");
    ZERO_CHECK(scales.dtype() == weight.dtype(), DTypeError, op,
               ": the dtypes differ; got per_sample_weights ", scales.dtype(), " and weight ",
               weight.dtype(), ", expected ", weight.dtype());
    check_devices(op, weight, scales, "per_sample_weights");
  }
  const int64_t columns = weight.size(1);
  if (weight.is_meta()) {
    const TensorOptions integers{DType::Int64, Device::Meta};
    const int64_t count = offsets.numel() - (include_last_offset ? 1 : 0);
    const Tensor rows = empty({indices.numel()}, integers);
    return {add_rows(weight, rows, rows, scales, count), rows, empty({count}, integers),
            empty(mode == BagMode::Max ? Dims{count, columns} : Dims{0}, integers)};
  }
  const Bags bags = divided(weight, indices, offsets, include_last_offset, padding);
  Tensors results{Tensor(), bags.into, bags.sizes, empty({0}, {DType::Int64, Device::Cpu})};
  if (mode == BagMode::Max) {
    results[0] = largest(weight, bags, &results[3]);
    return results;
  }
  Tensor y;
  {
    const GradModeGuard no_grad(false);
    y = add_rows(weight, bags.from, bags.into, scales, bags.count);
  }
  record("EmbeddingBagBackward0", {}, y, {&weight, &scales},
         {keep(requires_grad(scales), weight), &bags.from, &bags.into, &scales},
         [rows = weight.size(0), by_frequency](Node& n, const Tensor& g) {
           const Tensor from = n.saved(1), into = n.saved(2);
           Tensor scale = n.saved(3);
           Grads grads(2);
           if (n.needs(1)) grads[1] = row_products(n.saved(0), from, g, into);
           if (n.needs(0)) {
             if (by_frequency) {
               const Tensor rarity = rarities(from, rows);
               scale = scale.defined() ? mul(scale, to(rarity, scale.dtype())) : rarity;
             }
             grads[0] = add_rows(g, into, from, scale, rows);
           }
           return grads;
         });
  if (mode == BagMode::Mean) {
    const Tensor sizes = clamp(to(bags.sizes, y.dtype()), Scalar(1), {});
    y = div(y, reshape(sizes, {bags.count, 1}));
  }
  results[0] = y;
  return results;
}

}  // namespace zero
