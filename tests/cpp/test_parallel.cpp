// parallel_for, its pool, fork(), the denormal guard and the blocking hook.
// Run with the name of a test it runs that one, else all.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "zero/core/allocator.h"
#include "zero/core/error.h"
#include "zero/core/generator.h"
#include "zero/core/system.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

#if !defined(_WIN32)
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace zero;

namespace {

const int kThreadCounts[] = {1, 2, 3, 7};

// Threads of this process; 0 where that is not known or a sanitizer has threads of its own.
int os_threads() {
#if defined(__SANITIZE_THREAD__)
  return 0;
#endif
  const std::string status = read_text_file("/proc/self/status");
  const size_t at = status.find("Threads:");
  return at == std::string::npos ? 0 : std::atoi(status.c_str() + at + 8);
}

// Sums how often each index was visited.
bool covers_once(int64_t n, int64_t grain, int max_threads = INT32_MAX) {
  std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
  parallel_for(
      n, grain,
      [&](int64_t begin, int64_t end) {
        CHECK(begin < end);
        for (int64_t i = begin; i < end; ++i) visits[static_cast<size_t>(i)].fetch_add(1);
      },
      max_threads);
  for (const auto& count : visits) {
    if (count.load() != 1) return false;
  }
  return true;
}

void no_thread_before_work() {
  if (os_threads() == 0 || detail::forced_grain > 0) return;
  set_num_threads(3);
  covers_once(10, 100);
  CHECK(os_threads() == 1);
  covers_once(100, 1);
  CHECK(os_threads() == 3);
}

void every_index_once() {
  for (const int threads : kThreadCounts) {
    set_num_threads(threads);
    CHECK(num_threads() == threads && thread_reason() == "set_num_threads");
    for (const int64_t n : {0, 1, 2, 7, 1000, 4097, 100003}) {
      for (const int64_t grain : {1, 3, 64, 5000}) CHECK(covers_once(n, grain));
      CHECK(covers_once(n, 0) && covers_once(n, -5));
      CHECK(covers_once(n, 1, 2) && covers_once(n, 1, 1) && covers_once(n, 1, 0));
    }
  }
  CHECK_THROWS(ValueError, set_num_threads(0));
  CHECK_THROWS(ValueError, set_num_threads(-3));
}

void seven_threads_take_part() {
  set_num_threads(7);
  std::atomic<int> waiting{0};
  // Each range waits until seven threads are inside one: fewer would never finish.
  parallel_for(7, 1, [&](int64_t, int64_t) {
    waiting.fetch_add(1);
    while (waiting.load() < 7) std::this_thread::yield();
  });
  CHECK(waiting.load() == 7);
}

void max_threads_is_a_bound() {
  set_num_threads(7);
  std::atomic<int> inside{0}, most{0};
  for (int i = 0; i < 20; ++i) {
    parallel_for(
        200, 1,
        [&](int64_t, int64_t) {
          const int now = inside.fetch_add(1) + 1;
          int seen = most.load();
          while (seen < now && !most.compare_exchange_weak(seen, now)) {}
          std::this_thread::sleep_for(std::chrono::microseconds(20));
          inside.fetch_sub(1);
        },
        3);
  }
  CHECK(most.load() <= 3);
}

void nested_loops_are_serial() {
  set_num_threads(3);
  CHECK(!in_parallel_region());
  std::atomic<int64_t> total{0};
  parallel_for(30, 1, [&](int64_t begin, int64_t end) {
    CHECK(in_parallel_region());
    const auto thread = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i) {
      int calls = 0;
      parallel_for(1000, 1, [&](int64_t b, int64_t e) {
        CHECK(b == 0 && e == 1000 && std::this_thread::get_id() == thread);
        ++calls;
        total.fetch_add(e - b);
      });
      CHECK(calls == 1);
    }
  });
  CHECK(total.load() == 30000 && !in_parallel_region());
}

void exceptions_reach_the_caller() {
  for (const int threads : kThreadCounts) {
    set_num_threads(threads);
    for (int i = 0; i < 200; ++i) {
      std::atomic<int> inside{0};
      bool caught = false;
      try {
        parallel_for(100, 1, [&](int64_t begin, int64_t end) {
          inside.fetch_add(1);
          if (begin <= 37 && 37 < end) {
            inside.fetch_sub(1);
            throw std::out_of_range("37");
          }
          std::this_thread::yield();
          inside.fetch_sub(1);
        });
      } catch (const std::out_of_range& error) { caught = std::strcmp(error.what(), "37") == 0; }
      CHECK(caught && inside.load() == 0 && !in_parallel_region());
    }
    CHECK(covers_once(1000, 1));
  }
}

