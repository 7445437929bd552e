// Attention without the L x S matrix of scores: tiles of it are made, used and forgotten, after
// Dao, Fu, Ermon, Rudra and Ré, "FlashAttention", NeurIPS 2022.
//
//   forward    for each block of queries: over blocks of keys, p = exp(x - running maximum),
//              y = factor y + p v; kept are the maximum and one over the sum of each query
//   backward   delta = sum g y; over the same tiles, p anew,
//              dv += p^T g,   ds = scale p (g v^T - delta),   dq += ds k,   dk += ds^T q
//
// Tiles are transposed (kernels/attention.h): scores = k q^T reads keys as they lie, and q^T is
// written once for all tiles of its queries. The cuts depend on shapes only, and each sum has one
// order: forward a task is a block of queries; backward it is all queries of a head against some
// keys, a part of dq for each such task, which are added in order.
#include <algorithm>
#include <cstring>
#include <limits>

#include "zero/core/allocator.h"
#include "zero/kernels/attention.h"
#include "zero/ops/attention.h"
#include "zero/ops/ops.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

constexpr int64_t kQueries = 64, kKeys = 128;  // of a tile
constexpr double kGrain = 1 << 19;             // multiply-adds that are worth a range of their own
constexpr double kLarge = 1e7;                 // … that are worth letting the interpreter's lock go
constexpr int64_t kTasks = 8;                  // of the backward pass, if there are so few heads
constexpr int64_t kPartKeys = 256;             // of such a task, at least

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// A matrix per head in the memory of a tensor [..., rows, columns], or the same for several.
class Matrices {
 public:
  // `batch` are the sizes of the dimensions in front, for the heads of the query.
  Matrices(const Tensor& x, const Dims& batch, int64_t group)
      : data_(static_cast<char*>(x.data())), item_(itemsize(x.dtype())), batch_(batch) {
    const auto stride = [&](int64_t d) {  // of dimension d from the end
      return d > x.dim() || x.size(x.dim() - d) == 1 ? 0 : x.stride(x.dim() - d);
    };
    row = stride(2);
    column = stride(1);
    strides_.resize(batch.size());
    for (int64_t d = 0; d < batch.size(); ++d) strides_[d] = stride(batch.size() + 2 - d);
    group_ = group;
  }

  char* at(int64_t head, int64_t i = 0, int64_t j = 0) const {
    int64_t offset = i * row + j * column;
    for (int64_t d = batch_.size() - 1; d >= 0; --d) {
      const int64_t index = head % batch_[d];
      head /= batch_[d];
      offset += (d == batch_.size() - 1 ? index / group_ : index) * strides_[d];
    }
    return data_ + offset * item_;
  }
  int64_t item() const { return item_; }

  int64_t row, column;  // strides in elements; 0 for a dimension of size 1

 private:
  char* data_;
  int64_t item_;
  Dims batch_, strides_;
  int64_t group_;
};

struct Problem {
  Problem(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
          const AttentionCall& options)
      : call(options),
        dtype(query.dtype()),
        type(compute_type(dtype)),
        item(itemsize(dtype)),
        queries(query.size(query.dim() - 2)),
        keys(key.size(key.dim() - 2)),
        features(query.size(query.dim() - 1)),
        values(value.size(value.dim() - 1)),
        batch(query.sizes().begin(), query.sizes().end() - 2),
        heads(numel(batch)),
        q(query, batch, 1),
        k(key, batch, call.group),
        v(value, batch, call.group),
        mask(bias.defined() ? bias : query, batch, 1),
        masked(bias.defined()),
        mask_dtype(bias.defined() ? bias.dtype() : dtype),
        blocks((queries + kQueries - 1) / kQueries) {}

  // The multiply-adds of all products over all scores.
  double work(int64_t products_of_features, int64_t products_of_values) const {
    const double scores = static_cast<double>(queries) * static_cast<double>(keys);
    return scores * static_cast<double>(heads) *
           static_cast<double>(products_of_features * features + products_of_values * values) *
           (call.causal ? 0.5 : 1.0);
  }

  AttentionCall call;
  DType dtype;
  ComputeType type;
  int64_t item, queries, keys, features, values;
  Dims batch;
  int64_t heads;
  Matrices q, k, v, mask;
  bool masked;
  DType mask_dtype;
  int64_t blocks;  // of queries
};

