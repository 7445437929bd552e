// What the processor can do and how many threads this process should use.
#pragma once

#include <string>
#include <vector>

namespace zero {

struct CpuFeatures {
  bool avx2 = false;         // AVX2, FMA and F16C, with registers saved by the system
  bool avx512 = false;       // F, BW, DQ and VL on top of that
  bool avx512_bf16 = false;  // and its bfloat16 dot products
  bool avx512_vnni = false;
  bool neon = false;
  std::string name;  // the processor's own name; "" if it tells none
};

const CpuFeatures& cpu_features();

struct ThreadChoice {
  int threads;
  std::string reason;
};

// min(CPUs of the affinity mask, CPU quota of the control groups, physical cores among those CPUs),
// unless ZERO_NUM_THREADS or, after it, OMP_NUM_THREADS asks for another number.
ThreadChoice default_thread_count();

// The parts of it. `root` stands before /proc and /sys.
std::vector<int> affinity_cpus();  // numbers of the CPUs this thread may run on; empty if unknown
int physical_cores(const std::vector<int>& cpus, const std::string& root = "");  // 0 if unknown
double cgroup_cpu_quota(const std::string& root = "");  // in CPUs; 0 without a quota
ThreadChoice choose_threads(const char* zero_num_threads, const char* omp_num_threads, int cpus,
                            int cores, double quota);

}  // namespace zero
