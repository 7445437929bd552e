// Optimizer steps. All checks of all parameters come before the first write.
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

void check_like(const char* what, int64_t i, const Tensor& p, const Tensor& x) {
  ZERO_CHECK(x.sizes() == p.sizes(), ShapeError, "sgd: the ", what, " of parameter ", i,
             " has another shape; got ", x.sizes(), ", expected ", p.sizes());
  ZERO_CHECK(x.dtype() == p.dtype(), DTypeError, "sgd: the ", what, " of parameter ", i,
             " has another dtype; got ", x.dtype(), ", expected ", p.dtype());
  ZERO_CHECK(x.device() == p.device(), Error, "sgd: the ", what, " of parameter ", i,
             " is on another device; got ", x.device(), ", expected ", p.device());
}

void update(const Tensor& p, const Tensor& g, const Tensor& momentum, const SgdArgs& args) {
  const SgdFn kernel = kernels().sgd[static_cast<int>(compute_type(p.dtype()))];
  const int64_t item = itemsize(p.dtype());
  char* parameter = static_cast<char*>(p.data());
  const char* grad = static_cast<const char*>(g.data());
  char* buffer = momentum.defined() ? static_cast<char*>(momentum.data()) : nullptr;
  parallel_for(p.numel(), kGrainSize / 2, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * item;
    kernel(parameter + at, grad + at, buffer ? buffer + at : nullptr, end - begin, args);
  });
}

// float16 and bfloat16 compute in float32 and round at the end; so do layouts that no flat loop
// reaches.
void update_by_copies(const Tensor& p, const Tensor& g, const Tensor& momentum,
                      const SgdArgs& args) {
  const TensorOptions options{compute_dtype(p.dtype()), p.device()};
  auto copy = [&](const Tensor& x) {
    Tensor y = empty(x.sizes(), options);
    run_copy(y, x);
    return y;
  };
  const Tensor parameter = copy(p), grad = copy(g),
               buffer = momentum.defined() ? copy(momentum) : Tensor();
  update(parameter, grad, buffer, args);
  run_copy(p, parameter);
  if (momentum.defined()) run_copy(momentum, buffer);
}

}  // namespace

void sgd_step(Tensors& parameters, const Tensors& grads, Tensors& momentum,
              const SgdOptions& options) {
  const bool with_momentum = options.momentum != 0;
  ZERO_CHECK(grads.size() == parameters.size(), ValueError,
             "sgd: not one gradient per parameter; got ", grads.size(), " for ", parameters.size(),
             " parameters");
  ZERO_CHECK(momentum.size() <= parameters.size(), ValueError,
             "sgd: more momentum buffers than parameters; got ", momentum.size(),
             ", expected at most ", parameters.size());
  for (int64_t i = 0; i < parameters.size(); ++i) {
    const Tensor &p = parameters[i], &g = grads[i];
    if (!g.defined()) continue;
    ZERO_CHECK(is_floating(p.dtype()), DTypeError, "sgd: parameter ", i, " is not floating; got ",
               p.dtype());
    check_like("gradient", i, p, g);
    if (with_momentum && i < momentum.size() && momentum[i].defined())
      check_like("momentum buffer", i, p, momentum[i]);
    check_inplace("sgd", p, false);
  }
  if (with_momentum && momentum.size() < parameters.size()) momentum.resize(parameters.size());

  DenormalGuard guard;
  SgdArgs args{options.lr,
               options.momentum,
               options.dampening,
               options.weight_decay,
               options.nesterov,
               options.maximize,
               false};
  const Tensor none;
  for (int64_t i = 0; i < parameters.size(); ++i) {
    const Tensor &p = parameters[i], &g = grads[i];
    if (!g.defined()) continue;
    if (with_momentum) {
      args.first = !momentum[i].defined();
      if (args.first) momentum[i] = empty_like(p, p.options());
    }
    const Tensor& buffer = with_momentum ? momentum[i] : none;
    if (!p.is_meta() && p.numel() > 0) {
      const bool flat = dense_alike(p, g) && (!with_momentum || dense_alike(p, buffer));
      if (flat && compute_dtype(p.dtype()) == p.dtype()) {
        update(p, g, buffer, args);
      } else {
        update_by_copies(p, g, buffer, args);
      }
    }
    p.impl()->version().bump();
    if (with_momentum) buffer.impl()->version().bump();
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
