// Attention without the L x S matrix of scores: tiles of it are made, used and forgotten, after
// Dao, Fu, Ermon, Rudra and Ré, "FlashAttention", NeurIPS 2022.
//
//   forward    for each block of queries: over blocks of keys, p = exp(x - running maximum),
//              y = factor y + p v; kept are the maximum and one over the sum of each query
//   backward   delta = sum g y; over the same tiles, p anew,
//              dv += p^T g,   ds = scale p (g v^T - delta),   dq += ds k,   dk += ds^T q
//
// Scores lie in panels of 16 (float32) or 8 (float64) queries, keys below each other. Products read
// keys and values as they lie, by their strides, and keep a panel's rows in registers; queries are
// copied to panels once for all keys. The cuts depend on shapes only, and each sum has one order:
// forward a task is a block of queries; backward it is all queries of a head against some keys, a
// part of dq for each such task, which are added in order.
#include <algorithm>
#include <cstring>

#include "zero/core/allocator.h"
#include "zero/ops/attention_parts.h"
#include "zero/ops/ops.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

constexpr int64_t kQueries = 64, kKeys = 256;  // of a tile
constexpr int64_t kMostGroups = kQueries / attention_lanes(8);
constexpr double kLarge = 1e7;  // multiply-adds that are worth letting the interpreter's lock go
constexpr int64_t kTasks = 8;   // of the backward pass, if there are so few heads
constexpr int64_t kPartKeys = 256;  // of such a task, at least

