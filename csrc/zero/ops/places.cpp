// Reading and writing the places of a tensor that tensors of indices name (index.h). The loops copy
// or add elements as they are: memory is the limit, so they need no instruction set of their own.
#include <cstring>

#include "zero/autograd/record.h"
#include "zero/ops/combine.h"
#include "zero/ops/index.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/denormal.h"

namespace zero {

namespace {

// Visits the offsets of a strided geometry in row-major order.
class Walk {
 public:
  Walk(const Dims& sizes, const Dims& strides, int64_t start = 0)
      : sizes_(sizes), strides_(strides), index_(sizes.size()) {
    for (int64_t d = sizes.size() - 1; d >= 0 && start > 0; --d) {
      index_[d] = start % sizes[d];
      offset_ += index_[d] * strides[d];
      start /= sizes[d];
    }
  }
  int64_t offset() const { return offset_; }
  void next() {
    for (int64_t d = sizes_.size() - 1; d >= 0; --d) {
      offset_ += strides_[d];
      if (++index_[d] < sizes_[d]) return;
      offset_ -= sizes_[d] * strides_[d];
      index_[d] = 0;
    }
  }

 private:
  const Dims& sizes_;
  const Dims& strides_;
  Dims index_;
  int64_t offset_ = 0;
};

// Merges dimensions that one stride steps through, and drops those of size 1.
void coalesce(Dims& sizes, Dims& strides) {
  Dims s, t;
  for (int64_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if (!s.empty() && t.back() == sizes[d] * strides[d]) {
      s.back() *= sizes[d];
      t.back() = strides[d];
    } else {
      s.push_back(sizes[d]);
      t.push_back(strides[d]);
    }
  }
  sizes = s;
  strides = t;
}

// Places over the memory of x: element (o, p, i) of a selection is at
// outer(o) + positions[p] * step + inner(i).
struct Layout {
  Layout(const Tensor& x, const Places& places) {
    Dims sizes, strides;  // of the indexed dimensions
    int64_t next = 0, kept = 0;
    for (int64_t d = 0; d < x.dim(); ++d) {
      if (next < places.dims.size() && places.dims[next] == d) {
        sizes.push_back(x.size(d));
        strides.push_back(x.stride(d));
        ++next;
      } else {
        (kept < places.place ? outer_sizes : inner_sizes).push_back(x.size(d));
        (kept < places.place ? outer_strides : inner_strides).push_back(x.stride(d));
        ++kept;
      }
    }
    outer = numel(outer_sizes);
    inner = numel(inner_sizes);
    count = places.positions.numel();
    coalesce(outer_sizes, outer_strides);
    coalesce(inner_sizes, inner_strides);
    coalesce(sizes, strides);
    if (inner_sizes.empty()) {
      inner_sizes = {1};
      inner_strides = {1};
    }
    row = inner_sizes.back();
    row_stride = inner_strides.back();
    rows = inner / std::max<int64_t>(row, 1);
    inner_sizes.pop_back();
    inner_strides.pop_back();
    positions = places.positions.data<int64_t>();
    step = strides.empty() ? 0 : strides.back();
    if (sizes.size() > 1) resolve(sizes, strides, places.positions);
  }

  Dims outer_sizes, outer_strides, inner_sizes, inner_strides;
  int64_t outer, count, inner;    // how many there are of each
  int64_t row, row_stride, rows;  // the last of the inner dimensions, and how often it is walked
  const int64_t* positions;
  int64_t step;

 private:
  // Positions that no single stride leads to become offsets.
  void resolve(const Dims& sizes, const Dims& strides, const Tensor& from) {
    table_ = empty(from.sizes(), from.options());
    int64_t* const out = table_.data<int64_t>();
    const int64_t* const in = positions;
    parallel_for(count, kGrainSize / 8, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        int64_t rest = in[p], offset = 0;
        for (int64_t d = sizes.size() - 1; d > 0; --d) {
          offset += rest % sizes[d] * strides[d];
          rest /= sizes[d];
        }
        out[p] = offset + rest * strides[0];
      }
    });
    positions = out;
    step = 1;
  }

