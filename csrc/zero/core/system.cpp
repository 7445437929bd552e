#include "zero/core/system.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif
#endif

namespace zero {

namespace {

// One line of mountinfo: "36 35 0:30 /path /mount rw,relatime shared:1 - cgroup2 cgroup2 rw,cpu".
struct Mount { std::string root, point, type, options; };

std::vector<Mount> cgroup_mounts(const std::string& root) {
  std::vector<Mount> mounts;
  std::istringstream lines(read_text_file(root + "/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped, word;
    Mount mount;
    words >> skipped >> skipped >> skipped >> mount.root >> mount.point;
    while (words >> word && word != "-") {}
    words >> mount.type >> skipped >> mount.options;
    if (mount.type == "cgroup" || mount.type == "cgroup2") mounts.push_back(mount);
  }
  return mounts;
}

bool has_item(const std::string& list, const std::string& item) {
  std::istringstream items(list);
  for (std::string word; std::getline(items, word, ',');) {
    if (word == item) return true;
  }
  return false;
}

// From `point` + `path` up to `point`. A container may see its group under the name that the host
// gave it; then the mount's own root is the front part of `path`, or has nothing to do with it.
std::vector<std::string> directories_upwards(const Mount& mount, std::string path) {
  if (mount.root != "/") {
    const bool below = path.compare(0, mount.root.size(), mount.root) == 0;
    path = below ? path.substr(mount.root.size()) : "";
  }
  if (path.find("/..") != std::string::npos) path = "";  // a group outside this namespace
  std::vector<std::string> directories;
  while (path.size() > 1) {
    directories.push_back(mount.point + path);
    path.resize(path.find_last_of('/'));
  }
  directories.push_back(mount.point);
  return directories;
}

uint64_t physical_memory() {
#if defined(_WIN32)
  MEMORYSTATUSEX status;
  status.dwLength = sizeof(status);
  return GlobalMemoryStatusEx(&status) ? status.ullTotalPageFile : 0;
#elif defined(__APPLE__)
  uint64_t bytes = 0;
  size_t size = sizeof(bytes);
  return sysctlbyname("hw.memsize", &bytes, &size, nullptr, 0) == 0 ? bytes : 0;
#else
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : 0;
#endif
}

uint64_t swap_memory(const std::string& root) {
  std::istringstream lines(read_text_file(root + "/proc/meminfo"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("SwapTotal:", 0) == 0) {
      return std::strtoull(line.c_str() + 10, nullptr, 10) * 1024;
    }
  }
  return 0;
}

}  // namespace

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "";
  std::string text(size_t{64} << 10, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

std::vector<Cgroup> cgroups_of(const std::string& controller, const std::string& root) {
  std::vector<Cgroup> groups;
  const std::vector<Mount> mounts = cgroup_mounts(root);
  std::istringstream lines(read_text_file(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {  // "4:memory:/path"; version 2 is "0::/path"
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    const bool unified = controllers.empty();
    if (!unified && !has_item(controllers, controller)) continue;
    for (Mount mount : mounts) {
      if (unified ? mount.type != "cgroup2"
                  : mount.type != "cgroup" || !has_item(mount.options, controller)) {
        continue;
      }
      mount.point = root + mount.point;
      groups.push_back({unified ? 2 : 1, directories_upwards(mount, path)});
      break;
    }
  }
  return groups;
}

uint64_t memory_limit(const std::string& root) {
  const uint64_t physical = physical_memory();
  uint64_t limit = physical == 0 ? UINT64_MAX : physical + swap_memory(root);
  for (const Cgroup& group : cgroups_of("memory", root)) {
    const char* name = group.version == 2 ? "/memory.max" : "/memory.limit_in_bytes";
    for (const std::string& directory : group.directories) {
      // "max" has no digits and gives 0, as does a missing file.
      const uint64_t value = std::strtoull(read_text_file(directory + name).c_str(), nullptr, 10);
      if (value > 0) limit = std::min(limit, value);
    }
  }
  return limit == UINT64_MAX ? 0 : limit;
}

}  // namespace zero