// The memory of one thread for a block of queries against a block of keys, and what is done in it.
class Tiles {
 public:
  Tiles(const AttentionProblem& problem, bool backward)
      : p_(problem),
        table_(kernels()),
        kernels_(*table_.attention),
        type_(static_cast<int>(p_.type)),
        lanes_(attention_lanes(p_.item)) {
    const int64_t width = round_up(std::min(p_.queries, kQueries), lanes_),
                  keys = std::min(p_.keys, kKeys), area = keys * width;
    const int64_t features = round_up(p_.features, lanes_), values = round_up(p_.values, lanes_);
    const bool dropped = p_.call.dropout > 0;
    panel_ = keys * lanes_ * p_.item;
    take(query, p_.features * width * p_.item);
    take(result, (backward ? p_.features : p_.values) * width * p_.item);
    take(scores, backward ? area * p_.item : 2 * panel_);
    take(max, width * p_.item);
    take(sum, width * p_.item);
    take(factor, width * static_cast<int64_t>(sizeof(double)));  // backward: delta
    if (backward) {
      take(gradient, p_.values * width * p_.item);
      take(rows_, std::max(features, values) * width * p_.item);
      take(of_scores, 2 * panel_);
      if (dropped) take(kept_scores, area * p_.item);
    }
    if (p_.masked) take(mask_, area * p_.item);
    if (dropped) take(keep_, area);
    if (dropped || p_.mask_dtype == DType::Bool) take(raw_, area);
    data_ = static_cast<char*>(allocate(static_cast<size_t>(bytes_)));
    for (int i = 0; i < count_; ++i) *members_[i].pointer = data_ + members_[i].offset;
  }
  ~Tiles() { deallocate(data_, static_cast<size_t>(bytes_)); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  // Queries of a head from `from` on. Returns how many keys they see.
  int64_t begin(int64_t head, int64_t from) {
    head_ = head;
    first = from;
    queries = std::min(kQueries, p_.queries - first);
    width = round_up(queries, lanes_);
    groups = width / lanes_;
    load_panels(p_.q, p_.features, query);
    kernels_.scale_all[type_](query, p_.features * width, p_.call.scale);
    return p_.call.causal ? std::min(p_.keys, first + queries) : p_.keys;
  }

  // The queries' rows of a matrix, transposed: to[group][column][lane]; lanes beyond are 0.
  void load_panels(const HeadMatrices& from, int64_t columns, char* to) {
    const int64_t item = p_.item, size = columns * lanes_ * item;
    if (columns == 0) return;
    for (int64_t g = 0; g < groups; ++g, to += size) {
      const int64_t n = lanes_of(g);
      if (n < lanes_) std::memset(to, 0, static_cast<size_t>(size));
      copy(to, item, lanes_ * item, from.at(head_, first + g * lanes_), from.row * item,
           from.column * item, n, columns);
    }
  }
  // Results of group g to their rows.
  void store_panel(const HeadMatrices& to, int64_t group, int64_t columns, int64_t part = 0) {
    const int64_t item = p_.item;
    if (columns == 0) return;
    copy(to.at(part * p_.heads + head_, first + group * lanes_), item, to.row * item,
         result + group * columns * lanes_ * item, lanes_ * item, item, columns, lanes_of(group));
  }
  int64_t lanes_of(int64_t group) const { return std::min(lanes_, queries - group * lanes_); }

  // `count` keys from j on; false where the mask lets nobody see one of them.
  bool begin_keys(int64_t j, int64_t count) {
    key_ = j;
    keys_ = count;
    if (p_.masked && !load_mask()) return false;
    if (p_.call.dropout > 0) load_dropout();
    return true;
  }
  // How many of these keys come before the last query of a group.
  int64_t keys_of(int64_t group) const {
    if (!p_.call.causal) return keys_;
    return std::clamp<int64_t>(first + (group + 1) * lanes_ - key_, 0, keys_);
  }

  // How many groups from this one on are multiplied together: two, if the first sees a key.
  int64_t together(int64_t group) const { return group + 1 < groups && keys_of(group) > 0 ? 2 : 1; }

  // to[group][key][lane] = rows[key][column] x[group][column][lane], for n groups.
  void multiply_keys(const HeadMatrices& rows, int64_t columns, int64_t group, int64_t n,
                     const char* x, char* to) {
    const int64_t keys = keys_of(group), size = columns * lanes_;
    multiply(n, keys, columns, rows.at(head_, key_), rows.row, rows.column,
             x + group * size * p_.item, size, to, panel_elements(), false);
    if (const int64_t more = n == 2 ? keys_of(group + 1) - keys : 0)
      multiply(1, more, columns, rows.at(head_, key_ + keys), rows.row, rows.column,
               x + (group + 1) * size * p_.item, 0, panel(to, 1) + keys * lanes_ * p_.item, 0,
               false);
  }
  // to[group][column][lane] (+)= the sum over keys of rows[key][column] scores[group][key][lane].
  void sum_keys(const HeadMatrices& rows, int64_t columns, int64_t group, int64_t n, char* scores,
                char* to, bool add) {
    const int64_t keys = keys_of(group), size = columns * lanes_;
    multiply(n, columns, keys, rows.at(head_, key_), rows.column, rows.row, scores,
             panel_elements(), to + group * size * p_.item, size, add);
    if (const int64_t more = n == 2 ? keys_of(group + 1) - keys : 0)
      multiply(1, columns, more, rows.at(head_, key_ + keys), rows.column, rows.row,
               panel(scores, 1) + keys * lanes_ * p_.item, 0, to + (group + 1) * size * p_.item, 0,
               true);
  }

  // to[group][key][lane] = scores of n groups and the keys that each sees, with the mask.
  void load_scores(int64_t group, int64_t n, char* to) {
    multiply_keys(p_.k, p_.features, group, n, query, to);
    for (int64_t g = group; g < group + n; ++g, to += panel_) {
      const int64_t lane = g * lanes_, count = keys_of(g),
                    diagonal = p_.call.causal ? first + lane - key_ : count;
      if (!p_.masked && diagonal >= count - 1) continue;
      const char* const numbers = !p_.masked || shared_mask_ ? mask_ : mask_ + lane * p_.item;
      kernels_.mask[type_](
          {to, count, p_.masked ? numbers : nullptr, shared_mask_ ? 0 : width, diagonal});
    }
  }
  void drop(const char* from, int64_t group, int64_t count, char* to) {
    kernels_.dropout[type_](from, as_bytes(keep_) + group * lanes_, width, keep_value(p_.call), to,
                            count, lanes_);
  }
  // c[key][column] += the sum over all queries of scores[key][query] rows[query][column].
  void add_products(const char* of, const HeadMatrices& rows, int64_t columns,
                    const HeadMatrices& to) {
    const bool whole = rows.column == 1 && columns % lanes_ == 0;
    if (!whole) load_rows(rows, columns);
    const int64_t row = whole ? rows.row : lanes_;
    for (int64_t key = 0, next; key < keys_; key = next) {
      // Of the groups before this one no query sees the key; it sees those until `next`.
      const int64_t group = p_.call.causal ? std::max<int64_t>(key_ + key - first, 0) / lanes_ : 0;
      if (group >= groups) break;
      next = p_.call.causal ? keys_of(group) : keys_;
      const int64_t skipped = group * lanes_;
      const char* const a = of + group * panel_ + key * lanes_ * p_.item;
      for (int64_t c = 0, step; c < columns; c += step) {
        step = c + 2 * lanes_ <= columns ? 2 * lanes_ : lanes_;
        const char* const b = whole ? rows.at(head_, first + skipped, c)
                                    : rows_ + (c * queries + skipped * lanes_) * p_.item;
        kernels_.product[type_]({next - key, queries - skipped, a, lanes_, 1, lanes_,
                                 panel_ / p_.item, b, row, to.at(head_, key_ + key, c), to.row,
                                 std::min(lanes_, columns - c), true, step / lanes_,
                                 whole ? lanes_ : queries * lanes_, lanes_});
      }
    }
  }
  char* panel(char* of, int64_t group) const { return of + group * panel_; }
  char* lanes(char* of, int64_t group) const { return of + group * lanes_ * p_.item; }
  double* delta(int64_t group) const { return reinterpret_cast<double*>(factor) + group * lanes_; }
  const AttentionKernels& kernel() const { return kernels_; }

  int64_t first = 0, queries = 0, width = 0, groups = 0;
  // [group][column][lane], scaled; gradient: of the result
  char *query = nullptr, *gradient = nullptr, *result = nullptr;
  // Panels [key][lane]: backward one for each group; forward, and of_scores, two.
  char *scores = nullptr, *kept_scores = nullptr, *of_scores = nullptr;
  char *max = nullptr, *sum = nullptr, *factor = nullptr;  // [query]

 private:
  static const uint8_t* as_bytes(const char* x) { return reinterpret_cast<const uint8_t*>(x); }
  int64_t panel_elements() const { return panel_ / p_.item; }

  // c[m][lane] (+)= a[m][k] b[k][lane], for one or two panels of b and c.
  void multiply(int64_t n, int64_t m, int64_t k, const char* a, int64_t a_row, int64_t a_column,
                const char* b, int64_t b_panel, char* c, int64_t c_panel, bool add) {
    kernels_.product[type_](
        {m, k, a, a_row, a_column, k, 0, b, lanes_, c, lanes_, lanes_, add, n, b_panel, c_panel});
  }

  // The queries' rows of a matrix as they are, rows_[panel of columns][query][column]; columns
  // beyond are 0.
  void load_rows(const HeadMatrices& from, int64_t columns) {
    const int64_t item = p_.item;
    char* to = rows_;
    for (int64_t c = 0; c < columns; c += lanes_, to += queries * lanes_ * item) {
      const int64_t n = std::min(lanes_, columns - c);
      if (n < lanes_) std::memset(to, 0, static_cast<size_t>(queries * lanes_ * item));
      copy(to, item, lanes_ * item, from.at(head_, first, c), from.column * item, from.row * item,
           n, queries);
    }
  }
  void take(char*& member, int64_t bytes) {
    members_[count_++] = {&member, bytes_};
    bytes_ += round_up(bytes, kAlignment);
  }
  // n1 rows of n0 elements; strides in bytes.
  void copy(char* to, int64_t to0, int64_t to1, const char* from, int64_t from0, int64_t from1,
            int64_t n0, int64_t n1) {
    char* const data[2] = {to, const_cast<char*>(from)};
    const int64_t strides[4] = {to0, from0, to1, from1};
    const int type = static_cast<int>(p_.dtype);
    table_.cast[type][type](data, strides, n0, n1, nullptr);
  }

  // mask_[key][query] as numbers, or mask_[key] if queries share it.
  bool load_mask() {
    shared_mask_ = p_.mask.row == 0;
    const int64_t columns = shared_mask_ ? 1 : queries, row = shared_mask_ ? 1 : width;
    const bool bools = p_.mask_dtype == DType::Bool;
    const int64_t from = p_.mask.item(), to = bools ? 1 : p_.item;
    char* const data[2] = {bools ? raw_ : mask_, p_.mask.at(head_, first, key_)};
    const int64_t strides[4] = {to, p_.mask.row * from, row * to, p_.mask.column * from};
    table_.cast[static_cast<int>(p_.mask_dtype)][static_cast<int>(bools ? DType::Bool : p_.dtype)](
        data, strides, columns, keys_, nullptr);
    const bool dense = row == columns;
    bool any = false;
    for (int64_t r = 0; r < (dense ? 1 : keys_); ++r) {
      const int64_t n = dense ? columns * keys_ : columns;
      char* const numbers = mask_ + r * row * p_.item;
      any |= bools ? kernels_.mask_of_bools[type_](as_bytes(raw_ + r * row), numbers, n)
                   : kernels_.any_visible[type_](numbers, n);
    }
    return any;
  }

  // keep_[key][query]: whether the draw keeps that weight.
  void load_dropout() {
    const BernoulliParams params{1 - p_.call.dropout};
    for (int64_t i = 0; i < queries; ++i) {
      const int64_t at = (head_ * p_.queries + first + i) * p_.keys + key_;
      table_.random.bernoulli(raw_ + i * keys_, at, keys_, p_.call.draw.seed, p_.call.draw.offset,
                              &params);
    }
    char* const data[2] = {keep_, raw_};
    const int64_t strides[4] = {1, keys_, width, 1};
    const int type = static_cast<int>(DType::Bool);
    table_.cast[type][type](data, strides, queries, keys_, nullptr);
  }

  const AttentionProblem& p_;
  const KernelTable& table_;
  const AttentionKernels& kernels_;
  int type_;
  int64_t lanes_, panel_;  // panel_: bytes
  int64_t head_ = 0, key_ = 0, keys_ = 0;
  bool shared_mask_ = false;
  struct Member {
    char** pointer;
    int64_t offset;
  };
  Member members_[16];
  int count_ = 0;
  int64_t bytes_ = 0;
  char *keep_ = nullptr, *mask_ = nullptr, *raw_ = nullptr, *rows_ = nullptr, *data_ = nullptr;
};

// A new tensor whose rows are dense, in the order in memory that `like` has.
Tensor rows_like(const Tensor& like, int64_t columns, TensorOptions options) {
  Dims sizes = like.sizes();
  sizes.back() = columns;
  const Dims strides = strides_after(sizes, {&like});
  return strides.back() == 1 ? empty_strided(sizes, strides, options) : empty(sizes, options);
}

Tensor with_dense_rows(const Tensor& x) {
  return x.size(x.dim() - 1) > 1 && x.stride(x.dim() - 1) != 1 ? contiguous(x) : x;
}

// What the pass back needs of `rows` queries from `first` on; stats may be null.
void store_stats(const AttentionProblem& p, int64_t head, int64_t first, int64_t rows,
                 const char* max, const char* inverse_sum, char* stats) {
  if (stats == nullptr) return;
  char* const to = stats + (head * p.queries + first) * p.item;
  std::memcpy(to, max, static_cast<size_t>(rows * p.item));
  std::memcpy(to + p.heads * p.queries * p.item, inverse_sum, static_cast<size_t>(rows * p.item));
}

void forward_block(const AttentionProblem& p, Tiles& t, const HeadMatrices& y, int64_t head,
                   int64_t first, char* stats) {
  const AttentionKernels& kernel = t.kernel();
  const int type = static_cast<int>(p.type);
  const int64_t seen = t.begin(head, first), size = p.values * (t.lanes(t.result, 1) - t.result);
  bool any[kMostGroups + 1] = {};
  start_softmax(p, t.max, t.sum, t.width);
  for (int64_t j = 0; j < seen; j += kKeys) {
    if (!t.begin_keys(j, std::min(kKeys, seen - j))) continue;
    for (int64_t g = 0, n; g < t.groups; g += n) {
      n = any[g] == any[g + 1] ? t.together(g) : 1;
      if (t.keys_of(g) == 0) continue;
      t.load_scores(g, n, t.scores);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t keys = t.keys_of(g + i);
        char* const scores = t.panel(t.scores, i);
        char* const factor = t.lanes(t.factor, g + i);
        kernel.softmax[type](scores, keys, t.lanes(t.max, g + i), t.lanes(t.sum, g + i), factor);
        if (p.call.dropout > 0) t.drop(scores, g + i, keys, scores);
        if (any[g]) kernel.scale_lanes[type](t.result + (g + i) * size, p.values, factor);
      }
      t.sum_keys(p.v, p.values, g, n, t.scores, t.result, any[g]);
      for (int64_t i = 0; i < n; ++i) any[g + i] = true;
    }
  }
  kernel.finish[type](t.max, t.sum, t.width);
  for (int64_t g = 0; g < t.groups; ++g) {
    if (!any[g]) std::memset(t.result + g * size, 0, static_cast<size_t>(size));
    if (any[g]) kernel.scale_lanes[type](t.result + g * size, p.values, t.lanes(t.sum, g));
    t.store_panel(y, g, p.values);
  }
  store_stats(p, head, first, t.queries, t.max, t.sum, stats);
}

