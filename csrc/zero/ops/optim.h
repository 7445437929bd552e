// What tells one optimizer from another outside of its loop (kernels/optim.cpp): the names of its
// options and states, and the constants of a step. optimizers.cpp has the list, optim.cpp the step.
#pragma once

#include <cmath>

#include "zero/kernels/table.h"
#include "zero/ops/ops.h"

namespace zero {

// A number among the states, such as the count of steps. It is computed with as it is stored.
struct OptimizerNumber {
  double value = 0;
  DType dtype = DType::Float32;
  double rounded(double x) const {
    return dtype == DType::Float32 ? static_cast<double>(static_cast<float>(x)) : x;
  }
  void set(double x) { value = rounded(x); }
};

// One step of one parameter. Numbers are as they were; those but the count of steps, which counts
// itself, get their new values.
struct OptimizerTurn {
  const double* options;
  bool first;  // the first state was made now
  OptimizerNumber* numbers;
  UpdateArgs args;
};

inline constexpr int kOptimizerStates = 4;
struct OptimizerState {
  const char* name = nullptr;
  bool number = false;  // of no dimensions; the others are like the parameter
  int needs = -1;       // an option without which, at 0, it is not there
  int from = -1;        // an option whose value it begins with
  double value = 0;     // or else this
};

inline bool is_used(const OptimizerState& state, const double* options) {
  return state.needs < 0 || options[state.needs] != 0;
}

struct OptimizerKind {
  const char* name;     // of the class
  const char* options;  // with blanks between; that of a tuple stands once for each of its items
  UpdateRule rule;
  OptimizerState states[kOptimizerStates];  // numbers first
  void (*prepare)(OptimizerTurn& turn);

  int count() const {
    int n = 0;
    while (n < kOptimizerStates && states[n].name) ++n;
    return n;
  }
};

// The kind of a class; null if there is none.
const OptimizerKind* find_optimizer(const char* name);

// Makes the states that are undefined: of the first parameter, of the second, and so on.
void start_states(const OptimizerKind& kind, const double* options, const Tensors& parameters,
                  Tensors& states);

// Updates parameters[i] by grads[i] in place, but those without a gradient, and their states, which
// are made where undefined. All checks come before the first write.
void optimizer_step(const OptimizerKind& kind, const double* options, const Tensors& parameters,
                    const Tensors& grads, Tensors& states);

}  // namespace zero
