#include "coden/store/run_layout.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace coden {

namespace {

std::string LabelFile(int window) {
  return std::string(RunLayout::kState) + "/labels-w" + std::to_string(window);
}

constexpr std::string_view kSnapshotPrefix = "snapshots/snapshot=";
constexpr std::string_view kSnapshotSuffix = "/part-0.parquet";
constexpr std::size_t kMostDigits = 10;

constexpr std::string_view kFixedNames[] = {
    RunLayout::kSchedule,    RunLayout::kWork,          RunLayout::kPredictions,
    RunLayout::kForecast,    RunLayout::kMetrics,       RunLayout::kMetricsLog,
    RunLayout::kModelConfig, RunLayout::kModelWeights,  RunLayout::kModelSettings,
    RunLayout::kNodes,       RunLayout::kPlan,          RunLayout::kProgress,
    RunLayout::kGraph,       RunLayout::kWindow,        RunLayout::kTraining,
    RunLayout::kModelState,  RunLayout::kLabelProgress, RunLayout::kLabels};

}  // namespace

std::string RunLayout::Snapshot(int snapshot) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%06d", snapshot);
  return std::string(kSnapshots) + "/snapshot=" + digits + "/part-0.parquet";
}

std::optional<std::int64_t> RunLayout::SnapshotNumber(std::string_view name) {
  if (!name.starts_with(kSnapshotPrefix) || !name.ends_with(kSnapshotSuffix))
    return std::nullopt;
  name.remove_prefix(kSnapshotPrefix.size());
  if (name.size() <= kSnapshotSuffix.size()) return std::nullopt;
  name.remove_suffix(kSnapshotSuffix.size());
  const bool digits = std::all_of(name.begin(), name.end(), ::isdigit);
  if (!digits || name.size() > kMostDigits) return std::nullopt;
  return std::stoll(std::string(name));
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

std::string RunLayout::OfTraining(std::string_view training, std::string_view name) {
  return std::string(kTrainings) + "/" + std::string(training) + "/" + std::string(name);
}

std::string RunLayout::KeptForecast(int number) {
  return std::string(kForecasts) + "/forecast-" + std::to_string(number) + ".parquet";
}

std::string RunLayout::Unnamed(int number) { return "unnamed-" + std::to_string(number); }

bool RunLayout::IsOutput(std::string_view name) {
  if (SnapshotNumber(name)) return true;
  const bool parquet = name.ends_with(".parquet");
  if (parquet &&
      (name.starts_with("state/columns-") || name.starts_with("state/labels-")))
    return true;
  return std::find(std::begin(kFixedNames), std::end(kFixedNames), name) !=
         std::end(kFixedNames);
}

}  // namespace coden
