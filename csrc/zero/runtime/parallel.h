// parallel_for, the one way in which zero uses several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace zero {

int num_threads();
void set_num_threads(int n);  // ValueError if n < 1; more than there are cores is obeyed
std::string thread_reason();  // why num_threads() is what it is
bool in_parallel_region();    // true inside a range of parallel_for that runs on several threads

// Elements of a cheap elementwise loop (add, copy) that are worth a range of their own: ~10 µs.
inline constexpr int64_t kGrainSize = 32768;

// OpenBLAS serves at most so many calling threads.
inline constexpr int kMaxGemmThreads = 64;

namespace detail {

using RangeFunction = void (*)(void* context, int64_t begin, int64_t end);

extern const int64_t forced_grain;  // ZERO_GRAIN, 0 when unset

void run_ranges(int64_t n, int64_t grain, int max_threads, RangeFunction function, void* context);

}  // namespace detail

// Calls f(begin, end) on disjoint ranges that cover [0, n), each half a `grain` long or longer, but
// the last. One call f(0, n) when n <= grain, with one thread, and inside another parallel_for; the
// caller alone when another thread is using the pool. How [0, n) is cut and who gets which range is
// not defined: f must compute the same bits for any cut.
// When ranges throw, the others are finished or dropped and the exception of the lowest range that
// threw is rethrown here.
// ZERO_GRAIN replaces every grain and cuts also on one thread, into at most 1024 ranges.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f, int max_threads = INT32_MAX) {
  if (n <= 0) return;
  if (n <= (detail::forced_grain > 0 ? detail::forced_grain : grain)) {
    f(int64_t{0}, n);
    return;
  }
  using Function = std::remove_reference_t<F>;
  detail::run_ranges(
      n, grain, max_threads,
      [](void* context, int64_t begin, int64_t end) {
        (*static_cast<Function*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

}  // namespace zero
