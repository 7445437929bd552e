// Whether operations are recorded, per thread.
#pragma once

namespace zero {

bool grad_enabled();
void set_grad_enabled(bool on);

// Sets the mode for a scope.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool on) : before_(grad_enabled()) { set_grad_enabled(on); }
  ~GradModeGuard() { set_grad_enabled(before_); }
  GradModeGuard(const GradModeGuard&) = delete;

 private:
  bool before_;
};

}  // namespace zero
