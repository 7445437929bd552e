// Sorting and selection along a dimension, each beside its gradient: the elements' gradients go
// back to where the elements came from.
//
// All are stable: of equal elements the one with the smaller index comes first. That makes every
// result unique, so neither threads nor the cut into parts can be seen in it.
#include "zero/ops/order.h"

#include <cstring>
#include <limits>
#include <vector>

#include "zero/autograd/record.h"
#include "zero/ops/along.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/blocking.h"

namespace zero {

namespace {

constexpr int64_t kLongRow = 1 << 17;       // elements from which on a row is worth several threads
constexpr int64_t kGrain = kGrainSize / 8;  // an element costs about eight additions

// ---- one row on several threads -----------------------------------------------------------------

struct Blocks {
  explicit Blocks(int64_t n) : n(n), number(std::min<int64_t>(64, n / (kLongRow / 4))) {}
  int64_t begin(int64_t block) const { return n * block / number; }
  int64_t size(int64_t block) const { return begin(block + 1) - begin(block); }
  template <class F>
  void each(F f) const {  // f(block)
    parallel_for(number, 1, [&](int64_t first, int64_t end) {
      for (int64_t block = first; block < end; ++block) f(block);
    });
  }
  int64_t n, number;
};

char* sort_long(const EntryKernel& kernel, char* from, char* to, int64_t n) {
  const Blocks blocks(n);
  const int64_t size = kernel.size;
  std::vector<uint64_t> low(blocks.number), high(blocks.number);
  blocks.each([&](int64_t b) {
    kernel.range(from + blocks.begin(b) * size, blocks.size(b), &low[b], &high[b]);
  });
  const uint64_t least = *std::min_element(low.begin(), low.end());
  const RadixPlan plan = kernel.plan(n, *std::max_element(high.begin(), high.end()) - least);
  std::vector<int64_t> counts(256 * blocks.number);
  for (int shift = plan.shift; shift < plan.bits; shift += 8) {
    blocks.each([&](int64_t b) {
      kernel.count(from + blocks.begin(b) * size, blocks.size(b), least, shift, &counts[256 * b]);
    });
    // Where each block's entries of each digit begin.
    int64_t total = 0;
    bool same = false;
    for (int64_t digit = 0; digit < 256; ++digit) {
      const int64_t before = total;
      for (int64_t b = 0; b < blocks.number; ++b) {
        const int64_t number = counts[256 * b + digit];
        counts[256 * b + digit] = total;
        total += number;
      }
      same |= total - before == n;
    }
    if (same) continue;
    blocks.each([&](int64_t b) {
      kernel.scatter(from + blocks.begin(b) * size, blocks.size(b), least, shift, &counts[256 * b],
                     to);
    });
    std::swap(from, to);
  }
  if (plan.shift == 0) return from;
  // A block begins where a run of equal leading bits does.
  std::vector<int64_t> starts(blocks.number + 1, n);
  with_entries(kernel, from, [&](const auto* e) {
    for (int64_t b = 0; b < blocks.number; ++b) {
      int64_t i = std::max(blocks.begin(b), b > 0 ? starts[b - 1] : 0);
      while (i > 0 && i < n &&
             (e[i].key() - least) >> plan.shift == (e[i - 1].key() - least) >> plan.shift)
        ++i;
      starts[b] = i;
    }
  });
  blocks.each([&](int64_t b) {
    const int64_t begin = starts[b], number = starts[b + 1] - begin;
    kernel.finish(from + begin * size, to + begin * size, number, least, plan.shift);
  });
  return from;
}

// ---- rows of a tensor ---------------------------------------------------------------------------

// A contiguous tensor seen as [outer, n, inner] around a dimension. Its rows are the elements along
// that; they are worked on in units of neighbouring ones.
struct Rows {
  Rows(const Tensor& input, int64_t dim) : x(contiguous(detach(input))), order(order_kernel(x)) {
    for (int64_t d = 0; d < x.dim(); ++d) (d < dim ? outer : d == dim ? n : inner) *= x.size(d);
    lanes = std::min<int64_t>(inner, n * order.entry->size > 65536 ? 8 : 16);
    step = n + 8;  // rows whose length is a power of two would compete for the same cache lines
    columns = inner == 0 ? 0 : (inner + lanes - 1) / lanes;
  }

