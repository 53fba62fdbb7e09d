#include "train/forecast_plan_internal.h"

#include <algorithm>
#include <string>

#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

constexpr const char* kAgain = "; predict again with `coden predict --force`";

arrow::Status OpenModel(const RunStore& store, const PartRecord& trained,
                        ForecastPlan* plan) {
  // Without a record the store would not compare what it reads.
  for (const std::string_view name :
       {RunLayout::kModelWeights, RunLayout::kModelConfig}) {
    const FileRecord* record = trained.FindFile(name);
    if (record == nullptr) {
      return CorruptionError("the manifest of '", store.Show(), "' does not name '", name,
                             "'; train anew with `coden train --force`");
    }
    if (name == RunLayout::kModelWeights) plan->progress.model = record->xxh3;
  }
  ARROW_ASSIGN_OR_RAISE(plan->model, LoadModel(store));
  plan->progress.prediction = plan->model.config.prediction;
  return arrow::Status::OK();
}

arrow::Status OpenProgress(const RunStore& store, const PartRecord& earlier,
                           ForecastPlan* plan) {
  const FileRecord* record = earlier.FindFile(RunLayout::kModelState);
  if (record == nullptr) {
    return CorruptionError("the manifest of '", store.Show(),
                           "' names no state of its predictions", kAgain);
  }
  ARROW_ASSIGN_OR_RAISE(const ModelProgress saved, LoadModelProgress(store, *record));
  if (saved.model != plan->progress.model) {
    return CorruptionError("'", store.Show(RunLayout::kModelState),
                           "' is of another model", kAgain);
  }
  plan->progress = saved;
  return arrow::Status::OK();
}

arrow::Status ChooseSnapshots(const RunStore& store, ForecastPlan* plan) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kSchedule));
  ARROW_ASSIGN_OR_RAISE(const Schedule schedule, ScheduleFromTable(*table));
  const ModelConfig& config = plan->model.config;
  // As training chooses them (training_input.cc).
  const bool history =
      !config.ChannelGroups().empty() &&
      (config.options.model != ModelKind::kCodenS || !config.options.averages.empty());
  Schedule& chosen = plan->chosen;
  std::size_t num_needed = 0;
  std::int64_t events = 0;
  std::int64_t num_snapshots = 0;
  for (const SchedulePoint& point : schedule) {
    ++num_snapshots;
    if (history || point.at_prediction) chosen.push_back(point);
    if (!point.at_prediction) continue;
    num_needed = chosen.size();
    if (point.prediction > plan->progress.prediction) {
      PredictedTime& time = plan->times[point.prediction];
      time.prediction = point.prediction;
      time.time = point.time;
      time.num_rows = point.events - events;
      time.num_snapshots = num_snapshots;
    }
    events = point.events;
    num_snapshots = 0;
  }
  chosen.resize(num_needed);
  return arrow::Status::OK();
}

// How many of the chosen snapshots the saved states have taken in.
arrow::Result<std::int64_t> CountDone(const RunStore& store, const ForecastPlan& plan) {
  if (plan.progress.snapshot < 0 || KeepsHistory(plan.model.config)) return 0;
  const auto last = std::find_if(plan.chosen.begin(), plan.chosen.end(),
                                 [&](const SchedulePoint& point) {
                                   return point.snapshot == plan.progress.snapshot &&
                                          point.events == plan.progress.events;
                                 });
  if (last == plan.chosen.end()) {
    return CorruptionError("'", store.Show(RunLayout::kModelState),
                           "' stands at a snapshot that the run does not have", kAgain);
  }
  return last - plan.chosen.begin() + 1;
}

}  // namespace

arrow::Result<ForecastPlan> PlanForecast(const RunStore& store, const PredictTask& task) {
  ForecastPlan plan;
  ARROW_RETURN_NOT_OK(OpenModel(store, task.trained, &plan));
  if (task.earlier != nullptr)
    ARROW_RETURN_NOT_OK(OpenProgress(store, *task.earlier, &plan));
  ARROW_RETURN_NOT_OK(ChooseSnapshots(store, &plan));
  ARROW_ASSIGN_OR_RAISE(plan.num_done, CountDone(store, plan));
  return plan;
}

}  // namespace coden
