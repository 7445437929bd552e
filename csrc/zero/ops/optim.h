// What tells one optimizer from another outside of its loop (kernels/optim.cpp): the names of its
// options and states, and the constants of a step. optimizers.cpp has the list, optim.cpp the step.
// One whose elements depend on each other has a function over all parameters in place of a rule.
#pragma once

#include <cmath>

#include "zero/kernels/optim.h"
#include "zero/ops/ops.h"
#include "zero/runtime/parallel.h"

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

// What a state looks like beside its parameter.
enum class StateShape : uint8_t {
  Like,
  Number,   // of no dimensions
  Rows,     // one for each row, of a parameter of two and more dimensions
  Columns,  // one for each column, likewise
  Vector,   // like it, of a parameter of fewer
};

inline constexpr int kOptimizerStates = 4;
struct OptimizerState {
  const char* name = nullptr;
  StateShape shape = StateShape::Like;
  int needs = -1;    // an option without which, at 0, it is not there
  int from = -1;     // an option whose value it begins with
  double value = 0;  // or else this
};

inline bool is_used(const OptimizerState& state, const double* options, const Tensor& parameter) {
  if (state.needs >= 0 && options[state.needs] == 0) return false;
  switch (state.shape) {
    case StateShape::Rows:
    case StateShape::Columns: return parameter.dim() >= 2;
    case StateShape::Vector: return parameter.dim() < 2;
    default: return true;
  }
}

// A parameter in row order, its gradient and its states but numbers.
struct OptimizerItem {
  char* data[kUpdateArrays] = {};  // null where one is not used
  int64_t numel = 0;               // none where there is nothing to do
  int64_t rows = 1, columns = 1;   // of its matrices: the last two dimensions
  DType dtype = DType::Float32;
  UpdateArgs args;
};

struct OptimizerKind {
  const char* name;     // of the class
  const char* options;  // with blanks between; that of a tuple stands once for each of its items
  UpdateRule rule;
  OptimizerState states[kOptimizerStates];  // numbers first
  void (*prepare)(OptimizerTurn& turn);
  void (*whole)(const double* options, const std::vector<OptimizerItem>& items) = nullptr;
  int dims = -1;  // that a parameter must have

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

// ---- for kinds with a function over all parameters ----------------------------------------------
void adafactor(const double* options, const std::vector<OptimizerItem>& items);
void muon(const double* options, const std::vector<OptimizerItem>& items);

// Applies a rule to each element of each item.
void update_items(UpdateRule rule, const std::vector<OptimizerItem>& items);
// To elements [begin, end) of one.
void update_range(UpdateRule rule, const OptimizerItem& item, int64_t begin, int64_t end);
// Whether parameters are tied: such must be updated one after the other.
bool share_memory(const std::vector<OptimizerItem>& items);

inline constexpr int64_t kUpdateGrain = kGrainSize / 2;  // elements, for parallel_for

inline int compute_index(DType dtype) { return dtype == DType::Float64; }  // in OptimizerKernels

}  // namespace zero
