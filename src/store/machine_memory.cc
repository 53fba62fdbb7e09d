// The kernel holds a process to the limit of its own control group and of every group
// above. /proc/self/cgroup names the group, one line for each hierarchy:
//     0::/system.slice/job           version 2; its limit is in memory.max
//     4:cpu,memory:/docker/1f0c      version 1; its limit is in memory.limit_in_bytes
// Inside a container the path may be the one on the host, of which only the end is
// mounted. The mount's own root is then the container's group, so it is always read.

#include "store/machine_memory_internal.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include <arrow/memory_pool.h>

namespace coden {

namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// A file that is absent, or says "max", is no limit.
std::int64_t ReadLimit(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::int64_t limit = 0;
  return in >> limit && limit > 0 ? limit : kUnlimited;
}

// The least limit of the group `path` of the hierarchy at `mount`, and of those above.
std::int64_t LimitOnPath(const std::filesystem::path& mount, const std::string& path,
                         const char* file) {
  std::int64_t least = ReadLimit(mount / file);
  std::filesystem::path group = mount;
  for (const auto& name : std::filesystem::path(path).relative_path()) {
    if (name == "..") break;  // above what this process can see
    group /= name;
    least = std::min(least, ReadLimit(group / file));
  }
  return least;
}

bool HasController(const std::string& controllers, const std::string& name) {
  return ("," + controllers + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

std::int64_t ControlGroupLimit(const std::string& root) {
  const std::filesystem::path mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  std::int64_t least = kUnlimited;
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, LimitOnPath(mount, path, "memory.max"));
    } else if (HasController(controllers, "memory")) {
      least =
          std::min(least, LimitOnPath(mount / "memory", path, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::int64_t MachineMemory() {
  static const std::int64_t bytes =
      std::min(static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE)),
               ControlGroupLimit());
  return bytes;
}

void ReturnFreeMemory() {
  arrow::default_memory_pool()->ReleaseUnused();
  ::malloc_trim(0);
}

}  // namespace coden
