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

#include "zero/core/allocator.h"
#include "zero/ops/attention_parts.h"
#include "zero/ops/ops.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

constexpr int64_t kQueries = 64, kKeys = 128;  // of a tile
constexpr double kLarge = 1e7;  // multiply-adds that are worth letting the interpreter's lock go
constexpr int64_t kTasks = 8;   // of the backward pass, if there are so few heads
constexpr int64_t kPartKeys = 256;  // of such a task, at least

// The memory of one thread, and what is done with a tile in it.
class Tiles {
 public:
  Tiles(const AttentionProblem& problem, bool backward)
      : p_(problem),
        table_(kernels()),
        kernels_(*table_.attention),
        type_(static_cast<int>(p_.type)) {
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
    tile_ = {count, width, scores, p_.call.scale, nullptr, 0, p_.call.causal ? first_ - j : count};
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
      kernels_.dropout[type_](scores, as_bytes(keep_), keep_value(p_.call), scores, area());
  }
  void scale_rows(char* y, int64_t row) {
    kernels_.scale_rows[type_](y, lanes, row, p_.values, factor);
  }
  void start() { start_softmax(p_, max, sum, width); }

  // Backward: scores become probabilities. Returns those that are kept.
  const char* probabilities() {
    kernels_.backward[type_]({tile_, max, sum});
    if (p_.call.dropout == 0) return scores;
    kernels_.dropout[type_](scores, as_bytes(keep_), keep_value(p_.call), kept_scores_, area());
    return kept_scores_;
  }
  // … which become the gradient of the scores, of which of_scores has that of the probabilities.
  void score_gradient() {
    if (p_.call.dropout > 0)
      kernels_.dropout[type_](of_scores, as_bytes(keep_), keep_value(p_.call), of_scores, area());
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
  static const uint8_t* as_bytes(const char* x) { return reinterpret_cast<const uint8_t*>(x); }

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

  const AttentionProblem& p_;
  const KernelTable& table_;
  const AttentionKernels& kernels_;
  int type_;
  int64_t most_lanes_, most_keys_;
  int64_t head_ = 0, first_ = 0;
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

void forward_block(const AttentionProblem& p, Tiles& tiles, const HeadMatrices& y, int64_t head,
                   int64_t index, char* stats) {
  const int64_t seen = tiles.begin(head, index), lanes = tiles.lanes;
  char* const out = y.at(head, tiles.first());
  bool any = false;
  tiles.start();
  for (int64_t j = 0; j < seen; j += kKeys) {
    const int64_t count = std::min(kKeys, seen - j);
    if (!tiles.begin_tile(j, count)) continue;
    tiles.exponentials();
    if (any) tiles.scale_rows(out, y.row);
    tiles.multiply(lanes, p.values, count, tiles.scores, 1, tiles.width, p.v.at(head, j), p.v.row,
                   p.v.column, out, y.row, any);
    any = true;
  }
  finish_softmax(p, head, tiles.first(), lanes, any, out, y.row, tiles.max, tiles.sum, stats);
}

// The tensors of a backward pass, as matrices.
struct Backward {
  HeadMatrices y, g, dq, dk, dv;
  char* stats;
  AttentionNeeds needs;
};

// All queries of a head against the keys [begin, end): adds to dk and dv, and to dq, which the
// first tile of each block of queries writes.
void backward_head(const AttentionProblem& p, const Backward& b, Tiles& tiles, int64_t head,
                   int64_t begin, int64_t end, const HeadMatrices& dq, int64_t part) {
  const int64_t item = p.item;
  for (int64_t first = 0, index = 0; first < p.queries; first += kQueries, ++index) {
    const int64_t lanes = std::min(kQueries, p.queries - first);
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
  const AttentionProblem p(q, k, v, mask, call);
  AttentionResult result;
  result.y = rows_like(q, p.values, q.options());
  if (keep_stats) result.stats = empty({2, p.heads, p.queries}, q.options());
  if (p.heads * p.queries == 0) return result;
  const HeadMatrices y(result.y, p.batch, 1);
  char* const stats = keep_stats ? result.stats.data<char>() : nullptr;
  const bool few = p.queries <= kFewQueries;
  const int64_t blocks = (p.queries + kQueries - 1) / kQueries, tasks = p.heads * blocks;
  const double work = p.work(1, 1);
  const DenormalGuard denormal;
  const BlockingSection section(work > kLarge);
  parallel_for(tasks, attention_grain(work, tasks), [&](int64_t begin, int64_t end) {
    if (few) return few_queries(p, y, begin, end, stats);
    Tiles tiles(p, false);
    for (int64_t t = begin; t < end; ++t) forward_block(p, tiles, y, t / blocks, t % blocks, stats);
  });
  return result;
}

Tensors tiled_attention_backward(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const Tensor& mask, const AttentionResult& result,
                                 const Tensor& gradient, const AttentionCall& call,
                                 AttentionNeeds needs) {
  const AttentionProblem p(q, k, v, mask, call);
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
