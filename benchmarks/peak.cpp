// What this machine can do: multiply-adds in registers, and bytes from each level of memory.
//
// benchmarks/peak.py compiles and runs it: `peak THREADS` prints lines `name bytes value`, values in
// 1e9 operations or bytes a second, the best of many repetitions, since other programs only slow down.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
constexpr int kLanes = kBytes / 4, kSums = 12;  // sums that hide the latency of two units
typedef float Vector __attribute__((vector_size(kBytes)));

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void keep(Vector& x) {
#if defined(__x86_64__)
  asm volatile("" : "+v"(x));
#else
  asm volatile("" : "+w"(x));
#endif
}

void multiply_add(int64_t times) {
  Vector sums[kSums], factor = Vector{} + 0.999f, term = Vector{} + 0.001f;
  for (Vector& s : sums) s = Vector{};
  for (int64_t i = 0; i < times; ++i) {
#pragma GCC unroll 16
    for (Vector& s : sums) s = s * factor + term;
  }
  for (Vector& s : sums) keep(s);
}

void read(const char* from, int64_t bytes) {
  Vector sums[8] = {};
  for (int64_t i = 0; i < bytes; i += 8 * kBytes) {
#pragma GCC unroll 8
    for (int s = 0; s < 8; ++s) {
      Vector x;
      std::memcpy(&x, from + i + s * kBytes, kBytes);
      sums[s] += x;
    }
  }
  for (Vector& s : sums) keep(s);
}

void write(char* to, int64_t bytes, const Vector& value) {
  for (int64_t i = 0; i < bytes; i += kBytes) std::memcpy(to + i, &value, kBytes);
}

void copy(char* to, const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += kBytes) {
    Vector x;
    std::memcpy(&x, from + i, kBytes);
    std::memcpy(to + i, &x, kBytes);
  }
}

// The shortest time of all threads' work(thread), which starts in all at once.
template <class Work>
double best(int threads, int repetitions, Work work) {
  std::atomic<int> ready{0}, done{0};
  double shortest = 1e9, start = 0;
  auto repeat = [&](int thread) {
    for (int r = 0; r < repetitions; ++r) {
      if (++ready == (r + 1) * threads) start = seconds();
      while (ready < (r + 1) * threads) std::this_thread::yield();
      work(thread);
      if (++done == (r + 1) * threads && seconds() - start < shortest) shortest = seconds() - start;
      while (done < (r + 1) * threads) std::this_thread::yield();
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(repeat, t);
  repeat(0);
  for (std::thread& t : others) t.join();
  return shortest;
}

}  // namespace

int main(int, char** arguments) {
  const int threads = std::atoi(arguments[1]);
  const int64_t times = 1 << 20;
  const double span = best(threads, 60, [&](int) { multiply_add(times); });
  std::printf("fma 0 %.1f\n", 2e-9 * kLanes * kSums * times * threads / span);

  constexpr int64_t kLargest = int64_t{256} << 20;
  char* const memory = static_cast<char*>(std::aligned_alloc(4096, 2 * kLargest));
  std::memset(memory, 0, 2 * kLargest);
  for (int64_t bytes = int64_t{32} << 10; bytes <= kLargest;
       bytes *= 8) {  // that all threads touch
    const int64_t part = bytes / threads, passes = part < (4 << 20) ? (4 << 20) / part : 1;
    const int repetitions = bytes < (32 << 20) ? 60 : 8;
    const Vector value = Vector{} + 1.0f;
    const double reading = best(threads, repetitions, [&](int t) {
      for (int64_t p = 0; p < passes; ++p) read(memory + t * part, part);
    });
    const double writing = best(threads, repetitions, [&](int t) {
      for (int64_t p = 0; p < passes; ++p) write(memory + t * part, part, value);
    });
    const double copying = best(threads, repetitions, [&](int t) {
      for (int64_t p = 0; p < passes; ++p)
        copy(memory + t * part, memory + t * part + part / 2, part / 2);
    });
    const double moved = 1e-9 * static_cast<double>(bytes) * static_cast<double>(passes);
    const long long size = bytes;
    std::printf("read %lld %.1f\nwrite %lld %.1f\ncopy %lld %.1f\n", size, moved / reading, size,
                moved / writing, size, moved / copying);
  }
  std::free(memory);
}
