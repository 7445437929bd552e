// Losses of pairs of numbers, and the step of the CTC loss.
#pragma once

#include "zero/kernels/activation.h"

namespace zero {

// Each entry is a struct of loss.inl with value(x, t) and slope(x, t), the derivative by x. X(name,
// cost): the cost of an element, in additions.
// clang-format off
#define ZERO_PAIR_LOSSES(X)                                                                     \
  X(Absolute, 1)      /* |x - t| */                                                             \
  X(Huber, 1)         /* (x - t)^2 / 2, from a on a (|x - t| - a / 2); times b */               \
  X(Entropy, 8)       /* -(t ln x + (1 - t) ln(1 - x)), logarithms not below -100 */            \
  X(LogitsEntropy, 4) /* the same of sigmoid(x) */                                              \
  X(Divergence, 4)    /* t (ln t - x) */                                                        \
  X(LogDivergence, 4) /* e^t (t - x) */
#define ZERO_ENUM_ITEM(name, cost) name,
enum class PairLoss : uint8_t { ZERO_PAIR_LOSSES(ZERO_ENUM_ITEM) Count };
#undef ZERO_ENUM_ITEM
// clang-format on

struct PairLossParams {
  double a, b;
  double scale;  // of gradients
};

// out[s] = ln(e^before[s] + e^before[s - 1] + e^(before[s - 2] + skip[s])) + now[s] for s < n; two
// numbers stand in front of `before`.
using CtcStepFn = void (*)(const double* before, const double* skip, const double* now, double* out,
                           int64_t n);

struct LossKernels {  // for float32 and float64; the params of DenseFn are PairLossParams
  DenseFn value[static_cast<int>(PairLoss::Count)][kNumComputeTypes];     // inputs: x, t
  DenseFn gradient[static_cast<int>(PairLoss::Count)][kNumComputeTypes];  // g, x, t
  CtcStepFn ctc_step;
};

}  // namespace zero
