// What attention does with a tile of scores between two matrix products (ops/attention_tiled.cpp).
#pragma once

#include "zero/kernels/table.h"

namespace zero {

// Scores of some queries against some keys, transposed: row r is key r, lane l is query l. Rows are
// `width` apart, a multiple of kAttentionLanes for more queries than that; lanes beyond the last
// query hold numbers that nobody reads.
inline constexpr int64_t kAttentionLanes = 16;

struct AttentionTile {
  int64_t keys, width;
  void* scores;
  double scale;
  // What is added to the scaled scores, or null; -inf means that the key takes no part. Rows are
  // mask_row apart; with mask_row 0 there is one number for each key, the same for all queries.
  const void* mask;
  int64_t mask_row;
  int64_t diagonal;  // query l sees key r if r <= l + diagonal
};

// The running softmax: scores become p = exp(x - max), where max takes in those of this tile;
// factor is what results so far are to be multiplied by. In the first tile max is -inf and sum 0.
struct AttentionForward {
  AttentionTile tile;
  void *max, *sum, *factor;  // of each lane
};
// Backward: scores become the probabilities exp(x - max) inverse_sum.
struct AttentionBackward {
  AttentionTile tile;
  const void *max, *inverse_sum;  // of each lane
};

// The running softmax of few queries, whose scores lie in rows: score k of row r is that of query r
// and key k. There is room for a multiple of kAttentionLanes in each row.
struct AttentionRows {
  int64_t rows, keys, row;
  void* scores;
  double scale;
  const void* mask;  // as above, in rows mask_row apart; 0 for one that all share
  int64_t mask_row;
  int64_t diagonal;          // row r sees key k if k <= r + diagonal
  void *max, *sum, *factor;  // of each row
};

struct AttentionKernels {
  // A mask as numbers: `from` has bools (0 becomes -inf, others 0), or numbers, which stay. Returns
  // whether one of them is not -inf.
  bool (*mask_of_bools)(const uint8_t* from, void* to, int64_t n, ComputeType type);
  bool (*any_visible)(const void* mask, int64_t n, ComputeType type);

  // Float32 and float64:
  void (*forward[kNumComputeTypes])(const AttentionForward& args);
  void (*backward[kNumComputeTypes])(const AttentionBackward& args);
  void (*forward_rows[kNumComputeTypes])(const AttentionRows& args);
  // Of a running softmax that has seen all keys: max becomes finite, sum its reciprocal; both are 0
  // for a query that saw no key.
  void (*finish[kNumComputeTypes])(void* max, void* sum, int64_t lanes);
  // p = scale p (g - delta) in all rows, delta is one number for each lane.
  void (*gradient[kNumComputeTypes])(void* p, const void* g, const void* delta, double scale,
                                     int64_t keys, int64_t width);
  // to = from where `keep` is set, times value; else 0. `to` may be `from`.
  void (*dropout[kNumComputeTypes])(const void* from, const uint8_t* keep, double value, void* to,
                                    int64_t n);
  // Rows of n numbers, `row` apart, times their factors; a factor 0 gives 0.
  void (*scale_rows[kNumComputeTypes])(void* x, int64_t rows, int64_t row, int64_t n,
                                       const void* factors);
  // out[r] = the sum of the products of rows r of a and b.
  void (*row_products[kNumComputeTypes])(const void* a, int64_t a_row, const void* b, int64_t b_row,
                                         int64_t rows, int64_t n, void* out);
};

}  // namespace zero
