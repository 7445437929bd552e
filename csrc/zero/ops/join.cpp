// Joining tensors. The gradient of each part is a view of the whole's.
#include <cstring>

#include "zero/autograd/record.h"
#include "zero/ops/autocast.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

// What the parts have in common; raises where they differ.
TensorOptions common_options(const char* op, const Tensors& tensors) {
  ZERO_CHECK(!tensors.empty(), ValueError, op,
             ": no tensors; got an empty list, expected at least one tensor");
  TensorOptions options = tensors[0].options();
  for (int64_t i = 1; i < tensors.size(); ++i) {
    ZERO_CHECK(tensors[i].device() == options.device, Error, op,
               ": tensors are on two devices; got ", options.device, " at position 0 and ",
               tensors[i].device(), " at position ", i, ", expected one device");
    options.dtype = promote(options.dtype, tensors[i].dtype());
  }
  return options;
}

// Writes `part` into out[..., start : start + part.size(dim), ...].
void place(const Tensor& out, const Tensor& part, int64_t dim, int64_t start) {
  if (out.is_meta() || part.numel() == 0) return;
  const int64_t item = itemsize(out.dtype());
  if (dim == 0 && part.dtype() == out.dtype() && part.is_contiguous() &&
      part.numel() <= kGrainSize) {
    std::memcpy(static_cast<char*>(out.data()) + start * out.stride(0) * item, part.data(),
                static_cast<size_t>(part.numel() * item));
    return;
  }
  run_copy(alias("cat", out, part.sizes(), out.strides(),
                 out.storage_offset() + start * out.stride(dim)),
           part);
}

}  // namespace

Tensor cat(const Tensors& tensors, int64_t dim) {
  if (autocast_on) return autocast(CastTo::Widest, cat, tensors, dim);
  const TensorOptions options = common_options("cat", tensors);
  // A 1-d tensor without elements joins anything: PyTorch's legacy of when all empty tensors were
  // such.
  auto skipped = [](const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; };
  int64_t first = 0;
  while (first + 1 < tensors.size() && skipped(tensors[first])) ++first;
  const Tensor& model = tensors[first];
  for (int64_t i = 0; i < tensors.size(); ++i)
    ZERO_CHECK(tensors[i].dim() > 0, ShapeError, "cat: a 0-d tensor cannot be joined; got ",
               tensors[i].sizes(), " at position ", i,
               ", expected at least one dimension; stack() joins numbers");
  // Where nothing is left to join, PyTorch takes any dimension.
  const int64_t d = skipped(model) ? 0 : wrap_dim("cat", dim, model.dim());
  Dims sizes = model.sizes(), lengths;
  sizes[d] = 0;
  for (int64_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (skipped(t)) {
      lengths.push_back(-1);
      continue;
    }
    bool fits = t.dim() == model.dim();
    for (int64_t k = 0; fits && k < t.dim(); ++k) fits = k == d || t.size(k) == model.size(k);
    ZERO_CHECK(fits, ShapeError, "cat: sizes differ outside dimension ", d, "; got ", t.sizes(),
               " at position ", i, ", expected ", model.sizes(), " as at position ", first,
               " but for dimension ", d);
    lengths.push_back(t.size(d));
    sizes[d] += t.size(d);
  }
  Tensor y = empty(sizes, options);
  int64_t start = 0;
  for (int64_t i = 0; i < tensors.size(); ++i) {
    if (lengths[i] < 0) continue;
    place(y, tensors[i], d, start);
    start += lengths[i];
  }
  record("CatBackward0", Tensors{y}, tensors, {}, [d, lengths](Node& n, const Tensor& g) {
    Grads grads(lengths.size());
    int64_t at = 0;
    for (int64_t i = 0; i < lengths.size(); ++i) {
      const bool needed = n.needs(static_cast<int>(i));
      if (lengths[i] < 0) {
        if (needed) grads[i] = zeros({0}, g.options());
        continue;
      }
      if (needed) grads[i] = slice(g, d, at, at + lengths[i]);
      at += lengths[i];
    }
    return grads;
  });
  return y;
}

Tensor stack(const Tensors& tensors, int64_t dim) {
  if (autocast_on) return autocast(CastTo::Widest, stack, tensors, dim);
  const TensorOptions options = common_options("stack", tensors);
  const Tensor& model = tensors[0];
  for (int64_t i = 1; i < tensors.size(); ++i)
    ZERO_CHECK(tensors[i].sizes() == model.sizes(), ShapeError, "stack: sizes differ; got ",
               tensors[i].sizes(), " at position ", i, ", expected ", model.sizes(),
               " as at position 0");
  const int64_t d = wrap_dim("stack", dim, model.dim() + 1);
  Dims sizes = model.sizes();
  sizes.insert(d, tensors.size());
  Tensor y = empty(sizes, options);
  Dims strides = y.strides();
  strides.erase(d);
  const int64_t item = itemsize(options.dtype);
  for (int64_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (y.is_meta() || t.numel() == 0) continue;
    if (d == 0 && t.dtype() == options.dtype && t.is_contiguous() && t.numel() <= kGrainSize) {
      std::memcpy(static_cast<char*>(y.data()) + i * y.stride(0) * item, t.data(),
                  static_cast<size_t>(t.numel() * item));
    } else {
      run_copy(alias("stack", y, t.sizes(), strides, y.storage_offset() + i * y.stride(d)), t);
    }
  }
  record("StackBackward0", Tensors{y}, tensors, {},
         [d, count = tensors.size()](Node& n, const Tensor& g) {
           Grads grads(count);
           for (int64_t i = 0; i < count; ++i)
             if (n.needs(static_cast<int>(i))) grads[i] = select(g, d, i);
           return grads;
         });
  return y;
}

}  // namespace zero
