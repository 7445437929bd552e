// Losses of classes.
#include "zero/autograd/record.h"
#include "zero/ops/along.h"
#include "zero/ops/autocast.h"
#include "zero/ops/loss_sum.h"

namespace zero {

namespace {

// ---- classes ------------------------------------------------------------------------------------

// Checks contiguous classes; returns how many aren't ignored.
int64_t check_classes(const char* op, const Tensor& target, int64_t n, int64_t ignore_index) {
  const int64_t* t = target.data<int64_t>();
  const int64_t places = target.numel();
  int64_t used = 0;
  for (int64_t i = 0; i < places; ++i) {
    if (t[i] == ignore_index) continue;
    ++used;
    if (t[i] >= 0 && t[i] < n) [[likely]]
      continue;
    const Dims& sizes = target.sizes();
    Dims at(sizes.size());
    for (int64_t d = sizes.size() - 1, rest = i; d >= 0; rest /= sizes[d--])
      at[d] = rest % sizes[d];
    fail<IndexError>(op, ": target out of range; got ", t[i], " at position ", at,
                     ", expected 0 <= target < ", n, ", the number of classes, or ignore_index ",
                     ignore_index);
  }
  return used;
}

// The class dimension, and the shape of one loss per place.
struct Classes {
  Classes(const char* op, const Tensor& x, const Tensor& target) : dim(x.dim() == 1 ? 0 : 1) {
    ZERO_CHECK(is_floating(x.dtype()), DTypeError, op, ": scores must be floating point; got ", x,
               ", expected a floating point tensor");
    ZERO_CHECK(x.dim() >= 1, ShapeError, op, ": no class dimension; got ", x,
               ", expected (C,) or (N, C, …)");
    for (int64_t d = 0; d < x.dim(); ++d)
      if (d != dim) sizes.push_back(x.size(d));
    const bool single = x.dim() == 1 && target.sizes() == Dims{1};
    ZERO_CHECK(target.sizes() == sizes || single, ShapeError, op,
               ": the shape of the classes doesn't fit; got scores ", x.sizes(), " and target ",
               target.sizes(), ", expected target ", sizes);
    ZERO_CHECK(target.dtype() == DType::Int64 || target.dtype() == DType::UInt8, DTypeError, op,
               ": classes must be int64 or uint8; got ", target.dtype(),
               ", expected target.long()");
    ZERO_CHECK(target.device() == x.device(), Error, op, ": devices differ; got scores on ",
               x.device(), " and target on ", target.device(), ", expected one device");
    n = x.size(dim);
    places = numel(sizes);
  }

  // Checks the classes, and counts those that aren't ignored.
  void check(const char* op, const Tensor& target, int64_t ignore_index) {
    used = check_classes(op, target, n, ignore_index);
  }

  int64_t dim, n = 0;
  Dims sizes;
  int64_t places = 0, used = 0;
};

void check_weight(const char* op, const Tensor& weight, const Tensor& x, int64_t classes) {
  if (!weight.defined()) return;
  ZERO_CHECK(weight.sizes() == Dims{classes}, ShapeError, op,
             ": one weight per class is needed; got weight ", weight.sizes(), ", expected ",
             Dims{classes});
  ZERO_CHECK(weight.dtype() == x.dtype(), DTypeError, op,
             ": the weights' dtype differs from the scores'; got ", weight.dtype(), ", expected ",
             x.dtype());
  ZERO_CHECK(weight.device() == x.device(), Error, op, ": devices differ; got scores on ",
             x.device(), " and weight on ", weight.device(), ", expected one device");
}

// Contiguous int64 classes, as they are read below.
Tensor class_indices(const Tensor& target) {
  GradModeGuard no_grad(false);
  return contiguous(to(target, DType::Int64));
}

// The sum of the weights of the classes that count.
double total_weight(const Classes& classes, const Tensor& indices, const Tensor& weight,
                    int64_t ignore_index) {
  if (!weight.defined()) return static_cast<double>(classes.used);
  GradModeGuard no_grad(false);
  const Tensor w = contiguous(to(weight, DType::Float64));
  const int64_t* t = indices.data<int64_t>();
  double total = 0;
  for (int64_t i = 0; i < classes.places; ++i)
    if (t[i] != ignore_index) total += w.data<double>()[t[i]];
  return total;
}

const char* nll_node(const Tensor& x) {
  return x.dim() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0";
}

// Scores [outer, n, inner]; index and coefficient per place: loss = coefficient * score. Ignored:
// -1 and 0.
template <class T>
void nll_places(const T* scores, const int64_t* target, const T* weight, const Classes& c,
                int64_t inner, int64_t ignore_index, int64_t* index, T* coefficient, double* loss) {
  parallel_for(c.places, kGrainSize / 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t t = target[i];
      // Checked before, but another thread may write to numpy's memory meanwhile.
      const bool ignored = t == ignore_index || t < 0 || t >= c.n;
      index[i] = ignored ? -1 : t;
      coefficient[i] = ignored ? T(0) : weight ? -weight[t] : T(-1);
      const int64_t place = i / inner * c.n * inner + i % inner;
      loss[i] = ignored ? 0.0
                        : static_cast<double>(coefficient[i]) *
                              static_cast<double>(scores[place + t * inner]);
    }
  });
}

