#include "zero/runtime/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "zero/core/error.h"
#include "zero/core/thread_local.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/cpu.h"
#include "zero/runtime/thread_pool.h"

namespace zero {

namespace {

constexpr int64_t kForcedRanges = 1024;  // most ranges that ZERO_GRAIN makes of one loop
constexpr int64_t kRangesPerThread = 4;  // so that a thread that was held up leaves work to others
constexpr int64_t kLargeRanges = 16;     // grains from which on the interpreter's lock is let go

struct Setting {
  std::mutex mutex;  // for the reason; the number is read without it
  std::string reason;
  std::atomic<int> threads;

  Setting() {
    ThreadChoice choice = default_thread_count();
    threads.store(choice.threads);
    reason = std::move(choice.reason);
  }
};

Setting& setting() {
  static Setting* const state = new Setting;
  return *state;
}

ZERO_THREAD_LOCAL bool inside = false;

int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b != 0); }

int64_t read_forced_grain() {
  const char* text = std::getenv("ZERO_GRAIN");
  const long long grain = text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
  return std::max<int64_t>(grain, 0);
}

}  // namespace

namespace detail {

const int64_t forced_grain = read_forced_grain();

ParallelRegion::ParallelRegion() : before_(inside) { inside = true; }
ParallelRegion::~ParallelRegion() { inside = before_; }

void run_ranges(int64_t n, int64_t grain, int max_threads, RangeFunction function, void* context) {
  const bool forced = forced_grain > 0;
  grain = std::max<int64_t>(forced ? forced_grain : grain, 1);
  const int64_t ranges = ceil_divide(n, grain);
  const int threads = static_cast<int>(
      std::min<int64_t>(std::min(num_threads(), std::max(max_threads, 1)), ranges));
  // The pool is given up before the section ends: taking the interpreter's lock while holding the
  // pool could wait for a thread that holds that lock and wants the pool, in fork().
  const BlockingSection section(ranges >= kLargeRanges);
  if (inside || (threads <= 1 && !forced)) {
    function(context, 0, n);
    return;
  }

  // As many for each thread: a range more than that and the others wait for it.
  const int64_t each = std::clamp<int64_t>(n / grain / threads, 1, kRangesPerThread);
  int64_t chunk = ceil_divide(n, threads * each);
  if (chunk > 1024) chunk = ceil_divide(chunk, 64) * 64;  // neighbours share no cache line
  if (forced) chunk = std::max(grain, ceil_divide(n, kForcedRanges));

  Job job(n, chunk, threads, function, context);
  if (threads <= 1 || !ThreadPool::instance().try_run(job, threads)) {
    const ParallelRegion region;
    job.run(0);
  }
  job.rethrow();
}

}  // namespace detail

int num_threads() { return setting().threads.load(std::memory_order_relaxed); }

void set_num_threads(int n) {
  ZERO_CHECK(n >= 1, ValueError, "set_num_threads: the number must be positive; got ", n,
             ", expected at least 1");
  ZERO_CHECK(n <= 65536, ValueError, "set_num_threads: too many threads; got ", n,
             ", expected at most 65536");
  Setting& state = setting();
  const std::lock_guard<std::mutex> guard(state.mutex);
  state.threads.store(n);
  state.reason = "set_num_threads";
}

std::string thread_reason() {
  Setting& state = setting();
  const std::lock_guard<std::mutex> guard(state.mutex);
  return state.reason;
}

bool in_parallel_region() { return inside; }

}  // namespace zero
