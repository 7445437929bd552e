// gather and scatter along one dimension (gather.h). The loops move or combine elements as they
// are: memory is the limit, so they need no instruction set of their own.
#include "zero/ops/gather.h"

#include <cstring>
#include <limits>

#include "zero/autograd/record.h"
#include "zero/ops/combine.h"
#include "zero/ops/index.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/denormal.h"

namespace zero {

namespace {

// A dimension of the index, with its strides in x (self), in the index and in the values.
struct Axis { int64_t size, x, index, values; };

// How the elements of an index are visited: rows of `inner`, for all coordinates of `outer`.
// One of the axes is the dimension that the index counts along; its stride in x is 0 here, and an
// index i reaches i * step.
struct Plan {
  SmallVector<Axis, 6> outer;
  Axis inner;
  int64_t step, limit;  // of the dimension: its stride in x, and the size that indices stay below
  int64_t dim;
  bool along;    // the inner axis is that dimension
  int64_t rows;  // of all outer axes
  const char* op;
  const int64_t* index;
  InRangeFn in_range = kernels().in_range;
  bool checked = false;  // the index is our own, and all of it is in range
};

// `grouped`: rows that may reach the same element follow each other: the dimension is the inner
// axis, or the last of the outer ones. Else they go through the values in their order.
Plan make_plan(const char* op, const Tensor& x, int64_t dim, const Tensor& index,
               const Dims& values, bool grouped) {
  Plan plan;
  plan.op = op;
  plan.dim = dim;
  plan.limit = x.dim() == 0 ? 1 : x.size(dim);
  plan.step = x.dim() == 0 ? 1 : x.stride(dim);
  plan.index = index.data<int64_t>();
  Axis own{1, 0, 0, 0};
  for (int64_t d = 0; d < index.dim(); ++d) {
    const Axis axis{index.size(d), x.dim() == 0 ? 0 : x.stride(d), index.stride(d), values[d]};
    if (d == dim) {
      own = {axis.size, 0, axis.index, axis.values};
      continue;
    }
    if (axis.size == 1) continue;
    if (!plan.outer.empty()) {  // merge with the one before
      Axis& last = plan.outer.back();
      if (last.x == axis.size * axis.x && last.index == axis.size * axis.index &&
          last.values == axis.size * axis.values) {
        last = {last.size * axis.size, axis.x, axis.index, axis.values};
        continue;
      }
    }
    plan.outer.push_back(axis);
  }
  // The inner loop: neighbours in memory, unless there are few.
  const Axis* const last = plan.outer.empty() ? nullptr : &plan.outer.back();
  const auto apart = [](const Axis& axis) { return std::max(axis.values, axis.index); };
  plan.along =
      !last || (own.size > 1 && (last->size < 8 ? last->size <= own.size
                                                : apart(own) < apart(*last) && own.size >= 8));
  if (plan.along) {
    plan.inner = own;
  } else {
    plan.inner = *last;
    plan.outer.pop_back();
    int64_t at = plan.outer.size();
    while (!grouped && at > 0 && plan.outer[at - 1].values < own.values) --at;
    plan.outer.insert(at, own);
  }
  plan.rows = 1;
  for (const Axis& axis : plan.outer) plan.rows *= axis.size;
  return plan;
}

// Raises for an index out of range among `count`, `stride` apart.
void check_range(const Plan& p, const int64_t* index, int64_t stride, int64_t count) {
  if (p.checked) return;
  if (stride == 1 && p.in_range(index, count, p.limit)) [[likely]]
    return;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t v = index[i * stride];
    ZERO_CHECK(v >= 0 && v < p.limit, IndexError, p.op, ": out of range; got ", v,
               ", expected 0 to ", p.limit - 1, " for dimension ", p.dim, " of size ", p.limit);
  }
}

// Calls f(x, index, values) with the offsets of each row from `begin` to `end`.
template <class F>
void for_each_row(const Plan& p, int64_t begin, int64_t end, F f) {
  SmallVector<int64_t, 6> at(p.outer.size());
  int64_t x = 0, index = 0, values = 0;
  for (int64_t d = p.outer.size() - 1, rest = begin; d >= 0 && rest > 0; --d) {
    const Axis& axis = p.outer[d];
    at[d] = rest % axis.size;
    rest /= axis.size;
    x += at[d] * axis.x;
    index += at[d] * axis.index;
    values += at[d] * axis.values;
  }
  for (int64_t row = begin; row < end; ++row) {
    f(x, index, values);
    for (int64_t d = p.outer.size() - 1; d >= 0; --d) {
      const Axis& axis = p.outer[d];
      x += axis.x;
      index += axis.index;
      values += axis.values;
      if (++at[d] < axis.size) break;
      x -= axis.size * axis.x;
      index -= axis.size * axis.index;
      values -= axis.size * axis.values;
      at[d] = 0;
    }
  }
}

// Indices are checked in blocks that stay in the cache until they are used.
inline constexpr int64_t kBlock = 512;

// All that depends on the type: loops over `n` elements of one row. Strides count elements.
struct Loops {
  int64_t item;
  // y[j ys] = combine(y[j ys], v[j vs])
  void (*along)(void* y, int64_t ys, const void* v, int64_t vs, int64_t n);
  // the same with y[index[j is] step + j ys]
  void (*places)(void* y, int64_t ys, int64_t step, const int64_t* index, int64_t is, const void* v,
                 int64_t vs, int64_t n);
  // the same for the indices in [begin, end)
  void (*owned)(void* y, int64_t step, const int64_t* index, int64_t is, const void* v, int64_t vs,
                int64_t n, int64_t begin, int64_t end);
  LoopFn dense;  // a kernel for the first where y is dense; null where there is none
};

template <class Write, class T>
Loops write_loops(LoopFn dense) {
  return {sizeof(T),
          [](void* y, int64_t ys, const void* v, int64_t vs, int64_t n) {
            T* const to = static_cast<T*>(y);
            const T* const from = static_cast<const T*>(v);
            for (int64_t j = 0; j < n; ++j) Write::to(to[j * ys], from[j * vs]);
          },
          [](void* y, int64_t ys, int64_t step, const int64_t* index, int64_t is, const void* v,
             int64_t vs, int64_t n) {
            T* const to = static_cast<T*>(y);
            const T* const from = static_cast<const T*>(v);
            if (ys == 0 && step == 1 && is == 1 && vs == 1) {
              for (int64_t j = 0; j < n; ++j) Write::to(to[index[j]], from[j]);
            } else {
              for (int64_t j = 0; j < n; ++j)
                Write::to(to[index[j * is] * step + j * ys], from[j * vs]);
            }
          },
          [](void* y, int64_t step, const int64_t* index, int64_t is, const void* v, int64_t vs,
             int64_t n, int64_t begin, int64_t end) {
            for (int64_t j = 0; j < n; ++j) {
              const int64_t i = index[j * is];
              if (i >= begin && i < end)
                Write::to(static_cast<T*>(y)[i * step], static_cast<const T*>(v)[j * vs]);
            }
          },
          dense};
}

// y[j ys] = x[index[j is] step + j xs]
using ReadLoop = void (*)(void* y, int64_t ys, const void* x, int64_t xs, int64_t step,
                          const int64_t* index, int64_t is, int64_t n);

template <class T>
void read_places(void* y, int64_t ys, const void* x, int64_t xs, int64_t step, const int64_t* index,
                 int64_t is, int64_t n) {
  T* const to = static_cast<T*>(y);
  const T* const from = static_cast<const T*>(x);
  if (xs == 0 && step == 1 && is == 1 && ys == 1) {
    for (int64_t j = 0; j < n; ++j) to[j] = from[index[j]];
  } else {
    for (int64_t j = 0; j < n; ++j) to[j * ys] = from[index[j * is] * step + j * xs];
  }
}

// The part [first, last) of each row.
void read_rows(const Plan& p, int64_t begin, int64_t end, int64_t first, int64_t last,
               const Loops& copy, ReadLoop read, const char* x, char* y) {
  const Axis in = p.inner;
  const int64_t step = p.step, item = copy.item;
  for_each_row(p, begin, end, [&](int64_t from, int64_t at, int64_t to) {
    const int64_t* const index = p.index + at;
    if (in.index == 0) {
      check_range(p, index, 1, 1);
      const char* const row = x + (from + *index * step + first * in.x) * item;
      char* const out = y + (to + first * in.values) * item;
      if (in.x == 1 && in.values == 1) {
        std::memcpy(out, row, static_cast<size_t>((last - first) * item));
      } else {
        copy.along(out, in.values, row, in.x, last - first);
      }
      return;
    }
    for (int64_t j0 = first; j0 < last; j0 += kBlock) {
      const int64_t n = std::min(kBlock, last - j0);
      const int64_t* const i = index + j0 * in.index;
      check_range(p, i, in.index, n);
      read(y + (to + j0 * in.values) * item, in.values, x + (from + j0 * in.x) * item, in.x, step,
           i, in.index, n);
    }
  });
}

void write_rows(const Plan& p, int64_t begin, int64_t end, int64_t first, int64_t last,
                const Loops& loops, bool assigns, char* y, const char* values) {
  const Axis in = p.inner;
  const int64_t step = p.step, item = loops.item;
  for_each_row(p, begin, end, [&](int64_t to, int64_t at, int64_t from) {
    const int64_t* const index = p.index + at;
    if (in.index == 0) {
      check_range(p, index, 1, 1);
      char* const row = y + (to + *index * step + first * in.x) * item;
      const char* const v = values + (from + first * in.values) * item;
      const int64_t n = last - first;
      if (loops.dense && in.x == 1 && in.values <= 1 && n >= 16) {
        char* const data[3] = {row, assigns ? const_cast<char*>(v) : row, const_cast<char*>(v)};
        const int64_t strides[6] = {item, assigns ? item * in.values : item, item * in.values};
        loops.dense(data, strides, n, 1, nullptr);
      } else {
        loops.along(row, in.x, v, in.values, n);
      }
      return;
    }
    for (int64_t j0 = first; j0 < last; j0 += kBlock) {
      const int64_t n = std::min(kBlock, last - j0);
      const int64_t* const i = index + j0 * in.index;
      check_range(p, i, in.index, n);
      loops.places(y + (to + j0 * in.x) * item, in.x, step, i, in.index,
                   values + (from + j0 * in.values) * item, in.values, n);
    }
  });
}

// f(begin, end, first, last): rows, and a part of each; cuts where there is most to cut.
template <class F>
void for_parts(const Plan& p, F f) {
  if (p.rows >= 8 || p.inner.size < kBlock) {
    parallel_for(p.rows, std::max<int64_t>(1, kGrainSize / p.inner.size),
                 [&](int64_t begin, int64_t end) { f(begin, end, int64_t{0}, p.inner.size); });
  } else {
    parallel_for(p.inner.size, std::max<int64_t>(kBlock, kGrainSize / p.rows),
                 [&](int64_t begin, int64_t end) { f(int64_t{0}, p.rows, begin, end); });
  }
}

// Before anything is written.
void check_all(const Plan& p) {
  for_parts(p, [&](int64_t begin, int64_t end, int64_t first, int64_t last) {
    const int64_t stride = p.inner.index, count = stride ? last - first : 1;
    for_each_row(p, begin, end, [&](int64_t, int64_t at, int64_t) {
      check_range(p, p.index + at + first * stride, stride, count);
    });
  });
}

// f(begin, end, first, last): the rows of each group that shares its other coordinates, and columns
// of them whose places in x stay in the cache, whichever the index names.
template <class F>
void for_groups(const Plan& p, int64_t item, F f) {
  const int64_t repeats = p.along ? 1 : p.outer.back().size, groups = p.rows / repeats;
  const int64_t columns = p.inner.size;
  int64_t tile = columns;
  if (!p.along && p.inner.index != 0 && repeats > 1)
    tile = std::min(
        columns,
        std::max<int64_t>({16, 64 / item, (1 << 18) / (std::max<int64_t>(p.limit, 1) * item)}));
  const auto part = [&](int64_t begin, int64_t end, int64_t first, int64_t last) {
    for (int64_t g = begin; g < end; ++g)
      for (int64_t c = first; c < last; c += tile)
        f(g * repeats, (g + 1) * repeats, c, std::min(c + tile, last));
  };
  if (p.along || groups > 1) {
    if (tile >= columns) {  // one call for many rows
      parallel_for(groups, std::max<int64_t>(1, kGrainSize / (repeats * columns)),
                   [&](int64_t begin, int64_t end) {
                     f(begin * repeats, end * repeats, int64_t{0}, columns);
                   });
    } else {
      parallel_for(groups, std::max<int64_t>(1, kGrainSize / (repeats * columns)),
                   [&](int64_t begin, int64_t end) { part(begin, end, 0, columns); });
    }
  } else {  // columns; not less than a cache line of them
    parallel_for(columns, std::max<int64_t>(64, kGrainSize / repeats),
                 [&](int64_t begin, int64_t end) { part(0, 1, begin, end); });
  }
}

// Parts of a write reach disjoint elements: an index may repeat, and each element must see its
// values in their order.
void write_all(const Plan& p, const Loops& loops, bool assigns, char* y, const char* values) {
  const int threads = num_threads();
  if (p.along && p.rows == 1 && p.inner.size >= 8 * kGrainSize && threads > 1) {
    // One long list: each part goes through all of it, for the places that are its own.
    check_all(p);
    parallel_for(p.limit, (p.limit + threads - 1) / threads, [&](int64_t begin, int64_t end) {
      loops.owned(y, p.step, p.index, p.inner.index, values, p.inner.values, p.inner.size, begin,
                  end);
    });
  } else {
    for_groups(p, loops.item, [&](int64_t begin, int64_t end, int64_t first, int64_t last) {
      write_rows(p, begin, end, first, last, loops, assigns, y, values);
    });
  }
}

// Where many rows share their indices, these once, checked: a tensor of our own with the sizes of
// `index`. Else `index` itself.
Tensor shared_index(const char* op, const Tensor& x, int64_t dim, const Tensor& index,
                    bool* checked) {
  *checked = false;
  if (index.numel() < 4096 || index.is_meta()) return index;
  const GradModeGuard no_record(false);
  Tensor own = index;
  for (int64_t d = 0; d < index.dim(); ++d)
    if (d != dim && index.stride(d) == 0 && index.size(d) > 1) own = slice(own, d, 0, 1);
  if (own.numel() * 4 > index.numel()) return index;
  *checked = true;
  return expand(checked_index(op, own, x, dim, false), index.sizes());
}

// The number that a reduction starts with.
Scalar identity(Combine combine, DType dtype) {
  const bool largest = combine == Combine::Max;
  if (combine == Combine::Mul) return 1;
  if (combine != Combine::Max && combine != Combine::Min) return 0;
  if (is_floating(dtype))
    return largest ? -std::numeric_limits<double>::infinity()
                   : std::numeric_limits<double>::infinity();
  switch (dtype) {
    case DType::Bool: return largest ? 0 : 1;
    case DType::UInt8: return largest ? 0 : 255;
    default: {
      const int64_t top = std::numeric_limits<int64_t>::max() >> (64 - 8 * itemsize(dtype));
      return Scalar(largest ? -top - 1 : top);
    }
  }
}

// 0 where a tensor of one element repeats.
Dims strides_of(const Tensor& values, const Dims& sizes) {
  return values.sizes() == sizes ? values.strides() : Dims(sizes.size(), 0);
}

Loops copy_loops(DType dtype) {
  Loops loops;
  with_item(dtype, [&]<class T>(T) {
    loops =
        write_loops<Assign, T>(kernels().cast[static_cast<int>(dtype)][static_cast<int>(dtype)]);
  });
  return loops;
}

// y[index] = combine(y[index], values), without a record.
void run(const char* op, const Tensor& y, int64_t dim, const Tensor& index, const Tensor& values,
         Combine combine, bool fresh) {
  bool checked;
  const Tensor at = shared_index(op, y, dim, index, &checked);
  Plan plan = make_plan(op, y, dim, at, strides_of(values, index.sizes()), true);
  plan.checked = checked;
  if (!fresh && !checked) check_all(plan);  // before the first write
  const DType dtype = y.dtype();
  char* const to = y.data<char>();
  const char* const from = values.data<char>();
  if (combine == Combine::Assign) {
    write_all(plan, copy_loops(dtype), true, to, from);
    return;
  }
  const DenormalGuard denormal;
  with_number(dtype, [&]<class T>(T) {
    const auto write = [&]<class Write>(Write, ElementwiseOp op) {
      const bool direct = dtype != DType::Bool && compute_dtype(dtype) == dtype;
      const auto& kernel = kernels().elementwise[static_cast<int>(op)];
      write_all(
          plan,
          write_loops<Write, T>(direct ? kernel[static_cast<int>(compute_type(dtype))] : nullptr),
          false, to, from);
    };
    switch (combine) {
      case Combine::Mul: return write(Multiply(), ElementwiseOp::Mul);
      case Combine::Max: return write(Largest(), ElementwiseOp::Maximum);
      case Combine::Min: return write(Smallest(), ElementwiseOp::Minimum);
      default: return write(Accumulate(), ElementwiseOp::Add);
    }
  });
}

// How many values each place gets, with what was there if it takes part; at least 1.
Tensor counts(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
              bool include_self) {
  const GradModeGuard no_record(false);
  const DType dtype = !is_floating(self.dtype()) ? DType::Int64
                      : self.dtype() == DType::Float64 || index.numel() >= (1 << 24)
                          ? DType::Float64
                          : DType::Float32;
  const TensorOptions options{dtype, self.device()};
  const Tensor n = include_self ? ones(self.sizes(), options) : zeros(self.sizes(), options);
  if (!n.is_meta() && index.numel() > 0)
    run(op, n, dim, index, scalar_tensor(1, options), Combine::Add, false);
  return include_self ? n : maximum(n, 1);
}

// True for the values that no later one for the same place overwrites; undefined where none is.
Tensor last_writers(const Tensor& self, int64_t dim, const Tensor& index) {
  if (index.is_meta() || index.numel() <= 1) return Tensor();
  const GradModeGuard no_record(false);
  // Once for all places along which the index repeats.
  Tensor own = index;
  Dims sizes = self.sizes();
  for (int64_t d = 0; d < index.dim(); ++d) {
    if (d == dim || (index.stride(d) != 0 && index.size(d) > 1)) continue;
    own = slice(own, d, 0, 1);
    if (!sizes.empty()) sizes[d] = 1;
  }
  const Tensor number =
      reshape(arange(0, own.numel(), 1, {DType::Int64, Device::Cpu}), own.sizes());
  const Tensor owner = empty(sizes, number.options());  // read where written only
  run("scatter", owner, dim, own, number, Combine::Assign, true);
  const Tensor last = eq(gather_along("gather", "", owner, dim, own), number);
  return item(all(last)).to_bool() ? Tensor() : last;
}

// A gradient that has none of its own: what it is made from hides where it is 0 / 0.
Tensor once_only(const char* op, const Tensor& x) {
  Tensor y = alias(x);
  record("NotDifferentiable", {}, y, {&x}, {}, [op](Node&, const Tensor&) -> Tensor {
    fail<NotImplementedError>(op, ": the gradient of a product's gradient is not supported where ",
                              "several values for one place are 0; got such values, expected at "
                              "most one 0 for each place");
  });
  return y;
}

Grads scatter_backward(const char* op, Node& n, const Tensor& g, int64_t dim, Combine combine,
                       bool include_self, const Dims& sizes, const Dims& values_sizes) {
  Grads grads(2);
  const Tensor index = n.saved(0);
  const auto read = [&](const Tensor& t) {
    return gather_along(op, "GatherBackward0", t, dim, index);
  };
  const auto scattered = [&](const Tensor& self, const Tensor& values, Combine how, bool include) {
    return scatter_along(op, "ScatterReduceBackward0", self, dim, index, values, how, include, {});
  };
  const Tensor zero = scalar_tensor(0, g.options());
  Tensor self_grad = g, part;
  switch (combine) {
    case Combine::Assign: {
      if (n.needs(0)) self_grad = scattered(g, zero, Combine::Assign, true);
      if (!n.needs(1)) break;
      part = read(g);
      const Tensor last = last_writers(g, dim, index);
      if (last.defined()) part = where(last, part, 0.0);
      break;
    }
    case Combine::Add:
      if (n.needs(1)) part = read(g);
      break;
    case Combine::Mean:
      self_grad = div(g, to(n.saved(1), g.dtype(), g.device()));
      if (n.needs(1)) part = read(self_grad);
      break;
    case Combine::Mul: {
      // Of factors that are 0 the product of the others is needed: 0 again if there are two.
      const Tensor self = n.saved(1), values = expand(n.saved(2), index.sizes()), y = n.saved(3);
      if (n.needs(0)) {
        const Tensor one = masked_fill(self, eq(self, 0), 1);
        self_grad = div(mul(g, scattered(one, values, Combine::Mul, include_self)), one);
      }
      if (n.needs(1)) {
        const Tensor none = eq(values, 0);
        const Tensor count = scattered(zeros(sizes, g.options()), to(none, g.dtype(), g.device()),
                                       Combine::Add, true);
        const Tensor single = logical_and(none, eq(read(count), 1));
        const Tensor others =
            scattered(self, masked_fill(values, single, 1), Combine::Mul, include_self);
        part =
            where(single, read(mul(g, others)), div(read(mul(g, y)), masked_fill(values, none, 1)));
        if (grad_enabled() && !count.is_meta() &&
            item(any(logical_and(none, gt(read(count), 1)))).to_bool())
          part = once_only(op, part);
      }
      break;
    }
    case Combine::Max:
    case Combine::Min: {  // shared among all that are the result
      const Tensor self = n.saved(1), values = expand(n.saved(2), index.sizes()), y = n.saved(3);
      Tensor own, mine, count;
      {
        const GradModeGuard no_record(false);
        own = to(eq(self, y), g.dtype(), g.device());
        if (!include_self) own = scattered(own, zero, Combine::Assign, true);
        mine = to(eq(values, read(y)), g.dtype(), g.device());
        count = maximum(scattered(own, mine, Combine::Add, true), 1);
      }
      const Tensor share = div(g, count);
      self_grad = mul(own, share);
      if (n.needs(1)) part = mul(mine, read(share));
      break;
    }
  }
  if (n.needs(0)) {
    grads[0] = combine == Combine::Assign || include_self
                   ? self_grad
                   : scattered(self_grad, zero, Combine::Assign, true);
  }
  if (n.needs(1)) grads[1] = sum_to(part, values_sizes);
  return grads;
}

}  // namespace

