// The list of optimizers: states, options, and the constants of a step, in PyTorch's formulas.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "zero/ops/optim.h"

namespace zero {

namespace {

// The first N options, for structured bindings in the order of OptimizerKind::options.
template <int N>
const double (&options(const OptimizerTurn& turn))
    [N] { return *reinterpret_cast<const double (*)[N]>(turn.options); }

double count(const OptimizerTurn& turn) {
  return turn.numbers[0].value + 1;
}

void decay_by(UpdateArgs& args, double lr, double weight_decay, double decoupled) {
  if (decoupled != 0) {
    args.keep = 1 - lr * weight_decay;
  } else {
    args.decay = weight_decay;
  }
}

void constants(UpdateArgs& args, std::initializer_list<double> values) {
  std::copy(values.begin(), values.end(), args.c);
}

double climb(double maximize) { return maximize != 0 ? -1 : 1; }

void sgd(OptimizerTurn& turn) {
  const auto& [lr, momentum, dampening, weight_decay, nesterov, maximize] = options<6>(turn);
  turn.args.sign = climb(maximize);
  turn.args.decay = weight_decay;
  constants(turn.args,
            {lr, momentum, turn.first ? 0 : momentum, turn.first ? 1 : 1 - dampening, nesterov});
}

void adam(OptimizerTurn& turn) {
  const auto& [lr, beta1, beta2, eps, weight_decay, decoupled, amsgrad, maximize] =
      options<8>(turn);
  const double t = count(turn);
  turn.args.sign = climb(maximize);
  decay_by(turn.args, lr, weight_decay, decoupled);
  constants(turn.args, {1 - beta1, beta2, eps, lr / (1 - std::pow(beta1, t)),
                        1 / std::sqrt(1 - std::pow(beta2, t))});
}

void nadam(OptimizerTurn& turn) {
  const auto& [lr, beta1, beta2, eps, weight_decay, momentum_decay, decoupled, maximize] =
      options<8>(turn);
  const double t = count(turn);
  turn.args.sign = climb(maximize);
  decay_by(turn.args, lr, weight_decay, decoupled);
  const double mu = beta1 * (1 - 0.5 * std::pow(0.96, t * momentum_decay));
  const double next = beta1 * (1 - 0.5 * std::pow(0.96, (t + 1) * momentum_decay));
  OptimizerNumber& product = turn.numbers[1];
  product.set(product.value * product.rounded(mu));
  constants(turn.args,
            {1 - beta1, beta2, eps, 1 / std::sqrt(1 - std::pow(beta2, t)),
             lr * (1 - mu) / (1 - product.value), lr * next / (1 - product.value * next)});
}

void radam(OptimizerTurn& turn) {
  const auto& [lr, beta1, beta2, eps, weight_decay, decoupled, maximize] = options<7>(turn);
  const double t = count(turn);
  turn.args.sign = climb(maximize);
  decay_by(turn.args, lr, weight_decay, decoupled);
  const double correction = 1 - std::pow(beta2, t);
  const double longest = 2 / (1 - beta2) - 1;
  const double length = longest - 2 * t * std::pow(beta2, t) / correction;
  const bool rectified = length > 5;
  double step = lr / (1 - std::pow(beta1, t));
  if (rectified)
    step *= std::sqrt(correction) * std::sqrt((length - 4) * (length - 2) * longest /
                                              ((longest - 4) * (longest - 2) * length));
  constants(turn.args, {1 - beta1, beta2, eps, step, rectified ? 1.0 : 0.0});
}

void adamax(OptimizerTurn& turn) {
  const auto& [lr, beta1, beta2, eps, weight_decay, maximize] = options<6>(turn);
  turn.args.sign = climb(maximize);
  turn.args.decay = weight_decay;
  constants(turn.args, {1 - beta1, beta2, eps, lr / (1 - std::pow(beta1, count(turn)))});
}

void adagrad(OptimizerTurn& turn) {
  const auto& [lr, lr_decay, weight_decay, initial, eps, maximize] = options<6>(turn);
  turn.args.sign = climb(maximize);
  turn.args.decay = weight_decay;
  constants(turn.args, {lr / (1 + (count(turn) - 1) * lr_decay), eps});
}

void adadelta(OptimizerTurn& turn) {
  const auto& [lr, rho, eps, weight_decay, maximize] = options<5>(turn);
  turn.args.sign = climb(maximize);
  turn.args.decay = weight_decay;
  constants(turn.args, {rho, lr, eps});
}

void rmsprop(OptimizerTurn& turn) {
  const auto& [lr, alpha, eps, weight_decay, momentum, centered, maximize] = options<7>(turn);
  turn.args.sign = climb(maximize);
  turn.args.decay = weight_decay;
  constants(turn.args, {alpha, lr, eps, momentum});
}

void rprop(OptimizerTurn& turn) {
  const auto& [lr, shrink, grow, least, most, maximize] = options<6>(turn);
  turn.args.sign = climb(maximize);
  constants(turn.args, {shrink, grow, least, most});
}

void asgd(OptimizerTurn& turn) {
  const auto& [lr, lambd, alpha, t0, weight_decay, maximize] = options<6>(turn);
  const double t = count(turn);
  OptimizerNumber &eta = turn.numbers[1], &mu = turn.numbers[2];
  turn.args.sign = climb(maximize);
  turn.args.decay = weight_decay;
  constants(turn.args, {eta.value, 1 - lambd * eta.value, mu.value});
  // float32 also where a state was loaded for float64 parameters: a resumed run goes on the same.
  const bool wide = default_dtype() == DType::Float64;
  const auto set = [wide](OptimizerNumber& x, double value) {
    x.set(wide ? value : static_cast<float>(value));
  };
  set(eta, lr / std::pow(1 + lambd * lr * t, alpha));
  set(mu, 1 / std::max(1.0, t - t0));
}

void lion(OptimizerTurn& turn) {
  const auto& [lr, beta1, beta2, weight_decay, maximize] = options<5>(turn);
  turn.args.sign = climb(maximize);
  decay_by(turn.args, lr, weight_decay, 1);
  constants(turn.args, {1 - beta1, 1 - beta2, lr});
}

void prepare_adafactor(OptimizerTurn& turn) {
  const auto& [lr, beta2_decay, least, least_size, d, weight_decay, maximize] = options<7>(turn);
  const double t = count(turn);
  turn.args.sign = climb(maximize);
  decay_by(turn.args, lr, weight_decay, 1);
  constants(turn.args, {std::pow(t, beta2_decay), std::min(lr, 1 / std::sqrt(t))});
}

void nothing(OptimizerTurn&) {}

constexpr OptimizerState kStep{.name = "step", .shape = StateShape::Number};

// clang-format off
constexpr OptimizerKind kKinds[] = {
    {"SGD", "lr momentum dampening weight_decay nesterov maximize", UpdateRule::Sgd,
     {{.name = "momentum_buffer", .needs = 1}}, sgd},
    {"Adam", "lr betas betas eps weight_decay decoupled_weight_decay amsgrad maximize",
     UpdateRule::Adam,
     {kStep, {.name = "exp_avg"}, {.name = "exp_avg_sq"}, {.name = "max_exp_avg_sq", .needs = 6}},
     adam},
    {"NAdam", "lr betas betas eps weight_decay momentum_decay decoupled_weight_decay maximize",
     UpdateRule::NAdam,
     {kStep, {.name = "mu_product", .shape = StateShape::Number, .value = 1}, {.name = "exp_avg"},
      {.name = "exp_avg_sq"}},
     nadam},
    {"RAdam", "lr betas betas eps weight_decay decoupled_weight_decay maximize", UpdateRule::RAdam,
     {kStep, {.name = "exp_avg"}, {.name = "exp_avg_sq"}}, radam},
    {"Adamax", "lr betas betas eps weight_decay maximize", UpdateRule::Adamax,
     {kStep, {.name = "exp_avg"}, {.name = "exp_inf"}}, adamax},
    {"Adagrad", "lr lr_decay weight_decay initial_accumulator_value eps maximize",
     UpdateRule::Adagrad, {kStep, {.name = "sum", .from = 3}}, adagrad},
    {"Adadelta", "lr rho eps weight_decay maximize", UpdateRule::Adadelta,
     {kStep, {.name = "square_avg"}, {.name = "acc_delta"}}, adadelta},
    {"RMSprop", "lr alpha eps weight_decay momentum centered maximize", UpdateRule::RMSprop,
     {kStep, {.name = "square_avg"}, {.name = "momentum_buffer", .needs = 4},
      {.name = "grad_avg", .needs = 5}},
     rmsprop},
    {"Rprop", "lr etas etas step_sizes step_sizes maximize", UpdateRule::Rprop,
     {kStep, {.name = "prev"}, {.name = "step_size", .from = 0}}, rprop},
    {"ASGD", "lr lambd alpha t0 weight_decay maximize", UpdateRule::Asgd,
     {kStep, {.name = "eta", .shape = StateShape::Number, .from = 0},
      {.name = "mu", .shape = StateShape::Number, .value = 1}, {.name = "ax"}},
     asgd},
    {"Lion", "lr betas betas weight_decay maximize", UpdateRule::Lion, {{.name = "exp_avg"}}, lion},
    {"Adafactor", "lr beta2_decay eps eps d weight_decay maximize", UpdateRule::Sgd,
     {kStep, {.name = "row_var", .shape = StateShape::Rows},
      {.name = "col_var", .shape = StateShape::Columns},
      {.name = "variance", .shape = StateShape::Vector}},
     prepare_adafactor, adafactor},
    {"Muon",
     "lr weight_decay momentum nesterov ns_coefficients ns_coefficients ns_coefficients eps "
     "ns_steps adjust_lr_fn",
     UpdateRule::Muon, {{.name = "momentum_buffer"}}, nothing, muon, 2},
};
// clang-format on

}  // namespace

const OptimizerKind* find_optimizer(const char* name) {
  for (const OptimizerKind& kind : kKinds)
    if (std::strcmp(kind.name, name) == 0) return &kind;
  return nullptr;
}

}  // namespace zero
