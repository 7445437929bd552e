#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "zero/core/system.h"
#include "zero/runtime/cpu.h"

using namespace zero;
namespace fs = std::filesystem;

namespace {

// A machine made of files.
class Machine {
 public:
  explicit Machine(const std::string& name) : root_(fs::temp_directory_path() / name) {
    fs::remove_all(root_);
  }
  ~Machine() { fs::remove_all(root_); }

  Machine& file(const std::string& path, const std::string& text) {
    const fs::path full = root_.string() + path;
    fs::create_directories(full.parent_path());
    std::ofstream(full) << text;
    return *this;
  }
  Machine& core(int cpu, int package, int id) {
    const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    return file(topology + "physical_package_id", std::to_string(package) + "\n")
        .file(topology + "core_id", std::to_string(id) + "\n");
  }
  std::string root() const { return root_.string(); }

 private:
  fs::path root_;
};

const char* const kV2Mount =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
const char* const kV1Mounts =
    "31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "32 30 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "33 30 0:29 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n";

void quota_of_version_2_is_the_least_on_the_way_up() {
  Machine machine("zero_test_cgroup2");
  machine.file("/proc/self/mountinfo", kV2Mount)
      .file("/proc/self/cgroup", "0::/pods/pod1/main\n")
      .file("/sys/fs/cgroup/pods/pod1/main/cpu.max", "max 100000\n")
      .file("/sys/fs/cgroup/pods/pod1/cpu.max", "250000 100000\n")
      .file("/sys/fs/cgroup/pods/cpu.max", "800000 100000\n")
      .file("/sys/fs/cgroup/pods/pod1/memory.max", "1000000\n")
      .file("/sys/fs/cgroup/pods/pod1/main/memory.max", "max\n");
  CHECK(cgroup_cpu_quota(machine.root()) == 2.5);
  CHECK(memory_limit(machine.root()) == 1000000);
}

void quota_of_version_1() {
  Machine machine("zero_test_cgroup1");
  machine.file("/proc/self/mountinfo", kV1Mounts)
      .file("/proc/self/cgroup",
            "9:cpuset:/x\n4:memory:/job\n3:cpu,cpuacct:/job\n1:name=systemd:/\n")
      .file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n")
      .file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "50000\n")
      .file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
      .file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
      .file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
      .file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000000\n");
  CHECK(cgroup_cpu_quota(machine.root()) == 3);
  CHECK(memory_limit(machine.root()) == 2000000);
}

// Without a namespace of its own a container sees the host's path, but only its own part is
// mounted.
void path_of_the_host_in_a_container() {
  Machine machine("zero_test_container");
  machine
      .file("/proc/self/mountinfo",
            "33 30 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n")
      .file("/proc/self/cgroup", "3:cpu,cpuacct:/docker/abc\n")
      .file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n")
      .file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(cgroup_cpu_quota(machine.root()) == 4);
  machine.file("/proc/self/cgroup", "3:cpu,cpuacct:/../../other\n");
  CHECK(cgroup_cpu_quota(machine.root()) == 4);
}

void no_control_groups() {
  Machine machine("zero_test_bare");
  machine.file("/proc/self/cgroup", "garbage\n::\n0::/a\n");
  CHECK(cgroup_cpu_quota(machine.root()) == 0);
  machine.file("/proc/self/mountinfo", "short line\n\n");
  CHECK(cgroup_cpu_quota(machine.root()) == 0);
  CHECK(physical_cores({0, 1}, machine.root()) == 0);
}

void siblings_share_a_core() {
  Machine machine("zero_test_cores");
  machine.core(0, 0, 0).core(1, 0, 1).core(2, 1, 0).core(3, 1, 1);
  machine.core(4, 0, 0).core(5, 0, 1).core(6, 1, 0).core(7, 1, 1);
  CHECK(physical_cores({0, 1, 2, 3, 4, 5, 6, 7}, machine.root()) == 4);
  CHECK(physical_cores({0, 4}, machine.root()) == 1);
  CHECK(physical_cores({0, 4, 6}, machine.root()) == 2);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void choices() {
  CHECK(choose_threads(nullptr, nullptr, 8, 4, 0).threads == 4);
  CHECK(choose_threads(nullptr, nullptr, 8, 0, 0).threads == 8);
  CHECK(choose_threads(nullptr, nullptr, 2, 4, 0).threads == 2);
  CHECK(choose_threads(nullptr, nullptr, 0, 0, 0).threads == 1);
  for (const auto& [quota, threads] :
       {std::pair{0.2, 1}, {1.4, 1}, {1.5, 2}, {3.0, 3}, {64.0, 4}}) {
    CHECK(choose_threads(nullptr, nullptr, 8, 4, quota).threads == threads);
  }
  CHECK(has(choose_threads(nullptr, nullptr, 8, 4, 2).reason, "quota of 2 CPUs"));
  CHECK(has(choose_threads(nullptr, nullptr, 8, 4, 0).reason, "4 physical cores"));

  const ThreadChoice ours = choose_threads("7", "3", 2, 2, 1);
  CHECK(ours.threads == 7 && has(ours.reason, "ZERO_NUM_THREADS=7"));
  const ThreadChoice omp = choose_threads("", "3,2", 2, 2, 1);
  CHECK(omp.threads == 3 && has(omp.reason, "OMP_NUM_THREADS=3,2"));
  for (const char* bad : {"0", "-1", "two", "3x", "99999999999999999999"}) {
    const ThreadChoice choice = choose_threads(bad, nullptr, 2, 2, 0);
    CHECK(choice.threads == 2 && has(choice.reason, "was ignored"));
    CHECK(choose_threads(bad, "5", 2, 2, 0).threads == 5);
  }
}

void this_machine() {
  const CpuFeatures& features = cpu_features();
  CHECK(!features.avx512 || features.avx2);
  CHECK(!features.avx512_bf16 || features.avx512);
#if defined(__GNUC__) && defined(__x86_64__)
  CHECK(features.avx2 == (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")));
  CHECK(features.avx512 ==
        (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")));
#endif
  CHECK(!affinity_cpus().empty());
  CHECK(default_thread_count().threads >= 1);
  CHECK(memory_limit() > 0);
}

}  // namespace

int main() {
  quota_of_version_2_is_the_least_on_the_way_up();
  quota_of_version_1();
  path_of_the_host_in_a_container();
  no_control_groups();
  siblings_share_a_core();
  choices();
  this_machine();
}
