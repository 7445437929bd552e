#include "zero/core/dtype.h"

#include <atomic>

#include "zero/core/error.h"

namespace zero {

static std::atomic<DType> default_float{DType::Float32};

DType default_dtype() { return default_float.load(std::memory_order_relaxed); }

void set_default_dtype(DType t) {
  ZERO_CHECK(is_floating(t), DTypeError, "set_default_dtype: not a floating dtype; got ", t,
             ", expected float16, bfloat16, float32 or float64");
  default_float.store(t, std::memory_order_relaxed);
}

}  // namespace zero
