// Recurrent layers: RNN, LSTM and GRU over whole sequences, and one step of them.
#pragma once

#include "zero/core/tensor.h"
#include "zero/kernels/recurrent.h"

namespace zero {

struct RecurrentOptions {
  RecurrentMode mode;
  bool biases;  // whether the weights contain them
  int64_t layers;
  double dropout;  // of what goes from layer to layer
  bool train;
  bool bidirectional;
  bool batch_first;
};

// All layers: {y, h_n} and, of an LSTM, c_n. x is [T, B, in], or [B, T, in] where batch_first says
// so; or packed, [rows, in] with `batch_sizes`, one for each step, falling. h0 is
// [layers * directions, B, out], c0 [layers * directions, B, hidden]; undefined: zeros. Weights for
// each layer and direction: W_ih [gates * hidden, in], W_hh [gates * hidden, out], the two biases,
// and where there is one more the projection W_hr [out, hidden]. `op` is the name in errors.
Tensors recurrent(const char* op, const Tensor& x, const Tensor& batch_sizes, const Tensor& h0,
                  const Tensor& c0, const Tensors& weights, const RecurrentOptions& options);

// One step, {h} or of an LSTM {h, c}: x is [B, in], h and c are [B, hidden]; or all without B.
// Biases may be undefined.
Tensors recurrent_cell(const char* op, RecurrentMode mode, const Tensor& x, const Tensor& h,
                       const Tensor& c, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                       const Tensor& b_hh);

}  // namespace zero
