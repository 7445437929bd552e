// Mixed precision: whether operators cast their arguments, and to what. Each thread has its own
// state. Which operators do is said in their first line, by means of ops/autocast.h.
#pragma once

#include "zero/core/tensor.h"

namespace zero {

// Those of PyTorch's devices that a program may ask about. What is set for the CPU has an effect.
enum class AutocastDevice : uint8_t { Cpu, Cuda, Xpu, Mps };
inline constexpr int kAutocastDevices = 4;

struct AutocastState {
  bool enabled;
  DType dtype;
};

// Whether operators on the CPU cast now: one byte, so that asking costs nothing that counts.
inline ZERO_THREAD_LOCAL bool autocast_on = false;

AutocastState autocast_state(AutocastDevice device);
void set_autocast_state(AutocastDevice device, AutocastState state);

// For a scope, such as an operator's own work, nothing is cast.
class AutocastOff {
 public:
  AutocastOff() : before_(autocast_on) { autocast_on = false; }
  ~AutocastOff() { autocast_on = before_; }
  AutocastOff(const AutocastOff&) = delete;

 private:
  bool before_;
};

// ---- copies of weights: made once, kept until the outermost context ends ------------------------
bool autocast_cache_enabled();
void set_autocast_cache_enabled(bool on);
void clear_autocast_cache();
// How many contexts are entered now.
int64_t enter_autocast();
int64_t leave_autocast();

// The copy of a leaf that was made since it was last written to; undefined where there is none.
Tensor kept_cast(const Tensor& leaf, DType dtype);
void keep_cast(const Tensor& leaf, const Tensor& cast);

}  // namespace zero