// A wake-up that gets lost would leave the caller waiting for ever, or the work on one thread.
void many_small_loops() {
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    std::atomic<int64_t> sum{0};
    const int loops = 100000 / kFewer / (threads == 2 ? 1 : 5);
    for (int i = 0; i < loops; ++i) {
      parallel_for(4, 1, [&](int64_t begin, int64_t end) {
        sum.fetch_add(end - begin, std::memory_order_relaxed);
      });
      // Now and then the workers get the time to fall asleep, about when the next job comes.
      if (i % 500 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i % 97));
    }
    CHECK(sum.load() == int64_t{4} * loops);
  }
}

// Each loop ends only if a worker came, who may be spinning, asleep or falling asleep just then.
void no_wake_up_is_lost() {
  set_num_threads(2);
  for (int i = 0; i < 5000 / kFewer; ++i) {
    std::atomic<int> here{0};
    parallel_for(2, 1, [&](int64_t, int64_t) {
      here.fetch_add(1);
      while (here.load() < 2) std::this_thread::yield();
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(i % 61);
    while (std::chrono::steady_clock::now() < until) {}
  }
}

void several_callers_at_once() {
  set_num_threads(3);
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 4000 / kFewer; ++i) {
        parallel_for(100, 10, [&](int64_t begin, int64_t end) { sum.fetch_add(end - begin); });
      }
    });
  }
  std::thread changer([] {
    for (int i = 0; i < 400 / kFewer; ++i) set_num_threads(1 + i % 4);
  });
  for (std::thread& caller : callers) caller.join();
  changer.join();
  CHECK(sum.load() == int64_t{100} * 4 * (4000 / kFewer));
}

// A collapse (a time slice per range) would pass the time limit of the test run.
void more_threads_than_cores_do_not_collapse() {
  set_num_threads(16);
  std::vector<double> data(1 << 16, 1.0);
  const int loops = 2000 / kFewer;
  for (int i = 0; i < loops; ++i) {
    parallel_for(1 << 16, 1024, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) data[static_cast<size_t>(j)] += 1;
    });
  }
  for (const double value : data) CHECK(value == 1 + loops);
}

#if !defined(_WIN32)

void signals_go_to_the_callers_threads() {
  set_num_threads(3);
  std::atomic<int> workers{0};
  const auto caller = std::this_thread::get_id();
  for (int i = 0; i < 100 && workers.load() == 0; ++i) {
    parallel_for(100, 1, [&](int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (std::this_thread::get_id() == caller) return;
      sigset_t blocked;
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      CHECK(sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGTERM) == 1);
      workers.fetch_add(1);
    });
  }
  CHECK(workers.load() > 0);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  CHECK(sigismember(&own, SIGINT) == 0);
}

int run_child(int (*body)()) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(60);  // a child that hangs dies
    _exit(body());
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

int child_body() {
  std::vector<void*> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(allocate(static_cast<size_t>(i) * 997));
  for (int i = 0; i < 200; ++i)
    deallocate(blocks[static_cast<size_t>(i)], static_cast<size_t>(i) * 997);
  default_generator().reserve(1);
  return covers_once(1000, 1) && covers_once(100000, 100) ? 0 : 1;
}

void children_compute_and_so_do_parents() {
  set_num_threads(3);
  for (int i = 0; i < 200 / kFewer; ++i) {
    CHECK(covers_once(1000, 1));
    CHECK(run_child(child_body) == 0);
  }
  if (os_threads() > 0) {
    CHECK(covers_once(1000, 1));
    CHECK(os_threads() == 3);
    CHECK(run_child([] { return os_threads() == 1 ? 0 : 1; }) == 0);
    CHECK(os_threads() == 1);  // the pool ended before the fork
  }
}

// Other threads allocate, draw and run loops while this one forks.
void fork_storm() {
  if (kFewer > 1) return;  // the sanitizers' own allocators are left locked by such a fork
  set_num_threads(2);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        deallocate(allocate(100), 100);
        deallocate(allocate(100000), 100000);
        default_generator().reserve(1);
        CHECK(covers_once(100, 1));
      }
    });
  }
  for (int i = 0; i < 200 / kFewer; ++i) CHECK(run_child(child_body) == 0);
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

#endif