// ---- cross entropy of class indices -------------------------------------------------------------

// softmax(x), from what the forward pass kept of it, with the history that it has as a function of
// x: the edge of the node that keeps it leads to x.
Tensor softmax_of_saved(const Node& node, const Tensor& exponentials, const Tensor& sums,
                        DType dtype) {
  Tensor input, y;
  {
    GradModeGuard no_grad(false);
    y = to(div(exponentials, to(sums, exponentials.dtype())), dtype);
    input = detach(y);
  }
  set_history(input, node.next_[0].node, node.next_[0].output_nr);
  record("SoftmaxBackward0", {}, y, {&input}, {&y}, [](Node& n, const Tensor& g) {
    const Tensor y = n.saved(0);
    return mul(y, sub(g, sum(mul(g, y), {-1}, true)));
  });
  return y;
}

// Classes last and without weights: log sum exp(x) - x[target] in one pass, and one pass back over
// the exponentials. So x may be written to in between.
Tensor fused_cross_entropy(const Tensor& x, const Tensor& target, Classes& classes,
                           int64_t ignore_index, Reduction reduction, const char* node) {
  const Tensor indices = class_indices(target);
  const DType dtype = compute_dtype(x.dtype());
  const int64_t rows = classes.places, n = classes.n;
  if (!x.is_meta()) classes.check("cross_entropy", indices, ignore_index);
  Tensor y = empty(reduction == Reduction::None ? classes.sizes : Dims(), x.options());
  Tensor stats = empty({3, rows}, {DType::Float64, x.device()});  // maximum, sum, loss of each row
  Tensor exponentials;
  if (any_requires_grad({&x})) exponentials = empty(x.sizes(), {dtype, x.device()});
  if (!x.is_meta()) {
    GradModeGuard no_grad(false);
    const Tensor in = contiguous(to(x, dtype));
    double* const data = stats.data<double>();
    const char* const scores = in.data<char>();
    char* const kept = exponentials.defined() ? exponentials.data<char>() : nullptr;
    const int64_t* const labels = indices.data<int64_t>();
    const CrossEntropyFn kernel = kernels().cross_entropy[static_cast<int>(compute_type(dtype))];
    const DenormalGuard denormal;
    if (n == 0) {
      zero_(stats);
    } else {
      parallel_for(rows, std::max<int64_t>(1, kGrainSize / 4 / n), [&](int64_t begin, int64_t end) {
        const int64_t at = begin * n * itemsize(dtype);
        CrossEntropyArgs args{};
        args.x = scores + at;
        args.target = labels + begin;
        args.max = data + begin;
        args.sum = data + rows + begin;
        args.loss = data + 2 * rows + begin;
        args.out = kept ? kept + at : nullptr;
        args.rows = end - begin;
        args.n = n;
        args.ignore = ignore_index;
        kernel(args);
      });
    }
    if (reduction == Reduction::None) {
      run_copy(y, reshape(select(stats, 0, 2), y.sizes()));
    } else {
      store_loss(
          y, reduced(sum_of(data + 2 * rows, rows), static_cast<double>(classes.used), reduction));
    }
  }
  const double factor =
      reduction == Reduction::Mean ? 1.0 / static_cast<double>(classes.used) : 1.0;
  record(node, {}, y, {&x}, {&exponentials, &indices, &stats},
         [factor, ignore_index, kind = x.dtype()](Node& node, const Tensor& g) {
           const Tensor exponentials = node.saved(0), indices = node.saved(1),
                        stats = node.saved(2);
           const DType dtype = exponentials.dtype();
           const Dims& sizes = exponentials.sizes();
           const int64_t last = sizes.size() - 1, n = sizes[last];
           // They may lie in memory of numpy's, whose writes are not counted.
           if (!g.is_meta()) check_classes("cross_entropy backward", indices, n, ignore_index);
           if (grad_enabled() || g.is_meta()) {
             Dims places = sizes;
             places[last] = 1;
             const Tensor sums = reshape(select(stats, 0, 1), places);
             const Tensor ignored = reshape(eq(indices, Scalar(ignore_index)), places);
             const Tensor chosen = where(ignored, Scalar(int64_t{-1}), reshape(indices, places));
             const Tensor onehot = put_along(ones(places, {kind, g.device()}), chosen, last, n);
             const Tensor scale =
                 where(ignored, 0.0, mul(g.dim() == 0 ? g : reshape(g, places), factor));
             return mul(sub(softmax_of_saved(node, exponentials, sums, kind), onehot), scale);
           }
           const Tensor from = contiguous(to(g, dtype));
           Tensor out = empty(sizes, exponentials.options());
           if (out.numel() == 0) return out;
           const int64_t rows = indices.numel(), item = itemsize(dtype),
                         step = from.dim() == 0 ? 0 : 1;
           double* const data = stats.data<double>();
           const char *const kept = exponentials.data<char>(), *const gradient = from.data<char>();
           const int64_t* const labels = indices.data<int64_t>();
           char* const result = out.data<char>();
           const CrossEntropyFn kernel =
               kernels().cross_entropy_backward[static_cast<int>(compute_type(dtype))];
           const DenormalGuard denormal;
           parallel_for(rows, std::max<int64_t>(1, kGrainSize / 4 / n),
                        [&](int64_t begin, int64_t end) {
                          CrossEntropyArgs args{};
                          args.x = kept + begin * n * item;
                          args.target = labels + begin;
                          args.sum = data + rows + begin;
                          args.g = gradient + begin * step * item;
                          args.g_step = step;
                          args.scale = factor;
                          args.out = result + begin * n * item;
                          args.rows = end - begin;
                          args.n = n;
                          args.ignore = ignore_index;
                          kernel(args);
                        });
           return out;
         });
  return y;
}

