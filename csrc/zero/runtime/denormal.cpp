#include "zero/runtime/denormal.h"

namespace zero {

bool set_flush_denormal(bool enabled) {
  detail::flush_denormal_enabled.store(enabled, std::memory_order_relaxed);
  return detail::kFlushBits != 0;
}

}  // namespace zero