int64_t grain_for(double work, int64_t tasks) {
  const double each = work / static_cast<double>(std::max<int64_t>(tasks, 1));
  return each >= kGrain ? 1 : static_cast<int64_t>(kGrain / std::max(each, 1.0)) + 1;
}

// The memory of one thread, and what is done with a tile in it.
class Tiles {
 public:
  Tiles(const Problem& problem, bool backward)
      : p_(problem), table_(kernels()), kernels_(*table_.attention), type_(static_cast<int>(p_.type)) {
    most_lanes_ = width_of(std::min(p_.queries, kQueries));
    most_keys_ = std::min(p_.keys, kKeys);
    const int64_t area = most_lanes_ * most_keys_;
    const auto take = [&](char*& member, int64_t bytes, bool wanted = true) {
      if (!wanted) return;
      members_[count_++] = {&member, bytes_};
      bytes_ += round_up(bytes, kAlignment);
    };
    const bool dropped = p_.call.dropout > 0;
    take(query, p_.features * most_lanes_ * p_.item);
    take(gradient, p_.values * most_lanes_ * p_.item, backward);
    take(scores, area * p_.item);
    take(of_scores, area * p_.item, backward);
    take(kept_scores_, area * p_.item, backward && dropped);
    take(keep_, area, dropped);
    take(mask_, area * p_.item, p_.masked);
    take(raw_, area, dropped || p_.mask_dtype == DType::Bool);
    take(max, most_lanes_ * p_.item);
    take(sum, most_lanes_ * p_.item);
    take(factor, most_lanes_ * p_.item);
    int64_t scratch = 0;
    const auto product = [&](int64_t m, int64_t n, int64_t k) {
      scratch = std::max(scratch, table_.gemm_scratch(m, n, k, p_.item));
    };
    product(most_keys_, most_lanes_, p_.features);
    product(most_lanes_, p_.values, most_keys_);
    if (backward) {
      product(most_keys_, most_lanes_, p_.values);
      product(most_lanes_, p_.features, most_keys_);
      product(most_keys_, p_.features, most_lanes_);
      product(most_keys_, p_.values, most_lanes_);
    }
    take(scratch_, scratch);
    data_ = static_cast<char*>(allocate(static_cast<size_t>(bytes_)));
    for (int i = 0; i < count_; ++i) *members_[i].pointer = data_ + members_[i].offset;
  }
  ~Tiles() { deallocate(data_, static_cast<size_t>(bytes_)); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  static int64_t width_of(int64_t lanes) {
    if (lanes <= kAttentionLanes / 2) return kAttentionLanes / 2;
    return round_up(lanes, kAttentionLanes);
  }

  // Block `index` of the queries of a head. Returns how many keys they see.
  int64_t begin(int64_t head, int64_t index) {
    head_ = head;
    first_ = index * kQueries;
    lanes = std::min(kQueries, p_.queries - first_);
    width = width_of(lanes);
    load_transposed(p_.q.at(head, first_), p_.q.row, p_.q.column, p_.features, query);
    return p_.call.causal ? std::min(p_.keys, first_ + lanes) : p_.keys;
  }
  int64_t first() const { return first_; }

  // to[column][lane] = rows of this block; lanes beyond are 0.
  void load_transposed(const char* from, int64_t row, int64_t column, int64_t columns, char* to) {
    const int64_t item = p_.item;
    if (lanes < width) std::memset(to, 0, static_cast<size_t>(columns * width * item));
    if (columns == 0) return;
    char* const data[2] = {to, const_cast<char*>(from)};
    const int64_t strides[4] = {item, row * item, width * item, column * item};
    const int type = static_cast<int>(p_.dtype);
    table_.cast[type][type](data, strides, lanes, columns, nullptr);
  }

  // Scores of `count` keys from j on, before the mask; false where none of them is seen.
  bool begin_tile(int64_t j, int64_t count) {
    tile_ = {count, width, scores, p_.call.scale, nullptr, 0,
             p_.call.causal ? first_ - j : count};
    key_ = j;
    if (p_.masked && !load_mask(j, count)) return false;
    multiply(count, width, p_.features, p_.k.at(head_, j), p_.k.row, p_.k.column, query, width, 1,
             scores, width, false);
    if (p_.call.dropout > 0) load_dropout(j, count);
    return true;
  }

  // Forward: scores become exponentials, which sum and factor know of; then those that are kept.
  void exponentials() {
    kernels_.forward[type_]({tile_, max, sum, factor});
    if (p_.call.dropout > 0)
      kernels_.dropout[type_](scores, as_bytes(keep_), keep_value(), scores, area());
  }
  void finish() { kernels_.finish[type_](max, sum, lanes); }
  void scale_rows(char* y, int64_t row, const char* factors) {
    kernels_.scale_rows[type_](y, lanes, row, p_.values, factors);
  }
  void start() {
    std::memset(sum, 0, static_cast<size_t>(width * p_.item));
    fill_lowest(max);
  }

  // Backward: scores become probabilities. Returns those that are kept.
  const char* probabilities() {
    kernels_.backward[type_]({tile_, max, sum});
    if (p_.call.dropout == 0) return scores;
    kernels_.dropout[type_](scores, as_bytes(keep_), keep_value(), kept_scores_, area());
    return kept_scores_;
  }
  // … which become the gradient of the scores, of which of_scores has that of the probabilities.
  void score_gradient() {
    if (p_.call.dropout > 0)
      kernels_.dropout[type_](of_scores, as_bytes(keep_), keep_value(), of_scores, area());
    kernels_.gradient[type_](scores, of_scores, factor, p_.call.scale, tile_.keys, width);
  }
  // factor = the sums of the products of rows of g and y: delta.
  void load_delta(const char* g, int64_t g_row, const char* y, int64_t y_row) {
    std::memset(factor, 0, static_cast<size_t>(width * p_.item));
    kernels_.row_products[type_](g, g_row, y, y_row, lanes, p_.values, factor);
  }
  // max and sum of the forward pass; lanes beyond have the probability 0.
  void load_stats(const char* of_max, const char* of_sum) {
    std::memset(max, 0, static_cast<size_t>(width * p_.item));
    std::memset(sum, 0, static_cast<size_t>(width * p_.item));
    std::memcpy(max, of_max, static_cast<size_t>(lanes * p_.item));
    std::memcpy(sum, of_sum, static_cast<size_t>(lanes * p_.item));
  }

  void multiply(int64_t m, int64_t n, int64_t k, const char* a, int64_t a_row, int64_t a_column,
                const char* b, int64_t b_row, int64_t b_column, char* c, int64_t c_row, bool add) {
    if (m == 0 || n == 0) return;
    table_.gemm[type_]({m, n, k, a, a_row, a_column, b, b_row, b_column, c, c_row, nullptr, add},
                       scratch_);
  }

  int64_t lanes = 0, width = 0;
  char *query = nullptr, *gradient = nullptr;    // [columns][width]
  char *scores = nullptr, *of_scores = nullptr;  // [keys][width]
  char *max = nullptr, *sum = nullptr, *factor = nullptr;

 private:
  int64_t area() const { return tile_.keys * width; }
  double keep_value() const { return p_.call.dropout < 1 ? 1 / (1 - p_.call.dropout) : 0; }
  static const uint8_t* as_bytes(const char* x) { return reinterpret_cast<const uint8_t*>(x); }

  void fill_lowest(char* to) {
    if (p_.dtype == DType::Float64) {
      std::fill_n(reinterpret_cast<double*>(to), width, -std::numeric_limits<double>::infinity());
    } else {
      std::fill_n(reinterpret_cast<float*>(to), width, -std::numeric_limits<float>::infinity());
    }
  }

  // The mask of this tile, transposed, as numbers. False if no key is seen.
  bool load_mask(int64_t j, int64_t count) {
    const bool shared = p_.mask.row == 0;  // by all queries
    const int64_t columns = shared ? 1 : lanes, row = shared ? 1 : width;
    const bool bools = p_.mask_dtype == DType::Bool;
    const int64_t from = p_.mask.item(), to = bools ? 1 : p_.item;
    char* const data[2] = {bools ? raw_ : mask_, p_.mask.at(head_, first_, j)};
    const int64_t strides[4] = {to, p_.mask.row * from, row * to, p_.mask.column * from};
    table_.cast[static_cast<int>(p_.mask_dtype)][static_cast<int>(bools ? DType::Bool : p_.dtype)](
        data, strides, columns, count, nullptr);
    tile_.mask = mask_;
    tile_.mask_row = shared ? 0 : width;
    const bool dense = row == columns;
    bool any = false;
    for (int64_t r = 0; r < (dense ? 1 : count); ++r) {
      const int64_t n = dense ? columns * count : columns;
      char* const numbers = mask_ + r * row * p_.item;
      any |= bools ? kernels_.mask_of_bools(as_bytes(raw_ + r * row), numbers, n, p_.type)
                   : kernels_.any_visible(numbers, n, p_.type);
    }
    return any;
  }

  // keep_[key][lane]: whether the draw keeps that score.
  void load_dropout(int64_t j, int64_t count) {
    const BernoulliParams params{1 - p_.call.dropout};
    for (int64_t l = 0; l < lanes; ++l) {
      const int64_t at = (head_ * p_.queries + first_ + l) * p_.keys + j;
      table_.random.bernoulli(raw_ + l * count, at, count, p_.call.draw.seed, p_.call.draw.offset,
                              &params);
    }
    char* const data[2] = {keep_, raw_};
    const int64_t strides[4] = {1, count, width, 1};
    const int type = static_cast<int>(DType::Bool);
    table_.cast[type][type](data, strides, lanes, count, nullptr);
  }

  const Problem& p_;
  const KernelTable& table_;
  const AttentionKernels& kernels_;
  int type_;
  int64_t most_lanes_, most_keys_;
  int64_t head_ = 0, first_ = 0, key_ = 0;
  AttentionTile tile_{};
  struct Member {
    char** pointer;
    int64_t offset;
  };
  Member members_[12];
  int count_ = 0;
  int64_t bytes_ = 0;
  char *keep_ = nullptr, *mask_ = nullptr, *raw_ = nullptr, *kept_scores_ = nullptr;
  char *scratch_ = nullptr, *data_ = nullptr;
};

// A new tensor whose rows are dense, in the order in memory that `like` has, with another last size.
Tensor rows_like(const Tensor& like, int64_t columns, TensorOptions options) {
  Dims sizes = like.sizes();
  sizes.back() = columns;
  const Dims strides = strides_after(sizes, {&like});
  return strides.back() == 1 ? empty_strided(sizes, strides, options) : empty(sizes, options);
}

Tensor with_dense_rows(const Tensor& x) {
  return x.size(x.dim() - 1) > 1 && x.stride(x.dim() - 1) != 1 ? contiguous(x) : x;
}

void forward_block(const Problem& p, Tiles& tiles, const Matrices& y, int64_t head, int64_t index,
                   char* stats) {
  const int64_t seen = tiles.begin(head, index), lanes = tiles.lanes;
  char* const out = y.at(head, tiles.first());
  bool any = false;
  tiles.start();
  for (int64_t j = 0; j < seen; j += kKeys) {
    const int64_t count = std::min(kKeys, seen - j);
    if (!tiles.begin_tile(j, count)) continue;
    tiles.exponentials();
    if (any) tiles.scale_rows(out, y.row, tiles.factor);
    tiles.multiply(lanes, p.values, count, tiles.scores, 1, tiles.width, p.v.at(head, j), p.v.row,
                   p.v.column, out, y.row, any);
    any = true;
  }
  if (!any)
    for (int64_t i = 0; i < lanes; ++i)
      std::memset(out + i * y.row * p.item, 0, static_cast<size_t>(p.values * p.item));
  tiles.finish();
  if (any) tiles.scale_rows(out, y.row, tiles.sum);
  if (stats == nullptr) return;
  char* const of_block = stats + (head * p.queries + tiles.first()) * p.item;
  std::memcpy(of_block, tiles.max, static_cast<size_t>(lanes * p.item));
  std::memcpy(of_block + p.heads * p.queries * p.item, tiles.sum,
              static_cast<size_t>(lanes * p.item));
}

// The tensors of a backward pass, as matrices.
struct Backward {
  Matrices y, g, dq, dk, dv;
  char* stats;
  AttentionNeeds needs;
};

// All queries of a head against the keys [begin, end): adds to dk and dv, and to dq, which the
// first tile of each block of queries writes.
void backward_head(const Problem& p, const Backward& b, Tiles& tiles, int64_t head, int64_t begin,
                   int64_t end, const Matrices& dq, int64_t part) {
  const int64_t item = p.item;
  for (int64_t index = 0; index < p.blocks; ++index) {
    const int64_t first = index * kQueries, lanes = std::min(kQueries, p.queries - first);
    char* const to_q = b.needs.q ? dq.at(part * p.heads + head, first) : nullptr;
    if (to_q != nullptr)
      for (int64_t i = 0; i < lanes; ++i)
        std::memset(to_q + i * dq.row * item, 0, static_cast<size_t>(p.features * item));
    if (p.call.causal && begin >= first + lanes) continue;
    const int64_t seen = std::min(end, tiles.begin(head, index));
    const char* const g = b.g.at(head, first);
    const char* const stats = b.stats + (head * p.queries + first) * item;
    tiles.load_stats(stats, stats + p.heads * p.queries * item);
    tiles.load_delta(g, b.g.row, b.y.at(head, first), b.y.row);
    tiles.load_transposed(g, b.g.row, b.g.column, p.values, tiles.gradient);
    const int64_t width = tiles.width;
    for (int64_t j = begin; j < seen; j += kKeys) {
      const int64_t count = std::min(kKeys, seen - j);
      if (!tiles.begin_tile(j, count)) continue;
      const char* const kept = tiles.probabilities();
      if (b.needs.v)
        tiles.multiply(count, p.values, lanes, kept, width, 1, g, b.g.row, b.g.column,
                       b.dv.at(head, j), b.dv.row, true);
      if (!b.needs.q && !b.needs.k) continue;
      tiles.multiply(count, width, p.values, p.v.at(head, j), p.v.row, p.v.column, tiles.gradient,
                     width, 1, tiles.of_scores, width, false);
      tiles.score_gradient();
      if (b.needs.k)
        tiles.multiply(count, p.features, lanes, tiles.scores, width, 1, p.q.at(head, first),
                       p.q.row, p.q.column, b.dk.at(head, j), b.dk.row, true);
      if (b.needs.q)
        tiles.multiply(lanes, p.features, count, tiles.scores, 1, width, p.k.at(head, j), p.k.row,
                       p.k.column, to_q, dq.row, true);
    }
  }
}

}  // namespace

