#include "zero/runtime/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <system_error>

#include "zero/core/allocator.h"
#include "zero/core/fork_lock.h"
#include "zero/core/generator.h"
#include "zero/runtime/blas.h"
#include "zero/runtime/cpu.h"
#include "zero/runtime/denormal.h"

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#endif
#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace zero {

namespace {

constexpr uint64_t kTicketMask = 0xFFFF;
// Waking a thread takes tens of microseconds, more in a virtual machine.
constexpr auto kSpinTime = std::chrono::microseconds(100);

void pause() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

// Waits a little for `ready()`: busily when each thread has a processor, else by letting others
// run.
template <class Ready>
bool wait_briefly(bool spin, Ready ready) {
  if (!spin) {
    for (int i = 0; i < 8; ++i) {
      if (ready()) return true;
      std::this_thread::yield();
    }
    return ready();
  }
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

bool flushes_denormals() {
  return (detail::read_fp_control() & detail::kFlushBits) == detail::kFlushBits;
}

void set_thread_flush(bool flush) {
  if (flush == flushes_denormals()) return;
  const uint64_t others = detail::read_fp_control() & ~detail::kFlushBits;
  detail::write_fp_control(flush ? others | detail::kFlushBits : others);
}

// Threads started meanwhile inherit a mask that leaves all signals to the program's own threads.
class BlockedSignals {
 public:
#if defined(_WIN32)
  BlockedSignals() {}
#else
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
#endif
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
#if !defined(_WIN32)
  sigset_t before_;
#endif
};

int system_thread_id() {
#if defined(__linux__)
  return static_cast<int>(syscall(SYS_gettid));
#else
  return 0;
#endif
}

// join() returns a moment before the kernel stops counting the thread, and Python (3.12 on) warns
// of a fork() in a process with several.
void wait_until_gone(int thread_id) {
#if defined(__linux__)
  for (int i = 0; i < 1000 && syscall(SYS_tgkill, getpid(), thread_id, 0) == 0; ++i) {
    std::this_thread::yield();
  }
#else
  (void)thread_id;
#endif
}

int current_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// The kernel may wake a thread on its waker's processor and takes milliseconds to part the two,
// mostly in virtual machines. Asking for the others moves the thread at once.
void leave_processor(int processor) {
#if defined(__linux__)
  cpu_set_t allowed;
  if (processor < 0 || processor != sched_getcpu() ||
      sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
    return;
  }
  cpu_set_t others = allowed;
  CPU_CLR(processor, &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0) {
    sched_setaffinity(0, sizeof allowed, &allowed);
  }
#else
  (void)processor;
#endif
}

#if !defined(_WIN32)

// The pool goes first: its threads use the allocator when they end. If there is none it is made: a
// child in which another thread's making of it never ends could not make its own.
void before_fork() {
  ThreadPool::instance().before_fork();
  blas_before_fork();
  generator_before_fork();
  allocator_before_fork();
}

template <bool kChild>
void after_fork() {
  if (kChild) fork_generation.fetch_add(1);
  kChild ? allocator_after_fork_child() : allocator_after_fork_parent();
  kChild ? generator_after_fork_child() : generator_after_fork_parent();
  blas_after_fork();
  ThreadPool::instance().after_fork();
}

[[maybe_unused]] const int fork_handlers =
    pthread_atfork(before_fork, after_fork<false>, after_fork<true>);

#endif

}  // namespace

Job::Job(int64_t n, int64_t chunk, int threads, detail::RangeFunction function, void* context)
    : n_(n),
      chunk_(chunk),
      function_(function),
      context_(context),
      shares_count_(std::clamp(threads, 1, kMaxShares)) {
  const int64_t ranges = (n - 1) / chunk + 1;
  for (int i = 0; i < shares_count_; ++i) {
    shares_[i].next.store(ranges * i / shares_count_, std::memory_order_relaxed);
    shares_[i].end = ranges * (i + 1) / shares_count_;
  }
}

void Job::run_range(int64_t range) noexcept {
  const int64_t begin = range * chunk_;
  try {
    function_(context_, begin, begin + std::min(chunk_, n_ - begin));
  } catch (...) {
    for (int i = 0; i < shares_count_; ++i) {  // nobody starts another range
      shares_[i].next.store(shares_[i].end, std::memory_order_relaxed);
    }
    const std::lock_guard<std::mutex> guard(exception_mutex_);
    if (!exception_ || begin < exception_begin_) {
      exception_ = std::current_exception();
      exception_begin_ = begin;
    }
  }
}

void Job::run(int thread) noexcept {
  for (int i = 0; i < shares_count_; ++i) {
    Share& share = shares_[(thread + i) % shares_count_];
    while (share.next.load(std::memory_order_relaxed) < share.end) {  // only reads what is done
      const int64_t range = share.next.fetch_add(1, std::memory_order_relaxed);
      if (range < share.end) run_range(range);
    }
  }
}

ThreadPool& ThreadPool::instance() {
  static ThreadPool* const pool = new ThreadPool;
  return *pool;
}

ThreadPool::ThreadPool() {
  processors_ = std::max(1, static_cast<int>(affinity_cpus().size()));
  const double quota = cgroup_cpu_quota();
  if (quota > 0) {
    processors_ = static_cast<int>(std::min<double>(processors_, std::max(1.0, std::ceil(quota))));
  }
}

bool ThreadPool::try_run(Job& job, int threads) {
  const std::unique_lock<std::mutex> lock(busy_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const size_t needed = static_cast<size_t>(threads) - 1;
  resize(needed);
  const uint64_t tickets = std::min<uint64_t>({needed, threads_.size(), kTicketMask});
  if (tickets > 0) publish(job, tickets);
  {
    const detail::ParallelRegion region;
    job.run(0);
  }
  if (tickets > 0) {
    const uint64_t unused = tickets_.fetch_and(~kTicketMask) & kTicketMask;
    wait_for_workers(tickets - unused);
  }
  return true;
}

// At least `needed` workers, at most num_threads() - 1.
void ThreadPool::resize(size_t needed) {
  const int wanted = std::max(num_threads(), static_cast<int>(needed) + 1);
  if (threads_.size() + 1 > static_cast<size_t>(wanted)) stop();
  if (threads_.size() >= needed || refused_at_ == wanted) return;
  refused_at_ = 0;
  const BlockedSignals blocked;
  try {
    threads_.reserve(needed);
    while (threads_.size() < needed) {
      const int number = static_cast<int>(threads_.size()) + 1;
      threads_.emplace_back(&ThreadPool::work, this, number, tickets_.load() >> 16);
    }
  } catch (const std::system_error&) {
    refused_at_ = wanted;  // a limit of the system: fewer threads do the same work
  }
  spin_.store(static_cast<int>(threads_.size()) < processors_, std::memory_order_relaxed);
}

void ThreadPool::stop() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    stopping_.store(true);
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (const int id : thread_ids_) wait_until_gone(id);
  thread_ids_.clear();
  stopping_.store(false);
}

void ThreadPool::publish(Job& job, uint64_t tickets) {
  job_ = &job;
  flush_denormal_ = flushes_denormals();
  finished_.store(0, std::memory_order_relaxed);
  const uint64_t number = (tickets_.load(std::memory_order_relaxed) >> 16) + 1;
  // A worker counts itself as a sleeper and then looks for tickets; here tickets are stored and
  // then sleepers counted. Both sequentially consistent, so one of the two sees the other.
  tickets_.store(number << 16 | tickets);
  const int sleepers = sleepers_.load();
  if (sleepers == 0) return;
  caller_processor_.store(current_processor(), std::memory_order_relaxed);
  { const std::lock_guard<std::mutex> guard(mutex_); }  // a sleeper about to wait does so first
  if (static_cast<uint64_t>(sleepers) <= tickets) {
    wake_.notify_all();
  } else {
    for (uint64_t i = 0; i < tickets; ++i) wake_.notify_one();
  }
  std::this_thread::yield();  // to one that woke on this processor: see leave_processor
}

void ThreadPool::wait_for_workers(uint64_t joined) {
  const auto all_finished = [&] { return finished_.load() == joined; };
  if (wait_briefly(spin_.load(std::memory_order_relaxed), all_finished)) return;
  std::unique_lock<std::mutex> lock(mutex_);
  caller_sleeps_.store(true);
  done_.wait(lock, all_finished);
  caller_sleeps_.store(false);
}

bool ThreadPool::has_ticket(uint64_t last_job) const {
  const uint64_t tickets = tickets_.load();
  return (tickets & kTicketMask) != 0 && tickets >> 16 != last_job;
}

bool ThreadPool::take_ticket(uint64_t& last_job) {
  uint64_t tickets = tickets_.load();
  while ((tickets & kTicketMask) != 0 && tickets >> 16 != last_job) {
    if (tickets_.compare_exchange_weak(tickets, tickets - 1)) {
      last_job = tickets >> 16;
      return true;
    }
  }
  return false;
}

void ThreadPool::work(int thread, uint64_t last_job) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    thread_ids_.push_back(system_thread_id());
  }
  const detail::ParallelRegion region;
  const auto called = [&] { return stopping_.load() || has_ticket(last_job); };
  for (;;) {
    if (!wait_briefly(spin_.load(std::memory_order_relaxed), called)) {
      std::unique_lock<std::mutex> lock(mutex_);
      sleepers_.fetch_add(1);
      if (!called()) wake_.wait(lock);
      sleepers_.fetch_sub(1);
      lock.unlock();
      leave_processor(caller_processor_.load(std::memory_order_relaxed));
      continue;  // woken too late for that job: stay awake for the next
    }
    if (stopping_.load()) return;
    if (!take_ticket(last_job)) continue;
    set_thread_flush(flush_denormal_);
    job_->run(thread);
    finished_.fetch_add(1);
    if (caller_sleeps_.load()) {
      { const std::lock_guard<std::mutex> guard(mutex_); }
      done_.notify_one();
    }
  }
}

void ThreadPool::before_fork() {
  if (in_parallel_region()) return;  // the lock is held by this very thread's job
  busy_.lock();
  stop();
}

void ThreadPool::after_fork() {
  if (in_parallel_region()) return;
  refused_at_ = 0;
  busy_.unlock();
}

}  // namespace zero
