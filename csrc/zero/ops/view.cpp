// Views: the same memory under other sizes and strides. Their gradients are views too.
#include <algorithm>
#include <limits>

#include "zero/autograd/arithmetic.h"
#include "zero/autograd/record.h"
#include "zero/ops/ops.h"

namespace zero {

namespace {

template <class F>
Tensor recorded_view(const char* op, const char* node, const Tensor& x, Dims sizes, Dims strides,
                     int64_t offset, F backward) {
  Tensor y = make_view(op, x, std::move(sizes), std::move(strides), offset);
  record(node, {}, y, {&x}, {}, std::move(backward));
  return y;
}

// One size may be -1 and is worked out from the others.
Dims infer_size(const char* op, const Dims& sizes, int64_t numel) {
  Dims out = sizes;
  int64_t unknown = -1, known = 1;
  for (int64_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1) {
      ZERO_CHECK(unknown < 0, ShapeError, op, ": two sizes are -1; got ", sizes,
                 ", expected at most one");
      unknown = d;
      continue;
    }
    ZERO_CHECK(sizes[d] >= 0, ShapeError, op, ": a size is negative; got ", sizes,
               ", expected sizes >= 0 or one -1");
  }
  Dims rest = sizes;
  if (unknown >= 0) rest[unknown] = 1;
  known = checked_numel(op, rest);
  if (unknown >= 0) {
    ZERO_CHECK(known > 0, ShapeError, op, ": -1 is ambiguous beside a size of 0; got ", sizes,
               ", expected all sizes");
    out[unknown] = numel / known;
    known *= out[unknown];
  }
  ZERO_CHECK(known == numel, ShapeError, op, ": the number of elements differs; got shape ", sizes,
             ", expected ", numel, " elements");
  return out;
}

}  // namespace

Tensor as_strided(const Tensor& x, const Dims& sizes, const Dims& strides, int64_t offset) {
  ZERO_CHECK(sizes.size() == strides.size(), ShapeError,
             "as_strided: as many strides as sizes are needed; got ", sizes, " and ", strides);
  checked_numel("as_strided", sizes);
  for (int64_t s : strides)
    ZERO_CHECK(s >= 0, ValueError, "as_strided: negative strides are not supported; got ", strides,
               ", expected >= 0");
  return recorded_view(
      "as_strided", "AsStridedBackward0", x, sizes, strides, offset,
      [base = OutputSpec{x.sizes(), x.dtype(), x.device()}, base_strides = x.strides(), sizes,
       strides, shift = offset - x.storage_offset()](Node&, const Tensor& g) {
        return gradient::as_strided_backward(g, base, base_strides, sizes, strides, shift);
      });
}

Tensor whole_view(const Tensor& x) {
  return recorded_view("index", "AliasBackward0", x, x.sizes(), x.strides(), x.storage_offset(),
                       [](Node&, const Tensor& g) { return g; });
}

Tensor view(const Tensor& x, const Dims& sizes) {
  const Dims wanted = infer_size("view", sizes, x.numel());
  Dims strides;
  ZERO_CHECK(view_strides(x.sizes(), x.strides(), wanted, &strides), ShapeError,
             "view: no view of these strides has that shape; got shape ", wanted, " for sizes ",
             x.sizes(), " and strides ", x.strides(),
             ", expected reshape(), which copies where it must");
  return recorded_view("view", "ViewBackward0", x, wanted, strides, x.storage_offset(),
                       [sizes = x.sizes()](Node&, const Tensor& g) { return reshape(g, sizes); });
}

Tensor reshape(const Tensor& x, const Dims& sizes) {
  const Dims wanted = infer_size("reshape", sizes, x.numel());
  Dims strides;
  if (view_strides(x.sizes(), x.strides(), wanted, &strides)) return view(x, wanted);
  return unsafe_view(contiguous(x), wanted);
}

