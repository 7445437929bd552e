#include "zero/runtime/cpu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "zero/core/error.h"
#include "zero/core/system.h"

#if defined(__x86_64__) || defined(_M_X64)
#if defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#endif

namespace zero {

namespace {

// ---- Features -----------------------------------------------------------------------------------

#if defined(__x86_64__) || defined(_M_X64)

struct Registers { uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0; };

Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers r;
#if defined(_MSC_VER)
  int words[4];
  __cpuidex(words, static_cast<int>(leaf), static_cast<int>(subleaf));
  std::memcpy(&r, words, sizeof(r));
#else
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
#endif
  return r;
}

// XCR0: which registers the operating system saves. Only valid if CPUID reports OSXSAVE.
uint64_t saved_registers() {
#if defined(_MSC_VER)
  return _xgetbv(0);
#else
  uint32_t low, high;
  __asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
#endif
}

bool bit(uint32_t word, int index) { return (word >> index & 1) != 0; }

CpuFeatures detect() {
  CpuFeatures features;
  const uint32_t leaves = cpuid(0).eax;
  const Registers one = cpuid(1);
  const bool osxsave = bit(one.ecx, 27);
  const uint64_t saved = osxsave ? saved_registers() : 0;
  if (leaves >= 7) {
    const Registers seven = cpuid(7);
    const Registers more = seven.eax >= 1 ? cpuid(7, 1) : Registers{};
    const bool ymm = (saved & 0x6) == 0x6;    // SSE and AVX state
    const bool zmm = (saved & 0xE6) == 0xE6;  // also opmask and both ZMM parts
    const bool fma = bit(one.ecx, 12), avx = bit(one.ecx, 28), f16c = bit(one.ecx, 29);
    features.avx2 = ymm && avx && fma && f16c && bit(seven.ebx, 5);
    features.avx512 = features.avx2 && zmm && bit(seven.ebx, 16) && bit(seven.ebx, 17) &&
                      bit(seven.ebx, 30) && bit(seven.ebx, 31);  // F, DQ, BW, VL
    features.avx512_vnni = features.avx512 && bit(seven.ecx, 11);
    features.avx512_bf16 = features.avx512 && bit(more.eax, 5);
  }
  if (cpuid(0x80000000).eax >= 0x80000004) {
    char name[49] = {};
    for (uint32_t i = 0; i < 3; ++i) {
      const Registers part = cpuid(0x80000002 + i);
      std::memcpy(name + 16 * i, &part, 16);
    }
    features.name = name;
    features.name.erase(0, features.name.find_first_not_of(' '));
    features.name.erase(features.name.find_last_not_of(' ') + 1);
  }
  return features;
}

#else

CpuFeatures detect() {
  CpuFeatures features;
#if defined(__aarch64__) || defined(_M_ARM64)
  features.neon = true;
#endif
#if defined(__APPLE__)
  char name[128] = {};
  size_t size = sizeof(name) - 1;
  if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0) features.name = name;
#endif
  return features;
}

#endif

// ---- Thread count -------------------------------------------------------------------------------

// A positive integer; of a list such as "4,2" (one number per nesting level) the first.
std::optional<int> parse_threads(const char* text) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  while (*end == ' ') ++end;
  if (end == text || (*end != '\0' && *end != ',') || value < 1 || value > 65536) {
    return std::nullopt;
  }
  return static_cast<int>(value);
}

// "max 100000" or "150000 100000" (version 2); 0 without a quota.
double quota_of(const Cgroup& group, const std::string& directory) {
  std::string quota, period;
  if (group.version == 2) {
    std::istringstream words(read_text_file(directory + "/cpu.max"));
    words >> quota >> period;
  } else {
    quota = read_text_file(directory + "/cpu.cfs_quota_us");
    period = read_text_file(directory + "/cpu.cfs_period_us");
  }
  const double microseconds = std::strtod(quota.c_str(), nullptr);  // "max" gives 0, none is -1
  const double of = std::strtod(period.c_str(), nullptr);
  return microseconds > 0 && of > 0 ? microseconds / of : 0;
}

#if defined(__APPLE__)
int sysctl_int(const char* name) {
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}
#endif

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures* const features = new CpuFeatures(detect());
  return *features;
}