  Tensor table_;
};

// The part of a selection that one thread works on.
struct Part { int64_t outer[2], places[2], row[2]; };

// f(place, number): calls it for every row of the part, with the offset of the row's first element
// and its number in the selection.
template <class F>
void for_each_row(const Layout& l, const Part& part, F f) {
  Walk outer(l.outer_sizes, l.outer_strides, part.outer[0]);
  for (int64_t o = part.outer[0]; o < part.outer[1]; ++o, outer.next()) {
    for (int64_t p = part.places[0]; p < part.places[1]; ++p) {
      const int64_t at = outer.offset() + l.positions[p] * l.step;
      int64_t number = (o * l.count + p) * l.inner;
      if (l.rows == 1) {
        f(at, number);
        continue;
      }
      Walk inner(l.inner_sizes, l.inner_strides);
      for (int64_t i = 0; i < l.rows; ++i, inner.next(), number += l.row)
        f(at + inner.offset(), number);
    }
  }
}

template <class T>
void gather(const T* x, T* y, const Layout& l, const Part& part) {
  if (l.inner == 1) {
    Walk outer(l.outer_sizes, l.outer_strides, part.outer[0]);
    for (int64_t o = part.outer[0]; o < part.outer[1]; ++o, outer.next()) {
      const T* from = x + outer.offset();
      T* to = y + o * l.count;
      for (int64_t p = part.places[0]; p < part.places[1]; ++p)
        to[p] = from[l.positions[p] * l.step];
    }
  } else if (l.row_stride == 1) {
    const size_t bytes = static_cast<size_t>(l.row) * sizeof(T);
    for_each_row(l, part, [&](int64_t at, int64_t to) { std::memcpy(y + to, x + at, bytes); });
  } else {
    for_each_row(l, part, [&](int64_t at, int64_t to) {
      for (int64_t i = 0; i < l.row; ++i) y[to + i] = x[at + i * l.row_stride];
    });
  }
}

// values[0] is repeated if `one`. `add` is the kernel that adds rows, null where there is none.
template <class Write, class T>
void scatter(T* y, const T* values, bool one, const Layout& l, const Part& part, LoopFn add) {
  const int64_t step = one ? 0 : 1, first = part.row[0], last = part.row[1];
  if (l.inner == 1) {
    Walk outer(l.outer_sizes, l.outer_strides, part.outer[0]);
    for (int64_t o = part.outer[0]; o < part.outer[1]; ++o, outer.next()) {
      T* to = y + outer.offset();
      const T* v = values + o * l.count * step;
      for (int64_t p = part.places[0]; p < part.places[1]; ++p)
        Write::to(to[l.positions[p] * l.step], v[p * step]);
    }
  } else if (l.row_stride == 1 && !one && add && last - first >= 16) {
    const int64_t strides[6] = {sizeof(T), sizeof(T), sizeof(T)};
    for_each_row(l, part, [&](int64_t at, int64_t from) {
      char* to = reinterpret_cast<char*>(y + at + first);
      char* v = reinterpret_cast<char*>(const_cast<T*>(values) + from + first);
      char* const data[3] = {to, to, v};
      add(data, strides, last - first, 1, nullptr);
    });
  } else {
    for_each_row(l, part, [&](int64_t at, int64_t from) {
      T* to = y + at;
      const T* v = values + from * step;
      for (int64_t i = first; i < last; ++i) Write::to(to[i * l.row_stride], v[i * step]);
    });
  }
}

