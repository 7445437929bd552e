// Steps of recurrent layers: a product with the matrix of the last state, a pass over the gates.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

enum class RecurrentMode : uint8_t { Tanh, Relu, Lstm, Gru };
inline constexpr int kRecurrentModes = 4;

// What a layer keeps of each row, blocks of `hidden` numbers: of an LSTM the gates i f g o, of a
// GRU r z n and W_hn h + b_hn, of the others the result.
constexpr int64_t recurrent_slots(RecurrentMode mode) {
  return mode == RecurrentMode::Lstm || mode == RecurrentMode::Gru ? 4 : 1;
}
// The blocks of its matrices.
constexpr int64_t recurrent_gates(RecurrentMode mode) {
  return mode == RecurrentMode::Lstm ? 4 : mode == RecurrentMode::Gru ? 3 : 1;
}

// Rows of numbers, `row` elements apart; 0 for the same one again and again.
struct RecurrentRows {
  const void* data;
  int64_t row;
};

// A matrix b [k, n] as tiles of results read it, one panel of columns after the other: of an LSTM
// and a GRU a vector of columns from each gate (V = 4, 3), else two neighbouring vectors (V = 2).
// packed[panel][k][V][vector]; columns that are missing are 0.
struct RecurrentPackArgs {
  const void* b;
  int64_t b_row, b_column;  // strides in elements
  int64_t k;
  int64_t hidden, groups;  // n = groups * hidden; groups 4, 3 or 1
  int64_t begin, end;      // panels
  void* packed;
};
using RecurrentPackFn = void (*)(const RecurrentPackArgs& args);

// One step, for the units of some panels. Slots hold W_ih x; where `packed` is given, W_hh h is
// added to them. With the bias they become gates, and c and h are written. Rows up to `split` go on
// from the step before, the others begin.
struct RecurrentForwardArgs {
  int64_t rows, split, hidden;
  int64_t begin, end;               // panels
  void* gates;                      // rows [slots * hidden], dense
  const void* packed;               // null: the product is in the slots already
  int64_t k;                        // of the product: elements of h
  RecurrentRows h_before, h_start;  // the second null: 0, and no product
  RecurrentRows c_before, c_start;  // of an LSTM; never null
  const void* zeros;                // `hidden` of them
  const void* bias;                 // [gates * hidden]: both together, of n of a GRU b_ih alone
  const void* bias_n;               // of a GRU: the slot W_hn h starts as this (null: 0) …
  bool fill;                        // … if `fill`
  void *c, *h;
  int64_t c_row, h_row;
};
using RecurrentForwardFn = void (*)(const RecurrentForwardArgs& args);

// One step back, for the units of some panels (of the transposed product, V = 2). First, where
// `packed` is given, the gradients of the step that was done before reach its state: dh += next
// W_hh. Then gradients of gates come from dh + g and dc; dc becomes that of the c before, and dh
// the part that does not go through W_hh.
struct RecurrentBackwardArgs {
  int64_t rows, split, hidden;
  int64_t begin, end;  // panels
  const void* packed;
  const void* next;  // [next_rows][slots * hidden]
  int64_t next_rows, k;
  const void* gates;
  RecurrentRows g;                  // never null
  RecurrentRows h_before, h_start;  // of a GRU; never null
  RecurrentRows c_before, c_start;  // of an LSTM; never null
  RecurrentRows c;
  void *dh, *dc;  // [rows][hidden], dense
  void* out;      // gradients of the slots; of a GRU in the order r z, W_hn h + b_hn, n
};
using RecurrentBackwardFn = void (*)(const RecurrentBackwardArgs& args);

struct RecurrentKernels {
  int64_t vector_bytes;
  RecurrentPackFn pack[kNumComputeTypes];  // these for float32 and float64
  RecurrentForwardFn forward[kRecurrentModes][kNumComputeTypes];
  RecurrentBackwardFn backward[kRecurrentModes][kNumComputeTypes];
};

// Units in a panel.
constexpr int64_t recurrent_panel(int64_t vector_bytes, int64_t itemsize, int64_t groups) {
  return vector_bytes / itemsize * (groups == 1 ? 2 : 1);
}

}  // namespace zero
