// Losses beyond those of ops.h: of pairs of numbers (pair_loss.cpp), and of sequences (ctc.cpp).
#pragma once

#include "zero/ops/ops.h"

namespace zero {

// By PyTorch's name; what a and b mean is said in kernels/loss.h. The shapes broadcast.
Tensor pair_loss(const char* name, const Tensor& input, const Tensor& target, Reduction reduction,
                 double a, double b);

// log_probs [T, N, C] or [T, C]; targets [N, S], or those of all samples one after the other. The
// gradient is that of the scores from which log_softmax made log_probs, as in PyTorch.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Dims& input_lengths,
                const Dims& target_lengths, int64_t blank, Reduction reduction, bool zero_infinity);

}  // namespace zero