// Cuts a read where there is most to cut.
template <class F>
void read_parts(const Layout& l, F f) {
  const int64_t total = l.outer * l.count * l.inner;
  if (l.outer > l.count) {
    parallel_for(
        l.outer, std::max<int64_t>(1, kGrainSize * l.outer / total),
        [&](int64_t begin, int64_t end) { f(Part{{begin, end}, {0, l.count}, {0, l.row}}); });
  } else {
    parallel_for(
        l.count, std::max<int64_t>(1, kGrainSize * l.count / total),
        [&](int64_t begin, int64_t end) { f(Part{{0, l.outer}, {begin, end}, {0, l.row}}); });
  }
}

// Cuts a write into parts that reach disjoint elements: places may repeat, and each element must
// see its values in their order.
template <class F>
void write_parts(const Layout& l, int64_t runs, F f) {
  const int64_t total = l.outer * l.count * l.inner;
  if (l.outer > 1) {
    parallel_for(
        l.outer, std::max<int64_t>(1, kGrainSize * l.outer / total),
        [&](int64_t begin, int64_t end) { f(Part{{begin, end}, {0, l.count}, {0, l.row}}); });
  } else if (runs > 1) {
    const int64_t length = l.count / runs;
    parallel_for(runs, std::max<int64_t>(1, kGrainSize * runs / total),
                 [&](int64_t begin, int64_t end) {
                   f(Part{{0, 1}, {begin * length, end * length}, {0, l.row}});
                 });
  } else {  // columns; not less than a cache line of them
    parallel_for(l.row, std::max<int64_t>(64, kGrainSize * l.row / total),
                 [&](int64_t begin, int64_t end) { f(Part{{0, 1}, {0, l.count}, {begin, end}}); });
  }
}

// True for the places that no later one repeats; undefined where none does.
Tensor last_writers(const Tensor& positions, int64_t elements) {
  const int64_t n = positions.numel();
  if (positions.is_meta() || n <= 1) return Tensor();
  const Tensor owners = empty({elements}, {DType::Int64, Device::Cpu});  // read where written only
  int64_t* const owner = owners.data<int64_t>();
  const int64_t* const p = positions.data<int64_t>();
  for (int64_t i = 0; i < n; ++i) owner[p[i]] = i;
  Tensor last = empty(positions.sizes(), {DType::Bool, Device::Cpu});
  bool* const keeps = last.data<bool>();
  bool all = true;
  for (int64_t i = 0; i < n; ++i) all &= keeps[i] = owner[p[i]] == i;
  return all ? Tensor() : last;
}

}  // namespace

Dims Places::selection(const Dims& sizes) const {
  Dims out;
  int64_t next = 0;
  auto insert = [&] {
    for (int64_t s : positions.sizes()) out.push_back(s);
  };
  for (int64_t d = 0, kept = 0; d < sizes.size(); ++d) {
    if (next < dims.size() && dims[next] == d) {
      ++next;
      continue;
    }
    if (kept++ == place) insert();
    out.push_back(sizes[d]);
  }
  if (sizes.size() - dims.size() == place) insert();
  return out;
}

Tensor read_places(const char* node, const Tensor& x, const Places& places, const Tensor& watched) {
  Tensor y = empty(places.selection(x.sizes()), x.options());
  if (!y.is_meta() && y.numel() > 0) {
    const Layout layout(x, places);
    with_item(x.dtype(), [&]<class T>(T) {
      const T* from = x.data<T>();
      T* to = y.data<T>();
      read_parts(layout, [&](const Part& part) { gather(from, to, layout, part); });
    });
  }
  record(node, {}, y, {&x}, {&places.positions, &watched},
         [sizes = x.sizes(), dims = places.dims, place = places.place, runs = places.runs](
             Node& n, const Tensor& g) {
           n.saved(1);  // raises if `watched` was written to
           const Places places{dims, place, n.saved(0), runs};
           const Tensor out = zeros(sizes, g.options());
           return write_places("index_put_", "IndexPutBackward0", out, places, g, true,
                               Target::inplace(out));
         });
  return y;
}