Tensor unsafe_view(const Tensor& x, const Dims& sizes) {
  const Dims wanted = infer_size("_unsafe_view", sizes, x.numel());
  Dims strides;
  ZERO_CHECK(view_strides(x.sizes(), x.strides(), wanted, &strides), ShapeError,
             "_unsafe_view: no view of these strides has that shape; got shape ", wanted,
             " for sizes ", x.sizes(), " and strides ", x.strides(), ", expected reshape()");
  Tensor y = alias("_unsafe_view", x, wanted, strides, x.storage_offset());
  record("UnsafeViewBackward0", {}, y, {&x}, {},
         [sizes = x.sizes()](Node&, const Tensor& g) { return reshape(g, sizes); });
  return y;
}

Tensor flatten(const Tensor& x, int64_t start_dim, int64_t end_dim) {
  const int64_t start = wrap_dim("flatten", start_dim, x.dim());
  const int64_t end = wrap_dim("flatten", end_dim, x.dim());
  ZERO_CHECK(start <= end, ValueError, "flatten: start_dim comes after end_dim; got ", start_dim,
             " and ", end_dim);
  if (x.dim() == 0) return reshape(x, {1});
  if (start == end) return x;
  Dims sizes;
  int64_t run = 1;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (d >= start && d <= end) run *= x.size(d);
    if (d < start || d > end) sizes.push_back(x.size(d));
    if (d == end) sizes.push_back(run);
  }
  return reshape(x, sizes);
}

Tensor expand(const Tensor& x, const Dims& sizes) {
  const int64_t lead = sizes.size() - x.dim();
  ZERO_CHECK(lead >= 0, ShapeError, "expand: fewer sizes than dimensions; got ", sizes, " for ", x);
  Dims wanted = sizes;
  for (int64_t d = 0; d < sizes.size(); ++d) {
    const int64_t own = d < lead ? 1 : x.size(d - lead);
    if (wanted[d] == -1 && d >= lead) wanted[d] = own;
    ZERO_CHECK(wanted[d] >= 0, ShapeError, "expand: a size is negative; got ", sizes,
               ", expected sizes >= 0, or -1 to keep an existing one");
  }
  ZERO_CHECK(expands_to(x.sizes(), wanted), ShapeError, "expand: shapes do not broadcast; got ",
             x.sizes(), " to ", wanted, ", expected equal sizes where the tensor's is not 1");
  checked_numel("expand", wanted);
  Dims strides(wanted.size());
  for (int64_t d = lead; d < wanted.size(); ++d)
    strides[d] = x.size(d - lead) == 1 && wanted[d] != 1 ? 0 : x.stride(d - lead);
  return recorded_view("expand", "ExpandBackward0", x, wanted, strides, x.storage_offset(),
                       [sizes = x.sizes()](Node&, const Tensor& g) { return sum_to(g, sizes); });
}

Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim("transpose", dim0, x.dim()), b = wrap_dim("transpose", dim1, x.dim());
  Dims sizes = x.sizes(), strides = x.strides();
  if (x.dim() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return recorded_view("transpose", "TransposeBackward0", x, sizes, strides, x.storage_offset(),
                       [a, b](Node&, const Tensor& g) { return transpose(g, a, b); });
}

Tensor permute(const Tensor& x, const Dims& dims) {
  ZERO_CHECK(dims.size() == x.dim(), ShapeError, "permute: not one entry per dimension; got ", dims,
             " for ", x, ", expected ", x.dim(), " entries");
  const Dims order = wrap_dims("permute", dims, x.dim());
  Dims sizes, strides, inverse(x.dim());
  for (int64_t d = 0; d < x.dim(); ++d) {
    sizes.push_back(x.size(order[d]));
    strides.push_back(x.stride(order[d]));
    inverse[order[d]] = d;
  }
  return recorded_view("permute", "PermuteBackward0", x, sizes, strides, x.storage_offset(),
                       [inverse](Node&, const Tensor& g) { return permute(g, inverse); });
}

