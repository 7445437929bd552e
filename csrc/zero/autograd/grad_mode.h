// Whether operations are recorded, per thread.
#pragma once

namespace zero {

bool grad_enabled();    // operations are recorded
bool grad_requested();  // the mode that was set last; no use in inference mode
void set_grad_enabled(bool on);

// Inference mode also makes tensors that autograd never takes up (TensorImpl::is_inference_).
bool inference_enabled();
void set_inference_enabled(bool on);

// Sets the mode for a scope.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool on) : before_(grad_requested()) { set_grad_enabled(on); }
  ~GradModeGuard() { set_grad_enabled(before_); }
  GradModeGuard(const GradModeGuard&) = delete;

 private:
  bool before_;
};

}  // namespace zero