void check_overlaps(const char* op, const Target& target, Inputs read) {
  if (target.fresh()) return;
  for (const Tensor* x : read) check_overlap(op, target.tensor(), *x, Overlap::Any);
  keep_for_undo(target.tensor(), read);
}

Tensor destination(const char* op, const Tensor& self, const Target& target, Inputs inputs,
                   bool keeps_layout) {
  if (target.fresh() && keeps_layout) return clone(detach(self));
  if (target.fresh()) {
    Tensor y = empty(self.sizes(), self.options());
    run_copy(y, self);
    return y;
  }
  check_inplace(op, self, needs_history(inputs));
  return self;
}

Tensor write_places(const char* op, const char* node, const Tensor& self, const Places& places,
                    const Tensor& values, bool accumulate, const Target& target) {
  const Dims selection = places.selection(self.sizes());
  ZERO_CHECK(expands_to(values.sizes(), selection), ShapeError, op,
             ": the values do not broadcast; got ", values.sizes(),
             ", expected a shape that broadcasts to ", selection);
  Tensor y = destination(op, self, target, {&self, &values}, true);
  if (!y.is_meta() && numel(selection) > 0) {
    const bool narrow = accumulate && compute_dtype(y.dtype()) != y.dtype() &&
                        is_floating(y.dtype());  // sums of many must not be rounded to 16 bits
    const DType dtype = narrow ? DType::Float32 : y.dtype();
    const Tensor out = narrow ? to(detach(y), dtype, y.device()) : y;
    const bool one = values.numel() == 1;
    Tensor from = to(detach(values), dtype, y.device());
    if (!one) from = contiguous(expand(from, selection));
    if (from.impl()->storage_ == out.impl()->storage_) from = clone(from);
    const Layout layout(out, places);
    LoopFn add = nullptr;
    if (accumulate && dtype != DType::Bool && compute_dtype(dtype) == dtype)
      add = kernels().elementwise[static_cast<int>(ElementwiseOp::Add)]
                                 [static_cast<int>(compute_type(dtype))];
    const auto run = [&]<class Write, class T>(Write, T) {
      T* to = out.data<T>();
      const T* read = from.data<T>();
      write_parts(layout, places.runs,
                  [&](const Part& part) { scatter<Write>(to, read, one, layout, part, add); });
    };
    if (accumulate) {
      const DenormalGuard denormal;
      with_number(dtype, [&](auto number) { run(Accumulate(), number); });
    } else {
      with_item(dtype, [&](auto item) { run(Assign(), item); });
    }
    if (narrow) run_copy(y, out);
  }
  // An added self needs no places: its gradient passes as it is, once, as in PyTorch.
  const bool needed = requires_grad(values) || (!accumulate && requires_grad(self));
  record(node, target, y, {&self, &values}, {keep(needed, places.positions)},
         [op, dims = places.dims, place = places.place, runs = places.runs, accumulate,
          shape = values.sizes(), sizes = self.sizes()](Node& n, const Tensor& g) {
           Grads grads(2);
           const Places places{dims, place, n.saved(0), runs};
           if (n.needs(0))
             grads[0] = accumulate ? g
                                   : write_places(op, "IndexPutBackward0", g, places,
                                                  scalar_tensor(0, g.options()), false, {});
           if (n.needs(1)) {
             Tensor part = read_places("IndexBackward0", g, places);
             int64_t elements = 1;
             for (int64_t d : dims) elements *= sizes[d];
             Tensor last = accumulate ? Tensor() : last_writers(places.positions, elements);
             if (last.defined()) {
               Dims wide = last.sizes();
               for (int64_t d = place + dims.size(); d < sizes.size(); ++d) wide.push_back(1);
               part = where(reshape(last, wide), part, 0.0);
             }
             grads[1] = sum_to(part, shape);
           }
           return grads;
         });
  return y;
}

}  // namespace zero