// Drops the dimensions of size 1 for which drop[d] holds.
static Tensor squeezed(const char* node, const Tensor& x, const SmallVector<bool, 6>& drop) {
  Dims sizes, strides;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (drop[d] && x.size(d) == 1) continue;
    sizes.push_back(x.size(d));
    strides.push_back(x.stride(d));
  }
  return recorded_view("squeeze", node, x, sizes, strides, x.storage_offset(),
                       [sizes = x.sizes()](Node&, const Tensor& g) { return reshape(g, sizes); });
}

Tensor squeeze(const Tensor& x) {
  return squeezed("SqueezeBackward0", x, SmallVector<bool, 6>(x.dim(), true));
}

Tensor squeeze(const Tensor& x, const Dims& dims) {
  SmallVector<bool, 6> drop(x.dim(), false);
  for (int64_t d : wrap_dims("squeeze", dims, x.dim()))
    if (x.dim() > 0) drop[d] = true;
  return squeezed(dims.size() == 1 ? "SqueezeBackward1" : "SqueezeBackward2", x, drop);
}

Tensor unsqueeze(const Tensor& x, int64_t dim) {
  const int64_t d = wrap_dim("unsqueeze", dim, x.dim() + 1);
  Dims sizes = x.sizes(), strides = x.strides();
  strides.insert(d, d < x.dim() ? sizes[d] * strides[d] : 1);
  sizes.insert(d, 1);
  return recorded_view("unsqueeze", "UnsqueezeBackward0", x, sizes, strides, x.storage_offset(),
                       [d](Node&, const Tensor& g) { return squeeze(g, {d}); });
}

Tensor select(const Tensor& x, int64_t dim, int64_t index) {
  ZERO_CHECK(x.dim() > 0, IndexError, "select: a 0-d tensor has no dimension to index; got ", x,
             ", expected item() for its value");
  const int64_t d = wrap_dim("select", dim, x.dim()), n = x.size(d);
  ZERO_CHECK(index >= -n && index < n, IndexError, "index: out of range; got ", index,
             ", expected ", -n, " to ", n - 1, " for dimension ", d, " of size ", n);
  const int64_t at = index < 0 ? index + n : index;
  Dims sizes = x.sizes(), strides = x.strides();
  const int64_t offset = x.storage_offset() + at * strides[d];
  sizes.erase(d);
  strides.erase(d);
  return recorded_view("select", "SelectBackward0", x, sizes, strides, offset,
                       [base = x.sizes(), d, at](Node&, const Tensor& g) {
                         Tensor out = zeros(base, g.options());
                         copy_(select(out, d, at), g);
                         return out;
                       });
}