// The weights along the class dimension of x.
Tensor along_classes(const Tensor& weight, const Tensor& x, int64_t dim) {
  Dims sizes(x.dim(), 1);
  sizes[dim] = x.size(dim);
  return reshape(weight, sizes);
}

// Targets are probabilities: -sum over classes of weight * target * log_softmax(x).
Tensor soft_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight,
                          Reduction reduction, double smoothing) {
  const int64_t dim = x.dim() == 1 ? 0 : 1, n = x.size(dim);
  check_weight("cross_entropy", weight, x, n);
  const double uniform = smoothing / static_cast<double>(n);
  const Tensor smooth = smoothing > 0 ? add(mul(target, 1 - smoothing), uniform) : target;
  Tensor terms = mul(log_softmax(x, dim), smooth);
  if (weight.defined()) terms = mul(terms, along_classes(weight, x, dim));
  if (reduction == Reduction::None) return neg(sum(terms, {dim}));
  Tensor total = neg(sum(terms));
  if (reduction == Reduction::Sum) return total;
  return div(total, static_cast<double>(x.numel()) / static_cast<double>(n));
}

// (1 - smoothing) nll + smoothing / C * (the same summed over all classes).
Tensor smoothed_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight,
                              int64_t ignore_index, Reduction reduction, double smoothing) {
  Classes classes("cross_entropy", x, target);
  check_weight("cross_entropy", weight, x, classes.n);
  const Tensor indices = class_indices(target);
  if (!x.is_meta()) classes.check("cross_entropy", indices, ignore_index);
  const Tensor log_probs = log_softmax(x, classes.dim);
  const Tensor chosen = nll_loss(log_probs, target, weight, ignore_index, reduction);
  const Tensor weighted =
      weight.defined() ? mul(log_probs, along_classes(weight, x, classes.dim)) : log_probs;
  const Tensor ignored = reshape(eq(indices, Scalar(ignore_index)), classes.sizes);
  Tensor spread = where(ignored, 0.0, neg(sum(weighted, {classes.dim})));
  if (reduction != Reduction::None) spread = sum(spread);
  if (reduction == Reduction::Mean)
    spread = div(spread, x.is_meta() ? 1.0 : total_weight(classes, indices, weight, ignore_index));
  return add(mul(chosen, 1 - smoothing), mul(spread, smoothing / static_cast<double>(classes.n)));
}

}  // namespace

