// Dropout: elements are set to 0 at random, the others scaled so that the mean stays.
#include "zero/autograd/engine.h"
#include "zero/autograd/record.h"
#include "zero/kernels/activation.h"
#include "zero/ops/draw.h"
#include "zero/runtime/denormal.h"

namespace zero {

namespace {

// out = x * (0 where a byte of `chosen` is 0, else scale) for n elements from `begin` on.
void scale_chosen(const Tensor& out, const Tensor& x, const uint8_t* chosen, int64_t begin,
                  int64_t n, double scale) {
  const int64_t at = begin * itemsize(x.dtype());
  const ActivationParams params{scale, 0, 0};
  char* const operands[] = {out.data<char>() + at, x.data<char>() + at,
                            const_cast<char*>(reinterpret_cast<const char*>(chosen))};
  kernels().activation->dropout[static_cast<int>(compute_type(x.dtype()))](&params, operands, n);
}

// Of a dense x of float32 or float64, in one pass; a byte of each element is kept. The numbers are
// those of random_choice.
Tensor dropout_dense(const Tensor& x, double p, double scale) {
  const bool kept = any_requires_grad({&x});
  const Tensor y = empty(x.sizes(), x.options());
  const Tensor bytes = kept ? empty(x.sizes(), {DType::UInt8, x.device()}) : Tensor();
  const Generator::Draw d = reserve(nullptr, x.numel());
  const BernoulliParams params{p};
  const DenormalGuard denormal;
  parallel_for(x.numel(), kGrainSize / 2, [&](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 1024;
    uint8_t block[kBlock];
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t n = std::min(kBlock, end - i);
      uint8_t* const chosen = kept ? bytes.data<uint8_t>() + i : block;
      kernels().random.bernoulli(chosen, i, n, d.seed, d.offset, &params);
      scale_chosen(y, x, chosen, i, n, scale);
    }
  });
  record("MulBackward0", {}, y, {&x}, {&bytes}, [scale](Node& n, const Tensor& g) {
    const Tensor bytes = n.saved(0);
    if (grad_enabled() || !g.is_contiguous() || g.is_meta())
      return mul(g, mul(to(bytes, g.dtype()), scale));
    const Tensor out = room_for_gradient(g, g);
    const DenormalGuard denormal;
    parallel_for(g.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
      scale_chosen(out, g, bytes.data<uint8_t>() + begin, begin, end - begin, scale);
    });
    return out;
  });
  return y;
}

}  // namespace

// y = x * noise, noise = 0 with probability p, else 1 / (1 - p); the gradient is the product's.
Tensor dropout(const Tensor& x, double p, bool channels, Target target) {
  const char* op = channels ? "feature_dropout" : "dropout";
  ZERO_CHECK(p >= 0 && p <= 1, ValueError, op, ": p is no probability; got ", p,
             ", expected 0 <= p <= 1");
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, op, ": not defined for integers; got ", x.dtype(),
             ", expected a floating point tensor");
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  if (!channels && target.fresh() && x.is_contiguous() && itemsize(x.dtype()) >= 4 && !x.is_meta())
    return dropout_dense(x, 1 - p, scale);
  Dims sizes = x.sizes();
  if (channels) {
    ZERO_CHECK(x.dim() >= 2, ShapeError, op, ": input has no channels; got ", sizes,
               ", expected at least 2 dimensions [N, C, ...]");
    for (int64_t d = 2; d < x.dim(); ++d) sizes[d] = 1;
  }
  const Tensor noise = random_choice(sizes, 1 - p, scale, {x.dtype(), x.device()});
  return mul(x, noise, target);
}

}  // namespace zero
