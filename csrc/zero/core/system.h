// What the operating system says about this process: small files, control groups, memory limit.
// `root` is put before /proc and /sys, so that tests can bring their own; "" is the real one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zero {

// First 64 KiB of a file; "" when it cannot be read.
std::string read_text_file(const std::string& path);

struct Cgroup {
  int version;                           // 1 or 2
  std::vector<std::string> directories;  // from this process's group up to the mounted root
};

// Groups of this process that may limit `controller` ("cpu", "memory"), of either version.
std::vector<Cgroup> cgroups_of(const std::string& controller, const std::string& root);

// Bytes this process may use: min(physical memory + swap, limits of its control groups); 0 if
// unknown.
uint64_t memory_limit(const std::string& root = "");

}  // namespace zero
