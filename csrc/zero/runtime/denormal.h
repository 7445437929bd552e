// Subnormal floats make x86 arithmetic up to a hundred times slower, so kernels treat them as zero
// (FTZ and DAZ of MXCSR; FZ of FPCR). The guard sets this for one scope and leaves the caller's
// floating-point environment as it was.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#elif defined(_M_ARM64) && !defined(__clang__)
#include <intrin.h>
#endif

namespace zero {

namespace detail {

inline std::atomic<bool> flush_denormal_enabled{true};

#if defined(__x86_64__) || defined(_M_X64)
inline constexpr uint64_t kFlushBits = 0x8040;  // FTZ | DAZ
inline uint64_t read_fp_control() { return _mm_getcsr(); }
inline void write_fp_control(uint64_t control) { _mm_setcsr(static_cast<unsigned>(control)); }
#elif defined(__aarch64__)
inline constexpr uint64_t kFlushBits = uint64_t{1} << 24;  // FZ
inline uint64_t read_fp_control() {
  uint64_t control;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(control));
  return control;
}
inline void write_fp_control(uint64_t control) {
  __asm__ __volatile__("msr fpcr, %0" : : "r"(control));
}
#elif defined(_M_ARM64)
inline constexpr uint64_t kFlushBits = uint64_t{1} << 24;
inline uint64_t read_fp_control() { return _ReadStatusReg(ARM64_FPCR); }
inline void write_fp_control(uint64_t control) { _WriteStatusReg(ARM64_FPCR, control); }
#else
inline constexpr uint64_t kFlushBits = 0;  // unknown processor: nothing to set
inline uint64_t read_fp_control() { return 0; }
inline void write_fp_control(uint64_t) {}
#endif

}  // namespace detail

// True when this processor can flush denormals, so that the call had an effect.
bool set_flush_denormal(bool enabled);
inline bool flush_denormal() {
  return detail::kFlushBits != 0 && detail::flush_denormal_enabled.load(std::memory_order_relaxed);
}

class DenormalGuard {
 public:
  DenormalGuard() : DenormalGuard(flush_denormal()) {}

  explicit DenormalGuard(bool flush) {
    if (!flush) return;
    before_ = detail::read_fp_control();
    const uint64_t wanted = before_ | detail::kFlushBits;
    changed_ = wanted != before_;
    if (changed_) detail::write_fp_control(wanted);
  }

  ~DenormalGuard() {
    if (changed_) detail::write_fp_control(before_);
  }

  DenormalGuard(const DenormalGuard&) = delete;
  DenormalGuard& operator=(const DenormalGuard&) = delete;

 private:
  uint64_t before_ = 0;
  bool changed_ = false;
};

}  // namespace zero
