// The parts of attention (ops/attention_tiled.cpp): products whose results stay in registers, and
// what is done with scores between them.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

// Scores of some queries against some keys lie in panels, transposed: row r of a panel is key r,
// lane l is query l. So the largest score, the sum of exponentials and the rest are one vector
// each, and no loop ends in the middle of one. A panel is as wide as a cache line.
constexpr int64_t attention_lanes(int64_t itemsize) { return 64 / itemsize; }

// c = a b, or c += a b. c has m rows, c_row apart, of which `valid` numbers up to a panel's width
// are written; b has k rows of that width, b_row apart; a is m x k, where the columns after `span`
// ones go on a_span further, or `span` is k. Each result is one chain of multiply-adds; where
// a_column is not 1, for each 64 of them, and these are added in order.
struct PanelProduct {
  int64_t m, k;
  const void* a;
  int64_t a_row, a_column, span, a_span;
  const void* b;
  int64_t b_row;
  void* c;
  int64_t c_row, valid;
  bool add;
  // Of two panels of b and c that meet the same a, how far the second ones are.
  int64_t panels = 1, b_panel = 0, c_panel = 0;
};

// Puts a mask on the scores of a panel: numbers to add, or null; -inf means that the key takes no
// part. Rows are mask_row apart; with mask_row 0 there is one number for each key. Lane l sees key
// r if r <= l + diagonal.
struct PanelMask {
  void* scores;
  int64_t keys;
  const void* mask;
  int64_t mask_row;
  int64_t diagonal;
};

// The running softmax of few queries, whose scores lie in rows: number k of row r is that of query
// r and key k. There is room for a multiple of a panel's width in each row, and for a factor of the
// scores. Row r sees key k if k <= r + diagonal; the rest is as below.
struct AttentionRows {
  int64_t rows, keys, row;
  void* scores;
  double scale;
  const void* mask;
  int64_t mask_row;  // 0 for one row that all share
  int64_t diagonal;
  void *max, *sum, *factor;
};

// Float32 and float64.
struct AttentionKernels {
  void (*product[kNumComputeTypes])(const PanelProduct& args);
  void (*mask[kNumComputeTypes])(const PanelMask& args);
  // The running softmax: scores become p = exp(x - max), where max takes in the new ones; sum gets
  // theirs, and factor is what the results so far are to be multiplied by. At first max is -inf
  // and sum 0. One number of each for every lane.
  void (*softmax[kNumComputeTypes])(void* scores, int64_t keys, void* max, void* sum, void* factor);
  void (*softmax_rows[kNumComputeTypes])(const AttentionRows& args);
  // The end of it: max becomes finite, sum its reciprocal; both 0 for a query that saw no key.
  void (*finish[kNumComputeTypes])(void* max, void* sum, int64_t n);
  // Backward: scores become exp(x - max) inverse, …
  void (*probabilities[kNumComputeTypes])(void* scores, int64_t keys, const void* max,
                                          const void* inverse);
  // delta = the sum of p g over the sum of p, which is 1 but for rounding, for each lane.
  void (*mean_gradient[kNumComputeTypes])(const void* p, const void* g, int64_t keys,
                                          double* delta);
  // … and these their gradient, scale p (g - delta).
  void (*gradient[kNumComputeTypes])(void* p, const void* g, int64_t keys, const double* delta,
                                     double scale);
  // to = from times value where `keep` is set, whose rows are keep_row apart, else 0.
  void (*dropout[kNumComputeTypes])(const void* from, const uint8_t* keep, int64_t keep_row,
                                    double value, void* to, int64_t keys, int64_t width);
  // Each lane times its factor; a factor 0 gives 0.
  void (*scale_lanes[kNumComputeTypes])(void* x, int64_t rows, const void* factors);
  void (*scale_rows[kNumComputeTypes])(void* x, int64_t rows, int64_t row, int64_t n,
                                       const void* factors);
  void (*scale_all[kNumComputeTypes])(void* x, int64_t n, double factor);
  // out[r] = the sum of the products of rows r of a and b.
  void (*row_products[kNumComputeTypes])(const void* a, int64_t a_row, const void* b, int64_t b_row,
                                         int64_t rows, int64_t n, double* out);
  // Bools as numbers to add: -inf for false. Returns whether one is true.
  bool (*mask_of_bools[kNumComputeTypes])(const uint8_t* from, void* to, int64_t n);
  // Whether one is not -inf.
  bool (*any_visible[kNumComputeTypes])(const void* mask, int64_t n);
};

}  // namespace zero
