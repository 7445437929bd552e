// The README's linear regression on the C++ core alone: tensors, autograd and SGD without Python.
//
//   python tools/build_core.py --program examples/cpp/linear_regression.cpp -o build/regression
#include <cstdio>

#include "zero/autograd/engine.h"
#include "zero/ops/ops.h"
#include "zero/ops/optim.h"

using namespace zero;

static Tensor matrix(const Dims& sizes, std::initializer_list<float> values) {
  Tensor t = empty(sizes);
  std::copy(values.begin(), values.end(), t.data<float>());
  return t;
}

int main() {
  default_generator().manual_seed(0);
  Tensors parameters = {randn({1, 2}), zeros({1})};  // weight, bias
  for (const Tensor& p : parameters) set_requires_grad(p, true);

  const Tensor x = matrix({2, 2}, {1, 2, 2, 1});
  const Tensor target = matrix({2, 1}, {5, 4});
  const OptimizerKind& sgd = *find_optimizer("SGD");
  const double options[] = {0.05, 0, 0, 0, 0, 0};  // lr, momentum, …: sgd.options
  Tensors states(parameters.size());

  double loss_value = 0;
  for (int step = 0; step < 100; ++step) {
    const Tensor difference = sub(linear(x, parameters[0], parameters[1]), target);
    const Tensor loss = mean(mul(difference, difference));
    for (const Tensor& p : parameters) set_grad(p, Tensor());
    backward({loss}, {}, /*retain_graph=*/false, /*create_graph=*/false);
    optimizer_step(sgd, options, parameters, {grad(parameters[0]), grad(parameters[1])}, states);
    loss_value = item(loss).to_double();
  }
  std::printf("loss after 100 steps: %.6f\n", loss_value);
  return loss_value < 1e-3 ? 0 : 1;
}
