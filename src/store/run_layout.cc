#include "coden/store/run_layout.h"

#include <cstdio>

namespace coden {

std::string RunLayout::Snapshot(int snapshot) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%06d", snapshot);
  return std::string(kSnapshots) + "/snapshot=" + digits + "/part-0.parquet";
}

std::string RunLayout::Columns(int first) {
  return std::string(kState) + "/columns-" + std::to_string(first) + ".parquet";
}

}  // namespace coden
