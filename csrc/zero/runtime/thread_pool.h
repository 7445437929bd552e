// The threads behind parallel_for.
//
// One job runs at a time. Each thread has a share of its ranges, the same one in every job of that
// kind, so that data stays in its processor's caches from one operator to the next; who is done
// with the share of one's own helps with the others'. Workers look for a job for a short while
// after the last one and then sleep. The caller does not wait for workers that have not woken: when
// no range is left it takes the unused tickets back and waits only for those who started.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "zero/runtime/parallel.h"

namespace zero {

namespace detail {

// Marks the calling thread as one that runs ranges, so that loops inside are serial.
class ParallelRegion {
 public:
  ParallelRegion();
  ~ParallelRegion();
  ParallelRegion(const ParallelRegion&) = delete;
  ParallelRegion& operator=(const ParallelRegion&) = delete;

 private:
  const bool before_;
};

}  // namespace detail

// Ranges [i * chunk, min((i + 1) * chunk, n)) of one parallel_for. Lives on the caller's stack.
class Job {
 public:
  Job(int64_t n, int64_t chunk, int threads, detail::RangeFunction function, void* context);

  // Runs ranges until none is left, those of the thread's own share first. Never throws.
  void run(int thread) noexcept;
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  // Ranges next to end - 1. Each thread counts its own up: a cache line for each.
  struct alignas(64) Share {
    std::atomic<int64_t> next;
    int64_t end;
  };

  void run_range(int64_t range) noexcept;

  static constexpr int kMaxShares = 64;

  const int64_t n_, chunk_;
  const detail::RangeFunction function_;
  void* const context_;
  std::mutex exception_mutex_;
  std::exception_ptr exception_;
  int64_t exception_begin_ = 0;
  int shares_count_;
  Share shares_[kMaxShares];
};

class ThreadPool {
 public:
  static ThreadPool& instance();  // leaked: its threads may outlive static destructors

  // Runs the job on the caller and up to threads - 1 workers, and returns true; false at once, with
  // nothing done, when another thread is using the pool.
  bool try_run(Job& job, int threads);

  // Bracket a fork(): the threads end before it and start again when there is work, on both sides.
  void before_fork();
  void after_fork();

 private:
  ThreadPool();

  void resize(size_t needed);
  void stop();
  void publish(Job& job, uint64_t tickets);
  void wait_for_workers(uint64_t joined);
  void work(int thread, uint64_t last_job);
  bool take_ticket(uint64_t& last_job);
  bool has_ticket(uint64_t last_job) const;

  std::mutex busy_;  // held by the thread whose job runs; guards the next four
  std::vector<std::thread> threads_;
  std::vector<int> thread_ids_;  // the system's, where they are needed
  int refused_at_ = 0;           // num_threads() for which the system gave fewer
  int processors_ = 1;

  std::mutex mutex_;              // for the condition variables
  std::condition_variable wake_;  // a job was published, or the pool stops
  std::condition_variable done_;  // a worker finished
  std::atomic<int> sleepers_{0};
  std::atomic<int> caller_processor_{-1};  // of the last call that woke somebody
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> spin_{true};

  // Number of the job (upper 48 bits) and its tickets not yet taken (lower 16). Storing it
  // publishes the two members below.
  alignas(64) std::atomic<uint64_t> tickets_{0};
  Job* job_ = nullptr;
  bool flush_denormal_ = false;                    // whether the job's caller does
  alignas(64) std::atomic<uint64_t> finished_{0};  // workers done with this job
};

}  // namespace zero
