#include "pipeline/scheduled_run_internal.h"

#include <algorithm>
#include <vector>

#include <arrow/array.h>
#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/read/labels.h"
#include "coden/state/fingerprint.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

arrow::Result<Schedule> ReadSchedule(const RunStore& store, std::string_view name) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, name));
  return ScheduleFromTable(*table);
}

arrow::Status Contradiction(const RunStore& store) {
  return CorruptionError("the state of '", store.Show(),
                         "' contradicts itself; rebuild the run with --force");
}

arrow::Status LoadState(const RunStore& store, ScheduledRun* run) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, store.ReadText(RunLayout::kProgress));
  ARROW_ASSIGN_OR_RAISE(run->progress,
                        ProgressFromJson(text, store.Show(RunLayout::kProgress)));
  ARROW_ASSIGN_OR_RAISE(run->schedule, ReadSchedule(store, RunLayout::kPlan));
  const auto scheduled = static_cast<int>(run->schedule.size());
  const int done = run->progress.num_snapshots;
  if (done > scheduled || run->progress.sampler.num_snapshots != scheduled)
    return Contradiction(store);
  if (done == 0) return arrow::Status::OK();
  // What has been embedded has bounds and bases, which the plan has not.
  ARROW_ASSIGN_OR_RAISE(const Schedule made, ReadSchedule(store, RunLayout::kSchedule));
  if (static_cast<int>(made.size()) != done) return Contradiction(store);
  std::copy(made.begin(), made.end(), run->schedule.begin());
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<ScheduledRun> OpenScheduledRun(const Settings& settings,
                                             const RunStore& store,
                                             const PartRecord& embed, LogUse log) {
  ScheduledRun run;
  ARROW_RETURN_NOT_OK(LoadState(store, &run));
  const EarlierRun earlier{store, run.progress, embed};
  ARROW_ASSIGN_OR_RAISE(run.inputs, log == LogUse::kNone
                                        ? RunInputs::OpenWithoutLog(settings, earlier)
                                        : RunInputs::Open(settings, &earlier));
  if (run.progress.num_snapshots > 0 &&
      static_cast<int>(run.progress.engine.bounds.size()) != run.inputs.columns.size()) {
    return Contradiction(store);
  }
  ARROW_RETURN_NOT_OK(CheckFeatures(settings, run.inputs, run.progress));
  if (log != LogUse::kNone) {
    ARROW_RETURN_NOT_OK(
        CheckLog(settings, run.inputs, run.progress, log == LogUse::kVerify));
  }
  return run;
}

arrow::Result<ResourceEstimate> EstimateRest(const Settings& settings,
                                             const RunInputs& inputs,
                                             const Schedule& schedule, int num_done,
                                             bool then_trains) {
  LabelSize size;
  if (!settings.input.labels.empty()) {
    ARROW_ASSIGN_OR_RAISE(const Labels labels, ReadLabels(settings.input));
    ARROW_ASSIGN_OR_RAISE(const auto ids, labels.nodes->Ids(0, labels.nodes->size()));
    size.nodes = size.in_log = labels.nodes->size();
    size.classes = labels.classes->length();
    size.facts = static_cast<std::int64_t>(labels.entries.size());
    // Ids of another type are refused by the training itself.
    if (ids->type()->Equals(inputs.nodes->id_type())) {
      std::vector<NodeId> found;
      ARROW_RETURN_NOT_OK(inputs.nodes->Find(*ids, &found));
      size.in_log -= std::count(found.begin(), found.end(), kNoNode);
    }
  }
  return EstimateResources(settings, inputs, schedule, size, num_done, then_trains);
}

}  // namespace coden
