#include "zero/autograd/autocast.h"

#include <unordered_map>

#include "zero/autograd/meta.h"

namespace zero {

namespace {

struct Kept {
  Tensor leaf, cast;
  uint32_t version;
  Ref<VersionCounter> counter;  // the leaf's own: `leaf.data = …` gives it another one
};
using Cache = std::unordered_map<const TensorImpl*, Kept>;

ZERO_THREAD_LOCAL AutocastState states[kAutocastDevices] = {{false, DType::BFloat16},
                                                            {false, DType::Float16},
                                                            {false, DType::Float16},
                                                            {false, DType::Float16}};
ZERO_THREAD_LOCAL int64_t contexts = 0;
ZERO_THREAD_LOCAL bool keeps = true;
ZERO_THREAD_LOCAL Cache* cache = nullptr;  // exists while it has entries

}  // namespace

AutocastState autocast_state(AutocastDevice device) {
  AutocastState state = states[static_cast<int>(device)];
  if (device == AutocastDevice::Cpu) state.enabled = autocast_on;
  return state;
}

void set_autocast_state(AutocastDevice device, AutocastState state) {
  states[static_cast<int>(device)] = state;
  if (device == AutocastDevice::Cpu) autocast_on = state.enabled;
}

bool autocast_cache_enabled() { return keeps; }
void set_autocast_cache_enabled(bool on) { keeps = on; }

void clear_autocast_cache() { delete std::exchange(cache, nullptr); }

int64_t enter_autocast() { return ++contexts; }
int64_t leave_autocast() { return contexts = std::max<int64_t>(contexts - 1, 0); }

Tensor kept_cast(const Tensor& leaf, DType dtype) {
  if (!cache) return {};
  const auto found = cache->find(leaf.impl());
  if (found == cache->end()) return {};
  const Kept& kept = found->second;
  const bool same = kept.version == leaf.version() && kept.counter == leaf.impl()->own_version_ &&
                    kept.cast.dtype() == dtype;
  // A copy that was made without a record serves only where none is wanted.
  return same && (requires_grad(kept.cast) || !grad_enabled()) ? kept.cast : Tensor();
}

void keep_cast(const Tensor& leaf, const Tensor& cast) {
  if (!keeps || contexts == 0) return;
  if (!cache) cache = new Cache;
  (*cache)[leaf.impl()] = {leaf, cast, leaf.version(), leaf.impl()->own_version_};
}

}  // namespace zero