// The tensors of a backward pass, as matrices.
struct Backward {
  HeadMatrices y, g, dq, dk, dv;
  char* stats;
  AttentionNeeds needs;
};

// max and sum of the forward pass, and delta unless one tile has all keys: there it is the mean of
// the very numbers that it is taken off, so that nothing is left where one weight is 1. Lanes
// beyond the queries have the probability 0.
void load_stats(const AttentionProblem& p, const Backward& b, Tiles& t, int64_t head) {
  const size_t all = static_cast<size_t>(t.width * p.item),
               used = static_cast<size_t>(t.queries * p.item);
  const char* const stats = b.stats + (head * p.queries + t.first) * p.item;
  for (char* const x : {t.max, t.sum}) std::memset(x, 0, all);
  std::memcpy(t.max, stats, used);
  std::memcpy(t.sum, stats + p.heads * p.queries * p.item, used);
  if (p.keys <= kKeys) return;
  std::fill_n(t.delta(0), t.width, 0.0);
  t.kernel().row_products[static_cast<int>(p.type)](b.g.at(head, t.first), b.g.row,
                                                    b.y.at(head, t.first), b.y.row, t.queries,
                                                    p.values, t.delta(0));
}

// All queries of a head against the keys [begin, end): adds to dk and dv, and writes dq.
void backward_head(const AttentionProblem& p, const Backward& b, Tiles& t, int64_t head,
                   int64_t begin, int64_t end, int64_t part) {
  const AttentionKernels& kernel = t.kernel();
  const int type = static_cast<int>(p.type);
  const bool dropped = p.call.dropout > 0;
  for (int64_t first = 0; first < p.queries; first += kQueries) {
    const int64_t seen = std::min(end, t.begin(head, first));
    load_stats(p, b, t, head);
    t.load_panels(b.g, p.values, t.gradient);
    bool any = false;
    for (int64_t j = begin; j < seen; j += kKeys) {
      const int64_t count = std::min(kKeys, seen - j);
      if (!t.begin_keys(j, count)) continue;
      for (int64_t g = 0, n; g < t.groups; g += n) {
        n = t.together(g);
        t.load_scores(g, n, t.panel(t.scores, g));
        for (int64_t i = g; i < g + n; ++i) {
          const int64_t keys = t.keys_of(i);
          char* const scores = t.panel(t.scores, i);
          kernel.probabilities[type](scores, keys, t.lanes(t.max, i), t.lanes(t.sum, i));
          if (dropped) t.drop(scores, i, keys, t.panel(t.kept_scores, i));
        }
      }
      if (b.needs.v) t.add_products(dropped ? t.kept_scores : t.scores, b.g, p.values, b.dv);
      if (!b.needs.q && !b.needs.k) continue;
      for (int64_t g = 0, n; g < t.groups; g += n) {
        n = t.together(g);
        t.multiply_keys(p.v, p.values, g, n, t.gradient, t.of_scores);
        for (int64_t i = 0; i < n; ++i) {
          const int64_t keys = t.keys_of(g + i);
          char *const scores = t.panel(t.scores, g + i), *const of = t.panel(t.of_scores, i);
          double* const delta = t.delta(g + i);
          if (dropped) t.drop(of, g + i, keys, of);
          if (p.keys <= kKeys) kernel.mean_gradient[type](scores, of, keys, delta);
          kernel.gradient[type](scores, of, keys, delta, p.call.scale);
        }
        if (b.needs.q) t.sum_keys(p.k, p.features, g, n, t.panel(t.scores, g), t.result, any);
      }
      if (b.needs.k) t.add_products(t.scores, p.q, p.features, b.dk);
      any = true;
    }
    if (!b.needs.q) continue;
    if (!any) std::memset(t.result, 0, static_cast<size_t>(p.features * t.width * p.item));
    for (int64_t g = 0; g < t.groups; ++g) t.store_panel(b.dq, g, p.features, part);
  }
}

}  // namespace