  // f(unit, entries, scratch) for all units; each array has room for a unit's entries.
  template <class F>
  void each(F f) const {
    const int64_t bytes = lanes * step * order.entry->size;
    const BlockingSection section(is_large(x));
    parallel_for(outer * columns, std::max<int64_t>(1, kGrain / (n * lanes)),
                 [&](int64_t begin, int64_t end) {
                   const Scratch scratch(2 * bytes);
                   for (int64_t unit = begin; unit < end; ++unit)
                     f(unit, scratch.data(), scratch.data() + bytes);
                 });
  }
  // Whether threads have more to do inside of rows than with different ones.
  bool long_rows() const {
    return n >= kLongRow && outer * columns < num_threads() && num_threads() > 1;
  }

  int64_t lane(int64_t unit) const { return unit % columns * lanes; }
  int64_t lanes_of(int64_t unit) const { return std::min(lanes, inner - lane(unit)); }
  // The place of a unit's first element, or that of its results, `length` per row.
  int64_t place(int64_t unit, int64_t length) const {
    return unit / columns * length * inner + lane(unit);
  }
  const char* data(int64_t unit) const {
    return x.data<char>() + place(unit, n) * itemsize(x.dtype());
  }
  char* row(char* entries, int64_t lane) const { return entries + lane * step * order.entry->size; }

  void load(int64_t unit, bool descending, char* entries) const {
    order.load({data(unit), n, inner, lanes_of(unit), 0, descending, entries, step});
  }
  // The first `length` entries of each row become the results.
  void store(int64_t unit, bool descending, const char* entries, int64_t length,
             const Tensor* values, const Tensor* indices) const {
    const int64_t at = place(unit, length);
    order.store({entries, length, step, lanes_of(unit), descending, data(unit), inner,
                 values ? values->data<char>() + at * itemsize(x.dtype()) : nullptr,
                 indices ? indices->data<int64_t>() + at : nullptr, inner});
  }

