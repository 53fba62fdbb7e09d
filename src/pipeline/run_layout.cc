#include "coden/pipeline/run_layout.h"

#include <cstdio>

namespace coden {

std::string RunLayout::Snapshot(int snapshot) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%06d", snapshot);
  return std::string(kSnapshots) + "/snapshot=" + digits + "/part-0.parquet";
}

std::string RunLayout::Path(std::string_view name) const {
  return directory.ends_with('/') ? directory + std::string(name)
                                  : directory + "/" + std::string(name);
}

}  // namespace coden
