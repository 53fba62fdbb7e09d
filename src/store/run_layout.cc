#include "coden/store/run_layout.h"

#include <cstdio>

namespace coden {

namespace {

std::string LabelFile(int window) {
  return std::string(RunLayout::kState) + "/labels-w" + std::to_string(window);
}

}  // namespace

std::string RunLayout::Snapshot(int snapshot) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%06d", snapshot);
  return std::string(kSnapshots) + "/snapshot=" + digits + "/part-0.parquet";
}

std::string RunLayout::Columns(int first) {
  return std::string(kState) + "/columns-" + std::to_string(first) + ".parquet";
}

std::string RunLayout::LabelGraph(int window) {
  return LabelFile(window) + "-graph.parquet";
}

std::string RunLayout::LabelWindow(int window) {
  return LabelFile(window) + "-window.parquet";
}

std::string RunLayout::LabelColumns(int window, int alpha) {
  return LabelFile(window) + "-a" + std::to_string(alpha) + "-columns.parquet";
}

}  // namespace coden