  Tensor x;
  const OrderKernel& order;
  int64_t outer = 1, n = 1, inner = 1;
  int64_t lanes, columns, step;
};

void check_length(const char* op, const Tensor& x, int64_t dim) {
  ZERO_CHECK(x.dim() == 0 || itemsize(x.dtype()) == 8 || x.size(dim) <= int64_t{1} << 32,
             NotImplementedError, op, ": the dimension is too long; got ", x,
             ", expected up to 2**32 elements of this dtype along dimension ", dim);
}

void sort_rows(const Tensor& x, int64_t dim, bool descending, const Tensor* values,
               const Tensor& indices) {
  const Rows rows(x, dim);
  if (rows.long_rows() && rows.inner == 1) {
    const BlockingSection section(true);
    const int64_t bytes = rows.n * rows.order.entry->size;
    const Scratch scratch(2 * bytes);
    for (int64_t row = 0; row < rows.outer; ++row) {
      const Tensor one = select(reshape(rows.x, {rows.outer, rows.n}), 0, row);
      load_entries(one, descending, scratch.data());
      const char* sorted = sort_entries(rows.order, scratch.data(), scratch.data() + bytes, rows.n);
      store_elements(one, descending, sorted, rows.n,
                     values ? values->data<char>() + row * rows.n * itemsize(x.dtype()) : nullptr,
                     indices.data<int64_t>() + row * rows.n);
    }
    return;
  }
  rows.each([&](int64_t unit, char* entries, char* scratch) {
    rows.load(unit, descending, entries);
    const char* sorted = entries;
    for (int64_t l = 0; l < rows.lanes_of(unit); ++l) {
      char* const row = rows.row(entries, l);
      sorted = sort_entries(rows.order, row, rows.row(scratch, l), rows.n);
      // Those of the other array, should rows differ in how often they moved.
      if (rows.lanes_of(unit) > 1 && sorted != row)
        std::memcpy(row, sorted, rows.n * rows.order.entry->size);
    }
    rows.store(unit, descending, rows.lanes_of(unit) > 1 ? entries : sorted, rows.n, values,
               &indices);
  });
}

// Where rows repeat (an expanded tensor), f is called with each of them once, and its results are
// copied to all; false, and nothing done, where none do.
template <class F>
bool once_for_repeats(const Tensor& x, int64_t dim, const Tensor* values, const Tensor& indices,
                      F f) {
  if (indices.is_meta() || indices.numel() == 0) return false;
  const Tensor own = without_repeats(x, dim);
  if (!own.defined()) return false;
  const std::pair<Tensor, Tensor> once = f(own);
  if (values) run_copy(*values, expand(once.first, values->sizes()));
  run_copy(indices, expand(once.second, indices.sizes()));
  return true;
}

// sort and argsort: results lie in memory as their input does. All three are seen in that order.
void sort_as_lying(const Tensor& x, int64_t dim, bool descending, const Tensor* values,
                   const Tensor& indices) {
  if (indices.is_meta() || indices.numel() == 0) return;
  if (x.dim() > 0 && x.size(dim) > 1 && x.stride(dim) == 0) {  // all are equal: they stay
    Dims sizes(x.dim(), 1);
    sizes[dim] = x.size(dim);
    if (values) run_copy(*values, x);
    return run_copy(
        indices,
        expand(reshape(arange(int64_t{0}, x.size(dim), int64_t{1}, indices.options()), sizes),
               x.sizes()));
  }
  if (once_for_repeats(x, dim, values, indices, [&](const Tensor& own) {
        return values ? sort(own, dim, descending)
                      : std::pair(Tensor(), argsort(own, dim, descending));
      }))
    return;
  if (indices.is_contiguous()) return sort_rows(x, dim, descending, values, indices);
  Dims order;
  for (int64_t d = 0; d < x.dim(); ++d) order.push_back(d);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return indices.stride(a) > indices.stride(b); });
  const auto turned = [&](const Tensor& t) {
    Dims sizes, strides;
    for (int64_t d : order) {
      sizes.push_back(t.size(d));
      strides.push_back(t.stride(d));
    }
    return alias("sort", t, sizes, strides, t.storage_offset());
  };
  const Tensor turned_values = values ? turned(*values) : Tensor();
  sort_rows(turned(x), std::find(order.begin(), order.end(), dim) - order.begin(), descending,
            values ? &turned_values : nullptr, turned(indices));
}

// Gradients of elements that stand at `indices` along `dim`, which has n elements.
Tensor put_back(const Tensor& g, const Tensor& indices, int64_t dim, const Dims& sizes) {
  if (sizes.empty()) return reshape(g, {});
  if (g.sizes() == sizes && g.numel() == 0) return g;
  return scatter("scatter_add", zeros(sizes, g.options()), dim, indices, g, Combine::Add);
}

void record_selection(const char* node, const Tensor& values, const Tensor& x,
                      const Tensor& indices, int64_t dim) {
  record(node, {}, values, {&x}, {&indices}, [dim, sizes = x.sizes()](Node& n, const Tensor& g) {
    return put_back(g, n.saved(0), dim, sizes);
  });
}

// ---- topk ---------------------------------------------------------------------------------------

constexpr int64_t kPart = 1 << 18;  // elements of a long row that one thread looks through

// The k first entries of n elements of a dense row, in any order. `buffer` has room for twice
// best_capacity(k) entries.
int64_t best_capacity(int64_t k) { return std::max<int64_t>(2 * k, 32) + kBestBlock; }

void best_of(const OrderKernel& order, const char* x, int64_t n, int64_t first, int64_t k,
             bool descending, char* buffer) {
  const int64_t capacity = best_capacity(k);
  char* const scratch = buffer + capacity * order.entry->size;
  const int64_t m = order.best({x, n, first, k, descending, buffer, scratch, capacity});
  order.entry->select(buffer, scratch, m, k);
}

