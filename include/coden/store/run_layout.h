#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coden {

/// Name every file of a run directory, relative to it (docs/files.md).
struct RunLayout {
  static constexpr std::string_view kSnapshots = "snapshots";
  static constexpr std::string_view kSchedule = "schedule.parquet";
  static constexpr std::string_view kWork = "work.parquet";
  static constexpr std::string_view kPredictions = "predictions.parquet";
  static constexpr std::string_view kForecast = "forecast.parquet";
  static constexpr std::string_view kMetrics = "metrics.parquet";
  static constexpr std::string_view kMetricsLog = "metrics.jsonl";
  static constexpr std::string_view kReport = "report.html";
  static constexpr std::string_view kTensorboard = "tensorboard";
  static constexpr std::string_view kModel = "model";
  static constexpr std::string_view kModelWeights = "model/model.safetensors";
  static constexpr std::string_view kModelConfig = "model/config.json";
  static constexpr std::string_view kModelSettings = "model/settings.ini";
  static constexpr std::string_view kTrainings = "trainings";
  static constexpr std::string_view kState = "state";
  static constexpr std::string_view kNodes = "state/nodes.parquet";
  static constexpr std::string_view kPlan = "state/schedule.parquet";
  static constexpr std::string_view kProgress = "state/progress.json";
  static constexpr std::string_view kHistory = "state/history";
  static constexpr std::string_view kWindow = "state/window.parquet";
  static constexpr std::string_view kTraining = "state/training.safetensors";
  static constexpr std::string_view kModelState = "state/model.safetensors";
  static constexpr std::string_view kLabelProgress = "state/labels.json";
  static constexpr std::string_view kLabels = "state/labels.parquet";
  static constexpr std::string_view kCommits = "_coden";
  static constexpr std::string_view kStage = "_coden/stage";
  static constexpr std::string_view kSlices = "_coden/slices";
  static constexpr std::string_view kLock = "_coden/lock";
  static constexpr std::string_view kSettings = "_coden/settings.ini";
  static constexpr std::string_view kSuccess = "_SUCCESS";

  /// snapshots/snapshot=000012/part-0.parquet
  static std::string Snapshot(int snapshot);
  /// The number in the name of a snapshot; nothing for any other file.
  static std::optional<std::int64_t> SnapshotNumber(std::string_view name);
  /// state/columns-0.parquet: the state of the columns from `first` on
  static std::string Columns(int first);
  /// changes-000012.parquet and graph-000012.parquet in the folder of a history: the
  /// changes of snapshots from this one on, and all edges at it
  /// state/history/window-30: the history of the graph with this `graph.window`
  static std::string WindowHistory(std::int64_t window);
  static std::string HistoryChanges(std::string_view folder, int first_snapshot);
  static std::string HistoryGraph(std::string_view folder, int snapshot);
  /// state/labels-w0-a1-columns.parquet: the state of the label columns, by the numbers
  /// of window and alpha
  static std::string LabelColumns(int window, int alpha);
  /// trainings/coden-1/predictions.parquet: where the file `name` of an earlier training
  /// is kept
  static std::string OfTraining(std::string_view training, std::string_view name);

  /// forecasts/forecast-1.parquet: where a forecast is kept that another has replaced
  static constexpr std::string_view kForecasts = "forecasts";
  static std::string KeptForecast(int number);

  /// unnamed-1: where files are put that no manifest names, when a run is rebuilt
  static std::string Unnamed(int number);

  /// Whether a run gives the name to a file that its manifest names. Those of earlier
  /// trainings are not among them.
  static bool IsOutput(std::string_view name);
};

}  // namespace coden