Tensor gather_along(const char* op, const char* node, const Tensor& x, int64_t dim,
                    const Tensor& index, const Tensor& watched) {
  const Tensor i = to(index, DType::Int64, index.device());
  Tensor y = empty(i.sizes(), x.options());
  if (!y.is_meta() && y.numel() > 0) {
    bool checked;
    const Tensor at = shared_index(op, x, dim, i, &checked);
    Plan plan = make_plan(op, x, dim, at, y.strides(), !checked);
    plan.checked = checked;
    const Loops copy = copy_loops(x.dtype());
    ReadLoop read;
    with_item(x.dtype(), [&]<class T>(T) { read = read_places<T>; });
    const char* const from = x.data<char>();
    char* const out = y.data<char>();
    const auto part = [&](int64_t begin, int64_t end, int64_t first, int64_t last) {
      read_rows(plan, begin, end, first, last, copy, read, from, out);
    };
    if (plan.along || checked) {
      for_parts(plan, part);
    } else {
      for_groups(plan, copy.item, part);
    }
  }
  record(node, {}, y, {&x}, {&i, &watched}, [sizes = x.sizes(), dim](Node& n, const Tensor& g) {
    n.saved(1);  // raises if `watched` was written to
    const Tensor out = zeros(sizes, g.options());
    return scatter_along("scatter_add_", "ScatterAddBackward0", out, dim, n.saved(0), g,
                         Combine::Add, true, Target::inplace(out));
  });
  return y;
}

