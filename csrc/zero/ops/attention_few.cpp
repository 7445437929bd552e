// Attention of few queries, such as that of the next word in a text.
#include "zero/ops/attention_parts.h"

namespace zero {

static constexpr int64_t kKeys = 512;  // at a time

// Scores lie in rows here, since most lanes of a tile would be idle, and products of vectors read
// keys and values once.
void few_queries(const AttentionProblem& p, const HeadMatrices& y, int64_t begin, int64_t end) {
  const KernelTable& table = kernels();
  const AttentionKernels& attention = *table.attention;
  const int type = static_cast<int>(p.type);
  const int64_t rows = p.queries, most = std::min(p.keys, kKeys), item = p.item,
                width = round_up(most, attention_lanes(item));
  const int64_t numbers = round_up(rows * item, kAlignment);
  const bool dropped = p.call.dropout > 0, bools = p.mask_dtype == DType::Bool;
  const int64_t scratch = std::max(table.gemm_scratch(rows, most, p.features, item),
                                   table.gemm_scratch(rows, p.values, most, item));
  const int64_t area = rows * width * item;
  const size_t bytes = static_cast<size_t>(3 * numbers + 3 * area + scratch);
  char* const memory = static_cast<char*>(allocate(bytes));
  char *const max = memory, *const sum = max + numbers, *const factor = sum + numbers,
              *const scores = factor + numbers, *const mask = scores + area,
              *const raw = mask + area, *const for_gemm = raw + area;
  const auto raw_bytes = reinterpret_cast<uint8_t*>(raw);
  for (int64_t head = begin; head < end; ++head) {
    char* const out = y.at(head);
    bool any = false;
    start_softmax(p, max, sum, rows);
    const int64_t seen = p.call.causal ? std::min(p.keys, rows) : p.keys;
    for (int64_t j = 0; j < seen; j += kKeys) {
      const int64_t count = std::min(kKeys, seen - j);
      AttentionRows args{rows,         count,   width, scores,
                         p.call.scale, nullptr, 0,     p.call.causal ? -j : count,
                         max,          sum,     factor};
      if (p.masked) {
        const int64_t own = p.mask.row == 0 ? 1 : rows;
        const int64_t from = p.mask.item(), to = bools ? 1 : item;
        char* const data[2] = {bools ? raw : mask, p.mask.at(head, 0, j)};
        const int64_t strides[4] = {to, p.mask.column * from, count * to, p.mask.row * from};
        table.cast[static_cast<int>(p.mask_dtype)][static_cast<int>(bools ? DType::Bool : p.dtype)](
            data, strides, count, own, nullptr);
        if (!(bools ? attention.mask_of_bools[type](raw_bytes, mask, own * count)
                    : attention.any_visible[type](mask, own * count)))
          continue;
        args.mask = mask;
        args.mask_row = own == 1 ? 0 : count;
      }
      table.gemm[type]({rows, count, p.features, p.q.at(head), p.q.row, p.q.column, p.k.at(head, j),
                        p.k.column, p.k.row, scores, width, nullptr, false},
                       for_gemm);
      attention.softmax_rows[type](args);
      if (dropped) {
        const BernoulliParams params{1 - p.call.dropout};
        for (int64_t i = 0; i < rows; ++i) {
          table.random.bernoulli(raw, (head * rows + i) * p.keys + j, count, p.call.draw.seed,
                                 p.call.draw.offset, &params);
          char* const row = scores + i * width * item;
          attention.dropout[type](row, raw_bytes, 0, keep_value(p.call), row, 1, count);
        }
      }
      if (any) attention.scale_rows[type](out, rows, y.row, p.values, factor);
      table.gemm[type]({rows, p.values, count, scores, width, 1, p.v.at(head, j), p.v.row,
                        p.v.column, out, y.row, nullptr, any},
                       for_gemm);
      any = true;
    }
    attention.finish[type](max, sum, rows);
    if (any) {
      attention.scale_rows[type](out, rows, y.row, p.values, sum);
    } else {
      for (int64_t i = 0; i < rows; ++i)
        std::memset(out + i * y.row * item, 0, static_cast<size_t>(p.values * item));
    }
  }
  deallocate(memory, bytes);
}

}  // namespace zero