void topk_rows(const Rows& rows, int64_t k, bool largest, const Tensor& values,
               const Tensor& indices) {
  const EntryKernel& kernel = *rows.order.entry;
  const int64_t capacity = best_capacity(k), item = itemsize(rows.x.dtype());
  if (rows.inner > 1 || capacity >= rows.n) {
    rows.each([&](int64_t unit, char* entries, char* scratch) {
      rows.load(unit, largest, entries);
      for (int64_t l = 0; l < rows.lanes_of(unit); ++l) {
        char *const row = rows.row(entries, l), *const spare = rows.row(scratch, l);
        if (rows.n > 64) kernel.select(row, spare, rows.n, k);
        const int64_t left = rows.n > 64 ? k : rows.n;
        const char* sorted = static_cast<char*>(kernel.sort(row, spare, left));
        if (sorted != row) std::memcpy(row, sorted, k * kernel.size);
      }
      rows.store(unit, largest, entries, k, &values, &indices);
    });
    return;
  }
  const BlockingSection section(rows.x.numel() >= 16 * kGrainSize);
  const int64_t parts = rows.n / std::max(kPart, 8 * k);
  const auto finish = [&](int64_t row, char* entries, char* scratch) {
    const void* sorted = kernel.sort(entries, scratch, k);
    rows.order.store({sorted, k, k, 1, largest, rows.data(row), 1,
                      values.data<char>() + row * k * item, indices.data<int64_t>() + row * k, 1});
  };
  if (rows.long_rows() && parts > 1) {
    const Scratch firsts(2 * parts * k * kernel.size);
    for (int64_t row = 0; row < rows.outer; ++row) {
      parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
        const Scratch buffer(2 * capacity * kernel.size);
        for (int64_t part = begin; part < end; ++part) {
          const int64_t first = rows.n * part / parts, last = rows.n * (part + 1) / parts;
          best_of(rows.order, rows.data(row) + first * item, last - first, first, k, largest,
                  buffer.data());
          std::memcpy(firsts.data() + part * k * kernel.size, buffer.data(), k * kernel.size);
        }
      });
      char* const spare = firsts.data() + parts * k * kernel.size;
      kernel.select(firsts.data(), spare, parts * k, k);
      finish(row, firsts.data(), spare);
    }
    return;
  }
  parallel_for(rows.outer, std::max<int64_t>(1, kGrainSize / 2 / rows.n),
               [&](int64_t begin, int64_t end) {
                 const Scratch buffer(2 * capacity * kernel.size);
                 for (int64_t row = begin; row < end; ++row) {
                   best_of(rows.order, rows.data(row), rows.n, 0, k, largest, buffer.data());
                   finish(row, buffer.data(), buffer.data() + capacity * kernel.size);
                 }
               });
}

// ---- one element per row ------------------------------------------------------------------------

// Results of an op that keeps one element of each row. choose(entries, scratch) moves its entry to
// the front.
template <class Choose>
std::pair<Tensor, Tensor> one_per_row(const char* op, const char* node, const Tensor& x,
                                      int64_t dim, bool keepdim, Choose choose) {
  check_length(op, x, dim);
  ZERO_CHECK(x.dim() == 0 || x.size(dim) > 0, IndexError, op,
             ": nothing to choose from along dimension ", dim, "; got ", x.sizes(),
             ", expected at least one element");
  Dims kept = x.sizes(), sizes;
  if (x.dim() > 0) kept[dim] = 1;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (d != dim || keepdim) sizes.push_back(kept[d]);
  Tensor values = empty(sizes, x.options()), indices = empty(sizes, {DType::Int64, x.device()});
  const auto once = [&](const Tensor& own) {
    return one_per_row(op, node, own, dim, keepdim, choose);
  };
  if (!values.is_meta() && values.numel() > 0 &&
      !once_for_repeats(x, dim, &values, indices, once)) {
    const Rows rows(x, dim);
    rows.each([&](int64_t unit, char* entries, char* scratch) {
      rows.load(unit, false, entries);
      for (int64_t l = 0; l < rows.lanes_of(unit); ++l)
        choose(rows.order, rows.row(entries, l), rows.row(scratch, l), rows.n);
      rows.store(unit, false, entries, 1, &values, &indices);
    });
  }
  record(node, {}, values, {&x}, {&indices},
         [dim, kept, n = x.dim() == 0 ? 1 : x.size(dim)](Node& node, const Tensor& g) {
           if (kept.empty()) return g;
           return put_along(reshape(g, kept), reshape(node.saved(0), kept), dim, n);
         });
  return {std::move(values), std::move(indices)};
}