std::vector<int> affinity_cpus() {
  std::vector<int> cpus;
#if defined(__linux__)
  for (int size = 1024; size <= (1 << 20); size *= 2) {  // EINVAL: the kernel's mask is longer
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(size));
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(size));
    CPU_ZERO_S(bytes, set);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; known && cpu < size; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (known) break;
  }
#elif defined(_WIN32)
  DWORD_PTR process = 0, system = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system)) {
    for (int cpu = 0; cpu < 64; ++cpu) {
      if (static_cast<uint64_t>(process) >> cpu & 1) cpus.push_back(cpu);
    }
  }
#endif
  if (cpus.empty()) {
    for (unsigned cpu = 0; cpu < std::thread::hardware_concurrency(); ++cpu) {
      cpus.push_back(static_cast<int>(cpu));
    }
  }
  return cpus;
}

int physical_cores(const std::vector<int>& cpus, const std::string& root) {
#if defined(__APPLE__)
  (void)cpus;
  (void)root;
  const int fast =
      sysctl_int("hw.perflevel0.physicalcpu");  // efficiency cores would hold up the rest
  return fast > 0 ? fast : sysctl_int("hw.physicalcpu");
#elif defined(_WIN32)
  (void)root;
  DWORD bytes = 0;
  GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> items(bytes / sizeof(items[0]));
  if (items.empty() || !GetLogicalProcessorInformation(items.data(), &bytes)) return 0;
  uint64_t allowed = 0;
  for (const int cpu : cpus) allowed |= cpu < 64 ? uint64_t{1} << cpu : 0;
  int cores = 0;
  for (const auto& item : items) {
    cores += item.Relationship == RelationProcessorCore && (item.ProcessorMask & allowed) != 0;
  }
  return cores;
#else
  std::set<std::pair<std::string, std::string>> cores;
  for (const int cpu : cpus) {
    const std::string topology =
        root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const std::string core = read_text_file(topology + "core_id");
    if (core.empty()) return 0;
    cores.emplace(read_text_file(topology + "physical_package_id"), core);
  }
  return static_cast<int>(cores.size());
#endif
}

double cgroup_cpu_quota(const std::string& root) {
  double least = 0;
  for (const Cgroup& group : cgroups_of("cpu", root)) {
    for (const std::string& directory : group.directories) {
      const double quota = quota_of(group, directory);
      if (quota > 0 && (least == 0 || quota < least)) least = quota;
    }
  }
  return least;
}

ThreadChoice choose_threads(const char* zero_num_threads, const char* omp_num_threads, int cpus,
                            int cores, double quota) {
  std::string ignored;
  for (const auto& [name, text] : {std::pair{"ZERO_NUM_THREADS", zero_num_threads},
                                   std::pair{"OMP_NUM_THREADS", omp_num_threads}}) {
    if (text == nullptr || *text == '\0') continue;
    if (const std::optional<int> threads = parse_threads(text)) {
      return {*threads, message(name, "=", text, ignored)};
    }
    ignored += message("; ", name, "=", text, " is no positive number and was ignored");
  }
  cpus = std::max(cpus, 1);
  ThreadChoice choice{cpus, message(cpus, " CPUs in the affinity mask")};
  if (cores > 0 && cores < cpus) {
    choice = {cores, message(cores, " physical cores, ", cpus, " CPUs in the affinity mask")};
  }
  // A quota of 1.5 CPUs is better used by two threads that are sometimes stopped than by one.
  const int allowed =
      quota > 0 ? static_cast<int>(std::max(1.0, std::min(std::round(quota), 65536.0))) : 0;
  if (allowed > 0 && allowed < choice.threads) {
    choice = {allowed, message("control group quota of ", quota, " CPUs, ", choice.reason)};
  }
  choice.reason += ignored;
  return choice;
}

ThreadChoice default_thread_count() {
  const std::vector<int> cpus = affinity_cpus();
  return choose_threads(std::getenv("ZERO_NUM_THREADS"), std::getenv("OMP_NUM_THREADS"),
                        static_cast<int>(cpus.size()), physical_cores(cpus), cgroup_cpu_quota());
}

}  // namespace zero
