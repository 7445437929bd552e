// Connectionist temporal classification (Graves et al., 2006): minus the logarithm of the
// probability of all paths over T steps that spell a target, once repetitions, then blanks are
// removed.
//
// The target's S labels with a blank around each are 2 S + 1 states. Forward, alpha[t][s] is the
// logarithm of the probability of all beginnings of paths that end in state s at step t. The
// gradient needs the same of the ends: the recursion on the sequence turned round. In float64.
#include <cmath>
#include <limits>
#include <vector>

#include "zero/autograd/record.h"
#include "zero/kernels/loss.h"
#include "zero/ops/autocast.h"
#include "zero/ops/loss.h"
#include "zero/ops/loss_sum.h"

namespace zero {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int64_t kMargin = 2;  // places in front of state 0, for steps from nowhere

// The states of one target, in either direction.
struct States {
  States(const int64_t* target, int64_t length, int64_t blank, bool reversed)
      : labels(2 * length + 1, blank), skip(labels.size(), -kInf) {
    for (int64_t i = 0; i < length; ++i) labels[2 * i + 1] = target[reversed ? length - 1 - i : i];
    // A path may leave the blank between two different labels out.
    for (size_t s = 3; s < labels.size(); s += 2)
      if (labels[s] != labels[s - 2]) skip[s] = 0;
  }
  int64_t size() const { return static_cast<int64_t>(labels.size()); }

  std::vector<int64_t> labels;
  std::vector<double> skip;
};

// One recursion: each call of step() fills the next row.
class Recursion {
 public:
  explicit Recursion(const States& states) : states_(states), now_(states.labels.size()) {}

  // The row before the first step: all paths begin in state 0 or 1.
  void begin(double* row) const {
    std::fill(row, row + kMargin + states_.size(), -kInf);
    row[kMargin] = 0;
  }
  // `scores` are those of the classes at this step.
  void step(const double* scores, const double* before, double* row) {
    const int64_t n = states_.size();
    for (int64_t s = 0; s < n; ++s) now_[s] = scores[states_.labels[s]];
    row[0] = row[1] = -kInf;
    kernels().loss->ctc_step(before + kMargin, states_.skip.data(), now_.data(), row + kMargin, n);
  }

 private:
  const States& states_;
  std::vector<double> now_;
};

struct Problem {
  int64_t steps, samples, classes, blank;
  Dims input_lengths, target_lengths;
  Dims starts;    // of each sample's target
  int64_t width;  // numbers in a row of alpha