Tensor nll_loss(const Tensor& log_probs, const Tensor& target, const Tensor& weight,
                int64_t ignore_index, Reduction reduction) {
  if (autocast_on)
    return autocast(CastTo::Float32, nll_loss, log_probs, target, weight, ignore_index, reduction);
  Classes classes("nll_loss", log_probs, target);
  check_weight("nll_loss", weight, log_probs, classes.n);
  const bool meta = log_probs.is_meta();
  const Tensor indices = class_indices(target);
  if (!meta) classes.check("nll_loss", indices, ignore_index);

  const DType dtype = compute_dtype(log_probs.dtype());
  Dims places = log_probs.sizes();  // with size 1 at the class dimension
  places[classes.dim] = 1;
  Tensor y = empty(reduction == Reduction::None ? classes.sizes : Dims(), log_probs.options());
  Tensor index = empty(places, {DType::Int64, log_probs.device()});
  Tensor coefficients = empty(places, {dtype, log_probs.device()});
  if (!meta) {
    GradModeGuard no_grad(false);
    const Tensor scores = readable(log_probs),
                 weights = weight.defined() ? readable(weight) : Tensor();
    const Tensor losses = empty({classes.places}, {DType::Float64, Device::Cpu});
    int64_t inner = 1;
    for (int64_t d = classes.dim + 1; d < log_probs.dim(); ++d) inner *= log_probs.size(d);
    auto run = [&]<class T>(T* coefficient) {
      nll_places<T>(scores.data<T>(), indices.data<int64_t>(),
                    weights.defined() ? weights.data<T>() : nullptr, classes, inner, ignore_index,
                    index.data<int64_t>(), coefficient, losses.data<double>());
    };
    dtype == DType::Float64 ? run(coefficients.data<double>()) : run(coefficients.data<float>());
    if (reduction == Reduction::None) {
      run_copy(y, reshape(losses, y.sizes()));
    } else {
      const double total = total_weight(classes, indices, weight, ignore_index);
      store_loss(y, reduced(sum_of(losses.data<double>(), classes.places), total, reduction));
      // Where all is ignored the mean is NaN, but no score had a part in it.
      if (reduction == Reduction::Mean && classes.used > 0)
        coefficients = where(lt(index, 0), 0.0, div(coefficients, total));
    }
  }
  const Tensor watched = outline(log_probs);
  record(nll_node(log_probs), {}, y, {&log_probs}, {&index, &coefficients, &watched},
         [dim = classes.dim, n = classes.n](Node& node, const Tensor& g) {
           const Tensor index = node.saved(0), coefficients = node.saved(1);
           node.saved(2);  // raises if log_probs was written to
           const Tensor h = g.dim() == 0 ? g : reshape(g, index.sizes());
           return put_along(mul(h, coefficients), index, dim, n);
         });
  return y;
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight,
                     int64_t ignore_index, Reduction reduction, double label_smoothing) {
  if (autocast_on)
    return autocast(CastTo::Float32, cross_entropy, logits, target, weight, ignore_index, reduction,
                    label_smoothing);
  ZERO_CHECK(label_smoothing >= 0 && label_smoothing <= 1, ValueError,
             "cross_entropy: label_smoothing is out of range; got ", label_smoothing,
             ", expected 0 to 1");
  ZERO_CHECK(is_floating(logits.dtype()), DTypeError,
             "cross_entropy: scores must be floating point; got ", logits,
             ", expected a floating point tensor");
  ZERO_CHECK(logits.dim() >= 1, ShapeError, "cross_entropy: no class dimension; got ", logits,
             ", expected (C,) or (N, C, …)");
  if (is_floating(target.dtype())) {
    ZERO_CHECK(target.sizes() == logits.sizes(), ShapeError,
               "cross_entropy: class probabilities must have the shape of the scores; got scores ",
               logits.sizes(), " and target ", target,
               ", expected that shape, or classes as int64");
    ZERO_CHECK(ignore_index < 0, ValueError,
               "cross_entropy: ignore_index has no meaning for probabilities; got ", ignore_index,
               ", expected a negative number");
    return soft_cross_entropy(logits, target, weight, reduction, label_smoothing);
  }
  if (label_smoothing > 0)
    return smoothed_cross_entropy(logits, target, weight, ignore_index, reduction, label_smoothing);

  Classes classes("cross_entropy", logits, target);
  check_weight("cross_entropy", weight, logits, classes.n);
  if (!weight.defined()) {
    if (logits.dim() <= 2)
      return fused_cross_entropy(logits, target, classes, ignore_index, reduction,
                                 nll_node(logits));
    // Scores whose classes lie last in memory, as after permute.
    Dims order{0};
    for (int64_t d = 2; d < logits.dim(); ++d) order.push_back(d);
    order.push_back(1);
    const Tensor last = permute(logits, order);
    if (last.is_contiguous())
      return fused_cross_entropy(last, target, classes, ignore_index, reduction, nll_node(logits));
  }
  if (!logits.is_meta()) classes.check("cross_entropy", class_indices(target), ignore_index);
  return nll_loss(log_softmax(logits, classes.dim), target, weight, ignore_index, reduction);
}

}  // namespace zero