// The smallest normal number halved; the compiler must not know it.
bool denormals_flushed() {
  volatile float smallest = 1.17549435e-38f;
  volatile float half = smallest * 0.5f;
  return half == 0.0f;
}

void denormals() {
  if (!flush_denormal()) return;  // a processor that cannot
  CHECK(!denormals_flushed());
  {
    const DenormalGuard guard;
    CHECK(denormals_flushed());
    {
      const DenormalGuard nested;
      CHECK(denormals_flushed());
    }
    CHECK(denormals_flushed());
  }
  CHECK(!denormals_flushed());

  set_num_threads(3);
  for (int i = 0; i < 50; ++i) {  // workers do as their caller, also those started under a guard
    const DenormalGuard guard(i % 2 == 0);
    parallel_for(30, 1, [&](int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      CHECK(denormals_flushed() == (i % 2 == 0));
    });
  }

  CHECK(set_flush_denormal(false) && !flush_denormal());
  {
    const DenormalGuard guard;
    CHECK(!denormals_flushed());
  }
  CHECK(set_flush_denormal(true) && flush_denormal());
}

int releases = 0, acquires = 0;
bool held = true;

void* release_lock() {
  if (!held) return nullptr;
  held = false;
  ++releases;
  return &held;
}

void acquire_lock(void* token) {
  CHECK(token == &held);
  held = true;
  ++acquires;
}

void blocking_sections() {
  set_num_threads(2);
  { const BlockingSection without_hook(true); }
  set_blocking_hook({release_lock, acquire_lock});
  { const BlockingSection small(false); }
  CHECK(releases == 0);
  {
    const BlockingSection outer(true);
    CHECK(!held);
    const BlockingSection inner(true);
  }
  CHECK(held && releases == 1 && acquires == 1);

  parallel_for(2, 1, [](int64_t, int64_t) {});  // small: keeps the lock
  CHECK(releases == 1);
  parallel_for(1000, 1, [&](int64_t, int64_t) {
    const BlockingSection inside(true);
    CHECK(!held);
  });
  CHECK(held && releases == 2 && acquires == 2);
  CHECK_THROWS(std::runtime_error, parallel_for(1000, 1, [](int64_t, int64_t) {
                 throw std::runtime_error("from a range");
               }));
  CHECK(held && releases == 3 && acquires == 3);
  parallel_for(2, 1, [&](int64_t, int64_t) {
    const BlockingSection inside(true);  // a range must not wait for the lock
    CHECK(held);
  });
  CHECK(releases == 3);
  set_blocking_hook({});
}

// Only meaningful with ZERO_GRAIN=1 in the environment.
void forced_grain() {
  if (detail::forced_grain != 1) return;
  for (const int threads : kThreadCounts) {
    set_num_threads(threads);
    std::atomic<int> calls{0};
    parallel_for(100, 1000000, [&](int64_t begin, int64_t end) {
      CHECK(end == begin + 1);
      calls.fetch_add(1);
    });
    CHECK(calls.load() == 100);
    calls = 0;
    parallel_for(int64_t{1} << 30, 1, [&](int64_t, int64_t) { calls.fetch_add(1); });
    CHECK(calls.load() == 1024);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::pair<std::string, void (*)()>> tests = {
      {"no_thread_before_work", no_thread_before_work},
      {"every_index_once", every_index_once},
      {"seven_threads_take_part", seven_threads_take_part},
      {"max_threads_is_a_bound", max_threads_is_a_bound},
      {"nested_loops_are_serial", nested_loops_are_serial},
      {"exceptions_reach_the_caller", exceptions_reach_the_caller},
      {"many_small_loops", many_small_loops},
      {"no_wake_up_is_lost", no_wake_up_is_lost},
      {"several_callers_at_once", several_callers_at_once},
      {"more_threads_than_cores_do_not_collapse", more_threads_than_cores_do_not_collapse},
#if !defined(_WIN32)
      {"signals_go_to_the_callers_threads", signals_go_to_the_callers_threads},
      {"children_compute_and_so_do_parents", children_compute_and_so_do_parents},
      {"fork_storm", fork_storm},
#endif
      {"denormals", denormals},
      {"blocking_sections", blocking_sections},
      {"forced_grain", forced_grain},
  };
  for (const auto& [name, test] : tests) {
    if (argc > 1 && name != argv[1]) continue;
    std::printf("%s\n", name.c_str());
    std::fflush(stdout);
    test();
  }
}
