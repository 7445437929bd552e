// Activation functions, and their gradients from what the forward pass keeps.
//
// Each entry of the list is a struct of activation.cpp with value(x) and gradient(g, x). X(name,
// cost): the cost of an element, in additions of the memory's speed.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

// clang-format off
#define ZERO_ACTIVATIONS(X)                                                                     \
  X(LeakyRelu, 1) /* x or a x */                                                                \
  X(Elu, 4)       /* a b (e^(c x) - 1) for x <= 0, else b x */                                  \
  X(EluResult, 4) /* the same; its gradient takes the result in the place of x */               \
  X(Gelu, 4) X(GeluTanh, 4) X(Silu, 4) X(Mish, 4)                                               \
  X(Hardtanh, 1)  /* x between a and b */                                                       \
  X(Hardsigmoid, 1) X(Hardswish, 1)                                                             \
  X(Softplus, 4)  /* ln(1 + e^(a x)) / a, or x where a x > b */                                 \
  X(LogSigmoid, 4)                                                                              \
  X(Softshrink, 1) X(Hardshrink, 1) /* 0 between -a and a */                                    \
  X(Threshold, 1) /* b where x <= a */
#define ZERO_ENUM_ITEM(name, cost) name,
enum class Activation : uint8_t { ZERO_ACTIVATIONS(ZERO_ENUM_ITEM) Count };
#undef ZERO_ENUM_ITEM
// clang-format on

struct ActivationParams { double a, b, c; };

// operands[0][i] = f(operands[1][i], …) for i < n: all operands are dense and of one type. A map in
// two dimensions is one of MapKernels, whose params point to a DenseMap.
using DenseFn = void (*)(const void* params, char* const* operands, int64_t n);
struct DenseMap {
  DenseFn loop;
  const void* params;
};
struct MapKernels { LoopFn of_inputs[4][kNumComputeTypes]; };  // of one, two and three inputs

// For float32 and float64; the params of DenseFn are ActivationParams.
struct ActivationKernels {
  MapKernels maps;
  DenseFn value[static_cast<int>(Activation::Count)][kNumComputeTypes];     // inputs: x
  DenseFn gradient[static_cast<int>(Activation::Count)][kNumComputeTypes];  // g and what was kept
  // Without params:
  DenseFn prelu[kNumComputeTypes];                  // x, w: x or w x
  DenseFn prelu_gradient[kNumComputeTypes];         // g, x, w: of x
  DenseFn prelu_weight_gradient[kNumComputeTypes];  // g, x: of w
  DenseFn glu[kNumComputeTypes];                // a, b: a sigmoid(b); of g and b, the gradient of a
  DenseFn glu_gate_gradient[kNumComputeTypes];  // g, a, b: of b
  DenseFn
      dropout[kNumComputeTypes];  // x, bytes that are 0 or 1: x times that times a of the params
};

}  // namespace zero
