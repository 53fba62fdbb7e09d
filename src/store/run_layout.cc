#include "coden/store/run_layout.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace coden {

namespace {

std::string Numbered(std::string_view prefix, int number, std::string_view suffix) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%06d", number);
  return std::string(prefix).append(digits).append(suffix);
}

constexpr std::string_view kSnapshotPrefix = "snapshots/snapshot=";
constexpr std::string_view kSnapshotSuffix = "/part-0.parquet";
constexpr std::size_t kMostDigits = 10;

constexpr std::string_view kFixedNames[] = {
    RunLayout::kSchedule,      RunLayout::kWork,         RunLayout::kPredictions,
    RunLayout::kForecast,      RunLayout::kMetrics,      RunLayout::kMetricsLog,
    RunLayout::kModelConfig,   RunLayout::kModelWeights, RunLayout::kModelSettings,
    RunLayout::kNodes,         RunLayout::kPlan,         RunLayout::kProgress,
    RunLayout::kWindow,        RunLayout::kTraining,     RunLayout::kModelState,
    RunLayout::kLabelProgress, RunLayout::kLabels};

}  // namespace

std::string RunLayout::Snapshot(int snapshot) {
  return Numbered(kSnapshotPrefix, snapshot, kSnapshotSuffix);
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

std::string RunLayout::WindowHistory(std::int64_t window) {
  return std::string(kHistory) + "/window-" + std::to_string(window);
}

std::string RunLayout::HistoryChanges(std::string_view folder, int first_snapshot) {
  return Numbered(std::string(folder) + "/changes-", first_snapshot, ".parquet");
}

std::string RunLayout::HistoryGraph(std::string_view folder, int snapshot) {
  return Numbered(std::string(folder) + "/graph-", snapshot, ".parquet");
}

std::string RunLayout::LabelColumns(int window, int alpha) {
  return std::string(kState) + "/labels-w" + std::to_string(window) + "-a" +
         std::to_string(alpha) + "-columns.parquet";
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
      (name.starts_with("state/columns-") || name.starts_with("state/labels-") ||
       name.starts_with("state/history/")))
    return true;
  return std::find(std::begin(kFixedNames), std::end(kFixedNames), name) !=
         std::end(kFixedNames);
}

}  // namespace coden