  int64_t rows() const { return steps + 1; }  // the first one is that before step 0
};

Problem check(const Tensor& log_probs, const Tensor& targets, const Dims& input_lengths,
              const Dims& target_lengths, int64_t blank) {
  const char* op = "ctc_loss";
  ZERO_CHECK(is_floating(log_probs.dtype()), DTypeError, op, ": log_probs are no floats; got ",
             log_probs, ", expected a floating point tensor");
  ZERO_CHECK(targets.dtype() == DType::Int64 || targets.dtype() == DType::Int32, DTypeError, op,
             ": targets are no classes; got ", targets.dtype(), ", expected int64 or int32");
  ZERO_CHECK(targets.device() == log_probs.device(), Error, op,
             ": devices differ; got log_probs on ", log_probs.device(), " and targets on ",
             targets.device(), ", expected one device");
  Problem p{log_probs.size(0),
            log_probs.size(1),
            log_probs.size(2),
            blank,
            input_lengths,
            target_lengths,
            {},
            0};
  ZERO_CHECK(p.samples > 0, ValueError, op, ": no samples; got log_probs ", log_probs.sizes(),
             ", expected one or more");
  ZERO_CHECK(blank >= 0 && blank < p.classes, ValueError, op, ": blank is no class; got ", blank,
             ", expected 0 to ", p.classes - 1);
  ZERO_CHECK(input_lengths.size() == p.samples && target_lengths.size() == p.samples, ShapeError,
             op, ": each sample needs its lengths; got ", input_lengths.size(),
             " input_lengths and ", target_lengths.size(), " target_lengths, expected ", p.samples);
  int64_t longest = 0, total = 0;
  for (int64_t i = 0; i < p.samples; ++i) {
    const int64_t length = target_lengths[i];
    ZERO_CHECK(input_lengths[i] >= 0 && input_lengths[i] <= p.steps, ValueError, op,
               ": an input length is out of range; got ", input_lengths[i], ", expected 0 to ",
               p.steps);
    ZERO_CHECK(length >= 0 && length <= targets.numel(), ValueError, op,
               ": a target length is out of range; got ", length, ", expected 0 to ",
               targets.numel(), ", the number of labels");
    longest = std::max(longest, length);
    p.starts.push_back(targets.dim() == 1 ? total : i * targets.size(1));
    total += length;
  }
  if (targets.dim() == 1) {
    ZERO_CHECK(targets.size(0) == total, ShapeError, op,
               ": the targets in a row don't have the lengths' sum; got ", targets.size(0),
               ", expected ", total);
  } else {
    ZERO_CHECK(targets.dim() == 2 && targets.size(0) == p.samples && targets.size(1) >= longest,
               ShapeError, op, ": the targets don't fit; got ", targets.sizes(), ", expected (",
               p.samples, ", ", longest, ") or more, or all of them in a row");
  }
  p.width = kMargin + 2 * longest + 1;
  return p;
}

void check_targets(const Problem& p, const int64_t* targets) {
  for (int64_t i = 0; i < p.samples; ++i)
    for (int64_t k = 0; k < p.target_lengths[i]; ++k) {
      const int64_t label = targets[p.starts[i] + k];
      ZERO_CHECK(label >= 0 && label < p.classes, IndexError,
                 "ctc_loss: a target is out of range; got ", label, " at position ", k,
                 " of sample ", i, ", expected 0 <= target < ", p.classes);
    }
}

// Fills alpha [samples, rows, width] and the losses.
void forward(const Problem& p, const double* scores, const int64_t* targets, double* alpha,
             double* losses) {
  const DenormalGuard denormal;
  parallel_for(p.samples, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const States states(targets + p.starts[i], p.target_lengths[i], p.blank, false);
      Recursion recursion(states);
      double* row = alpha + i * p.rows() * p.width;
      recursion.begin(row);
      for (int64_t t = 0; t < p.input_lengths[i]; ++t, row += p.width)
        recursion.step(scores + (t * p.samples + i) * p.classes, row, row + p.width);
      const double* last = row + kMargin + states.size() - 1;  // a path ends in it or before it
      const double most = std::max(last[0], last[-1]);
      losses[i] = most == -kInf
                      ? kInf
                      : -(most + std::log(std::exp(last[0] - most) + std::exp(last[-1] - most)));
    }
  });
}

// d loss / d score = (e^score - probability of the class at this step, given the target) g. `out`
// holds e^scores.
void backward(const Problem& p, const double* scores, const int64_t* targets, const double* alpha,
              const double* losses, bool zero_infinity, const double* g, double* out) {
  const LoopFn exp =
      kernels()
          .elementwise[static_cast<int>(ElementwiseOp::Exp)][static_cast<int>(ComputeType::F64)];
  const DenormalGuard denormal;
  parallel_for(p.samples, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> rows(2 * p.width), shares(p.width);
    for (int64_t i = begin; i < end; ++i) {
      const States states(targets + p.starts[i], p.target_lengths[i], p.blank, true);
      const int64_t n = states.size(), length = p.input_lengths[i];
      const auto place = [&](int64_t t) { return (t * p.samples + i) * p.classes; };
      for (int64_t t = 0; t < p.steps; ++t) {
        const bool none = t >= length || losses[i] == kInf;
        const double value = t < length && !zero_infinity ? std::nan("") : 0.0;
        if (none) std::fill(out + place(t), out + place(t) + p.classes, value);
      }
      if (losses[i] == kInf) continue;
      Recursion recursion(states);
      double *before = rows.data(), *beta = before + p.width;
      recursion.begin(before);
      for (int64_t t = length - 1; t >= 0; --t, std::swap(before, beta)) {
        const double* const now = scores + place(t);
        recursion.step(now, before, beta);
        const double* const ahead = alpha + (i * p.rows() + t + 1) * p.width + kMargin;
        for (int64_t s = 0; s < n; ++s) {  // state s here is n - 1 - s there
          const double both = ahead[n - 1 - s] + beta[kMargin + s];
          shares[s] = both == -kInf ? -kInf : both - now[states.labels[s]] + losses[i];
        }
        char* const data[2] = {reinterpret_cast<char*>(shares.data()),
                               reinterpret_cast<char*>(shares.data())};
        const int64_t strides[4] = {sizeof(double), sizeof(double)};
        exp(data, strides, n, 1, nullptr);
        double* const to = out + place(t);
        for (int64_t s = 0; s < n; ++s) to[states.labels[s]] -= shares[s];
        for (int64_t c = 0; c < p.classes; ++c) to[c] *= g[i];
      }
    }
  });
}