Tensor slice(const Tensor& x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  ZERO_CHECK(x.dim() > 0, IndexError, "slice: a 0-d tensor has no dimension to slice; got ", x);
  ZERO_CHECK(step > 0, ValueError, "slice: the step is not positive; got ", step,
             ", expected a step >= 1");
  const int64_t d = wrap_dim("slice", dim, x.dim()), n = x.size(d);
  auto limit = [n](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  const int64_t first = limit(start), last = std::max(first, limit(end));
  Dims sizes = x.sizes(), strides = x.strides();
  const int64_t offset = x.storage_offset() + first * strides[d];
  sizes[d] = (last - first) / step + ((last - first) % step != 0);
  // One element keeps its stride where the product would overflow: it is never stepped over.
  if (step <= std::numeric_limits<int64_t>::max() / std::max<int64_t>(strides[d], 1))
    strides[d] *= step;
  return recorded_view("slice", "SliceBackward0", x, sizes, strides, offset,
                       [base = x.sizes(), d, first, last, step](Node&, const Tensor& g) {
                         Tensor out = zeros(base, g.options());
                         copy_(slice(out, d, first, last, step), g);
                         return out;
                       });
}

Tensor diagonal(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2) {
  ZERO_CHECK(x.dim() >= 2, ShapeError, "diagonal: fewer than two dimensions; got ", x.sizes(),
             ", expected at least two");
  const int64_t a = wrap_dim("diagonal", dim1, x.dim()), b = wrap_dim("diagonal", dim2, x.dim());
  ZERO_CHECK(a != b, ShapeError, "diagonal: one dimension twice; got dim1 ", dim1, " and dim2 ",
             dim2, ", expected two dimensions of ", x.sizes());
  const int64_t rows = x.size(a), columns = x.size(b);
  // Clamped to where the diagonal is empty, so that nothing overflows.
  const int64_t k = std::clamp(offset, -rows, columns);
  const int64_t n =
      std::max<int64_t>(0, k >= 0 ? std::min(rows, columns - k) : std::min(rows + k, columns));
  Dims sizes, strides;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (d == a || d == b) continue;
    sizes.push_back(x.size(d));
    strides.push_back(x.stride(d));
  }
  sizes.push_back(n);
  strides.push_back(x.stride(a) + x.stride(b));
  const int64_t first = n == 0 ? 0 : k >= 0 ? k * x.stride(b) : -k * x.stride(a);
  return recorded_view("diagonal", "DiagonalBackward0", x, sizes, strides,
                       x.storage_offset() + first,
                       [base = x.sizes(), k, a, b](Node&, const Tensor& g) {
                         Tensor out = zeros(base, g.options());
                         copy_(diagonal(out, k, a, b), g);
                         return out;
                       });
}

Tensors split(const Tensor& x, const Dims& lengths, int64_t dim) {
  ZERO_CHECK(x.dim() > 0, ShapeError, "split: a 0-d tensor has no dimension to split; got ", x);
  const int64_t d = wrap_dim("split", dim, x.dim());
  int64_t rest = x.size(d);
  bool fits = true;
  for (int64_t n : lengths) {
    fits = fits && n >= 0 && n <= rest;
    if (fits) rest -= n;
  }
  ZERO_CHECK(fits && rest == 0, ShapeError, "split: the sizes don't add up; got ", lengths,
             ", expected sizes >= 0 whose sum is ", x.size(d), ", that of dimension ", d);
  Tensors parts;
  int64_t at = 0;
  for (int64_t n : lengths) {
    Dims sizes = x.sizes();
    sizes[d] = n;
    parts.push_back(make_view("split", x, sizes, x.strides(),
                              x.storage_offset() + (n == 0 ? 0 : at * x.stride(d)),
                              ViewOrigin::MultiOutput));
    at += n;
  }
  record("SplitBackward0", parts, {x}, {},
         [d, lengths, sizes = x.sizes(), options = x.options()](Node&, Grads& grads) {
           for (int64_t i = 0; i < grads.size(); ++i) {
             if (grads[i].defined()) continue;
             Dims part = sizes;
             part[d] = lengths[i];
             grads[i] = zeros(part, options);
           }
           return Grads{cat(grads, d)};
         });
  return parts;
}

Tensors unbind(const Tensor& x, int64_t dim) {
  ZERO_CHECK(x.dim() > 0, IndexError, "unbind: a 0-d tensor has no dimension to iterate over; got ",
             x);
  const int64_t d = wrap_dim("unbind", dim, x.dim());
  Dims sizes = x.sizes(), strides = x.strides();
  sizes.erase(d);
  strides.erase(d);
  Tensors parts;
  for (int64_t i = 0; i < x.size(d); ++i)
    parts.push_back(make_view("unbind", x, sizes, strides, x.storage_offset() + i * x.stride(d),
                              ViewOrigin::MultiOutput));
  record("UnbindBackward0", parts, {x}, {}, [d, sizes, options = x.options()](Node&, Grads& grads) {
    for (Tensor& g : grads)
      if (!g.defined()) g = zeros(sizes, options);
    return Grads{stack(grads, d)};
  });
  return parts;
}

}  // namespace zero