// The lower of two middle elements; the first NaN if there is one and they count.
void choose_median(const OrderKernel& order, DType dtype, bool skip_nan, char* entries,
                   char* scratch, int64_t n) {
  const uint64_t nan = nan_key(dtype);
  const int64_t nans = with_entries(*order.entry, entries, [&](const auto* e) {
    int64_t count = 0;
    if (is_floating(dtype))
      for (int64_t i = 0; i < n; ++i) count += e[i].key() == nan;
    return count;
  });
  const int64_t numbers = n - nans;
  const int64_t k = nans > 0 && !skip_nan ? numbers : std::max<int64_t>(numbers - 1, 0) / 2;
  order.entry->pick(entries, scratch, n, k);
}

// The last entry of the longest run of equal keys; of the first if several are as long.
void choose_mode(const OrderKernel& order, DType dtype, char* entries, char* scratch, int64_t n) {
  const char* sorted = sort_entries(order, entries, scratch, n);
  const int64_t place = with_entries(*order.entry, sorted, [&](const auto* e) {
    int64_t best = 0, length = 0;
    for (int64_t i = 0, run = 0; i < n; ++i) {
      ++run;
      if (i + 1 < n && e[i].key() == e[i + 1].key() && !is_nan_key(dtype, e[i].key())) continue;
      if (run > length) {
        length = run;
        best = i;
      }
      run = 0;
    }
    return best;
  });
  std::memmove(entries, sorted + place * order.entry->size, order.entry->size);
}

Tensor median_of_all(const char* op, const char* node, const Tensor& x, bool skip_nan) {
  ZERO_CHECK(x.numel() > 0 || is_floating(x.dtype()), IndexError, op, ": no elements; got ", x,
             ", expected at least one");
  Tensor y = empty({}, x.options());
  if (!y.is_meta()) {
    GradModeGuard no_grad(false);
    if (x.numel() == 0) {
      fill_(y, Scalar(std::numeric_limits<double>::quiet_NaN()));
    } else {
      const Tensor flat = reshape(x, {x.numel()});
      y = (skip_nan ? nanmedian(flat, 0, false) : median(flat, 0, false)).first;
    }
  }
  record(node, {}, y, {&x}, {&x, &y}, [](Node& n, const Tensor& g) {  // shared by equal elements
    const Tensor x = n.saved(0), y = detach(n.saved(1));
    const Tensor chosen = where(isnan(y), isnan(x), eq(x, y));
    return where(chosen, div(g, sum(chosen)), 0.0);
  });
  return y;
}

}  // namespace

char* sort_entries(const OrderKernel& order, char* entries, char* scratch, int64_t n) {
  if (n >= kLongRow && num_threads() > 1 && !in_parallel_region())
    return sort_long(*order.entry, entries, scratch, n);
  return static_cast<char*>(order.entry->sort(entries, scratch, n));
}

void load_entries(const Tensor& x, bool descending, char* entries) {
  const OrderKernel& order = order_kernel(x);
  const int64_t item = itemsize(x.dtype());
  parallel_for(x.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
    order.load({x.data<char>() + begin * item, end - begin, 1, 1, begin, descending,
                entries + begin * order.entry->size, 0});
  });
}

void store_elements(const Tensor& x, bool descending, const char* entries, int64_t n, void* values,
                    int64_t* indices) {
  const OrderKernel& order = order_kernel(x);
  const int64_t item = itemsize(x.dtype());
  parallel_for(n, kGrainSize / 2, [&](int64_t begin, int64_t end) {
    order.store({entries + begin * order.entry->size, end - begin, 0, 1, descending, x.data(), 1,
                 values ? static_cast<char*>(values) + begin * item : nullptr,
                 indices ? indices + begin : nullptr, 1});
  });
}

