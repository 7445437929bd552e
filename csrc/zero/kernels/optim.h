// The kernels of optim.cpp.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

// Updates of one element by itself; see optim.cpp.
enum class UpdateRule : uint8_t {
  Sgd,
  Adam,
  NAdam,
  RAdam,
  Adamax,
  Adagrad,
  Adadelta,
  RMSprop,
  Rprop,
  Asgd,
  Lion,
  Muon,  // what is made orthogonal; it goes where the parameter would be
};
inline constexpr int kUpdateArrays = 5;  // parameter, gradient, states; null where one is not used
struct UpdateArgs {
  double sign = 1;   // of the gradient: -1 climbs
  double decay = 0;  // of the parameter is added to the gradient
  double keep = 1;   // of the parameter stays (decoupled decay)
  double c[6] = {};  // constants of the rule
};
using UpdateFn = void (*)(UpdateRule rule, void* const* arrays, int64_t n, const UpdateArgs& args);

// Adafactor's matrices: parts of one, rows `stride` elements apart, or several that follow each
// other. The update of an element is u[i, j] = g[i, j] min(a[i] b[j], limit).
struct FactoredArgs {
  void* p;
  const void* g;
  int64_t matrices, rows, columns, stride;
  const void *a, *b;
  double limit, keep, step;
};
// Adds the squares of g to sums of rows and of columns.
using SquareSumsFn = void (*)(const FactoredArgs& args, double* row_sums, double* column_sums);
using FactoredSizeFn = double (*)(const FactoredArgs& args);  // sum u^2
using FactoredStepFn = void (*)(const FactoredArgs& args);    // p = keep p + step u

// x = (a x + b y) / divisor, rounded to bfloat16, in float32; y may be x.
struct RoundArgs { float a = 1, b = 0, divisor = 1; };
using RoundFn = void (*)(float* x, const float* y, int64_t n, const RoundArgs& args);

struct OptimizerKernels {  // of compute types float32 and float64
  UpdateFn update[2];
  SquareSumsFn square_sums[2];
  FactoredSizeFn factored_size[2];
  FactoredStepFn factored_step[2];
  RoundFn round_bfloat16;
};

}  // namespace zero
