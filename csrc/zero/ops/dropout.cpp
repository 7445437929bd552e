// Dropout: elements are set to 0 at random, the others scaled so that the mean stays.
#include "zero/ops/ops.h"

namespace zero {

// y = x * noise, noise = 0 with probability p, else 1 / (1 - p); the gradient is the product's.
Tensor dropout(const Tensor& x, double p, bool channels, Target target) {
  const char* op = channels ? "feature_dropout" : "dropout";
  ZERO_CHECK(p >= 0 && p <= 1, ValueError, op, ": p is no probability; got ", p,
             ", expected 0 <= p <= 1");
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, op, ": not defined for integers; got ", x.dtype(),
             ", expected a floating point tensor");
  Dims sizes = x.sizes();
  if (channels) {
    ZERO_CHECK(x.dim() >= 2, ShapeError, op, ": input has no channels; got ", sizes,
               ", expected at least 2 dimensions [N, C, ...]");
    for (int64_t d = 2; d < x.dim(); ++d) sizes[d] = 1;
  }
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  const Tensor noise = random_choice(sizes, 1 - p, scale, {x.dtype(), x.device()});
  return mul(x, noise, target);
}

}  // namespace zero