AttentionResult tiled_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                const Tensor& mask, const AttentionCall& call, bool keep_stats) {
  const AttentionProblem p(q, k, v, mask, call);
  AttentionResult result{};
  result.reads_y = p.keys > kKeys;
  result.y = rows_like(q, p.values, q.options());
  if (keep_stats) result.stats = empty({2, p.heads, p.queries}, q.options());
  if (p.heads * p.queries == 0) return result;
  const HeadMatrices y(result.y, p.batch, 1);
  char* const stats = keep_stats ? result.stats.data<char>() : nullptr;
  // A pass back must find the very scores again that it has the maxima of, so it takes tiles.
  const bool few = p.queries <= kFewQueries && !keep_stats;
  const int64_t blocks = (p.queries + kQueries - 1) / kQueries, tasks = p.heads * blocks;
  const double work = p.work(1, 1);
  const DenormalGuard denormal;
  const BlockingSection section(work > kLarge);
  parallel_for(tasks, attention_grain(work, tasks), [&](int64_t begin, int64_t end) {
    if (few) return few_queries(p, y, begin, end);
    Tiles tiles(p, false);
    for (int64_t t = begin; t < end; ++t)
      forward_block(p, tiles, y, t / blocks, t % blocks * kQueries, stats);
  });
  return result;
}

