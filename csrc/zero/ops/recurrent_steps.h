// One direction of a recurrent layer, over all steps and back. No gradients are recorded here.
#pragma once

#include "zero/core/tensor.h"
#include "zero/kernels/recurrent.h"

namespace zero {

// How many rows each step has, one after the other: all alike, or of packed sequences, falling.
class Steps {
 public:
  Steps(int64_t count, int64_t batch) : count_(count), batch_(batch), rows_(count * batch) {}
  explicit Steps(const Tensor& batch_sizes);  // int64, dense
  static Steps of(const Tensor& batch_sizes, int64_t count, int64_t batch) {
    return batch_sizes.defined() ? Steps(batch_sizes) : Steps(count, batch);
  }

  int64_t count() const { return count_; }
  int64_t batch() const { return batch_; }  // rows of the first one
  int64_t rows() const { return rows_; }    // of all
  bool packed() const { return !sizes_.empty(); }
  int64_t size(int64_t t) const { return packed() ? sizes_[t] : batch_; }
  int64_t offset(int64_t t) const { return packed() ? offsets_[t] : t * batch_; }

 private:
  int64_t count_, batch_, rows_;
  SmallVector<int64_t, 1> sizes_, offsets_;
};

// Of one layer and direction; biases and the projection may be undefined.
struct RecurrentWeights { Tensor ih, hh, b_ih, b_hh, hr; };

// What a direction reads and writes: dense tensors of float32 or float64, but for y.
struct Direction {
  RecurrentMode mode;
  bool reverse;
  const Steps& steps;
  const RecurrentWeights& w;
  const Tensor& x;      // [rows, in]
  const void *h0, *c0;  // [batch, out], [batch, hidden]; null: zeros
  void* y;              // [rows, out] …
  int64_t y_row;        // … and how far rows are apart
  const Tensor& gates;  // [rows, slots * hidden], see RecurrentForwardArgs
  void* c;              // of an LSTM: [rows, hidden] …
  bool keeps_c;         // … or only the last of each row, [batch, hidden]

  int64_t in() const { return w.ih.size(1); }
  int64_t hidden() const { return w.ih.size(0) / recurrent_gates(mode); }
  int64_t out() const { return w.hh.size(1); }
  DType dtype() const { return w.ih.dtype(); }
  // Steps in the order in which they are done.
  int64_t step(int64_t i) const { return reverse ? steps.count() - 1 - i : i; }
};

void run_forward(const Direction& d);

// Gradients of one direction. dh and dc hold those of the last states, then those of the first.
struct DirectionGradients {
  const void* g;  // of y, rows y_row apart; null: none
  Tensor dh, dc;  // [batch, out], [batch, hidden]
  bool of_h0;     // whether dh is wanted
  Tensor dx;      // [rows, in]; undefined: not wanted
  bool add;       // to dx
  bool of_ih, of_hh, of_bias, of_hr;
  RecurrentWeights dw;  // those that were asked for
};
void run_backward(const Direction& d, DirectionGradients& gradients);

// The last row of each sequence, in the order in which a direction does them: from [rows, n], rows
// from_row apart, to [batch, n].
void copy_last(const Steps& steps, bool reverse, const void* from, int64_t from_row, int64_t n,
               int64_t itemsize, void* to);

}  // namespace zero
