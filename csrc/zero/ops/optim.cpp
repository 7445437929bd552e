// Optimizer steps. All checks of all parameters come before the first write.
#include <cmath>

#include "zero/autograd/record.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

// Same places in memory in the same order, without gaps: element i of one belongs to element i of
// the other.
bool dense_alike(const Tensor& a, const Tensor& b) {
  if (a.is_contiguous() && b.is_contiguous()) return true;
  if (!(a.strides() == b.strides())) return false;
  int64_t last = 0;
  for (int64_t d = 0; d < a.dim(); ++d) last += (a.size(d) - 1) * a.stride(d);
  return last + 1 == a.numel();  // a parameter that may be written does not overlap itself
}

void check_like(const char* op, const char* what, int64_t i, const Tensor& p, const Tensor& x) {
  ZERO_CHECK(x.sizes() == p.sizes(), ShapeError, op, ": the ", what, " of parameter ", i,
             " has another shape; got ", x.sizes(), ", expected ", p.sizes());
  ZERO_CHECK(x.dtype() == p.dtype(), DTypeError, op, ": the ", what, " of parameter ", i,
             " has another dtype; got ", x.dtype(), ", expected ", p.dtype());
  ZERO_CHECK(x.device() == p.device(), Error, op, ": the ", what, " of parameter ", i,
             " is on another device; got ", x.device(), ", expected ", p.device());
}

// What an optimizer remembers, one tensor for each parameter; undefined where there is none yet.
struct StateList {
  const char* name;
  Tensors* tensors;
  bool used;
};

// All checks of one step, before its first write.
void check_step(const char* op, const Tensors& parameters, const Tensors& grads,
                std::initializer_list<StateList> states) {
  const int64_t n = parameters.size();
  ZERO_CHECK(grads.size() == n, ValueError, op, ": not one gradient per parameter; got ",
             grads.size(), " for ", n, " parameters");
  for (const StateList& state : states)
    ZERO_CHECK(state.tensors->size() <= n, ValueError, op, ": more entries of ", state.name,
               " than parameters; got ", state.tensors->size(), ", expected at most ", n);
  for (int64_t i = 0; i < n; ++i) {
    const Tensor &p = parameters[i], &g = grads[i];
    if (!g.defined()) continue;
    ZERO_CHECK(is_floating(p.dtype()), DTypeError, op, ": parameter ", i, " is not floating; got ",
               p.dtype());
    check_like(op, "gradient", i, p, g);
    for (const StateList& state : states) {
      if (!state.used || i >= state.tensors->size() || !(*state.tensors)[i].defined()) continue;
      check_like(op, state.name, i, p, (*state.tensors)[i]);
      check_inplace(op, (*state.tensors)[i], false);
    }
    check_inplace(op, p, false);
  }
  for (const StateList& state : states)
    if (state.used) state.tensors->resize(n);
}

// A parameter, its gradient and its states; null or undefined where a state is not used.
constexpr int kMaxArrays = 5;
using Arrays = const Tensor* const (&)[kMaxArrays];

bool is_used(const Tensor* x) { return x && x->defined(); }

template <class Kernel, class Args>
void run_flat(Kernel kernel, Arrays tensors, const Args& args) {
  char* data[kMaxArrays] = {};
  for (int k = 0; k < kMaxArrays; ++k)
    if (is_used(tensors[k])) data[k] = tensors[k]->template data<char>();
  const int64_t item = itemsize(tensors[0]->dtype());
  parallel_for(tensors[0]->numel(), kGrainSize / 2, [&](int64_t begin, int64_t end) {
    void* arrays[kMaxArrays];
    for (int k = 0; k < kMaxArrays; ++k) arrays[k] = data[k] ? data[k] + begin * item : nullptr;
    kernel(arrays, end - begin, args);
  });
}

// float16 and bfloat16 compute in float32 and round at the end; so do layouts that no flat loop
// reaches.
template <class Kernel, class Args>
void run_by_copies(Kernel kernel, Arrays tensors, const Args& args) {
  Tensor copies[kMaxArrays];
  const Tensor* pointers[kMaxArrays] = {};
  for (int k = 0; k < kMaxArrays; ++k) {
    if (!is_used(tensors[k])) continue;
    const Tensor& x = *tensors[k];
    copies[k] = empty(x.sizes(), {compute_dtype(x.dtype()), x.device()});
    run_copy(copies[k], x);
    pointers[k] = &copies[k];
  }
  run_flat(kernel, pointers, args);
  for (int k = 0; k < kMaxArrays; ++k)
    if (pointers[k] && k != 1) run_copy(*tensors[k], copies[k]);  // 1 is the gradient
}