Tensors tiled_attention_backward(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const Tensor& mask, const AttentionResult& result,
                                 const Tensor& gradient, const AttentionCall& call,
                                 AttentionNeeds needs) {
  const AttentionProblem p(q, k, v, mask, call);
  const Tensor g = with_dense_rows(gradient), stats = contiguous(result.stats),
               y = result.y.defined() ? with_dense_rows(result.y) : g;
  // Heads of one group add to the same keys, so one task has them all.
  const int64_t outer = p.heads / call.group;
  const int64_t wanted = outer > 0 ? std::min(kTasks / outer, p.keys / kPartKeys) : 1;
  const int64_t step = std::max(round_up(p.keys / std::max<int64_t>(wanted, 1), kKeys), kKeys);
  const int64_t parts = std::max<int64_t>((p.keys + step - 1) / step, 1);
  Dims batch = p.batch;
  Tensor dq = q;
  if (needs.q && parts > 1) {
    batch.insert(0, parts);
    Dims sizes = q.sizes();
    sizes.insert(0, parts);
    dq = empty(sizes, q.options());
  } else if (needs.q) {
    dq = rows_like(q, p.features, q.options());
  }
  const Tensor dk = needs.k ? zero_(rows_like(k, p.features, k.options())) : k,
               dv = needs.v ? zero_(rows_like(v, p.values, v.options())) : v;
  const Backward b{HeadMatrices(y, p.batch, 1),
                   HeadMatrices(g, p.batch, 1),
                   HeadMatrices(dq, batch, 1),
                   HeadMatrices(dk, p.batch, call.group),
                   HeadMatrices(dv, p.batch, call.group),
                   stats.data<char>(),
                   needs};
  if (p.heads > 0) {
    const int64_t tasks = outer * parts;
    const double work = p.work(3, 2);
    const DenormalGuard denormal;
    const BlockingSection section(work > kLarge);
    parallel_for(tasks, attention_grain(work, tasks), [&](int64_t begin, int64_t end) {
      Tiles tiles(p, true);
      for (int64_t t = begin; t < end; ++t) {
        const int64_t part = t % parts, from = part * step, to = std::min(p.keys, from + step);
        for (int64_t member = 0; member < call.group; ++member)
          backward_head(p, b, tiles, t / parts * call.group + member, from, to, part);
      }
    });
  }
  Tensors grads(3);
  if (needs.q) grads[0] = parts > 1 ? sum(dq, {0}) : dq;
  if (needs.k) grads[1] = dk;
  if (needs.v) grads[2] = dv;
  return grads;
}

}  // namespace zero