std::pair<Tensor, Tensor> sort(const Tensor& x, int64_t dim, bool descending) {
  const int64_t d = wrap_dim("sort", dim, x.dim());
  check_length("sort", x, d);
  Tensor values = empty_like(x, x.options());
  Tensor indices = empty_like(x, {DType::Int64, x.device()});
  sort_as_lying(x, d, descending, &values, indices);
  record_selection("SortBackward0", values, x, indices, d);
  return {std::move(values), std::move(indices)};
}

Tensor argsort(const Tensor& x, int64_t dim, bool descending) {
  const int64_t d = wrap_dim("argsort", dim, x.dim());
  check_length("argsort", x, d);
  Tensor indices = empty_like(x, {DType::Int64, x.device()});
  sort_as_lying(x, d, descending, nullptr, indices);
  return indices;
}

std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int64_t dim, bool largest) {
  const int64_t d = wrap_dim("topk", dim, x.dim()), n = x.dim() == 0 ? 1 : x.size(d);
  check_length("topk", x, d);
  ZERO_CHECK(k >= 0 && k <= n, IndexError, "topk: k is out of range; got ", k, ", expected 0 to ",
             n, ", the size of dimension ", d);
  Dims sizes = x.sizes();
  if (x.dim() > 0) sizes[d] = k;
  Tensor values = empty(sizes, x.options()), indices = empty(sizes, {DType::Int64, x.device()});
  if (!values.is_meta() && values.numel() > 0 &&
      !once_for_repeats(x, d, &values, indices,
                        [&](const Tensor& own) { return topk(own, k, d, largest); }))
    topk_rows(Rows(x, d), k, largest, values, indices);
  record_selection("TopkBackward0", values, x, indices, d);
  return {std::move(values), std::move(indices)};
}

std::pair<Tensor, Tensor> kthvalue(const Tensor& x, int64_t k, int64_t dim, bool keepdim) {
  const int64_t d = wrap_dim("kthvalue", dim, x.dim()), n = x.dim() == 0 ? 1 : x.size(d);
  ZERO_CHECK(n == 0 || (k >= 1 && k <= n), IndexError, "kthvalue: k is out of range; got ", k,
             ", expected 1 to ", n, ", the size of dimension ", d);
  return one_per_row("kthvalue", "KthvalueBackward0", x, d, keepdim,
                     [k](const OrderKernel& order, char* entries, char* scratch, int64_t n) {
                       order.entry->pick(entries, scratch, n, k - 1);
                     });
}

std::pair<Tensor, Tensor> median(const Tensor& x, int64_t dim, bool keepdim) {
  return one_per_row(
      "median", "MedianBackward1", x, wrap_dim("median", dim, x.dim()), keepdim,
      [dtype = x.dtype()](const OrderKernel& order, char* entries, char* scratch, int64_t n) {
        choose_median(order, dtype, false, entries, scratch, n);
      });
}
std::pair<Tensor, Tensor> nanmedian(const Tensor& x, int64_t dim, bool keepdim) {
  return one_per_row(
      "nanmedian", "NanmedianBackward1", x, wrap_dim("nanmedian", dim, x.dim()), keepdim,
      [dtype = x.dtype()](const OrderKernel& order, char* entries, char* scratch, int64_t n) {
        choose_median(order, dtype, true, entries, scratch, n);
      });
}
Tensor median(const Tensor& x) { return median_of_all("median", "MedianBackward0", x, false); }
Tensor nanmedian(const Tensor& x) {
  return median_of_all("nanmedian", "NanmedianBackward0", x, true);
}

std::pair<Tensor, Tensor> mode(const Tensor& x, int64_t dim, bool keepdim) {
  return one_per_row(
      "mode", "ModeBackward0", x, wrap_dim("mode", dim, x.dim()), keepdim,
      [dtype = x.dtype()](const OrderKernel& order, char* entries, char* scratch, int64_t n) {
        choose_mode(order, dtype, entries, scratch, n);
      });
}

}  // namespace zero