AttentionResult tiled_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                const Tensor& mask, const AttentionCall& call, bool keep_stats) {
  const Problem p(q, k, v, mask, call);
  AttentionResult result;
  result.y = rows_like(q, p.values, q.options());
  if (keep_stats) result.stats = empty({2, p.heads, p.queries}, q.options());
  if (p.heads * p.queries == 0) return result;
  const Matrices y(result.y, p.batch, 1);
  char* const stats = keep_stats ? result.stats.data<char>() : nullptr;
  const int64_t tasks = p.heads * p.blocks;
  const double work = p.work(1, 1);
  const DenormalGuard denormal;
  const BlockingSection section(work > kLarge);
  parallel_for(tasks, grain_for(work, tasks), [&](int64_t begin, int64_t end) {
    Tiles tiles(p, false);
    for (int64_t t = begin; t < end; ++t)
      forward_block(p, tiles, y, t / p.blocks, t % p.blocks, stats);
  });
  return result;
}

Tensors tiled_attention_backward(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const Tensor& mask, const AttentionResult& result,
                                 const Tensor& gradient, const AttentionCall& call,
                                 AttentionNeeds needs) {
  const Problem p(q, k, v, mask, call);
  const Tensor y = with_dense_rows(result.y), g = with_dense_rows(gradient),
               stats = contiguous(result.stats);
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
  const Backward b{Matrices(y, p.batch, 1),
                   Matrices(g, p.batch, 1),
                   Matrices(dq, batch, 1),
                   Matrices(dk, p.batch, call.group),
                   Matrices(dv, p.batch, call.group),
                   stats.data<char>(),
                   needs};
  if (p.heads > 0) {
    const int64_t tasks = outer * parts;
    const double work = p.work(3, 2);
    const DenormalGuard denormal;
    const BlockingSection section(work > kLarge);
    parallel_for(tasks, grain_for(work, tasks), [&](int64_t begin, int64_t end) {
      Tiles tiles(p, true);
      for (int64_t t = begin; t < end; ++t) {
        const int64_t part = t % parts, from = part * step,
                      to = std::min(p.keys, from + step);
        for (int64_t member = 0; member < call.group; ++member)
          backward_head(p, b, tiles, t / parts * call.group + member, from, to, b.dq, part);
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
