// Places in a tensor, given by tensors of indices: what all forms of indexing have in common.
//
// Some dimensions of x, `dims` in rising order, are indexed together. `positions` (int64, private,
// checked) counts their elements in row-major order, whatever the strides of x are. A selection has
// the shape of x with the indexed dimensions replaced by those of `positions`, at `place`.
#pragma once

#include "zero/ops/ops.h"

namespace zero {

struct Places {
  Dims dims;
  int64_t place = 0;
  Tensor positions;
  // `positions` are so many equal runs that reach disjoint elements.
  int64_t runs = 1;

  // The shape of a selection from a tensor of these sizes.
  Dims selection(const Dims& sizes) const;
};

// A copy of `index` as positions along dimension d of x: checked, and none negative.
Tensor checked_index(const char* op, const Tensor& index, const Tensor& x, int64_t d,
                     bool negative_counts_from_end);
// The index, or zeros for it: PyTorch looks at no index of a tensor without elements, unless that
// dimension is empty itself.
Tensor examined_index(const Tensor& index, const Tensor& x, int64_t d);
// The numbers, in row-major order, of the elements that are not zero.
Tensor nonzero_positions(const char* op, const Tensor& x);

// The elements at the places, recorded as `node`, which saves `watched`, too.
Tensor read_places(const char* node, const Tensor& x, const Places& places,
                   const Tensor& watched = {});
// Writes or adds `values`, which broadcast to the selection, one after the other in order. A value
// that a later one overwrites has no gradient.
Tensor write_places(const char* op, const char* node, const Tensor& self, const Places& places,
                    const Tensor& values, bool accumulate, const Target& target);

// Raises if an index write in place reads the memory that it writes.
void check_overlaps(const char* op, const Target& target, Inputs read);

// Where an operator writes that changes only a part of `self`: self, or a copy of it, contiguous or
// in its layout.
Tensor destination(const char* op, const Tensor& self, const Target& target, Inputs inputs,
                   bool keeps_layout);

void check_same_dtype(const char* op, const Tensor& self, const Tensor& values);
// Indices and values may be on the meta device only if self is.
void check_devices(const char* op, const Tensor& self, const Tensor& other, const char* name);

}  // namespace zero