Tensor scatter_along(const char* op, const char* node, const Tensor& self, int64_t dim,
                     const Tensor& index, const Tensor& values, Combine combine, bool include_self,
                     const Target& target, bool keeps_layout) {
  ZERO_CHECK(combine != Combine::Mean || self.dtype() != DType::Bool, DTypeError, op,
             ": a mean is not defined for bool; got ", self, ", expected numbers");
  const Tensor i = to(index, DType::Int64, index.device());
  Tensor y = destination(op, self, target, {&self, &values}, keeps_layout);
  const bool recorded =
      grad_enabled() && is_floating(self.dtype()) && (requires_grad(self) || requires_grad(values));
  const bool reduces =
      combine == Combine::Mul || combine == Combine::Max || combine == Combine::Min;
  Tensor copy;
  const Tensor& old = target.preserve(self, recorded && reduces, copy);
  Tensor count;
  if (combine == Combine::Mean && (recorded || (!y.is_meta() && i.numel() > 0)))
    count = counts(op, self, dim, i, include_self);
  if (!y.is_meta() && i.numel() > 0) {
    const bool narrow = combine != Combine::Assign && compute_dtype(y.dtype()) != y.dtype() &&
                        is_floating(y.dtype());  // sums of many must not be rounded to 16 bits
    const DType dtype = narrow ? DType::Float32 : y.dtype();
    const Tensor out = narrow ? to(detach(y), dtype, y.device()) : detach(y);
    Tensor from = to(detach(values), dtype, y.device());
    if (from.impl()->storage_ == out.impl()->storage_) from = clone(from);
    Tensor at = i;
    if (at.impl()->storage_ == out.impl()->storage_) at = clone(at);
    bool fresh = target.fresh() || narrow;  // what fails now leaves self as it was
    if (!include_self && combine != Combine::Assign) {
      run(op, out, dim, at, scalar_tensor(identity(combine, dtype), out.options()), Combine::Assign,
          fresh);
      fresh = true;
    }
    run(op, out, dim, at, from, combine == Combine::Mean ? Combine::Add : combine, fresh);
    if (combine == Combine::Mean) {
      const bool real = is_floating(dtype);
      const Operand sums = out, number = count;
      run_elementwise(real ? ElementwiseOp::Div : ElementwiseOp::FloorDiv,
                      real ? dtype : DType::Int64, out, {&sums, &number});
    }
    if (narrow) run_copy(y, out);
  }
  const bool needed = requires_grad(values) || combine != Combine::Add || !include_self;
  record(node, target, y, {&self, &values},
         {keep(needed, i), combine == Combine::Mean ? &count : keep(reduces, old),
          keep(reduces, values), keep(reduces, y)},
         [op, dim, combine, include_self, sizes = self.sizes(), values_sizes = values.sizes()](
             Node& n, const Tensor& g) {
           if (combine == Combine::Add && include_self && !n.needs(1)) {
             Grads grads(2);
             grads[0] = g;
             return grads;
           }
           return scatter_backward(op, n, g, dim, combine, include_self, sizes, values_sizes);
         });
  return y;
}

}  // namespace zero