// One loss for each sample of log_probs [T, N, C].
Tensor losses_of(const Tensor& log_probs, const Tensor& targets, const Problem& p,
                 bool zero_infinity) {
  Tensor y = empty({p.samples}, log_probs.options()), alpha, labels, losses;
  if (!log_probs.is_meta()) {
    GradModeGuard no_grad(false);
    labels = contiguous(to(targets, DType::Int64));
    check_targets(p, labels.data<int64_t>());
    const TensorOptions wide{DType::Float64, Device::Cpu};
    alpha = empty({p.samples, p.rows(), p.width}, wide);
    losses = empty({p.samples}, wide);
    const Tensor scores = contiguous(to(log_probs, DType::Float64));
    forward(p, scores.data<double>(), labels.data<int64_t>(), alpha.data<double>(),
            losses.data<double>());
    run_copy(y, losses);
  }
  record("CtcLossBackward0", {}, y, {&log_probs}, {&log_probs, &labels, &alpha, &losses},
         [p, zero_infinity](Node& node, const Tensor& g) {
           const Tensor x = node.saved(0), labels = node.saved(1), alpha = node.saved(2),
                        losses = node.saved(3);
           Tensor out;
           {
             GradModeGuard no_grad(false);
             if (g.is_meta()) {
               out = empty(x.sizes(), x.options());
             } else {
               check_targets(p, labels.data<int64_t>());  // numpy's memory may have been written to
               const Tensor scores = contiguous(to(x, DType::Float64)),
                            gradient = contiguous(to(g, DType::Float64));
               out = exp(scores);
               backward(p, scores.data<double>(), labels.data<int64_t>(), alpha.data<double>(),
                        losses.data<double>(), zero_infinity, gradient.data<double>(),
                        out.data<double>());
               out = to(out, x.dtype());
             }
           }
           record("NotImplemented", {}, out, {&x, &g}, {}, [](Node&, const Tensor&) -> Grads {
             fail<Error>("backward: the derivative of ctc_loss's gradient is not implemented");
           });
           return out;
         });
  return y;
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Dims& input_lengths,
                const Dims& target_lengths, int64_t blank, Reduction reduction,
                bool zero_infinity) {
  if (autocast_on)
    return autocast(CastTo::Float32, ctc_loss, log_probs, targets, input_lengths, target_lengths,
                    blank, reduction, zero_infinity);
  ZERO_CHECK(log_probs.dim() == 2 || log_probs.dim() == 3, ShapeError,
             "ctc_loss: wrong number of dimensions; got log_probs ", log_probs.sizes(),
             ", expected (T, N, C) or (T, C)");
  if (log_probs.dim() == 2) {
    const Tensor one = ctc_loss(unsqueeze(log_probs, 1), targets, input_lengths, target_lengths,
                                blank, reduction, zero_infinity);
    return reduction == Reduction::None ? select(one, 0, 0) : one;
  }
  const Problem p = check(log_probs, targets, input_lengths, target_lengths, blank);
  Tensor y = losses_of(log_probs, targets, p, zero_infinity);
  if (zero_infinity) y = where(eq(y, kInf), 0.0, y);
  if (reduction == Reduction::None) return y;
  if (reduction == Reduction::Sum) return sum(y);
  Tensor lengths = empty({p.samples}, y.options());
  if (!lengths.is_meta())
    for (int64_t i = 0; i < p.samples; ++i)
      store_loss(select(lengths, 0, i),
                 static_cast<double>(std::max<int64_t>(1, p.target_lengths[i])));
  return mean(div(y, lengths));
}

}  // namespace zero