// Updates a parameter and its states, and counts the writes.
template <class Kernel, class Args>
void run_step(const Kernel* kernels_by_type, Arrays tensors, const Args& args) {
  const Tensor& p = *tensors[0];
  if (!p.is_meta() && p.numel() > 0) {
    const Kernel kernel = kernels_by_type[static_cast<int>(compute_type(p.dtype()))];
    bool flat = compute_dtype(p.dtype()) == p.dtype();
    for (const Tensor* x : tensors) flat = flat && (!is_used(x) || dense_alike(p, *x));
    if (flat) {
      run_flat(kernel, tensors, args);
    } else {
      run_by_copies(kernel, tensors, args);
    }
  }
  for (int k = 0; k < kMaxArrays; ++k)
    if (k != 1 && is_used(tensors[k])) tensors[k]->impl()->version().bump();
}

// The states of parameters that have their first step; no memory is asked for later.
void zeros_at_first(Tensors& states, const Tensors& parameters, const Tensors& grads) {
  for (int64_t i = 0; i < parameters.size(); ++i)
    if (grads[i].defined() && !states[i].defined())
      states[i] = zero_(empty_like(parameters[i], parameters[i].options()));
}

}  // namespace

void sgd_step(const Tensors& parameters, const Tensors& grads, Tensors& momentum,
              const SgdOptions& options) {
  const bool with_momentum = options.momentum != 0;
  check_step("sgd", parameters, grads, {{"momentum buffer", &momentum, with_momentum}});
  DenormalGuard guard;
  SgdArgs args{options.lr,
               options.momentum,
               options.dampening,
               options.weight_decay,
               options.nesterov,
               options.maximize,
               false};
  for (int64_t i = 0; i < parameters.size(); ++i) {
    const Tensor &p = parameters[i], &g = grads[i];
    if (!g.defined()) continue;
    Tensor* buffer = with_momentum ? &momentum[i] : nullptr;
    args.first = buffer && !buffer->defined();
    if (args.first) *buffer = empty_like(p, p.options());
    run_step(kernels().sgd, {&p, &g, buffer, nullptr, nullptr}, args);
  }
}

void adam_step(const Tensors& parameters, const Tensors& grads, AdamState& state,
               const AdamOptions& options) {
  check_step("adam", parameters, grads,
             {{"exp_avg", &state.exp_avg, true},
              {"exp_avg_sq", &state.exp_avg_sq, true},
              {"max_exp_avg_sq", &state.max_exp_avg_sq, options.amsgrad}});
  const int64_t n = parameters.size();
  ZERO_CHECK(static_cast<int64_t>(state.steps.size()) == n, ValueError,
             "adam: not one count of steps per parameter; got ", state.steps.size(), " for ", n,
             " parameters");
  zeros_at_first(state.exp_avg, parameters, grads);
  zeros_at_first(state.exp_avg_sq, parameters, grads);
  if (options.amsgrad) zeros_at_first(state.max_exp_avg_sq, parameters, grads);
  DenormalGuard guard;
  AdamArgs args{options.beta1,
                options.beta2,
                options.eps,
                options.weight_decay,
                0,
                0,
                1 - options.lr * options.weight_decay,
                options.decoupled,
                options.maximize};
  for (int64_t i = 0; i < n; ++i) {
    const Tensor &p = parameters[i], &g = grads[i];
    if (!g.defined()) continue;
    const double step = ++state.steps[i];
    args.step_size = options.lr / (1 - std::pow(options.beta1, step));
    args.root_scale = std::sqrt(1 - std::pow(options.beta2, step));
    const Tensor* largest = options.amsgrad ? &state.max_exp_avg_sq[i] : nullptr;
    run_step(kernels().adam, {&p, &g, &state.exp_avg[i], &state.exp_avg_sq[i], largest}, args);
  }
}

void update_(const Tensor& x, const Tensor& delta) {
  const DType dtype = result_type(x, delta);
  ZERO_CHECK(dtype != DType::Bool, DTypeError, "update: not defined for bool; got ", x,
             ", expected numbers");
  ZERO_CHECK(category(dtype) <= category(x.dtype()), DTypeError,
             "update: the difference can't be cast to the dtype of the "
             "tensor; got ",
             delta.dtype(), " for ", x.dtype(), ", expected a dtype it can hold");
  ZERO_CHECK(delta.device() == x.device(), Error, "update: tensors are on two devices; got ",
             delta.device(), " for a tensor on ", x.device(), ", expected one device");
  ZERO_CHECK(expands_to(delta.sizes(), x.sizes()), ShapeError, "update: the shapes differ; got ",
             delta.sizes(), ", expected a shape that broadcasts to ", x.sizes());
  check_inplace("update", x, false);
  if (!x.is_meta() && x.numel() > 0) {
    const Tensor read = overlaps_partly(x, delta) ? clone(detach(delta)) : delta;
    const Operand a(x), b(read);
    run_elementwise(ElementwiseOp::Sub, dtype, x, {&a, &b});
  }
  x.impl()->version().bump();
}

}  // namespace zero
